"""What a fit remembers of its rows: how many fell into each bin of the features in use, and how their scores spread.

All of it is counts, so that it costs a fit next to nothing; the shares of a Profile are made of them when asked for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._design.binning import Feature
from sparsegam._models.seen import Seen, seen_of
from sparsegam._models.terms import Condition
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


@dataclass(frozen=True, eq=False)
class Bins:
    """The bins of a feature, and what their rows weigh.

    Attributes
    ----------
    feature : Feature
        The feature: it says which values each bin holds.
    shares : ndarray
        The weight of the rows for which each column of a bin is 1.
    middle : ndarray or None
        The mean of the rows of each ordered bin, where there are ramps.
    """

    feature: Feature
    shares: FloatArray
    middle: FloatArray | None = None

    def seen(self, conditions: Sequence[Condition]) -> Seen:
        """Sum the weight of the rows by what the terms of a model ask of the feature."""
        numbers = self.feature.representatives()
        if self.middle is not None:
            numbers[: self.middle.size] = self.middle
        weight = bin_counts(self.feature, self.shares)
        return seen_of(conditions, self.feature.special_values, self.feature.scale, numbers, weight)


@dataclass(frozen=True, eq=False)
class Training:
    """The rows of a fit in counts; rows count once each, whatever their weights.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    columns : tuple of (Feature, ndarray)
        For each feature in use, for how many rows each of its columns is 1.
    scores : Histogram
        The scores.
    pairs : dict of pair of str to ndarray
        For each pair of features with products, how many rows each of its cells holds.
    """

    n_rows: int
    columns: tuple[tuple[Feature, FloatArray], ...]
    scores: Histogram
    pairs: Mapping[tuple[str, str], FloatArray] = field(default_factory=dict)

    def bins(self) -> dict[str, tuple[FloatArray, FloatArray]]:
        """Return, for each feature in use, a number in each of its bins and how many rows the bin holds."""
        return {feature.name: (feature.representatives(), bin_counts(feature, n)) for feature, n in self.columns}

    def cells(self) -> Mapping[tuple[str, str], FloatArray]:
        """Return, for each pair of features with products, how many rows each of its cells holds."""
        return self.pairs

    def bands(self) -> tuple[FloatArray, FloatArray]:
        """Return where bands of about a tenth of the scores each end, and how many rows each holds."""
        return self.scores.bands()


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
