"""The report: its content in Python, and the page in a real browser."""

import datetime as dt
import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from _helpers.browser import launch_chromium, opened  # noqa: F401

from sparsegam import SparseGAMClassifier, SparseGAMClassifierCV, SparseGAMRegressor, gam_path
from sparsegam._io.writing import write_atomically
from sparsegam.report import write_report
from sparsegam.report._content import content
from sparsegam.report._data import Material, Sample
from sparsegam.report._write import page

SPECIAL = -9.0
LEVELS = ("north", "south", "east", "<script>alert(1)</script>")


def make_mixed(n=600, seed=0):
    """Numbers with missing and special values, booleans, dates, times, categories, ordered categories."""
    rng = np.random.default_rng(seed)
    number = rng.normal(50, 20, n).round(3)
    number[rng.random(n) < 0.1] = np.nan
    number[rng.random(n) < 0.1] = SPECIAL
    region = rng.choice(LEVELS, n).astype(object)
    region[rng.random(n) < 0.1] = None
    days = rng.integers(0, 1000, n)
    grade = pd.Categorical(rng.choice(["low", "middle", "high"], n), categories=["low", "middle", "high"], ordered=True)
    frame = pd.DataFrame(
        {
            "number": number,
            "whole": rng.integers(-3, 30, n),
            "flag": rng.random(n) < 0.5,
            "region": region,
            "day": [dt.date(2020, 1, 1) + dt.timedelta(days=int(d)) for d in days],
            "time": pd.Timestamp("2021-03-01 12:00") + pd.to_timedelta(rng.integers(0, 10**6, n), unit="s"),
            "grade": grade,
        }
    )
    score = (
        2.0 * (np.nan_to_num(number, nan=80) <= 45)
        - 2.0 * (number == SPECIAL)
        + 1.5 * (region == "north")
        - 1.5 * pd.isna(region)
        + 1.2 * frame["flag"]
        + 1.5 * (days <= 400)
        + 1.2 * (frame["whole"] <= 5)
        + 1.5 * (grade.codes <= 0)
        + 1.5 * (frame["time"] <= pd.Timestamp("2021-03-05"))
        - 3.0
    )
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-score.to_numpy())), "yes", "no")
    return frame, y


@pytest.fixture(scope="module")
def mixed():
    frame, y = make_mixed()
    gam = SparseGAMClassifier(lambda0=1.5, special_values={"number": [SPECIAL]}).fit(frame, y)
    assert set(gam.model_.features) == set(frame.columns)
    return frame, y, gam


@pytest.fixture(scope="module")
def written(mixed, tmp_path_factory):
    frame, y, gam = mixed
    X_test, y_test = make_mixed(300, seed=1)
    file = tmp_path_factory.mktemp("report") / "report.html"
    return write_report(
        file, gam.model_, frame, y, X_test=X_test, y_test=y_test, settings=gam.get_params(), title="Mixed <b>data</b>"
    )


def test_report_is_one_small_file_that_names_no_other(written):
    text = written.read_text(encoding="utf-8")
    assert len(text.encode()) < 1_000_000
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in text
    assert "<b>data" not in text
    assert "<script>alert" not in text


def test_report_says_what_steps_stand_on(mixed):
    frame, y, gam = mixed
    parts = content(Material(gam.model_, "t", train=Sample.of(frame, y), settings=gam.get_params()))
    lines = parts["standing"]["terms"]
    assert [line["rows"] for line in lines] == [term.n_rows for term in gam.terms_]
    assert [line["error"] for line in lines] == [term.standard_error for term in gam.terms_]
    assert parts["standing"]["start"]["events"] == (y == "yes").sum()
    pieces = [piece for feature in parts["features"] for piece in feature["pieces"]]
    assert all(piece["error"] > 0 for piece in pieces if piece["count"])
    assert parts["stability"] is None
    bare = content(Material(replace(gam.model_, terms=()), "t"))
    assert bare["standing"] is None


