"""Tables: arrays and data frames (pandas, polars, pyarrow; through narwhals) that are read one column at a time."""

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import (
    DATETIME_WITH_ZONE,
    Column,
    RowIndex,
    Scale,
    fill_masked,
    from_array,
    from_levels,
    from_objects,
    has_large_integers,
)
from sparsegam._data.sketches import CodedColumn
from sparsegam.checks import quoted, shown

BLOCK_BYTES = 2**25
"""Maximum number of values of a pandas frame that is converted to one array, which may copy it."""
DLPACK_CUDA = 2
"""Device type of CUDA memory in the DLPack standard."""


@dataclass(frozen=True)
class Table:
    """A table whose columns are read one at a time, so that it is never copied as a whole.

    Attributes
    ----------
    source : ndarray, narwhals.DataFrame, pandas.DataFrame or tuple of Column or CodedColumn
        The data. It is a pandas frame if `block` contains its values.
    n_rows, n_columns : int
        Number of rows, after selection by `row_index`, and of columns.
    names : tuple of str or None
        Column names, or None if columns are identified by position (arrays and frames whose names are not strings).
    keys : sequence
        Names of the columns in `source`.
    row_index : ndarray or None
        Mask or positions of the selected rows of `source`; None selects all rows.
    block : ndarray or None
        The values of a frame as one array, if available at little cost.
    """

    source: Any
    n_rows: int
    n_columns: int
    names: tuple[str, ...] | None = None
    keys: Sequence[Any] = ()
    row_index: RowIndex | None = None
    block: NDArray[Any] | None = None

    @classmethod
    def from_columns(cls, columns: Sequence[Column]) -> "Table":
        """Return a table of columns of equal length."""
        n_rows = columns[0].values.size if columns else 0
        return cls(tuple(columns), n_rows, len(columns), names=tuple(column.name for column in columns))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.n_rows, self.n_columns

    @property
    def labels(self) -> tuple[str, ...]:
        """Column names; x0, x1, ... if there are none."""
        return tuple(self.label(j) for j in range(self.n_columns)) if self.names is None else self.names

    def label(self, j: int) -> str:
        """Return the name of column j."""
        return f"x{j}" if self.names is None else self.names[j]

    def __repr__(self) -> str:
        return f"Table({self.n_rows} rows: {', '.join(self.labels)})"

    def take(self, rows: RowIndex) -> "Table":
        """Return a table with the given rows: a mask, or positions in any order."""
        row_index = rows if self.row_index is None else _positions(self.row_index)[rows]
        return replace(self, row_index=row_index, n_rows=int(_positions(rows).size))

    def __getitem__(self, rows: Any) -> "Table":
        """Return the rows of a slice, a mask or positions, so that scikit-learn can split tables like arrays."""
        if isinstance(rows, tuple) and rows[1:] == (Ellipsis,):
            rows = rows[0]
        if isinstance(rows, slice):
            rows = np.arange(self.n_rows)[rows]
        if np.ndim(rows) != 1:
            msg = f"rows must be a slice, a boolean mask or integer positions, got {shown(rows)}."
            raise TypeError(msg)
        return self.take(np.asarray(rows))

    def with_names(self, names: tuple[str, ...]) -> "Table":
        """Return the table with other column names."""
        return replace(self, names=names)

    def with_reusable_codes(self, *, allowed: bool) -> "Table":
        """Return the table with `is_reusable` of its coded columns set; see `CodedColumn`."""
        if not isinstance(self.source, tuple):
            return self
        columns = (replace(c, is_reusable=allowed) if isinstance(c, CodedColumn) else c for c in self.source)
        return replace(self, source=tuple(columns))

    def load(self, columns: Iterable[int] | None = None) -> "Table":
        """Return a table of the given columns (all by default), loaded into memory for repeated selection of rows."""
        positions = range(self.n_columns) if columns is None else list(columns)
        source = tuple(self._whole_column(j).subset(self.row_index) for j in positions)
        names = None if self.names is None else tuple(self.names[j] for j in positions)
        return Table(source, self.n_rows, len(source), names)

    def column(self, j: int) -> Column:
        """Read column j."""
        return self._whole_column(j).take(self.row_index)

    def coded_column(self, j: int) -> CodedColumn | None:
        """Return column j as codes, or None if it is not stored as codes."""
        column = self._whole_column(j) if isinstance(self.source, tuple) else None
        return column.subset(self.row_index) if isinstance(column, CodedColumn) else None

    def first_rows(self, n: int, columns: Iterable[int]) -> Iterator[tuple[int, Column]]:
        """Yield the positions of columns with their first n rows, at a cost that does not depend on the table size.

        If rows are selected by `row_index`, all of them are returned.
        """
        rows, columns = slice(n), list(columns)
        if self.row_index is not None:
            # A slice also copies columns on a device to the host.
            return ((j, self._whole_column(j).take(self.row_index).take(slice(None))) for j in columns)
        if n >= self.n_rows or isinstance(self.source, tuple) or not columns:
            return ((j, self._whole_column(j).take(rows)) for j in columns)
        first = replace(self, source=(self.frame if self.array is None else self.array)[rows], block=None)
        return ((j, first.column(j)) for j in columns)

    def integer_columns(self) -> list[int]:
        """Return the columns that may contain integers beyond 2^53, by their types."""
        if isinstance(self.source, tuple):
            return [j for j, column in enumerate(self.source) if isinstance(column, Column)]
        if self.array is not None:
            return list(range(self.n_columns))
        types = self.frame.schema
        return [j for j, key in enumerate(self.keys) if types[key].is_integer()]

    def values(self, j: int) -> NDArray[Any]:
        """Return column j as in the user's data: numbers in their own type, text and other values as objects."""
        if isinstance(self.source, tuple):
            return self.column(j).raw_values()
        if isinstance(self.source, np.ndarray):
            out: NDArray[Any] = self.source[:, j]
        else:
            out = fill_masked(self.frame.get_column(self.keys[j]).to_numpy())
        return out if self.row_index is None else out[self.row_index]

    @property
    def array(self) -> NDArray[Any] | None:
        """All columns and rows of `source` as one array, or None if columns need individual conversion."""
        return self.source if isinstance(self.source, np.ndarray) else self.block

    @property
    def numeric_array(self) -> NDArray[Any] | None:
        """All columns as one array of numbers, or None if columns need individual conversion."""
        array = self.array
        return array if array is not None and array.dtype.kind in "iuf" and self.row_index is None else None

    @cached_property
    def frame(self) -> Any:
        """The source as a narwhals frame. It is cached because its construction is slow."""
        import narwhals as nw

        return nw.from_native(self.source, eager_only=True)

    @cached_property
    def scales(self) -> dict[int, Scale]:
        """Scales of the columns that have been read, by position."""
        return {}

    def _whole_column(self, j: int) -> Column | CodedColumn:
        if isinstance(self.source, tuple):
            column: Column | CodedColumn = self.source[j]
            return column
        if self.array is not None:
            read = from_array(self.array[:, j], self.label(j))
        else:
            read = _read_series(self.frame.get_column(self.keys[j]), self.label(j))
        self.scales[j] = read.scale
        return read


