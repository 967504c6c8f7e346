import numpy as np
import pytest
from _helpers import products
from _helpers.plotting import close_figures, make_mixed_data, make_path  # noqa: F401
from matplotlib import pyplot as plt

from sparsegam import SparseGAMRegressor
from sparsegam.plots import plot_calibration, plot_contributions, plot_roc


def test_plots_of_predictions_draw_into_given_axes(mixed_data, path):
    frame, y = mixed_data
    model = path.at(n_terms=4)
    for draw in (
        lambda ax: plot_contributions(model, frame, row=3, ax=ax),
        lambda ax: plot_calibration(model, frame, y, ax=ax),
        lambda ax: plot_roc(model, frame, y, ax=ax),
    ):
        figure, ax = plt.subplots()
        assert draw(ax) is figure
        assert ax.has_data()


@pytest.mark.parametrize("centred", [None, False])
@pytest.mark.parametrize("n_terms", [0, 1, 60])
def test_plot_contributions_ends_at_the_score_of_the_row(mixed_data, path, n_terms, centred):
    model = path.at(n_terms=n_terms)
    figure = plot_contributions(model, mixed_data[0], row=11, max_features=5, centred=centred)
    marker = figure.axes[0].lines[-1]
    np.testing.assert_allclose(marker.get_xdata()[0], model.decision_function(mixed_data[0])[11])
    start = "the training mean" if centred is None else f"the intercept, {model.intercept:.3g}"
    assert f"starts at {start}" in figure.axes[0].get_xlabel()


def test_plot_contributions_draws_interactions_as_separate_bars():
    model, frame = products.fitted()
    ax = plot_contributions(model, frame, row=3).axes[0]
    labels = [label.get_text() for label in ax.get_yticklabels()]
    age, hours = frame.loc[3, ["age", "hours"]]
    assert f"age = {age:g} & hours = {hours:g}" in labels
    assert len(labels) == len(model.parts) + 1


def test_plot_contributions_rejects_rows_outside_the_data(mixed_data, path):
    with pytest.raises(ValueError, match="row must be from 0 to 499"):
        plot_contributions(path.at(n_terms=3), mixed_data[0], row=500)


def test_plots_of_predictions_accept_regression_models_except_roc(mixed_data):
    frame, y = mixed_data
    model = SparseGAMRegressor(lambda0=1.0).fit(frame, y * 2.0).model_
    plot_calibration(model, frame, y * 2.0).canvas.draw()
    plot_contributions(model, frame).canvas.draw()
    with pytest.raises(ValueError, match="classification"):
        plot_roc(model, frame, y)
