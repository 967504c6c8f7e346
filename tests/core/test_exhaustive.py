"""Searches and certificates on small problems for which all subsets and all swaps are enumerated."""

from functools import cache

import numpy as np
import pytest
from _helpers.brute_force import all_subsets, all_swaps, best_of_each_size, greedy
from _helpers.problems import LOSSES, random_problem
from _helpers.reference import best_subsets
from hypothesis import given, settings
from hypothesis import strategies as st

SHAPES = (
    ((4, 4), (3, 0), (4, 3)),
    ((5, 5), (3, 3), (4, 0)),
    ((4, 4), (4, 3), (2, 2), (3, 1)),
    ((13, 13),),
    ((7, 7), (6, 5)),
    ((6, 4), (4, 4), (4, 2)),
    ((3, 2), (3, 2), (3, 3), (3, 0)),
)
RIDGES = (0.0, 1e-3, 1e-2)
N_PROBLEMS = 63
# Tolerances relative to the loss of the empty model. Improvements below TIE do not count in the search.
SAME = 1e-6
TIE = 2e-8


def small_problem(seed, loss):
    """Return a problem with at most 12 candidate columns, and its ridge."""
    n, strength = (40, 60, 120)[seed // 3 % 3], (0.5, 1.0, 2.0)[seed // 2 % 3]
    problem = random_problem(seed, loss, n=n, kinds=SHAPES[seed % len(SHAPES)], strength=strength)
    return problem, RIDGES[seed % len(RIDGES)]


@cache
def enumerated(seed, loss):
    """Return objectives of the best subsets, greedy selection and the frontier, by size, relative to the empty model.

    At least two candidates are left out: if all levels of a feature are in a model, the last one is redundant and only
    distributes the ridge over more coefficients.
    """
    problem, lambda2 = small_problem(seed, loss)
    assert len(problem.candidates) <= 12
    found = all_subsets(problem, lambda2, len(problem.candidates) - 2)
    best = best_of_each_size(found)
    points = problem.frontier(max_terms=len(best) - 1, penalty=problem.penalty(lambda2)).points
    reached = np.array([point.loss + point.ridge for point in points])
    # The frontier ends when no further column lowers the objective.
    reached = np.append(reached, np.full(len(best) - len(reached), reached[-1]))
    return best / best[0], greedy(found) / best[0], reached / best[0]


@pytest.mark.parametrize("loss", LOSSES)
def test_all_subsets_agrees_with_best_subsets(loss):
    problem = random_problem(1, loss, n=40, kinds=((3, 3), (3, 0)))
    found = all_subsets(problem, 0.01, 5)
    X = problem.X[:, problem.candidates]
    for size, (objective, columns, _) in enumerate(best_subsets(X, problem.y, problem.weight, loss, 0.01, 5)):
        subset = tuple(problem.candidates[list(columns)].tolist())
        assert found[subset] == pytest.approx(objective, rel=1e-8)
        assert best_of_each_size(found)[size] == pytest.approx(objective, rel=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_frontier_finds_the_best_model_of_nearly_every_size(loss):
    problems = [enumerated(seed, loss) for seed in range(N_PROBLEMS)]
    gaps = np.concatenate([(reached - best)[1:] for best, _, reached in problems])
    assert (gaps > -SAME).all()
    assert np.mean(gaps < SAME) >= 0.95


@pytest.mark.parametrize("loss", LOSSES)
def test_frontier_is_never_worse_than_greedy_selection(loss):
    problems = [enumerated(seed, loss) for seed in range(N_PROBLEMS)]
    excess = {seed: (reached - chosen).max() for seed, (_, chosen, reached) in enumerate(problems)}
    assert {seed: gap for seed, gap in excess.items() if gap > SAME} == {}


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(
    seed=st.integers(0, 10_000),
    loss=st.sampled_from(LOSSES),
    kinds=st.lists(st.sampled_from([(2, 2), (3, 3), (3, 0), (4, 3), (4, 1)]), min_size=1, max_size=3),
    n=st.integers(8, 60),
    lambda2=st.sampled_from(RIDGES),
)
def test_frontier_of_any_small_problem_decreases_and_is_not_below_the_optimum(seed, loss, kinds, n, lambda2):
    problem = random_problem(seed, loss, n=n, kinds=kinds)
    size = min(len(problem.candidates), 4)
    best = best_of_each_size(all_subsets(problem, lambda2, size))
    points = problem.frontier(max_terms=size, penalty=problem.penalty(lambda2)).points
    values = np.array([point.loss + point.ridge for point in points])
    assert [len(point.columns) for point in points] == list(range(len(points)))
    assert (np.diff(values) < SAME * values[0]).all()
    assert (values >= best[: values.size] - SAME * best[0]).all()


def test_frontier_decreases_although_coefficients_diverge():
    """Pure groups without ridge: predicted coefficients can be extremely wrong, objectives must not be."""
    for seed in (201, 136, 163):
        best, _, reached = enumerated(seed, "logistic")
        assert (np.diff(reached) < SAME).all(), seed
        assert (reached - best).max() < 0.05, seed


def certified(seed, loss, lambda2, **options):
    """Return a problem with too many columns for enumeration, and a certified fit."""
    problem = random_problem(seed, loss, **{"n": 150, "kinds": ((30, 30), (4, 0), (12, 10), (9, 9)), **options})
    lambda0 = (0.2, 0.5, 2.0)[seed % 3]
    search = problem.fit_at(lambda0, penalty=problem.penalty(lambda2))
    return problem, search


def assert_certified(problem, search, lambda2):
    """Check that the model is certified as swap 1-optimal and is swap 1-optimal. Return its number of terms.

    If a coefficient has diverged, its curvature has vanished, and no certificate is required.
    """
    (point,), proof = search.points, search.certificate
    swaps = all_swaps(problem, point, lambda2)
    if np.abs(point.coef).max(initial=0.0) > 30 and not proof.swap_optimal:
        return 0
    assert proof.swap_optimal
    assert proof.pairs == np.isfinite(swaps).sum()
    assert proof.line_searches <= proof.pairs
    if swaps.size:
        null = problem.frontier(max_terms=0).points[0].loss
        assert point.loss + point.ridge - np.nanmin(swaps) <= 2 * TIE * null
    return len(point.columns)


@pytest.mark.parametrize("lambda2", RIDGES)
@pytest.mark.parametrize("loss", LOSSES)
def test_no_swap_improves_a_certified_model(loss, lambda2):
    """All swaps of a term for a column, with optimal intercept and new coefficient."""
    # Without ridge, small problems have many pure groups, for which there is no certificate.
    n = 150 if lambda2 > 0 or loss == "squared" else 400
    n_terms = [
        assert_certified(*certified(seed, loss, lambda2, n=n, strength=(0.5, 1.0, 3.0)[seed % 3]), lambda2)
        for seed in range(12)
    ]
    assert np.count_nonzero(n_terms) >= (10 if lambda2 > 0 or loss == "squared" else 5)


@pytest.mark.parametrize(
    ("loss", "seed", "n"),
    [("logistic", 119, 60), ("logistic", 182, 60), ("logistic", 239, 150), ("exponential", 166, 150)],
)
def test_no_certificate_is_given_if_a_coefficient_diverges(loss, seed, n):
    """The bounds of a certificate do not hold for a diverged coefficient: swaps improve some of these models.

    How much they improve them depends on rounding, because the coefficients have no finite optimum, so only the absence
    of a certificate is tested.
    """
    _, search = certified(seed, loss, 0.0, n=n, strength=(0.5, 3.0, 6.0)[seed % 3])
    (point,) = search.points
    assert np.abs(point.coef).max() > 30
    assert search.certificate.pairs > 0
    assert not search.certificate.swap_optimal


# The curvature of the squared hinge may vanish at any score, so that there are no useful bounds.
@pytest.mark.parametrize("loss", LOSSES[:3])
def test_certificate_bounds_exclude_most_pairs(loss):
    proofs = [certified(seed, loss, 1e-3, n=400)[1].certificate for seed in range(6)]
    assert sum(proof.line_searches for proof in proofs) < 0.5 * sum(proof.pairs for proof in proofs)
