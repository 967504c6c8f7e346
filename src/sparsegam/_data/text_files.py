"""CSV files in blocks of text; what a column of text holds is known after a first look at all of it."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from sparsegam._data.columns import Column
from sparsegam._data.contents import named_errors, refuse
from sparsegam._data.csv import DELIMITERS, arrow_column, header, table_of
from sparsegam._data.frames import Table
from sparsegam._data.guessing import levels_of

TEXT_BLOCK = 2**24  # bytes of a file that become a piece
TIMES = {"date", "datetime"}


@dataclass(frozen=True)
class Head:
    """What the first line of a CSV file tells: the delimiter and the names."""

    file: FilePath
    delimiter: str
    names: tuple[str, ...]


def head_of(file: FilePath, encoding: str) -> Head:
    """Read the first line of a CSV file."""
    import pyarrow as pa

    with named_errors([file]), pa.input_stream(str(file), compression="detect") as stream:
        start = stream.read(2**20)
    try:
        text = start.decode("utf-8-sig" if encoding.lower() == "utf-8" else encoding, errors="replace")
    except LookupError:
        refuse(file, f"there is no encoding named {encoding!r}")
    line = (text.splitlines() or [""])[0]
    delimiter = max(DELIMITERS, key=line.count)
    names = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    return Head(file, delimiter, tuple(header(file, names)))


@dataclass(frozen=True)
class TextFiles:
    """CSV files with the same columns, and which of these to read."""

    heads: Sequence[Head]
    encoding: str
    columns: Sequence[str]

    def pieces(self) -> Iterator[Table]:
        """Return tables, block by block."""
        for block in self._blocks():
            yield table_of([self._column(name, texts) for name, texts in block.items()])

    def _column(self, name: str, texts: Any) -> Column:
        if name not in self._text_columns:
            return arrow_column(name, texts)
        coded = texts.dictionary_encode()
        return levels_of(name, coded.dictionary.to_pylist(), coded.indices.to_numpy())

    @cached_property
    def _text_columns(self) -> frozenset[str]:
        """Return the columns that are text, or of several kinds: each block by itself may look like numbers."""
        kinds: dict[str, set[str]] = {name: set() for name in self.columns}
        for block in self._blocks():
            for name, texts in block.items():
                if "category" not in kinds[name]:
                    column = arrow_column(name, texts)
                    kinds[name] |= set() if np.isnan(column.values).all() else {column.scale.kind}
        return frozenset(name for name, found in kinds.items() if "category" in found or not _go_together(found))

    def _blocks(self) -> Iterator[dict[str, Any]]:
        for head in self.heads:
            yield from _blocks_of(head, self.encoding, self.columns)


def _go_together(kinds: set[str]) -> bool:
    return len(kinds) < 2 or kinds <= TIMES


def _blocks_of(head: Head, encoding: str, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Read some columns of a file as text, block by block."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    with named_errors([head.file]), pa.input_stream(str(head.file), compression="detect") as stream:
        reader = arrow_csv.open_csv(
            stream,
            read_options=arrow_csv.ReadOptions(
                column_names=list(head.names), skip_rows=1, encoding=encoding, block_size=TEXT_BLOCK
            ),
            parse_options=arrow_csv.ParseOptions(delimiter=head.delimiter, newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                column_types={name: pa.string() for name in head.names},
                strings_can_be_null=False,
                include_columns=list(columns),
            ),
        )
        for batch in reader:
            yield dict(zip(batch.schema.names, batch.columns, strict=True))
