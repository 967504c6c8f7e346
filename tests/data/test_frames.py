"""Conversion of results and tables to data frames of pandas, polars and pyarrow."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.model_selection import cross_val_score, train_test_split

from sparsegam import SparseGAMClassifier
from sparsegam._data.frames import make_frame, table_to_frame, table_to_pandas
from sparsegam._data.table import Table, read_table
from sparsegam.datasets import load_loans, make_credit

PACKAGES = ("pandas", "polars", "pyarrow")


def without(monkeypatch, *packages):
    """Hide packages, as if they were not installed."""
    for name in packages:
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.parametrize("absent", [0, 1, 2])
def test_table_to_frame_round_trips(absent, monkeypatch):
    table = load_loans().data
    without(monkeypatch, *PACKAGES[:absent])
    frame = table_to_frame(table)
    assert type(frame).__module__.startswith(PACKAGES[absent])
    back = read_table(frame)
    assert back.labels == table.labels
    for j in range(table.n_columns):
        before, after = table.column(j), back.column(j)
        assert after.scale.kind == before.scale.kind
        np.testing.assert_array_equal(np.isnan(after.values), np.isnan(before.values))
        known = ~np.isnan(before.values)
        assert after.raw_values()[known].tolist() == before.raw_values()[known].tolist()


def test_booleans_with_missing_values_become_floats_in_pandas():
    table = read_table(np.array([[True], [None], [False]], dtype=object))
    values = table_to_pandas(table)["x0"]
    assert values.dtype == np.float64
    assert np.isnan(values[1])


def test_arrays_keep_their_type_in_pandas():
    credit = make_credit(50)
    frame = credit.frame
    assert frame.columns.tolist() == credit.feature_names
    assert frame.to_numpy().dtype == credit.data.dtype


def test_table_to_frame_returns_the_table_without_any_package(monkeypatch):
    without(monkeypatch, *PACKAGES)
    frame = make_credit(20).frame
    assert isinstance(frame, Table)
    assert frame.labels == tuple(make_credit(20).feature_names)


def test_indexing_a_table_selects_rows():
    table, target = load_loans().data, load_loans().target
    first, second, _, _ = train_test_split(table, target, random_state=0)
    assert (first.n_rows, second.n_rows) == (900, 300)
    assert table[:3].values(1).tolist() == table.values(1)[:3].tolist()
    assert table[target == "default"].n_rows == np.count_nonzero(target == "default")
    with pytest.raises(TypeError, match="slice, a boolean mask or integer positions"):
        table[0]


def test_cross_validation_splits_tables():
    loans = load_loans()
    gam = SparseGAMClassifier(positive="default", special_values=[-9, -8], max_terms=3)
    own = cross_val_score(gam, loans.data, loans.target, cv=3, scoring="roc_auc")
    assert own.tolist() == cross_val_score(gam, loans.frame, loans.target, cv=3, scoring="roc_auc").tolist()


def test_repr_lists_rows_and_columns():
    assert repr(load_loans().data).startswith("Table(1200 rows: opened, region,")


RESULTS = {"name": ["a", "b"], "value": [1.5, None]}


def test_make_frame_uses_the_first_installed_package(monkeypatch):
    assert isinstance(make_frame(RESULTS), pd.DataFrame)
    monkeypatch.setitem(sys.modules, "pandas", None)
    found = make_frame(RESULTS)
    assert isinstance(found, pl.DataFrame)
    assert found["value"].to_list() == [1.5, None]
    monkeypatch.setitem(sys.modules, "polars", None)
    found = make_frame(RESULTS)
    assert isinstance(found, pa.Table)
    assert found.column("name").to_pylist() == ["a", "b"]
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        make_frame(RESULTS)
