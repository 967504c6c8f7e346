"""Encoding of tables: learning the bins of all columns, and reading streams as codes."""

import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._data.columns import BOOLEAN, NUMBER, Column, has_large_integers
from sparsegam._data.sketches import MOST_VALUES, CodedColumn, Coding, ColumnSummary, summarise_column
from sparsegam._data.streams import Stream, release_memory
from sparsegam._data.table import Table
from sparsegam._design.binning import Binning, Codes, Feature, Learner, ValueCounts, rows_per_bin
from sparsegam._io.contents import free_memory
from sparsegam.arrays import FloatArray

# Share of the free memory that the codes of a stream may take. The search needs about as much again.
SHARE_OF_MEMORY = 0.5
# Alignment in bytes of the columns in a file.
ALIGNMENT = 64

S = TypeVar("S")
T = TypeVar("T")


def bin_table(
    table: Table, binning: Binning, weight: FloatArray | None = None, n_threads: int = 1
) -> tuple[list[Feature], list[Codes]]:
    """Learn the bins of all columns and encode them.

    Parameters
    ----------
    table : Table
        The table.
    binning : Binning
        Options of the bins.
    weight : ndarray, optional
        Sample weights, above zero.
    n_threads : int, default=1
        Number of threads, which share the columns.
    """
    learner = Learner(table.labels, binning, weight)
    known = _encode_binary_block(table, learner)

    def encode_column(j: int) -> tuple[Feature, Codes]:
        coded = table.coded_column(j)
        if coded is not None:
            return learn_coded(learner, coded, j)
        feature, values = learner.learn(table.column(j), j)
        return feature, feature.codes(values)

    others = [j for j in range(table.n_columns) if j not in known]
    known |= zip(others, map_in_threads(encode_column, others, n_threads), strict=True)
    found = [known[j] for j in range(table.n_columns)]
    return [feature for feature, _ in found], [codes for _, codes in found]


def _encode_binary_block(table: Table, learner: Learner) -> dict[int, tuple[Feature, Codes]]:
    """Encode the columns of a 0/1 integer or boolean array that need no options of their own, all at once.

    Such values are codes already. Learning hundreds of columns one by one takes longer than fitting a model to them.
    """
    block = table.array
    if block is None or table.row_index is not None or block.dtype.kind not in "iub" or learner.special_everywhere:
        return {}
    if block.dtype.kind != "b" and (block.min(initial=0) < 0 or block.max(initial=0) > 1):
        return {}
    codes = np.ascontiguousarray(block.T, dtype=np.uint8)
    # Sums in 32 bits take half of the time of wider ones.
    ones = codes.sum(axis=1, dtype=np.uint32).astype(np.int64)
    min_rows = rows_per_bin(learner.binning.min_samples_bin, table.n_rows)
    is_plain = np.minimum(ones, table.n_rows - ones) >= min_rows
    is_plain[[*learner.forced, *learner.special, *learner.thresholds]] = False
    feature = Feature("", np.zeros(1), scale=BOOLEAN if block.dtype.kind == "b" else NUMBER)
    return {j: (feature.named(table.label(j)), codes[j]) for j in np.flatnonzero(is_plain).tolist()}


def map_in_threads(function: Callable[[S], T], arguments: Sequence[S], n_threads: int) -> list[T]:
    """Return the results of a function for each argument, computed in threads if there are several."""
    if n_threads == 1 or len(arguments) < 2:
        return [function(argument) for argument in arguments]
    with ThreadPoolExecutor(min(n_threads, len(arguments))) as pool:
        return list(pool.map(function, arguments))


def learn_coded(learner: Learner, column: CodedColumn, j: int) -> tuple[Feature, Codes]:
    """Learn the bins of a coded column from the counts of its codes, and encode it by a lookup table."""
    coding, n_codes = column.coding, column.coding.numbers.size
    rows = _core.bin_counts(column.codes, n_codes)
    weight = rows if learner.weight is None else _core.bin_counts(column.codes, n_codes, learner.weight)
    feature, occurring, bins = learn_counted(learner, coding, j, ValueCounts(weight, rows))
    is_identity = occurring.size == n_codes and np.array_equal(bins, np.arange(n_codes))
    if is_identity and column.codes.dtype == bins.dtype:
        return feature, column.codes
    bin_of_code = np.zeros(n_codes, dtype=bins.dtype)
    bin_of_code[occurring] = bins
    return feature, column.map_codes(bin_of_code)


def learn_counted(
    learner: Learner, coding: Coding, j: int, counts: ValueCounts
) -> tuple[Feature, NDArray[np.intp], Codes]:
    """Learn the bins of a coded column from the number and weight of the rows of each code.

    Returns
    -------
    Feature, ndarray of int, ndarray of int
        The feature, the codes that occur, and their bins.
    """
    if j in learner.forced and not coding.is_exact:
        msg = f"column {coding.name!r} in categorical has more than {MOST_VALUES} values: remove it from categorical."
        raise ValueError(msg)
    occurring = np.arange(coding.numbers.size) if counts.rows is None else np.flatnonzero(counts.rows)
    column = Column(coding.name, coding.scale, coding.numbers[occurring])
    if column.scale.kind == "category":
        column = column.drop_unused_levels()
    feature, values = learner.learn(column, j, counts.take(occurring))
    return feature, occurring, feature.codes(values)


