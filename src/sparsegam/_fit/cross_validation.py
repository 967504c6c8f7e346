"""Cross-validation of paths: every ridge and size is scored on every fold, and a rule chooses one of them."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold, check_cv

from sparsegam import _core
from sparsegam._data.table import Table
from sparsegam._design.linear import Coefficients
from sparsegam._fit.progress import gather, new_bar, serialized
from sparsegam._fit.scoring import SizesAndScores, scoring_of
from sparsegam._fit.spec import AdditiveOptions, FitSpec, SizeSelection
from sparsegam._fit.training import FitData, build_problem
from sparsegam._search.interactions import prepare
from sparsegam._search.options import n_threads
from sparsegam._search.path import LinearPath, Path
from sparsegam._search.problem import Problem, Progress, at_ridge
from sparsegam._search.ridge import AUTO, Ridge
from sparsegam._search.solver import frontiers
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_integer, shown, warn
from sparsegam.choices import Repeats

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]

DEFAULT_FOLDS = 5
# n_repeats="auto" was calibrated by benchmarks/choosing.py: small tables are split repeatedly until about 10,000 rows
# were scored, as the choice depends on the split where rows are few. Large tables, whose searches take long, are split
# once.
ROWS_SCORED = 10_000
MAX_REPEATS = 4
# rule="steady" was calibrated by benchmarks/choosing.py: the best of hundreds of scores is partly luck, which rarely
# extends to neighbouring sizes. Averaging over more neighbours is not better.
WEIGHT_OF_NEIGHBOUR = 0.5
# The rows of a fold count as different if it loses this many times what the best fold gains.
FAR_WORSE = 2.0


@dataclass(frozen=True, eq=False)
class CVScores:
    """Scores by ridge, size and fold.

    Attributes
    ----------
    ridges : tuple of Ridge
        The ridges, weakest first; repeated for each further design.
    lambda2 : ndarray
        The ridge penalties for the total weight of all rows.
    n_terms : ndarray of int
        The sizes.
    scores : ndarray of shape (n_ridges, n_sizes, n_folds)
        The scores; larger is better.
    n_independent_folds : float or None
        Number of folds without common test rows, on which standard errors are based; None: all of them. Repeated
        splits test the same rows again: they make means more stable, but add no independent rows.
    finished : ndarray of shape (n_ridges, n_folds) or None
        Whether each search ended before the time limit; None: all of them. Scores of a search that was cut short are
        not compared with those of a finished one: see `compared`.
    """

    ridges: tuple[Ridge, ...]
    lambda2: FloatArray
    n_terms: NDArray[np.int64]
    scores: FloatArray
    n_independent_folds: float | None = None
    finished: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        mean = self.scores.mean(axis=(0, 2))
        if not np.isfinite(mean).all():
            msg = f"scoring returned values that are not finite (mean by size: {mean}): use another scoring or cv."
            raise ValueError(msg)

    @cached_property
    def compared(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which ridges and folds are compared.

        These are the folds of the ridge whose search finished on most folds, and the ridges that finished on all of
        these folds. If no search finished, all are compared.
        """
        n_ridges, _, n_folds = self.scores.shape
        if self.finished is None or not self.finished.any():
            return np.ones(n_ridges, dtype=bool), np.ones(n_folds, dtype=bool)
        folds: NDArray[np.bool_] = self.finished[int(np.argmax(self.finished.sum(axis=1))), :]
        return np.all(self.finished[:, folds], axis=1), folds

    @property
    def mean(self) -> FloatArray:
        """Mean over the folds that are compared; NaN for ridges that are not."""
        ridges, folds = self.compared
        mean: FloatArray = self.scores[:, :, folds].mean(axis=2)
        mean[~ridges] = np.nan
        return mean

    @property
    def steady(self) -> FloatArray:
        """Mean over the folds and over neighbouring sizes, which count half."""
        distance = np.abs(self.n_terms[:, np.newaxis] - self.n_terms)
        weight = np.where(distance == 0, 1.0, np.where(distance == 1, WEIGHT_OF_NEIGHBOUR, 0.0))
        steady: FloatArray = self.mean @ (weight / weight.sum(axis=0))
        return steady

    def error(self, scores: FloatArray) -> FloatArray:
        """Return the standard error of the mean over the folds, the last axis."""
        n_folds = scores.shape[-1]
        if n_folds == 1:
            return np.zeros(scores.shape[:-1])
        n_independent = n_folds if self.n_independent_folds is None else self.n_independent_folds
        # Squares of scores near the end of the range of float64 overflow.
        with np.errstate(over="ignore"):
            error: FloatArray = scores.std(axis=-1, ddof=1) / np.sqrt(n_independent)
        return error

    def choose(self, rule: str, n_plain: int | None = None) -> tuple[int, int]:
        """Return the positions of the chosen ridge and size.

        "best" selects the best mean score, "steady" the best mean over neighbouring sizes, and "one_se" the smallest
        size whose mean score is within one standard error of the best (of the differences on the same folds), with the
        best ridge of that size. If only the first `n_plain` ridges belong to designs without interactions, one of the
        others is chosen only if it is better by more than a standard error.
        """
        ridges, folds = self.compared
        used = np.flatnonzero(ridges)
        plain, others = used[used < (n_plain or len(ridges))], used[used >= (n_plain or len(ridges))]
        if not plain.size or not others.size:
            return self._choose_among(used, rule)
        ridge, size = self._choose_among(plain, rule)
        other, larger = self._choose_among(others, rule)
        gain = self.scores[other, larger, folds] - self.scores[ridge, size, folds]
        return (other, larger) if gain.mean() > self._only(others).error(gain) else (ridge, size)

    def _choose_among(self, ridges: NDArray[np.intp], rule: str) -> tuple[int, int]:
        ridge, size = self._only(ridges)._choose(rule)
        return int(ridges[ridge]), size

    def _only(self, ridges: NDArray[np.intp]) -> "CVScores":
        """Return the scores of some ridges on the folds that are compared."""
        folds = self.compared[1]
        n_independent = self.n_independent_folds
        return replace(
            self,
            ridges=tuple(self.ridges[i] for i in ridges),
            lambda2=self.lambda2[ridges],
            scores=self.scores[ridges][:, :, folds],
            n_independent_folds=None if n_independent is None else n_independent * float(folds.mean()),
            finished=None,
        )

    def _choose(self, rule: str) -> tuple[int, int]:
        mean = self.steady if rule == "steady" else self.mean
        ridge, size = map(int, np.unravel_index(int(np.argmax(mean)), mean.shape))
        if rule != "one_se":
            return ridge, size
        loss = self.scores[ridge, size] - self.scores
        close = loss.mean(axis=2) <= self.error(loss)
        size = int(np.flatnonzero(close.any(axis=0))[0])
        return int(np.argmax(np.where(close[:, size], mean[:, size], -np.inf))), size

    def results(self, path: Path[Any], ridge: int) -> dict[str, Any]:
        """Return all scores by ridge and size, named as in scikit-learn; lambda0 is known for the chosen ridge only."""
        n_ridges, n_sizes, n_folds = self.scores.shape
        scores, (ridges, folds) = self.scores.copy(), self.compared
        if self.finished is not None and self.finished.any():
            # Scores of searches that were cut short are not shown next to those of finished ones.
            scores[np.broadcast_to(~self.finished[:, np.newaxis], scores.shape)] = np.nan
        flat, is_compared = scores.reshape(-1, n_folds), np.repeat(ridges, n_sizes)
        error = self._only(np.arange(n_ridges)).error(flat[:, folds])
        lambda0 = np.full((n_ridges, n_sizes), np.nan)
        lambda0[ridge, np.isin(self.n_terms, path.n_terms)] = path.lambda0[np.isin(path.n_terms, self.n_terms)]
        mean = self.mean.ravel()
        with np.errstate(over="ignore"):
            std = np.where(is_compared, flat[:, folds].std(axis=1), np.nan)
        return {
            "n_terms": np.tile(self.n_terms, n_ridges),
            "lambda2": np.repeat(self.lambda2, n_sizes),
            "lambda0": lambda0.ravel(),
            "mean_test_score": mean,
            "std_test_score": std,
            "se_test_score": np.where(is_compared, error, np.nan),
            "steady_test_score": self.steady.ravel(),
            "rank_test_score": np.argsort(np.argsort(-mean, kind="stable"), kind="stable") + 1,
        } | {f"split{i}_test_score": column for i, column in enumerate(flat.T)}

    def warn_about_choice(self, size: int, max_terms: int | None) -> None:
        """Warn if the choice is doubtful, with a remedy."""
        n_terms = int(self.n_terms[size])
        self._warn_about_time_limit()
        self._warn_about_different_rows()
        if n_terms == 0 and len(self.n_terms) > 1:
            msg = (
                "cross-validation chose the model without terms: no model with terms had a better mean test score. If "
                "that is unexpected, look at cv_results_, and try rule='best', n_repeats=5 or another scoring."
            )
            warn(msg, UserWarning)
        elif n_terms == max_terms and size == len(self.n_terms) - 1 > 0:
            msg = (
                f"cross-validation chose the largest size tried (max_terms={n_terms}): raise max_terms to see whether "
                "larger models are better."
            )
            warn(msg, UserWarning)

    def _warn_about_time_limit(self) -> None:
        """Warn if the size was chosen from a part of the folds and ridges."""
        if self.finished is None or self.finished.all() or not self.finished.any():
            return
        from sklearn.exceptions import ConvergenceWarning

        ridges, folds = self.compared
        msg = (
            f"time_limit ended searches of cross-validation: the choice is based on {folds.sum()} of {folds.size} "
            f"folds and {ridges.sum()} of {ridges.size} ridges, whose searches finished. Raise time_limit, or use "
            "fewer folds."
        )
        warn(msg, ConvergenceWarning)

    def _warn_about_different_rows(self) -> None:
        """Warn if the best model with terms is far worse than the null model on a fold, but not on others."""
        if len(self.n_terms) < 2:
            return
        mean = self.mean
        ridge, size = np.unravel_index(int(np.nanargmax(mean[:, 1:])), mean[:, 1:].shape)
        gains = np.where(self.compared[1], self.scores[ridge, size + 1] - self.scores[ridge, 0], np.nan)
        worst = int(np.nanargmin(gains))
        best = float(np.nanmax(gains))
        if gains[worst] < -FAR_WORSE * max(best, 0.0) < 0:
            msg = (
                f"on fold {worst} the model scores {-gains[worst]:.3g} below one without terms, while it gains up to "
                f"{best:.3g} on other folds: the rows of fold {worst} differ from the rest, as in data sorted "
                "by time or region. If the rows are exchangeable, shuffle them (pass a number as cv); if future rows "
                "will differ in the same way, rely on the worst fold."
            )
            warn(msg, UserWarning)


