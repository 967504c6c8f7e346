"""Reads arrays and data frames (pandas, polars, pyarrow; through narwhals) one column at a time."""

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import Column, RowIndex, Scale, fill_masked, from_array, from_levels, from_objects
from sparsegam._data.sketches import CodedColumn

SMALL_BYTES = 2**25  # of a frame that may be copied whole where its columns are not beside each other in memory


@dataclass(frozen=True)
class Table:
    """A rectangular input whose columns are read one by one, so that it is never copied whole.

    Attributes
    ----------
    source : ndarray, narwhals.DataFrame, pandas.DataFrame or tuple of Column or CodedColumn
        Where the columns are; a frame of pandas where a block has the same.
    n_rows, n_columns : int
        Its shape; `n_rows` counts the row_index rows only.
    names : tuple of str or None
        Column names, or None where columns go by position (arrays, frames with names that are not strings).
    keys : sequence
        What the source calls its columns.
    row_index : ndarray or None
        Mask or positions of the rows to read; None means all of them.
    block : ndarray or None
        The values of a frame as one array, where it can be had for next to nothing.
    """

    source: Any
    n_rows: int
    n_columns: int
    names: tuple[str, ...] | None = None
    keys: Sequence[Any] = ()
    row_index: RowIndex | None = None
    block: NDArray[Any] | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """Column names, made up as x0, x1, ... where there are none."""
        return tuple(f"x{j}" for j in range(self.n_columns)) if self.names is None else self.names

    def label(self, j: int) -> str:
        """Name of column j."""
        return f"x{j}" if self.names is None else self.names[j]

    def take(self, rows: RowIndex) -> "Table":
        """Return the same table with these rows only: a mask, or positions in any order."""
        row_index = rows if self.row_index is None else _positions(self.row_index)[rows]
        return replace(self, row_index=row_index, n_rows=int(_positions(rows).size))

    def __getitem__(self, rows: Any) -> "Table":
        """Return some rows, as arrays do, so that scikit-learn can split a table: a slice, a mask or positions."""
        if isinstance(rows, tuple) and rows[1:] == (Ellipsis,):
            rows = rows[0]
        if isinstance(rows, slice):
            rows = np.arange(self.n_rows)[rows]
        if np.ndim(rows) != 1:
            msg = f"a table is taken apart by rows, given as a slice, a mask or positions, got {rows!r}."
            raise TypeError(msg)
        return self.take(np.asarray(rows))

    def with_names(self, names: tuple[str, ...]) -> "Table":
        """Return the same table with other names for its columns."""
        return replace(self, names=names)

    def load(self) -> "Table":
        """Return the same table with all columns read, for those who take different rows of it again and again."""
        columns = tuple(self._whole_column(j).load(self.row_index) for j in range(self.n_columns))
        return replace(self, source=columns, row_index=None, block=None)

    def column_rows(self, j: int, rows: RowIndex | None) -> Column | CodedColumn:
        """Return some of the row_index rows of column j, as codes where it is held as such."""
        whole = self._whole_column(j).load(self.row_index)
        return whole.load(rows)

    def coded_column(self, j: int) -> CodedColumn | None:
        """Return the row_index rows of column j as codes, where it is held as such."""
        column = self._whole_column(j) if isinstance(self.source, tuple) else None
        return column.load(self.row_index) if isinstance(column, CodedColumn) else None

    def with_reusable_codes(self, *, allowed: bool) -> "Table":
        """Return the same table, whose codes may be overwritten by their bins, or may not: see `CodedColumn`."""
        if not isinstance(self.source, tuple):
            return self
        columns = (replace(c, is_reusable=allowed) if isinstance(c, CodedColumn) else c for c in self.source)
        return replace(self, source=tuple(columns))

    def __repr__(self) -> str:
        return f"Table({self.n_rows} rows: {', '.join(self.labels)})"

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns, as arrays have it."""
        return self.n_rows, self.n_columns

    def column(self, j: int) -> Column:
        """Return the row_index rows of column j."""
        return self._whole_column(j).take(self.row_index)

    def values(self, j: int) -> NDArray[Any]:
        """Return column j as its user knows it: numbers of their own type, text and all else as objects."""
        if isinstance(self.source, np.ndarray):
            out: NDArray[Any] = self.source[:, j]
            return out if self.row_index is None else out[self.row_index]
        if isinstance(self.source, tuple):
            return self.column(j).raw_values()
        out = fill_masked(self.frame.get_column(self.keys[j]).to_numpy())
        return out if self.row_index is None else out[self.row_index]

    @cached_property
    def frame(self) -> Any:
        """The columns as a narwhals frame, where they are in a frame: to make one takes longer than to look at it."""
        import narwhals as nw

        return nw.from_native(self.source, eager_only=True)

    @property
    def numeric_array(self) -> NDArray[Any] | None:
        """All columns as one array of numbers, where they are in one already; None where each wants a look."""
        array = self.array
        return array if array is not None and array.dtype.kind in "iuf" and self.row_index is None else None

    @cached_property
    def scales(self) -> dict[int, Scale]:
        """Scales of the columns that were read so far: who looks at them again need not read them to know these."""
        return {}

    def first_rows(self, n: int, columns: Iterable[int]) -> Iterator[tuple[int, Column]]:
        """Return the first rows of columns, one by one: a look at them, which costs little however long they are."""
        rows, columns = slice(n), list(columns)
        if self.row_index is not None:
            return ((j, self._whole_column(j).take(self.row_index).take(slice(None))) for j in columns)
        if n >= self.n_rows or isinstance(self.source, tuple) or not columns:
            return ((j, self._whole_column(j).take(rows)) for j in columns)  # a slice brings what is on a card here
        first = replace(self, source=(self.frame if self.array is None else self.array)[rows], block=None)
        return ((j, first.column(j)) for j in columns)

    @property
    def array(self) -> NDArray[Any] | None:
        """All columns as one array, where they are in one already."""
        return self.source if isinstance(self.source, np.ndarray) else self.block

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
    """Look at an array or a frame without copying it.

    Parameters
    ----------
    X : ndarray, array-like, data frame known to narwhals, or Table
        The input; one row per sample. A Table comes back as it is.

    Returns
    -------
    Table
        The input as columns to be read one at a time.
    """
    if isinstance(X, Table):
        return X
    frame = _as_frame(X)
    return _read_array(X) if frame is None else _read_frame(frame)


def may_hold_text(X: Any) -> bool:
    """Tell, without reading a column, whether there can be text: not where all types are NumPy's numbers."""
    kinds = {X.dtype} if isinstance(X, np.ndarray) else set(getattr(X, "dtypes", ()))
    return not kinds or any(getattr(kind, "kind", "O") not in "iufb" for kind in kinds)


