"""Additive estimators: scikit-learn's checks, objective, weights, feature names and warnings."""

import pickle
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import sparsegam
from sparsegam import (
    SparseGAMClassifier,
    SparseGAMClassifierCV,
    SparseGAMRegressor,
    SparseGAMRegressorCV,
    SparseLinearClassifier,
    ThresholdBinner,
    gam_path,
)
from sparsegam._backends import local
from sparsegam._fit import training

NAMES = ["age", "income", "debt", "trades"]


def make_table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 30, (n, 4)), columns=NAMES)
    f = 2.0 * (X.age <= 12) - 1.5 * (X.income <= 20) + 1.0 * (X.debt <= 5)
    return X, f.to_numpy(), rng


@pytest.fixture(scope="module")
def table():
    X, f, rng = make_table()
    return X, np.where(rng.random(len(f)) < 1 / (1 + np.exp(-f)), "yes", "no")


@pytest.fixture(scope="module")
def regression():
    X, f, rng = make_table()
    return X, 100 * f + rng.normal(scale=20, size=len(f))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:The least populated class in y has only:UserWarning")
@pytest.mark.filterwarnings("ignore:class .* has .* fewer than the 5 folds:UserWarning")
@parametrize_with_checks(
    [
        SparseGAMClassifier(),
        SparseGAMClassifier(loss="exponential"),
        SparseGAMRegressor(),
        SparseGAMClassifierCV(),
        SparseGAMRegressorCV(),
        ThresholdBinner(),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_objective_equals_its_definition(table, loss):
    X, y = table
    gam = SparseGAMClassifier(loss=loss, lambda0=3.0, lambda2=0.01).fit(X, y)
    f = gam.decision_function(X)
    signs = np.where(y == "yes", 1.0, -1.0)
    loss_by_hand = (np.logaddexp(0, -signs * f) if loss == "logistic" else np.exp(-signs * f)).sum()
    columns = [(X[t.feature] <= t.condition.value).to_numpy(dtype=float) for t in gam.terms_]
    scale = [((column - column.mean()) ** 2).sum() for column in columns]
    ridge = 0.01 * sum(s * t.coef**2 for s, t in zip(scale, gam.terms_, strict=True))
    assert gam.loss_ == pytest.approx(loss_by_hand)
    assert gam.objective_ == pytest.approx(loss_by_hand + ridge + 3.0 * gam.n_terms_)


def test_fit_recovers_the_simulated_steps(table):
    gam = SparseGAMClassifier(lambda0="bic").fit(*table)
    assert gam.lambda0_ == pytest.approx(np.log(400) / 2)
    assert {"age", "income"} <= set(gam.model_.features)
    assert gam.n_terms_ == len(gam.terms_) == gam.model_.n_terms <= 6
    assert gam.certificate_ is None


def test_two_levels_get_a_single_term():
    rng = np.random.default_rng(0)
    told = rng.random((400, 3)) < 0.5
    y = told[:, :2].sum(axis=1) + 0.7 * rng.normal(size=400) > 1.0
    X = pd.DataFrame(np.where(told, "yes", "no"), columns=["a", "b", "c"])
    gam = SparseGAMClassifier().fit(X, y)
    assert [term.text() for term in gam.terms_ if term.feature != "c"] == ["a == yes", "b == yes"]


def test_certified_fit_is_swap_optimal_and_not_worse(table):
    plain, proved = SparseGAMClassifier().fit(*table), SparseGAMClassifier(certify=True).fit(*table)
    assert proved.certificate_.swap_optimal
    assert proved.certificate_.pairs > 0
    assert proved.objective_ <= plain.objective_ + 1e-6
    assert proved.n_iter_ >= 1
    assert all(isinstance(count, int) for count in proved.search_stats_.values())


def test_direct_fit_is_close_to_the_path(table):
    X, y = table
    path = gam_path(X, y, lambda2=1e-3)
    for lambda0 in (2.0, 4.0, 8.0):
        best = (path.objective + lambda0 * path.n_terms).min()
        assert SparseGAMClassifier(lambda0=lambda0, lambda2=1e-3).fit(X, y).objective_ <= best + 1.0


@pytest.mark.parametrize("labels", [(0, 1), (-1, 1), (False, True), ("Bad", "Good"), (2.0, 7.0)])
def test_labels_may_have_any_type(table, labels):
    X, y = table
    named = np.where(y == "yes", labels[1], labels[0])
    gam = SparseGAMClassifier().fit(X, named)
    assert gam.classes_.tolist() == list(labels)
    assert set(gam.predict(X)) == set(labels)
    assert gam.score(X, named) > 0.7
    np.testing.assert_array_equal(gam.model_.predict(X), gam.predict(X))


def test_text_labels_of_pandas_and_polars(table):
    X, y = table
    expected = SparseGAMClassifier().fit(X, y).model_
    for labels in (pd.Series(y), pd.Series(y, dtype="category"), pl.Series(y), list(y)):
        assert SparseGAMClassifier().fit(X, labels).model_ == expected


@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas, lambda X: X.to_numpy()])
def test_every_kind_of_table_gives_the_same_predictions(table, make):
    X, y = table
    expected = SparseGAMClassifier().fit(X, y).predict_proba(X)
    gam = SparseGAMClassifier().fit(make(X), y)
    np.testing.assert_array_equal(gam.predict_proba(make(X)), expected)
    assert gam.n_features_in_ == 4
    assert hasattr(gam, "feature_names_in_") == (not isinstance(make(X), np.ndarray))