def middle_lambda0(path: Path[Any], index: int) -> float:
    """Return a penalty per term at which a size is the best of the path; NaN if there is none."""
    upper = path.lambda0[index]
    below = path.lambda0[index + 1 :]
    lower = np.nanmax(below) if np.isfinite(below).any() else 0.0
    if np.isinf(upper):
        return float(2 * lower if lower > 0 else 1.0)
    return float((upper + lower) / 2)


@dataclass(frozen=True, eq=False)
class SizeChoice:
    """The size and ridge that cross-validation chose, and the path on all rows.

    Attributes
    ----------
    path : Path
        The best models of all sizes on all rows, with the chosen ridge.
    problem : Problem
        The problem of the path.
    scores : CVScores
        The scores on the folds.
    ridge, size : int
        Positions of the chosen ridge and size in `scores`.
    finished : bool
        False if the time limit ended a search, on a fold or on all rows.
    """

    path: Path[Any]
    problem: Problem[Any]
    scores: CVScores
    ridge: int
    size: int
    finished: bool

    @property
    def index(self) -> int:
        """Position of the chosen model on the path."""
        return int(np.searchsorted(self.path.n_terms, self.scores.n_terms[self.size], side="right")) - 1


def choose_size(spec: FitSpec, data: FitData, folds: Sequence[Fold]) -> SizeChoice:
    """Score every design, ridge and size on every fold, choose one of them, and search its path on all rows.

    If there is a single design and ridge, that path is searched in parallel with the folds. If the path of a
    fold lacks a size, the model of the next smaller size is scored in its place.
    """
    assert spec.selection is not None
    rule, n_jobs = spec.selection.rule, spec.options.n_jobs
    stop = _core.Stop() if spec.stop is None else spec.stop
    callback = serialized(spec.callback)
    n_searches, threads = len(folds) + 1, n_threads(n_jobs)
    options = replace(spec.options, n_jobs=max(1, threads // n_searches))
    spec = replace(spec, options=options, stop=stop)
    left = data.deadline.seconds_left
    seconds = None if left is None else left * min(threads, n_searches) / n_searches
    designs: Sequence[AdditiveOptions | Coefficients] = spec.designs
    choices = [(design, ridge) for design in designs for ridge in spec.ridges]
    single = len(choices) == 1
    data = data.loaded()
    tasks: list[Callable[[], Any]] = []
    if single:
        tasks.append(partial(_search_all_rows, spec, data, *choices[0], callback, seconds))
    tasks += [partial(_search_fold, spec, data, fold, callback, seconds) for fold in folds]
    bar, workers = new_bar(spec.verbose, len(tasks), "path"), min(threads, len(tasks))
    results = gather(tasks, workers, stop=stop, bar=bar, describe=lambda found: _best_so_far(found[single:]))
    of_folds: list[_FoldResult] = results[single:]
    scores = _collected(spec, data, of_folds, n_independent_folds(folds))
    ridge, size = scores.choose(rule, n_plain=spec.n_plain * len(spec.ridges))
    path, problem = results[0] if single else _search_all_rows(spec, data, *choices[ridge], callback, None)
    finished = path.finished and all(all(result.finished) for result in of_folds)
    return SizeChoice(path, problem, scores, ridge, size, finished)


@dataclass(frozen=True, eq=False)
class _FoldResult:
    """Sizes and test scores of a fold, and whether the search finished, for each design and ridge."""

    scored: list[SizesAndScores]
    finished: list[bool]


def _search_fold(
    spec: FitSpec, data: FitData, fold: Fold, callback: Progress | None, seconds: float | None
) -> _FoldResult:
    """Search the paths of the training rows, for each design and ridge, and score them on the test rows."""
    assert spec.selection is not None
    train, test = data.take(fold[0]), data.test_set(fold[1], scoring_of(spec))
    train.check_training()
    if spec.positive is not None:
        # Scorers see True for the positive class, as the other labels may have been merged into one class.
        test = replace(test, labels=test.target > 0, classes=np.array([False, True]))
    deadline, scored, finished = data.deadline.within(seconds), list[SizesAndScores](), list[bool]()
    backend = train.make_backend(spec)
    designs: Sequence[AdditiveOptions | Coefficients] = spec.designs
    for n, design in enumerate(designs):
        share = deadline.share(1 / (len(designs) - n))
        problem = build_problem(spec, replace(train, deadline=share), design, backend)
        problem = prepare(at_ridge(problem, spec.ridges[len(spec.ridges) // 2]))
        found = frontiers(problem, spec.ridges, callback)
        with config_context(skip_parameter_validation=True):
            scored += [test.score(problem, one) for one in found]
        finished += [one.finished for one in found]
        data.release(problem)
    return _FoldResult(scored, finished)


def _search_all_rows(
    spec: FitSpec,
    data: FitData,
    design: Any,
    ridge: Ridge,
    callback: Progress | None,
    seconds: float | None,
) -> tuple[Path[Any], Problem[Any]]:
    problem = build_problem(spec, replace(data, deadline=data.deadline.within(seconds)), design)
    problem = prepare(at_ridge(problem, ridge))
    kind: type[Path[Any]] = Path if spec.additive else LinearPath
    return kind.search(problem, data.classes, callback), problem


def _best_so_far(results: Sequence[_FoldResult | None]) -> str:
    """Return a text with the best mean score over the folds that are done."""
    scored = [result.scored for result in results if result is not None]
    if not scored:
        return ""
    sizes = _common_sizes(scored)
    mean = np.mean([[_at_sizes(one, sizes) for one in fold] for fold in scored], axis=0)
    best = np.unravel_index(int(np.argmax(mean)), mean.shape)
    return f"best so far: {sizes[best[1]]} terms, score {mean[best]:.4g}"


def _collected(spec: FitSpec, data: FitData, results: Sequence[_FoldResult], n_independent: float) -> CVScores:
    scored = [result.scored for result in results]
    finished = np.array([result.finished for result in results]).T
    sizes = _common_sizes(scored)
    if not finished.any():
        # A size that a search did not reach would be scored by a smaller model there.
        sizes = sizes[sizes <= min(mine[-1] for fold in scored for mine, _ in fold)]
    scores = np.array([[_at_sizes(one, sizes) for one in fold] for fold in scored])
    total = float(data.target.weight.sum())
    ridges = spec.ridges * len(spec.designs)
    lambda2 = np.array([ridge.at(total).lambda2 for ridge in ridges])
    return CVScores(ridges, lambda2, sizes, np.moveaxis(scores, 0, 2), n_independent, finished)


def _common_sizes(scored: Sequence[Sequence[SizesAndScores]]) -> NDArray[np.int64]:
    return np.unique(np.concatenate([sizes for fold in scored for sizes, _ in fold]))


def _at_sizes(scored: SizesAndScores, sizes: NDArray[np.int64]) -> FloatArray:
    mine, scores = scored
    at_sizes: FloatArray = scores[np.maximum(np.searchsorted(mine, sizes, side="right") - 1, 0)]
    return at_sizes


def make_folds(spec: FitSpec, data: FitData, X: Any, groups: Any) -> list[Fold]:
    """Split the rows once, for all classes."""
    assert spec.selection is not None
    labels = data.labels if spec.positive is None else data.target.values > 0
    splitter = splitter_of(spec.selection, labels, classifier=spec.is_classifier, limited=data.deadline.at is not None)
    if groups is not None and (spec.selection.cv is None or isinstance(spec.selection.cv, Integral)):
        n_splits = DEFAULT_FOLDS if spec.selection.cv is None else spec.selection.cv
        kind = "StratifiedGroupKFold" if spec.is_classifier else "GroupKFold"
        msg = (
            "groups are ignored if cv is a number of folds, so the rows of a group can be in several folds: use "
            f"cv={kind}({n_splits}) of sklearn.model_selection."
        )
        warn(msg, UserWarning)
        groups = None
    # Not every splitter can index a table that was read in pieces, so it is given the labels instead.
    rows = labels if isinstance(X, Table) else X
    if data.n_models == 1:
        return list(splitter.split(rows, labels, groups))
    with warnings.catch_warnings():
        # `_warn_about_few_rows` gives a clearer warning, which states the class.
        warnings.filterwarnings("ignore", message="The least populated class")
        folds = list(splitter.split(rows, labels, groups))
    if spec.selection.cv is None or isinstance(spec.selection.cv, Integral):
        _warn_about_few_rows(data, DEFAULT_FOLDS if spec.selection.cv is None else int(spec.selection.cv))
    else:
        _check_classes_of_folds(data, folds)
    return folds


def splitter_of(selection: SizeSelection, labels: NDArray[Any], *, classifier: bool, limited: bool) -> Any:
    """Return a scikit-learn splitter; a number of folds is shuffled, as rows are often ordered.

    Parameters
    ----------
    selection : SizeSelection
        The options.
    labels : ndarray
        Labels or responses.
    classifier : bool
        Whether the folds are stratified by class.
    limited : bool
        Whether the fit has a time limit, for which n_repeats="auto" is 1.
    """
    cv, n_repeats = selection.cv, selection.n_repeats
    repeats = _number_of_repeats(1 if limited and n_repeats == AUTO else n_repeats, len(labels))
    if cv is not None and not isinstance(cv, Integral):
        if n_repeats != AUTO and repeats > 1:
            msg = (
                f"n_repeats={n_repeats} requires an integer cv, got {shown(cv)}: use a splitter such as RepeatedKFold."
            )
            raise ValueError(msg)
        return check_cv(cv, labels, classifier=classifier)
    n_splits = DEFAULT_FOLDS if cv is None else cv
    check_integer("cv", n_splits, at_least=2)
    kind = RepeatedStratifiedKFold if classifier else RepeatedKFold
    return kind(n_splits=int(n_splits), n_repeats=repeats, random_state=selection.random_state)


def _number_of_repeats(n_repeats: Repeats, n_rows: int) -> int:
    if isinstance(n_repeats, str):
        if n_repeats != AUTO:
            msg = f"n_repeats must be an integer >= 1 or 'auto', got {shown(n_repeats)}."
            raise ValueError(msg)
        return min(max(ROWS_SCORED // max(n_rows, 1), 1), MAX_REPEATS)
    check_integer("n_repeats", n_repeats, at_least=1)
    return int(n_repeats)


def n_independent_folds(folds: Sequence[Fold]) -> float:
    """Return the number of folds divided by the mean number of times that each row is tested."""
    tested = np.concatenate([test for _, test in folds])
    return len(folds) * np.unique(tested).size / max(tested.size, 1)


def _warn_about_few_rows(data: FitData, n_folds: int) -> None:
    """Warn if a class has fewer rows than there are stratified folds."""
    classes, counts = np.unique(data.labels[data.target.weight > 0], return_counts=True)
    label, n = min(zip(classes.tolist(), counts.tolist(), strict=True), key=lambda pair: pair[1])
    if n < n_folds:
        msg = (
            f"class {label!r} has {n} row{'s' * (n > 1)} of positive weight, fewer than the {n_folds} folds, so the "
            "model size chosen for it is unreliable. Use fewer folds, merge the class with another, or leave it out."
        )
        warn(msg, UserWarning)


def _check_classes_of_folds(data: FitData, folds: Sequence[Fold]) -> None:
    """Raise ValueError if the training rows of a fold lack a class."""
    assert data.classes is not None
    labels, weight = data.labels, data.target.weight
    for number, (train, _) in enumerate(folds):
        missing = np.setdiff1d(data.classes, labels[train][weight[train] > 0])
        if missing.size:
            label = missing.tolist()[0]
            n = int(np.count_nonzero((labels == label) & (weight > 0)))
            msg = (
                f"fold {number} has no training row of class {label!r} (of {n} rows in all): use fewer folds or "
                "a stratified splitter as cv, merge the class with another, or leave it out."
            )
            raise ValueError(msg)
