"""Tests of documented edits: refits, records, directions, invalid edits, ramps and interactions."""

import numpy as np
import pandas as pd
import pytest
from _helpers import products

from sparsegam import Model, SparseGAMClassifier, SparseGAMRegressor
from sparsegam._models.terms import Condition, Term
from sparsegam.deploy import Editor


@pytest.fixture(scope="module")
def model(credit):
    return SparseGAMClassifier(lambda0=6, special_values=[-7, -8, -9]).fit(*credit).model_


def editor_of(model, credit):
    return model.edit(*credit, who="A. Analyst")


def thresholds(model, feature):
    return [t.condition.value for t in model.terms if t.feature == feature and t.condition.kind == "<="]


def first_threshold(model):
    return next((t.feature, t.condition.value) for t in model.terms if t.condition.kind == "<=")


def test_refit_without_a_change_reproduces_the_fit(model, credit):
    feature, value = first_threshold(model)
    term = next(t for t in model.terms if t.feature == feature and t.condition.value == value)
    again = editor_of(model, credit).fix(feature, value, term.coef, why="unchanged")
    np.testing.assert_allclose([t.coef for t in again.terms], [t.coef for t in model.terms], atol=2e-3)
    assert again.edits[0].loss_after == pytest.approx(again.edits[0].loss_before, abs=1e-3)


def test_move_merge_drop_and_forbid_are_applied_and_recorded(model, credit):
    editor = editor_of(model, credit)
    feature, value = first_threshold(model)
    assert value + 1 in thresholds(editor.move(feature, value, value + 1, why="round number"), feature)
    assert value + 1 not in thresholds(editor.merge(feature, value + 1, why="too fine"), feature)
    other = editor.model.terms[-1]
    dropped = editor.drop(other.feature, other.condition.value, kind=other.condition.kind, why="unstable")
    assert other.condition not in [t.condition for t in dropped.terms if t.feature == other.feature]
    gone = editor.model.features[0]
    assert gone not in editor.forbid(gone, why="not allowed by policy").features
    assert [e.action for e in editor.model.edits] == ["move", "merge", "drop", "forbid"]
    assert all(e.loss_after >= e.loss_before - 1.0 and e.who == "A. Analyst" for e in editor.model.edits)
    assert model.edits == ()


def test_contributions_are_centred_after_every_edit(model, credit):
    rows, y = credit
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    editor = model.edit(rows, y, who="A. Analyst", sample_weight=weight)
    feature, value = first_threshold(model)
    for edited in (
        editor.move(feature, value, value + 1, why="round number"),
        editor.fix(feature, value + 1, 0.5, why="agreed"),
        editor.merge(feature, value + 1, why="too fine"),
    ):
        assert edited.missing == "mean"
        parts = edited.contributions(rows)
        np.testing.assert_allclose(np.average(parts, axis=0, weights=weight), 0.0, atol=1e-9)
        back = Model.from_json(edited.to_json())
        np.testing.assert_array_equal(back.contributions(rows), parts)


def test_later_refits_keep_fixed_coefficients(model, credit):
    editor = editor_of(model, credit)
    feature, value = first_threshold(model)
    editor.fix(feature, value, 0.5, why="agreed")
    other = next(t for t in model.terms if t.feature != feature)
    after = editor.drop(other.feature, other.condition.value, kind=other.condition.kind, why="unstable")
    assert next(t.coef for t in after.terms if (t.feature, t.condition.value) == (feature, value)) == 0.5


def test_refits_keep_the_directions_of_features():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 10, 400).astype(float)
    y = (rng.random(400) < np.where(x == 5, 0.9, 0.2 + 0.05 * x)).astype(int)
    terms = tuple(Term("x0", Condition("<=", t), -0.3) for t in (2.0, 5.0, 7.0))
    model = Model(0.0, terms, ("x0",), "logistic", (0, 1))
    after = Editor(model, x[:, None], y, who="me").move("x0", 2, 4, why="test")
    assert all(t.coef <= 0 for t in after.terms)


def test_undo_restores_the_previous_model(model, credit):
    editor = editor_of(model, credit)
    feature, value = first_threshold(model)
    editor.drop(feature, value, kind="<=", why="try")
    assert editor.undo() is model
    with pytest.raises(ValueError, match="no edit to undo"):
        editor.undo()


