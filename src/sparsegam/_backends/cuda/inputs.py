"""Tables whose numeric columns are on a device; text and categories stay in host memory."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._backends.cuda.device import Device
from sparsegam._data.columns import BOOLEAN, NUMBER, Column, RowIndex, Scale, check_finite
from sparsegam._data.table import Table, is_on_device, read_table
from sparsegam.arrays import FloatArray

UPLOAD_BYTES = 2**28  # size of the pieces in which a row-major array is uploaded
SCALES = {"b": BOOLEAN, "i": NUMBER, "u": NUMBER, "f": NUMBER}


@dataclass(frozen=True, eq=False)
class DeviceColumn(Column):
    """A column whose values are on a device, in their original type."""

    device: Device

    def take(self, rows: RowIndex | slice | None) -> Column:
        """Return some of the rows: on the device, except for slices, which are used to inspect a few rows."""
        if rows is None:
            return self
        if isinstance(rows, slice):
            return replace(self, values=self.values[rows]).host()
        with self.device:
            out = replace(self, values=self.values[self.device.upload(rows)])
            self.device.wait()
        return out

    def numbers(self) -> Any:
        """Return the values as float64 on the device, NaN where missing."""
        return self.values.astype(np.float64, copy=False)

    def host(self) -> Column:
        """Return the column in host memory."""
        with self.device:
            return Column(self.name, self.scale, self.device.fetch(self.numbers()))

    def on_scale(self, scale: Scale) -> FloatArray:
        """Return the values as numbers on another scale, in host memory."""
        return self.host().on_scale(scale)

    def as_category(self) -> Column:
        """Return the values as unordered levels, in host memory."""
        return self.host().as_category()

    def raw_values(self) -> NDArray[Any]:
        """Return the values as the user passed them, in host memory."""
        return self.host().raw_values()


def to_host(values: Any) -> Any:
    """Copy values to host memory if they are on a device."""
    if not is_on_device(values):
        return values
    if hasattr(values, "to_numpy"):
        return values.to_numpy()
    device = Device()
    return device.fetch(device_array(device, values))


def read_device_table(X: Any) -> Table:
    """Read an array, a tensor or a cuDF data frame that is on a device."""
    device = Device()
    if hasattr(X, "columns"):
        return _read_cudf(device, X)
    array = device_array(device, X)
    if array.ndim != 2 or 0 in array.shape:
        msg = f"X must be a matrix with at least one row and one column, got shape {tuple(array.shape)}."
        raise ValueError(msg)
    if array.dtype.kind not in SCALES:
        msg = f"X has dtype {array.dtype}, which device='cuda' does not support: convert X to numbers."
        raise TypeError(msg)
    columns = tuple(_device_column(device, array[:, j], f"x{j}") for j in range(array.shape[1]))
    return Table(columns, n_rows=int(array.shape[0]), n_columns=int(array.shape[1]))


def read_to_device(X: Any) -> Table:
    """Read a table from the host or a device, and move its numeric columns to the current device."""
    return move_to_device(Device(), read_device_table(X) if is_on_device(X) else read_table(X))


def move_to_device(device: Device, table: Table) -> Table:
    """Return the table with its numeric columns on a device if they fit; otherwise return it unchanged."""
    if isinstance(table.source, tuple) and any(isinstance(column, DeviceColumn) for column in table.source):
        return table
    # As much memory again is needed to sort one column, and two bytes per value for the codes.
    item_bytes = table.source.itemsize if isinstance(table.source, np.ndarray) else 8
    needed = table.n_rows * (table.n_columns * (item_bytes + 2) + 64)
    if needed > device.memory()[0]:
        return table
    return Table(tuple(_upload_columns(device, table)), table.n_rows, table.n_columns, names=table.names)


def _upload_columns(device: Device, table: Table) -> Iterator[Any]:
    array = table.source if isinstance(table.source, np.ndarray) and table.row_index is None else None
    with device:
        if array is not None and array.dtype.kind in "iuf" and array.flags.c_contiguous:
            for j, values in enumerate(_upload_transposed(device, array)):
                yield _device_column(device, values, table.label(j))
            return
        for j in range(table.n_columns):
            column = table.coded_column(j) or table.column(j)
            if isinstance(column, Column) and column.scale.kind != "category":
                yield DeviceColumn(column.name, column.scale, device.upload(column.values), device)
            else:
                yield column
        device.wait()


def _upload_transposed(device: Device, array: NDArray[Any]) -> Any:
    """Upload a row-major array and transpose it on the device, which is faster than reading its columns on the host."""
    n_rows, n_columns = array.shape
    out = device.xp.empty((n_columns, n_rows), dtype=array.dtype)
    step = max(UPLOAD_BYTES // (n_columns * array.itemsize), 1)
    for first in range(0, n_rows, step):
        out[:, first : first + step] = device.upload(array[first : first + step]).T
    return out


def _read_cudf(device: Device, frame: Any) -> Table:
    """Read a cuDF data frame: numeric columns stay on the device, others are converted by pandas."""
    names, columns = [str(name) for name in frame.columns], list[Column]()
    for key, name in zip(frame.columns, names, strict=True):
        series = frame[key]
        if getattr(series.dtype, "kind", "O") in SCALES:
            missing = {"dtype": "float64", "na_value": np.nan} if series.has_nulls else {}
            columns.append(_device_column(device, series.to_cupy(**missing), name))
        else:
            columns.append(read_table(series.to_frame().to_pandas()).column(0))
    return Table(tuple(columns), len(frame), len(names), names=tuple(names))


def device_array(device: Device, X: Any) -> Any:
    """Return an object with DLPack or the CUDA array interface as a device array, once its contents are ready."""
    with device:
        array = device.xp.from_dlpack(X) if hasattr(X, "__dlpack__") else device.xp.asarray(X)
    device.wait_for_all_streams()
    return array


def _device_column(device: Device, values: Any, name: str) -> DeviceColumn:
    """Return values on the device as a column; infinity raises the same error as in host memory."""
    with device:
        column = DeviceColumn(name, SCALES[values.dtype.kind], device.xp.ascontiguousarray(values), device)
        if values.dtype.kind == "f" and bool(device.xp.isinf(values).any()):
            check_finite(column.host().values, name)
        device.wait()
    return column
