"""Pictures of models with matplotlib: shape functions, pairs, one row, frontier, calibration, ROC curve, stability.

Each function takes `ax=` to draw into and returns the figure.
"""

from sparsegam.plots.frontier import plot_frontier
from sparsegam.plots.pair import plot_pair
from sparsegam.plots.quality import plot_calibration, plot_roc
from sparsegam.plots.shape import plot_shape, plot_shapes
from sparsegam.plots.stability import plot_stability
from sparsegam.plots.waterfall import plot_contributions

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
