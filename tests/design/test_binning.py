"""Bins: thresholds at the unique values, codes that agree with x <= t, extra bins after the ordered ones."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sparsegam._data import table as frames
from sparsegam._data.columns import NUMBER, Column, Scale
from sparsegam._design.binning import Binning, Feature, Learner, ValueCounts, learn_edges
from sparsegam._design.encoding import bin_table
from sparsegam._models.terms import Condition

columns = hnp.arrays(np.float64, st.integers(1, 60), elements=st.integers(-8, 8).map(float) | st.floats(-1e6, 1e6))


def learn(values, name, weight=None, **binning):
    return Learner([name], Binning(**binning), weight).learn(Column(name, NUMBER, values), 0)[0]


@given(columns)
def test_edges_are_all_distinct_values_but_the_largest(values):
    np.testing.assert_array_equal(learn(values, "x", max_bins=1000).edges, np.unique(values)[:-1])


@given(columns, st.integers(2, 12))
def test_codes_are_consistent_with_thresholds(values, max_bins):
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


@given(
    hnp.arrays(np.float64, 40, elements=st.integers(-30, 30).map(float) | st.sampled_from([np.nan, -0.0, 0.1, -9.5])),
    hnp.arrays(np.int64, 40, elements=st.integers(1, 5)),
    st.integers(2, 30),
)
def test_integer_weights_give_the_bins_of_repeated_rows(values, weight, max_bins):
    repeated = learn(np.repeat(values, weight), "x", max_bins=max_bins, special_values=[3])
    weighted = learn(values, "x", weight=weight.astype(float), max_bins=max_bins, special_values=[3])
    assert weighted.edges.tobytes() == repeated.edges.tobytes()
    assert weighted.missing == repeated.missing


@given(columns, st.integers(2, 12), st.integers(1, 8))
def test_counted_values_give_the_edges_of_the_rows(values, max_bins, min_rows):
    distinct, counts = np.unique(values, return_counts=True)
    counted = learn_edges(distinct, ValueCounts(counts.astype(float), counts.astype(float)), max_bins, min_rows)
    assert counted.tobytes() == learn_edges(values, ValueCounts(), max_bins, min_rows).tobytes()
    if counted.size:
        assert np.bincount(np.searchsorted(counted, values)).min() >= min_rows


@pytest.mark.parametrize("times", [1, 2, 3, 5])
@pytest.mark.parametrize(("n", "max_bins"), [(1000, 7), (1100, 1000), (299, 46), (5000, 1000)])
def test_equal_integer_weights_give_the_bins_of_repeated_rows(n, max_bins, times):
    values = np.random.default_rng(n).permutation(n) / 7
    repeated = learn(np.repeat(values, times), "x", max_bins=max_bins)
    weighted = learn(values, "x", weight=np.full(n, float(times)), max_bins=max_bins)
    assert weighted.edges.tobytes() == repeated.edges.tobytes()


def test_equal_fractional_weights_do_not_change_bins():
    values = np.random.default_rng(0).normal(size=5000)
    for weight in (0.1, 1 / 5000, 1234.5):
        np.testing.assert_array_equal(
            learn(values, "x", weight=np.full(5000, weight), max_bins=30).edges, learn(values, "x", max_bins=30).edges
        )


def test_levels_of_largest_weight_keep_their_bins():
    column = Column("c", Scale("category", ("a", "b", "c", "d")), np.repeat([0.0, 1.0, 2.0, 3.0], [2, 3, 4, 1]))
    weight = np.repeat([9.0, 1.0, 1.0, 1.0], [2, 3, 4, 1])
    binning = Binning(max_bins=3, min_category_count=1)
    assert Learner(["c"], binning, weight).learn(column, 0)[0].condition(2) == Condition("in", ("b", "d"))
    binning = Binning(max_bins=3, min_category_count=3)  # which counts rows
    assert Learner(["c"], binning, weight).learn(column, 0)[0].condition(2) == Condition("in", ("a", "d"))


@pytest.mark.parametrize(("n_unique", "dtype"), [(1, np.uint8), (256, np.uint8), (257, np.uint16), (40_000, np.uint16)])
def test_codes_have_the_smallest_sufficient_type(n_unique, dtype):
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


def test_conditions_of_bins():
    feature = Feature("x", np.array([1.0, 2.5]), special=(-9.0,), missing=True)
    conditions = [Condition("<=", 1.0), Condition("<=", 2.5), Condition("==", -9.0), Condition("missing")]
    assert [feature.condition(b) for b in (0, 1, 3, 4)] == conditions
    assert [c.describe("A") for c in conditions] == ["1[A <= 1]", "1[A <= 2.5]", "1[A == -9]", "1[A is missing]"]


@pytest.mark.parametrize("bin_", [2, 3, 17])
def test_condition_of_the_last_ordered_bin_raises(bin_):
    with pytest.raises(ValueError, match=f"bin {bin_} of feature 'x'"):
        Feature("x", np.array([1.0, 2.0])).condition(bin_)


def test_tables_are_binned_column_by_column():
    X = np.array([[1, 5], [2, 5], [3, 5]])
    features, codes = bin_table(frames.read_table(X), Binning())
    assert [feature.name for feature in features] == ["x0", "x1"]
    assert [code.tolist() for code in codes] == [[0, 1, 2], [0, 0, 0]]


def test_special_values_for_all_columns_apply_to_numbers_only():
    X = pd.DataFrame({"n": [-9.0, 1.0, 2.0, -8.0], "b": [True, False, True, True], "c": ["a", "b", "a", "b"]})
    features, codes = bin_table(frames.read_table(X), Binning(special_values=[-9, -8, -7], min_category_count=1))
    assert features[0].special_values == (-9.0, -8.0, -7.0)
    assert features[0].edges.tolist() == [1.0]
    assert codes[0].tolist() == [2, 0, 1, 3]
    assert features[1].special == features[2].special == ()


def test_rare_levels_share_a_bin():
    X = pd.DataFrame({"job": ["clerk"] * 5 + ["baker"] * 5 + ["smith"] * 4 + ["ranger", None]})
    (feature,), (codes,) = bin_table(frames.read_table(X), Binning())
    assert (feature.n_ordered, feature.n_bins) == (0, 4)
    assert [str(c.text("job")) for c in feature.conditions().values()] == [
        "job == baker",
        "job == clerk",
        "job in {ranger, smith}",
        "job is missing",
    ]
    assert codes.tolist() == [1] * 5 + [0] * 5 + [2] * 5 + [3]


def test_most_frequent_levels_keep_their_bins_beyond_max_bins():
    X = pd.DataFrame({"c": list("aabbbccccd")})
    (feature,), (codes,) = bin_table(frames.read_table(X), Binning(max_bins=3, min_category_count=1))
    assert feature.n_bins == 3
    assert feature.condition(2) == Condition("in", ("a", "d"))
    assert codes.tolist() == [2, 2, 0, 0, 0, 1, 1, 1, 1, 2]


def test_columns_can_be_declared_categories():
    X = pd.DataFrame({"code": [3, 1, 3, 2], "other": [1, 2, 3, 4]})
    features, _ = bin_table(frames.read_table(X), Binning(categorical=["code"], min_category_count=1))
    assert features[0].scale == Scale("category", (1, 2, 3))
    assert features[1].scale == NUMBER


def test_thresholds_can_be_given():
    X = pd.DataFrame(
        {"age": [20.0, 30.0, 40.0], "grade": pd.Categorical(["lo", "hi", "mid"], ["lo", "mid", "hi"], ordered=True)}
    )
    features, _ = bin_table(frames.read_table(X), Binning(thresholds={"age": [35, 25, 25.0], "grade": ["mid"]}))
    assert features[0].edges.tolist() == [25.0, 35.0]
    assert features[1].condition(0) == Condition("<=", "mid")


@given(
    st.lists(st.sampled_from([-9.0, 0.0, 1.0, 2.5, np.nan]), min_size=1, max_size=30),
    st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=30),
)
def test_indicators_are_the_conditions(numbers, levels):
    n = min(len(numbers), len(levels))
    X = pl.DataFrame({"x": numbers[:n], "c": levels[:n]}, schema={"x": pl.Float64, "c": pl.String})
    table = frames.read_table(X)
    features, codes = bin_table(table, Binning(special_values=[-9], min_category_count=1))
    for j, (feature, code) in enumerate(zip(features, codes, strict=True)):
        expected = [code <= b if b < feature.n_ordered else code == b for b in feature.conditions()]
        found = feature.indicators(table.column(j).on_scale(feature.scale))
        np.testing.assert_array_equal(found, np.reshape(expected, (len(expected), n)).T)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"categorical": "all"}, "categorical must be 'auto' or a list of columns, got 'all'"),
        ({"categorical": ["nobody"]}, "categorical names the column 'nobody', but the columns are 'x', 'c'"),
        ({"thresholds": [1]}, "thresholds must be a dict"),
        ({"thresholds": {"x": 1}}, r"thresholds\['x'\] must be a list of values, got 1"),
        ({"thresholds": {"x": ["a"]}}, "thresholds do not fit column 'x', which contains numbers: 'a' is not"),
        ({"thresholds": {"c": ["a"]}}, "thresholds are given for column 'c', which contains categories"),
        ({"special_values": ["unknown"]}, "a list of special_values must contain finite numbers, got 'unknown'"),
        ({"special_values": [np.inf]}, "a list of special_values must contain finite numbers, got inf"),
        ({"special_values": 5}, "special_values must be a list of numbers, or a dict from column to list, got 5"),
        ({"special_values": "99"}, "special_values must be a list of numbers, or a dict from column to list, got '99'"),
        ({"special_values": {"x": ["unknown"]}}, "special_values do not fit column 'x'"),
        ({"special_values": {"z": [1]}}, "special_values names the column 'z'"),
        ({"min_category_count": 0}, "min_category_count must be an integer >= 1, got 0"),
    ],
)
def test_invalid_options_raise_with_their_name(options, message):
    X = pd.DataFrame({"x": [1.0, 2.0], "c": ["a", "b"]})
    with pytest.raises(ValueError, match=message):
        bin_table(frames.read_table(X), Binning(**options))


@pytest.mark.parametrize("special", [[np.inf], [object()], (v for v in [1]), np.array(5)])
def test_special_values_are_checked_without_numeric_columns(special):
    with pytest.raises(ValueError, match="special_values"):
        bin_table(frames.read_table(pd.DataFrame({"c": ["a", "b"]})), Binning(special_values=special))
