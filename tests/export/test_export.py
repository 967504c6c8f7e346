"""Exports: every one of them, run where it is meant to run, scores like decision_function."""

import sqlite3
import warnings
from dataclasses import replace
from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from _helpers import engines

from sparsegam import export
from sparsegam._data.columns import BOOLEAN, DATE, DATETIME, NUMBER, Scale
from sparsegam._data.table import read_table
from sparsegam._models.additive import Model
from sparsegam._models.seen import seen_of
from sparsegam._models.steps import step_model, step_numbers
from sparsegam._models.terms import Condition, Term
from sparsegam.deploy import reason_table, scorecard

TOLERANCE = 1e-9
FEW = {"excel": 60}  # rows of an engine that interprets formulas one by one
SLOW = dict.fromkeys(["excel", "libreoffice", "spark", "jpmml"], pytest.mark.slow)
ONCE = ("postgresql", "pmml", *SLOW)  # slow to start, and the losses differ in one number only
DIGITS = {
    "excel": 8,
    "libreoffice": 8,
}  # Excel compares 15 digits, its stand-in 15 after the point: no closer neighbours there
AGE, INCOME, CITY = "age", 'net "income" [k]', "city's name"
LEVELS = ("Aix", "Bonn", "O'Fallon", 'Q"x"', "Zürich", "back\\slash")


def additive_model(loss="logistic"):
    terms = [
        Term(AGE, Condition("<=", 25.0), 0.37),
        Term(AGE, Condition("<=", 40.0), -0.11),
        Term(AGE, Condition("==", -9.0), 0.613),
        Term(AGE, Condition("missing"), -1.7),
        Term(AGE, Condition("ramp", 30.0, 5.0), 0.021),
        Term(AGE, Condition("ramp", 70.0, 5.0), -0.013),
        Term(INCOME, Condition("ramp", 0.25, -2.5), -0.72),
        Term(INCOME, Condition("<=", 0.1), 1.25),
        Term(INCOME, Condition("<=", 1 / 3), -0.4),
        Term(INCOME, Condition("<=", 1e-7), 0.015),
        Term(CITY, Condition("in", ("Bonn", "O'Fallon")), 0.8),
        Term(CITY, Condition("==", 'Q"x"'), -0.3),
        Term(CITY, Condition("==", "back\\slash"), 0.21),
        Term(CITY, Condition("missing"), 0.05),
        Term("grade", Condition("<=", "B"), -0.9),
        Term("member", Condition("<=", False), 0.33),
        Term("since", Condition("<=", date(2020, 2, 29)), 0.44),
        Term("since", Condition("missing"), 0.09),
        Term("seen", Condition("<=", datetime(2021, 5, 6, 7, 8, 9)), -0.27),
        Term("zone", Condition("in", (3, 7)), 0.66),
        Term("zone", Condition("missing"), -0.07),
    ]
    return Model(
        intercept=-0.123456789,
        terms=tuple(terms),
        feature_names=("unused", AGE, INCOME, CITY, "grade", "member", "since", "seen", "zone"),
        loss=loss,
        classes=("good", "bad"),
        special_values={AGE: (-9.0, -8.0)},
        scales={
            CITY: Scale("category", LEVELS),
            "grade": Scale("ordered", ("A", "B", "C")),
            "member": BOOLEAN,
            "since": DATE,
            "seen": DATETIME,
            "zone": Scale("category", (1, 3, 7)),
        },
    )


def later_model(missing="mean", loss="logistic"):
    """The same model as if the rows of its fit had no missing values (but of `since`) and no code -8."""
    model, rows = additive_model(loss), random_table(4000, seed=5)
    rows = rows[rows[AGE].ne(-8) & rows[CITY].isin(LEVELS) & rows["zone"].ne(4)].dropna(
        subset=[AGE, INCOME, CITY, "grade", "member", "seen", "zone"]
    )
    terms = tuple(t for t in model.terms if t.condition.kind != "missing" or t.feature == "since")
    table, weight = read_table(rows), np.random.default_rng(0).uniform(0.5, 2.0, len(rows))
    seen = {
        name: seen_of(
            [t.condition for t in terms if t.feature == name],
            model.special_values.get(name, ()),
            model.scales.get(name, NUMBER),
            numbers,
            weight,
        )
        for name, numbers in step_numbers(model, table).items()
    }
    return replace(model, terms=terms, missing=missing, seen=seen)


