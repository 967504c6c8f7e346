"""L0Learn's functions with the names and defaults of R."""

import inspect

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from _helpers.l0_scale import make

from sparsegam.compat import fastsparsegams, l0learn

mpl.use("Agg")

BEFORE_FOLDS = [
    "x",
    "y",
    "loss",
    "penalty",
    "algorithm",
    "maxSuppSize",
    "nLambda",
    "nGamma",
    "gammaMax",
    "gammaMin",
    "partialSort",
    "maxIters",
    "rtol",
    "atol",
    "activeSet",
    "activeSetNum",
    "maxSwaps",
    "scaleDownFactor",
    "screenSize",
    "autoLambda",
    "lambdaGrid",
]
AFTER_FOLDS = ["excludeFirstK", "intercept", "lows", "highs"]


@pytest.fixture(scope="module")
def found():
    return l0learn.fit(*make("Logistic"), loss="Logistic", penalty="L0L2", nGamma=3, gammaMin=0.001, maxSuppSize=6)


class TestCalls:
    def test_fit_has_the_arguments_of_r(self):
        assert list(inspect.signature(l0learn.fit).parameters) == BEFORE_FOLDS + AFTER_FOLDS
        assert list(inspect.signature(l0learn.cvfit).parameters) == [*BEFORE_FOLDS, "nFolds", "seed", *AFTER_FOLDS]

    def test_default_number_of_gammas(self):
        X, y = make("Logistic")
        assert len(l0learn.fit(X, y, loss="Logistic", penalty="L0L2", nLambda=2).gamma) == 10
        assert l0learn.fit(X, y, loss="Logistic", nLambda=2).gamma == [1e-7]
        assert l0learn.fit(X, X[:, 0], nLambda=2).gamma == [0.0]

    def test_models_equal_those_of_fastsparsegams(self):
        X, y = make("SquaredError")
        here, there = l0learn.fit(X, y), fastsparsegams.fit(X, y)
        np.testing.assert_allclose(here.beta[0].toarray(), there.coeffs[0].toarray())
        assert here.a0 == there.intercepts
        assert here.objectives == there.objectives
        np.testing.assert_allclose(here.lambda_[0], there.lambda_0[0], rtol=1e-5)


class TestObject:
    def test_fit_attributes(self, found):
        assert (found.n, found.p, found.loss, found.penalty) == (80, 12, "Logistic", "L0L2")
        assert found.settings == {"intercept": True}
        assert found.varnames[:2] == ("x0", "x1")
        assert [matrix.shape for matrix in found.beta] == [(12, len(values)) for values in found.lambda_]
        assert all(map(all, found.converged))

    def test_lambda_has_six_digits(self, found):
        assert all(value == float(f"{value:.6g}") for values in found.lambda_ for value in values)

    def test_last_model_is_dropped_if_too_large(self):
        X, y = make("Logistic", n=60, p=30)
        here, there = (
            l0learn.fit(X, y, loss="Logistic", maxSuppSize=4),
            fastsparsegams.fit(X, y, "Logistic", max_support_size=4),
        )
        assert max(there.support_size[0]) > 4 >= max(here.suppSize[0])

    def test_varnames_are_column_names(self):
        X, y = make("SquaredError")
        frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(12)])
        assert l0learn.fit(frame, y, nLambda=2).varnames[0] == "c0"

    def test_print_shows_the_table(self, found):
        table = l0learn.print(found)
        assert list(table.columns) == ["lambda", "gamma", "suppSize"]
        assert len(table) == sum(map(len, found.lambda_))
        assert repr(found) == table.to_string()


class TestCoef:
    def test_coef_by_lambda_and_gamma(self, found):
        assert l0learn.coef(found).shape == (13, sum(map(len, found.lambda_)))
        one = l0learn.coef(found, lambda_=found.lambda_[1][2], gamma=found.gamma[1])
        assert one[0, 0] == found.a0[1][2]

    def test_coef_by_support_size_returns_all_ties(self, found):
        sizes = np.array(found.suppSize[2])
        size = int(np.bincount(sizes).argmax())
        several = l0learn.coef(found, supportSize=size, gamma=found.gamma[2])
        assert several.shape[1] == (sizes == size).sum()
        assert ((several[1:] != 0).sum(axis=0) == size).all()

    def test_coef_uses_the_nearest_support_size(self, found):
        several = l0learn.coef(found, supportSize=1000)
        assert ((several[1:] != 0).sum(axis=0) == max(found.suppSize[0])).all()

    def test_coef_rejects_size_with_lambda(self, found):
        with pytest.raises(ValueError, match="mutually exclusive"):
            l0learn.coef(found, lambda_=1.0, supportSize=3)

    def test_coef_without_intercept(self):
        X, y = make("SquaredError")
        assert l0learn.coef(l0learn.fit(X, y, intercept=False, nLambda=3)).shape == (12, 3)

    def test_predictions(self, found):
        X, _ = make("Logistic")
        scores = np.column_stack([np.ones(80), X]) @ l0learn.coef(found).toarray()
        np.testing.assert_allclose(l0learn.predict(found, X), 1 / (1 + np.exp(-scores)))


class TestGrid:
    def test_lambda_grid_may_repeat_values_and_end_at_zero(self):
        X, y = make("SquaredError")
        found = l0learn.fit(X, y, lambdaGrid=[[0.1, 0.1, 0.0]])
        assert found.lambda_ == [[0.1, 0.1, 0.0]]
        assert found.suppSize[0][-1] == 12

    def test_lambda_grid_is_required_without_auto_lambda(self):
        with pytest.raises(ValueError, match="lambdaGrid"):
            l0learn.fit(*make("SquaredError"), autoLambda=False)


def test_cross_validation_and_plots(found):
    X, y = make("Logistic")
    checked = l0learn.cvfit(X, y, loss="Logistic", nFolds=3, maxSuppSize=5)
    assert checked.cvMeans[0].shape == checked.cvSDs[0].shape == (len(checked.fit.lambda_[0]), 1)
    np.testing.assert_array_equal(l0learn.coef(checked).toarray(), l0learn.coef(checked.fit).toarray())
    assert l0learn.plot(checked).get_ylabel() == "Cross-Validation Error"
    assert len(l0learn.print(checked)) == len(checked.cvMeans[0])


@pytest.mark.filterwarnings("ignore:Several models")
def test_plot_of_a_fit(found):
    assert l0learn.plot(found, gamma=0.1, showLines=True).get_ylabel() == "Coefficient Value"


def test_generators():
    data = l0learn.GenSynthetic(n=50, p=8, k=2, seed=1)
    np.testing.assert_array_equal(data["X"], fastsparsegams.models.gen_synthetic(50, 8, 2, seed=1)["X"])
    correlated = l0learn.GenSyntheticHighCorr(n=3000, p=4, k=2, seed=1)
    assert np.corrcoef(correlated["X"].T)[0, 1] == pytest.approx(0.9, abs=0.02)
