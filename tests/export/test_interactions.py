"""Exports of models with interactions score like decision_function."""

import json
import warnings
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from _helpers import engines, products
from _helpers.export_models import (
    AGE,
    CITY,
    DIGITS,
    INCOME,
    LEVELS,
    MAX_ROWS,
    additive_model,
    check_pmml_reasons,
    in_engines,
    pick,
    random_table,
    run,
)
from _helpers.products import as_fitted, product
from export.test_hostile_names import HOSTILE

import sparsegam.export
from sparsegam import export
from sparsegam._data.columns import Scale
from sparsegam._models.additive import Model
from sparsegam._models.terms import Condition
from sparsegam.deploy import reason_table, scorecard

TOLERANCE = 1e-12
MOMENT = datetime(2021, 5, 6, 7, 8, 9)

# A feature that occurs in interactions only.
HOURS = "hours"


PRODUCTS = (
    product((AGE, Condition("<=", 25.0)), (INCOME, Condition(">", 1 / 3)), 0.31),
    product((AGE, Condition(">", 40.0)), (INCOME, Condition("<=", 0.1)), -0.17),
    product((AGE, Condition("==", -9.0)), (INCOME, Condition(">", 1e-7)), 0.73),
    product((AGE, Condition("missing")), (INCOME, Condition("<=", 1 / 3)), -0.29),
    product((INCOME, Condition("missing")), (CITY, Condition("in", ("Bonn", "Zürich"))), 0.53),
    product((INCOME, Condition("<=", 0.25)), (CITY, Condition("==", 'Q"x"')), -0.47),
    product((INCOME, Condition(">", 0.25)), (CITY, Condition("missing")), 0.19),
    product((AGE, Condition("<=", 30.0)), (HOURS, Condition("<=", 12.5)), 0.61),
    product((AGE, Condition(">", 70.0)), (HOURS, Condition(">", 2e16)), -0.43),
    product((HOURS, Condition("<=", 40.0)), ("zone", Condition("in", (3, 7))), 0.23),
    product(("grade", Condition("<=", "A")), ("member", Condition(">", value=False)), -0.37),
    product(("grade", Condition(">", "B")), ("member", Condition("missing")), 0.41),
    product(("since", Condition(">", date(2020, 2, 28))), ("seen", Condition("<=", MOMENT)), 0.7),
    product(("since", Condition("missing")), ("seen", Condition("missing")), -0.67),
)


def pair_model():
    """Return the model of the other tests with interactions of all kinds of columns."""
    model = additive_model()
    names = (*model.feature_names, HOURS)
    return replace(model, terms=(*model.terms, *PRODUCTS), feature_names=names)


def pair_table(n, seed=0, digits=17):
    rng = np.random.default_rng([seed, 1])
    near = 10.0 ** (1 - digits) if digits < 17 else 0.0
    hours = [np.nan, 12.5, np.nextafter(12.5 + 12.5 * near, np.inf), 40.0, 39.5, 41.0, 2e16, 3e16, -1.0]
    return random_table(n, seed, digits=digits).assign(**{HOURS: np.array(hours)[rng.integers(len(hours), size=n)]})


def fitted_pair_model(missing="mean"):
    """Return the model as if fitted to data with missing values in `since` only, without code -8 and new levels."""
    model, rows = pair_model(), pair_table(6000, seed=5)
    rows = rows[rows[AGE].ne(-8) & rows[CITY].isin(LEVELS) & rows["zone"].ne(4)].dropna(
        subset=[name for name in rows if name != "since"]
    )
    kept = [t for t in model.terms if all(c.condition.kind != "missing" or c.feature == "since" for c in t.clauses)]
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(rows))
    return as_fitted(replace(model, terms=tuple(kept)), rows, missing=missing, weight=weight)


def scores(model, frame):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.decision_function(frame), model.predict_proba(frame)[:, 1]


