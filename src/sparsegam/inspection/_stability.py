"""Which steps come back: a model searched again on samples of its rows, by the settings of its estimator."""

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import check_is_fitted

from sparsegam import _core
from sparsegam._data.table import read
from sparsegam._data.target import weights
from sparsegam._data.to_frame import frame_of
from sparsegam._fit.crossval import threads_per_search
from sparsegam._models import notebook
from sparsegam._models.additive import Model
from sparsegam._models.layout import aligned
from sparsegam._models.steps import step_numbers
from sparsegam._models.terms import Condition, Term, part_name
from sparsegam._search.options import n_threads
from sparsegam._search.progress import gather, new_bar
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_choice, check_integer, check_number, warn
from sparsegam.choices import SampleMethod

METHODS = get_args(SampleMethod)
MOST_DRAWS = 100  # until a sample holds two classes
HALF = 0.5  # of the rows that a step stands on: steps that differ on more are not the same
RAMPS = 5  # times the tolerance: knots a tenth of the rows apart give ramps more alike than steps a fiftieth apart
ENDS = (0.05, 0.95)  # of the coefficients that came back


@dataclass(frozen=True)
class Returning:
    """A step, ramp or product of a model, and how it did in the samples.

    Attributes
    ----------
    term : Term
        The step, ramp or product.
    share : float
        Share of the samples in which it came back.
    low, high : float or None
        Between these are nine in ten of its coefficients there; None where it never came back.
    """

    term: Term
    share: float
    low: float | None
    high: float | None


