"""Models: evaluated exactly as x <= t, printed as equations, kept as JSON to the bit."""

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sparsegam import Model, SparseGAMRegressor
from sparsegam._models.equation import letters
from sparsegam._models.terms import Condition, Term


def step(feature, threshold, coef):
    return Term(feature, Condition("<=", float(threshold)), coef)


MODEL = Model(
    intercept=2.805021,
    terms=(
        step("ExternalRiskEstimate", 63, 0.4071199),
        step("ExternalRiskEstimate", 70, 0.310368),
        step("ExternalRiskEstimate", 74, 0.4604512),
        step("ExternalRiskEstimate", 83, 0.5471219),
        step("Burden", 37.5, -0.3657186),
    ),
    feature_names=("ExternalRiskEstimate", "Unused", "Burden"),
    loss="logistic",
    classes=("Bad", "Good"),
)
ROWS = pd.DataFrame({"ExternalRiskEstimate": [63, 64, 90, -9], "Unused": 0, "Burden": [37.5, 37.6, 38.0, 0.0]})
ALL_KINDS = Model(
    intercept=0.5,
    terms=(
        step("x", 1.0, 1.0),
        step("x", 3.0, 2.0),
        Term("x", Condition("==", -9.0), 10.0),
        Term("x", Condition("missing"), 100.0),
    ),
    feature_names=("x",),
    loss="squared",
    special_values={"x": (-9.0, -7.0)},
)


def by_hand(model, frame):
    return model.intercept + sum(t.coef * (frame[t.feature] <= t.condition.value).to_numpy() for t in model.terms)


def test_scores_are_the_sum_of_the_terms_that_hold():
    np.testing.assert_allclose(MODEL.decision_function(ROWS), by_hand(MODEL, ROWS), rtol=1e-15)


@given(
    hnp.arrays(np.float64, st.integers(1, 30), elements=st.integers(-5, 5).map(float) | st.floats(-5, 5)),
    st.lists(st.integers(-5, 5), min_size=1, max_size=6, unique=True),
)
def test_thresholds_are_met_exactly(x, thresholds):
    near = np.concatenate([x, np.nextafter(x, np.inf), np.array(thresholds, dtype=float)])
    model = Model(0.0, tuple(step("x", t, 2.0**i) for i, t in enumerate(thresholds)), ("x",), "squared")
    expected = sum(2.0**i * (near <= t) for i, t in enumerate(thresholds))
    np.testing.assert_array_equal(model.decision_function(near[:, None]), expected)


def test_special_and_missing_values_are_out_of_the_ordering():
    shape = ALL_KINDS.shape_functions()["x"]
    x = np.array([-9.0, -7.0, -8.0, 1.0, 2.0, 3.0, 4.0, np.nan])
    np.testing.assert_array_equal(shape(x), [10, 0, 3, 3, 2, 2, 0, 100])


def test_decision_function_matches_frames_by_name_and_arrays_by_position():
    expected = MODEL.decision_function(ROWS)
    shuffled = ROWS[["Burden", "ExternalRiskEstimate"]]
    for X in (shuffled, pl.from_pandas(shuffled), ROWS.to_numpy(), ROWS.to_numpy().tolist()):
        np.testing.assert_array_equal(MODEL.decision_function(X), expected)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (ROWS[["Burden"]], r"lacks the columns \['ExternalRiskEstimate'\]"),
        (np.ones((2, 2)), "2 columns, but the model was fitted with 3"),
        (ROWS.assign(Burden=np.inf), "column 'Burden' contains infinity"),
        (
            ROWS.assign(Burden="low"),
            "column 'Burden' contained numbers when the model was fitted, but now contains categories",
        ),
    ],
)
def test_decision_function_rejects_wrong_columns(X, message):
    with pytest.raises(ValueError, match=message):
        MODEL.decision_function(X)


