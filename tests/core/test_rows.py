"""The contract of Rows: whoever answers, a solver gets the same sums over rows."""

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
    """Central differences of a function in each coordinate, one row each."""
    steps = EPSILON * np.eye(len(at))
    return np.array([(function(at + step) - function(at - step)) / (2 * EPSILON) for step in steps])


def test_evaluate_is_the_weighted_sum_of_losses(rows, problem, support, theta):
    score = theta[0] + problem.X[:, support] @ theta[1:]
    by_hand = [w * row_loss(y, f, problem.loss) for w, y, f in zip(problem.weight, problem.y, score, strict=True)]
    assert loss_at(rows, support, theta) == pytest.approx(math.fsum(by_hand), rel=1e-13)


def test_points_are_evaluated_together_as_they_are_alone(rows, support, theta):
    points = [point_of(support, t * theta) for t in (1.0, 0.5, -2.0)] + [point_of([], [0.3])]
    alone = [rows.evaluate([point])[0] for point in points]
    np.testing.assert_allclose(rows.evaluate(points), alone, rtol=1e-13)
    assert len(rows.evaluate([])) == 0


def test_spread_is_the_squared_norm_of_the_centred_columns(rows, problem):
    for x, spread in zip(problem.X.T, rows.columns.centred_sq_norm, strict=True):
        centred = x - np.average(x, weights=problem.weight)
        assert spread == pytest.approx(np.sum(problem.weight * centred**2), abs=1e-11)


def test_gradient_is_that_of_the_loss(rows, support, theta):
    slopes = differences(lambda t: loss_at(rows, support, t), theta)
    np.testing.assert_allclose(gradient_at(rows, support, theta), slopes, atol=1e-6)


def test_curvature_is_that_of_the_loss(rows, support, theta):
    curvature = differences(lambda t: gradient_at(rows, support, t), theta)
    mine = rows.newton(point_of(support, theta), support, False)[1]
    np.testing.assert_allclose(np.reshape(mine, (theta.size, -1)), curvature, atol=1e-6)


@pytest.mark.parametrize("rough", [False, True])
def test_newton_has_the_sums_over_rows(rows, problem, support, theta, rough):
    """Rough sums may be in floats, the loss never is."""
    point = point_of(support, theta)
    loss, *sums = rows.newton(point, support, rough)
    expected_loss, *expected = oracle(problem).newton(point, support)
    assert loss == pytest.approx(expected_loss, rel=1e-13)
    for mine, theirs in zip(sums, expected, strict=True):
        digits = 1e-5 if rough else 1e-12
        np.testing.assert_allclose(np.ravel(mine), theirs.ravel(), rtol=0, atol=digits * np.abs(theirs).max())


def test_newton_may_be_about_some_of_the_columns(rows, problem, support, theta):
    point, part = point_of(support, theta), support[1:]
    for mine, theirs in zip(rows.newton(point, part, False), oracle(problem).newton(point, part), strict=True):
        np.testing.assert_allclose(np.ravel(mine), np.ravel(theirs), rtol=0, atol=1e-12 * np.abs(theirs).max())


def test_scan_is_what_columns_would_do_to_the_loss(rows, problem, support, theta):
    """Finite differences along each column; a scan may add rows in floats."""
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


