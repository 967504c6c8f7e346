"""The scoring form and the counterfactuals of a page, compared with Python."""

import datetime as dt
import warnings

import numpy as np
import pandas as pd
import pytest
from _helpers.browser import launch_chromium, opened  # noqa: F401
from _helpers.reports import FILL, LEVELS, SPECIAL, fit_mixed, form_text, write_annotated, write_mixed, write_ramps  # noqa: F401

from sparsegam import (
    SparseGAMRegressor,
)


def random_cases(frame, n, seed=3):
    """Return random rows, with special, missing and new values."""
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


def test_form_scores_like_decision_function(chromium, mixed, written):
    frame, _, gam = mixed
    cases = random_cases(frame, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        expected = gam.model_.decision_function(as_frame(cases))
    levels = {name: list(scale.levels) for name, scale in gam.model_.scales.items()}
    with opened(chromium, written) as (page, errors):
        found = []
        for case in cases:
            for name, value in case.items():
                page.evaluate(FILL, [name, form_text(name, value, levels.get(name, []))])
            found.append(float(page.get_attribute("#result", "data-score")))
        assert page.inner_text("#waterfall").startswith("(training mean)")
        assert errors == []
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_form_reports_invalid_numbers(chromium, written):
    with opened(chromium, written) as (page, errors):
        page.evaluate(FILL, ["number", "abc"])
        assert "number: enter a number" in page.inner_text("#result")
        assert page.get_attribute("#result", "data-score") is None
        assert errors == []


def test_form_scores_ramps_exactly(chromium, ramped):
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
        warnings.simplefilter("ignore", UserWarning)
        expected = model.decision_function(pd.DataFrame(cases).reindex(columns=frame.columns))
    with opened(chromium, file) as (page, errors):
        found = []
        for case in cases:
            for name, value in case.items():
                page.evaluate(FILL, [name, "" if np.isnan(value) else repr(value)])
            found.append(float(page.get_attribute("#result", "data-score")))
        assert errors == []
    assert found == expected.tolist()


def test_counterfactual_of_the_page_costs_as_much_as_that_of_python(annotated, chromium):
    frame, _, model, _, file = annotated
    levels = {name: list(scale.levels) for name, scale in model.scales.items()}
    with opened(chromium, file) as (page, errors):
        page.evaluate("document.getElementById('counterfactual').open = true")
        for i in range(12):
            row = frame.iloc[[i]]
            for name in frame.columns:
                page.evaluate(FILL, [name, form_text(name, row[name].iloc[0], levels.get(name, []))])
            goal = (0.2, 0.8)[i % 2]
            page.fill("#target", str(100 * goal))
            found = model.counterfactual(row, target=goal)
            assert found.found == bool(page.get_attribute("#changes", "data-cost"))
            if found.found:
                assert float(page.get_attribute("#changes", "data-cost")) == pytest.approx(found.cost, abs=1e-9)
        page.fill("#target", "150")
        assert "between 0 and 100" in page.inner_text("#changes")
        assert errors == []


@pytest.mark.parametrize("interactions", [0, 3])
def test_counterfactual_of_the_page_along_ramps_costs_as_much_as_that_of_python(chromium, tmp_path, interactions):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.normal(40, 13, 700), "b": rng.integers(0, 60, 700) * 1.0, "c": rng.random(700)})
    y = 0.1 * np.minimum(frame["a"] - 45, 0) + (frame["b"] <= 20) - 3 * np.minimum(frame["c"] - 0.5, 0)
    y += 1.5 * ((frame["a"] > 40) & (frame["c"] <= 0.5)) * (interactions > 0)
    gam = SparseGAMRegressor(max_terms=8, max_bins=20, shapes="both", interactions=interactions)
    model = gam.fit(frame, y + rng.normal(0, 0.3, 700)).model_
    assert bool(model.pair_functions()) == bool(interactions)
    file = model.report(tmp_path / "r.html", frame, y)
    with opened(chromium, file) as (page, errors):
        page.evaluate("document.getElementById('counterfactual').open = true")
        for i in range(10):
            row = frame.iloc[[i]]
            for name in frame.columns:
                page.evaluate(FILL, [name, repr(float(row[name].iloc[0]))])
            found = model.counterfactual(row, target=0.75)
            page.fill("#target", "0.75")
            cost = page.get_attribute("#changes", "data-cost")
            assert (float(cost) if cost else None) == (pytest.approx(found.cost, abs=1e-9) if found.found else None)
        assert errors == []
