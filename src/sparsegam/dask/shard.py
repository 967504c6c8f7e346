"""What a worker holds and answers: its share of the rows as codes, and the sums over them that a search asks for.

All of it can be made again from the parts, so that nothing is lost with a worker. What only saves time, the compiled
rows and the curvature that scans hold, is not moved when a shard is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._backends.local import LocalTable, encoded_table
from sparsegam._data.sketches import CodedColumn, Codes, Coding
from sparsegam._data.table import Table
from sparsegam._design.binning import Feature
from sparsegam._design.ramps import Ramps
from sparsegam._design.scaling import Units
from sparsegam._design.training import histogram_of
from sparsegam.arrays import FloatArray
from sparsegam.dask.parts import CodedPart

MOST_TOKENS = 4  # scans whose curvature is held; a search has one or two at a time

AnyRows = _core.LocalRows | _core.RawRows
PlainPoint = tuple[float, NDArray[np.int64], FloatArray]
"""A point as it travels: intercept, columns, coefficients."""


@dataclass(frozen=True)
class Selection:
    """Some of the rows, and what they count as.

    Attributes
    ----------
    rows : ndarray or None
        A mask over the rows of the shard, packed into bits; None for all of them.
    upper : int or None
        The class that counts as 1, all others as -1; None for a regression.
    factors : ndarray or None
        Weights of the classes.
    """

    rows: NDArray[np.uint8] | None = None
    upper: int | None = None
    factors: FloatArray | None = None


@dataclass(frozen=True)
class Shard:
    """A share of the rows: codes, labels and weights."""

    codings: Sequence[Coding]
    codes: tuple[Codes, ...]
    y: NDArray[Any]
    weight: FloatArray

    @classmethod
    def of(cls, codings: Sequence[Coding], parts: Sequence[CodedPart], ranges: Sequence[tuple[int, int]]) -> "Shard":
        """Put together some rows of several parts."""
        cut = [(part, slice(*ends)) for part, ends in zip(parts, ranges, strict=True)]
        codes = tuple(np.concatenate([part.codes[j][rows] for part, rows in cut]) for j in range(len(codings)))
        y, weight = (np.concatenate([getattr(part, name)[rows] for part, rows in cut]) for name in ("y", "weight"))
        return cls(codings, codes, y, weight)

    def kept(self, selection: Selection) -> NDArray[np.intp]:
        """Return the rows of a selection that weigh anything."""
        counts = self.weight > 0
        if selection.rows is not None:
            counts &= np.unpackbits(selection.rows, count=self.y.size).astype(bool)
        return np.flatnonzero(counts)

    def target(self, selection: Selection) -> tuple[FloatArray, FloatArray]:
        """Return labels (-1 and 1, or responses) and weights of a selection."""
        rows = self.kept(selection)
        y, weight = self.y[rows], self.weight[rows]
        if selection.factors is not None:
            weight = weight * selection.factors[y]
        return y.astype(np.float64) if selection.upper is None else np.where(y == selection.upper, 1.0, -1.0), weight

    def totals(self, selection: Selection) -> dict[str, Any]:
        """Return what the rows of a selection weigh, how many they are, and their first response."""
        y, weight = self.target(selection)
        by_class = np.bincount((y > 0).astype(np.intp), minlength=2)
        return {
            "weight": float(weight.sum()),
            "low": float(weight.min(initial=np.inf)),
            "high": float(weight.max(initial=0.0)),
            "rows": y.size,
            "by_class": by_class,
            "first": float(y[0]) if y.size else None,
        }

    def class_weights(self, n_classes: int) -> FloatArray:
        """Return what the rows of each class weigh."""
        return np.bincount(self.y, self.weight, minlength=n_classes).astype(np.float64)

    def centre(self, selection: Selection, first: float) -> float:
        """Return the weighted sum of the responses, less the first of all."""
        y, weight = self.target(selection)
        return float(weight @ (y - first))

    def largest(self, selection: Selection, offset: float) -> float:
        """Return the largest response, less an offset."""
        y, _ = self.target(selection)
        return float(np.abs(y - offset).max(initial=0.0))

    def count_codes(self, selection: Selection, varied: bool) -> list[tuple[FloatArray, FloatArray | None]]:  # noqa: FBT001
        """Count the rows of each code of each column, and sum their weights where these differ."""
        rows, (_, weight) = self.kept(selection), self.target(selection)
        everything = rows.size == self.y.size
        out: list[tuple[FloatArray, FloatArray | None]] = []
        for coding, codes in zip(self.codings, self.codes, strict=True):
            mine, n = codes if everything else codes[rows], coding.numbers.size
            out.append((_core.bin_counts(mine, n), _core.bin_counts(mine, n, weight) if varied else None))
        return out

    def first_rows(self, n: int) -> Table:
        """Return the first rows as a table."""
        columns = (CodedColumn(coding, codes[:n]) for coding, codes in zip(self.codings, self.codes, strict=True))
        names = tuple(coding.name for coding in self.codings)
        return Table(tuple(columns), min(n, self.y.size), len(names), names=names)

    def labels(self) -> NDArray[Any]:
        """Return the labels of all rows."""
        return self.y

    def weights(self) -> FloatArray:
        """Return the weights of all rows."""
        return self.weight

    def table(self, selection: Selection) -> Table:
        """Return the rows of a selection as a table."""
        columns = (CodedColumn(coding, codes) for coding, codes in zip(self.codings, self.codes, strict=True))
        names = tuple(coding.name for coding in self.codings)
        return Table(tuple(columns), self.y.size, len(names), names=names).take(self.kept(selection))


@dataclass(frozen=True)
class Plan:
    """How codes become bins, and in which units the core sees the rows."""

    features: Sequence[Feature]
    bins: Sequence[Codes]  # of each column, by code
    ramps: Sequence[Ramps | None]
    units: Units
    loss: str


@dataclass
class Posed:
    """The rows of a selection, binned: answers what a search asks."""

    plan: Plan
    codes: list[Codes]
    raw_values: dict[int, tuple[FloatArray, Codes]]
    y: FloatArray
    weight: FloatArray
    n_threads: int = 1
    _own: Any = field(default=None, repr=False)
    _table: LocalTable | None = field(default=None, repr=False)
    _tokens: dict[str, Any] = field(default_factory=dict, repr=False)
    _lock: Any = field(default_factory=Lock, repr=False)

    @classmethod
    def of(cls, shard: Shard, selection: Selection, plan: Plan) -> "Posed":
        """Bin the rows of a selection."""
        rows, (y, weight) = shard.kept(selection), shard.target(selection)
        everything = rows.size == shard.y.size
        codes, own = [], {}
        for j, (bins, mine) in enumerate(zip(plan.bins, shard.codes, strict=True)):
            mine = mine if everything else mine[rows]
            ramps = plan.ramps[j]
            if ramps is not None and not ramps.exact:
                own[j] = shard.codings[j].numbers, mine
            same = bins.dtype == mine.dtype and np.array_equal(bins, np.arange(bins.size))
            codes.append(mine if same else bins[mine])
        y = (y - plan.units.offset) / plan.units.target
        return cls(plan, codes, own, y, weight / plan.units.weight, n_threads=_threads())

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_own": None, "_table": None, "_tokens": {}, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state | {"_lock": Lock()})

    def answer(self, question: str, *given: Any) -> Any:
        """Answer a question, one at a time; None where there are no rows here."""
        if self.n_rows == 0:
            return None
        with self._lock:
            return getattr(self, question)(*given)

    @property
    def table(self) -> LocalTable:
        """The rows in the core."""
        if self._table is None:
            self._table = encoded_table(
                self.plan.features,
                self.codes,
                self.y,
                self.weight,
                loss=self.plan.loss,
                ramps=self.plan.ramps,
                raw_values=self.raw_values.__getitem__,
                n_threads=self.n_threads,
            )
        return self._table

    @property
    def rows(self) -> _core.ThresholdRows:
        """The row oracle of these rows."""
        return self.table.rows

    def about(self, varied: bool) -> dict[str, Any]:  # noqa: FBT001  (questions travel by position)
        """Return what the columns are like for the rows here."""
        counts = {
            "rows": self.n_rows,
            "counts": self.table.design.counts,
            "shares": self._weights() if varied else self.table.design.counts,
        }
        return counts | _about(self.rows)

    def _weights(self) -> FloatArray:
        """Return the weight of the rows for which each column is 1."""
        return self.table.core.column_counts(np.arange(len(self.plan.features)), self.weight)

    def own(self, columns: NDArray[np.int64], question: str, *given: Any) -> Any:
        """Answer "about", "evaluate" or "newton" on some columns, by the rows' own values."""
        if self._own is None or not np.array_equal(self._own[0], columns):
            self._own = columns, self.table.raw_value_rows(columns)
        answers: dict[str, Callable[..., Any]] = {"about": _about, "evaluate": _evaluate, "newton": _newton}
        return answers[question](self._own[1], *given)

    def evaluate(self, points: Sequence[PlainPoint]) -> tuple[Any, ...]:
        """Answer as LocalRows do; so do the next four."""
        return _evaluate(self.rows, points)

    def newton(self, point: PlainPoint, support: NDArray[np.int64], rough: bool) -> tuple[Any, ...]:  # noqa: FBT001
        """Loss, curvature and gradient on some columns."""
        return _newton(self.rows, point, support, rough)

    def scan(self, name: str, point: PlainPoint, among: NDArray[np.int64]) -> tuple[Any, ...]:
        """Sums of all columns; the curvature is held under a name."""
        token, *sums = self.rows.scan(_core.Point(*point), among)
        while len(self._tokens) >= MOST_TOKENS:
            self._tokens.pop(next(iter(self._tokens)))
        self._tokens[name] = token
        return tuple(sums)

    def rescan(
        self, held: tuple[str, PlainPoint], point: PlainPoint, entered: NDArray[np.int64], among: NDArray[np.int64]
    ) -> tuple[Any, ...]:
        """Sums with the curvature of an earlier scan; where it is not here, another worker had made it."""
        if held[0] not in self._tokens:
            self.scan(*held, np.zeros(1, dtype=np.int64))
        return self.rows.rescan(self._tokens[held[0]], _core.Point(*point), entered, among)

    def groups(self, point: PlainPoint, columns: NDArray[np.int64]) -> tuple[Any, ...]:
        """Sums over the rows where each column is 1."""
        return self.rows.groups(_core.Point(*point), columns)

    def count_events(self, columns: NDArray[np.int64]) -> tuple[Any, ...]:
        """Count the rows of the positive class for which some columns are 1."""
        return (self.table.count_events(columns),)

    def score_bounds(self, point: PlainPoint) -> tuple[float, float]:
        """Return the lowest and the highest score."""
        scores = self.table.row_scores(_core.Point(*point))
        return float(scores.min()), float(scores.max())

    def score_counts(self, point: PlainPoint, bounds: tuple[float, float]) -> tuple[Any, ...]:
        """Count the scores in buckets between two bounds."""
        return (histogram_of(self.table.row_scores(_core.Point(*point)), bounds).counts,)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.y.size


def _about(rows: AnyRows) -> dict[str, Any]:
    columns = rows.columns
    return {
        "mean": columns.mean,
        "spread": columns.centred_sq_norm,
        "weight": columns.total_weight,
        "kind": columns.kind,
        "nested": columns.nested,
        "shortlist": columns.shortlist,
        "nested_ramps": columns.nested_ramps,
        "knot": columns.knot,
    }


def _evaluate(rows: AnyRows, points: Sequence[PlainPoint]) -> tuple[Any, ...]:
    return (rows.evaluate([_core.Point(*point) for point in points]),)


def _newton(rows: AnyRows, point: PlainPoint, support: NDArray[np.int64], rough: bool) -> tuple[Any, ...]:  # noqa: FBT001
    return rows.newton(_core.Point(*point), support, rough)


def _threads() -> int:
    """Return the threads of the worker that this runs on."""
    from distributed import get_worker

    try:
        return int(get_worker().state.nthreads)
    except ValueError:  # at the client
        return 1
