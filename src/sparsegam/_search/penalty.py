"""The penalty per term lambda0: a number, a criterion, or a criterion times the noise variance of a regression."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsegam.checks import check_choice, check_number, shown, warn
from sparsegam.losses import LOSSES

# With the largest lambda0, the total penalty of all terms is still a finite float64.
LARGEST_LAMBDA0 = 1e280
CRITERIA = ("auto", "aic", "bic")
FIXED_POINT_STEPS = 10
# A regression whose residual variance is below this share of the variance of y counts as a perfect fit.
SMALLEST_NOISE = 1e-4
# If the mean weight is above this factor or below its inverse, weights are unlikely to count repeated rows.
UNUSUAL_MEAN_WEIGHT = 10.0

# lambda0="auto" was calibrated by benchmarks/defaults.py and benchmarks/defaults_regression.py. With a ridge, the best
# penalty is below BIC if all columns are informative, and above it if terms are chosen from many uninformative columns.
SHARE_OF_BIC = 0.4
# With more rows the influence of the ridge vanishes, and BIC needs no correction (benchmarks/defaults_large.py).
MANY_ROWS = 10_000
SHARE_PER_TENFOLD = 0.5
# The columns of a matrix are less correlated than neighbouring thresholds of one feature.
SHARE_OF_COLUMNS = 0.7

PenaltyOfSize = Callable[[int], float]
"""Returns the penalty per term of a model with a given number of terms."""


@dataclass(frozen=True)
class SelectionPenalty:
    """Penalty for choosing the best of many candidate columns.

    The k best of n columns of pure noise lower the loss by about log(n / k) each.

    Attributes
    ----------
    n_candidates : int
        Number of candidate columns.
    share : float
        Factor on log(n / k). It is below one for thresholds of one feature, which are nearly the same column, and
        larger for regressions, whose noise estimate shrinks as the model fits the residuals.
    """

    n_candidates: int = 1
    share: float = SHARE_OF_COLUMNS

    def at(self, n_terms: int) -> float:
        """Return the penalty per term of a model with this number of terms."""
        return self.share * math.log(max(self.n_candidates / max(n_terms, 1), 1.0))


NO_SELECTION = SelectionPenalty()


def unit_penalty(
    lambda0: float | str, total_weight: float, mean_weight: float, selection: SelectionPenalty
) -> PenaltyOfSize:
    """Return the penalty per term as a function of the number of terms, for a noise variance of one.

    It is 1 for "aic", log(n)/2 for "bic", and for "auto" the larger of a share of "bic" and the selection penalty.
    Weights count as repeated rows, so n is their sum, but at least the number of rows: with weights that sum to one,
    log(n) would be zero and terms would be free.
    """
    if lambda0 == "aic":
        return lambda _: 1.0
    if not isinstance(lambda0, str):
        return lambda _: float(lambda0)
    n_rows = max(total_weight / min(mean_weight, 1.0), 1.0)
    bic = math.log(n_rows) / 2
    if lambda0 == "bic":
        return lambda _: bic
    share = min(SHARE_OF_BIC + SHARE_PER_TENFOLD * max(math.log10(n_rows / MANY_ROWS), 0.0), 1.0)
    return lambda n_terms: max(share * bic, selection.at(n_terms))


def warn_about_weights(lambda0: float | str, mean_weight: float) -> None:
    """Warn if a criterion treats weights as repeated rows although their mean is far from one."""
    if not isinstance(lambda0, str) or 1 / UNUSUAL_MEAN_WEIGHT <= mean_weight <= UNUSUAL_MEAN_WEIGHT:
        return
    more = "more" if mean_weight > 1 else "fewer"
    msg = (
        f"lambda0={lambda0!r} treats weights as numbers of repeated rows, and their mean is {mean_weight:.3g}: it will "
        f"choose {more} terms than the rows support. Unless each row does represent that many rows, divide the weights "
        "by their mean: sample_weight / sample_weight.mean()."
    )
    warn(msg, UserWarning)


def mean_weight(sample_weight: Any) -> float:
    """Return the mean weight of the rows with positive weight; 1 if no weights are given."""
    if sample_weight is None:
        return 1.0
    weight = np.asarray(sample_weight, dtype=np.float64)
    return float(weight.sum() / max(np.count_nonzero(weight), 1))


def depends_on_model(lambda0: float | str, loss: str) -> bool:
    """Return whether the penalty depends on the fitted model: on its size, or on its residual variance."""
    return isinstance(lambda0, str) and (lambda0 == "auto" or not LOSSES[loss].is_classifier)


def fixed_point(
    unit: PenaltyOfSize,
    total_weight: float,
    null_objective: float | None,
    best_at: Callable[[float], tuple[float, int]],
) -> float:
    """Return the penalty per term that the criterion assigns to the best model at this penalty.

    The iteration starts at the model without terms and continues as long as the penalty falls. In a regression, the
    penalty is `unit` times the noise variance, which is estimated from the residuals.

    Parameters
    ----------
    unit : callable
        Penalty per term of a model with a given number of terms, for a noise variance of one.
    total_weight : float
        Sum of the weights.
    null_objective : float or None
        For a regression: the objective (half the sum of squares, and the ridge) of the model without terms.
    best_at : callable
        Returns the objective (without the penalty of the terms) and the number of terms of the best model at a penalty.

    Returns
    -------
    float
        The penalty per term.
    """
    noise = 1.0 if null_objective is None else noise_variance(null_objective, 0, total_weight)
    smallest = SMALLEST_NOISE * noise
    penalty = unit(0) * noise
    for _ in range(FIXED_POINT_STEPS):
        objective, n_terms = best_at(penalty)
        if null_objective is not None:
            noise = min(max(noise_variance(objective, n_terms, total_weight), smallest), noise)
        updated = unit(n_terms) * noise
        if updated > 0.999 * penalty:
            break
        penalty = updated
    return penalty


def check_lambda0(lambda0: float | str) -> None:
    """Raise ValueError unless lambda0 is a criterion or a finite number >= 0."""
    if isinstance(lambda0, str):
        check_choice("lambda0", lambda0, CRITERIA, other="or a number >= 0")
    else:
        check_number("lambda0", lambda0, at_least=0.0)
        # In float16 and float32 the bound itself would overflow.
        if float(lambda0) > LARGEST_LAMBDA0:
            msg = f"lambda0 must be at most {LARGEST_LAMBDA0:g}, got {shown(lambda0)}."
            raise ValueError(msg)


def noise_variance(objective: float, n_terms: int, total_weight: float) -> float:
    """Return the residual variance of a regression.

    A term counts as two degrees of freedom, its threshold and its coefficient, so that the estimate does not approach
    zero for models with nearly as many terms as rows.
    """
    return 2 * objective / max(total_weight - 1 - 2 * n_terms, 1.0)
