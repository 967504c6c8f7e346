"""How a model can be looked at: the methods of Model that draw and report, each loading its module when called."""

from pathlib import Path as FilePath
from typing import Any


class Viewable:
    """Plots and reports of a model."""

    def plot(self: Any, X: Any = None, **options: Any) -> Any:
        """Draw the shape functions and return the figure; see `sparsegam.plots.plot_shapes`."""
        from sparsegam.plots import plot_shapes

        return plot_shapes(self, X, **options)

    def plot_row(self: Any, X: Any, row: int = 0, **options: Any) -> Any:
        """Draw how the score of one row comes about; see `sparsegam.plots.plot_contributions`."""
        from sparsegam.plots import plot_contributions

        return plot_contributions(self, X, row=row, **options)

    def report(self: Any, file: Any, X: Any = None, y: Any = None, **options: Any) -> FilePath:
        """Write an HTML report, X and y being the rows of the fit; see `sparsegam.report.write_report`."""
        from sparsegam.report import write_report

        return write_report(file, self, X, y, **options)
