"""Tables as data frames of pandas, polars and Arrow: the same values, read back as the same columns."""

import sys

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score, train_test_split

from sparsegam import SparseGAMClassifier
from sparsegam._data import frames as native
from sparsegam._data.table import Table, read_table
from sparsegam.datasets import load_loans, make_credit

PACKAGES = ("pandas", "polars", "pyarrow")


def without(monkeypatch, *packages):
    """Hide packages, as if they were not installed."""
    for name in packages:
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.parametrize("absent", [0, 1, 2])
def test_columns_come_back_as_they_were(absent, monkeypatch):
    table = load_loans().data
    without(monkeypatch, *PACKAGES[:absent])
    frame = native.table_to_frame(table)
    assert type(frame).__module__.startswith(PACKAGES[absent])
    back = read_table(frame)
    assert back.labels == table.labels
    for j in range(table.n_columns):
        before, after = table.column(j), back.column(j)
        assert after.scale.kind == before.scale.kind
        np.testing.assert_array_equal(np.isnan(after.values), np.isnan(before.values))
        known = ~np.isnan(before.values)
        assert after.raw_values()[known].tolist() == before.raw_values()[known].tolist()


def test_a_boolean_with_gaps_is_numbers_in_pandas():
    table = read_table(np.array([[True], [None], [False]], dtype=object))
    values = native.table_to_pandas(table)["x0"]
    assert values.dtype == np.float64
    assert np.isnan(values[1])


def test_arrays_stay_one_block():
    credit = make_credit(50)
    frame = credit.frame
    assert frame.columns.tolist() == credit.feature_names
    assert frame.to_numpy().dtype == credit.data.dtype


def test_without_any_of_them_it_stays_a_table(monkeypatch):
    without(monkeypatch, *PACKAGES)
    frame = make_credit(20).frame
    assert isinstance(frame, Table)
    assert frame.labels == tuple(make_credit(20).feature_names)


def test_a_table_is_taken_apart_by_rows():
    table, target = load_loans().data, load_loans().target
    first, second, _, _ = train_test_split(table, target, random_state=0)
    assert (first.n_rows, second.n_rows) == (900, 300)
    assert table[:3].values(1).tolist() == table.values(1)[:3].tolist()
    assert table[target == "default"].n_rows == np.count_nonzero(target == "default")
    with pytest.raises(TypeError, match="slice, a mask or positions"):
        table[0]


def test_scikit_learn_splits_tables():
    loans = load_loans()
    gam = SparseGAMClassifier(positive="default", special_values=[-9, -8], max_terms=3)
    own = cross_val_score(gam, loans.data, loans.target, cv=3, scoring="roc_auc")
    assert own.tolist() == cross_val_score(gam, loans.frame, loans.target, cv=3, scoring="roc_auc").tolist()


def test_a_table_is_shown_shortly():
    assert repr(load_loans().data).startswith("Table(1200 rows: opened, region,")
