"""Tables out of files: CSV, Parquet, Feather and Excel, also gzipped. Errors are one line."""

import io
import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path as FilePath
from typing import Any

from sparsegam._data.columns import from_objects
from sparsegam._data.contents import FileError, check_archive, check_file, check_memory, refuse, unpacked
from sparsegam._data.csv import header, read_csv, table_of
from sparsegam._data.frames import Table, read

__all__ = ["FileError", "read_file"]

BYTES_PER_VALUE = 16  # of a Parquet file: as Arrow holds it, and as we do


def read_file(name: str | os.PathLike[str], *, encoding: str = "utf-8") -> Table:
    """Read a table from a file.

    Parameters
    ----------
    name : str or path-like
        A file whose name ends in .csv, .tsv, .txt, .parquet, .feather, .arrow or .xlsx, or in these and .gz; "-" is the
        standard input, as CSV.
    encoding : str
        Encoding of a text file.

    Returns
    -------
    Table
        Its columns, with the names of the first line.

    Notes
    -----
    A column of text is read as numbers, booleans, ISO dates or times where all of it looks so. Empty fields and NA,
    n/a, NaN, null, none, ? and . (in capitals or not) are missing values. A packed file may unpack to 200 times its
    size, or to 10 MB; none is read that would take more memory than is free.
    """
    file = FilePath(name)
    check_file(file)
    table = _reader(file)(file, encoding)
    if table.n_rows == 0:
        refuse(file, "the file has a header but no rows")
    return table


def _reader(file: FilePath) -> Callable[[FilePath, str], Table]:
    ending = file.with_suffix("").suffix if file.suffix == ".gz" else file.suffix
    if ending.lower() in (".parquet", ".pq"):
        return _read_parquet
    if ending.lower() in (".feather", ".arrow"):
        return _read_feather
    return _read_excel if ending.lower() in (".xlsx", ".xlsm") else read_csv


def _require(file: FilePath, package: str) -> None:
    if find_spec(package) is None:
        refuse(file, f"reading such a file needs {package}: pip install {package}")


def _from_arrow(file: FilePath, load: Callable[[Any], Any]) -> Table:
    """Read with pyarrow; its errors, of many kinds, become one line."""
    _require(file, "pyarrow")
    import pyarrow as pa

    try:
        frame = load(pa.BufferReader(unpacked(file)) if file.suffix == ".gz" else str(file))
    except (pa.ArrowException, OSError) as error:
        first = str(error).splitlines()[0].rstrip(".")
        refuse(file, f"cannot be read ({first})")
    if frame.num_rows == 0:
        refuse(file, "the file has no rows")
    return read(frame).loaded()


def _read_parquet(file: FilePath, _: str) -> Table:
    def load(source: Any) -> Any:
        from pyarrow import parquet

        about = parquet.read_metadata(source)
        check_memory(file, about.num_rows * about.num_columns * BYTES_PER_VALUE)
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

    raw = unpacked(file)
    try:
        check_archive(file, raw)
        book = openpyxl.load_workbook(io.BytesIO(raw), read_only=True, data_only=True)
        rows = [row for row in book.worksheets[0].iter_rows(values_only=True) if any(v is not None for v in row)]
    except FileError:
        raise
    except Exception as error:  # openpyxl raises whatever its XML and ZIP readers do
        refuse(file, f"cannot be read as a workbook ({error})")
    if not rows:
        refuse(file, "the first sheet is empty")
    names = header(file, ["" if name is None else str(name) for name in rows[0]])
    values = zip(*rows[1:], strict=True)
    return table_of([from_objects(list(column), name) for name, column in zip(names, values, strict=False)])
