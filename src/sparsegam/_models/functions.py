"""Fitted functions of an additive model: the bins of a feature or a pair of features, and the contribution of each bin.

Prediction, equation, plots, report, scorecard, reason codes, drift and exports all read these functions.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import pairwise, product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import NUMBER, UNSEEN, Scale, Value, from_array, text
from sparsegam._data.table import Table, read_table
from sparsegam._models.input_columns import positions
from sparsegam._models.terms import Condition, Part, Term, part_name
from sparsegam._models.training import NEW, NewValues, TrainingDistribution
from sparsegam.arrays import FloatArray
from sparsegam.losses import LOSSES, logistic

BinKind = Literal["missing", "values", "interval", "other", "unseen"]
Columns = Mapping[str, FloatArray]
"""The columns of the features in use, as numbers on their scales."""
Positions = NDArray[np.intp]

LARGEST_EXACT_INTEGER = 2.0**53
NEW_KINDS = ("a new level", "a special value", "a missing value")


@dataclass(frozen=True)
class Bin:
    """A set of values of a feature for which the same conditions hold.

    Attributes
    ----------
    kind : {"missing", "values", "interval", "other", "unseen"}
        "values": special values or levels named by a condition; "other": levels named by no condition; "unseen": levels
        that are not on the scale.
    values : tuple
        The values of a bin that is not an interval; the levels of an interval of ordered levels.
    low, high : float
        Ends of the interval `low < x <= high`, as numbers on the scale.
    is_new : bool
        Whether such values did not occur in training.
    text : str
        Description of the values, such as `> 63 to 71`.
    """

    kind: BinKind
    text: str
    values: tuple[Value, ...] = ()
    low: float = -math.inf
    high: float = math.inf
    is_new: bool = False

    @property
    def label(self) -> str:
        """Description of the values, with a note if they did not occur in training."""
        return f"{self.text}{NEW * self.is_new}"


@dataclass(frozen=True, eq=False)
class Bins:
    """Partition of the values of a feature by the conditions of a model.

    The order is: missing values, single values, intervals, other levels, unseen levels. The last bin is the
    default of exports: it contains all values that are in no other bin.

    Attributes
    ----------
    feature : str
        Name of the feature.
    scale : Scale
        Scale of its values.
    bins : tuple of Bin
        The bins.
    edges : ndarray
        Thresholds between the intervals, as numbers on the scale.
    upper : ndarray
        Upper ends of the ranges of numbers that belong to one bin, in increasing order; the last is infinity.
    bin_at : ndarray of int
        Bin of each of these ranges, and of missing values, which are sorted behind them.
    distribution : TrainingDistribution or None
        Training distribution of the feature, if known.
    """

    feature: str
    scale: Scale
    bins: tuple[Bin, ...]
    edges: FloatArray
    upper: FloatArray
    bin_at: Positions
    distribution: TrainingDistribution | None = None

    def __len__(self) -> int:
        return len(self.bins)

    @cached_property
    def first_interval(self) -> int:
        """Position of the first interval. Without intervals, the number of bins of missing and single values."""
        return sum(bin_.kind in ("missing", "values") for bin_ in self.bins)

    @cached_property
    def is_new(self) -> NDArray[np.bool_]:
        """Mask of the bins without training rows."""
        return np.array([bin_.is_new for bin_ in self.bins])

    @cached_property
    def new_at(self) -> NDArray[np.int8]:
        """For each range: 0, or for new values 1 plus the position in NEW_KINDS."""
        kinds = {"unseen": 1, "values": 2, "missing": 3}
        of_bin = np.array([kinds.get(bin_.kind, 0) if bin_.is_new else 0 for bin_ in self.bins], dtype=np.int8)
        out: NDArray[np.int8] = of_bin[self.bin_at]
        if self.scale.has_levels:
            out[0] = 1  # A level that is not on the scale is new even if the training distribution is unknown.
        return out

    def range_of(self, numbers: FloatArray, xp: Any = np) -> Positions:
        """Return the range of each value, a number on the scale: one binary search for all kinds of values.

        `xp` is the module of the array, here and below: NumPy, or CuPy for an array on a device.
        """
        ranges: Positions = xp.searchsorted(xp.asarray(self.upper), numbers)
        return ranges

    def bin_of(self, numbers: FloatArray) -> Positions:
        """Return the bin of each value, a number on the scale."""
        return self.bin_at[self.range_of(numbers)]

    def count_new(self, ranges: Positions, xp: Any = np) -> dict[str, int]:
        """Count the new values, which did not occur in training, by kind."""
        flags = xp.asarray(self.new_at)[ranges]
        if not flags.any():
            return {}
        counts = xp.bincount(flags, minlength=1 + len(NEW_KINDS)).tolist()
        return {kind: count for kind, count in zip(NEW_KINDS, counts[1:], strict=True) if count}

    def holds(self, condition: Condition) -> NDArray[np.bool_]:
        """Return the mask of the bins in which a condition holds. It must be one from which the bins were built."""
        if condition.kind == "missing":
            return np.array([bin_.kind == "missing" for bin_ in self.bins])
        if condition.kind in ("==", "in"):
            named = {self.scale.number(value) for value in condition.values if self.scale.holds(value)}
            return np.array([
                bin_.kind == "values" and named.issuperset(map(self.scale.number, bin_.values)) for bin_ in self.bins
            ])  # fmt: skip
        edge, below = self.scale.number(condition.value), condition.kind == "<="
        intervals = (
            bin_.kind == "interval" and (bin_.high <= edge if below else bin_.low >= edge) for bin_ in self.bins
        )
        return np.fromiter(intervals, dtype=np.bool_, count=len(self.bins))

    def representatives(self) -> FloatArray:
        """Return one number in each bin: the upper end of an interval, or the first of several values."""
        top = len(self.scale.levels) - 1.0 if self.scale.has_levels else math.inf
        fixed = {"missing": math.nan, "unseen": UNSEEN}
        found = [
            min(bin_.high, top) if bin_.kind == "interval"
            else self.scale.number(bin_.values[0]) if bin_.values else fixed.get(bin_.kind, UNSEEN)
            for bin_ in self.bins
        ]  # fmt: skip
        return np.array(found)

    @cached_property
    def special(self) -> FloatArray:
        """Special values of an ordered feature, as numbers."""
        if self.scale.kind == "category":
            return np.zeros(0)
        values = [self.scale.number(v) for bin_ in self.bins if bin_.kind == "values" for v in bin_.values]
        return np.array(values, dtype=np.float64)

    @property
    def needs_float(self) -> bool:
        """Whether exports must convert values to floats before they compare them.

        Integers of 2^53 and above are rounded to floats here, while Python and some databases compare them exactly.
        """
        named = [self.plain_number(v) for bin_ in self.bins for v in bin_.values] if not self.scale.is_text else []
        compared = np.abs([*self.edges, *named])
        return self.scale.kind == "number" and bool(np.any(compared >= LARGEST_EXACT_INTEGER))

    def plain_number(self, value: Value) -> float:
        """Return the number that represents a non-text value in exports; numeric levels represent themselves."""
        if self.scale.has_levels and isinstance(value, int | float):
            return float(value)
        return self.scale.number(value)

    def upper_value(self, bin_: Bin) -> Value:
        """Return the upper end of an interval as a value of the feature."""
        return self.scale.value(bin_.high)


def bins_of(
    feature: str,
    conditions: Iterable[Condition],
    special_values: Sequence[Value] = (),
    scale: Scale = NUMBER,
    distribution: TrainingDistribution | None = None,
) -> Bins:
    """Partition the values of a feature by the conditions on it.

    Parameters
    ----------
    feature : str
        Name of the feature.
    conditions : iterable of Condition
        The conditions.
    special_values : sequence of value
        Values outside the order of the feature.
    scale : Scale
        Scale of its values.
    distribution : TrainingDistribution, optional
        Training distribution of the feature.

    Returns
    -------
    Bins
        The bins. Single values share a bin if the same conditions hold for them and either all or none of them occurred
        in training.
    """
    unique = list(dict.fromkeys(conditions))
    edges = np.array(sorted({scale.number(edge) for c in unique for edge in c.edges}), dtype=np.float64)
    is_known = distribution is not None
    missing = Bin("missing", "missing", is_new=distribution is not None and not distribution.missing)
    singles, bin_of_single = _single_values(unique, special_values, scale, distribution)
    n_before = 1 + len(singles)
    if scale.kind == "category":
        rest = tuple(level for i, level in enumerate(scale.levels) if i not in bin_of_single)
        others = [Bin("other", _listed(rest) if is_known else "any other", rest)] if rest or not is_known else []
        unseen = [Bin("unseen", "any other", is_new=True)] if is_known else []
        body = [*others, *unseen]
    else:
        body = _intervals(edges, scale)
        if scale.has_levels:
            body.append(Bin("unseen", "any other", is_new=is_known))
    bins = (missing, *singles, *body)
    if scale.has_levels:
        numbers = np.arange(len(scale.levels), dtype=np.float64)
        inside = n_before + np.searchsorted(edges, numbers)
        upper = np.concatenate([[UNSEEN], numbers, [math.inf]])
        bin_at = np.concatenate([[len(bins) - 1], inside, [len(bins) - 1, 0]]).astype(np.intp)
    else:
        single = np.array(list(bin_of_single), dtype=np.float64)
        # A single value has its own range, which ends at the value; the previous range ends just below.
        upper = np.unique(np.concatenate([edges, single, np.nextafter(single, -math.inf), [math.inf]]))
        bin_at = np.append(n_before + np.searchsorted(edges, upper), 0)
    bin_at[np.searchsorted(upper, list(bin_of_single))] = [1 + i for i in bin_of_single.values()]
    return Bins(feature, scale, bins, edges, upper, bin_at, distribution)


def _single_values(
    conditions: Sequence[Condition],
    special_values: Sequence[Value],
    scale: Scale,
    distribution: TrainingDistribution | None,
) -> tuple[list[Bin], dict[float, int]]:
    """Return the bins of special values and named levels, and the position of the bin of each value."""
    named = [c for c in conditions if c.kind in ("==", "in")]
    wanted = [] if scale.kind == "category" else list(special_values)
    wanted += [value for c in named for value in c.values]
    values = {scale.number(value): value for value in wanted if scale.kind != "category" or scale.holds(value)}
    lacking = set() if distribution is None or scale.kind == "category" else {*distribution.lacks(values, scale)}
    asked = [{scale.number(value) for value in c.values if scale.holds(value)} for c in named]
    groups: dict[tuple[bool, tuple[int, ...]], list[float]] = {}
    for number in values:
        holding = tuple(i for i, numbers in enumerate(asked) if number in numbers)
        groups.setdefault((number in lacking, holding), []).append(number)
    ordered = sorted(groups.items(), key=lambda item: item[0][0])
    bins: list[Bin] = []
    bin_of: dict[float, int] = {}
    for i, ((is_new, _), numbers) in enumerate(ordered):
        mine = tuple(scale.value(number) for number in numbers)
        bins.append(Bin("values", _listed(mine), mine, is_new=is_new))
        bin_of |= dict.fromkeys(numbers, i)
    return bins, bin_of


def _intervals(edges: FloatArray, scale: Scale) -> list[Bin]:
    return [
        Bin("interval", _interval_text(scale, low, high), _levels_between(scale, low, high), low, high)
        for low, high in pairwise([-math.inf, *edges.tolist(), math.inf])
    ]


def _levels_between(scale: Scale, low: float, high: float) -> tuple[Value, ...]:
    return tuple(level for i, level in enumerate(scale.levels) if low < i <= high)


def _interval_text(scale: Scale, low: float, high: float) -> str:
    if scale.has_levels:
        return _listed(_levels_between(scale, low, high))
    if low == -math.inf and high == math.inf:
        return "any other"
    if scale.kind == "boolean":
        return "False" if low == -math.inf else "True"
    if high == math.inf:
        return f"> {text(scale.value(low))}"
    upper = text(scale.value(high))
    return f"<= {upper}" if low == -math.inf else f"> {text(scale.value(low))} to {upper}"


def _listed(values: Iterable[Value]) -> str:
    return ", ".join(map(text, values))


@dataclass(frozen=True, eq=False)
class Sample:
    """Representative rows of the training data: a number for each feature of a function, and the share of each row."""

    numbers: tuple[FloatArray, ...]
    shares: FloatArray


@dataclass(frozen=True, eq=False)
class FittedFunction:
    """Contribution of a feature, or of a pair of features, to the score: constant or linear in each bin.

    Attributes
    ----------
    axes : tuple of Bins
        The bins of the feature, or of each of the two features.
    contributions : ndarray
        Contribution of each bin, with one dimension per axis. For a bin with a slope, that of its upper end.
    slopes, starts : ndarray
        Change per unit within each bin, and contribution just above its lower end.
    sample : Sample or None
        Training distribution, if known.
    """

    axes: tuple[Bins, ...]
    contributions: FloatArray
    slopes: FloatArray
    starts: FloatArray
    sample: Sample | None = None

    @property
    def key(self) -> Part:
        """Name of the feature, or the names of both features."""
        return self.pair if self.is_pair else self.bins.feature

    @property
    def pair(self) -> tuple[str, str]:
        """Names of the features of a function of two features."""
        first, second = self.axes
        return first.feature, second.feature

    @property
    def name(self) -> str:
        """Name of the feature, or of the pair as in `age & priors`."""
        return part_name(self.key)

    @property
    def bins(self) -> Bins:
        """The bins of a function of one feature."""
        (axis,) = self.axes
        return axis

    @property
    def is_pair(self) -> bool:
        """Whether this is a function of two features."""
        return len(self.axes) > 1

    @cached_property
    def has_slopes(self) -> bool:
        """Whether a bin has a slope."""
        return bool(self.slopes.any())

    @cached_property
    def _by_range(self) -> FloatArray:
        """Contribution of each range of numbers of the axes, so that prediction needs a single look-up."""
        return self.contributions[np.ix_(*(axis.bin_at for axis in self.axes))]

    @property
    def ends(self) -> FloatArray:
        """Contributions at both ends of each bin."""
        return np.concatenate([self.contributions.ravel(), self.starts.ravel()])

    def __call__(self, *values: Any) -> FloatArray:
        """Return the contribution of each row, given the values of each feature as in the data."""
        given = zip(values, self.axes, strict=True)
        return self.at(*(from_array(np.asarray(x), "x").on_scale(axis.scale) for x, axis in given))

    def at(self, *numbers: FloatArray) -> FloatArray:
        """Return the contribution of each row, given the numbers of each feature on its scale."""
        ranges = tuple(axis.range_of(column) for axis, column in zip(self.axes, numbers, strict=True))
        return self.at_ranges(ranges, numbers)

    def at_ranges(self, ranges: tuple[Positions, ...], numbers: tuple[FloatArray, ...], xp: Any = np) -> FloatArray:
        """Return the contribution of each row, given its values and their ranges from `Bins.range_of`."""
        out: FloatArray = xp.asarray(self._by_range)[ranges]
        if not self.has_slopes:
            return out
        return self._add_slopes(out, xp.asarray(self.axes[0].bin_at)[ranges[0]], numbers[0], xp)

    def evaluate(self, columns: Columns) -> FloatArray:
        """Return the contribution of each row."""
        return self.at(*(columns[axis.feature] for axis in self.axes))

    def bin_of(self, columns: Columns) -> Positions:
        """Return the bin of each row; the cells of a pair are numbered in row-major order."""
        bins = tuple(axis.bin_of(columns[axis.feature]) for axis in self.axes)
        return bins[0] if len(bins) == 1 else np.ravel_multi_index(bins, self.contributions.shape)

    def _add_slopes(self, out: FloatArray, located: Positions, numbers: FloatArray, xp: Any) -> FloatArray:
        """Add slope times distance from the upper end, clipped to the ends of the bin for exact monotonicity."""
        ends = np.array([bin_.high for bin_ in self.bins.bins])
        low, high = np.minimum(self.starts, self.contributions), np.maximum(self.starts, self.contributions)
        slope, end, low, high = (xp.asarray(each)[located] for each in (self.slopes, ends, low, high))
        sloped = slope != 0.0
        below = xp.where(sloped, numbers, 0.0) - xp.where(sloped, end, 0.0)
        clipped: FloatArray = xp.clip(out + slope * below, low, high)
        return clipped

    def lines(self) -> Iterator[tuple[Bin, float, float]]:
        """Return each bin of a function of one feature with its contribution and its slope."""
        return zip(self.bins.bins, self.contributions.tolist(), self.slopes.tolist(), strict=True)

    def phrases(self) -> Iterator[tuple[Any, Any]]:
        """Return the text and the label of each bin; for a pair, the texts and the labels of both features."""
        if not self.is_pair:
            return ((bin_.text, bin_.label) for bin_ in self.bins.bins)
        cells = product(*(axis.bins for axis in self.axes))
        return (((one.text, two.text), (one.label, two.label)) for one, two in cells)

    def labels(self) -> tuple[str, ...]:
        """Return the label of each bin; for a pair as in `age: <= 25; priors: > 3`, in row-major order."""
        if not self.is_pair:
            return tuple(bin_.label for bin_ in self.bins.bins)
        first, second = (axis.feature for axis in self.axes)
        return tuple(
            f"{first}: {one.text}; {second}: {two.text}{NEW * (one.is_new or two.is_new)}"
            for one, two in product(*(axis.bins for axis in self.axes))
        )

    @cached_property
    def training(self) -> tuple[FloatArray, FloatArray] | None:
        """Contributions to representative training rows and the share of each, if the distribution is known."""
        return None if self.sample is None else (self.at(*self.sample.numbers), self.sample.shares)

    @cached_property
    def mean(self) -> float:
        """Mean contribution over the training rows, exactly rounded; 0 if their distribution is unknown."""
        if self.training is None:
            return 0.0
        values, shares = self.training
        return math.fsum((shares * values).tolist())

    @property
    def shares(self) -> FloatArray | None:
        """Share of the training rows in each bin, by weight, if the distribution is known."""
        if self.sample is None:
            return None
        columns = {axis.feature: numbers for axis, numbers in zip(self.axes, self.sample.numbers, strict=True)}
        counts = np.bincount(self.bin_of(columns), self.sample.shares, self.contributions.size)
        return counts.astype(np.float64).reshape(self.contributions.shape)

    def changed(self, change: Callable[[FloatArray], FloatArray]) -> "FittedFunction":
        """Return the function with changed contributions and the same slopes."""
        return replace(self, contributions=change(self.contributions), starts=change(self.starts))

    def shifted(self, by: float) -> "FittedFunction":
        """Return the function plus a constant."""
        return self.changed(lambda contributions: contributions + by)

    def with_mean_where_new(self) -> "FittedFunction":
        """Return the function with its mean as the contribution of new values."""
        if self.sample is None or not any(axis.is_new.any() for axis in self.axes):
            return self
        is_new = reduce(np.logical_or.outer, (axis.is_new for axis in self.axes))
        return self.changed(lambda contributions: np.where(is_new, self.mean, contributions))


def feature_function(terms: Sequence[Term], bins: Bins) -> FittedFunction:
    """Add up the terms of one feature; thresholds and ramps do not apply to special and missing values."""
    contributions = np.zeros(len(bins))
    for term in terms:
        if term.condition.kind in ("==", "in", "missing"):
            contributions[bins.holds(term.condition)] += term.coef
    starts, slopes = contributions.copy(), np.zeros(len(bins))
    if bins.scale.kind != "category":
        inside = slice(bins.first_interval, bins.first_interval + bins.edges.size + 1)
        contributions[inside], starts[inside], slopes[inside] = _lines(terms, bins)
    sample = None
    if bins.distribution is not None:
        numbers, shares = bins.distribution.sample(bins.scale)
        sample = Sample((numbers,), shares)
    return FittedFunction((bins,), contributions, slopes, starts, sample)


def _lines(terms: Sequence[Term], bins: Bins) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the contributions at the upper and at the lower end of each interval, and its slope."""
    edges, scale = bins.edges, bins.scale
    steps = sorted((scale.number(t.condition.value), t.coef) for t in terms if t.condition.kind == "<=")
    ends = np.array([end for end, _ in steps], dtype=np.float64)
    # x <= t holds in all intervals up to t. A cumulative sum from the right keeps contributions exactly monotone
    # if all coefficients have the same sign.
    sums = np.cumsum(np.array([*(coef for _, coef in steps), 0.0])[::-1])[::-1]
    stepped = sums[np.append(np.searchsorted(ends, edges), ends.size)]
    ramps = [t for t in terms if t.condition.is_ramp]
    if not ramps:
        return stepped, stepped, np.zeros(stepped.size)
    low, knot, coef = np.array([(t.condition.low, t.condition.value, t.coef) for t in ramps], dtype=np.float64).T
    fall = np.minimum(np.maximum(edges[:, None], low) - knot, 0.0)
    ramped = np.append(np.add.accumulate(fall * coef, axis=1)[:, -1], 0.0)
    slopes = np.append(((low < edges[:, None]) & (edges[:, None] <= knot)) @ coef, 0.0)
    return stepped + ramped, stepped + np.append(ramped[:1], ramped[:-1]), slopes


