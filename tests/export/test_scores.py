"""Exports run in their engines score like decision_function."""

import numpy as np
import pandas as pd
import pytest
from _helpers import engines
from _helpers.engines import ENGINES
from _helpers.export_models import (
    DIGITS,
    MAX_ROWS,
    SLOW,
    additive_model,
    fitted_model,
    in_engines,
    pick,
    random_table,
    run,
)

from sparsegam import export
from sparsegam._models.additive import Model
from sparsegam._models.functions import score_function
from sparsegam._models.terms import Condition, Term
from sparsegam.deploy import scorecard

TOLERANCE = 1e-9


@pytest.mark.parametrize(("engine", "loss"), in_engines("logistic", "exponential"))
def test_exports_score_like_decision_function(engine, loss):
    model, frame = additive_model(loss), random_table(MAX_ROWS.get(engine, 1000), digits=DIGITS.get(engine, 17))
    with pytest.warns(UserWarning, match="which did not occur in training"):
        expected, probability = model.decision_function(frame), model.predict_proba(frame)[:, 1]
    found = run(engine, model, frame)
    np.testing.assert_allclose(found[0], expected, rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(found[1], probability, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize(("engine", "rule"), in_engines("mean", "last"))
def test_exports_score_new_values_like_decision_function(engine, rule):
    model = fitted_model(missing=rule)
    frame = random_table(MAX_ROWS.get(engine, 1000), digits=DIGITS.get(engine, 17))
    frame["grade"] = pick(np.random.default_rng(1), ["A", "B", "C", None, "Z"], len(frame))
    with pytest.warns(UserWarning, match=r"new level in \"city's name\".* new level in 'grade'.* new level in 'zone'"):
        expected, probability = model.decision_function(frame), model.predict_proba(frame)[:, 1]
    found = run(engine, model, frame)
    np.testing.assert_allclose(found[0], expected, rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(found[1], probability, rtol=0, atol=TOLERANCE)


def test_exports_of_a_model_with_missing_error_score_new_values_at_the_mean():
    strict, frame = fitted_model(missing="error"), random_table(200)
    with pytest.raises(ValueError, match=r"rows have a special value in 'age'.*missing='error'"):
        strict.decision_function(frame)
    assert export.to_python(strict) == export.to_python(fitted_model())


@pytest.mark.parametrize("engine", ["duckdb", "sqlite", "postgresql", "bigquery", "tsql", "python", "javascript"])
def test_exports_round_integers_beyond_2_to_the_53_like_decision_function(engine):
    """A model reads 10**18 + 1 as the float 10**18, but databases compare integers exactly."""
    around = [10**18 + k for k in range(-200, 200)]
    terms = [Term("id", Condition("<=", 1e18), 1.0), Term("id", Condition("==", 1e18 + 128), 0.5)]
    model = Model(0.25, tuple(terms), ("id",), "logistic", ("no", "yes"))
    frame = pd.DataFrame({engines.KEY: np.arange(len(around)), "id": around})
    np.testing.assert_array_equal(run(engine, model, frame)[0], model.decision_function(frame))


@pytest.mark.parametrize("engine", [e for e in ENGINES if e not in SLOW])
def test_exports_score_like_decision_function_at_the_largest_coefficients(engine):
    terms = [
        Term("x", Condition("<=", -1e300), 4e289),
        Term("x", Condition("<=", 1e300), -3e289),
        Term("z", Condition("<=", 1e-300), 1e-300),
    ]
    model = Model(1e289, tuple(terms), ("x", "z"), "logistic", ("no", "yes"))
    x = np.array([-1.7e308, -1e300, 0.0, 1e300, 1.7e308, np.nan])
    frame = pd.DataFrame({engines.KEY: np.arange(6), "x": x, "z": x[::-1] / 1e300 / 1e300})
    found = run(engine, model, frame)
    np.testing.assert_allclose(found[0], model.decision_function(frame), rtol=1e-15)
    np.testing.assert_allclose(found[1], model.predict_proba(frame)[:, 1], rtol=0, atol=1e-300)


@pytest.mark.parametrize("coef", [1e308, -9e290, float("inf"), float("nan")])
def test_models_whose_scores_could_overflow_are_refused_before_any_export(coef):
    with pytest.raises(ValueError, match=r"allow scores up to .* scores above 1e\+290 could overflow"):
        Model(0.0, (Term("x", Condition("<=", 0.0), coef),), ("x",), "logistic", ("no", "yes"))


@pytest.mark.parametrize("engine", ["duckdb", "python", "javascript", "onnx"])
@pytest.mark.parametrize("made_by", ["hand", "fit"])
def test_exports_of_scorecards_score_like_the_scorecard(engine, made_by):
    model, frame = additive_model() if made_by == "hand" else fitted_model(), random_table(300)
    card = scorecard(model, method="plain")
    found = run(engine, card, frame)
    with pytest.warns(UserWarning, match="which did not occur in training"):
        points, probability = card.score(frame), card.predict_proba(frame)[:, 1]
    assert found[0].tolist() == points.tolist()
    np.testing.assert_allclose(found[1], probability, rtol=0, atol=TOLERANCE)


def test_score_function_scores_like_decision_function():
    model, frame = additive_model(), random_table(2000, seed=1)
    with pytest.warns(UserWarning, match="which did not occur in training"):
        expected = model.decision_function(frame)
    with pytest.warns(UserWarning, match="which did not occur in training"):
        np.testing.assert_allclose(score_function(model).score(frame), expected, rtol=0, atol=1e-12)
