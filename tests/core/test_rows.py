"""The contract of Rows: all implementations return the same sums over rows."""

import math
from itertools import combinations

import numpy as np
import pytest
from _helpers.kinds_of_rows import NO_COLUMNS, ROWS, ROWS_OF_CODES, ROWS_OF_MATRICES, large_problem, oracle, point_of
from _helpers.problems import LOSSES, random_problem

from sparsegam import _core

COMPILED_OF_CODES = {name: make for name, make in ROWS_OF_CODES.items() if name != "oracle"}
COMPILED = COMPILED_OF_CODES | ROWS_OF_MATRICES
SUPPORTS = ((), (1,), (5, 0, 4), (0, 1, 2, 4, 7, 9, 12, 14, 17), tuple(range(16)))
EPSILON = 1e-5


@pytest.fixture(params=LOSSES)
def problem(request):
    return random_problem(0, request.param, n=300)


@pytest.fixture(params=ROWS)
def rows(request, problem):
    return ROWS[request.param](problem)


@pytest.fixture(params=SUPPORTS, ids=len)
def support(request):
    return np.array(request.param, dtype=np.int64)


@pytest.fixture
def theta(support):
    return np.random.default_rng(1).normal(size=support.size + 1) / 2


def loss_at(rows, columns, theta):
    return rows.evaluate([point_of(columns, theta)])[0]


def gradient_at(rows, columns, theta):
    return rows.newton(point_of(columns, theta), np.asarray(columns, dtype=np.int64), False)[2]


def row_loss(y, f, loss):
    if loss == "squared":
        return (y - f) ** 2 / 2
    if loss == "squared_hinge":
        return max(1 - y * f, 0) ** 2
    return math.exp(-y * f) if loss == "exponential" else math.log1p(math.exp(-y * f))


def differences(function, at):
    """Return the central differences of a function, one row per coordinate."""
    steps = EPSILON * np.eye(len(at))
    return np.array([(function(at + step) - function(at - step)) / (2 * EPSILON) for step in steps])


def test_evaluate_returns_the_weighted_sum_of_losses(rows, problem, support, theta):
    score = theta[0] + problem.X[:, support] @ theta[1:]
    by_hand = [w * row_loss(y, f, problem.loss) for w, y, f in zip(problem.weight, problem.y, score, strict=True)]
    assert loss_at(rows, support, theta) == pytest.approx(math.fsum(by_hand), rel=1e-13)


def test_evaluate_of_several_points_equals_that_of_each(rows, support, theta):
    points = [point_of(support, t * theta) for t in (1.0, 0.5, -2.0)] + [point_of([], [0.3])]
    alone = [rows.evaluate([point])[0] for point in points]
    np.testing.assert_allclose(rows.evaluate(points), alone, rtol=1e-13)
    assert len(rows.evaluate([])) == 0


def test_centred_sq_norm_is_the_squared_norm_of_the_centred_columns(rows, problem):
    for x, sq_norm in zip(problem.X.T, rows.columns.centred_sq_norm, strict=True):
        centred = x - np.average(x, weights=problem.weight)
        assert sq_norm == pytest.approx(np.sum(problem.weight * centred**2), abs=1e-11)


def test_newton_gradient_equals_finite_differences(rows, support, theta):
    slopes = differences(lambda t: loss_at(rows, support, t), theta)
    np.testing.assert_allclose(gradient_at(rows, support, theta), slopes, atol=1e-6)


def test_newton_hessian_equals_finite_differences(rows, support, theta):
    curvature = differences(lambda t: gradient_at(rows, support, t), theta)
    mine = rows.newton(point_of(support, theta), support, False)[1]
    np.testing.assert_allclose(np.reshape(mine, (theta.size, -1)), curvature, atol=1e-6)


@pytest.mark.parametrize("low_precision", [False, True])
def test_newton_equals_the_oracle_in_both_precisions(rows, problem, support, theta, low_precision):
    """Low precision may use float32 sums, except for the loss."""
    point = point_of(support, theta)
    loss, *sums = rows.newton(point, support, low_precision)
    expected_loss, *expected = oracle(problem).newton(point, support)
    assert loss == pytest.approx(expected_loss, rel=1e-13)
    for mine, theirs in zip(sums, expected, strict=True):
        digits = 1e-5 if low_precision else 1e-12
        np.testing.assert_allclose(np.ravel(mine), theirs.ravel(), rtol=0, atol=digits * np.abs(theirs).max())


