"""Tables that are read in pieces, repeatedly: Arrow datasets and readers, lazy polars frames and files."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.table import Table, read_table
from sparsegam.checks import optional, quoted

PIECE_VALUES = 2**22
"""Target number of values per piece: 32 MB as float64."""
MIN_PIECE_ROWS = 2**12
"""Minimum number of rows per piece, which matters for very wide tables."""
READ_AHEAD = 2
"""Number of pieces that Arrow reads ahead and keeps in memory."""


@dataclass(frozen=True, eq=False)
class Stream:
    """A table that is read in pieces, any number of times.

    Attributes
    ----------
    names : tuple of str
        Column names.
    open : callable
        Returns an iterator over the pieces from the first row on.
    max_bytes : int or None, default=None
        Maximum memory in bytes for the codes of a fit, which are stored in a temporary file if they need more. None
        uses a share of the free memory.
    """

    names: tuple[str, ...]
    open: Callable[[], Iterator[Table]]
    max_bytes: int | None = None

    def pieces(self) -> Iterator[Table]:
        """Yield the pieces of the table from the first row on, except empty ones."""
        for piece in self.open():
            if piece.n_rows:
                if piece.labels != self.names:
                    msg = (
                        "all parts must have the same columns in the same order, got "
                        f"{quoted(self.names, 8)} in one part and {quoted(piece.labels, 8)} in another."
                    )
                    raise ValueError(msg)
                yield piece

    def position(self, name: Any, option: str) -> int:
        """Return the position of the column that an option names."""
        if not isinstance(name, str):
            msg = f"{option} of a stream must be the name of one of its columns, got {type(name).__name__}."
            raise ValueError(msg)
        if name not in self.names:
            msg = f"{option} names the column {name!r}, but the columns are {quoted(self.names, 8)}."
            raise ValueError(msg)
        return self.names.index(name)


def is_stream(X: Any) -> bool:
    """Return whether an input is read in pieces, without importing polars or pyarrow."""
    if isinstance(X, Stream):
        return True
    kind = type(X)
    if kind.__module__.startswith("polars") and kind.__name__ == "LazyFrame":
        return True
    arrow = any(parent.__module__.startswith("pyarrow") for parent in kind.__mro__)
    named = {parent.__name__ for parent in kind.__mro__} & {"Dataset", "RecordBatchReader"}
    return bool(arrow and named) or (callable(X) and not hasattr(X, "__array__") and not isinstance(X, type))


def as_stream(X: Any) -> Stream:
    """Convert an input for which `is_stream` is true to a Stream, without reading it."""
    if isinstance(X, Stream):
        return X
    if type(X).__module__.startswith("polars"):
        return _lazy_frame_stream(X)
    arrow = optional("pyarrow", "streams", extra="stream")
    if isinstance(X, arrow.RecordBatchReader):
        msg = "a RecordBatchReader can be read only once, but a fit reads twice: pass a function that returns a reader."
        raise ValueError(msg)
    return _reader_stream(X, arrow) if callable(X) else dataset_stream(X)


def dataset_stream(dataset: Any) -> Stream:
    """Return a pyarrow Dataset as a stream."""
    names = tuple(dataset.schema.names)
    rows = rows_per_piece(len(names))

    def pieces() -> Iterator[Table]:
        scanner = dataset.scanner(batch_size=rows, batch_readahead=READ_AHEAD, fragment_readahead=1)
        return _join_batches(scanner.to_batches(), rows)

    return Stream(names, pieces)


def rows_per_piece(n_columns: int) -> int:
    """Return the number of rows in a piece of a table with n_columns columns."""
    return max(PIECE_VALUES // max(n_columns, 1), MIN_PIECE_ROWS)


def read_columns(stream: Stream, **names: Any) -> list[NDArray[Any] | None]:
    """Read the raw values of the column that each option names; None for options that are None."""
    positions = {option: stream.position(name, option) for option, name in names.items() if name is not None}
    parts: dict[str, list[NDArray[Any]]] = {option: [] for option in positions}
    for piece in stream.pieces():
        for option, j in positions.items():
            parts[option].append(piece.values(j))
    return [np.concatenate(parts[option]) if option in parts else None for option in names]


def release_memory() -> None:
    """Release the read-ahead memory of Arrow, which would otherwise stay allocated during the search."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()


def _join_batches(batches: Any, n_rows: int) -> Iterator[Table]:
    """Join batches into pieces of at least n_rows rows, because small pieces have a large overhead."""
    import pyarrow as pa

    waiting: list[Any] = []
    for batch in batches:
        waiting.append(batch)
        if sum(one.num_rows for one in waiting) >= n_rows:
            yield read_table(pa.Table.from_batches(waiting))
            waiting = []
    if any(batch.num_rows for batch in waiting):
        yield read_table(pa.Table.from_batches(waiting))


def _reader_stream(open_reader: Callable[[], Any], arrow: Any) -> Stream:
    first = open_reader()
    if not isinstance(first, arrow.RecordBatchReader):
        msg = f"a function passed as X must return a pyarrow.RecordBatchReader, got {type(first).__name__}."
        raise ValueError(msg)
    names = tuple(first.schema.names)
    first.close()
    return Stream(names, lambda: _join_batches(open_reader(), rows_per_piece(len(names))))


def _lazy_frame_stream(frame: Any) -> Stream:
    names = tuple(frame.collect_schema().names())
    rows = rows_per_piece(len(names))
    # polars before 1.34 has no collect_batches.
    if not hasattr(frame, "collect_batches"):
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
