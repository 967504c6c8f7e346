"""Tests of scorecards: scaling, statistics, output formats, small scorecards and interactions."""

import csv
import io
import itertools

import numpy as np
import pytest
from _helpers import products

from sparsegam import SparseGAMClassifier, gam_path
from sparsegam._data.table import read_table
from sparsegam._models.additive import Model
from sparsegam._models.terms import Condition, Term
from sparsegam.deploy import best_scorecard, scorecard, small_scorecard
from sparsegam.deploy._rounding import patterns_of, round_small

SPECIAL = [-7, -8, -9]


@pytest.fixture(scope="module")
def model(credit):
    X, y = credit
    return gam_path(X, y, max_terms=12, special_values=SPECIAL).at(n_terms=12)


def test_pdo_scaling_has_the_given_odds(model, credit):
    card = scorecard(model, *credit, pdo=20, odds=50, base_points=600)
    odds_of_good = 1 / card.score_function.probability(np.array([600.0, 620.0])) - 1
    np.testing.assert_allclose(odds_of_good, [50, 100])


def test_scorecard_equals_a_worked_example():
    # Without the term, log-odds are -ln 50, which is 600 points; the term doubles the odds, which costs 20 points.
    model = Model(-np.log(50), (Term("x", Condition("<=", 1.0), np.log(2)),), ("x",), "logistic", ("good", "bad"))
    card = scorecard(model)
    assert (card.base, card.score([[0], [2], [None]]).tolist()) == (600, [580, 600, 600])
    riskier = scorecard(model, direction="higher_is_riskier", odds=1 / 50)
    assert riskier.score([[0], [2]]).tolist() == [620, 600]


def test_min_max_scaling_covers_the_range(model, credit):
    low, high = scorecard(model, *credit, method="min_max", lowest=300, highest=850).score_function.range()
    assert abs(low - 300) <= model.n_terms
    assert abs(high - 850) <= model.n_terms


@pytest.mark.parametrize("options", [{}, {"base": "folded"}, {"nonnegative": True}, {"method": "plain"}])
def test_scorecard_approximates_the_probabilities_of_the_model(model, credit, options):
    X, y = credit
    card = scorecard(model, X, y, **options)
    difference = card.predict_proba(X)[:, 1] - model.predict_proba(X)[:, 1]
    assert np.abs(difference).max() < 0.05
    assert card.rounding.auc_before - card.rounding.auc_after < 0.002
    if options.get("nonnegative"):
        assert min(row["points"] for row in card.table()) == 0
    if options.get("base") == "folded":
        assert card.base == 0


def test_small_points_are_bounded_and_have_the_sign_of_the_coefficient(model, credit):
    X, y = credit
    points, _, b = round_small(patterns_of(model, X, y), np.array([t.coef for t in model.terms]), 5)
    assert np.abs(points).max() <= 5
    assert all(p * term.coef >= 0 for p, term in zip(points, model.terms, strict=True))
    assert b > 0
    card = scorecard(model, X, y, method="small", nonnegative=True)
    assert card.base == 0
    assert card.rounding.auc_before - card.rounding.auc_after < 0.005


def test_small_points_have_no_common_divisor(credit):
    X, y = credit
    model = gam_path(X, y, max_terms=1).at(n_terms=1)
    assert {row["points"] for row in scorecard(model, X, y, method="small").table()} <= {-1, 0, 1}


def test_risk_bands_contain_all_rows(model, credit):
    X, y = credit
    card = scorecard(model, X, y)
    assert sum(line.rows for line in card.risks) == len(y)
    assert sum(line.events for line in card.risks) == y.sum()
    assert all(a.high < b.low for a, b in itertools.pairwise(card.risks))


def test_scorecard_prints_and_exports_to_html_csv_and_excel(model, credit, tmp_path):
    card = scorecard(model, *credit)
    text, page = str(card), card.to_html()
    rows = list(csv.DictReader(io.StringIO(card.to_csv())))
    assert len(rows) == 1 + len(card.table())
    assert (rows[0]["feature"], rows[0]["step"], rows[0]["points"]) == ("", "base", str(card.base))
    assert float(rows[2]["rows"]) == card.table()[1]["rows"]
    assert "AUC" in text
    assert "fall with the probability of 1" in text
    assert "<script" not in page
    openpyxl = pytest.importorskip("openpyxl")
    card.to_excel(tmp_path / "card.xlsx")
    assert openpyxl.load_workbook(tmp_path / "card.xlsx")["Scorecard"]["C2"].value == card.base


