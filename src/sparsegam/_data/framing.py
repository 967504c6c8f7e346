"""Columns of results as a frame of whichever package is installed: pandas, polars or Arrow."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

MAKERS = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}


def frame_of(columns: Mapping[str, Any]) -> Any:
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
