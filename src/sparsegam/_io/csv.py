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
from sparsegam._io.contents import NUL_MESSAGE, arrow_errors, raise_file_error, read_bytes, to_utf8
from sparsegam._io.type_inference import (
    MISSING_WORDS,
    Commas,
    category_column,
    comma_column,
    commas_in,
    copied_column,
    distinct_texts,
    has_decimal_commas,
    infer_from_distinct,
)
from sparsegam.choices import DecimalSign

DELIMITERS = ",;\t|"
MISSING_PATTERN = f"^({'|'.join(map(re.escape, sorted(MISSING_WORDS)))})$"
WHOLE_NUMBER_PATTERN = "^[+-]?[0-9]+([eE][+-]?[0-9]+)?$"
MAX_COLUMNS = 1_000_000
MAX_FIELD = 131_072
"""Longest field in characters, which is the limit of the csv module."""
CHUNK_ROWS = 10_000
"""Number of rows that the csv module reads before they are transposed to columns."""
BLOCK_BYTES = 2**24
"""Size in bytes of the blocks of a file; each block becomes one piece of a stream."""


@dataclass(frozen=True)
class TextOptions:
    """How the columns of a text file are read.

    Attributes
    ----------
    text_columns : frozenset of str
        Columns whose values are levels of a category even if they look like numbers, booleans or dates.
    copied : tuple of str
        Columns whose text is appended to the table unchanged, in addition to the column of the inferred type. Names
        that the file does not have are ignored.
    decimal : {"auto", ".", ","}
        Decimal sign.
    """

    text_columns: frozenset[str] = frozenset()
    copied: tuple[str, ...] = ()
    decimal: DecimalSign = "auto"

    def decimal_of(self, delimiter: str) -> DecimalSign:
        """Return the decimal sign of a file. A comma is not looked for where it separates the fields."""
        return "." if self.decimal == "auto" and delimiter == "," else self.decimal

    def copied_from(self, names: Sequence[str]) -> list[str]:
        """Return the names of the columns to copy that the file has."""
        return [name for name in self.copied if name in names]


def read_csv(file: FilePath, encoding: str, options: TextOptions) -> Table:
    """Read a CSV file whose first line contains the column names."""
    raw = to_utf8(file, read_bytes(file), encoding).strip(b"\r\n")
    delimiter = _delimiter(raw.split(b"\n", 1)[0].decode())
    rows = _csv_rows(raw, delimiter)
    try:
        names = column_names(file, next((row for row in rows if row), []))
        arrow_texts = _read_with_arrow(raw, names, delimiter)
        texts = _read_with_csv_module(file, rows, names) if arrow_texts is None else {}
    except csv.Error as error:
        raise_file_error(file, f"line {rows.line_num} is not valid CSV ({error})")
    decimal = options.decimal_of(delimiter)
    columns = []
    for name in names:
        if arrow_texts is not None and name not in options.text_columns:
            columns.append(_from_arrow_text(name, arrow_texts[name], decimal))
            continue
        found, codes = distinct_texts(texts[name]) if arrow_texts is None else _distinct(arrow_texts[name])
        if name in options.text_columns:
            columns.append(category_column(name, found, codes))
        else:
            columns.append(infer_from_distinct(name, found, codes, decimal))
    for name in options.copied_from(names):
        found, codes = distinct_texts(texts[name]) if arrow_texts is None else _distinct(arrow_texts[name])
        columns.append(copied_column(name, found, codes))
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


def _read_with_csv_module(file: FilePath, rows: Any, names: Sequence[str]) -> dict[str, list[str]]:
    """Return the texts of each column."""
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
    return dict(zip(names, texts, strict=True))


def _read_with_arrow(raw: bytes, names: Sequence[str], delimiter: str) -> dict[str, Any] | None:
    """Return the texts of each column as Arrow arrays, or None if pyarrow is not installed or rejects the text."""
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
    texts = dict(zip(names, table.columns, strict=True))
    return None if any(map(_has_long_field, texts.values())) else texts


def _arrow_options(
    names: Sequence[str], delimiter: str, *, has_line_breaks: bool, columns: Sequence[str] = ()
) -> dict[str, Any]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    return {
        "read_options": arrow_csv.ReadOptions(
            column_names=list(names), skip_rows_after_names=1, block_size=BLOCK_BYTES
        ),
        "parse_options": arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=has_line_breaks),
        "convert_options": arrow_csv.ConvertOptions(
            column_types={name: pa.string() for name in names},
            strings_can_be_null=False,
            include_columns=list(columns),
        ),
    }


def _has_long_field(texts: Any) -> bool:
    """Return whether an Arrow array of text contains a field of more than MAX_FIELD characters."""
    from pyarrow import compute

    # The number of bytes is at least that of characters and is known without reading the text.
    longest = compute.max(compute.binary_length(texts)).as_py() or 0
    return longest > MAX_FIELD and compute.max(compute.utf8_length(texts)).as_py() > MAX_FIELD


