"""Tests of reason codes: baselines, texts, ties, invalid options, SQL and interactions."""

import numpy as np
import pandas as pd
import pytest
from _helpers import products

from sparsegam import SparseGAMClassifier, export
from sparsegam._models.additive import Model
from sparsegam._models.terms import Condition, Term
from sparsegam.deploy import reason_codes, reason_table, scorecard


@pytest.fixture
def model():
    terms = (
        Term("age", Condition("<=", 25.0), 0.5),
        Term("age", Condition("<=", 40.0), 0.25),
        Term("debt", Condition("<=", 10.0), -1.0),
        Term("debt", Condition("==", -9.0), 0.75),
        Term("late", Condition("missing"), 0.75),
        Term("late", Condition("<=", 3.0), 0.1),
    )
    return Model(0.1, terms, ("age", "debt", "late"), "logistic", ("good", "bad"), {"debt": (-9.0,)})


@pytest.fixture
def rows():
    return pd.DataFrame({"age": [20, 50, 30, 50], "debt": [50.0, 5, -9, 5], "late": [np.nan, 9, np.nan, 9]})


def test_reasons_relative_to_the_best_step(model, rows):
    reasons = reason_codes(model, rows)
    assert [[r.feature for r in row] for row in reasons] == [["debt", "age", "late"], [], ["debt", "late", "age"], []]
    assert [r.lost for r in reasons[0]] == pytest.approx([1.0, 0.75, 0.75])  # ties keep the order of the model
    assert reasons[0][2].step == "missing"
    assert reasons[2][0].step == "-9"


@pytest.fixture(scope="module")
def applicants():
    """Return a model of late payments and age in which a missing record is the best value."""
    rng = np.random.default_rng(0)
    n = 4000
    frame = pd.DataFrame({"late": rng.choice([-9.0, 0, 1, 2, 3], n), "age": rng.integers(18, 80, n).astype(float)})
    odds = 1.2 * (frame.late >= 1) + 0.8 * (frame.late >= 2) - 1.5 * (frame.late == -9) + 1.0 * (frame.age <= 30) - 1.0
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "bad", "good")
    weight = rng.uniform(0.2, 3.0, n)
    gam = SparseGAMClassifier(special_values={"late": [-9]}, lambda0="bic").fit(
        frame, np.where(y == "bad", 1, 0), weight
    )
    return gam.model_, frame, weight


def test_mean_and_median_baselines_give_no_reason_for_good_values(applicants):
    model, _, _ = applicants
    best = pd.DataFrame({"late": [0.0], "age": [60.0]})
    assert [r.feature for r in reason_codes(model, best, baseline="max")[0]] == ["late"]
    for scores in (model, model.scorecard(), Model.from_json(model.to_json())):
        assert reason_codes(scores, best)[0] == []
        assert reason_codes(scores, best, baseline="median")[0] == []
    worst = pd.DataFrame({"late": [3.0], "age": [20.0]})
    assert [r.feature for r in reason_codes(model, worst)[0]] == ["late", "age"]


def test_baselines_use_the_training_distribution_without_reference(applicants):
    model, frame, weight = applicants
    raw = model.contributions(frame, centred=False)
    table = reason_table(model)
    assert table.baseline == "mean"
    for j, lost in enumerate(table.lost):
        np.testing.assert_allclose(lost, step_adds(table, j) - np.average(raw[:, j], weights=weight), atol=1e-9)
    np.testing.assert_allclose(
        table.of(frame).lost[:, 0], np.maximum(model.contributions(frame).max(axis=1), 0), atol=1e-9
    )
    flat = SparseGAMClassifier(special_values={"late": [-9]}).fit(frame, (frame.late > 0) ^ (frame.age > 70)).model_
    medians = np.median(flat.contributions(frame, centred=False), axis=0)
    middle = reason_table(flat, baseline="median")
    for j, lost in enumerate(middle.lost):
        np.testing.assert_allclose(lost, step_adds(middle, j) - medians[j], atol=1e-9)
    given = reason_table(model, reference=frame[:100])
    np.testing.assert_allclose(given.lost[0], step_adds(given, 0) - raw[:100, 0].mean(), atol=1e-9)


def test_values_absent_from_training_are_no_reason(applicants):
    model, _, _ = applicants
    later = pd.DataFrame({"late": [np.nan], "age": [np.nan]})
    assert reason_codes(model, later)[0] == []
    said = reason_codes(model, later, baseline="max", texts={("late", "missing"): ("L0", "No record of payments")})[0]
    assert [(r.code, r.step) for r in said if r.feature == "late"] == [("L0", "missing: no training rows")]


def test_k_limits_the_number_of_reasons(model, rows):
    assert [len(row) for row in reason_codes(model, rows, 1)] == [1, 0, 1, 0]
    assert reason_codes(model, rows, k=2).codes().shape == (4, 2)


