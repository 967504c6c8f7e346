"""Linear estimators compared with enumeration, ordinary and logistic regression; constraints and fitted attributes."""

import pickle

import numpy as np
import pandas as pd
import pytest
from _helpers.linear_rows import LOSSES, estimator, make_rows
from _helpers.reference import best_subsets, column_scale, refit
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsegam import LinearModel, SparseLinearClassifier, SparseLinearRegressor, linear_path
from sparsegam.datasets import make_correlated_classification


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([SparseLinearClassifier(), SparseLinearRegressor()])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(4))
def test_path_equals_enumeration(loss, seed):
    X, y = make_rows(n=80, p=7, seed=seed, loss=loss)
    best = best_subsets(X, y, np.ones(len(y)), loss, 0.01, 7)
    path = linear_path(X, y, loss=loss, lambda2=0.01)
    values = np.array([value for value, _, _ in best])
    np.testing.assert_allclose(path.objective, values[: len(path)], rtol=1e-7)
    np.testing.assert_allclose(path.objective[-1], values[len(path) - 1 :], rtol=1e-6)  # sizes that gain nothing
    for model, (_, columns, theta) in zip(path, best, strict=False):
        assert model.columns == columns
        np.testing.assert_allclose([model.intercept, *model.weights], theta, atol=1e-4)


def test_squared_loss_path_of_twelve_columns_equals_enumeration():
    X, y = make_rows(n=60, p=12, seed=3, loss="squared", rho=0.8)
    best = best_subsets(X, y, np.ones(len(y)), "squared", 0.0, 4)
    path = linear_path(X, y, loss="squared", lambda2=0.0, max_terms=4)
    np.testing.assert_allclose(path.objective, [value for value, _, _ in best], rtol=1e-8)


def test_coefficients_equal_unpenalized_regression_on_the_support():
    X, y = make_rows(p=3, loss="squared")
    ours = SparseLinearRegressor(lambda0=0.0, lambda2=0.0).fit(X, y)
    theirs = LinearRegression().fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6)
    assert ours.intercept_ == pytest.approx(theirs.intercept_)
    X, y = make_rows(p=3)
    ours = SparseLinearClassifier(lambda0=0.0, lambda2=0.0).fit(X, y)
    theirs = LogisticRegression(C=np.inf, tol=1e-10).fit(X, y)
    assert ours.coef_.shape == theirs.coef_.shape == (1, 3)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_objective_equals_its_definition(loss):
    X, y = make_rows(loss=loss)
    model = estimator(loss, lambda0=2.0, lambda2=0.02, lambda1=0.1).fit(X, y)
    f = model.model_.decision_function(X)
    by_hand = 0.5 * ((y - f) ** 2).sum() if loss == "squared" else np.logaddexp(0, -y * f).sum()
    scale = column_scale(X, np.ones(len(y)))
    w = np.ravel(model.coef_)
    assert model.loss_ == pytest.approx(by_hand)
    penalties = 0.02 * scale @ w**2 + 0.1 * np.sqrt(scale) @ np.abs(w)
    assert model.objective_ == pytest.approx(by_hand + penalties + 2.0 * model.n_terms_)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("bounds", [(0.0, np.inf), (-0.5, 0.5), (-np.inf, 0.0)])
def test_coefficients_are_optimal_within_bounds(loss, bounds):
    X, y = make_rows(loss=loss)
    path = linear_path(X, y, loss=loss, coef_bounds=bounds, lambda2=0.0, max_terms=4)
    coef = path.coef_path_.toarray()
    assert coef.min() >= bounds[0]
    assert coef.max() <= bounds[1]
    free = linear_path(X, y, loss=loss, lambda2=0.0, max_terms=4)
    assert (path.objective >= free.objective[: len(path)] - 1e-6).all()


def test_bounds_may_differ_by_column():
    X, y = make_rows(loss="squared")
    low, high = np.full(8, -np.inf), np.full(8, np.inf)
    low[1], high[0] = 0.0, 1.0
    model = SparseLinearRegressor(coef_bounds=(low, high)).fit(X, y)
    assert model.coef_[1] >= 0
    assert model.coef_[0] == pytest.approx(1.0)


