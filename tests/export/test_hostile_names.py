"""Hostile names: columns, levels and labels that are code or markup stay text wherever a model is written."""

from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from _helpers import engines
from export.test_export import TOLERANCE, run

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


def hostile_model(evil):
    """A model whose feature, level and label is the same text."""
    terms = (
        Term(evil, Condition("<=", 2.0), 1.0),
        Term("c", Condition("==", evil), 0.5),
        Term("c", Condition("in", ("k", "l")), -0.25),
    )
    scales = {"c": Scale("category", ("k", "l", evil, "z"))}
    return Model(0.0, terms, (evil, "c"), "logistic", classes=("a", evil), scales=scales)


@pytest.mark.parametrize("evil", HOSTILE)
@pytest.mark.parametrize("engine", ["python", "javascript", "json", "onnx", "duckdb", "sqlite"])
def test_hostile_names_score_as_others_do(engine, evil):
    model = hostile_model(evil)
    frame = pd.DataFrame({engines.KEY: range(4), evil: [1.0, 3.0, 1.0, np.nan], "c": [evil, "k", "z", None]})
    found = run(engine, model, frame)
    np.testing.assert_allclose(found[0], model.decision_function(frame), rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("evil", HOSTILE)
@pytest.mark.parametrize("dialect", ["duckdb", "postgresql", "sqlite", "spark", "bigquery", "tsql"])
def test_hostile_names_are_names_in_every_dialect(dialect, evil):
    sqlglot = pytest.importorskip("sqlglot")
    model = hostile_model(evil)
    if dialect in ("spark", "bigquery") and any(c in evil for c in DIALECTS[dialect].forbidden):
        with pytest.raises(ValueError, match="cannot be quoted in this dialect because it contains the character"):
            export.to_sql(model, "rows", dialect=dialect)
        return
    read = {"postgresql": "postgres"}.get(dialect, dialect)
    (query,) = sqlglot.parse(export.to_sql(model, "rows", dialect=dialect), read=read)
    assert isinstance(query, sqlglot.exp.Select)
    assert {column.name for column in query.find_all(sqlglot.exp.Column)} >= {evil, "c"}
    texts = {literal.this for literal in query.find_all(sqlglot.exp.Literal, sqlglot.exp.National) if literal.this}
    assert evil in {getattr(text, "name", text) for text in texts}


@pytest.mark.parametrize("evil", HOSTILE)
def test_scripts_in_pages_cannot_be_ended(evil):
    source = export.to_javascript(hostile_model(evil))
    assert source.isascii()
    assert not [tag for tag in ("</", "<!--", "<script", "-->") if tag in source]


@pytest.mark.parametrize("evil", HOSTILE)
def test_model_cards_keep_to_text(evil):
    markdown_it = pytest.importorskip("markdown_it")
    text = hostile_model(evil).card()
    assert not [tag for tag in ("</script", "<script", "<img", "<!--") if tag in text]
    tokens = markdown_it.MarkdownIt("gfm-like", {"linkify": False}).parse(text)
    inside = [part.type for token in tokens for part in [token, *(token.children or [])]]
    assert not {"html_block", "html_inline", "image", "link_open"} & set(inside)
    assert inside.count("fence") == 1
    assert inside.count("heading_open") == 4
    assert {token.content.count("|") for token in tokens if token.type == "th"} <= {0}


@pytest.mark.parametrize("evil", HOSTILE)
def test_latex_is_text_too(evil):
    source = export.to_latex(hostile_model(evil))
    body = source.split("\\hline\n", 2)[2].split("\n\\hline")[0].split("\n")
    assert len(body) == 1 + 3 + 4  # the base, and the steps of two features
    assert all(line.endswith(r" \\") and line.count("&") - line.count(r"\&") == 2 for line in body)
    assert not [line for line in body if line[0] in "[*"]
    assert r"\input" not in source
    assert source.count(r"\end{tabular}") == 1


@pytest.mark.parametrize("evil", HOSTILE)
def test_hostile_names_are_attributes_in_pmml(evil):
    root = ElementTree.fromstring(export.to_pmml(hostile_model(evil)))
    assert root.find("{*}DataDictionary")[0].get("name") == evil


@pytest.mark.parametrize("bad", ["\x01", "\x00", "\ufffe", "\ud800"])
def test_characters_that_cannot_be_written_are_named(bad, tmp_path):
    model = hostile_model(f"a{bad}b")
    with pytest.raises(ValueError, match="which PMML cannot write: rename it"):
        export.to_pmml(model)
    with pytest.raises(ValueError, match="which Excel cannot write: rename it"):
        export.to_excel(model, tmp_path / "a.xlsx")
    with pytest.raises(ValueError, match="which Excel cannot write: rename it"):
        scorecard(model, method="plain").to_excel(tmp_path / "a.xlsx")
    assert not list(tmp_path.iterdir())