def read_table(X: Any) -> Table:
    """Wrap an array or a data frame without copying it.

    Parameters
    ----------
    X : array-like, data frame supported by narwhals, or Table
        One row per sample. A Table is returned unchanged.

    Returns
    -------
    Table
    """
    if isinstance(X, Table):
        return X
    if isinstance(X, np.ndarray):
        return _read_array(X)
    if isinstance(X, list | tuple):
        if X and isinstance(X[0], dict):
            msg = "X is a list of dicts, whose columns have no order: pass pandas.DataFrame(X) or polars.DataFrame(X)."
            raise ValueError(msg)
        return _read_array(X)
    import narwhals as nw

    if isinstance(X, nw.DataFrame):
        return _read_frame(X)
    if hasattr(X, "collect"):
        msg = f"X is lazy ({type(X).__module__}.{type(X).__name__}): pass X.collect()."
        raise ValueError(msg)
    # pandas caches whether the names are unique.
    if nw.dependencies.is_pandas_dataframe(X):
        if not X.columns.is_unique:
            _check_unique(_native_names(X))
        return _read_frame(X)
    _check_unique(_native_names(X))
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return _read_frame(frame) if isinstance(frame, nw.DataFrame) else _read_array(X)


def position(key: Any, names: Sequence[str], option: str) -> int:
    """Return the position of the column that an option identifies by name or position."""
    if isinstance(key, str) and key in names:
        return list(names).index(key)
    if isinstance(key, int | np.integer) and not isinstance(key, bool) and 0 <= key < len(names):
        return int(key)
    msg = f"{option} names the column {shown(key)}, but the columns are {quoted(names, 10)}."
    raise ValueError(msg)


def source_of_names(X: Any, array: Any) -> Any:
    """Return what scikit-learn takes names and number of the columns from: a frame as given, else the array read."""
    if not _native_names(X):
        return array if isinstance(array, np.ndarray) else X
    return native_frame(X)


def native_frame(X: Any) -> Any:
    """Return the frame inside a narwhals frame, which scikit-learn does not take, and anything else unchanged."""
    return X.to_native() if type(X).__module__.startswith("narwhals") else X


def is_on_device(X: Any) -> bool:
    """Return whether an array or a frame is on a CUDA device, without importing its package."""
    if isinstance(X, np.ndarray):
        return False
    if type(X).__module__.split(".")[0] == "cudf":
        return True
    if not hasattr(X, "__dlpack_device__"):
        return hasattr(X, "__cuda_array_interface__")
    return int(X.__dlpack_device__()[0]) == DLPACK_CUDA


