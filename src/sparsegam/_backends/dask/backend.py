"""The Dask backend: bins learned from counts that the workers send, and training data encoded on the workers."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import count
from operator import add
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._backends.dask.cluster import Cluster
from sparsegam._backends.dask.shards import (
    ColumnSummaries,
    EncodedShard,
    EncodingPlan,
    IntArray,
    PlainPoint,
    Selection,
    Shard,
    TargetSummary,
)
from sparsegam._backends.local import score_table
from sparsegam._backends.protocol import Cells, LabelledData
from sparsegam._data.matrix import NumericMatrix
from sparsegam._data.table import Table
from sparsegam._design.binning import Binning, Codes, Feature, Learner, ValueCounts
from sparsegam._design.encoding import learn_counted
from sparsegam._design.histogram import Histogram
from sparsegam._design.interactions import Interaction
from sparsegam._design.ramps import Ramps, may_have_ramps, ramps_of
from sparsegam._design.scaling import Units, power_of_two
from sparsegam._design.threshold import ThresholdDesign
from sparsegam.arrays import FloatArray
from sparsegam.losses import LOSSES

_scan_numbers = count()


@dataclass(frozen=True)
class ClusterTable:
    """Some rows of the table on a cluster, with their target.

    Attributes
    ----------
    cluster : Cluster
        The cluster.
    rows : ndarray or None
        Positions of the rows; None for all rows.
    positive : int or None
        Position of the class with label 1, all others have label -1; None for a regression.
    class_weights : ndarray or None
        Factor on the weights of each class.
    """

    cluster: Cluster
    rows: NDArray[np.intp] | None = None
    positive: int | None = None
    class_weights: FloatArray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows, including those of weight zero."""
        return self.cluster.n_rows if self.rows is None else self.rows.size

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the feature columns."""
        return self.cluster.names

    def take(self, rows: NDArray[np.intp]) -> "ClusterTable":
        """Return the data with these rows only."""
        return replace(self, rows=rows)

    def selections(self) -> list[Selection]:
        """Return the selected rows of each shard."""
        masks: Sequence[Any] = [None] * len(self.cluster.shards)
        if self.rows is not None:
            masks = self.cluster.masks_of_shards(self.rows)
        return [Selection(mask, self.positive, self.class_weights) for mask in masks]

    def map_shards(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Compute a function of each shard, its selected rows and further arguments."""
        return self.cluster.map_selections(function, self.selections(), *arguments)


class DaskRows(_core.Rows):
    """Row oracle over the rows on the workers of a cluster, whose results are added up.

    Parameters
    ----------
    cluster : Cluster
        The cluster.
    encoded : sequence of futures of EncodedShard
        The rows.
    loss : str
        The loss.
    """

    def __init__(self, cluster: Cluster, encoded: Sequence[Any], loss: str) -> None:
        super().__init__()
        self.cluster, self.encoded, self.loss = cluster, encoded, loss
        self.columns = _merge_columns(cluster.map_encoded(encoded, EncodedShard.describe_columns))

    def add_up(self, function: Callable[..., Any], *arguments: Any) -> tuple[Any, ...]:
        """Compute a function of each encoded shard and add the results, in the order of the shards."""
        results = self.cluster.map_encoded(self.encoded, function, *arguments)
        return tuple(_sum(parts) for parts in zip(*results, strict=True))

    def evaluate(self, points: Sequence[_core.Point]) -> FloatArray:
        """Return the loss at each point."""
        (losses,) = self.add_up(EncodedShard.evaluate, [plain_point(point) for point in points])
        out: FloatArray = losses
        return out

    def newton(
        self,
        point: _core.Point,
        support: IntArray,
        low_precision: bool = False,  # noqa: FBT001, FBT002
    ) -> tuple[Any, ...]:
        """Return the loss, Hessian and gradient with respect to some columns."""
        return self.add_up(EncodedShard.newton, plain_point(point), support, low_precision)

    def scan(self, point: _core.Point, columns: IntArray) -> tuple[Any, ...]:
        """Return the sums of columns and their products with the support of the point.

        The token is a name, under which the workers store the curvature of the rows, and the point, from which they can
        compute it again.
        """
        token = f"scan-{next(_scan_numbers)}", plain_point(point)
        return token, *self.add_up(EncodedShard.scan, *token, columns)

    def rescan(
        self, token: tuple[str, PlainPoint], point: _core.Point, entered: IntArray, columns: IntArray
    ) -> tuple[Any, ...]:
        """Return sums at this point; products with the columns that entered use the cached curvature of a scan."""
        return self.add_up(EncodedShard.rescan, token, plain_point(point), entered, columns)

    def groups(self, point: _core.Point, columns: IntArray) -> tuple[Any, ...]:
        """Return sums of gradient, curvature and loss over the rows where each column is 1, and over all rows."""
        return self.add_up(EncodedShard.groups, plain_point(point), columns)


