"""Models of a grid are optimal for every loss, penalty, algorithm and kind of matrix."""

import numpy as np
import pytest
from _helpers.l0_scale import CURVATURE, LOSSES, make, norms, objective, target_norm
from scipy.optimize import minimize

from sparsegam.compat.fastsparsegams import fit

PENALTIES = ("L0", "L0L1", "L0L2")
ALGORITHMS = ("CD", "CDPSI", "exchange")
CASES = [(loss, penalty) for loss in LOSSES for penalty in PENALTIES if loss != "Exponential" or penalty == "L0"]


def gammas(penalty):
    return {} if penalty == "L0" else {"num_gamma": 2, "gamma_max": 0.3, "gamma_min": 0.1}


def penalties(model, i):
    kind = model.settings["penalty"][2:].lower()
    return {kind: model.gamma[i]} if kind else {}


def models(model):
    """Yield theta, lambda_0, penalties and objective of every model of a grid."""
    for i, values in enumerate(model.lambda_0):
        thetas = model.coeff(gamma=model.gamma[i]).toarray()
        for j, lambda_0 in enumerate(values):
            yield thetas[:, j], lambda_0, penalties(model, i), model.objectives[i][j]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("loss", "penalty"), CASES)
class TestEveryModel:
    def test_objective_is_correct(self, loss, penalty, algorithm, sparse):
        X, y = make(loss, sparse=sparse)
        for intercept in (True, False):
            free = {"intercept": intercept, "exclude_first_k": 2, "lows": -0.5}
            model = fit(X, y, loss, penalty, algorithm, num_lambda=8, **free, **gammas(penalty))
            for theta, lambda_0, also, said in models(model):
                found = objective(X, y, loss, theta, lambda_0, intercept=intercept, free=2, **also)
                assert found == pytest.approx(said, rel=1e-6, abs=1e-9)
                assert theta[1:].min() >= -0.5
                assert intercept or theta[0] == 0

    def test_no_thresholding_step_improves(self, loss, penalty, algorithm, sparse):
        """The coefficients are optimal and no thresholding step adds or drops a column (surrogate 1-OPT)."""
        if loss == "Exponential":
            pytest.skip("its curvature has no bound; its own rule is tested with the swap search")
        X, y = make(loss, sparse=sparse)
        model = fit(X, y, loss, penalty, algorithm, num_lambda=8, **gammas(penalty))
        dense = X.toarray() if sparse else X
        scale = norms(X) / target_norm(loss, y)
        for theta, lambda_0, also, _ in models(model):
            slopes = _slopes(dense, y, loss, theta) / scale / target_norm(loss, y) ** 2
            # along a centred column the intercept changes too, because its own slope is zero
            v, l1, l2 = theta[1:] * scale, also.get("l1", 0.0), also.get("l2", 0.0)
            steepness = CURVATURE[loss] * _centred_share(dense, X) + 2 * l2
            used = v != 0
            stationary = slopes + 2 * l2 * v + l1 * np.sign(v)
            np.testing.assert_allclose(stationary[used], 0, atol=2e-4 * max(1.0, np.abs(slopes).max()))
            assert (0.5 * steepness * v**2 >= lambda_0 * (1 - 1e-3))[used].all()
            left = np.maximum(np.abs(slopes) - l1, 0)
            assert (left**2 <= 2 * steepness * lambda_0 * (1 + 1e-3) + 1e-9)[~used].all()

    def test_objective_is_at_most_that_of_scipy(self, loss, penalty, algorithm, sparse):
        X, y = make(loss, n=60, p=6, sparse=sparse)
        model = fit(X, y, loss, penalty, algorithm, num_lambda=4, **gammas(penalty))
        theta, lambda_0, also, said = list(models(model))[-1]
        used = np.flatnonzero(theta[1:])

        def value(at):
            full = np.zeros(7)
            full[0], full[1 + used] = at[0], at[1:]
            return objective(X, y, loss, full, 0.0, **also)

        start = np.concatenate([theta[:1], theta[1 + used]])
        better = minimize(value, start, method="Nelder-Mead", options={"maxiter": 2000}).fun
        assert said - lambda_0 * used.size <= better + 1e-5 * said


def _slopes(X, y, loss, theta):
    """Return the slopes of the loss along the columns."""
    f = X @ theta[1:] + theta[0]
    if loss == "SquaredError":
        return X.T @ (f - y)
    return X.T @ (-y / (1 + np.exp(y * f)) if loss == "Logistic" else -2 * y * np.maximum(1 - y * f, 0))


def _centred_share(dense, X):
    """Return the squared norm of the centred column divided by the squared norm used for scaling."""
    return (norms(dense) / norms(X)) ** 2


