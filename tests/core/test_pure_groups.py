"""Groups of rows that nearly all have one label: what they promise, what enters for them, and what leaves again."""

import numpy as np
import pytest
from _helpers.problems import problem_of
from sklearn.datasets import make_classification

from sparsegam import _core


def value(point, price):
    return point.loss + point.ridge + price * len(point.columns)


@pytest.mark.parametrize("of_others", [False, True])
def test_a_pure_group_pays_whether_a_column_holds_for_it_or_for_all_others(of_others):
    """For the exponential loss the quadratic model promises half of what a pure group gains: 25 of 50 here."""
    rng = np.random.default_rng(0)
    y, group = np.r_[np.tile([-1.0, 1.0], 475), np.ones(50)], np.repeat([0, 1], [950, 50])
    codes = [*rng.integers(0, 100, (2, 1000)), group if of_others else 1 - group]  # a column holds up to a bin
    (point,) = problem_of(codes, y, "exponential").fit_at(35.0, certify=False).points
    assert point.columns.tolist() == [200]
    assert value(point, 35.0) == pytest.approx(985.0, abs=1e-3)


def separable(seed):
    """Few rows of features that nearly separate them, in bins."""
    X, y = make_classification(600, 6, n_informative=4, flip_y=0.02, random_state=seed)
    return problem_of([np.unique(np.round(2 * x), return_inverse=True)[1] for x in X.T], 2.0 * y - 1)


@pytest.mark.parametrize(("seed", "price"), [(11, 4.0), (20, 2.0), (33, 6.0), (53, 2.0)])
def test_a_coefficient_that_has_diverged_is_dropped_where_it_does_not_pay(seed, price):
    """What is left of its curvature says nothing about what it would cost to drop it."""
    problem = separable(seed)
    (point,) = problem.fit_at(price, certify=False).points
    for s in range(len(point.columns)):
        rest = _core.Point(point.intercept, np.delete(point.columns, s), np.delete(point.coef, s))
        assert value(_core.refit(problem.rows(), problem.penalty(), rest), price) > value(point, price) - 0.03 * price


@pytest.mark.parametrize("seed", [13, 14, 23])
def test_a_search_among_diverged_coefficients_goes_on(seed):
    """Their curvature is lost in floats, and with it what the best-looking moves would gain: others have their turn."""
    problem, prices = separable(seed), (6.0, 4.0, 3.0, 2.0)
    points = [problem.fit_at(price, certify=False).points[0] for price in prices]
    for price, found in zip(prices, points, strict=True):
        assert value(found, price) < 1.005 * min(value(point, price) for point in points)
