"""Scaling of target, weights and columns by powers of two, so that results do not depend on the units of the data.

The core sums squares, partly in single precision. It receives responses, weights and columns of moderate size, and its
results are converted back to the user's units. All factors are powers of two, so that the conversion is exact: y and
y * 2^k give bitwise the same model.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam.arrays import FloatArray

# Penalties above this are replaced by it, so that the product with the number of terms stays finite.
MAX_PENALTY = 1e300


@dataclass(frozen=True, eq=False)
class Units:
    """Factors by which the user's numbers are larger than those of the core.

    Attributes
    ----------
    weight : float
        Factor of the sample weights, a power of four, because lambda1 is divided by its square root.
    target : float
        Factor of the response of a regression.
    offset : float
        Number that is subtracted from the response first, in the user's unit.
    columns : ndarray or None
        Factor of each column of a matrix; None if all are 1, as for the 0/1 columns of a table.
    """

    weight: float = 1.0
    target: float = 1.0
    offset: float = 0.0
    columns: FloatArray | None = None

    @property
    def loss(self) -> float:
        """Factor of losses, ridge penalties and lambda0."""
        return self.weight * self.target**2

    @property
    def slope(self) -> float:
        """Factor of lambda1."""
        return math.sqrt(self.weight) * self.target

    @property
    def is_identity(self) -> bool:
        """Whether the units of the core are those of the user."""
        return self.columns is None and (self.weight, self.target, self.offset) == (1.0, 1.0, 0.0)

    def core_penalty(self, lambda0: float) -> float:
        """Return a penalty per term in the units of the core."""
        return min(lambda0 / self.loss, MAX_PENALTY)

    def of(self, columns: NDArray[np.int64]) -> FloatArray | float:
        """Return the factor of the coefficients of some columns."""
        return self.target if self.columns is None else self.target / self.columns[columns]

    def from_core(self, point: _core.Point) -> _core.Point:
        """Convert a point of the core to the user's units."""
        if self.is_identity:
            return point
        return _core.Point(
            point.intercept * self.target + self.offset,
            point.columns,
            point.coef * self.of(point.columns),
            loss=point.loss * self.loss,
            ridge=point.ridge * self.loss,
        )

    def to_core(self, point: _core.Point) -> _core.Point:
        """Convert a point in the user's units to those of the core."""
        intercept = (point.intercept - self.offset) / self.target
        return _core.Point(intercept, point.columns, point.coef / self.of(point.columns))


def power_of_two(value: float, base: int = 1) -> float:
    """Return the largest power of 2^base that is not above a positive number; 1 for zero."""
    if not (value > 0 and math.isfinite(value)):
        return 1.0
    exponent = math.frexp(value)[1] - 1
    return math.ldexp(1.0, exponent - exponent % base)


def scale_target(target: FloatArray, weight: FloatArray, *, centred: bool) -> tuple[Units, FloatArray, FloatArray]:
    """Scale a target and its weights to moderate size.

    Parameters
    ----------
    target : ndarray
        Labels -1 and 1, which are not changed, or responses.
    weight : ndarray
        Sample weights, some of them positive.
    centred : bool
        Whether to subtract the mean: for the response of a regression with an intercept.

    Returns
    -------
    Units, ndarray, ndarray
        The units, and the scaled target and weights; these are not copied if their factor is 1.
    """
    weight_unit = power_of_two(float(weight.max()), base=2)
    weight = weight if weight_unit == 1 else weight / weight_unit
    offset = _mean(target, weight) if centred else 0.0
    target = target - offset if offset else target
    unit = power_of_two(float(np.abs(target).max(initial=0.0)))
    return Units(weight_unit, unit, offset), target if unit == 1 else target / unit, weight


def weights_or_none(weight: FloatArray) -> FloatArray | None:
    """Return None if all weights are 1, which the core represents without an array; else the weights."""
    return None if weight.min(initial=1.0) == weight.max(initial=1.0) == 1 else weight


def _mean(target: FloatArray, weight: FloatArray) -> float:
    """Return the weighted mean of a response; it is exact if all responses are equal."""
    first = float(target[0])
    return first + float(weight @ (target - first) / weight.sum())
