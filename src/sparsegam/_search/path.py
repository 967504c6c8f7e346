"""Paths of models: the best model found with 0, 1, 2, ... terms, to be chosen by size or by penalty per term."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sparsegam._data.frames import make_frame
from sparsegam._models import display
from sparsegam._models.linear import LinearModel
from sparsegam._models.scoring import ScoringModel
from sparsegam._search.penalty import (
    NO_SELECTION,
    SelectionPenalty,
    check_lambda0,
    depends_on_model,
    fixed_point,
    unit_penalty,
    warn_about_weights,
)
from sparsegam._search.problem import Design, Problem, Progress
from sparsegam._search.solver import Frontier, frontier
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_integer, shown, warn
from sparsegam.losses import LOSSES

M = TypeVar("M", bound=ScoringModel)
P = TypeVar("P", bound="Path[Any]")


@dataclass(frozen=True)
class Path(Generic[M]):
    """The best model found of each size.

    Attributes
    ----------
    models : tuple of Model
        The models by size.
    n_terms : ndarray of int
        Number of terms of each model.
    loss : ndarray
        Loss of each model, summed over rows.
    objective : ndarray
        Loss plus ridge penalty of each model.
    lambda0 : ndarray
        The largest penalty per term at which a size is the best choice: the slope of the lower convex hull of
        `objective` to the left of it, infinite for the smallest size. A size is the best from there down to the next
        value. NaN for sizes that are best at no penalty.
    total_weight, mean_weight : float
        Sum of the weights, and their mean over rows of positive weight.
    finished : bool
        False if `time_limit` ended the search.
    search_stats : dict
        Counts of the operations of the search.
    lambda2 : float
        The ridge penalty.
    standardized : bool
        Whether the ridge applies to standardized coefficients.
    cut_off : bool
        Whether `max_terms` ended the search although larger models exist.
    """

    models: tuple[M, ...]
    n_terms: NDArray[np.int64]
    loss: FloatArray
    objective: FloatArray
    lambda0: FloatArray
    total_weight: float
    finished: bool
    search_stats: dict[str, int]
    lambda2: float
    mean_weight: float = 1.0
    selection: SelectionPenalty = NO_SELECTION
    standardized: bool = True
    cut_off: bool = False

    @classmethod
    def search(
        cls: type[P],
        problem: Problem[Design[Any]],
        classes: NDArray[Any] | None,
        callback: Progress | None = None,
        *,
        rough: bool = False,
        start: Frontier | None = None,
    ) -> P:
        """Find the best model of every size for a problem.

        Parameters
        ----------
        problem : Problem
            The problem.
        classes : ndarray or None
            The two labels, the positive class last; None for a regression.
        callback : callable, optional
            Called with (n_terms, objective) for each model found.
        rough : bool, default=False
            Whether the models are only compared: coefficients are then accurate to about six digits, and the models
            carry no term statistics.
        start : Frontier, optional
            Models to improve on, which saves time.

        Returns
        -------
        Path
            The models by size.
        """
        search = frontier(problem, callback, start=start, polish=not rough)
        points = search.points
        n_terms = np.array([len(point.columns) for point in points], dtype=np.int64)
        objective = np.array([point.loss + point.ridge for point in points])
        return cls(
            models=tuple(problem.model(point, classes, statistics=not rough) for point in points),
            n_terms=n_terms,
            loss=np.array([point.loss for point in points]),
            objective=objective,
            lambda0=hull_slopes(n_terms, objective),
            total_weight=problem.total_weight,
            finished=search.finished,
            search_stats=search.counts,
            lambda2=problem.ridge.lambda2,
            mean_weight=problem.mean_weight,
            selection=problem.selection,
            standardized=problem.ridge.standardized,
            cut_off=bool(n_terms[-1] >= problem.max_terms) and problem.max_terms < problem.n_candidates,
        )

    def at(self, n_terms: int | None = None, *, lambda0: float | str | None = None) -> M:
        """Return one model: `path.at(15)`, or `path.at(lambda0="bic")`.

        Parameters
        ----------
        n_terms : int, optional
            Number of terms of the model.
        lambda0 : float or {"auto", "aic", "bic"}, optional
            Penalty per term: the model that minimises objective + lambda0 * n_terms is returned. For the squared loss,
            criteria are in units of the estimated noise variance. If that is the largest model of a path that was cut
            off, a warning says that the best model at this penalty may be larger.

        Returns
        -------
        Model or LinearModel
            The model.
        """
        if (n_terms is None) == (lambda0 is None):
            msg = f"pass either n_terms or lambda0, got n_terms={shown(n_terms)} and lambda0={shown(lambda0)}."
            raise ValueError(msg)
        if lambda0 is None:
            return self.models[self._with_size(n_terms)]
        chosen = self._best_at(lambda0)
        if not self._is_inside(chosen):
            self._warn_about_end(lambda0)
        return self.models[chosen]

    def covers(self, lambda0: float | str) -> bool:
        """Return whether the best model at a penalty per term is known to be on the path.

        Parameters
        ----------
        lambda0 : float or {"auto", "aic", "bic"}
            The penalty per term.

        Returns
        -------
        bool
            False if the largest model of the path is the best at this penalty and larger models were not searched.
        """
        return self._is_inside(self._best_at(lambda0))

    def to_frame(self) -> Any:
        """Return sizes, losses and penalties as a data frame (pandas, else polars, else a pyarrow Table)."""
        return make_frame(self._columns())

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {
            "n_terms": self.n_terms,
            "n_features": np.array([len(model.features) for model in self.models]),
            "loss": self.loss,
            "objective": self.objective,
            "lambda0": self.lambda0,
        }

    def _repr_html_(self) -> str:
        columns = self._columns()
        rows = [
            [str(k), str(n), f"{loss:.6g}", f"{value:.6g}", "" if np.isnan(price) else f"{price:.4g}"]
            for k, n, loss, value, price in zip(*(values.tolist() for values in columns.values()), strict=True)
        ]
        shown = display.table(["terms", "features", "loss", "objective", "best below lambda0"], rows, n_text=0)
        return display.fragment(display.note(repr(self).strip("<>")), display.folded("Sizes", shown, is_open=True))

    def plot(self, ax: Any = None) -> Any:
        """Plot the objective against the number of terms; filled markers are sizes that are best at some lambda0.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        from sparsegam.plots._selection import plot_frontier

        figure = plot_frontier(self, ax=ax)
        return figure.axes[0] if ax is None else ax

    def _is_inside(self, chosen: int) -> bool:
        return chosen < len(self.models) - 1 or (self.finished and not self.cut_off)

    def _warn_about_end(self, lambda0: float | str) -> None:
        why = "max_terms" if self.finished else "time_limit"
        msg = (
            f"lambda0={shown(lambda0)} is outside the searched path: the search ended at {self.n_terms[-1]} terms "
            f"because of {why}, and the best model at this penalty may have more. Raise {why}, or select the model by "
            "its size."
        )
        warn(msg, UserWarning)

    def _with_size(self, n_terms: Any) -> int:
        if isinstance(n_terms, str):
            msg = f"n_terms must be an integer, got {shown(n_terms)}. To use a criterion: at(lambda0={shown(n_terms)})."
            raise ValueError(msg)
        check_integer("n_terms", n_terms)
        found = np.flatnonzero(self.n_terms == n_terms)
        if found.size == 0:
            msg = (
                f"n_terms must be one of the sizes {self.n_terms[0]} to {self.n_terms[-1]} of the path, got {n_terms}. "
                "For larger models, raise max_terms."
            )
            raise ValueError(msg)
        return int(found[0])

    def _best_at(self, lambda0: float | str) -> int:
        """Return the position of the best model at a penalty per term."""
        check_lambda0(lambda0)
        warn_about_weights(lambda0, self.mean_weight)
        unit = unit_penalty(lambda0, self.total_weight, self.mean_weight, self.selection)
        penalty = unit(0)
        if depends_on_model(lambda0, self.models[0].loss):

            def best_at(penalty: float) -> tuple[float, int]:
                best = int(np.argmin(self.objective + penalty * self.n_terms))
                return float(self.objective[best]), int(self.n_terms[best])

            null_objective = None if LOSSES[self.models[0].loss].is_classifier else float(self.objective[0])
            penalty = fixed_point(unit, self.total_weight, null_objective, best_at)
        return int(np.argmin(self.objective + penalty * self.n_terms))

    def __len__(self) -> int:
        return len(self.models)

    def __iter__(self) -> Iterator[M]:
        return iter(self.models)

    def __repr__(self) -> str:
        state = "" if self.finished else ", stopped by time_limit"
        return (
            f"<Path: {self.models[0].loss}, {self.n_terms[0]} to {self.n_terms[-1]} terms, "
            f"objective {self.objective[0]:.6g} to {self.objective[-1]:.6g}{state}>"
        )


