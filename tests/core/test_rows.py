"""The contract of Rows: whoever answers, a solver gets the same sums over rows."""

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
import scipy.sparse
from problems import LOSSES, narrow, problem_of, random_problem
from reference import ReferenceRows, column_scale

from sparsegam import _core
from sparsegam.search.blas import one_blas_thread


class Oracle:
    """The oracle behind the interface of the core's rows."""

    def __init__(self, problem):
        self._rows = ReferenceRows(problem.X, problem.y, problem.weight, problem.loss)
        self.spread = column_scale(problem.X, problem.weight)
        self.groups = self._rows.groups
        self.shift = self._rows.shift

    def evaluate(self, intercept, columns, coef):
        return self._rows.evaluate(columns, [intercept, *coef])

    def gram(self, support):
        return self._rows.gram(support).ravel(), self._rows.gradient(support)

    def scan(self, support):
        grad, curv, cross = self._rows.scan(support)
        self._held = self._rows.h.copy()
        return grad, curv, cross.ravel()

    def rescan(self, entered):
        X = self._rows.X
        curv = (X**2).T @ self._rows.h
        return X.T @ self._rows.g, curv, ((X * self._held[:, None]).T @ X[:, entered]).ravel()


def one_feature_a_column(problem):
    """The same columns as features of their own: an expanded design."""
    p = problem.n_columns
    codes = problem.X.T.astype(np.uint8)
    return problem_of(codes, problem.y, problem.loss, problem.weight, n_bins=[2] * p, n_ordered=[0] * p)


def wide(problem):
    """The same codes, two bytes each."""
    codes = tuple(code.astype(np.uint16) for code in problem.codes)
    design = _core.ThresholdDesign(codes, problem.n_bins, problem.n_ordered)
    return _core.Rows(design, problem.y, problem.weight, loss=problem.loss, n_threads=1)


def dense(problem, *, dtype=np.float64, order="F", **options):
    matrix = _core.Matrix(np.array(problem.X, dtype=dtype, order=order))
    options = {"n_threads": 1, **options}
    return _core.Rows(matrix, problem.y, problem.weight, loss=problem.loss, **options)


def sparse(problem, n_threads=1):
    csc = scipy.sparse.csc_array(problem.X)
    matrix = _core.Matrix(csc.data, csc.indices.astype(np.int32), csc.indptr.astype(np.int64), len(problem.y))
    return _core.Rows(matrix, problem.y, problem.weight, loss=problem.loss, n_threads=n_threads)


# One more kind of rows is one more entry: a problem in, an object with evaluate, gram, scan, groups and spread out.
# Raw columns have no groups.
ROWS_OF_MATRICES = {
    "dense": dense,
    "dense, 2 threads": partial(dense, n_threads=2),
    "dense, by rows": partial(dense, order="C"),
    "dense, little memory": partial(dense, max_bytes=1),
    "sparse": sparse,
    "sparse, 2 threads": partial(sparse, n_threads=2),
}
ROWS_OF_CODES = {
    "oracle": Oracle,
    "threshold": lambda problem: problem.rows(),
    "threshold, 2 threads": lambda problem: problem.rows(n_threads=2),
    "threshold, wide codes": wide,
}
ROWS = {**ROWS_OF_CODES, **ROWS_OF_MATRICES}
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


def move(rows, columns, theta):
    return rows.evaluate(float(theta[0]), np.asarray(columns, dtype=np.int64), np.asarray(theta[1:]))


def row_loss(y, f, loss):
    if loss == "squared":
        return (y - f) ** 2 / 2
    return math.exp(-y * f) if loss == "exponential" else math.log1p(math.exp(-y * f))


def differences(function, at):
    """Central differences of a function in each coordinate, one row each."""
    steps = EPSILON * np.eye(len(at))
    return np.array([(function(at + step) - function(at - step)) / (2 * EPSILON) for step in steps])


