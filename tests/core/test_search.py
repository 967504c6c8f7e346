"""frontier and fit_at: models, limits, degenerate data, time limits, callbacks and interruption."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from _helpers.brute_force import all_subsets
from _helpers.problems import LOSSES, labels, problem_of, random_problem
from _helpers.reference import ReferenceRows, column_scale, refit
from scipy.optimize import minimize

from sparsegam import _core


@pytest.fixture(params=LOSSES)
def problem(request):
    return random_problem(0, request.param, n=200)


def value(point):
    return point.loss + point.ridge


def values(search):
    return np.array([value(point) for point in search.points])


def assert_valid(problem, point, lambda2=0.0):
    """Check that columns are distinct candidates, and that loss and ridge are those of the coefficients."""
    assert np.isfinite([point.intercept, point.loss, point.ridge, *point.coef]).all()
    assert np.isin(point.columns, problem.candidates).all()
    assert len(set(point.columns.tolist())) == len(point.columns) == len(point.coef)
    rows = ReferenceRows(problem.expanded(point.columns), problem.y, problem.weight, problem.loss)
    (loss,) = rows.evaluate([_core.Point(point.intercept, np.arange(point.columns.size), point.coef)])
    ridge = lambda2 * column_scale(rows.X, problem.weight) @ point.coef**2
    assert point.loss == pytest.approx(loss, rel=1e-9, abs=1e-9)
    assert point.ridge == pytest.approx(ridge, rel=1e-9, abs=1e-12)


def assert_same_search(one, other):
    assert [point.columns.tolist() for point in one.points] == [point.columns.tolist() for point in other.points]
    for mine, expected in zip(one.points, other.points, strict=True):
        np.testing.assert_array_equal(mine.coef, expected.coef)
        assert (mine.intercept, mine.loss, mine.ridge) == (expected.intercept, expected.loss, expected.ridge)
    assert one.counts == other.counts


# Models


@pytest.mark.parametrize("lambda2", [0.0, 0.01])
def test_frontier_returns_a_refitted_model_of_each_size(problem, lambda2):
    search = problem.frontier(max_terms=8, penalty=problem.penalty(lambda2))
    assert search.finished
    assert [len(point.columns) for point in search.points] == list(range(9))
    assert (np.diff(values(search)) < 0).all()
    for point in search.points:
        assert_valid(problem, point, lambda2)
        X, ridge = problem.X[:, point.columns], problem.ridge(lambda2)[point.columns]
        best = refit(X, problem.y, problem.weight, problem.loss, ridge)[1]
        assert value(point) == pytest.approx(best, rel=1e-8)


@pytest.mark.parametrize("lambda2", [0.0, 0.01])
def test_fit_at_is_not_worse_than_the_frontier(problem, lambda2):
    penalty = problem.penalty(lambda2)
    along = values(problem.frontier(penalty=penalty))
    for lambda0 in (0.3, 1.0, 3.0):
        search = problem.fit_at(lambda0, penalty=penalty)
        (point,) = search.points
        assert_valid(problem, point, lambda2)
        assert search.finished
        assert search.certificate.swap_optimal
        objective = value(point) + lambda0 * len(point.columns)
        assert objective <= 1.01 * (along + lambda0 * np.arange(along.size)).min()


def test_fit_at_a_large_lambda0_returns_the_intercept_only(problem):
    (point,) = problem.fit_at(1e6).points
    assert len(point.columns) == 0
    mean = np.average(problem.y, weights=problem.weight)
    best = {"squared": mean, "squared_hinge": mean, "logistic": 2 * np.arctanh(mean), "exponential": np.arctanh(mean)}
    assert point.intercept == pytest.approx(best[problem.loss], rel=1e-6)


def test_max_terms_limits_the_number_of_terms(problem):
    assert len(problem.frontier(max_terms=3).points) == 4
    for max_terms in (0, 1, 4):
        assert len(problem.fit_at(0.0, max_terms=max_terms).points[0].columns) <= max_terms


# Limits and weights


@pytest.mark.parametrize("n_threads", [2, 3])
def test_searches_are_identical_for_any_number_of_threads(problem, n_threads):
    assert_same_search(problem.frontier(), problem.frontier(n_threads=n_threads))
    assert_same_search(problem.fit_at(0.5), problem.fit_at(0.5, n_threads=n_threads))


@pytest.mark.parametrize("loss", LOSSES)
def test_frontier_of_many_rows_is_identical_on_two_threads(loss):
    problem = many_rows(30_000, loss=loss, n_features=6)
    assert_same_search(problem.frontier(max_terms=6), problem.frontier(max_terms=6, n_threads=2))


@pytest.mark.parametrize("loss", LOSSES[:3])
def test_fit_at_with_more_columns_than_a_shortlist_finds_all_features(loss):
    """Sums are computed in parts, and between full scans the search is restricted to a shortlist."""
    rng = np.random.default_rng(0)
    codes = [rng.permutation(600) for _ in range(60)]
    problem = problem_of(codes, labels(rng, sum((code > 300) - 0.5 for code in codes[::7]), loss), loss)
    found = problem.fit_at(8.0, n_threads=2)
    assert_same_search(problem.fit_at(8.0), found)
    (point,) = found.points
    assert_valid(problem, point)
    assert {column // 600 for column in point.columns.tolist()} >= set(range(0, 60, 7))


@pytest.mark.parametrize("loss", LOSSES)
def test_frontier_with_integer_weights_equals_that_of_repeated_rows(loss):
    problem = random_problem(1, loss, n=150, weighted=False)
    times = np.random.default_rng(1).integers(1, 4, 150)
    weighted = problem_of(problem.codes, problem.y, loss, times, problem.n_bins, problem.n_ordered)
    repeated = problem.repeated(times)
    one = weighted.frontier(max_terms=6, penalty=weighted.penalty(0.01))
    other = repeated.frontier(max_terms=6, penalty=repeated.penalty(0.01))
    np.testing.assert_allclose(values(one), values(other), rtol=1e-8)


def bounded_refit(problem, columns, low, high):
    """Return the lowest loss on a support with bounded coefficients, by another optimiser."""
    rows = ReferenceRows(problem.X, problem.y, problem.weight, problem.loss)

    def at(theta):
        value, _, gradient = rows.newton(_core.Point(theta[0], columns, theta[1:].copy()), columns)
        return value, gradient

    bounds = [(None, None), *zip(low[columns], high[columns], strict=True)]
    options = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000, "maxfun": 50_000}
    return minimize(at, np.zeros(len(columns) + 1), jac=True, method="L-BFGS-B", bounds=bounds, options=options).fun


@pytest.mark.parametrize(("low", "high"), [(0.0, np.inf), (-np.inf, 0.0), (-0.2, 0.3)])
def test_frontier_with_bounds_is_optimal_on_each_support(problem, low, high):
    bounds = {"low": np.full(problem.n_columns, low), "high": np.full(problem.n_columns, high)}
    search = problem.frontier(max_terms=8, penalty=problem.penalty(**bounds))
    assert search.finished
    assert len(search.points) > 2
    for point in search.points:
        assert_valid(problem, point)
        assert (point.coef >= low).all()
        assert (point.coef <= high).all()
        best = bounded_refit(problem, point.columns, bounds["low"], bounds["high"])
        assert point.loss <= best + 1e-6 * search.points[0].loss


def test_sign_bounds_make_a_monotone_shape():
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 12, 400)
    problem = problem_of([codes], labels(rng, np.sin(codes / 2) + codes / 6, "squared"), "squared")
    # Negative coefficients of x <= t make an increasing shape.
    penalty = problem.penalty(high=np.zeros(12))
    for point in problem.frontier(penalty=penalty).points:
        shape = problem.X[np.argsort(codes, kind="stable")][:, point.columns] @ point.coef
        assert (np.diff(shape) >= 0).all()


def test_columns_that_are_not_allowed_do_not_enter(problem):
    allowed = np.isin(np.arange(problem.n_columns), [1, 4, 5, 9])
    search = problem.frontier(penalty=problem.penalty(allowed=allowed))
    assert set(search.points[-1].columns.tolist()) <= {1, 4, 5, 9}
    (point,) = problem.fit_at(0.0, penalty=problem.penalty(allowed=allowed)).points
    assert set(point.columns.tolist()) <= {1, 4, 5, 9}


def test_fit_at_selects_the_cheaper_of_two_equal_columns():
    problem = random_problem(6, "logistic", n=200, kinds=((2, 2),))
    twins = problem_of([problem.codes[0]] * 2, problem.y, "logistic", problem.weight)
    for expensive, cheap in ((0, 2), (2, 0)):
        cost = np.ones(4)
        cost[expensive] = 3.0
        (point,) = twins.fit_at(0.1, penalty=twins.penalty(cost=cost)).points
        assert point.columns.tolist() == [cheap]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(4))
def test_fit_at_with_costs_finds_the_best_subset(loss, seed):
    problem = random_problem(seed, loss, n=150, kinds=((4, 4), (3, 0), (3, 2)))
    cost = np.random.default_rng(seed).uniform(0.2, 4.0, problem.n_columns)
    found = all_subsets(problem, 0.0, len(problem.candidates))
    best = min(objective + cost[list(subset)].sum() for subset, objective in found.items())
    (point,) = problem.fit_at(1.0, penalty=problem.penalty(cost=cost)).points
    assert value(point) + cost[point.columns].sum() <= best + 1e-6 * found[()]


# Degenerate data


@pytest.mark.parametrize("loss", LOSSES)
def test_identical_columns_do_not_change_the_frontier(loss):
    problem = random_problem(7, loss, n=120, kinds=((4, 4), (3, 0)))
    copies = problem_of(
        problem.codes * 3, problem.y, loss, problem.weight, np.tile(problem.n_bins, 3), np.tile(problem.n_ordered, 3)
    )
    once, thrice = values(problem.frontier()), values(copies.frontier())
    assert len(thrice) <= len(once)
    np.testing.assert_allclose(thrice, once[: len(thrice)], rtol=1e-7)
    assert copies.fit_at(0.1).certificate.swap_optimal


@pytest.mark.parametrize("loss", LOSSES)
def test_constant_columns_do_not_enter(loss):
    problem = random_problem(8, loss, n=60, kinds=((1, 1), (4, 4), (1, 0)))
    every = problem.penalty(allowed=np.ones(problem.n_columns, dtype=bool))
    for search in (problem.frontier(penalty=every), problem.fit_at(0.0, penalty=every)):
        assert set(search.points[-1].columns.tolist()) <= {1, 2, 3}
    nothing = problem_of([np.zeros(60)], problem.y, loss)
    assert len(nothing.frontier(penalty=nothing.penalty(allowed=np.ones(1, dtype=bool))).points) == 1


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
@pytest.mark.parametrize("lambda2", [0.0, 1e-3])
def test_models_of_separable_data_are_finite(loss, lambda2):
    codes = np.repeat(np.arange(20), 5)
    problem = problem_of([codes, np.tile(np.arange(5), 20)], np.where(codes < 8, 1.0, -1.0), loss)
    search = problem.frontier(penalty=problem.penalty(lambda2))
    for point in search.points:
        assert_valid(problem, point, lambda2)
    assert search.points[1].columns.tolist() == [7]
    (point,) = problem.fit_at(0.5, penalty=problem.penalty(lambda2)).points
    assert 7 in point.columns
    # With a ridge, several columns can have a lower penalty than one.
    assert lambda2 > 0 or (len(point.columns) == 1 and point.loss < 1e-4)


@pytest.mark.parametrize("y", [1.0, -1.0])
def test_searches_with_a_single_class_return_no_terms(y):
    for loss in LOSSES:
        problem = problem_of([np.arange(30) % 5, np.arange(30) % 3], np.full(30, y), loss)
        for search in (problem.frontier(), problem.fit_at(0.01)):
            for point in search.points:
                assert_valid(problem, point)
            assert search.points[0].loss < 1e-4
        assert len(search.points[-1].columns) == 0


@pytest.mark.parametrize("loss", LOSSES)
def test_searches_of_one_and_two_rows(loss):
    problem = problem_of([np.array([0, 1])], [1.0, -1.0], loss)
    for search in (problem.frontier(), problem.fit_at(0.01)):
        point = search.points[-1]
        assert_valid(problem, point)
        assert point.columns.tolist() == [0]
        assert point.loss < 1e-3
    one_row = problem_of([np.array([0])], [1.0], loss)
    assert len(one_row.frontier().points) == 1


@pytest.mark.parametrize(("max_bins", "dtype"), [(200, np.uint8), (1000, np.uint16), (60_000, np.uint16)])
def test_feature_with_sixty_thousand_values(max_bins, dtype):
    rng = np.random.default_rng(9)
    x = rng.permutation(60_000) / 4.0
    edges = _core.bin_edges(x, max_bins)
    codes = _core.bin_codes(x, edges)
    assert (edges.size, codes.dtype) == (max_bins - 1, dtype)
    score = np.where(x <= 3000, 1.0, -1.0) + (x > 10_000)
    problem = problem_of([codes], labels(rng, score, "logistic"), n_bins=[max_bins])
    search = problem.frontier(max_terms=2, n_threads=2)
    thresholds = np.sort(edges[search.points[2].columns])
    np.testing.assert_allclose(thresholds, [3000, 10_000], rtol=0.02)
    (point,) = problem.fit_at(10.0, certify=max_bins <= 1000, n_threads=2).points
    np.testing.assert_allclose(np.sort(edges[point.columns]), thresholds, rtol=0.01)


# Time limits, callbacks and interruption


def many_rows(n, loss="logistic", n_features=20, n_bins=250):
    """Return a problem on which a search takes long."""
    rng = np.random.default_rng(0)
    codes = [rng.integers(0, n_bins, n) for _ in range(n_features)]
    score = sum(np.sin(0.05 * (j + 1) * code) for j, code in enumerate(codes)) / 2
    return problem_of(codes, labels(rng, score, loss), loss, n_bins=[n_bins] * n_features)


@pytest.mark.parametrize(("search", "arguments"), [(_core.frontier, {}), (_core.fit_at, {"lambda0": 0.1})])
def test_time_limit_ends_a_search_with_valid_models(search, arguments):
    """Within no time, a search makes only the passes for the empty model and those already under way."""
    problem = many_rows(60_000)
    rows, penalty = problem.rows(), problem.penalty()
    at_once = search(rows, penalty, max_terms=100, time_limit=0.0, **arguments)
    assert at_once.counts["passes"] <= 20
    for found in (at_once, search(rows, penalty, max_terms=100, time_limit=0.05, **arguments)):
        assert not found.finished
        assert len(found.points) >= 1
        for point in found.points[-3:]:
            assert_valid(problem, point)


@pytest.mark.parametrize("limit", [1e4, 1e13, 1e300])
def test_very_long_time_limit_equals_no_limit(problem, limit):
    assert_same_search(problem.frontier(time_limit=limit), problem.frontier())


def test_callback_is_called_for_each_improved_model(problem):
    reported = {}

    def callback(n_terms, objective):
        assert objective < reported.get(n_terms, np.inf)
        reported[n_terms] = objective

    search = problem.frontier(max_terms=8, callback=callback)
    assert sorted(reported) == list(range(9))
    last = np.array([reported[k] for k in range(9)])
    assert (np.diff(last) < 0).all()
    np.testing.assert_allclose(last, values(search), rtol=1e-5)
    reported.clear()
    (point,) = problem.fit_at(1.0, callback=callback).points
    assert reported[len(point.columns)] == pytest.approx(point.loss, rel=1e-5)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_exception_in_the_callback_ends_the_search(problem, n_threads):
    class EnoughError(Exception):
        pass

    def callback(n_terms, _):
        if n_terms == 3:
            raise EnoughError

    rows, penalty = problem.rows(n_threads), problem.penalty()
    for _ in range(3):
        with pytest.raises(EnoughError):
            _core.frontier(rows, penalty, max_terms=8, callback=callback)
    again = _core.frontier(rows, penalty, max_terms=8)
    assert_same_search(again, problem.frontier(max_terms=8))


INTERRUPTED = """
import signal, sys, threading
from core.test_search import _core, many_rows