@dataclass(frozen=True, repr=False)
class Stability:
    """How often each feature and each step of a model comes back in samples of the rows.

    Attributes
    ----------
    steps : tuple of Returning
        The steps, ramps and products of the model, in its order.
    features : dict of str to float
        Share of the samples in which a feature is used, or a pair of them, as in `age & priors`, has a product: those
        of the model and any others, the most frequent first.
    used : tuple of str
        The features of the model, and its pairs.
    n_terms : tuple of int
        Number of terms in each sample.
    method : {"half", "bootstrap"}
        How the rows were drawn.
    tolerance : float
        Share of the rows on which two steps may differ and still be the same; ramps may on five times as many.
    """

    steps: tuple[Returning, ...]
    features: dict[str, float]
    used: tuple[str, ...]
    n_terms: tuple[int, ...]
    method: str
    tolerance: float

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.n_terms)

    def to_frame(self, by: str = "step") -> Any:
        """Return the shares as a frame.

        Parameters
        ----------
        by : {"step", "feature"}
            A row for each step of the model, or for each feature that came up in any sample.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            feature, condition, coef, share, low and high; or feature, in_model and share.
        """
        check_choice("by", by, ("step", "feature"))
        if by == "feature":
            names = list(self.features)
            in_model = [name in self.used for name in names]
            return frame_of({"feature": names, "in_model": in_model, "share": list(self.features.values())})
        terms = [step.term for step in self.steps]
        columns: dict[str, Any] = {"feature": [part_name(term.part) for term in terms]}
        columns["condition"] = [term.text() for term in terms]
        columns["coef"] = [term.coef for term in terms]
        return frame_of(columns | {name: [getattr(s, name) for s in self.steps] for name in ("share", "low", "high")})

    def plot(self, ax: Any = None) -> Any:
        """Draw the shares and return the figure; see `sparsegam.plots.plot_stability`."""
        from sparsegam.plots import plot_stability

        return plot_stability(self, ax=ax)

    def __str__(self) -> str:
        return "\n".join([self._head(), aligned(*self._table()), *self._rest()])

    def __repr__(self) -> str:
        return f"<Stability: {self.n} samples, {len(self.steps)} terms>"

    def _repr_html_(self) -> str:
        shown = notebook.table(*self._table(), most=notebook.MOST_ROWS)
        return notebook.fragment(notebook.note(self._head()), shown, *map(notebook.note, self._rest()))

    def _head(self) -> str:
        sizes = sorted(self.n_terms)
        how = "half of the rows each" if self.method == "half" else "as many rows, drawn with replacement"
        return f"{self.n} samples ({how}): {sizes[0]} to {sizes[-1]} terms, the model has {len(self.steps)}"

    def _rest(self) -> list[str]:
        """Tell of features that are not in the model, where there are any."""
        others = [f"{name} {share:.0%}" for name, share in self.features.items() if name not in self.used]
        more = ", ..." if len(others) > 8 else ""
        return [f"not in the model, but in samples: {', '.join(others[:8])}{more}"] if others else []

    def _table(self) -> tuple[list[str], list[list[str]]]:
        rows = []
        last = ""
        for step in self.steps:
            name = part_name(step.term.part)
            feature = ["", ""] if name == last else [name, f"{self.features.get(name, 0.0):.0%}"]
            cells = [f"{step.share:.0%}", f"{step.term.coef:+.3f}", _range(step)]
            rows.append([feature[0], step.term.short(), feature[1], *cells])
            last = name
        return ["feature x", "where", "feature is back", "term is back", "adds", "when back, 9 in 10"], rows


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
    """Fit an estimator to samples of the rows, and say how often each feature and each step of its model comes back.

    A step comes back where the model of a sample has a step of the same feature and direction that differs from it
    on at most `tolerance` of the rows, and on at most half of the rows that it stands on. For `x <= t` these are the
    rows between two thresholds: 0.02 is two in a hundred by rank. A ramp comes back as a ramp, never as a step, where
    at most five times as many rows are between the two knots: ramps so far apart are still more alike than the steps.
    A product comes back as a product of the same two features, where the rows for which both hold differ as little.

    Parameters
    ----------
    estimator : SparseGAMClassifier, SparseGAMRegressor or one that chooses its size
        Fitted, with one model; its copies have the same settings, and choose their size anew where it did.
    X, y : array-like or data frame, and array-like
        The rows of its fit.
    n : int
        Number of samples.
    sample_weight : array-like, optional
        Weights of the rows, as in `fit`.
    groups : array-like, optional
        Groups of rows, which are drawn whole; passed to `fit` where a size is chosen.
    method : {"half", "bootstrap"}
        Half of the rows each, in pairs that share none; or as many rows as there are, drawn with replacement. Rows that
        are drawn twice look like evidence to a search for thresholds: models of the bootstrap are two to three times as
        large as those of new rows, those of halves about as large.
    tolerance : float
        Share of the rows on which two steps may differ and still be the same; ramps may on five times as many.
    random_state : int
        Seed of the draws; the result depends on nothing else.
    n_jobs : int, optional
        Number of threads, shared by the samples; that of the estimator by default.
    time_limit : float, optional
        Seconds after which the samples that are done have to do, with a ConvergenceWarning.
    verbose : int
        Whether to show a bar.

    Returns
    -------
    Stability
        The shares; it prints, has `to_frame()` and `plot()`.
    """
    model = _model_of(estimator)
    check_integer("n", n, at_least=1)
    check_choice("method", method, METHODS)
    check_number("tolerance", tolerance, at_least=0.0)
    check_integer("random_state", random_state, at_least=0)
    if time_limit is not None:
        check_number("time_limit", time_limit, at_least=0.0)
    jobs = estimator.n_jobs if n_jobs is None else n_jobs
    stop = _core.Stop()
    samples = _Samples(X, y, sample_weight, groups, method, int(random_state), classes=model.classes is not None)
    refit = partial(_refit, estimator, samples, threads_per_search(jobs, n), stop)
    bar = new_bar(verbose, n, "sample")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the single fits: what they say is in the shares
        tasks = [partial(refit, i) for i in range(n)]
        done = gather(tasks, min(n_threads(jobs), n), stop=stop, time_limit=time_limit, bar=bar)
    models = [one for one in done if one is not None]
    _check_time(len(models), n, time_limit)
    return shares_in(model, models, read(X), method, float(tolerance))