def _from_arrow_text(name: str, texts: Any, decimal: DecimalSign = ".") -> Column:
    """Convert an Arrow array of text to the type that all of its values have."""
    import pyarrow as pa
    from pyarrow import compute

    stripped = compute.utf8_trim_whitespace(texts)
    missing = compute.match_substring_regex(stripped, MISSING_PATTERN, ignore_case=True)
    try:
        numbers = compute.if_else(missing, pa.nulls(len(texts), pa.string()), stripped).cast(pa.float64())
    except pa.ArrowInvalid:
        return infer_from_distinct(name, *_distinct(texts), decimal)
    values, valid = _arrow_values(numbers)
    # Arrow reads "nan(x)" as NaN, but Python does not.
    if np.isnan(values[valid]).any():
        return infer_from_distinct(name, *_distinct(texts), decimal)
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
    if "\0" in text:
        raise_file_error(file, NUL_MESSAGE)
    try:
        names = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error as error:
        raise_file_error(file, f"line 1 is not valid CSV ({error})")
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
    options : TextOptions
        How the columns are read.
    """

    headers: Sequence[CsvHeader]
    encoding: str
    columns: Sequence[str]
    options: TextOptions = TextOptions()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of each piece."""
        return (*self.columns, *self.options.copied_from(self.columns))

    def pieces(self) -> Iterator[Table]:
        """Yield one table per block."""
        for block in self._blocks():
            columns = []
            text_columns, comma_columns = self._types
            for name, texts in block.items():
                if name in comma_columns:
                    columns.append(comma_column(name, *_distinct(texts)))
                elif name in text_columns:
                    columns.append(category_column(name, *_distinct(texts)))
                else:
                    columns.append(_from_arrow_text(name, texts))
            copied = self.options.copied_from(self.columns)
            columns += [copied_column(name, *_distinct(block[name])) for name in copied]
            yield Table.from_columns(columns)

    @cached_property
    def _types(self) -> tuple[frozenset[str], frozenset[str]]:
        """Columns with text or mixed types, and columns of numbers with decimal commas.

        Requires a pass over all files, as a single block may look numeric.
        """
        decimal = self.options.decimal_of(self.headers[0].delimiter)
        kinds: dict[str, set[str]] = {name: set() for name in self.columns if name not in self.options.text_columns}
        commas: dict[str, set[Commas]] = {name: {"impossible"} if decimal == "." else set() for name in kinds}
        for block in self._blocks():
            for name in kinds:
                if "category" not in kinds[name]:
                    column = _from_arrow_text(name, block[name])
                    kinds[name] |= set() if np.isnan(column.values).all() else {column.scale.kind}
                if "impossible" not in commas[name]:
                    commas[name].add(_commas_in_arrow(block[name]))
        mixed = {
            name
            for name, found in kinds.items()
            if "category" in found or (len(found) > 1 and found != {"date", "datetime"})
        }
        comma_columns = frozenset(name for name in mixed if has_decimal_commas(name, commas[name], decimal))
        return self.options.text_columns | mixed, comma_columns

    def _blocks(self) -> Iterator[dict[str, Any]]:
        """Yield the columns of each block as Arrow arrays of text."""
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        for header in self.headers:
            options = _arrow_options(header.names, header.delimiter, has_line_breaks=True, columns=self.columns)
            with arrow_errors([header.file]), pa.input_stream(str(header.file), compression="detect") as stream:
                is_utf8 = self.encoding.lower() == "utf-8"
                utf8 = stream if is_utf8 else pa.transcoding_input_stream(stream, self.encoding, "utf-8")
                for batch in arrow_csv.open_csv(pa.PythonFile(_CheckedText(header.file, utf8), mode="r"), **options):
                    if any(map(_has_long_field, batch.columns)):
                        raise_file_error(header.file, f"a field has more than {MAX_FIELD} characters: shorten it")
                    yield dict(zip(batch.schema.names, batch.columns, strict=True))


class _CheckedText(io.RawIOBase):
    """A file of UTF-8 text. Reading raises FileError at a zero byte, as `to_utf8` does."""

    def __init__(self, file: FilePath, stream: Any) -> None:
        self.file = file
        self.stream = stream

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        raw: bytes = self.stream.read(size)
        if b"\0" in raw:
            raise_file_error(self.file, NUL_MESSAGE)
        return raw


def _commas_in_arrow(texts: Any) -> Commas:
    """Return `commas_in` of an Arrow array of text, in less time for whole numbers."""
    from pyarrow import compute

    stripped = compute.utf8_trim_whitespace(texts)
    is_whole = compute.match_substring_regex(stripped, f"{WHOLE_NUMBER_PATTERN}|{MISSING_PATTERN}", ignore_case=True)
    return "none" if compute.all(is_whole).as_py() else commas_in(_distinct(texts)[0])
