"""Constraints: exact monotone shapes, limits on features and terms, required and forbidden features, costs."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparsegam import SparseGAMClassifier, SparseGAMRegressor, gam_path
from sparsegam._design.constraints import Constraints

NAMES = ["age", "income", "debt", "trades"]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 30, (600, 4)).astype(float), columns=NAMES)
    f = 1.5 * np.sin(X.age / 4) + 0.1 * X.income - 1.0 * (X.debt <= 5) - 1
    X.loc[rng.random(600) < 0.1, "age"] = np.nan
    X.loc[rng.random(600) < 0.1, "income"] = -9
    return X, (rng.random(600) < 1 / (1 + np.exp(-f))).astype(int)


def is_monotone(values, direction):
    return bool((np.diff(values) * direction >= 0).all())


@pytest.mark.parametrize("direction", ["increasing", "decreasing"])
@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_shapes_are_exactly_monotone(table, direction, loss):
    sign = 1 if direction == "increasing" else -1
    monotone = dict.fromkeys(NAMES, direction)
    gam = SparseGAMClassifier(loss=loss, lambda0=0.5, monotone=monotone, special_values=[-9]).fit(*table)
    shapes = gam.model_.shape_functions()
    assert any(len(shape.bins) > 3 for shape in shapes.values())
    for shape in shapes.values():
        assert is_monotone(shape.contributions[shape.bins.first_interval :], sign)
        assert is_monotone(shape(np.linspace(0, 30, 500)), sign)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_scores_are_exactly_monotone(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, (80, 3)).astype(float)
    y = X[:, 0] - X[:, 1] + rng.normal(scale=3, size=80)
    model = gam_path(X, y, loss="squared", monotone=[1, -1, 0], max_terms=12).models[-1]
    for j, sign in ((0, 1), (1, -1)):
        rows = np.tile(rng.integers(0, 12, 3).astype(float), (40, 1))
        rows[:, j] = np.linspace(-1, 13, 40)
        assert is_monotone(model.decision_function(rows), sign)


def test_missing_and_special_values_are_not_constrained(table):
    X, _ = table
    y = np.where(X.age.isna(), 10.0, np.where(X.income == -9, -10.0, -0.1 * X.trades))
    monotone = dict.fromkeys(NAMES, "decreasing")
    gam = SparseGAMRegressor(monotone=monotone, special_values={"income": [-9]}).fit(X, y)
    shapes = gam.model_.shape_functions()
    assert shapes["age"].at(np.array([np.nan])) > 5
    assert shapes["income"].at(np.array([-9.0])) < -5


def test_directions_may_be_a_list(table):
    X, y = table
    by_name = SparseGAMClassifier(monotone={"income": "increasing", "debt": "decreasing"}).fit(X, y)
    by_position = SparseGAMClassifier(monotone=[None, "increasing", -1, 0]).fit(X, y)
    assert by_name.model_ == by_position.model_
    unbound = SparseGAMClassifier(monotone=[0, 0, 0, 0]).fit(X, y)
    assert unbound.model_ == SparseGAMClassifier().fit(X, y).model_


def test_inactive_constraints_do_not_change_the_model():
    x = np.arange(200.0)[:, None]
    y = np.floor(x[:, 0] / 50)
    free, bound = (SparseGAMRegressor(monotone=monotone).fit(x, y) for monotone in (None, [1]))
    assert bound.objective_ == pytest.approx(free.objective_, rel=1e-9)


@pytest.mark.parametrize("n_features", [1, 2, 3])
def test_max_features(table, n_features):
    path = gam_path(*table, max_features=n_features, max_terms=12)
    assert max(len(model.features) for model in path) <= n_features
    assert path.models[-1].n_terms > n_features


@pytest.mark.parametrize("n_terms", [1, 2])
def test_max_terms_per_feature(table, n_terms):
    path = gam_path(*table, max_terms_per_feature=n_terms, max_terms=8)
    for model in path:
        counts = pd.Series([term.feature for term in model.terms], dtype=object).value_counts()
        assert counts.max() <= n_terms or model.n_terms == 0


def test_features_never(table):
    path = gam_path(*table, features_never=["age", 1], max_terms=10)
    assert set(path.models[-1].features) <= {"debt", "trades"}


@pytest.mark.parametrize("kind", [SparseGAMClassifier, SparseGAMRegressor])
@pytest.mark.parametrize("options", [{}, {"monotone": {0: "decreasing"}}])
def test_features_always_accepts_features_that_the_target_does_not_depend_on(kind, options):
    feature, target = np.repeat([0.0, 1.0], 30), np.tile([0.0, 1.0], 30)
    model = kind(features_always=[0], lambda0=1.0, **options).fit(feature[:, np.newaxis], target)
    (term,) = model.terms_
    assert term.coef == 0.0


def test_features_always(table):
    gam = SparseGAMClassifier(lambda0=20.0, features_always=["trades", "debt"]).fit(*table)
    assert {"trades", "debt"} <= set(gam.model_.features)
    assert gam.n_terms_ >= 2
    assert "trades" not in SparseGAMClassifier(lambda0=20.0).fit(*table).model_.features


def test_feature_cost(table):
    X, y = table
    plain = SparseGAMClassifier(lambda0=3.0).fit(X, y)
    assert "income" in plain.model_.features
    dear = SparseGAMClassifier(lambda0=3.0, feature_cost={"income": 100.0}).fit(X, y)
    assert "income" not in dear.model_.features
    cheap = SparseGAMClassifier(lambda0=3.0, lambda2=0.0, feature_cost={"income": 0.5}).fit(X, y)
    factors = sum(0.5 if term.feature == "income" else 1.0 for term in cheap.terms_)
    assert cheap.objective_ == pytest.approx(cheap.loss_ + 3.0 * factors)


def test_min_samples_bin(table):
    X, y = table
    for term in SparseGAMClassifier(lambda0=0.5, min_samples_bin=100).fit(X, y).terms_:
        x = X[term.feature]
        holds = x.isna() if term.condition.kind == "missing" else x <= term.condition.value
        assert 100 <= holds.sum() <= 500


def test_rows_of_weight_zero_do_not_count_for_min_samples_bin():
    X = np.repeat([[0.0], [1.0]], 10, axis=0)
    weight = np.array([1.0] * 4 + [0.0] * 6 + [1.0] * 10)
    y = X[:, 0]
    assert SparseGAMRegressor(min_samples_bin=5).fit(X, y).n_terms_ == 1
    assert SparseGAMRegressor(min_samples_bin=5).fit(X, y, sample_weight=weight).n_terms_ == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"monotone": {"age": "up"}}, "monotone must be 'increasing'.*got 'up' for column 'age'"),
        ({"monotone": {"years": "increasing"}}, "monotone names the column 'years', but the columns are 'age', 'inc"),
        ({"monotone": [1]}, r"one direction for each of the 4 columns, got \[1\]"),
        ({"monotone": "increasing"}, "monotone must be a dict"),
        ({"max_features": 0}, "max_features must be an integer >= 1, got 0"),
        ({"max_terms_per_feature": 1.5}, "max_terms_per_feature must be an integer >= 1, got 1.5"),
        ({"features_never": "age"}, "features_never must be a list of columns, got 'age'"),
        ({"features_never": [4]}, "features_never names the column 4"),
        ({"features_always": ["age"], "features_never": ["age"]}, r"\['age'\] are in both"),
        ({"features_always": NAMES, "max_features": 2}, "lists 4 features, but max_features is 2"),
        ({"feature_cost": 2}, "feature_cost must be a dict from column to factor, got 2"),
        ({"feature_cost": {"age": -1}}, r"feature_cost\['age'\] must be a finite number >= 0, got -1"),
        ({"min_samples_bin": 0}, "min_samples_bin must be an integer >= 1, got 0"),
        ({"features_always": ["age"], "min_samples_bin": 500}, "feature 'age' in features_always has no valid split"),
    ],
)
def test_invalid_constraints_raise(table, options, message):
    with pytest.raises(ValueError, match=message):
        SparseGAMClassifier(**options).fit(*table)


def test_monotone_category_raises():
    X = pd.DataFrame({"job": ["clerk", "baker"] * 20})
    with pytest.raises(ValueError, match="column 'job' in monotone has unordered categories"):
        SparseGAMRegressor(monotone={"job": "increasing"}).fit(X, np.arange(40.0))


def test_default_is_unconstrained():
    rules = Constraints()
    assert rules.directions(NAMES).tolist() == [0] * 4
    assert rules.costs(NAMES).tolist() == [1.0] * 4
    assert rules.required(NAMES) == rules.forbidden(NAMES) == []