class DaskRawRows(_core.Rows):
    """Row oracle over some columns, with ramps at raw values; only `evaluate` and `newton` are implemented.

    Parameters
    ----------
    rows : DaskRows
        The rows.
    columns : ndarray of int
        The columns.
    """

    def __init__(self, rows: DaskRows, columns: IntArray) -> None:
        super().__init__()
        self.loss, self._rows, self._columns = rows.loss, rows, columns
        self.columns = _merge_columns(
            rows.cluster.map_encoded(rows.encoded, EncodedShard.describe_raw_columns, columns)
        )

    def evaluate(self, points: Sequence[_core.Point]) -> FloatArray:
        """Return the loss at each point."""
        plain = [plain_point(point) for point in points]
        (losses,) = self._rows.add_up(EncodedShard.evaluate_raw, self._columns, plain)
        out: FloatArray = losses
        return out

    def newton(
        self,
        point: _core.Point,
        support: IntArray,
        low_precision: bool = False,  # noqa: FBT001, FBT002
    ) -> tuple[Any, ...]:
        """Return the loss, Hessian and gradient with respect to some columns."""
        return self._rows.add_up(EncodedShard.newton_raw, self._columns, plain_point(point), support, low_precision)


class DaskBackend:
    """The backend for data on a Dask cluster."""

    def encode(
        self, data: ClusterTable, binning: Binning, shapes: Sequence[str], loss: str, *, interactions: bool
    ) -> "DaskTable":
        """Learn bins from counts of codes, and encode the rows on the workers; see `Backend.encode`."""
        if interactions:
            _raise_interactions_not_supported()
        targets: list[TargetSummary] = data.map_shards(Shard.summarise_target)
        _check_target(targets, is_classifier=data.positive is not None)
        units = _units(data, targets, centred=not LOSSES[loss].is_classifier)
        is_weighted = min(each.min_weight for each in targets) < max(each.max_weight for each in targets)
        features, bin_of_code, ramps = _learn(data, binning, shapes, is_weighted=is_weighted)
        plan = EncodingPlan(features, bin_of_code, ramps, units, loss)
        encoded = data.cluster.encode(data.selections(), plan)
        counts = data.cluster.map_encoded(encoded, EncodedShard.count_rows)
        n_rows, total_weight = sum(each.n_rows for each in targets), sum(each.total_weight for each in targets)
        by_column = _sum(each.counts for each in counts)
        weights = _sum(each.weights for each in counts) * (units.weight * n_rows / total_weight)
        design = ThresholdDesign(
            features=tuple(features),
            n_rows=n_rows,
            counts=by_column,
            weights=weights if is_weighted else by_column,
            ramps=tuple(ramps),
            shapes=tuple(shapes),
        )
        n_events = None if data.positive is None else int(sum(each.n_by_sign[1] for each in targets))
        return DaskTable(design, DaskRows(data.cluster, encoded, loss), units, total_weight, n_events)

    def matrix_rows(self, data: LabelledData[NumericMatrix], loss: str) -> NoReturn:
        """Raise ValueError: linear models are not supported on a cluster."""
        msg = "linear models are not supported on a Dask cluster: fit a sample of the rows in memory."
        raise ValueError(msg)