def series_to_numpy(series: Any) -> NDArray[Any]:
    """Convert a numeric narwhals series to NumPy, which has no 128-bit integers."""
    import narwhals as nw

    wide = series.dtype in (nw.Int128, nw.UInt128)
    out: NDArray[Any] = (series.cast(nw.Float64) if wide else series).to_numpy()
    return out


def _positions(rows: RowIndex) -> NDArray[np.intp]:
    return np.flatnonzero(rows) if rows.dtype == np.bool_ else rows.astype(np.intp, copy=False)


def _read_array(X: Any) -> Table:
    if type(X) is np.ndarray and X.ndim == 2 and X.size and X.dtype.kind in "iufb":
        return Table(X, *X.shape)
    # This import takes a second and is not needed for arrays of numbers.
    from sklearn.utils import check_array

    X = _array_of_lists(X) if isinstance(X, list | tuple) else fill_masked(X)
    array = check_array(X, dtype=None, ensure_all_finite=False, input_name="X")
    return Table(array, *array.shape)


def _array_of_lists(rows: Any) -> NDArray[Any]:
    """Convert lists to an array. Lists that mix numbers and text become objects instead of text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        array = np.asarray(rows)
    return np.asarray(rows, dtype=object) if array.dtype.kind in "US" else array


def _read_frame(frame: Any) -> Table:
    import narwhals as nw

    names, n_rows = _native_names(frame), len(frame)
    if n_rows == 0 or not names:
        msg = f"X has {n_rows} rows and {len(names)} columns: at least one of each is required."
        raise ValueError(msg)
    has_names, block = all(isinstance(name, str) for name in names), _pandas_block(frame)
    return Table(
        frame if block is not None else nw.from_native(frame, eager_only=True),
        n_rows=n_rows,
        n_columns=len(names),
        names=tuple(names) if has_names else None,
        keys=names,
        block=block,
    )


def _pandas_block(frame: Any) -> NDArray[Any] | None:
    """Return a small pandas frame as one array if all its columns have the same NumPy type, otherwise None.

    Reading hundreds of 0/1 columns one by one takes longer than fitting a model to them.
    """
    import narwhals as nw

    native = nw.to_native(frame, pass_through=True)
    if not nw.dependencies.is_pandas_dataframe(native):
        return None
    types = set(native.dtypes)
    first = next(iter(types))
    if len(types) > 1 or not isinstance(first, np.dtype) or first.kind not in "iufb":
        return None
    if native.size * first.itemsize > BLOCK_BYTES:
        return None
    array: NDArray[Any] = native.to_numpy()
    return array


def _read_series(series: Any, name: str) -> Column:
    import narwhals as nw

    dtype = series.dtype
    if dtype == nw.String:
        return _read_text(series, name)
    if dtype.is_numeric() and dtype != nw.Decimal:
        read = from_array(series_to_numpy(series), name)
        # A conversion of nullable or 128-bit integers to float64 merges large ones.
        is_merged = dtype.is_integer() and read.integers is None and has_large_integers(read.values)
        return from_objects(series.to_list(), name) if is_merged else read
    if dtype == nw.Enum:
        return from_objects(series.to_list(), name, levels=dtype.categories)
    if dtype == nw.Categorical:
        return from_levels(series.to_list(), name)
    if dtype in (nw.Duration, nw.Time):
        msg = f"column {name!r} contains {dtype}: convert it to numbers, such as seconds (dt.total_seconds())."
        raise ValueError(msg)
    if dtype in (nw.Date, nw.Datetime, nw.Boolean):
        raw = series.to_numpy()
        if raw.dtype.kind in "Mb":
            read = from_array(raw, name)
            has_zone = dtype == nw.Datetime and getattr(dtype, "time_zone", None) is not None
            return replace(read, scale=DATETIME_WITH_ZONE) if has_zone else read
    return from_objects(series.to_list(), name)


def _read_text(series: Any, name: str) -> Column:
    if not series.implementation.is_pandas():
        return from_objects(series.to_list(), name)
    # pandas finds the distinct values several times faster than it converts all values to Python objects. Missing
    # values have the code -1.
    codes, found = series.to_native().factorize()
    distinct = from_objects(found.tolist(), name)
    return Column(name, distinct.scale, np.append(distinct.values, np.nan)[codes])


def _native_names(X: Any) -> list[Any]:
    """Return the column names of a frame (`column_names` in pyarrow), or an empty list for other objects."""
    names = getattr(X, "column_names", getattr(X, "columns", ()))
    return names.tolist() if hasattr(names, "tolist") else list(names)


def _check_unique(names: list[Any]) -> None:
    duplicates = [name for name, count in Counter(names).items() if count > 1]
    if duplicates:
        msg = f"column names must be unique, got {duplicates} more than once: rename or drop the others."
        raise ValueError(msg)
