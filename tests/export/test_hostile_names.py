"""Names of columns, levels and classes that contain code or markup remain text in every export."""

from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from _helpers import engines
from _helpers.export_models import run

from sparsegam import export
from sparsegam._data.columns import Scale
from sparsegam._models.additive import Model
from sparsegam._models.terms import Condition, Term
from sparsegam.deploy import scorecard
from sparsegam.export._sql import DIALECTS

HOSTILE = [
    'x"""\nraise SystemExit\n#*/ </script>',
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "--> x",
    "a\n```\n<img src=x onerror=alert(1)>",
    "![x](http://evil.example/x.png) [y](javascript:alert(1)) <http://evil.example>",
    "`; DROP TABLE rows; --",
    "'; DROP TABLE rows; --",
    '"; DROP TABLE rows; --',
    "]; DROP TABLE rows; --",
    "/* \\'",
    "\\",
    "[5cm]",
    "*",
    "a\n\n\\end{tabular}\\input{/etc/passwd}%$#&_{}~^",
    "=1+1",
    "a\r\nb",
    "\u2028]]>&amp;",
    "| x |",
]


def hostile_model(hostile):
    """Return a model with the same text as name of a feature, a level and a class."""
    terms = (
        Term(hostile, Condition("<=", 2.0), 1.0),
        Term("c", Condition("==", hostile), 0.5),
        Term("c", Condition("in", ("k", "l")), -0.25),
    )
    scales = {"c": Scale("category", ("k", "l", hostile, "z"))}
    return Model(0.0, terms, (hostile, "c"), "logistic", classes=("a", hostile), scales=scales)


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("engine", ["python", "javascript", "json", "onnx", "duckdb", "sqlite"])
def test_exports_with_hostile_names_score_like_decision_function(engine, hostile):
    model = hostile_model(hostile)
    frame = pd.DataFrame({engines.KEY: range(4), hostile: [1.0, 3.0, 1.0, np.nan], "c": [hostile, "k", "z", None]})
    found = run(engine, model, frame)
    np.testing.assert_allclose(found[0], model.decision_function(frame), rtol=0, atol=1e-9)


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("dialect", ["duckdb", "postgresql", "sqlite", "spark", "bigquery", "tsql"])
def test_to_sql_quotes_hostile_names_in_every_dialect(dialect, hostile):
    sqlglot = pytest.importorskip("sqlglot")
    model = hostile_model(hostile)
    if dialect in ("spark", "bigquery") and any(c in hostile for c in DIALECTS[dialect].forbidden):
        with pytest.raises(ValueError, match="cannot be quoted in this dialect because it contains the character"):
            export.to_sql(model, "rows", dialect=dialect)
        return
    read = {"postgresql": "postgres"}.get(dialect, dialect)
    (query,) = sqlglot.parse(export.to_sql(model, "rows", dialect=dialect), read=read)
    assert isinstance(query, sqlglot.exp.Select)
    assert {column.name for column in query.find_all(sqlglot.exp.Column)} >= {hostile, "c"}
    texts = {literal.this for literal in query.find_all(sqlglot.exp.Literal, sqlglot.exp.National) if literal.this}
    assert hostile in {getattr(text, "name", text) for text in texts}


@pytest.mark.parametrize("hostile", HOSTILE)
def test_to_javascript_cannot_close_a_script_element(hostile):
    source = export.to_javascript(hostile_model(hostile))
    assert source.isascii()
    assert not [tag for tag in ("</", "<!--", "<script", "-->") if tag in source]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_model_card_escapes_markup(hostile):
    markdown_it = pytest.importorskip("markdown_it")
    text = hostile_model(hostile).card()
    assert not [tag for tag in ("</script", "<script", "<img", "<!--") if tag in text]
    tokens = markdown_it.MarkdownIt("gfm-like", {"linkify": False}).parse(text)
    inside = [part.type for token in tokens for part in [token, *(token.children or [])]]
    assert not {"html_block", "html_inline", "image", "link_open"} & set(inside)
    assert inside.count("fence") == 1
    assert inside.count("heading_open") == 4
    assert {token.content.count("|") for token in tokens if token.type == "th"} <= {0}


@pytest.mark.parametrize("hostile", HOSTILE)
def test_to_latex_escapes_hostile_names(hostile):
    source = export.to_latex(hostile_model(hostile))
    body = source.split("\\hline\n", 2)[2].split("\n\\hline")[0].split("\n")
    assert len(body) == 1 + 3 + 4
    assert all(line.endswith(r" \\") and line.count("&") - line.count(r"\&") == 2 for line in body)
    assert not [line for line in body if line[0] in "[*"]
    assert r"\input" not in source
    assert source.count(r"\end{tabular}") == 1


@pytest.mark.parametrize("hostile", HOSTILE)
def test_to_pmml_escapes_hostile_names(hostile):
    root = ElementTree.fromstring(export.to_pmml(hostile_model(hostile)))
    assert root.find("{*}DataDictionary")[0].get("name") == hostile


@pytest.mark.parametrize("bad", ["\x01", "\x00", "\ufffe", "\ud800"])
def test_to_pmml_and_to_excel_reject_unsupported_characters(bad, tmp_path):
    model = hostile_model(f"a{bad}b")
    with pytest.raises(ValueError, match="which is not allowed in PMML: rename it"):
        export.to_pmml(model)
    with pytest.raises(ValueError, match="which is not allowed in Excel: rename it"):
        export.to_excel(model, tmp_path / "a.xlsx")
    with pytest.raises(ValueError, match="which is not allowed in Excel: rename it"):
        scorecard(model, method="plain").to_excel(tmp_path / "a.xlsx")
    assert not list(tmp_path.iterdir())
