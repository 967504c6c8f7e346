"""Learns and codes all columns of a table, in threads; and takes in tables that come in pieces, as codes."""

import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._data.columns import BOOLEAN, NUMBER, Column, Scale
from sparsegam._data.sketches import MOST_VALUES, CodedColumn, Coding, ColumnSummary, summarise_column
from sparsegam._data.streams import Stream, release_memory
from sparsegam._data.table import Table
from sparsegam._design.binning import Binning, Codes, Feature, Learner, ValueCounts, rows_per_bin
from sparsegam._io.contents import free_memory
from sparsegam.arrays import FloatArray

SHARE_OF_MEMORY = 0.5  # of what is free, that codes may take; the search needs as much again

ALIGNED = 64  # bytes that a column in a file begins at a multiple of

S = TypeVar("S")
T = TypeVar("T")


def bin_table(
    table: Table, binning: Binning, weight: FloatArray | None = None, n_threads: int = 1
) -> tuple[list[Feature], list[Codes]]:
    """Learn and code all columns, a few of them at a time as numbers; weights are above zero."""
    learner = Learner(table.labels, binning, weight)
    at_once = ZeroOnes.of(table, learner)
    known = {} if at_once is None else at_once.learned(table.labels)

    def one(j: int) -> tuple[Feature, Codes]:
        coded = table.coded_column(j)
        if coded is not None:
            return learn_coded(learner, coded, j)
        feature, values = learner.learn(table.column(j), j)
        return feature, feature.codes(values)

    others = [j for j in range(table.n_columns) if j not in known]
    known |= zip(others, in_threads(one, others, n_threads), strict=True)
    found = [known[j] for j in range(table.n_columns)]
    return [feature for feature, _ in found], [codes for _, codes in found]


@dataclass(frozen=True)
class ZeroOnes:
    """A block of whole numbers or truth values that are all zero or one: its columns are codes already.

    To learn hundreds of such columns one by one takes longer than to fit a model to them.
    """

    codes: NDArray[np.uint8]  # a row for each column
    is_plain: NDArray[np.bool_]  # columns with rows enough of either value, of which the user said nothing
    scale: Scale

    @classmethod
    def of(cls, table: Table, learner: Learner) -> "ZeroOnes | None":
        """Return the codes of a table's columns, where they can be had all at once."""
        block = table.array
        if block is None or table.row_index is not None or block.dtype.kind not in "iub" or learner.special_everywhere:
            return None
        if block.dtype.kind != "b" and (block.min(initial=0) < 0 or block.max(initial=0) > 1):
            return None
        codes = np.ascontiguousarray(block.T, dtype=np.uint8)
        ones = codes.sum(axis=1, dtype=np.uint32).astype(np.int64)  # in half the time that wider sums take
        plain = np.minimum(ones, table.n_rows - ones) >= rows_per_bin(learner.binning.min_samples_bin, table.n_rows)
        plain[[*learner.forced, *learner.special, *learner.cuts]] = False
        return cls(codes, plain, BOOLEAN if block.dtype.kind == "b" else NUMBER)

    def learned(self, labels: Sequence[str]) -> dict[int, tuple[Feature, Codes]]:
        """Return features and codes of the plain columns, which differ in their names only."""
        feature = Feature("", np.zeros(1), scale=self.scale)
        return {j: (feature.named(labels[j]), self.codes[j]) for j in np.flatnonzero(self.is_plain).tolist()}


def in_threads(work: Callable[[S], T], over: Sequence[S], n_threads: int) -> list[T]:
    """Do the same with each of several, in threads where there are some; answers are in the order of what was given."""
    if n_threads == 1 or len(over) < 2:
        return [work(one) for one in over]
    with ThreadPoolExecutor(min(n_threads, len(over))) as pool:
        return list(pool.map(work, over))


def learn_coded(learner: Learner, column: CodedColumn, j: int) -> tuple[Feature, Codes]:
    """Learn the feature of a coded column from the counts of its codes, and bin it by a table."""
    coding, n_codes = column.coding, column.coding.numbers.size
    rows = _core.bin_counts(column.codes, n_codes)
    weight = rows if learner.weight is None else _core.bin_counts(column.codes, n_codes, learner.weight)
    feature, seen, bins = learn_counted(learner, coding, j, ValueCounts(weight, rows))
    if seen.size == n_codes and np.array_equal(bins, np.arange(n_codes)) and column.codes.dtype == bins.dtype:
        return feature, column.codes
    table = np.zeros(n_codes, dtype=bins.dtype)
    table[seen] = bins
    return feature, column.map_codes(table)


def learn_counted(
    learner: Learner, coding: Coding, j: int, times: ValueCounts
) -> tuple[Feature, NDArray[np.intp], Codes]:
    """Learn the feature of a column from what each of its codes counts for.

    Returns the feature, the codes that any row has, and their bins.
    """
    if j in learner.forced and not coding.is_exact:
        msg = f"categorical names the column {coding.name!r}, which has more than {MOST_VALUES} values: leave it out."
        raise ValueError(msg)
    seen = np.arange(coding.numbers.size) if times.rows is None else np.flatnonzero(times.rows)
    taken = Column(coding.name, coding.scale, coding.numbers[seen])
    if taken.scale.kind == "category":
        taken = taken.drop_unused_levels()
    feature, values = learner.learn(taken, j, times.take(seen))
    return feature, seen, feature.codes(values)


