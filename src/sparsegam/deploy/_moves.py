"""Where the features of a row could go instead: what each place would cost, and what it would add to the score."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import MICROSECONDS_PER_DAY
from sparsegam._models.functions import LARGEST_EXACT_INTEGER, Bins, ScoreFunction
from sparsegam.arrays import FloatArray

TOUCH = 0.01  # what any change costs beside the rows that it passes, so that few changes are made
TIE = 1e-6  # what passing all rows costs where changes are counted: it only tells apart what is equally many
SIGNS = {"up": 1, "down": -1}
MOST_PLACES = 200_000  # of features that products link, all of whose places are looked at together
Ways = list[tuple[float, float]]  # where a feature can go: to the first number, or on from it up to the second


@dataclass(frozen=True)
class Place:
    """Values that features could take, as numbers on their scales: what the change costs and adds to the score."""

    numbers: tuple[float, ...]
    cost: float
    gain: float


@dataclass(frozen=True)
class Move:
    """A change of one feature, or of several that products link: to `near`, or along a straight piece up to `far`.

    Cost and gain grow evenly from one to the other; for steps, both are the same place.
    """

    features: tuple[str, ...]
    near: Place
    far: Place

    def at(self, share: float) -> Place:
        """Return the place at a share of the way from near to far."""
        if share in (0.0, 1.0):
            return self.far if share else self.near
        ends = zip(
            (*self.near.numbers, self.near.cost, self.near.gain),
            (*self.far.numbers, self.far.cost, self.far.gain),
            strict=True,
        )
        *numbers, cost, gain = (low + share * (high - low) for low, high in ends)
        return Place(tuple(numbers), cost, gain)


@dataclass(frozen=True)
class Prices:
    """What a change costs.

    Attributes
    ----------
    kind : {"share", "count", "unit"}
        The share of the rows of the fit between the old value and the new, and a little for any change; one for each
        feature that changes, shares deciding between equally many; or prices of one unit.
    units : mapping of str to float
        For "unit": the price of one unit of each feature, of one day for dates and times, of one level for ordered
        levels, of any change for booleans and categories.
    """

    kind: str
    units: Mapping[str, float]

    def of(self, bins: Bins, before: float, after: FloatArray) -> FloatArray:
        """Return what it costs to go from one number to each of others."""
        unordered = bins.scale.kind in ("category", "boolean")
        if self.kind == "unit":
            away = np.ones(after.size) if unordered else np.abs(after - before)
            each = MICROSECONDS_PER_DAY if bins.scale.kind == "datetime" else 1
            return away * self.units[bins.feature] / each
        passed = np.ones(after.size) if unordered else rows_between(bins, before, after)
        return TOUCH + passed if self.kind == "share" else 1.0 + TIE * passed


def rows_between(bins: Bins, before: float, after: FloatArray) -> FloatArray:
    """Return the share of the rows of the fit between one number and others; 0 where these rows are not known.

    Rows are spread evenly within a piece. A piece without an end is entered at its edge, and left from the middle of
    its rows.
    """
    if bins.seen is None or not bins.seen.upto:
        return np.zeros(after.size)
    edges = np.array([bins.scale.number(value) for value, _ in bins.seen.upto])
    upto = np.cumsum([share for _, share in bins.seen.upto])
    start = float(np.interp(before, edges, upto))
    if before < edges[0]:
        start = upto[0] / 2
    elif before > edges[-1]:
        start = upto[-1] + bins.seen.above / 2
    out: FloatArray = np.abs(np.interp(after, edges, upto) - start)
    return out


def blocks_of(score: ScoreFunction) -> list[tuple[str, ...]]:
    """Return the features in use, those together that products link, directly or by way of others."""
    found = [{name} for name in score.features]
    for pair in score.of_pairs:
        linked = [block for block in found if block & {*pair.key}]
        found = [block for block in found if block not in linked] + [set().union(*linked)]
    return [tuple(name for name in score.features if name in block) for block in found]


def bins_of_feature(score: ScoreFunction, name: str) -> list[Bins]:
    """Return all partitions of a feature: that of its own function, and those of its pairs."""
    return [axis for function in score.functions for axis in function.axes if axis.feature == name]


class Block:
    """Features whose contributions depend on each other, or a single one: where they are, and where they may go.

    Parameters
    ----------
    score : ScoreFunction
        What the features add.
    names : tuple of str
        The features.
    now : mapping of str to float
        Their values, as numbers on their scales.
    free : mapping of str to {0, 1, -1}
        Those that may change: both ways, only up, or only down.
    """

    def __init__(
        self, score: ScoreFunction, names: tuple[str, ...], now: Mapping[str, float], free: Mapping[str, int]
    ) -> None:
        self.score, self.names, self.before = score, names, [now[name] for name in names]
        self.functions = [function for function in score.functions if function.axes[0].feature in names]
        self.inputs = {bins.feature: bins for bins in score.inputs if bins.feature in names}
        self.ways = [self._ways(name, now[name], free[name]) if name in free else [] for name in names]

    def moves(self, prices: Prices, sign: int) -> list[Move]:
        """Return the moves that gain something: missing, special and new values are never left or suggested.

        Of a set of changes that is made, at most one is partial: so a move goes along a piece of one feature, while the
        others stay where they are or are at an end of a piece.
        """
        if not any(self.ways):
            return []
        corners = [
            [before, *{end for way in ways for end in way}] for before, ways in zip(self.before, self.ways, strict=True)
        ]
        self._check_size(corners)
        groups: list[tuple[int | None, list[Any]]] = [(None, list(product(*corners)))]
        for i, ways in enumerate(self.ways):
            rest = [[(end, end) for end in ends] for ends in corners]
            rest[i] = [way for way in ways if way[0] != way[1]]
            groups.append((i, list(product(*rest))))
        made = [self._made(moving, places, prices, sign) for moving, places in groups if places]
        return [*made[0], *_unbeaten([move for mine in made[1:] for move in mine], made[0])]

    def adds(self, numbers: FloatArray) -> FloatArray:
        """Return what the features add together in each row of their numbers."""
        columns = dict(zip(self.names, numbers.T, strict=True))
        out = np.zeros(len(numbers))
        for function in self.functions:
            out += function.evaluate(columns)
        return out

    def alone(self, name: str, number: float) -> float:
        """Return what it adds to the score when one of the features changes and the others do not."""
        after = [number if one == name else before for one, before in zip(self.names, self.before, strict=True)]
        new, old = self.adds(np.array([after, self.before])).tolist()
        return float(new - old)

    def _made(self, moving: int | None, places: list[Any], prices: Prices, sign: int) -> list[Move]:
        """Return the moves to places, or between both ends of the feature that moves; not those that gain nothing."""
        n = len(places)
        ends = np.array(places, dtype=np.float64).reshape(n, len(self.names), -1)
        n_ends = ends.shape[2]
        numbers = np.concatenate([*np.moveaxis(ends, 2, 0), [self.before]])
        added, cost = self.adds(numbers), self._costs(numbers, moving, prices)
        gains, costs = sign * (added[:-1] - added[-1]).reshape(n_ends, n), cost[:-1].reshape(n_ends, n)
        kept = undominated(costs[0], gains[0]) if moving is None else np.arange(n)
        kept = kept[gains.max(axis=0)[kept] > 0]
        made = [
            list(map(Place, map(tuple, ends[kept, :, e].tolist()), costs[e, kept].tolist(), gains[e, kept].tolist()))
            for e in range(n_ends)
        ]
        return [Move(self.names, near, far) for near, far in zip(made[0], made[-1], strict=True)]

    def _costs(self, numbers: FloatArray, moving: int | None, prices: Prices) -> FloatArray:
        out = np.zeros(len(numbers))
        for i, (name, before) in enumerate(zip(self.names, self.before, strict=True)):
            if self.ways[i]:
                changed = np.full(len(numbers), fill_value=True) if i == moving else differs(numbers[:, i], before)
                out[changed] += prices.of(self.inputs[name], before, numbers[changed, i])
        return out

    def _ways(self, name: str, before: float, way: int) -> Ways:
        cuts = bins_of_feature(self.score, name)
        if np.isnan(before) or before in _special(cuts):
            return []
        has_levels = cuts[0].scale.has_levels
        found = _levels(cuts[0], before) if has_levels else _intervals(cuts, before, self._slope_at(name))
        return [ends for ends in found if all(way * (end - before) >= 0 for end in ends)]

    def _slope_at(self, name: str) -> Callable[[float], bool]:
        """Return a function that tells whether the interval that ends at a number has a slope."""
        own = next((one for one in self.functions if one.key == name), None)
        if own is None:
            return lambda _: False
        return lambda end: bool(own.slopes[own.bins.bin_of(np.array([end]))[0]])

    def _check_size(self, corners: Sequence[Sequence[float]]) -> None:
        n = math.prod(len(ends) for ends in corners)
        if n > MOST_PLACES:
            msg = (
                f"products link the features {list(self.names)}, which could go to {n} places together: put some of "
                "them into fixed."
            )
            raise ValueError(msg)


def undominated(cost: FloatArray, gain: FloatArray) -> NDArray[np.intp]:
    """Return the positions of the pairs that no other beats, by rising cost and rising gain."""
    order = np.lexsort((-gain, cost))
    most = np.maximum.accumulate(gain[order])
    kept: NDArray[np.intp] = order[np.append(True, most[1:] > most[:-1])]
    return kept


def _unbeaten(along: list[Move], whole: list[Move]) -> list[Move]:
    """Return the moves along pieces that rise, but for those all of which a whole move beats."""
    costs, gains = [move.near.cost for move in whole], [move.near.gain for move in whole]
    out = []
    for move in along:
        at = int(np.searchsorted(gains, move.far.gain))  # whole moves are by rising cost and gain
        beaten = at < len(whole) and costs[at] <= move.near.cost
        if move.far.gain > move.near.gain and not beaten:
            out.append(move)
    return out


def _special(cuts: Sequence[Bins]) -> set[float]:
    return set() if cuts[0].scale.has_levels else {number for bins in cuts for number in bins.special.tolist()}


def _levels(bins: Bins, before: float) -> Iterator[tuple[float, float]]:
    """Return the levels of a category that rows had, each as a place of its own."""
    for number in np.arange(len(bins.scale.levels), dtype=np.float64).tolist():
        if number != before:
            yield number, number


def _intervals(
    cuts: Sequence[Bins], before: float, has_slope: Callable[[float], bool]
) -> Iterator[tuple[float, float]]:
    """Return, for each piece between edges, the place where one enters it and, where it slopes, that where it ends."""
    edges = _edges(cuts)
    special, whole = _special(cuts), is_whole(cuts, before)
    for low, high in pairwise([-np.inf, *edges, np.inf]):
        first, sloped = _above(low, high, special, whole=whole), has_slope(high)
        if low < before <= high:
            if sloped:
                yield from ((before, end) for end in (first, high) if end != before)
        elif before <= low:
            yield first, high if sloped else first
        else:
            yield high, first if sloped else high


def _edges(cuts: Sequence[Bins]) -> list[float]:
    return sorted({edge for bins in cuts for edge in bins.edges.tolist()})


def differs(numbers: FloatArray, before: float) -> NDArray[np.bool_]:
    """Tell which numbers are others than the one before: one that is missing, and stays so, is the same."""
    out: NDArray[np.bool_] = (numbers != before) & ~(np.isnan(numbers) & np.isnan(before))
    return out


def is_whole(cuts: Sequence[Bins], before: float) -> bool:
    """Tell whether a feature goes by whole numbers, as far as its thresholds and a value of it tell."""
    known = [before, *_edges(cuts)]
    return cuts[0].scale.kind != "number" or all(
        number % 1 == 0 and abs(number) < LARGEST_EXACT_INTEGER for number in known
    )


def _above(low: float, high: float, special: set[float], *, whole: bool) -> float:
    """Return the first value above an edge that is no special one."""
    first = low + 1 if whole else float(np.nextafter(low, np.inf))
    while first in special and first < high:
        first = float(np.nextafter(first, np.inf))
    return first
