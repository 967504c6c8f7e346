"""Tables out of files: CSV (by itself), Parquet, Feather and Excel (where their readers are installed), also gzipped.

Types of CSV columns are guessed: numbers, booleans, ISO dates and times, else text. Errors are one line.
"""

import csv
import gzip
import io
import os
from collections.abc import Callable, Sequence
from datetime import date, datetime
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from sparsegam.data.columns import Column, from_array, from_objects
from sparsegam.data.frames import Table, read
from sparsegam.data.scales import BOOLEAN, DATE, DATETIME

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "."})
TRUTH = {"true": 1.0, "false": 0.0}
DELIMITERS = ",;\t|"
LARGE = 64_000_000  # bytes of text from which pyarrow reads a CSV file, where it is installed
BYTES_PER_BYTE = 12  # memory that a byte of CSV takes while it is read; a quarter of it with pyarrow
GZIP_RATIO = 6


class FileError(ValueError):
    """A file that cannot be read as a table; the message is one line with the remedy."""


def read_file(name: str | os.PathLike[str], *, encoding: str = "utf-8") -> Table:
    """Read a table from a file.

    Parameters
    ----------
    name : str or path-like
        A file whose name ends in .csv, .tsv, .txt, .parquet, .feather, .arrow or .xlsx, or in these and .gz.
    encoding : str
        Encoding of a text file.

    Returns
    -------
    Table
        Its columns, with the names of the first line.
    """
    file = FilePath(name)
    if not file.exists():
        _refuse(file, "there is no such file")
    if file.is_dir():
        _refuse(file, "this is a folder: give a file")
    if file.stat().st_size == 0:
        _refuse(file, "the file is empty")
    table = _reader(file)(file, encoding)
    if table.n_rows == 0:
        _refuse(file, "the file has a header but no rows")
    return table


def _reader(file: FilePath) -> Callable[[FilePath, str], Table]:
    ending = file.with_suffix("").suffix if file.suffix == ".gz" else file.suffix
    if ending.lower() in (".parquet", ".pq"):
        return _read_parquet
    if ending.lower() in (".feather", ".arrow"):
        return _read_feather
    return _read_excel if ending.lower() in (".xlsx", ".xlsm") else _read_csv


def _refuse(file: FilePath, why: str) -> None:
    msg = f"{file}: {why}."
    raise FileError(msg)


def _read_csv(file: FilePath, encoding: str) -> Table:
    size = _text_size(file)
    with_arrow = size > LARGE and _installed("pyarrow")
    _check_memory(file, size * BYTES_PER_BYTE // (4 if with_arrow else 1))
    if with_arrow:
        return _read_arrow_csv(file, encoding)
    text = _decoded(file, encoding)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), skipinitialspace=True)
    try:
        rows = [row for row in reader if row]
    except csv.Error as error:
        _refuse(file, f"line {reader.line_num} is no CSV ({error})")
    if not rows:
        _refuse(file, "the file is empty")
    header = _header(file, rows[0])
    _check_ragged(file, rows)
    columns = [guess(name, values) for name, values in zip(header, zip(*rows[1:], strict=True), strict=False)]
    return _table(columns)


def guess(name: str, values: Sequence[str]) -> Column:
    """Read a column of text as what it looks like: numbers, booleans, dates, times, or text."""
    for kind in (_as_numbers, _as_truth, _as_dates):
        column = kind(name, values)
        if column is not None:
            return column
    return from_objects([None if _is_missing(value) else value.strip() for value in values], name)


def _as_numbers(name: str, values: Sequence[str]) -> Column | None:
    try:
        numbers = np.array([float(value) for value in values])
    except ValueError:
        try:
            numbers = np.array([float("nan") if _is_missing(value) else float(value) for value in values])
        except ValueError:
            return None
    return from_array(numbers, name)


def _as_truth(name: str, values: Sequence[str]) -> Column | None:
    found = {value: TRUTH.get(value.strip().lower()) for value in set(values) if not _is_missing(value)}
    if not found or None in found.values():
        return None
    return Column(name, BOOLEAN, np.array([found.get(value, np.nan) for value in values], dtype=np.float64))


def _as_dates(name: str, values: Sequence[str]) -> Column | None:
    present = [value.strip() for value in values if not _is_missing(value)]
    scale = DATE if all(len(value) == 10 for value in present) else DATETIME
    try:
        known = {value: scale.number(_moment(value)) for value in set(present)}
    except ValueError:
        return None
    return Column(name, scale, np.array([known.get(value.strip(), np.nan) for value in values], dtype=np.float64))


def _moment(text: str) -> date | datetime:
    return date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text)


def _is_missing(value: str) -> bool:
    return value.strip().lower() in MISSING


