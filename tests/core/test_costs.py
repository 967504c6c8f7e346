"""Frontiers of columns with different costs, which are compared at `comparison_lambda0`."""

import numpy as np
import pytest
from _helpers.brute_force import all_subsets
from _helpers.problems import LOSSES, random_problem

KINDS = ((4, 4), (3, 0), (4, 3), (2, 2))


def outcome(search):
    return [(p.intercept, p.columns.tolist(), p.coef.tolist(), p.loss, p.ridge) for p in search.points]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("cost", [1.0, 0.3])
def test_comparison_lambda0_does_not_matter_if_all_costs_are_equal(loss, cost):
    problem = random_problem(0, loss, n=300)
    always = problem.candidates[:1].astype(np.int64)
    penalty = problem.penalty(1e-3, cost=np.full(problem.n_columns, cost), always=always)
    without = problem.frontier(max_terms=8, penalty=penalty)
    assert outcome(problem.frontier(max_terms=8, penalty=penalty, comparison_lambda0=7.0)) == outcome(without)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("lambda0", [0.5, 3.0])
def test_frontier_minimises_the_objective_at_comparison_lambda0(loss, lambda0):
    """The expected optimum is the best of all subsets of up to four columns; costs differ by feature or by column."""
    misses, sizes = 0, 0
    for seed in range(6):
        problem, rng = random_problem(seed, loss, n=80, kinds=KINDS), np.random.default_rng(seed)
        by_feature = np.repeat(rng.choice([1.0, 2.0], len(KINDS)), problem.n_bins)
        cost = by_feature if seed % 2 else rng.choice([0.5, 1.0, 2.0], problem.n_columns)
        found = all_subsets(problem, 0.01, 4)
        search = problem.frontier(max_terms=4, penalty=problem.penalty(0.01, cost=cost), comparison_lambda0=lambda0)
        for point in search.points:
            k, paid = point.columns.size, lambda0 * cost[point.columns].sum()
            best = min(value + lambda0 * cost[list(s)].sum() for s, value in found.items() if len(s) == k)
            misses += point.loss + point.ridge + paid > best + 1e-6 * found[()]
            sizes += 1
    assert sizes > 24
    assert misses <= 0.05 * sizes


def test_expensive_column_is_selected_only_at_a_low_lambda0():
    """The strongest column costs three times as much as the others."""
    problem = random_problem(1, "logistic", n=400)
    strongest = int(problem.frontier(max_terms=1).points[1].columns[0])
    cost = np.ones(problem.n_columns)
    cost[strongest] = 3.0
    penalty = problem.penalty(cost=cost)
    low, high = (
        problem.frontier(max_terms=6, penalty=penalty, comparison_lambda0=lambda0).points for lambda0 in (0.0, 1000.0)
    )
    assert all(strongest in point.columns for point in low[1:2])
    assert not any(strongest in point.columns for point in high)


def test_objective_at_comparison_lambda0_decreases_while_cheap_columns_are_left():
    """The objective decreases with size, although the loss may increase."""
    for seed in range(8):
        problem, lambda0 = random_problem(seed, "squared", n=60), 4.0
        cost = 1.0 + (np.arange(problem.n_columns) % 3 == 0)
        points = problem.frontier(
            max_terms=8, penalty=problem.penalty(1e-3, cost=cost), comparison_lambda0=lambda0
        ).points
        objectives = [p.loss + p.ridge + lambda0 * (cost[p.columns] - 1).sum() for p in points]
        assert all(np.diff(objectives) <= lambda0 + 1e-9)
        assert objectives[3] < objectives[0]


@pytest.mark.parametrize("lambda0", [-1.0, np.nan, np.inf])
def test_frontier_rejects_invalid_comparison_lambda0(lambda0):
    with pytest.raises(ValueError, match="comparison_lambda0 must be finite and not negative"):
        random_problem(0, "logistic").frontier(max_terms=2, comparison_lambda0=lambda0)
