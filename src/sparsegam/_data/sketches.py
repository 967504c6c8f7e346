"""Mergeable summaries of columns, and columns stored as codes of one or two bytes per row.

A summary holds the distinct values of a column with their counts or, if there are too many, a quantile sketch as in
Greenwald and Khanna (2001), Space-efficient online computation of quantile summaries. Entry i of a sketch represents
`counts[i]` rows with values in (values[i - 1], values[i]]. Of these, up to `below[i]` may be smaller than values[i],
and up to `slack[i]` rows that are counted in later entries may also be at or below values[i]. The true rank of
values[i] is therefore between sum(counts[:i + 1]) and this plus slack[i], regardless of the order in which parts are
merged. Two neighbouring entries are joined only if the uncertainty `below + slack` of the joined entry stays within a
given share of all rows.
"""

from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._data.columns import DATETIME, KIND_NAMES, MICROSECONDS_PER_DAY, NUMBER, Column, RowIndex, Scale
from sparsegam.arrays import FloatArray, blocks
from sparsegam.checks import quoted

MOST_VALUES = 65_000
"""Maximum number of distinct values: two-byte codes, with room for missing and pinned values."""
SKETCH_VALUES = 2**15
"""Maximum number of entries of a sketch: about thirty for each of a thousand bins."""

Codes = NDArray[np.uint8] | NDArray[np.uint16]
"""Small unsigned integers, one per row."""
Ranks = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ColumnSummary:
    """Distinct values of a column with their counts, or a quantile sketch of it.

    Attributes
    ----------
    name : str
        Name of the column.
    scale : Scale
        Scale of the column; levels are sorted.
    values : ndarray
        Distinct values in ascending order or, in a sketch, some of them. Levels are positions.
    counts, below, slack : ndarray of int
        Number of rows of each entry and its bounds, as described in the module. The bounds are zero unless the
        summary is a sketch.
    missing : int
        Number of missing values.
    """

    name: str
    scale: Scale
    values: FloatArray
    counts: Ranks
    below: Ranks
    slack: Ranks
    missing: int

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.counts.sum()) + self.missing

    @property
    def is_exact(self) -> bool:
        """Whether the summary contains all distinct values, instead of a sketch."""
        return not (self.below.any() or self.slack.any())

    def merge(self, other: "ColumnSummary") -> "ColumnSummary":
        """Return the summary of the rows of both summaries, which must be of the same column."""
        one, other = _on_common_scale(self, other)
        missing = one.missing + other.missing
        if not other.values.size or not one.values.size:
            return replace(one if one.values.size else other, missing=missing)
        values = np.union1d(one.values, other.values)
        parts = [_insert_values(part, values) for part in (one, other)]
        counts, below, slack = (first + second for first, second in zip(*parts, strict=True))
        return _compress(ColumnSummary(one.name, one.scale, values, counts, below, slack, missing))


def summarise_column(column: Column) -> ColumnSummary:
    """Summarise the rows of a column."""
    complete = column.values.size and not np.isnan(column.values.min())
    present = column.values if complete else column.values[~np.isnan(column.values)]
    values, counts = _core.distinct(present)
    zeros = np.zeros(values.size, dtype=np.int64)
    missing = column.values.size - present.size
    # Adding 0.0 turns -0.0 into 0.0.
    return _compress(ColumnSummary(column.name, column.scale, values + 0.0, counts, zeros, zeros, missing))


def _insert_values(part: ColumnSummary, values: FloatArray) -> tuple[Ranks, Ranks, Ranks]:
    """Return counts, below and slack of a summary at a superset of its values.

    An inserted value has no rows of its own, but any row of the next entry may be at or below it.
    """
    at = np.searchsorted(part.values, values)
    present = np.append(part.values, np.nan)[at] == values
    counts, below, slack = (np.append(numbers, 0)[at] for numbers in (part.counts, part.below, part.slack))
    return np.where(present, counts, 0), np.where(present, below, 0), np.where(present, slack, below + slack)


