"""All implementations of Rows for a problem, by name, a large problem, and the results to compare."""

from functools import partial

import numpy as np
import scipy.sparse

from _helpers.problems import narrow, problem_of
from _helpers.reference import ReferenceRows
from sparsegam import _core


def oracle(problem):
    return ReferenceRows(problem.X, problem.y, problem.weight, problem.loss, codes=problem.codes)


def wide(problem):
    """Return the rows of a problem with codes of type uint16."""
    codes = tuple(code.astype(np.uint16) for code in problem.codes)
    design = _core.ThresholdDesign(codes, problem.n_bins, problem.n_ordered)
    return _core.ThresholdRows(design, problem.y, problem.weight, loss=problem.loss, n_threads=1)


def dense(problem, *, dtype=np.float64, order="F", **options):
    matrix = _core.Matrix(np.array(problem.X, dtype=dtype, order=order))
    options = {"n_threads": 1, **options}
    return _core.MatrixRows(matrix, problem.y, problem.weight, loss=problem.loss, **options)


def sparse(problem, n_threads=1):
    csc = scipy.sparse.csc_array(problem.X)
    matrix = _core.Matrix(csc.data, csc.indices.astype(np.int32), csc.indptr.astype(np.int64), len(problem.y))
    return _core.MatrixRows(matrix, problem.y, problem.weight, loss=problem.loss, n_threads=n_threads)


# To test another implementation of Rows, add a function that converts a problem to it.
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
    "oracle": oracle,
    "threshold": lambda problem: problem.rows(),
    "threshold, 2 threads": lambda problem: problem.rows(n_threads=2),
    "threshold, wide codes": wide,
}
ROWS = {**ROWS_OF_CODES, **ROWS_OF_MATRICES}
NO_COLUMNS = np.zeros(0, dtype=np.int64)


def large_problem(n, loss):
    """More rows than the blocks that sums are made of, features of both widths, more than four of each."""
    rng = np.random.default_rng(n)
    n_bins = np.array([300, 5, 2, 40, 256, 257, 3, 9, 1000, 12, 400])
    codes = [narrow(rng.integers(0, bins, n), bins) for bins in n_bins]
    y = rng.normal(size=n) if loss == "squared" else rng.choice([-1.0, 1.0], n)
    n_ordered = n_bins - np.arange(n_bins.size) % 2
    return problem_of(codes, y, loss, rng.uniform(0.5, 2, n), n_bins, n_ordered)


def point_of(columns, theta):
    return _core.Point(float(theta[0]), np.asarray(columns, dtype=np.int64), np.array(theta[1:], dtype=np.float64))


def ask(rows, support, *, grouped=False):
    """Return the results of all methods at one point, by name."""
    point = _core.Point(0.3, support, np.linspace(-0.5, 0.7, support.size))
    answers = {
        "evaluate": rows.evaluate([point]),
        "spread": rows.columns.centred_sq_norm,
        "newton": np.concatenate([np.ravel(part) for part in rows.newton(point, support, False)]),
    }
    for name, part in zip(("grad", "curv", "cross"), rows.scan(point, NO_COLUMNS)[3:], strict=True):
        answers[f"scan {name}"] = np.ravel(part)
    if grouped:
        every = np.arange(len(rows.columns))
        for name, part in zip(("grad", "curv", "loss"), rows.groups(point, every)[:3], strict=True):
            answers[f"groups {name}"] = part
    return answers


def assert_same_answers(mine, expected, *, digits=1e-12):
    """The same sums; those of a scan as well as floats add them up."""
    for name, answer in expected.items():
        share = max(digits, 1e-5) if name.startswith("scan") else digits
        scale = max(np.abs(answer).max(), 1.0)
        np.testing.assert_allclose(mine[name], answer, rtol=0, atol=share * scale, err_msg=name)
