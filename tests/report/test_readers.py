"""What a report has for its readers: names and units, groups, points, what would have to change; other kinds of models;
print."""

import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from _helpers.browser import launch_chromium, opened  # noqa: F401
from report.test_report import FILL, SPECIAL, make_mixed

from sparsegam import SparseGAMClassifier, SparseGAMRegressor, SparseLinearClassifier, SparseLinearRegressor
from sparsegam.report import write_report
from sparsegam.report._content import content
from sparsegam.report._data import Material, Notes, Sample

LONG = "the eastern provinces without the islands, and all that was theirs before the war"


def told_test_rows():
    frame = make_mixed(300, seed=1)[0]
    frame["region"] = frame["region"].replace({"east": LONG})
    frame.loc[:4, "number"] = 1e6
    return frame


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """A report with all that a person can tell it."""
    frame, y = make_mixed(900)
    frame["region"] = frame["region"].replace({"east": LONG})
    gam = SparseGAMClassifier(lambda0=1.5, special_values={"number": [SPECIAL]}).fit(frame, y)
    X_test, y_test = told_test_rows(), make_mixed(300, seed=1)[1]
    card = gam.model_.scorecard(frame, y)
    file = gam.report(
        tmp_path_factory.mktemp("told") / "report.html",
        frame,
        y,
        X_test=X_test,
        y_test=y_test,
        labels={"number": ("Amount owed", "EUR"), "region": "Where they live"},
        groups=["flag", "region"],
        about={"Intended use": "To be looked at.", "Author": "A. <b>Analyst</b>"},
        scorecard=card,
    )
    return frame, y, gam.model_, card, file


def test_readers_are_told(told, chromium):
    frame, _, model, card, file = told
    drawn, known = told_test_rows()["number"], frame["number"][frame["number"] != SPECIAL]
    beyond = ((drawn != SPECIAL) & ((drawn < known.min()) | (drawn > known.max()))).sum()
    assert beyond >= 5
    with opened(chromium, file) as (tab, wrong):
        assert "A. <b>Analyst</b>" in tab.inner_text("#about")
        assert "Amount owed (EUR)" in tab.inner_text("#shapes")
        assert "Amount owed <= " in tab.inner_text("#standing")
        assert tab.locator("#points table").nth(0).locator("tbody tr").count() == len(card.table())
        assert tab.locator("#points table").nth(1).locator("tbody tr").count() == len(card.risks)
        groups = tab.locator("#quality .scroll", has_text="Groups of rows").locator("tbody tr")
        assert groups.count() == 2 + 5
        text = tab.inner_text("#quality")
        assert "Gini" in text
        assert "KS" in text
        assert "Net benefit" in text
        assert tab.locator("#unseen tbody tr").count() == len(model.features)
        assert tab.locator("#unseen tbody tr", has_text="Amount owed").locator("td").nth(3).inner_text() == str(beyond)
        axis = tab.locator("#shapes .card[data-feature=flag] svg").inner_html()
        assert ">False<" in axis
        assert ">True<" in axis
        region = tab.locator("#shapes .card[data-feature=region] svg text").all_text_contents()
        assert LONG in " ".join(region)
        assert f"north · {int((frame['region'] == 'north').sum())} rows" in region
        assert wrong == []


def test_the_page_finds_the_changes_that_python_finds(told, chromium):
    frame, _, model, _, file = told
    levels = {name: list(scale.levels) for name, scale in model.scales.items()}
    with opened(chromium, file) as (tab, wrong):
        tab.evaluate("document.getElementById('change').open = true")
        for i in range(12):
            row = frame.iloc[[i]]
            for name in frame.columns:
                tab.evaluate(FILL, [name, typed(row[name].iloc[0], levels.get(name, []))])
            goal = (0.2, 0.8)[i % 2]
            tab.fill("#goal", str(100 * goal))
            found = model.counterfactual(row, target=goal)
            assert found.found == bool(tab.get_attribute("#change-out", "data-cost"))
            if found.found:
                assert float(tab.get_attribute("#change-out", "data-cost")) == pytest.approx(found.cost, abs=1e-9)
        tab.fill("#goal", "150")
        assert "between 0 and 100" in tab.inner_text("#change-out")
        assert wrong == []


@pytest.mark.parametrize("interactions", [0, 3])
def test_changes_along_ramps_are_those_of_python(chromium, tmp_path, interactions):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.normal(40, 13, 700), "b": rng.integers(0, 60, 700) * 1.0, "c": rng.random(700)})
    y = 0.1 * np.minimum(frame["a"] - 45, 0) + (frame["b"] <= 20) - 3 * np.minimum(frame["c"] - 0.5, 0)
    y += 1.5 * ((frame["a"] > 40) & (frame["c"] <= 0.5)) * (interactions > 0)
    gam = SparseGAMRegressor(max_terms=8, max_bins=20, shapes="both", interactions=interactions)
    model = gam.fit(frame, y + rng.normal(0, 0.3, 700)).model_
    assert bool(model.pair_functions()) == bool(interactions)
    file = model.report(tmp_path / "r.html", frame, y)
    with opened(chromium, file) as (tab, wrong):
        tab.evaluate("document.getElementById('change').open = true")
        for i in range(10):
            row = frame.iloc[[i]]
            for name in frame.columns:
                tab.evaluate(FILL, [name, repr(float(row[name].iloc[0]))])
            found = model.counterfactual(row, target=0.75)
            tab.fill("#goal", "0.75")
            cost = tab.get_attribute("#change-out", "data-cost")
            assert (float(cost) if cost else None) == (pytest.approx(found.cost, abs=1e-9) if found.found else None)
        assert wrong == []


