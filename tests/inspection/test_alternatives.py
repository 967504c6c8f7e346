"""Substitutes of terms: costs are true ones, twins cost nothing, rules are obeyed."""

from dataclasses import replace

import numpy as np
import pytest

from sparsegam._data.table import read_table
from sparsegam._design.binning import Binning
from sparsegam._design.constraints import Constraints, InteractionOptions
from sparsegam._search.options import SearchOptions
from sparsegam._search.path import Path
from sparsegam._search.refit import refit
from sparsegam._search.tables import Tables
from sparsegam.inspection._alternatives import alternatives, objective_of, support_of, with_products_of


def make_problem(loss="logistic", rules=None, n=400):
    """Column 2 repeats column 0, but for its units; column 3 is noise."""
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
    options = SearchOptions(loss=loss, lambda2=1e-3, max_terms=6)
    problem = Tables(Binning(), rules).pose(read_table(X), y, np.ones(n), options)
    classes = None if loss == "squared" else np.array([0, 1])
    return problem, Path.search(problem, classes), rules


@pytest.mark.parametrize("loss", ["logistic", "exponential", "squared"])
def test_costs_are_those_of_the_frontier(loss):
    problem, path, rules = make_problem(loss)
    model = path.at(n_terms=2)
    assert objective_of(problem, model) == pytest.approx(path.objective[2], rel=1e-6)
    found = alternatives(problem, model, rules)
    cheapest = min(a.drop_cost for a in found)
    assert path.objective[2] + cheapest == pytest.approx(path.objective[1], rel=1e-4)


def test_a_twin_costs_nothing():
    problem, path, rules = make_problem()
    found = {a.term.feature: a for a in alternatives(problem, path.at(n_terms=2), rules)}
    term = found.get("x0", found.get("x2"))
    twin = term.substitutes[0]
    assert {term.term.feature, twin.term.feature} == {"x0", "x2"}
    assert twin.cost == pytest.approx(0.0, abs=1e-2)
    assert twin.term.coef == pytest.approx(term.term.coef, rel=1e-2)


def test_rules_are_obeyed():
    problem, path, rules = make_problem(rules=Constraints(monotone={"x1": "increasing"}, features_never=["x2"]))
    for alternative in alternatives(problem, path.at(n_terms=3), rules):
        for substitute in alternative.substitutes:
            assert substitute.term.feature != "x2"
            assert substitute.term.feature != "x1" or substitute.term.coef <= 0


def true_objective(problem, model, X, y):
    """Loss and ridge by the rows alone."""
    score = model.decision_function(X)
    loss = np.logaddexp(0, -y * score).sum() if model.loss == "logistic" else 0.5 * ((y - score) ** 2).sum()
    spread = [
        ((c - c.mean()) ** 2).sum()
        for c in (model.column_of(t, {t.feature: X[:, int(t.feature[1:])]}) for t in model.terms)
    ]
    return loss + problem.ridge.lambda2 * sum(s * t.coef**2 for s, t in zip(spread, model.terms, strict=True))


@pytest.mark.parametrize("max_bins", [8, 1000])
@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_costs_of_ramps_are_those_of_the_rows(loss, max_bins):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 200, (500, 3)).astype(float)
    score = 0.03 * np.minimum(X[:, 0] - 120, 0) + 1.0 * (X[:, 1] <= 90)
    y = (
        score + rng.normal(size=500)
        if loss == "squared"
        else np.where(rng.random(500) < 1 / (1 + np.exp(-score)), 1.0, -1.0)
    )
    rules = Constraints(shapes="both")
    problem = Tables(Binning(max_bins=max_bins), rules).pose(
        read_table(X), y, np.ones(500), SearchOptions(loss, 1e-3, 4)
    )
    path = Path.search(problem, None if loss == "squared" else np.array([0, 1]))
    model = path.at(n_terms=2)
    assert {t.condition.kind for t in model.terms} == {"ramp", "<="}
    assert objective_of(problem, model) == pytest.approx(path.objective[2], rel=1e-6)
    assert objective_of(problem, model) == pytest.approx(true_objective(problem, model, X, y), rel=1e-9)
    found = alternatives(problem, model, rules)
    assert path.objective[2] + min(a.drop_cost for a in found) == pytest.approx(path.objective[1], rel=1e-2)
    for alternative in found:
        kinds = [(s.term.feature, s.term.condition.is_ramp) for s in alternative.substitutes]
        assert len(set(kinds)) == len(kinds)
    ramp = next(a for a in found if a.term.condition.is_ramp)
    steps = [s for s in ramp.substitutes if s.term.feature == ramp.term.feature and not s.term.condition.is_ramp]
    assert steps
    assert all(0 < s.cost < ramp.drop_cost for s in steps)


