"""Scorecards: points searched together, conventions kept, nothing lost on the way to the table."""

import csv
import io
import itertools

import numpy as np
import pytest
from _helpers import products

from sparsegam import SparseGAMClassifier, gam_path
from sparsegam._models.additive import Model
from sparsegam._models.terms import Condition, Term
from sparsegam.deploy._rounding import Patterns, fit_lines, patterns_of, round_small, round_to_line
from sparsegam.deploy._scorecard import best_scorecard, scorecard


@pytest.fixture(scope="module")
def model(credit):
    X, y = credit
    return gam_path(X, y, max_terms=12, special_values=[-7, -8, -9]).at(n_terms=12)


def log_loss(patterns, log_odds):
    return float(patterns.loss(np.asarray(log_odds, dtype=float)[:, None])[0])


def test_pdo_means_what_it_says(model, credit):
    card = scorecard(model, *credit, pdo=20, odds=50, base_points=600)
    odds_of_good = 1 / card.steps.probability(np.array([600.0, 620.0])) - 1
    np.testing.assert_allclose(odds_of_good, [50, 100])


def test_worked_example():
    # log odds of "bad" are -ln 50 without the term: 600 points; twice the odds of "bad" where it holds: 20 fewer
    model = Model(-np.log(50), (Term("x", Condition("<=", 1.0), np.log(2)),), ("x",), "logistic", ("good", "bad"))
    card = scorecard(model)
    assert (card.base, card.score([[0], [2], [None]]).tolist()) == (600, [580, 600, 600])
    riskier = scorecard(model, direction="higher_is_riskier", odds=1 / 50)
    assert riskier.score([[0], [2]]).tolist() == [620, 600]


def test_min_max_spans_the_range(model, credit):
    low, high = scorecard(model, *credit, method="min_max", lowest=300, highest=850).steps.range()
    assert abs(low - 300) <= model.n_terms
    assert abs(high - 850) <= model.n_terms


@pytest.mark.parametrize("options", [{}, {"base": "folded"}, {"nonnegative": True}, {"method": "plain"}])
def test_totals_and_probabilities_follow_the_model(model, credit, options):
    X, y = credit
    card = scorecard(model, X, y, **options)
    difference = card.predict_proba(X)[:, 1] - model.predict_proba(X)[:, 1]
    assert np.abs(difference).max() < 0.05
    assert card.rounding.auc_before - card.rounding.auc_after < 0.002
    if options.get("nonnegative"):
        assert min(row["points"] for row in card.table()) == 0
    if options.get("base") == "folded":
        assert card.base == 0


def test_small_points_are_small_and_keep_their_sign(model, credit):
    X, y = credit
    points, _, b = round_small(patterns_of(model, X, y), np.array([t.coef for t in model.terms]), 5)
    assert np.abs(points).max() <= 5
    assert all(p * term.coef >= 0 for p, term in zip(points, model.terms, strict=True))
    assert b > 0
    card = scorecard(model, X, y, method="small", nonnegative=True)
    assert card.base == 0
    assert card.rounding.auc_before - card.rounding.auc_after < 0.005


def test_small_points_are_the_best_of_all():
    rng = np.random.default_rng(0)
    holds = np.array(list(itertools.product([0, 1], repeat=3)))
    events, others = rng.integers(1, 50, 8).astype(float), rng.integers(1, 50, 8).astype(float)
    patterns = Patterns(holds, events, others)
    found, a, b = round_small(patterns, np.array([0.4, 0.9, -0.6]), 2)
    box = np.array(list(itertools.product(range(3), range(3), range(-2, 1))))
    assert fit_lines(patterns, found[None, :])[0][0] == pytest.approx(fit_lines(patterns, box)[0].min(), abs=1e-8)
    assert log_loss(patterns, a + b * (holds @ found)) == pytest.approx(fit_lines(patterns, found[None])[0][0])


def test_small_points_have_no_common_divisor(credit):
    X, y = credit
    model = gam_path(X, y, max_terms=1).at(n_terms=1)
    assert {row["points"] for row in scorecard(model, X, y, method="small").table()} <= {-1, 0, 1}


def test_rounding_together_is_no_worse_than_one_by_one(model, credit):
    patterns = patterns_of(model, *credit)
    exact = 3.3 * np.array([model.intercept, *(t.coef for t in model.terms)])
    holds = np.column_stack([np.ones(len(patterns.holds)), patterns.holds])
    together = round_to_line(patterns, exact, 0.0, 1 / 3.3)
    nearest = np.rint(exact)
    assert np.abs(together - exact).max() < 1
    assert log_loss(patterns, holds @ together / 3.3) <= log_loss(patterns, holds @ nearest / 3.3)