def _compress(summary: ColumnSummary) -> ColumnSummary:
    """Reduce a summary that has too many values to a sketch."""
    if (summary.values.size <= MOST_VALUES and summary.is_exact) or summary.values.size <= SKETCH_VALUES:
        return summary
    if summary.scale.has_levels:
        msg = (
            f"column {summary.name!r} has more than {MOST_VALUES} levels (such as "
            f"{quoted(summary.scale.levels, 3)}): leave it out, or combine its levels into fewer groups."
        )
        raise ValueError(msg)
    max_uncertainty = max(int(summary.counts.sum()) // SKETCH_VALUES, 1)
    while summary.values.size > SKETCH_VALUES:
        size = summary.values.size
        summary = _join_neighbours(summary, max_uncertainty)
        if summary.values.size > 0.8 * size:
            max_uncertainty *= 2
    return summary


def _join_neighbours(summary: ColumnSummary, max_uncertainty: int) -> ColumnSummary:
    """Merge every other entry with the next one if the uncertainty of the joined entry stays within the bound."""
    counts, below = summary.counts.copy(), summary.below.copy()
    # Starting here, the last pair ends with the largest value, which is never removed.
    first = np.arange(counts.size % 2, counts.size, 2)
    joined = first[counts[first] + below[first + 1] + summary.slack[first + 1] <= max_uncertainty]
    counts[joined + 1] += counts[joined]
    below[joined + 1] += counts[joined]
    kept = np.ones(counts.size, dtype=bool)
    kept[joined] = False
    return replace(
        summary, values=summary.values[kept], counts=counts[kept], below=below[kept], slack=summary.slack[kept]
    )


def _on_common_scale(one: ColumnSummary, other: ColumnSummary) -> tuple[ColumnSummary, ColumnSummary]:
    if one.scale == other.scale or not one.values.size or not other.values.size:
        return one, other
    scale = _common_scale(one.name, one.scale, other.scale)
    return _convert(one, scale), _convert(other, scale)


def _common_scale(name: str, one: Scale, other: Scale) -> Scale:
    kinds = {one.kind, other.kind}
    if kinds == {"category"} and one.is_text == other.is_text:
        return Scale("category", tuple(sorted({*one.levels, *other.levels})))
    if kinds <= {"number", "boolean"}:
        return NUMBER
    if kinds <= {"date", "datetime"} and one.has_zone == other.has_zone:
        return replace(DATETIME, has_zone=one.has_zone)
    found = [
        f"{KIND_NAMES[scale.kind]} ({quoted(scale.levels, 3)})"
        if scale.levels
        else KIND_NAMES[scale.kind] + " with a time zone" * scale.has_zone
        for scale in (one, other)
    ]
    msg = f"column {name!r} contains {found[0]} in some parts and {found[1]} in others: convert it to one type."
    raise ValueError(msg)


def _convert(summary: ColumnSummary, scale: Scale) -> ColumnSummary:
    if scale.kind == "category":
        values = np.array([scale.number(summary.scale.levels[int(i)]) for i in summary.values])
    elif scale.kind == "datetime" and summary.scale.kind == "date":
        values = summary.values * MICROSECONDS_PER_DAY
    else:
        values = summary.values
    return replace(summary, scale=scale, values=values)


@dataclass(frozen=True, eq=False)
class Coding:
    """The number that each code of a column represents.

    Attributes
    ----------
    name : str
        Name of the column.
    scale : Scale
        Scale of the numbers.
    numbers : ndarray
        Numbers in ascending order, with NaN last if the column has missing values. The code of a value is the position
        of the smallest number that is not below it.
    is_exact : bool
        Whether `numbers` contains all distinct values of the column. Otherwise values are rounded up.
    """

    name: str
    scale: Scale
    numbers: FloatArray
    is_exact: bool

    @classmethod
    def from_summary(cls, summary: ColumnSummary, pinned: FloatArray) -> "Coding":
        """Return the coding of a column; the `pinned` values (special values and thresholds) are never rounded."""
        numbers = summary.values
        if not summary.is_exact:
            numbers = np.unique(np.concatenate([numbers, pinned, np.nextafter(pinned, -np.inf)]))
        if summary.missing:
            numbers = np.append(numbers, np.nan)
        return cls(summary.name, summary.scale, numbers, summary.is_exact)

    @property
    def dtype(self) -> type[np.uint8] | type[np.uint16]:
        """The narrowest type of the codes."""
        return np.uint8 if self.numbers.size <= 2**8 else np.uint16

    @property
    def has_missing(self) -> bool:
        """Whether there is a code for missing values."""
        return bool(self.numbers.size) and bool(np.isnan(self.numbers[-1]))

    def codes(self, column: Column) -> Codes:
        """Return the codes of rows of the column. Raise ValueError for values that were not summarised."""
        values = column.on_scale(self.scale)
        present, missing = self.numbers[:-1] if self.has_missing else self.numbers, np.isnan(values)
        # Most chunks have no missing values and need no copy.
        any_missing = bool(missing.any())
        if any_missing and not self.has_missing:
            self._raise_changed("missing values")
        if any_missing:
            values = np.where(missing, 0.0, values)
        if self.scale.has_levels and values.min(initial=0.0) < 0:
            self._raise_changed("new levels")
        out: Codes = _core.bin_codes(values, present[:-1]).astype(self.dtype, copy=False)  # type: ignore[assignment]
        if any_missing:
            out[missing] = self.numbers.size - 1
        return out

    def _raise_changed(self, what: str) -> NoReturn:
        msg = f"column {self.name!r} contains {what} in the second pass: the data changed while they were read."
        raise ValueError(msg)


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """A column of a table stored as codes, which are converted to numbers when rows are taken.

    Attributes
    ----------
    coding : Coding
        The numbers that the codes represent.
    codes : ndarray
        One code per row.
    is_reusable : bool
        Whether `map_codes` may overwrite the codes because they are not needed afterwards.
    """

    coding: Coding
    codes: Codes
    is_reusable: bool = False

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.coding.name

    def take(self, rows: RowIndex | slice | None) -> Column:
        """Return the given rows as numbers. A category keeps only the levels that occur in them."""
        codes = self.codes if rows is None else self.codes[rows]
        column = Column(self.name, self.coding.scale, self.coding.numbers[codes])
        return column.drop_unused_levels() if column.scale.kind == "category" else column

    def subset(self, rows: RowIndex | None) -> "CodedColumn":
        """Return the given rows as codes."""
        return self if rows is None else replace(self, codes=self.codes[rows])

    def map_codes(self, table: Codes) -> Codes:
        """Return `table[code]` for each row, in the memory of the codes if they are reusable."""
        codes, fits = self.codes, table.itemsize <= self.codes.itemsize
        buffer = codes.view(table.dtype) if self.is_reusable and fits else np.empty(codes.size, table.dtype)
        out: Codes = buffer[: codes.size]
        for rows in blocks(codes.size):
            out[rows] = table[codes[rows]]
        return out