def typed(value, levels):
    """What a user would put into the field of the form."""
    if value is None or value != value:  # noqa: PLR0124
        return "NaN" if levels else ""
    if levels:
        return str(levels.index(value))
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    return value.isoformat() if hasattr(value, "isoformat") else repr(float(value))


def test_printed_pages_have_everything(told, chromium, tmp_path):
    _, _, model, _, file = told
    with opened(chromium, file, width=703) as (tab, wrong):
        tab.emulate_media(media="print")
        tab.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        shown = "[...document.querySelectorAll('pre, .scroll')].filter((part) => part.offsetParent)"
        cut = f"{shown}.filter((part) => part.scrollWidth > part.clientWidth + 1)"
        assert tab.evaluate(f"{cut}.map((part) => part.getAttribute('aria-label'))") == []
        assert tab.locator("#shapes details:not([open])").count() == 0
        tab.evaluate("dispatchEvent(new Event('afterprint'))")
        assert tab.locator("#shapes details[open]").count() == 0
        assert wrong == []
        if shutil.which("pdftotext") is None:
            pytest.skip("no pdftotext is installed (Debian: apt-get install poppler-utils)")
        tab.pdf(path=tmp_path / "report.pdf", format="A4")
    text = subprocess.run(
        ["pdftotext", "-layout", tmp_path / "report.pdf", "-"], capture_output=True, text=True, check=True
    ).stdout
    assert all(f": {name}" in text for name in model.features)  # the legend of the equation
    pages = [page.strip().splitlines() for page in text.split("\f") if page.strip()]
    headings = ("The equation", "What each term stands on", "How good it is", "More or fewer terms", "Points and risk")
    assert all(page[-1].strip() not in headings for page in pages)
    assert "std. error" in text


@pytest.mark.parametrize("kind", ["additive", "linear"])
def test_more_than_two_classes(chromium, tmp_path, kind):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=300), "b": rng.normal(size=300)})
    y = np.select([X["a"] > 0.5, X["b"] > 0], ["one", "two"], "three")
    estimator = SparseGAMClassifier(max_terms=4) if kind == "additive" else SparseLinearClassifier()
    file = estimator.fit(X, y).report(tmp_path / "r.html", X, y)
    with opened(chromium, file) as (tab, wrong):
        assert tab.locator("#classes tbody tr").count() == 3
        assert "probability of one" in tab.inner_text("#sentence")
        assert "P(one)" in tab.inner_text("#equation")
        wrong.clear()
        tab.locator("#classes a", has_text="two").click()
        assert "probability of two" in tab.inner_text("#sentence")
        assert [one for one in wrong if "?class=" not in one] == []


def test_linear_models(chromium, tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 6))
    y = 2 * X[:, 1] - X[:, 4] + 1e-3 * rng.normal(size=300)
    model = SparseLinearRegressor(lambda2=0.0).fit(X, y).model_
    file = model.report(tmp_path / "r.html", X, y, groups={"side": np.where(X[:, 0] > 0, "left", "right")})
    with opened(chromium, file) as (tab, wrong):
        for name, value in (("x1", "0.5"), ("x4", "-1.25")):
            tab.evaluate(FILL, [name, value])
        row = np.zeros((1, 6))
        row[0, [1, 4]] = 0.5, -1.25
        found = float(tab.get_attribute("#result", "data-score"))
        assert found == pytest.approx(model.decision_function(row)[0], abs=1e-9)
        tab.evaluate(FILL, ["x1", ""])
        assert "please type a number" in tab.inner_text("#result")
        assert tab.locator("#quality .scroll", has_text="Groups").locator("tbody tr").count() == 2
        assert wrong == []
    assert write_report(tmp_path / "bare.html", model).stat().st_size > 10_000


def test_what_only_a_person_knows_is_checked(told):
    frame, y, model, _, _ = told
    with pytest.raises(ValueError, match="labels names the column 'height'"):
        Notes(labels={"height": "Height"}).check(model.feature_names)
    with pytest.raises(ValueError, match="a name, or a pair of a name and a unit"):
        Notes(labels={"number": 3}).check(model.feature_names)
    parts = content(Material(model, "t", Sample.of(frame, y)))
    assert parts["points"] is None
    assert parts["about"] == []
    assert parts["quality"]["groups"] is None
    assert parts["quality"]["prevalence"]["events"] == (y == "yes").sum()
