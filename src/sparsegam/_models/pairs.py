"""Pair functions: what two features add to the score together, a step function of both."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import NUMBER, Scale, Value
from sparsegam._models.seen import Seen
from sparsegam._models.shapes import ShapeFunction
from sparsegam._models.terms import Condition, Term
from sparsegam.arrays import FloatArray

Holds = NDArray[np.bool_]


@dataclass(frozen=True)
class Source:
    """What a model knows of a feature, beside its terms."""

    special_values: tuple[Value, ...] = ()
    scale: Scale = NUMBER
    seen: Seen | None = None


@dataclass(frozen=True, eq=False)
class Axis:
    """The values of one feature of a pair, cut into cells by what the products of the pair ask of it.

    Attributes
    ----------
    name : str
        The feature.
    cell : ShapeFunction
        The cell of each value, as a number.
    labels : tuple of Condition or None
        What stands for each cell: `x <= edge` for the ordered ones but the last, `x > edge` for that, the value or
        `missing` for those that are asked for; None for all values of which nothing is asked, and for new ones.
    n_ordered : int
        How many cells are in order; they come first.
    """

    name: str
    cell: ShapeFunction
    labels: tuple[Condition | None, ...]
    n_ordered: int

    @property
    def n_cells(self) -> int:
        """Number of cells: the ordered ones, those asked for, one for all other values, one for new ones."""
        return len(self.labels)

    @property
    def rest(self) -> int:
        """The cell of values of which nothing is asked."""
        return self.n_cells - 2

    @property
    def new(self) -> int:
        """The cell of values that no row of the fit had, where these are not scored as if no condition held."""
        return self.n_cells - 1

    def cells_of(self, numbers: FloatArray) -> NDArray[np.intp]:
        """Return the cell of each value, given as a number on the scale."""
        return self.cell.at(numbers).astype(np.intp)

    def holds(self, condition: Condition) -> Holds:
        """Tell in which cells a condition of the pair holds."""
        out = np.zeros(self.n_cells, dtype=bool)
        if condition.kind in ("<=", ">"):
            edge = int(np.searchsorted(self.cell.edges, self.cell.scale.number(condition.edges[0])))
            out[: edge + 1] = condition.kind == "<="
            out[edge + 1 : self.n_ordered] = condition.kind == ">"
        else:
            asked = [_names(condition, label) for label in self.labels[self.n_ordered :]]
            out[self.n_ordered :] = asked
        return out


@dataclass(frozen=True, eq=False)
class PairFunction:
    """What two features add to the score together.

    Attributes
    ----------
    axes : pair of Axis
        The features, and their cells.
    values : ndarray of shape (cells of the first, cells of the second)
        What is added in each cell of both.
    shares : ndarray or None
        The share of the rows of the fit in each, by weight, where that is known.
    """

    axes: tuple[Axis, Axis]
    values: FloatArray
    shares: FloatArray | None = None

    @property
    def names(self) -> tuple[str, str]:
        """The two features."""
        return self.axes[0].name, self.axes[1].name

    def at(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Return what is added, given the values of both features as numbers on their scales."""
        out: FloatArray = self.values[self.axes[0].cells_of(first), self.axes[1].cells_of(second)]
        return out

    def holds(self, term: Term) -> Holds:
        """Tell in which cells a product of the pair holds."""
        first, second = (axis.holds(one.condition) for axis, one in zip(self.axes, term.clauses, strict=True))
        return np.logical_and.outer(first, second)

    def sums(self, first: FloatArray, second: FloatArray, weight: FloatArray) -> FloatArray:
        """Return the weight of the rows in each cell, given the values of both features as numbers on their scales."""
        cells = np.ravel_multi_index((self.axes[0].cells_of(first), self.axes[1].cells_of(second)), self.values.shape)
        return np.bincount(cells, weight, self.values.size).astype(np.float64).reshape(self.values.shape)

    def mean(self) -> float:
        """Return the mean over the rows of the fit; 0 where these are not known."""
        return 0.0 if self.shares is None else math.fsum((self.shares * self.values).ravel().tolist())

    def moved(self, by: float) -> "PairFunction":
        """Return the same function, higher or lower by a constant."""
        return replace(self, values=self.values + by)

    def with_new_at(self, contribution: float) -> "PairFunction":
        """Return the same function with one contribution wherever a value is new, whatever the other one is."""
        values = self.values.copy()
        values[self.axes[0].new, :] = contribution
        values[:, self.axes[1].new] = contribution
        return replace(self, values=values)


