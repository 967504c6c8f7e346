"""Bins of features: options, learning them from columns, and encoding values.

The ordered bins of a feature come first, then one bin per special value or level, and the bin of missing values last.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._data.columns import KIND_NAMES, NUMBER, Column, Level, Scale, Value
from sparsegam._data.table import position
from sparsegam._models.terms import Condition
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_choice, check_integer, shown

Codes = NDArray[np.uint8] | NDArray[np.uint16]

# Codes are uint16 at most; the core stores them as uint8 up to the second number of bins.
MAX_BINS = 65536
MAX_BINS_UINT8 = 256

# min_samples_bin="auto": one row in 100, and at most 20. Set by benchmarks/defaults.py: it does not change the loss on
# test data, and excludes steps that are based on a few rows.
AUTO_SHARE_OF_ROWS = 100
MAX_AUTO_ROWS = 20


@dataclass(frozen=True)
class Binning:
    """Options of the bins; the parameters of the same names of `SparseGAMClassifier`.

    Values that are wrong for any table raise an error at construction, the others when they are applied to a table.
    """

    max_bins: int = 1000
    categorical: Any = "auto"
    min_category_count: int = 5
    special_values: Any = None
    thresholds: Any = None
    min_samples_bin: Any = 1

    def __post_init__(self) -> None:
        check_integer("max_bins", self.max_bins, at_least=2, at_most=MAX_BINS)
        check_integer("min_category_count", self.min_category_count, at_least=1)
        check_min_samples_bin(self.min_samples_bin)
        if self.thresholds is not None and not isinstance(self.thresholds, Mapping):
            msg = f"thresholds must be a dict from column to its thresholds, got {shown(self.thresholds)}."
            raise ValueError(msg)
        if isinstance(self.categorical, str) and self.categorical != "auto":
            msg = f"categorical must be 'auto' or a list of columns, got {shown(self.categorical)}."
            raise ValueError(msg)
        _check_special(self.special_values)

    def forced(self, names: Sequence[str]) -> set[int]:
        """Return the positions of numeric columns that are treated as categories."""
        columns = () if isinstance(self.categorical, str) else self.categorical
        return {position(key, names, "categorical") for key in columns}

    def special(self, names: Sequence[str]) -> dict[int, Sequence[Any]]:
        """Return the special values of each column, if they are given by column."""
        return _by_position(self.special_values, names, "special_values")

    def given_thresholds(self, names: Sequence[str]) -> dict[int, Sequence[Any]]:
        """Return the thresholds of columns for which they are given."""
        return _by_position(self.thresholds, names, "thresholds")


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """Weight and number of the rows of each entry of a column whose entries are distinct values.

    Attributes
    ----------
    weight : ndarray or None
        Total weight of the rows; None for 1 each.
    rows : ndarray or None
        Number of rows; None for one each.
    """

    weight: FloatArray | None = None
    rows: FloatArray | None = None

    def take(self, kept: NDArray[np.bool_] | NDArray[np.intp]) -> "ValueCounts":
        """Return the counts of some of the entries."""
        return ValueCounts(*(None if each is None else each[kept] for each in (self.weight, self.rows)))

    def n_rows(self, values: FloatArray) -> int:
        """Return the total number of rows of the entries."""
        return values.size if self.rows is None else int(self.rows.sum())


@dataclass(frozen=True, eq=False)
class Feature:
    """A column of the data and its bins.

    Attributes
    ----------
    name : str
        Name of the column.
    edges : ndarray
        Sorted thresholds; bin b contains the values in (edges[b-1], edges[b]].
    special : tuple of float
        Unordered values, each with a bin of its own after the ordered bins.
    missing : bool
        Whether missing values (NaN) have a bin, the last one.
    scale : Scale
        Meaning of the numbers.
    bin_of_level : ndarray of int or None
        The bin of each level of a category, which has no ordered bins; None for other features.
    """

    name: str
    edges: FloatArray
    special: tuple[float, ...] = ()
    missing: bool = False
    scale: Scale = NUMBER
    bin_of_level: NDArray[np.intp] | None = None

    def named(self, name: str) -> "Feature":
        """Return the bins under another name."""
        return Feature(name, self.edges, self.special, self.missing, self.scale, self.bin_of_level)

    @property
    def n_ordered(self) -> int:
        """Number of ordered bins."""
        return self.edges.size + 1 if self.bin_of_level is None else 0

    @property
    def n_bins(self) -> int:
        """Number of all bins."""
        return self.n_ordered + self._n_levels + len(self.special) + self.missing

    def redundant_bin(self) -> int:
        """Return which of two unordered bins is left out: the one with more levels, or bin 0 if they are equal."""
        return int(self._n_levels > 1 and len(self._levels_in(1)) > len(self._levels_in(0)))

    @property
    def _n_levels(self) -> int:
        return 0 if self.bin_of_level is None or not self.bin_of_level.size else int(self.bin_of_level.max()) + 1

    def codes(self, values: FloatArray) -> Codes:
        """Return the bin of each value; values are numbers on the scale of this feature."""
        if self.bin_of_level is not None:
            return self._level_codes(values)
        # The core does not accept NaN; the bin of missing values is set below.
        present = np.nan_to_num(values) if self.missing else values
        ordered = _core.bin_codes(present, self.edges)
        return ordered if self.n_bins == self.n_ordered else self._with_extra_bins(ordered, values)

    def codes_of(self, column: Column) -> Codes | None:
        """Return the bins of a column of other data; None if a value is in no bin."""
        if column.scale.kind != self.scale.kind:
            return None
        values = column.values
        if not self.missing and values.size and np.isnan(values.min()):
            return None
        if self.bin_of_level is None:
            return self.codes(values)
        position = {level: i for i, level in enumerate(self.scale.levels)}
        if any(level not in position for level in column.scale.levels):
            return None
        moved = np.array([position[level] for level in column.scale.levels], dtype=np.float64)
        known = ~np.isnan(values)
        out = np.full(values.size, np.nan)
        out[known] = moved[values[known].astype(np.intp)]
        return self.codes(out)

    def condition(self, bin_: int) -> Condition:
        """Return the condition of the column of a bin."""
        if bin_ < self.edges.size:
            return Condition("<=", self.scale.value(float(self.edges[bin_])))
        if self.bin_of_level is not None and bin_ < self._n_levels:
            levels = self._levels_in(bin_)
            return Condition("==", levels[0]) if len(levels) == 1 else Condition("in", levels)
        if 0 <= bin_ - self.n_ordered < len(self.special):
            return Condition("==", self.scale.value(self.special[bin_ - self.n_ordered]))
        if self.missing and bin_ == self.n_bins - 1:
            return Condition("missing")
        msg = f"bin {bin_} of feature {self.name!r} has no condition: it is the last ordered bin, or no bin."
        raise ValueError(msg)

    def representatives(self) -> FloatArray:
        """Return one value of each bin; a condition on this feature is true for all values of a bin or for none."""
        if self.bin_of_level is None:
            above = len(self.scale.levels) - 1.0 if self.scale.has_levels else np.inf
            first = np.append(self.edges, above)
        else:
            first = np.unique(self.bin_of_level, return_index=True)[1].astype(np.float64)
        return np.concatenate([first, self.special, [np.nan] * self.missing])

    def conditions(self) -> dict[int, Condition]:
        """Return all conditions by bin; the last ordered bin has none."""
        return {b: self.condition(b) for b in range(self.n_bins) if b != self.n_ordered - 1}

    def indicators(self, values: FloatArray) -> NDArray[np.uint8]:
        """Return the 0/1 columns of all conditions; values that are in no bin satisfy none of them."""
        seen = np.isin(values, self.special, invert=True) & (
            values >= 0 if self.scale.has_levels else ~np.isnan(values)
        )
        if self.bin_of_level is None:
            ordered = (values[:, None] <= self.edges) & seen[:, None]
            extra = [values == value for value in self.special]
        else:
            bins = np.append(self.bin_of_level, -1)[np.where(seen, values, -1).astype(np.intp)]
            ordered, extra = bins[:, None] == np.arange(self._n_levels), []
        missing = [np.isnan(values)] if self.missing else []
        return np.column_stack([ordered, *extra, *missing]).astype(np.uint8)

    @property
    def special_values(self) -> tuple[Value, ...]:
        """The special values, as in the data."""
        return tuple(map(self.scale.value, self.special))

    def _levels_in(self, bin_: int) -> tuple[Level, ...]:
        return tuple(self.scale.levels[i] for i in np.flatnonzero(self.bin_of_level == bin_))

    def _level_codes(self, values: FloatArray) -> Codes:
        bins = np.append(self.bin_of_level if self.bin_of_level is not None else [], self.n_bins - 1)
        positions = np.where(np.isnan(values), -1, values).astype(np.intp)
        return self._narrowed(bins[positions])

    def _with_extra_bins(self, ordered: Codes, values: FloatArray) -> Codes:
        codes = self._narrowed(ordered)
        for extra, value in enumerate(self.special):
            codes[values == value] = self.n_ordered + extra
        if self.missing:
            codes[np.isnan(values)] = self.n_bins - 1
        return codes

    def _narrowed(self, codes: NDArray[Any]) -> Codes:
        return codes.astype(np.uint8) if self.n_bins <= MAX_BINS_UINT8 else codes.astype(np.uint16)


class Learner:
    """Learns the bins of columns.

    Parameters
    ----------
    names : sequence of str
        Names of all columns.
    binning : Binning
        Options of the bins.
    weight : ndarray, optional
        Sample weights, above zero. Quantiles and the most frequent levels are the same as if a row of weight 2 occurred
        twice.
    """

    def __init__(self, names: Sequence[str], binning: Binning, weight: FloatArray | None = None) -> None:
        self.binning = binning
        self.weight = None if weight is None or is_uniform(weight) else weight
        self.forced = binning.forced(names)
        self.special = binning.special(names)
        self.thresholds = binning.given_thresholds(names)
        everywhere = binning.special_values
        self.special_everywhere = () if everywhere is None or isinstance(everywhere, Mapping) else tuple(everywhere)

    def learn(self, column: Column, j: int, counts: ValueCounts | None = None) -> tuple[Feature, FloatArray]:
        """Return the feature of column j and the numbers of the column on the scale of the feature.

        `counts` gives the weight and number of rows of each entry; by default the entries are rows.
        """
        counts = ValueCounts(self.weight) if counts is None else counts
        if j in self.forced:
            column = column.as_category()
        if column.scale.kind == "category":
            self._reject_options_of_order(column, j)
            return learn_levels(column, self.binning, counts), column.values
        return self._learn_ordered(column, j, counts), column.values

    def declared_values(self, column: Column, j: int) -> FloatArray:
        """Return the special values and thresholds that are given for column j."""
        if j in self.forced or column.scale.kind == "category":
            return np.zeros(0)
        cuts = _numbers(self.thresholds[j], column, "thresholds") if j in self.thresholds else []
        return np.array([*self.special_of(column, j), *cuts])

    def _learn_ordered(self, column: Column, j: int, counts: ValueCounts) -> Feature:
        values, special = column.values, self.special_of(column, j)
        missing = bool(values.size) and bool(np.isnan(values.min()))
        n_rows, ordered = counts.n_rows(values), values
        if special or missing:
            kept = ~(np.isnan(values) | np.isin(values, special))
            ordered, counts = values[kept], counts.take(kept)
        given = _numbers(self.thresholds[j], column, "thresholds") if j in self.thresholds else None
        if given is not None:
            return Feature(column.name, np.unique(given), special, missing, column.scale)
        min_rows = rows_per_bin(self.binning.min_samples_bin, n_rows)
        edges = learn_edges(ordered, counts, int(self.binning.max_bins), min_rows)
        return Feature(column.name, edges, special, missing, column.scale)

    def special_of(self, column: Column, j: int) -> tuple[float, ...]:
        """Return the special values of column j, as numbers; those for all columns apply to numeric columns only."""
        if j in self.special:
            return tuple(_numbers(self.special[j], column, "special_values"))
        if not self.special_everywhere or column.scale.kind != "number":
            return ()
        return tuple(_numbers(self.special_everywhere, column, "special_values"))

    def _reject_options_of_order(self, column: Column, j: int) -> None:
        for option, given in (("thresholds", self.thresholds), ("special_values", self.special)):
            if j in given:
                msg = (
                    f"{option} are given for column {column.name!r}, which contains {KIND_NAMES[column.scale.kind]}: "
                    f"its values have no order; remove the column from {option}."
                )
                raise ValueError(msg)


def learn_edges(values: FloatArray, counts: ValueCounts, max_bins: int, min_rows: int = 1) -> FloatArray:
    """Learn thresholds: all distinct values but the largest or, if these are too many, quantiles of the weight.

    From the lowest up, thresholds are dropped until there are at least `min_rows` rows between any two and above the
    last. Weights that are whole numbers give the same thresholds as rows that are repeated as often.
    """
    if counts.weight is None and counts.rows is None:
        edges = _core.bin_edges(values, max_bins, min_rows)
        # Adding zero turns -0 into 0, whichever of the two was first.
        return edges + 0.0
    edges = _weighted_edges(values, counts.weight, max_bins)
    if min_rows == 1 or edges.size == 0:
        return edges
    rows = np.bincount(_core.bin_codes(values, edges), counts.rows, minlength=edges.size + 1)
    return edges[_core.select_thresholds(rows.astype(np.float64), min_rows)]


def _weighted_edges(values: FloatArray, weight: FloatArray | None, max_bins: int) -> FloatArray:
    distinct, position = np.unique(values, return_inverse=True)
    if distinct.size <= max_bins:
        return distinct[:-1] + 0.0
    below = np.cumsum(np.bincount(position, weight))
    wanted = np.arange(1, max_bins)
    at = np.searchsorted(below, below[-1] / max_bins * wanted)
    # If several quantiles are the same value, the later ones move to the next values.
    at = np.maximum.accumulate(at - wanted) + wanted
    edges: FloatArray = distinct[at[at < distinct.size - 1]] + 0.0
    return edges


def check_min_samples_bin(min_samples_bin: Any) -> None:
    """Raise unless min_samples_bin is "auto" or a positive integer."""
    if isinstance(min_samples_bin, str):
        check_choice("min_samples_bin", min_samples_bin, ("auto",), other="or an integer >= 1")
    else:
        check_integer("min_samples_bin", min_samples_bin, at_least=1)


def rows_per_bin(min_samples_bin: Any, n_rows: int) -> int:
    """Return the minimum number of rows on each side of a step."""
    return min(MAX_AUTO_ROWS, -(-n_rows // AUTO_SHARE_OF_ROWS)) if min_samples_bin == "auto" else int(min_samples_bin)


def learn_levels(column: Column, binning: Binning, counts: ValueCounts) -> Feature:
    """Learn the bins of a category: one per level, and one for all rare levels together.

    Levels are rare by their number of rows, without weights. If more than max_bins levels are left, those of the
    largest weight keep bins of their own.
    """
    known = ~np.isnan(column.values)
    present, n_levels = column.values[known].astype(np.intp), len(column.scale.levels)
    seen = counts.take(known)
    n_rows = np.bincount(present, seen.rows, minlength=n_levels)
    is_separate = n_rows >= binning.min_category_count
    if np.count_nonzero(is_separate) >= binning.max_bins:
        share = n_rows if seen.weight is None else np.bincount(present, seen.weight, minlength=n_levels)
        is_separate[np.argsort(-share, kind="stable")[binning.max_bins - 1 :]] = False
    bins = np.where(is_separate, np.cumsum(is_separate) - 1, np.count_nonzero(is_separate))
    return Feature(column.name, np.empty(0), (), present.size < column.values.size, column.scale, bins)


def is_uniform(weight: FloatArray) -> bool:
    """Return whether all weights are 1 or the same fraction; equal integers above 1 count as repeated rows."""
    low = float(weight.min())
    return low == weight.max() and (low == 1 or not low.is_integer())


def bin_counts(feature: Feature, counts: FloatArray) -> FloatArray:
    """Return the number of rows in each bin, given those of the columns: `x <= t` includes all lower bins."""
    rows, n = np.array(counts, dtype=np.float64), max(feature.n_ordered, 1)
    rows[1:n] -= counts[: n - 1]
    return rows


def _check_special(given: Any) -> None:
    """Raise unless special values for all columns are numbers; this does not depend on the columns."""
    if given is None or isinstance(given, Mapping):
        return
    if isinstance(given, str) or not isinstance(given, Collection) or getattr(given, "shape", None) == ():
        msg = f"special_values must be a list of numbers, or a dict from column to list, got {shown(given)}."
        raise ValueError(msg)
    wrong = next((value for value in given if not _is_nan(value) and not NUMBER.holds(value)), None)
    if wrong is not None:
        msg = (
            f"a list of special_values must contain finite numbers, got {shown(wrong)}: use a dict from column to list."
        )
        raise ValueError(msg)


def _by_position(given: Any, names: Sequence[str], option: str) -> dict[int, Sequence[Any]]:
    if not isinstance(given, Mapping):
        return {}
    return {position(key, names, option): _sequence(values, key, option) for key, values in given.items()}


def _sequence(values: Any, key: Any, option: str) -> Sequence[Any]:
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        msg = f"{option}[{shown(key)}] must be a list of values, got {shown(values)}."
        raise ValueError(msg)
    return list(values)


def _numbers(values: Sequence[Any], column: Column, option: str) -> list[float]:
    """Return distinct values given for a column as numbers on its scale, without missing values."""
    try:
        return list(dict.fromkeys(column.scale.number(value) for value in values if not _is_nan(value)))
    except (ValueError, TypeError) as error:
        held = KIND_NAMES[column.scale.kind]
        msg = f"{option} do not fit column {column.name!r}, which contains {held}: {error}"
        raise ValueError(msg) from error


def _is_nan(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)  # noqa: PLR0124