def test_feature_names_are_checked_at_predict(table):
    X, y = table
    gam = SparseGAMClassifier().fit(X, y)
    assert gam.feature_names_in_.tolist() == NAMES
    with pytest.raises(ValueError, match="feature names should match"):
        gam.predict(X[NAMES[::-1]])
    with pytest.raises(ValueError, match="feature names should match"):
        gam.predict(X.rename(columns={"age": "years"}))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        gam.predict(X.to_numpy())
    with pytest.warns(UserWarning, match="X has feature names"):
        SparseGAMClassifier().fit(X.to_numpy(), y).predict(X)


def test_feature_names_are_those_of_the_last_fit(table):
    X, y = table
    numbered = X.set_axis(range(4), axis=1)
    gam = SparseGAMClassifier()
    for unnamed in (X.to_numpy(), numbered, X.to_numpy().tolist()):
        assert gam.fit(X, y).feature_names_in_.tolist() == NAMES
        assert not hasattr(gam.fit(unnamed, y), "feature_names_in_")
        assert gam.n_features_in_ == 4
    with pytest.raises(TypeError, match="only supported if all input features have string names"):
        gam.fit(X.set_axis([*NAMES[:-1], 7], axis=1), y)
    with pytest.raises(ValueError, match="requires y to be passed"):
        gam.fit(X, None)


def test_balanced_class_weights_give_classes_the_same_total(table):
    X, y = table
    balanced = SparseGAMClassifier(class_weight="balanced").fit(X, y)
    n_yes = (y == "yes").sum()
    by_hand = {"yes": len(y) / (2 * n_yes), "no": len(y) / (2 * (len(y) - n_yes))}
    assert balanced.model_ == SparseGAMClassifier(class_weight=by_hand).fit(X, y).model_
    weights = np.where(y == "yes", by_hand["yes"], by_hand["no"])
    assert balanced.model_ == SparseGAMClassifier().fit(X, y, sample_weight=weights).model_


@pytest.mark.parametrize("estimator", [SparseGAMClassifier(max_bins=15), SparseGAMRegressor(max_bins=15)])
def test_weights_are_repeated_rows_beyond_max_bins(estimator):
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(1000, 3)), rng.integers(0, 4, 1000)
    y = X[:, 0] + rng.normal(size=1000)
    y = y > 0 if isinstance(estimator, SparseGAMClassifier) else y
    estimator = clone(estimator).set_params(min_samples_bin=1)
    weighted = clone(estimator).fit(X, y, sample_weight=weight)
    repeated = clone(estimator).fit(X.repeat(weight, axis=0), y.repeat(weight))
    assert [t.condition for t in weighted.terms_] == [t.condition for t in repeated.terms_]
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-9)


@pytest.mark.parametrize("scale", [1e-3, 1000.0])
@pytest.mark.parametrize("estimator", [SparseGAMClassifier, SparseGAMRegressor, SparseLinearClassifier])
def test_criteria_warn_about_weights_that_do_not_count_rows(estimator, scale):
    X = np.random.default_rng(0).normal(size=(60, 1))
    y = X[:, 0] > 0 if estimator is not SparseGAMRegressor else X[:, 0]
    weight = np.full(60, scale)
    with pytest.warns(UserWarning, match=r"divide the weights by their mean: sample_weight / ") as told:
        estimator(max_terms=2).fit(X, y, sample_weight=weight)
    assert [one.filename for one in told] == [__file__]
    estimator(max_terms=2).fit(X, y, sample_weight=weight / weight.mean())
    estimator(max_terms=2, lambda0=5.0).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("estimator", [SparseGAMClassifier(), SparseGAMRegressor()])
