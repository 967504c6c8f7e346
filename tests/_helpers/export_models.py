"""Models and data for the tests of the exports, and functions that run them in the engines."""

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
from sparsegam._models.terms import Condition, Term
from sparsegam._models.training import distribution_of

# The formula interpreter evaluates cell by cell, so that fewer rows are scored.
MAX_ROWS = {"excel": 60}
SLOW = dict.fromkeys(["excel", "libreoffice", "spark", "jpmml"], pytest.mark.slow)

# These engines are slow to start; they run the first of several cases only.
FIRST_CASE_ONLY = ("postgresql", "pmml", *SLOW)

# Excel compares 15 significant digits, `formulas` 15 decimal places: values must differ from thresholds by more.
DIGITS = {"excel": 8, "libreoffice": 8}

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


def fitted_model(missing="mean", loss="logistic"):
    """Return the model as if fitted to data with missing values in `since` only and without the code -8."""
    model, rows = additive_model(loss), random_table(4000, seed=5)
    rows = rows[rows[AGE].ne(-8) & rows[CITY].isin(LEVELS) & rows["zone"].ne(4)].dropna(
        subset=[AGE, INCOME, CITY, "grade", "member", "seen", "zone"]
    )
    terms = tuple(t for t in model.terms if t.condition.kind != "missing" or t.feature == "since")
    table, weight = read_table(rows), np.random.default_rng(0).uniform(0.5, 2.0, len(rows))
    seen = {
        name: distribution_of(
            [t.condition for t in terms if t.feature == name],
            model.special_values.get(name, ()),
            model.scales.get(name, NUMBER),
            numbers,
            weight,
        )
        for name, numbers in model.score_function.columns(table).items()
    }
    return replace(model, terms=terms, missing=missing, distributions=seen)


def random_table(n, seed=0, *, digits=17):
    """Return rows with missing, special and new values, the thresholds and the numbers next to them."""
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
            # Engines may warn, and so do models with new levels.
            warnings.simplefilter("ignore")
            return engines.ENGINES[engine](model, frame)
    except engines.EngineNotInstalled as reason:
        pytest.skip(str(reason))


def in_engines(*cases):
    """Return parameters for each case and engine; engines that are slow to start run the first case only."""
    return [
        pytest.param(engine, case, marks=SLOW.get(engine, ()))
        for case in cases
        for engine in engines.ENGINES
        if case == cases[0] or engine not in FIRST_CASE_ONLY
    ]


def check_pmml_reasons(model, frame, table):
    """Assert that a PMML engine returns the first reason of the table for all rows that have one."""
    pypmml = pytest.importorskip("pypmml")
    try:
        scorer = pypmml.Model.fromString(export.to_pmml(model, reasons=table))
    except Exception as error:
        pytest.skip(f"no PMML engine: {error}")
    found = engines.pmml_rows(scorer, model, frame)["reason_1"]
    lost = table.of(frame)
    clear = lost.lost[:, 0] > 0
    assert found[clear].tolist() == lost.codes()[clear, 0].tolist()