def test_rows_of_patterns_add_up(model, credit):
    X, y = credit
    weight = np.linspace(0.5, 2, len(y))
    patterns = patterns_of(model, X, y, weight)
    assert patterns.total == pytest.approx(weight.sum())
    assert patterns.events.sum() == pytest.approx(weight[y == 1].sum())


def test_risk_table_counts_every_row(model, credit):
    X, y = credit
    card = scorecard(model, X, y)
    assert sum(line.rows for line in card.risks) == len(y)
    assert sum(line.events for line in card.risks) == y.sum()
    assert all(a.high < b.low for a, b in itertools.pairwise(card.risks))


def test_shown_everywhere(model, credit, tmp_path):
    card = scorecard(model, *credit)
    text, page = str(card), card.to_html()
    rows = list(csv.DictReader(io.StringIO(card.to_csv())))
    assert len(rows) == 1 + len(card.table())
    assert (rows[0]["feature"], rows[0]["step"], rows[0]["points"]) == ("", "base", str(card.base))
    assert float(rows[2]["rows"]) == card.table()[1]["rows"]
    assert "AUC" in text
    assert "fall with the risk of 1" in text
    assert "<script" not in page
    openpyxl = pytest.importorskip("openpyxl")
    card.to_excel(tmp_path / "card.xlsx")
    assert openpyxl.load_workbook(tmp_path / "card.xlsx")["Scorecard"]["C2"].value == card.base


def test_steps_say_what_they_stand_on(model, credit):
    X, y = credit
    card = scorecard(model, X, y)
    frame = card.to_frame()
    for j, name in enumerate(card.features):
        mine, located = frame[frame["feature"] == name], card.steps.locate(X)[j]
        assert mine["rows"].tolist() == np.bincount(located, minlength=len(mine)).tolist()
        assert mine["events"].tolist() == np.bincount(located, y, len(mine)).tolist()
        bad, good = mine["events"] / y.sum(), (mine["rows"] - mine["events"]) / (len(y) - y.sum())
        both = (bad > 0) & (good > 0)
        np.testing.assert_allclose(mine["woe"][both], np.log(good[both] / bad[both]))
        assert mine["woe"][~both].isna().all()
        iv = ((good - bad) * np.log(good / bad.where(bad > 0)))[both].sum()
        assert card.information_values[name] == pytest.approx(iv)
    assert "WoE" in str(card)
    assert list(scorecard(model).to_frame().columns) == ["feature", "step", "points"]
    assert scorecard(model).information_values == {}


def test_style_holds_for_the_card_alone(model, credit):
    shown = scorecard(model, *credit)._repr_html_()
    style = shown.partition("<style>")[2].partition("</style>")[0]
    rules = [rule.partition("{")[0] for rule in style.split("}") if rule.strip()]
    assert rules
    assert all(part.strip().startswith(".sparsegam") for rule in rules for part in rule.split(","))
    assert shown.startswith("<div class='sparsegam'>")
    assert "<html" not in shown


def test_text_of_the_data_is_escaped():
    evil = "=cmd|' /C calc'!A0<script>"
    model = Model(0.0, (Term(evil, Condition("<=", 1.0), 1.0),), (evil,), "logistic", ("a", "b"))
    card = scorecard(model)
    assert "<script>" not in card.to_html()
    assert "'=cmd" in card.to_csv()


def test_wrong_options_are_refused(model, credit):
    X, y = credit
    with pytest.raises(ValueError, match="method must be one of"):
        scorecard(model, X, y, method="woe")
    with pytest.raises(ValueError, match="needs both X and y"):
        scorecard(model, method="small")
    with pytest.raises(ValueError, match="pdo must be above zero"):
        scorecard(model, X, y, pdo=0)
    with pytest.raises(ValueError, match="y holds 7"):
        scorecard(model, X, np.full(len(y), 7))
    with pytest.raises(ValueError, match="base points are too low"):
        scorecard(model, X, y, base="folded", nonnegative=True, base_points=-5000)


def test_exponential_loss_has_twice_the_slope(credit):
    X, y = credit
    model = SparseGAMClassifier(loss="exponential", lambda0=20).fit(X, y).model_
    card = scorecard(model, X, y)
    assert np.abs(card.predict_proba(X) - model.predict_proba(X)).max() < 0.05


