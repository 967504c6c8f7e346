"""CSV files, read by pyarrow if it is installed and otherwise by the csv module.

Both parsers return text, whose types are inferred by `type_inference`. Text that pyarrow rejects or reads differently
is left to the csv module, whose errors name the line.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import Column, from_array
from sparsegam._data.table import Table
from sparsegam._io.contents import arrow_errors, raise_file_error, read_bytes, to_utf8
from sparsegam._io.type_inference import MISSING_WORDS, category_column, infer_column, infer_from_distinct

DELIMITERS = ",;\t|"
MISSING_PATTERN = f"^({'|'.join(map(re.escape, sorted(MISSING_WORDS)))})$"
MAX_COLUMNS = 1_000_000
CHUNK_ROWS = 10_000
"""Number of rows that the csv module reads before they are transposed to columns."""
BLOCK_BYTES = 2**24
"""Size in bytes of the blocks of a file; each block becomes one piece of a stream."""


def read_csv(file: FilePath, encoding: str) -> Table:
    """Read a CSV file whose first line contains the column names."""
    raw = to_utf8(file, read_bytes(file), encoding).strip(b"\r\n")
    delimiter = _delimiter(raw.split(b"\n", 1)[0].decode())
    rows = _csv_rows(raw, delimiter)
    try:
        names = column_names(file, next((row for row in rows if row), []))
        columns = _read_with_arrow(raw, names, delimiter)
        if columns is None:
            columns = _read_with_csv_module(file, rows, names)
    except csv.Error as error:
        raise_file_error(file, f"line {rows.line_num} is not valid CSV ({error})")
    return Table.from_columns(columns)


def column_names(file: FilePath, names: Sequence[str]) -> list[str]:
    """Check that column names are unique, and return them with names for those that are blank."""
    if not names:
        raise_file_error(file, "the file is empty")
    if len(names) > MAX_COLUMNS:
        raise_file_error(file, f"it has {len(names)} columns, but at most {MAX_COLUMNS} are supported: remove some")
    found = [name.strip() or f"column {j + 1}" for j, name in enumerate(names)]
    duplicates = sorted(name for name, count in Counter(found).items() if count > 1)
    if duplicates:
        raise_file_error(file, f"the column name {duplicates[0]!r} appears more than once: rename one of them")
    return found


def _delimiter(header: str) -> str:
    return max(DELIMITERS, key=header.count)


def _csv_rows(raw: bytes, delimiter: str) -> Any:
    lines = io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8", newline="")
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True)


def _read_with_csv_module(file: FilePath, rows: Any, names: Sequence[str]) -> list[Column]:
    texts: list[list[str]] = [[] for _ in names]
    records, n_read = (row for row in rows if row), 0
    while chunk := list(islice(records, CHUNK_ROWS)):
        for i, row in enumerate(chunk):
            if len(row) != len(names):
                what = f"row {n_read + i + 1} has {len(row)} fields but the header has {len(names)}"
                raise_file_error(file, f"{what}: quote fields with commas")
        n_read += len(chunk)
        for column, values in zip(texts, zip(*chunk, strict=True), strict=True):
            column.extend(values)
    return [infer_column(name, values) for name, values in zip(names, texts, strict=True)]


def _read_with_arrow(raw: bytes, names: Sequence[str], delimiter: str) -> list[Column] | None:
    """Read CSV with pyarrow. Return None if it is not installed or rejects the text."""
    try:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv
    except ImportError:
        return None
    # Unlike the csv module, pyarrow does not remove spaces between a delimiter and a quote.
    if re.search(rb'(?:^|[\r\n%s])[ ]+"' % re.escape(delimiter.encode()), raw):
        return None
    try:
        options = _arrow_options(names, delimiter, has_line_breaks=b'"' in raw)
        table = arrow_csv.read_csv(pa.BufferReader(raw), **options)
    except pa.ArrowInvalid:
        return None
    return [_from_arrow_text(name, table.column(j)) for j, name in enumerate(names)]


def _arrow_options(
    names: Sequence[str], delimiter: str, *, has_line_breaks: bool, encoding: str = "utf-8", columns: Sequence[str] = ()
) -> dict[str, Any]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    return {
        "read_options": arrow_csv.ReadOptions(
            column_names=list(names), skip_rows_after_names=1, encoding=encoding, block_size=BLOCK_BYTES
        ),
        "parse_options": arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=has_line_breaks),
        "convert_options": arrow_csv.ConvertOptions(
            column_types={name: pa.string() for name in names},
            strings_can_be_null=False,
            include_columns=list(columns),
        ),
    }


def _from_arrow_text(name: str, texts: Any) -> Column:
    """Convert an Arrow array of text to the type that all of its values have."""
    import pyarrow as pa
    from pyarrow import compute

    stripped = compute.utf8_trim_whitespace(texts)
    missing = compute.match_substring_regex(stripped, MISSING_PATTERN, ignore_case=True)
    try:
        numbers = compute.if_else(missing, pa.nulls(len(texts), pa.string()), stripped).cast(pa.float64())
    except pa.ArrowInvalid:
        return infer_from_distinct(name, *_distinct(texts))
    values, valid = _arrow_values(numbers)
    # Arrow reads "nan(x)" as NaN, but Python does not.
    if np.isnan(values[valid]).any():
        return infer_from_distinct(name, *_distinct(texts))
    return from_array(np.where(valid, values, np.nan), name)


def _distinct(texts: Any) -> tuple[list[str], NDArray[Any]]:
    """Return the distinct texts and, for each row, the position of its text among them."""
    import pyarrow as pa

    coded = (texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts).dictionary_encode()
    return coded.dictionary.to_pylist(), _arrow_values(coded.indices)[0]


def _arrow_values(array: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the values of a numeric Arrow array and the mask of valid values. `to_numpy` would import pandas."""
    import pyarrow as pa

    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    rows = slice(array.offset, array.offset + len(array))
    validity, data = array.buffers()
    values = np.frombuffer(data, array.type.to_pandas_dtype())[rows]
    if validity is None:
        return values, np.ones(len(array), dtype=bool)
    return values, np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")[rows].astype(bool)


