"""The CUDA backend: training data encoded on a device, where kernels compute all sums."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from sparsegam import _core
from sparsegam._backends.cuda.binning import bin_column, device_numbers, encode_column
from sparsegam._backends.cuda.device import Device, check_free_memory
from sparsegam._backends.cuda.layouts import CoarseBins, DeviceCodes, DeviceTarget, IntArray, padded_size
from sparsegam._backends.cuda.rows import CudaMatrixRows, CudaThresholdRows
from sparsegam._backends.local import score_table
from sparsegam._backends.protocol import Cells, LabelledData
from sparsegam._data.matrix import NumericMatrix
from sparsegam._data.table import Table
from sparsegam._design.binning import Binning, Feature, Learner, bin_counts
from sparsegam._design.histogram import Histogram, histogram_of
from sparsegam._design.interactions import Interaction, max_interactions
from sparsegam._design.ramps import Ramps, may_have_ramps, ramps_of
from sparsegam._design.scaling import Units, scale_target
from sparsegam._design.threshold import ThresholdDesign, sorted_interactions
from sparsegam.arrays import FloatArray
from sparsegam.losses import LOSSES

# Bytes per row in addition to codes, label and weight: gradient, curvature, cached curvature of scans, bits and scores.
BYTES_PER_ROW = 40


class CudaBackend:
    """The backend of the current CUDA device."""

    def encode(
        self, data: LabelledData[Table], binning: Binning, shapes: Sequence[str], loss: str, *, interactions: bool
    ) -> "CudaTable":
        """Learn bins and ramps, and encode the training rows of positive weight; see `Backend.encode`."""
        kept = data.weight > 0
        if not kept.all():
            data = data.take(np.flatnonzero(kept))
        table, weight = data.features, data.weight
        units, target, scaled_weight = scale_target(data.target, weight, centred=not LOSSES[loss].is_classifier)
        device = Device()
        with device:
            _check_table_fits(device, table, interactions=interactions)
            is_weighted = weight.min() < weight.max()
            weight_on_device = device.upload(weight / weight.mean()) if is_weighted else None
            learner = Learner(table.labels, binning, weight)
            learner_weight = None if learner.weight is None else device.upload(weight)
            binned = [bin_column(device, learner, table, j, learner_weight) for j in range(table.n_columns)]
            features, codes = [feature for feature, _ in binned], [codes for _, codes in binned]
            on_device = DeviceTarget(device, target, scaled_weight, loss)
            ramps: list[Ramps | None] = [None] * len(features)
            rows = _rows(device, features, codes, ramps, on_device)
            if any(may_have_ramps(feature, shape) for feature, shape in zip(features, shapes, strict=True)):
                ramps = _learn_ramps(rows, table, features, shapes)
                rows = _rows(device, features, codes, ramps, on_device)
            counts = _sums_with_ramps(rows, ramps, rows.counts)
            weights = counts
            if weight_on_device is not None:
                weights = _sums_with_ramps(rows, ramps, rows.column_sums(weight_on_device))
        design = ThresholdDesign(
            features=tuple(features),
            n_rows=target.size,
            counts=counts,
            weights=weights,
            ramps=tuple(ramps),
            shapes=tuple(shapes),
        )
        return CudaTable(design, rows, units, float(weight.sum()), table, weight_on_device, rows)

    def matrix_rows(self, data: LabelledData[NumericMatrix], loss: str) -> CudaMatrixRows:
        """Return the row oracle of a dense matrix; see `Backend.matrix_rows`."""
        matrix = data.features
        if matrix.is_sparse:
            msg = "device='cuda' supports dense matrices only, got a sparse one: pass X.toarray(), or use device='cpu'."
            raise ValueError(msg)
        device = Device()
        # A scan of selected columns copies them, and again for their products with the curvature.
        check_free_memory(device, 3 * 8 * matrix.n_rows * matrix.n_columns, matrix.n_rows, matrix.n_columns)
        with device:
            values = device.upload(np.ascontiguousarray(matrix.values)).astype(np.float64)
            target = DeviceTarget(device, data.target, data.weight, loss)
            return CudaMatrixRows(device, device.xp.asfortranarray(values), target)


@dataclass(frozen=True, eq=False)
class CudaTable:
    """Training data on a device; see `EncodedTable`.

    Attributes
    ----------
    features : Table
        The feature columns, with raw values.
    weight : device array or None
        Weights divided by their mean; None if all are the same.
    feature_rows : CudaThresholdRows
        The rows without the columns of interactions.
    """

    design: ThresholdDesign
    rows: CudaThresholdRows
    units: Units
    total_weight: float
    features: Table
    weight: Any
    feature_rows: CudaThresholdRows

    @property
    def n_events(self) -> int | None:
        """Number of rows of the positive class; None for a regression."""
        return None if self._is_event is None else int(self._is_event.sum())

    @cached_property
    def _is_event(self) -> Any:
        """1 for rows of the positive class and 0 for others, as a device array; None for a regression."""
        if not LOSSES[self.rows.loss].is_classifier:
            return None
        with self.rows.device:
            return (self.rows.target.y > 0).astype(np.float64)

    @cached_property
    def _events(self) -> FloatArray:
        """Number of positive-class rows for which each column is 1."""
        return _sums_with_ramps(self.rows, self.design.ramps, self.rows.column_sums(self._is_event))

    def with_interactions(self, interactions: Sequence[Interaction]) -> "CudaTable":
        """Return the table with other interactions; see `EncodedTable.with_interactions`."""
        interactions, codes = sorted_interactions(interactions), self.feature_rows.codes.codes
        with self.rows.device:
            added = [one.codes(codes[one.first.feature], codes[one.second.feature]) for one in interactions]
            rows = self.feature_rows.with_binary_features(added)
            n = self.design.n_feature_columns
            counts = rows.counts[n:]
            weights = counts if self.weight is None else rows.column_sums(self.weight)[n:]
        return replace(self, design=self.design.with_interactions(interactions, counts, weights), rows=rows)

    def count_events(self, columns: IntArray) -> IntArray:
        """Count positive-class rows by column; see `EncodedTable.count_events`."""
        return self._events[columns].astype(np.int64)

    def sum_cells(self, first: Cells, second: Cells, *, weighted: bool) -> FloatArray:
        """Sum rows or weights over the cells of two features; see `EncodedTable.sum_cells`."""
        coarse_bins: list[CoarseBins | None] = [None] * len(self.design.features)
        for cells in (first, second):
            coarse_bins[cells.feature] = cells.cell_of_bin, 0, cells.n_cells
        weight, pair = self.weight if weighted else None, np.array([[first.feature, second.feature]])
        return self.rows.weighted_pair_sums(weight, coarse_bins, pair).reshape(first.n_cells, second.n_cells)

    def score_histogram(self, point: _core.Point) -> Histogram:
        """Count the scores of the training rows; see `EncodedTable.score_histogram`."""
        device = self.rows.device
        with device:
            if self.design.is_exact(point.columns):
                scores = self.rows.scores(point)
            else:
                scores = self._raw_columns(point.columns) @ device.upload(point.coef) + point.intercept
            found = histogram_of(scores, xp=device.xp)
            return replace(found, counts=device.fetch(found.counts))

    def raw_value_rows(self, columns: IntArray) -> CudaMatrixRows:
        """Return an object that sums over rows of raw values; see `EncodedTable.raw_value_rows`."""
        with self.rows.device:
            return CudaMatrixRows(self.rows.device, self._raw_columns(columns), self.rows.target)

    def _raw_columns(self, columns: IntArray) -> Any:
        """Return some columns, with ramps at raw values, as a column-major device array."""
        device, design, codes = self.rows.device, self.design, self.rows.codes.codes
        n_rows, n_features = self.design.n_rows, len(design.features)
        out = device.xp.empty((n_rows, columns.size), order="F")
        for i, column in enumerate(columns.tolist()):
            ramp, interaction = design.ramp_of(column), design.interaction_of(column)
            if interaction is not None:
                out[:, i] = codes[n_features + design.interactions.index(interaction)][:n_rows]
                continue
            j = int(design.feature_of[column])
            if ramp is None or ramp[0].exact:
                ((_, by_bin),) = design.bin_tables(columns[i : i + 1], np.ones(1)).items()
                out[:, i] = device.upload(by_bin)[codes[j][:n_rows]]
            else:
                numbers = device_numbers(device, self.features.column(j))
                is_ordered = codes[j][:n_rows] < design.features[j].n_ordered
                out[:, i] = device.xp.where(is_ordered, ramp[0].values(ramp[1], numbers, device.xp), 0.0)
        return out

    def score(self, data: Table, points: Sequence[_core.Point]) -> FloatArray | None:
        """Score other rows; see `EncodedTable.score`."""
        device = self.rows.device
        with device:
            scores = score_table(
                self.design,
                data,
                points,
                codes_of=partial(encode_column, device),
                numbers_of=partial(device_numbers, device),
                xp=device.xp,
            )
            return None if scores is None else device.fetch(scores)


def _check_table_fits(device: Device, table: Table, *, interactions: bool) -> None:
    """Raise MemoryError if the codes of a table, and what a search needs per row, do not fit on the device."""
    per_row = 2 * table.n_columns + 8 + 8 + BYTES_PER_ROW
    if interactions:
        # One byte for each interaction of a problem, and of the next one while it is built.
        per_row += 2 * max_interactions(table.n_rows)
    check_free_memory(device, padded_size(table.n_rows) * per_row, table.n_rows, table.n_columns)


def _rows(
    device: Device,
    features: Sequence[Feature],
    codes: Sequence[Any],
    ramps: Sequence[Ramps | None],
    target: DeviceTarget,
) -> CudaThresholdRows:
    n_bins = np.array([feature.n_bins for feature in features], dtype=np.int64)
    n_ordered = np.array([feature.n_ordered for feature in features], dtype=np.int64)
    in_core = [None if mine is None else mine.in_core() for mine in ramps]
    return CudaThresholdRows(DeviceCodes(device, codes, target.n_rows, n_bins, n_ordered, in_core), target)


def _sums_with_ramps(rows: CudaThresholdRows, ramps: Sequence[Ramps | None], sums: FloatArray) -> FloatArray:
    """Replace the sums of ramps by the sums over the rows below their knots."""
    if not rows.codes.has_ramps:
        return sums
    sums = sums.copy()
    for j, mine in enumerate(ramps):
        if mine is not None:
            first, first_ramp = rows.codes.first_column[j], rows.codes.first_column[j] + rows.codes.n_bins[j]
            sums[first_ramp : first_ramp + mine.knots.size] = mine.rows_below(sums[first:first_ramp])
    return sums


def _learn_ramps(
    rows: CudaThresholdRows, table: Table, features: Sequence[Feature], shapes: Sequence[str]
) -> list[Ramps | None]:
    """Learn the ramps of each feature that may have some."""
    weight = rows.target.weight
    sums = rows.counts if weight is None else rows.column_sums(weight)
    return [
        _ramps_of_feature(rows, table, feature, j, sums) if may_have_ramps(feature, shapes[j]) else None
        for j, feature in enumerate(features)
    ]


def _ramps_of_feature(
    rows: CudaThresholdRows, table: Table, feature: Feature, j: int, sums: FloatArray
) -> Ramps | None:
    """Learn ramps from the mean of each ordered bin and the largest value, which is passed with a weight of zero.

    The mean is the upper end of the bin minus the mean distance from it, so that numbers far from zero keep their
    digits.
    """
    device, n, codes = rows.device, feature.n_ordered, rows.codes
    columns = slice(int(codes.first_column[j]), int(codes.first_column[j]) + feature.n_bins)
    weight = bin_counts(feature, sums[columns])[:n]
    numbers, bins = device_numbers(device, table.column(j)), codes.codes[j][: codes.n_rows]
    is_ordered = bins < n
    if not bool(is_ordered.any()):
        return None
    largest = float(numbers[is_ordered].max())
    ends = np.append(feature.edges, max(largest, feature.edges[-1]))
    end_of_bin = device.upload(np.append(ends, np.zeros(feature.n_bins - n)))
    distance = device.xp.where(is_ordered, end_of_bin[bins] - numbers, 0.0)
    if rows.target.weight is not None:
        distance = distance * rows.target.weight
    distances = bin_counts(feature, rows.column_sums(distance)[columns])[:n]
    has_rows = weight > 0
    means = ends[has_rows] - distances[has_rows] / weight[has_rows]
    bins_of_means = np.append(np.flatnonzero(has_rows), n - 1)
    return ramps_of(feature, np.append(means, ends[-1]), bins_of_means, np.append(weight[has_rows], 0.0))
