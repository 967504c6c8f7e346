"""Integers beyond 2^53, which float64 merges, stay distinct as categories and are warned of as numbers."""

import warnings

import numpy as np
import pandas as pd
import pytest

from sparsegam import Model, SparseGAMClassifier, SparseLinearClassifier
from sparsegam._data.table import read_table

BASE = 2**60
IDS = np.array([BASE + 1, BASE + 2, -BASE - 3, 7] * 30)
Y = np.isin(IDS, [BASE + 1, 7])


def frames(ids=IDS):
    missing = [None, *ids[1:].tolist()]
    yield "array", ids[:, np.newaxis], 0
    yield "unsigned", np.abs(ids).astype(np.uint64)[:, np.newaxis], 0
    yield "objects", np.array([[one] for one in missing], dtype=object), 0
    yield "pandas", pd.DataFrame({"id": ids, "x": 1.5}), "id"
    yield "nullable", pd.DataFrame({"id": pd.array(missing, dtype="Int64")}), "id"
    polars = pytest.importorskip("polars")
    yield "polars", polars.DataFrame({"id": missing}), "id"
    yield "arrow", pytest.importorskip("pyarrow").table({"id": missing}), "id"


@pytest.mark.parametrize(("X", "key"), [pytest.param(X, key, id=name) for name, X, key in frames()])
@pytest.mark.filterwarnings("error::UserWarning")
def test_categories_keep_large_integers_apart(X, key):
    y = Y.copy()
    y[0] = y[1]
    gam = SparseGAMClassifier(lambda0=0.5, categorical=[key], min_samples_bin=1).fit(X, Y)
    assert gam.score(X, Y) > 0.98
    assert Model.from_json(gam.model_.to_json()).predict(X).tolist() == gam.predict(X).tolist()
    assert str(BASE + 1) in gam.model_.equation() or str(BASE + 2) in gam.model_.equation()


@pytest.mark.parametrize("kind", [SparseGAMClassifier, SparseLinearClassifier])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_numbers_that_float64_merges_are_warned_of_by_name(kind):
    for name, X, key in frames():
        if name in ("objects", "nullable", "polars", "arrow"):
            continue
        with pytest.warns(UserWarning, match=f"'{'x0' if key == 0 else 'id'}' contains integers beyond 2"):
            kind().fit(X, Y)


def test_large_integers_that_stay_distinct_are_not_warned_of():
    nanoseconds = pd.DataFrame({"t": 1_600_000_000_000_000_001 + 10**12 * np.arange(120)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SparseGAMClassifier().fit(nanoseconds, np.arange(120) > 50)


def test_floats_are_not_compared_with_large_integer_levels():
    X = pd.DataFrame({"id": IDS})
    gam = SparseGAMClassifier(lambda0=0.5, categorical=["id"], min_samples_bin=1).fit(X, Y)
    with pytest.raises(ValueError, match=r"column 'id' contains integers beyond 2.53 as float64"):
        gam.predict(X.astype(float))


def test_rows_keep_large_integers():
    column = read_table(IDS[:, np.newaxis]).load().take(np.array([0, 1])).column(0)
    assert column.raw_values().tolist() == [BASE + 1, BASE + 2]


def test_streams_reject_large_integers_as_categories():
    polars = pytest.importorskip("polars")
    with pytest.raises(ValueError, match=r"'id', whose integers beyond 2.53 cannot be told apart in a stream"):
        SparseGAMClassifier(categorical=["id"]).fit(polars.DataFrame({"id": IDS, "y": Y}).lazy(), "y")
