"""Cross-validation of a whole frontier: every size scored on every fold, in parallel, and a rule that picks one."""

import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, log_loss, make_scorer
from sklearn.utils import _safe_indexing

from sparsegam import _core
from sparsegam.arrays import Vector
from sparsegam.design.design import Data
from sparsegam.search.options import n_threads
from sparsegam.search.path import Path
from sparsegam.search.progress import new_bar

Rows = NDArray[np.intp]
RULES = ("one_se", "best")
POLL_SECONDS = 0.1  # how often the main thread looks up from its wait, for Ctrl-C


@dataclass(frozen=True)
class Task:
    """What a frontier is searched on: all of the rows that count, as numbers, and as the user gave them."""

    X: Any
    y: NDArray[Any]
    data: Data
    target: Vector
    weight: Vector
    score_weight: Vector | None
    classes: NDArray[Any] | None
    solve: Callable[[Data, Vector, Vector], Path[Any]]
    scorer: Callable[..., float]

    def path(self, rows: Rows | None = None) -> Path[Any]:
        """Search the frontier of some rows, or of all."""
        if rows is None:
            return self.solve(self.data, self.target, self.weight)
        self._check_training(rows)
        return self.solve(self.data.keep(rows), self.target[rows], self.weight[rows])

    def fold(self, train: Rows, test: Rows) -> tuple[NDArray[np.int64], Vector]:
        """Search the frontier of the training rows; return its sizes, and the score of each on the test rows."""
        path = self.path(train)
        test = test[self.weight[test] > 0]
        if test.size == 0:
            msg = "a fold has no row of positive weight to be tested on: use fewer folds."
            raise ValueError(msg)
        data, X = self.data.keep(test).loaded(), _safe_indexing(self.X, test)
        with config_context(skip_parameter_validation=True), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="X has values whose level was not in the training data")
            scores = [self._score(model, data, X, test) for model in path]
        return path.n_terms, np.array(scores)

    def _score(self, model: Any, data: Data, X: Any, test: Rows) -> float:
        kind = ScoredRegressor if self.classes is None else ScoredClassifier
        scored = kind(model, X, model.score_table(data), self.classes)
        extra = {}
        if self.score_weight is not None and _takes_weights(self.scorer):
            extra["sample_weight"] = self.score_weight[test]
        return float(self.scorer(scored, X, self.y[test], **extra))

    def _check_training(self, rows: Rows) -> None:
        seen = self.target[rows][self.weight[rows] > 0]
        if seen.size == 0:
            msg = "a fold has no row of positive weight to be trained on: use other folds."
            raise ValueError(msg)
        if self.classes is not None and seen.min() == seen.max():
            msg = "the training rows of a fold hold one class only: use fewer folds, or a stratified splitter as cv."
            raise ValueError(msg)


class Scored(BaseEstimator):  # type: ignore[misc]
    """A model of the frontier as scikit-learn's scorers want it: the scores of the test rows are known already.

    Parameters
    ----------
    model : Model
        The model.
    X : array or frame
        The test rows.
    scores : ndarray
        Their scores.
    classes : ndarray or None
        The labels of a classification.
    """

    def __init__(self, model: Any, X: Any, scores: Vector, classes: Any) -> None:
        self.model = model
        self.X = X
        self.scores = scores
        self.classes_ = classes

    def _scores(self, X: Any) -> Vector:
        scores: Vector = self.scores if X is self.X else self.model.decision_function(X)
        return scores

    def __sklearn_is_fitted__(self) -> bool:
        return True


