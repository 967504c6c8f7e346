"""Metrics of scores: ranking, losses, calibration bins, gains and net benefit.

In all functions, `score` has one value per row and `positive` is the boolean mask of the rows of the positive class.
"""

from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from sparsegam.arrays import FloatArray


@dataclass(frozen=True)
class CalibrationBin:
    """Rows with similar predictions.

    Attributes
    ----------
    predicted : float
        Mean prediction.
    observed, low, high : float
        Mean target and its confidence interval.
    count : int
        Number of rows.
    """

    predicted: float
    observed: float
    low: float
    high: float
    count: int


@dataclass(frozen=True)
class GainBand:
    """Rows with similar scores; an event is a row of the positive class.

    Attributes
    ----------
    rows, events : int
        Number of rows and of events in the band.
    rate : float
        Share of events among the rows of the band.
    lift : float
        `rate` divided by the share of events among all rows.
    cumulative_share : float
        Share of all rows in this band and the bands of higher scores.
    cumulative_gain : float
        Share of all events in these bands.
    cumulative_lift : float
        Share of events in these bands, divided by the share of events among all rows.
    """

    rows: int
    events: int
    rate: float
    lift: float
    cumulative_share: float
    cumulative_gain: float
    cumulative_lift: float


def roc_curve(score: FloatArray, positive: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the false positive rate, true positive rate and threshold at each distinct score, in decreasing order."""
    order = np.argsort(-score, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(score[order])), score.size - 1)
    true = np.cumsum(positive[order])[ends]
    false = ends + 1 - true
    start = np.zeros(1)
    return (
        np.concatenate([start, false / max(false[-1], 1)]),
        np.concatenate([start, true / max(true[-1], 1)]),
        np.concatenate([[np.inf], score[order][ends]]),
    )


def auc(score: FloatArray, positive: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the area under the ROC curve and its standard error by DeLong's method; ties count one half.

    With mid-ranks R in the pooled sample and r within each class, the placements of the n positive and m negative
    rows are v = (R+ - r+) / m and u = 1 - (R- - r-) / n. The area is mean(v), and its variance var(v)/n + var(u)/m.
    """
    n, m = int(positive.sum()), int((~positive).sum())
    if n == 0 or m == 0:
        return float("nan"), float("nan")
    ranks = _mid_ranks(score)
    v = (ranks[positive] - _mid_ranks(score[positive])) / m
    u = 1.0 - (ranks[~positive] - _mid_ranks(score[~positive])) / n
    variance = (np.var(v, ddof=1) / n if n > 1 else 0.0) + (np.var(u, ddof=1) / m if m > 1 else 0.0)
    return float(v.mean()), float(np.sqrt(variance))


def auc_interval(score: FloatArray, positive: NDArray[np.bool_], level: float = 0.95) -> tuple[float, float, float]:
    """Return the area under the ROC curve and the ends of its confidence interval, by DeLong's method.

    For an area of 0 or 1, whose standard error is 0, the interval is Wilson's for as many pairs as share no row.
    """
    area, error = auc(score, positive)
    if area in (0.0, 1.0):
        return area, *wilson_interval(area, min(int(positive.sum()), int((~positive).sum())), level)
    reach = NormalDist().inv_cdf(0.5 + level / 2) * error
    return area, float(np.maximum(area - reach, 0.0)), float(np.minimum(area + reach, 1.0))


def wilson_interval(share: float, n: int, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's confidence interval of a share of n rows."""
    z = NormalDist().inv_cdf(0.5 + level / 2)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half_width = float(z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n))
    # At shares of 0 and 1, rounding may put an end on the wrong side of the share.
    return min(max(centre - half_width, 0.0), share), max(min(centre + half_width, 1.0), share)


def _mid_ranks(values: FloatArray) -> FloatArray:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts - 1) / 2
    return np.asarray(middle[inverse])


def weighted_auc(score: FloatArray, positive: NDArray[np.bool_], weight: FloatArray) -> float:
    """Return the area under the ROC curve of weighted rows; ties count one half."""
    _, rank = np.unique(score, return_inverse=True)
    high, low = (np.bincount(rank.ravel(), weight * mask) for mask in (positive, ~positive))
    total = high.sum() * low.sum()
    return float(high @ (np.cumsum(low) - low / 2) / total) if total else float("nan")


def ks(score: FloatArray, positive: NDArray[np.bool_]) -> float:
    """Return the Kolmogorov-Smirnov statistic: the largest difference of true and false positive rate.

    It has no confidence interval: the statistic is a maximum over thresholds and is biased upwards, and intervals of a
    difference of proportions or of the bootstrap, with or without a correction of the bias, cover less than 90 % at 100
    rows.
    """
    if positive.all() or not positive.any():
        return float("nan")
    false, true, _ = roc_curve(score, positive)
    return float(np.abs(true - false).max())


