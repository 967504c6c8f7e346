"""Reports on models with interactions."""

import warnings

import numpy as np
import pandas as pd
import pytest
from _helpers import products
from _helpers.browser import launch_chromium, opened  # noqa: F401
from _helpers.reports import FILL

from sparsegam.report import write_report
from sparsegam.report._content import report_content
from sparsegam.report._data import Dataset, ReportData


@pytest.fixture(scope="module")
def fitted():
    frame, y = products.table()
    return products.as_fitted(products.written(), frame, y), frame, y


@pytest.fixture(scope="module")
def written(fitted, tmp_path_factory):
    model, frame, y = fitted
    return write_report(tmp_path_factory.mktemp("pairs") / "report.html", model, frame, y)


def test_report_content_has_interactions(fitted):
    model, frame, y = fitted
    parts = report_content(ReportData(model, "t", train=Dataset.read(frame, y)))
    assert [pair["name"] for pair in parts["interactions"]] == ["age & priors", "age & hours", "hours & colour"]
    assert {feature["name"]: feature["has_main_effect"] for feature in parts["features"]} == {
        "age": True,
        "priors": True,
        "colour": False,
        "hours": False,
    }
    for pair in parts["interactions"]:
        grid = pair["grid"]
        assert np.sum(grid["counts"]) == len(frame)
        assert np.average(grid["contributions"], weights=grid["counts"]) == pytest.approx(0.0, abs=1e-12)
    assert parts["term_statistics"]["terms"][2]["condition"] == "age <= 25 and priors > 3"
    assert "most important are priors, hours & colour and age" in parts["summary"]
    assert "no candidate for the term" in parts["alternatives"]["note"]
    bare = report_content(ReportData(products.written(), "t"))
    assert bare["interactions"][0]["grid"]["counts"] is None


def cases(n, seed=0):
    """Return rows with values at and around thresholds, missing values and new levels."""
    rng = np.random.default_rng(seed)
    ages = [18.0, 25.0, 25.000000001, 30.0, 35.0, 40.0, 40.5, np.nan]
    frame = pd.DataFrame(
        {
            "age": rng.choice(ages, n),
            "priors": rng.choice([0.0, 1.0, 1.5, 2.0, 3.0, 3.5, 9.0, np.nan], n),
            "hours": rng.choice([0.0, 20.0, 20.25, 49.0, np.nan], n),
        }
    )
    colours = ["red", "green", "blue", "grey", None]
    return frame.assign(colour=[colours[i] for i in rng.integers(0, 5, n)], unused=0.0)


def test_form_scores_interactions_exactly(chromium, fitted, written):
    model, _, _ = fitted
    rows = cases(80)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        expected = model.decision_function(rows)
    levels = ["red", "green", "blue"]
    with opened(chromium, written) as (page, errors):
        found = []
        for _, row in rows.iterrows():
            for name in ("age", "priors", "hours"):
                page.evaluate(FILL, [name, "" if np.isnan(row[name]) else repr(float(row[name]))])
            place = "NaN" if row["colour"] is None else levels.index(row["colour"]) if row["colour"] in levels else -1
            page.evaluate(FILL, ["colour", str(place)])
            found.append(float(page.get_attribute("#result", "data-score")))
        assert page.locator("#waterfall .track").count() == len(model.parts)
        assert "age & priors" in page.inner_text("#waterfall")
        assert errors == []
    assert found == expected.tolist()


def test_pointer_and_arrow_keys_read_the_cells_of_an_interaction(chromium, fitted, written):
    _, frame, _ = fitted
    young = int(((frame["age"] <= 25) & (frame["priors"] > 3)).sum())
    with opened(chromium, written) as (page, errors):
        card = page.locator("#shape-grid .card[data-feature='age & priors']")
        picture, readout = card.locator("svg"), card.locator(".readout")
        assert card.locator("rect.cell").count() == 9
        picture.focus()
        page.keyboard.press("ArrowRight")
        assert readout.inner_text().startswith("age ≤ 25, priors ≤ 1: ")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowUp")
        assert readout.inner_text().startswith("age ≤ 25, priors > 3: +0.8515 (95 %: +0.")
        assert readout.inner_text().endswith(f"{young} rows")
        picture.scroll_into_view_if_needed()
        box = picture.bounding_box()
        page.mouse.move(box["x"] + 0.95 * box["width"], box["y"] + 0.2 * box["height"])
        assert readout.inner_text().startswith("age > 40, priors > 3: ")
        card.locator("summary").click()
        assert card.locator("tbody tr").count() == 16
        assert "Interactions are added to" in page.inner_text("#shapes")
        assert page.locator("#form .field").count() == 4
        assert errors == []


@pytest.mark.parametrize(("color_scheme", "width"), [("dark", 1200), ("light", 380)])
def test_page_with_interactions_fits_the_screen(chromium, written, color_scheme, width):
    with opened(chromium, written, color_scheme=color_scheme, width=width) as (page, errors):
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert errors == []
