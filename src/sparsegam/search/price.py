"""The price of a term: a number, a criterion by its name, or a criterion times the noise of a regression."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sparsegam.checks import check_choice, check_number, warn

CRITERIA = ("aic", "bic")
NOISE_ROUNDS = 10
SMALLEST_NOISE = 1e-4  # share of the variance of y below which a fit counts as perfect
FAR_FROM_ROWS = 10.0  # mean weight (or one over it) from which weights can hardly be meant as repeated rows


def price(lambda0: float | str, total_weight: float, mean_weight: float) -> float:
    """Return the price of a term: 1 for "aic", log(n)/2 for "bic", or the number.

    Weights count as repeated rows, so n is their sum, but never less than the number of rows: with weights that sum to
    one, as shares do, log(n) would be zero and terms would be free.
    """
    if lambda0 == "aic":
        return 1.0
    return math.log(total_weight / min(mean_weight, 1.0)) / 2 if lambda0 == "bic" else float(lambda0)


def warn_of_weights(lambda0: float | str, mean: float) -> None:
    """Warn where a criterion takes weights for repeated rows whose mean is far from one."""
    if not isinstance(lambda0, str) or 1 / FAR_FROM_ROWS <= mean <= FAR_FROM_ROWS:
        return
    more = "more" if mean > 1 else "fewer"
    msg = (
        f"lambda0={lambda0!r} takes weights for repeated rows, and these are {mean:.3g} on average: it will "
        f"choose {more} terms than the rows support. Unless each row does stand for so many, divide the weights by "
        "their mean: sample_weight / sample_weight.mean()."
    )
    warn(msg, UserWarning)


def mean_weight(sample_weight: Any) -> float:
    """Return the mean weight of the rows that have any; 1 where no weights are given."""
    if sample_weight is None:
        return 1.0
    weight = np.asarray(sample_weight, dtype=np.float64)
    return float(weight.sum() / max(np.count_nonzero(weight), 1))


def noise_price(unit: float, n: float, start: float, solve: Callable[[float], tuple[float, int]]) -> float:
    """Return unit times the noise variance of a regression: the price of a term where the variance is unknown.

    The variance is that of the residuals of the model found at this very price. It is settled from above, from the
    variance of y down, as long as it falls. A term takes two numbers from the data, its threshold and its
    coefficient, so that models with nearly as many terms as rows are not taken for free of noise.

    Parameters
    ----------
    unit : float
        Price of a term where the variance is one.
    n : float
        Number of rows, or their total weight.
    start : float
        Objective (half the sum of squares, and ridge) of the model without terms.
    solve : callable
        Gives objective and number of terms of the best model at a price.

    Returns
    -------
    float
        The price.
    """
    noise = _noise(start, 0, n)
    floor = SMALLEST_NOISE * noise
    for _ in range(NOISE_ROUNDS):
        updated = max(_noise(*solve(unit * noise), n), floor)
        if updated > 0.999 * noise:
            break
        noise = updated
    return unit * noise


def check_lambda0(lambda0: float | str) -> None:
    """Raise unless lambda0 is a name or a number that is not negative."""
    if isinstance(lambda0, str):
        check_choice("lambda0", lambda0, CRITERIA, other="or a number >= 0")
    else:
        check_number("lambda0", lambda0, at_least=0.0)


def _noise(objective: float, n_terms: int, n: float) -> float:
    return 2 * objective / max(n - 1 - 2 * n_terms, 1.0)
