"""Tables from files: CSV, Parquet, Feather and Excel, read as a whole (`read_file`) or as a stream (`scan`)."""

import glob
import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path as FilePath
from typing import Any, get_args

from sparsegam._data.columns import from_objects
from sparsegam._data.streams import Stream, dataset_stream
from sparsegam._data.table import Table, read_table
from sparsegam._io.contents import (
    FileError,
    arrow_errors,
    check_archive,
    check_file,
    check_memory,
    raise_file_error,
    read_bytes,
)
from sparsegam._io.csv import CsvFiles, TextOptions, column_names, read_csv, read_header
from sparsegam.checks import check_choice, check_integer, optional, quoted
from sparsegam.choices import DecimalSign

FORMATS = {".parquet": "parquet", ".pq": "parquet", ".feather": "feather", ".arrow": "feather"}
"""File formats of Arrow, by file name extension."""
WORKBOOKS = (".xlsx", ".xlsm")
BYTES_PER_VALUE = 16
"""Memory in bytes per value of a Parquet file: once in Arrow and once as float64."""
INFERRED = TextOptions()
"""Options that infer the type of every column."""


def is_text_file(name: str | os.PathLike[str]) -> bool:
    """Return whether `read_file` reads a file as CSV."""
    extension = _extension(FilePath(name))
    return extension not in FORMATS and extension not in WORKBOOKS


def _extension(file: FilePath) -> str:
    return (file.with_suffix("") if file.suffix == ".gz" else file).suffix.lower()


def read_file(name: str | os.PathLike[str], *, encoding: str = "utf-8", options: TextOptions = INFERRED) -> Table:
    """Read a table from a file.

    Parameters
    ----------
    name : str or path-like
        A file with the extension .csv, .tsv, .txt, .parquet, .feather, .arrow or .xlsx, which may be followed by .gz.
        "-" reads CSV from the standard input.
    encoding : str, default="utf-8"
        Encoding of a text file.
    options : TextOptions
        How the columns of a text file are read. Other files have types and ignore the options.

    Returns
    -------
    Table
        The columns, named by the first line of the file.

    Notes
    -----
    A text column is converted to numbers, booleans, ISO dates or times if all of its values have this type. Empty
    fields and NA, n/a, NaN, null, none, ? and . (in upper or lower case) are missing values. A compressed file may
    expand to 200 times its size or 10 MB, whichever is more. Files that require more than the free memory are not read.
    """
    file = FilePath(name)
    check_file(file)
    extension = _extension(file)
    if extension in FORMATS:
        table = _read_arrow(file, FORMATS[extension])
    elif extension in WORKBOOKS:
        table = _read_excel(file)
    else:
        table = read_csv(file, encoding, options)
    if table.n_rows == 0:
        raise_file_error(file, "the file has a header but no rows")
    return table


def _require(file: FilePath, package: str) -> None:
    if find_spec(package) is None:
        raise_file_error(file, f"reading this file requires {package}: pip install {package}")


def _read_arrow(file: FilePath, kind: str) -> Table:
    _require(file, "pyarrow")
    import pyarrow as pa
    from pyarrow import feather, parquet

    with arrow_errors([file]):
        source = pa.BufferReader(read_bytes(file)) if file.suffix == ".gz" else str(file)
        if kind == "parquet":
            metadata = parquet.read_metadata(source)
            check_memory(file, metadata.num_rows * metadata.num_columns * BYTES_PER_VALUE)
            frame = parquet.read_table(source)
        else:
            frame = feather.read_table(source)
    if frame.num_rows == 0:
        raise_file_error(file, "the file has no rows")
    return read_table(frame).load()


def _read_excel(file: FilePath) -> Table:
    """Read the first sheet of a workbook."""
    _require(file, "openpyxl")
    import openpyxl

    raw = read_bytes(file)
    try:
        check_archive(file, raw)
        book = openpyxl.load_workbook(io.BytesIO(raw), read_only=True, data_only=True)
        rows = [row for row in book.worksheets[0].iter_rows(values_only=True) if any(v is not None for v in row)]
    except FileError:
        raise
    # openpyxl raises errors of many types from its XML and ZIP readers.
    except Exception as error:
        raise_file_error(file, f"cannot be read as a workbook ({error})")
    if not rows:
        raise_file_error(file, "the first sheet is empty")
    names = column_names(file, ["" if name is None else str(name) for name in rows[0]])
    values = zip(*rows[1:], strict=True)
    return Table.from_columns(
        [from_objects(list(column), name) for name, column in zip(names, values, strict=False)],
    )