@pytest.mark.parametrize("loss", LOSSES)
def test_unpenalized_columns_are_in_every_model(loss):
    X, y = make_rows(loss=loss)
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    model = estimator(loss, lambda0=1e6, lambda2=0.0, unpenalized=["h", 5]).fit(frame, y)
    assert model.model_.features == ("f", "h")
    _, objective = refit(X[:, [5, 7]], y, np.ones(len(y)), loss, np.zeros(2))
    assert model.objective_ == pytest.approx(objective)
    path = linear_path(frame, y, loss=loss, unpenalized=["h"], max_terms=3)
    assert path.n_terms.tolist() == [1, 2, 3]
    assert all("h" in model.features for model in path)


def test_noiseless_recovery_is_exact():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 300))
    coef = np.zeros(300)
    coef[[5, 50, 120, 200, 299]] = [1.0, -2.0, 0.5, 3.0, -1.0]
    model = SparseLinearRegressor(lambda2=0.0).fit(X, X @ coef + 7)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-8)
    assert model.intercept_ == pytest.approx(7.0)


def test_correlation_where_coordinate_descent_is_stuck():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 300))
    decoy = a + b + 0.3 * rng.normal(size=300)
    X = np.column_stack([decoy, a, b, rng.normal(size=(300, 5))])
    y = a + b + 0.01 * rng.normal(size=300)
    assert linear_path(X, y, loss="squared", lambda2=0.0).at(n_terms=1).columns == (0,)
    assert linear_path(X, y, loss="squared", lambda2=0.0).at(n_terms=2).columns == (1, 2)


def test_objective_is_at_most_that_of_the_true_support():
    rows = make_correlated_classification(seed=0)
    y = np.where(rows.target > 0, 1.0, -1.0)
    ours = linear_path(rows.data, y, lambda2=1e-3, max_terms=25)
    X = rows.data[:, rows.truth.support]
    truth = linear_path(X, y, lambda2=1e-3, max_terms=25, unpenalized=range(25))
    assert ours.objective[25] <= truth.objective[-1]


@pytest.mark.parametrize("loss", LOSSES)
def test_lambda1_shrinks_coefficients(loss):
    X, y = make_rows(loss=loss)
    sizes = [np.abs(estimator(loss, lambda0=0.1, lambda1=lambda1).fit(X, y).coef_).sum() for lambda1 in (0.0, 0.5, 2.0)]
    assert sizes[0] > sizes[1] > sizes[2]


@pytest.mark.parametrize("loss", LOSSES)
def test_fit_intercept_false_is_respected(loss):
    X, y = make_rows(p=3, loss=loss)
    model = estimator(loss, lambda0=0.0, lambda2=0.0, fit_intercept=False).fit(X, y)
    assert model.intercept_ == 0
    if loss == "squared":
        np.testing.assert_allclose(model.coef_, LinearRegression(fit_intercept=False).fit(X, y).coef_, rtol=1e-6)
    constant = np.column_stack([X, np.ones(len(y))])
    with_one = estimator(loss, lambda0=0.0, lambda2=0.0, fit_intercept=False).fit(constant, y)
    with_intercept = estimator(loss, lambda0=0.0, lambda2=0.0).fit(X, y)
    assert np.ravel(with_one.coef_)[3] == pytest.approx(np.ravel(with_intercept.intercept_)[0], rel=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_equal_repeated_rows(loss):
    X, y = make_rows(loss=loss)
    times = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = estimator(loss).fit(X, y, sample_weight=times)
    repeated = estimator(loss).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-5, atol=1e-9)
    assert weighted.objective_ == pytest.approx(repeated.objective_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"coef_bounds": (1.0, 2.0)}, "low <= 0 <= high"),
        ({"coef_bounds": ([0.0, 0.0], 1.0)}, "one number for each of the 8 columns"),
        ({"coef_bounds": 3}, r"pair \(low, high\)"),
        ({"unpenalized": ["nothing"]}, "unpenalized names the column 'nothing'"),
        ({"unpenalized": "x0"}, "must be a list of columns"),
        ({"unpenalized": [0, 1], "max_terms": 1}, "max_terms is 1"),
        ({"lambda1": -1}, "lambda1 must be a finite number >= 0"),
        ({"fit_intercept": 2}, "fit_intercept must be True or False"),
        ({"lambda0": "cv"}, "lambda0 must be one of"),
    ],
)
def test_invalid_options_are_rejected(options, message):
    with pytest.raises(ValueError, match=message):
        SparseLinearClassifier(**options).fit(*make_rows())