def test_evaluate_is_the_weighted_sum_of_losses(rows, problem, support, theta):
    score = theta[0] + problem.X[:, support] @ theta[1:]
    by_hand = [w * row_loss(y, f, problem.loss) for w, y, f in zip(problem.weight, problem.y, score, strict=True)]
    assert move(rows, support, theta) == pytest.approx(math.fsum(by_hand), rel=1e-13)


def test_spread_is_the_squared_norm_of_the_centred_columns(rows, problem):
    for x, spread in zip(problem.X.T, rows.spread, strict=True):
        centred = x - np.average(x, weights=problem.weight)
        assert spread == pytest.approx(np.sum(problem.weight * centred**2), abs=1e-11)


def test_gradient_is_that_of_the_loss(rows, support, theta):
    slopes = differences(lambda t: move(rows, support, t), theta)
    move(rows, support, theta)
    np.testing.assert_allclose(rows.gram(support)[1], slopes, atol=1e-6)


def test_curvature_is_that_of_the_loss(rows, support, theta):
    def gradient(t):
        move(rows, support, t)
        return rows.gram(support)[1]

    curvature = differences(gradient, theta)
    move(rows, support, theta)
    np.testing.assert_allclose(rows.gram(support)[0].reshape(theta.size, -1), curvature, atol=1e-6)