def test_scorecard_reports_rows_events_and_weight_of_evidence(model, credit):
    X, y = credit
    card = scorecard(model, X, y)
    frame, columns = card.to_frame(), card.score_function.columns(read_table(X))
    for j, name in enumerate(card.features):
        mine, located = frame[frame["feature"] == name], card.score_function.functions[j].bin_of(columns)
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


def test_notebook_style_applies_to_the_scorecard_only(model, credit):
    shown = scorecard(model, *credit)._repr_html_()
    style = shown.partition("<style>")[2].partition("</style>")[0]
    rules = [rule.partition("{")[0] for rule in style.split("}") if rule.strip()]
    assert rules
    assert all(part.strip().startswith(".sparsegam") for rule in rules for part in rule.split(","))
    assert shown.startswith("<div class='sparsegam'>")
    assert "<html" not in shown


def test_html_and_csv_escape_text_of_the_data():
    evil = "=cmd|' /C calc'!A0<script>"
    model = Model(0.0, (Term(evil, Condition("<=", 1.0), 1.0),), (evil,), "logistic", ("a", "b"))
    card = scorecard(model)
    assert "<script>" not in card.to_html()
    assert "'=cmd" in card.to_csv()


def test_scorecard_rejects_invalid_options(model, credit):
    X, y = credit
    with pytest.raises(ValueError, match="method must be one of"):
        scorecard(model, X, y, method="woe")
    with pytest.raises(ValueError, match="X and y must be passed together"):
        scorecard(model, method="small")
    with pytest.raises(ValueError, match="pdo must be above zero"):
        scorecard(model, X, y, pdo=0)
    with pytest.raises(ValueError, match="y contains 7"):
        scorecard(model, X, np.full(len(y), 7))
    with pytest.raises(ValueError, match="base points are too low"):
        scorecard(model, X, y, base="folded", nonnegative=True, base_points=-5000)


def test_exponential_loss_uses_its_log_odds_slope(credit):
    X, y = credit
    model = SparseGAMClassifier(loss="exponential", lambda0=20).fit(X, y).model_
    card = scorecard(model, X, y)
    assert np.abs(card.predict_proba(X) - model.predict_proba(X)).max() < 0.05


def test_best_scorecard_is_not_worse_than_the_model_of_the_same_size(credit):
    X, y = credit
    path = gam_path(X, y, max_terms=9)
    card = scorecard(path.at(n_terms=9), X, y, method="small", max_terms=5)
    steps = sum(len(function.bins) - 2 for function in card.score_function.of_features)
    assert steps <= 5
    best = best_scorecard(path.models[5:10], X, y, method="small", max_terms=5)
    single = scorecard(path.at(n_terms=5), X, y, method="small")
    assert best.rounding.log_loss_after <= single.rounding.log_loss_after


def test_values_absent_from_training_get_the_mean_points(model, credit):
    X, y = credit
    name = next(n for n, seen in model.distributions.items() if not seen.missing)
    for options in ({}, {"nonnegative": True}, {"base": "folded"}, {"method": "small", "max_points": 3}):
        card = scorecard(model, X, y, **options)
        if name not in card.features:
            continue
        function = card.score_function.functions[card.features.index(name)]
        mean = function.at(X[name].to_numpy(dtype=float)).mean()
        line = next(row for row in card.table() if row["feature"] == name)
        assert (line["step"], line["rows"]) == ("missing: no training rows", 0.0)
        assert line["points"] == pytest.approx(mean, abs=0.5 + 1e-9)
        with pytest.warns(UserWarning, match=f"{len(X)} rows have a missing value in '{name}'"):
            assert set(card.score(X.assign(**{name: np.nan})) - card.score(X)) == {
                int(line["points"] - points) for points in set(function.at(X[name].to_numpy(dtype=float)))
            }
    assert "missing: no training rows" in str(scorecard(model, X, y))


@pytest.mark.parametrize(
    "options", [{}, {"nonnegative": True}, {"base": "folded"}, {"method": "small", "max_terms": 4}]
)
def test_points_of_interactions_add_up_to_the_total(options):
    frame, y = products.table()
    model = products.as_fitted(products.written(), frame, y)
    card = scorecard(model, frame, y, **options)
    lines = card.table()
    total = np.full(len(frame), card.base)
    columns = card.score_function.columns(read_table(frame))
    for function in card.score_function.functions:
        points = np.array([line["points"] for line in lines if line["feature"] == function.name])
        total += points[function.bin_of(columns)]
    assert total.tolist() == card.score(frame).tolist()
    assert all(sum(line["rows"] for line in lines if line["feature"] == name) == 600 for name in ("age", "age & hours"))
    assert card.rounding.auc_after > card.rounding.auc_before - 0.01
    if options.get("nonnegative"):
        assert min(line["points"] for line in lines) == 0


