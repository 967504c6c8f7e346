"""Reads arrays and data frames (pandas, polars, pyarrow; through narwhals) as float64 columns, one at a time."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Table:
    """A rectangular input whose columns are read one by one, so that it is never copied whole.

    Attributes
    ----------
    source : ndarray or narwhals.DataFrame
        Where the columns are.
    n_rows, n_columns : int
        Its shape; `n_rows` counts the kept rows only.
    names : tuple of str or None
        Column names, or None where columns go by position (arrays, frames with names that are not strings).
    keys : sequence
        What the source calls its columns.
    kept : ndarray of bool or None
        Rows to read; None means all of them.
    """

    source: Any
    n_rows: int
    n_columns: int
    names: tuple[str, ...] | None = None
    keys: Sequence[Any] = ()
    kept: NDArray[np.bool_] | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """Column names, made up as x0, x1, ... where there are none."""
        return tuple(self.label(j) for j in range(self.n_columns))

    def label(self, j: int) -> str:
        """Name of column j."""
        return f"x{j}" if self.names is None else self.names[j]

    def keep(self, rows: NDArray[np.bool_]) -> "Table":
        """Return the same table without the rows that are False."""
        return replace(self, kept=rows, n_rows=int(np.count_nonzero(rows)))

    def by_position(self) -> "Table":
        """Return the same table with its names forgotten."""
        return replace(self, names=None)

    def column(self, j: int) -> Values:
        """Return column j as contiguous float64, checked to be finite."""
        raw = self._raw_column(j)
        values = raw if raw.dtype.kind in "biuf" else _numbers(raw, self.label(j))
        values = values if self.kept is None else values[self.kept]
        out = np.ascontiguousarray(values, dtype=np.float64)
        if values.dtype.kind == "f":
            check_finite(out, self.label(j))
        return out

    def check_finite(self) -> None:
        """Raise where any column holds NaN or infinity."""
        if isinstance(self.source, np.ndarray) and _all_finite(self.source):
            return
        for j in range(self.n_columns):
            if self._raw_column(j).dtype.kind not in "biu":
                self.column(j)

    def _raw_column(self, j: int) -> NDArray[Any]:
        if isinstance(self.source, np.ndarray):
            return self.source[:, j]
        series = self.source.get_column(self.keys[j])
        raw: NDArray[Any] = series.to_numpy()
        return _without_objects(series) if raw.dtype.kind == "O" else raw


def read(X: Any) -> Table:
    """Look at an array or a frame without copying it.

    Parameters
    ----------
    X : ndarray, array-like of numbers, or data frame known to narwhals
        The input; one row per sample.

    Returns
    -------
    Table
        The input as columns to be read one at a time.
    """
    frame = _as_frame(X)
    return _read_array(X) if frame is None else _read_frame(frame)


def check_finite(values: Values, name: str) -> None:
    """Raise a ValueError that names the column, the rows and the remedy where a value is NaN or infinite."""
    if _all_finite(values):
        return
    bad = np.flatnonzero(~np.isfinite(values))
    what = "NaN" if np.isnan(values[bad[0]]) else "infinity"
    remedy = "fill it in (for example with sklearn.impute.SimpleImputer)" if what == "NaN" else "replace it"
    msg = f"column {name!r} contains {what} (row {bad[0]}; {bad.size} such rows): {remedy} or drop these rows."
    raise ValueError(msg)


def _all_finite(values: NDArray[Any]) -> bool:
    """Tell whether all values are finite: the smallest and largest are NaN or infinite if any value is."""
    return values.dtype.kind in "biu" or bool(np.isfinite(values.min()) and np.isfinite(values.max()))


def _as_frame(X: Any) -> Any:
    """Return X as a narwhals frame, or None where it is no frame."""
    if isinstance(X, np.ndarray):
        return None
    if isinstance(X, list | tuple):
        _refuse_dicts(X)
        return None
    import narwhals as nw  # here, so that arrays do not pay for it

    if isinstance(X, nw.DataFrame):
        return X
    _refuse_lazy(X)
    _check_names(_native_names(X))
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
    array = check_array(X, dtype="numeric", ensure_all_finite=False, input_name="X")
    return Table(array, n_rows=array.shape[0], n_columns=array.shape[1])


def _read_frame(frame: Any) -> Table:
    names = frame.columns
    n_rows = len(frame)
    if n_rows == 0 or not names:
        msg = f"X has {n_rows} rows and {len(names)} columns: at least one of each is required."
        raise ValueError(msg)
    named = all(isinstance(name, str) for name in names)
    return Table(frame, n_rows=n_rows, n_columns=len(names), names=tuple(names) if named else None, keys=names)


def _native_names(X: Any) -> list[Any]:
    """Return the column names of a frame, as pyarrow or as the others call them; none for anything else."""
    names = getattr(X, "column_names", getattr(X, "columns", ()))
    return list(names)


def _check_names(names: list[Any]) -> None:
    if len(set(names)) < len(names):
        twice = [name for name, count in Counter(names).items() if count > 1]
        msg = f"column names must be unique, got {twice} more than once: rename or drop the others."
        raise ValueError(msg)


def _without_objects(series: Any) -> NDArray[Any]:
    """Return decimals and nullable booleans as float64, nulls being NaN; leave other Python objects as they are."""
    import narwhals as nw

    known = series.dtype in (nw.Boolean, nw.Decimal)
    values: NDArray[Any] = (series.cast(nw.Float64) if known else series).to_numpy()
    return values


def _numbers(raw: NDArray[Any], name: str) -> Values:
    """Turn a column of Python numbers (None being NaN) into float64; refuse anything else."""
    if raw.dtype.kind == "O" and not any(isinstance(value, str) for value in raw):
        try:
            return np.array([np.nan if value is None else value for value in raw], dtype=np.float64)
        except (TypeError, ValueError):
            pass  # the message below names the column
    example = raw[0] if raw.size else None
    msg = f"column {name!r} is not numeric (first value {example!r}): encode it as numbers or leave it out."
    raise ValueError(msg)
