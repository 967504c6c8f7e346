"""Pictures of models with matplotlib: shape functions, pairs, one row, frontier, calibration, ROC curve, stability.

Each function takes `ax=` to draw into and returns the figure.
"""

from sparsegam.plots._predictions import plot_calibration, plot_contributions, plot_roc
from sparsegam.plots._selection import plot_frontier, plot_stability
from sparsegam.plots._shapes import plot_pair, plot_shape, plot_shapes

__all__ = [
    "plot_calibration",
    "plot_contributions",
    "plot_frontier",
    "plot_pair",
    "plot_roc",
    "plot_shape",
    "plot_shapes",
    "plot_stability",
]