def position(key: Any, names: Sequence[str], option: str) -> int:
    """Return the position of a column that an option names, by its name or its number."""
    if isinstance(key, str) and key in names:
        return list(names).index(key)
    if isinstance(key, int | np.integer) and not isinstance(key, bool) and 0 <= key < len(names):
        return int(key)
    shown = ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
    msg = f"{option} names the column {key!r}, but the columns are {shown}."
    raise ValueError(msg)


def _positions(rows: RowIndex) -> NDArray[np.intp]:
    return np.flatnonzero(rows) if rows.dtype == np.bool_ else rows.astype(np.intp, copy=False)


def _as_frame(X: Any) -> Any:
    """Return X as a frame of pandas or narwhals, or None where it is no frame."""
    if isinstance(X, np.ndarray):
        return None
    if isinstance(X, list | tuple):
        _refuse_dicts(X)
        return None
    import narwhals as nw  # here, so that arrays do not pay for it

    if isinstance(X, nw.DataFrame):
        return X
    _refuse_lazy(X)
    pandas = nw.dependencies.is_pandas_dataframe(X)
    if not (pandas and X.columns.is_unique):  # which pandas knows, once it was asked
        _check_names(_native_names(X))
    if pandas:
        return X
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def _refuse_dicts(rows: Any) -> None:
    if rows and isinstance(rows[0], dict):
        msg = "X is a list of dicts, whose columns have no order: pass pandas.DataFrame(X) or polars.DataFrame(X)."
        raise ValueError(msg)


def _refuse_lazy(X: Any) -> None:
    if hasattr(X, "collect"):
        msg = f"X is lazy ({type(X).__module__}.{type(X).__name__}): pass X.collect()."
        raise ValueError(msg)


def _read_array(X: Any) -> Table:
    """Read an array; rows of a list may mix numbers and text, which NumPy would turn into text throughout."""
    if type(X) is np.ndarray and X.ndim == 2 and X.size and X.dtype.kind in "iufb":
        return Table(X, *X.shape)
    from sklearn.utils import check_array  # here, as it takes a second to import, and others can do without

    X = _from_list(X) if isinstance(X, list | tuple) else fill_masked(X)
    array = check_array(X, dtype=None, ensure_all_finite=False, input_name="X")
    return Table(array, *array.shape)