def test_newton_on_some_of_the_columns_equals_the_oracle(rows, problem, support, theta):
    point, part = point_of(support, theta), support[1:]
    for mine, theirs in zip(rows.newton(point, part, False), oracle(problem).newton(point, part), strict=True):
        np.testing.assert_allclose(np.ravel(mine), np.ravel(theirs), rtol=0, atol=1e-12 * np.abs(theirs).max())


def test_scan_equals_finite_differences_along_each_column(rows, problem, support, theta):
    """The tolerance allows for float32 sums."""
    zero, every = np.zeros(1), range(problem.n_columns)
    slopes = [differences(lambda w, c=c: loss_at(rows, [*support, c], [*theta, *w]), zero)[0] for c in every]
    curvatures = np.concatenate(
        [differences(lambda w, c=c: gradient_at(rows, [*support, c], [*theta, *w]), zero) for c in every]
    )
    point = point_of(support, theta)
    _, support_curv, support_grad, grad, curv, cross = rows.scan(point, NO_COLUMNS)
    scale = rows.newton(point, NO_COLUMNS, False)[1].ravel()[0]
    np.testing.assert_allclose(grad, slopes, atol=1e-5 * scale)
    np.testing.assert_allclose(curv, curvatures[:, -1], atol=1e-5 * scale)
    np.testing.assert_allclose(np.reshape(cross, (problem.n_columns, -1)), curvatures[:, :-1], atol=1e-5 * scale)
    _, expected_curv, expected_grad = oracle(problem).newton(point, support)
    np.testing.assert_allclose(np.ravel(support_curv), expected_curv.ravel(), atol=1e-5 * scale)
    np.testing.assert_allclose(support_grad, expected_grad, atol=1e-5 * scale)