@pytest.mark.parametrize("labels", [(0, 1, 2), ("a", "b", "c")])
def test_more_than_two_classes(labels):
    X, _ = make_rows(n=300)
    rng = np.random.default_rng(0)
    position = np.digitize(X[:, 0] + 0.3 * rng.normal(size=300), np.quantile(X[:, 0], [0.33, 0.67]))
    y = np.array(labels)[position]
    model = SparseLinearClassifier().fit(X, y)
    assert model.classes_.tolist() == list(labels)
    assert model.coef_.shape == (3, 8)
    assert model.intercept_.shape == (3,)
    assert model.decision_function(X).shape == (300, 3)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    own = np.column_stack([part.predict_proba(X)[:, 1] for part in model.estimators_])
    np.testing.assert_allclose(model.predict_proba(X), own / own.sum(axis=1, keepdims=True))
    np.testing.assert_array_equal(model.model_.predict(X), model.predict(X))
    assert model.objective_ == pytest.approx(sum(part.objective_ for part in model.estimators_))
    assert not hasattr(model.fit(X, y == labels[0]), "estimators_")
    assert model.coef_.shape == (1, 8)


def test_class_weights():
    X, y = make_rows(n=300)
    rare = y * np.where(np.arange(300) < 60, 1, 0)
    balanced = SparseLinearClassifier(class_weight="balanced").fit(X, rare)
    counts = {label: 300 / (3 * np.sum(rare == label)) for label in (-1.0, 0.0, 1.0)}
    mapped = SparseLinearClassifier(class_weight=counts).fit(X, rare)
    np.testing.assert_allclose(balanced.coef_, mapped.coef_, rtol=1e-6)
    with pytest.raises(ValueError, match="class_weight names"):
        SparseLinearClassifier(class_weight={7: 1.0}).fit(X, rare)
    path = linear_path(X, y, class_weight={1.0: 2.0}, max_terms=2)
    again = linear_path(X, y, sample_weight=np.where(y > 0, 2.0, 1.0), max_terms=2)
    np.testing.assert_allclose(path.objective, again.objective)


def test_path_returns_models_by_size_and_by_lambda0():
    X, y = make_rows(n=300)
    path = linear_path(X, y)
    assert path.coef_path_.shape == (8, len(path))
    np.testing.assert_array_equal(path.coef_path_[:, [2]].toarray()[:, 0], path.at(n_terms=2).coef)
    assert path.intercept_path_[2] == path.at(n_terms=2).intercept
    for lambda0 in (1.0, "aic", "bic"):
        fitted = SparseLinearClassifier(lambda0=lambda0).fit(X, y)
        assert path.at(lambda0=lambda0).columns == fitted.model_.columns
    for lambda0 in (1.0, 5.0, 10.0, 20.0):  # a fit at a single lambda0 may miss a pair of columns
        best = (path.objective + lambda0 * path.n_terms).min()
        assert SparseLinearClassifier(lambda0=lambda0).fit(X, y).objective_ <= best + 0.3 * lambda0
    assert list(path.to_frame()["n_terms"]) == list(range(9))
    assert "Path: logistic, 0 to 8 terms" in repr(path)


def test_models_print_and_round_trip_through_json():
    X, y = make_rows()
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    fitted = SparseLinearClassifier(lambda0=2.0).fit(frame, np.where(y > 0, "yes", "no"))
    model = fitted.model_
    assert "x a\n" in str(model)
    assert "P(yes)" in str(model)
    again = LinearModel.from_json(model.to_json())
    assert again == model
    np.testing.assert_array_equal(again.predict(frame[frame.columns[::-1]]), fitted.predict(frame))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).coef_, fitted.coef_)
    with pytest.raises(ValueError, match="lacks the columns"):
        model.predict(frame[["h"]])
    for text in (
        "{}",
        model.to_json().replace("logistic", "cubic"),
        model.to_json().replace('"n_features": 8', '"n_features": 1'),
    ):
        with pytest.raises(ValueError, match="not a sparsegam linear model"):
            LinearModel.from_json(text)


def test_time_limit_warns():
    rows = make_correlated_classification(n=400, p=400, k=10)
    with pytest.warns(UserWarning, match="time_limit=0"):
        SparseLinearClassifier(time_limit=0).fit(rows.data, rows.target)
