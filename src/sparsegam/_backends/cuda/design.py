"""A threshold design whose rows are on a device: what is counted of them is counted there."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._backends.cuda.binning import device_numbers, encode_numbers
from sparsegam._backends.cuda.inputs import DeviceColumn
from sparsegam._backends.cuda.rows import CudaThresholdRows
from sparsegam._data.table import Table
from sparsegam._design.binning import Codes, Feature
from sparsegam._design.constraints import Constraints, InteractionOptions
from sparsegam._design.interactions import CellsOf, Interaction, ProductDesign
from sparsegam._design.ramps import Ramps
from sparsegam._design.threshold import ThresholdDesign
from sparsegam._design.training import INSIDE, N_BUCKETS, Histogram
from sparsegam.arrays import FloatArray

NO_ROWS = np.zeros(0)


class CudaDesign(ThresholdDesign):
    """Columns over bin codes on a device.

    Parameters
    ----------
    features : sequence of Feature
        One per source column.
    rows : CudaThresholdRows
        The rows.
    weight : array of the device or None
        Their weights, on average one; None where all are the same.
    rules : Constraints
        What is demanded of models.
    ramps, shapes : sequence
        Those of each feature.
    """

    def __init__(
        self,
        features: Sequence[Feature],
        rows: CudaThresholdRows,
        weight: Any,
        rules: Constraints,
        shaped: tuple[Sequence[Ramps | None], Sequence[str]],
    ) -> None:
        self.rows, self._weight = rows, weight
        self._events: tuple[FloatArray, float] | None = None
        two = None if weight is None else np.array([0.0, 2.0])  # weights that differ: shares are asked for
        super().__init__(features, rows.codes.codes, two, missing=rules.missing, ramps=shaped[0], shapes=shaped[1])

    def _in_core(self, codes: Sequence[Codes]) -> Any:
        """Return the little that is asked of a design without codes."""
        return SimpleNamespace(n_rows=self.rows.codes.n_rows)

    def sums(self, weight: Any = None) -> FloatArray:
        """Sum the weights of the rows for which each column is 1; without weights, count them."""
        sums = self.rows.counts if weight is None else self.rows.column_sums(self._weight)
        return self._with_ramps_counted(sums)

    def _with_ramps_counted(self, sums: FloatArray) -> FloatArray:
        """Return sums by column where a ramp stands on the rows below its knot, not on its values."""
        if not self.rows.codes.has_ramps:
            return sums
        held = [sums[self.bins_of(j)] for j in range(self.n_bins.size)]
        ramped = [NO_ROWS if one is None else one.rows_below(mine) for one, mine in zip(self.ramps, held, strict=True)]
        return np.concatenate([part for both in zip(held, ramped, strict=True) for part in both])

    def row_scores(self, point: _core.Point, own: Any = None) -> Any:
        """Return the score of each row, on the device."""
        score = self.rows.scores(point)
        if own is not None and not self.is_exact(point.columns):
            self._correct_on_device(score, own.table, point, self.codes)
        return score

    def histogram(self, point: _core.Point, own: Any = None) -> Histogram:
        """Count the scores of the rows in buckets."""
        device = self.rows.device
        with device:
            score = self.row_scores(point, own)
            low, high = float(score.min()), float(score.max())
            place = ((score - low) * (N_BUCKETS * INSIDE / (high - low or 1.0))).astype(np.int64)
            return Histogram(low, high, device.fetch(device.xp.bincount(place, minlength=N_BUCKETS)))

    def held_by(self, rows: Any) -> tuple[FloatArray, float]:
        """Return for how many rows of the second class each column is 1, and how many they are."""
        if self._events is None:
            with self.rows.device:
                upper = (self.rows.target.y > 0).astype(np.float64)
                held = self._with_ramps_counted(self.rows.column_sums(upper))
                self._events = held, float(upper.sum())
        return self._events

    def count(self, rows: Any) -> int:
        """Return how many rows are of the second class."""
        return int(self.held_by(rows)[1])

    def counts_among(self, columns: NDArray[np.int64], rows: Any) -> NDArray[np.int64]:
        """Return for how many rows of the second class each of some columns is 1."""
        return self.held_by(rows)[0][columns].astype(np.int64)

    def scores(self, data: Table, points: Sequence[_core.Point]) -> FloatArray | None:
        """Score other rows by the bins of this design, all points at once; None where a value is of no bin."""
        tables = [self.bin_tables(point.columns, point.coef) for point in points]
        device, codes = self.rows.device, dict[int, Any]()
        with device:
            for j in sorted({j for table in tables for j in table}):
                codes[j] = self._codes_in(data, j, codes)
                if codes[j] is None:
                    return None
            out = device.xp.empty((len(points), data.n_rows))
            for i, (point, table) in enumerate(zip(points, tables, strict=True)):
                out[i] = point.intercept
                for j, by_bin in table.items():
                    out[i] += device.upload(by_bin)[codes[j]]
                if not self.is_exact(point.columns):
                    self._correct_on_device(out[i], data, point, codes)
            return device.fetch(out)

    def _codes_in(self, data: Table, j: int, _known: Mapping[int, Any]) -> Any:
        """Return the bins of other rows on the device; None where a value is of no bin, or of one without a row."""
        feature, column, device = self.features[j], data.column(j), self.rows.device
        if not isinstance(column, DeviceColumn):
            found = feature.codes_of(column)
            return None if found is None or not self._had_rows(j, found) else device.upload(found)
        numbers = device_numbers(device, column)
        if column.scale.kind != feature.scale.kind or feature.bin_of_level is not None:
            return None
        if not feature.missing and bool(device.xp.isnan(numbers).any()):
            return None
        codes = encode_numbers(device, feature, numbers)[: data.n_rows]
        counted = device.fetch(device.xp.bincount(codes, minlength=feature.n_bins))
        empty = self.counts[self.bins_of(j)][feature.n_ordered :] == 0
        return None if (counted[feature.n_ordered :][empty] > 0).any() else codes

    def _correct_on_device(self, score: Any, data: Table, point: _core.Point, codes: Any) -> None:
        """Put the rows' own values into scores that went by the means of bins."""
        device = self.rows.device
        for column, coef in zip(point.columns.tolist(), point.coef.tolist(), strict=True):
            j, ramp = int(self.source[column]), self._ramp(column)
            if ramp is None or ramp[0].exact:
                continue
            mine = codes[j][: score.size]
            by_bin = device.upload(ramp[0].by_bin(ramp[1], int(self.n_bins[j])))[mine]
            own = self._ramp_values(ramp, data, j)
            score += coef * device.xp.where(mine < int(self.n_ordered[j]), own - by_bin, 0.0)

    def _ramp_values(self, ramp: tuple[Ramps, int], data: Table, j: int) -> Any:
        """Return what a ramp is for the numbers of a column, in the unit of the core."""
        device, (ramps, r) = self.rows.device, ramp
        numbers = device_numbers(device, data.column(j))
        held = (device.xp.clip(numbers, ramps.low, ramps.high) - ramps.high) / ramps.width
        return device.xp.minimum(held - float(ramps.end[ramps.knots[r]]), 0.0)

    def matrix(self, table: Table, columns: NDArray[np.int64]) -> Any:
        """Return some columns by the rows' own values, on the device, one after the other in memory."""
        device = self.rows.device
        out = device.xp.empty((table.n_rows, columns.size), order="F")
        for i, column in enumerate(columns.tolist()):
            j, ramp = int(self.source[column]), self._ramp(column)
            codes = self.codes[j][: table.n_rows]
            if ramp is None:
                out[:, i] = device.upload(self.bin_tables(columns[i : i + 1], np.ones(1))[j])[codes]
            else:
                own = self._ramp_values(ramp, table, j)
                out[:, i] = device.xp.where(codes < int(self.n_ordered[j]), own, 0.0)
        return out


