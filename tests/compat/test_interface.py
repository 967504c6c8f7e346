"""Inputs that `fit` and `cvfit` accept and reject."""

import inspect
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from _helpers.l0_scale import LOSSES, loss_sum, make

from sparsegam.compat import fastsparsegams
from sparsegam.compat.fastsparsegams import cvfit, fit, interface, models

DEFAULTS = {
    "loss": "SquaredError",
    "penalty": "L0",
    "algorithm": "CD",
    "max_support_size": 100,
    "num_lambda": 100,
    "num_gamma": 1,
    "gamma_max": 10.0,
    "gamma_min": 0.0001,
    "partial_sort": True,
    "max_iter": 200,
    "rtol": 1e-6,
    "atol": 1e-9,
    "active_set": True,
    "active_set_num": 3,
    "max_swaps": 100,
    "scale_down_factor": 0.8,
    "screen_size": 1000,
    "lambda_grid": None,
    "exclude_first_k": 0,
    "intercept": True,
    "lows": -np.inf,
    "highs": np.inf,
}


class TestCalls:
    def test_fit_has_the_signature_of_the_original(self):
        parameters = inspect.signature(fit).parameters
        assert list(parameters) == ["X", "y", *DEFAULTS]
        defaults = {name: parameters[name].default for name in DEFAULTS}
        assert defaults == DEFAULTS

    def test_cvfit_has_the_signature_of_the_original(self):
        names = list(inspect.signature(cvfit).parameters)
        assert names[:7] == ["X", "y", "loss", "penalty", "algorithm", "num_folds", "seed"]
        assert names[7:] == list(DEFAULTS)[3:]
        assert inspect.signature(cvfit).parameters["num_folds"].default == 10

    def test_module_has_the_names_of_the_original(self):
        assert fastsparsegams.__version__ == "0.2.0"
        assert interface.SUPPORTED_LOSS == LOSSES
        assert LOSSES[1:] == interface.CLASSIFICATION_LOSS
        assert interface.SUPPORTED_PENALTY == ("L0", "L0L1", "L0L2")
        assert interface.SUPPORTED_ALGORITHM == ("CD", "CDPSI")
        assert issubclass(models.CVFitModel, models.FitModel)

    def test_numpy_is_not_modified(self):
        assert not hasattr(np, "product")  # the original adds this name to NumPy


class TestInputs:
    """Matrices, data frames, lists and labels of any type give a result or a clear error, unlike the original."""

    @pytest.mark.parametrize(
        "kind",
        [
            np.asfortranarray,
            lambda X: X.astype(np.float32),
            lambda X: (100 * X).astype(int),
            lambda X: pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]),
            pl.DataFrame,
            lambda X: X.tolist(),
            lambda X: X[::1, ::-1][:, ::-1],
        ],
    )
    def test_dense_matrices(self, kind):
        X, y = make("Logistic")
        model = fit(kind(X), y, "Logistic", max_support_size=4)
        assert model.support_size == fit(X, y, "Logistic", max_support_size=4).support_size
        assert model.predict(kind(X)).shape == (80, len(model.lambda_0[0]))

    @pytest.mark.parametrize("kind", [sp.csc_matrix, sp.csr_matrix, sp.coo_matrix, sp.csc_array, sp.csr_array])
    def test_sparse_matrices(self, kind):
        X, y = make("SquaredError", sparse=True)
        model, csc = fit(kind(X), y), fit(X, y)
        assert model.objectives == csc.objectives
        # The original raises an error for sparse matrices.
        np.testing.assert_allclose(model.predict(kind(X)), csc.predict(X.toarray()))

    def test_only_dense_matrices_are_centred(self):
        X, y = make("Logistic", sparse=True)
        sparse, dense = (fit(each, y, "Logistic", "L0L2", gamma_max=1.0) for each in (X, X.toarray()))
        assert sparse.gamma == dense.gamma
        assert sparse.objectives != dense.objectives

    @pytest.mark.parametrize("loss", LOSSES[1:])
    @pytest.mark.parametrize(
        "label",
        [
            lambda y: y > 0,
            lambda y: (y > 0).astype(int),
            lambda y: np.where(y > 0, 7.5, 2.0),
            lambda y: (y > 0).tolist(),
            lambda y: pd.Series(np.where(y > 0, "yes", "no")),
        ],
    )
    def test_fit_accepts_any_labels(self, loss, label):
        X, y = make(loss)
        expected = fit(X, y, loss, max_support_size=4)
        model = fit(X, label(y), loss, max_support_size=4)
        assert max(model.support_size[0]) >= 3
        assert model.objectives == expected.objectives
        np.testing.assert_allclose(model.score(X, label(y)), expected.score(X, y))

    def test_fit_accepts_integer_targets(self):
        X, y = make("SquaredError")
        assert fit(X, np.round(y).astype(int)).objectives == fit(X, np.round(y)).objectives

    @pytest.mark.parametrize(
        ("X", "y", "says"),
        [
            (np.full((4, 2), np.nan), np.arange(4.0), "NaN"),
            (np.array([[1.0, np.inf], [0, 1], [1, 1]]), np.arange(3.0), "infinity"),
            (np.eye(4), np.array([1.0, np.nan, 0, 1]), "NaN"),
            (np.eye(4), np.arange(3.0), "same number of rows"),
            (np.eye(4), np.ones((4, 2)), "1d array"),
            (np.zeros((0, 3)), np.zeros(0), "minimum of 1"),
            (np.arange(4.0), np.arange(4.0), "2D"),
            (np.array([["a", "b"]] * 4), np.arange(4.0), "convert"),
            (np.eye(4) * 1j, np.arange(4.0), "Complex"),
        ],
    )
    def test_invalid_input_is_rejected(self, X, y, says):
        with pytest.raises(ValueError, match=says):
            fit(X, y)

    @pytest.mark.parametrize("y", [np.ones(4), np.arange(4.0)])
    def test_classification_needs_two_classes(self, y):
        with pytest.raises(ValueError, match="class"):
            fit(np.eye(4), y, "Logistic")

    def test_exponential_loss_needs_binary_columns(self):
        X, y = make("Logistic")
        with pytest.raises(ValueError, match="zeros and ones"):
            fit(X, y, "Exponential")
        binary, labels = make("Exponential")
        sparse = fit(sp.csr_matrix(binary), labels, "Exponential")
        np.testing.assert_allclose(sparse.objectives[0], fit(binary, labels, "Exponential").objectives[0])

    def test_exclude_first_k_beyond_the_columns_is_rejected(self):
        with pytest.raises(ValueError, match="exclude_first_k"):
            fit(*make("SquaredError"), exclude_first_k=13)

    def test_constant_and_shifted_columns(self):
        X, y = make("SquaredError")
        odd = np.column_stack([X + 1e6, np.ones(80), np.zeros(80)])
        model = fit(odd, y)
        assert model.coeffs[0][12:].nnz == 0
        np.testing.assert_allclose(model.lambda_0[0], fit(X, y).lambda_0[0], rtol=1e-4)

    def test_constant_target(self):
        X, _ = make("SquaredError")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = fit(X, np.full(80, 3.0))
        assert set(model.support_size[0]) == {0}
        assert model.intercepts[0][0] == pytest.approx(3.0)

    def test_simulation_of_the_paper(self):
        """The original crashes for gamma = 1."""
        from sparsegam.datasets import make_correlated_classification

        rows = make_correlated_classification(200, 300, 5, rho=0.9, seed=0)
        y = np.where(np.asarray(rows.target) > 0, 1.0, -1.0)
        model = fit(rows.data, y, "Logistic", "L0L2", "CDPSI", gamma_min=1.0, gamma_max=1.0, max_support_size=10)
        assert model.gamma == [1.0]
        assert model.support_size[0][-1] >= 10

    def test_separable_classes(self):
        X = np.array([[-2.0, 0.3], [-1.0, -0.2], [1.0, 0.1], [2.0, -0.3]])
        for loss in ("Logistic", "SquaredHinge"):
            model = fit(X, np.array([0, 0, 1, 1]), loss, algorithm="CDPSI")
            assert np.isfinite(model.coeff().toarray()).all()
            assert np.isfinite(model.objectives[0]).all()


