"""Histograms of scores and their bands."""

import numpy as np
import pytest

from sparsegam._design.histogram import N_BUCKETS, band_counts, histogram_of


@pytest.mark.parametrize(
    "score",
    [
        np.random.default_rng(1).normal(size=1000),
        np.random.default_rng(1).integers(0, 11, 1000) / 3,
        np.array([0.0, 1.0] * 50),
        np.full(7, 0.1),
        np.array([3.0]),
    ],
)
def test_band_counts_are_those_of_the_scores(score):
    histogram = histogram_of(score)
    ends, counts = histogram.bands()
    assert histogram.counts.size == N_BUCKETS
    assert counts.tolist() == band_counts(score, ends).tolist()
    assert counts.sum() == score.size
    moved = score + np.spacing(score)  # sums in another order
    assert np.ptp(score) == 0 or band_counts(moved, ends).tolist() == counts.tolist()


def test_bands_contain_about_a_tenth_of_the_rows():
    ends, counts = histogram_of(np.random.default_rng(2).normal(size=100_000)).bands()
    assert ends.size == 9
    np.testing.assert_allclose(counts, 10_000, rtol=0.05)
