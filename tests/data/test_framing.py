"""Results as frames of whichever package is installed."""

import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sparsegam._data.frames import make_frame

COLUMNS = {"name": ["a", "b"], "value": [1.5, None]}


def test_the_first_package_that_is_there(monkeypatch):
    assert isinstance(make_frame(COLUMNS), pd.DataFrame)
    monkeypatch.setitem(sys.modules, "pandas", None)
    found = make_frame(COLUMNS)
    assert isinstance(found, pl.DataFrame)
    assert found["value"].to_list() == [1.5, None]
    monkeypatch.setitem(sys.modules, "polars", None)
    found = make_frame(COLUMNS)
    assert isinstance(found, pa.Table)
    assert found.column("name").to_pylist() == ["a", "b"]
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        make_frame(COLUMNS)
