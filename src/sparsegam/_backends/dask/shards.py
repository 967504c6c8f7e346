"""Shards of a table: what a worker of a Dask cluster stores, and the sums over its rows that it computes.

Everything can be computed again from the parts, so nothing is lost if a worker fails. The compiled rows and the cached
curvature of scans only save time, and are not pickled with a shard.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._backends.dask.parts import EncodedPart
from sparsegam._backends.local import LocalTable, encoded_table
from sparsegam._data.sketches import CodedColumn, Codes, Coding
from sparsegam._data.table import Table
from sparsegam._design.binning import Feature
from sparsegam._design.histogram import Counts, histogram_of
from sparsegam._design.ramps import Ramps
from sparsegam._design.scaling import Units, weights_or_none
from sparsegam.arrays import FloatArray

MAX_CACHED_SCANS = 4  # A search uses the curvature of one or two scans at a time.

IntArray = NDArray[np.int64]
PlainPoint = tuple[float, IntArray, FloatArray]
"""Intercept, columns and coefficients of a `_core.Point`, which cannot be pickled."""

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Selection:
    """Some of the rows of a shard, and their target.

    Attributes
    ----------
    mask : ndarray or None
        Mask of the rows, packed into bits; None for all rows.
    positive : int or None
        Position of the class with label 1, all others have label -1; None for a regression.
    class_weights : ndarray or None
        Factor on the weights of each class.
    """

    mask: NDArray[np.uint8] | None = None
    positive: int | None = None
    class_weights: FloatArray | None = None


class TargetSummary(NamedTuple):
    """Summary of the target and weights of selected rows; the first response is None if there are no rows."""

    n_rows: int
    n_by_sign: NDArray[np.intp]
    total_weight: float
    min_weight: float
    max_weight: float
    first_response: float | None


@dataclass(frozen=True)
class Shard:
    """A range of consecutive rows: codes, labels (positions among the classes) or responses, and weights."""

    codings: Sequence[Coding]
    codes: tuple[Codes, ...]
    y: NDArray[Any]
    weight: FloatArray

    @classmethod
    def of(cls, codings: Sequence[Coding], parts: Sequence[EncodedPart], ranges: Sequence[tuple[int, int]]) -> "Shard":
        """Concatenate a range of the rows of each part."""
        slices = [(part, slice(*ends)) for part, ends in zip(parts, ranges, strict=True)]
        codes = tuple(np.concatenate([part.codes[j][rows] for part, rows in slices]) for j in range(len(codings)))
        y = np.concatenate([part.y[rows] for part, rows in slices])
        return cls(codings, codes, y, np.concatenate([part.weight[rows] for part, rows in slices]))

    def rows(self, selection: Selection) -> NDArray[np.intp]:
        """Return the positions of the selected rows of positive weight."""
        mask = self.weight > 0
        if selection.mask is not None:
            mask &= np.unpackbits(selection.mask, count=self.y.size).astype(bool)
        return np.flatnonzero(mask)

    def target(self, selection: Selection) -> tuple[FloatArray, FloatArray]:
        """Return labels (-1 and 1) or responses, and weights of the selected rows."""
        rows = self.rows(selection)
        y, weight = self.y[rows], self.weight[rows]
        if selection.class_weights is not None:
            weight = weight * selection.class_weights[y]
        target = y.astype(np.float64) if selection.positive is None else np.where(y == selection.positive, 1.0, -1.0)
        return target, weight

    def summarise_target(self, selection: Selection) -> TargetSummary:
        """Summarise target and weights of the selected rows."""
        y, weight = self.target(selection)
        return TargetSummary(
            y.size,
            np.bincount((y > 0).astype(np.intp), minlength=2),
            float(weight.sum()),
            float(weight.min(initial=np.inf)),
            float(weight.max(initial=0.0)),
            float(y[0]) if y.size else None,
        )

    def weight_by_class(self, n_classes: int) -> FloatArray:
        """Return the total weight of the rows of each class."""
        return np.bincount(self.y, self.weight, minlength=n_classes).astype(np.float64)

    def weighted_sum(self, selection: Selection, offset: float) -> float:
        """Return the weighted sum of the responses minus an offset."""
        y, weight = self.target(selection)
        return float(weight @ (y - offset))

    def max_deviation(self, selection: Selection, offset: float) -> float:
        """Return the largest absolute difference of the responses from an offset."""
        y, _ = self.target(selection)
        return float(np.abs(y - offset).max(initial=0.0))

    def count_codes(self, selection: Selection, is_weighted: bool) -> list[tuple[FloatArray, FloatArray]]:  # noqa: FBT001
        """Return, for each column, the number of rows with each code and (if `is_weighted`) their weight."""
        rows, (_, weight) = self.rows(selection), self.target(selection)
        counts: list[tuple[FloatArray, FloatArray]] = []
        for coding, codes in zip(self.codings, self.codes, strict=True):
            selected, n_codes = codes if rows.size == self.y.size else codes[rows], coding.numbers.size
            n_rows = _core.bin_counts(selected, n_codes)
            counts.append((n_rows, _core.bin_counts(selected, n_codes, weight) if is_weighted else n_rows))
        return counts

    def labels(self) -> NDArray[Any]:
        """Return the labels or responses of all rows."""
        return self.y

    def weights(self) -> FloatArray:
        """Return the weights of all rows."""
        return self.weight

    def table(self, selection: Selection) -> Table:
        """Return the features of the selected rows."""
        return coded_table(self.codings, self.codes).take(self.rows(selection))

    def first_codes(self, n: int) -> tuple[Codes, ...]:
        """Return the codes of the first n rows."""
        return tuple(codes[:n] for codes in self.codes)


def coded_table(codings: Sequence[Coding], codes: Sequence[Codes]) -> Table:
    """Return a table of coded columns."""
    columns = tuple(CodedColumn(coding, of_column) for coding, of_column in zip(codings, codes, strict=True))
    return Table(columns, codes[0].size, len(columns), names=tuple(coding.name for coding in codings))


@dataclass(frozen=True)
class EncodingPlan:
    """How codes are converted to bins, and the scaled units of target and weights.

    Attributes
    ----------
    features : sequence of Feature
        The features.
    bin_of_code : sequence of ndarray
        The bin of each code of each feature.
    ramps : sequence of Ramps or None
        Ramps of each feature.
    units : Units
        Units of target and weights.
    loss : str
        The loss.
    """

    features: Sequence[Feature]
    bin_of_code: Sequence[Codes]
    ramps: Sequence[Ramps | None]
    units: Units
    loss: str


class ColumnSummaries(NamedTuple):
    """The arguments of a `_core.ColumnInfo`, which cannot be pickled."""

    kind: Sequence[str]
    mean: FloatArray
    centred_sq_norm: FloatArray
    total_weight: float
    nested: Sequence[tuple[int, int]]
    shortlist: int
    nested_ramps: Sequence[tuple[int, int]]
    knot: FloatArray | None

    @classmethod
    def of(cls, info: _core.ColumnInfo) -> "ColumnSummaries":
        """Copy column information."""
        sizes = info.kind, info.mean, info.centred_sq_norm, info.total_weight
        return cls(*sizes, info.nested, info.shortlist, info.nested_ramps, info.knot)


class ShardCounts(NamedTuple):
    """Number of rows of a shard, and number and weight of the rows for which each column is 1."""

    n_rows: int
    counts: FloatArray
    weights: FloatArray


@dataclass
class EncodedShard:
    """The selected rows of a shard as bin codes, and the sums that a search needs.

    Its methods are computed by `Cluster.map_encoded`. Those with the name of a method of `_core.Rows` have the same
    arguments and results, with plain points.

    Attributes
    ----------
    plan : EncodingPlan
        The plan.
    codes : list of ndarray
        Bin codes of each feature.
    raw_values : dict from int to (ndarray, ndarray)
        Values by code, and codes of the rows, of features with ramps over bins of several values.
    y, weight : ndarray
        Scaled target and weights.
    n_threads : int
        Number of threads of the worker.
    """

    plan: EncodingPlan
    codes: list[Codes]
    raw_values: dict[int, tuple[FloatArray, Codes]]
    y: FloatArray
    weight: FloatArray
    n_threads: int = 1
    _table: LocalTable | None = field(default=None, repr=False)
    _raw_rows: tuple[IntArray, _core.RawRows] | None = field(default=None, repr=False)
    _tokens: dict[str, Any] = field(default_factory=dict, repr=False)
    _lock: Any = field(default_factory=Lock, repr=False)

    @classmethod
    def of(cls, shard: Shard, selection: Selection, plan: EncodingPlan) -> "EncodedShard":
        """Bin the selected rows of a shard."""
        rows, (y, weight) = shard.rows(selection), shard.target(selection)
        encoded, raw_values = [], {}
        for j, (bins, codes) in enumerate(zip(plan.bin_of_code, shard.codes, strict=True)):
            selected, ramps = codes if rows.size == shard.y.size else codes[rows], plan.ramps[j]
            if ramps is not None and not ramps.exact:
                raw_values[j] = shard.codings[j].numbers, selected
            is_identity = bins.dtype == selected.dtype and np.array_equal(bins, np.arange(bins.size))
            encoded.append(selected if is_identity else bins[selected])
        y = (y - plan.units.offset) / plan.units.target
        return cls(plan, encoded, raw_values, y, weight / plan.units.weight, n_threads=_threads_of_worker())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the compiled rows and cached curvature."""
        return EncodedShard, (self.plan, self.codes, self.raw_values, self.y, self.weight, self.n_threads)

    def compute(
        self, function: Callable[Concatenate["EncodedShard", P], R], *args: P.args, **kwargs: P.kwargs
    ) -> R | None:
        """Compute a method of this shard, one at a time; return None if there are no rows."""
        if self.y.size == 0:
            return None
        with self._lock:
            return function(self, *args, **kwargs)

    @property
    def table(self) -> LocalTable:
        """The rows as a local table."""
        if self._table is None:
            plan = self.plan
            self._table = encoded_table(
                plan.features,
                self.codes,
                self.y,
                weights_or_none(self.weight),
                loss=plan.loss,
                ramps=plan.ramps,
                units=plan.units,
                raw_values=self.raw_values.__getitem__ if self.raw_values else None,
                n_threads=self.n_threads,
            )
        return self._table

    def count_rows(self) -> ShardCounts:
        """Return the number of rows, and the number and scaled weight of those for which each column is 1."""
        counts = self.table.design.counts
        weights = counts
        if self.table.weight is not None:
            weights = self.table.core.column_counts(np.arange(len(self.codes)), self.table.weight)
        return ShardCounts(self.y.size, counts, weights)

    def describe_columns(self) -> ColumnSummaries:
        """Return the information about the columns, for the rows of this shard."""
        return ColumnSummaries.of(self.table.rows.columns)

    def evaluate(self, points: Sequence[PlainPoint]) -> tuple[FloatArray]:
        """Return the loss at each point."""
        return (self.table.rows.evaluate([_core.Point(*point) for point in points]),)

    def newton(self, point: PlainPoint, support: IntArray, low_precision: bool) -> tuple[Any, ...]:  # noqa: FBT001
        """Return the loss at a point, and its Hessian and gradient with respect to some columns."""
        return self.table.rows.newton(_core.Point(*point), support, low_precision)

    def scan(self, name: str, point: PlainPoint, columns: IntArray) -> tuple[Any, ...]:
        """Return the sums of a scan. Its token, which a rescan needs, stays on this worker under the given name."""
        token, *sums = self.table.rows.scan(_core.Point(*point), columns)
        while len(self._tokens) >= MAX_CACHED_SCANS:
            self._tokens.pop(next(iter(self._tokens)))
        self._tokens[name] = token
        return tuple(sums)

    def rescan(
        self, scan: tuple[str, PlainPoint], point: PlainPoint, entered: IntArray, columns: IntArray
    ) -> tuple[Any, ...]:
        """Return the sums of a rescan. If the scan before it ran on another worker, that scan is repeated here."""
        name, scanned_point = scan
        if name not in self._tokens:
            self.scan(name, scanned_point, np.zeros(1, dtype=np.int64))
        return self.table.rows.rescan(self._tokens[name], _core.Point(*point), entered, columns)

    def groups(self, point: PlainPoint, columns: IntArray) -> tuple[Any, ...]:
        """Return sums of gradient, curvature and loss over the rows where each column is 1, and over all rows."""
        return self.table.rows.groups(_core.Point(*point), columns)

    def count_events(self, columns: IntArray) -> tuple[IntArray]:
        """Return the number of positive-class rows for which each of these columns is 1."""
        return (self.table.count_events(columns),)

    def score_range(self, point: PlainPoint) -> tuple[float, float]:
        """Return the lowest and the highest score."""
        scores = self.table.row_scores(_core.Point(*point))
        return float(scores.min()), float(scores.max())

    def score_counts(self, point: PlainPoint, score_range: tuple[float, float]) -> tuple[Counts]:
        """Count the scores in the buckets of a range."""
        return (histogram_of(self.table.row_scores(_core.Point(*point)), score_range).counts,)

    def describe_raw_columns(self, columns: IntArray) -> ColumnSummaries:
        """Return the information about some columns with ramps at raw values."""
        return ColumnSummaries.of(self._raw(columns).columns)

    def evaluate_raw(self, columns: IntArray, points: Sequence[PlainPoint]) -> tuple[FloatArray]:
        """Return the loss at each point over some columns with ramps at raw values."""
        return (self._raw(columns).evaluate([_core.Point(*point) for point in points]),)

    def newton_raw(
        self,
        columns: IntArray,
        point: PlainPoint,
        support: IntArray,
        low_precision: bool,  # noqa: FBT001
    ) -> tuple[Any, ...]:
        """Return the loss, Hessian and gradient for some columns with ramps at raw values."""
        return self._raw(columns).newton(_core.Point(*point), support, low_precision)

    def _raw(self, columns: IntArray) -> _core.RawRows:
        if self._raw_rows is None or not np.array_equal(self._raw_rows[0], columns):
            self._raw_rows = columns, self.table.raw_value_rows(columns)
        return self._raw_rows[1]


def _threads_of_worker() -> int:
    from distributed import get_worker

    try:
        return int(get_worker().state.nthreads)
    except ValueError:
        # This is the process of the client.
        return 1
