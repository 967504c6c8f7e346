"""Plots: every one returns its figure, draws into given axes, and copes with tiny and large models."""

import io
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from _helpers import products

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from sparsegam import Model, SparseGAMClassifier, SparseGAMRegressor, gam_path
from sparsegam._models.pieces import pieces_of
from sparsegam._models.terms import Condition, Term
from sparsegam.plots import (
    plot_calibration,
    plot_contributions,
    plot_frontier,
    plot_pair,
    plot_roc,
    plot_shape,
    plot_shapes,
)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def table():
    """Numbers with missing and special values, a category, a date and a boolean."""
    rng = np.random.default_rng(0)
    n = 500
    frame = pd.DataFrame({f"x{j}": rng.integers(0, 30, n).astype(float) for j in range(12)})
    frame["city"] = rng.choice(["Rome", "Oslo", "Lima", "Bern"], n)
    frame["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 500, n), unit="D")
    frame["flag"] = rng.random(n) < 0.5
    frame.loc[::9, "x0"] = np.nan
    frame.loc[::7, "x1"] = -9
    score = (frame["x0"] <= 12) * 2 + (frame["city"] == "Rome") - (frame["x1"] == -9) + frame["flag"] - 1.5
    return frame, (rng.random(n) < 1 / (1 + np.exp(-score))).astype(int)


@pytest.fixture(scope="module")
def path(table):
    frame, y = table
    return gam_path(frame, y, max_terms=60, special_values={"x1": [-9]})


def curve(figure):
    """Return the line of a picture of a shape: places, and what these add."""
    line = next(line for line in figure.axes[0].lines if line.get_linewidth() > 1.5)
    return line.get_xdata(), line.get_ydata()


def band(figure):
    """Return how wide the band around that line is, place by place."""
    corners = figure.axes[0].collections[0].get_paths()[0].vertices
    n = (len(corners) - 3) // 2
    lower, upper = corners[1 : n + 1], corners[n + 2 : -1][::-1]
    np.testing.assert_array_equal(lower[:, 0], curve(figure)[0])
    return upper[:, 1] - lower[:, 1]


@pytest.mark.parametrize("n_terms", [0, 1, 60])
@pytest.mark.parametrize("with_data", [True, False])
def test_shapes_of_any_number_of_terms(table, path, n_terms, with_data):
    model = path.at(n_terms=n_terms)
    figure = plot_shapes(model, table[0] if with_data else None)
    assert isinstance(figure, Figure)
    figure.canvas.draw()
    titles = {ax.get_title() for ax in figure.axes}
    assert set(model.features) <= titles


def test_a_step_is_drawn_where_it_is():
    model = Model(0.5, (Term("a", Condition("<=", 3.0), -2.0),), ("a",), "squared")
    figure = plot_shape(model, "a", pd.DataFrame({"a": [1.0, 2.0, 5.0]}))
    x, adds = curve(figure)
    np.testing.assert_array_equal(adds, [-2.0, -2.0, 0.0, 0.0])
    assert x[1:3].tolist() == [3.0, 3.0]
    assert [text.get_text() for text in figure.axes[0].texts] == ["2", "1"]


def test_a_ramp_is_a_straight_line_between_its_ends_with_jumps_beside_it():
    terms = Term("a", Condition("ramp", 8.0, 2.0), 0.5), Term("a", Condition("<=", 5.0), 1.0)
    model = Model(0.5, terms, ("a",), "squared")
    rows = pd.DataFrame({"a": [1.0, 3.0, 4.0, 6.0, 7.0, 8.0, 9.0]})
    figure = plot_shape(model, "a", rows)
    x, adds = curve(figure)
    jump = np.flatnonzero(adds[:-1] - adds[1:] > 0.9)
    assert x[jump].tolist() == [5.0]
    np.testing.assert_allclose(adds[jump], -0.5)
    away = np.abs(x - 5.0) > 1e-6
    np.testing.assert_allclose(adds[away], model.shape_functions()["a"].at(x[away]), atol=1e-12)
    assert adds.min() == -2.0
    assert np.ptp(adds) == 2.0
    assert [text.get_text() for text in figure.axes[0].texts] == ["1", "2", "3", "1"]


def test_the_band_of_a_ramp_is_that_of_each_place():
    ages = np.arange(20.0, 80.0)
    y = np.minimum(ages - 50, 0) / 10 + np.random.default_rng(0).normal(size=ages.size)
    model = SparseGAMRegressor(lambda0=0.1, shapes="ramps", max_terms=1).fit(ages[:, None], y).model_
    figure = plot_shape(model, "x0")
    x, widths = curve(figure)[0], band(figure)
    np.testing.assert_allclose(widths, 2 * 1.96 * model.errors_at("x0", x))
    inside = (model.terms[0].condition.low < x) & (x < model.terms[0].condition.value)
    assert widths[inside].min() < 0.5 * min(widths[0], widths[-1])  # least where the shape is at its mean


def test_given_axes_are_used(table, path):
    frame, y = table
    model = path.at(n_terms=4)
    for draw in (
        lambda ax: plot_shape(model, model.features[0], frame, ax=ax),
        lambda ax: plot_contributions(model, frame, row=3, ax=ax),
        lambda ax: plot_frontier(path, n_terms=4, ax=ax),
        lambda ax: plot_calibration(model, frame, y, ax=ax),
        lambda ax: plot_roc(model, frame, y, ax=ax),
    ):
        figure, ax = plt.subplots()
        assert draw(ax) is figure
        assert ax.has_data()


@pytest.mark.parametrize("centred", [None, False])
@pytest.mark.parametrize("n_terms", [0, 1, 60])
def test_contributions_end_at_the_score(table, path, n_terms, centred):
    model = path.at(n_terms=n_terms)
    figure = plot_contributions(model, table[0], row=11, max_features=5, centred=centred)
    marker = figure.axes[0].lines[-1]
    np.testing.assert_allclose(marker.get_xdata()[0], model.decision_function(table[0])[11])
    start = "the mean score" if centred is None else f"the intercept, {model.intercept:.3g}"
    assert f"starts at {start}" in figure.axes[0].get_xlabel()


def test_shapes_are_drawn_against_their_mean(table, path):
    model = path.at(n_terms=8)
    name = next(term.feature for term in model.terms if term.condition.kind == "<=")
    drawn = {}
    for centred in (None, False):
        figure = plot_shape(model, name, table[0], centred=centred)
        drawn[centred] = curve(figure)[1]
        assert figure.axes[0].get_ylabel().endswith("against its mean") == (centred is None)
    mean = model.shape_functions()[name](table[0][name]).mean()
    np.testing.assert_allclose(drawn[None], drawn[False] - mean)
    assert drawn[False][-1] == 0.0


def test_values_that_no_row_had_are_not_drawn(table, path):
    model = path.at(n_terms=60)
    x2 = next(ax for ax in plot_shapes(model, table[0]).axes if ax.get_title() == "x2")
    assert "missing" not in [label.get_text() for label in x2.get_xticklabels()]
    assert model.shape_functions(centred=True)["x2"].missing == 0.0


def test_frontier_with_scores_has_two_panels(table, path):
    figure = plot_frontier(path, *table, n_terms=10)
    assert len(figure.axes) == 2
    assert figure.axes[1].get_ylabel().startswith("AUC")


def test_regressions(table):
    frame, y = table
    gam = SparseGAMRegressor(lambda0=1.0).fit(frame, y * 2.0)
    plot_calibration(gam.model_, frame, y * 2.0).canvas.draw()
    plot_contributions(gam.model_, frame).canvas.draw()
    with pytest.raises(ValueError, match="classification"):
        plot_roc(gam.model_, frame, y)


def test_errors_name_the_remedy(table, path):
    frame, _ = table
    model = path.at(n_terms=3)
    with pytest.raises(ValueError, match="does not use 'nothing'"):
        plot_shape(model, "nothing")
    with pytest.raises(ValueError, match="row must be from 0 to 499"):
        plot_contributions(model, frame, row=500)
    with pytest.raises(ValueError, match="pass one for each"):
        plot_shapes(model, ax=plt.subplots()[1])


def test_dollars_are_no_formulas():
    rng = np.random.default_rng(0)
    grades = pd.Categorical(rng.choice(["$lo^$", "$_$"], 300), ["$lo^$", "$_$"], ordered=True)
    frame = pd.DataFrame({"$x^$": rng.normal(size=300), "$\\frac{": rng.choice(["$a^$", "$_$"], 300), "$": grades})
    score = frame["$x^$"] + (frame["$\\frac{"] == "$a^$") + (grades == "$_$") + rng.normal(size=300) / 2
    y = np.where(score > 1, "$yes^$", "$no^$")
    model = SparseGAMClassifier(lambda0=1.0).fit(frame, y).model_
    assert set(model.features) == set(frame)
    for figure in (model.plot(frame), model.plot_row(frame), plot_calibration(model, frame, y)):
        figure.savefig(io.BytesIO())


def test_intervals_are_those_of_the_errors(table, path):
    X, model = table[0], path.at(6)
    name = next(name for name in model.features if model.scales.get(name) is None)
    figure = plot_shape(model, name, X)
    bare = plot_shape(replace(model, terms=tuple(replace(term) for term in model.terms)), name, X)
    parts = [
        piece for piece in model.with_errors(name, pieces_of(model.shape_functions()[name])) if piece.kind == "step"
    ]
    np.testing.assert_allclose(band(figure), np.repeat([2 * 1.96 * piece.error for piece in parts], 2))
    assert not band(bare).any()


def test_stability_is_drawn_by_feature_and_step():
    X = np.random.default_rng(0).integers(0, 30, (300, 3)).astype(float)
    gam = SparseGAMRegressor(max_terms=2, min_samples_bin=1).fit(X, 2.0 * (X[:, 0] <= 9) + (X[:, 2] <= 20))
    found = gam.stability(X, 2.0 * (X[:, 0] <= 9) + (X[:, 2] <= 20), n=4)
    figure = found.plot()
    widths = [bar.get_width() for bar in figure.axes[0].patches]
    assert widths == [1.0] * 4
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["x0", "x <= 9", "x2", "x <= 20"]


@pytest.fixture(scope="module")
def paired():
    return products.fitted()


def test_a_pair_is_a_grid_of_cells(paired):
    model, frame = paired
    ax = plot_pair(model, ("age", "priors"), frame).axes[0]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["≤ 25", "> 25 to 40", "> 40"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "priors")
    words = [text.get_text() for text in ax.texts]
    assert len(words) == 9
    n = int(((frame["age"] <= 25) & (frame["priors"] > 3)).sum())
    assert next(text for text in words if text.startswith("+0.85 ± ")).endswith(f"\n{n} rows")
    bare = plot_pair(products.written(), ("age", "priors")).axes[0]
    assert "+0.90" in {text.get_text() for text in bare.texts}
    with pytest.raises(ValueError, match=r"has no products of \('age', 'colour'\); it has some of"):
        plot_pair(model, ("age", "colour"))


def test_pairs_stand_beside_shapes(paired):
    model, frame = paired
    titles = [ax.get_title() for ax in model.plot(frame).axes if ax.get_title()]
    assert sorted(titles) == ["age", "age & hours", "age & priors", "hours & colour", "priors"]
    few = model.plot(frame, features=[("age", "hours"), "age"])
    assert [ax.get_title() for ax in few.axes if ax.get_title()] == ["age & hours", "age"]


def test_pairs_are_bars_of_their_own(paired):
    model, frame = paired
    ax = plot_contributions(model, frame, row=3).axes[0]
    words = [label.get_text() for label in ax.get_yticklabels()]
    age, hours = frame.loc[3, ["age", "hours"]]
    assert f"age = {age:g} & hours = {hours:g}" in words
    assert len(words) == len(model.parts) + 1
