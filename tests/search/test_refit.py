"""Refits reach the optimum of the search, keep frozen coefficients, and predict the costs of swaps."""

import numpy as np
import pytest
from _helpers.table_problems import table_problem

from sparsegam._search.refit import Neighbourhood, Support, objective_at, refit
from sparsegam._search.solver import frontier
from sparsegam.losses import LOSSES

LAMBDA2 = 1e-3


def make_problem(loss):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 9, (500, 3)).astype(float)
    score = 1.5 * (X[:, 0] <= 4) - (X[:, 1] <= 2) + 0.4
    y = np.where(rng.random(500) < 1 / (1 + np.exp(-score)), 1.0, -1.0) if LOSSES[loss].is_classifier else score
    y = y if LOSSES[loss].is_classifier else y + rng.normal(size=500)
    return table_problem(X, y, loss=loss, lambda2=LAMBDA2, max_terms=4)


def support_of(point):
    return Support(point.columns, np.append(point.intercept, point.coef))


@pytest.mark.parametrize("loss", LOSSES)
def test_refit_from_zero_equals_the_search(loss):
    problem = make_problem(loss)
    point = frontier(problem).points[3]
    found = refit(problem.rows, problem.ridge, Support(point.columns, np.zeros(4)), units=problem.units)
    np.testing.assert_allclose(found.theta, support_of(point).theta, atol=1e-4)
    assert found.objective == pytest.approx(point.loss + point.ridge, abs=1e-6)
    assert objective_at(problem.rows, problem.ridge, found, problem.units) == found.objective


@pytest.mark.parametrize("loss", LOSSES)
def test_refit_keeps_frozen_coefficients(loss):
    problem = make_problem(loss)
    start = support_of(frontier(problem).points[2])
    theta = start.theta.copy()
    theta[1] += 0.3
    held = np.array([True, False])
    found = refit(problem.rows, problem.ridge, Support(start.columns, theta), held=held, units=problem.units)
    assert found.theta[1] == theta[1]
    for shift in ([0.01, 0, 0], [-0.01, 0, 0], [0, 0, 0.01], [0, 0, -0.01]):
        other = Support(found.columns, found.theta + shift)
        assert objective_at(problem.rows, problem.ridge, other, problem.units) > found.objective


def test_refit_of_an_empty_support_is_the_intercept():
    problem = make_problem("squared")
    found = refit(problem.rows, problem.ridge, Support(np.zeros(0, dtype=np.int64), np.zeros(1)), units=problem.units)
    assert found.theta == pytest.approx(frontier(problem).points[0].intercept)


def test_predicted_swap_costs_are_exact_for_the_squared_loss():
    problem = make_problem("squared")
    point = frontier(problem).points[2]
    near = Neighbourhood(problem.rows, problem.ridge, support_of(point), problem.units)
    costs = near.swap_costs(0)
    assert np.isinf(costs[point.columns]).all()
    rest = refit(problem.rows, problem.ridge, near.support.without(0), units=problem.units)
    for column in np.flatnonzero(np.isfinite(costs))[::3]:
        swapped = refit(problem.rows, problem.ridge, rest.with_column(int(column)), units=problem.units)
        assert costs[column] == pytest.approx(swapped.objective - near.support.objective, rel=1e-5)  # scans add floats
