"""Searches on Rows written in Python, compared with compiled rows."""

import numpy as np
import pytest
from _helpers.problems import LOSSES, random_problem
from _helpers.reference import ReferenceRows

from sparsegam import _core
from sparsegam._search.refit import ridge_penalty

NESTED_KINDS = ((4, 4), (3, 0), (6, 5), (2, 2), (5, 3))


def both(seed, loss):
    """Return a problem with compiled rows, and rows in Python of the same problem."""
    problem = random_problem(seed, loss, n=120, kinds=NESTED_KINDS)
    nested = [(int(first), int(first + n)) for first, n in zip(problem.offset, problem.n_ordered, strict=True)]
    return problem, ReferenceRows(problem.X, problem.y, problem.weight, loss, nested)


def assert_same_points(one, other):
    assert len(one.points) == len(other.points)
    for mine, expected in zip(one.points, other.points, strict=True):
        assert sorted(mine.columns.tolist()) == sorted(expected.columns.tolist())
        assert mine.loss + mine.ridge == pytest.approx(expected.loss + expected.ridge, rel=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(5))
def test_fit_at_and_its_certificate_equal_those_of_compiled_rows(seed, loss):
    problem, rows = both(seed, loss)
    mine = _core.fit_at(rows, problem.penalty(0.01), lambda0=0.8, max_terms=10, certify=True)
    expected = problem.fit_at(0.8, max_terms=10, penalty=problem.penalty(0.01))
    assert_same_points(mine, expected)
    assert mine.certificate.swap_optimal
    assert mine.certificate.pairs == expected.certificate.pairs


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(5))
def test_frontier_equals_that_of_compiled_rows(seed, loss):
    problem, rows = both(seed, loss)
    assert_same_points(
        _core.frontier(rows, problem.penalty(0.01), max_terms=6),
        problem.frontier(max_terms=6, penalty=problem.penalty(0.01)),
    )


@pytest.mark.parametrize("method", ["evaluate", "newton", "scan"])
def test_exception_in_a_method_ends_the_search(method):
    problem, rows = both(0, "logistic")

    def fail(*_):
        msg = "the data are unavailable"
        raise OSError(msg)

    setattr(rows, method, fail)
    with pytest.raises(OSError, match="the data are unavailable"):
        _core.fit_at(rows, problem.penalty(), lambda0=0.5, max_terms=5)


@pytest.mark.parametrize(
    ("method", "answer"),
    [
        ("evaluate", lambda *_: [1.0] * 99),
        ("newton", lambda *_: 1.0),
        ("scan", lambda *_: (None, np.zeros((1, 1)), np.zeros(1), np.zeros(3), np.zeros(3), np.zeros(3))),
    ],
)
def test_results_of_the_wrong_shape_are_rejected(method, answer):
    problem, rows = both(0, "logistic")
    setattr(rows, method, answer)
    with pytest.raises(ValueError, match="a Rows class in Python must return"):
        _core.fit_at(rows, problem.penalty(), lambda0=0.5, max_terms=5)


def test_missing_method_is_named_in_the_error():
    problem, rows = both(0, "logistic")

    class Half(_core.Rows):
        loss, columns, evaluate = "logistic", rows.columns, rows.evaluate

    with pytest.raises(AttributeError, match="newton"):
        _core.fit_at(Half(), problem.penalty(), lambda0=0.5, max_terms=5)


def test_certify_rejects_raw_columns():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), rng.choice([-1.0, 1.0], 60)
    penalty = ridge_penalty(5, 0.0)
    compiled = _core.MatrixRows(_core.Matrix(X), y, np.ones(60), loss="logistic", n_threads=1)
    python = ReferenceRows(X, y, np.ones(60), "logistic")
    one, other = (_core.fit_at(rows, penalty, lambda0=0.1, max_terms=5) for rows in (compiled, python))
    assert_same_points(one, other)
    for rows in (compiled, python):
        with pytest.raises(ValueError, match="requires that all columns are 0/1"):
            _core.fit_at(rows, penalty, lambda0=0.1, max_terms=5, certify=True)
