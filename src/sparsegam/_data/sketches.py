"""What some rows of a column hold, in little memory: distinct values while they are few, else a sketch of their ranks.

Summaries of parts add up to that of the whole. Of numbers, entry i stands for `counts[i]` rows at or below its value
and above the value before; of these, `below[i]` may be smaller than the value (none, where distinct values are all
kept), and up to `slack[i]` rows more than are counted may be at or below it, since they are counted with a larger
entry. That is the sketch of Greenwald and Khanna: no rank is off by more than `slack`, whatever the order of the parts,
and an entry is joined with the next one only while `below + slack` stays within a share of all rows.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._data.columns import DATETIME, KIND_NAMES, MICROSECONDS_PER_DAY, NUMBER, Column, RowIndex, Scale
from sparsegam.arrays import FloatArray, blocks
from sparsegam.checks import quoted

MOST_VALUES = 65_000  # distinct ones that are kept: codes of two bytes, with room for missing and pinned values
SKETCH_VALUES = 2**15  # entries of a sketch: some thirty to each of a thousand bins
Ranks = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ColumnSummary:
    """What is known of a column after some of its rows.

    Attributes
    ----------
    name : str
        Name of the column that it is about.
    scale : Scale
        What its values are; levels are in their own order.
    values : ndarray
        Distinct numbers in ascending order, or some of them; positions of levels.
    counts, below, slack : ndarray of int
        RowIndex by entry, and how well these are known: see above.
    missing : int
        RowIndex without a value.
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
        """Whether all distinct values are kept."""
        return not (self.below.any() or self.slack.any())

    def merge(self, other: "ColumnSummary") -> "ColumnSummary":
        """Add the summary of other rows of the same column."""
        one, other = _on_one_scale(self, other)
        missing = one.missing + other.missing
        if not other.values.size or not one.values.size:
            return replace(one if one.values.size else other, missing=missing)
        values = np.union1d(one.values, other.values)
        parts = [_spread(part, values) for part in (one, other)]
        counts, below, slack = (mine + theirs for mine, theirs in zip(*parts, strict=True))
        return _small_enough(ColumnSummary(one.name, one.scale, values, counts, below, slack, missing))


def summarise_column(column: Column) -> ColumnSummary:
    """Summarise the rows of a column."""
    whole = column.values.size and not np.isnan(column.values.min())
    present = column.values if whole else column.values[~np.isnan(column.values)]
    values, counts = _core.distinct(present)
    nothing = np.zeros(values.size, dtype=np.int64)
    missing = column.values.size - present.size
    return _small_enough(ColumnSummary(column.name, column.scale, values + 0.0, counts, nothing, nothing, missing))


def merge_summaries(summaries: Iterable[ColumnSummary]) -> ColumnSummary:
    """Add up the summaries of the parts of a column, in their order."""
    parts = iter(summaries)
    total = next(parts)
    for part in parts:
        total = total.merge(part)
    return total


def _spread(part: ColumnSummary, values: FloatArray) -> tuple[Ranks, Ranks, Ranks]:
    """Return counts, below and slack of a summary at more values than it has.

    At a value that is not its own, it counts nothing, but rows of its next entry may be there or below.
    """
    at = np.searchsorted(part.values, values)
    own = np.append(part.values, np.nan)[at] == values
    counts, below, slack = (np.append(numbers, 0)[at] for numbers in (part.counts, part.below, part.slack))
    return np.where(own, counts, 0), np.where(own, below, 0), np.where(own, slack, below + slack)


