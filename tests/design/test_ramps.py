"""Ramps of a feature: knots, ends, places of bins, and which columns have any."""

import numpy as np
import pandas as pd
import pytest

from sparsegam._data.table import read_table
from sparsegam._design.binning import Binning
from sparsegam._design.constraints import Constraints
from sparsegam._design.encoding import bin_table
from sparsegam._design.own import OwnNumbers
from sparsegam._design.ramps import MOST_KNOTS, learn_ramps, shapes_of
from sparsegam._design.threshold import ThresholdDesign
from sparsegam._models.terms import Condition


def ramps_of(x, weight=None, **binning):
    table = read_table(pd.DataFrame({"x": x}))
    features, codes = bin_table(table, Binning(**binning), weight)
    (ramps,) = learn_ramps(table, features, codes, weight, ["both"])
    return ramps, features[0], codes[0]


def test_whole_numbers_are_exact():
    x = np.tile(np.arange(11), 30)
    ramps, _, _ = ramps_of(x)
    assert ramps.exact
    assert (ramps.low, ramps.high) == (0, 10)
    assert ramps.at.tolist() == list(range(2, 11))  # with a knot at 1, only zeros would be below: a step
    np.testing.assert_allclose(ramps.place, np.arange(-10, 1) / 10, atol=1e-15)


@pytest.mark.parametrize("binning", [{}, {"min_samples_bin": 10}, {"max_bins": 50}])
def test_outliers_are_held(binning):
    x = np.append(np.random.default_rng(0).normal(size=998), [1e6, -1e6])
    ramps, *_ = ramps_of(x, **binning)
    assert -3 < ramps.low < -1.8 < 1.8 < ramps.high < 3
    assert ramps.place.min() == -1
    assert ramps.place.max() == ramps.end.max() == 0
    assert ramps.knots.size <= MOST_KNOTS
    assert ramps.at[-1] == ramps.high


def test_bins_count_as_the_mean_of_their_rows():
    rng = np.random.default_rng(1)
    x, weight = rng.normal(size=2000), rng.uniform(0.5, 2, 2000)
    ramps, feature, codes = ramps_of(x, weight, max_bins=12)
    assert not ramps.exact
    for b in range(feature.n_ordered):
        inside = codes == b
        assert ramps.middle[b] == pytest.approx(np.average(x[inside], weights=weight[inside]))


def test_numbers_far_from_zero_keep_their_digits():
    x = np.linspace(0, 3, 40)
    near, *_ = ramps_of(x)
    far, *_ = ramps_of(x + 1e12)
    np.testing.assert_allclose(far.place, near.place, atol=1e-4 / 3)
    np.testing.assert_array_equal(far.place, far.end)


def test_units_do_not_matter():
    x = np.random.default_rng(2).exponential(size=500)
    one, *_ = ramps_of(x)
    two, *_ = ramps_of(x * 2.0**40)
    np.testing.assert_array_equal(one.place, two.place)
    np.testing.assert_array_equal(one.knots, two.knots)


@pytest.mark.parametrize(
    "x",
    [
        [0, 1] * 50,
        [3.0] * 100,
        ["a", "b"] * 50,
        pd.date_range("2020-01-01", periods=100),
        [0.0] * 995 + list(range(5)),
        [np.nan] * 100,
    ],
)
def test_columns_without(x):
    ramps, *_ = ramps_of(x)
    assert ramps is None


def test_missing_and_special_values_are_at_zero():
    x = np.tile(np.append(np.arange(9.0), [np.nan, -99.0]), 20)
    table = read_table(pd.DataFrame({"x": x}))
    features, codes = bin_table(table, Binning(special_values=[-99.0]))
    ramps = learn_ramps(table, features, codes, None, ["both"])
    design = ThresholdDesign(features, codes, ramps=ramps)
    column = np.array([design.n_columns - 1])
    values = design.own_columns(OwnNumbers(table), column).scores(0.0, np.ones(1))
    np.testing.assert_allclose(values[:9], np.arange(-8, 1) / 8)
    assert values[9:11].tolist() == [0, 0]
    assert design.term(int(column[0]), 2.0).condition == Condition("ramp", 8.0, 0.0)
    assert design.term(int(column[0]), 2.0).coef == 0.25
    np.testing.assert_allclose(design.bin_tables(column, np.ones(1))[0][codes[0]], values)


def test_only_ramps_where_so_asked():
    table = read_table(pd.DataFrame({"x": np.tile(np.arange(6.0), 20), "two": np.tile([0, 1], 60)}))
    features, codes = bin_table(table, Binning())
    ramps = learn_ramps(table, features, codes, None, ["ramps", "ramps"])
    design = ThresholdDesign(features, codes, ramps=ramps, shapes=["ramps", "ramps"])
    allowed = design.candidates(Constraints())
    kinds = [design.term(int(c), 1.0).condition.kind for c in np.flatnonzero(allowed)]
    assert kinds == ["ramp"] * 4 + ["<="]


def test_shapes_by_name():
    assert shapes_of("both", ["a", "b"]) == ["both", "both"]
    assert shapes_of({"b": "ramps"}, ["a", "b"]) == ["steps", "ramps"]