def test_fewer_terms_for_a_card_by_hand(credit):
    X, y = credit
    path = gam_path(X, y, max_terms=9)
    card = scorecard(path.at(n_terms=9), X, y, method="small", max_terms=5)
    steps = sum(step.kind in ("equal", "upto") for table in card.steps.tables for step in table.steps)
    assert steps <= 5
    best = best_scorecard(path.models[5:10], X, y, method="small", max_terms=5)
    alone = scorecard(path.at(n_terms=5), X, y, method="small")
    assert best.rounding.log_loss_after <= alone.rounding.log_loss_after


def test_terms_are_chosen_for_whole_points():
    rng = np.random.default_rng(1)
    holds = np.array(list(itertools.product([0, 1], repeat=4)))
    patterns = Patterns(holds, rng.integers(1, 60, 16).astype(float), rng.integers(1, 60, 16).astype(float))
    found, _, _ = round_small(patterns, np.array([0.4, 0.9, -0.6, 0.2]), 2, max_terms=2)
    box = np.array(list(itertools.product(range(3), range(3), range(-2, 1), range(3))))
    box = box[np.count_nonzero(box, axis=1) <= 2]
    assert np.count_nonzero(found) <= 2
    assert fit_lines(patterns, found[None, :])[0][0] == pytest.approx(fit_lines(patterns, box)[0].min(), abs=1e-8)


def test_what_no_row_had_gets_the_points_of_the_mean(model, credit):
    X, y = credit
    name = next(n for n, seen in model.seen.items() if not seen.missing)
    for options in ({}, {"nonnegative": True}, {"base": "folded"}, {"method": "small", "max_points": 3}):
        card = scorecard(model, X, y, **options)
        if name not in card.features:
            continue
        table = card.steps.tables[card.features.index(name)]
        mean = table.adds[table.locate(X[name].to_numpy(dtype=float))].mean()
        line = next(row for row in card.table() if row["feature"] == name)
        assert (line["step"], line["rows"]) == ("missing: no such row was seen", 0.0)
        assert line["points"] == pytest.approx(mean, abs=0.5 + 1e-9)
        with pytest.warns(UserWarning, match=f"{len(X)} rows have a missing value in '{name}'"):
            assert set(card.score(X.assign(**{name: np.nan})) - card.score(X)) == {
                int(line["points"] - points) for points in set(table.adds[table.locate(X[name].to_numpy(dtype=float))])
            }
    assert "missing: no such row was seen" in str(scorecard(model, X, y))


@pytest.mark.parametrize(
    "options", [{}, {"nonnegative": True}, {"base": "folded"}, {"method": "small", "max_terms": 4}]
)
def test_points_of_pairs_add_up(options):
    frame, y = products.table()
    model = products.as_fitted(products.written(), frame, y)
    card = scorecard(model, frame, y, **options)
    lines = card.table()
    total = np.full(len(frame), card.base)
    for part, where in zip(card.steps.parts, card.steps.locate(frame), strict=True):
        points = np.array([line["points"] for line in lines if line["feature"] == part.name])
        total += points[where]
    assert total.tolist() == card.score(frame).tolist()
    assert all(sum(line["rows"] for line in lines if line["feature"] == name) == 600 for name in ("age", "age & hours"))
    assert card.rounding.auc_after > card.rounding.auc_before - 0.01
    if options.get("nonnegative"):
        assert min(line["points"] for line in lines) == 0


def test_a_pair_is_a_block_of_points():
    frame, y = products.table()
    card = scorecard(products.as_fitted(products.written(), frame, y), frame, y)
    lines = str(card).splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("age (down), priors (across): points (rows)"))
    young = [cell for cell in lines[head + 2].split("  ") if cell]
    points = {line["step"]: line for line in card.table() if line["feature"] == "age & priors"}
    worst = points["age: <= 25; priors: > 3"]
    assert young[0].strip() == "<= 25"
    assert young[3].strip() == f"{worst['points']} ({worst['rows']:.0f})"
    assert "those of each pair where its line and its column meet" in str(card)
    assert card.to_html().count("<table>") == 1 + 3 + 1  # features, pairs, risks
    assert len(list(csv.reader(io.StringIO(card.to_csv())))) == 2 + len(card.table())
    assert card.information_values.keys() == {"age", "priors", "age & priors", "age & hours", "hours & colour"}