@dataclass(frozen=True)
class CsvHeader:
    """The header of a CSV file."""

    file: FilePath
    delimiter: str
    names: tuple[str, ...]


def read_header(file: FilePath, encoding: str) -> CsvHeader:
    """Read the first line of a CSV file."""
    import pyarrow as pa

    with arrow_errors([file]), pa.input_stream(str(file), compression="detect") as stream:
        start = stream.read(2**20)
    try:
        text = start.decode("utf-8-sig" if encoding.lower() == "utf-8" else encoding, errors="replace")
    except LookupError:
        raise_file_error(file, f"unknown encoding {encoding!r}")
    line = (text.splitlines() or [""])[0]
    delimiter = _delimiter(line)
    names = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    return CsvHeader(file, delimiter, tuple(column_names(file, names)))


@dataclass(frozen=True)
class CsvFiles:
    """CSV files that are read in blocks.

    Attributes
    ----------
    headers : sequence of CsvHeader
        Headers of the files, which have the same columns.
    encoding : str
        Encoding of the files.
    columns : sequence of str
        Columns to read.
    """

    headers: Sequence[CsvHeader]
    encoding: str
    columns: Sequence[str]

    def pieces(self) -> Iterator[Table]:
        """Yield one table per block."""
        for block in self._blocks():
            columns = []
            for name, texts in block.items():
                is_text = name in self._text_columns
                columns.append(category_column(name, *_distinct(texts)) if is_text else _from_arrow_text(name, texts))
            yield Table.from_columns(columns)

    @cached_property
    def _text_columns(self) -> frozenset[str]:
        """Columns with text or mixed types. Requires a pass over all files, as a single block may look numeric."""
        kinds: dict[str, set[str]] = {name: set() for name in self.columns}
        for block in self._blocks():
            for name, texts in block.items():
                if "category" not in kinds[name]:
                    column = _from_arrow_text(name, texts)
                    kinds[name] |= set() if np.isnan(column.values).all() else {column.scale.kind}
        return frozenset(
            name
            for name, found in kinds.items()
            if "category" in found or (len(found) > 1 and found != {"date", "datetime"})
        )

    def _blocks(self) -> Iterator[dict[str, Any]]:
        """Yield the columns of each block as Arrow arrays of text."""
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        for header in self.headers:
            options = _arrow_options(
                header.names, header.delimiter, has_line_breaks=True, encoding=self.encoding, columns=self.columns
            )
            with arrow_errors([header.file]), pa.input_stream(str(header.file), compression="detect") as stream:
                for batch in arrow_csv.open_csv(stream, **options):
                    yield dict(zip(batch.schema.names, batch.columns, strict=True))
