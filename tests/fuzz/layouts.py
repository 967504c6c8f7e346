"""Store columns in containers: arrays of all layouts and types, lists, data frames and sparse matrices."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse as sp

from fuzz.columns import OTHERS

FRAMES = ("pandas", "polars", "arrow")
SPARSE = ("csc", "csr", "csc32", "coo", "csc with zeros", "csr unsorted")
LAYOUTS = ("C", "F", "strided", "reversed", "odd strides", "unaligned", "read-only")
ARRAYS = (*LAYOUTS, "float32", "int", "bool", "big-endian", "list")
TABLES = (*ARRAYS, "object", *FRAMES)
MATRICES = (*ARRAYS, *FRAMES, *SPARSE)
MOST = {"float32": 1e30, "int": 1e9, "csc32": 1e30}  # largest absolute value by layout


def holds(layout):
    """Return the kinds of non-numeric columns that a layout supports."""
    if layout in FRAMES:
        return tuple(OTHERS)
    return ("text",) if layout == "object" else ()


def build(columns, layout):
    """Store columns in a container."""
    if layout in FRAMES:
        return {"pandas": _pandas, "polars": _polars, "arrow": _arrow}[layout](columns)
    if layout == "object":
        return np.column_stack([column.values.astype(object) for column in columns])
    values = np.column_stack([column.values.astype(np.float64) for column in columns])
    return _sparse(values, layout) if layout in SPARSE else _array(values, layout)


def _array(values, layout):
    make = {
        "C": np.ascontiguousarray,
        "F": np.asfortranarray,
        "strided": lambda v: np.repeat(np.repeat(v, 2, axis=0), 3, axis=1)[::2, ::3],
        "reversed": lambda v: np.ascontiguousarray(v[::-1, ::-1])[::-1, ::-1],
        "read-only": _locked,
        "float32": lambda v: v.astype(np.float32),
        "int": lambda v: np.nan_to_num(v).astype(np.int64),
        "bool": lambda v: np.nan_to_num(v) > 0,
        "big-endian": lambda v: v.astype(">f8"),
        "list": lambda v: v.tolist(),
        "odd strides": _odd_strides,
        "unaligned": _unaligned,
    }
    return make[layout](values)


def _odd_strides(values):
    """Return an array with an unusual stride on an axis of length one, such as the zero stride of x[:, None]."""
    if values.shape[1] == 1:
        return values[:, 0].copy()[:, None]
    return values[0].copy()[None, :] if values.shape[0] == 1 else np.asfortranarray(values)[::-1][::-1]


def _unaligned(values):
    """Return an array that starts at an unaligned address, like a view into a message."""
    out = np.ndarray(values.shape, values.dtype, bytearray(values.nbytes + 1), offset=1)
    out[...] = values
    return out


def _locked(values):
    values = np.ascontiguousarray(values)
    values.flags.writeable = False
    return values


def _sparse(values, layout):
    if layout == "coo":
        return sp.coo_array(values)
    if layout.startswith("csr"):
        matrix = sp.csr_matrix(values)
        if layout == "csr unsorted":
            return _unsorted(matrix)
        return matrix
    matrix = sp.csc_matrix(values.astype(np.float32) if layout == "csc32" else values)
    return _with_stored_zeros(values) if layout == "csc with zeros" else matrix


def _with_stored_zeros(values):
    """Return a sparse matrix that stores all values of the first column, including zeros."""
    rows, columns = np.nonzero(values)
    zeros = np.flatnonzero(values[:, 0] == 0)
    at = (np.append(rows, zeros), np.append(columns, np.zeros_like(zeros)))
    return sp.csc_matrix((values[at], at), shape=values.shape)


def _unsorted(matrix):
    for start, end in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        matrix.indices[start:end] = matrix.indices[start:end][::-1].copy()
        matrix.data[start:end] = matrix.data[start:end][::-1].copy()
    matrix.has_sorted_indices = False
    return matrix


def _levels(column):
    return sorted({value for value in column.values.tolist() if value is not None})


def _pandas(columns):
    series = {}
    for column in columns:
        if column.kind in ("category", "ordered"):
            ordered = column.kind == "ordered"
            series[column.name] = pd.Categorical(column.values, categories=_levels(column), ordered=ordered)
        else:
            series[column.name] = column.values
    return pd.DataFrame(series)


def _polars(columns):
    return pl.DataFrame({column.name: _polars_series(column) for column in columns})


def _polars_series(column):
    if column.kind == "category":
        return pl.Series(column.values.tolist(), dtype=pl.String).cast(pl.Categorical)
    if column.kind == "ordered":
        return pl.Series(column.values.tolist(), dtype=pl.Enum(_levels(column)))
    if column.kind == "text":
        return pl.Series(column.values.tolist(), dtype=pl.String)
    return pl.Series(column.values)


def _arrow(columns):
    arrays = {}
    for column in columns:
        array = pa.array(column.values.tolist() if column.values.dtype == object else column.values, from_pandas=False)
        is_category = column.kind in ("category", "ordered") and array.null_count < len(array)
        arrays[column.name] = array.dictionary_encode() if is_category else array
    return pa.table(arrays)
