"""Bins: thresholds at the unique values, codes that agree with x <= t, extra bins after the ordered ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sparsegam import frames
from sparsegam.binning import Feature, bin_table, learn
from sparsegam.terms import Condition

columns = hnp.arrays(np.float64, st.integers(1, 60), elements=st.integers(-8, 8).map(float) | st.floats(-1e6, 1e6))


@given(columns)
def test_edges_are_the_unique_values_but_the_largest(values):
    np.testing.assert_array_equal(learn(values, "x", max_bins=1000).edges, np.unique(values)[:-1])


@given(columns, st.integers(2, 12))
def test_codes_say_the_same_as_the_thresholds(values, max_bins):
    feature = learn(values, "x", max_bins=max_bins)
    codes = feature.codes(values)
    assert feature.n_bins <= max_bins
    assert np.all(np.diff(feature.edges) > 0)
    for b, edge in enumerate(feature.edges):
        np.testing.assert_array_equal(codes <= b, values <= edge)


def test_quantiles_beyond_max_bins_are_values_of_the_column_with_equal_shares():
    values = np.random.default_rng(0).normal(size=60_000)
    feature = learn(values, "x", max_bins=100)
    shares = np.bincount(feature.codes(values)) / values.size
    assert feature.n_bins == 100
    assert np.isin(feature.edges, values).all()
    np.testing.assert_allclose(shares, 0.01, atol=0.002)


@pytest.mark.parametrize(("n_unique", "dtype"), [(1, np.uint8), (256, np.uint8), (257, np.uint16), (40_000, np.uint16)])
def test_codes_are_as_narrow_as_they_can_be(n_unique, dtype):
    values = np.arange(n_unique, dtype=np.float64)
    codes = learn(values, "x", max_bins=65_536).codes(values)
    assert codes.dtype == dtype
    np.testing.assert_array_equal(codes, np.arange(n_unique))


def test_special_and_missing_values_have_bins_after_the_ordered_ones():
    feature = Feature("x", np.array([1.0, 2.0]), special=(-9.0, -7.0), missing=True)
    codes = feature.codes(np.array([-9.0, 0.0, 1.0, 1.5, 2.0, 9.0, np.nan, -7.0, -8.0]))
    np.testing.assert_array_equal(codes, [3, 0, 0, 1, 1, 2, 5, 4, 0])
    assert (feature.n_ordered, feature.n_bins) == (3, 6)


def test_extra_bins_widen_the_codes():
    feature = Feature("x", np.arange(255.0), missing=True)
    assert feature.codes(np.array([0.0, np.nan])).tolist() == [0, 256]


def test_bins_know_their_conditions():
    feature = Feature("x", np.array([1.0, 2.5]), special=(-9.0,), missing=True)
    conditions = [Condition("<=", 1.0), Condition("<=", 2.5), Condition("==", -9.0), Condition("missing")]
    assert [feature.condition(b) for b in (0, 1, 3, 4)] == conditions
    assert [c.describe("A") for c in conditions] == ["1[A <= 1]", "1[A <= 2.5]", "1[A == -9]", "1[A is missing]"]


@pytest.mark.parametrize("bin_", [2, 3, 17])
def test_a_bin_without_a_condition_is_an_error(bin_):
    with pytest.raises(ValueError, match=f"bin {bin_} of feature 'x'"):
        Feature("x", np.array([1.0, 2.0])).condition(bin_)


def test_tables_are_binned_column_by_column():
    X = np.array([[1, 5], [2, 5], [3, 5]])
    features, codes = bin_table(frames.read(X), max_bins=1000)
    assert [feature.name for feature in features] == ["x0", "x1"]
    assert [code.tolist() for code in codes] == [[0, 1, 2], [0, 0, 0]]
