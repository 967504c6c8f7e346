"""Estimators with interactions: importances, drift, stability, reports and exports."""

import numpy as np
import pandas as pd
import pytest
from _helpers import products

from sparsegam import SparseGAMClassifier, SparseGAMRegressor
from sparsegam._models.additive import Model
from sparsegam._models.functions import score_function
from sparsegam._search import table_problem
from sparsegam.report._content import report_content
from sparsegam.report._data import Dataset, Fit, ReportData


@pytest.fixture(scope="module")
def fitted():
    frame, y = products.table(2000)
    gam = SparseGAMClassifier(interactions=3, lambda0=3).fit(frame, y)
    assert {part for part in gam.model_.parts if not isinstance(part, str)} >= {("age", "priors")}
    return gam, frame, y


def test_importance_of_a_pair_is_half_of_each(fitted):
    gam, frame, _ = fitted
    contributions = gam.model_.contributions(frame)
    each = np.abs(contributions - contributions.mean(axis=0)).mean(axis=0)
    expected = dict.fromkeys(frame.columns, 0.0)
    for part, of_part in zip(gam.model_.parts, each, strict=True):
        names = (part,) if isinstance(part, str) else part
        for name in names:
            expected[name] += of_part / len(names)
    np.testing.assert_allclose(gam.feature_importances_, list(expected.values()))
    assert gam.feature_importances_.sum() == pytest.approx(each.sum())


@pytest.mark.parametrize("weighted", [False, True])
def test_training_distribution_of_pairs_equals_the_row_counts(fitted, weighted):
    gam, frame, y = fitted
    if weighted:
        weight = np.random.default_rng(0).uniform(0.5, 2.0, len(frame))
        gam = SparseGAMClassifier(interactions=3, lambda0=3).fit(frame, y, sample_weight=weight)
    model = gam.model_
    remembered, counted = model.training_profile(), model.profile(frame)
    assert remembered.pairs.keys() == counted.pairs.keys() == {*model.pairs}
    for pair, shares in counted.pairs.items():
        np.testing.assert_allclose(remembered.pairs[pair], shares)
    assert model.drift(frame).worst.psi == pytest.approx(0.0, abs=1e-12)
    if not weighted:
        assert model.contributions(frame).mean(axis=0) == pytest.approx(0.0, abs=1e-12)
        assert model.baseline() == pytest.approx(model.decision_function(frame).mean())


def test_step_model_scores_interactions_exactly(fitted):
    gam, frame, _ = fitted
    new = frame.assign(hours=frame["hours"].iloc[::-1].to_numpy())
    np.testing.assert_array_equal(score_function(gam).score(new), gam.decision_function(new))
    back = Model.from_json(gam.model_.to_json())
    np.testing.assert_array_equal(back.decision_function(new), gam.decision_function(new))
    assert back.drift(frame).worst.psi == pytest.approx(0.0, abs=1e-12)


def test_report_contains_interactions(fitted):
    gam, frame, y = fitted
    parts = report_content(ReportData(gam.model_, "t", train=Dataset.read(frame, y), fit=Fit(gam.get_params())))
    assert parts["alternatives"]["note"] == ""
    assert len(parts["alternatives"]["terms"]) == gam.n_terms_
    cost = gam.lambda0_ * sum(2 if term.is_interaction else 1 for term in gam.terms_)
    assert parts["frontier"]["model"]["objective"] == pytest.approx(gam.objective_ - cost)
    assert [pair["names"] for pair in parts["interactions"]] == [list(pair) for pair in gam.model_.pairs]


@pytest.fixture(scope="module")
def clear():
    """A regression in which two features matter together, and nothing else does."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.integers(0, 10, (800, 3)), columns=["a", "b", "c"]).astype(float)
    y = 2.0 * ((X["a"] <= 4) & (X["b"] > 5)) + rng.normal(0, 0.3, 800)
    gam = SparseGAMRegressor(interactions=1, max_terms=3, lambda0="bic", lambda2=0.001).fit(X, y)
    return gam, X, y, [term for term in gam.terms_ if term.is_interaction]


def test_stability_finds_interactions_again(clear):
    gam, X, y, (term,) = clear
    found = gam.stability(X, y, n=4)
    assert found.features["a & b"] == 1.0
    assert [one.share for one in found.terms if one.term == term] == [1.0]


def test_regressions_with_interactions_can_be_edited(clear):
    gam, X, y, (term,) = clear
    model = gam.model_
    values = tuple(clause.condition.value for clause in term.clauses)
    without = model.edit(X, y, who="A. Analyst").drop(term.part, values, why="to see")
    assert without.edits[-1].loss_after > without.edits[-1].loss_before
    assert "Contribution of a (down) and b (across) together" in model.card(X, y)


def test_monotone_constraints_hold_with_interactions():
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.integers(0, 12, (1500, 3)), columns=["a", "b", "c"]).astype(float)
    score = 0.2 * X["a"] + 1.5 * ((X["a"] > 6) & (X["b"] <= 5)) - 1.0 * ((X["a"] <= 2) & (X["c"] > 4)) - 1
    y = (rng.random(1500) < 1 / (1 + np.exp(-score))).astype(int)
    gam = SparseGAMClassifier(interactions=3, lambda0=1, monotone={"a": "increasing", "b": "decreasing"}).fit(X, y)
    assert len([term for term in gam.terms_ if "a" in term.features and term.is_interaction]) >= 2
    grid = np.stack(np.meshgrid(*[np.arange(-0.5, 12, 0.5)] * 3, indexing="ij"), axis=-1)
    scores = gam.decision_function(pd.DataFrame(grid.reshape(-1, 3), columns=["a", "b", "c"])).reshape(grid.shape[:3])
    assert np.diff(scores, axis=0).min() >= 0
    assert np.diff(scores, axis=1).max() <= 0


def test_required_columns_are_chosen_once(monkeypatch):
    """Chosen again with interactions, another column may be equally good up to rounding, and models would lack it."""
    chosen, choose = [], table_problem._required_columns
    monkeypatch.setattr(table_problem, "_required_columns", lambda *given: chosen.append(given) or choose(*given))
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (400, 3)).astype(float)
    y = (X[:, 0] <= 2) & (X[:, 1] <= 3)
    gam = SparseGAMClassifier(lambda0=2.0, features_always=[2], interactions=[(0, 1)]).fit(X, y)
    assert any(term.is_interaction for term in gam.terms_)
    assert any(term.features == ("x2",) for term in gam.terms_)
    assert len(chosen) == 1
