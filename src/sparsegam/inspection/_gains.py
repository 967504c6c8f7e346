"""What a score is worth to those who act on it: gains and lift by bands of rows, and net benefit at a threshold."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sparsegam.arrays import FloatArray


@dataclass(frozen=True)
class GainBand:
    """Rows of similar score, those of the highest scores first.

    Attributes
    ----------
    rows, events : int
        Rows in the band, and those of the second class.
    rate, lift : float
        Share of events among its rows, and that as a multiple of the share among all rows.
    upto : float
        Share of all rows in this band and those before it.
    gain, total_lift : float
        Share of all events there, and the share of events among these rows as a multiple of that among all rows.
    """

    rows: int
    events: int
    rate: float
    lift: float
    upto: float
    gain: float
    total_lift: float


def gains(score: FloatArray, upper: NDArray[np.bool_], *, n_bands: int = 10) -> list[GainBand]:
    """Return bands of equally many rows from the highest score down; rows of one score stay together.

    Parameters
    ----------
    score : ndarray
        Scores.
    upper : ndarray of bool
        Which rows are of the second class.
    n_bands : int
        Number of bands; fewer where many rows share a score.

    Returns
    -------
    list of GainBand
        The bands.
    """
    order = np.argsort(-score, kind="stable")
    last = np.append(np.flatnonzero(np.diff(score[order])), score.size - 1) + 1  # where rows of one score end
    wanted = score.size * np.arange(1, n_bands + 1) / n_bands
    ends = np.unique(last[np.searchsorted(last, wanted - 0.5)])
    hits = np.cumsum(upper[order])[ends - 1]
    prevalence, total = float(upper.mean()) or 1.0, max(int(upper.sum()), 1)
    out = []
    for (start, end), (before, upto) in zip(_pairs(ends), _pairs(hits), strict=True):
        rate = (upto - before) / (end - start)
        out.append(
            GainBand(
                end - start,
                upto - before,
                rate,
                rate / prevalence,
                end / score.size,
                upto / total,
                upto / end / prevalence,
            )
        )
    return out


def net_benefit(probability: FloatArray, upper: NDArray[np.bool_], thresholds: FloatArray) -> FloatArray:
    """Return the net benefit of acting where the probability is above each threshold.

    True positives less false ones per row, a false one weighing threshold / (1 - threshold): what someone who acts at
    that threshold takes it for.
    """
    true, false = (count_above(probability[mine], thresholds) for mine in (upper, ~upper))
    out: FloatArray = (true - false * thresholds / (1 - thresholds)) / probability.size
    return out


def count_above(values: FloatArray, thresholds: FloatArray) -> NDArray[np.intp]:
    """Count, for each threshold, the values above it."""
    out: NDArray[np.intp] = values.size - np.searchsorted(np.sort(values), thresholds, side="right")
    return out


def treat_all(prevalence: float, thresholds: FloatArray) -> FloatArray:
    """Return the net benefit of acting on all rows."""
    out: FloatArray = prevalence - (1 - prevalence) * thresholds / (1 - thresholds)
    return out


def _pairs(ends: NDArray[np.intp]) -> list[tuple[int, int]]:
    found: list[int] = [0, *ends.tolist()]
    return list(pairwise(found))
