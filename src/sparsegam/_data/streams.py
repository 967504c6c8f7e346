"""Tables that come in pieces, again and again: Arrow datasets and readers, polars' lazy frames, files of any number."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.table import Table, read_table
from sparsegam.checks import optional, quoted

PIECE_VALUES = 2**22  # of a piece: 32 MB as numbers
FEWEST_ROWS = 2**12  # of a piece of a table that is very wide
READ_AHEAD = 2  # pieces that Arrow reads while one is at work: each is memory


@dataclass(frozen=True, eq=False)
class Stream:
    """A table that is read in pieces, as often as one wants.

    Attributes
    ----------
    names : tuple of str
        Names of its columns, in their order.
    open : callable
        Starts from the first row, and returns the pieces: tables.
    max_bytes : int or None
        What a fit may hold of its codes in memory; beyond, they are in a temporary file. None leaves it to the memory
        that is free.
    """

    names: tuple[str, ...]
    open: Callable[[], Iterator[Table]]
    max_bytes: int | None = None

    def pieces(self) -> Iterator[Table]:
        """Return the table piece by piece, from the start; pieces without rows are left out."""
        for piece in self.open():
            if piece.n_rows:
                if piece.labels != self.names:
                    msg = (
                        f"a part has the columns {quoted(piece.labels, 8)}, where others have "
                        f"{quoted(self.names, 8)}: give all parts the same, in the same order."
                    )
                    raise ValueError(msg)
                yield piece

    def position(self, name: Any, option: str) -> int:
        """Return where the column is that an option names."""
        if not isinstance(name, str):
            msg = f"{option} of a stream is the name of one of its columns, got {type(name).__name__}."
            raise ValueError(msg)
        if name not in self.names:
            msg = f"{option} names the column {name!r}, but the columns are {quoted(self.names, 8)}."
            raise ValueError(msg)
        return self.names.index(name)


def is_stream(X: Any) -> bool:
    """Tell whether an input comes in pieces, without loading a package that the user has not loaded."""
    if isinstance(X, Stream):
        return True
    kind = type(X)
    if kind.__module__.startswith("polars") and kind.__name__ == "LazyFrame":
        return True
    arrow = any(parent.__module__.startswith("pyarrow") for parent in kind.__mro__)
    named = {parent.__name__ for parent in kind.__mro__} & {"Dataset", "RecordBatchReader"}
    return bool(arrow and named) or (callable(X) and not hasattr(X, "__array__") and not isinstance(X, type))


def as_stream(X: Any) -> Stream:
    """Look at what comes in pieces, without reading it."""
    if isinstance(X, Stream):
        return X
    if type(X).__module__.startswith("polars"):
        return _of_lazy_frame(X)
    arrow = optional("pyarrow", "streams", extra="stream")
    if isinstance(X, arrow.RecordBatchReader):
        msg = "a RecordBatchReader can be read once, and a fit reads twice: pass a function that opens it."
        raise ValueError(msg)
    return _of_reader(X, arrow) if callable(X) else dataset_stream(X)


def dataset_stream(dataset: Any) -> Stream:
    """Return a pyarrow Dataset as a stream."""
    names = tuple(dataset.schema.names)
    rows = rows_per_piece(len(names))

    def pieces() -> Iterator[Table]:
        scanner = dataset.scanner(batch_size=rows, batch_readahead=READ_AHEAD, fragment_readahead=1)
        return join_batches(scanner.to_batches(), rows)

    return Stream(names, pieces)


def rows_per_piece(n_columns: int) -> int:
    """Return the rows that make a piece of a table with so many columns."""
    return max(PIECE_VALUES // max(n_columns, 1), FEWEST_ROWS)


def join_batches(batches: Any, n_rows: int) -> Iterator[Table]:
    """Put batches together until they are a piece: small ones cost more than they hold."""
    import pyarrow as pa

    waiting: list[Any] = []
    for batch in batches:
        waiting.append(batch)
        if sum(one.num_rows for one in waiting) >= n_rows:
            yield read_table(pa.Table.from_batches(waiting))
            waiting = []
    if any(batch.num_rows for batch in waiting):
        yield read_table(pa.Table.from_batches(waiting))


def release_memory() -> None:
    """Let Arrow hand back what it read ahead in, once no piece is in use: it would hold on to it during a search."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()


def _of_reader(open_reader: Callable[[], Any], arrow: Any) -> Stream:
    first = open_reader()
    if not isinstance(first, arrow.RecordBatchReader):
        msg = f"a function as X must return a pyarrow.RecordBatchReader, got {type(first).__name__}."
        raise ValueError(msg)
    names = tuple(first.schema.names)
    first.close()
    return Stream(names, lambda: join_batches(open_reader(), rows_per_piece(len(names))))


def _of_lazy_frame(frame: Any) -> Stream:
    names = tuple(frame.collect_schema().names())
    rows = rows_per_piece(len(names))
    if not hasattr(frame, "collect_batches"):  # of polars before 1.34
        return Stream(names, lambda: _slices(frame, rows))

    def pieces() -> Iterator[Table]:
        batches = frame.collect_batches(chunk_size=rows, maintain_order=True)
        return (read_table(batch) for batch in batches if batch.height)

    return Stream(names, pieces)


def _slices(frame: Any, rows: int) -> Iterator[Table]:
    start = 0
    while (part := frame.slice(start, rows).collect()).height:
        yield read_table(part)
        start += part.height


def read_columns(stream: Stream, **names: Any) -> list[NDArray[Any] | None]:
    """Return columns as their user knows them, each named by an option; None for those that are not asked for."""
    places = {option: stream.position(name, option) for option, name in names.items() if name is not None}
    parts: dict[str, list[NDArray[Any]]] = {option: [] for option in places}
    for piece in stream.pieces():
        for option, j in places.items():
            parts[option].append(piece.values(j))
    return [np.concatenate(parts[option]) if option in parts else None for option in names]
