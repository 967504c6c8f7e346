"""What notebooks show: every result as a small piece of HTML that styles nothing but itself, and short plain reprs."""

import re

import numpy as np
import pandas as pd
import pytest

from sparsegam import SparseGAMClassifier, SparseLinearClassifier, gam_path
from sparsegam._models.display import STYLE, fragment, table
from sparsegam.inspection import subgroups

EVIL = "<b onclick=1>income</b>"


@pytest.fixture(scope="module")
def results():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({EVIL: rng.normal(size=300), "age": rng.integers(18, 80, 300), "sex": rng.choice(["f", "m"], 300)})
    y = np.where(X[EVIL] + 0.05 * (X["age"] - 50) + rng.normal(size=300) > 0, "yes", "no")
    gam = SparseGAMClassifier(max_terms=5).fit(X, y)
    model, three = gam.model_, np.select([X["age"] > 60, X[EVIL] > 0], ["old", "rich"], "other")
    return {
        "model": model,
        "linear": SparseLinearClassifier().fit(X[[EVIL, "age"]], y).model_,
        "classes": SparseGAMClassifier(max_terms=3).fit(X, three).model_,
        "linear classes": SparseLinearClassifier().fit(X[[EVIL, "age"]], three).model_,
        "path": gam_path(X, y, max_terms=4),
        "card": model.scorecard(X, y),
        "reasons": model.reason_codes(X),
        "drift": model.drift(X),
        "profile": model.profile(X),
        "stability": gam.stability(X, y, n=3),
        "change": model.counterfactual(X.iloc[0]),
        "groups": subgroups(model, X, y, ["sex"]),
    }


NAMES = ["model", "linear", "classes", "path", "card", "reasons", "drift", "profile", "stability", "change", "groups"]


@pytest.mark.parametrize("name", [*NAMES, "linear classes"])
def test_repr_html_is_a_complete_fragment(results, name):
    shown = results[name]._repr_html_()
    assert shown.startswith("<div class='sparsegam'><style>")
    assert "<b onclick" not in shown
    assert "<html" not in shown
    assert "<script" not in shown
    assert shown.count("<table") == shown.count("</table>")
    assert len(re.findall(r"<td|<pre", shown)) >= 1


@pytest.mark.parametrize("name", [*NAMES, "linear classes"])
def test_reprs_are_one_short_line(results, name):
    text = repr(results[name])
    assert text.startswith("<")
    assert "\n" not in text
    assert len(text) < 150


def test_style_is_scoped_and_inherits_colours():
    rules = [rule.partition("{") for rule in STYLE.split("}") if rule.strip()]
    assert all(part.strip().startswith(".sparsegam") for selector, _, _ in rules for part in selector.split(","))
    colours = re.findall(r"(?:color|background|border[\w-]*):([^;]+)", STYLE)
    assert all(re.search(r"inherit|none|collapse|0$|rgba\(128, 128, 128", colour.strip()) for colour in colours)


def test_table_states_the_number_of_omitted_rows():
    rows = [[f"row {i}", "x", "1"] for i in range(100)]
    shown = table(["a", "b", "n"], rows, most=10)
    assert shown.count("<tr") == 11
    assert "and 90 more rows" in shown
    assert fragment("a", "b").endswith("ab</div>")


def test_classes_have_one_frame(results):
    frame = results["classes"].to_frame()
    assert set(frame["class"]) == {"old", "other", "rich"}
    assert len(frame) == results["classes"].n_terms
