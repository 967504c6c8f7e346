"""Training data in the memory of this process; the compiled core computes the sums over rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._backends.protocol import Cells, LabelledData
from sparsegam._data.columns import Column
from sparsegam._data.matrix import NumericMatrix
from sparsegam._data.table import Table
from sparsegam._design.binning import Binning, Codes, Feature
from sparsegam._design.encoding import bin_table
from sparsegam._design.histogram import Histogram, histogram_of
from sparsegam._design.interactions import Interaction
from sparsegam._design.ramps import Ramps, learn_ramps
from sparsegam._design.scaling import Units, scale_target, weights_or_none
from sparsegam._design.threshold import ThresholdDesign, sorted_interactions
from sparsegam.arrays import FloatArray
from sparsegam.losses import LOSSES

# Bounds of the memory that the row oracle of a matrix may use in addition to the matrix, in bytes.
MIN_CACHE_BYTES = 2**26
MAX_CACHE_BYTES = 2**30

RawValues = Callable[[int], tuple[FloatArray, Codes | None]]
"""Returns the raw values of feature j: one per row and None, or one per code and the codes of the rows."""


@dataclass(frozen=True)
class LocalBackend:
    """The backend of this process.

    Attributes
    ----------
    n_threads : int, default=1
        Number of threads.

    The bins of the last table are cached, so that the fits of all classes and shapes of one estimator share them.
    """

    n_threads: int = 1
    _binned: list[tuple[LabelledData[Table], Binning, "_BinnedRows"]] = field(
        default_factory=list, repr=False, compare=False
    )

    def encode(
        self, data: LabelledData[Table], binning: Binning, shapes: Sequence[str], loss: str, *, interactions: bool
    ) -> "LocalTable":
        """Learn bins and ramps, and encode the training rows of positive weight; see `Backend.encode`."""
        binned = self._bin(data, binning, only_steps=set(shapes) == {"steps"})
        table, weight, features, codes = binned.table, binned.weight, binned.features, binned.codes
        values = data.target if binned.kept is None else data.target[binned.kept]
        ramps = learn_ramps(table, features, codes, weight, shapes)
        is_exact = all(one is None or one.exact for one in ramps)
        units, target, scaled = scale_target(values, weight, centred=not LOSSES[loss].is_classifier)
        return encoded_table(
            features,
            codes,
            target,
            weights_or_none(scaled),
            loss=loss,
            ramps=ramps,
            shapes=shapes,
            units=units,
            raw_values=None if is_exact else RawColumnReader(table),
            n_threads=self.n_threads,
        )

    def _bin(self, data: LabelledData[Table], binning: Binning, *, only_steps: bool) -> "_BinnedRows":
        """Bin the rows of positive weight, or return the bins of the last call for the same features and weights."""
        for known, known_binning, binned in self._binned:
            if known.features is data.features and known.weight is data.weight and known_binning is binning:
                return binned
        table, weight, kept = data.features, data.weight, data.weight > 0
        is_kept = None if kept.all() else kept
        if is_kept is not None:
            table, weight = table.take(kept), weight[kept]
        if not only_steps:
            # Ramps read the raw values again after the table was encoded.
            table = table.with_reusable_codes(allowed=False)
        binned = _BinnedRows(table, weight, is_kept, *bin_table(table, binning, weight, self.n_threads))
        self._binned[:] = [(data, binning, binned)]
        return binned

    def matrix_rows(self, data: LabelledData[NumericMatrix], loss: str) -> _core.MatrixRows:
        """Return the row oracle of a matrix; see `Backend.matrix_rows`."""
        matrix = data.features
        cache = min(max(2 * matrix.n_bytes, MIN_CACHE_BYTES), MAX_CACHE_BYTES)
        return _core.MatrixRows(
            matrix.core(), data.target, data.weight, loss=loss, n_threads=self.n_threads, max_bytes=cache
        )


@dataclass(frozen=True, eq=False)
class _BinnedRows:
    """Rows of positive weight with their bins, which do not depend on the target and the shapes."""

    table: Table
    weight: FloatArray
    kept: NDArray[np.bool_] | None
    features: list[Feature]
    codes: list[Codes]


@dataclass(frozen=True, eq=False)
class LocalTable:
    """An encoded table in the memory of this process; see `EncodedTable`.

    Attributes
    ----------
    codes : tuple of ndarray
        Bin codes of each feature, then of each interaction.
    core : _core.ThresholdDesign
        The codes in the core, which reads them without a copy.
    target : ndarray
        Scaled target.
    weight : ndarray or None
        Scaled weights; None if all are 1.
    raw_values : callable or None
        Returns the raw values of a feature; None if the bins determine all columns.
    """

    design: ThresholdDesign
    codes: tuple[Codes, ...]
    core: _core.ThresholdDesign
    rows: _core.ThresholdRows
    units: Units
    target: FloatArray
    weight: FloatArray | None
    total_weight: float
    raw_values: RawValues | None
    n_threads: int

    @property
    def n_events(self) -> int | None:
        """Number of rows of the positive class; None for a regression."""
        return int(np.count_nonzero(self._is_event)) if LOSSES[self.rows.loss].is_classifier else None

    @cached_property
    def _is_event(self) -> NDArray[np.bool_]:
        return self.target > 0

    def with_interactions(self, interactions: Sequence[Interaction]) -> "LocalTable":
        """Return the table with other interactions; see `EncodedTable.with_interactions`."""
        interactions, n = sorted_interactions(interactions), len(self.design.features)
        added = [one.codes(self.codes[one.first.feature], self.codes[one.second.feature]) for one in interactions]
        counts, weights = (_sums_of_interactions(added, weight) for weight in (None, _relative(self.weight)))
        design = self.design.with_interactions(interactions, counts, weights)
        codes = (*self.codes[:n], *added)
        core = _core_design(design, codes)
        rows = _core.ThresholdRows(core, self.target, self.weight, loss=self.rows.loss, n_threads=self.n_threads)
        return replace(self, design=design, codes=codes, core=core, rows=rows)

    def count_events(self, columns: NDArray[np.int64]) -> NDArray[np.int64]:
        """Count positive-class rows by column; see `EncodedTable.count_events`."""
        if not columns.size:
            return np.zeros(0, dtype=np.int64)
        offset = self.core.offset
        feature = np.searchsorted(offset, columns, side="right") - 1
        features = np.unique(feature)
        counts = self.core.column_counts(features, mask=self._is_event)
        width = np.diff(offset, append=self.design.n_columns)[features]
        moved = np.cumsum(width) - width - offset[features]
        found: NDArray[np.int64] = counts[moved[np.searchsorted(features, feature)] + columns].astype(np.int64)
        return found

    def sum_cells(self, first: Cells, second: Cells, *, weighted: bool) -> FloatArray:
        """Sum rows or weights over the cells of two features; see `EncodedTable.sum_cells`."""
        rows, columns = (cells.cell_of_bin[self.codes[cells.feature]] for cells in (first, second))
        shape = first.n_cells, second.n_cells
        weight = self.weight if weighted else None
        sums = np.bincount(rows * shape[1] + columns, weight, shape[0] * shape[1])
        return sums.astype(np.float64).reshape(shape)

    def score_histogram(self, point: _core.Point) -> Histogram:
        """Count the scores of the training rows; see `EncodedTable.score_histogram`."""
        return histogram_of(self.row_scores(point))

    def row_scores(self, point: _core.Point) -> FloatArray:
        """Return the score of each training row, with ramps at the raw values."""
        if self.raw_values is None or self.design.is_exact(point.columns):
            return self.core.row_scores(point)
        return self.raw_columns(point.columns).scores(float(point.intercept), point.coef)

    def raw_value_rows(self, columns: NDArray[np.int64]) -> _core.RawRows:
        """Return a row oracle on raw values; see `EncodedTable.raw_value_rows`."""
        weight = np.ones(self.target.size) if self.weight is None else self.weight
        return _core.RawRows(
            self.raw_columns(columns),
            self.rows.columns,
            self.target,
            weight,
            loss=self.rows.loss,
            n_threads=self.n_threads,
        )

    def raw_columns(self, columns: NDArray[np.int64]) -> _core.RawColumns:
        """Return some columns with ramps at the raw values."""
        return _core.RawColumns(self.core, columns, [self._raw_ramp(column) for column in columns.tolist()])

    def _raw_ramp(self, column: int) -> tuple[FloatArray, Codes | None, float, float, float] | None:
        """Return raw values, clipping range and knot of a ramp; None if the bins determine the column."""
        ramp = self.design.ramp_of(column)
        if ramp is None or ramp[0].exact or self.raw_values is None:
            return None
        ramps, r = ramp
        values, codes = self.raw_values(int(self.design.feature_of[column]))
        return values, codes, ramps.low, ramps.high, float(ramps.bin_ends[ramps.knots[r]])

    def score(self, data: Table, points: Sequence[_core.Point]) -> FloatArray | None:
        """Score other rows; see `EncodedTable.score`."""
        scores: FloatArray | None = score_table(self.design, data, points)
        return scores


@dataclass(frozen=True, eq=False)
class RawColumnReader:
    """Reads the raw values of a table's columns as float64, each once."""

    table: Table
    _known: dict[int, tuple[FloatArray, Codes | None]] = field(default_factory=dict)

    def __call__(self, j: int) -> tuple[FloatArray, Codes | None]:
        """Return the values of column j and None, or the values by code and the codes of the rows."""
        if j not in self._known:
            coded = self.table.coded_column(j)
            self._known[j] = (self._plain(j), None) if coded is None else (coded.coding.numbers, coded.codes)
        return self._known[j]

    def _plain(self, j: int) -> FloatArray:
        """Return one value per row: a view if the table is a single array of float64."""
        whole = self.table.numeric_array
        if whole is None or whole.dtype != np.float64:
            return self.table.column(j).values
        out: FloatArray = whole[:, j]
        return out