class LinearPath(Path[LinearModel]):
    """The best linear model found of each size: a Path whose models are LinearModels."""

    @property
    def coef_path_(self) -> sp.csc_array:
        """Coefficients, a row per column of X and a column per size."""
        start = np.cumsum([0, *(model.n_terms for model in self.models)])
        rows = np.concatenate([np.array(model.columns, dtype=np.int32) for model in self.models])
        data = np.concatenate([np.array(model.weights, dtype=np.float64) for model in self.models])
        return sp.csc_array((data, rows, start), shape=(self.models[0].n_features, len(self.models)))

    @property
    def intercept_path_(self) -> FloatArray:
        """Intercepts, one per size."""
        return np.array([model.intercept for model in self.models])


def hull_slopes(n_terms: NDArray[np.int64], objective: FloatArray) -> FloatArray:
    """Return the slope of the lower convex hull to the left of each size; NaN off the hull or where it rises."""
    slopes = np.full(objective.size, np.nan)
    slopes[0] = np.inf
    corners = [0]
    for k in range(1, objective.size):
        while True:
            slope = (objective[corners[-1]] - objective[k]) / (n_terms[k] - n_terms[corners[-1]])
            if slope < slopes[corners[-1]]:
                break
            slopes[corners.pop()] = np.nan
        if slope > 0:
            slopes[k] = slope
            corners.append(k)
    return slopes
