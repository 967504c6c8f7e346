"""Read and score files that are too large for memory in chunks."""

import os
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path as FilePath
from typing import Any
from uuid import uuid4

import numpy as np

from sparsegam._data.columns import Column
from sparsegam._data.streams import Stream
from sparsegam._data.table import Table
from sparsegam._design.binning import Binning
from sparsegam._design.encoding import encode_columns
from sparsegam._fit.progress import new_bar
from sparsegam._io.contents import check_file, free_memory
from sparsegam._io.csv import TextOptions
from sparsegam._io.files import FORMATS, is_text_file, open_stream, read_file
from sparsegam._models.additive import Model
from sparsegam._models.training import NewValues
from sparsegam._search.options import n_threads
from sparsegam.checks import quoted

# A file is read in chunks if its values would need more than this share of the free memory.
MAX_SHARE_OF_MEMORY = 0.5
# Approximate size of the values in memory, relative to the size of the file.
MEMORY_PER_BYTE = {"parquet": 30, "feather": 10, "csv": 12}
TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".gz")


def output_columns(model: Model) -> tuple[str, ...]:
    """Return the names of the columns that `predict` writes."""
    return ("score",) if model.classes is None else ("score", f"probability_{model.classes[1]}", "prediction")


def is_large(name: str) -> bool:
    """Return whether a file should be read in chunks."""
    file, free = FilePath(name), free_memory()
    kind = FORMATS.get(file.suffix.lower(), "csv" if file.suffix.lower() in TEXT_SUFFIXES else None)
    if kind is None or free is None or not file.is_file():
        return False
    return file.stat().st_size * MEMORY_PER_BYTE[kind] > MAX_SHARE_OF_MEMORY * free


def text_options(options: Namespace, model: Model | None = None, copied: Sequence[str] = ()) -> TextOptions:
    """Return how the text files of a command are read.

    Columns that contained text when a model was fitted are text, even if a file has only those of their levels that
    look like numbers or booleans.
    """
    scales = {} if model is None else model.scales
    text_columns = frozenset(name for name, scale in scales.items() if scale.is_text)
    return TextOptions(text_columns, tuple(copied), options.decimal)


def read_rows(options: Namespace, binning: Binning, model: Model | None = None) -> Table:
    """Read the table of a command: the values or, if the file is large, codes. The types are those of the model."""
    how = text_options(options, model)
    if not is_large(options.data):
        return read_file(options.data, encoding=options.encoding, options=how)
    stream = open_stream(options.data, encoding=options.encoding, options=how)
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


def check_kept(names: Sequence[str], kept: Sequence[str], taken: Sequence[str]) -> None:
    """Raise ValueError if a table lacks a column to copy, or if its name is that of another column of the output."""
    for name in kept:
        if name not in names:
            msg = f"there is no column {name!r} for --keep: the columns are {quoted(list(dict.fromkeys(names)), 8)}."
            raise ValueError(msg)
        if name in taken:
            msg = f"--keep {name} has the same name as an output column ({', '.join(taken)}): rename the column."
            raise ValueError(msg)


def split_copied(table: Table, kept: Sequence[str]) -> tuple[Table, list[Column]]:
    """Separate the columns of a text file that `TextOptions.copied` appended to its table."""
    n = table.n_columns - len(kept)
    return table.load(range(n)), [table.column(n + j) for j in range(len(kept))]


def copied_text(column: Column) -> list[str | None]:
    """Return the unchanged text of a column; None for an empty field."""
    return [None if np.isnan(code) else str(column.scale.levels[int(code)]) for code in column.values.tolist()]


def predict_in_chunks(model: Model, options: Namespace) -> int:
    """Score a file in chunks, write a Parquet file and return the number of rows.

    The file is written completely or not at all. Columns to copy have the text of a text file, or the type and the
    values of other files.
    """
    import pyarrow as pa
    from pyarrow import parquet

    if options.data == "-":
        msg = f"cannot write {options.out} while reading standard input: pass the data as a file, or write CSV."
        raise ValueError(msg)
    check_file(FilePath(options.data))
    draft = FilePath(options.out).resolve().parent / f".sparsegam-{uuid4().hex}"
    unseen, n_rows, writer = NewValues(), 0, None
    kept, is_text = options.keep, is_text_file(options.data)
    stream = open_stream(options.data, encoding=options.encoding, options=text_options(options, model, kept))
    check_kept(stream.names, kept, output_columns(model))
    try:
        for chunk in _with_progress(stream, quiet=options.quiet):
            if is_text:
                chunk, copied = split_copied(chunk, kept)
                columns: dict[str, Any] = {c.name: pa.array(copied_text(c), pa.string()) for c in copied}
            else:
                columns = {name: chunk.frame.get_column(name).to_native() for name in kept}
            unseen_here = NewValues()
            score = model.score_rows(chunk, unseen_here)
            unseen.add(unseen_here)
            columns["score"] = score
            if model.classes is not None:
                columns[f"probability_{model.classes[1]}"] = model.probabilities(score)[:, 1]
                columns["prediction"] = np.array(model.classes)[(score > 0).astype(np.intp)]
            table = pa.table(columns)
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