def scan(
    paths: Any,
    *,
    columns: Sequence[str] | None = None,
    encoding: str = "utf-8",
    decimal: DecimalSign = "auto",
    max_bytes: int | None = None,
) -> Stream:
    """Open files as one table that is read in pieces and need not fit into memory.

    Parameters
    ----------
    paths : str, path-like or list of these
        Files, folders, or patterns such as ``loans/*.parquet``: Parquet, Feather or Arrow files, or CSV files (which
        may be compressed as .gz). All must have the same format and columns. The files of a folder or pattern are read
        in alphabetical order.
    columns : list of str, default=None
        Columns to read, including the target. None reads all columns.
    encoding : str, default="utf-8"
        Encoding of text files.
    decimal : {"auto", ".", ","}, default="auto"
        Decimal sign of numbers in text files. "auto" also reads numbers with decimal commas, such as 12,5, if fields
        are separated by semicolons, tabs or bars. It raises an error if all commas may separate thousands, as in 1,234.
    max_bytes : int, default=None
        Memory that a fit may use to store the table, at one or two bytes per value. Above this limit, the table is
        stored in a temporary file. None uses half of the free memory.

    Returns
    -------
    Stream
        An object that `fit`, `predict`, `score` and `gam_path` accept as X. In this case y and sample_weight are names
        of columns.

    Notes
    -----
    A fit reads the files twice. Text files are read three times, as the type of a text column is known only after a
    complete pass. Types and missing values in text files are inferred as by `read_file`.
    """
    if max_bytes is not None:
        check_integer("max_bytes", max_bytes, at_least=0)
    check_choice("decimal", decimal, get_args(DecimalSign))
    stream = open_stream(paths, columns=columns, encoding=encoding, options=TextOptions(decimal=decimal))
    return replace(stream, max_bytes=max_bytes)


def open_stream(
    paths: Any, *, columns: Sequence[str] | None = None, encoding: str = "utf-8", options: TextOptions = INFERRED
) -> Stream:
    """Open files as `scan` does, with all options for text files."""
    optional("pyarrow", "streams", extra="stream")
    files = _find_files(paths)
    kinds = {FORMATS.get(file.suffix.lower(), "csv") for file in files}
    if len(kinds) > 1:
        msg = f"files must have one format, got {quoted([file.name for file in files])}: scan each format separately."
        raise FileError(msg)
    kind = kinds.pop()
    wanted = None if columns is None else list(columns)
    return _csv_stream(files, encoding, wanted, options) if kind == "csv" else _arrow_stream(files, kind, wanted)


def _find_files(paths: Any) -> list[FilePath]:
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found = [file for path in given for file in _matching(os.fspath(path))]
    if not found:
        msg = f"there is no file {quoted([os.fspath(path) for path in given])}: pass files, folders or patterns."
        raise FileError(msg)
    for file in found:
        check_file(file)
    return found


def _matching(path: str) -> list[FilePath]:
    if os.path.isdir(path):
        inside = (file for file in FilePath(path).rglob("*") if file.is_file())
        return sorted(file for file in inside if not file.name.startswith(("_", ".")))
    if glob.has_magic(path) and not os.path.exists(path):
        return [FilePath(file) for file in sorted(glob.glob(path, recursive=True))]
    return [FilePath(path)]


def _csv_stream(files: Sequence[FilePath], encoding: str, columns: list[str] | None, options: TextOptions) -> Stream:
    headers = [read_header(file, encoding) for file in files]
    for header in headers[1:]:
        _check_names(header.file, header.names, files[0], headers[0].names)
    csv_files = CsvFiles(headers, encoding, _selected(headers[0].names, columns), options)
    return Stream(csv_files.names, csv_files.pieces)


def _arrow_stream(files: Sequence[FilePath], kind: str, columns: list[str] | None) -> Stream:
    import pyarrow as pa
    from pyarrow import dataset

    schema = _common_schema(files, kind)
    selected = pa.schema([schema.field(name) for name in _selected(schema.names, columns)])
    stream = dataset_stream(dataset.dataset([str(file) for file in files], format=kind, schema=selected))

    def pieces() -> Iterator[Table]:
        with arrow_errors(files):
            yield from stream.open()

    return replace(stream, open=pieces)


def _common_schema(files: Sequence[FilePath], kind: str) -> Any:
    """Return a schema to which all files can be converted, or raise FileError naming the first file that cannot."""
    import pyarrow as pa
    from pyarrow import dataset

    common: Any = None
    for file in files:
        with arrow_errors([file]):
            schema = dataset.dataset(str(file), format=kind).schema.remove_metadata()
        if common is None:
            common = schema
            continue
        _check_names(file, schema.names, files[0], common.names)
        try:
            common = pa.unify_schemas([common, schema], promote_options="permissive")
        except pa.ArrowException as error:
            field = next(field for field in schema if not _can_unify(common.field(field.name).type, field.type))
            expected = common.field(field.name).type
            what = f"column {field.name!r} is {field.type}, not {expected} as in {files[0].name}"
            msg = f"{file}: {what}: convert one of them."
            raise FileError(msg) from error
    return common


def _can_unify(one: Any, other: Any) -> bool:
    import pyarrow as pa

    try:
        pa.unify_schemas([pa.schema([("x", one)]), pa.schema([("x", other)])], promote_options="permissive")
    except pa.ArrowException:
        return False
    return True


def _check_names(file: FilePath, names: Sequence[str], first: FilePath, expected: Sequence[str]) -> None:
    missing = [name for name in expected if name not in names]
    extra = [name for name in names if name not in expected]
    if missing or extra:
        what = f"lacks the columns {quoted(missing)}" if missing else f"has the additional columns {quoted(extra)}"
        raise_file_error(file, f"it {what}, unlike {first.name}: all files must have the same columns")


def _selected(names: Sequence[str], columns: list[str] | None) -> list[str]:
    unknown = [name for name in columns or () if name not in names]
    if unknown:
        msg = f"columns contains {quoted(unknown)}, but the columns of the files are {quoted(names, 8)}."
        raise ValueError(msg)
    return list(names) if columns is None else columns
