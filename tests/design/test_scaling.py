"""Scaling: models do not depend on the units of the data, and values that overflow raise errors."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from sparsegam import (
    LinearModel,
    SparseGAMClassifier,
    SparseGAMRegressor,
    SparseLinearClassifier,
    SparseLinearRegressor,
    gam_path,
    linear_path,
)
from sparsegam._design.scaling import Units, power_of_two, scale_target, weights_or_none
from sparsegam.path import swap_path


def test_unit_weights_are_none():
    assert weights_or_none(np.ones(3)) is None
    for weight in ([1.0, 2.0], [0.5, 1.0], [2.0, 2.0]):
        assert weights_or_none(np.array(weight)).tolist() == weight


def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 60))
    return X, X[:, 0] + rng.normal(size=100)


BARE = SparseGAMRegressor(lambda0=2.0, lambda2=1e-3)  # "auto" is a prior, which more weight outweighs
REGRESSORS = [
    SparseGAMRegressor(lambda0=2.0),
    SparseGAMRegressor(lambda0="bic"),
    SparseLinearRegressor(lambda0=2.0),
    SparseLinearRegressor(lambda0=2.0, lambda1=0.3, unpenalized=[3]),
    SparseLinearRegressor(lambda0=2.0, standardize=False, lambda2=0.5, lambda1=0.2, coef_bounds=(-0.5, 0.7)),
    SparseLinearRegressor(lambda0=2.0, fit_intercept=False),
]


def scaled_options(estimator, target, weight=1.0):
    """Options that mean the same after y was multiplied by `target` and the weights by `weight`."""
    options = estimator.get_params()
    changed = {}
    if not isinstance(options["lambda0"], str):
        changed["lambda0"] = options["lambda0"] * target**2 * weight
    if options.get("lambda1"):
        changed["lambda1"] = options["lambda1"] * target * (np.sqrt(weight) if options["standardize"] else weight)
    if options.get("standardize") is False:
        changed["lambda2"] = options["lambda2"] * weight
    if options.get("coef_bounds"):
        changed["coef_bounds"] = tuple(bound * target for bound in options["coef_bounds"])
    return estimator.__class__(**{**options, **changed})


@pytest.mark.parametrize("estimator", REGRESSORS, ids=str)
@pytest.mark.parametrize("k", [-300, -70, -1, 3, 64, 300])
def test_power_of_two_of_the_response_gives_bitwise_the_same_model(estimator, k):
    X, y = rows()
    one = estimator.fit(X, y)
    other = scaled_options(estimator, 2.0**k).fit(X, y * 2.0**k)
    assert other.n_terms_ == one.n_terms_ > 0
    np.testing.assert_array_equal(other.predict(X), one.predict(X) * 2.0**k)
    assert other.objective_ == one.objective_ * 2.0 ** (2 * k)


@pytest.mark.parametrize("estimator", REGRESSORS[:3], ids=str)
@pytest.mark.parametrize("factor", [1e40, 1e-40, 3.7e120])
def test_models_do_not_depend_on_the_unit_of_the_response(estimator, factor):
    X, y = rows()
    one, other = estimator.fit(X, y).predict(X), scaled_options(estimator, factor).fit(X, y * factor).predict(X)
    np.testing.assert_allclose(other / factor, one, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("estimator", [REGRESSORS[2], REGRESSORS[3], SparseLinearClassifier(lambda0=2.0)], ids=str)
@pytest.mark.parametrize("factor", [1e40, 1e-50, 1e200, 2.0**-30])
def test_models_do_not_depend_on_the_units_of_columns(estimator, factor):
    X, y = rows()
    y = y > 0 if isinstance(estimator, SparseLinearClassifier) else y
    one = estimator.fit(X, y)
    expected, features = one.predict(X), one.model_.columns
    other = estimator.fit(X * factor, y)
    assert other.model_.columns == features
    np.testing.assert_allclose(other.predict(X * factor), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("factor", [1e19, 1e-25, 1e60])
@pytest.mark.parametrize(
    "estimator",
    [SparseGAMClassifier(lambda0=2.0, lambda2=1e-3), SparseLinearClassifier(lambda0=2.0), BARE, REGRESSORS[4]],
)
def test_models_do_not_depend_on_the_unit_of_weights(estimator, factor):
    X, y = rows()
    y = y > 0 if "Classifier" in str(estimator) else y
    weight = np.random.default_rng(1).uniform(0.5, 2, 100)
    score = "decision_function" if "Classifier" in str(estimator) else "predict"
    expected = getattr(estimator.fit(X, y, sample_weight=weight), score)(X)
    other = scaled_options(estimator, 1.0, factor).fit(X, y, sample_weight=weight * factor)
    np.testing.assert_allclose(getattr(other, score)(X), expected, rtol=1e-6, atol=1e-6)


def test_responses_far_from_zero_are_fitted_accurately():
    X, y = rows()
    near, far = (SparseGAMRegressor(lambda0=2.0).fit(X, y + shift).predict(X) - shift for shift in (0.0, 2.0**33))
    np.testing.assert_allclose(far, near, atol=1e-5)


def test_points_are_converted_to_the_core_and_back():
    y = rows()[1]
    units, y_core, weight = scale_target(1e30 * y + 1e31, np.full(100, 1e-7), centred=True)
    assert 1 <= np.abs(y_core).max() < 2
    assert 1 <= weight.max() < 4
    np.testing.assert_allclose(y_core * units.target + units.offset, 1e30 * y + 1e31)
    assert [power_of_two(x) for x in (1.0, 3.9, 0.3, 0.0, np.inf)] == [1.0, 2.0, 0.25, 1.0, 1.0]
    assert Units().loss == 1.0


def test_more_required_columns_than_max_terms_raise():
    """More required columns than terms once made an allocation negative and ended the process."""
    X, y = rows()
    assert SparseLinearRegressor(unpenalized=[0, 1]).fit(X, y).n_terms_ >= 2
    assert SparseLinearRegressor(unpenalized=[0, 1]).fit(X[:, :10], y).n_terms_ >= 2
    assert SparseGAMRegressor(features_always=list(range(10))).fit(X, y).n_terms_ >= 10
    with pytest.raises(ValueError, match=r"features_always lists 10 columns.*max_terms is 1"):
        SparseGAMClassifier(features_always=list(range(10)), max_terms=1, lambda0=1).fit(X, y > 0)
    with pytest.raises(ValueError, match=r"unpenalized lists 3 columns.*max_terms is 2"):
        SparseLinearClassifier(unpenalized=[0, 1, 2], max_terms=2, lambda0=1).fit(X, y > 0)


@pytest.mark.parametrize("search", [gam_path, linear_path])
def test_paths_start_at_the_required_columns(search):
    X, y = rows()
    fixed = {"features_always": [1, 2]} if search is gam_path else {"unpenalized": [1, 2]}
    assert search(X, y, loss="squared", max_terms=6, **fixed).n_terms.tolist() == [2, 3, 4, 5, 6]


def test_overflowing_losses_raise():
    X, y = rows()
    for estimator in (SparseGAMRegressor(), SparseLinearRegressor(), SparseLinearRegressor(unpenalized=[0])):
        with pytest.raises(ValueError, match="y contains"):
            estimator.fit(X, y * 1e160)
        with pytest.raises(ValueError, match="sample_weight sums to infinity"):
            estimator.fit(X, y, sample_weight=np.full(100, 1e308))
    assert np.isfinite(SparseLinearRegressor(unpenalized=[0]).fit(X * 1e200, y).predict(X * 1e200)).all()


def test_swap_search_ends_if_a_coefficient_diverges():
    """An earlier version dropped and added the same term without end."""
    path = swap_path(np.arange(20.0)[:, None], np.arange(20) == 0, loss="exponential", lambda2=0, lambda0=[0.1])
    assert np.isfinite(path.objective).all()


@pytest.mark.parametrize(("centre", "spread"), [(1e12, 3e-4), (1e12, 1.0), (-1e9, 1e-3), (1e4, 1.0)])
@pytest.mark.parametrize("as_given", [np.asarray, sp.csr_matrix, lambda X: pd.DataFrame(X, columns=["a", "b", "c"])])
def test_predictions_are_accurate_for_columns_far_from_zero(centre, spread, as_given):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    X[:, 1] = centre + spread * X[:, 1]
    y = (X[:, 1] - centre) / spread + X[:, 2] + 0.1 * rng.normal(size=100)
    X = as_given(X)
    model = SparseLinearRegressor(lambda0=1.0, lambda2=0.0, unpenalized=[1]).fit(X, y)
    assert model.n_terms_ == 2
    assert model.loss_ == pytest.approx(np.sum((y - model.predict(X)) ** 2) / 2, rel=1e-9)
    again = LinearModel.from_json(model.model_.to_json())
    assert again == model.model_
    assert np.array_equal(again.decision_function(X), model.predict(X))
    assert model.intercept_ == pytest.approx(model.model_.intercept)
    assert f"({model.model_.features[0]} - " in model.model_.equation() or centre == 1e4


def test_multiclass_models_of_columns_far_from_zero():
    """More than two classes: each model keeps its own centres."""
    rng = np.random.default_rng(0)
    x = 2.0**33 + 2.0**-10 * rng.normal(size=(200, 1))
    y = np.digitize(x[:, 0] - 2.0**33, [-(2.0**-10), 2.0**-10])
    near, far = (SparseLinearClassifier(lambda0=0.1).fit(x - shift, y) for shift in (2.0**33, 0.0))
    assert np.allclose(near.predict_proba(x - 2.0**33), far.predict_proba(x), atol=1e-6)


def test_columns_that_vary_by_rounding_raise_a_warning():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"time": 1e12 + 3e-4 * rng.normal(size=100), "one": 1.0, "x": rng.normal(size=100)})
    with pytest.warns(UserWarning, match=r"column 'time' varies by less than 1e-13 of the mean.*subtract a constant"):
        model = SparseLinearRegressor(lambda0=1.0).fit(X, X["x"])
    assert model.model_.features == ("x",)