def log_loss(log_odds: FloatArray, positive: NDArray[np.bool_]) -> FloatArray:
    """Return the negative log-likelihood of each row."""
    return np.logaddexp(0.0, np.where(positive, -log_odds, log_odds))


def r_squared(score: FloatArray, y: FloatArray, weight: FloatArray | None = None) -> float:
    """Return the coefficient of determination; for a constant target, 1 minus the mean squared error."""
    variance = float(np.average((y - np.average(y, weights=weight)) ** 2, weights=weight))
    return 1.0 - float(np.average((y - score) ** 2, weights=weight)) / (variance or 1.0)


def weight_of_evidence(rows: FloatArray, events: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the weight of evidence of each group of rows and its contribution to the information value.

    With a share q of all non-events and a share p of all events in a group, these are log(q / p) and
    (q - p) log(q / p). In a group without events or without non-events they are NaN and 0.
    """
    others = rows - events
    good, bad = others / (others.sum() or 1.0), events / (events.sum() or 1.0)
    both = (good > 0) & (bad > 0)
    woe = np.full(rows.shape, np.nan)
    woe[both] = np.log(good[both] / bad[both])
    return woe, np.where(both, (good - bad) * np.where(both, woe, 0.0), 0.0)


def calibration_bins(
    predicted: FloatArray, observed: FloatArray, *, n_bins: int = 10, level: float = 0.95
) -> list[CalibrationBin]:
    """Group rows by quantiles of their prediction and compare mean prediction and mean target.

    Rows with equal predictions are in the same bin. Intervals are Wilson's for a target of 0 and 1, otherwise normal.
    """
    z = NormalDist().inv_cdf(0.5 + level / 2)
    cuts = np.unique(np.quantile(predicted, np.linspace(0, 1, n_bins + 1)[1:-1]))
    bin_of = np.searchsorted(cuts, predicted, side="left")
    is_binary = bool(np.isin(observed, (0.0, 1.0)).all())
    bins = []
    for b in np.unique(bin_of).tolist():
        target = observed[bin_of == b]
        n, mean = target.size, float(target.mean())
        if is_binary:
            low, high = wilson_interval(mean, n, level)
        else:
            half_width = z * float(target.std()) / np.sqrt(n)
            low, high = float(mean - half_width), float(mean + half_width)
        bins.append(CalibrationBin(float(predicted[bin_of == b].mean()), mean, low, high, n))
    return bins


def gain_bands(score: FloatArray, positive: NDArray[np.bool_], *, n_bands: int = 10) -> list[GainBand]:
    """Divide rows, sorted by decreasing score, into bands of similar size; rows with equal scores share a band."""
    order = np.argsort(-score, kind="stable")
    ends_of_ties = np.append(np.flatnonzero(np.diff(score[order])), score.size - 1) + 1
    wanted = score.size * np.arange(1, n_bands + 1) / n_bands
    ends = np.unique(ends_of_ties[np.searchsorted(ends_of_ties, wanted - 0.5)])
    events = np.cumsum(positive[order])[ends - 1]
    prevalence, n_events = float(positive.mean()) or 1.0, max(int(positive.sum()), 1)
    bands = []
    bounds = zip(pairwise([0, *ends.tolist()]), pairwise([0, *events.tolist()]), strict=True)
    for (start, end), (before, up_to) in bounds:
        rate = (up_to - before) / (end - start)
        bands.append(
            GainBand(
                rows=end - start,
                events=up_to - before,
                rate=rate,
                lift=rate / prevalence,
                cumulative_share=end / score.size,
                cumulative_gain=up_to / n_events,
                cumulative_lift=up_to / end / prevalence,
            )
        )
    return bands


def count_above(values: FloatArray, thresholds: FloatArray) -> NDArray[np.intp]:
    """Return the number of values above each threshold."""
    counts: NDArray[np.intp] = values.size - np.searchsorted(np.sort(values), thresholds, side="right")
    return counts


def net_benefits(probability: FloatArray, positive: NDArray[np.bool_], thresholds: FloatArray) -> FloatArray:
    """Return the net benefit per row of acting on rows whose probability is above each threshold.

    Net benefit is (true positives - false positives x threshold / (1 - threshold)) / rows.
    """
    true, false = (count_above(probability[mask], thresholds) for mask in (positive, ~positive))
    benefit: FloatArray = (true - false * thresholds / (1 - thresholds)) / probability.size
    return benefit


def treat_all_benefits(prevalence: float, thresholds: FloatArray) -> FloatArray:
    """Return the net benefit per row of acting on all rows, at each threshold."""
    benefit: FloatArray = prevalence - (1 - prevalence) * thresholds / (1 - thresholds)
    return benefit