def test_a_rescan_has_new_gradients_and_products_under_the_curvature_of_the_scan(rows, problem, support, theta):
    entered, answers = np.array([0, 4], dtype=np.int64), []
    for each in (oracle(problem), rows):
        token = each.scan(point_of(support, theta), NO_COLUMNS)[0]
        each.scan(point_of([2], [0.5, 1.0]), NO_COLUMNS)  # another scan does not touch what the first one held
        point = point_of([*support, *entered], [*theta, 0.4, -0.3])
        answers.append([np.ravel(part) for part in each.rescan(token, point, entered, NO_COLUMNS)])
    for expected, mine in zip(*answers, strict=True):
        if mine.size:  # raw columns keep their curvature to themselves
            np.testing.assert_allclose(mine, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("make", ROWS.values(), ids=ROWS.keys())
def test_scans_may_be_about_some_columns(make, problem, support, theta):
    rows, among, point = make(problem), np.array([1, 3, 4, 7], dtype=np.int64), point_of(support, theta)
    whole, part = (rows.scan(point, columns) for columns in (NO_COLUMNS, among))
    cross = np.reshape(whole[5], (problem.n_columns, -1))[among].ravel()
    for mine, expected in zip(part[3:], (whole[3][among], whole[4][among], cross), strict=True):
        np.testing.assert_allclose(np.ravel(mine), expected, rtol=0, atol=1e-5 * np.abs(whole[5]).max())
    entered = among[:1]
    mine = rows.rescan(whole[0], point, entered, among)[1]
    np.testing.assert_allclose(mine, whole[3][among], rtol=0, atol=1e-5 * np.abs(whole[3]).max())


@pytest.mark.parametrize("make", ROWS_OF_CODES.values(), ids=ROWS_OF_CODES.keys())
def test_groups_are_the_rows_where_a_column_is_one(make, problem, support, theta):
    rows, point, columns = make(problem), point_of(support, theta), np.array([3, 0, 7, 5], dtype=np.int64)
    for mine, expected in zip(rows.groups(point, columns), oracle(problem).groups(point, columns), strict=True):
        np.testing.assert_allclose(mine, expected, atol=1e-12 * np.abs(expected).max())
    assert rows.groups(point, columns)[2][0] == pytest.approx(rows.evaluate([point])[0])  # the last of four bins: all


@pytest.mark.parametrize("make", ROWS_OF_CODES.values(), ids=ROWS_OF_CODES.keys())
def test_pairs_are_summed_over_the_cells_of_both_features(make, problem, support, theta):
    rows, point = make(problem), point_of(support, theta)
    cells = cells_of(problem)
    cells[1] = None
    pairs = np.array([[0, 2], [4, 0], [2, 5], [3, 4]])
    _, g, h = oracle(problem).at(point)
    for mine, sums in zip(rows.pair_sums(point, cells, pairs), (g, h), strict=True):
        expected = []
        for a, b in pairs:
            in_a, in_b = (cells[f][0][problem.codes[f]] for f in (a, b))
            expected += [sums[(in_a == i) & (in_b == j)].sum() for i in range(cells[a][2]) for j in range(cells[b][2])]
        np.testing.assert_allclose(mine, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    assert [part.size for part in make(problem).pair_sums(point, cells, pairs[:0])] == [0, 0]


def cells_of(problem):
    """Two ordered bins to a cell; those that stand alone remain so."""
    found = []
    for bins, ordered in zip(problem.n_bins, problem.n_ordered, strict=True):
        n_ordered = -(-int(ordered) // 2)
        of_bin = np.concatenate([np.arange(ordered) // 2, n_ordered + np.arange(bins - ordered)])
        found.append((of_bin.astype(np.uint8), n_ordered, n_ordered + int(bins - ordered)))
    return found


@pytest.mark.parametrize("n_threads", [1, 2])
def test_pairs_of_many_rows_have_the_same_bits_on_any_number_of_threads(n_threads):
    """More rows than a block, more pairs than a task."""
    problem = large_problem(3 * 8192 + 5, "logistic")
    cells = [
        ((np.arange(bins) * min(bins, 7) // bins).astype(np.uint8), *2 * [int(min(bins, 7))]) for bins in problem.n_bins
    ]
    pairs = np.array(list(combinations(range(len(cells)), 2)))
    point = point_of([2, 40], [0.1, 0.5, -0.5])
    mine, single = (problem.rows(n).pair_sums(point, cells, pairs) for n in (n_threads, 1))
    for one, other, expected in zip(mine, single, oracle(problem).pair_sums(point, cells, pairs), strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_allclose(one, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda cells, pairs: (cells[:-1], pairs), "one entry per feature"),
        (lambda cells, pairs: ([None, *cells[1:]], pairs), "0 and 2 do not form a pair"),
        (lambda cells, pairs: (cells, pairs + 90), "90 and 92 do not form a pair"),
        (lambda cells, pairs: (cells, pairs - 1), "-1 and 1 do not form a pair"),
        (lambda cells, pairs: (cells, pairs[:, [0, 0]]), "0 and 0 do not form a pair"),
        (lambda cells, pairs: ([(cells[0][0][:-1], *cells[0][1:]), *cells[1:]], pairs), "each of its 4 bins, got 3"),
        (lambda cells, pairs: ([(cells[0][0], 1, 1), *cells[1:]], pairs), "invalid coarse bins of feature 0"),
        (lambda cells, pairs: ([(cells[0][0], 9, 2), *cells[1:]], pairs), "invalid coarse bins of feature 0"),
        (lambda cells, pairs: ([(cells[0][0], 9, 257), *cells[1:]], pairs), "<= 256"),
    ],
)
def test_pairs_that_are_none_are_refused(change, match):
    problem = random_problem(0, "logistic")
    cells, pairs = change(cells_of(problem), np.array([[0, 2]]))
    with pytest.raises(ValueError, match=match):
        problem.rows().pair_sums(point_of([], [0.0]), cells, pairs)


@pytest.mark.parametrize("make", ROWS_OF_MATRICES.values(), ids=ROWS_OF_MATRICES.keys())
def test_raw_columns_have_no_pairs(make, problem):
    with pytest.raises(ValueError, match="require binned features"):
        make(problem).pair_sums(point_of([], [0.0]), cells_of(problem), np.array([[0, 2]]))


@pytest.mark.parametrize("make", COMPILED_OF_CODES.values(), ids=COMPILED_OF_CODES.keys())
def test_a_shift_is_the_point_with_one_coefficient_changed(make, problem, support, theta):
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
def test_a_thousand_shifts_lose_no_more_than_rounding(make, loss):
    """There and back for each term, as the swap search goes; lines start at the shifted scores."""
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
    assert rows.evaluate([home])[0] == before  # evaluated anew


@pytest.mark.parametrize("make", ROWS_OF_MATRICES.values(), ids=ROWS_OF_MATRICES.keys())
def test_raw_columns_have_no_two_groups_to_shift(make, problem):
    here = point_of([], [0.0])
    with pytest.raises(RuntimeError, match="requires 0/1 columns"):
        make(problem).shift(here, here, 0)


def test_answers_depend_on_nothing_but_the_question(rows, support, theta):
    point, away = point_of(support, theta), point_of([], [3.0])
    before = rows.newton(point, support, False)
    rows.evaluate([away])
    rows.evaluate([away, point])
    rows.scan(away, NO_COLUMNS)
    for mine, expected in zip(rows.newton(point, support, False), before, strict=True):
        np.testing.assert_array_equal(mine, expected)


def test_the_order_of_columns_means_nothing(rows, support, theta):
    """Up to rounding: one who remembers the last point knows it again."""
    back = point_of(support[::-1], [theta[0], *theta[:0:-1]])
    first = rows.newton(point_of(support, theta), support, False)
    for mine, expected in zip(rows.newton(back, support, False), first, strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("loss", LOSSES)
def test_groups_after_other_questions_about_their_point(loss):
    problem = large_problem(5000, loss)
    point = _core.Point(0.3, np.array([1, 200]), np.array([0.5, -0.7]))
    columns = np.arange(0, 2000, 7)
    asked = problem.rows()
    asked.newton(point, point.columns)
    for mine, expected in zip(asked.groups(point, columns), problem.rows().groups(point, columns), strict=True):
        np.testing.assert_array_equal(mine, expected)


@pytest.mark.parametrize("make", COMPILED.values(), ids=COMPILED.keys())
@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_rescan_refuses_a_token_of_other_rows(make, loss):
    few, many = make(random_problem(0, loss, n=80)), make(random_problem(0, loss, n=5000))
    point, entered = point_of([], [0.0]), np.array([1])
    tokens = [rows.scan(point, NO_COLUMNS)[0] for rows in (few, many)]
    for rows, token in ((many, tokens[0]), (few, tokens[1])):
        with pytest.raises(ValueError, match="the token of rescan must come from a scan of the same rows"):
            rows.rescan(token, point, entered, NO_COLUMNS)
    assert few.rescan(tokens[0], point, entered, NO_COLUMNS)[1].size == len(few.columns)


def test_rescan_refuses_an_object_that_is_no_token(problem):
    with pytest.raises(TypeError):
        problem.rows().rescan(object(), point_of([], [0.0]), np.array([1]), NO_COLUMNS)
