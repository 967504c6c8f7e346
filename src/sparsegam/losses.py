"""The losses: all that Python knows about each of them, in one table; the core's table has the same names.

A loss is summed over rows, of a score f and a target y: -1 and 1 for two classes, a number for a regression.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparsegam.arrays import FloatArray


@dataclass(frozen=True)
class Loss:
    """One loss.

    Attributes
    ----------
    name : str
        What the user, the core and files call it.
    each : callable
        Loss of each row, given targets and scores.
    probability_slope : float or None
        P(second class) = 1 / (1 + exp(-slope * score)); None where scores are no log odds.
    closed_form : bool
        Whether two groups of rows have a best shift in closed form: then columns must be of two values each.
    is_classifier : bool
        Whether the target is one of two classes; else it is a number, and the score is the prediction.
    """

    name: str
    each: Callable[[FloatArray, FloatArray], FloatArray]
    probability_slope: float | None = None
    closed_form: bool = False
    is_classifier: bool = True

    @property
    def slope(self) -> float:
        """From score to log odds of the second class; 1 for a regression, which has none."""
        if self.probability_slope is None and self.is_classifier:
            msg = (
                f"loss={self.name!r} leads to classes, not to probabilities: use decision_function and predict, or fit "
                "with loss='logistic'."
            )
            raise ValueError(msg)
        return 1.0 if self.probability_slope is None else self.probability_slope

    def total(self, target: FloatArray, score: FloatArray, weight: FloatArray) -> float:
        """Sum the loss over rows, with their weights."""
        return float(weight @ self.each(target, score))


def logistic(log_odds: FloatArray) -> FloatArray:
    """Turn log odds into probabilities, without overflow."""
    out: FloatArray = 0.5 * (1.0 + np.tanh(0.5 * log_odds))
    return out


def _logistic_each(target: FloatArray, score: FloatArray) -> FloatArray:
    return np.logaddexp(0, -target * score)


def _exponential_each(target: FloatArray, score: FloatArray) -> FloatArray:
    return np.exp(-target * score)


def _squared_each(target: FloatArray, score: FloatArray) -> FloatArray:
    out: FloatArray = 0.5 * (target - score) ** 2
    return out


def _squared_hinge_each(target: FloatArray, score: FloatArray) -> FloatArray:
    out: FloatArray = np.maximum(1.0 - target * score, 0.0) ** 2
    return out


LOSSES = {
    loss.name: loss
    for loss in (
        Loss("logistic", _logistic_each, probability_slope=1.0),
        Loss("exponential", _exponential_each, probability_slope=2.0, closed_form=True),
        Loss("squared", _squared_each, is_classifier=False),
        Loss("squared_hinge", _squared_hinge_each),
    )
}
CLASSIFIERS = tuple(name for name, loss in LOSSES.items() if loss.probability_slope is not None)
(REGRESSION,) = (name for name, loss in LOSSES.items() if not loss.is_classifier)
