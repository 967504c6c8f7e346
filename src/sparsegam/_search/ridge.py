"""The ridge penalty: the meaning of lambda2, and the ridges that cross-validation chooses from.

A number applies to the standardized coefficients: lambda2 * (sigma_j w_j)^2, where sigma_j^2 is the centred squared
norm of the column. sigma_j^2 grows with the number of rows, so the shrinkage does not depend on it. lambda2="auto" is a
Gaussian prior instead, on the bare coefficients of steps or, standardized, divided by the number of rows: its influence
falls as n grows. For a regression, "auto" is scaled by the noise variance, so that clear effects are not shrunk.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._design.scaling import Units
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_boolean, check_number, shown
from sparsegam.losses import LOSSES

AUTO = "auto"
# The variance of a step that holds for half of the rows.
VARIANCE_OF_HALF = 0.25
# Standardized ridges by name, to be divided by the sum of the weights.
COLUMN = 10.0
COLUMNS = (3.0, 10.0, 30.0, 100.0, 300.0)


@dataclass(frozen=True)
class Ridge:
    """A ridge penalty.

    Attributes
    ----------
    amount : float
        lambda2, or lambda2 times the sum of the weights if `over_rows`.
    standardized : bool
        Whether it applies to the coefficients times the norms of their centred columns, or to the bare coefficients.
    over_rows : bool
        Whether the amount is still to be divided by the sum of the weights.
    over_noise : bool
        Whether the amount is still to be multiplied by the noise share of the variance of y.
    """

    amount: float
    standardized: bool = True
    over_rows: bool = False
    over_noise: bool = False

    def at(self, total_weight: float) -> "Ridge":
        """Return the ridge for rows of this total weight."""
        return Ridge(self.amount / total_weight, self.standardized) if self.over_rows else self

    def times_noise(self, noise: float) -> "Ridge":
        """Return the ridge scaled by the noise share of the variance of y, if `over_noise`."""
        return Ridge(self.amount * noise, self.standardized) if self.over_noise else self

    @property
    def lambda2(self) -> float:
        """The factor in the objective, once the total weight is known."""
        return float(self.amount)

    def unit(self, columns: _core.ColumnInfo, units: Units, ramps: NDArray[np.int64] | None = None) -> FloatArray:
        """Return the factor of lambda2 times the squared coefficient of each column, in the units of the core.

        A ramp, whose coefficient depends on the unit of its feature, is rescaled to a step of the same variance that
        holds for half of the weight.
        """
        sq_norm = columns.centred_sq_norm
        if self.standardized:
            return sq_norm
        every = np.arange(sq_norm.size)
        bare: FloatArray = np.broadcast_to((units.of(every) / units.target) ** 2 / units.weight, sq_norm.shape).copy()
        ramps = columns.ramps if ramps is None else ramps
        bare[ramps] *= sq_norm[ramps] / (VARIANCE_OF_HALF * columns.total_weight)
        return bare


def ridge_of(lambda2: Any, loss: str, *, standardize: bool | None = None) -> Ridge:
    """Return the ridge for a single lambda2; raise ValueError for a list."""
    _check_standardize(standardize)
    if isinstance(lambda2, str):
        _check_name(lambda2)
        if standardize:
            return Ridge(COLUMN, over_rows=True)
        return Ridge(LOSSES[loss].ridge, standardized=False, over_noise=not LOSSES[loss].is_classifier)
    if not _is_scalar(lambda2):
        msg = (
            f"a list of values of lambda2 requires cross-validation, got {shown(lambda2)}: pass one number or 'auto', "
            "or use a cross-validated estimator, such as SparseGAMClassifierCV."
        )
        raise ValueError(msg)
    check_number("lambda2", lambda2, at_least=0.0)
    return Ridge(float(lambda2), standardized=standardize is not False)


def ridges_of(lambda2: Any, loss: str, *, standardize: bool | None = None) -> tuple[Ridge, ...]:
    """Return the ridges that cross-validation chooses from, weakest first."""
    _check_standardize(standardize)
    if isinstance(lambda2, str):
        _check_name(lambda2)
        if standardize:
            return tuple(Ridge(amount, over_rows=True) for amount in COLUMNS)
        return tuple(Ridge(amount, standardized=False) for amount in LOSSES[loss].ridge_grid)
    if _is_scalar(lambda2):
        return (ridge_of(lambda2, loss, standardize=standardize),)
    numbers = list(lambda2)
    if not numbers:
        msg = "lambda2 must contain at least one number, got an empty list."
        raise ValueError(msg)
    found = {ridge_of(number, loss, standardize=standardize) for number in numbers}
    return tuple(sorted(found, key=lambda ridge: ridge.amount))


def _is_scalar(lambda2: Any) -> bool:
    return not isinstance(lambda2, Iterable) or getattr(lambda2, "ndim", 1) == 0


def _check_standardize(standardize: Any) -> None:
    if standardize is not None:
        check_boolean("standardize", standardize)


def _check_name(lambda2: str) -> None:
    if lambda2 != AUTO:
        wanted = "a number >= 0, 'auto' or, for cross-validation, a list of numbers"
        msg = f"lambda2 must be {wanted}, got {shown(lambda2)}."
        raise ValueError(msg)