def test_rescan_returns_new_gradients_and_products_with_the_curvature_of_the_scan(rows, problem, support, theta):
    entered, answers = np.array([0, 4], dtype=np.int64), []
    for each in (oracle(problem), rows):
        token = each.scan(point_of(support, theta), NO_COLUMNS)[0]
        # Another scan must not change the token of the first.
        each.scan(point_of([2], [0.5, 1.0]), NO_COLUMNS)
        point = point_of([*support, *entered], [*theta, 0.4, -0.3])
        answers.append([np.ravel(part) for part in each.rescan(token, point, entered, NO_COLUMNS)])
    for expected, mine in zip(*answers, strict=True):
        # Rescans of raw columns return no curvature.
        if mine.size:
            np.testing.assert_allclose(mine, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("make", ROWS.values(), ids=ROWS.keys())
def test_scan_and_rescan_of_some_columns_equal_those_of_all(make, problem, support, theta):
    rows, among, point = make(problem), np.array([1, 3, 4, 7], dtype=np.int64), point_of(support, theta)
    whole, part = (rows.scan(point, columns) for columns in (NO_COLUMNS, among))
    cross = np.reshape(whole[5], (problem.n_columns, -1))[among].ravel()
    for mine, expected in zip(part[3:], (whole[3][among], whole[4][among], cross), strict=True):
        np.testing.assert_allclose(np.ravel(mine), expected, rtol=0, atol=1e-5 * np.abs(whole[5]).max())
    entered = among[:1]
    mine = rows.rescan(whole[0], point, entered, among)[1]
    np.testing.assert_allclose(mine, whole[3][among], rtol=0, atol=1e-5 * np.abs(whole[3]).max())


@pytest.mark.parametrize("make", ROWS_OF_CODES.values(), ids=ROWS_OF_CODES.keys())
def test_groups_equals_the_oracle(make, problem, support, theta):
    rows, point, columns = make(problem), point_of(support, theta), np.array([3, 0, 7, 5], dtype=np.int64)
    for mine, expected in zip(rows.groups(point, columns), oracle(problem).groups(point, columns), strict=True):
        np.testing.assert_allclose(mine, expected, atol=1e-12 * np.abs(expected).max())
    # Column 3 is the last of four ordered bins and is 1 for all rows.
    assert rows.groups(point, columns)[2][0] == pytest.approx(rows.evaluate([point])[0])


@pytest.mark.parametrize("make", ROWS_OF_CODES.values(), ids=ROWS_OF_CODES.keys())
def test_pair_sums_equals_sums_over_the_rows_of_each_bin(make, problem, support, theta):
    rows, point = make(problem), point_of(support, theta)
    coarse_bins = coarse_bins_of(problem)
    coarse_bins[1] = None
    pairs = np.array([[0, 2], [4, 0], [2, 5], [3, 4]])
    _, g, h = oracle(problem).at(point)
    for mine, sums in zip(rows.pair_sums(point, coarse_bins, pairs), (g, h), strict=True):
        expected = []
        for a, b in pairs:
            in_a, in_b = (coarse_bins[f][0][problem.codes[f]] for f in (a, b))
            expected += [
                sums[(in_a == i) & (in_b == j)].sum()
                for i in range(coarse_bins[a][2])
                for j in range(coarse_bins[b][2])
            ]
        np.testing.assert_allclose(mine, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    assert [part.size for part in make(problem).pair_sums(point, coarse_bins, pairs[:0])] == [0, 0]


def coarse_bins_of(problem):
    """Return coarse bins that join two ordered bins each; unordered bins remain separate."""
    found = []
    for bins, ordered in zip(problem.n_bins, problem.n_ordered, strict=True):
        n_ordered = -(-int(ordered) // 2)
        of_bin = np.concatenate([np.arange(ordered) // 2, n_ordered + np.arange(bins - ordered)])
        found.append((of_bin.astype(np.uint8), n_ordered, n_ordered + int(bins - ordered)))
    return found


@pytest.mark.parametrize("n_threads", [1, 2])
def test_pair_sums_of_many_rows_are_identical_for_any_number_of_threads(n_threads):
    """More rows than in a block and more pairs than in a task."""
    problem = large_problem(3 * 8192 + 5, "logistic")
    coarse_bins = [
        ((np.arange(bins) * min(bins, 7) // bins).astype(np.uint8), *2 * [int(min(bins, 7))]) for bins in problem.n_bins
    ]
    pairs = np.array(list(combinations(range(len(coarse_bins)), 2)))
    point = point_of([2, 40], [0.1, 0.5, -0.5])
    mine, single = (problem.rows(n).pair_sums(point, coarse_bins, pairs) for n in (n_threads, 1))
    for one, other, expected in zip(mine, single, oracle(problem).pair_sums(point, coarse_bins, pairs), strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_allclose(one, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda coarse_bins, pairs: (coarse_bins[:-1], pairs), "one entry per feature"),
        (lambda coarse_bins, pairs: ([None, *coarse_bins[1:]], pairs), "0 and 2 do not form a pair"),
        (lambda coarse_bins, pairs: (coarse_bins, pairs + 90), "90 and 92 do not form a pair"),
        (lambda coarse_bins, pairs: (coarse_bins, pairs - 1), "-1 and 1 do not form a pair"),
        (lambda coarse_bins, pairs: (coarse_bins, pairs[:, [0, 0]]), "0 and 0 do not form a pair"),
        (
            lambda coarse_bins, pairs: ([(coarse_bins[0][0][:-1], *coarse_bins[0][1:]), *coarse_bins[1:]], pairs),
            "each of its 4 bins, got 3",
        ),
        (
            lambda coarse_bins, pairs: ([(coarse_bins[0][0], 1, 1), *coarse_bins[1:]], pairs),
            "invalid coarse bins of feature 0",
        ),
        (
            lambda coarse_bins, pairs: ([(coarse_bins[0][0], 9, 2), *coarse_bins[1:]], pairs),
            "invalid coarse bins of feature 0",
        ),
        (lambda coarse_bins, pairs: ([(coarse_bins[0][0], 9, 257), *coarse_bins[1:]], pairs), "<= 256"),
    ],
)
def test_pair_sums_rejects_invalid_coarse_bins_and_pairs(change, match):
    problem = random_problem(0, "logistic")
    coarse_bins, pairs = change(coarse_bins_of(problem), np.array([[0, 2]]))
    with pytest.raises(ValueError, match=match):
        problem.rows().pair_sums(point_of([], [0.0]), coarse_bins, pairs)


@pytest.mark.parametrize("make", ROWS_OF_MATRICES.values(), ids=ROWS_OF_MATRICES.keys())
def test_pair_sums_rejects_raw_columns(make, problem):
    with pytest.raises(ValueError, match="require binned features"):
        make(problem).pair_sums(point_of([], [0.0]), coarse_bins_of(problem), np.array([[0, 2]]))


@pytest.mark.parametrize("make", COMPILED_OF_CODES.values(), ids=COMPILED_OF_CODES.keys())
def test_shift_equals_evaluate_at_the_new_point(make, problem, support, theta):
    rows, expected, every = make(problem), oracle(problem), np.arange(problem.n_columns)
    start, to = point_of(support, theta), point_of([*support, 19], [theta[0] + 0.2, *theta[1:], -0.9])
    rows.evaluate([start])
    assert rows.shift(start, to, 19) == pytest.approx(expected.evaluate([to])[0], rel=1e-12)
    for mine, sums in zip(
        (*rows.groups(to, every), *rows.newton(to, support, False)[1:]),
        (*expected.groups(to, every), *expected.newton(to, support)[1:]),
        strict=True,
    ):
        np.testing.assert_allclose(mine, np.ravel(sums), rtol=0, atol=1e-12 * np.abs(sums).max())


@pytest.mark.parametrize("make", COMPILED_OF_CODES.values(), ids=COMPILED_OF_CODES.keys())
@pytest.mark.parametrize("loss", LOSSES)
def test_rounding_errors_of_a_thousand_shifts_are_small(make, loss):
    """Each term is shifted and shifted back, as in the swap search. Lines start at the shifted scores."""
    problem, rng = random_problem(5, loss, n=5000), np.random.default_rng(5)
    rows, home = make(problem), point_of([1, 4, 9], [0.3, 0.5, -2.0, 8.0])
    (before,) = rows.evaluate([home])
    for _ in range(500):
        s = int(rng.integers(3))
        coef = home.coef.copy()
        coef[s] += rng.uniform(-3, 3)
        away = _core.Point(home.intercept + rng.uniform(-3, 3), home.columns, coef)
        rows.shift(home, away, int(home.columns[s]))
        after = rows.shift(away, home, int(home.columns[s]))
    assert after == pytest.approx(before, rel=1e-11)
    assert rows.line(home, 4, 0.0)[0] == pytest.approx(after, rel=1e-11)
    # `evaluate` computes the scores anew.
    assert rows.evaluate([home])[0] == before


@pytest.mark.parametrize("make", ROWS_OF_MATRICES.values(), ids=ROWS_OF_MATRICES.keys())
def test_shift_rejects_raw_columns(make, problem):
    here = point_of([], [0.0])
    with pytest.raises(RuntimeError, match="requires 0/1 columns"):
        make(problem).shift(here, here, 0)


def test_newton_does_not_depend_on_earlier_calls(rows, support, theta):
    point, away = point_of(support, theta), point_of([], [3.0])
    before = rows.newton(point, support, False)
    rows.evaluate([away])
    rows.evaluate([away, point])
    rows.scan(away, NO_COLUMNS)
    for mine, expected in zip(rows.newton(point, support, False), before, strict=True):
        np.testing.assert_array_equal(mine, expected)


def test_newton_does_not_depend_on_the_order_of_columns(rows, support, theta):
    """Up to rounding errors: implementations may cache the last point."""
    back = point_of(support[::-1], [theta[0], *theta[:0:-1]])
    first = rows.newton(point_of(support, theta), support, False)
    for mine, expected in zip(rows.newton(back, support, False), first, strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("loss", LOSSES)
def test_groups_does_not_depend_on_earlier_calls_at_the_point(loss):
    problem = large_problem(5000, loss)
    point = _core.Point(0.3, np.array([1, 200]), np.array([0.5, -0.7]))
    columns = np.arange(0, 2000, 7)
    used = problem.rows()
    used.newton(point, point.columns)
    for mine, expected in zip(used.groups(point, columns), problem.rows().groups(point, columns), strict=True):
        np.testing.assert_array_equal(mine, expected)


@pytest.mark.parametrize("make", COMPILED.values(), ids=COMPILED.keys())
@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_rescan_rejects_a_token_of_other_rows(make, loss):
    few, many = make(random_problem(0, loss, n=80)), make(random_problem(0, loss, n=5000))
    point, entered = point_of([], [0.0]), np.array([1])
    tokens = [rows.scan(point, NO_COLUMNS)[0] for rows in (few, many)]
    for rows, token in ((many, tokens[0]), (few, tokens[1])):
        with pytest.raises(ValueError, match="the token of rescan must come from a scan of the same rows"):
            rows.rescan(token, point, entered, NO_COLUMNS)
    assert few.rescan(tokens[0], point, entered, NO_COLUMNS)[1].size == len(few.columns)


def test_rescan_rejects_an_object_that_is_not_a_token(problem):
    with pytest.raises(TypeError):
        problem.rows().rescan(object(), point_of([], [0.0]), np.array([1]), NO_COLUMNS)
