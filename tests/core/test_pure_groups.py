"""Searches with nearly pure groups of rows, for which the quadratic model predicts gains poorly."""

import numpy as np
import pytest
from _helpers.problems import problem_of
from sklearn.datasets import make_classification

from sparsegam import _core


def objective(point, lambda0):
    return point.loss + point.ridge + lambda0 * len(point.columns)


@pytest.mark.parametrize("complement", [False, True])
def test_fit_at_selects_a_pure_group_or_its_complement(complement):
    """For the exponential loss, the quadratic model predicts half of the gain of a pure group: 25 of 50 here."""
    rng = np.random.default_rng(0)
    y, group = np.r_[np.tile([-1.0, 1.0], 475), np.ones(50)], np.repeat([0, 1], [950, 50])
    codes = [*rng.integers(0, 100, (2, 1000)), group if complement else 1 - group]
    (point,) = problem_of(codes, y, "exponential").fit_at(35.0, certify=False).points
    assert point.columns.tolist() == [200]
    assert objective(point, 35.0) == pytest.approx(985.0, abs=1e-3)


def separable(seed):
    """Return a small problem whose features nearly separate the classes."""
    X, y = make_classification(600, 6, n_informative=4, flip_y=0.02, random_state=seed)
    return problem_of([np.unique(np.round(2 * x), return_inverse=True)[1] for x in X.T], 2.0 * y - 1)


@pytest.mark.parametrize(("seed", "lambda0"), [(11, 4.0), (20, 2.0), (33, 6.0), (53, 2.0)])
def test_fit_at_drops_diverged_coefficients_that_gain_less_than_lambda0(seed, lambda0):
    """The curvature of a diverged coefficient has vanished and does not predict the cost of dropping it."""
    problem = separable(seed)
    (point,) = problem.fit_at(lambda0, certify=False).points
    for s in range(len(point.columns)):
        rest = _core.Point(point.intercept, np.delete(point.columns, s), np.delete(point.coef, s))
        assert (
            objective(_core.refit(problem.rows(), problem.penalty(), rest), lambda0)
            > objective(point, lambda0) - 0.03 * lambda0
        )


@pytest.mark.parametrize("seed", [13, 14, 23])
def test_fit_at_is_close_to_the_best_solution_with_diverged_coefficients(seed):
    """Their curvature is lost in float32, so that predicted gains are wrong and further moves must be tried."""
    problem, lambdas = separable(seed), (6.0, 4.0, 3.0, 2.0)
    points = [problem.fit_at(lambda0, certify=False).points[0] for lambda0 in lambdas]
    for lambda0, found in zip(lambdas, points, strict=True):
        assert objective(found, lambda0) < 1.005 * min(objective(point, lambda0) for point in points)
