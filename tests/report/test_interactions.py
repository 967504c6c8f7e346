"""The report of a model with products: the form scores to the bit, pictures of pairs are read by pointer and by key."""

import warnings

import numpy as np
import pandas as pd
import pytest
from _helpers import products
from _helpers.browser import launch_chromium, opened  # noqa: F401
from report.test_report import FILL

from sparsegam.report import write_report
from sparsegam.report._content import content
from sparsegam.report._data import Material, Sample


@pytest.fixture(scope="module")
def fitted():
    frame, y = products.table()
    return products.as_fitted(products.written(), frame, y), frame, y


@pytest.fixture(scope="module")
def written(fitted, tmp_path_factory):
    model, frame, y = fitted
    return write_report(tmp_path_factory.mktemp("pairs") / "report.html", model, frame, y)


def test_pairs_are_parts_of_the_content(fitted):
    model, frame, y = fitted
    parts = content(Material(model, "t", train=Sample.of(frame, y)))
    assert [pair["name"] for pair in parts["pairs"]] == ["age & priors", "age & hours", "hours & colour"]
    assert {feature["name"]: feature["own"] for feature in parts["features"]} == {
        "age": True,
        "priors": True,
        "colour": False,
        "hours": False,
    }
    for pair in parts["pairs"]:
        grid = pair["grid"]
        assert np.sum(grid["counts"]) == len(frame)
        assert np.average(grid["adds"], weights=grid["counts"]) == pytest.approx(0.0, abs=1e-12)
    assert parts["standing"]["terms"][2]["condition"] == "age <= 25 and priors > 3"
    assert "above all priors, hours & colour and age" in parts["sentence"]
    assert "no column for the term" in parts["alternatives"]["note"]
    bare = content(Material(products.written(), "t"))
    assert bare["pairs"][0]["grid"]["counts"] is None


def cases(n, seed=0):
    """Values at and around thresholds, missing ones and levels that no row had."""
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


def test_form_adds_up_pairs_to_the_bit(chromium, fitted, written):
    model, _, _ = fitted
    rows = cases(80)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # values that no row had
        expected = model.decision_function(rows)
    levels = ["red", "green", "blue"]
    with opened(chromium, written) as (tab, wrong):
        found = []
        for _, row in rows.iterrows():
            for name in ("age", "priors", "hours"):
                tab.evaluate(FILL, [name, "" if np.isnan(row[name]) else repr(float(row[name]))])
            place = "NaN" if row["colour"] is None else levels.index(row["colour"]) if row["colour"] in levels else -1
            tab.evaluate(FILL, ["colour", str(place)])
            found.append(float(tab.get_attribute("#result", "data-score")))
        assert tab.locator("#waterfall .track").count() == len(model.parts)
        assert "age & priors" in tab.inner_text("#waterfall")
        assert wrong == []
    assert found == expected.tolist()


def test_pictures_of_pairs_are_read_by_pointer_and_by_key(chromium, fitted, written):
    _, frame, _ = fitted
    young = int(((frame["age"] <= 25) & (frame["priors"] > 3)).sum())
    with opened(chromium, written) as (tab, wrong):
        card = tab.locator("#shape-grid .card[data-feature='age & priors']")
        picture, readout = card.locator("svg"), card.locator(".readout")
        assert card.locator("rect.cell").count() == 9
        picture.focus()
        tab.keyboard.press("ArrowRight")
        assert readout.inner_text().startswith("age ≤ 25, priors ≤ 1: add")
        tab.keyboard.press("ArrowUp")
        tab.keyboard.press("ArrowUp")
        tab.keyboard.press("ArrowUp")
        assert readout.inner_text().startswith("age ≤ 25, priors > 3: add +0.8515 ± 0.73")
        assert readout.inner_text().endswith(f"{young} rows")
        picture.scroll_into_view_if_needed()
        box = picture.bounding_box()
        tab.mouse.move(box["x"] + 0.95 * box["width"], box["y"] + 0.2 * box["height"])
        assert readout.inner_text().startswith("age > 40, priors > 3: add")
        card.locator("summary").click()
        assert card.locator("tbody tr").count() == 16  # with values that no row had
        assert "comes on top of what each adds by itself" in tab.inner_text("#shapes")
        assert tab.locator("#form .field").count() == 4
        assert wrong == []


@pytest.mark.parametrize(("color_scheme", "width"), [("dark", 1200), ("light", 380)])
def test_page_with_pairs_is_whole_on_any_screen(chromium, written, color_scheme, width):
    with opened(chromium, written, color_scheme=color_scheme, width=width) as (tab, wrong):
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert wrong == []
