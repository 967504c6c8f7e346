"""Results of `fit`: look-up by the nearest lambda_0 and gamma, scores and plots."""

import pickle

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from _helpers.l0_scale import LOSSES, loss_sum, make

from sparsegam.compat.fastsparsegams import cvfit, fit, models

mpl.use("Agg")


@pytest.fixture(scope="module")
def data():
    return make("Logistic")


@pytest.fixture(scope="module")
def grid(data):
    return fit(*data, "Logistic", "L0L2", num_gamma=3, gamma_max=10.0, gamma_min=0.001, max_support_size=6)


class TestLookUp:
    def test_coeff_selects_models(self, grid):
        sizes = [len(values) for values in grid.lambda_0]
        assert grid.coeff().shape == (13, sum(sizes))
        assert grid.coeff(gamma=0.1).shape == (13, sizes[1])
        assert grid.coeff(lambda_0=2.0, gamma=0.1).shape == (13, 1)
        assert grid.coeff(gamma=0.1, include_intercept=False).shape == (12, sizes[1])
        assert all(isinstance(found, sp.csc_matrix) for found in (grid.coeff(), grid.coeff(lambda_0=1.0)))

    def test_coeff_uses_the_nearest_values(self, grid):
        nearest = int(np.argmin(np.abs(np.array(grid.lambda_0[2]) - 0.9)))
        found = grid.coeff(lambda_0=0.9, gamma=0.02).toarray().ravel()
        assert found[0] == grid.intercepts[2][nearest]
        np.testing.assert_array_equal(found[1:], grid.coeffs[2][:, [nearest]].toarray().ravel())

    def test_lambda_alone_selects_the_first_gamma(self, grid):
        assert grid.gamma[0] == max(grid.gamma)
        one, other = grid.coeff(lambda_0=0.5), grid.coeff(lambda_0=0.5, gamma=10.0)
        assert (one != other).nnz == 0

    def test_characteristics(self, grid, data):
        table = grid.characteristics()
        assert list(table.columns) == ["l0", "support_size", "intercept", "converged", "l2"]
        assert len(table) == sum(map(len, grid.lambda_0))
        assert table["converged"].all()
        np.testing.assert_array_equal(grid.characteristics(gamma=0.1)["support_size"], grid.support_size[1])
        assert len(grid.characteristics(lambda_0=1.0)) == 1
        X, _ = data
        assert list(fit(X, X[:, 0], max_support_size=2).characteristics().columns)[-1] == "converged"

    def test_repr(self, grid):
        assert repr(grid) == "FitModel({'loss': 'Logistic', 'intercept': True, 'penalty': 'L0L2'})"
        assert "<table" in grid._repr_html_()

    def test_fit_model_can_be_pickled(self, grid):
        again = pickle.loads(pickle.dumps(grid))
        assert again.objectives == grid.objectives

    def test_objectives(self, grid):
        """The original has no objectives."""
        assert [len(values) for values in grid.objectives] == [len(values) for values in grid.lambda_0]


class TestPredict:
    @pytest.mark.parametrize("loss", LOSSES)
    def test_predict_has_one_column_per_model(self, loss):
        X, y = make(loss)
        model = fit(X, y, loss, max_support_size=4)
        predicted = model.predict(X)
        scores = np.column_stack([np.ones(80), X]) @ model.coeff().toarray()
        slope = {"Logistic": 1, "Exponential": 2}.get(loss)
        expected = scores if slope is None else 1 / (1 + np.exp(-slope * scores))
        assert predicted.shape == (80, len(model.lambda_0[0]))
        np.testing.assert_allclose(predicted, expected)
        assert model.predict(X, lambda_0=1.0).shape == (80, 1)
        np.testing.assert_allclose(model.predict(sp.csr_matrix(X)), expected)

    def test_without_intercept(self):
        X, y = make("SquaredError")
        model = fit(X, y, intercept=False, max_support_size=4)
        np.testing.assert_allclose(model.predict(X), X @ model.coeffs[0].toarray())

    def test_predict_rejects_other_columns(self, grid):
        with pytest.raises(ValueError, match="12 columns"):
            grid.predict(np.zeros((3, 5)))


