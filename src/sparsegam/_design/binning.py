"""Learns the bins of each feature and turns columns into bin codes: ordered bins first, then one per special case."""

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

MAX_BINS = 65536  # codes are uint16 at most
MAX_BINS_UINT8 = 256  # the core keeps codes in uint8 up to here

MOST_ROWS_ASKED = 20  # of a step, by default
ROWS_PER_BIN = 100  # of all rows, one in so many


@dataclass(frozen=True)
class Binning:
    """What the user may choose about bins; wrong values are refused when it is made or meets a table.

    Attributes
    ----------
    max_bins : int
        Largest number of bins of a feature: thresholds are at quantiles, and rarer levels merged, beyond it.
    categorical : "auto" or sequence of str or int
        Columns to take as categories besides those that are text or categorical.
    min_category_count : int
        Levels with fewer rows are merged into one.
    special_values : sequence, or mapping from column to sequence, optional
        Values out of the order, each with a bin of its own: for all numeric columns, or by column.
    thresholds : mapping from column to sequence, optional
        The thresholds of a column, where they shall not be learned.
    min_samples_bin : int or "auto"
        Rows between two thresholds that are learned, and beyond the outermost, at least.
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
            msg = f"thresholds must be a dict from column to its thresholds, got {self.thresholds!r}."
            raise ValueError(msg)
        if isinstance(self.categorical, str) and self.categorical != "auto":
            msg = f"categorical must be 'auto' or a list of columns, got {self.categorical!r}."
            raise ValueError(msg)
        _check_special(self.special_values)

    def forced(self, names: Sequence[str]) -> set[int]:
        """Positions of the columns to be taken as categories."""
        columns = () if isinstance(self.categorical, str) else self.categorical
        return {position(key, names, "categorical") for key in columns}

    def special(self, names: Sequence[str]) -> dict[int, Sequence[Any]]:
        """Special values by column, where they are given by column."""
        return _by_position(self.special_values, names, "special_values")

    def cuts(self, names: Sequence[str]) -> dict[int, Sequence[Any]]:
        """Thresholds by column, where they are given."""
        return _by_position(self.thresholds, names, "thresholds")


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """Weight and number of rows that each entry of a column stands for, where entries are distinct values.

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
        """Return the number of rows that the entries stand for."""
        return values.size if self.rows is None else int(self.rows.sum())


