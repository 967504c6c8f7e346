"""Conversion of results and tables to the data frames of pandas, polars or pyarrow."""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from sparsegam._data.columns import Column
from sparsegam._data.table import Table

CONSTRUCTORS = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}


def make_frame(columns: Mapping[str, Any]) -> Any:
    """Make a data frame with pandas or, if it is not installed, with polars or pyarrow.

    Parameters
    ----------
    columns : mapping of str to sequence
        Columns of equal length.

    Returns
    -------
    pandas.DataFrame, polars.DataFrame or pyarrow.Table
    """
    for package, constructor in CONSTRUCTORS.items():
        try:
            make = getattr(import_module(package), constructor)
        except ImportError:
            continue
        return make({name: list(values) if package == "pyarrow" else values for name, values in columns.items()})
    msg = "to_frame requires pandas, polars or pyarrow, and none of them is installed: pip install pandas."
    raise ImportError(msg)


def table_to_frame(table: Table) -> Any:
    """Convert a table to a data frame of pandas, polars or pyarrow. If none is installed, return the table itself."""
    if find_spec("pandas") is not None:
        return table_to_pandas(table)
    columns = {}
    for j in range(table.n_columns):
        # Both packages infer the type of a list of objects, but not of an array of objects.
        values = table.values(j)
        columns[table.label(j)] = values.tolist() if values.dtype == object else values
    try:
        return make_frame(columns)
    except ImportError:
        return table


def table_to_pandas(table: Table) -> Any:
    """Convert a table to a pandas DataFrame with categorical and datetime columns."""
    import pandas as pd

    if isinstance(table.source, np.ndarray) and table.source.dtype != object:
        values = table.source if table.row_index is None else table.source[table.row_index]
        return pd.DataFrame(values, columns=table.labels)
    columns = (table.column(j) for j in range(table.n_columns))
    return pd.DataFrame({column.name: _pandas_column(column) for column in columns})


def _pandas_column(column: Column) -> Any:
    import pandas as pd

    missing = np.isnan(column.values)
    if column.scale.has_levels:
        codes = np.where(missing, -1, column.values).astype(np.intp)
        ordered = column.scale.kind == "ordered"
        return pd.Categorical.from_codes(codes, pd.Index(column.scale.levels), ordered=ordered)
    if column.scale.kind == "datetime":
        times = np.where(missing, 0, column.values).astype("int64").astype("datetime64[us]")
        return np.where(missing, np.datetime64("NaT"), times)
    if column.scale.kind == "boolean" and missing.any():
        # pandas would infer dates from an object column of booleans and None.
        return column.values
    return column.raw_values()