class TestPath:
    def test_lambdas_decrease_from_the_first_column(self):
        X, y = make("SquaredError")
        model = fit(X, y)
        (values,) = model.lambda_0
        standard = (X - X.mean(axis=0)) / norms(X)
        first = np.abs(standard.T @ (y - y.mean())).max() / target_norm("SquaredError", y)
        assert values[0] == pytest.approx(first**2 / 2)
        assert (np.diff(values) < 0).all()
        assert model.support_size[0][:2] == [0, 1]
        assert model.support_size[0][-1] == 12

    def test_path_ends_at_the_largest_size(self):
        X, y = make("Logistic", p=30)
        (sizes,) = fit(X, y, "Logistic", max_support_size=4).support_size
        assert max(sizes[:-1]) < 4 <= sizes[-1]

    def test_path_starts_with_an_empty_model(self):
        from sparsegam.compat.fastsparsegams.models import gen_synthetic

        data = gen_synthetic(n=100, p=20, k=3, seed=1, snr=10)
        X, y = data["X"], data["y"]
        (values,), (sizes,) = fit(X, y).lambda_0, fit(X, y).support_size
        assert sizes[:2] == [0, 3]
        theta = fit(X, y).coeff(lambda_0=values[1]).toarray().ravel()
        worth = (0.5 - objective(X, y, "SquaredError", theta, 0.0)) / 3
        assert values[0] == pytest.approx(worth, rel=2e-4)
        assert values[0] > worth

    def test_path_has_at_most_num_lambda_models(self):
        X, y = make("SquaredError")
        assert [len(values) for values in fit(X, y, num_lambda=3).lambda_0] == [3]

    def test_repeated_model_scales_lambda_down(self):
        X, y = make("Exponential")
        (values,) = fit(X, y, "Exponential", num_lambda=6, scale_down_factor=0.5).lambda_0
        np.testing.assert_allclose(np.array(values[3:]) / values[2:-1], 0.5)

    @pytest.mark.parametrize("factor", [10.0, 1e-6, 1e6])
    def test_path_is_invariant_to_units(self, factor):
        X, y = make("SquaredError")
        here, there = fit(X, y), fit(X * factor, factor * y)
        np.testing.assert_allclose(here.lambda_0[0], there.lambda_0[0], rtol=1e-5)
        np.testing.assert_allclose(here.coeffs[0].toarray(), there.coeffs[0].toarray(), rtol=1e-3, atol=1e-6)
        np.testing.assert_allclose(here.objectives[0], there.objectives[0], rtol=1e-6)

    def test_lambda_grid_is_used(self):
        X, y = make("Logistic")
        grid = [[5.0, 2.0, 1.0], [4.0, 3.0]]
        free = {"num_lambda": None, "num_gamma": None, "gamma_min": 0.01, "gamma_max": 1.0}
        model = fit(X, y, "Logistic", "L0L2", lambda_grid=grid, **free)
        assert model.lambda_0 == grid
        assert model.gamma == pytest.approx([1.0, 0.01])

    def test_first_gamma_of_l0l1_gives_the_empty_model(self):
        X, y = make("Logistic")
        model = fit(X, y, "Logistic", "L0L1", num_gamma=3, num_lambda=5, gamma_min=0.01)
        assert set(model.support_size[0]) == {0}
        assert model.gamma[2] == pytest.approx(0.01 * model.gamma[0])
        assert max(model.support_size[2]) > 0

    @pytest.mark.parametrize("loss", ["Logistic", "SquaredError", "SquaredHinge"])
    def test_binary_columns_give_the_same_models(self, loss):
        """Bin codes, and a matrix with one value other than 0 and 1, give the same models."""
        X, y = make("Exponential", n=200)
        target = y if loss != "SquaredError" else y + X[:, 1]
        grid = {"lambda_grid": [[0.02, 0.01] if loss == "SquaredError" else [6.0, 3.0]]}
        free = {"num_lambda": None, "num_gamma": None}
        codes = fit(X, target, loss, **grid, **free)
        nearly = X.copy()
        nearly[0, 11] += 1e-9
        numbers = fit(nearly, target, loss, **grid, **free)
        np.testing.assert_allclose(codes.coeffs[0].toarray(), numbers.coeffs[0].toarray(), rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(codes.objectives, numbers.objectives, rtol=1e-6)


def test_swaps_find_the_true_columns_among_correlated_ones():
    from sparsegam.compat.fastsparsegams.models import gen_synthetic_high_corr

    data = gen_synthetic_high_corr(n=300, p=60, k=5, seed=3, snr=20, base_cor=0.9)
    model = fit(data["X"], data["y"], algorithm="CDPSI", max_support_size=10)
    at = model.support_size[0].index(5)
    np.testing.assert_array_equal(model.coeffs[0][:, at].nonzero()[0], np.flatnonzero(data["B"]))


def test_true_columns_are_found_without_noise():
    from sparsegam.compat.fastsparsegams.models import gen_synthetic

    data = gen_synthetic(n=100, p=40, k=4, seed=2, b0=7.0, snr=np.inf)
    model = fit(data["X"], data["y"], max_support_size=4)
    theta = model.coeff(lambda_0=model.lambda_0[0][-1]).toarray().ravel()
    np.testing.assert_allclose(theta, [7.0, *data["B"]], atol=1e-6)


def test_repeated_fits_are_identical():
    X, y = make("Logistic", p=30)
    assert fit(X, y, "Logistic").objectives == fit(X, y, "Logistic").objectives
