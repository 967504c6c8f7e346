"""Products of two conditions, as the core scores them, against gains worked out from the rows themselves."""

from itertools import combinations

import numpy as np
import pytest
from _helpers.problems import LOSSES, random_problem
from _helpers.reference import ReferenceRows

from sparsegam import _core

POINT = _core.Point(0.2, np.array([1, 9]), np.array([0.5, -0.4]))
KINDS = ((6, 6), (4, 0), (7, 5), (2, 2), (3, 1), (1, 1))
EVERYTHING = 10_000


def problem_with_cells(seed=0, loss="logistic", n=400):
    """A problem in which every bin is a cell."""
    problem = random_problem(seed, loss, n=n, kinds=KINDS)
    cells = [
        (np.arange(bins, dtype=np.uint8), int(ordered), int(bins))
        for bins, ordered in zip(problem.n_bins, problem.n_ordered, strict=True)
    ]
    return problem, cells, np.array(list(combinations(range(len(cells)), 2)))


def parts_of(code, cells):
    """Every condition on a feature as a 0/1 column, in the order of the parts."""
    of_bin, n_ordered, n_cells = cells
    cell = of_bin[code]
    columns = [cell <= i for i in range(n_ordered - 1)]
    columns += [(cell > i) & (cell < n_ordered) for i in range(n_ordered - 1)]
    return columns + [cell == i for i in range(n_ordered, n_cells)]


def gain_beside(columns, x, g, h, ridge):
    """What x gains beside other columns, re-optimised, in the quadratic model."""
    A = np.column_stack(columns).astype(float)
    hA = h[:, None] * A
    q = np.linalg.solve(A.T @ hA, hA.T @ x)
    rest = x - A @ q
    return (rest @ g) ** 2 / (2 * (rest @ (h * rest) + ridge))


def expected_gains(problem, cells, pair, ridge):
    """(plain, contrast) of every product of a pair; contrast is zero where one of the four cells is empty."""
    _, g, h = ReferenceRows(problem.X, problem.y, problem.weight, problem.loss).at(POINT)
    ones, gains = np.ones(len(g)), {}
    first, second = (parts_of(problem.codes[f], cells[f]) for f in pair)
    for p, a in enumerate(first):
        for q, b in enumerate(second):
            x = (a & b).astype(float)
            quadrants = [(a == i) & (b == j) for i in (True, False) for j in (True, False)]
            full = all(h[rows].sum() > 0 for rows in quadrants)
            plain = gain_beside([ones], x, g, h, ridge)
            gains[p, q] = plain, gain_beside([ones, a, b], x, g, h, ridge) if full else 0.0
    return gains


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("ridge", [0.0, 2.5])
def test_all_products_with_their_gains(loss, ridge):
    problem, cells, pairs = problem_with_cells(1, loss)
    best = _core.best_interactions(problem.rows(), POINT, cells, pairs, per_pair=EVERYTHING, ridge=ridge)
    at = 0
    for number, pair in enumerate(pairs):
        expected = expected_gains(problem, cells, pair, ridge)
        mine = {
            (int(best.condition_a[i]), int(best.condition_b[i])): (best.marginal_gain[i], best.interaction_gain[i])
            for i in np.flatnonzero(best.pair == number)
        }
        assert mine.keys() == expected.keys()
        for key, gains in expected.items():
            np.testing.assert_allclose(mine[key], gains, rtol=1e-8, atol=1e-10, err_msg=str((pair, key)))
        top = max((contrast for _, contrast in expected.values()), default=0.0)
        assert best.best_interaction_gain[number] == pytest.approx(top, rel=1e-8, abs=1e-10)
        at += len(mine)
    assert at == len(best) > 200


def kind_and_cut(part, cells):
    _, n_ordered, _ = cells
    cuts = max(n_ordered - 1, 0)
    return ("alone", part * 10) if part >= 2 * cuts else (part >= cuts, part % cuts)


def alike(one, other, cells_a, cells_b):
    """Are two products of a pair one idea: the same kinds of conditions, cuts at most a cell apart on both features?"""
    for part, than, cells in zip(one, other, (cells_a, cells_b), strict=True):
        (kind, cut), (other_kind, other_cut) = kind_and_cut(part, cells), kind_and_cut(than, cells)
        if kind != other_kind or abs(cut - other_cut) > 1:
            return False
    return True


@pytest.mark.parametrize("per_pair", [1, 3])
def test_the_best_of_each_pair_that_differ(per_pair):
    """Greedily, from all of them."""
    problem, cells, pairs = problem_with_cells(2, n=1000)
    every = _core.best_interactions(problem.rows(), POINT, cells, pairs, per_pair=EVERYTHING)
    best = _core.best_interactions(problem.rows(2), POINT, cells, pairs, per_pair=per_pair)
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
                if gains[i] > 0 and not any(alike(parts, other, cells[a], cells[b]) for other in chosen):
                    chosen.append(parts)
            wanted += [parts for parts in chosen[:per_pair] if parts not in wanted]
        mine = np.flatnonzero(best.pair == number)
        assert list(zip(best.condition_a[mine].tolist(), best.condition_b[mine].tolist(), strict=True)) == wanted


