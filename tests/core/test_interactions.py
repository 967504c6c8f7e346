"""best_interactions, compared with gains computed from the rows."""

from itertools import combinations

import numpy as np
import pytest
from _helpers.problems import LOSSES, random_problem
from _helpers.reference import ReferenceRows

from sparsegam import _core

POINT = _core.Point(0.2, np.array([1, 9]), np.array([0.5, -0.4]))
KINDS = ((6, 6), (4, 0), (7, 5), (2, 2), (3, 1), (1, 1))
EVERYTHING = 10_000


def problem_with_coarse_bins(seed=0, loss="logistic", n=400):
    """Return a problem, with one coarse bin per bin, and all pairs of its features."""
    problem = random_problem(seed, loss, n=n, kinds=KINDS)
    coarse_bins = [
        (np.arange(bins, dtype=np.uint8), int(ordered), int(bins))
        for bins, ordered in zip(problem.n_bins, problem.n_ordered, strict=True)
    ]
    return problem, coarse_bins, np.array(list(combinations(range(len(coarse_bins)), 2)))


def conditions_of(code, coarse_bins):
    """Return every condition on a feature as a 0/1 column, in the order of their numbers."""
    of_bin, n_ordered, n_coarse = coarse_bins
    coarse = of_bin[code]
    columns = [coarse <= i for i in range(n_ordered - 1)]
    columns += [(coarse > i) & (coarse < n_ordered) for i in range(n_ordered - 1)]
    return columns + [coarse == i for i in range(n_ordered, n_coarse)]


def gain_given(columns, x, g, h, ridge):
    """Return the gain of adding x to a model with other columns, re-optimised, in the quadratic model."""
    A = np.column_stack(columns).astype(float)
    hA = h[:, None] * A
    q = np.linalg.solve(A.T @ hA, hA.T @ x)
    rest = x - A @ q
    return (rest @ g) ** 2 / (2 * (rest @ (h * rest) + ridge))


def expected_gains(problem, coarse_bins, pair, ridge):
    """Return (marginal_gain, interaction_gain) of every interaction of a pair.

    interaction_gain is zero if one of the four quadrants is empty.
    """
    _, g, h = ReferenceRows(problem.X, problem.y, problem.weight, problem.loss).at(POINT)
    ones, gains = np.ones(len(g)), {}
    first, second = (conditions_of(problem.codes[f], coarse_bins[f]) for f in pair)
    for p, a in enumerate(first):
        for q, b in enumerate(second):
            x = (a & b).astype(float)
            quadrants = [(a == i) & (b == j) for i in (True, False) for j in (True, False)]
            full = all(h[rows].sum() > 0 for rows in quadrants)
            marginal = gain_given([ones], x, g, h, ridge)
            gains[p, q] = marginal, gain_given([ones, a, b], x, g, h, ridge) if full else 0.0
    return gains


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("ridge", [0.0, 2.5])
def test_best_interactions_returns_all_interactions_with_their_gains(loss, ridge):
    problem, coarse_bins, pairs = problem_with_coarse_bins(1, loss)
    best = _core.best_interactions(problem.rows(), POINT, coarse_bins, pairs, per_pair=EVERYTHING, ridge=ridge)
    at = 0
    for number, pair in enumerate(pairs):
        expected = expected_gains(problem, coarse_bins, pair, ridge)
        mine = {
            (int(best.condition_a[i]), int(best.condition_b[i])): (best.marginal_gain[i], best.interaction_gain[i])
            for i in np.flatnonzero(best.pair == number)
        }
        assert mine.keys() == expected.keys()
        for key, gains in expected.items():
            np.testing.assert_allclose(mine[key], gains, rtol=1e-8, atol=1e-10, err_msg=str((pair, key)))
        top = max((gain for _, gain in expected.values()), default=0.0)
        assert best.best_interaction_gain[number] == pytest.approx(top, rel=1e-8, abs=1e-10)
        at += len(mine)
    assert at == len(best) > 200


def kind_and_threshold(condition, coarse_bins):
    _, n_ordered, _ = coarse_bins
    cuts = max(n_ordered - 1, 0)
    return ("level", condition * 10) if condition >= 2 * cuts else (condition >= cuts, condition % cuts)