def test_reasons_relative_to_median_and_mean_of_a_reference(model, rows):
    median = reason_codes(model, rows, baseline="median", reference=rows)
    assert [r.feature for r in median[0]] == ["age", "debt", "late"]
    mean = reason_table(model, baseline="population", reference=rows)
    parts = model.contributions(rows)
    np.testing.assert_allclose(mean.lost[0], step_adds(mean, 0) - parts[:, 0].mean(), atol=1e-9)


def step_adds(table, j):
    return table.score_function.functions[j].contributions


def test_adverse_selects_the_class(model, rows):
    assert [r.feature for r in reason_codes(model, rows, adverse="good")[1]] == ["debt", "age", "late"]


def test_scorecards_give_the_same_order_of_reasons(model, rows):
    card = scorecard(model, pdo=40)
    theirs = [[r.feature for r in row] for row in reason_codes(card, rows)]
    assert theirs == [[r.feature for r in row] for row in reason_codes(model, rows)]


def test_texts_set_code_and_text(model, rows):
    texts = {"age": "Length of credit history", "debt": ("D1", "Debt"), ("debt", "-9"): ("D9", "No record of debt")}
    reasons = reason_codes(model, rows, texts=texts)
    assert [(r.code, r.text) for r in reasons[0]][:2] == [("D1", "Debt"), ("age", "Length of credit history")]
    assert reasons[2][0].code == "D9"
    assert reasons.codes()[:, 0].tolist() == ["D1", None, "D9", None]
    assert reasons.to_frame()["lost_1"].tolist() == [1.0, 0.0, 1.75, 0.0]


def test_reason_codes_rejects_invalid_options(model, rows):
    with pytest.raises(ValueError, match=r"baseline='median' needs reference=.*training distribution of 'age'"):
        reason_codes(model, rows, baseline="median")
    with pytest.raises(ValueError, match="baseline='population' needs reference=, a table that represents"):
        reason_codes(model, rows, baseline="population")
    with pytest.raises(ValueError, match="baseline must be one of 'mean', 'median', 'max', 'population', got 'best'"):
        reason_codes(model, rows, baseline="best")
    with pytest.raises(ValueError, match="texts has the key 'salary'"):
        reason_codes(model, rows, texts={"salary": "?"})
    with pytest.raises(ValueError, match="adverse must be one of the classes"):
        reason_codes(model, rows, adverse="ugly")
    with pytest.raises(ValueError, match="k must be an integer >= 1"):
        reason_codes(model, rows, 0)


def test_sql_returns_the_same_points_and_reasons(model):
    duckdb = pytest.importorskip("duckdb")
    rng = np.random.default_rng(0)
    values = {"age": [20, 25, 33, 40, 41], "debt": [np.nan, -9, 5, 10, 11], "late": [np.nan, 1, 3, 4]}
    frame = pd.DataFrame({name: rng.choice(some, 500) for name, some in values.items()}).assign(id=np.arange(500))
    card, table = scorecard(model), reason_table(model, k=2)
    with duckdb.connect() as connection:
        connection.register("loans", frame)
        query = export.to_sql(model, "loans", keep=["id"], points=card, reasons=table)
        found = connection.execute(query).df().sort_values("id")
    assert found["points"].tolist() == card.score(frame).tolist()
    codes = found[["reason_1", "reason_2"]].to_numpy(dtype=object)
    assert np.where(pd.isna(codes), None, codes).tolist() == table.of(frame).codes().tolist()


def test_interactions_are_separate_reasons():
    frame, y = products.table()
    model = products.as_fitted(products.written(), frame, y)
    texts = {
        ("age", "priors"): ("R1", "young or old, and priors"),
        (("age", "priors"), ("<= 25", "> 3")): ("R2", "young, with many priors"),
    }
    reasons = reason_codes(model, frame, texts=texts)
    worst = (frame["age"] <= 25) & (frame["priors"] > 3)
    first = reasons[int(np.flatnonzero(worst)[0])][0]
    assert (first.feature, first.code, first.text) == ("age & priors", "R2", "young, with many priors")
    assert first.step == "age: <= 25; priors: > 3"
    mean = model.pair_functions()["age", "priors"].mean
    assert first.lost == pytest.approx(0.9 - mean, abs=1e-9)
    codes = reasons.codes()
    assert not (codes[~worst] == "R2").any()
    assert (codes == "age & hours").any()  # without a text, the code is the name of the pair


def test_baselines_of_interactions():
    frame, _ = products.table()
    model = products.as_fitted(products.written(), frame)
    j = 2  # after two features
    assert reason_table(model, baseline="median").lost[j].max() == 0.9
    assert reason_table(model, baseline="max").lost[j].min() == 0.0
    assert reason_table(model, baseline="max").lost[j].max() == 1.3
    given = reason_table(products.written(), baseline="mean", reference=frame)
    known = reason_table(model, baseline="mean")
    assert given.lost[j].max() == pytest.approx(known.lost[j].max())
    with pytest.raises(ValueError, match=r"texts has the key \(\('age', 'colour'\)"):
        reason_table(products.written(), texts={(("age", "colour"), ("a", "b")): "no"})
