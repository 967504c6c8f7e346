"""The price of a term: a number, a criterion by its name, or a criterion times the noise of a regression."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsegam.checks import check_choice, check_number, shown, warn
from sparsegam.losses import LOSSES

HIGHEST = 1e280  # price: times what terms cost in all, it is still a number
CRITERIA = ("auto", "aic", "bic")
ROUNDS = 10
SMALLEST_NOISE = 1e-4  # share of the variance of y below which a fit counts as perfect
FAR_FROM_ROWS = 10.0  # mean weight (or one over it) from which weights can hardly be meant as repeated rows

# "auto", set by benchmarks/defaults.py and benchmarks/defaults_regression.py: beside a ridge, less than "bic" is best
# where every column has something to say, and more where a term was the best of many that have nothing.
SHARE_OF_BIC = 0.4
# With more rows the ridge gives way, and "bic" is right by itself: set by benchmarks/defaults_large.py.
MANY_ROWS = 10_000
SHARE_PER_TENFOLD = 0.5
SHARE_OF_COLUMNS = 0.7  # of matrices, which are not each other's neighbours
SHARE_OF_STEPS = {"logistic": 0.5, "exponential": 0.5, "squared": 0.6, "squared_hinge": 0.5}

Price = Callable[[int], float]  # of a term, in a model of so many


@dataclass(frozen=True)
class Choices:
    """The columns that a term is chosen from.

    Attributes
    ----------
    n : int
        How many columns there are.
    share : float
        Of what the best of as many columns of noise lower the loss by, that a term must. It is less where neighbours
        are nearly the same column, and more where a regression takes the noise from residuals that it lowered itself.
    """

    n: int = 1
    share: float = SHARE_OF_COLUMNS

    def price(self, k: int) -> float:
        """Return what a term of k must lower the loss by: the k best columns of noise lower it by log(n / k) each."""
        return self.share * math.log(max(self.n / max(k, 1), 1.0))


ONE_CHOICE = Choices()


def price(lambda0: float | str, total_weight: float, mean_weight: float, choices: Choices) -> Price:
    """Return the price of a term: 1 for "aic", log(n)/2 for "bic", the number, or what "auto" makes of both.

    Weights count as repeated rows, so n is their sum, but never less than the number of rows: with weights that sum to
    one, as shares do, log(n) would be zero and terms would be free.

    "auto" knows how many columns there were to choose from, and never asks for less than a share of "bic", which grows
    with the rows.
    """
    if lambda0 == "aic":
        return lambda _: 1.0
    if not isinstance(lambda0, str):
        return lambda _: float(lambda0)
    n_rows = max(total_weight / min(mean_weight, 1.0), 1.0)
    bic = math.log(n_rows) / 2
    if lambda0 == "bic":
        return lambda _: bic
    share = share_of_bic(n_rows)
    return lambda k: max(share * bic, choices.price(k))


def share_of_bic(n_rows: float) -> float:
    """Return the least that "auto" asks for, as a share of "bic": beside a ridge, less is best where rows are few."""
    return min(SHARE_OF_BIC + SHARE_PER_TENFOLD * max(math.log10(n_rows / MANY_ROWS), 0.0), 1.0)


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


def is_settled(lambda0: float | str, loss: str) -> bool:
    """Tell whether a price depends on the model that is found at it: on its size, or on the noise it leaves."""
    return isinstance(lambda0, str) and (lambda0 == "auto" or not LOSSES[loss].is_classifier)


def settled_price(unit: Price, n: float, start: float | None, solve: Callable[[float], tuple[float, int]]) -> float:
    """Return the price of a term where it depends on the model that is found at this very price.

    It is settled from above: from the model without terms on, as long as the price falls. Of a regression it is unit
    times the noise variance, that of the residuals. A term takes two numbers from the data, its threshold and its
    coefficient, so that models with nearly as many terms as rows are not taken for free of noise.

    Parameters
    ----------
    unit : callable
        Price of a term in a model of so many; where the variance is one.
    n : float
        Number of rows, or their total weight.
    start : float or None
        Of a regression: objective (half the sum of squares, and ridge) of the model without terms.
    solve : callable
        Gives objective and number of terms of the best model at a price.

    Returns
    -------
    float
        The price.
    """
    noise = 1.0 if start is None else noise_of(start, 0, n)
    floor = SMALLEST_NOISE * noise
    found = unit(0) * noise
    for _ in range(ROUNDS):
        objective, n_terms = solve(found)
        if start is not None:
            noise = min(max(noise_of(objective, n_terms, n), floor), noise)
        updated = unit(n_terms) * noise
        if updated > 0.999 * found:
            break
        found = updated
    return found


def check_lambda0(lambda0: float | str) -> None:
    """Raise unless lambda0 is a name or a number that is not negative."""
    if isinstance(lambda0, str):
        check_choice("lambda0", lambda0, CRITERIA, other="or a number >= 0")
    else:
        check_number("lambda0", lambda0, at_least=0.0)
        if lambda0 > HIGHEST:
            msg = f"lambda0 must be at most {HIGHEST:g}, got {shown(lambda0)}: no loss is that large."
            raise ValueError(msg)


def noise_of(objective: float, n_terms: int, n: float) -> float:
    """Return the variance that a regression leaves; a term takes two numbers from the data."""
    return 2 * objective / max(n - 1 - 2 * n_terms, 1.0)
