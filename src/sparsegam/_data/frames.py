"""Tables as the data frames that their user has: pandas, polars or Arrow, whichever is installed first."""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from sparsegam._data.columns import Column
from sparsegam._data.table import Table

MAKERS = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}


def make_frame(columns: Mapping[str, Any]) -> Any:
    """Return columns as a pandas DataFrame, or for want of pandas as one of polars, or as an Arrow table.

    Parameters
    ----------
    columns : mapping of str to sequence
        The columns, all of one length.

    Returns
    -------
    pandas.DataFrame, polars.DataFrame or pyarrow.Table
        The first of these that is installed.
    """
    for package, maker in MAKERS.items():
        try:
            make = getattr(import_module(package), maker)
        except ImportError:
            continue
        return make({name: list(values) if package == "pyarrow" else values for name, values in columns.items()})
    msg = "to_frame needs pandas, polars or pyarrow, and none of them is installed: pip install pandas."
    raise ImportError(msg)


def table_to_frame(table: Table) -> Any:
    """Return a table as a data frame of the first package that is installed; as it is where none is."""
    if find_spec("pandas") is not None:
        return table_to_pandas(table)
    try:
        return make_frame({table.label(j): _listed(table, j) for j in range(table.n_columns)})
    except ImportError:
        return table


def table_to_pandas(table: Table) -> Any:
    """Return a table as a pandas DataFrame: categories as such, dates as dates."""
    import pandas as pd

    if isinstance(table.source, np.ndarray) and table.source.dtype != object:
        return pd.DataFrame(
            table.source if table.row_index is None else table.source[table.row_index], columns=table.labels
        )
    columns = (table.column(j) for j in range(table.n_columns))
    return pd.DataFrame({column.name: _pandas_column(column) for column in columns})


def _pandas_column(column: Column) -> Any:
    import pandas as pd

    if column.scale.has_levels:
        codes = np.where(np.isnan(column.values), -1, column.values).astype(np.intp)
        ordered = column.scale.kind == "ordered"
        return pd.Categorical.from_codes(codes, pd.Index(column.scale.levels), ordered=ordered)
    if column.scale.kind == "datetime":
        whole = np.where(np.isnan(column.values), 0, column.values).astype("int64").astype("datetime64[us]")
        return np.where(np.isnan(column.values), np.datetime64("NaT"), whole)
    if column.scale.kind == "boolean" and np.isnan(column.values).any():
        return column.values  # 0, 1 and NaN: an object column would be taken for dates
    return column.raw_values()


def _listed(table: Table, j: int) -> Any:
    """Return numbers as an array, and all else as a list whose type is told by its values."""
    values = table.values(j)
    return values.tolist() if values.dtype == object else values