def summarised(pieces: Iterable[Table], columns: Sequence[int], n_threads: int) -> list[ColumnSummary]:
    """Summarise columns of a table that comes in pieces; each piece is added in its turn."""
    totals: list[ColumnSummary] = []
    for piece in pieces:
        found = in_threads(partial(_summary_of, piece), columns, n_threads)
        totals = [total.merge(one) for total, one in zip(totals, found, strict=True)] if totals else found
    if not totals:
        msg = "X has no rows: at least one is required."
        raise ValueError(msg)
    return totals


def _summary_of(piece: Table, j: int) -> ColumnSummary:
    return summarise_column(piece.column(j))


def codings_of(summaries: Sequence[ColumnSummary], binning: Binning) -> list[Coding]:
    """Say what the codes of each column stand for; values that the user named keep codes of their own."""
    learner = Learner([summary.name for summary in summaries], binning)
    empty = [Column(summary.name, summary.scale, np.zeros(0)) for summary in summaries]
    return [Coding.from_summary(summary, learner.pinned(empty[j], j)) for j, summary in enumerate(summaries)]


def take_in(
    stream: Stream, y: Any, sample_weight: Any, binning: Binning, n_threads: int
) -> tuple[Table, NDArray[Any], FloatArray | None]:
    """Read a stream twice: learn what its columns hold, then keep its rows as codes, with labels and weights.

    Parameters
    ----------
    stream : Stream
        The table.
    y, sample_weight : str
        Columns that hold the labels and, unless None, the weights; all others are features.
    binning : Binning
        What the user chose about bins.
    n_threads : int
        Threads, which share the columns of a piece.

    Returns
    -------
    Table, ndarray, ndarray or None
        Features as codes; labels; weights.
    """
    target = stream.position(y, "y")
    weight = None if sample_weight is None else stream.position(sample_weight, "sample_weight")
    columns = [j for j in range(len(stream.names)) if j not in (target, weight)]
    if not columns:
        msg = f"X has no column besides {y!r}: at least one feature is required."
        raise ValueError(msg)
    labels, weights = Gathered(), Gathered()

    def keep(rows: slice, piece: Table, n_rows: int) -> None:
        labels.add(rows, piece.values(target), n_rows)
        if weight is not None:
            weights.add(rows, piece.values(weight), n_rows)

    table = coded_table(stream, columns, binning, n_threads, keep)
    release_memory()
    return table, labels.values(), None if weight is None else weights.values().astype(np.float64)


def coded_table(
    stream: Stream,
    columns: Sequence[int],
    binning: Binning,
    n_threads: int,
    keep: Callable[[slice, Table, int], None] | None = None,
) -> Table:
    """Read some columns of a stream twice, and keep them as codes; `keep` is shown each piece, and where it goes."""
    summaries = summarised(stream.pieces(), columns, n_threads)
    codings, n_rows = codings_of(summaries, binning), summaries[0].n_rows
    codes, done = _room([coding.dtype for coding in codings], n_rows, stream.max_bytes), 0
    for piece in stream.pieces():
        rows = slice(done, done + piece.n_rows)
        done = rows.stop
        if done > n_rows:
            break

        def fill(i: int, piece: Table = piece, rows: slice = rows) -> None:
            codes[i][rows] = codings[i].codes(piece.column(columns[i]))

        in_threads(fill, range(len(columns)), n_threads)
        if keep is not None:
            keep(rows, piece, n_rows)
    if done != n_rows:
        found = "more" if done > n_rows else done
        msg = f"X had {n_rows} rows at first and {found} then: it changed while it was read."
        raise ValueError(msg)
    held = tuple(CodedColumn(coding, code) for coding, code in zip(codings, codes, strict=True))
    return Table(held, n_rows, len(held), names=tuple(stream.names[j] for j in columns))


@dataclass
class Gathered:
    """One column put together from its pieces: numbers as they are, all else as objects that share what is equal."""

    _all: NDArray[Any] = field(default_factory=lambda: np.zeros(0))
    _same: dict[Any, Any] = field(default_factory=dict)

    def add(self, rows: slice, values: NDArray[Any], n_rows: int) -> None:
        """Put the values of a piece in their place."""
        if values.dtype == object:
            values = np.array([self._same.setdefault(value, value) for value in values.tolist()], dtype=object)
        if self._all.size == 0:
            self._all = np.zeros(n_rows, dtype=values.dtype)
        kind = np.result_type(self._all.dtype, values.dtype)
        if kind != self._all.dtype:
            self._all = self._all.astype(kind)
        self._all[rows] = values

    def values(self) -> NDArray[Any]:
        """Return the whole column."""
        return self._all


def _room(types: Sequence[type[np.integer[Any]]], n_rows: int, max_bytes: int | None) -> list[NDArray[Any]]:
    """Make room for codes: in memory or, past a limit, in a file without a name, which is gone when nobody reads it."""
    sizes = [-(-np.dtype(kind).itemsize * n_rows // ALIGNED) * ALIGNED for kind in types]
    if max_bytes is None:
        free = free_memory()
        max_bytes = sum(sizes) if free is None else int(SHARE_OF_MEMORY * free)
    if sum(sizes) <= max_bytes:
        return [np.empty(n_rows, dtype=kind) for kind in types]
    with tempfile.TemporaryFile(prefix="sparsegam-") as file:
        file.truncate(sum(sizes))
        starts = np.cumsum([0, *sizes[:-1]]).tolist()
        pairs = zip(types, starts, strict=True)
        return [np.memmap(file, kind, "r+", start, (n_rows,)).view(np.ndarray) for kind, start in pairs]
