"""Stability selection: how often the features and terms of a model are selected again on samples of the rows."""

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import check_is_fitted

from sparsegam import _core
from sparsegam._data.frames import make_frame
from sparsegam._data.table import Table, read_table
from sparsegam._data.target import read_weights
from sparsegam._fit.driver import fit
from sparsegam._fit.progress import gather, new_bar
from sparsegam._fit.spec import FitSpec
from sparsegam._fit.training import read_data
from sparsegam._models.additive import Model
from sparsegam._models.display import MOST_ROWS, DisplayedResult, TextTable
from sparsegam._models.terms import Condition, Term, part_name
from sparsegam._search.options import Deadline, n_threads
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_choice, check_integer, check_number, warn
from sparsegam.choices import SampleMethod

METHODS = get_args(SampleMethod)
MAX_DRAWS = 100
MAX_DIFFERENCE = 0.5
"""Two terms never match if they differ on more than this share of the rows on the smaller side of the term."""
RAMP_TOLERANCE = 5
"""Factor on the tolerance for ramps: two ramps whose knots are a tenth of the rows apart have more similar
contributions than two steps that are a fiftieth of the rows apart."""
COEF_QUANTILES = (0.05, 0.95)


@dataclass(frozen=True)
class TermStability:
    """Selection frequency of one term of a model.

    Attributes
    ----------
    term : Term
        A step, a ramp or an interaction of the model.
    share : float
        Share of the samples in which the term was selected.
    low, high : float or None
        5 % and 95 % quantiles of its coefficient over these samples; None if it was never selected.
    """

    term: Term
    share: float
    low: float | None
    high: float | None


