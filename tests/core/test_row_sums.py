"""Sums over rows for all implementations of Rows, many rows, and any number of threads."""

from dataclasses import dataclass

import numpy as np
import pytest
from _helpers.kinds_of_rows import (
    ROWS,
    ROWS_OF_MATRICES,
    ask,
    assert_same_answers,
    dense,
    large_problem,
    oracle,
    sparse,
)
from _helpers.problems import LOSSES, problem_of, random_problem

from sparsegam import _core


def one_feature_a_column(problem):
    """Return a problem in which every column is a feature of its own."""
    p = problem.n_columns
    codes = problem.X.T.astype(np.uint8)
    return problem_of(codes, problem.y, problem.loss, problem.weight, n_bins=[2] * p, n_ordered=[0] * p)


@pytest.mark.parametrize("make", ROWS.values(), ids=ROWS.keys())
@pytest.mark.parametrize("loss", LOSSES)
def test_integer_weights_equal_repeated_rows(make, loss):
    problem = random_problem(2, loss, n=80, weighted=False)
    times = np.random.default_rng(2).integers(1, 4, 80)
    weighted = problem_of(problem.codes, problem.y, loss, times, problem.n_bins, problem.n_ordered)
    support = np.array([1, 4, 9])
    assert_same_answers(ask(make(weighted), support), ask(make(problem.repeated(times)), support))


@pytest.mark.parametrize("loss", LOSSES)
def test_threshold_design_equals_the_expanded_design(loss):
    problem = random_problem(3, loss, n=500)
    support, p = np.array([1, 4, 9]), problem.n_columns
    # Indices of the columns `code == 1` in the expanded design.
    ones = 2 * np.arange(p) + 1
    expanded = ask(one_feature_a_column(problem).rows(), ones[support], grouped=True)
    for name in expanded.keys() - {"evaluate", "newton"}:
        expanded[name] = expanded[name].reshape(2 * p, -1)[ones].ravel()
    assert_same_answers(ask(problem.rows(), support, grouped=True), expanded)


@pytest.mark.parametrize("make", list(ROWS.values())[1:], ids=list(ROWS)[1:])
def test_sums_over_more_than_one_block_equal_the_oracle(make):
    """More rows than one block of float32 sums and one block of scores."""
    problem = random_problem(4, "logistic", n=3 * 8192 + 5)
    support = np.array([1, 4, 9])
    assert_same_answers(ask(make(problem), support), ask(oracle(problem), support))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [100, 3 * 8192 + 1, 200_003])
def test_sums_are_identical_for_any_number_of_threads(n, loss):
    problem = large_problem(n, loss)
    support = np.array([1, 200, 303, 620, 1500, 2000])
    one, two, three = (ask(problem.rows(n_threads), support, grouped=True) for n_threads in (1, 2, 3))
    for name, answer in one.items():
        np.testing.assert_array_equal(answer, two[name], err_msg=name)
        np.testing.assert_array_equal(answer, three[name], err_msg=name)


@pytest.mark.parametrize("loss", LOSSES)
def test_rows_without_weights_have_weight_one(loss):
    problem = large_problem(2 * 4096 + 7, loss)
    support = np.array([1, 200, 303, 620, 1500, 2000])
    given, none = (
        ask(_core.ThresholdRows(problem.design, problem.y, weight, loss=loss, n_threads=2), support, grouped=True)
        for weight in (np.ones(problem.y.size), None)
    )
    for name, answer in given.items():
        np.testing.assert_array_equal(none[name], answer, err_msg=name)


@dataclass(frozen=True)
class RawProblem:
    """Raw columns with labels and weights."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    loss: str
    codes: tuple = ()


def raw_problem(n, p, loss):
    """Return columns of various scales, some far from zero, empty or constant, with values exact in float32."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.5) * rng.uniform(0.1, 2, p) + (np.arange(p) % 4 == 3)
    X[:, 5], X[:, 6] = 0.0, 1.5
    y = rng.normal(size=n) if loss == "squared" else rng.choice([-1.0, 1.0], n)
    return RawProblem(X.astype(np.float32).astype(np.float64), y, rng.uniform(0.5, 2, n), loss)


@pytest.mark.parametrize("make", ROWS_OF_MATRICES.values(), ids=ROWS_OF_MATRICES.keys())
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [1, 40, 9000])
def test_sums_of_raw_columns_equal_the_oracle(make, loss, n):
    problem = raw_problem(n, 30, loss)
    for support in (np.empty(0, dtype=np.int64), np.array([2, 7, 0, 29, 11])):
        assert_same_answers(ask(make(problem), support), ask(oracle(problem), support))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_sums_of_float32_columns_have_float32_precision(loss, order):
    problem, support = raw_problem(9000, 30, loss), np.array([2, 7, 0, 29, 11])
    rows = dense(problem, dtype=np.float32, order=order)
    assert_same_answers(ask(rows, support), ask(oracle(problem), support), digits=1e-5)


@pytest.mark.parametrize("make", [dense, sparse])
@pytest.mark.parametrize("loss", LOSSES)
def test_sums_of_raw_columns_are_identical_for_any_number_of_threads(make, loss):
    problem, support = raw_problem(20_000, 40, loss), np.array([2, 7, 0, 29, 11])
    one, two = (ask(make(problem, n_threads=n_threads), support) for n_threads in (1, 2))
    for name, answer in one.items():
        np.testing.assert_array_equal(answer, two[name], err_msg=name)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_sums_of_more_than_200_000_rows_equal_those_of_weighted_rows(n_threads):
    """Such sums are computed in pieces, and identical for any number of threads."""
    few = random_problem(3, "logistic", n=4096)
    times = 60
    codes = [np.tile(code, times) for code in few.codes]
    design = _core.ThresholdDesign(codes, few.n_bins, few.n_ordered)
    rows = _core.ThresholdRows(
        design, np.tile(few.y, times), np.tile(few.weight, times), loss="logistic", n_threads=n_threads
    )
    alone = _core.ThresholdRows(few.design, few.y, few.weight * times, loss="logistic", n_threads=1)
    point = _core.Point(0.1, few.candidates[:4].astype(np.int64), np.array([0.5, -0.5, 0.25, 1.0]))
    every = np.zeros(0, dtype=np.int64)
    for mine, theirs in zip(rows.scan(point, every)[1:], alone.scan(point, every)[1:], strict=True):
        # Scans use float32 sums.
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-2)
    for mine, theirs in zip(rows.newton(point, point.columns), alone.newton(point, point.columns), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10)
    single = _core.ThresholdRows(
        design, np.tile(few.y, times), np.tile(few.weight, times), loss="logistic", n_threads=1
    )
    for mine, theirs in zip(rows.scan(point, every)[1:], single.scan(point, every)[1:], strict=True):
        np.testing.assert_array_equal(mine, theirs)