@dataclass(frozen=True, eq=False)
class Feature:
    """One source column and its bins.

    Attributes
    ----------
    name : str
        Name of the source column.
    edges : ndarray
        Sorted thresholds; bin b holds the values in (edges[b-1], edges[b]].
    special : tuple of float
        Values out of the ordering, each with a bin of its own after the ordered ones.
    missing : bool
        Whether NaN has a bin of its own, the last one.
    scale : Scale
        What the numbers stand for.
    bin_of_level : ndarray of int or None
        For a category, which has no ordered bins: the bin of each level of the scale.
    """

    name: str
    edges: FloatArray
    special: tuple[float, ...] = ()
    missing: bool = False
    scale: Scale = NUMBER
    bin_of_level: NDArray[np.intp] | None = None

    def named(self, name: str) -> "Feature":
        """Return the same bins of a column of another name."""
        out = object.__new__(type(self))  # as `copy` does, in a fraction of its time: there may be hundreds
        vars(out).update(vars(self), name=name)
        return out

    @property
    def n_ordered(self) -> int:
        """Number of ordered bins."""
        return self.edges.size + 1 if self.bin_of_level is None else 0

    @property
    def n_bins(self) -> int:
        """Number of all bins."""
        return self.n_ordered + self._n_levels + len(self.special) + self.missing

    def redundant_bin(self) -> int:
        """Return which of two bins without an order terms leave to the other: many levels in one, else the first."""
        return int(self._n_levels > 1 and len(self._levels_in(1)) > len(self._levels_in(0)))

    @property
    def _n_levels(self) -> int:
        return 0 if self.bin_of_level is None or not self.bin_of_level.size else int(self.bin_of_level.max()) + 1

    def codes(self, values: FloatArray) -> Codes:
        """Return the bin of each value, a number on the scale of this feature."""
        if self.bin_of_level is not None:
            return self._level_codes(values)
        present = np.nan_to_num(values) if self.missing else values  # the core takes no NaN
        ordered = _core.bin_codes(present, self.edges)
        return ordered if self.n_bins == self.n_ordered else self._with_extra_bins(ordered, values)

    def codes_of(self, column: Column) -> Codes | None:
        """Return the bins of another column of the same meaning; None where a value is of no bin."""
        if column.scale.kind != self.scale.kind:
            return None
        values = column.values
        if not self.missing and values.size and np.isnan(values.min()):
            return None
        if self.bin_of_level is None:
            return self.codes(values)
        place = {level: i for i, level in enumerate(self.scale.levels)}
        if any(level not in place for level in column.scale.levels):
            return None
        moved = np.array([place[level] for level in column.scale.levels], dtype=np.float64)
        known = ~np.isnan(values)
        out = np.full(values.size, np.nan)
        out[known] = moved[values[known].astype(np.intp)]
        return self.codes(out)

    def condition(self, bin_: int) -> Condition:
        """Say what the column of a bin asks of the feature."""
        if bin_ < self.edges.size:
            return Condition("<=", self.scale.value(float(self.edges[bin_])))
        if self.bin_of_level is not None and bin_ < self._n_levels:
            levels = self._levels_in(bin_)
            return Condition("==", levels[0]) if len(levels) == 1 else Condition("in", levels)
        if 0 <= bin_ - self.n_ordered < len(self.special):
            return Condition("==", self.scale.value(self.special[bin_ - self.n_ordered]))
        if self.missing and bin_ == self.n_bins - 1:
            return Condition("missing")
        msg = f"bin {bin_} of feature {self.name!r} stands for no condition (it has {self.edges.size} thresholds)."
        raise ValueError(msg)

    def representatives(self) -> FloatArray:
        """Return a number in each bin: the terms that hold for it hold for all of the bin."""
        if self.bin_of_level is None:
            above = len(self.scale.levels) - 1.0 if self.scale.has_levels else np.inf
            first = np.append(self.edges, above)
        else:
            first = np.unique(self.bin_of_level, return_index=True)[1].astype(np.float64)
        return np.concatenate([first, self.special, [np.nan] * self.missing])

    def conditions(self) -> dict[int, Condition]:
        """All conditions by bin; the last ordered bin has none."""
        return {b: self.condition(b) for b in range(self.n_bins) if b != self.n_ordered - 1}

    def indicators(self, values: FloatArray) -> NDArray[np.uint8]:
        """Return the 0/1 columns of all conditions; values that the feature has not seen are in none of them."""
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
        """The special values, as the data has them."""
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
    """Learns features from columns, by the user's choices for all of them and for each.

    Parameters
    ----------
    names : sequence of str
        Names of all columns.
    binning : Binning
        The choices.
    weight : ndarray, optional
        Weights of the rows, above zero: quantiles and the most frequent levels are found as if a row of weight 2 were
        there twice.
    """

    def __init__(self, names: Sequence[str], binning: Binning, weight: FloatArray | None = None) -> None:
        self.binning = binning
        self.weight = None if weight is None or says_nothing(weight) else weight
        self.forced = binning.forced(names)
        self.special = binning.special(names)
        self.cuts = binning.cuts(names)
        everywhere = binning.special_values
        self.special_everywhere = () if everywhere is None or isinstance(everywhere, Mapping) else tuple(everywhere)

    def learn(self, column: Column, j: int, times: ValueCounts | None = None) -> tuple[Feature, FloatArray]:
        """Return the feature of column j, and the column's numbers on its scale; each may stand for many rows."""
        times = ValueCounts(self.weight) if times is None else times
        if j in self.forced:
            column = column.as_category()
        if column.scale.kind == "category":
            self._refuse_options_of_order(column, j)
            return learn_levels(column, self.binning, times), column.values
        return self._learn_ordered(column, j, times), column.values

    def pinned(self, column: Column, j: int) -> FloatArray:
        """Return the numbers that the user named for column j: special values, and thresholds."""
        if j in self.forced or column.scale.kind == "category":
            return np.zeros(0)
        cuts = _numbers(self.cuts[j], column, "thresholds") if j in self.cuts else []
        return np.array([*self.special_of(column, j), *cuts])

    def _learn_ordered(self, column: Column, j: int, times: ValueCounts) -> Feature:
        values, special = column.values, self.special_of(column, j)
        missing = bool(values.size) and bool(np.isnan(values.min()))
        n_rows, ordered = times.n_rows(values), values
        if special or missing:
            kept = ~(np.isnan(values) | np.isin(values, special))
            ordered, times = values[kept], times.take(kept)
        given = _numbers(self.cuts[j], column, "thresholds") if j in self.cuts else None
        if given is not None:
            return Feature(column.name, np.unique(given), special, missing, column.scale)
        min_rows = rows_per_bin(self.binning.min_samples_bin, n_rows)
        edges = learn_edges(ordered, times, int(self.binning.max_bins), min_rows)
        return Feature(column.name, edges, special, missing, column.scale)

    def special_of(self, column: Column, j: int) -> tuple[float, ...]:
        """Return the special values of column j, as numbers; those given for all columns go for numbers only."""
        if j in self.special:
            return tuple(_numbers(self.special[j], column, "special_values"))
        if not self.special_everywhere or column.scale.kind != "number":
            return ()
        return tuple(_numbers(self.special_everywhere, column, "special_values"))

    def _refuse_options_of_order(self, column: Column, j: int) -> None:
        for option, given in (("thresholds", self.cuts), ("special_values", self.special)):
            if j in given:
                msg = (
                    f"{option} are given for column {column.name!r}, which holds {KIND_NAMES[column.scale.kind]}: "
                    "these have no order; leave it out."
                )
                raise ValueError(msg)