class TestScore:
    @pytest.mark.parametrize("loss", LOSSES)
    @pytest.mark.parametrize("coding", [(-1, 1), (0, 1), (3, 8)])
    def test_score_is_the_loss_for_any_labels(self, loss, coding):
        """The original is wrong for labels -1 and 1."""
        X, y = make(loss)
        model = fit(X, y, loss, max_support_size=4)
        labels = y if loss == "SquaredError" else np.where(y > 0, coding[1], coding[0])
        scores = np.column_stack([np.ones(80), X]) @ model.coeff().toarray()
        expected = [loss_sum(loss, y, scores[:, j]) for j in range(scores.shape[1])]
        np.testing.assert_allclose(model.score(X, labels), expected, rtol=1e-8)

    @pytest.mark.parametrize("penalty", ["L0", "L0L1", "L0L2"])
    def test_score_with_training_adds_the_penalties(self, penalty):
        """L0Learn raises an error."""
        X, y = make("SquaredHinge")
        model = fit(X, y, "SquaredHinge", penalty, num_gamma=2 if penalty != "L0" else 1, gamma_max=0.1, gamma_min=0.01)
        table = model.characteristics()
        b = model.coeff(include_intercept=False).toarray()
        also = {"l1": np.abs(b).sum(axis=0), "l2": (b**2).sum(axis=0)}
        expected = model.score(X, y) + table["l0"] * table["support_size"]
        for name in also.keys() & set(table.columns):
            expected = expected + table[name] * also[name]
        np.testing.assert_allclose(model.score(X, y, training=True), expected)
        assert model.score(X, y, lambda_0=1.0, training=True).shape == (1,)

    def test_score_with_characteristics_adds_a_column(self, grid, data):
        table = grid.score(*data, include_characteristics=True)
        assert isinstance(table, pd.DataFrame)
        np.testing.assert_allclose(table["Logistic"], grid.score(*data))

    def test_score_rejects_other_than_two_labels(self, grid, data):
        with pytest.raises(ValueError, match="two distinct values"):
            grid.score(data[0], np.arange(80))


class TestPlots:
    """L0Learn raises an error in both plots."""

    @pytest.mark.filterwarnings("ignore:Several models")
    def test_plot_shows_coefficients_by_size(self, data):
        model = fit(*data, "Logistic", max_support_size=12)
        axes = model.plot(show_lines=True, figsize=(5, 4))
        used = np.flatnonzero(model.coeff(include_intercept=False).toarray().any(axis=1))
        assert len(axes.lines) == used.size
        assert [text.get_text() for text in axes.get_legend().get_texts()] == [str(j) for j in used]
        assert axes.get_xlabel() == "Support Size"

    def test_plot_uses_the_first_model_of_a_size(self, data):
        free = {"num_lambda": None, "num_gamma": None}
        model = fit(*data, "Logistic", lambda_grid=[[8.0, 2.0, 1.9999]], **free)
        with pytest.warns(UserWarning, match="the first of each"):
            axes = model.plot(include_legend=False)
        assert all(len(line.get_xdata()) == len(set(model.support_size[0])) for line in axes.lines)
        assert axes.get_legend() is None

    def test_cv_plot_shows_errors_by_size(self, data):
        model = cvfit(*data, "Logistic", num_folds=3, max_support_size=4)
        axes = model.cv_plot()
        np.testing.assert_allclose(axes.lines[0].get_ydata(), model.cv_means[0].ravel())
        assert axes.get_ylabel() == "Cross-Validation Error"


class TestPenalty:
    def test_regularization_loss_of_one_or_several_models(self):
        b = sp.csc_matrix([[1.0, 0.0], [-2.0, 3.0]])
        np.testing.assert_allclose(models.regularization_loss(b, l0=1, l1=[1, 2], l2=0.5), [2 + 3 + 2.5, 1 + 6 + 4.5])
        assert models.regularization_loss(b[:, [0]], l0=2.0) == 4.0

    @pytest.mark.parametrize("wrong", [{"l0": [1, 2, 3]}, {"l1": np.ones((2, 2))}])
    def test_regularization_loss_needs_one_penalty_per_model(self, wrong):
        with pytest.raises(ValueError, match="l0, l1 and l2"):
            models.regularization_loss(sp.csc_matrix(np.ones((3, 2))), **wrong)
