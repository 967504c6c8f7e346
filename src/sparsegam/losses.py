"""The losses: all that Python knows about each of them, in one table; the core's table has the same names.

A loss is summed over rows, of a score f and a target y: -1 and 1 for two classes, a number for a regression.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparsegam.arrays import Vector


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
        P(second class) = 1 / (1 + exp(-slope * score)); None for a regression, whose score is the prediction.
    closed_form : bool
        Whether two groups of rows have a best shift in closed form: then columns must be of two values each.
    """

    name: str
    each: Callable[[Vector, Vector], Vector]
    probability_slope: float | None = None
    closed_form: bool = False

    @property
    def is_classifier(self) -> bool:
        """Whether the target is one of two classes."""
        return self.probability_slope is not None

    @property
    def slope(self) -> float:
        """From score to log odds of the second class; 1 for a regression, which has none."""
        return 1.0 if self.probability_slope is None else self.probability_slope

    def total(self, target: Vector, score: Vector, weight: Vector) -> float:
        """Sum the loss over rows, with their weights."""
        return float(weight @ self.each(target, score))


def logistic(log_odds: Vector) -> Vector:
    """Turn log odds into probabilities, without overflow."""
    out: Vector = 0.5 * (1.0 + np.tanh(0.5 * log_odds))
    return out


def _logistic_each(target: Vector, score: Vector) -> Vector:
    return np.logaddexp(0, -target * score)


def _exponential_each(target: Vector, score: Vector) -> Vector:
    return np.exp(-target * score)


def _squared_each(target: Vector, score: Vector) -> Vector:
    out: Vector = 0.5 * (target - score) ** 2
    return out


LOSSES = {
    loss.name: loss
    for loss in (
        Loss("logistic", _logistic_each, probability_slope=1.0),
        Loss("exponential", _exponential_each, probability_slope=2.0, closed_form=True),
        Loss("squared", _squared_each),
    )
}
CLASSIFIERS = tuple(name for name, loss in LOSSES.items() if loss.is_classifier)
(REGRESSION,) = (name for name, loss in LOSSES.items() if not loss.is_classifier)