def pair_function(terms: Sequence[Term], axes: tuple[Bins, Bins], shares: FloatArray | None = None) -> FittedFunction:
    """Add up the interactions of one pair. The fixed order of summation keeps sums of monotone terms exactly monotone.

    Parameters
    ----------
    terms : sequence of Term
        Interactions of the same two features.
    axes : pair of Bins
        The bins of these features.
    shares : ndarray, optional
        Share of the training rows in each pair of bins.

    Returns
    -------
    FittedFunction
        The sum.
    """
    contributions = np.zeros((len(axes[0]), len(axes[1])))
    for term in terms:
        first, second = (axis.holds(clause.condition) for axis, clause in zip(axes, term.clauses, strict=True))
        contributions[np.ix_(first, second)] += term.coef
    sample = None
    if shares is not None:
        grid = np.meshgrid(*(axis.representatives() for axis in axes), indexing="ij")
        sample = Sample((grid[0].ravel(), grid[1].ravel()), shares.ravel())
    return FittedFunction(axes, contributions, np.zeros(contributions.shape), contributions, sample)


def joint_shares(axes: tuple[Bins, Bins], numbers: tuple[FloatArray, FloatArray], weight: FloatArray) -> FloatArray:
    """Return the weighted share of rows in each pair of bins."""
    shape = len(axes[0]), len(axes[1])
    located = np.ravel_multi_index((axes[0].bin_of(numbers[0]), axes[1].bin_of(numbers[1])), shape)
    return np.bincount(located, weight / weight.sum(), shape[0] * shape[1]).astype(np.float64).reshape(shape)


