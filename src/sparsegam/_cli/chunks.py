"""Read and score files that are too large for memory in chunks."""

import os
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path as FilePath
from typing import Any
from uuid import uuid4

import numpy as np

from sparsegam._data.streams import Stream
from sparsegam._data.table import Table
from sparsegam._design.binning import Binning
from sparsegam._design.encoding import encode_columns
from sparsegam._fit.progress import new_bar
from sparsegam._io.contents import check_file, free_memory
from sparsegam._io.files import FORMATS, read_file, scan
from sparsegam._models.additive import Model
from sparsegam._models.training import NewValues
from sparsegam._search.options import n_threads

# A file is read in chunks if its values would need more than this share of the free memory.
MAX_SHARE_OF_MEMORY = 0.5
# Approximate size of the values in memory, relative to the size of the file.
MEMORY_PER_BYTE = {"parquet": 30, "feather": 10, "csv": 12}
TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".gz")


def is_large(name: str) -> bool:
    """Return whether a file should be read in chunks."""
    file, free = FilePath(name), free_memory()
    kind = FORMATS.get(file.suffix.lower(), "csv" if file.suffix.lower() in TEXT_SUFFIXES else None)
    if kind is None or free is None or not file.is_file():
        return False
    return file.stat().st_size * MEMORY_PER_BYTE[kind] > MAX_SHARE_OF_MEMORY * free


def read_rows(options: Namespace, binning: Binning) -> Table:
    """Read the table of a command: the values or, if the file is large, codes."""
    if not is_large(options.data):
        return read_file(options.data, encoding=options.encoding)
    stream = scan(options.data, encoding=options.encoding)
    kept = [j for j, name in enumerate(stream.names) if name not in options.drop or name == options.target]
    shown = Stream(stream.names, lambda: _with_progress(stream, quiet=options.quiet), stream.max_bytes)
    return encode_columns(shown, kept, binning, n_threads(getattr(options, "n_jobs", None)))


def _with_progress(stream: Stream, *, quiet: bool) -> Iterator[Table]:
    """Yield the chunks of a stream and show the number of rows in a progress bar."""
    bar = new_bar(int(not quiet), None, "rows")
    try:
        for chunk in stream.pieces():
            yield chunk
            if bar is not None:
                bar.update(chunk.n_rows)
    finally:
        if bar is not None:
            bar.close()


def predict_in_chunks(
    model: Model, options: Namespace, kept_columns: Callable[[Table, tuple[str, ...]], dict[str, list[Any]]]
) -> int:
    """Score a file in chunks, write a Parquet file and return the number of rows.

    The file is written completely or not at all. `kept_columns` returns the columns of a chunk to copy, given the
    names of the other columns.
    """
    import pyarrow as pa
    from pyarrow import parquet

    if options.data == "-":
        msg = f"cannot write {options.out} from standard input: Parquet is written in chunks, which need a file."
        raise ValueError(msg)
    check_file(FilePath(options.data))
    draft = FilePath(options.out).resolve().parent / f".sparsegam-{uuid4().hex}"
    unseen, n_rows, writer = NewValues(), 0, None
    try:
        for chunk in _with_progress(scan(options.data, encoding=options.encoding), quiet=options.quiet):
            unseen_here = NewValues()
            score = model.score_rows(chunk, unseen_here)
            unseen.add(unseen_here)
            columns: dict[str, Any] = {"score": score}
            if model.classes is not None:
                columns[f"probability_{model.classes[1]}"] = model.probabilities(score)[:, 1]
                columns["prediction"] = np.array(model.classes)[(score > 0).astype(np.intp)]
            table = pa.table(kept_columns(chunk, tuple(columns)) | columns)
            writer = parquet.ParquetWriter(draft, table.schema) if writer is None else writer
            writer.write_table(table.cast(writer.schema))
            n_rows += chunk.n_rows
        unseen.tell(model.missing)
        if writer is not None:
            writer.close()
            os.replace(draft, options.out)
        return n_rows
    finally:
        if writer is not None:
            writer.close()
        with suppress(FileNotFoundError):
            draft.unlink()