def test_weights_are_repeated_rows(estimator, table, regression):
    X, y = table if isinstance(estimator, SparseGAMClassifier) else regression
    weight = np.random.default_rng(2).integers(0, 3, len(y))
    estimator = clone(estimator).set_params(min_samples_bin=1)  # which counts rows, whatever they weigh
    weighted = clone(estimator).fit(X, y, sample_weight=weight)
    repeated = clone(estimator).fit(X.loc[X.index.repeat(weight)], y.repeat(weight))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-9)
    assert weighted.lambda0_ == pytest.approx(repeated.lambda0_, rel=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "hinge"}, "loss must be one of 'logistic', 'exponential', 'squared', 'squared_hinge', got 'hinge'"),
        ({"loss": "squared"}, "use SparseGAMRegressor"),
        ({"lambda0": "cv"}, "lambda0 must be one of 'auto', 'aic', 'bic' or a number >= 0, got 'cv'"),
        ({"lambda0": -1.0}, "lambda0 must be a finite number >= 0, got -1.0"),
        ({"lambda0": None}, "lambda0 must be a finite number >= 0, got None"),
        (
            {"lambda2": "x"},
            "lambda2 must be a number >= 0, 'auto' or, for cross-validation, a list of numbers, got 'x'",
        ),
        ({"max_terms": 0.5}, "max_terms must be an integer >= 0, got 0.5"),
        ({"max_bins": 70_000}, "max_bins must be an integer >= 2 and <= 65536, got 70000"),
        ({"class_weight": "equal"}, "class_weight must be None, 'balanced' or a dict"),
        ({"class_weight": {"maybe": 2}}, r"class_weight names \['maybe'\], but the classes of y are \['no', 'yes'\]"),
        ({"class_weight": {"yes": -1}}, "class_weight must contain positive numbers"),
    ],
)
def test_invalid_options_are_rejected(table, options, message):
    with pytest.raises(ValueError, match=message):
        SparseGAMClassifier(**options).fit(*table)


def test_invalid_data_are_rejected_with_the_column_name(table):
    X, y = table
    with pytest.raises(ValueError, match="column 'debt' contains infinity"):
        SparseGAMClassifier().fit(X.assign(debt=np.inf), y)
    with pytest.raises(ValueError, match="one class only"):
        SparseGAMClassifier().fit(X, np.full(len(y), "yes"))
    with pytest.raises(ValueError, match="column 'debt' contains infinity"):
        SparseGAMClassifier().fit(X, y).predict(X.assign(debt=np.inf))


def test_rows_without_weight_do_not_count_as_classes(table):
    X, y = table
    with pytest.raises(ValueError, match="one class only"):
        SparseGAMClassifier().fit(X, y, sample_weight=(y == "yes").astype(float))
    three = np.where(np.arange(len(y)) < 5, "maybe", y)
    gam = SparseGAMClassifier().fit(X, three, sample_weight=(three != "maybe").astype(float))
    assert gam.classes_.tolist() == ["no", "yes"]


def test_time_limit_warns_and_leaves_a_model(table):
    X, y = table
    with pytest.warns(ConvergenceWarning, match=r"stopped by time_limit=0.0 s.*raise time_limit"):
        gam = SparseGAMClassifier(time_limit=0.0).fit(X, y)
    assert np.isfinite(gam.predict_proba(X)).all()


def test_max_terms_limits_the_model(table):
    X, y = table
    assert SparseGAMClassifier(lambda0=0.0, max_terms=2).fit(X, y).n_terms_ == 2
    empty = SparseGAMClassifier(max_terms=0).fit(X, y)
    assert empty.n_terms_ == 0
    np.testing.assert_allclose(empty.predict_proba(X)[:, 1], (y == "yes").mean(), rtol=1e-6)


def test_lambda0_of_a_regression_is_invariant_to_units(regression):
    X, y = regression
    models = [SparseGAMRegressor(lambda0="bic", lambda2=0.0).fit(X, unit * y) for unit in (2.0**-10, 1.0, 2.0**10)]
    for gam in models:
        assert [(t.feature, t.condition) for t in gam.terms_] == [(t.feature, t.condition) for t in models[1].terms_]
        assert gam.score(X, y * 2.0 ** (10 * (models.index(gam) - 1))) > 0.9
    noise = ((y - models[1].predict(X)) ** 2).sum() / (400 - 1 - 2 * models[1].n_terms_)
    assert models[1].lambda0_ == pytest.approx(noise * np.log(400) / 2, rel=1e-3)


def test_regression_accepts_a_numeric_lambda0(regression):
    X, y = regression
    gam = SparseGAMRegressor(lambda0=1e4).fit(X, y)
    assert gam.lambda0_ == 1e4
    assert gam.loss_ == pytest.approx(0.5 * ((y - gam.predict(X)) ** 2).sum())
    assert not hasattr(gam, "decision_function")


def test_perfect_fit_terminates():
    X = np.arange(20.0)[:, None]
    gam = SparseGAMRegressor(lambda2=0.0).fit(X, (X[:, 0] > 9).astype(float))
    assert gam.n_terms_ == 1
    assert SparseGAMRegressor().fit(X, np.ones(20)).n_terms_ == 0


