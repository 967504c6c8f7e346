"""Linear models fitted on a device equal those fitted on the CPU."""

import numpy as np
import pytest
import scipy.sparse
from _helpers.device_rows import device, fit_on_both, rows_of_matrix  # noqa: F401
from _helpers.emulated_device import EmulatedDevice
from _helpers.problems import LOSSES, random_problem
from _helpers.reference import ReferenceRows

from sparsegam import SparseLinearClassifier, SparseLinearClassifierCV, SparseLinearRegressor, _core, linear_path
from sparsegam._backends.cuda import backend

NO_COLUMNS = np.zeros(0, dtype=np.int64)
RNG = np.random.default_rng(1)
X = RNG.normal(size=(200, 12)) + np.array([0.0, 1e4, *[0.0] * 10])
SCORE = X[:, 2] - 2 * X[:, 5] + 0.5 * (X[:, 1] - 1e4)
Y = (SCORE + RNG.normal(size=200) > 0).astype(int)


@pytest.mark.parametrize("loss", LOSSES)
def test_matrix_rows_match_the_reference(device, loss):  # noqa: F811
    problem = random_problem(2, loss, n=150)
    rows, oracle = rows_of_matrix(device, problem), ReferenceRows(problem.X, problem.y, problem.weight, loss)
    support, entered, among = np.array([4, 0, 9]), np.array([2]), np.array([1, 5])
    point = _core.Point(0.2, support, np.array([0.5, -0.4, 0.3]))
    np.testing.assert_allclose(rows.columns.centred_sq_norm, oracle.columns.centred_sq_norm, atol=1e-10)
    np.testing.assert_allclose(rows.evaluate([point, point]), oracle.evaluate([point, point]), rtol=1e-13)
    asked = (
        lambda r: r.newton(point, support),
        lambda r: r.scan(point, NO_COLUMNS)[1:],
        lambda r: r.scan(point, among)[1:],
        lambda r: [r.rescan(r.scan(point, NO_COLUMNS)[0], point, entered, among)[i] for i in (0, 1, 3)],
    )
    for ask in asked:
        for mine, expected in zip(ask(rows), ask(oracle), strict=True):
            np.testing.assert_allclose(np.ravel(mine), np.ravel(expected), atol=1e-10)
    with pytest.raises(RuntimeError, match="needs 0/1 columns"):
        rows.groups(point, among)


def test_linear_models_are_the_same_as_on_the_cpu(device):  # noqa: F811
    mine, theirs = fit_on_both(SparseLinearClassifier, X, Y)
    np.testing.assert_allclose(mine.coef_, theirs.coef_, atol=1e-6)
    mine, theirs = fit_on_both(SparseLinearRegressor, X, SCORE, RNG.random(200))
    np.testing.assert_array_equal(mine.coef_ != 0, theirs.coef_ != 0)
    mine, theirs = (linear_path(X, Y, device=device, max_terms=2) for device in ("cuda", "cpu"))
    np.testing.assert_allclose(mine.loss, theirs.loss, rtol=1e-7)


def test_cross_validation_of_linear_models_chooses_the_same_size_as_on_the_cpu(device):  # noqa: F811
    options = {"max_terms": 2, "cv": 2, "lambda2": 1e-3}
    mine, theirs = fit_on_both(SparseLinearClassifierCV, X, Y, **options)
    assert mine.best_n_terms_ == theirs.best_n_terms_


def test_sparse_and_too_large_matrices_raise(device, monkeypatch):  # noqa: F811
    with pytest.raises(ValueError, match="takes dense matrices, got a sparse one"):
        SparseLinearClassifier(device="cuda").fit(scipy.sparse.csr_array(X), Y)
    monkeypatch.setattr(backend, "Device", lambda: EmulatedDevice(free=1000, total=2000))
    with pytest.raises(MemoryError, match="200 rows of 12 columns need"):
        SparseLinearClassifier(device="cuda").fit(X, Y)
