"""The page of a report in a browser."""

import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from _helpers.browser import launch_chromium, opened  # noqa: F401
from _helpers.reports import (  # noqa: F401
    FILL,
    LONG_LEVEL,
    SPECIAL,
    annotated_test_data,
    fit_mixed,
    write_annotated,
    write_mixed,
    write_ramps,
)

from sparsegam import SparseGAMClassifier, SparseGAMRegressor, SparseLinearClassifier, SparseLinearRegressor
from sparsegam.report import write_report


def test_write_report_writes_a_small_file_without_external_references(written):
    text = written.read_text(encoding="utf-8")
    assert len(text.encode()) < 1_000_000
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in text
    assert "<b>data" not in text
    assert "<script>alert" not in text


def test_page_shows_term_statistics_and_stability(mixed, tmp_path, chromium):
    frame, y, gam = mixed
    found = gam.stability(frame, y, n=4)
    file = gam.report(tmp_path / "report.html", frame, y, stability=found)
    with opened(chromium, file) as (page, errors):
        assert page.locator("#term-statistics tbody tr").count() == gam.n_terms_ + 1
        cells = page.locator("#term-statistics tbody tr").nth(1).locator("td").all_inner_texts()
        assert " to " in cells[3]
        assert cells[4] == f"{gam.terms_[0].n_rows:,}"
        assert page.locator("#stability tbody tr").count() == gam.n_terms_
        shares = page.locator("#stability meter").evaluate_all("all => all.map((one) => one.value)")
        assert shares[1::2] == [term.share for term in found.terms]
        assert page.locator("#shapes .band").count() > 0
        assert not errors
    without = gam.report(tmp_path / "without.html")
    with opened(chromium, without) as (page, errors):
        assert page.locator("#stability").is_hidden()
        assert page.locator("#term-statistics").is_visible()
        assert not errors


def test_page_draws_and_describes_ramps(chromium, ramped):
    _, _, model, file = ramped
    shape = model.shape_functions(centred=True)["a"]
    slope = shape.slopes[np.flatnonzero(shape.slopes)[0]]
    with opened(chromium, file) as (page, errors):
        card = page.locator("#shape-grid .card[data-feature=a]")
        assert "L" in card.locator("path.step").get_attribute("d")
        assert len(card.locator("polygon.band").nth(1).get_attribute("points").split(" ")) > 20
        card.locator("svg").scroll_into_view_if_needed()
        box = card.locator("svg").bounding_box()
        readings = set()
        for share in (0.3, 0.4):
            page.mouse.move(box["x"] + share * box["width"], box["y"] + 0.4 * box["height"])
            readings.add(card.locator(".readout").inner_text())
        assert len(readings) == 2
        assert all("per unit" in one and one.startswith("at ") for one in readings)
        card.locator("summary").click()
        cells = card.locator("tbody tr").nth(1).locator("td").all_inner_texts()
        assert " to " in cells[1]
        assert float(cells[2].replace("\u2212", "-")) == pytest.approx(slope, rel=0.01)
        assert "per unit" in page.inner_text("#term-statistics")
        assert page.locator("#alternatives tbody tr").count() == model.n_terms
        assert " ramps) of " in page.inner_text("#summary")
        assert errors == []


@pytest.mark.parametrize(("color_scheme", "width"), [("light", 1200), ("dark", 1200), ("light", 380)])
def test_page_fits_the_screen_and_labels_all_inputs(chromium, written, color_scheme, width):
    with opened(chromium, written, color_scheme=color_scheme, width=width) as (page, errors):
        assert page.inner_text("h1") == "Mixed <b>data</b>"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        unnamed = page.evaluate(
            "[...document.querySelectorAll('input,select')].filter(e => !e.labels.length && !e.ariaLabel).length"
        )
        assert unnamed == 0
        assert page.locator("#performance table").count() >= 2
        assert errors == []


def test_arrow_keys_read_charts_and_move_the_threshold(chromium, written):
    with opened(chromium, written) as (page, errors):
        card = page.locator("#shape-grid .card").first
        card.locator("svg").focus()
        page.keyboard.press("ArrowRight")
        first = card.locator(".readout").inner_text()
        page.keyboard.press("ArrowRight")
        assert ": " in first
        assert card.locator(".readout").inner_text() != first
        before = page.inner_text(".confusion caption")
        page.locator("#threshold").focus()
        page.keyboard.press("ArrowRight")
        assert page.inner_text(".confusion caption") != before
        assert errors == []


def test_report_on_200_features_is_below_1_mb(chromium, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 20, (400, 200)).astype(float)
    y = (rng.integers(5, 15, 200) >= X) @ rng.normal(size=200) + rng.normal(size=400)
    gam = SparseGAMRegressor(lambda0=0.5, max_terms=60).fit(X, y)
    file = write_report(tmp_path / "wide.html", gam.model_, X, y, settings=gam.get_params())
    assert file.stat().st_size < 1_000_000
    with opened(chromium, file) as (page, errors):
        assert page.locator("#columns tbody tr").count() == 200
        page.fill("#form-filter", gam.model_.features[0])
        assert page.locator("#form .field:visible").count() >= 1
        assert errors == []


