"""Plots of models with matplotlib, which is imported when the first plot is drawn.

Each function draws into the axes given as `ax`, or into a new figure, and returns the figure.
"""

from sparsegam.plots._predictions import plot_calibration, plot_contributions, plot_roc
from sparsegam.plots._selection import plot_cv_scores, plot_frontier, plot_stability
from sparsegam.plots._shapes import plot_pair, plot_shape, plot_shapes

__all__ = [
    "plot_calibration",
    "plot_contributions",
    "plot_cv_scores",
    "plot_frontier",
    "plot_pair",
    "plot_roc",
    "plot_shape",
    "plot_shapes",
    "plot_stability",
]