def test_ramps_obey_directions():
    problem, path, _ = make_problem(rules=Constraints(shapes="both"))
    rules = Constraints(shapes="both", monotone={"x0": "increasing", "x2": "increasing"})
    found = [s.term for a in alternatives(problem, path.at(n_terms=3), rules) for s in a.substitutes]
    assert all(t.feature == "x1" or (t.coef > 0) == t.condition.is_ramp for t in found)


def test_terms_that_are_no_columns():
    problem, path, rules = make_problem()
    assert alternatives(problem, path.at(n_terms=0), rules) == []
    model = path.at(n_terms=6)
    with pytest.raises(ValueError, match="no column for the term"):
        alternatives(pose_with_few_bins(), model, rules)


def pose_with_few_bins():
    X = np.arange(80.0).reshape(20, 4) + 0.5
    y = np.tile([-1.0, 1.0], 10)
    return Tables(Binning(), Constraints()).pose(read_table(X), y, np.ones(20), SearchOptions("logistic", 1e-3, 3))


@pytest.fixture(scope="module")
def paired():
    """A problem of two features that matter together, its rules, and the model that a search of products found."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 20, (600, 3)).astype(float)
    y = np.where(rng.random(600) < np.where((X[:, 0] <= 8) & (X[:, 1] > 10), 0.8, 0.3), 1.0, -1.0)
    tables = Tables(Binning(), Constraints(), InteractionOptions(interactions=1))
    problem = tables.pose(read_table(X), y, np.ones(600), SearchOptions(loss="logistic", lambda2=1e-3, max_terms=3))
    ready = problem.prepared()
    model = Path.search(ready, np.array([0, 1])).at(n_terms=1)
    assert model.terms[0].is_product
    return problem, ready, model


def test_products_near_by_stand_in_for_products(paired):
    plain, ready, model = paired
    with pytest.raises(ValueError, match="the data have no column for the term"):
        alternatives(plain, model, Constraints())
    problem = with_products_of(plain, model)
    assert objective_of(problem, model) == pytest.approx(objective_of(ready, model))
    (found,) = alternatives(problem, model, Constraints())
    assert found.drop_cost > 20
    best = found.substitutes[0]
    assert best.term.part == model.terms[0].part
    assert best.term.clauses != model.terms[0].clauses
    fitted = refit(
        problem.rows, problem.ridge, support_of(problem, replace(model, terms=(best.term,))), units=problem.units
    )
    assert best.cost == pytest.approx(fitted.objective - objective_of(problem, model), abs=0.01)


def test_stand_ins_for_products_obey_directions(paired):
    plain, _, model = paired
    assert model.terms[0].coef > 0  # it falls with the first feature, and grows with the second
    rules = Constraints(monotone={"x0": "decreasing", "x1": "increasing"})
    constrained = replace(plain, constraints=rules)
    (found,) = alternatives(with_products_of(constrained, model), model, rules)
    assert found.substitutes
    for substitute in found.substitutes:
        assert {one.condition.kind for one in substitute.term.clauses if one.feature == "x0"} <= {"<="}
