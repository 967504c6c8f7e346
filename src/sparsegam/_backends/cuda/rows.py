"""Rows on a device: the row oracles of a search, over bin codes and over a dense matrix.

Both implement `_core.Rows`, whose documentation defines the arguments and results of each method.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sparsegam import _core
from sparsegam._backends.cuda.device import Device
from sparsegam._backends.cuda.layouts import (
    ONES,
    THREADS,
    Channels,
    CoarseBins,
    DeviceCodes,
    DeviceTarget,
    IntArray,
    RowValues,
    Totals,
    pack_bits,
    padded_size,
)
from sparsegam._backends.cuda.passes import COARSE, FINE, Evaluation, Summation
from sparsegam.arrays import FloatArray

# Numbers of columns from which on scans of a shortlist save time; the same as in the core.
MANY_THRESHOLD_COLUMNS = 32768
MANY_MATRIX_COLUMNS = 400
# A centred squared norm below this share of the squared norm is computed again from centred values.
CANCELLATION = 1e-6


class CachedCurvature(NamedTuple):
    """Token of a scan: the curvature of each row at its point, and the result of `Evaluation.derivatives`."""

    curv: Any
    statistics: Any


def _key_of(point: _core.Point) -> tuple[float, bytes, bytes]:
    """Return a key that is equal for equal points, whatever the order of their columns."""
    order = np.argsort(point.columns)
    return point.intercept, point.columns[order].tobytes(), point.coef[order].tobytes()


class CudaThresholdRows(_core.Rows):
    """Rows as bin codes on a device.

    Gradient and curvature of each row are stored as float32; scores and losses are float64.

    Parameters
    ----------
    codes : DeviceCodes
        Bin codes of all features.
    target : DeviceTarget
        Labels or responses, weights and the loss.
    """

    def __init__(self, codes: DeviceCodes, target: DeviceTarget) -> None:
        super().__init__()
        self.codes, self.target, self.device, self.loss = codes, target, codes.device, target.loss
        self._evaluation, self._summation = Evaluation(codes, target), Summation(codes)
        # Derivatives of the rows at the last point. `_curv` is None once a scan has moved it to its token.
        self._point: tuple[float, bytes, bytes] | None = None
        self._grad: Any = None
        self._curv: Any = None
        self._value: Any = None
        self._statistics: Any = None
        self._totals: Totals | None = None
        # Largest values of the weights that were summed last; kernels receive the address of this array.
        self._max_values: Any = None
        with self.device:
            self.columns = self._describe_columns()

    def evaluate(self, points: Sequence[_core.Point]) -> FloatArray:
        """Return the loss at each point. For a single point, `newton` reuses the derivatives computed here."""
        with self.device:
            if len(points) == 1:
                self._go_to(points[0])
                return np.array([self._point_totals().value])
            return self._evaluation.losses(points) if points else np.zeros(0)

    def newton(
        self,
        point: _core.Point,
        support: IntArray,
        low_precision: bool = False,  # noqa: FBT001, FBT002
    ) -> tuple[float, FloatArray, FloatArray]:
        """Return the loss, Hessian and gradient with respect to some columns."""
        with self.device:
            self._go_to(point)
            if support.size and not self.codes.is_ramp[support].any():
                upper = self._summation.gram(self._channels(support, self._current_curvature), self.counts[support])
                return self._point_totals().value, *_gram_with_intercept(upper, support.size, self._point_totals())
            features, sums = np.unique(self.codes.feature_of[support]), np.zeros((0, 0))
            if support.size:
                channels = self._channels(support, self._current_curvature)
                sums = self._summation.by_column(channels, features, FINE)
            return self._point_totals().value, *self._gram(support, sums, features)

    def scan(self, point: _core.Point, columns: IntArray) -> tuple[Any, ...]:
        """Return sums of all columns, or of some, and their products with the support of the point."""
        with self.device:
            self._go_to(point)
            support, cached = point.columns, self._current_curvature
            features = self._features(columns, support)
            channels = self._channels(support, cached, may_invert=True)
            sums = self._summation.by_column(channels, features, COARSE)
            gram, selected = self._gram(support, sums, features), self._select(sums, columns, features)
            self._curv = None
            curvature, products = self._squared_norms(selected, columns), self._in_order(selected[:, 1:], support, 1)
            return cached, *gram, selected[:, 0], curvature, products, *self._moments(selected, columns)

    def rescan(
        self, token: CachedCurvature, point: _core.Point, entered: IntArray, columns: IntArray
    ) -> tuple[Any, ...]:
        """Return sums at this point; products with columns new in the model use the curvature cached by a scan."""
        with self.device:
            self._go_to(point)
            features = self._features(columns)
            sums = self._summation.by_column(self._channels(entered, token), features, COARSE)
            selected = self._select(sums, columns, features)
            products = self._in_order(selected[:, 2:], entered, 0)
            return self._point_totals().grad, selected[:, 0], self._squared_norms(selected, columns), products

    def groups(self, point: _core.Point, columns: IntArray) -> tuple[Any, ...]:
        """Return sums of gradient, curvature and loss over the rows where each column is 1, and over all rows."""
        with self.device:
            self._go_to(point, with_value=True)
            features = np.unique(self.codes.feature_of[columns])
            channels = Channels([*self._base_values, RowValues(self._value, self._max_address(0))])
            sums = self._summation.by_column(channels, features, FINE) if columns.size else np.zeros((0, 3))
            selected, totals = sums[self._positions(columns, features)], self._point_totals()
            return selected[:, 0], selected[:, 1], selected[:, 2], [totals.grad, totals.curv, totals.value]

    def pair_sums(
        self, point: _core.Point, coarse_bins: Sequence[CoarseBins | None], pairs: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return sums of gradient and of curvature over the cells of pairs of features, as concatenated tables."""
        with self.device:
            self._go_to(point)
            grad, curv = self._summation.by_pair(self._base_values, coarse_bins, pairs)
            return grad, curv

    def scores(self, point: _core.Point) -> Any:
        """Return the score of each row as a device array."""
        with self.device:
            return self._evaluation.scores(point)

    def column_sums(self, weight: Any) -> FloatArray:
        """Sum non-negative weights of the rows (a device array) over the rows where each column is 1."""
        with self.device:
            return self._weighted_sums(weight)[0]

    def weighted_pair_sums(self, weight: Any, coarse_bins: Sequence[CoarseBins | None], pairs: IntArray) -> FloatArray:
        """Sum non-negative weights of the rows over the cells of pairs of features; count the rows if they are None."""
        with self.device:
            sums = self._summation.by_pair(self._split(weight), coarse_bins, pairs)
            total: FloatArray = sums.sum(axis=0)
            return sums[1] if weight is None else total

    def with_binary_features(self, codes: Sequence[Any]) -> "CudaThresholdRows":
        """Return the same rows with further features of two unordered bins, given by their codes on the device."""
        return CudaThresholdRows(self.codes.with_binary_features(codes), self.target)

    def _go_to(self, point: _core.Point, *, with_value: bool = False) -> None:
        """Compute the derivatives of each row at a point unless they are those stored already."""
        key = _key_of(point)
        if key == self._point and self._curv is not None and (self._value is not None or not with_value):
            return
        # Ctrl-C may interrupt the lines below, so the key is set only when everything is stored.
        self._point = None
        self._grad, self._curv = (self._empty_rows() if old is None else old for old in (self._grad, self._curv))
        self._value = self._empty_rows() if with_value else None
        self._statistics = self._evaluation.derivatives(point, self._grad, self._curv, self._value)
        self._totals, self._point = None, key

    def _empty_rows(self) -> Any:
        return self.device.xp.empty(padded_size(self.codes.n_rows), dtype=np.float32)

    def _point_totals(self) -> Totals:
        if self._totals is None:
            self._totals = Totals(*self.device.download(self._statistics)[:3].tolist())
        return self._totals

    def _max_address(self, derivative: int) -> int:
        """Return the address of the largest absolute per-row loss (0), gradient (1) or curvature (2)."""
        return self.device.address(self._statistics) + 8 * (3 + derivative)

    @property
    def _base_values(self) -> list[RowValues]:
        return [RowValues(self._grad, self._max_address(1), signed=True), RowValues(self._curv, self._max_address(2))]

    @property
    def _current_curvature(self) -> CachedCurvature:
        return CachedCurvature(self._curv, self._statistics)

    def _channels(self, support: IntArray, cached: CachedCurvature, *, may_invert: bool = False) -> Channels:
        """Return channels for gradient, curvature, and the cached curvature of the rows of each column in a support.

        If a column is 1 in most rows, its complement can be stored, which gives the same sums with fewer additions.
        """
        is_ramp = self.codes.is_ramp[support]
        binary, ramps = support[~is_ramp], support[is_ramp]
        inverted = pack_bits(self.columns.mean[binary] > 0.5 if may_invert else np.zeros(binary.size, dtype=bool))
        curvature = RowValues(cached.curv, self.device.address(cached.statistics) + 8 * 5)
        bits, ramp_values = self._evaluation.column_bits(binary, inverted), self._evaluation.ramp_values(ramps)
        return Channels(self._base_values, curvature, bits, inverted, ramp_values, binary.size, ramps.size)

    def _features(self, columns: IntArray, support: IntArray | None = None) -> IntArray:
        """Return the features of some columns (of all columns if none are given) and of a support."""
        if columns.size == 0:
            return np.arange(self.codes.n_bins.size)
        used = columns if support is None else np.concatenate([columns, support])
        features: IntArray = np.unique(self.codes.feature_of[used])
        return features

    def _positions(self, columns: IntArray, features: IntArray) -> IntArray:
        """Return the positions of columns among all columns of some features."""
        width = self.codes.width[features]
        first = (np.cumsum(width) - width)[np.searchsorted(features, self.codes.feature_of[columns])]
        positions: IntArray = first + self.codes.position[columns]
        return positions

    def _select(self, sums: FloatArray, columns: IntArray, features: IntArray) -> FloatArray:
        return sums[self._positions(columns, features)] if columns.size else sums

    def _squared_norms(self, sums: FloatArray, columns: IntArray) -> FloatArray:
        """Return x'(h x) of each column x; a 0/1 column equals its square."""
        if not self.codes.has_ramps:
            return sums[:, 1]
        is_ramp = self.codes.is_ramp[columns] if columns.size else self.codes.is_ramp
        return np.where(is_ramp, sums[:, -1], sums[:, 1])

    def _moments(self, sums: FloatArray, columns: IntArray) -> list[FloatArray]:
        """Return, if there are ramps, 1'(h x) of each ramp x, and for each step the same sum of the bin centres."""
        if not self.codes.has_ramps:
            return []
        is_ramp = self.codes.is_ramp[columns] if columns.size else self.codes.is_ramp
        return [np.where(is_ramp, sums[:, 1], sums[:, -1])]

    def _in_order(self, sums: FloatArray, support: IntArray, n_before: int) -> FloatArray:
        """Return the channels of a support in its own order; they were summed with 0/1 columns before ramps."""
        count = n_before + support.size
        is_ramp = self.codes.is_ramp[support]
        if not is_ramp.any():
            return sums[:, :count]
        position = np.empty(support.size, dtype=np.int64)
        position[np.concatenate([np.flatnonzero(~is_ramp), np.flatnonzero(is_ramp)])] = np.arange(support.size)
        return sums[:, np.append(np.arange(n_before), n_before + position)]

    def _gram(self, support: IntArray, sums: FloatArray, features: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return Hessian and gradient of the intercept and a support, from the sums of its features and the totals."""
        totals = self._point_totals()
        curv, grad = np.empty((support.size + 1,) * 2), np.empty(support.size + 1)
        curv[0, 0], grad[0] = totals.curv, totals.grad
        if support.size:
            selected = sums[self._positions(support, features)]
            grad[1:] = selected[:, 0]
            curv[1:] = self._in_order(selected[:, 1:], support, 1)
            curv[0, 1:] = curv[1:, 0]
        return curv, grad

    def _describe_columns(self) -> _core.ColumnInfo:
        """Count the rows of each column and compute its weighted mean and centred squared norm."""
        codes, weight = self.codes, self.target.weight
        self.counts, squared_norms = self._weighted_sums(None)
        sums = self.counts
        if weight is not None:
            sums, squared_norms = self._weighted_sums(weight)
        first_feature, n = sums[: int(codes.n_bins[0])], int(codes.n_ordered[0])
        total = float(first_feature[n - 1] + first_feature[n:].sum()) if n else float(first_feature.sum())
        return _core.ColumnInfo(
            kind=codes.kinds(),
            mean=sums / total,
            centred_sq_norm=np.maximum(squared_norms - sums**2 / total, 0.0),
            total_weight=total,
            nested=codes.nested_steps(),
            nested_ramps=codes.nested_ramps(),
            knot=codes.knots(),
            shortlist=codes.n_columns // 2 if codes.n_columns > MANY_THRESHOLD_COLUMNS else 0,
        )

    def _weighted_sums(self, weight: Any) -> tuple[FloatArray, FloatArray]:
        """Return x'w and x'(w x) of each column x for non-negative weights w, or for w = 1 if they are None."""
        all_features = np.arange(self.codes.n_bins.size)
        sums = self._summation.by_column(Channels(self._split(weight)), all_features, FINE)
        squared_norms = self._squared_norms(sums, all_features[:0])
        if weight is None:
            return sums[:, 1], squared_norms
        return sums[:, 0] + sums[:, 1], squared_norms + np.where(self.codes.is_ramp, 0.0, sums[:, 0])

    def _split(self, weight: Any) -> list[RowValues]:
        """Split float64 weights into two float32 parts, each of which is summed in fixed point: w = low + high."""
        if weight is None:
            return [ONES, ONES]
        xp = self.device.xp
        parts = xp.zeros((2, padded_size(self.codes.n_rows)), dtype=np.float32)
        parts[1, : weight.size] = weight
        parts[0, : weight.size] = weight - parts[1, : weight.size]
        self._max_values = xp.abs(parts).max(axis=1).astype(np.float64)
        address = self.device.address(self._max_values)
        return [RowValues(parts[0], address, signed=True), RowValues(parts[1], address + 8)]


def _gram_with_intercept(upper: FloatArray, n: int, totals: Totals) -> tuple[FloatArray, FloatArray]:
    """Return Hessian and gradient of the intercept and 0/1 columns, from the result of `Summation.gram`."""
    curv, grad = np.empty((n + 1, n + 1)), np.append(totals.grad, upper[-n:])
    rows, columns = np.triu_indices(n)
    curv[rows + 1, columns + 1] = curv[columns + 1, rows + 1] = upper[:-n]
    curv[0, 0] = totals.curv
    # The product of the intercept with a 0/1 column x is x'h = x'(h x).
    curv[0, 1:] = curv[1:, 0] = np.diagonal(curv)[1:]
    return curv, grad


class CudaMatrixRows(_core.Rows):
    """Rows of a dense matrix on a device; sums are matrix products in double precision.

    Parameters
    ----------
    device : Device
        The device.
    matrix : device array of float64
        The matrix, in column-major order.
    target : DeviceTarget
        Labels or responses, weights and the loss.
    """

    def __init__(self, device: Device, matrix: Any, target: DeviceTarget) -> None:
        super().__init__()
        self.device, self.matrix, self.target, self.loss = device, matrix, target, target.loss
        # Gradient and curvature of each row at the last point, and their sums.
        self._point: tuple[float, bytes, bytes] | None = None
        self._derivatives: tuple[Any, Any, Totals] | None = None
        with device:
            self.columns = self._describe_columns()

    def evaluate(self, points: Sequence[_core.Point]) -> FloatArray:
        """Return the loss at each point. For a single point, `newton` reuses the derivatives computed here."""
        with self.device:
            if len(points) == 1:
                return np.array([self._go_to(points[0])[2].value])
            target, out = self.target, self.device.xp.empty(max(len(points), 1))
            for i, point in enumerate(points):
                block_sums = self.device.xp.empty(target.n_blocks)
                arguments = (target.struct, self._scores(point), target.rows_per_block, 0, 0, block_sums)
                self.device.launch("matrix_derivatives", (target.n_blocks,), THREADS, arguments)
                target.reduce(block_sums, 1, 1, out[i : i + 1])
            return self.device.download(out)[: len(points)]

    def newton(
        self,
        point: _core.Point,
        support: IntArray,
        low_precision: bool = False,  # noqa: FBT001, FBT002
    ) -> tuple[float, FloatArray, FloatArray]:
        """Return the loss, Hessian and gradient with respect to some columns."""
        with self.device:
            grad, curv, totals = self._go_to(point)
            return totals.value, *self._gram(support, grad, curv)

    def scan(self, point: _core.Point, columns: IntArray) -> tuple[Any, ...]:
        """Return sums of all columns, or of some, and their products with the support of the point.

        The token is the curvature of the rows.
        """
        with self.device:
            grad, curv, _ = self._go_to(point)
            selected = self._select(columns)
            weighted = self._with_intercept(point.columns) * curv[:, None]
            sums = selected.T @ self.device.xp.column_stack([grad, weighted])
            gram = self._gram(point.columns, grad, curv)
            found = self.device.download(sums)
            return curv, *gram, found[:, 0], self._squared_norms(selected, curv), found[:, 1:]

    def rescan(self, token: Any, point: _core.Point, entered: IntArray, columns: IntArray) -> tuple[Any, ...]:
        """Return gradients at this point, and products with the columns that entered under the curvature of a scan."""
        with self.device:
            grad, _, totals = self._go_to(point)
            weighted = self._take(entered) * token[:, None]
            sums = self._select(columns).T @ self.device.xp.column_stack([grad, weighted])
            found = self.device.download(sums)
            return totals.grad, found[:, 0], None, found[:, 1:]

    def groups(self, point: _core.Point, columns: IntArray) -> tuple[Any, ...]:
        """Raise RuntimeError: only 0/1 columns divide the rows into two groups."""
        msg = "groups() requires 0/1 columns, but the columns of a matrix are real-valued: use scan()."
        raise RuntimeError(msg)

    def _go_to(self, point: _core.Point) -> tuple[Any, Any, Totals]:
        """Return gradient and curvature of each row at a point, and the totals."""
        key = _key_of(point)
        if key != self._point or self._derivatives is None:
            xp, target, n = self.device.xp, self.target, self.target.n_rows
            grad, curv, block_sums = xp.empty(n), xp.empty(n), xp.empty(3 * target.n_blocks)
            arguments = (target.struct, self._scores(point), target.rows_per_block, grad, curv, block_sums)
            self.device.launch("matrix_derivatives", (target.n_blocks,), THREADS, arguments)
            sums = self.device.download(target.reduce(block_sums, 3, 3, xp.empty(3)))
            self._point, self._derivatives = key, (grad, curv, Totals(*sums.tolist()))
        return self._derivatives

    def _scores(self, point: _core.Point) -> Any:
        return self._take(point.columns) @ self.device.upload(point.coef) + point.intercept

    def _take(self, columns: IntArray) -> Any:
        return self.matrix[:, self.device.upload(columns)]

    def _select(self, columns: IntArray) -> Any:
        return self._take(columns) if columns.size else self.matrix

    def _with_intercept(self, columns: IntArray) -> Any:
        """Return the matrix [1, X_S]."""
        return self.device.xp.column_stack([self.device.xp.ones(self.target.n_rows), self._take(columns)])

    def _gram(self, support: IntArray, grad: Any, curv: Any) -> tuple[FloatArray, FloatArray]:
        columns = self._with_intercept(support)
        sums = self.device.download(columns.T @ self.device.xp.column_stack([grad, columns * curv[:, None]]))
        return sums[:, 1:], sums[:, 0]

    def _squared_norms(self, matrix: Any, weight: Any, centre: FloatArray | None = None) -> FloatArray:
        """Return sum_i w_i (x_ic - m_c)^2 of each column c."""
        matrix = self.device.xp.asfortranarray(matrix)
        out = self.device.xp.empty(matrix.shape[1])
        centre_on_device = 0 if centre is None else self.device.upload(centre)
        arguments = (matrix, self.target.n_rows, weight, centre_on_device, out)
        self.device.launch("squared_norms", (matrix.shape[1],), THREADS, arguments)
        return self.device.download(out)

    def _describe_columns(self) -> _core.ColumnInfo:
        """Compute the weighted mean and centred squared norm of each column."""
        xp, n = self.device.xp, self.matrix.shape[1]
        weight = xp.ones(self.target.n_rows) if self.target.weight is None else self.target.weight
        total = float(weight.sum())
        sums = self.device.download(self.matrix.T @ weight)
        squared_norms = self._squared_norms(self.matrix, weight)
        centred = np.maximum(squared_norms - sums**2 / total, 0.0)
        has_cancelled = centred < CANCELLATION * squared_norms
        if has_cancelled.any():
            centred = np.where(has_cancelled, self._squared_norms(self.matrix, weight, sums / total), centred)
        return _core.ColumnInfo(
            kind=["raw"] * n,
            mean=sums / total,
            centred_sq_norm=centred,
            total_weight=total,
            nested=[],
            shortlist=n // 2 if n > MANY_MATRIX_COLUMNS else 0,
        )
