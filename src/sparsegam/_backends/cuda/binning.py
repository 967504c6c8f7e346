"""Bins of columns on a device: the same thresholds and codes as the core computes, from values sorted on the device."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._backends.cuda.device import Device
from sparsegam._backends.cuda.inputs import DeviceColumn
from sparsegam._backends.cuda.layouts import THREADS, padded_size
from sparsegam._data.columns import Column
from sparsegam._data.table import Table
from sparsegam._design.binning import MAX_BINS_UINT8, Feature, Learner, ValueCounts
from sparsegam._design.encoding import learn_coded
from sparsegam.arrays import FloatArray


def bin_column(device: Device, learner: Learner, table: Table, j: int, weight: Any) -> tuple[Feature, Any]:
    """Learn the bins of column j and encode it, on the device unless it is categorical or stored as codes.

    Parameters
    ----------
    device : Device
        The device.
    learner : Learner
        Learns bins from distinct values.
    table : Table
        The table.
    j : int
        Position of the column.
    weight : device array or None
        Weights of the rows, None if the thresholds do not depend on them.

    Returns
    -------
    Feature, device array
        The bins, and the codes with `padded_size(n_rows)` entries.
    """
    coded = table.coded_column(j)
    if coded is not None:
        feature, codes = learn_coded(learner, coded, j)
        return feature, upload_padded(device, codes)
    column = table.column(j)
    if column.scale.kind == "category" or j in learner.forced:
        feature, values = learner.learn(column.host() if isinstance(column, DeviceColumn) else column, j)
        return feature, upload_padded(device, feature.codes(values))
    numbers = device_numbers(device, column)
    special = np.array(learner.special_of(column, j))
    values, counts = _summarise(device, numbers, special, int(learner.binning.max_bins), weight)
    feature, _ = learner.learn(Column(column.name, column.scale, values), j, counts)
    return feature, encode_numbers(device, feature, numbers)


def device_numbers(device: Device, column: Column) -> Any:
    """Return the numbers of a column as float64, in memory that belongs to the stream of this device.

    Selected rows of a column are allocated on the stream of their table. That stream may reuse the memory as soon as
    the selection is released, without waiting for work of this stream, so the numbers are copied.
    """
    if not isinstance(column, DeviceColumn):
        return device.upload(column.values)
    numbers = device.xp.array(column.values, dtype=np.float64)
    device.wait()
    return numbers


def encode_numbers(device: Device, feature: Feature, numbers: Any) -> Any:
    """Return the bin of each number as a device array with `padded_size` entries."""
    xp, n_rows = device.xp, int(numbers.size)
    has_8_bits = feature.n_bins <= MAX_BINS_UINT8
    codes = xp.zeros(padded_size(n_rows), dtype=np.uint8 if has_8_bits else np.uint16)
    # A trailing zero keeps the arrays from being empty.
    edges, special = (device.upload(np.append(part, 0.0)) for part in (feature.edges, feature.special))
    missing = feature.n_bins - 1 if feature.missing else feature.n_ordered - 1
    n_blocks = min(-(-n_rows // THREADS), 64 * device.n_processors)
    arguments = (numbers, n_rows, edges, feature.edges.size, special, len(feature.special), missing, codes)
    device.launch("bin_values_8" if has_8_bits else "bin_values_16", (n_blocks,), THREADS, arguments)
    return codes


def encode_column(device: Device, feature: Feature, column: Column) -> Any:
    """Return the bins of a column of other rows as a device array; None if a value is in no bin of the feature."""
    if not isinstance(column, DeviceColumn):
        codes = feature.codes_of(column)
        return None if codes is None else device.upload(codes)
    if column.scale.kind != feature.scale.kind or feature.bin_of_level is not None:
        return None
    numbers = device_numbers(device, column)
    if not feature.missing and bool(device.xp.isnan(numbers).any()):
        return None
    return encode_numbers(device, feature, numbers)[: numbers.size]


def upload_padded(device: Device, codes: NDArray[Any]) -> Any:
    """Upload codes with zeros behind them, up to `padded_size` entries."""
    padded = np.zeros(padded_size(codes.size), dtype=codes.dtype)
    padded[: codes.size] = codes
    return device.upload(padded)


def _summarise(
    device: Device, numbers: Any, special: FloatArray, max_bins: int, weight: Any
) -> tuple[FloatArray, ValueCounts]:
    """Return few values from which a learner finds the same thresholds as from all numbers, with their counts.

    These are all distinct values or, if there are more than max_bins, the largest value and those at the quantiles that
    `learn_edges` uses. Special values and NaN that occur follow at the end.
    """
    xp = device.xp
    is_unordered = xp.isnan(numbers)
    unordered = [(np.nan, is_unordered)] if bool(is_unordered.any()) else []
    for value in special.tolist():
        is_value = numbers == value
        if bool(is_value.any()):
            unordered.append((value, is_value))
            is_unordered = is_unordered | is_value
    ordered = numbers[~is_unordered] if unordered else numbers
    ordered_weight = weight if weight is None or not unordered else weight[~is_unordered]
    values, rows, weights = _summarise_ordered(device, ordered, ordered_weight, max_bins)
    for value, is_value in unordered:
        values, rows = np.append(values, value), np.append(rows, float(xp.count_nonzero(is_value)))
        if weight is not None:
            weights = np.append(weights, float(weight[is_value].sum()))
    return values, ValueCounts(rows if weight is None else weights, rows)


def _summarise_ordered(
    device: Device, numbers: Any, weight: Any, max_bins: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the selected values, with the number and weight of the rows in (previous value, value]."""
    xp = device.xp
    if numbers.size == 0:
        return np.zeros(0), np.zeros(0), np.zeros(0)
    order = None if weight is None else xp.argsort(numbers)
    ordered = xp.sort(numbers) if order is None else numbers[order]
    last_row = xp.flatnonzero(xp.append(ordered[1:] != ordered[:-1], True))  # last row of each distinct value
    cumulative = (last_row + 1).astype(np.float64) if order is None else xp.cumsum(weight[order])[last_row]
    selected = _select_distinct(device, cumulative, max_bins)
    last_row = last_row[selected]
    rows = np.diff(device.fetch(last_row) + 1.0, prepend=0.0)
    return device.fetch(ordered[last_row]), rows, np.diff(device.fetch(cumulative[selected]), prepend=0.0)


def _select_distinct(device: Device, cumulative: Any, max_bins: int) -> Any:
    """Return the positions of the distinct values to use, given the cumulative weights (see `learn_edges`)."""
    n_distinct = int(cumulative.size)
    if n_distinct <= max_bins:
        return device.xp.arange(n_distinct)
    quantiles = np.arange(1, max_bins)
    step = float(cumulative[-1]) / max_bins
    found: NDArray[np.int64] = device.fetch(device.xp.searchsorted(cumulative, device.upload(step * quantiles)))
    # Each value is used once: positions that coincide move up.
    found = np.maximum.accumulate(found - quantiles) + quantiles
    return device.upload(np.append(found[found < n_distinct - 1], n_distinct - 1))
