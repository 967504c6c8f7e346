"""Ramps of a feature: clipping range, knots, bin centres, and which features have ramps."""

import numpy as np
import pandas as pd
import pytest

from sparsegam import _core
from sparsegam._backends.local import LocalBackend
from sparsegam._backends.protocol import LabelledData
from sparsegam._data.table import read_table
from sparsegam._design.binning import Binning
from sparsegam._design.constraints import Constraints
from sparsegam._design.encoding import bin_table
from sparsegam._design.ramps import MAX_KNOTS, learn_ramps, shapes_of
from sparsegam._models.terms import Condition


def ramps_of(x, weight=None, **binning):
    table = read_table(pd.DataFrame({"x": x}))
    features, codes = bin_table(table, Binning(**binning), weight)
    (ramps,) = learn_ramps(table, features, codes, weight, ["both"])
    return ramps, features[0], codes[0]


def encode(frame, shapes, **binning):
    data = LabelledData(read_table(frame), np.resize([1.0, -1.0], len(frame)), np.ones(len(frame)))
    return LocalBackend().encode(data, Binning(**binning), shapes, "logistic", interactions=False)


def test_ramps_of_integers_are_exact():
    x = np.tile(np.arange(11), 30)
    ramps, _, _ = ramps_of(x)
    assert ramps.exact
    assert (ramps.low, ramps.high) == (0, 10)
    assert ramps.thresholds.tolist() == list(range(2, 11))  # with a knot at 1, only zeros would be below: a step
    np.testing.assert_allclose(ramps.bin_centres, np.arange(-10, 1) / 10, atol=1e-15)


@pytest.mark.parametrize("binning", [{}, {"min_samples_bin": 10}, {"max_bins": 50}])
def test_outliers_are_clipped(binning):
    x = np.append(np.random.default_rng(0).normal(size=998), [1e6, -1e6])
    ramps, *_ = ramps_of(x, **binning)
    assert -3 < ramps.low < -1.8 < 1.8 < ramps.high < 3
    assert ramps.bin_centres.min() == -1
    assert ramps.bin_centres.max() == ramps.bin_ends.max() == 0
    assert ramps.knots.size <= MAX_KNOTS
    assert ramps.thresholds[-1] == ramps.high


def test_bin_means_are_those_of_the_rows():
    rng = np.random.default_rng(1)
    x, weight = rng.normal(size=2000), rng.uniform(0.5, 2, 2000)
    ramps, feature, codes = ramps_of(x, weight, max_bins=12)
    assert not ramps.exact
    for b in range(feature.n_ordered):
        inside = codes == b
        assert ramps.bin_means[b] == pytest.approx(np.average(x[inside], weights=weight[inside]))


def test_bin_centres_of_numbers_far_from_zero_are_accurate():
    x = np.linspace(0, 3, 40)
    near, *_ = ramps_of(x)
    far, *_ = ramps_of(x + 1e12)
    np.testing.assert_allclose(far.bin_centres, near.bin_centres, atol=1e-4 / 3)
    np.testing.assert_array_equal(far.bin_centres, far.bin_ends)


def test_ramps_do_not_depend_on_the_unit():
    x = np.random.default_rng(2).exponential(size=500)
    one, *_ = ramps_of(x)
    two, *_ = ramps_of(x * 2.0**40)
    np.testing.assert_array_equal(one.bin_centres, two.bin_centres)
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
def test_features_without_ramps(x):
    ramps, *_ = ramps_of(x)
    assert ramps is None


def test_ramps_are_zero_for_missing_and_special_values():
    x = np.tile(np.append(np.arange(9.0), [np.nan, -99.0]), 20)
    encoded = encode(pd.DataFrame({"x": x}), ["both"], special_values=[-99.0])
    design = encoded.design
    column = np.array([design.n_columns - 1])
    values = encoded.row_scores(_core.Point(0.0, column, np.ones(1)))
    np.testing.assert_allclose(values[:9], np.arange(-8, 1) / 8)
    assert values[9:11].tolist() == [0, 0]
    assert design.term(int(column[0]), 2.0).condition == Condition("ramp", 8.0, 0.0)
    assert design.term(int(column[0]), 2.0).coef == 0.25
    np.testing.assert_allclose(design.bin_tables(column, np.ones(1))[0][encoded.codes[0]], values)


def test_a_feature_may_have_ramps_only():
    frame = pd.DataFrame({"x": np.tile(np.arange(6.0), 20), "two": np.tile([0, 1], 60)})
    design = encode(frame, ["ramps", "ramps"]).design
    allowed = design.candidates(Constraints())
    kinds = [design.term(int(c), 1.0).condition.kind for c in np.flatnonzero(allowed)]
    assert kinds == ["ramp"] * 4 + ["<="]


def test_shapes_may_be_given_by_name():
    assert shapes_of("both", ["a", "b"]) == ["both", "both"]
    assert shapes_of({"b": "ramps"}, ["a", "b"]) == ["steps", "ramps"]
