"""What a model can be turned into and how it can be looked at: methods of Model that load their modules when called."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, Literal

from sparsegam._models.profile import Profile
from sparsegam._models.terms import Part
from sparsegam.choices import Baseline, Dialect, PointsDirection, PointsMethod

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from onnx import ModelProto

    from sparsegam._models.additive import Model
    from sparsegam._search.path import Path
    from sparsegam.deploy import Counterfactual, Editor, Reasons, ReasonTable, Scorecard
    from sparsegam.inspection import Drift, Stability


class Deployable:
    """Scorecards, reason codes, exports, edits and checks of a model."""

    def scorecard(  # noqa: PLR0913
        self: Any,
        X: Any = None,
        y: Any = None,
        *,
        sample_weight: Any = None,
        method: PointsMethod = "pdo",
        pdo: float = 20.0,
        odds: float = 50.0,
        base_points: float = 600.0,
        lowest: int = 300,
        highest: int = 850,
        multiplier: float = 100.0,
        max_points: int = 5,
        max_terms: int | None = None,
        direction: PointsDirection | None = None,
        base: Literal["apart", "folded"] = "apart",
        nonnegative: bool = False,
    ) -> "Scorecard":
        """Return the model as whole points; see `sparsegam.deploy.scorecard` for the options."""
        from sparsegam.deploy import scorecard

        return scorecard(
            self,
            X,
            y,
            sample_weight=sample_weight,
            method=method,
            pdo=pdo,
            odds=odds,
            base_points=base_points,
            lowest=lowest,
            highest=highest,
            multiplier=multiplier,
            max_points=max_points,
            max_terms=max_terms,
            direction=direction,
            base=base,
            nonnegative=nonnegative,
        )

    def reason_codes(
        self: Any,
        X: Any,
        k: int = 4,
        *,
        baseline: Baseline | None = None,
        reference: Any = None,
        adverse: Any = None,
        texts: Mapping[Any, Any] | None = None,
    ) -> "Reasons":
        """Return the features that cost each row most; see `sparsegam.deploy.reason_table`."""
        from sparsegam.deploy import reason_codes

        return reason_codes(self, X, k, baseline=baseline, reference=reference, adverse=adverse, texts=texts)

    def counterfactual(
        self: Any,
        row: Any,
        *,
        target: Any = None,
        fixed: Sequence[str] = (),
        directions: Mapping[str, str] | None = None,
        cost: str | Mapping[str, float] | None = None,
    ) -> "Counterfactual":
        """Return the cheapest changes of a row that lead past a threshold; see `sparsegam.deploy.counterfactual`."""
        from sparsegam.deploy import counterfactual

        return counterfactual(self, row, target=target, fixed=fixed, directions=directions, cost=cost)

    def to_sql(
        self: Any,
        table: str,
        *,
        dialect: Dialect = "duckdb",
        keep: Sequence[str] = (),
        points: "Scorecard | None" = None,
        reasons: "ReasonTable | None" = None,
    ) -> str:
        """Return a query that scores a table; see `sparsegam.export.to_sql`."""
        from sparsegam.export import to_sql

        return to_sql(self, table, dialect=dialect, keep=keep, points=points, reasons=reasons)

    def to_python(self: Any) -> str:
        """Return a Python module that scores rows without this package."""
        from sparsegam.export import to_python

        return to_python(self)

    def to_javascript(self: Any) -> str:
        """Return a JavaScript module that scores rows."""
        from sparsegam.export import to_javascript

        return to_javascript(self)

    def to_onnx(self: Any) -> "ModelProto":
        """Return an ONNX graph; needs onnx."""
        from sparsegam.export import to_onnx

        graph: ModelProto = to_onnx(self)
        return graph

    def to_pmml(self: Any, *, reasons: "ReasonTable | None" = None) -> str:
        """Return a PMML Scorecard; see `sparsegam.export.to_pmml`."""
        from sparsegam.export import to_pmml

        return to_pmml(self, reasons=reasons)

    def to_excel(self: Any, path: Any, X: Any = None, *, n_rows: int = 100) -> None:
        """Write a workbook with live formulas; needs openpyxl. See `sparsegam.export.to_excel`."""
        from sparsegam.export import to_excel

        to_excel(self, path, X, n_rows=n_rows)

    def to_latex(self: Any, *, digits: int = 3) -> str:
        """Return the model as a LaTeX table and equation; see `sparsegam.export.to_latex`."""
        from sparsegam.export import to_latex

        return to_latex(self, digits=digits)

    def edit(self: Any, X: Any, y: Any, *, who: str, sample_weight: Any = None, lambda2: Any = "auto") -> "Editor":
        """Return an editor of a copy of the model; see `sparsegam.deploy.Editor`."""
        from sparsegam.deploy import Editor

        return Editor(self, X, y, who=who, sample_weight=sample_weight, lambda2=lambda2)

    def profile(self: Any, X: Any) -> Profile:
        """Return how rows spread over the steps, for `drift` to compare; see `sparsegam.inspection.drift`."""
        from sparsegam.inspection._drift import profile

        return profile(self, X)

    def training_profile(self: Any) -> Profile | None:
        """Return how the rows of the fit spread over the steps, where the model remembers it."""
        from sparsegam.inspection._drift import training_profile

        return training_profile(self)

    def drift(self: Any, X: Any, reference: Any = None) -> "Drift":
        """Return how far rows have moved from those of the fit, or others; see `sparsegam.inspection.drift`."""
        from sparsegam.inspection import drift

        return drift(self, X, reference)

    def card(
        self: Any,
        X: Any = None,
        y: Any = None,
        *,
        settings: Mapping[str, Any] | None = None,
        about: Mapping[str, str] | None = None,
    ) -> str:
        """Return a model card in Markdown; see `sparsegam.inspection.model_card`."""
        from sparsegam.inspection import model_card

        return model_card(self, X, y, settings=settings, about=about)


class Reports:
    """The report of a model."""

    def report(  # noqa: PLR0913
        self: Any,
        file: str | os.PathLike[str],
        X: Any = None,
        y: Any = None,
        *,
        X_test: Any = None,
        y_test: Any = None,
        title: str = "A sparse model",
        settings: Mapping[str, Any] | None = None,
        path: "Path[Model] | None" = None,
        sample_weight: Any = None,
        stability: "Stability | None" = None,
        labels: Mapping[str, str | tuple[str, str]] | None = None,
        groups: Any = None,
        about: Mapping[str, str] | None = None,
        scorecard: "Scorecard | None" = None,
    ) -> FilePath:
        """Write a report as one self-contained HTML file; see `sparsegam.report.write_report` for the parameters."""
        from sparsegam.report import write_report

        return write_report(
            file,
            self,
            X,
            y,
            X_test=X_test,
            y_test=y_test,
            title=title,
            settings=settings,
            path=path,
            sample_weight=sample_weight,
            stability=stability,
            labels=labels,
            groups=groups,
            about=about,
            scorecard=scorecard,
        )


class Viewable(Reports):
    """Plots and reports of a model."""

    def plot(
        self: Any,
        X: Any = None,
        *,
        features: Sequence[Part] | None = None,
        centred: bool | None = None,
        ax: Any = None,
    ) -> "Figure":
        """Draw the shape functions and pairs, and return the figure; see `sparsegam.plots.plot_shapes`."""
        from sparsegam.plots import plot_shapes

        figure: Figure = plot_shapes(self, X, features=features, centred=centred, ax=ax)
        return figure

    def plot_row(
        self: Any, X: Any, row: int = 0, *, max_features: int = 20, centred: bool | None = None, ax: Any = None
    ) -> "Figure":
        """Draw how the score of one row comes about; see `sparsegam.plots.plot_contributions`."""
        from sparsegam.plots import plot_contributions

        figure: Figure = plot_contributions(self, X, row=row, max_features=max_features, centred=centred, ax=ax)
        return figure