def test_gram_is_the_sum_over_rows(rows, problem, support, theta):
    oracle = Oracle(problem)
    for each in (oracle, rows):
        move(each, support, theta)
    for mine, expected in zip(rows.gram(support), oracle.gram(support), strict=True):
        np.testing.assert_allclose(mine, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_scan_is_what_columns_would_do_to_the_loss(rows, problem, support, theta):
    """Finite differences along each column; a scan may add rows in floats."""

    def loss_with(column):
        return lambda w: move(rows, [*support, column], [*theta, *w])

    def gradient_with(column):
        def gradient(w):
            move(rows, [*support, column], [*theta, *w])
            return rows.gram(np.append(support, column))[1]

        return gradient

    zero = np.zeros(1)
    slopes = np.concatenate([differences(loss_with(c), zero) for c in range(problem.n_columns)])
    curvatures = np.concatenate([differences(gradient_with(c), zero) for c in range(problem.n_columns)])
    move(rows, support, theta)
    grad, curv, cross = rows.scan(support)
    scale = rows.gram(np.empty(0, dtype=np.int64))[0][0]
    np.testing.assert_allclose(grad, slopes, atol=1e-5 * scale)
    np.testing.assert_allclose(curv, curvatures[:, -1], atol=1e-5 * scale)
    np.testing.assert_allclose(cross.reshape(problem.n_columns, -1), curvatures[:, :-1], atol=1e-5 * scale)


def test_a_rescan_has_new_gradients_and_products_under_the_curvature_of_the_scan(rows, problem, support, theta):
    entered, oracle = np.array([0, 4], dtype=np.int64), Oracle(problem)
    for each in (oracle, rows):
        move(each, support, theta)
        each.scan(support)
        move(each, [*support, *entered], [*theta, 0.4, -0.3])
    for mine, expected in zip(rows.rescan(entered), oracle.rescan(entered), strict=True):
        if mine.size:  # raw columns keep their curvature to themselves
            np.testing.assert_allclose(mine, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("make", ROWS_OF_CODES.values(), ids=ROWS_OF_CODES.keys())
def test_groups_are_the_rows_where_a_column_is_one(make, problem, support, theta):
    rows = make(problem)
    total = move(rows, support, theta)
    oracle = Oracle(problem)
    move(oracle, support, theta)
    for mine, expected in zip(rows.groups(), oracle.groups(), strict=True):
        np.testing.assert_allclose(mine, expected, atol=1e-12 * np.abs(expected).max())
    assert rows.groups()[2][3] == pytest.approx(total)  # the last of four ordered bins: all rows


@pytest.mark.parametrize("make", ROWS_OF_CODES.values(), ids=ROWS_OF_CODES.keys())
def test_a_shift_is_the_point_with_one_coefficient_changed(make, problem, support, theta):
    rows, expected = make(problem), make(problem)
    move(rows, support, theta)
    total = rows.shift(3, -0.7, 0.2)
    assert total == pytest.approx(move(expected, [*support, 3], [theta[0] + 0.2, *theta[1:], -0.9]), rel=1e-12)
    for mine, sums in zip(
        (*rows.groups(), *rows.gram(support)), (*expected.groups(), *expected.gram(support)), strict=True
    ):
        np.testing.assert_allclose(mine, sums, rtol=0, atol=1e-12 * np.abs(sums).max())


@pytest.mark.parametrize("make", list(ROWS_OF_CODES.values())[1:], ids=list(ROWS_OF_CODES)[1:])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_thousand_shifts_lose_no_more_than_rounding(make, loss):
    """There and back for each term, as the swap search goes; lines start at the shifted scores."""
    problem, rng = random_problem(5, loss, n=5000), np.random.default_rng(5)
    rows, support, coef = make(problem), np.array([1, 4, 9]), np.array([0.5, -2.0, 8.0])
    before = rows.evaluate(0.3, support, coef)
    for _ in range(500):
        column, on, off = int(rng.choice(problem.candidates)), *rng.uniform(-3, 3, 2)
        rows.shift(column, on, off)
        after = rows.shift(column, -on, -off)
    assert after == pytest.approx(before, rel=1e-11)
    assert rows.line(4, 0.0)[0] == pytest.approx(rows.shift(4, 0.0, 0.0), rel=1e-11)
    assert rows.shift(4, 0.5, -1.0) == pytest.approx(rows.line(4, 0.0)[0], rel=1e-11)


@pytest.mark.parametrize("make", ROWS_OF_MATRICES.values(), ids=ROWS_OF_MATRICES.keys())
def test_raw_columns_have_no_two_groups_to_shift(make, problem):
    with pytest.raises(RuntimeError, match="do not fall into two groups"):
        make(problem).shift(0, 1.0, 0.0)


def test_answers_are_about_the_point_last_evaluated(rows, support, theta):
    move(rows, support, theta)
    before = rows.gram(support)
    move(rows, [], [3.0])
    move(rows, support, theta)
    for mine, expected in zip(rows.gram(support), before, strict=True):
        np.testing.assert_array_equal(mine, expected)


def ask(rows, support, *, grouped=False):
    """All answers about one point, by name."""
    value = rows.evaluate(0.3, support, np.linspace(-0.5, 0.7, support.size))
    answers = {
        "evaluate": np.array([value]),
        "spread": rows.spread,
        "gram": np.concatenate(rows.gram(support)),
        "scan grad": rows.scan(support)[0],
        "scan curv": rows.scan(support)[1],
        "scan cross": rows.scan(support)[2],
    }
    groups = dict(zip(("groups grad", "groups curv", "groups loss"), rows.groups(), strict=True)) if grouped else {}
    return {**answers, **groups}


def assert_same_answers(mine, expected, *, digits=1e-12):
    """The same sums; those of a scan as well as floats add them up."""
    for name, answer in expected.items():
        share = max(digits, 1e-5) if name.startswith("scan") else digits
        scale = max(np.abs(answer).max(), 1.0)
        np.testing.assert_allclose(mine[name], answer, rtol=0, atol=share * scale, err_msg=name)


@pytest.mark.parametrize("make", ROWS.values(), ids=ROWS.keys())
@pytest.mark.parametrize("loss", LOSSES)
def test_weights_count_as_repeated_rows(make, loss):
    problem = random_problem(2, loss, n=80, weighted=False)
    times = np.random.default_rng(2).integers(1, 4, 80)
    weighted = problem_of(problem.codes, problem.y, loss, times, problem.n_bins, problem.n_ordered)
    support = np.array([1, 4, 9])
    assert_same_answers(ask(make(weighted), support), ask(make(problem.repeated(times)), support))


@pytest.mark.parametrize("loss", LOSSES)
def test_threshold_design_equals_the_expanded_one(loss):
    problem = random_problem(3, loss, n=500)
    support, p = np.array([1, 4, 9]), problem.n_columns
    ones = 2 * np.arange(p) + 1  # where `column == 1` stands among the columns of the expanded design
    expanded = ask(one_feature_a_column(problem).rows(), ones[support], grouped=True)
    for name in expanded.keys() - {"evaluate", "gram"}:
        expanded[name] = expanded[name].reshape(2 * p, -1)[ones].ravel()
    assert_same_answers(ask(problem.rows(), support, grouped=True), expanded)


@pytest.mark.parametrize("make", list(ROWS.values())[1:], ids=list(ROWS)[1:])
def test_many_rows_are_summed_as_they_should(make):
    """Beyond the first block of floats and the first block of scores."""
    problem = random_problem(4, "logistic", n=3 * 8192 + 5)
    support = np.array([1, 4, 9])
    assert_same_answers(ask(make(problem), support), ask(Oracle(problem), support))


def large_problem(n, loss):
    """More rows than the blocks that sums are made of, features of both widths, more than four of each."""
    rng = np.random.default_rng(n)
    n_bins = np.array([300, 5, 2, 40, 256, 257, 3, 9, 1000, 12, 400])
    codes = [narrow(rng.integers(0, bins, n), bins) for bins in n_bins]
    y = rng.normal(size=n) if loss == "squared" else rng.choice([-1.0, 1.0], n)
    n_ordered = n_bins - np.arange(n_bins.size) % 2
    return problem_of(codes, y, loss, rng.uniform(0.5, 2, n), n_bins, n_ordered)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [100, 3 * 8192 + 1, 200_003])
def test_same_bits_for_any_number_of_threads(n, loss):
    problem = large_problem(n, loss)
    support = np.array([1, 200, 303, 620, 1500, 2000])
    one, two, three = (ask(problem.rows(n_threads), support, grouped=True) for n_threads in (1, 2, 3))
    for name, answer in one.items():
        np.testing.assert_array_equal(answer, two[name], err_msg=name)
        np.testing.assert_array_equal(answer, three[name], err_msg=name)


@dataclass(frozen=True)
class RawProblem:
    """Raw columns with labels and weights."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    loss: str


def raw_problem(n, p, loss):
    """Columns of all sizes, far from zero, empty and constant ones among them; numbers that float32 has too."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.5) * rng.uniform(0.1, 2, p) + (np.arange(p) % 4 == 3)
    X[:, 5], X[:, 6] = 0.0, 1.5
    y = rng.normal(size=n) if loss == "squared" else rng.choice([-1.0, 1.0], n)
    return RawProblem(X.astype(np.float32).astype(np.float64), y, rng.uniform(0.5, 2, n), loss)


@pytest.mark.parametrize("make", ROWS_OF_MATRICES.values(), ids=ROWS_OF_MATRICES.keys())
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [1, 40, 9000])
def test_raw_columns_are_summed_as_they_should(make, loss, n):
    problem = raw_problem(n, 30, loss)
    for support in (np.empty(0, dtype=np.int64), np.array([2, 7, 0, 29, 11])):
        assert_same_answers(ask(make(problem), support), ask(Oracle(problem), support))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_single_precision_columns_are_summed_in_single_precision(loss, order):
    problem, support = raw_problem(9000, 30, loss), np.array([2, 7, 0, 29, 11])
    rows = dense(problem, dtype=np.float32, order=order)
    assert_same_answers(ask(rows, support), ask(Oracle(problem), support), digits=1e-5)


@pytest.mark.parametrize("make", [dense, sparse])
@pytest.mark.parametrize("loss", LOSSES)
def test_same_bits_for_raw_columns_and_any_number_of_threads(make, loss):
    problem, support = raw_problem(20_000, 40, loss), np.array([2, 7, 0, 29, 11])
    with one_blas_thread():
        one, two = (ask(make(problem, n_threads=n_threads), support) for n_threads in (1, 2))
    for name, answer in one.items():
        np.testing.assert_array_equal(answer, two[name], err_msg=name)