problem = many_rows(200_000)
n_threads, which = int(sys.argv[1]), sys.argv[2]
rows, penalty = problem.rows(n_threads), problem.penalty()
# Background jobs start without this handler.
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()
try:
    if which == "frontier":
        _core.frontier(rows, penalty, max_terms=200)
    else:
        _core.fit_at(rows, penalty, lambda0=0.1, max_terms=200)
    print("completed")
except KeyboardInterrupt:
    print("interrupted")
search = _core.frontier(rows, penalty, max_terms=1)
print("afterwards", search.finished, len(search.points))
"""


@pytest.mark.parametrize("which", ["frontier", "fit_at"])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_ctrl_c_interrupts_a_search_and_leaves_the_rows_usable(n_threads, which):
    command = [sys.executable, "-c", INTERRUPTED, str(n_threads), which]
    paths = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == ["interrupted", "afterwards True 2"]


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_fit_at_selects_a_perfect_threshold_up_to_its_true_gain(loss):
    """The quadratic model predicts about 0.7 of the gain of a pure column."""
    codes = np.repeat(np.arange(60), 10)
    problem = problem_of([codes, np.tile(np.arange(10), 60)], np.where(codes < 30, 1.0, -1.0), loss)
    gain = problem.frontier(max_terms=0).points[0].loss
    (point,) = problem.fit_at(0.85 * gain).points
    assert point.columns.tolist() == [29]