def test_products_keep_enough_curvature_on_both_sides():
    problem, cells, pairs = problem_with_cells(3)
    _, _, h = ReferenceRows(problem.X, problem.y, problem.weight, problem.loss).at(POINT)
    least = 0.2 * h.sum()
    best = _core.best_interactions(problem.rows(), POINT, cells, pairs, per_pair=EVERYTHING, min_curvature=least)
    mine = set(zip(best.pair.tolist(), best.condition_a.tolist(), best.condition_b.tolist(), strict=True))
    expected = set()
    for number, (a, b) in enumerate(pairs):
        for p, x in enumerate(parts_of(problem.codes[a], cells[a])):
            for q, z in enumerate(parts_of(problem.codes[b], cells[b])):
                inside = h[x & z].sum()
                if least <= inside <= h.sum() - least:
                    expected.add((number, p, q))
    assert mine == expected
    assert mine


def test_an_interaction_without_main_effects_is_the_best_of_its_pair():
    """Exclusive or of two conditions: nothing plain about either, all of it contrast."""
    rng = np.random.default_rng(4)
    codes = [rng.integers(0, 8, 4000).astype(np.uint8) for _ in range(4)]
    y = np.where((codes[1] <= 2) ^ (codes[3] <= 5), 1.0, -1.0) * np.where(rng.random(4000) < 0.1, -1, 1)
    rows = _core.ThresholdRows(
        _core.ThresholdDesign(codes, np.full(4, 8), np.full(4, 8)), y, np.ones(4000), loss="logistic", n_threads=1
    )
    cells, pairs = [(np.arange(8, dtype=np.uint8), 8, 8)] * 4, np.array(list(combinations(range(4), 2)))
    best = _core.best_interactions(rows, _core.Point(0.0, pairs[:0, 0], np.empty(0)), cells, pairs, per_pair=2)
    assert pairs[np.argmax(best.best_interaction_gain)].tolist() == [1, 3]
    top = np.argmax(best.interaction_gain)
    assert (best.pair[top], best.condition_a[top] % 7, best.condition_b[top] % 7) == (4, 2, 5)


def test_rows_in_python_answer_as_the_compiled_ones_do():
    problem, cells, pairs = problem_with_cells(5)
    python = ReferenceRows(problem.X, problem.y, problem.weight, problem.loss, codes=problem.codes)
    mine, expected = (
        _core.best_interactions(rows, POINT, cells, pairs, per_pair=2, ridge=0.1) for rows in (python, problem.rows())
    )
    for name in ("pair", "condition_a", "condition_b"):
        np.testing.assert_array_equal(getattr(mine, name), getattr(expected, name))
    for name in ("marginal_gain", "interaction_gain", "best_interaction_gain"):
        np.testing.assert_allclose(getattr(mine, name), getattr(expected, name), rtol=1e-8, atol=1e-12)


def test_an_answer_of_the_wrong_shape_is_refused():
    problem, cells, pairs = problem_with_cells()
    rows = ReferenceRows(problem.X, problem.y, problem.weight, problem.loss)
    rows.pair_sums = lambda *_: (np.zeros(3), np.zeros(3))
    with pytest.raises(ValueError, match="a Rows class in Python must return pair_sums"):
        _core.best_interactions(rows, POINT, cells, pairs, per_pair=1)


def test_without_products_only_the_pairs_are_screened():
    problem, cells, pairs = problem_with_cells()
    best = _core.best_interactions(problem.rows(), POINT, cells, pairs, per_pair=0)
    assert len(best) == best.pair.size == 0
    assert best.best_interaction_gain.shape == (len(pairs),)
    assert best.best_interaction_gain[0] > 0


def test_rows_without_curvature_have_no_products():
    """Squared hinge, every row beyond its margin."""
    problem, cells, pairs = problem_with_cells(0, "squared_hinge")
    far = problem_of_one_class(problem)
    best = _core.best_interactions(
        far, _core.Point(9.0, pairs[:0, 0], np.empty(0)), cells, pairs, per_pair=EVERYTHING, ridge=1.0
    )
    assert len(best) == 0
    assert not best.best_interaction_gain.any()


def problem_of_one_class(problem):
    ones = np.ones(len(problem.y))
    return _core.ThresholdRows(problem.design, ones, ones, loss="squared_hinge", n_threads=1)


@pytest.mark.parametrize("wild", [np.nan, np.inf, 1e300, 1e-300])
def test_sums_beyond_the_range_of_numbers_do_no_harm(wild):
    problem, cells, pairs = problem_with_cells()
    rows = ReferenceRows(problem.X, problem.y, problem.weight, problem.loss, codes=problem.codes)
    grad, curv = rows.pair_sums(POINT, cells, pairs)
    for answer in ((grad * wild, curv), (grad, curv * wild), (grad * wild, curv * wild)):
        rows.pair_sums = lambda *_, answer=answer: answer
        for per_pair in (2, EVERYTHING):
            best = _core.best_interactions(rows, POINT, cells, pairs, per_pair=per_pair)
            assert ((best.pair >= 0) & (best.pair < len(pairs))).all()


@pytest.mark.parametrize("wrong", [{"per_pair": -1}, {"ridge": -1.0}, {"min_curvature": np.nan}])
def test_options_out_of_range_are_refused(wrong):
    problem, cells, pairs = problem_with_cells()
    with pytest.raises(ValueError, match="must not be negative"):
        _core.best_interactions(problem.rows(), POINT, cells, pairs, **{"per_pair": 1, **wrong})


def test_a_point_of_another_design_is_refused():
    problem, cells, pairs = problem_with_cells()
    with pytest.raises(ValueError, match="does not have column 99"):
        _core.best_interactions(problem.rows(), _core.Point(0.0, np.array([99]), np.ones(1)), cells, pairs, per_pair=1)
