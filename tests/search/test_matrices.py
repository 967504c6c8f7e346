"""Matrices of every form and scale, and degenerate inputs."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from _helpers.linear_rows import LOSSES, estimator, make_rows

from sparsegam import SparseLinearClassifier, SparseLinearRegressor, _core, linear_path
from sparsegam._data.matrix import read_matrix
from sparsegam._search.refit import ridge_penalty


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    "form",
    [np.asfortranarray, np.ascontiguousarray, sp.csr_matrix, sp.csc_array, sp.coo_array, pd.DataFrame, pl.DataFrame],
)
def test_every_form_of_the_matrix_gives_the_same_model(loss, form):
    X, y = make_rows(p=30, n=200, loss=loss)
    X[np.abs(X) < 0.5] = 0.0
    expected = estimator(loss).fit(X, y)
    found = estimator(loss).fit(form(X), y)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.predict(form(X)), expected.predict(X), rtol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_float32_agrees_to_its_precision(loss):
    X, y = make_rows(p=30, n=200, loss=loss)
    expected = estimator(loss).fit(X, y).coef_
    for order in "CF":
        found = estimator(loss).fit(np.asarray(X, dtype=np.float32, order=order), y).coef_
        np.testing.assert_allclose(found, expected, atol=1e-4)


def test_matrix_is_copied_only_if_necessary():
    X, _ = make_rows()
    for given in (X, np.asfortranarray(X), X.astype(np.float32)):
        assert read_matrix(given).values is given
    sparse = sp.csc_matrix(X)
    assert np.shares_memory(read_matrix(sparse).values.data, sparse.data)
    assert np.shares_memory(read_matrix(pd.DataFrame(X, copy=False)).values, X)
    assert read_matrix(X[:, ::2]).values.flags.c_contiguous


def test_duplicate_sparse_entries_are_summed_without_changing_the_input():
    given = sp.csc_matrix((np.array([1.0, 2.0, 4.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    np.testing.assert_array_equal(read_matrix(given).values.toarray(), [[3.0, 0.0], [0.0, 4.0]])
    assert given.data.tolist() == [1.0, 2.0, 4.0]


@pytest.mark.parametrize("loss", LOSSES)
def test_wide_matrices_are_supported(loss):
    X, y = make_rows(n=40, p=2000, loss=loss)
    path = linear_path(X, y, loss=loss, lambda2=1e-3, max_terms=10)
    assert path.n_terms.tolist() == list(range(11))
    assert (np.diff(path.objective) < 0).all()
    assert np.isfinite(estimator(loss).fit(X, y).coef_).all()


def test_separable_classes_give_finite_coefficients():
    X = np.column_stack([np.linspace(-1, 1, 60), np.random.default_rng(0).normal(size=60)])
    y = X[:, 0] > 0
    for lambda2 in (0.0, 1e-3):
        model = SparseLinearClassifier(lambda2=lambda2).fit(X, y)
        assert model.score(X, y) == 1.0
        assert np.isfinite(model.coef_).all()
        assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_collinear_and_constant_columns_are_handled(loss):
    X, y = make_rows(loss=loss)
    extended = np.column_stack([X, X, X[:, 0] + X[:, 1], np.full(len(y), 0.1), np.zeros(len(y))])
    path = linear_path(extended, y, loss=loss, lambda2=0.0, max_terms=19)
    plain = linear_path(X, y, loss=loss, lambda2=0.0)
    assert np.isfinite(path.objective).all()
    assert not {17, 18} & {j for model in path for j in model.columns}
    assert path.objective.min() == pytest.approx(plain.objective.min(), rel=1e-3)
    kept = estimator(loss, unpenalized=[17]).fit(extended, y)
    assert np.isfinite(kept.coef_).all()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("spread", [1e-8, 1e-3, 1e3, 1e8])
def test_result_is_invariant_to_units_of_columns(loss, spread):
    X, y = make_rows(loss=loss)
    units = np.where(np.arange(8) % 2, spread, 1.0)
    expected = estimator(loss, lambda0=2.0).fit(X, y)
    found = estimator(loss, lambda0=2.0).fit(X * units, y)
    np.testing.assert_allclose(found.coef_ * units, expected.coef_, rtol=1e-5, atol=1e-9)
    assert found.objective_ == pytest.approx(expected.objective_)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("far", [1e4, 1e8])
@pytest.mark.parametrize("form", [np.asarray, sp.csc_matrix])
def test_columns_far_from_zero_are_found(loss, far, form):
    X, y = make_rows(loss=loss)
    moved = X.copy()
    moved[:, 0] += far
    expected = estimator(loss, lambda0=2.0).fit(X, y)
    found = estimator(loss, lambda0=2.0).fit(form(moved), y)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-5)
    np.testing.assert_allclose(found.predict(form(moved)), expected.predict(X), atol=1e-4)


@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_result_is_invariant_to_units_of_the_response(unit):
    X, y = make_rows(loss="squared")
    expected = SparseLinearRegressor().fit(X, y)
    found = SparseLinearRegressor().fit(X, unit * (y + 1e3))
    np.testing.assert_allclose(found.coef_ / unit, expected.coef_, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_little_memory_gives_the_same_models(loss):
    X, y = make_rows(n=150, p=600, loss=loss)
    found = []
    for max_bytes in (2**28, 2**10):
        rows = _core.MatrixRows(
            _core.Matrix(np.asfortranarray(X)), y, np.ones(150), loss=loss, n_threads=1, max_bytes=max_bytes
        )
        penalty = ridge_penalty(600, 1e-2)
        search = _core.frontier(rows, penalty, max_terms=8)
        found.append([point.loss + point.ridge for point in search.points])
    np.testing.assert_allclose(found[1][:4], found[0][:4], rtol=1e-6)
    np.testing.assert_allclose(found[1], found[0], rtol=0.02)


def test_result_does_not_depend_on_n_jobs():
    X, y = make_rows(p=600)
    one, two = (linear_path(X, y, max_terms=8, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert (one.coef_path_ != two.coef_path_).nnz == 0


def test_exponential_loss_requires_two_valued_columns():
    X, y = make_rows()
    with pytest.raises(ValueError, match=r"columns of two values each.* column 'x0' has more.*loss='logistic'"):
        SparseLinearClassifier(loss="exponential").fit(X, y)
    for binary in ((X > 0).astype(float), sp.csr_matrix((X > 0).astype(float)), np.where(X > 0, 3.0, -1.0)):
        assert SparseLinearClassifier(loss="exponential").fit(binary, y).score(binary, y) > 0.6


def test_non_numeric_columns_are_rejected_by_name():
    X, y = make_rows()
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    frame.loc[3, "c"] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity in column 'c': impute"):
        SparseLinearClassifier().fit(frame, y)
    X[0, 1] = np.inf
    with pytest.raises(ValueError, match="infinity in column 'x1'"):
        SparseLinearClassifier().fit(sp.csr_matrix(X), y)
    with pytest.raises(ValueError, match="column 'c' contains other types"):
        SparseLinearClassifier().fit(frame.assign(c="text"), y)