def random_table(n, seed=0, *, digits=17):
    """Missing, special, unseen and boundary values, and the numbers next to the thresholds."""
    rng = np.random.default_rng(seed)
    step = 10.0 ** (1 - digits) if digits < 17 else 0.0
    near = [np.nextafter(t + side * t * step, side * np.inf) for t in (0.1, 1 / 3, 1e-7) for side in (-1, 1)]
    ages = [None, -9, -8, -7, 5, 5.25, 25, 30, 40, 70, 0, 24.5, 40.5, 99, float("nan")]
    ages += [np.nextafter(t + t * step, np.inf) for t in (5, 25, 30, 70)]
    incomes = [None, 0.1, 1 / 3, 1e-7, *near, -3.5, -2.5, -2.25, 0.0, 0.25, 12.75, 1e300]
    grades = ["A", "B", "C", None]
    days = [None, date(2020, 2, 28), date(2020, 2, 29), date(2020, 3, 1), date(1950, 1, 1)]
    moment = datetime(2021, 5, 6, 7, 8, 9)
    times = [None, moment, moment + timedelta(milliseconds=1), moment - timedelta(milliseconds=1), datetime(1969, 1, 1)]
    return pd.DataFrame(
        {
            engines.KEY: np.arange(n),
            AGE: np.array([np.nan if v is None else v for v in ages], dtype=float)[rng.integers(len(ages), size=n)],
            INCOME: np.array([np.nan if v is None else v for v in incomes])[rng.integers(len(incomes), size=n)],
            CITY: pick(rng, [*LEVELS, None, "unseen", "bonn", " Bonn"], n),
            "grade": pick(rng, grades, n),
            "member": pick(rng, [True, False, None], n),
            "since": pick(rng, days, n),
            "seen": pd.Series(pick(rng, times, n)).astype("datetime64[us]"),
            "zone": np.array([1.0, 3.0, 7.0, 4.0, np.nan])[rng.integers(5, size=n)],
        }
    )


def pick(rng, values, n):
    return pd.Series([values[i] for i in rng.integers(len(values), size=n)], dtype=object)


def run(engine, model, frame):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the engines, and of unseen levels
            return engines.ENGINES[engine](model, frame)
    except engines.Absent as reason:
        pytest.skip(str(reason))


def in_engines(*cases):
    """Each case with each engine; those that are slow to start have the first case only."""
    return [
        pytest.param(engine, case, marks=SLOW.get(engine, ()))
        for case in cases
        for engine in engines.ENGINES
        if case == cases[0] or engine not in ONCE
    ]


