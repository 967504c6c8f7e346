"""Measures of scores against what happened: the area under the ROC curve, log loss, R squared."""

import numpy as np
from numpy.typing import NDArray

from sparsegam.arrays import FloatArray


def roc_curve(score: FloatArray, upper: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray, FloatArray]:
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


def auc(score: FloatArray, upper: NDArray[np.bool_]) -> tuple[float, float]:
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


def _ranks(values: FloatArray) -> FloatArray:
    """Return the rank of each value from 1 on; equal values share the middle of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts - 1) / 2
    return np.asarray(middle[inverse])


def weighted_auc(score: FloatArray, upper: NDArray[np.bool_], weight: FloatArray) -> float:
    """Return the area under the ROC curve of rows with weights; ties count one half."""
    _, place = np.unique(score, return_inverse=True)
    high, low = (np.bincount(place.ravel(), weight * mine) for mine in (upper, ~upper))
    total = high.sum() * low.sum()
    return float(high @ (np.cumsum(low) - low / 2) / total) if total else float("nan")


def log_loss(log_odds: FloatArray, upper: NDArray[np.bool_]) -> FloatArray:
    """Return minus the logarithm of the probability that each row's own class was given."""
    return np.logaddexp(0.0, np.where(upper, -log_odds, log_odds))


def r_squared(score: FloatArray, y: FloatArray) -> float:
    """Return the share of the variance that is explained; minus the mean squared error where there is none."""
    return 1.0 - float(np.mean((y - score) ** 2)) / (float(np.var(y)) or 1.0)


def gini(score: FloatArray, upper: NDArray[np.bool_]) -> float:
    """Return the Gini coefficient (accuracy ratio): twice the area under the ROC curve, less one."""
    return 2.0 * auc(score, upper)[0] - 1.0


def ks(score: FloatArray, upper: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the Kolmogorov-Smirnov statistic, the largest gap between both classes' shares above a score; its error.

    The standard error is that of the difference of two shares, at the score where they differ most.
    """
    n, m = int(upper.sum()), int((~upper).sum())
    if n == 0 or m == 0:
        return float("nan"), float("nan")
    false, true, _ = roc_curve(score, upper)
    at = int(np.argmax(np.abs(true - false)))
    variance = true[at] * (1 - true[at]) / n + false[at] * (1 - false[at]) / m
    return float(abs(true[at] - false[at])), float(np.sqrt(variance))


def weight_of_evidence(rows: FloatArray, events: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return, for groups of rows, the weight of evidence and what each adds to the information value.

    With the share q of all non-events and the share p of all events that a group has, these are log(q / p) and
    (q - p) log(q / p). A group without events, or of events alone, has no weight: NaN, and it adds 0.
    """
    others = rows - events
    good, bad = others / (others.sum() or 1.0), events / (events.sum() or 1.0)
    both = (good > 0) & (bad > 0)
    woe = np.full(rows.shape, np.nan)
    woe[both] = np.log(good[both] / bad[both])
    return woe, np.where(both, (good - bad) * np.where(both, woe, 0.0), 0.0)
