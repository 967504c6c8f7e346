"""The units that a problem is posed in: powers of two, so that no answer depends on the unit of the data.

The core sums squares, partly in single precision. It sees responses, weights and columns of ordinary size; what it
finds is put back into the user's units. All factors are powers of two, so nothing is rounded on the way: y and y * 2^k
give the same bits.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam.arrays import FloatArray

LARGEST_PRICE = 1e300


@dataclass(frozen=True, eq=False)
class Units:
    """By what the user's numbers are larger than those of the core.

    Attributes
    ----------
    weight : float
        Of the weights, a power of four: lambda1 goes with its root.
    target : float
        Of the response of a regression.
    offset : float
        What was taken from the response first, in the user's unit.
    columns : ndarray or None
        Of each column of a matrix; None where all are one, as for the 0/1 columns of a table.
    """

    weight: float = 1.0
    target: float = 1.0
    offset: float = 0.0
    columns: FloatArray | None = None

    @property
    def loss(self) -> float:
        """Of losses, ridges and prices."""
        return self.weight * self.target**2

    @property
    def slope(self) -> float:
        """Of lambda1."""
        return math.sqrt(self.weight) * self.target

    @property
    def is_ordinary(self) -> bool:
        """Whether the core has the problem as it was given."""
        return self.columns is None and (self.weight, self.target, self.offset) == (1.0, 1.0, 0.0)

    def price(self, lambda0: float) -> float:
        """Return a price in the units of the core; those beyond all losses stay finite, as nothing is free of them."""
        return min(lambda0 / self.loss, LARGEST_PRICE)

    def of(self, columns: NDArray[np.int64]) -> FloatArray | float:
        """Return by what the coefficients of columns are larger."""
        return self.target if self.columns is None else self.target / self.columns[columns]

    def from_core(self, point: _core.Point) -> _core.Point:
        """Put a point of the core into the user's units."""
        if self.is_ordinary:
            return point
        return _core.Point(
            point.intercept * self.target + self.offset,
            point.columns,
            point.coef * self.of(point.columns),
            loss=point.loss * self.loss,
            ridge=point.ridge * self.loss,
        )

    def to_core(self, point: _core.Point) -> _core.Point:
        """Put a point in the user's units into those of the core."""
        intercept = (point.intercept - self.offset) / self.target
        return _core.Point(intercept, point.columns, point.coef / self.of(point.columns))


def power_of_two(value: float, base: int = 1) -> float:
    """Return the largest power of 2^base that is not above a positive number; 1 for zero."""
    if not (value > 0 and math.isfinite(value)):
        return 1.0
    exponent = math.frexp(value)[1] - 1
    return math.ldexp(1.0, exponent - exponent % base)


def in_units(y: FloatArray, weight: FloatArray, *, centred: bool) -> tuple[Units, FloatArray, FloatArray]:
    """Return units in which a target and its weights are of ordinary size, and both of them in these.

    Parameters
    ----------
    y : ndarray
        Labels -1 and 1, which stay as they are, or responses.
    weight : ndarray
        Weights of the rows, positive ones among them.
    centred : bool
        Whether y is a response with an intercept to go with it: its mean is taken out.
    """
    scale = power_of_two(float(weight.max()), base=2)
    weight = weight if scale == 1 else weight / scale  # no copy for nothing: rows may be many
    offset = _centre(y, weight) if centred else 0.0
    y = y - offset if offset else y
    unit = power_of_two(float(np.abs(y).max(initial=0.0)))
    return Units(scale, unit, offset), y if unit == 1 else y / unit, weight


def unless_one(weight: FloatArray) -> FloatArray | None:
    """Return weights as rows of the core take them: None where all are one, which need no memory."""
    return None if weight.min(initial=1.0) == weight.max(initial=1.0) == 1 else weight


def _centre(y: FloatArray, weight: FloatArray) -> float:
    """Return the weighted mean of a response; exact where all are equal."""
    first = float(y[0])
    return first + float(weight @ (y - first) / weight.sum())