def _model_of(estimator: Any) -> Model:
    check_is_fitted(estimator)
    model = getattr(estimator, "model_", None)
    if not isinstance(model, Model):
        msg = (
            f"stability is of one additive model, got {type(model).__name__}: of several classes, fit the one that "
            "matters against the rest (y == label)."
        )
        raise ValueError(msg)
    cv = getattr(estimator, "cv", None)
    if not (cv is None or isinstance(cv, Integral) or hasattr(cv, "split")):
        msg = (
            f"cv lists the rows of its folds, and samples have others ({type(cv).__name__}): use a splitter or an int."
        )
        raise ValueError(msg)
    return model


@dataclass(frozen=True, eq=False)
class _Samples:
    """Rows to be drawn from: by number, so that any thread draws the same ones."""

    X: Any
    y: Any
    sample_weight: Any
    groups: Any
    method: str
    seed: int
    classes: bool

    def draw(self, i: int) -> tuple[NDArray[np.intp], FloatArray]:
        """Return the rows of a sample, each once, and how often each is in it."""
        labels = np.asarray(self.y).ravel()
        given = weights(self.sample_weight, labels.size)
        units = (
            np.arange(labels.size)
            if self.groups is None
            else np.unique(np.asarray(self.groups), return_inverse=True)[1]
        )
        for again in range(MOST_DRAWS):
            times = self._times(i, again, int(units.max()) + 1)[units.ravel()]
            rows = np.flatnonzero(times * given)
            seen = labels[rows]
            if rows.size and not (self.classes and (seen == seen[0]).all()):
                return rows, times[rows].astype(np.float64)
        msg = f"{MOST_DRAWS} samples of the rows held one class only: there are too few of the other to draw from."
        raise ValueError(msg)

    def _times(self, i: int, again: int, size: int) -> NDArray[np.int64]:
        if self.method == "bootstrap":
            drawn = np.random.default_rng([self.seed, i, again]).integers(0, size, size)
            return np.bincount(drawn, minlength=size)
        order = np.random.default_rng([self.seed, i // 2, again]).permutation(size)
        times = np.zeros(size, dtype=np.int64)
        times[order[: size // 2] if i % 2 == 0 else order[size // 2 :]] = 1
        return times


def _refit(estimator: Any, samples: _Samples, threads: int, stop: _core.Stop, i: int) -> Model:
    """Fit a copy of the estimator to a sample; rows that were drawn twice weigh twice, so that no fold shares them."""
    rows, times = samples.draw(i)
    copy = clone(estimator).set_params(n_jobs=threads, verbose=0, callback=None)
    copy._stop = stop
    given = {} if samples.groups is None or not hasattr(copy, "cv") else {"groups": np.asarray(samples.groups)[rows]}
    weight = times if samples.sample_weight is None else times * np.asarray(samples.sample_weight)[rows]
    copy.fit(_safe_indexing(indexable(samples.X)[0], rows), np.asarray(samples.y).ravel()[rows], weight, **given)
    model: Model = copy.model_
    return model


def _check_time(done: int, n: int, time_limit: float | None) -> None:
    if done == n:
        return
    msg = f"time_limit={time_limit} s ended the search after {done} of {n} samples: raise it, or lower n."
    if done == 0:
        raise TimeoutError(msg)
    warn(msg, ConvergenceWarning)


def shares_in(model: Model, models: Sequence[Model], table: Any, method: str, tolerance: float) -> Stability:
    """Look each step of a model up in others, which samples of the rows or new rows gave."""
    steps = _Steps(model, step_numbers(model, table), tolerance)
    found = [steps.found_in(other) for other in models]
    returning = []
    for k, term in enumerate(model.terms):
        coefs = [coef for coefs in found if (coef := coefs[k]) is not None]
        low, high = np.quantile(coefs, ENDS).tolist() if coefs else (None, None)
        returning.append(Returning(term, len(coefs) / len(models), low, high))
    uses = Counter(name for other in models for name in _named(other))
    used = _named(model)
    shares = {name: uses[name] / len(models) for name in (*used, *uses)}
    place = {name: i for i, name in enumerate((*model.feature_names, *shares))}  # pairs come after all features
    order = sorted(shares, key=lambda name: (-shares[name], place[name]))
    sizes = tuple(other.n_terms for other in models)
    return Stability(tuple(returning), {name: shares[name] for name in order}, used, sizes, method, tolerance)


def _named(model: Model) -> tuple[str, ...]:
    """Return the features of a model, and its pairs."""
    return (*model.features, *map(part_name, model.pairs))


class _Steps:
    """The terms of a model as the rows for which they hold, to be found again in other models."""

    def __init__(self, model: Model, numbers: dict[str, FloatArray], tolerance: float) -> None:
        self.model = model
        self.numbers, self.ones = numbers, np.ones(next((column.size for column in numbers.values()), 0))
        self.values = {name: np.unique(column, return_counts=True) for name, column in numbers.items()}
        self.holds = [self._holds(term) for term in model.terms]
        self.most = [self._most(term, mine, tolerance) for term, mine in zip(model.terms, self.holds, strict=True)]

    def found_in(self, other: Model) -> list[float | None]:
        """Return the coefficient of the nearest step that is the same, for each step; None where there is none."""
        mine = {term.part for term in self.model.terms}
        theirs = [(term, self._holds(term)) for term in other.terms if term.part in mine]
        return [self._found(term, k, theirs) for k, term in enumerate(self.model.terms)]

    def _found(self, term: Term, k: int, theirs: Sequence[tuple[Term, FloatArray]]) -> float | None:
        best: tuple[float, float] | None = None
        for other, holds in theirs:
            if other.part == term.part and other.condition.is_ramp == term.condition.is_ramp:
                for gap, coef in self._as_this(term, self.holds[k], other, holds):
                    if gap <= self.most[k] and coef * term.coef > 0 and (best is None or gap < best[0]):
                        best = gap, coef
        return None if best is None else best[1]

    def _as_this(self, term: Term, mine: FloatArray, other: Term, holds: FloatArray) -> Iterator[tuple[float, float]]:
        """Return on how many rows two terms differ, and the coefficient: as they are, and with a step reversed."""
        counts = self._counts(term)
        differ = float(counts @ (mine != holds))
        yield differ, other.coef
        if not (term.condition.is_ramp or term.is_product):
            yield float(counts.sum()) - differ, -other.coef

    def _counts(self, term: Term) -> FloatArray:
        """Return how many rows each value of a feature stands for; products are held against the rows themselves."""
        counts: FloatArray = self.ones if term.is_product else self.values[term.feature][1].astype(np.float64)
        return counts

    def _holds(self, term: Term) -> FloatArray:
        """Tell for which values of its feature a term holds, or for which rows: those of a ramp are below its knot."""
        if term.is_product:
            return self.model.column_of(term, self.numbers)
        condition = Condition("<=", term.condition.value) if term.condition.is_ramp else term.condition
        return self.model.column_of(Term(term.feature, condition, 1.0), {term.feature: self.values[term.feature][0]})

    def _most(self, term: Term, holds: FloatArray, tolerance: float) -> float:
        """Return the most rows on which another term may differ from this one."""
        counts = self._counts(term)
        n, total = float(counts @ holds), float(counts.sum())
        if term.condition.is_ramp:
            return min(RAMPS * tolerance * total, HALF * n)
        return min(tolerance * total, HALF * min(n, total - n))


def _range(step: Returning) -> str:
    return "" if step.low is None or step.high is None else f"{step.low:+.3f} to {step.high:+.3f}"
