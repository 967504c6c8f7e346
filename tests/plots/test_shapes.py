import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from _helpers import products
from _helpers.plotting import close_figures, make_mixed_data, make_path  # noqa: F401
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from sparsegam import Model, SparseGAMClassifier, SparseGAMRegressor
from sparsegam._models.bin_tables import bin_rows
from sparsegam._models.terms import Condition, Term
from sparsegam.plots import plot_calibration, plot_pair, plot_shape, plot_shapes


def drawn_line(figure):
    """Return x and y of the line of a shape function."""
    line = next(line for line in figure.axes[0].lines if line.get_linewidth() > 1.5)
    return line.get_xdata(), line.get_ydata()


def interval_widths(figure):
    """Return the width of the interval band at each point of the line."""
    corners = figure.axes[0].collections[0].get_paths()[0].vertices
    n = (len(corners) - 3) // 2
    lower, upper = corners[1 : n + 1], corners[n + 2 : -1][::-1]
    np.testing.assert_array_equal(lower[:, 0], drawn_line(figure)[0])
    return upper[:, 1] - lower[:, 1]


@pytest.mark.parametrize("n_terms", [0, 1, 60])
@pytest.mark.parametrize("with_data", [True, False])
def test_plot_shapes_draws_all_features_for_any_number_of_terms(mixed_data, path, n_terms, with_data):
    model = path.at(n_terms=n_terms)
    figure = plot_shapes(model, mixed_data[0] if with_data else None)
    assert isinstance(figure, Figure)
    figure.canvas.draw()
    titles = {ax.get_title() for ax in figure.axes}
    assert set(model.features) <= titles


def test_plot_shape_draws_steps_at_their_thresholds_with_row_counts():
    model = Model(0.5, (Term("a", Condition("<=", 3.0), -2.0),), ("a",), "squared")
    figure = plot_shape(model, "a", pd.DataFrame({"a": [1.0, 2.0, 5.0]}))
    x, contribution = drawn_line(figure)
    np.testing.assert_array_equal(contribution, [-2.0, -2.0, 0.0, 0.0])
    assert x[1:3].tolist() == [3.0, 3.0]
    assert [text.get_text() for text in figure.axes[0].texts] == ["2", "1"]


def test_plot_shape_draws_ramps_as_lines_and_steps_as_jumps():
    terms = Term("a", Condition("ramp", 8.0, 2.0), 0.5), Term("a", Condition("<=", 5.0), 1.0)
    model = Model(0.5, terms, ("a",), "squared")
    rows = pd.DataFrame({"a": [1.0, 3.0, 4.0, 6.0, 7.0, 8.0, 9.0]})
    figure = plot_shape(model, "a", rows)
    x, contribution = drawn_line(figure)
    jump = np.flatnonzero(contribution[:-1] - contribution[1:] > 0.9)
    assert x[jump].tolist() == [5.0]
    np.testing.assert_allclose(contribution[jump], -0.5)
    off_jump = np.abs(x - 5.0) > 1e-6
    expected = model.shape_functions()["a"].at(x[off_jump])
    np.testing.assert_allclose(contribution[off_jump], expected, atol=1e-12)
    assert contribution.min() == -2.0
    assert np.ptp(contribution) == 2.0
    assert [text.get_text() for text in figure.axes[0].texts] == ["1", "2", "3", "1"]


def test_plot_shape_computes_the_interval_of_a_ramp_at_each_point():
    ages = np.arange(20.0, 80.0)
    y = np.minimum(ages - 50, 0) / 10 + np.random.default_rng(0).normal(size=ages.size)
    model = SparseGAMRegressor(lambda0=0.1, shapes="ramps", max_terms=1).fit(ages[:, None], y).model_
    figure = plot_shape(model, "x0")
    x, widths = drawn_line(figure)[0], interval_widths(figure)
    np.testing.assert_allclose(widths, 2 * 1.96 * model.standard_errors("x0", x))
    inside = (model.terms[0].condition.low < x) & (x < model.terms[0].condition.value)
    # The interval is narrowest where the shape function crosses its mean.
    assert widths[inside].min() < 0.5 * min(widths[0], widths[-1])