@dataclass(frozen=True, eq=False)
class DaskTable:
    """Training data on the workers of a cluster; see `EncodedTable`."""

    design: ThresholdDesign
    rows: DaskRows
    units: Units
    total_weight: float
    n_events: int | None

    def with_interactions(self, interactions: Sequence[Interaction]) -> NoReturn:
        """Raise ValueError: interactions are not supported on a cluster."""
        _raise_interactions_not_supported()

    def count_events(self, columns: IntArray) -> IntArray:
        """Count positive-class rows by column; see `EncodedTable.count_events`."""
        (events,) = self.rows.add_up(EncodedShard.count_events, columns)
        out: IntArray = events
        return out

    def sum_cells(self, first: Cells, second: Cells, *, weighted: bool) -> NoReturn:
        """Raise ValueError: interactions are not supported on a cluster."""
        _raise_interactions_not_supported()

    def score_histogram(self, point: _core.Point) -> Histogram:
        """Count the scores of the training rows; see `EncodedTable.score_histogram`."""
        plain = plain_point(point)
        ranges = self.rows.cluster.map_encoded(self.rows.encoded, EncodedShard.score_range, plain)
        low, high = min(low for low, _ in ranges), max(high for _, high in ranges)
        (counts,) = self.rows.add_up(EncodedShard.score_counts, plain, (low, high))
        return Histogram(low, high, counts)

    def raw_value_rows(self, columns: IntArray) -> DaskRawRows:
        """Return a row oracle on raw values; see `EncodedTable.raw_value_rows`."""
        return DaskRawRows(self.rows, columns)

    def score(self, data: Table, points: Sequence[_core.Point]) -> FloatArray | None:
        """Score other rows, which are in memory; see `EncodedTable.score`."""
        scores: FloatArray | None = score_table(self.design, data, points)
        return scores


def _raise_interactions_not_supported() -> NoReturn:
    msg = "interactions are not supported on a Dask cluster: use interactions=0, or fit a sample of the rows."
    raise ValueError(msg)


def plain_point(point: _core.Point) -> PlainPoint:
    """Return a point as a tuple that can be pickled."""
    return float(point.intercept), point.columns, point.coef


def _sum(values: Iterable[Any]) -> Any:
    """Add values from the first to the last."""
    return reduce(add, values)


def _merge_columns(shards: Sequence[ColumnSummaries]) -> _core.ColumnInfo:
    """Merge the information about columns: the sum of squares around the total mean includes that between shards."""
    first, total_weight = shards[0], float(sum(each.total_weight for each in shards))
    mean = _sum(each.total_weight * each.mean for each in shards) / total_weight
    centred = _sum(each.centred_sq_norm + each.total_weight * (each.mean - mean) ** 2 for each in shards)
    merged = first._replace(mean=mean, centred_sq_norm=centred, total_weight=total_weight)
    return _core.ColumnInfo(**merged._asdict())


def _check_target(targets: Sequence[TargetSummary], *, is_classifier: bool) -> None:
    """Raise ValueError if there are no rows of positive weight, or only one class."""
    n_by_sign = _sum(each.n_by_sign for each in targets)
    if n_by_sign.sum() == 0:
        msg = "all rows, or all training rows of a fold, have weight zero: use other weights, or fewer folds."
        raise ValueError(msg)
    if is_classifier and n_by_sign.min() == 0:
        msg = (
            "y contains a single class in all rows, or in the training rows of a fold, but two are required: check y, "
            "or use fewer folds."
        )
        raise ValueError(msg)


def _units(data: ClusterTable, targets: Sequence[TargetSummary], *, centred: bool) -> Units:
    """Return units in which target and weights are of moderate size; see `scale_target`."""
    weight_unit = power_of_two(max(each.max_weight for each in targets), base=2)
    if not centred:
        return Units(weight_unit, 1.0, 0.0)
    first = next(each.first_response for each in targets if each.first_response is not None)
    total_weight = sum(each.total_weight for each in targets)
    mean = first + sum(data.map_shards(Shard.weighted_sum, first)) / total_weight
    return Units(weight_unit, power_of_two(max(data.map_shards(Shard.max_deviation, mean))), mean)


def _learn(
    data: ClusterTable, binning: Binning, shapes: Sequence[str], *, is_weighted: bool
) -> tuple[list[Feature], list[Codes], list[Ramps | None]]:
    """Learn the bins of each feature, the bin of each of its codes, and its ramps, from counts of the codes."""
    learner = Learner(data.names, binning)
    counts = data.map_shards(Shard.count_codes, is_weighted)
    features, bin_of_code, ramps = list[Feature](), list[Codes](), list[Ramps | None]()
    for j, coding in enumerate(data.cluster.codings):
        n_rows, weight = (_sum(shard[j][i] for shard in counts) for i in range(2))
        feature, used, bins = learn_counted(learner, coding, j, ValueCounts(weight, n_rows))
        table = np.zeros(coding.numbers.size, dtype=bins.dtype)
        table[used] = bins
        features.append(feature)
        bin_of_code.append(table)
        has_ramps = may_have_ramps(feature, shapes[j])
        ramps.append(ramps_of(feature, coding.numbers[used], bins, weight[used]) if has_ramps else None)
    return features, bin_of_code, ramps