def test_the_page_shows_steps_and_which_come_back(mixed, tmp_path, chromium):
    frame, y, gam = mixed
    found = gam.stability(frame, y, n=4)
    file = gam.report(tmp_path / "report.html", frame, y, stability=found)
    with opened(chromium, file) as (page, wrong):
        assert page.locator("#standing tbody tr").count() == gam.n_terms_ + 1
        cells = page.locator("#standing tbody tr").nth(1).locator("td").all_inner_texts()
        assert cells[3] == f"{gam.terms_[0].n_rows:,}"
        assert page.locator("#stability tbody tr").count() == gam.n_terms_
        shares = page.locator("#stability meter").evaluate_all("all => all.map((one) => one.value)")
        assert shares[1::2] == [term.share for term in found.terms]
        assert page.locator("#shapes .band").count() > 0
        assert not wrong
    without = gam.report(tmp_path / "without.html")
    with opened(chromium, without) as (page, wrong):
        assert page.locator("#stability").is_hidden()
        assert page.locator("#standing").is_visible()
        assert not wrong


def test_report_says_what_was_measured(mixed):
    frame, y, gam = mixed
    parts = content(Material(gam.model_, "t", train=Sample.of(frame, y), settings=gam.get_params()))
    assert "rows it was fitted to" in parts["sentence"]
    assert parts["quality"]["metrics"][0]["name"] == "AUC"
    assert parts["frontier"]["own"]["objective"] == pytest.approx(gam.objective_ - gam.lambda0_ * gam.n_terms_)
    assert len(parts["alternatives"]["terms"]) == gam.n_terms_
    assert {column["name"] for column in parts["reading"]} == set(frame.columns)


def test_what_is_read_is_centred_and_what_is_added_up_is_not(mixed):
    frame, y, gam = mixed
    parts = content(Material(gam.model_, "t", train=Sample.of(frame, y)))
    assert parts["centred"]
    assert parts["intercept"] == gam.intercept_
    assert parts["baseline"] == pytest.approx(gam.decision_function(frame).mean())
    for feature in parts["features"]:
        weighed = [piece["value"] * piece["count"] for piece in feature["pieces"]]
        assert sum(weighed) / len(frame) == pytest.approx(0.0, abs=1e-9)
        assert sum(piece["count"] for piece in feature["pieces"]) == len(frame)
    flag = next(feature for feature in parts["features"] if feature["name"] == "flag")
    assert flag["pieces"][-1]["label"] == "missing: no such row was seen"
    assert flag["pieces"][-1]["value"] == 0.0
    assert not flag["pieces"][-1]["drawn"]
    assert flag["missing"] == flag["mean"] != 0.0


def test_hash_is_of_model_and_rows(mixed):
    frame, y, gam = mixed
    hashes = [
        content(Material(gam.model_, "t", train=Sample.of(data, y)))["facts"]["hashes"]
        for data in (frame, frame.copy(), frame.assign(whole=frame["whole"] + 1))
    ]
    assert hashes[0] == hashes[1]
    assert hashes[0]["model"] == hashes[2]["model"]
    assert hashes[0]["training rows"] != hashes[2]["training rows"]


@pytest.mark.parametrize("n_terms", [0, 1])
def test_small_models_and_no_data(mixed, tmp_path, n_terms):
    frame, y, _ = mixed
    path = gam_path(frame, y, max_terms=3)
    bare = write_report(tmp_path / "bare.html", path.at(n_terms=n_terms))
    full = write_report(tmp_path / "full.html", path.at(n_terms=n_terms), frame, y, path=path)
    assert bare.stat().st_size < full.stat().st_size


def test_labels_that_the_model_does_not_know(mixed, tmp_path):
    frame, y, gam = mixed
    with pytest.raises(ValueError, match="classes of the model"):
        write_report(tmp_path / "r.html", gam.model_, frame, np.where(y == "yes", "Yes", "no"))
    assert list(tmp_path.iterdir()) == []


def test_file_appears_whole_or_not_at_all(tmp_path):
    file = tmp_path / "there" / "r.html"
    with pytest.raises(FileNotFoundError):
        write_atomically(file, "text")
    file.parent.mkdir()
    assert write_atomically(file, "text").read_text() == "text"
    assert [f.name for f in file.parent.iterdir()] == ["r.html"]


def test_content_cannot_end_its_script(mixed):
    frame, y, gam = mixed
    parts = content(Material(gam.model_, "</script><b>", train=Sample.of(frame, y)))
    text = page(parts)
    inside = text.split('type="application/json">')[1].split("</script>")[0]
    assert json.loads(inside)["title"] == "</script><b>"


