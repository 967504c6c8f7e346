"""The frontier of sizes: the best model found with 0, 1, 2, ... terms, to be asked by size or by price per term."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.frames import make_frame
from sparsegam._design.design import Design
from sparsegam._models import notebook
from sparsegam._models.scoring import Scores
from sparsegam._search.price import (
    ONE_CHOICE,
    Choices,
    check_lambda0,
    is_settled,
    price,
    settled_price,
    warn_of_weights,
)
from sparsegam._search.problem import Problem
from sparsegam._search.progress import Progress
from sparsegam._search.solver import Frontier, frontier
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_integer, warn
from sparsegam.losses import LOSSES
from sparsegam.parameters import documented

M = TypeVar("M", bound=Scores)
P = TypeVar("P", bound="Path[Any]")


@dataclass(frozen=True)
class Path(Generic[M]):
    """The best model found of each size.

    Attributes
    ----------
    n_terms : ndarray of int
        The sizes.
    loss : ndarray
        Loss of each model, a sum over rows.
    objective : ndarray
        Loss and ridge penalty of each model.
    lambda0 : ndarray
        The largest price per term at which a size is the best choice, that is the slope of the lower convex hull of
        `objective` on its left; infinite for the smallest size. A size is best from there down to the next number.
        NaN for sizes that are best at no price.
    finished : bool
        False where `time_limit` ended the search.
    search_stats : dict
        Counts of what the search did.
    lambda2 : float
        The ridge.
    standardized : bool
        Whether it is on the standardised coefficients.
    cut_off : bool
        Whether `max_terms` ended the frontier: larger models were not searched.
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
    choices: Choices = ONE_CHOICE
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
        """Search the frontier of a problem and put it into the words of the data.

        Parameters
        ----------
        problem : Problem
            The problem.
        classes : ndarray or None
            The two labels; None for a regression.
        callback : callable, optional
            Called with (n_terms, objective) as models are found.
        rough : bool
            For models that are compared and not kept: coefficients are good to six digits or so, and models do not say
            what they stand on.
        start : Frontier, optional
            Models to improve on, which takes less time.

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
            models=tuple(
                problem.design.model(point, problem.options.loss, classes) if rough else problem.model(point, classes)
                for point in points
            ),
            n_terms=n_terms,
            loss=np.array([point.loss for point in points]),
            objective=objective,
            lambda0=hull_prices(n_terms, objective),
            total_weight=problem.total_weight,
            finished=search.finished,
            search_stats=search.counts,
            lambda2=problem.ridge.lambda2,
            mean_weight=problem.mean_weight,
            choices=problem.choices,
            standardized=problem.ridge.standardized,
            cut_off=bool(n_terms[-1] >= problem.max_terms) and problem.max_terms < problem.n_candidates,
        )

    def at(self, n_terms: int | None = None, *, lambda0: float | str | None = None) -> M:
        """Return one model: `path.at(15)`, or `path.at(lambda0="bic")`.

        Parameters
        ----------
        n_terms : int, optional
            Its size.
        lambda0 : float or {"auto", "aic", "bic"}, optional
            The price per term: the model that minimises objective + lambda0 * n_terms is returned.
            For the squared loss the names are in units of the noise variance, which is estimated.
            Where that is the largest model of a frontier that was cut off, a warning says that the best one at this
            price may be larger.

        Returns
        -------
        Model or LinearModel
            The model asked for.
        """
        if (n_terms is None) == (lambda0 is None):
            msg = f"give either n_terms or lambda0, got n_terms={n_terms!r} and lambda0={lambda0!r}."
            raise ValueError(msg)
        if lambda0 is None:
            return self.models[self._with_size(n_terms)]
        chosen = self._cheapest(lambda0)
        if not self._is_inside(chosen):
            self._warn_of_end(lambda0)
        return self.models[chosen]

    def covers(self, lambda0: float | str) -> bool:
        """Tell whether the best size at a price is one that the frontier goes past, or no larger model is to be had.

        Parameters
        ----------
        lambda0 : float or {"aic", "bic"}
            The price per term.

        Returns
        -------
        bool
            False where the largest model of the frontier is the best at this price, and larger ones were not searched.
        """
        return self._is_inside(self._cheapest(lambda0))

    def to_frame(self) -> Any:
        """Return the path as a frame of pandas, of polars where pandas is not installed, or as an Arrow table."""
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
        shown = notebook.table(["terms", "features", "loss", "objective", "best below lambda0"], rows, n_text=0)
        return notebook.fragment(notebook.note(repr(self).strip("<>")), notebook.folded("Sizes", shown, is_open=True))

    @documented
    def plot(self, ax: Any = None) -> Any:
        """Draw the objective against the number of terms; sizes that are best at some price are filled.

        {draw}
        """
        from sparsegam.plots._selection import plot_frontier

        figure = plot_frontier(self, ax=ax)
        return figure.axes[0] if ax is None else ax

    def _is_inside(self, chosen: int) -> bool:
        return chosen < len(self.models) - 1 or (self.finished and not self.cut_off)

    def _warn_of_end(self, lambda0: float | str) -> None:
        why = "max_terms" if self.finished else "time_limit"
        msg = (
            f"lambda0={lambda0!r} is outside of what was searched: {why} ended the frontier at {self.n_terms[-1]} "
            f"terms, and at this price the best model may have more. Raise {why}, or take this one by its size."
        )
        warn(msg, UserWarning)

    def _with_size(self, n_terms: Any) -> int:
        if isinstance(n_terms, str):
            msg = f"n_terms must be an integer, got {n_terms!r}: a criterion is a price, at(lambda0={n_terms!r})."
            raise ValueError(msg)
        check_integer("n_terms", n_terms)
        found = np.flatnonzero(self.n_terms == n_terms)
        if found.size == 0:
            msg = f"the path holds sizes {self.n_terms[0]} to {self.n_terms[-1]}, got {n_terms}: raise max_terms."
            raise ValueError(msg)
        return int(found[0])

    def _cheapest(self, lambda0: float | str) -> int:
        check_lambda0(lambda0)
        warn_of_weights(lambda0, self.mean_weight)
        unit = price(lambda0, self.total_weight, self.mean_weight, self.choices)
        found = unit(0)
        if is_settled(lambda0, self.models[0].loss):
            start = None if LOSSES[self.models[0].loss].is_classifier else float(self.objective[0])
            found = settled_price(unit, self.total_weight, start, self._solve)
        return int(np.argmin(self.objective + found * self.n_terms))

    def _solve(self, lambda0: float) -> tuple[float, int]:
        """Return objective and size of the best model at a price."""
        best = int(np.argmin(self.objective + lambda0 * self.n_terms))
        return float(self.objective[best]), int(self.n_terms[best])

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


def hull_prices(n_terms: NDArray[np.int64], objective: FloatArray) -> FloatArray:
    """Return, for each size, the slope of the lower convex hull on its left; NaN off the hull or where it rises."""
    prices = np.full(objective.size, np.nan)
    prices[0] = np.inf
    corners = [0]
    for k in range(1, objective.size):
        while True:
            slope = (objective[corners[-1]] - objective[k]) / (n_terms[k] - n_terms[corners[-1]])
            if slope < prices[corners[-1]]:
                break
            prices[corners.pop()] = np.nan
        if slope > 0:
            prices[k] = slope
            corners.append(k)
    return prices