def similar(one, other, bins_a, bins_b):
    """Return whether the conditions of two interactions have the same kinds and thresholds at most one bin apart."""
    for condition, other_condition, coarse_bins in zip(one, other, (bins_a, bins_b), strict=True):
        kind, cut = kind_and_threshold(condition, coarse_bins)
        other_kind, other_cut = kind_and_threshold(other_condition, coarse_bins)
        if kind != other_kind or abs(cut - other_cut) > 1:
            return False
    return True


@pytest.mark.parametrize("per_pair", [1, 3])
def test_best_interactions_selects_the_best_dissimilar_ones_of_each_pair(per_pair):
    """The expected result is a greedy selection from all interactions."""
    problem, coarse_bins, pairs = problem_with_coarse_bins(2, n=1000)
    every = _core.best_interactions(problem.rows(), POINT, coarse_bins, pairs, per_pair=EVERYTHING)
    best = _core.best_interactions(problem.rows(2), POINT, coarse_bins, pairs, per_pair=per_pair)
    np.testing.assert_array_equal(best.best_interaction_gain, every.best_interaction_gain)
    for number, (a, b) in enumerate(pairs):
        of = np.flatnonzero(every.pair == number)
        if of.size <= per_pair:
            continue
        wanted = []
        for gains in (every.marginal_gain, every.interaction_gain):
            chosen = []
            rank = np.floor(gains[of] / (1e-9 * max(gains[of].max(), 1e-300)) + 0.5)
            for i in of[np.lexsort((every.condition_a[of], every.condition_b[of], -rank))]:
                parts = int(every.condition_a[i]), int(every.condition_b[i])
                if gains[i] > 0 and not any(similar(parts, other, coarse_bins[a], coarse_bins[b]) for other in chosen):
                    chosen.append(parts)
            wanted += [parts for parts in chosen[:per_pair] if parts not in wanted]
        mine = np.flatnonzero(best.pair == number)
        assert list(zip(best.condition_a[mine].tolist(), best.condition_b[mine].tolist(), strict=True)) == wanted


def test_min_curvature_holds_for_the_interaction_and_its_complement():
    problem, coarse_bins, pairs = problem_with_coarse_bins(3)
    _, _, h = ReferenceRows(problem.X, problem.y, problem.weight, problem.loss).at(POINT)
    least = 0.2 * h.sum()
    best = _core.best_interactions(problem.rows(), POINT, coarse_bins, pairs, per_pair=EVERYTHING, min_curvature=least)
    mine = set(zip(best.pair.tolist(), best.condition_a.tolist(), best.condition_b.tolist(), strict=True))
    expected = set()
    for number, (a, b) in enumerate(pairs):
        for p, x in enumerate(conditions_of(problem.codes[a], coarse_bins[a])):
            for q, z in enumerate(conditions_of(problem.codes[b], coarse_bins[b])):
                inside = h[x & z].sum()
                if least <= inside <= h.sum() - least:
                    expected.add((number, p, q))
    assert mine == expected
    assert mine


def test_best_interactions_finds_an_interaction_without_main_effects():
    """Exclusive or of two conditions: neither has a main effect."""
    rng = np.random.default_rng(4)
    codes = [rng.integers(0, 8, 4000).astype(np.uint8) for _ in range(4)]
    y = np.where((codes[1] <= 2) ^ (codes[3] <= 5), 1.0, -1.0) * np.where(rng.random(4000) < 0.1, -1, 1)
    rows = _core.ThresholdRows(
        _core.ThresholdDesign(codes, np.full(4, 8), np.full(4, 8)), y, np.ones(4000), loss="logistic", n_threads=1
    )
    coarse_bins, pairs = [(np.arange(8, dtype=np.uint8), 8, 8)] * 4, np.array(list(combinations(range(4), 2)))
    best = _core.best_interactions(rows, _core.Point(0.0, pairs[:0, 0], np.empty(0)), coarse_bins, pairs, per_pair=2)
    assert pairs[np.argmax(best.best_interaction_gain)].tolist() == [1, 3]
    top = np.argmax(best.interaction_gain)
    assert (best.pair[top], best.condition_a[top] % 7, best.condition_b[top] % 7) == (4, 2, 5)


