"""Tables on a cluster: binned by counts that workers send, and posed to the same search as tables in memory."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._design.binning import Codes, Feature, Learner, ValueCounts
from sparsegam._design.constraints import Constraints
from sparsegam._design.encoding import learn_counted
from sparsegam._design.ramps import Ramps, may_have_ramps, ramps_of, shapes_of
from sparsegam._design.scaling import Units, power_of_two
from sparsegam._design.threshold import ThresholdDesign
from sparsegam._design.training import Histogram, Training
from sparsegam._search.options import SearchOptions
from sparsegam._search.tables import OwnValues, TableProblem, Tables, Totals
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

    def keep(self, rows: NDArray[np.intp]) -> "RemoteTable":
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


class SentDesign(ThresholdDesign):
    """A design whose rows are elsewhere, so that it can be sent there: it knows its counts, and scores other rows."""

    def __init__(self, learned: Learned, about: Sequence[dict[str, Any]], mean: float, rules: Constraints) -> None:
        self._given = [added(part[name] for part in about) for name in ("counts", "shares")]
        self._given[1] = self._given[1] / mean
        self._n_rows = int(sum(part["rows"] for part in about))
        shapes = shapes_of(rules.shapes, [feature.name for feature in learned.features])
        two = np.array([0.0, 1.0])  # weights that differ: the shares are asked for
        super().__init__(learned.features, (), two, missing=rules.missing, ramps=learned.ramps, shapes=shapes)

    def _in_core(self, codes: Sequence[Codes]) -> Any:
        """Return the little that is asked of a design without codes."""
        return SimpleNamespace(n_rows=self._n_rows)

    def sums(self, weight: FloatArray | None = None) -> FloatArray:
        """Return the counts, or the shares of the weight, that the workers sent."""
        out: FloatArray = self._given[0 if weight is None else 1]
        return out

    def training(self, point: _core.Point, own: Any = None) -> Training | None:  # type: ignore[override]
        """Return nothing: what a model remembers of its rows does not matter where it only scores others."""
        return None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "rows"}


class RemoteDesign(SentDesign):
    """A design whose rows are asked."""

    def __init__(
        self, learned: Learned, about: Sequence[dict[str, Any]], mean: float, rules: Constraints, rows: RemoteRows
    ) -> None:
        super().__init__(learned, about, mean, rules)
        self.rows = rows

    def sent(self) -> SentDesign:
        """Return what can be sent to the workers."""
        out = SentDesign.__new__(SentDesign)
        vars(out).update(self.__getstate__())
        return out

    def training(self, point: _core.Point, own: Any = None) -> Training:
        """Count the rows of a search by what one of its models sees of them."""
        return ThresholdDesign.training(self, point)

    def histogram(self, point: _core.Point, own: Any = None) -> Histogram:
        """Count the scores of the rows: first their bounds, then what lies between."""
        cluster, posed = self.rows.cluster, self.rows.posed
        lows, highs = zip(*cluster.ask_posed(posed, "score_bounds", plain(point)), strict=True)
        (counts,) = self.rows.ask("score_counts", plain(point), (min(lows), max(highs)))
        return Histogram(min(lows), max(highs), counts)

    def held_by(self, rows: Any) -> tuple[FloatArray, float]:
        """Return for how many rows of the second class each column is 1, and how many they are."""
        held, total = self.rows.ask("held_by_upper")
        return held, total

    def count(self, rows: Any) -> int:
        """Return how many rows are of the second class."""
        return int(self.rows.ask("among_upper", np.zeros(0, dtype=np.int64))[1])

    def counts_among(self, columns: NDArray[np.int64], rows: Any) -> NDArray[np.int64]:
        """Return for how many rows of the second class each of some columns is 1."""
        return self.rows.ask("among_upper", columns)[0]  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class RemoteValues(OwnValues):
    """Rows by the own values that workers have of them."""

    def rows_of(self, design: Any, columns: NDArray[np.int64]) -> Any:
        """Return the rows of some columns, by their own values."""
        return RemoteOwnRows(design.rows, columns)


@dataclass(frozen=True)
class RemoteTables(Tables):
    """Tables on a cluster, which are binned and posed without leaving it."""

    def pose(self, data: Any, y: Any, weight: Any, options: SearchOptions) -> TableProblem:
        """Learn bins by what the workers count, let them bin their rows, and pose the problem that they will answer."""
        if self.interactions.is_on:
            msg = (
                f"products are searched on tables in memory, not on a cluster, got "
                f"interactions={self.interactions.interactions!r}: use interactions=0, or fit a sample of the rows."
            )
            raise ValueError(msg)
        totals = data.ask(Shard.totals)
        _check_rows(totals, classifies=data.upper is not None)
        units = _units(data, totals, centred=not LOSSES[options.loss].is_classifier)
        low, high = (pick(part[name] for part in totals) for pick, name in ((min, "low"), (max, "high")))
        total, n_rows = float(sum(part["weight"] for part in totals)), sum(part["rows"] for part in totals)
        learned = self._learned(data, low, high)
        plan = Plan(learned.features, learned.bins, learned.ramps, units, options.loss)
        posed = data.cluster.pose(data.selections(), plan)
        about = data.cluster.ask_posed(posed, "about", low < high)
        rows = RemoteRows(data.cluster, posed, options.loss, about)
        mean = total / n_rows / units.weight if low < high else 1.0
        upper = None if data.upper is None else "upper"
        design = RemoteDesign(learned, about, mean, self.rules, rows)
        problem = self.problem(design, rows, options, units, Totals(total, total / n_rows, upper))
        return problem if design.is_exact() else replace(problem, own=RemoteValues(None, design.bounds(self.rules)))

    def _learned(self, data: RemoteTable, low: float, high: float) -> Learned:
        """Learn bins, and ramps over them, from what each code of each column counts for."""
        learner, out = Learner(data.labels, self.binning, np.array([low, high])), Learned([], [], [])
        counts = data.ask(Shard.count_codes, learner.weight is not None)
        shapes = shapes_of(self.rules.shapes, data.labels)
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
    """Return units in which target and weights are of ordinary size, as `in_units` does."""
    scale = power_of_two(max(part["high"] for part in totals), base=2)
    if not centred:
        return Units(scale, 1.0, 0.0)
    first = next(part["first"] for part in totals if part["first"] is not None)
    offset = first + sum(data.ask(Shard.centre, first)) / sum(part["weight"] for part in totals)
    return Units(scale, power_of_two(max(data.ask(Shard.largest, offset))), offset)
