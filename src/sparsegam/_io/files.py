"""Tables out of files: CSV, Parquet, Feather and Excel, also gzipped. Errors are one line."""

import glob
import io
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path as FilePath
from typing import Any

from sparsegam._data.columns import from_objects
from sparsegam._data.streams import Stream, dataset_stream
from sparsegam._data.table import Table, read_table
from sparsegam._io.contents import FileError, check_archive, check_file, check_memory, named_errors, refuse, unpacked
from sparsegam._io.csv import TextFiles, header, make_table, read_csv, read_head
from sparsegam.checks import check_integer, optional, quoted

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
    return read_table(frame).load()


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
    return make_table([from_objects(list(column), name) for name, column in zip(names, values, strict=False)])


FORMATS = {".parquet": "parquet", ".pq": "parquet", ".feather": "feather", ".arrow": "feather"}


def scan(
    paths: Any, *, columns: Sequence[str] | None = None, encoding: str = "utf-8", max_bytes: int | None = None
) -> Stream:
    """Look at files as one table that is read in pieces, so that it need not fit into memory.

    Parameters
    ----------
    paths : str, path-like or list of these
        Files, folders, or patterns such as ``loans/*.parquet``: Parquet, Feather or Arrow files, or CSV (also .gz). All
        are of one kind and have the same columns. Files of a folder or pattern are taken in the order of their names.
    columns : list of str, optional
        The columns to read, the target among them; all by default.
    encoding : str
        Encoding of text files.
    max_bytes : int, optional
        What a fit may hold of the table in memory, at a byte or two per value; beyond, it is in a temporary file. By
        default half of the memory that is free.

    Returns
    -------
    Stream
        What `fit`, `predict`, `score` and `gam_path` take as X; y and sample_weight are then names of columns.

    Notes
    -----
    A fit reads the files twice, those of text three times: what a column of text holds is known at its end only. What
    text holds, and which words stand for missing values, is as in `read_file`.
    """
    if max_bytes is not None:
        check_integer("max_bytes", max_bytes, at_least=0)
    optional("pyarrow", "streams", extra="stream")
    files = _files(paths)
    kinds = {FORMATS.get(file.suffix.lower(), "csv") for file in files}
    if len(kinds) > 1:
        msg = f"files must be of one kind, got {quoted([file.name for file in files])}: scan each kind by itself."
        raise FileError(msg)
    kind = kinds.pop()
    wanted = None if columns is None else list(columns)
    stream = _text_stream(files, encoding, wanted) if kind == "csv" else _arrow_stream(files, kind, wanted)
    return replace(stream, max_bytes=max_bytes)


def _files(paths: Any) -> list[FilePath]:
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found = [file for path in given for file in _matching(os.fspath(path))]
    if not found:
        msg = f"there is no file {quoted(given)}: give files, folders or patterns that match some."
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


def _arrow_stream(files: Sequence[FilePath], kind: str, columns: list[str] | None) -> Stream:
    """Return files that Arrow reads, all with the columns and types of one table."""
    import pyarrow as pa
    from pyarrow import dataset

    names, schema = _common_schema(files, kind)
    chosen = _chosen(names, columns)
    whole = dataset.dataset(
        [str(file) for file in files], format=kind, schema=pa.schema([schema.field(n) for n in chosen])
    )
    stream = dataset_stream(whole)

    def pieces() -> Iterator[Table]:
        with named_errors(files):
            yield from stream.open()

    return replace(stream, open=pieces)


def _common_schema(files: Sequence[FilePath], kind: str) -> tuple[tuple[str, ...], Any]:
    """Return names and types that hold for all files; refuse, by its name, the first file that has others."""
    import pyarrow as pa
    from pyarrow import dataset

    total: Any = None
    for file in files:
        with named_errors([file]):
            schema = dataset.dataset(str(file), format=kind).schema.remove_metadata()
        if total is None:
            total = schema
            continue
        _check_names(file, tuple(schema.names), files[0], tuple(total.names))
        try:
            total = pa.unify_schemas([total, schema], promote_options="permissive")
        except pa.ArrowException as error:
            other = next(f for f in schema if not _fits(total.field(f.name).type, f.type))
            was = total.field(other.name).type
            msg = (
                f"{file}: column {other.name!r} is {other.type}, where {files[0].name} has {was}: convert one of them."
            )
            raise FileError(msg) from error
    return tuple(total.names), total


def _fits(one: Any, other: Any) -> bool:
    import pyarrow as pa

    try:
        pa.unify_schemas([pa.schema([("x", one)]), pa.schema([("x", other)])], promote_options="permissive")
    except pa.ArrowException:
        return False
    return True


def _check_names(file: FilePath, names: tuple[str, ...], first: FilePath, expected: tuple[str, ...]) -> None:
    absent, more = ([n for n in one if n not in other] for one, other in ((expected, names), (names, expected)))
    if absent or more:
        what = f"lacks the columns {quoted(absent)}" if absent else f"has the columns {quoted(more)} as well"
        refuse(file, f"it {what}, unlike {first.name}: give all files the same columns")


def _chosen(names: Sequence[str], columns: list[str] | None) -> list[str]:
    unknown = [name for name in columns or () if name not in names]
    if unknown:
        msg = f"columns names {quoted(unknown)}, but the columns of the files are {quoted(names, 8)}."
        raise ValueError(msg)
    return list(names) if columns is None else columns


def _text_stream(files: Sequence[FilePath], encoding: str, columns: list[str] | None) -> Stream:
    """Return CSV files, whose columns are what all of their text looks like."""
    heads = [read_head(file, encoding) for file in files]
    for file, head in zip(files[1:], heads[1:], strict=True):
        _check_names(file, head.names, files[0], heads[0].names)
    text = TextFiles(heads, encoding, _chosen(heads[0].names, columns))
    return Stream(tuple(text.columns), text.pieces)