def random_cases(frame, n, seed=3):
    """Rows of values as the form takes them, and as a frame for Python: ends, specials, missing and unseen ones."""
    rng = np.random.default_rng(seed)
    cases = []
    for _ in range(n):
        number = rng.choice([rng.normal(50, 25), SPECIAL, np.nan, 45.0])
        case = {
            "number": float(number),
            "whole": float(rng.choice([rng.integers(-5, 35), np.nan])),
            "flag": rng.choice([True, False, None]),
            "region": rng.choice([*LEVELS, "another", None]),
            "day": rng.choice([dt.date(2019, 12, 1) + dt.timedelta(days=int(rng.integers(0, 1100))), None]),
            "time": rng.choice(
                [dt.datetime(2021, 2, 28) + dt.timedelta(seconds=int(rng.integers(0, 1_300_000))), None]
            ),
            "grade": rng.choice(["low", "middle", "high", None]),
        }
        cases.append(case)
    return cases


def as_frame(cases):
    frame = pd.DataFrame(cases)
    frame["flag"] = frame["flag"].astype(object)
    frame["time"] = pd.to_datetime(frame["time"])
    frame["grade"] = pd.Categorical(frame["grade"], categories=["low", "middle", "high"], ordered=True)
    return frame


def as_text(name, value, levels):
    """What a user would put into the field of the form."""
    missing = value is None or value != value  # noqa: PLR0124
    if name in ("region", "grade", "flag"):
        if missing:
            return "NaN"
        return str(int(value)) if name == "flag" else str(levels.index(value) if value in levels else -1)
    if missing:
        return ""
    return value.isoformat() if name in ("day", "time") else repr(value)


FILL = """([name, value]) => {
    const box = [...document.querySelectorAll("#form .field")].find((field) => field.dataset.feature === name);
    const input = box.querySelector("select, input:not([type=range])");
    input.value = value;
    input.dispatchEvent(new Event("input", { bubbles: true }));
}"""