@pytest.mark.parametrize(("engine", "loss"), in_engines("logistic", "exponential"))
def test_every_export_scores_alike(engine, loss):
    model, frame = additive_model(loss), random_table(FEW.get(engine, 1000), digits=DIGITS.get(engine, 17))
    with pytest.warns(UserWarning, match="which no training row had"):
        expected, probability = model.decision_function(frame), model.predict_proba(frame)[:, 1]
    found = run(engine, model, frame)
    np.testing.assert_allclose(found[0], expected, rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(found[1], probability, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize(("engine", "rule"), in_engines("mean", "last"))
def test_values_that_only_come_later_score_alike(engine, rule):
    model = later_model(missing=rule)
    frame = random_table(FEW.get(engine, 1000), digits=DIGITS.get(engine, 17))
    frame["grade"] = pick(np.random.default_rng(1), ["A", "B", "C", None, "Z"], len(frame))
    with pytest.warns(UserWarning, match=r"new level in \"city's name\".* new level in 'grade'.* new level in 'zone'"):
        expected, probability = model.decision_function(frame), model.predict_proba(frame)[:, 1]
    found = run(engine, model, frame)
    np.testing.assert_allclose(found[0], expected, rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(found[1], probability, rtol=0, atol=TOLERANCE)


def test_exports_cannot_refuse_a_row_and_score_it_at_the_mean():
    strict, frame = later_model(missing="error"), random_table(200)
    with pytest.raises(ValueError, match=r"rows have a special value in 'age'.*missing='error'"):
        strict.decision_function(frame)
    assert export.to_python(strict) == export.to_python(later_model())


def test_steps_say_where_no_row_was():
    tables = {table.feature: table.labels() for table in step_model(later_model()).tables}
    assert tables[AGE][:3] == ("missing: no such row was seen", "-9", "-8: no such row was seen")
    assert tables[CITY][-1] == "any other: no such row was seen"
    assert tables["since"][0] == "missing"
    assert r"missing: no such row was seen" in export.to_latex(later_model())
    lines = [row["step"] for row in scorecard(later_model(), method="plain").table() if row["feature"] == AGE]
    assert lines[0] == "missing: no such row was seen"


@pytest.mark.parametrize("engine", ["duckdb", "sqlite", "postgresql", "bigquery", "tsql", "python", "javascript"])
def test_whole_numbers_beyond_floats_are_rounded_as_models_do(engine):
    """10**18 + 1 is 10**18 to a model, but not to those who compare integers to the last digit."""
    around = [10**18 + k for k in range(-200, 200)]
    terms = [Term("id", Condition("<=", 1e18), 1.0), Term("id", Condition("==", 1e18 + 128), 0.5)]
    model = Model(0.25, tuple(terms), ("id",), "logistic", ("no", "yes"))
    frame = pd.DataFrame({engines.KEY: np.arange(len(around)), "id": around})
    np.testing.assert_array_equal(run(engine, model, frame)[0], model.decision_function(frame))


@pytest.mark.parametrize("engine", ["duckdb", "python", "javascript", "onnx"])
@pytest.mark.parametrize("made_by", ["hand", "fit"])
def test_scorecards_are_exported_as_models_are(engine, made_by):
    model, frame = additive_model() if made_by == "hand" else later_model(), random_table(300)
    card = scorecard(model, method="plain")
    found = run(engine, card, frame)
    with pytest.warns(UserWarning, match="which no training row had"):
        points, probability = card.score(frame), card.predict_proba(frame)[:, 1]
    assert found[0].tolist() == points.tolist()
    np.testing.assert_allclose(found[1], probability, rtol=0, atol=TOLERANCE)


def test_pmml_obeys_its_schema():
    etree = pytest.importorskip("lxml.etree")
    try:
        schema = engines.pmml_schema()
    except engines.Absent as reason:
        pytest.skip(str(reason))
    regression = Model(1.5, (Term("x", Condition("<=", 2.0), -0.5),), ("x",), "squared")
    for model in (additive_model(), scorecard(additive_model(), method="plain"), regression):
        schema.assertValid(etree.fromstring(export.to_pmml(model).encode()))
    spoilt = export.to_pmml(regression).replace("<True />", "<Truth />")
    assert not schema.validate(etree.fromstring(spoilt.encode()))


@pytest.mark.parametrize("baseline", ["max", "mean", "median"])
def test_pmml_engines_give_the_reasons(baseline):
    model, frame = additive_model() if baseline == "max" else later_model(), random_table(200)
    table = reason_table(model, k=1, baseline=baseline)
    check_pmml_reasons(model, frame, table)


def check_pmml_reasons(model, frame, table):
    """A PMML engine gives the first reason of the table, where there is one."""
    pypmml = pytest.importorskip("pypmml")
    try:
        scorer = pypmml.Model.fromString(export.to_pmml(model, reasons=table))
    except Exception as error:
        pytest.skip(f"no PMML engine: {error}")
    found = engines.pmml_rows(scorer, model, frame)["reason_1"]
    lost = table.of(frame)
    clear = lost.lost[:, 0] > 0
    assert found[clear].tolist() == lost.codes()[clear, 0].tolist()


@pytest.mark.parametrize("to", [export.to_onnx, export.to_pmml])
def test_models_without_inputs_are_refused(to):
    pytest.importorskip("onnx")
    with pytest.raises(ValueError, match="the model has no terms"):
        to(Model(1.0, (), ("x",), "logistic", classes=(0, 1)))


def test_steps_score_alike():
    model, frame = additive_model(), random_table(2000, seed=1)
    with pytest.warns(UserWarning, match="which no training row had"):
        expected = model.decision_function(frame)
    with pytest.warns(UserWarning, match="which no training row had"):
        np.testing.assert_allclose(step_model(model).score(frame), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("dialect", ["duckdb", "postgresql", "sqlite", "spark", "bigquery", "tsql"])
def test_sql_quotes_names_and_texts(dialect):
    query = export.to_sql(additive_model(), "schema.table", dialect=dialect, keep=["id"])
    outside = query.replace("''", "").replace("\\'", "").replace('""', "").replace("\\\\", "")
    assert "O'Fallon" not in outside
    assert query.count("CASE") == query.count("END")


def test_sql_of_unknown_dialect():
    with pytest.raises(ValueError, match=r"dialect must be one of 'duckdb'.*got 'oracle'"):
        export.to_sql(additive_model(), "t", dialect="oracle")


def test_latex_escapes():
    text = export.to_latex(additive_model())
    assert r"back\textbackslash{}slash" in text
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 1


def test_regression_has_no_probability():
    model = Model(1.5, (Term("x", Condition("<=", 2.0), -0.5),), ("x",), "squared")
    assert "probability" not in export.to_python(model)
    assert "probability" not in export.to_sql(model, "t")
    names = {}
    exec(export.to_python(model), names)
    assert [names["score"]({"x": x}) for x in (2, 2.1, None)] == [1.0, 1.5, 1.5]


@pytest.mark.parametrize("name", ["score", "probability", ""])
@pytest.mark.parametrize("to", [export.to_onnx, export.to_pmml])
def test_names_of_outputs_are_refused(to, name):
    pytest.importorskip("onnx")
    with pytest.raises(ValueError, match=f"cannot write a column named '{name}'.*rename the column"):
        to(Model(0.0, (Term(name, Condition("<=", 2.0), 1.0),), (name,), "logistic", classes=("a", "b")))


def test_sqlite_reads_thresholds_to_the_last_bit():
    """Of the shortest decimals that Python reads rightly, SQLite reads some as the number beside them."""
    threshold = -2.066728857523217
    model = Model(0.5, (Term("a", Condition("<=", threshold), 1.0),), ("a",), "squared", None)
    rows = [{"a": float(x)} for x in (np.nextafter(threshold, -3), threshold, np.nextafter(threshold, 0))]
    query = model.to_sql("rows", dialect="sqlite")
    with sqlite3.connect(":memory:") as base:
        base.execute("CREATE TABLE rows (a REAL)")
        base.executemany("INSERT INTO rows VALUES (:a)", rows)
        assert [row[-1] for row in base.execute(query)] == [1.5, 1.5, 0.5]