@pytest.mark.parametrize(("loss", "slope"), [("logistic", 1), ("exponential", 2)])
def test_probabilities_follow_the_loss(loss, slope):
    model = Model(0.25, (step("x", 0, -1.5),), ("x",), loss, classes=(0, 1))
    X = np.array([[0.0], [1.0]])
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities[:, 1], 1 / (1 + np.exp(-slope * np.array([-1.25, 0.25]))), rtol=1e-14)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(X), [0, 1])


def test_extreme_scores_do_not_overflow():
    model = Model(1e6, (step("x", 0, -2e6),), ("x",), "logistic", classes=("no", "yes"))
    np.testing.assert_array_equal(model.predict_proba([[0], [1]]), [[1, 0], [0, 1]])


def test_a_regression_has_no_probabilities():
    assert ALL_KINDS.predict([[2.0]]) == [2.5]
    with pytest.raises(ValueError, match="use predict"):
        ALL_KINDS.predict_proba([[2.0]])


def test_shape_functions_and_contributions_add_up():
    shapes = MODEL.shape_functions()
    assert list(shapes) == list(MODEL.features) == ["ExternalRiskEstimate", "Burden"]
    np.testing.assert_array_equal(shapes["ExternalRiskEstimate"].bins.edges, [63, 70, 74, 83])
    assert shapes["Burden"].contributions.tolist() == [0.0, -0.3657186, 0.0]
    contributions = MODEL.contributions(ROWS)
    assert contributions.shape == (4, 2)
    np.testing.assert_allclose(MODEL.intercept + contributions.sum(axis=1), MODEL.decision_function(ROWS))


@pytest.mark.parametrize("weighted", [False, True])
def test_contributions_are_centred_over_the_training_rows(weighted):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.integers(0, 9, 400), "c": rng.choice(list("abc"), 400), "unused": 1.0})
    X["x"] = X["x"].where(rng.random(400) > 0.2)
    y = 2.0 * (X.x <= 4) - 3.0 * X.x.isna() + (X.c == "b") + rng.normal(scale=0.3, size=400)
    weight = rng.uniform(0.1, 5.0, 400) if weighted else None
    model = SparseGAMRegressor().fit(X, y, sample_weight=weight).model_
    parts, raw = model.contributions(X), model.contributions(X, centred=False)
    np.testing.assert_allclose(np.average(parts, axis=0, weights=weight), 0.0, atol=1e-12)
    np.testing.assert_allclose(model.baseline() + parts.sum(axis=1), model.decision_function(X))
    np.testing.assert_allclose(model.intercept + raw.sum(axis=1), model.decision_function(X))
    assert model.baseline() == pytest.approx(np.average(model.decision_function(X), weights=weight))
    assert model.baseline(centred=False) == model.intercept
    shapes = model.shape_functions(centred=True)
    np.testing.assert_allclose(np.column_stack([shapes[name](X[name]) for name in model.features]), parts)
    assert model.shape_functions()["x"].contributions[-1] == 0.0


def test_contributions_are_not_centred_without_training_distribution():
    np.testing.assert_array_equal(MODEL.contributions(ROWS), MODEL.contributions(ROWS, centred=False))
    assert MODEL.baseline() == MODEL.intercept
    with pytest.raises(
        ValueError, match=r"centred=True needs the mean of column 'ExternalRiskEstimate'.*centred=False"
    ):
        MODEL.shape_functions(centred=True)
    with pytest.raises(ValueError, match="centred must be True or False, got 'no'"):
        MODEL.contributions(ROWS, centred="no")


def test_model_without_terms_predicts_the_intercept():
    model = Model(1.5, (), ("a", "b"), "squared")
    assert model.contributions(np.ones((3, 2))).shape == (3, 0)
    assert model.decision_function(np.ones((3, 2))).tolist() == [1.5] * 3
    assert str(model) == "prediction = 1.5"


def test_equation():
    expected = """\
score = 2.805
    +0.4071 x 1[A <= 63] +0.3104 x 1[A <= 70]
    +0.4605 x 1[A <= 74] +0.5471 x 1[A <= 83]  # A: ExternalRiskEstimate
    -0.3657 x 1[B <= 37.5]                     # B: Burden
P(Good) = 1 / (1 + exp(-score))"""
    assert MODEL.equation(width=75) == expected
    assert max(map(len, MODEL.equation(width=100).splitlines())) <= 100
    assert "+0.41 x 1[A <= 63]" in MODEL.equation(digits=2)


