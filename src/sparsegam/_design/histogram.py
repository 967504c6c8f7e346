"""Histograms of scores, and bands of about a tenth of the rows each."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam.arrays import FloatArray, blocks

TENTHS = np.arange(1, 10) / 10
# A prime number, so that evenly spaced scores, such as small integers, do not fall on borders between buckets.
N_BUCKETS = 1021
# Keeps the highest score inside the last bucket.
INSIDE = 1 - 1e-12


Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Histogram:
    """Number of scores in each of `N_BUCKETS` buckets of equal width from `low` to `high`."""

    low: float
    high: float
    counts: Counts

    def bands(self) -> tuple[FloatArray, FloatArray]:
        """Return the upper ends of bands of about a tenth of the rows each, and the number of rows in each band."""
        cumulative = np.cumsum(self.counts)
        tenths = np.unique(np.searchsorted(cumulative, cumulative[-1] * TENTHS))
        tenths = tenths[tenths < N_BUCKETS - 1]
        ends = self.low + (self.high - self.low) * (tenths + 1) / N_BUCKETS
        return ends, np.diff(cumulative[tenths], prepend=0, append=cumulative[-1]).astype(np.float64)


def histogram_of(score: FloatArray, bounds: tuple[float, float] | None = None, xp: Any = np) -> Histogram:
    """Count scores in buckets of equal width: one pass, which is several times faster than exact deciles.

    Parameters
    ----------
    score : ndarray
        Scores.
    bounds : (float, float), default=None
        Lower end of the first bucket and upper end of the last; by default the smallest and the largest score.
    xp : module, default=numpy
        The module of `score`; with CuPy, the counts are on the device, too.
    """
    low, high = (float(score.min()), float(score.max())) if bounds is None else bounds
    counts = xp.zeros(N_BUCKETS, dtype=np.int64)
    for rows in blocks(score.size):
        position = score[rows] - low
        position *= N_BUCKETS * INSIDE / (high - low or 1.0)
        counts += xp.bincount(position.astype(np.intp), minlength=N_BUCKETS)
    return Histogram(low, high, counts)


def band_counts(score: FloatArray, ends: FloatArray) -> FloatArray:
    """Return the number of rows in each band, given the upper ends of all bands but the last."""
    cumulative = [np.count_nonzero(score <= end) for end in ends]
    return np.diff([0, *cumulative, score.size]).astype(np.float64)
