"""The rows' own numbers: read where they are, or through codes, and once."""

import numpy as np
import pandas as pd
import pytest

from sparsegam import _core
from sparsegam._data.columns import NUMBER
from sparsegam._data.sketches import CodedColumn, Coding
from sparsegam._data.table import Table, read_table
from sparsegam._design.binning import Binning
from sparsegam._design.encoding import bin_table
from sparsegam._design.own import OwnNumbers
from sparsegam._design.ramps import learn_ramps
from sparsegam._design.threshold import ThresholdDesign

X = np.random.default_rng(0).normal(size=(500, 3))


@pytest.mark.parametrize("given", [X, np.asfortranarray(X), pd.DataFrame(X)])
def test_floats_are_read_where_they_are(given):
    numbers, codes = OwnNumbers(read_table(given)).of(1)
    assert codes is None
    assert np.shares_memory(numbers, given)
    np.testing.assert_array_equal(numbers, X[:, 1])


@pytest.mark.parametrize("given", [X.astype(np.float32), pd.DataFrame(X).assign(text="a"), (10 * X).astype(np.int64)])
def test_others_become_floats_once(given):
    own = OwnNumbers(read_table(given))
    numbers, _ = own.of(2)
    assert numbers.dtype == np.float64
    np.testing.assert_array_equal(numbers, np.asarray(given)[:, 2].astype(np.float64))
    assert own.of(2)[0] is numbers


def test_kept_rows():
    kept = np.arange(0, 500, 7)
    np.testing.assert_array_equal(OwnNumbers(read_table(X).take(kept)).of(0)[0], X[kept, 0])


def test_codes_stay_codes():
    values, codes = np.unique(X[:, 0], return_inverse=True)
    column = CodedColumn(Coding("x", NUMBER, values, is_exact=True), codes.astype(np.uint16))
    numbers, found = OwnNumbers(Table((column,), 500, 1, names=("x",))).of(0)
    assert numbers is column.coding.numbers
    assert found is column.codes


@pytest.mark.parametrize("special_values", [None, [-99.0]])
def test_scores_are_those_of_the_model(special_values):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame.loc[::7, "a"], frame.loc[::11, "b"] = np.nan, -99.0
    table = read_table(frame)
    features, codes = bin_table(table, Binning(max_bins=10, special_values=special_values))
    ramps = learn_ramps(table, features, codes, None, ["both"] * 3)
    design = ThresholdDesign(features, codes, ramps=ramps)
    columns = np.append(np.flatnonzero(design.is_ramp())[::3], [1, 14])
    point = _core.Point(0.3, columns, np.linspace(-1, 1, columns.size))
    assert not design.is_exact(columns)
    expected = design.model(point, "squared", None).decision_function(frame)
    np.testing.assert_allclose(design.row_scores(point, OwnNumbers(table)), expected, rtol=1e-12, atol=1e-13)
    assert np.abs(design.row_scores(point) - expected).max() > 1e-3