def test_scorecard_prints_interactions_as_tables():
    frame, y = products.table()
    card = scorecard(products.as_fitted(products.written(), frame, y), frame, y)
    lines = str(card).splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("age (down), priors (across): points (rows)"))
    row = next(line for line in lines[head + 2 :] if line.startswith("<= 25"))
    young = [cell for cell in row.split("  ") if cell]
    points = {line["step"]: line for line in card.table() if line["feature"] == "age & priors"}
    worst = points["age: <= 25; priors: > 3"]
    assert young[0].strip() == "<= 25"
    assert young[-1].strip() == f"{worst['points']} ({worst['rows']:.0f})"
    assert "the points of the cell of each pair of features" in str(card)
    assert card.to_html().count("<table>") == 1 + 3 + 1  # features, pairs, risk bands
    assert len(list(csv.reader(io.StringIO(card.to_csv())))) == 2 + len(card.table())
    assert card.information_values.keys() == {"age", "priors", "age & priors", "age & hours", "hours & colour"}


def ordered_points(function):
    """Return the points of the intervals of a feature."""
    return [points for bin_, points, _ in function.lines() if bin_.kind == "interval"]


def n_terms(card):
    """Return the number of distinct points of consecutive steps, and of missing and special values in training."""
    return sum(
        int(np.count_nonzero(np.diff(ordered_points(function))))
        + sum(points != 0 for bin_, points, _ in function.lines() if bin_.kind != "interval" and not bin_.is_new)
        for function in card.score_function.of_features
    )


@pytest.mark.parametrize("max_terms", [1, 3, 5])
def test_small_scorecard_respects_max_terms_and_max_points(credit, max_terms):
    card = small_scorecard(*credit, max_terms=max_terms, scaling={"max_points": 3}, special_values=SPECIAL)
    assert 1 <= n_terms(card) <= max_terms
    assert card.rounding.n_rows == 3000
    steps = [np.diff(ordered_points(function)) for function in card.score_function.of_features]
    assert max(abs(np.concatenate(steps)), default=0) <= 3


def test_small_scorecard_is_not_worse_than_rounding_the_best_model(credit):
    card = small_scorecard(*credit, max_terms=4, lambda2=1e-2, special_values=SPECIAL)
    model = gam_path(*credit, max_terms=4, lambda2=1e-2, special_values=SPECIAL).at(n_terms=4)
    rounded = scorecard(model, *credit, method="small", max_terms=4)
    assert card.rounding.log_loss_after <= rounded.rounding.log_loss_after + 1e-9


def test_small_scorecard_passes_options_to_search_and_scaling(credit):
    X, y = credit
    first = small_scorecard(X, y, special_values=SPECIAL).features[0]
    card = small_scorecard(X, y, special_values=SPECIAL, features_never=[first], scaling={"nonnegative": True})
    assert first not in card.features
    assert min(row["points"] for row in card.table()) == 0
    safer = small_scorecard(X, y, max_terms=1, scaling={"direction": "higher_is_safer"})
    assert np.corrcoef(safer.score(X), safer.predict_proba(X)[:, 1])[0, 1] < 0


def test_small_scorecard_uses_sample_weight(credit):
    X, y = credit
    twice = small_scorecard(X, y, max_terms=2, sample_weight=np.full(len(y), 2.0))
    assert twice.table()[0]["points"] == small_scorecard(X, y, max_terms=2).table()[0]["points"]
    assert sum(line.rows for line in twice.risks) == 2 * len(y)


def test_small_scorecard_of_data_with_fewer_possible_terms():
    card = small_scorecard([[0], [0], [1], [1], [1], [0]], [0, 0, 1, 1, 0, 1], max_terms=5)
    assert n_terms(card) == 1


def test_small_scorecard_rejects_unsupported_options(credit):
    with pytest.raises(ValueError, match="features_always is not supported"):
        small_scorecard(*credit, features_always=[0])
    with pytest.raises(ValueError, match="max_terms must be"):
        small_scorecard(*credit, max_terms=0)
    with pytest.raises(ValueError, match="needs a classification model"):
        small_scorecard(*credit, loss="squared")


def test_small_scorecard_of_constant_features_has_no_terms():
    card = small_scorecard([[1], [1], [1], [1]], [0, 1, 0, 1], max_terms=2)
    assert card.features == ()
    assert card.predict_proba([[1]])[0].tolist() == [0.5, 0.5]
