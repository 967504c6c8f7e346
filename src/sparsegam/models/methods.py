"""What a model can be turned into and how it can be looked at: methods of Model that load their modules when called."""

from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sparsegam.deploy.editing import Editor
    from sparsegam.deploy.reasons import Reasons
    from sparsegam.deploy.scorecard import Scorecard
    from sparsegam.inspection.drift import Drift
    from sparsegam.models.profile import Profile


class Deployable:
    """Scorecards, reason codes, exports, edits and checks of a model."""

    def scorecard(self: Any, X: Any = None, y: Any = None, *, sample_weight: Any = None, **scaling: Any) -> "Scorecard":
        """Return the model as whole points; see `sparsegam.deploy.scorecard.scorecard` for the options."""
        from sparsegam.deploy.scorecard import scorecard

        return scorecard(self, X, y, sample_weight=sample_weight, **scaling)

    def reason_codes(self: Any, X: Any, k: int = 4, **options: Any) -> "Reasons":
        """Return the features that cost each row most; see `sparsegam.deploy.reasons.reason_codes`."""
        from sparsegam.deploy.reasons import reason_codes

        return reason_codes(self, X, k, **options)

    def to_sql(self: Any, table: str, **options: Any) -> str:
        """Return a query that scores a table; see `sparsegam.export.sql.to_sql`."""
        from sparsegam.export.sql import to_sql

        return to_sql(self, table, **options)

    def to_python(self: Any) -> str:
        """Return a Python module that scores rows without this package."""
        from sparsegam.export.python import to_python

        return to_python(self)

    def to_javascript(self: Any) -> str:
        """Return a JavaScript module that scores rows."""
        from sparsegam.export.javascript import to_javascript

        return to_javascript(self)

    def to_onnx(self: Any) -> Any:
        """Return an ONNX graph; needs onnx."""
        from sparsegam.export.onnx import to_onnx

        return to_onnx(self)

    def to_pmml(self: Any, **options: Any) -> str:
        """Return a PMML Scorecard; see `sparsegam.export.pmml.to_pmml`."""
        from sparsegam.export.pmml import to_pmml

        return to_pmml(self, **options)

    def to_excel(self: Any, path: Any, X: Any = None, **options: Any) -> None:
        """Write a workbook with live formulas; needs openpyxl."""
        from sparsegam.export.excel import to_excel

        to_excel(self, path, X, **options)

    def to_latex(self: Any, **options: Any) -> str:
        """Return the model as a LaTeX table and equation."""
        from sparsegam.export.latex import to_latex

        return to_latex(self, **options)

    def edit(self: Any, X: Any, y: Any, *, who: str, **options: Any) -> "Editor":
        """Return an editor of a copy of the model; see `sparsegam.deploy.editing.Editor`."""
        from sparsegam.deploy.editing import Editor

        return Editor(self, X, y, who=who, **options)

    def profile(self: Any, X: Any) -> "Profile":
        """Return how rows spread over the steps, for `drift` to compare; see `sparsegam.inspection.drift.profile`."""
        from sparsegam.inspection.drift import profile

        return profile(self, X)

    def training_profile(self: Any) -> "Profile | None":
        """Return how the rows of the fit spread over the steps, where the model remembers it."""
        from sparsegam.inspection.drift import training_profile

        return training_profile(self)

    def drift(self: Any, X: Any, reference: Any = None) -> "Drift":
        """Return how far rows have moved from those of the fit, or others; see `sparsegam.inspection.drift.drift`."""
        from sparsegam.inspection.drift import drift

        return drift(self, X, reference)

    def card(self: Any, X: Any = None, y: Any = None, **options: Any) -> str:
        """Return a model card in Markdown; see `sparsegam.inspection.model_card.card`."""
        from sparsegam.inspection.model_card import card

        return card(self, X, y, **options)


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