def _decoded(file: FilePath, encoding: str) -> str:
    raw = _unzipped(file)
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff") and encoding.lower() == "utf-8":
        _refuse(file, "this is UTF-16: save the file as UTF-8, or pass --encoding utf-16")
    if b"\0" in raw[:4096] and not encoding.lower().startswith("utf-16"):
        _refuse(file, "this is no text file: give CSV, or the right ending (.parquet, .feather, .xlsx)")
    try:
        return raw.decode("utf-8-sig" if encoding.lower() == "utf-8" else encoding)
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        what = f"byte 0x{raw[error.start]:02x} in line {line} is not {encoding}"
        _refuse(file, f"{what}: save the file as UTF-8, or name its encoding, as in --encoding latin-1")
    except LookupError:
        _refuse(file, f"there is no encoding named {encoding!r}")
    return ""


def _unzipped(file: FilePath) -> bytes:
    raw = file.read_bytes()
    if raw[:2] != b"\x1f\x8b":
        return raw
    try:
        return gzip.decompress(raw)
    except (OSError, EOFError) as error:
        _refuse(file, f"the gzip file is damaged ({error})")
    return b""


def _delimiter(text: str) -> str:
    """Return the delimiter that the first line has most of."""
    first = text.split("\n", 1)[0]
    return max(DELIMITERS, key=first.count)


def _header(file: FilePath, names: list[str]) -> list[str]:
    header = [name.strip() or f"column {j + 1}" for j, name in enumerate(names)]
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        _refuse(file, f"the column name {twice[0]!r} appears more than once: rename one of them")
    return header


def _check_ragged(file: FilePath, rows: list[list[str]]) -> None:
    width = len(rows[0])
    if len(set(map(len, rows))) > 1:
        line = next(i for i, row in enumerate(rows) if len(row) != width)
        _refuse(file, f"row {line} has {len(rows[line])} fields but the header has {width}: quote fields with commas")


def _text_size(file: FilePath) -> int:
    with file.open("rb") as stream:
        zipped = stream.read(2) == b"\x1f\x8b"
    return file.stat().st_size * (GZIP_RATIO if zipped else 1)


def _check_memory(file: FilePath, needed: int) -> None:
    free = _free_memory()
    if free is not None and needed > free:
        what = f"reading it takes about {needed / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB are free"
        _refuse(file, f"{what}: take a sample of the rows, fewer columns, or a Parquet file")


def _free_memory() -> int | None:
    """Return the bytes that may still be taken, or None where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as stream:
            lines = dict(line.split(":", 1) for line in stream)
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None


def _table(columns: Sequence[Column]) -> Table:
    n_rows = columns[0].values.size if columns else 0
    return Table(tuple(columns), n_rows, len(columns), names=tuple(column.name for column in columns))


def _installed(package: str) -> bool:
    from importlib.util import find_spec

    return find_spec(package) is not None


def _require(file: FilePath, package: str) -> None:
    if not _installed(package):
        _refuse(file, f"reading such a file needs {package}: pip install {package}")


def _from_arrow(file: FilePath, load: Callable[[Any], Any]) -> Table:
    """Read with pyarrow; its errors, of many kinds, become one line."""
    _require(file, "pyarrow")
    import pyarrow as pa

    try:
        frame = load(pa.BufferReader(_unzipped(file)) if file.suffix == ".gz" else str(file))
    except (pa.ArrowException, OSError) as error:
        first = str(error).splitlines()[0].rstrip(".")
        _refuse(file, f"cannot be read ({first})")
    if frame.num_rows == 0:
        _refuse(file, "the file has no rows")
    return read(frame).loaded()


def _read_arrow_csv(file: FilePath, encoding: str) -> Table:
    from pyarrow import csv as arrow_csv

    options = arrow_csv.ReadOptions(encoding=encoding)
    return _from_arrow(file, lambda source: arrow_csv.read_csv(source, read_options=options))


def _read_parquet(file: FilePath, _: str) -> Table:
    def load(source: Any) -> Any:
        from pyarrow import parquet

        return parquet.read_table(source)

    return _from_arrow(file, load)


def _read_feather(file: FilePath, _: str) -> Table:
    def load(source: Any) -> Any:
        from pyarrow import feather

        return feather.read_table(source)

    return _from_arrow(file, load)


def _read_excel(file: FilePath, _: str) -> Table:
    """Read the first sheet of a workbook."""
    _require(file, "openpyxl")
    import openpyxl

    try:
        book = openpyxl.load_workbook(io.BytesIO(_unzipped(file)), read_only=True, data_only=True)
        rows = [row for row in book.worksheets[0].iter_rows(values_only=True) if any(v is not None for v in row)]
    except Exception as error:  # openpyxl raises whatever its XML and ZIP readers do
        _refuse(file, f"cannot be read as a workbook ({error})")
    if not rows:
        _refuse(file, "the first sheet is empty")
    header = _header(file, ["" if name is None else str(name) for name in rows[0]])
    values = zip(*rows[1:], strict=True)
    return _table([from_objects(list(column), name) for name, column in zip(header, values, strict=False)])
