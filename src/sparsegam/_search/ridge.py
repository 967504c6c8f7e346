"""The ridge: what lambda2 stands for, a number or a name, and the ridges that cross-validation chooses from.

A number is on the standardised coefficients, as in the paper: lambda2 * (sigma_j w_j)^2, where sigma_j^2 grows with the
rows, so that its shrinkage stays the same however many there are. Chosen by name, the ridge is a prior instead: on the
bare coefficients of steps, or on standardised ones over the number of rows, it gives way as rows come in. Of a
regression it is in units of the noise, beside the spread of y: what is seen clearly is not shrunk.
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
# Set by benchmarks/defaults.py and benchmarks/defaults_regression.py. More shrinks better still where effects are
# small, but splits every large step into a staircase of small ones, which cost less. Of a regression, where nothing of
# y is explained.
STEP = {"logistic": 3.0, "exponential": 3.0, "squared": 10.0, "squared_hinge": 3.0}
STEPS = {  # from which folds choose
    "logistic": (0.3, 1.0, 3.0, 10.0, 30.0),
    "exponential": (0.3, 1.0, 3.0, 10.0, 30.0),
    "squared": (0.1, 0.3, 1.0, 3.0, 10.0),
    "squared_hinge": (0.3, 1.0, 3.0, 10.0, 30.0),
}
HALF = 0.25  # the variance of a step that holds for half of the rows
COLUMN = 10.0  # over the sum of the weights
COLUMNS = (3.0, 10.0, 30.0, 100.0, 300.0)


@dataclass(frozen=True)
class Ridge:
    """A ridge penalty.

    Attributes
    ----------
    amount : float
        lambda2, or lambda2 times the sum of the weights.
    standardized : bool
        Whether it is on the coefficients times the norms of their centred columns, or on the bare ones.
    over_rows : bool
        Whether the amount is yet to be divided by the sum of the weights.
    over_noise : bool
        Whether it is yet to be multiplied with the share of the variance of y that is noise.
    """

    amount: float
    standardized: bool = True
    over_rows: bool = False
    over_noise: bool = False

    def at(self, total_weight: float) -> "Ridge":
        """Return the same for rows of a known total weight."""
        return Ridge(self.amount / total_weight, self.standardized) if self.over_rows else self

    def beside(self, noise: float) -> "Ridge":
        """Return the same for a regression that leaves a known share of the variance unexplained."""
        return Ridge(self.amount * noise, self.standardized) if self.over_noise else self

    @property
    def lambda2(self) -> float:
        """The factor in the objective, once the rows are known."""
        return float(self.amount)

    def unit(self, columns: _core.ColumnInfo, units: Units, ramps: NDArray[np.int64] | None = None) -> FloatArray:
        """Return what lambda2 is multiplied with beside the square of each coefficient, in the units of the core.

        A ramp, whose unit says nothing, counts as the step that varies as much and holds for half of the weight.
        """
        spread = columns.centred_sq_norm
        if self.standardized:
            return spread
        every = np.arange(spread.size)
        bare: FloatArray = np.broadcast_to((units.of(every) / units.target) ** 2 / units.weight, spread.shape).copy()
        ramps = columns.ramps if ramps is None else ramps
        bare[ramps] *= spread[ramps] / (HALF * columns.total_weight)
        return bare


def ridge_of(lambda2: Any, loss: str, *, standardize: bool | None = None) -> Ridge:
    """Return the one ridge that lambda2 stands for."""
    _check_standardize(standardize)
    if isinstance(lambda2, str):
        _check_name(lambda2)
        if standardize:
            return Ridge(COLUMN, over_rows=True)
        return Ridge(STEP[loss], standardized=False, over_noise=not LOSSES[loss].is_classifier)
    if not _is_scalar(lambda2):
        msg = (
            f"lambda2 is a list, {shown(lambda2)}, from which only cross-validation can choose: give one number or "
            "'auto', or use the estimator of the same name that ends in CV."
        )
        raise ValueError(msg)
    check_number("lambda2", lambda2, at_least=0.0)
    return Ridge(float(lambda2), standardized=standardize is not False)


def ridges_of(lambda2: Any, loss: str, *, standardize: bool | None = None) -> tuple[Ridge, ...]:
    """Return the ridges that cross-validation chooses from, the weakest first."""
    _check_standardize(standardize)
    if isinstance(lambda2, str):
        _check_name(lambda2)
        if standardize:
            return tuple(Ridge(amount, over_rows=True) for amount in COLUMNS)
        return tuple(Ridge(amount, standardized=False) for amount in STEPS[loss])
    if _is_scalar(lambda2):
        return (ridge_of(lambda2, loss, standardize=standardize),)
    numbers = list(lambda2)
    if not numbers:
        msg = "lambda2 must hold at least one number, got an empty list."
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
        msg = f"lambda2 must be a number >= 0, 'auto' or, for cross-validation, a list of numbers, got {lambda2!r}."
        raise ValueError(msg)