def test_a_regression_with_few_rows_is_not_saturated():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8))
    gam = SparseGAMRegressor().fit(X, X[:, 0] + rng.normal(size=60))
    assert gam.n_terms_ <= 20


def test_estimator_works_in_pipelines_searches_and_pickles(table):
    X, y = table
    pipeline = make_pipeline(FunctionTransformer(), SparseGAMClassifier())
    search = GridSearchCV(pipeline, {"sparsegamclassifier__lambda0": [2.0, 8.0]}, cv=2, scoring="roc_auc").fit(X, y)
    assert search.best_score_ > 0.6
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict_proba(X), search.predict_proba(X))


def test_estimator_works_after_column_transformers(table):
    X, y = table
    columns = make_column_transformer((StandardScaler(), ["age", "income"]), remainder="passthrough")
    pipeline = make_pipeline(columns.set_output(transform="pandas"), SparseGAMClassifier()).fit(X, y)
    assert "standardscaler__age" in pipeline[-1].model_.features
    assert pipeline.score(X, y) > 0.7


def test_estimator_works_in_calibrated_classifier(table):
    X, y = table
    calibrated = CalibratedClassifierCV(SparseGAMClassifier(), cv=2).fit(X, y)
    assert calibrated.predict_proba(X).shape == (400, 2)


@pytest.mark.parametrize("estimator", [SparseGAMClassifier(), SparseGAMClassifierCV(cv=2, max_terms=5)])
def test_metadata_routing_passes_weights(table, estimator):
    X, y = table
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    expected = clone(estimator).fit(X, y, sample_weight=weight).model_
    with config_context(enable_metadata_routing=True):
        asking = clone(estimator).set_fit_request(sample_weight=True)
        pipeline = make_pipeline(FunctionTransformer(), asking).fit(X, y, sample_weight=weight)
    assert pipeline[-1].model_ == expected


@pytest.mark.parametrize("estimator", [SparseGAMClassifier(), SparseGAMClassifierCV(cv=2, max_terms=5)])
def test_notebook_representation_contains_the_equation(table, estimator):
    assert "1[A" not in estimator._repr_html_()
    fitted = clone(estimator).fit(*table)
    for shown in (fitted._repr_html_(), fitted._repr_mimebundle_()["text/html"]):
        assert "1[A &lt;= " in shown
        assert type(fitted).__name__ in shown


@pytest.mark.parametrize(
    "public", [SparseGAMClassifier, SparseGAMRegressor, SparseGAMClassifierCV, SparseGAMRegressorCV]
)
def test_every_parameter_is_documented(public):
    assert "{" not in (public.__doc__ or "").split("Parameters")[1].replace('{"', "")
    for name in public().get_params():
        assert re.search(rf"^    [\w, ]*\b{name}\b[\w, ]* : ", public.__doc__, re.MULTILINE), name


def test_public_names_are_imported_lazily():
    subpackages = {"compat", "dask", "datasets", "deploy", "export", "inspection", "plots", "report"}
    assert set(dir(sparsegam)) == {*sparsegam.__all__, *subpackages}
    for name in subpackages:
        assert getattr(sparsegam, name).__name__ == f"sparsegam.{name}"
    for name in sparsegam.__all__:
        assert getattr(sparsegam, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        sparsegam.nothing  # noqa: B018
    code = (
        "import sys, sparsegam; print([m for m in ('numpy', 'sklearn', 'narwhals', 'matplotlib') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_multiclass_fit_has_one_model_per_class():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 30, size=(300, 2)).astype(float)
    y = np.array(["low", "middle", "high"])[(X[:, 0] > 9).astype(int) + (X[:, 0] > 19).astype(int)]
    gam = SparseGAMClassifier().fit(X, y)
    probabilities = gam.predict_proba(X)
    assert gam.classes_.tolist() == ["high", "low", "middle"]
    assert np.allclose(probabilities.sum(axis=1), 1.0)
    assert (gam.classes_[probabilities.argmax(axis=1)] == gam.predict(X)).all()
    assert np.mean(gam.predict(X) == y) == 1.0
    assert len(gam.estimators_) == 3


@pytest.mark.parametrize("labels", [("no", "yes"), ("a", "b", "c")])
def test_fit_reads_and_bins_its_table_once_for_all_classes(monkeypatch, labels):
    read_table, bin_table, read, binned = training.read_table, local.bin_table, [], []
    monkeypatch.setattr(training, "read_table", lambda X: read.append(X) or read_table(X))
    monkeypatch.setattr(local, "bin_table", lambda *given: binned.append(given) or bin_table(*given))
    frame = pd.DataFrame({"x": np.arange(90.0)})
    SparseGAMClassifier(lambda0=2.0).fit(frame, np.repeat(labels, 90 // len(labels)))
    assert (len(read), len(binned)) == (1, 1)
