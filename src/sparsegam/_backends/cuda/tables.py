"""Training tables on a CUDA device: binned, encoded and summed there."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._backends.cuda.binning import bin_column, device_numbers, encode_numbers
from sparsegam._backends.cuda.device import Device, check_free_memory
from sparsegam._backends.cuda.inputs import DeviceColumn, move_to_device, read_device_table
from sparsegam._backends.cuda.layouts import DeviceCodes, DeviceTarget, padded_size
from sparsegam._backends.cuda.rows import CudaMatrixRows, CudaThresholdRows
from sparsegam._backends.protocol import Cells, LabelledData
from sparsegam._data.matrix import NumericMatrix
from sparsegam._data.table import Table
from sparsegam._design.binning import Binning, Feature, Learner
from sparsegam._design.interactions import Interaction, max_interactions
from sparsegam._design.ramps import Ramps, may_have_ramps, ramps_of
from sparsegam._design.scaling import Units, scale_target
from sparsegam._design.threshold import ThresholdDesign, sorted_interactions
from sparsegam._design.training import INSIDE, N_BUCKETS, Histogram, bin_counts
from sparsegam._search.tables import Tables
from sparsegam.arrays import FloatArray
from sparsegam.losses import LOSSES

# Bytes per row of a search besides codes, target and weight: gradient, curvature, the curvature of a scan, bit masks of
# a support, and scores.
BYTES_PER_ROW = 40


@dataclass(frozen=True)
class CudaTables(Tables):
    """Options of additive models that are fitted on a device."""

    def from_device(self, X: Any) -> Table:
        """Return device data as a table, without a copy."""
        return read_device_table(X)

    def read(self, X: Any) -> Table:
        """Read a table and move its numeric columns to the device; text and categories stay on the host."""
        return move_to_device(Device(), super().read(X))

    def backend(self, n_threads: int) -> "CudaBackend":
        """Return where the data are kept and summed."""
        return CudaBackend()


class CudaBackend:
    """The backend of a CUDA device; see `Backend`."""

    def encode(
        self, data: LabelledData[Table], binning: Binning, shapes: Sequence[str], loss: str, *, interactions: bool
    ) -> "CudaTable":
        """Learn bins and ramps, and encode the training rows of positive weight; see `Backend.encode`."""
        kept = data.weight > 0
        if not kept.all():
            data = data.take(np.flatnonzero(kept))
        table, weight = data.features, data.weight
        is_classifier = LOSSES[loss].is_classifier
        units, target, scaled = scale_target(data.target, weight, centred=not is_classifier)
        device = Device()
        with device:
            check_memory(device, table, interactions=interactions)
            learner = Learner(table.labels, binning, weight)
            by_weight = None if learner.weight is None else device.upload(weight)
            found = [bin_column(device, learner, table, j, by_weight) for j in range(table.n_columns)]
            features, codes = [feature for feature, _ in found], [coded for _, coded in found]
            device_target = DeviceTarget(device, target, scaled, loss)
            rows = _rows(device, features, codes, [None] * len(features), device_target)
            ramps = _learn_ramps(rows, table, features, shapes)
            if any(one is not None for one in ramps):
                rows = _rows(device, features, codes, ramps, device_target)
            relative = None if weight.min() == weight.max() else device.upload(weight / weight.mean())
            design = ThresholdDesign(
                features=tuple(features),
                n_rows=table.n_rows,
                counts=np.zeros(0),
                weights=np.zeros(0),
                ramps=tuple(ramps),
                shapes=tuple(shapes),
            )
            counts = _counts_below_knots(design, rows.counts)
            weights = counts if relative is None else _counts_below_knots(design, rows.column_sums(relative))
        return CudaTable(
            design=replace(design, counts=counts, weights=weights),
            rows=rows,
            feature_rows=rows,
            units=units,
            total_weight=float(weight.sum()),
            n_events=int(np.count_nonzero(data.target > 0)) if is_classifier else None,
            relative_weight=relative,
            table=table,
        )

    def matrix_rows(self, data: LabelledData[NumericMatrix], loss: str) -> CudaMatrixRows:
        """Return the row oracle of a dense matrix, as float64 on the device; see `Backend.matrix_rows`."""
        device, matrix = Device(), data.features
        # A scan of selected columns copies them, and again for their products with the curvature.
        check_free_memory(device, 3 * 8 * matrix.n_rows * matrix.n_columns, matrix.n_rows, matrix.n_columns)
        with device:
            values = device.xp.asfortranarray(device.upload(np.ascontiguousarray(matrix.values)).astype(np.float64))
            return CudaMatrixRows(device, values, DeviceTarget(device, data.target, data.weight, loss))


@dataclass(frozen=True, eq=False)
class CudaTable:
    """An encoded table on a device; see `EncodedTable`.

    Attributes
    ----------
    feature_rows : CudaThresholdRows
        The rows without interactions.
    relative_weight : device array or None
        Weights divided by their mean; None if all are the same.
    table : Table
        The raw values.
    """

    design: ThresholdDesign
    rows: CudaThresholdRows
    feature_rows: CudaThresholdRows
    units: Units
    total_weight: float
    n_events: int | None
    relative_weight: Any
    table: Table

    @property
    def _device(self) -> Device:
        return self.rows.device

    def with_interactions(self, interactions: Sequence[Interaction]) -> "CudaTable":
        """Return the table with other interactions; see `EncodedTable.with_interactions`."""
        interactions, n, codes = (
            sorted_interactions(interactions),
            self.design.n_feature_columns,
            self.feature_rows.codes,
        )
        with self._device:
            added = [one.codes(*(codes.codes[j] for j in one.pair)) for one in interactions]
            rows = self.feature_rows.with_binary_features(added) if added else self.feature_rows
            relative = self.relative_weight
            counts = rows.counts[n:]
            weights = counts if relative is None else rows.column_sums(relative)[n:]
        return replace(self, design=self.design.with_interactions(interactions, counts, weights), rows=rows)

    def count_events(self, columns: NDArray[np.int64]) -> NDArray[np.int64]:
        """Count positive-class rows by column; see `EncodedTable.count_events`."""
        counts: NDArray[np.int64] = self._events[columns].astype(np.int64)
        return counts

    @cached_property
    def _events(self) -> FloatArray:
        with self._device:
            sums = self.rows.column_sums((self.rows.target.y > 0).astype(np.float64))
        return _counts_below_knots(self.design, sums)

    def sum_cells(self, first: Cells, second: Cells, *, weighted: bool) -> FloatArray:
        """Sum rows or weights over the cells of two features; see `EncodedTable.sum_cells`."""
        coarse_bins: list[Any] = [None] * len(self.design.features)
        for cells in (first, second):
            coarse_bins[cells.feature] = cells.cell_of_bin, 0, cells.n_cells
        weight = self.relative_weight if weighted else None
        pair = np.array([[first.feature, second.feature]])
        return self.rows.weighted_pair_sums(weight, coarse_bins, pair).reshape(first.n_cells, second.n_cells)

    def score_histogram(self, point: _core.Point) -> Histogram:
        """Count the scores of the training rows; see `EncodedTable.score_histogram`."""
        with self._device as device:
            score = self.rows.scores(point)
            self._add_raw_ramps(score, point, self.table, dict(enumerate(self.feature_rows.codes.codes)))
            low, high = float(score.min()), float(score.max())
            bucket = ((score - low) * (N_BUCKETS * INSIDE / (high - low or 1.0))).astype(np.int64)
            return Histogram(low, high, device.fetch(device.xp.bincount(bucket, minlength=N_BUCKETS)))

    def raw_value_rows(self, columns: NDArray[np.int64]) -> CudaMatrixRows:
        """Return a row oracle on raw values; see `EncodedTable.raw_value_rows`."""
        design, codes = self.design, self.rows.codes.codes
        with self._device as device:
            matrix = device.xp.empty((design.n_rows, columns.size), order="F")
            for i, column in enumerate(columns.tolist()):
                interaction, ramp = design.interaction_of(column), design.ramp_of(column)
                if interaction is not None:
                    matrix[:, i] = interaction.codes(*(codes[j] for j in interaction.pair))[: design.n_rows]
                    continue
                j = int(design.feature_of[column])
                bins = codes[j][: design.n_rows]
                if ramp is None:
                    by_bin = device.upload(design.bin_tables(columns[i : i + 1], np.ones(1))[j])
                    matrix[:, i] = by_bin[bins]
                else:
                    values = self._raw_ramp(*ramp, self.table, j)
                    matrix[:, i] = device.xp.where(bins < int(design.n_ordered[j]), values, 0.0)
            return CudaMatrixRows(device, matrix, self.rows.target)

    def score(self, data: Table, points: Sequence[_core.Point]) -> FloatArray | None:
        """Score other rows; see `EncodedTable.score`."""
        codes: dict[int, Any] = {}
        with self._device as device:
            for j in sorted({j for point in points for j in self.design.features_of(point.columns)}):
                codes[j] = self._encode(data, j)
                if codes[j] is None:
                    return None
            out = device.xp.empty((len(points), data.n_rows))
            for score, point in zip(out, points, strict=True):
                score[:] = point.intercept
                for j, by_bin in self.design.bin_tables(point.columns, point.coef).items():
                    score += device.upload(by_bin)[codes[j]]
                for column, coef in zip(point.columns.tolist(), point.coef.tolist(), strict=True):
                    interaction = self.design.interaction_of(column)
                    if interaction is not None:
                        score += coef * interaction.codes(*(codes[j] for j in interaction.pair))
                self._add_raw_ramps(score, point, data, codes)
            return device.fetch(out)

    def _encode(self, data: Table, j: int) -> Any:
        """Return the bins of other rows on the device; None if a value is in no bin with training rows."""
        feature, column, device = self.design.features[j], data.column(j), self._device
        if not isinstance(column, DeviceColumn):
            found = feature.codes_of(column)
            return None if found is None or not self.design.had_rows(j, found) else device.upload(found)
        numbers = device_numbers(device, column)
        if column.scale.kind != feature.scale.kind or feature.bin_of_level is not None:
            return None
        if not feature.missing and bool(device.xp.isnan(numbers).any()):
            return None
        codes = encode_numbers(device, feature, numbers)[: data.n_rows]
        counts = device.fetch(device.xp.bincount(codes, minlength=feature.n_bins))
        return codes if self.design.had_rows(j, np.flatnonzero(counts)) else None

    def _add_raw_ramps(self, score: Any, point: _core.Point, data: Table, codes: dict[int, Any]) -> None:
        """Replace the values of ramps at the bin centres, which a score contains, by those at the raw values."""
        for column, coef in zip(point.columns.tolist(), point.coef.tolist(), strict=True):
            ramp = self.design.ramp_of(column)
            if ramp is None or ramp[0].exact:
                continue
            j = int(self.design.feature_of[column])
            bins = codes[j][: score.size]
            by_bin = self._device.upload(ramp[0].by_bin(ramp[1], int(self.design.n_bins[j])))[bins]
            difference = self._raw_ramp(*ramp, data, j) - by_bin
            score += coef * self._device.xp.where(bins < int(self.design.n_ordered[j]), difference, 0.0)

    def _raw_ramp(self, ramps: Ramps, position: int, data: Table, j: int) -> Any:
        """Return the values of a ramp at the raw values of a column, in the unit of the core."""
        xp = self._device.xp
        numbers = device_numbers(self._device, data.column(j))
        scaled = (xp.clip(numbers, ramps.low, ramps.high) - ramps.high) / ramps.width
        return xp.minimum(scaled - float(ramps.bin_ends[ramps.knots[position]]), 0.0)


def check_memory(device: Device, table: Table, *, interactions: bool = False) -> None:
    """Raise MemoryError if the codes of a table, and what a search needs per row, do not fit on the device."""
    per_row = 2 * table.n_columns + 8 + 8 + BYTES_PER_ROW
    if interactions:
        # The interactions of a problem, and of the next one while it is built.
        per_row += 2 * max_interactions(table.n_rows)
    check_free_memory(device, padded_size(table.n_rows) * per_row, table.n_rows, table.n_columns)


def _rows(
    device: Device,
    features: Sequence[Feature],
    codes: Sequence[Any],
    ramps: Sequence[Ramps | None],
    target: DeviceTarget,
) -> CudaThresholdRows:
    n_bins, n_ordered = (
        np.array([getattr(f, name) for f in features], dtype=np.int64) for name in ("n_bins", "n_ordered")
    )
    in_core = [None if one is None else one.in_core() for one in ramps]
    return CudaThresholdRows(DeviceCodes(device, codes, target.n_rows, n_bins, n_ordered, in_core), target)


def _counts_below_knots(design: ThresholdDesign, sums: FloatArray) -> FloatArray:
    """Return sums by column, where those of a ramp are replaced by the sum over the rows below its knot."""
    if not design.has_ramps:
        return sums
    out: FloatArray = sums.copy()
    for j, ramps in enumerate(design.ramps):
        if ramps is not None:
            bins = design.bins_of(j)
            out[bins.stop : bins.stop + ramps.knots.size] = ramps.rows_below(sums[bins])
    return out


def _learn_ramps(
    rows: CudaThresholdRows, table: Table, features: Sequence[Feature], shapes: Sequence[str]
) -> list[Ramps | None]:
    """Return the ramps of each feature; None for features that may not or cannot have ramps."""
    allowed = [may_have_ramps(feature, shape) for feature, shape in zip(features, shapes, strict=True)]
    if not any(allowed):
        return [None] * len(features)
    weight = rows.target.weight
    sums = rows.counts if weight is None else rows.column_sums(weight)
    return [_ramps_of(rows, table, feature, j, sums) if allowed[j] else None for j, feature in enumerate(features)]


def _ramps_of(rows: CudaThresholdRows, table: Table, feature: Feature, j: int, sums: FloatArray) -> Ramps | None:
    """Learn ramps from the mean of each ordered bin; the largest value, with weight zero, ends the last bin."""
    device, n, codes = rows.device, feature.n_ordered, rows.codes
    columns = slice(int(codes.first_column[j]), int(codes.first_column[j]) + feature.n_bins)
    share = bin_counts(feature, sums[columns])[:n]
    numbers, bins = device_numbers(device, table.column(j)), codes.codes[j][: codes.n_rows]
    ordered = bins < n
    if not bool(ordered.any()):
        return None
    ends = np.append(feature.edges, max(float(numbers[ordered].max()), feature.edges[-1]))
    end_of_row = device.upload(np.append(ends, np.zeros(feature.n_bins - n)))[bins]
    below = device.xp.where(ordered, end_of_row - numbers, 0.0)
    if rows.target.weight is not None:
        below = below * rows.target.weight
    below_sums = bin_counts(feature, rows.column_sums(below)[columns])[:n]
    has_rows = share > 0
    means = ends[has_rows] - below_sums[has_rows] / share[has_rows]
    bins_of_means = np.append(np.flatnonzero(has_rows), n - 1)
    return ramps_of(feature, np.append(means, ends[-1]), bins_of_means, np.append(share[has_rows], 0.0))
