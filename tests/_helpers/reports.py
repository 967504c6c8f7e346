"""Data for the tests of reports, and functions that fill in the scoring form of a page."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from sparsegam import SparseGAMClassifier, SparseGAMRegressor
from sparsegam.report import write_report

SPECIAL = -9.0
LONG_LEVEL = "the eastern provinces without the islands, but with the mountain districts of the north"
LEVELS = ("north", "south", "east", "<script>alert(1)</script>")

# Sets the field of a feature to a text.
FILL = """([name, value]) => {
    const box = [...document.querySelectorAll("#form .field")].find((field) => field.dataset.feature === name);
    const input = box.querySelector("select, input:not([type=range])");
    input.value = value;
    input.dispatchEvent(new Event("input", { bubbles: true }));
}"""


def make_mixed(n=600, seed=0):
    """Return numbers with missing and special values, booleans, dates, times, categories, ordered categories."""
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


def form_text(name, value, levels):
    """Return what a user would enter for a value of a feature of `make_mixed`."""
    is_missing = value is None or pd.isna(value)
    if name in ("region", "grade", "flag"):
        if is_missing:
            return "NaN"
        return str(int(value)) if name == "flag" else str(levels.index(value) if value in levels else -1)
    if is_missing:
        return ""
    return value.isoformat() if name in ("day", "time") else repr(float(value))


@pytest.fixture(scope="session", name="mixed")
def fit_mixed():
    frame, y = make_mixed()
    gam = SparseGAMClassifier(lambda0=1.5, special_values={"number": [SPECIAL]}).fit(frame, y)
    assert set(gam.model_.features) == set(frame.columns)
    return frame, y, gam


@pytest.fixture(scope="session", name="written")
def write_mixed(mixed, tmp_path_factory):
    frame, y, gam = mixed
    X_test, y_test = make_mixed(300, seed=1)
    file = tmp_path_factory.mktemp("report") / "report.html"
    return write_report(
        file, gam.model_, frame, y, X_test=X_test, y_test=y_test, settings=gam.get_params(), title="Mixed <b>data</b>"
    )


@pytest.fixture(scope="session", name="ramped")
def write_ramps(tmp_path_factory):
    """Return a model with steps and ramps, and a report whose settings do not contain `shapes`."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"a": rng.normal(40, 13.7, 800), "b": rng.integers(0, 60, 800) * 1.0, "c": rng.random(800)})
    frame.loc[::9, "a"] = np.nan
    frame.loc[::7, "b"] = SPECIAL
    score = 0.1 * np.minimum(frame["a"].fillna(30) - 45, 0) + (frame["b"] <= 20) - 3 * np.minimum(frame["c"] - 0.5, 0)
    y = score + rng.normal(0, 0.3, 800)
    gam = SparseGAMRegressor(max_terms=8, max_bins=20, shapes="both", special_values={"b": [SPECIAL]}).fit(frame, y)
    file = tmp_path_factory.mktemp("ramps") / "report.html"
    return frame, y, gam.model_, write_report(file, gam.model_, frame, y, settings={"max_bins": 20})


def annotated_test_data():
    frame = make_mixed(300, seed=1)[0]
    frame["region"] = frame["region"].replace({"east": LONG_LEVEL})
    frame.loc[:4, "number"] = 1e6
    return frame


@pytest.fixture(scope="session", name="annotated")
def write_annotated(tmp_path_factory):
    """Return a report with all optional arguments."""
    frame, y = make_mixed(900)
    frame["region"] = frame["region"].replace({"east": LONG_LEVEL})
    gam = SparseGAMClassifier(lambda0=1.5, special_values={"number": [SPECIAL]}).fit(frame, y)
    X_test, y_test = annotated_test_data(), make_mixed(300, seed=1)[1]
    card = gam.model_.scorecard(frame, y)
    file = gam.report(
        tmp_path_factory.mktemp("annotated") / "report.html",
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
