"""The columns of a matrix as a design: what is demanded of their coefficients, and what they mean as a model."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._data.matrix import NumericMatrix
from sparsegam._data.table import position
from sparsegam._design.scaling import Units
from sparsegam._models.linear import LinearModel
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_boolean, check_number


@dataclass(frozen=True)
class Coefficients:
    """What the user may demand of the coefficients; wrong values are refused when it is made or meets a matrix.

    Attributes
    ----------
    lambda1 : float
        Lasso penalty on the standardised coefficients.
    standardize : bool
        Whether lambda1 and lambda2 are on coefficients times the norms of their centred columns, or on the bare ones.
    fit_intercept : bool
        Whether there is an intercept.
    coef_bounds : (low, high), optional
        Bounds of the coefficients, numbers or one for each column: low <= 0 <= high.
    unpenalized : list of columns, optional
        Columns that are in every model and free of lambda0.
    norms : ndarray, optional
        What coefficients are multiplied with before lambda1 and lambda2 see them, in the place of `standardize`.
    """

    lambda1: float = 0.0
    standardize: bool = True
    fit_intercept: bool = True
    coef_bounds: Any = None
    unpenalized: Any = None
    norms: FloatArray | None = None

    def __post_init__(self) -> None:
        check_number("lambda1", self.lambda1, at_least=0.0)
        check_boolean("standardize", self.standardize)
        check_boolean("fit_intercept", self.fit_intercept)
        if isinstance(self.unpenalized, str):
            msg = f"unpenalized must be a list of columns, got {self.unpenalized!r}."
            raise ValueError(msg)

    def bounds(self, n_columns: int) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and the highest coefficient of each column."""
        if self.coef_bounds is None:
            return np.full(n_columns, -np.inf), np.full(n_columns, np.inf)
        try:
            low, high = self.coef_bounds
            low, high = (np.array(np.broadcast_to(b, (n_columns,)), dtype=np.float64) for b in (low, high))
        except (TypeError, ValueError):
            msg = (
                f"coef_bounds must be a pair (low, high) of numbers or of arrays with one number for each of the "
                f"{n_columns} columns, got {self.coef_bounds!r}."
            )
            raise ValueError(msg) from None
        wrong = np.flatnonzero(~((low <= 0) & (high >= 0)))
        if wrong.size:
            j = wrong[0]
            msg = (
                f"coef_bounds must have low <= 0 <= high, so that a column may stay out of the model, got "
                f"({low[j]:g}, {high[j]:g}) for column {j}."
            )
            raise ValueError(msg)
        return low, high

    def penalty(
        self, lambda2: float, allowed: NDArray[np.bool_], always: NDArray[np.int64], units: Units
    ) -> _core.Penalty:
        """Return the price and the bounds of the columns, in the units of the core."""
        every = np.arange(allowed.size)
        low, high = (bound / units.of(every) for bound in self.bounds(allowed.size))
        bare = (units.of(every) / units.target) ** 2 / units.weight * np.ones(allowed.size)
        return _core.Penalty(
            lambda2=lambda2,
            lambda1=float(self.lambda1) / units.slope,
            cost=np.ones(allowed.size),
            low=low,
            high=high,
            allowed=allowed,
            group=every,
            always=always,
            penalty_scale=self._unit(bare),
            free_intercept=bool(self.fit_intercept),
        )

    def _unit(self, bare: FloatArray) -> FloatArray | None:
        """Return what lambda2 is multiplied with beside the square of each coefficient; None for the core's spreads."""
        if self.norms is not None:
            given: FloatArray = np.square(self.norms) * bare
            return given
        return None if self.standardize else bare

    def always(self, matrix: NumericMatrix) -> NDArray[np.int64]:
        """Return the positions of the columns that every model has."""
        if self.unpenalized is None:
            return np.zeros(0, dtype=np.int64)
        names = [matrix.label(j) for j in range(matrix.n_columns)]
        return np.unique([position(key, names, "unpenalized") for key in self.unpenalized]).astype(np.int64)


@dataclass(frozen=True)
class LinearDesign:
    """The columns as the core has them, and what is needed to speak of them in the words of the data.

    Attributes
    ----------
    matrix : NumericMatrix
        The columns.
    shift : dict from column to float
        What was taken from columns far from zero, so that the core works with the digits that vary.
    too_far : set of int
        Those of them that are so far from zero that a model must take it from them too.
    """

    matrix: NumericMatrix
    shift: dict[int, float]
    too_far: frozenset[int] = frozenset()

    def model(self, point: _core.Point, loss: str, classes: NDArray[Any] | None) -> LinearModel:
        """Put one point of a search into the words of the data."""
        order = np.argsort(point.columns)
        columns, coef = point.columns[order].tolist(), point.coef[order].tolist()
        moved = zip(columns, coef, strict=True) if self.shift else ()
        parts = {j: w * self.shift.get(j, 0.0) for j, w in moved}
        near = float(point.intercept) - sum(part for j, part in parts.items() if j not in self.too_far)
        centred = not self.too_far.isdisjoint(columns)
        return LinearModel(
            intercept=near - sum(part for j, part in parts.items() if j in self.too_far),
            columns=tuple(columns),
            weights=tuple(coef),
            n_features=self.matrix.n_columns,
            loss=loss,
            classes=None if classes is None else (classes[0], classes[1]),
            feature_names=self.matrix.names,
            centres=tuple(self.shift[j] if j in self.too_far else 0.0 for j in columns) if centred else (),
            centre_score=near if centred else 0.0,
        )