def encoded_table(  # noqa: PLR0913
    features: Sequence[Feature],
    codes: Sequence[Codes],
    target: FloatArray,
    weight: FloatArray | None = None,
    *,
    loss: str,
    ramps: Sequence[Ramps | None] | None = None,
    shapes: Sequence[str] | None = None,
    units: Units | None = None,
    raw_values: RawValues | None = None,
    n_threads: int = 1,
) -> LocalTable:
    """Return an encoded table, given its features and codes.

    Parameters
    ----------
    features, codes : sequence
        Features, and their bin codes.
    target, weight : ndarray
        Scaled target and weights; no weights if all are 1.
    loss : str
        The loss.
    ramps : sequence of Ramps or None, optional
        Ramps of each feature; none by default.
    shapes : sequence of {"steps", "ramps", "both"}, optional
        Shapes of each feature; "both" by default.
    units : Units, optional
        Scale of target and weights; those of the user by default.
    raw_values : callable, optional
        Returns the raw values of a feature; required if the bins of some ramps contain several values.
    n_threads : int, default=1
        Number of threads.
    """
    units = Units() if units is None else units
    empty = ThresholdDesign(
        features=tuple(features),
        n_rows=target.size,
        counts=np.zeros(0),
        weights=np.zeros(0),
        ramps=(None,) * len(features) if ramps is None else tuple(ramps),
        shapes=("both",) * len(features) if shapes is None else tuple(shapes),
    )
    core, relative = _core_design(empty, codes), _relative(weight)
    every = np.arange(len(features))
    counts = core.column_counts(every)
    weights = counts if relative is None else core.column_counts(every, relative)
    return LocalTable(
        design=replace(empty, counts=counts, weights=weights),
        codes=tuple(codes),
        core=core,
        rows=_core.ThresholdRows(core, target, weight, loss=loss, n_threads=n_threads),
        units=units,
        target=target,
        weight=weight,
        total_weight=units.weight * (target.size if weight is None else float(weight.sum())),
        raw_values=raw_values,
        n_threads=n_threads,
    )