def learn_edges(values: FloatArray, times: ValueCounts, max_bins: int, min_rows: int = 1) -> FloatArray:
    """Learn thresholds: at every distinct value but the largest or, beyond max_bins, at quantiles of the weight.

    From the lowest up, some are left out so that there are enough rows between any two, and beyond the last. The
    weighted way gives the very thresholds that the core finds where each row is there as often as its weight says.
    """
    if times.weight is None and times.rows is None:
        edges = _core.bin_edges(values, max_bins, min_rows)
        return edges + 0.0  # -0 becomes 0, whichever of the two stood first
    edges = _weighted_edges(values, times.weight, max_bins)
    if min_rows == 1 or edges.size == 0:
        return edges
    rows = np.bincount(_core.bin_codes(values, edges), times.rows, minlength=edges.size + 1)
    return edges[_core.select_thresholds(rows.astype(np.float64), min_rows)]


def _weighted_edges(values: FloatArray, weight: FloatArray | None, max_bins: int) -> FloatArray:
    distinct, position = np.unique(values, return_inverse=True)
    if distinct.size <= max_bins:
        return distinct[:-1] + 0.0
    below = np.cumsum(np.bincount(position, weight))
    wanted = np.arange(1, max_bins)
    at = np.searchsorted(below, below[-1] / max_bins * wanted)
    at = np.maximum.accumulate(at - wanted) + wanted  # a value is one threshold only: the next goes to the next value
    edges: FloatArray = distinct[at[at < distinct.size - 1]] + 0.0
    return edges


def check_min_samples_bin(min_samples_bin: Any) -> None:
    """Raise unless it is a number of rows, or left to the number that there are."""
    if isinstance(min_samples_bin, str):
        check_choice("min_samples_bin", min_samples_bin, ("auto",), other="or an integer >= 1")
    else:
        check_integer("min_samples_bin", min_samples_bin, at_least=1)


def rows_per_bin(min_samples_bin: Any, n_rows: int) -> int:
    """Return the rows that a step must stand on: "auto" is one in a hundred, and twenty at most.

    Set by benchmarks/defaults.py: it costs nothing on new rows, and keeps out steps that a few rows made.
    """
    return min(MOST_ROWS_ASKED, -(-n_rows // ROWS_PER_BIN)) if min_samples_bin == "auto" else int(min_samples_bin)


def learn_levels(column: Column, binning: Binning, times: ValueCounts) -> Feature:
    """Learn the bins of a category: one per level, one for all rare levels together.

    Levels are rare by their rows, whatever these weigh; where more than max_bins are left, those of most weight stay.
    """
    known = ~np.isnan(column.values)
    present, n_levels = column.values[known].astype(np.intp), len(column.scale.levels)
    seen = times.take(known)
    counts = np.bincount(present, seen.rows, minlength=n_levels)
    own = counts >= binning.min_category_count
    if np.count_nonzero(own) >= binning.max_bins:
        share = counts if seen.weight is None else np.bincount(present, seen.weight, minlength=n_levels)
        own[np.argsort(-share, kind="stable")[binning.max_bins - 1 :]] = False
    bins = np.where(own, np.cumsum(own) - 1, np.count_nonzero(own))
    return Feature(column.name, np.empty(0), (), present.size < column.values.size, column.scale, bins)


def says_nothing(weight: FloatArray) -> bool:
    """Tell whether weights leave thresholds as they are: all one, or all the same fraction (whole numbers may not)."""
    low = float(weight.min())
    return low == weight.max() and (low == 1 or not low.is_integer())


def _check_special(given: Any) -> None:
    """Raise unless special values given for all columns are numbers, also where a table has no column of numbers."""
    if given is None or isinstance(given, Mapping):
        return
    if isinstance(given, str) or not isinstance(given, Collection) or getattr(given, "shape", None) == ():
        msg = f"special_values must be a list of numbers, or a dict from column to list, got {given!r}."
        raise ValueError(msg)
    wrong = next((value for value in given if not _is_nan(value) and not NUMBER.holds(value)), None)
    if wrong is not None:
        msg = f"special_values for all columns must be finite numbers, got {shown(wrong)}: give others in a dict."
        raise ValueError(msg)


def _by_position(given: Any, names: Sequence[str], option: str) -> dict[int, Sequence[Any]]:
    if not isinstance(given, Mapping):
        return {}
    return {position(key, names, option): _sequence(values, key, option) for key, values in given.items()}


def _sequence(values: Any, key: Any, option: str) -> Sequence[Any]:
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        msg = f"{option}[{key!r}] must be a list of values, got {values!r}."
        raise ValueError(msg)
    return list(values)


def _numbers(values: Sequence[Any], column: Column, option: str) -> list[float]:
    """Return values that the user gave for a column as numbers on its scale, each once; missing ones are left out."""
    try:
        return list(dict.fromkeys(column.scale.number(value) for value in values if not _is_nan(value)))
    except (ValueError, TypeError) as error:
        held = KIND_NAMES[column.scale.kind]
        msg = f"{option} of column {column.name!r} do not fit, which holds {held}: {error}"
        raise ValueError(msg) from error


def _is_nan(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)  # noqa: PLR0124