def _small_enough(summary: ColumnSummary) -> ColumnSummary:
    """Return a summary itself, or a sketch where it has too many values; levels cannot be sketched."""
    if (summary.values.size <= MOST_VALUES and summary.is_exact) or summary.values.size <= SKETCH_VALUES:
        return summary
    if summary.scale.has_levels:
        msg = (
            f"column {summary.name!r} has more than {MOST_VALUES} levels (such as "
            f"{quoted(summary.scale.levels, 3)}): leave it out, or put its levels into fewer groups first."
        )
        raise ValueError(msg)
    entries = summary.values, summary.counts, summary.below, summary.slack
    most_unknown = max(int(summary.counts.sum()) // SKETCH_VALUES, 1)
    while entries[0].size > SKETCH_VALUES:
        before = entries[0].size
        entries = _neighbours_joined(*entries, most_unknown)
        if entries[0].size > 0.8 * before:
            most_unknown *= 2
    values, counts, below, slack = entries
    return replace(summary, values=values, counts=counts, below=below, slack=slack)


def _neighbours_joined(
    values: FloatArray, counts: Ranks, below: Ranks, slack: Ranks, most_unknown: int
) -> tuple[FloatArray, Ranks, Ranks, Ranks]:
    """Join every other entry with the next one, where no more rows than allowed are of an unknown rank then."""
    first = np.arange(values.size % 2, values.size, 2)  # so that the largest value always stays
    joined = first[counts[first] + below[first + 1] + slack[first + 1] <= most_unknown]
    counts, below = counts.copy(), below.copy()
    counts[joined + 1] += counts[joined]
    below[joined + 1] += counts[joined]
    kept = np.ones(values.size, dtype=bool)
    kept[joined] = False
    return values[kept], counts[kept], below[kept], slack[kept]


def _on_one_scale(one: ColumnSummary, other: ColumnSummary) -> tuple[ColumnSummary, ColumnSummary]:
    """Return two summaries of a column as numbers on the same scale; one without any value takes any."""
    if one.scale == other.scale or not one.values.size or not other.values.size:
        return one, other
    scale = common_scale(one.name, one.scale, other.scale)
    return _on(one, scale), _on(other, scale)


def common_scale(name: str, one: Scale, other: Scale) -> Scale:
    """Return the scale that holds the values of two, as if they stood in one column; refuse to mix others."""
    kinds = {one.kind, other.kind}
    if kinds == {"category"} and one.is_text == other.is_text:
        return Scale("category", tuple(sorted({*one.levels, *other.levels})))
    if kinds <= {"number", "boolean"}:
        return NUMBER
    if kinds <= {"date", "datetime"}:
        return DATETIME
    held = [
        f"{KIND_NAMES[scale.kind]} ({quoted(scale.levels, 3)})" if scale.levels else KIND_NAMES[scale.kind]
        for scale in (one, other)
    ]
    msg = f"column {name!r} holds {held[0]} in some parts and {held[1]} in others: convert it to one of them."
    raise ValueError(msg)


def _on(summary: ColumnSummary, scale: Scale) -> ColumnSummary:
    if scale.kind == "category":
        place = {level: float(i) for i, level in enumerate(scale.levels)}
        moved = np.array([place[summary.scale.levels[int(i)]] for i in summary.values])
        return replace(summary, scale=scale, values=moved)
    factor = MICROSECONDS_PER_DAY if scale.kind == "datetime" and summary.scale.kind == "date" else 1
    return replace(summary, scale=scale, values=summary.values * factor)


Codes = NDArray[np.uint8] | NDArray[np.uint16]


@dataclass(frozen=True, eq=False)
class Coding:
    """The numbers that the codes of a column stand for.

    Attributes
    ----------
    name : str
        The column's name.
    scale : Scale
        What the numbers stand for.
    numbers : ndarray
        In ascending order; a value goes by the smallest that is not below it. NaN is last, where values are missing.
    is_exact : bool
        Whether the numbers are all distinct values of the column; else values in between have become the next one.
    """

    name: str
    scale: Scale
    numbers: FloatArray
    is_exact: bool

    @classmethod
    def of(cls, summary: ColumnSummary, pinned: FloatArray) -> "Coding":
        """Take the numbers from a summary of the whole column.

        Values that are `pinned` keep a code of their own even in a sketch: special values, and thresholds.
        """
        numbers = summary.values
        if not summary.is_exact:
            numbers = np.unique(np.concatenate([numbers, pinned, np.nextafter(pinned, -np.inf)]))
        if summary.missing:
            numbers = np.append(numbers, np.nan)
        return cls(summary.name, summary.scale, numbers, summary.is_exact)

    @property
    def type(self) -> type[np.uint8] | type[np.uint16]:
        """The narrowest type of the codes."""
        return np.uint8 if self.numbers.size <= 2**8 else np.uint16

    @property
    def has_missing(self) -> bool:
        """Whether a code stands for missing values."""
        return bool(self.numbers.size) and bool(np.isnan(self.numbers[-1]))

    def codes(self, column: Column) -> Codes:
        """Return the codes of some rows of the column; refuse values that were not there when it was summarised."""
        values = column.on_scale(self.scale)
        present, missing = self.numbers[:-1] if self.has_missing else self.numbers, np.isnan(values)
        some_missing = bool(missing.any())  # most pieces have none, and are not gone over again
        if some_missing and not self.has_missing:
            self._refuse("nothing")
        if some_missing:
            values = np.where(missing, 0.0, values)
        if self.scale.has_levels and values.min(initial=0.0) < 0:
            self._refuse("a level that is new")
        out: Codes = _core.bin_codes(values, present[:-1]).astype(self.type, copy=False)  # type: ignore[assignment]
        if some_missing:
            out[missing] = self.numbers.size - 1
        return out

    def _refuse(self, what: str) -> NoReturn:
        msg = f"column {self.name!r} holds {what} on a second look: the data changed while they were read."
        raise ValueError(msg)


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """A column of a table as codes; its numbers are made when rows are taken.

    Attributes
    ----------
    coding : Coding
        What the codes stand for: their numbers, and the scale of these.
    codes : ndarray
        One for each row.
    is_reusable : bool
        Whether nobody asks for the codes once they have been looked up, so that the answers may take their place.
    """

    coding: Coding
    codes: Codes
    is_reusable: bool = False

    @property
    def name(self) -> str:
        """Its name."""
        return self.coding.name

    def take(self, rows: RowIndex | slice | None) -> Column:
        """Return some of the rows as numbers; a category keeps only the levels found there."""
        codes = self.codes if rows is None else self.codes[rows]
        column = Column(self.name, self.coding.scale, self.coding.numbers[codes])
        return column.drop_unused_levels() if column.scale.kind == "category" else column

    def map_codes(self, table: Codes) -> Codes:
        """Return what a table, which has an entry for each code, says of each row."""
        codes, fits = self.codes, table.itemsize <= self.codes.itemsize
        place = codes.view(table.dtype) if self.is_reusable and fits else np.empty(codes.size, table.dtype)
        out: Codes = place[: codes.size]
        for rows in blocks(codes.size):
            out[rows] = table[codes[rows]]
        return out

    def load(self, rows: RowIndex | None) -> "CodedColumn":
        """Return some of the rows, in memory."""
        return self if rows is None else replace(self, codes=self.codes[rows])
