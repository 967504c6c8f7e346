"""Tables on a device: binned there, and posed to the same search as tables in memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsegam._backends.cuda.binning import bin_column, device_numbers
from sparsegam._backends.cuda.design import CudaDesign, CudaProductDesign
from sparsegam._backends.cuda.device import Device, check_free_memory
from sparsegam._backends.cuda.inputs import move_to_device, read_device_table
from sparsegam._backends.cuda.layouts import DeviceCodes, DeviceTarget, padded_size
from sparsegam._backends.cuda.rows import CudaMatrixRows, CudaThresholdRows
from sparsegam._data.table import Table
from sparsegam._design.binning import Feature, Learner
from sparsegam._design.interactions import Interaction
from sparsegam._design.own import OwnNumbers
from sparsegam._design.ramps import Ramps, may_have_ramps, ramps_of, shapes_of
from sparsegam._design.scaling import in_units
from sparsegam._design.threshold import ThresholdDesign
from sparsegam._design.training import bin_counts
from sparsegam._search.options import SearchOptions
from sparsegam._search.penalty import mean_weight
from sparsegam._search.products import most_products
from sparsegam._search.tables import OwnValues, Posed, TableProblem, Tables, Totals
from sparsegam.arrays import FloatArray
from sparsegam.losses import LOSSES

PER_ROW = 40  # bytes beside codes, label and weight: gradient, curvature, those a scan holds, marks, scores


@dataclass(frozen=True, eq=False)
class DeviceValues(OwnValues):
    """Rows with their own values on a device."""

    def rows_of(self, design: Any, columns: Any) -> Any:
        """Return the rows of some columns, by their own values."""
        device = design.rows.device
        with device:
            matrix = design.matrix(self.numbers.table, columns)  # type: ignore[union-attr]
        return CudaMatrixRows(device, matrix, design.rows.target)


@dataclass(frozen=True, eq=False)
class DevicePosed(Posed):
    """What a problem on a device was made of."""

    def with_products(self, products: Sequence[Interaction]) -> CudaDesign:
        """Return the design with products behind its columns."""
        plain: Any = self.design
        return CudaProductDesign(plain, products, self.inputs.interactions)

    def rows_of(self, design: Any) -> Any:
        """Return the rows of a design."""
        return design.rows

    def own_values(self, design: ThresholdDesign, rows: Any) -> DeviceValues:
        """Return the rows with their own values."""
        return DeviceValues(OwnNumbers(self.data), design.bounds(self.inputs.rules))


@dataclass(frozen=True)
class CudaTables(Tables):
    """Tables of any columns, binned and summed on a device."""

    def from_device(self, X: Any) -> Table:
        """Look at what is on a device, where it is."""
        return read_device_table(X)

    def read(self, X: Any) -> Table:
        """Take columns of numbers to the device, unless they are there; those of text and categories stay here."""
        return move_to_device(Device(), super().read(X))

    def pose(self, data: Table, y: FloatArray, weight: FloatArray, options: SearchOptions) -> TableProblem:
        """Bin the table on the device and pose the problem that the device will answer."""
        kept = weight > 0
        if not kept.all():
            data, y, weight = data.take(np.flatnonzero(kept)), y[kept], weight[kept]
        units, y_core, weight_core = in_units(y, weight, centred=not LOSSES[options.loss].is_classifier)
        device = Device()
        with device:
            check_memory(device, data, products=self.interactions.is_on)
            features, codes = self._binned(device, data, weight)
            target = DeviceTarget(device, y_core, weight_core, options.loss)
            varied = None if weight.min() == weight.max() else device.upload(weight / weight.mean())
            shapes = shapes_of(self.rules.shapes, data.labels)
            rows = _rows(device, features, codes, [None] * len(features), target)
            ramps = _ramps(rows, data, features, shapes)
            if any(mine is not None for mine in ramps):
                rows = _rows(device, features, codes, ramps, target)
            design = CudaDesign(features, rows, varied, self.rules, (ramps, shapes))
        upper = "upper" if LOSSES[options.loss].is_classifier else None
        totals = Totals(float(weight.sum()), mean_weight(weight), upper)
        return DevicePosed(self, data, design, y_core, weight_core, units, totals, options).again(())

    def _binned(self, device: Device, data: Table, weight: FloatArray) -> tuple[list[Feature], list[Any]]:
        """Learn and code all columns."""
        learner = Learner(data.labels, self.binning, weight)
        by_weight = None if learner.weight is None else device.upload(weight)
        found = [bin_column(device, learner, data, j, by_weight) for j in range(data.n_columns)]
        return [feature for feature, _ in found], [codes for _, codes in found]


def check_memory(device: Device, table: Table, *, products: bool = False) -> None:
    """Raise MemoryError if the codes of a table, and what a search needs per row, do not fit on the device."""
    per_row = 2 * table.n_columns + 8 + 8 + PER_ROW
    if products:  # those of a search, and of the next
        per_row += 2 * most_products(table.n_rows)
    check_free_memory(device, padded_size(table.n_rows) * per_row, table.n_rows, table.n_columns)


def _rows(
    device: Device,
    features: Sequence[Feature],
    codes: Sequence[Any],
    ramps: Sequence[Ramps | None],
    target: DeviceTarget,
) -> CudaThresholdRows:
    bins = tuple(np.array([getattr(f, name) for f in features], dtype=np.int64) for name in ("n_bins", "n_ordered"))
    in_core = [None if mine is None else mine.in_core() for mine in ramps]
    return CudaThresholdRows(DeviceCodes(device, codes, target.n_rows, bins[0], bins[1], in_core), target)


def _ramps(
    rows: CudaThresholdRows, data: Table, features: Sequence[Feature], shapes: Sequence[str]
) -> list[Ramps | None]:
    """Return the ramps of each feature that shall have some, and can."""
    asked = [may_have_ramps(feature, shape) for feature, shape in zip(features, shapes, strict=True)]
    if not any(asked):
        return [None] * len(features)
    weight = rows.target.weight
    sums = rows.counts if weight is None else rows.column_sums(weight)
    return [_ramps_of(rows, data, features[j], j, sums) if asked[j] else None for j in range(len(features))]


def _ramps_of(rows: CudaThresholdRows, data: Table, feature: Feature, j: int, sums: FloatArray) -> Ramps | None:
    """Learn ramps from the mean of each ordered bin; the largest value, which weighs nothing more, ends the last."""
    device, n, codes = rows.device, feature.n_ordered, rows.codes
    mine = slice(int(codes.first_column[j]), int(codes.first_column[j]) + feature.n_bins)
    share = bin_counts(feature, sums[mine])[:n]
    numbers, bins = device_numbers(device, data.column(j)), codes.codes[j][: codes.n_rows]
    ordered = bins < n
    if not bool(ordered.any()):
        return None
    largest = float(numbers[ordered].max())
    ends = np.append(feature.edges, max(largest, feature.edges[-1]))
    short = device.xp.where(ordered, device.upload(np.append(ends, np.zeros(feature.n_bins - n)))[bins] - numbers, 0.0)
    if rows.target.weight is not None:
        short = short * rows.target.weight
    below = bin_counts(feature, rows.column_sums(short)[mine])[:n]
    held = share > 0
    middle = ends[held] - below[held] / share[held]
    places = np.append(np.flatnonzero(held), n - 1)
    return ramps_of(feature, np.append(middle, ends[-1]), places, np.append(share[held], 0.0))
