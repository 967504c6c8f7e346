"""Measures of scores against what happened: the area under the ROC curve, log loss, R squared."""

import numpy as np
from numpy.typing import NDArray

from sparsegam.arrays import Vector


def roc_curve(score: Vector, upper: NDArray[np.bool_]) -> tuple[Vector, Vector, Vector]:
    """Return false-positive rate, true-positive rate and threshold at each distinct score, from the highest down."""
    order = np.argsort(-score, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(score[order])), score.size - 1)
    hits = np.cumsum(upper[order])[ends]
    false = ends + 1 - hits
    start = np.zeros(1)
    return (
        np.concatenate([start, false / max(false[-1], 1)]),
        np.concatenate([start, hits / max(hits[-1], 1)]),
        np.concatenate([[np.inf], score[order][ends]]),
    )


def auc(score: Vector, upper: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the area under the ROC curve and its standard error by DeLong's method; ties count one half.

    With mid-ranks R in the pooled sample and r within each class, the placements of the n positives and m negatives are
    v = (R+ - r+) / m and u = 1 - (R- - r-) / n; the area is mean(v), its variance var(v)/n + var(u)/m.
    """
    n, m = int(upper.sum()), int((~upper).sum())
    if n == 0 or m == 0:
        return float("nan"), float("nan")
    ranks = _ranks(score)
    v = (ranks[upper] - _ranks(score[upper])) / m
    u = 1.0 - (ranks[~upper] - _ranks(score[~upper])) / n
    variance = (np.var(v, ddof=1) / n if n > 1 else 0.0) + (np.var(u, ddof=1) / m if m > 1 else 0.0)
    return float(v.mean()), float(np.sqrt(variance))


def _ranks(values: Vector) -> Vector:
    """Return the rank of each value from 1 on; equal values share the middle of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts - 1) / 2
    return np.asarray(middle[inverse])


def weighted_auc(score: Vector, upper: NDArray[np.bool_], weight: Vector) -> float:
    """Return the area under the ROC curve of rows with weights; ties count one half."""
    _, place = np.unique(score, return_inverse=True)
    high, low = (np.bincount(place.ravel(), weight * mine) for mine in (upper, ~upper))
    total = high.sum() * low.sum()
    return float(high @ (np.cumsum(low) - low / 2) / total) if total else float("nan")


def log_loss(log_odds: Vector, upper: NDArray[np.bool_]) -> Vector:
    """Return minus the logarithm of the probability that each row's own class was given."""
    return np.logaddexp(0.0, np.where(upper, -log_odds, log_odds))


def r_squared(score: Vector, y: Vector) -> float:
    """Return the share of the variance that is explained; minus the mean squared error where there is none."""
    return 1.0 - float(np.mean((y - score) ** 2)) / (float(np.var(y)) or 1.0)