def test_edits_survive_json(model, credit):
    edited = editor_of(model, credit).forbid(model.features[0], why="ünïcode & <tags>")
    again = Model.from_json(edited.to_json())
    assert again == edited
    assert again.edits[0].why == "ünïcode & <tags>"


def test_edit_of_a_regression():
    x = np.arange(40.0)
    y = np.where(x <= 20, 1.0, 3.0)
    model = SparseGAMRegressor(lambda0=0.5).fit(x[:, None], y).model_
    after = model.edit(x[:, None], y, who="me", lambda2=1e-3).move("x0", 20, 25, why="test")
    assert after.edits[0].auc_before is None
    assert after.intercept == pytest.approx(3.0, abs=0.01)


def test_editor_rejects_invalid_edits(model, credit):
    editor = editor_of(model, credit)
    feature, value = first_threshold(model)
    with pytest.raises(ValueError, match=r"matches 0 terms of column"):
        editor.drop(feature, 12345, why="?")
    with pytest.raises(ValueError, match="why must be a non-empty string"):
        editor.drop(feature, value, kind="<=", why=" ")
    with pytest.raises(ValueError, match="does not use column 'salary'"):
        editor.forbid("salary", why="?")
    with pytest.raises(ValueError, match="is not a finite number"):
        editor.move(feature, value, "high", why="?")
    with pytest.raises(ValueError, match="who must be a non-empty string"):
        Editor(model, *credit, who="")
    assert editor.model is model


def test_report_contains_edits(model, credit, tmp_path):
    edited = editor_of(model, credit).forbid(model.features[0], why="policy seven")
    page = edited.report(tmp_path / "report.html", *credit).read_text(encoding="utf-8")
    assert "policy seven" in page


@pytest.mark.parametrize(("loss", "best"), [("logistic", np.log(3)), ("exponential", np.log(3) / 2), ("squared", 50.5)])
def test_dropping_the_last_term_leaves_the_optimal_intercept(loss, best):
    X = [[float(i)] for i in range(40)]
    y = [float(i % 4 > 0) + 49.75 * (loss == "squared") for i in range(40)]
    classes = None if loss == "squared" else (0.0, 1.0)
    one = Model(0.0, (Term("x0", Condition("<=", 9.0), 1.0),), ("x0",), loss, classes)
    left = one.edit(X, y, who="A. Analyst").drop("x0", 9.0, why="no use")
    assert left.terms == ()
    assert left.intercept == pytest.approx(best, abs=1e-6)


