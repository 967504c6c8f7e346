"""Tables on a cluster: binned by counts that workers send, and posed to the same search as tables in memory."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._backends.local import score_table
from sparsegam._backends.protocol import Cells
from sparsegam._data.table import Table
from sparsegam._design.binning import Binning, Codes, Feature, Learner, ValueCounts
from sparsegam._design.encoding import learn_counted
from sparsegam._design.interactions import Interaction
from sparsegam._design.ramps import Ramps, may_have_ramps, ramps_of
from sparsegam._design.scaling import Units, power_of_two
from sparsegam._design.threshold import ThresholdDesign
from sparsegam._design.training import Histogram
from sparsegam._search.options import SearchOptions
from sparsegam._search.table_problem import TableProblem, build_table_problem
from sparsegam._search.tables import Tables
from sparsegam.arrays import FloatArray
from sparsegam.dask.cluster import Cluster
from sparsegam.dask.rows import RemoteOwnRows, RemoteRows, added, plain
from sparsegam.dask.shard import Plan, Selection, Shard
from sparsegam.losses import LOSSES


@dataclass(frozen=True)
class RemoteTable:
    """Some rows of the table on a cluster, and which class counts as 1.

    Attributes
    ----------
    cluster : Cluster
        Where the rows are.
    rows : ndarray or None
        Positions of the rows; None for all of them.
    upper : int or None
        Position of the class that counts as 1, against all others; None for a regression.
    factors : ndarray or None
        Weights of the classes.
    """

    cluster: Cluster
    rows: NDArray[np.intp] | None = None
    upper: int | None = None
    factors: FloatArray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.cluster.n_rows if self.rows is None else self.rows.size

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(coding.name for coding in self.cluster.codings)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.labels

    def take(self, rows: NDArray[np.intp]) -> "RemoteTable":
        """Return the same table with these rows only."""
        return replace(self, rows=rows)

    def selections(self) -> list[Selection]:
        """Return what each shard shall take."""
        masks: Sequence[Any] = [None] * len(self.cluster.shards)
        if self.rows is not None:
            masks = self.cluster.masks(self.rows)
        return [Selection(mask, self.upper, self.factors) for mask in masks]

    def ask(self, question: Any, *given: Any) -> list[Any]:
        """Ask all shards about these rows."""
        return self.cluster.ask_each(question, [(selection, *given) for selection in self.selections()])


@dataclass(frozen=True)
class Learned:
    """What is learned of all columns: their features, the bin of each of their codes, and ramps over the bins."""

    features: list[Feature]
    bins: list[Codes]
    ramps: list[Ramps | None]


@dataclass(frozen=True)
class RemoteTables(Tables):
    """Options of additive models that are fitted on a cluster."""

    def pose(self, data: Any, y: Any, weight: Any, options: SearchOptions) -> TableProblem:
        """Build the problem of a table on a cluster, which has its labels and weights."""
        return build_table_problem(DaskBackend(), data, self.binning, self.rules, self.interactions, options)


class DaskBackend:
    """The backend of a Dask cluster; see `Backend`."""

    def encode(
        self, data: RemoteTable, binning: Binning, shapes: Sequence[str], loss: str, *, interactions: bool
    ) -> "DaskTable":
        """Learn bins from counts of the workers, and let them encode their rows; see `Backend.encode`."""
        if interactions:
            msg = "interactions are not supported on a Dask cluster: use interactions=0, or fit a sample of the rows."
            raise ValueError(msg)
        totals = data.ask(Shard.totals)
        is_classifier = LOSSES[loss].is_classifier
        _check_rows(totals, classifies=is_classifier)
        units = _units(data, totals, centred=not is_classifier)
        low, high = min(part["low"] for part in totals), max(part["high"] for part in totals)
        total_weight, n_rows = float(sum(part["weight"] for part in totals)), sum(part["rows"] for part in totals)
        learned = _learn(data, Learner(data.labels, binning, np.array([low, high])), shapes)
        posed = data.cluster.pose(data.selections(), Plan(learned.features, learned.bins, learned.ramps, units, loss))
        about = data.cluster.ask_posed(posed, "about", low < high)
        mean_weight = total_weight / n_rows / units.weight if low < high else 1.0
        return DaskTable(
            design=ThresholdDesign(
                features=tuple(learned.features),
                n_rows=int(n_rows),
                counts=added(part["counts"] for part in about),
                weights=added(part["shares"] for part in about) / mean_weight,
                ramps=tuple(learned.ramps),
                shapes=tuple(shapes),
            ),
            rows=RemoteRows(data.cluster, posed, loss, about),
            units=units,
            total_weight=total_weight,
            n_events=int(sum(part["by_class"][1] for part in totals)) if is_classifier else None,
        )

    def matrix_rows(self, data: Any, loss: str) -> NoReturn:
        """Raise ValueError: linear models are not supported on a cluster."""
        msg = "linear models are not supported on a Dask cluster: fit them to data in memory."
        raise ValueError(msg)


@dataclass(frozen=True, eq=False)
class DaskTable:
    """An encoded table on a cluster; see `EncodedTable`."""

    design: ThresholdDesign
    rows: RemoteRows
    units: Units
    total_weight: float
    n_events: int | None

    def with_interactions(self, interactions: Sequence[Interaction]) -> NoReturn:
        """Raise ValueError: interactions are not supported on a cluster."""
        msg = "interactions are not supported on a Dask cluster: use interactions=0, or fit a sample of the rows."
        raise ValueError(msg)

    def sum_cells(self, first: Cells, second: Cells, *, weighted: bool) -> NoReturn:
        """Raise ValueError: interactions are not supported on a cluster."""
        self.with_interactions(())

    def count_events(self, columns: NDArray[np.int64]) -> NDArray[np.int64]:
        """Count positive-class rows by column; see `EncodedTable.count_events`."""
        counts: NDArray[np.int64] = self.rows.ask("count_events", columns)[0]
        return counts

    def score_histogram(self, point: _core.Point) -> Histogram:
        """Count the scores of the training rows, after their range was computed; see `EncodedTable.score_histogram`."""
        lows, highs = zip(*self.rows.cluster.ask_posed(self.rows.posed, "score_bounds", plain(point)), strict=True)
        (counts,) = self.rows.ask("score_counts", plain(point), (min(lows), max(highs)))
        return Histogram(min(lows), max(highs), counts)

    def raw_value_rows(self, columns: NDArray[np.int64]) -> RemoteOwnRows:
        """Return a row oracle on raw values; see `EncodedTable.raw_value_rows`."""
        return RemoteOwnRows(self.rows, columns)

    def score(self, data: Table, points: Sequence[_core.Point]) -> FloatArray | None:
        """Score a table in the memory of the client; see `EncodedTable.score`."""
        return score_table(self.design, data, points)


def _learn(data: RemoteTable, learner: Learner, shapes: Sequence[str]) -> Learned:
    """Learn bins and ramps from the counts of the codes of each column."""
    out = Learned([], [], [])
    counts = data.ask(Shard.count_codes, learner.weight is not None)
    for j, coding in enumerate(data.cluster.codings):
        rows = added(part[j][0] for part in counts)
        weight = rows if learner.weight is None else added(part[j][1] for part in counts)
        feature, seen, bins = learn_counted(learner, coding, j, ValueCounts(weight, rows))
        table = np.zeros(coding.numbers.size, dtype=bins.dtype)
        table[seen] = bins
        ramped = may_have_ramps(feature, shapes[j])
        out.features.append(feature)
        out.bins.append(table)
        out.ramps.append(ramps_of(feature, coding.numbers[seen], bins, weight[seen]) if ramped else None)
    return out


def _check_rows(totals: Sequence[dict[str, Any]], *, classifies: bool) -> None:
    by_class = sum(part["by_class"] for part in totals)
    if by_class.sum() == 0:
        msg = "no row has a positive weight, of all rows or of those of a fold: use other weights, or other folds."
        raise ValueError(msg)
    if classifies and by_class.min() == 0:
        msg = "all rows, or those that a fold is trained on, are of one class: give two, or use fewer folds."
        raise ValueError(msg)


def _units(data: RemoteTable, totals: Sequence[dict[str, Any]], *, centred: bool) -> Units:
    """Return units in which target and weights are of ordinary size, as `scale_target` does."""
    scale = power_of_two(max(part["high"] for part in totals), base=2)
    if not centred:
        return Units(scale, 1.0, 0.0)
    first = next(part["first"] for part in totals if part["first"] is not None)
    offset = first + sum(data.ask(Shard.centre, first)) / sum(part["weight"] for part in totals)
    return Units(scale, power_of_two(max(data.ask(Shard.largest, offset))), offset)
