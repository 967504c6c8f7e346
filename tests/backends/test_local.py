"""The local backend: raw values are read in place, or by codes, and once."""

import numpy as np
import pandas as pd
import pytest

from sparsegam import _core
from sparsegam._backends.local import LocalBackend, RawColumnReader
from sparsegam._backends.protocol import LabelledData
from sparsegam._data.columns import NUMBER
from sparsegam._data.sketches import CodedColumn, Coding
from sparsegam._data.table import Table, read_table
from sparsegam._design.binning import Binning

X = np.random.default_rng(0).normal(size=(500, 3))


@pytest.mark.parametrize("given", [X, np.asfortranarray(X), pd.DataFrame(X)])
def test_float64_columns_are_not_copied(given):
    numbers, codes = RawColumnReader(read_table(given))(1)
    assert codes is None
    assert np.shares_memory(numbers, given)
    np.testing.assert_array_equal(numbers, X[:, 1])


@pytest.mark.parametrize("given", [X.astype(np.float32), pd.DataFrame(X).assign(text="a"), (10 * X).astype(np.int64)])
def test_other_columns_are_converted_once(given):
    reader = RawColumnReader(read_table(given))
    numbers, _ = reader(2)
    assert numbers.dtype == np.float64
    np.testing.assert_array_equal(numbers, np.asarray(given)[:, 2].astype(np.float64))
    assert reader(2)[0] is numbers


def test_selected_rows_are_read():
    kept = np.arange(0, 500, 7)
    np.testing.assert_array_equal(RawColumnReader(read_table(X).take(kept))(0)[0], X[kept, 0])


def test_coded_columns_are_read_by_code():
    values, codes = np.unique(X[:, 0], return_inverse=True)
    column = CodedColumn(Coding("x", NUMBER, values, is_exact=True), codes.astype(np.uint16))
    numbers, found = RawColumnReader(Table((column,), 500, 1, names=("x",)))(0)
    assert numbers is column.coding.numbers
    assert found is column.codes


@pytest.mark.parametrize("special_values", [None, [-99.0]])
def test_training_rows_are_scored_at_raw_values(special_values):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame.loc[::7, "a"], frame.loc[::11, "b"] = np.nan, -99.0
    data = LabelledData(read_table(frame), X[:, 2], np.ones(500))
    binning = Binning(max_bins=10, special_values=special_values)
    encoded = LocalBackend().encode(data, binning, ["both"] * 3, "squared", interactions=False)
    design = encoded.design
    columns = np.append(np.flatnonzero(design.is_ramp)[::3], [1, 14])
    point = _core.Point(0.3, columns, np.linspace(-1, 1, columns.size))
    assert not design.is_exact(columns)
    expected = design.model(point, "squared", None, "mean").decision_function(frame)
    np.testing.assert_allclose(encoded.row_scores(point), expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(encoded.score(read_table(frame), [point])[0], expected, rtol=1e-12, atol=1e-13)
    at_bin_centres = encoded.core.row_scores(point)
    assert np.abs(at_bin_centres - expected).max() > 1e-3
