"""The results of `fit` and `cvfit`: all models of a grid, selected by the nearest lambda_0 and gamma."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sparsegam._data.matrix import read_matrix
from sparsegam.arrays import FloatArray
from sparsegam.checks import optional, warn
from sparsegam.compat.folds import Errors
from sparsegam.compat.generators import cor_matrix, gen_synthetic, gen_synthetic_high_corr, gen_synthetic_logistic
from sparsegam.compat.losses import (
    LOSS_OF,
    exponential_loss,
    logistic_loss,
    regularization_loss,
    signs,
    squared_error,
    squared_hinge_loss,
)
from sparsegam.compat.path import Grid
from sparsegam.compat.problem import Solution
from sparsegam.compat.settings import LOSS, Settings
from sparsegam.losses import LOSSES, logistic

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = [
    "CVFitModel",
    "FitModel",
    "cor_matrix",
    "exponential_loss",
    "gen_synthetic",
    "gen_synthetic_high_corr",
    "gen_synthetic_logistic",
    "logistic_loss",
    "regularization_loss",
    "squared_error",
    "squared_hinge_loss",
]

PER_COLUMN = 10  # names per column of a legend


@dataclass(frozen=True, repr=False, eq=False)
class FitModel:
    """All models of a grid.

    In every method, `lambda_0` and `gamma` select the nearest values of the grid. Without `lambda_0`, all models of the
    gamma are selected; without both, all models; with `lambda_0` alone, the first gamma, which is the largest.

    Attributes
    ----------
    settings : dict
        `loss`, `intercept` and `penalty`.
    lambda_0 : list of list of float
        The values of lambda_0, by gamma.
    gamma : list of float
        The values of gamma, the largest first.
    support_size : list of list of int
        Support sizes.
    coeffs : list of csc_matrix of shape (p, n_lambda)
        Coefficients, by gamma.
    intercepts : list of list of float
        Intercepts.
    converged : list of list of bool
        Whether the search converged.
    objectives : list of list of float
        Objective values: loss and penalties on the scale of lambda_0.
    classes : ndarray or None
        The two values of y, the smaller first.
    """

    settings: dict[str, Any]
    lambda_0: list[list[float]] = field(repr=False)
    gamma: list[float] = field(repr=False)
    support_size: list[list[int]] = field(repr=False)
    coeffs: list[sp.csc_matrix] = field(repr=False)
    intercepts: list[list[float]] = field(repr=False)
    converged: list[list[bool]] = field(repr=False)
    objectives: list[list[float]] = field(repr=False, kw_only=True, default_factory=list)
    classes: NDArray[Any] | None = field(repr=False, kw_only=True, default=None)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.settings})"

    def _repr_html_(self) -> str:
        html: str = self.characteristics()._repr_html_()  # type: ignore[operator]
        return html

    def coeff(
        self,
        lambda_0: float | None = None,
        gamma: float | None = None,
        include_intercept: bool = True,
    ) -> sp.csc_matrix:
        """Return coefficients with one column per model; the intercept is row 0."""
        chosen = self._chosen(lambda_0, gamma)
        found = sp.hstack([self.coeffs[i][:, at] for i, at in chosen])
        if include_intercept:
            intercepts = np.concatenate([np.take(self.intercepts[i], at) for i, at in chosen])
            found = sp.vstack([sp.csc_matrix(intercepts[None, :]), found])
        return sp.csc_matrix(found)

    def characteristics(self, lambda_0: float | None = None, gamma: float | None = None) -> "pd.DataFrame":
        """Return one row per model: `l0`, `support_size`, `intercept`, `converged` and `l1` or `l2`."""
        pandas = optional("pandas", "characteristics", extra="compat")
        chosen = self._chosen(lambda_0, gamma)
        columns: dict[str, list[list[Any]]] = {
            "l0": self.lambda_0,
            "support_size": self.support_size,
            "intercept": self.intercepts,
            "converged": self.converged,
        }
        data = {name: np.concatenate([np.take(values[i], at) for i, at in chosen]) for name, values in columns.items()}
        kind = self.settings["penalty"][2:].lower()
        if kind:
            data[kind] = np.concatenate([np.full(len(at), self.gamma[i]) for i, at in chosen])
        table: pd.DataFrame = pandas.DataFrame(data)
        return table

    def plot(
        self,
        gamma: float = 0,
        show_lines: bool = False,
        include_legend: bool = True,
        **kwargs: Any,
    ) -> "Axes":
        """Plot coefficients by support size; if several models have the same size, the first is used."""
        coefs = self.coeff(gamma=gamma, include_intercept=False).toarray()
        sizes, first = np.unique((coefs != 0).sum(axis=0), return_index=True)
        if sizes.size < coefs.shape[1]:
            warn("Several models have the same number of columns; only the first of each size is plotted.", UserWarning)
        line = kwargs.pop("linestyle", "-." if show_lines else "None")
        look = {"linestyle": line, "marker": kwargs.pop("marker", "o")}
        axes: Axes = optional("matplotlib.pyplot", "plot", extra="compat").subplots(**kwargs)[1]
        used = np.flatnonzero(coefs[:, first].any(axis=1))
        for j in used:
            axes.plot(sizes, coefs[j, first], label=str(j), **look)
        axes.set_xlabel("Support Size")
        axes.set_ylabel("Coefficient Value")
        if include_legend and used.size:
            columns = -(-used.size // PER_COLUMN)
            axes.legend(bbox_to_anchor=(1.05, 1), loc=2, borderaxespad=0.0, ncol=columns)
        return axes

    def score(
        self,
        x: Any,
        y: Any,
        lambda_0: float | None = None,
        gamma: float | None = None,
        training: bool = False,
        include_characteristics: bool = False,
    ) -> Any:
        """Return the total loss of each model.

        With `training`, the penalties l0, l1 and l2 of the unstandardised coefficients are added; `objectives` contains
        the objective of the fit, which is for standardised coefficients. With `include_characteristics`, the loss is a
        column of the table of characteristics.
        """
        target = np.asarray(y) if self.settings["loss"] == "SquaredError" else signs(y, self.classes)
        table = self.characteristics(lambda_0, gamma) if training or include_characteristics else None
        penalties: dict[str, Any] = {}
        if training and table is not None:
            penalties = {name: table[name].to_numpy() for name in ("l0", "l1", "l2") if name in table}
            penalties["coeffs"] = self.coeff(lambda_0, gamma, include_intercept=False)
        scores = LOSS_OF[self.settings["loss"]](target, self.predict(x, lambda_0, gamma), **penalties)
        if not include_characteristics or table is None:
            return scores
        return table.assign(**{self.settings["loss"]: scores})

    def predict(self, x: Any, lambda_0: float | None = None, gamma: float | None = None) -> FloatArray:
        """Return one column of predictions per model: the probability of the larger class, otherwise scores."""
        coefs = self.coeff(lambda_0, gamma)
        matrix = read_matrix(x)
        if matrix.n_columns != coefs.shape[0] - 1:
            msg = f"x must have {coefs.shape[0] - 1} columns, as in the fit, got {matrix.n_columns}."
            raise ValueError(msg)
        rest = coefs[1:]
        scores = (matrix.values @ rest).toarray() if matrix.is_sparse else np.asarray(matrix.values @ rest)
        scores = scores + coefs[:1].toarray()
        slope = LOSSES[LOSS[self.settings["loss"]]].probability_slope
        return scores if slope is None else logistic(slope * scores)

    def _chosen(self, lambda_0: float | None, gamma: float | None) -> list[tuple[int, Sequence[int]]]:
        """Return positions on the grid: gammas, and lambdas for each of them."""
        if gamma is None and lambda_0 is None:
            return [(i, range(len(values))) for i, values in enumerate(self.lambda_0)]
        i = 0 if gamma is None else int(np.argmin(np.abs(np.asarray(self.gamma) - gamma)))
        if lambda_0 is None:
            return [(i, range(len(self.lambda_0[i])))]
        return [(i, [int(np.argmin(np.abs(np.asarray(self.lambda_0[i]) - lambda_0)))])]


@dataclass(frozen=True, repr=False, eq=False)
class CVFitModel(FitModel):
    """All models of a grid with their cross-validated losses.

    Attributes
    ----------
    cv_means, cv_sds : list of ndarray of shape (n_lambda, 1)
        Mean and standard deviation over folds of the mean test loss, for each gamma.
    """

    cv_means: list[FloatArray] = field(repr=False)
    cv_sds: list[FloatArray] = field(repr=False)

    def cv_plot(self, gamma: float = 0, **kwargs: Any) -> "Axes":
        """Plot the cross-validated loss by support size."""
        i = int(np.argmin(np.abs(np.asarray(self.gamma) - gamma)))
        axes: Axes = optional("matplotlib.pyplot", "cv_plot", extra="compat").subplots(**kwargs)[1]
        axes.errorbar(x=self.support_size[i], y=self.cv_means[i].ravel(), yerr=self.cv_sds[i].ravel())
        axes.set_xlabel("Support Size")
        axes.set_ylabel("Cross-Validation Error")
        return axes


def fit_model(grid: Grid, settings: Settings, classes: NDArray[Any] | None, errors: Errors | None = None) -> FitModel:
    """Combine the models of a grid in one object."""
    parts: dict[str, Any] = {
        "settings": {"loss": settings.loss, "intercept": settings.intercept, "penalty": settings.penalty_in_use},
        "lambda_0": [[solution.lambda_0 for solution in path] for path in grid.paths],
        "gamma": grid.gamma,
        "support_size": [[int(solution.columns.size) for solution in path] for path in grid.paths],
        "coeffs": [_coefficients(path, grid.n_columns) for path in grid.paths],
        "intercepts": [[solution.intercept for solution in path] for path in grid.paths],
        "converged": [[solution.finished for solution in path] for path in grid.paths],
        "objectives": [[solution.objective for solution in path] for path in grid.paths],
        "classes": classes,
    }
    return FitModel(**parts) if errors is None else CVFitModel(**parts, cv_means=errors.means, cv_sds=errors.sds)


def _coefficients(path: list[Solution], n_columns: int) -> sp.csc_matrix:
    start = np.cumsum([0, *(solution.columns.size for solution in path)])
    rows = np.concatenate([solution.columns for solution in path])
    data = np.concatenate([solution.coef for solution in path])
    return sp.csc_matrix((data, rows, start), shape=(n_columns, len(path)))
