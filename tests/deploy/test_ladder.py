"""Ramps as ladders of ranges: near the line, whole points, and the same model where there are no ramps."""

import numpy as np
import pandas as pd
import pytest
from _helpers import products

from sparsegam import SparseGAMClassifier
from sparsegam._models.additive import Model
from sparsegam._models.terms import Condition, Term
from sparsegam.deploy import scorecard
from sparsegam.deploy._ladder import MOST_RUNGS, laddered

RAMPS = (
    Term("age", Condition("ramp", 75.0, 20.0), -0.03),
    Term("age", Condition("<=", 40.0), 0.5),
    Term("age", Condition("missing"), 0.2),
    Term("debt", Condition("<=", 3.0), 0.7),
)


def by_hand(terms=RAMPS):
    return Model(0.1, terms, ("age", "debt"), "logistic", classes=(0, 1))


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"age": rng.integers(18, 90, 3000), "debt": rng.normal(size=3000)})
    odds = -0.04 * np.minimum(X["age"] - 70, 0) + (X["debt"] > 1)
    y = (rng.random(3000) < 1 / (1 + np.exp(1 - odds))).astype(int)
    return SparseGAMClassifier(shapes="both", max_terms=6).fit(X, y), X, y


def test_a_model_of_steps_stays_as_it_is():
    model = by_hand(RAMPS[1:])
    assert laddered(model, lambda rise: 5) is model


@pytest.mark.parametrize("rungs", [1, 3, 10])
def test_ranges_are_near_the_line(rungs):
    model = by_hand()
    steps = laddered(model, lambda rise: rungs)
    assert not any(term.condition.is_ramp for term in steps.terms)
    x = pd.DataFrame({"age": np.append(np.linspace(0, 100, 401), np.nan), "debt": 0.0})
    off = np.abs(steps.decision_function(x) - model.decision_function(x))
    assert off.max() <= 0.03 * 35 / rungs / 2 * 1.5  # half a range of the longer piece, and what rounding of cuts adds
    assert off[-1] == 0


def test_ranges_are_never_too_many():
    cut = laddered(by_hand(), lambda rise: 10**6)
    assert sum(term.feature == "age" and term.condition.kind == "<=" for term in cut.terms) <= 2 * MOST_RUNGS + 2


def test_a_scorecard_has_whole_points_in_ranges(fitted):
    gam, X, y = fitted
    assert any(term.condition.is_ramp for term in gam.terms_)
    card = scorecard(gam.model_, X, y)
    assert all(step.slope == 0 and step.adds == int(step.adds) for table in card.steps.tables for step in table.steps)
    assert card.rounding.auc_after > card.rounding.auc_before - 0.005
    small = scorecard(gam.model_, X, y, method="small", max_points=5)
    assert abs(small.steps.tables[0].adds).max() <= 5 * 6
    assert small.rounding.auc_after > small.rounding.auc_before - 0.02


def test_without_rows_too(fitted):
    gam, X, _ = fitted
    card = scorecard(gam.model_)
    odds = card.steps.log_odds(card.steps.score(X))
    np.testing.assert_allclose(odds, gam.decision_function(X), atol=0.3)


def test_shares_of_rows_are_spread_over_the_ranges(fitted):
    gam, *_ = fitted
    steps = laddered(gam.model_, lambda rise: 7)
    for name, seen in steps.seen.items():
        total = sum(share for _, share in (*seen.upto, *seen.alone)) + seen.above + seen.missing
        assert total == pytest.approx(1.0)
        assert seen.above == gam.model_.seen[name].above


def test_products_stay_beside_ladders():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"age": rng.integers(18, 80, 500).astype(float), "debt": rng.integers(0, 9, 500).astype(float)}
    )
    young = products.product(("age", products.upto(30.0)), ("debt", products.above(3.0)), 0.9)
    model = products.as_fitted(Model(0.1, (*RAMPS, young), ("age", "debt"), "logistic", (0, 1)), frame)
    stepped = laddered(model, lambda _: MOST_RUNGS)
    assert stepped.terms[-1] == young
    assert stepped.pair_functions()["age", "debt"].mean() == model.pair_functions()["age", "debt"].mean()
    edges = [value for value, _ in stepped.seen["age"].upto]
    assert 30.0 in edges
    assert sum(share for _, share in stepped.seen["age"].upto) + stepped.seen["age"].above == pytest.approx(1.0)
    np.testing.assert_allclose(stepped.decision_function(frame), model.decision_function(frame), atol=0.1)
