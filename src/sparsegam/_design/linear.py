"""The columns of a linear model: penalties and constraints of their coefficients, and conversion to a model."""

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
from sparsegam.checks import check_boolean, check_number, shown


@dataclass(frozen=True)
class Coefficients:
    """Penalties and constraints of coefficients; the parameters of the same names of `SparseLinearClassifier`.

    `norms`, if given, scale the coefficients in the penalties of lambda1 and lambda2, in place of the column norms of
    `standardize`. Values that are invalid for every matrix raise an error at construction, others when they are applied
    to a matrix.
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
            msg = f"unpenalized must be a list of columns, got {shown(self.unpenalized)}."
            raise ValueError(msg)

    def bounds(self, n_columns: int) -> tuple[FloatArray, FloatArray]:
        """Return the lower and the upper bound of each coefficient."""
        if self.coef_bounds is None:
            return np.full(n_columns, -np.inf), np.full(n_columns, np.inf)
        try:
            low, high = self.coef_bounds
            low, high = (np.array(np.broadcast_to(b, (n_columns,)), dtype=np.float64) for b in (low, high))
        except (TypeError, ValueError):
            msg = (
                f"coef_bounds must be a pair (low, high) of numbers or of arrays with one number for each of the "
                f"{n_columns} columns, got {shown(self.coef_bounds)}."
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
        self, lambda2: float, allowed: NDArray[np.bool_], required: NDArray[np.int64], units: Units
    ) -> _core.Penalty:
        """Return the penalties, bounds and limits of the columns, in the units of the core."""
        every = np.arange(allowed.size)
        low, high = (bound / units.of(every) for bound in self.bounds(allowed.size))
        # Factor from the user's squared coefficients to those of the core; None: squared norms of the centred columns.
        scale: FloatArray | None = (units.of(every) / units.target) ** 2 / units.weight * np.ones(allowed.size)
        if self.norms is not None:
            scale = np.square(self.norms) * scale
        elif self.standardize:
            scale = None
        return _core.Penalty(
            lambda2=lambda2,
            lambda1=float(self.lambda1) / units.slope,
            cost=np.ones(allowed.size),
            low=low,
            high=high,
            allowed=allowed,
            group=every,
            always=required,
            penalty_scale=scale,
            free_intercept=bool(self.fit_intercept),
        )

    def required(self, matrix: NumericMatrix) -> NDArray[np.int64]:
        """Return the positions of the unpenalized columns, which are in every model."""
        if self.unpenalized is None:
            return np.zeros(0, dtype=np.int64)
        names = [matrix.label(j) for j in range(matrix.n_columns)]
        return np.unique([position(key, names, "unpenalized") for key in self.unpenalized]).astype(np.int64)


@dataclass(frozen=True)
class LinearDesign:
    """The columns of a linear model in the format of the core.

    Attributes
    ----------
    matrix : NumericMatrix
        The columns.
    shift : dict from int to float
        Number that was subtracted from each column far from zero, to preserve the digits that vary.
    too_far : set of int, default=()
        The shifted columns that a model, too, must centre in order to score rows without loss of precision.
    """

    matrix: NumericMatrix
    shift: dict[int, float]
    too_far: frozenset[int] = frozenset()

    def model(self, point: _core.Point, loss: str, classes: NDArray[Any] | None) -> LinearModel:
        """Convert a point of a search to a model."""
        order = np.argsort(point.columns)
        columns, coef = point.columns[order].tolist(), point.coef[order].tolist()
        shifted = zip(columns, coef, strict=True) if self.shift else ()
        offsets = {j: w * self.shift.get(j, 0.0) for j, w in shifted}
        # The score at the centres of the columns in `too_far`, and at zero of all others.
        centre_score = float(point.intercept) - sum(by for j, by in offsets.items() if j not in self.too_far)
        is_centred = not self.too_far.isdisjoint(columns)
        return LinearModel(
            intercept=centre_score - sum(by for j, by in offsets.items() if j in self.too_far),
            columns=tuple(columns),
            weights=tuple(coef),
            n_features=self.matrix.n_columns,
            loss=loss,
            classes=None if classes is None else (classes[0], classes[1]),
            feature_names=self.matrix.names,
            centres=tuple(self.shift[j] if j in self.too_far else 0.0 for j in columns) if is_centred else (),
            centre_score=centre_score if is_centred else 0.0,
        )
