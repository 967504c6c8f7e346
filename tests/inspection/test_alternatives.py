"""Tests of alternatives to terms, of their costs and constraints, and of smaller models."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from _helpers.table_problems import table_problem

from sparsegam import SparseGAMClassifierCV, SparseGAMRegressor
from sparsegam._design.constraints import Constraints
from sparsegam._search.interactions import prepare
from sparsegam._search.path import Path
from sparsegam._search.refit import refit
from sparsegam.inspection import alternatives
from sparsegam.inspection._alternatives import (
    find_alternatives,
    fit_problem,
    fit_spec,
    objective_of,
    smaller_models,
    support_of,
    with_interactions_of,
)


def make_problem(loss="logistic", rules=None, n=400):
    """Return a problem, its path and constraints; column 2 is 10 times column 0, and column 3 is noise."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 12, (n, 4)).astype(float)
    X[:, 2] = 10 * X[:, 0]
    score = 2.0 * (X[:, 0] <= 5) - 1.5 * (X[:, 1] <= 3) - 0.5
    y = (
        np.where(rng.random(n) < 1 / (1 + np.exp(-score)), 1.0, -1.0)
        if loss != "squared"
        else score + rng.normal(size=n)
    )
    rules = rules or Constraints()
    demands = {"monotone": rules.monotone, "features_never": rules.features_never, "shapes": rules.shapes}
    problem = table_problem(X, y, loss=loss, lambda2=1e-3, max_terms=6, **demands)
    classes = None if loss == "squared" else np.array([0, 1])
    return problem, Path.search(problem, classes), rules


@pytest.mark.parametrize("loss", ["logistic", "exponential", "squared"])
def test_drop_costs_equal_differences_of_the_path(loss):
    problem, path, rules = make_problem(loss)
    model = path.at(n_terms=2)
    assert objective_of(problem, model) == pytest.approx(path.objective[2], rel=1e-6)
    found = find_alternatives(problem, model, rules)
    cheapest = min(a.drop_cost for a in found)
    assert path.objective[2] + cheapest == pytest.approx(path.objective[1], rel=1e-4)


def test_a_duplicate_column_is_a_substitute_at_no_cost():
    problem, path, rules = make_problem()
    found = {a.term.feature: a for a in find_alternatives(problem, path.at(n_terms=2), rules)}
    term = found.get("x0", found.get("x2"))
    twin = term.substitutes[0]
    assert {term.term.feature, twin.term.feature} == {"x0", "x2"}
    assert twin.cost == pytest.approx(0.0, abs=1e-2)
    assert twin.term.coef == pytest.approx(term.term.coef, rel=1e-2)


def test_substitutes_obey_constraints():
    problem, path, rules = make_problem(rules=Constraints(monotone={"x1": "increasing"}, features_never=["x2"]))
    for alternative in find_alternatives(problem, path.at(n_terms=3), rules):
        for substitute in alternative.substitutes:
            assert substitute.term.feature != "x2"
            assert substitute.term.feature != "x1" or substitute.term.coef <= 0


def true_objective(problem, model, X, y):
    """Return loss and ridge computed from the raw values."""
    score = model.decision_function(X)
    loss = np.logaddexp(0, -y * score).sum() if model.loss == "logistic" else 0.5 * ((y - score) ** 2).sum()
    spread = [
        ((c - c.mean()) ** 2).sum()
        for c in (model.column_of(t, {t.feature: X[:, int(t.feature[1:])]}) for t in model.terms)
    ]
    return loss + problem.ridge.lambda2 * sum(s * t.coef**2 for s, t in zip(spread, model.terms, strict=True))


@pytest.mark.parametrize("max_bins", [8, 1000])
@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_costs_of_ramps_use_raw_values(loss, max_bins):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 200, (500, 3)).astype(float)
    score = 0.03 * np.minimum(X[:, 0] - 120, 0) + 1.0 * (X[:, 1] <= 90)
    y = (
        score + rng.normal(size=500)
        if loss == "squared"
        else np.where(rng.random(500) < 1 / (1 + np.exp(-score)), 1.0, -1.0)
    )
    rules = Constraints(shapes="both")
    problem = table_problem(X, y, loss=loss, lambda2=1e-3, max_terms=4, max_bins=max_bins, shapes="both")
    path = Path.search(problem, None if loss == "squared" else np.array([0, 1]))
    model = path.at(n_terms=2)
    assert {t.condition.kind for t in model.terms} == {"ramp", "<="}
    assert objective_of(problem, model) == pytest.approx(path.objective[2], rel=1e-6)
    assert objective_of(problem, model) == pytest.approx(true_objective(problem, model, X, y), rel=1e-9)
    found = find_alternatives(problem, model, rules)
    assert path.objective[2] + min(a.drop_cost for a in found) == pytest.approx(path.objective[1], rel=1e-2)
    for alternative in found:
        kinds = [(s.term.feature, s.term.condition.is_ramp) for s in alternative.substitutes]
        assert len(set(kinds)) == len(kinds)
    ramp = next(a for a in found if a.term.condition.is_ramp)
    steps = [s for s in ramp.substitutes if s.term.feature == ramp.term.feature and not s.term.condition.is_ramp]
    assert steps
    assert all(0 < s.cost < ramp.drop_cost for s in steps)


def test_ramps_as_substitutes_obey_monotonicity():
    problem, path, _ = make_problem(rules=Constraints(shapes="both"))
    rules = Constraints(shapes="both", monotone={"x0": "increasing", "x2": "increasing"})
    found = [s.term for a in find_alternatives(problem, path.at(n_terms=3), rules) for s in a.substitutes]
    assert all(t.feature == "x1" or (t.coef > 0) == t.condition.is_ramp for t in found)