def summarise_columns(pieces: Iterable[Table], columns: Sequence[int], n_threads: int) -> list[ColumnSummary]:
    """Summarise some columns of a stream; the pieces are merged in order."""
    totals: list[ColumnSummary] = []
    for piece in pieces:
        found = map_in_threads(partial(_summarise_piece, piece), columns, n_threads)
        totals = [total.merge(one) for total, one in zip(totals, found, strict=True)] if totals else found
    if not totals:
        msg = "X has no rows: at least one is required."
        raise ValueError(msg)
    return totals


def _summarise_piece(piece: Table, j: int) -> ColumnSummary:
    return summarise_column(piece.column(j))


def codings_of(summaries: Sequence[ColumnSummary], binning: Binning) -> list[Coding]:
    """Return the coding of each column; declared special values and thresholds have separate codes."""
    learner = Learner([summary.name for summary in summaries], binning)
    for j in learner.forced:
        if summaries[j].scale.kind == "number" and has_large_integers(summaries[j].values):
            msg = (
                f"categorical names the column {summaries[j].name!r}, whose integers beyond 2^53 cannot be told apart "
                "in a stream: convert it to text."
            )
            raise ValueError(msg)
    empty = [Column(summary.name, summary.scale, np.zeros(0)) for summary in summaries]
    return [Coding.from_summary(summary, learner.declared_values(empty[j], j)) for j, summary in enumerate(summaries)]


def encode_stream(
    stream: Stream, y: Any, sample_weight: Any, binning: Binning, n_threads: int
) -> tuple[Table, NDArray[Any], FloatArray | None]:
    """Read a stream twice: first to summarise its columns, then to store its rows as codes.

    Parameters
    ----------
    stream : Stream
        The table.
    y, sample_weight : str
        Columns of the labels and, unless None, of the weights; all other columns are features.
    binning : Binning
        Options of the bins.
    n_threads : int
        Number of threads, which share the columns of a piece.

    Returns
    -------
    Table, ndarray, ndarray or None
        Features as codes; labels; weights.
    """
    target = stream.position(y, "y")
    weight = None if sample_weight is None else stream.position(sample_weight, "sample_weight")
    columns = [j for j in range(len(stream.names)) if j not in (target, weight)]
    if not columns:
        msg = f"X has no column other than {y!r}: at least one feature is required."
        raise ValueError(msg)
    labels, weights = _GatheredColumn(), _GatheredColumn()

    def keep(rows: slice, piece: Table, n_rows: int) -> None:
        labels.add(rows, piece.values(target), n_rows)
        if weight is not None:
            weights.add(rows, piece.values(weight), n_rows)

    table = encode_columns(stream, columns, binning, n_threads, keep)
    release_memory()
    return table, labels.values, None if weight is None else weights.values.astype(np.float64)


def encode_columns(
    stream: Stream,
    columns: Sequence[int],
    binning: Binning,
    n_threads: int,
    keep: Callable[[slice, Table, int], None] | None = None,
) -> Table:
    """Read some columns of a stream twice, and store them as codes.

    `keep`, if given, is called with the rows of each piece, the piece, and the number of all rows.
    """
    summaries = summarise_columns(stream.pieces(), columns, n_threads)
    codings, n_rows = codings_of(summaries, binning), summaries[0].n_rows
    codes, done = _allocate([coding.dtype for coding in codings], n_rows, stream.max_bytes), 0
    for piece in stream.pieces():
        rows = slice(done, done + piece.n_rows)
        done = rows.stop
        if done > n_rows:
            break

        def fill(i: int, piece: Table = piece, rows: slice = rows) -> None:
            codes[i][rows] = codings[i].codes(piece.column(columns[i]))

        map_in_threads(fill, range(len(columns)), n_threads)
        if keep is not None:
            keep(rows, piece, n_rows)
    if done != n_rows:
        found = "more" if done > n_rows else done
        msg = f"X had {n_rows} rows when it was first read and {found} rows the second time: it changed in between."
        raise ValueError(msg)
    coded = tuple(CodedColumn(coding, code) for coding, code in zip(codings, codes, strict=True))
    return Table(coded, n_rows, len(coded), names=tuple(stream.names[j] for j in columns))


@dataclass
class _GatheredColumn:
    """A column put together from its pieces; equal objects are stored once."""

    values: NDArray[Any] = field(default_factory=lambda: np.zeros(0))
    _objects: dict[Any, Any] = field(default_factory=dict)

    def add(self, rows: slice, values: NDArray[Any], n_rows: int) -> None:
        """Store the values of a piece at their rows."""
        if values.dtype == object:
            values = np.array([self._objects.setdefault(value, value) for value in values.tolist()], dtype=object)
        if self.values.size == 0:
            self.values = np.zeros(n_rows, dtype=values.dtype)
        kind = np.result_type(self.values.dtype, values.dtype)
        if kind != self.values.dtype:
            self.values = self.values.astype(kind)
        self.values[rows] = values


def _allocate(types: Sequence[type[np.integer[Any]]], n_rows: int, max_bytes: int | None) -> list[NDArray[Any]]:
    """Allocate codes in memory or, above a limit, in an unnamed file that disappears when it is no longer used."""
    sizes = [-(-np.dtype(kind).itemsize * n_rows // ALIGNMENT) * ALIGNMENT for kind in types]
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
