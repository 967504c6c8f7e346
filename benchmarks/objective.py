"""The one piece of code that says what a model is worth: losses and objectives recomputed from its scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Losses = Callable[[NDArray[np.float64]], NDArray[np.float64]]

# Each loss as a function of the margin y * f, with y in {-1, 1}.
MARGIN_LOSSES: dict[str, Losses] = {
    "logistic": lambda margin: np.logaddexp(0.0, -margin),
    "exponential": lambda margin: np.exp(-margin),
    "squared_hinge": lambda margin: np.maximum(1.0 - margin, 0.0) ** 2,
}


class Solution(NamedTuple):
    """A model as the runner sees it: how many terms it has (None: not a sum of terms) and its scores on the rows."""

    n_terms: int | None
    scores: NDArray[np.float64]


class Worth(NamedTuple):
    """A model's size and its loss, summed over the rows."""

    n_terms: int | None
    loss: float


def loss_sum(loss: str, y: ArrayLike, scores: ArrayLike) -> float:
    """Sum of losses over the rows; y is 0/1 or -1/1, scores are on the scale of f."""
    signs = np.where(np.asarray(y) > 0, 1.0, -1.0)
    return float(MARGIN_LOSSES[loss](signs * np.asarray(scores, dtype=np.float64)).sum())


def worth(solution: Solution, *, loss: str, y: ArrayLike) -> Worth:
    """Size and recomputed loss of a solution."""
    return Worth(solution.n_terms, loss_sum(loss, y, solution.scores))


def objective(value: Worth, lambda0: float) -> float | None:
    """Loss + lambda0 * k, without any ridge; None for a model that is not a sum of terms."""
    return None if value.n_terms is None else value.loss + lambda0 * value.n_terms


def frontier(values: Iterable[Worth], sizes: Iterable[int]) -> dict[int, float]:
    """Lowest loss among the models of at most k terms, for each size k that some model fits into."""
    sized = [value for value in values if value.n_terms is not None]
    best = {k: [value.loss for value in sized if value.n_terms <= k] for k in sizes}
    return {k: min(losses) for k, losses in best.items() if losses}