def test_best_interactions_of_rows_in_python_equals_that_of_compiled_rows():
    problem, coarse_bins, pairs = problem_with_coarse_bins(5)
    python = ReferenceRows(problem.X, problem.y, problem.weight, problem.loss, codes=problem.codes)
    mine, expected = (
        _core.best_interactions(rows, POINT, coarse_bins, pairs, per_pair=2, ridge=0.1)
        for rows in (python, problem.rows())
    )
    for name in ("pair", "condition_a", "condition_b"):
        np.testing.assert_array_equal(getattr(mine, name), getattr(expected, name))
    for name in ("marginal_gain", "interaction_gain", "best_interaction_gain"):
        np.testing.assert_allclose(getattr(mine, name), getattr(expected, name), rtol=1e-8, atol=1e-12)


def test_pair_sums_of_the_wrong_size_are_rejected():
    problem, coarse_bins, pairs = problem_with_coarse_bins()
    rows = ReferenceRows(problem.X, problem.y, problem.weight, problem.loss)
    rows.pair_sums = lambda *_: (np.zeros(3), np.zeros(3))
    with pytest.raises(ValueError, match="a Rows class in Python must return pair_sums"):
        _core.best_interactions(rows, POINT, coarse_bins, pairs, per_pair=1)


def test_per_pair_zero_returns_only_the_best_gain_of_each_pair():
    problem, coarse_bins, pairs = problem_with_coarse_bins()
    best = _core.best_interactions(problem.rows(), POINT, coarse_bins, pairs, per_pair=0)
    assert len(best) == best.pair.size == 0
    assert best.best_interaction_gain.shape == (len(pairs),)
    assert best.best_interaction_gain[0] > 0


def test_no_interactions_are_returned_if_the_curvature_is_zero():
    """All rows are beyond the margin of the squared hinge."""
    problem, coarse_bins, pairs = problem_with_coarse_bins(0, "squared_hinge")
    far = rows_of_one_class(problem)
    best = _core.best_interactions(
        far, _core.Point(9.0, pairs[:0, 0], np.empty(0)), coarse_bins, pairs, per_pair=EVERYTHING, ridge=1.0
    )
    assert len(best) == 0
    assert not best.best_interaction_gain.any()


def rows_of_one_class(problem):
    ones = np.ones(len(problem.y))
    return _core.ThresholdRows(problem.design, ones, ones, loss="squared_hinge", n_threads=1)


@pytest.mark.parametrize("wild", [np.nan, np.inf, 1e300, 1e-300])
def test_best_interactions_accepts_overflowing_sums(wild):
    problem, coarse_bins, pairs = problem_with_coarse_bins()
    rows = ReferenceRows(problem.X, problem.y, problem.weight, problem.loss, codes=problem.codes)
    grad, curv = rows.pair_sums(POINT, coarse_bins, pairs)
    for answer in ((grad * wild, curv), (grad, curv * wild), (grad * wild, curv * wild)):
        rows.pair_sums = lambda *_, answer=answer: answer
        for per_pair in (2, EVERYTHING):
            best = _core.best_interactions(rows, POINT, coarse_bins, pairs, per_pair=per_pair)
            assert ((best.pair >= 0) & (best.pair < len(pairs))).all()


@pytest.mark.parametrize("wrong", [{"per_pair": -1}, {"ridge": -1.0}, {"min_curvature": np.nan}])
def test_best_interactions_rejects_negative_options(wrong):
    problem, coarse_bins, pairs = problem_with_coarse_bins()
    with pytest.raises(ValueError, match="must not be negative"):
        _core.best_interactions(problem.rows(), POINT, coarse_bins, pairs, **{"per_pair": 1, **wrong})


def test_best_interactions_rejects_a_point_of_another_design():
    problem, coarse_bins, pairs = problem_with_coarse_bins()
    with pytest.raises(ValueError, match="does not have column 99"):
        _core.best_interactions(
            problem.rows(), _core.Point(0.0, np.array([99]), np.ones(1)), coarse_bins, pairs, per_pair=1
        )