@dataclass(frozen=True, eq=False)
class ScoreFunction:
    """Sum of functions: score = base + contributions; P(positive class) = 1 / (1 + exp(-(shift + slope * score))).

    Attributes
    ----------
    base : float
        Score of a row without contributions.
    functions : tuple of FittedFunction
        Functions of one feature, then those of pairs.
    feature_names : tuple of str
        All columns of the training table; arrays are read by these positions.
    classes : tuple or None
        The two labels; None for a regression, which has no probability.
    slope, shift : float
        Slope and intercept of the log-odds of the positive class as a function of the score.
    missing : {"mean", "error", "last"}
        How values that did not occur in training are scored.
    """

    base: float
    functions: tuple[FittedFunction, ...]
    feature_names: tuple[str, ...]
    classes: tuple[Any, Any] | None = None
    slope: float = 1.0
    shift: float = 0.0
    missing: str = "last"

    @property
    def of_features(self) -> tuple[FittedFunction, ...]:
        """The functions of one feature."""
        return tuple(function for function in self.functions if not function.is_pair)

    @property
    def of_pairs(self) -> tuple[FittedFunction, ...]:
        """The functions of two features."""
        return tuple(function for function in self.functions if function.is_pair)

    @cached_property
    def inputs(self) -> tuple[Bins, ...]:
        """Bins of each feature in use, in table order: from its own function, if any, otherwise from its first pair."""
        found: dict[str, Bins] = {}
        for axis in (axis for function in self.functions for axis in function.axes):
            found.setdefault(axis.feature, axis)
        return tuple(found[name] for name in self.feature_names if name in found)

    @cached_property
    def features(self) -> tuple[str, ...]:
        """The features in use, in table order."""
        return tuple(axis.feature for axis in self.inputs)

    @cached_property
    def scales(self) -> dict[str, Scale]:
        """Scale of each feature in use."""
        return {axis.feature: axis.scale for axis in self.inputs}

    @cached_property
    def _used_twice(self) -> frozenset[str]:
        """Features in several functions, whose columns are cached."""
        names = [axis.feature for function in self.functions for axis in function.axes]
        return frozenset(name for name in names if names.count(name) > 1)

    def columns(self, table: Table) -> dict[str, FloatArray]:
        """Return the columns of the features in use, as numbers on their scales."""
        where = positions(self.features, self.feature_names, table)
        return {axis.feature: table.column(j).on_scale(axis.scale) for axis, j in zip(self.inputs, where, strict=True)}

    def contributions(self, table: Table, new: NewValues) -> Iterator[FloatArray]:
        """Return the contribution of each function to each row; `new` collects the counts of new values.

        Columns are read one by one, so that a large table is never in memory as a whole.
        """
        where = dict(zip(self.features, positions(self.features, self.feature_names, table), strict=True))
        kept: dict[str, FloatArray] = {}
        # The arrays of a function are freed before those of the next are created, so that their memory can be reused.
        for function in self.functions:
            yield self._contribution(function, table, where, kept, new)

    def _contribution(
        self,
        function: FittedFunction,
        table: Table,
        where: Mapping[str, int],
        kept: dict[str, FloatArray],
        new: NewValues,
    ) -> FloatArray:
        numbers, ranges = [], []
        for axis in function.axes:
            name = axis.feature
            column = kept[name] if name in kept else table.column(where[name]).on_scale(axis.scale)
            if name in self._used_twice:
                kept[name] = column
            numbers.append(column)
            ranges.append(axis.range_of(column))
            new.note(name, axis.count_new(ranges[-1]))
        return function.at_ranges(tuple(ranges), tuple(numbers))

    def score_rows(self, table: Table, new: NewValues) -> FloatArray:
        """Return the score of each row; `new` collects the counts of new values."""
        score = np.full(table.n_rows, self.base)
        for contribution in self.contributions(table, new):
            score += contribution
        return score

    def score(self, X: Any) -> FloatArray:
        """Return the score of each row."""
        new = NewValues()
        score = self.score_rows(read_table(X), new)
        new.tell(self.missing)
        return score

    def score_columns(self, columns: Columns, n_rows: int) -> FloatArray:
        """Return the score of each row, given the columns in use, without warnings."""
        score = np.full(n_rows, self.base)
        for function in self.functions:
            score += function.evaluate(columns)
        return score

    def changed(self, changes: Sequence[Callable[[FloatArray], FloatArray]]) -> "ScoreFunction":
        """Return the same bins with other contributions: one change for each function."""
        pairs = zip(self.functions, changes, strict=True)
        return replace(self, functions=tuple(function.changed(change) for function, change in pairs))

    def probability(self, score: FloatArray) -> FloatArray:
        """Return the probability of the positive class for each score."""
        if self.classes is None:
            msg = "a regression has no probabilities: use its scores."
            raise ValueError(msg)
        return logistic(self.log_odds(score))

    def log_odds(self, score: FloatArray) -> FloatArray:
        """Return the log-odds of the positive class for each score."""
        out: FloatArray = self.shift + self.slope * score
        return out

    def check_inputs(self, file_format: str, outputs: tuple[str, ...]) -> None:
        """Raise ValueError if the model has no inputs, or if an input has a name that the format cannot use."""
        if not self.inputs:
            msg = f"{file_format} needs at least one feature, but the model has no terms: its score is {self.base}."
            raise ValueError(msg)
        for name in self.features:
            if name in outputs or not name:
                why = "an output has this name" if name else "names must not be empty"
                msg = f"{file_format} cannot contain a column named {name!r}, because {why}: rename the column."
                raise ValueError(msg)

    def range(self) -> tuple[float, float]:
        """Return bounds on the score of any row, exact unless functions share features."""
        ends = [function.ends for function in self.functions]
        return self.base + sum(float(e.min()) for e in ends), self.base + sum(float(e.max()) for e in ends)


def score_function(model: Any) -> ScoreFunction:
    """Return the score function of a Model, a Scorecard or a fitted estimator.

    Raise ValueError for a model whose loss does not provide probabilities.
    """
    if isinstance(model, ScoreFunction):
        return model
    found = getattr(model, "score_function", None)
    if isinstance(found, ScoreFunction):
        loss = getattr(model, "loss", None)
        return found if loss is None else replace(found, slope=LOSSES[loss].slope)
    if hasattr(model, "model_"):
        return score_function(model.model_)
    if hasattr(model, "models") and hasattr(model, "classes"):
        msg = (
            f"a model of {len(model.classes)} classes cannot be exported or converted as a whole: pass one of "
            "`model_.models`, the models of each class against the rest, in the order of `model_.classes`."
        )
        raise TypeError(msg)
    msg = f"expected a Model, a Scorecard or a fitted estimator, got {type(model).__name__}."
    raise TypeError(msg)
