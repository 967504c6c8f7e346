"""The table of losses: functions and constants of each loss.

A loss is a sum over rows of a function of the score f and the target y, where y is -1 or 1 for classification and a
number for regression. The core (`loss.hpp`) and the CUDA kernels (`loss.cuh`) implement the same losses.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparsegam.arrays import FloatArray


@dataclass(frozen=True, kw_only=True)
class Loss:
    """A loss and the constants that depend on it.

    Attributes
    ----------
    name : str
        Name of the loss in the Python interface, in the core and in model files.
    l0learn_name : str
        Name of the loss in fastsparsegams and L0Learn.
    cuda_index : int
        Value of the loss in the enumeration of `loss.cuh`.
    per_row : callable
        Returns the loss of each row, given targets and scores.
    probability_slope : float or None
        P(positive class) = 1 / (1 + exp(-probability_slope * score)), or None if scores are not log-odds.
    closed_form : bool, default=False
        Whether the optimal shift of a group of rows has a closed form, which requires columns of two values each.
    is_classifier : bool, default=True
        Whether the target is one of two classes. Otherwise it is a number and the score is the prediction.
    bic_share : float, default=0.5
        `lambda0="auto"` of an additive model, as a share of the BIC penalty. See `benchmarks/defaults.py` and
        `benchmarks/defaults_regression.py`.
    ridge : float, default=3.0
        `lambda2="auto"` on unstandardised coefficients of steps; for regression relative to the noise variance. A
        larger ridge shrinks small effects better, but splits each large step into several small ones. Measured by the
        same benchmarks.
    ridge_grid : tuple of float
        Values of `lambda2` compared by cross-validation.
    path_curvature : float
        Curvature with respect to the score from which fastsparsegams and L0Learn derive their grids of `lambda0`.
    """

    name: str
    l0learn_name: str
    cuda_index: int
    per_row: Callable[[FloatArray, FloatArray], FloatArray]
    probability_slope: float | None = None
    closed_form: bool = False
    is_classifier: bool = True
    bic_share: float = 0.5
    ridge: float = 3.0
    ridge_grid: tuple[float, ...] = (0.3, 1.0, 3.0, 10.0, 30.0)
    path_curvature: float

    @property
    def slope(self) -> float:
        """Factor from score to log-odds of the positive class; 1 for regression.

        Raises a ValueError if the loss has classes but no probabilities.
        """
        if self.probability_slope is None and self.is_classifier:
            msg = (
                f"loss={self.name!r} does not provide probabilities: use decision_function and predict, or fit with "
                "loss='logistic'."
            )
            raise ValueError(msg)
        return 1.0 if self.probability_slope is None else self.probability_slope

    def total(self, target: FloatArray, score: FloatArray, weight: FloatArray) -> float:
        """Return the weighted sum of the loss over rows."""
        return float(weight @ self.per_row(target, score))


def logistic(log_odds: FloatArray) -> FloatArray:
    """Convert log-odds to probabilities without overflow."""
    out: FloatArray = 0.5 * (1.0 + np.tanh(0.5 * log_odds))
    return out


def _logistic_loss(target: FloatArray, score: FloatArray) -> FloatArray:
    return np.logaddexp(0, -target * score)


def _exponential_loss(target: FloatArray, score: FloatArray) -> FloatArray:
    return np.exp(-target * score)


def _squared_loss(target: FloatArray, score: FloatArray) -> FloatArray:
    out: FloatArray = 0.5 * (target - score) ** 2
    return out


def _squared_hinge_loss(target: FloatArray, score: FloatArray) -> FloatArray:
    out: FloatArray = np.maximum(1.0 - target * score, 0.0) ** 2
    return out


LOSSES: dict[str, Loss] = {
    loss.name: loss
    for loss in (
        Loss(
            name="logistic",
            l0learn_name="Logistic",
            cuda_index=0,
            per_row=_logistic_loss,
            probability_slope=1.0,
            path_curvature=0.25,
        ),
        Loss(
            name="exponential",
            l0learn_name="Exponential",
            cuda_index=1,
            per_row=_exponential_loss,
            probability_slope=2.0,
            closed_form=True,
            path_curvature=0.25,
        ),
        Loss(
            name="squared",
            l0learn_name="SquaredError",
            cuda_index=2,
            per_row=_squared_loss,
            is_classifier=False,
            bic_share=0.6,
            ridge=10.0,
            ridge_grid=(0.1, 0.3, 1.0, 3.0, 10.0),
            path_curvature=1.0,
        ),
        Loss(
            name="squared_hinge",
            l0learn_name="SquaredHinge",
            cuda_index=3,
            per_row=_squared_hinge_loss,
            path_curvature=2.0,
        ),
    )
}
PROBABILITY_LOSSES = tuple(name for name, loss in LOSSES.items() if loss.probability_slope is not None)
(REGRESSION,) = (name for name, loss in LOSSES.items() if not loss.is_classifier)