class TestCrossValidation:
    @pytest.mark.parametrize("sparse", [False, True])
    @pytest.mark.parametrize("loss", LOSSES)
    def test_cv_errors_equal_test_errors(self, loss, sparse):
        """The original returns zeros for the exponential loss and wrong folds for sparse matrices."""
        X, y = make(loss, n=150, sparse=sparse and loss != "Exponential")
        X = sp.csc_matrix(X) if sparse else X
        model = cvfit(X, y, loss, num_folds=5, max_support_size=5)
        (means,), (sds,), (sizes,) = model.cv_means, model.cv_sds, model.support_size
        assert means.shape == sds.shape == (len(sizes), 1)
        twice = 2 if loss == "SquaredError" else 1
        empty = twice * loss_sum(loss, y, np.full(150, model.intercepts[0][0])) / 150
        first = sizes.index(0) if 0 in sizes else None
        if first is not None:
            assert means[first, 0] == pytest.approx(empty, rel=0.1)
        assert means.min() < 0.8 * empty
        assert (sds > 0).all()

    def test_cv_errors_include_the_intercept(self):
        """The original subtracts the intercept instead of adding it."""
        X, y = make("SquaredError", n=120)
        here, there = (cvfit(X, y + shift, num_folds=4) for shift in (0.0, 1000.0))
        np.testing.assert_allclose(here.cv_means[0], there.cv_means[0], rtol=1e-6)

    def test_cvfit_has_the_models_of_fit(self):
        X, y = make("Logistic")
        given = {"loss": "Logistic", "penalty": "L0L2", "num_gamma": 2, "max_support_size": 4}
        model, plain = cvfit(X, y, num_folds=3, **given), fit(X, y, **given)
        assert model.lambda_0 == plain.lambda_0
        assert model.objectives == plain.objectives

    def test_seed_determines_the_folds(self):
        X, y = make("Logistic")
        first, again, other = (cvfit(X, y, "Logistic", num_folds=3, seed=seed).cv_means[0] for seed in (1, 1, 2))
        np.testing.assert_array_equal(first, again)
        assert (first != other).any()

    @pytest.mark.parametrize("num_folds", [1, 81, 2.5])
    def test_invalid_numbers_of_folds_are_rejected(self, num_folds):
        with pytest.raises(ValueError, match="num_folds"):
            cvfit(*make("Logistic"), "Logistic", num_folds=num_folds)

    def test_rare_class_is_in_every_fold(self):
        X, _ = make("Logistic")
        rare = np.where(np.arange(80) < 4, 1, 0)
        assert np.isfinite(cvfit(X, rare, "Logistic", num_folds=4, max_support_size=3).cv_means[0]).all()
        with pytest.raises(ValueError, match="two rows of each class"):
            cvfit(X, np.arange(80) == 0, "Logistic", num_folds=4)
