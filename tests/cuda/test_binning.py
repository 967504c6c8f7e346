"""Bins and codes computed on a device equal those of the core."""

import numpy as np
import pytest
from _helpers.device_rows import device  # noqa: F401

from sparsegam._backends.cuda.binning import bin_column, device_numbers
from sparsegam._backends.cuda.inputs import move_to_device
from sparsegam._data.table import read_table
from sparsegam._design.binning import Binning, Learner
from sparsegam._design.encoding import bin_table

RNG = np.random.default_rng(0)
COLUMNS = {
    "few values": RNG.integers(0, 9, 500).astype(float),
    "many values": RNG.normal(size=500),
    "ties": np.where(RNG.random(500) < 0.7, 0.0, RNG.normal(size=500)),
    "two zeros": np.where(RNG.random(500) < 0.5, -0.0, 0.0) + RNG.integers(0, 2, 500),
    "missing": np.where(RNG.random(500) < 0.2, np.nan, RNG.normal(size=500)),
    "all missing": np.full(500, np.nan),
    "special": np.where(RNG.random(500) < 0.3, -9.0, RNG.exponential(size=500).round(1)),
    "constant": np.full(500, 3.5),
    "huge": RNG.normal(size=500) * 1e300,
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("weighted", [False, True], ids=["even", "weighted"])
@pytest.mark.parametrize("options", [{"max_bins": 20}, {"max_bins": 300, "min_samples_bin": "auto"}], ids=["20", "300"])
def test_bin_column_returns_bins_and_codes_of_the_core(device, name, weighted, options):  # noqa: F811
    table = read_table(COLUMNS[name][:, None])
    weight = RNG.integers(1, 4, 500).astype(float) if weighted else np.ones(500)
    binning = Binning(special_values=[-9.0, 77.0], **options)
    (feature,), (codes,) = bin_table(table, binning, weight)
    learner = Learner(table.labels, binning, weight)
    with device:
        learner_weight = device.upload(weight) if weighted else None
        for data in (table, move_to_device(device, table)):
            mine, found = bin_column(device, learner, data, 0, learner_weight)
            np.testing.assert_array_equal(mine.edges, feature.edges)
            assert (mine.special, mine.missing, mine.n_bins) == (feature.special, feature.missing, feature.n_bins)
            np.testing.assert_array_equal(device.fetch(found)[:500], codes)


def test_device_numbers_are_a_copy_on_the_stream_of_the_device(device):  # noqa: F811
    """After selected rows were released, the stream of their table may reuse the memory."""
    column = move_to_device(device, read_table(COLUMNS["few values"][:, None])).take(np.arange(100)).column(0)
    with device:
        numbers = device_numbers(device, column)
        assert device.address(numbers) != device.address(column.values)
        np.testing.assert_array_equal(device.fetch(numbers), COLUMNS["few values"][:100])