@pytest.mark.parametrize(("engine", "made"), in_engines("mean", "by hand", "last"))
def test_exports_score_interactions_like_decision_function(engine, made):
    model = pair_model() if made == "by hand" else fitted_pair_model(made)
    digits = DIGITS.get(engine, 17)
    frame = pair_table(MAX_ROWS.get(engine, 2000) // 2, digits=digits)
    if made != "by hand":
        frame["grade"] = pick(np.random.default_rng(1), ["A", "B", "C", None, "Z"], len(frame))
    expected, probability = scores(model, frame)
    found = run(engine, model, frame)
    np.testing.assert_allclose(found[0], expected, rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(found[1], probability, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("engine", ["duckdb", "python", "javascript", "onnx", "pmml"])
def test_exports_of_scorecards_with_interactions_score_like_the_scorecard(engine):
    model, frame = fitted_pair_model(), pair_table(200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        card = scorecard(model, method="plain")
        points, probability = card.score(frame), card.predict_proba(frame)[:, 1]
    found = run(engine, card, frame)
    assert found[0].tolist() == points.tolist()
    np.testing.assert_allclose(found[1], probability, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("baseline", ["max", "mean", "median"])
def test_to_sql_gives_the_reasons_of_interactions(baseline):
    duckdb = pytest.importorskip("duckdb")
    model, frame = fitted_pair_model(), pair_table(300)
    texts = {(AGE, INCOME): ("R1", "young and poor"), ((AGE, HOURS), ("<= 30", "<= 12.5")): ("R2", "young, few hours")}
    table = reason_table(model, k=3, baseline=baseline, texts=texts)
    with duckdb.connect() as connection:
        connection.register("loans", frame)
        query = export.to_sql(model, "loans", keep=[engines.KEY], reasons=table)
        found = connection.execute(query).df().sort_values(engines.KEY)
    codes = found[["reason_1", "reason_2", "reason_3"]].to_numpy(dtype=object)
    expected = table.of(frame).codes()
    assert np.where(pd.isna(codes), None, codes).tolist() == expected.tolist()
    assert {"R1", "R2"} <= {*expected.ravel().tolist()}


def test_to_pmml_gives_the_reasons_of_interactions():
    model, frame = fitted_pair_model(), pair_table(200)
    check_pmml_reasons(model, frame, reason_table(model, k=1))


def test_documents_with_interactions_are_valid_in_their_schemas():
    etree, jsonschema = pytest.importorskip("lxml.etree"), pytest.importorskip("jsonschema")
    try:
        pmml_schema = engines.pmml_schema()
    except engines.EngineNotInstalled as reason:
        pytest.skip(str(reason))
    json_schema = json.loads((Path(sparsegam.export.__file__).parent / "model.schema.json").read_text())
    rows, labels = products.table()
    for model in (pair_model(), fitted_pair_model(), products.as_fitted(products.written(), rows, labels)):
        pmml_schema.assertValid(etree.fromstring(export.to_pmml(model).encode()))
        content = json.loads(model.to_json())
        jsonschema.validate(content, json_schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(content | {"version": 4}, json_schema)


def hostile_pair(evil):
    """Return a model with interactions only, whose first feature and a level have the same hostile name."""
    first = product((evil, Condition("<=", 2.0)), ("c", Condition("==", evil)), 0.5)
    other = product((evil, Condition(">", 2.0)), ("c", Condition("in", ("k", "l"))), -0.25)
    scales = {"c": Scale("category", ("k", "l", evil, "z"))}
    return Model(0.0, (first, other), (evil, "c"), "logistic", classes=("a", evil), scales=scales)


@pytest.mark.parametrize("engine", ["python", "javascript", "json", "onnx", "duckdb", "sqlite"])
def test_exports_with_hostile_names_in_interactions_score_like_decision_function(engine):
    for evil in HOSTILE:
        model = hostile_pair(evil)
        frame = pd.DataFrame({engines.KEY: range(4), evil: [1.0, 3.0, 1.0, np.nan], "c": [evil, "k", "z", None]})
        found = run(engine, model, frame)
        np.testing.assert_allclose(found[0], model.decision_function(frame), rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("evil", HOSTILE)
def test_exports_escape_hostile_names_in_interactions(evil):
    model = hostile_pair(evil)
    source = export.to_latex(model)
    assert source.count(r"\begin{tabular}") == source.count(r"\end{tabular}") == 2
    assert r"\input" not in source
    script = export.to_javascript(model)
    assert not [tag for tag in ("</", "<!--", "<script", "-->") if tag in script]
    root = ElementTree.fromstring(export.to_pmml(model))
    assert root.find("{*}DataDictionary")[0].get("name") == evil
    assert not [tag for tag in ("</script", "<script", "<img", "<!--") if tag in model.card()]


def test_to_latex_writes_an_interaction_as_a_table():
    text = export.to_latex(products.written())
    assert r"\multicolumn{4}{c}{priors}" in text
    assert r"$>$ 40 & $0$ & $-0.400$ & $0$ & $0$ \\" in text
