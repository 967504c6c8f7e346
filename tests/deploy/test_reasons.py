"""Reason codes: what each feature cost, in a fixed order, the same in Python and in SQL."""

import numpy as np
import pandas as pd
import pytest

from sparsegam import export
from sparsegam.deploy.reasons import reason_codes, reason_table
from sparsegam.deploy.scorecard import scorecard
from sparsegam.models.additive import Model
from sparsegam.models.terms import Condition, Term


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


def test_against_the_best(model, rows):
    reasons = reason_codes(model, rows)
    assert [[r.feature for r in row] for row in reasons] == [["debt", "age", "late"], [], ["debt", "late", "age"], []]
    assert [r.lost for r in reasons[0]] == pytest.approx([1.0, 0.75, 0.75])  # age before late: the order of the table
    assert reasons[0][2].step == "missing"
    assert reasons[2][0].step == "-9"


def test_fewer_reasons(model, rows):
    assert [len(row) for row in reason_codes(model, rows, 1)] == [1, 0, 1, 0]
    assert reason_codes(model, rows, k=2).codes().shape == (4, 2)


def test_against_median_and_mean(model, rows):
    median = reason_codes(model, rows, baseline="median", reference=rows)
    assert [r.feature for r in median[0]] == ["age", "debt", "late"]
    mean = reason_table(model, baseline="population", reference=rows)
    parts = model.contributions(rows)
    np.testing.assert_allclose(mean.lost[0], step_adds(mean, 0) - parts[:, 0].mean(), atol=1e-9)


def step_adds(table, j):
    return table.steps.tables[j].adds


def test_the_other_class_can_be_adverse(model, rows):
    assert [r.feature for r in reason_codes(model, rows, adverse="good")[1]] == ["debt", "age", "late"]


def test_scorecards_give_the_same_order(model, rows):
    card = scorecard(model, pdo=40)
    theirs = [[r.feature for r in row] for row in reason_codes(card, rows)]
    assert theirs == [[r.feature for r in row] for row in reason_codes(model, rows)]


def test_texts(model, rows):
    texts = {"age": "Length of credit history", "debt": ("D1", "Debt"), ("debt", "-9"): ("D9", "No record of debt")}
    reasons = reason_codes(model, rows, texts=texts)
    assert [(r.code, r.text) for r in reasons[0]][:2] == [("D1", "Debt"), ("age", "Length of credit history")]
    assert reasons[2][0].code == "D9"
    assert reasons.codes()[:, 0].tolist() == ["D1", None, "D9", None]
    assert reasons.to_frame()["lost_1"].tolist() == [1.0, 0.0, 1.75, 0.0]


def test_wrong_options(model, rows):
    with pytest.raises(ValueError, match="needs reference="):
        reason_codes(model, rows, baseline="median")
    with pytest.raises(ValueError, match="texts names 'salary'"):
        reason_codes(model, rows, texts={"salary": "?"})
    with pytest.raises(ValueError, match="adverse must be one of the classes"):
        reason_codes(model, rows, adverse="ugly")
    with pytest.raises(ValueError, match="k must be an integer >= 1"):
        reason_codes(model, rows, 0)


def test_sql_gives_points_and_the_same_reasons(model):
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