def pair_of(
    terms: Sequence[Term], sources: tuple[Source, Source], shares: FloatArray | None = None, *, new_apart: bool = True
) -> PairFunction:
    """Add up the products of one pair, in their order: sums of parts that are all monotone stay so to the bit.

    Parameters
    ----------
    terms : sequence of Term
        Products of the same two features.
    sources : pair of Source
        What is known of these.
    shares : ndarray, optional
        The share of the rows of the fit in each cell.
    new_apart : bool
        Whether values that no row of the fit had are in a cell of their own; else they are as good as others.

    Returns
    -------
    PairFunction
        Zero in the cells of new values.
    """
    first, second = (
        axis_of(terms[0].clauses[i].feature, [t.clauses[i].condition for t in terms], sources[i], new_apart=new_apart)
        for i in (0, 1)
    )
    found = PairFunction((first, second), np.zeros((first.n_cells, second.n_cells)), shares)
    for term in terms:
        found.values[found.holds(term)] += term.coef
    return found


def regrouped(old: PairFunction, new: PairFunction, shares: FloatArray) -> FloatArray:
    """Return the shares of the rows in the cells of a pair, given those in the cells that more products cut it into."""
    out = np.zeros(new.values.shape)
    rows, columns = (_cells_in(before, after) for before, after in zip(old.axes, new.axes, strict=True))
    np.add.at(out, np.ix_(rows, columns), shares)
    return out


def _cells_in(old: Axis, new: Axis) -> NDArray[np.intp]:
    """Return in which cell of an axis each cell of a finer one is."""
    out = np.empty(old.n_cells, dtype=np.intp)
    out[: old.n_ordered] = np.append(np.searchsorted(new.cell.edges, old.cell.edges), new.n_ordered - 1)[
        : old.n_ordered
    ]
    for i, label in enumerate(old.labels[old.n_ordered : old.rest], start=old.n_ordered):
        rest = int(new.cell.missing) if label is not None and label.kind == "missing" else new.rest
        named = (k for k in range(new.n_ordered, new.rest) if _names(new.labels[k], label))
        out[i] = next(named, rest)
    out[old.rest], out[old.new] = new.rest, new.new
    return out


def axis_of(name: str, conditions: Sequence[Condition], source: Source, *, new_apart: bool = True) -> Axis:
    """Cut the values of a feature into cells: between thresholds, and by each value that is asked for alone."""
    scale, seen = source.scale, source.seen
    asked = sorted({scale.number(value): value for c in conditions for value in c.edges}.items())
    labels: list[Condition | None] = [] if scale.kind == "category" else _ordered([value for _, value in asked])
    n_ordered = len(labels)
    alone = _alone(conditions)
    labels += alone
    rest, new = len(labels), len(labels) + 1 if new_apart and seen is not None else len(labels)
    place = {value: n_ordered + i for i, c in enumerate(alone) for value in _values(c)}
    missing = next((n_ordered + i for i, c in enumerate(alone) if c.kind == "missing"), None)
    if missing is None:
        missing = rest if seen is None or seen.missing else new
    edges = np.array([edge for edge, _ in asked], dtype=np.float64)
    numbers = np.arange(edges.size + 1, dtype=np.float64)
    category = scale.kind == "category"
    cell = ShapeFunction(
        edges=edges,
        values=numbers,
        slopes=np.zeros(numbers.size),
        starts=numbers,
        special={} if category else _special(source, place, rest, new),
        missing=float(missing),
        levels={value: float(at) for value, at in place.items() if isinstance(value, str | int | float) and category},
        scale=scale,
        other=float(rest),
        unseen=float(new),
        seen=seen,
    )
    return Axis(name, cell, (*labels, None, None), n_ordered)


def _ordered(edges: Sequence[Value]) -> list[Condition | None]:
    """Return what stands for each of the ordered cells."""
    if not edges:
        return [None]
    return [*(Condition("<=", edge) for edge in edges), Condition(">", edges[-1])]


def _alone(conditions: Sequence[Condition]) -> list[Condition]:
    """Return the conditions on single values, each value once, missing ones last."""
    single = [c for c in dict.fromkeys(conditions) if c.kind in ("==", "in", "missing")]
    return sorted(single, key=lambda c: c.kind == "missing")


def _values(condition: Condition) -> tuple[Value, ...]:
    value = condition.value
    if value is None:
        return ()
    return value if isinstance(value, tuple) else (value,)


def _names(condition: Condition | None, label: Condition | None) -> bool:
    """Tell whether a condition on single values holds for the cell of another."""
    if condition is None or label is None:
        return False
    if condition.kind == "missing" or label.kind == "missing":
        return condition.kind == label.kind
    return {*_values(label)} <= {*_values(condition)}


def _special(source: Source, place: dict[Value, int], rest: int, new: int) -> dict[float, float]:
    """Return the cell of each value that is out of the order."""
    scale, seen = source.scale, source.seen
    numbers = [scale.number(value) for value in source.special_values]
    lacking = set() if seen is None else {*seen.lacks(numbers, scale)}
    out = {number: float(new if number in lacking else rest) for number in numbers}
    return out | {scale.number(value): float(at) for value, at in place.items() if scale.number(value) not in lacking}