@dataclass(frozen=True, repr=False)
class Stability(DisplayedResult):
    """Selection frequencies of the features and terms of a model over samples of the rows.

    Attributes
    ----------
    terms : tuple of TermStability
        Selection frequency of each term, in the order of the model.
    features : dict of str to float
        Share of the samples whose model uses each feature or, under a name such as `age & priors`, an interaction of
        each pair of features. Contains all features and pairs that were selected at least once, and those of the
        model, most frequent first.
    model_features : tuple of str
        The features and pairs of features in the model.
    n_terms : tuple of int
        Number of terms of the model of each sample.
    method : {"half", "bootstrap"}
        How the samples were drawn.
    tolerance : float
        Share of the rows on which two matching steps may differ (five times as much for ramps).

    See Also
    --------
    stability : Compute the selection frequencies.
    """

    terms: tuple[TermStability, ...]
    features: dict[str, float]
    model_features: tuple[str, ...]
    n_terms: tuple[int, ...]
    method: str
    tolerance: float

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.n_terms)

    def to_frame(self, by: str = "term") -> Any:
        """Return the selection frequencies as a data frame.

        Parameters
        ----------
        by : {"term", "feature"}, default="term"
            One row per term of the model, or one row per feature that was selected in any sample.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            Columns feature, condition, coef, share, low and high; or feature, in_model and share.
        """
        check_choice("by", by, ("term", "feature"))
        if by == "feature":
            in_model = [name in self.model_features for name in self.features]
            return make_frame(
                {"feature": list(self.features), "in_model": in_model, "share": list(self.features.values())}
            )
        return make_frame(
            {
                "feature": [part_name(one.term.part) for one in self.terms],
                "condition": [one.term.text() for one in self.terms],
                "coef": [one.term.coef for one in self.terms],
                "share": [one.share for one in self.terms],
                "low": [one.low for one in self.terms],
                "high": [one.high for one in self.terms],
            }
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the selection frequencies and return the figure; see `sparsegam.plots.plot_stability`."""
        from sparsegam.plots import plot_stability

        return plot_stability(self, ax=ax)

    def __repr__(self) -> str:
        return f"<Stability: {self.n} samples, {len(self.terms)} terms>"

    def _display(self) -> list[str | TextTable]:
        how = "each half of the rows" if self.method == "half" else "each as many rows, drawn with replacement"
        sizes = f"{min(self.n_terms)} to {max(self.n_terms)} terms; the model has {len(self.terms)}"
        parts: list[str | TextTable] = [f"{self.n} samples ({how}): {sizes}"]
        header = ["feature x", "condition", "feature selected", "term selected", "coefficient", "90% of samples"]
        rows = []
        previous = ""
        for one in self.terms:
            name = part_name(one.term.part)
            first_of_feature = name != previous
            rows.append(
                [
                    name if first_of_feature else "",
                    one.term.short(),
                    f"{self.features.get(name, 0.0):.0%}" if first_of_feature else "",
                    f"{one.share:.0%}",
                    f"{one.term.coef:+.3f}",
                    "" if one.low is None else f"{one.low:+.3f} to {one.high:+.3f}",
                ]
            )
            previous = name
        parts.append(TextTable(header, rows, max_html_rows=MOST_ROWS))
        others = [f"{name} {share:.0%}" for name, share in self.features.items() if name not in self.model_features]
        if others:
            parts.append(f"selected in samples only: {', '.join(others[:8])}{', ...' if len(others) > 8 else ''}")
        return parts


def stability(  # noqa: PLR0913
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n: int = 50,
    sample_weight: Any = None,
    groups: Any = None,
    method: SampleMethod = "half",
    tolerance: float = 0.02,
    random_state: int = 0,
    n_jobs: int | None = None,
    time_limit: float | None = None,
    verbose: int = 0,
) -> Stability:
    """Refit an estimator on samples of the rows and count how often each feature and each term is selected again.

    A step counts as selected if the refitted model has a step on the same feature, in the same direction, that
    differs from it on at most `tolerance` of the rows, and on at most half of the rows on its smaller side. For two
    thresholds, these are the rows between them: `tolerance=0.02` allows thresholds that are two percent of the rows
    apart. A ramp matches only ramps, and its knot may be five times as far away. An interaction matches interactions
    of the same two features, compared by the rows on which both conditions hold.

    Parameters
    ----------
    estimator : SparseGAMClassifier, SparseGAMRegressor, SparseGAMClassifierCV or SparseGAMRegressorCV
        Fitted estimator with a single model (two classes or a regression). Copies of it with the same parameters are
        fitted to the samples; a CV estimator is cross-validated again on each sample.
    X : array-like or data frame of shape (n_samples, n_features)
        Training data.
    y : array-like of shape (n_samples,)
        Target of the training data.
    n : int, default=50
        Number of samples.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows, as in `fit`. Rows of weight zero are never drawn.
    groups : array-like of shape (n_samples,), default=None
        Groups of rows, which are drawn as a whole; also passed to `fit` of a CV estimator.
    method : {"half", "bootstrap"}, default="half"
        "half": each sample is half of the rows, and the samples come in pairs without common rows. "bootstrap": each
        sample has as many rows as the data, drawn with replacement. Repeated rows look like additional evidence to a
        search over thresholds: bootstrap models have two to three times as many terms as models of independent
        data, models of halves about as many.
    tolerance : float, default=0.02
        Share of the rows on which two matching steps may differ.
    random_state : int, default=0
        Seed of the samples. The result does not depend on the number of threads.
    n_jobs : int, default=None
        Number of threads, shared by the samples; None uses `n_jobs` of the estimator.
    time_limit : float, default=None
        Time limit in seconds. The result has only the samples fitted until then, with a ConvergenceWarning.
    verbose : int, default=0
        Show a progress bar if positive.

    Returns
    -------
    Stability
        The selection frequencies, which print as a table, with `to_frame()` and `plot()`.

    Raises
    ------
    TimeoutError
        If no sample was fitted within the time limit.

    See Also
    --------
    alternatives : Find terms that could replace a term of the model at little cost.

    Examples
    --------
    >>> from sparsegam import SparseGAMClassifier
    >>> from sparsegam.inspection import stability
    >>> X = [[a] for a in range(20, 60)] * 5
    >>> y = [int(a > 40) for (a,) in X]
    >>> gam = SparseGAMClassifier(max_terms=1).fit(X, y)
    >>> stability(gam, X, y, n=4).features
    {'x0': 1.0}
    """
    model = _fitted_model(estimator)
    check_integer("n", n, at_least=1)
    check_choice("method", method, METHODS)
    check_number("tolerance", tolerance, at_least=0.0)
    check_integer("random_state", random_state, at_least=0)
    if time_limit is not None:
        check_number("time_limit", time_limit, at_least=0.0)
    jobs = estimator.n_jobs if n_jobs is None else n_jobs
    stop = _core.Stop()
    sampler = _Sampler(X, y, sample_weight, groups, method, int(random_state), is_classifier=model.classes is not None)
    spec = estimator._spec()
    options = replace(spec.options, n_jobs=max(1, n_threads(jobs) // n))
    spec = replace(spec, options=options, stop=stop, verbose=0, callback=None)
    bar = new_bar(verbose, n, "sample")
    with warnings.catch_warnings():
        # Warnings about individual refits are not useful: the selection frequencies summarise the refits.
        warnings.simplefilter("ignore")
        tasks = [partial(_refit, spec, sampler, i) for i in range(n)]
        fitted = gather(tasks, min(n_threads(jobs), n), stop=stop, deadline=Deadline.after(time_limit), bar=bar)
    models = [one for one in fitted if one is not None]
    if len(models) < n:
        msg = f"time_limit={time_limit} s ended the search after {len(models)} of {n} samples; raise it or lower n."
        if not models:
            raise TimeoutError(msg)
        warn(msg, ConvergenceWarning)
    return selection_frequencies(model, models, read_table(X), method, float(tolerance))


def _fitted_model(estimator: Any) -> Model:
    check_is_fitted(estimator)
    model = getattr(estimator, "model_", None)
    if not isinstance(model, Model):
        msg = (
            f"stability needs an estimator with a single additive model, got a {type(model).__name__}. With several "
            "classes, fit one class against the rest (y == label)."
        )
        raise ValueError(msg)
    cv = getattr(estimator, "cv", None)
    if not (cv is None or isinstance(cv, Integral) or hasattr(cv, "split")):
        msg = (
            f"cv={type(cv).__name__}(...) contains fixed row numbers, which do not fit samples of the rows: use an "
            "int, or a splitter such as KFold."
        )
        raise ValueError(msg)
    return model


@dataclass(frozen=True, eq=False)
class _Sampler:
    """Draws samples of the rows; sample number i is the same in every thread."""

    X: Any
    y: Any
    sample_weight: Any
    groups: Any
    method: str
    seed: int
    is_classifier: bool

    def draw(self, i: int) -> tuple[NDArray[np.intp], FloatArray]:
        """Return the distinct rows of sample number i, and how often each was drawn.

        A sample of a classifier that contains a single class is drawn again.
        """
        labels = np.asarray(self.y).ravel()
        weight = read_weights(self.sample_weight, labels.size)
        units = np.arange(labels.size)
        if self.groups is not None:
            units = np.unique(np.asarray(self.groups), return_inverse=True)[1].ravel()
        for attempt in range(MAX_DRAWS):
            times = self._times_drawn(i, attempt, int(units.max()) + 1)[units]
            rows = np.flatnonzero(times * weight)
            drawn = labels[rows]
            if rows.size and not (self.is_classifier and (drawn == drawn[0]).all()):
                return rows, times[rows].astype(np.float64)
        msg = (
            f"{MAX_DRAWS} samples of the rows in succession contained a single class, because the other has too few "
            "rows: more rows of it are needed."
        )
        raise ValueError(msg)

    def _times_drawn(self, i: int, attempt: int, n_units: int) -> NDArray[np.int64]:
        if self.method == "bootstrap":
            drawn = np.random.default_rng([self.seed, i, attempt]).integers(0, n_units, n_units)
            return np.bincount(drawn, minlength=n_units)
        order = np.random.default_rng([self.seed, i // 2, attempt]).permutation(n_units)
        times = np.zeros(n_units, dtype=np.int64)
        times[order[: n_units // 2] if i % 2 == 0 else order[n_units // 2 :]] = 1
        return times


def _refit(spec: FitSpec, sampler: _Sampler, i: int) -> Model:
    """Fit a model to sample number i.

    A row that is drawn twice gets twice the weight, because copies of a row could be in different folds.
    """
    rows, times = sampler.draw(i)
    weight = times if sampler.sample_weight is None else times * np.asarray(sampler.sample_weight)[rows]
    X, y = _safe_indexing(indexable(sampler.X)[0], rows), np.asarray(sampler.y).ravel()[rows]
    groups = None if sampler.groups is None else np.asarray(sampler.groups)[rows]
    model: Model = fit(spec, read_data(spec, X, y, weight), groups).model
    return model


def selection_frequencies(
    model: Model, models: Sequence[Model], table: Table, method: str, tolerance: float
) -> Stability:
    """Count how often the features and terms of a model occur in other models, compared on the rows of a table."""
    matcher = _TermMatcher(model, model.score_function.columns(table), tolerance)
    matches = [matcher.match(other) for other in models]
    terms = []
    for k, term in enumerate(model.terms):
        coefs = [coef for match in matches if (coef := match[k]) is not None]
        low, high = np.quantile(coefs, COEF_QUANTILES).tolist() if coefs else (None, None)
        terms.append(TermStability(term, len(coefs) / len(models), low, high))
    counts = Counter(name for other in models for name in _features_and_pairs(other))
    model_features = _features_and_pairs(model)
    names = dict.fromkeys((*model_features, *counts))
    # Equally frequent features keep the order of the columns, and pairs come after all features.
    position = {name: i for i, name in enumerate((*model.feature_names, *names))}
    order = sorted(names, key=lambda name: (-counts[name], position[name]))
    features = {name: counts[name] / len(models) for name in order}
    sizes = tuple(other.n_terms for other in models)
    return Stability(tuple(terms), features, model_features, sizes, method, tolerance)


def _features_and_pairs(model: Model) -> tuple[str, ...]:
    return (*model.features, *map(part_name, model.pairs))


class _TermMatcher:
    """Finds the terms of a model in other models, by the rows on which they hold.

    Terms of one feature are compared on the distinct values of the feature, weighted by their numbers of rows;
    interactions are compared on the rows. A ramp counts as holding below its knot.
    """

    def __init__(self, model: Model, numbers: dict[str, FloatArray], tolerance: float) -> None:
        self.model = model
        self.numbers = numbers
        self.row_counts = np.ones(next((column.size for column in numbers.values()), 0))
        self.distinct = {name: np.unique(column, return_counts=True) for name, column in numbers.items()}
        self.masks = [self._mask(term) for term in model.terms]
        self.limits = [
            self._max_difference(term, mask, tolerance) for term, mask in zip(model.terms, self.masks, strict=True)
        ]

    def match(self, other: Model) -> list[float | None]:
        """Return the coefficient of the closest matching term for each term of the model, or None if none matches."""
        parts = {term.part for term in self.model.terms}
        candidates = [(term, self._mask(term)) for term in other.terms if term.part in parts]
        return [self._closest(k, candidates) for k in range(len(self.model.terms))]

    def _closest(self, k: int, candidates: Sequence[tuple[Term, FloatArray]]) -> float | None:
        term, counts = self.model.terms[k], self._counts(self.model.terms[k])
        found = []
        for other, mask in candidates:
            if other.part != term.part or other.condition.is_ramp != term.condition.is_ramp:
                continue
            difference = float(counts @ (self.masks[k] != mask))
            found.append((difference, other.coef))
            # A step on the complement of the rows, with the opposite sign, is the same step.
            if not (term.condition.is_ramp or term.is_interaction):
                found.append((float(counts.sum()) - difference, -other.coef))
        found = [(difference, coef) for difference, coef in found if difference <= self.limits[k]]
        same_direction = [one for one in found if one[1] * term.coef > 0]
        return min(same_direction, key=lambda one: one[0])[1] if same_direction else None

    def _counts(self, term: Term) -> FloatArray:
        if term.is_interaction:
            return self.row_counts
        counts: FloatArray = self.distinct[term.feature][1].astype(np.float64)
        return counts

    def _mask(self, term: Term) -> FloatArray:
        if term.is_interaction:
            return self.model.column_of(term, self.numbers)
        condition = Condition("<=", term.condition.value) if term.condition.is_ramp else term.condition
        return self.model.column_of(Term(term.feature, condition, 1.0), {term.feature: self.distinct[term.feature][0]})

    def _max_difference(self, term: Term, mask: FloatArray, tolerance: float) -> float:
        counts = self._counts(term)
        n_holds, n_rows = float(counts @ mask), float(counts.sum())
        if term.condition.is_ramp:
            return min(RAMP_TOLERANCE * tolerance * n_rows, MAX_DIFFERENCE * n_holds)
        return min(tolerance * n_rows, MAX_DIFFERENCE * min(n_holds, n_rows - n_holds))
