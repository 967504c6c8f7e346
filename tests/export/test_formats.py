import sqlite3

import numpy as np
import pytest
from _helpers import engines
from _helpers.export_models import AGE, CITY, additive_model, check_pmml_reasons, fitted_model, random_table

from sparsegam import export
from sparsegam._models.additive import Model
from sparsegam._models.functions import score_function
from sparsegam._models.terms import Condition, Term
from sparsegam.deploy import reason_table, scorecard


def test_labels_mark_values_without_training_rows():
    tables = {function.name: function.labels() for function in score_function(fitted_model()).of_features}
    assert tables[AGE][:3] == ("missing: no training rows", "-9", "-8: no training rows")
    assert tables[CITY][-1] == "any other: no training rows"
    assert tables["since"][0] == "missing"
    assert r"missing: no training rows" in export.to_latex(fitted_model())
    lines = [row["step"] for row in scorecard(fitted_model(), method="plain").table() if row["feature"] == AGE]
    assert lines[0] == "missing: no training rows"


def test_to_pmml_returns_a_document_that_is_valid_in_the_pmml_schema():
    etree = pytest.importorskip("lxml.etree")
    try:
        schema = engines.pmml_schema()
    except engines.EngineNotInstalled as reason:
        pytest.skip(str(reason))
    regression = Model(1.5, (Term("x", Condition("<=", 2.0), -0.5),), ("x",), "squared")
    for model in (additive_model(), scorecard(additive_model(), method="plain"), regression):
        schema.assertValid(etree.fromstring(export.to_pmml(model).encode()))
    spoilt = export.to_pmml(regression).replace("<True />", "<Truth />")
    assert not schema.validate(etree.fromstring(spoilt.encode()))


@pytest.mark.parametrize("baseline", ["max", "mean", "median"])
def test_to_pmml_gives_the_same_reasons_as_the_reason_table(baseline):
    model, frame = additive_model() if baseline == "max" else fitted_model(), random_table(200)
    table = reason_table(model, k=1, baseline=baseline)
    check_pmml_reasons(model, frame, table)


@pytest.mark.parametrize("to", [export.to_onnx, export.to_pmml])
def test_to_onnx_and_to_pmml_reject_models_without_terms(to):
    pytest.importorskip("onnx")
    with pytest.raises(ValueError, match="the model has no terms"):
        to(Model(1.0, (), ("x",), "logistic", classes=(0, 1)))


@pytest.mark.parametrize("dialect", ["duckdb", "postgresql", "sqlite", "spark", "bigquery", "tsql"])
def test_to_sql_quotes_names_and_texts(dialect):
    query = export.to_sql(additive_model(), "schema.table", dialect=dialect, keep=["id"])
    outside = query.replace("''", "").replace("\\'", "").replace('""', "").replace("\\\\", "")
    assert "O'Fallon" not in outside
    assert query.count("CASE") == query.count("END")


def test_to_sql_rejects_unknown_dialects():
    with pytest.raises(ValueError, match=r"dialect must be one of 'duckdb'.*got 'oracle'"):
        export.to_sql(additive_model(), "t", dialect="oracle")


def test_to_latex_escapes_special_characters():
    text = export.to_latex(additive_model())
    assert r"back\textbackslash{}slash" in text
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 1


def test_exports_of_regression_models_have_no_probability():
    model = Model(1.5, (Term("x", Condition("<=", 2.0), -0.5),), ("x",), "squared")
    assert "probability" not in export.to_python(model)
    assert "probability" not in export.to_sql(model, "t")
    names = {}
    exec(export.to_python(model), names)
    assert [names["score"]({"x": x}) for x in (2, 2.1, None)] == [1.0, 1.5, 1.5]


@pytest.mark.parametrize("name", ["score", "probability", ""])
@pytest.mark.parametrize("to", [export.to_onnx, export.to_pmml])
def test_to_onnx_and_to_pmml_reject_features_named_like_an_output(to, name):
    pytest.importorskip("onnx")
    with pytest.raises(ValueError, match=f"cannot contain a column named '{name}'.*rename the column"):
        to(Model(0.0, (Term(name, Condition("<=", 2.0), 1.0),), (name,), "logistic", classes=("a", "b")))


def test_to_sql_writes_thresholds_that_sqlite_reads_exactly():
    """SQLite reads some of the shortest decimals that Python reads exactly as a neighbouring number."""
    threshold = -2.066728857523217
    model = Model(0.5, (Term("a", Condition("<=", threshold), 1.0),), ("a",), "squared", None)
    rows = [{"a": float(x)} for x in (np.nextafter(threshold, -3), threshold, np.nextafter(threshold, 0))]
    query = model.to_sql("rows", dialect="sqlite")
    with sqlite3.connect(":memory:") as base:
        base.execute("CREATE TABLE rows (a REAL)")
        base.executemany("INSERT INTO rows VALUES (:a)", rows)
        assert [row[-1] for row in base.execute(query)] == [1.5, 1.5, 0.5]