class ScoredClassifier(ClassifierMixin, Scored):  # type: ignore[misc]
    """A classification model with known scores."""

    def decision_function(self, X: Any) -> Vector:
        """Return the scores."""
        return self._scores(X)

    def predict_proba(self, X: Any) -> Vector:
        """Return the probabilities of both classes."""
        probabilities: Vector = self.model.probabilities(self._scores(X))
        return probabilities

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likelier classes."""
        labels: NDArray[Any] = self.classes_[(self._scores(X) > 0).astype(np.intp)]
        return labels


class ScoredRegressor(RegressorMixin, Scored):  # type: ignore[misc]
    """A regression model with known scores."""

    def predict(self, X: Any) -> Vector:
        """Return the predictions."""
        return self._scores(X)


def cross_validate(
    task: Task, folds: Sequence[tuple[Rows, Rows]], *, n_jobs: int | None, verbose: int, stop: _core.Stop
) -> tuple[Path[Any], Vector]:
    """Search the frontier of all rows and of each fold; where one fails, or Ctrl-C comes, all are stopped.

    Returns
    -------
    Path
        The frontier of all rows.
    ndarray of shape (n_sizes, n_folds)
        The test scores of the path's sizes. Where a fold's frontier lacks a size, its largest smaller one counts.
    """
    bar = new_bar(verbose, len(folds) + 1, "frontier")
    with ThreadPoolExecutor(min(n_threads(n_jobs), len(folds) + 1)) as pool:
        jobs: list[Future[Any]] = [pool.submit(task.path)]
        jobs += [pool.submit(task.fold, train, test) for train, test in folds]
        try:
            open_jobs = set(jobs)
            while open_jobs:
                done, open_jobs = wait(open_jobs, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
                for job in done:
                    job.result()
                    if bar is not None:
                        bar.update()
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)  # and waits for those that run
            raise
    if bar is not None:
        bar.close()
    path, *scored = (job.result() for job in jobs)
    columns = [scores[np.searchsorted(sizes, path.n_terms, side="right") - 1] for sizes, scores in scored]
    return path, np.column_stack(columns)


def scorer_named(scoring: Any, classes: NDArray[Any] | None) -> Callable[..., float]:
    """Return a scikit-learn scorer; the log loss is told the classes, so that a fold may hold rows of one only."""
    if isinstance(scoring, str) and scoring == "neg_log_loss" and classes is not None:
        scorer: Callable[..., float] = make_scorer(
            log_loss, response_method="predict_proba", greater_is_better=False, labels=classes
        )
    else:
        scorer = get_scorer(scoring)
    return scorer


def threads_per_search(n_jobs: int | None, n_searches: int) -> int:
    """Number of threads left for each of several searches at once."""
    return max(1, n_threads(n_jobs) // n_searches)


def standard_error(scores: Vector) -> Vector:
    """Standard error of the mean over folds, for each size."""
    n_folds = scores.shape[1]
    error: Vector = scores.std(axis=1, ddof=1) / np.sqrt(n_folds) if n_folds > 1 else np.zeros(len(scores))
    return error


def choose(scores: Vector, rule: str) -> int:
    """Pick a size: the one with the best mean score, or the smallest that is within one standard error of it."""
    mean = scores.mean(axis=1)
    if not np.isfinite(mean).all():
        msg = f"scoring gave values that are not finite (mean scores by size: {mean}): choose another scoring or cv."
        raise ValueError(msg)
    best = int(np.argmax(mean))
    if rule == "best":
        return best
    return int(np.flatnonzero(mean >= mean[best] - standard_error(scores)[best])[0])


def results(path: Path[Any], scores: Vector) -> dict[str, Any]:
    """Return all scores by size, as scikit-learn names them."""
    mean = scores.mean(axis=1)
    return {
        "n_terms": path.n_terms,
        "lambda0": path.lambda0,
        "mean_test_score": mean,
        "std_test_score": scores.std(axis=1),
        "se_test_score": standard_error(scores),
        "rank_test_score": np.argsort(np.argsort(-mean, kind="stable"), kind="stable") + 1,
    } | {f"split{i}_test_score": column for i, column in enumerate(scores.T)}


def middle_price(path: Path[Any], index: int) -> float:
    """Return a price per term at which a size is the best of the path; NaN where there is none."""
    upper = path.lambda0[index]
    below = path.lambda0[index + 1 :]
    lower = np.nanmax(below) if np.isfinite(below).any() else 0.0
    if np.isinf(upper):
        return float(2 * lower if lower > 0 else 1.0)
    return float((upper + lower) / 2)


def _takes_weights(scorer: Any) -> bool:
    """Tell whether a scorer's metric has a use for weights; functions of the user's own are called without."""
    metric = getattr(scorer, "_score_func", None)
    return metric is not None and "sample_weight" in signature(metric).parameters
