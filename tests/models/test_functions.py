"""Functions of a model: bins, contributions and means."""

import numpy as np
import pytest
from _helpers import products
from _helpers.functions import function_of

from sparsegam._data.columns import Scale
from sparsegam._data.table import read_table
from sparsegam._models.functions import bins_of, pair_function, score_function
from sparsegam._models.terms import Condition, Term
from sparsegam._models.training import TrainingDistribution


@pytest.fixture(scope="module")
def fitted():
    return products.fitted()


def labels(bins):
    return tuple(bin_.label for bin_ in bins.bins)


def test_bins_of_a_feature_hold_its_conditions():
    conditions = [products.upto(3.0), products.above(5.0), Condition("==", -9.0), Condition("missing")]
    bins = bins_of("x", conditions, (-9.0, -8.0))
    numbers = np.array([1.0, 3.0, np.nextafter(3.0, 4.0), 4.0, 5.0, 6.0, -9.0, -8.0, np.nextafter(-9.0, 0.0), np.nan])
    plain = ~np.isin(numbers, [-9, -8]) & ~np.isnan(numbers)
    expected = [plain & (numbers <= 3), plain & (numbers > 5), numbers == -9, np.isnan(numbers)]
    for condition, holds in zip(conditions, expected, strict=True):
        np.testing.assert_array_equal(bins.holds(condition)[bins.bin_of(numbers)], holds)
    assert labels(bins) == ("missing", "-9", "-8", "<= 3", "> 3 to 5", "> 5")


def test_bins_of_ordered_levels_and_categories():
    ordered = bins_of("x", [Condition("<=", "b")], scale=Scale("ordered", ("a", "b", "c")))
    assert labels(ordered) == ("missing", "a, b", "c", "any other")
    assert ordered.bin_of(np.array([0.0, 1.0, 2.0, -1.0, np.nan])).tolist() == [1, 1, 2, 3, 0]
    seen = TrainingDistribution(single=(("a", 0.5), ("b", 0.5)), missing=0.0)
    category = bins_of("x", [Condition("in", ("c", "a"))], (), Scale("category", ("a", "b", "c")), seen)
    assert labels(category)[1:] == ("c, a", "b", "any other: no training rows")
    assert category.bin_of(np.array([0.0, 1.0, 2.0, -1.0, np.nan])).tolist() == [1, 2, 1, 3, 0]


def test_bins_separate_special_values_that_no_training_row_had():
    seen = TrainingDistribution(upto=((3.0, 0.5),), above=0.4, single=((-9.0, 0.1),))
    bins = bins_of("x", [products.upto(3.0)], (-8.0, -9.0), distribution=seen)
    assert labels(bins)[:3] == ("missing: no training rows", "-9", "-8: no training rows")
    ranges = bins.range_of(np.array([1.0, -9.0, -8.0, -8.0, np.nan]))
    assert bins.count_new(ranges) == {"a special value": 2, "a missing value": 1}


def test_pair_functions_find_the_bins_of_rows(fitted):
    model, frame = fitted
    columns = model.score_function.columns(read_table(frame))
    for pair, function in model.pair_functions().items():
        found = function.evaluate(columns)
        np.testing.assert_array_equal(found, function.at(*(columns[name] for name in pair)))
        np.testing.assert_array_equal(function.contributions.ravel()[function.bin_of(columns)], found)
        assert function.shares.sum() == pytest.approx(1.0)


def test_labels_of_pairs_name_both_features(fitted):
    model, _ = fitted
    ages, hours = list(model.pair_functions().values())[:2]
    assert ages.contributions.shape == (4, 4)
    assert labels(ages.axes[0]) == ("missing: no training rows", "<= 25", "> 25 to 40", "> 40")
    assert labels(hours.axes[1]) == ("missing", "<= 20", "> 20")
    assert "age: <= 25; priors: > 3" in ages.labels()
    assert "age: <= 25; priors: missing: no training rows" in ages.labels()


def test_changed_functions_change_their_mean(fitted):
    model, _ = fitted
    function = model.pair_functions()["age", "priors"]
    values, shares = function.shifted(2.0).training
    assert shares @ values == pytest.approx(function.mean + 2.0)


def test_score_function_scores_like_the_model(fitted):
    model, frame = fitted
    score = score_function(model)
    assert [function.name for function in score.of_features] == ["age", "priors"]
    assert score.features == ("age", "priors", "colour", "hours")
    np.testing.assert_array_equal(score.score(frame), model.decision_function(frame))
    with pytest.raises(TypeError, match="expected a Model, a Scorecard or a fitted estimator, got int"):
        score_function(3)


def test_sums_of_interactions_are_monotone_to_the_bit():
    rng = np.random.default_rng(0)
    terms = [
        products.product(("a", products.upto(float(s))), ("b", products.upto(float(t))), -abs(rng.normal()) / 3)
        for s, t in rng.integers(0, 9, size=(40, 2))
    ]
    axes = tuple(bins_of(name, [term.clauses[i].condition for term in terms]) for i, name in enumerate("ab"))
    contributions = pair_function(terms, axes).contributions[1:, 1:]
    assert (np.diff(contributions, axis=0) >= 0).all()
    assert (np.diff(contributions, axis=1) >= 0).all()


def test_slopes_stay_within_the_ends_of_their_bin():
    function = function_of([Term("x", Condition("ramp", 8.0, 2.0), 0.1), Term("x", Condition("<=", 5.0), 1.0)])
    numbers = np.array([0.0, 2.0, 5.0, np.nextafter(5.0, 6.0), 8.0, 9.0, np.nan])
    np.testing.assert_allclose(function.at(numbers), [0.4, 0.4, 0.7, -0.3, 0.0, 0.0, 0.0], atol=1e-12)
