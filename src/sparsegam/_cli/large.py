"""Files that memory would not hold as numbers: read in pieces as codes, and scored in pieces."""

import os
from argparse import Namespace
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path as FilePath
from typing import Any
from uuid import uuid4

import numpy as np

from sparsegam._data.streams import Stream
from sparsegam._data.table import Table
from sparsegam._design.binning import Binning
from sparsegam._design.encoding import coded_table
from sparsegam._fit.progress import new_bar
from sparsegam._io.contents import check_file, free_memory
from sparsegam._io.files import FORMATS, read_file, scan
from sparsegam._models.additive import Model
from sparsegam._models.seen import NewValues
from sparsegam._search.options import n_threads

SHARE_OF_MEMORY = 0.5  # of what is free, that a file may take as numbers before it is read in pieces
BYTES_PER_BYTE = {"parquet": 30, "feather": 10, "csv": 12}  # of memory for one of a file, about
TEXT = (".csv", ".tsv", ".txt", ".gz")


def is_large(name: str) -> bool:
    """Tell whether a file is one that can be read in pieces, and had better be."""
    file, free = FilePath(name), free_memory()
    kind = FORMATS.get(file.suffix.lower(), "csv" if file.suffix.lower() in TEXT else None)
    if kind is None or free is None or not file.is_file():
        return False
    return file.stat().st_size * BYTES_PER_BYTE[kind] > SHARE_OF_MEMORY * free


def read_rows(options: Namespace, binning: Binning) -> Table:
    """Read the table of a command: whole or, where it is large, as codes, in pieces."""
    if not is_large(options.data):
        return read_file(options.data, encoding=options.encoding)
    stream = scan(options.data, encoding=options.encoding)
    kept = [j for j, name in enumerate(stream.names) if name not in options.drop or name == options.target]
    shown = Stream(stream.names, lambda: _watched(stream, quiet=options.quiet), stream.max_bytes)
    return coded_table(shown, kept, binning, n_threads(getattr(options, "n_jobs", None)))


def _watched(stream: Stream, *, quiet: bool) -> Iterator[Table]:
    """Give the pieces of a stream, and move a bar by their rows."""
    bar = new_bar(int(not quiet), None, "rows")
    try:
        for piece in stream.pieces():
            yield piece
            if bar is not None:
                bar.update(piece.n_rows)
    finally:
        if bar is not None:
            bar.close()


def predict_in_pieces(model: Model, options: Namespace, kept: Any) -> int:
    """Score a file piece by piece into a Parquet file, whole or not at all; return the number of rows.

    `kept` gives the columns of a piece to pass through.
    """
    import pyarrow as pa
    from pyarrow import parquet

    if options.data == "-":
        msg = f"cannot write {options.out} from the standard input: Parquet is written in pieces, give a file."
        raise ValueError(msg)
    check_file(FilePath(options.data))
    draft = FilePath(options.out).resolve().parent / f".sparsegam-{uuid4().hex}"
    total, n_rows, writer = NewValues(), 0, None
    try:
        for piece in _watched(scan(options.data, encoding=options.encoding), quiet=options.quiet):
            new = NewValues()
            score = model.score_rows(piece, new)
            total.add(new)
            columns: dict[str, Any] = {"score": score}
            if model.classes is not None:
                columns[f"probability_{model.classes[1]}"] = model.probabilities(score)[:, 1]
                columns["prediction"] = np.array(model.classes)[(score > 0).astype(np.intp)]
            table = pa.table(kept(piece, options.keep, tuple(columns)) | columns)
            writer = parquet.ParquetWriter(draft, table.schema) if writer is None else writer
            writer.write_table(table.cast(writer.schema))
            n_rows += piece.n_rows
        total.tell(model.missing)
        if writer is not None:
            writer.close()
            os.replace(draft, options.out)
        return n_rows
    finally:
        if writer is not None:
            writer.close()
        with suppress(FileNotFoundError):
            draft.unlink()