def _from_list(rows: Any) -> NDArray[Any]:
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
    named, block = all(isinstance(name, str) for name in names), _one_block(frame)
    return Table(
        frame if block is not None else nw.from_native(frame, eager_only=True),
        n_rows=n_rows,
        n_columns=len(names),
        names=tuple(names) if named else None,
        keys=names,
        block=block,
    )


def _one_block(frame: Any) -> NDArray[Any] | None:
    """Return a pandas frame of one NumPy type as an array, where that costs next to nothing.

    To ask pandas for hundreds of 0/1 columns one by one takes longer than to fit a model to them.
    """
    import narwhals as nw

    native = nw.to_native(frame, pass_through=True)
    if not nw.dependencies.is_pandas_dataframe(native):
        return None
    kinds = set(native.dtypes)
    first = next(iter(kinds))
    if len(kinds) > 1 or not isinstance(first, np.dtype) or first.kind not in "iufb":
        return None
    if native.size * first.itemsize > SMALL_BYTES:
        return None
    array: NDArray[Any] = native.to_numpy()
    return array


def _read_series(series: Any, name: str) -> Column:
    """Read a column of a frame by its type."""
    import narwhals as nw

    dtype = series.dtype
    if dtype == nw.String:
        return _read_text(series, name)
    if dtype.is_numeric() and dtype != nw.Decimal:
        return from_array(numbers_of(series), name)
    if dtype == nw.Enum:
        return from_objects(series.to_list(), name, levels=dtype.categories)
    if dtype == nw.Categorical:
        return from_levels(series.to_list(), name)
    if dtype in (nw.Date, nw.Datetime):
        raw = series.to_numpy()
        return from_array(raw, name) if raw.dtype.kind == "M" else from_objects(series.to_list(), name)
    if dtype in (nw.Duration, nw.Time):
        _refuse_duration(dtype, name)
    whole = dtype == nw.Boolean and series.to_numpy().dtype == np.bool_
    return from_array(series.to_numpy(), name) if whole else from_objects(series.to_list(), name)


def _read_text(series: Any, name: str) -> Column:
    """Read text: by its distinct values in pandas, which finds them several times as fast as Python hands out all."""
    if not series.implementation.is_pandas():
        return from_objects(series.to_list(), name)
    codes, found = series.to_native().factorize()
    distinct = from_objects(found.tolist(), name)
    return Column(name, distinct.scale, np.append(distinct.values, np.nan)[codes])  # -1 where it is missing


def numbers_of(series: Any) -> NDArray[Any]:
    """Return a column of numbers as NumPy has them, which knows no whole numbers of 128 bits."""
    import narwhals as nw

    wide = series.dtype in (nw.Int128, nw.UInt128)
    out: NDArray[Any] = (series.cast(nw.Float64) if wide else series).to_numpy()
    return out


def _refuse_duration(dtype: Any, name: str) -> None:
    msg = f"column {name!r} holds {dtype}: turn it into a number first, for example seconds (dt.total_seconds())."
    raise ValueError(msg)


def _native_names(X: Any) -> list[Any]:
    """Return the column names of a frame, as pyarrow or as the others call them; none for anything else."""
    names = getattr(X, "column_names", getattr(X, "columns", ()))
    return names.tolist() if hasattr(names, "tolist") else list(names)  # pandas is slow to hand out one by one


def _check_names(names: list[Any]) -> None:
    if len(set(names)) < len(names):
        twice = [name for name, count in Counter(names).items() if count > 1]
        msg = f"column names must be unique, got {twice} more than once: rename or drop the others."
        raise ValueError(msg)


DLPACK_CUDA = 2  # device type of CUDA memory in the DLPack standard


def is_on_device(X: Any) -> bool:
    """Return whether X is an array, tensor or data frame in CUDA memory (CuPy, PyTorch, JAX, cuDF), without imports."""
    if isinstance(X, np.ndarray):
        return False
    if type(X).__module__.split(".")[0] == "cudf":
        return True
    if not hasattr(X, "__dlpack_device__"):
        return hasattr(X, "__cuda_array_interface__")
    return int(X.__dlpack_device__()[0]) == DLPACK_CUDA
