import numpy as np
from _helpers.plotting import close_figures, make_mixed_data, make_path  # noqa: F401
from matplotlib import pyplot as plt

from sparsegam import SparseGAMRegressor
from sparsegam.plots import plot_frontier


def test_plot_frontier_draws_into_given_axes(path):
    figure, ax = plt.subplots()
    assert plot_frontier(path, n_terms=4, ax=ax) is figure
    assert ax.has_data()


def test_plot_frontier_adds_a_panel_with_the_test_score(mixed_data, path):
    figure = plot_frontier(path, *mixed_data, n_terms=10)
    assert len(figure.axes) == 2
    assert figure.axes[1].get_ylabel() == "Test AUC"


def test_plot_stability_draws_a_bar_for_each_feature_and_term():
    X = np.random.default_rng(0).integers(0, 30, (300, 3)).astype(float)
    y = 2.0 * (X[:, 0] <= 9) + (X[:, 2] <= 20)
    gam = SparseGAMRegressor(max_terms=2, min_samples_bin=1).fit(X, y)
    figure = gam.stability(X, y, n=4).plot()
    widths = [bar.get_width() for bar in figure.axes[0].patches]
    assert widths == [1.0] * 4
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["x0", "x <= 9", "x2", "x <= 20"]
