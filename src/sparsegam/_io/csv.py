"""Tables out of CSV: read by polars or pyarrow, whichever is there, else by the csv module.

Types are guessed here and not by the readers, and only regular text is given to them: every quote starts or ends a
field or is doubled within one, every line has as many fields, none is blank. On such text all of them agree; any other
goes to the csv module, which alone can say what is wrong with it. So the table is the same whatever is installed.
(pandas, which makes a Python object of every field, is slower than the csv module here.)
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from sparsegam._data.columns import Column, from_array
from sparsegam._data.table import Table
from sparsegam._io.contents import decoded, named_errors, refuse, unpacked
from sparsegam._io.type_inference import MISSING, category_column, infer_column, infer_from_distinct

DELIMITERS = ",;\t|"
MOST_COLUMNS = 1_000_000
LONG_FIELD = 100_000  # bytes; the csv module refuses fields somewhat longer
AT_ONCE = 10_000  # rows that are turned into columns together

Reader = Callable[[bytes, Sequence[str], str], list[Column]]


def read_csv(file: FilePath, encoding: str) -> Table:
    """Read a CSV file, whose first line names the columns."""
    raw = decoded(file, unpacked(file), encoding).strip(b"\r\n")
    delimiter = max(DELIMITERS, key=lambda mark: raw.split(b"\n", 1)[0].count(mark.encode()))
    rows = _records(raw, delimiter)
    try:
        names = header(file, next((row for row in rows if row), []))
        columns = _by_a_library(raw, names, delimiter)
        return make_table(_by_hand(file, rows, names) if columns is None else columns)
    except csv.Error as error:
        refuse(file, f"line {rows.line_num} is no CSV ({error})")


def header(file: FilePath, names: Sequence[str]) -> list[str]:
    """Return the names of columns: those without get one, and none may be there twice."""
    if not names:
        refuse(file, "the file is empty")
    if len(names) > MOST_COLUMNS:
        refuse(file, f"it has {len(names)} columns, and {MOST_COLUMNS} are the most: leave some out")
    found = [name.strip() or f"column {j + 1}" for j, name in enumerate(names)]
    twice = sorted(name for name, count in Counter(found).items() if count > 1)
    if twice:
        refuse(file, f"the column name {twice[0]!r} appears more than once: rename one of them")
    return found


def make_table(columns: Sequence[Column]) -> Table:
    """Return columns as a table."""
    n_rows = columns[0].values.size if columns else 0
    return Table(tuple(columns), n_rows, len(columns), names=tuple(column.name for column in columns))


def _records(raw: bytes, delimiter: str) -> Any:
    lines = io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8", newline="")
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True)


def _by_hand(file: FilePath, rows: Any, names: Sequence[str]) -> list[Column]:
    texts: list[list[str]] = [[] for _ in names]
    records, seen = (row for row in rows if row), 0
    while some := list(islice(records, AT_ONCE)):
        if {len(row) for row in some} != {len(names)}:
            i, wrong = next((i, row) for i, row in enumerate(some) if len(row) != len(names))
            what = f"row {seen + i + 1} has {len(wrong)} fields but the header has {len(names)}"
            refuse(file, f"{what}: quote fields with commas")
        seen += len(some)
        for column, values in zip(texts, zip(*some, strict=True), strict=True):
            column.extend(values)
    return [infer_column(name, values) for name, values in zip(names, texts, strict=True)]


def _by_a_library(raw: bytes, names: Sequence[str], delimiter: str) -> list[Column] | None:
    """Read regular text with the first library that is there and does; None where there is none, or the text is not."""
    n_rows = regular_rows(raw, delimiter)
    if not n_rows:
        return None
    for reader in READERS.values():
        try:
            columns = reader(raw, names, delimiter)
        except MemoryError:
            raise
        except Exception:  # not installed, or text that it cannot take: errors of many kinds
            continue
        if len(columns) == len(names) and columns[0].values.size == n_rows:
            return columns
    return None


def regular_rows(raw: bytes, delimiter: str) -> int:
    """Count the rows below the header of regular text; 0 where it is not regular."""
    mark = re.escape(delimiter.encode())
    bare = raw
    if b'"' in raw:
        quoted = rb'(?<![^\r\n%s])"[^"]*(?:""[^"]*)*"(?=[\r\n%s]|\Z)' % (mark, mark)
        bare = re.sub(quoted, b"", raw)
    lone_return = raw.count(b"\r") != bare.count(b"\r\n")
    if b'"' in bare or b"\0" in raw or lone_return or _longest_run(raw) > LONG_FIELD:
        return 0
    marks = np.frombuffer(bare, dtype=np.uint8)
    ends = np.append(np.flatnonzero(marks == ord("\n")), marks.size)
    fields = np.diff(np.searchsorted(np.flatnonzero(marks == ord(delimiter)), ends), prepend=0)
    blank = b"\n\n" in bare or b"\n\r\n" in bare or bare[:1] in (b"", b"\n", b"\r") or bare[-1:] == b"\n"
    return 0 if blank or fields.min() < fields.max() else int(ends.size - 1)


def _longest_run(raw: bytes) -> int:
    """Return the length of the longest piece of text without a line end or a quote."""
    marks = np.frombuffer(raw, dtype=np.uint8)
    stops = np.flatnonzero((marks == ord("\n")) | (marks == ord('"')))
    return int(np.diff(stops, prepend=-1, append=marks.size).max())


def _by_arrow(raw: bytes, names: Sequence[str], delimiter: str) -> list[Column]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    table = arrow_csv.read_csv(
        pa.BufferReader(raw),
        read_options=arrow_csv.ReadOptions(autogenerate_column_names=True),
        parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=b'"' in raw),
        convert_options=arrow_csv.ConvertOptions(
            column_types={f"f{j}": pa.string() for j in range(len(names))}, strings_can_be_null=False
        ),
    )
    return [arrow_column(name, table.column(j).slice(1)) for j, name in enumerate(names)]


def arrow_column(name: str, texts: Any) -> Column:
    """Read an Arrow array of text as what all of it looks like."""
    import pyarrow as pa
    from pyarrow import compute

    bare = compute.utf8_trim_whitespace(texts)
    absent = compute.is_in(compute.utf8_lower(bare), value_set=pa.array(sorted(MISSING)))
    try:
        numbers = compute.if_else(absent, pa.scalar(None, pa.string()), bare).cast(pa.float64())
    except pa.ArrowInvalid:
        numbers = None
    if numbers is None or compute.any(compute.is_nan(numbers)).as_py():  # it takes nan(x) for a number
        coded = (texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts).dictionary_encode()
        return infer_from_distinct(name, coded.dictionary.to_pylist(), coded.indices.to_numpy())
    return from_array(numbers.fill_null(np.nan).to_numpy(), name)


def _by_polars(raw: bytes, names: Sequence[str], delimiter: str) -> list[Column]:
    import polars as pl

    frame = pl.read_csv(raw, has_header=False, separator=delimiter, infer_schema_length=0).fill_null("")
    return [_polars_column(name, frame.to_series(j).slice(1)) for j, name in enumerate(names)]


def _polars_column(name: str, texts: Any) -> Column:
    import polars as pl

    bare = texts.str.strip_chars()
    absent = bare.str.to_lowercase().is_in(sorted(MISSING))
    numbers = bare.cast(pl.Float64, strict=False).set(absent, None)
    if numbers.null_count() > absent.sum() or numbers.is_nan().any():
        return infer_column(name, texts.to_list())
    return from_array(numbers.fill_null(np.nan).to_numpy(), name)


READERS: dict[str, Reader] = {"polars": _by_polars, "pyarrow": _by_arrow}  # pyarrow loads pandas

TEXT_BLOCK = 2**24  # bytes of a file that become a piece
TIMES = {"date", "datetime"}


@dataclass(frozen=True)
class Head:
    """What the first line of a CSV file tells: the delimiter and the names."""

    file: FilePath
    delimiter: str
    names: tuple[str, ...]


def read_head(file: FilePath, encoding: str) -> Head:
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
            yield make_table([self._column(name, texts) for name, texts in block.items()])

    def _column(self, name: str, texts: Any) -> Column:
        if name not in self._text_columns:
            return arrow_column(name, texts)
        coded = texts.dictionary_encode()
        return category_column(name, coded.dictionary.to_pylist(), coded.indices.to_numpy())

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
