"""Exports of models with products: run where they are meant to run, they score like decision_function."""

import warnings
from dataclasses import replace
from datetime import date, datetime
from xml.etree import ElementTree

import engines
import numpy as np
import pandas as pd
import pytest
from test_export import (
    AGE,
    CITY,
    DIGITS,
    FEW,
    HOSTILE,
    INCOME,
    LEVELS,
    ONCE,
    SLOW,
    additive_model,
    pick,
    random_table,
    run,
)

from sparsegam import export
from sparsegam.data.frames import read
from sparsegam.data.scales import NUMBER, Scale
from sparsegam.deploy.reasons import reason_table
from sparsegam.deploy.scorecard import scorecard
from sparsegam.models.additive import Model
from sparsegam.models.seen import seen_of
from sparsegam.models.steps import step_model, step_numbers
from sparsegam.models.terms import Clause, Condition, Term

TOLERANCE = 1e-12
HOURS = "hours"  # of which products alone ask


def product(first, second, coef):
    return Term(*first, coef, Clause(*second))


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
    product(("since", Condition(">", date(2020, 2, 28))), ("seen", Condition("<=", datetime(2021, 5, 6, 7, 8, 9))), 0.7),
    product(("since", Condition("missing")), ("seen", Condition("missing")), -0.67),
)


def pair_model():
    """The additive model of the other exports, and products of all kinds of columns."""
    model = additive_model()
    names = (*model.feature_names, HOURS)
    return replace(model, terms=(*model.terms, *PRODUCTS), feature_names=names)


def pair_table(n, seed=0, digits=17):
    rng = np.random.default_rng([seed, 1])
    near = 10.0 ** (1 - digits) if digits < 17 else 0.0
    hours = [np.nan, 12.5, np.nextafter(12.5 + 12.5 * near, np.inf), 40.0, 39.5, 41.0, 2e16, 3e16, -1.0]
    return random_table(n, seed, digits=digits).assign(**{HOURS: np.array(hours)[rng.integers(len(hours), size=n)]})


def later_model(missing="mean"):
    """The same model as if its rows had missing values of `since` only, no code -8 and no new level."""
    model, rows = pair_model(), pair_table(6000, seed=5)
    rows = rows[rows[AGE].ne(-8) & rows[CITY].isin(LEVELS) & rows["zone"].ne(4)].dropna(
        subset=[name for name in rows if name != "since"]
    )
    terms = tuple(
        t for t in model.terms if all(c.condition.kind != "missing" or c.feature == "since" for c in t.clauses)
    )
    model = replace(model, terms=terms)
    table, weight = read(rows), np.random.default_rng(0).uniform(0.5, 2.0, len(rows))
    numbers = step_numbers(model, table)
    seen = {
        name: seen_of(
            [one.condition for t in terms for one in t.clauses if one.feature == name],
            model.special_values.get(name, ()),
            model.scales.get(name, NUMBER),
            column,
            weight,
        )
        for name, column in numbers.items()
    }
    model = replace(model, seen=seen)
    shares = {}
    for pair in model.pairs:
        cells = replace(model, seen=seen).cells_of(pair)
        if missing != "last":
            cells = _apart(model, pair)
        shares[pair] = cells.sums(*(numbers[name] for name in pair), weight / weight.sum())
    return replace(model, missing=missing, seen_pairs=shares)


def _apart(model, pair):
    """The cells of a pair, with those of new values, which a model has that scores these at a mean."""
    from sparsegam.models.pairs import pair_of

    return pair_of([t for t in model.terms if t.part == pair], tuple(model.source_of(name) for name in pair))


def scores(model, frame):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of unseen levels
        return model.decision_function(frame), model.predict_proba(frame)[:, 1]


@pytest.mark.parametrize(
    ("engine", "made"),
    [
        pytest.param(engine, made, marks=SLOW.get(engine, ()))
        for made in ("by hand", "mean", "last")
        for engine in engines.ENGINES
        if made == "mean" or engine not in ONCE
    ],
)
def test_every_export_scores_products_alike(engine, made):
    model = pair_model() if made == "by hand" else later_model(made)
    digits = DIGITS.get(engine, 17)
    frame = pair_table(FEW.get(engine, 1000), digits=digits)
    if made != "by hand":
        frame["grade"] = pick(np.random.default_rng(1), ["A", "B", "C", None, "Z"], len(frame))
    expected, probability = scores(model, frame)
    found = run(engine, model, frame)
    np.testing.assert_allclose(found[0], expected, rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(found[1], probability, rtol=0, atol=TOLERANCE)
