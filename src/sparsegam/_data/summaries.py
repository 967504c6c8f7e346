"""What some rows of a column hold, in little memory: distinct values while they are few, else a sketch of their ranks.

Summaries of parts add up to that of the whole. Of numbers, entry i stands for `counts[i]` rows at or below its value
and above the value before; of these, `below[i]` may be smaller than the value (none, where distinct values are all
kept), and up to `slack[i]` rows more than are counted may be at or below it, since they are counted with a larger
entry. That is the sketch of Greenwald and Khanna: no rank is off by more than `slack`, whatever the order of the parts,
and an entry is joined with the next one only while `below + slack` stays within a share of all rows.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._data.columns import Column
from sparsegam._data.scales import DATETIME, MICROSECONDS_PER_DAY, NUMBER, WORDS, Scale, shortened
from sparsegam.arrays import FloatArray

MOST_VALUES = 65_000  # distinct ones that are kept: codes of two bytes, with room for missing and pinned values
SKETCH_VALUES = 2**15  # entries of a sketch: some thirty to each of a thousand bins
Ranks = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Summary:
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
        Rows by entry, and how well these are known: see above.
    missing : int
        Rows without a value.
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

    def merged(self, other: "Summary") -> "Summary":
        """Add the summary of other rows of the same column."""
        one, other = _on_one_scale(self, other)
        missing = one.missing + other.missing
        if not other.values.size or not one.values.size:
            return replace(one if one.values.size else other, missing=missing)
        values = np.union1d(one.values, other.values)
        parts = [_spread(part, values) for part in (one, other)]
        counts, below, slack = (mine + theirs for mine, theirs in zip(*parts, strict=True))
        return _small_enough(Summary(one.name, one.scale, values, counts, below, slack, missing))


def summary_of(column: Column) -> Summary:
    """Summarise the rows of a column."""
    whole = column.values.size and not np.isnan(column.values.min())
    present = column.values if whole else column.values[~np.isnan(column.values)]
    values, counts = _core.distinct(present)
    nothing = np.zeros(values.size, dtype=np.int64)
    missing = column.values.size - present.size
    return _small_enough(Summary(column.name, column.scale, values + 0.0, counts, nothing, nothing, missing))


def merged(summaries: Iterable[Summary]) -> Summary:
    """Add up the summaries of the parts of a column, in their order."""
    parts = iter(summaries)
    total = next(parts)
    for part in parts:
        total = total.merged(part)
    return total


def _spread(part: Summary, values: FloatArray) -> tuple[Ranks, Ranks, Ranks]:
    """Return counts, below and slack of a summary at more values than it has.

    At a value that is not its own, it counts nothing, but rows of its next entry may be there or below.
    """
    at = np.searchsorted(part.values, values)
    own = np.append(part.values, np.nan)[at] == values
    counts, below, slack = (np.append(numbers, 0)[at] for numbers in (part.counts, part.below, part.slack))
    return np.where(own, counts, 0), np.where(own, below, 0), np.where(own, slack, below + slack)


def _small_enough(summary: Summary) -> Summary:
    """Return a summary itself, or a sketch where it has too many values; levels cannot be sketched."""
    if (summary.values.size <= MOST_VALUES and summary.is_exact) or summary.values.size <= SKETCH_VALUES:
        return summary
    if summary.scale.has_levels:
        msg = (
            f"column {summary.name!r} has more than {MOST_VALUES} levels (such as "
            f"{shortened(summary.scale.levels, 3)}): leave it out, or put its levels into fewer groups first."
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


def _on_one_scale(one: Summary, other: Summary) -> tuple[Summary, Summary]:
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
        f"{WORDS[scale.kind]} ({shortened(scale.levels, 3)})" if scale.levels else WORDS[scale.kind]
        for scale in (one, other)
    ]
    msg = f"column {name!r} holds {held[0]} in some parts and {held[1]} in others: convert it to one of them."
    raise ValueError(msg)


def _on(summary: Summary, scale: Scale) -> Summary:
    if scale.kind == "category":
        place = {level: float(i) for i, level in enumerate(scale.levels)}
        moved = np.array([place[summary.scale.levels[int(i)]] for i in summary.values])
        return replace(summary, scale=scale, values=moved)
    factor = MICROSECONDS_PER_DAY if scale.kind == "datetime" and summary.scale.kind == "date" else 1
    return replace(summary, scale=scale, values=summary.values * factor)