def test_equation_of_every_kind_of_term():
    assert str(ALL_KINDS).splitlines()[1] == (
        "    +1 x 1[A <= 1] +2 x 1[A <= 3] +10 x 1[A == -9] +100 x 1[A is missing]  # A: x"
    )


def test_letters_continue_with_two_letters_after_z():
    counted = letters()
    first = [next(counted) for _ in range(26 + 26**2 + 1)]
    assert (first[0], first[25], first[26], first[701], first[702]) == ("A", "Z", "AA", "ZZ", "AAA")


def test_repr_html_and_str_of_models():
    assert repr(MODEL) == "<Model: logistic, 5 terms of 2 features>"
    assert "1[A &lt;= 63]" in MODEL._repr_html_()
    assert str(MODEL.terms[0]) == "+0.4071 x 1[ExternalRiskEstimate <= 63]"


@pytest.mark.parametrize(
    "model", [MODEL, ALL_KINDS, Model(0.1 + 0.2, (), ("é",), "exponential", classes=(False, True))]
)
def test_json_and_pickle_give_the_same_model_back(model):
    assert Model.from_json(model.to_json()) == model
    assert pickle.loads(pickle.dumps(model)) == model


def test_to_json_converts_numpy_labels():
    model = Model(0.0, (), ("x",), "logistic", classes=(np.int64(0), np.int64(1)))
    assert Model.from_json(model.to_json()).classes == (0, 1)


def test_to_json_rejects_labels_of_unsupported_types():
    with pytest.raises(ValueError, match="class labels must be text"):
        Model(0.0, (), ("x",), "logistic", classes=((1, 2), (3, 4))).to_json()


def broken(**changes):
    return json.dumps({**json.loads(MODEL.to_json()), **changes})


def broken_term(**changes):
    return broken(terms=[{**json.loads(MODEL.to_json())["terms"][0], **changes}])


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        "not json",
        broken(format="other"),
        broken(version=4),
        broken(extra=1),
        broken(loss="hinge"),
        broken(loss=["logistic"]),
        broken(classes=None),
        broken(classes=["a"]),
        broken(classes=["a", {}]),
        broken(loss="squared"),
        broken(intercept="1"),
        broken(intercept=True),
        broken(intercept=float("nan")),
        broken(feature_names="abc"),
        broken(feature_names=["a", "a"]),
        broken(feature_names=[1, 2]),
        broken(special_values=[]),
        broken(special_values={"nobody": [1]}),
        broken(special_values={"Burden": ["x"]}),
        broken(scales=[]),
        broken(scales={"nobody": {"kind": "date"}}),
        broken(scales={"Burden": "date"}),
        broken(scales={"Burden": {"kind": "colour"}}),
        broken(scales={"Burden": {"kind": ["date"]}}),
        broken(scales={"Burden": {"kind": "category", "levels": "abc"}}),
        broken(scales={"Burden": {"kind": "category", "levels": ["a", "a"]}}),
        broken(scales={"Burden": {"kind": "category", "levels": [[1]]}}),
        broken(scales={"Burden": {"kind": "date"}}),
        broken(scales={"Burden": {"kind": "category", "levels": [37.5]}}),
        broken(terms={}),
        broken(terms=[1]),
        broken_term(feature="nobody"),
        broken_term(feature=["x"]),
        broken_term(kind=">"),
        broken_term(kind="missing"),
        broken_term(value=None),
        broken_term(kind="in"),
        broken_term(kind="in", value=["a"]),
        broken_term(value=float("inf")),
        broken_term(coef="0"),
        broken_term(more=1),
    ],
)
def test_from_json_rejects_invalid_content(text):
    with pytest.raises(ValueError, match=r"not a sparsegam model|Expecting value"):
        Model.from_json(text)