def score_table(
    design: ThresholdDesign,
    data: Table,
    points: Sequence[_core.Point],
    *,
    codes_of: Callable[[Feature, Column], Any] = Feature.codes_of,
    numbers_of: Callable[[Column], Any] = attrgetter("values"),
    xp: Any = np,
) -> Any:
    """Score a table by the bins of a design, all points at once; see `EncodedTable.score`.

    Parameters
    ----------
    design, data, points
        The design, the table and the points.
    codes_of, numbers_of : callable
        Return the codes of a column (None if a value is in no bin), and its numbers.
    xp : module
        The module of the arrays that these return: NumPy, or CuPy for arrays on a device.
    """
    codes: dict[int, Any] = {}
    for j in sorted({j for point in points for j in design.features_of(point.columns)}):
        found = codes_of(design.features[j], data.column(j))
        if found is None or not design.had_rows(j, found, xp):
            return None
        codes[j] = found
    out = xp.empty((len(points), data.n_rows))
    contribution = xp.empty(data.n_rows)
    # All codes are valid. With mode="clip", NumPy does not buffer the output.
    take_options = {"mode": "clip"} if xp is np else {}
    for score, point in zip(out, points, strict=True):
        score[:] = point.intercept
        for j, by_bin in design.bin_tables(point.columns, point.coef).items():
            score += xp.take(xp.asarray(by_bin), codes[j], out=contribution, **take_options)
        for column, coef in zip(point.columns.tolist(), point.coef.tolist(), strict=True):
            interaction, ramp = design.interaction_of(column), design.ramp_of(column)
            if interaction is not None:
                score += coef * interaction.codes(*(codes[j] for j in interaction.pair))
            elif ramp is not None and not ramp[0].exact:
                # The score contains the ramp at the bin centres, which is replaced by the ramp at the raw values.
                (ramps, r), j = ramp, int(design.feature_of[column])
                at_centres = xp.asarray(ramps.by_bin(r, int(design.n_bins[j])))[codes[j]]
                at_raw_values = ramps.values(r, numbers_of(data.column(j)), xp)
                is_ordered = codes[j] < int(design.n_ordered[j])
                score += coef * xp.where(is_ordered, at_raw_values - at_centres, 0.0)
    return out


def _core_design(design: ThresholdDesign, codes: Sequence[Codes]) -> _core.ThresholdDesign:
    """Return a design in the core, where an interaction is a feature of two unordered bins."""
    n = len(design.interactions)
    ramps = [None if one is None else one.in_core() for one in design.ramps]
    n_bins = np.append(design.n_bins, np.full(n, 2))
    n_ordered = np.append(design.n_ordered, np.zeros(n, dtype=np.int64))
    return _core.ThresholdDesign(codes, n_bins, n_ordered, [*ramps, *[None] * n])


def _relative(weight: FloatArray | None) -> FloatArray | None:
    """Return weights divided by their mean; None if all are the same."""
    if weight is None or weight.min() == weight.max():
        return None
    out: FloatArray = weight / weight.mean()
    return out


def _sums_of_interactions(codes: Sequence[Codes], weight: FloatArray | None) -> FloatArray:
    sums = [_core.bin_counts(code, 2, weight) for code in codes]
    return np.concatenate(sums) if sums else np.zeros(0)