def test_plot_shape_draws_intervals_from_standard_errors(mixed_data, path):
    X, model = mixed_data[0], path.at(6)
    name = next(name for name in model.features if model.scales.get(name) is None)
    errors = [row.error for row in bin_rows(model, name) if row.kind == "interval"]
    widths = interval_widths(plot_shape(model, name, X))
    np.testing.assert_allclose(widths, np.repeat([2 * 1.96 * error for error in errors], 2))
    without_errors = replace(model, statistics=None)
    assert not interval_widths(plot_shape(without_errors, name, X)).any()


def test_plot_shape_draws_into_given_axes(mixed_data, path):
    model = path.at(n_terms=4)
    figure, ax = plt.subplots()
    assert plot_shape(model, model.features[0], mixed_data[0], ax=ax) is figure
    assert ax.has_data()


def test_plot_shape_centres_contributions_by_default(mixed_data, path):
    X, model = mixed_data[0], path.at(n_terms=8)
    name = next(term.feature for term in model.terms if term.condition.kind == "<=")
    centred, raw = plot_shape(model, name, X), plot_shape(model, name, X, centred=False)
    assert centred.axes[0].get_ylabel() == "Contribution to log-odds (centred)"
    assert raw.axes[0].get_ylabel() == "Contribution to log-odds"
    mean = model.shape_functions()[name](X[name]).mean()
    np.testing.assert_allclose(drawn_line(centred)[1], drawn_line(raw)[1] - mean)
    assert drawn_line(raw)[1][-1] == 0.0


def test_plot_shapes_omits_missing_values_that_occur_neither_in_training_nor_in_given_data(mixed_data, path):
    model = path.at(n_terms=60)
    x2 = next(ax for ax in plot_shapes(model, mixed_data[0]).axes if ax.get_title() == "x2")
    assert "missing" not in [label.get_text() for label in x2.get_xticklabels()]
    assert model.shape_functions(centred=True)["x2"](np.array([np.nan])) == 0.0


def test_plot_shape_rejects_unused_features_and_too_few_axes(path):
    model = path.at(n_terms=3)
    with pytest.raises(ValueError, match=r"no shape function of 'nothing'\. Features: "):
        plot_shape(model, "nothing")
    with pytest.raises(ValueError, match="pass one per feature"):
        plot_shapes(model, ax=plt.subplots()[1])


def test_dollar_signs_in_names_are_not_formulas():
    rng = np.random.default_rng(0)
    grades = pd.Categorical(rng.choice(["$lo^$", "$_$"], 300), ["$lo^$", "$_$"], ordered=True)
    frame = pd.DataFrame({"$x^$": rng.normal(size=300), "$\\frac{": rng.choice(["$a^$", "$_$"], 300), "$": grades})
    score = frame["$x^$"] + (frame["$\\frac{"] == "$a^$") + (grades == "$_$") + rng.normal(size=300) / 2
    y = np.where(score > 1, "$yes^$", "$no^$")
    model = SparseGAMClassifier(lambda0=1.0).fit(frame, y).model_
    assert set(model.features) == set(frame)
    for figure in (model.plot(frame), model.plot_row(frame), plot_calibration(model, frame, y)):
        figure.savefig(io.BytesIO())


@pytest.fixture(scope="module", name="with_pairs")
def make_model_with_pairs():
    return products.fitted()


def test_plot_pair_draws_a_grid_with_contributions_and_row_counts(with_pairs):
    model, frame = with_pairs
    ax = plot_pair(model, ("age", "priors"), frame).axes[0]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["≤ 25", "> 25 to 40", "> 40"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "priors")
    cell_texts = [text.get_text() for text in ax.texts]
    assert len(cell_texts) == 9
    n = int(((frame["age"] <= 25) & (frame["priors"] > 3)).sum())
    assert next(text for text in cell_texts if text.startswith("+0.85\n")).endswith(f"\n{n} rows")
    without_errors = plot_pair(products.written(), ("age", "priors")).axes[0]
    assert "+0.90" in {text.get_text() for text in without_errors.texts}
    with pytest.raises(ValueError, match=r"has no interaction of \('age', 'colour'\)\. Interactions: "):
        plot_pair(model, ("age", "colour"))


def test_plot_shapes_includes_interactions(with_pairs):
    model, frame = with_pairs
    titles = [ax.get_title() for ax in model.plot(frame).axes if ax.get_title()]
    assert sorted(titles) == ["age", "age & hours", "age & priors", "hours & colour", "priors"]
    two_panels = model.plot(frame, features=[("age", "hours"), "age"])
    assert [ax.get_title() for ax in two_panels.axes if ax.get_title()] == ["age & hours", "age"]