def test_page_shows_labels_subgroups_texts_and_scorecard(annotated, chromium):
    frame, _, model, card, file = annotated
    drawn, known = annotated_test_data()["number"], frame["number"][frame["number"] != SPECIAL]
    beyond = ((drawn != SPECIAL) & ((drawn < known.min()) | (drawn > known.max()))).sum()
    assert beyond >= 5
    with opened(chromium, file) as (page, errors):
        assert "A. <b>Analyst</b>" in page.inner_text("#about")
        assert "Amount owed (EUR)" in page.inner_text("#shapes")
        assert "Amount owed <= " in page.inner_text("#term-statistics")
        assert page.locator("#scorecard table").nth(0).locator("tbody tr").count() == len(card.table())
        assert page.locator("#scorecard table").nth(1).locator("tbody tr").count() == len(card.risks)
        groups = page.locator("#performance .scroll", has_text="Performance by subgroup").locator("tbody tr")
        assert groups.count() == 2 + 5
        text = page.inner_text("#performance")
        assert "Gini" in text
        assert "KS" in text
        assert "Net benefit" in text
        assert page.locator("#ranges tbody tr").count() == len(model.features)
        assert page.locator("#ranges tbody tr", has_text="Amount owed").locator("td").nth(3).inner_text() == str(beyond)
        axis = page.locator("#shapes .card[data-feature=flag] svg").inner_html()
        assert ">False<" in axis
        assert ">True<" in axis
        region = page.locator("#shapes .card[data-feature=region] svg text").all_text_contents()
        assert LONG_LEVEL in " ".join(region)
        assert f"north · {int((frame['region'] == 'north').sum())} rows" in region
        assert errors == []


def test_printed_page_is_complete(annotated, chromium, tmp_path):
    _, _, model, _, file = annotated
    with opened(chromium, file, width=703) as (page, errors):
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        shown = "[...document.querySelectorAll('pre, .scroll')].filter((part) => part.offsetParent)"
        cut = f"{shown}.filter((part) => part.scrollWidth > part.clientWidth + 1)"
        assert page.evaluate(f"{cut}.map((part) => part.getAttribute('aria-label'))") == []
        assert page.locator("#shapes details:not([open])").count() == 0
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.locator("#shapes details[open]").count() == 0
        assert errors == []
        if shutil.which("pdftotext") is None:
            pytest.skip("no pdftotext is installed (Debian: apt-get install poppler-utils)")
        page.pdf(path=tmp_path / "report.pdf", format="A4")
    text = subprocess.run(
        ["pdftotext", "-layout", tmp_path / "report.pdf", "-"], capture_output=True, text=True, check=True
    ).stdout
    assert all(f": {name}" in text for name in model.features)
    pages = [page.strip().splitlines() for page in text.split("\f") if page.strip()]
    headings = ("Model equation", "Term statistics", "Performance", "Number of terms", "Scorecard")
    assert all(page[-1].strip() not in headings for page in pages)
    assert "std. error" in text


@pytest.mark.parametrize("kind", ["additive", "linear"])
def test_page_of_a_multiclass_model_has_a_report_for_each_class(chromium, tmp_path, kind):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=300), "b": rng.normal(size=300)})
    y = np.select([X["a"] > 0.5, X["b"] > 0], ["one", "two"], "three")
    estimator = SparseGAMClassifier(max_terms=4) if kind == "additive" else SparseLinearClassifier()
    file = estimator.fit(X, y).report(tmp_path / "r.html", X, y)
    with opened(chromium, file) as (page, errors):
        assert page.locator("#classes tbody tr").count() == 3
        assert "probability of one" in page.inner_text("#summary")
        assert "P(one)" in page.inner_text("#equation")
        errors.clear()
        page.locator("#classes a", has_text="two").click()
        assert "probability of two" in page.inner_text("#summary")
        assert [one for one in errors if "?class=" not in one] == []


def test_page_of_a_linear_model(chromium, tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 6))
    y = 2 * X[:, 1] - X[:, 4] + 1e-3 * rng.normal(size=300)
    model = SparseLinearRegressor(lambda2=0.0).fit(X, y).model_
    file = model.report(tmp_path / "r.html", X, y, groups={"side": np.where(X[:, 0] > 0, "left", "right")})
    with opened(chromium, file) as (page, errors):
        for name, value in (("x1", "0.5"), ("x4", "-1.25")):
            page.evaluate(FILL, [name, value])
        row = np.zeros((1, 6))
        row[0, [1, 4]] = 0.5, -1.25
        found = float(page.get_attribute("#result", "data-score"))
        assert found == pytest.approx(model.decision_function(row)[0], abs=1e-9)
        page.evaluate(FILL, ["x1", ""])
        assert "enter a number" in page.inner_text("#result")
        assert page.locator("#performance .scroll", has_text="Performance by subgroup").locator("tbody tr").count() == 2
        assert errors == []
    assert write_report(tmp_path / "bare.html", model).stat().st_size > 10_000
