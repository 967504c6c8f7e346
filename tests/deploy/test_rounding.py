"""Tests of integer points and of the replacement of ramps by ranges."""

import itertools

import numpy as np
import pandas as pd
import pytest
from _helpers import products

from sparsegam import SparseGAMClassifier, gam_path
from sparsegam._models.additive import Model
from sparsegam._models.terms import Condition, Term
from sparsegam.deploy import scorecard
from sparsegam.deploy._rounding import (
    MAX_RANGES,
    Patterns,
    fit_lines,
    patterns_of,
    replace_ramps,
    round_small,
    round_to_line,
)

RAMPS = (
    Term("age", Condition("ramp", 75.0, 20.0), -0.03),
    Term("age", Condition("<=", 40.0), 0.5),
    Term("age", Condition("missing"), 0.2),
    Term("debt", Condition("<=", 3.0), 0.7),
)


def ramp_model(terms=RAMPS):
    return Model(0.1, terms, ("age", "debt"), "logistic", classes=(0, 1))


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"age": rng.integers(18, 90, 3000), "debt": rng.normal(size=3000)})
    odds = -0.04 * np.minimum(X["age"] - 70, 0) + (X["debt"] > 1)
    y = (rng.random(3000) < 1 / (1 + np.exp(1 - odds))).astype(int)
    return SparseGAMClassifier(shapes="both", max_terms=6).fit(X, y), X, y


def test_replace_ramps_returns_a_model_without_ramps_unchanged():
    model = ramp_model(RAMPS[1:])
    assert replace_ramps(model, lambda change: 5) is model


@pytest.mark.parametrize("n_ranges", [1, 3, 10])
def test_ranges_are_close_to_the_ramp(n_ranges):
    model = ramp_model()
    steps = replace_ramps(model, lambda change: n_ranges)
    assert not any(term.condition.is_ramp for term in steps.terms)
    x = pd.DataFrame({"age": np.append(np.linspace(0, 100, 401), np.nan), "debt": 0.0})
    off = np.abs(steps.decision_function(x) - model.decision_function(x))
    # Half a range of the longer piece, and half as much again because cuts are rounded.
    assert off.max() <= 0.03 * 35 / n_ranges / 2 * 1.5
    assert off[-1] == 0


def test_replace_ramps_limits_the_number_of_ranges():
    cut = replace_ramps(ramp_model(), lambda change: 10**6)
    assert sum(term.feature == "age" and term.condition.kind == "<=" for term in cut.terms) <= 2 * MAX_RANGES + 2


def test_scorecard_has_integer_points_for_ranges_of_ramps(fitted):
    gam, X, y = fitted
    assert any(term.condition.is_ramp for term in gam.terms_)
    card = scorecard(gam.model_, X, y)
    for function in card.score_function.functions:
        assert not function.has_slopes
        np.testing.assert_array_equal(function.contributions, np.rint(function.contributions))
    assert card.rounding.auc_after > card.rounding.auc_before - 0.005
    small = scorecard(gam.model_, X, y, method="small", max_points=5)
    assert abs(small.score_function.functions[0].contributions).max() <= 5 * 6
    assert small.rounding.auc_after > small.rounding.auc_before - 0.02


def test_scorecard_of_ramps_without_data(fitted):
    gam, X, _ = fitted
    card = scorecard(gam.model_)
    odds = card.score_function.log_odds(card.score_function.score(X))
    np.testing.assert_allclose(odds, gam.decision_function(X), atol=0.3)


def test_replace_ramps_divides_training_shares_among_ranges(fitted):
    gam, *_ = fitted
    steps = replace_ramps(gam.model_, lambda change: 7)
    for name, found in steps.distributions.items():
        total = sum(share for _, share in (*found.upto, *found.single)) + found.above + found.missing
        assert total == pytest.approx(1.0)
        assert found.above == gam.model_.distributions[name].above


def test_replace_ramps_keeps_interactions():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"age": rng.integers(18, 80, 500).astype(float), "debt": rng.integers(0, 9, 500).astype(float)}
    )
    young = products.product(("age", products.upto(30.0)), ("debt", products.above(3.0)), 0.9)
    model = products.as_fitted(Model(0.1, (*RAMPS, young), ("age", "debt"), "logistic", (0, 1)), frame)
    stepped = replace_ramps(model, lambda _: MAX_RANGES)
    assert stepped.terms[-1] == young
    assert stepped.pair_functions()["age", "debt"].mean == model.pair_functions()["age", "debt"].mean
    ages = stepped.distributions["age"]
    assert 30.0 in [value for value, _ in ages.upto]
    assert sum(share for _, share in ages.upto) + ages.above == pytest.approx(1.0)
    np.testing.assert_allclose(stepped.decision_function(frame), model.decision_function(frame), atol=0.1)


@pytest.fixture(scope="module")
def model(credit):
    X, y = credit
    return gam_path(X, y, max_terms=12, special_values=[-7, -8, -9]).at(n_terms=12)


def log_loss(patterns, log_odds):
    return float(patterns.loss(np.asarray(log_odds, dtype=float)[:, None])[0])


def test_small_points_equal_exhaustive_search():
    rng = np.random.default_rng(0)
    holds = np.array(list(itertools.product([0, 1], repeat=3)))
    events, others = rng.integers(1, 50, 8).astype(float), rng.integers(1, 50, 8).astype(float)
    patterns = Patterns(holds, events, others)
    found, a, b = round_small(patterns, np.array([0.4, 0.9, -0.6]), 2)
    box = np.array(list(itertools.product(range(3), range(3), range(-2, 1))))
    assert fit_lines(patterns, found[None, :])[0][0] == pytest.approx(fit_lines(patterns, box)[0].min(), abs=1e-8)
    assert log_loss(patterns, a + b * (holds @ found)) == pytest.approx(fit_lines(patterns, found[None])[0][0])


def test_joint_rounding_is_not_worse_than_independent_rounding(model, credit):
    patterns = patterns_of(model, *credit)
    exact = 3.3 * np.array([model.intercept, *(t.coef for t in model.terms)])
    holds = np.column_stack([np.ones(len(patterns.holds)), patterns.holds])
    together = round_to_line(patterns, exact, 0.0, 1 / 3.3)
    nearest = np.rint(exact)
    assert np.abs(together - exact).max() < 1
    assert log_loss(patterns, holds @ together / 3.3) <= log_loss(patterns, holds @ nearest / 3.3)


def test_patterns_contain_the_total_weight(model, credit):
    X, y = credit
    weight = np.linspace(0.5, 2, len(y))
    patterns = patterns_of(model, X, y, weight)
    assert patterns.total == pytest.approx(weight.sum())
    assert patterns.events.sum() == pytest.approx(weight[y == 1].sum())


def test_small_points_with_max_terms_equal_exhaustive_search():
    rng = np.random.default_rng(1)
    holds = np.array(list(itertools.product([0, 1], repeat=4)))
    patterns = Patterns(holds, rng.integers(1, 60, 16).astype(float), rng.integers(1, 60, 16).astype(float))
    found, _, _ = round_small(patterns, np.array([0.4, 0.9, -0.6, 0.2]), 2, max_terms=2)
    box = np.array(list(itertools.product(range(3), range(3), range(-2, 1), range(3))))
    box = box[np.count_nonzero(box, axis=1) <= 2]
    assert np.count_nonzero(found) <= 2
    assert fit_lines(patterns, found[None, :])[0][0] == pytest.approx(fit_lines(patterns, box)[0].min(), abs=1e-8)
