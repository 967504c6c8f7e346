"""What a fit remembers: counts of bins and of scores, as counting the rows themselves gives them."""

import numpy as np
import pandas as pd
import pytest

from sparsegam import _core
from sparsegam._data.table import read_table
from sparsegam._design.binning import Binning
from sparsegam._design.encoding import bin_table
from sparsegam._design.threshold import ThresholdDesign
from sparsegam._design.training import N_BUCKETS, band_counts, histogram_of


def test_counts_are_those_of_the_rows():
    rng = np.random.default_rng(0)
    values = rng.choice([1.0, 2.0, 3.0, 5.0, -9.0, np.nan], 500)
    table = read_table(pd.DataFrame({"a": values, "b": rng.normal(size=500)}))
    design = ThresholdDesign(*bin_table(table, Binning(special_values={"a": [-9.0]})))
    columns = np.array([1, 4, 5])  # a <= 2, a == -9, a missing
    training = design.training(_core.Point(0.5, columns, np.array([2.0, 0.25, -1.0])))
    assert [feature.name for feature, _ in training.columns] == ["a"]
    numbers, counts = training.bins()["a"]
    assert numbers[:3].tolist() == [1.0, 2.0, 3.0]
    expected = [np.sum(values == v) for v in (1.0, 2.0, 3.0, 5.0, -9.0)] + [np.sum(np.isnan(values))]
    assert counts.tolist() == expected
    assert (training.scores.low, training.scores.high) == (-0.5, 2.5)
    assert training.scores.counts[-1] == expected[0] + expected[1]


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
def test_bands_hold_the_rows_they_are_said_to(score):
    histogram = histogram_of(score)
    ends, counts = histogram.bands()
    assert histogram.counts.size == N_BUCKETS
    assert counts.tolist() == band_counts(score, ends).tolist()
    assert counts.sum() == score.size
    moved = score + np.spacing(score)  # sums in another order
    assert np.ptp(score) == 0 or band_counts(moved, ends).tolist() == counts.tolist()


def test_bands_are_about_tenths():
    ends, counts = histogram_of(np.random.default_rng(2).normal(size=100_000)).bands()
    assert ends.size == 9
    np.testing.assert_allclose(counts, 10_000, rtol=0.05)