def test_form_scores_as_decision_function_does(chromium, mixed, written):
    frame, _, gam = mixed
    cases = random_cases(frame, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # unseen levels
        expected = gam.model_.decision_function(as_frame(cases))
    levels = {name: list(scale.levels) for name, scale in gam.model_.scales.items()}
    with opened(chromium, written) as (tab, wrong):
        found = []
        for case in cases:
            for name, value in case.items():
                tab.evaluate(FILL, [name, as_text(name, value, levels.get(name, []))])
            found.append(float(tab.get_attribute("#result", "data-score")))
        assert tab.inner_text("#waterfall").startswith("(mean score)")
        assert wrong == []
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@pytest.fixture(scope="module")
def ramped(tmp_path_factory):
    """A model of steps and ramps of three columns, and a report that is not told of its shapes."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"a": rng.normal(40, 13.7, 800), "b": rng.integers(0, 60, 800) * 1.0, "c": rng.random(800)})
    frame.loc[::9, "a"] = np.nan
    frame.loc[::7, "b"] = SPECIAL
    score = 0.1 * np.minimum(frame["a"].fillna(30) - 45, 0) + (frame["b"] <= 20) - 3 * np.minimum(frame["c"] - 0.5, 0)
    y = score + rng.normal(0, 0.3, 800)
    gam = SparseGAMRegressor(max_terms=8, max_bins=20, shapes="both", special_values={"b": [SPECIAL]}).fit(frame, y)
    file = tmp_path_factory.mktemp("ramps") / "report.html"
    return frame, y, gam.model_, write_report(file, gam.model_, frame, y, settings={"max_bins": 20})


def test_form_goes_along_ramps_to_the_bit(chromium, ramped):
    frame, _, model, file = ramped
    assert sum(term.condition.is_ramp for term in model.terms) >= 2
    rng = np.random.default_rng(0)
    ends = {name: shape.bins.edges for name, shape in model.shape_functions().items()}
    cases = [
        {
            name: float(rng.choice([rng.choice([e, np.nextafter(e, 9e9)]), rng.normal(30, 40), np.nan, -99.0]))
            for name, edges in ends.items()
            for e in [rng.choice(edges)]
        }
        for _ in range(60)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # values that no row had
        expected = model.decision_function(pd.DataFrame(cases).reindex(columns=frame.columns))
    with opened(chromium, file) as (tab, wrong):
        found = []
        for case in cases:
            for name, value in case.items():
                tab.evaluate(FILL, [name, "" if np.isnan(value) else repr(value)])
            found.append(float(tab.get_attribute("#result", "data-score")))
        assert wrong == []
    assert found == expected.tolist()


def test_ramps_are_drawn_and_read_as_straight_pieces(chromium, ramped):
    _, _, model, file = ramped
    shape = model.shape_functions(centred=True)["a"]
    slope = shape.slopes[np.flatnonzero(shape.slopes)[0]]
    with opened(chromium, file) as (tab, wrong):
        card = tab.locator("#shape-grid .card[data-feature=a]")
        assert "L" in card.locator("path.step").get_attribute("d")
        assert len(card.locator("polygon.band").nth(1).get_attribute("points").split(" ")) > 20
        card.locator("svg").scroll_into_view_if_needed()
        box = card.locator("svg").bounding_box()
        readings = set()
        for share in (0.3, 0.4):
            tab.mouse.move(box["x"] + share * box["width"], box["y"] + 0.4 * box["height"])
            readings.add(card.locator(".readout").inner_text())
        assert len(readings) == 2
        assert all("per unit" in one and one.startswith("at ") for one in readings)
        card.locator("summary").click()
        cells = card.locator("tbody tr").nth(1).locator("td").all_inner_texts()
        assert " to " in cells[1]
        assert float(cells[2].replace("\u2212", "-")) == pytest.approx(slope, rel=0.01)
        assert "per unit" in tab.inner_text("#standing")
        assert tab.locator("#alternatives tbody tr").count() == model.n_terms
        assert "so much per unit along each of" in tab.inner_text("#sentence")
        assert wrong == []


@pytest.mark.parametrize(("color_scheme", "width"), [("light", 1200), ("dark", 1200), ("light", 380)])
def test_page_is_whole_on_any_screen(chromium, written, color_scheme, width):
    with opened(chromium, written, color_scheme=color_scheme, width=width) as (tab, wrong):
        assert tab.inner_text("h1") == "Mixed <b>data</b>"
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        unnamed = tab.evaluate(
            "[...document.querySelectorAll('input,select')].filter(e => !e.labels.length && !e.ariaLabel).length"
        )
        assert unnamed == 0
        assert tab.locator("#quality table").count() >= 2
        assert wrong == []


def test_keyboard_reads_the_steps_and_moves_the_threshold(chromium, written):
    with opened(chromium, written) as (tab, wrong):
        card = tab.locator("#shape-grid .card").first
        card.locator("svg").focus()
        tab.keyboard.press("ArrowRight")
        first = card.locator(".readout").inner_text()
        tab.keyboard.press("ArrowRight")
        assert "adds" in first
        assert card.locator(".readout").inner_text() != first
        before = tab.inner_text(".confusion caption")
        tab.locator("#threshold").focus()
        tab.keyboard.press("ArrowRight")
        assert tab.inner_text(".confusion caption") != before
        assert wrong == []


def test_form_says_what_it_cannot_read(chromium, written):
    with opened(chromium, written) as (tab, wrong):
        tab.evaluate(FILL, ["number", "abc"])
        assert "number: please type a number" in tab.inner_text("#result")
        assert tab.get_attribute("#result", "data-score") is None
        assert wrong == []


def test_two_hundred_features_stay_small(chromium, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 20, (400, 200)).astype(float)
    y = (rng.integers(5, 15, 200) >= X) @ rng.normal(size=200) + rng.normal(size=400)
    gam = SparseGAMRegressor(lambda0=0.5, max_terms=60).fit(X, y)
    file = write_report(tmp_path / "wide.html", gam.model_, X, y, settings=gam.get_params())
    assert file.stat().st_size < 1_000_000
    with opened(chromium, file) as (tab, wrong):
        assert tab.locator("#reading tbody tr").count() == 200
        tab.fill("#form-filter", gam.model_.features[0])
        assert tab.locator("#form .field:visible").count() >= 1
        assert wrong == []


@pytest.mark.parametrize("kind", ["model", "estimator", "frontier"])
def test_everything_that_has_a_model_reports(mixed, tmp_path, kind):
    frame, y, gam = mixed
    file = tmp_path / "r.html"
    if kind == "model":
        gam.model_.report(file, frame, y, title="t")
    elif kind == "estimator":
        gam.report(str(file), frame, y)
    else:
        SparseGAMClassifierCV(max_terms=3, cv=2).fit(frame, y).report(file, frame, y)
    assert "confusion" in file.read_text(encoding="utf-8")


def test_other_models_are_refused(tmp_path):
    with pytest.raises(ValueError, match="an additive or a linear model, got int"):
        write_report(tmp_path / "r.html", 3)