def make_ramps(n=600, seed=0):
    """Return data that decrease in column 0 up to 60 with a jump at 30, and increase in column 1, which is large."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 100, n), 1e6 * rng.integers(0, 50, n)]).astype(float)
    y = -0.05 * np.minimum(X[:, 0] - 60, 0) - 1.0 * (X[:, 0] <= 30) + 4e-8 * X[:, 1]
    return X, y + rng.normal(0, 0.3, n)


@pytest.fixture(scope="module")
def ramped():
    X, y = make_ramps()
    return SparseGAMRegressor(max_terms=3, shapes="both").fit(X, y).model_, X, y


def of_kind(model, feature, kind):
    return next(t for t in model.terms if (t.feature, t.condition.kind) == (feature, kind))


@pytest.mark.parametrize("loss", ["logistic", "exponential", "squared"])
def test_refit_of_ramps_reproduces_the_fit(loss):
    X, y = make_ramps()
    # With "auto", the fit and the editor use different estimates of the noise variance.
    lambda2 = 0.001 if loss == "squared" else "auto"
    if loss == "squared":
        gam = SparseGAMRegressor(max_terms=3, shapes="both", lambda2=lambda2).fit(X, y)
    else:
        y = y > np.median(y)
        gam = SparseGAMClassifier(max_terms=3, shapes="both", loss=loss, lambda2=lambda2).fit(X, y)
    ramp = next(t for t in gam.model_.terms if t.condition.is_ramp)
    again = gam.model_.edit(X, y, who="A. Analyst", lambda2=lambda2).fix(
        ramp.feature, ramp.condition.value, ramp.coef, kind="ramp", why="unchanged"
    )
    np.testing.assert_allclose([t.coef for t in again.terms], [t.coef for t in gam.model_.terms], rtol=1e-4)
    assert of_kind(again, ramp.feature, "ramp").coef == ramp.coef


def test_ramps_can_be_fixed_moved_and_dropped(ramped):
    model, X, y = ramped
    editor = model.edit(X, y, who="A. Analyst")
    knot = of_kind(model, "x0", "ramp").condition.value
    rounded = editor.fix("x0", knot, -0.05, kind="ramp", why="a number to remember")
    assert of_kind(rounded, "x0", "ramp").coef == -0.05
    moved = editor.move("x0", knot, 61, kind="ramp", why="a number to remember")
    assert of_kind(moved, "x0", "ramp").condition == Condition("ramp", 61.0, of_kind(model, "x0", "ramp").condition.low)
    assert of_kind(moved, "x0", "ramp").coef == -0.05
    np.testing.assert_allclose(moved.contributions(X).mean(axis=0), 0.0, atol=1e-9)
    dropped = editor.drop("x0", 61, kind="ramp", why="not agreed")
    assert not any(t.condition.is_ramp for t in dropped.terms if t.feature == "x0")
    assert [e.what for e in dropped.edits] == [
        f"min(x0 - {knot:g}, 0) at -0.05 (was {of_kind(model, 'x0', 'ramp').coef:.4g})",
        f"min(x0 - {knot:g}, 0) to min(x0 - 61, 0)",
        "min(x0 - 61, 0)",
    ]
    assert dropped.edits[-1].loss_after > dropped.edits[-1].loss_before
    assert Model.from_json(dropped.to_json()) == dropped


def test_move_rejects_invalid_moves_of_ramps(ramped):
    model, X, y = ramped
    ramp = of_kind(model, "x0", "ramp").condition
    editor = model.edit(X, y, who="A. Analyst")
    with pytest.raises(ValueError, match=r"knot of a ramp of 'x0' must be above \d+, where the ramp starts, got 0.0"):
        editor.move("x0", ramp.value, 0, kind="ramp", why="too far")
    editor.move("x0", of_kind(model, "x0", "<=").condition.value, ramp.value, kind="<=", why="to one place")
    with pytest.raises(ValueError, match="matches 2 terms of column 'x0'; set kind"):
        editor.move("x0", ramp.value, 70, why="which one?")
    assert of_kind(editor.move("x0", ramp.value, 70, kind="<=", why="the step"), "x0", "ramp").condition == ramp


def test_refit_removes_terms_that_violate_the_direction():
    X = np.arange(100.0)[:, None]
    y = np.where(X[:, 0] <= 50, 0.0, 1.0) - 0.005 * X[:, 0]
    terms = Term("x0", Condition("<=", 50.0), -0.5), Term("x0", Condition("ramp", 90.0, 1.0), 0.01)
    model = Model(0.0, (*terms, Term("x0", Condition("<=", 20.0), -0.1)), ("x0",), "squared")
    after = Editor(model, X, y, who="A. Analyst", lambda2=0.0).drop("x0", 20, why="too fine")
    assert [t.condition.kind for t in after.terms] == ["<="]  # the ramp would decrease


@pytest.fixture
def paired():
    frame, y = products.table()
    return products.as_fitted(products.written(), frame, y), frame, y


def test_interactions_can_be_dropped_fixed_moved_and_forbidden(paired):
    model, frame, y = paired
    editor = model.edit(frame, y, who="A. Analyst")
    fixed = editor.fix(("age", "priors"), (25, 3), 1.25, why="policy")
    assert fixed.terms[2].coef == 1.25
    assert fixed.edits[-1].what == "age <= 25 and priors > 3 at 1.25 (was 0.9)"
    moved = editor.move(("age", "priors"), (25, 3), (24, 3), why="law")
    assert moved.terms[2].text() == "age <= 24 and priors > 3"
    assert moved.terms[2].coef == 1.25  # a fixed coefficient is kept
    dropped = editor.drop(("age", "priors"), (40, 1), why="few rows")
    assert [term.text() for term in dropped.terms if term.part == ("age", "priors")] == ["age <= 24 and priors > 3"]
    assert editor.forbid(("age", "hours"), why="law").pairs == (("age", "priors"), ("hours", "colour"))
    gone = editor.forbid("hours", why="law")
    assert gone.pairs == (("age", "priors"),)
    assert "hours" not in gone.features
    np.testing.assert_array_equal(
        Model.from_json(gone.to_json()).decision_function(frame), gone.decision_function(frame)
    )
    assert gone.drift(frame).worst.psi == 0.0
    for _ in range(4):
        editor.undo()
    assert editor.model.terms[2].text() == "age <= 25 and priors > 3"


def test_edits_update_the_distribution_of_interactions(paired):
    model, frame, y = paired
    moved = model.edit(frame, y, who="A. Analyst").move(("age", "priors"), (25, 3), (24, 2), why="law")
    expected = products.as_fitted(moved, frame)
    for pair, shares in expected.pair_shares.items():
        np.testing.assert_allclose(moved.pair_shares[pair], shares)
    assert moved.contributions(frame).mean(axis=0) == pytest.approx(0.0, abs=1e-12)


def test_editor_rejects_invalid_edits_of_interactions(paired):
    model, frame, y = paired
    editor = model.edit(frame, y, who="A. Analyst")
    with pytest.raises(
        ValueError, match=r"merge needs a single feature, got \('age', 'priors'\); drop the interaction"
    ):
        editor.merge(("age", "priors"), (25, 3), why="no")
    with pytest.raises(ValueError, match=r"matches 0 terms of column \('age', 'priors'\)\. Its terms: age <= 25 and"):
        editor.drop(("age", "priors"), (26, 3), why="no")
    with pytest.raises(
        ValueError,
        match=r"value of an interaction must be a pair .* of \('age', 'priors'\), got 25",
    ):
        editor.drop(("age", "priors"), 25, why="no")
    with pytest.raises(ValueError, match=r"hours is missing cannot move to 3, a value of another type"):
        editor.move(("hours", "colour"), (None, ("red", "blue")), (3, ("red", "blue")), why="no")
    with pytest.raises(ValueError, match=r"does not use column \('age', 'colour'\); it uses age, priors"):
        editor.forbid(("age", "colour"), why="no")
    with pytest.raises(ValueError, match=r"matches 0 terms of column 'age'\. Its terms: age <= 30"):
        editor.drop("age", 25, why="a threshold of a product is no term of the column")


def test_refits_keep_the_directions_of_interactions():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 10, 400).astype(float), "b": rng.integers(0, 10, 400).astype(float)})
    y = (rng.random(400) < np.where((frame["a"] > 5) & (frame["b"] > 5), 0.1, 0.5)).astype(int)
    terms = (
        Term("a", Condition("<=", 3.0), -0.5),
        products.product(("a", products.above(5.0)), ("b", products.above(5.0)), 0.5),
    )
    model = Model(0.0, terms, ("a", "b"), "logistic", (0, 1))
    left = model.edit(frame, y, who="A. Analyst").fix("a", 3, -0.5, why="policy")
    assert [term.text() for term in left.terms] == ["a <= 3"]  # the interaction would be negative


def test_auto_ridge_of_a_regression_depends_on_its_noise():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 10, (400, 1)).astype(float)
    y = 2.0 * (X[:, 0] <= 4)
    for noise, most in ((0.01, 1e-3), (3.0, 0.2)):
        gam = SparseGAMRegressor(lambda0=1e-9, max_terms=1, lambda2=0.0).fit(X, y + rng.normal(0, noise, 400))
        (term,) = gam.terms_
        to = 6 if term.condition.value != 6 else 5
        plain, shrunk = (
            gam.model_.edit(X, y, who="A. Analyst", lambda2=lambda2).move("x0", term.condition.value, to, why="to see")
            for lambda2 in (0.0, "auto")
        )
        share = 1 - shrunk.terms[0].coef / plain.terms[0].coef
        assert 0 < share < most
    constant = gam.model_.edit(X, np.ones(400), who="A. Analyst").move("x0", term.condition.value, to, why="to see")
    assert np.isfinite(constant.terms[0].coef)