class CudaProductDesign(ProductDesign, CudaDesign):
    """Columns over bin codes on a device, and behind them those of products.

    Parameters
    ----------
    plain : CudaDesign
        The design without products.
    products : sequence of Interaction
        The products.
    interactions : InteractionOptions
        What the user asks of them.
    """

    def __init__(self, plain: CudaDesign, products: Sequence[Interaction], interactions: InteractionOptions) -> None:
        with plain.rows.device:
            super().__init__(plain, products, interactions, plain._weight)

    def _in_core(self, codes: Sequence[Codes]) -> Any:
        """Let the codes of products join the rows; nothing that was counted by column holds for these."""
        self.rows, self._events = self.rows.with_binary_features(codes[len(self.features) :]), None
        return super()._in_core(codes)

    def _sums_of_products(self, codes: Sequence[Codes], weight: Any = None) -> FloatArray:
        sums = self.rows.counts if weight is None else self.rows.column_sums(weight)
        return sums[self._n_plain :]

    def _sums_by_two(self, one: CellsOf, other: CellsOf, shape: tuple[int, ...], weight: Any) -> FloatArray:
        """Sum the rows by the cells of two features at once."""
        cells: list[Any] = [None] * len(self.features)
        for (j, of_bin), count in zip((one, other), shape, strict=True):
            cells[j] = of_bin, 0, count
        return self.rows.weighted_pair_sums(weight, cells, np.array([[one[0], other[0]]])).reshape(shape)
