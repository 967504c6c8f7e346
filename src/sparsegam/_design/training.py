"""What a fit remembers of its rows: how many fell into each bin of the features in use, and how their scores spread.

All of it is counts, so that it costs a fit next to nothing; the shares of a Profile are made of them when asked for.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._design.binning import Feature
from sparsegam.arrays import FloatArray, blocks

TENTHS = np.arange(1, 10) / 10
N_BUCKETS = 1021  # a prime: scores that are evenly spaced, as small integers are, meet no border between buckets
INSIDE = 1 - 1e-12  # so that the highest score is in the last bucket, not behind it

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Histogram:
    """How many scores fell into each of many narrow buckets from `low` to `high`."""

    low: float
    high: float
    counts: Counts

    def bands(self) -> tuple[FloatArray, FloatArray]:
        """Return where bands of about a tenth of the rows each end, and how many rows each holds."""
        upto = np.cumsum(self.counts)
        tenths = np.unique(np.searchsorted(upto, upto[-1] * TENTHS))
        tenths = tenths[tenths < N_BUCKETS - 1]
        ends = self.low + (self.high - self.low) * (tenths + 1) / N_BUCKETS
        return ends, np.diff(upto[tenths], prepend=0, append=upto[-1]).astype(np.float64)


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
    """Count the rows of each band."""
    upto = [np.count_nonzero(score <= end) for end in ends]
    return np.diff([0, *upto, score.size]).astype(np.float64)


def bin_counts(feature: Feature, counts: FloatArray) -> FloatArray:
    """Return how many rows each bin holds: columns of ordered bins hold the rows of all bins below them."""
    rows, n = np.array(counts, dtype=np.float64), max(feature.n_ordered, 1)
    rows[1:n] -= counts[: n - 1]
    return rows