def test_terms_without_a_column_are_rejected():
    problem, path, rules = make_problem()
    assert len(find_alternatives(problem, path.at(n_terms=0), rules)) == 0
    model = path.at(n_terms=6)
    with pytest.raises(ValueError, match="no candidate for the term"):
        find_alternatives(problem_of_other_data(), model, rules)


def problem_of_other_data():
    X = np.arange(80.0).reshape(20, 4) + 0.5
    y = np.tile([-1.0, 1.0], 10)
    return table_problem(X, y, lambda2=1e-3, max_terms=3)


@pytest.fixture(scope="module")
def paired():
    """Return a problem with an interaction, the result of `prepare` for it, and the model with one term."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 20, (600, 3)).astype(float)
    y = np.where(rng.random(600) < np.where((X[:, 0] <= 8) & (X[:, 1] > 10), 0.8, 0.3), 1.0, -1.0)
    problem = table_problem(X, y, lambda2=1e-3, max_terms=3, interactions=1)
    ready = prepare(problem)
    model = Path.search(ready, np.array([0, 1])).at(n_terms=1)
    assert model.terms[0].is_interaction
    return problem, ready, model


def test_similar_interactions_are_substitutes_of_interactions(paired):
    plain, ready, model = paired
    with pytest.raises(ValueError, match="the data contain no candidate for the term"):
        find_alternatives(plain, model, Constraints())
    problem = with_interactions_of(plain, model)
    assert objective_of(problem, model) == pytest.approx(objective_of(ready, model))
    (found,) = find_alternatives(problem, model, Constraints())
    assert found.drop_cost > 20
    best = found.substitutes[0]
    assert best.term.part == model.terms[0].part
    assert best.term.clauses != model.terms[0].clauses
    fitted = refit(
        problem.rows, problem.ridge, support_of(problem, replace(model, terms=(best.term,))), units=problem.units
    )
    assert best.cost == pytest.approx(fitted.objective - objective_of(problem, model), abs=0.01)


def test_substitutes_of_interactions_obey_monotonicity(paired):
    plain, _, model = paired
    assert model.terms[0].coef > 0  # decreasing in the first feature, increasing in the second
    rules = Constraints(monotone={"x0": "decreasing", "x1": "increasing"})
    constrained = replace(plain, constraints=rules)
    (found,) = find_alternatives(with_interactions_of(constrained, model), model, rules)
    assert found.substitutes
    for substitute in found.substitutes:
        assert {one.condition.kind for one in substitute.term.clauses if one.feature == "x0"} <= {"<="}


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.integers(0, 15, (500, 5)).astype(float), columns=list("abcde"))
    y = 2.0 * (frame["a"] <= 5) - 1.5 * (frame["b"] <= 3) + 0.7 * (frame["c"] <= 9) + rng.normal(size=500)
    gam = SparseGAMRegressor(max_terms=6, lambda0=0.1, lambda2=0.001).fit(frame, y)
    spec = fit_spec(gam.model_, gam.get_params(), gam.n_terms_)
    problem = fit_problem(spec, gam.model_, frame, y, None)
    return gam, frame, y, problem


def test_alternatives_accepts_estimators_and_models(fitted):
    gam, frame, y, problem = fitted
    found = alternatives(gam, frame, y)
    assert len(found) == gam.n_terms_
    assert [one.drop_cost for one in found] == pytest.approx(
        [one.drop_cost for one in find_alternatives(problem, gam.model_, problem.constraints)]
    )
    assert str(found) == str(alternatives(gam.model_, frame, y, lambda2=0.001, max_terms=6))
    assert len(found.to_frame()) == sum(len(one.substitutes) for one in found)
    assert "cost of dropping" in str(found)
    assert all(len(one.substitutes) <= 1 for one in alternatives(gam, frame, y, max_substitutes=1))
    with pytest.raises(TypeError, match="model must be a Model or a fitted estimator"):
        alternatives(frame, frame, y)


def test_alternatives_of_cross_validated_estimators_and_ramps():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 30, (300, 3)).astype(float), columns=list("abc"))
    labels = np.where(0.2 * np.minimum(frame["a"] - 20, 0) + rng.normal(size=300) > -1, "good", "bad")
    gam = SparseGAMClassifierCV(max_terms=2, cv=2, shapes=["steps", "both"], positive="bad").fit(frame, labels)
    found = alternatives(gam, frame, labels)
    assert [one.term for one in found] == list(gam.model_.terms)
    assert all(one.drop_cost > 0 for one in found)


def test_smaller_models_drop_the_cheapest_term_first(fitted):
    gam, _, _, problem = fitted
    model = gam.model_
    found = smaller_models(problem, model)
    assert [len(point.columns) for point in found.points] == list(range(model.n_terms + 1))
    costs = [one.drop_cost for one in find_alternatives(problem, model, problem.constraints)]
    kept = problem.design.model(found.points[-2], model.loss, None)
    assert {t.condition for t in model.terms} - {t.condition for t in kept.terms} == {
        model.terms[int(np.argmin(costs))].condition
    }
    assert objective_of(problem, kept) == pytest.approx(objective_of(problem, model) + min(costs), rel=1e-9)


def test_a_path_search_can_start_from_smaller_models(fitted):
    gam, _, _, problem = fitted
    full = Path.search(problem, None)
    quick = Path.search(problem, None, rough=True, start=smaller_models(problem, gam.model_))
    assert quick.n_terms.tolist() == full.n_terms.tolist()
    np.testing.assert_allclose(quick.objective, full.objective, rtol=0.02)
    assert quick.objective[gam.n_terms_] <= objective_of(problem, gam.model_) * (1 + 1e-9)
    assert quick.models[3].statistics is None
