"""Losses and objectives of all methods, recomputed by the same code from the scores of the models."""

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
    """A model: its number of terms (None if it is not a sum of terms) and its scores on the training rows."""

    n_terms: int | None
    scores: NDArray[np.float64]


class SizeAndLoss(NamedTuple):
    """Size of a model and its loss, summed over the rows."""

    n_terms: int | None
    loss: float


def loss_sum(loss: str, y: ArrayLike, scores: ArrayLike) -> float:
    """Return the sum of losses over the rows; y is 0/1 or -1/1, scores are on the scale of f."""
    signs = np.where(np.asarray(y) > 0, 1.0, -1.0)
    return float(MARGIN_LOSSES[loss](signs * np.asarray(scores, dtype=np.float64)).sum())


def size_and_loss(solution: Solution, *, loss: str, y: ArrayLike) -> SizeAndLoss:
    """Return the size and the recomputed loss of a solution."""
    return SizeAndLoss(solution.n_terms, loss_sum(loss, y, solution.scores))


def objective(value: SizeAndLoss, lambda0: float) -> float | None:
    """Return loss + lambda0 * k without ridge, or None for a model that is not a sum of terms."""
    return None if value.n_terms is None else value.loss + lambda0 * value.n_terms


def frontier(values: Iterable[SizeAndLoss], sizes: Iterable[int]) -> dict[int, float]:
    """Return the lowest loss among the models with at most k terms, for each size k that has such a model."""
    sized = [value for value in values if value.n_terms is not None]
    best = {k: [value.loss for value in sized if value.n_terms <= k] for k in sizes}
    return {k: min(losses) for k, losses in best.items() if losses}
