"""Exact search for the cheapest changes of a row that raise or lower its score by a given amount.

Features linked by interactions form a group, and each group makes at most one move. A move leads to fixed values, or
along a linear piece of one feature, on which cost and gain grow linearly. If an optimal set contained two moves that
end within a piece, shifting gain from the more expensive to the cheaper one would keep it optimal. So at most one move
ends within a piece, and all others end at one of a few endpoints.

The search adds the groups one by one to a Pareto front of sets of moves. It drops sets that another set dominates
(no more cost and no less gain), sets that cannot reach the gain with the remaining groups, and sets whose lower bound
exceeds the best cost found so far. The lower bound is the linear relaxation: endpoints are replaced by their lower
convex hull, and hull segments are used in the order of cost per gain.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import MICROSECONDS_PER_DAY
from sparsegam._models.functions import LARGEST_EXACT_INTEGER, Bins, FittedFunction, ScoreFunction
from sparsegam.arrays import FloatArray

FIXED_COST = 0.01
"""Cost of any change in addition to the share of rows passed, so that few features change."""
TIE_WEIGHT = 1e-6
"""Weight of the share of rows passed when changed features are counted: it only decides between equal counts."""
MAX_COMBINATIONS = 200_000
"""Maximum number of value combinations of a group of features."""
ROUNDING = 1e-12
"""Relative and absolute tolerance for rounding errors in sums of costs and gains."""
UNCHANGED = -1
Interval = tuple[float, float]
"""Both ends of a piece, the one nearer to the current value first; they are equal if the piece is constant."""


@dataclass(frozen=True)
class Endpoint:
    """New values of the features of a group, as numbers on their scales, with the cost and the gain of the change."""

    numbers: tuple[float, ...]
    cost: float
    gain: float


@dataclass(frozen=True)
class Move:
    """Change of the features of a group to `near`, or along a linear piece up to `far`; for steps both are equal."""

    features: tuple[str, ...]
    near: Endpoint
    far: Endpoint

    @property
    def rise(self) -> float:
        """Difference in gain between both ends."""
        return self.far.gain - self.near.gain

    def at(self, share: float) -> Endpoint:
        """Return the point at a share of the way from near to far."""
        if share in (0.0, 1.0):
            return self.far if share else self.near
        near, far = (np.array([*end.numbers, end.cost, end.gain]) for end in (self.near, self.far))
        *numbers, cost, gain = (near + share * (far - near)).tolist()
        return Endpoint(tuple(numbers), cost, gain)


@dataclass(frozen=True)
class ChangeCost:
    """Cost of changing a feature.

    `kind` is "share" (share of the training data between both values), "count" (1 per feature) or "unit" (costs per
    unit in `per_unit`: per day for dates, per level for ordered levels, per change for booleans and categories).
    """

    kind: str
    per_unit: Mapping[str, float]

    def of(self, bins: Bins, before: float, after: FloatArray) -> FloatArray:
        """Return the cost of changing a feature from one number to each of others."""
        has_no_order = bins.scale.kind in ("category", "boolean")
        if self.kind == "unit":
            distance = np.ones(after.size) if has_no_order else np.abs(after - before)
            unit = MICROSECONDS_PER_DAY if bins.scale.kind == "datetime" else 1
            return distance * self.per_unit[bins.feature] / unit
        passed = np.ones(after.size) if has_no_order else share_between(bins, before, after)
        return FIXED_COST + passed if self.kind == "share" else 1.0 + TIE_WEIGHT * passed


def share_between(bins: Bins, before: float, after: FloatArray) -> FloatArray:
    """Return the share of the training data between one number and each of others; 0 if it is unknown.

    Rows are assumed to be evenly spread within a piece. In the two unbounded pieces, half of the rows count as passed.
    """
    if bins.distribution is None or not bins.distribution.upto:
        return np.zeros(after.size)
    edges = np.array([bins.scale.number(value) for value, _ in bins.distribution.upto])
    cumulative = np.cumsum([share for _, share in bins.distribution.upto])
    start = float(np.interp(before, edges, cumulative))
    if before < edges[0]:
        start = cumulative[0] / 2
    elif before > edges[-1]:
        start = cumulative[-1] + bins.distribution.above / 2
    share: FloatArray = np.abs(np.interp(after, edges, cumulative) - start)
    return share


def linked_features(function: ScoreFunction) -> list[tuple[str, ...]]:
    """Return the groups of features that are linked by interactions, directly or through other features."""
    groups = [{name} for name in function.features]
    for pair in function.of_pairs:
        linked = [group for group in groups if group & {*pair.key}]
        groups = [group for group in groups if group not in linked] + [set().union(*linked)]
    return [tuple(name for name in function.features if name in group) for group in groups]


def bins_of_feature(function: ScoreFunction, name: str) -> list[Bins]:
    """Return the bins of a feature in its own function and in its interactions."""
    return [bins for one in function.functions for bins in one.axes if bins.feature == name]


def differs(numbers: FloatArray, before: float) -> NDArray[np.bool_]:
    """Return the mask of numbers that differ from `before`; a missing value does not differ from a missing value."""
    mask: NDArray[np.bool_] = (numbers != before) & ~(np.isnan(numbers) & np.isnan(before))
    return mask


def is_whole(partitions: Sequence[Bins], before: float) -> bool:
    """Return whether the current value and all thresholds of a feature are integers."""
    known = [before, *_edges(partitions)]
    return partitions[0].scale.kind != "number" or all(
        number % 1 == 0 and abs(number) < LARGEST_EXACT_INTEGER for number in known
    )


class FeatureGroup:
    """Features linked by interactions: their values, their contributions and the moves they can make.

    `now` has the current values as numbers on the scales of the features. `directions` has the features that may
    change: in both directions (0), only up (1) or only down (-1).
    """

    def __init__(
        self, function: ScoreFunction, names: tuple[str, ...], now: Mapping[str, float], directions: Mapping[str, int]
    ) -> None:
        self.names = names
        self.before = [now[name] for name in names]
        self.functions = [one for one in function.functions if one.axes[0].feature in names]
        self.inputs = {bins.feature: bins for bins in function.inputs if bins.feature in names}
        self.intervals: list[list[Interval]] = []
        for name in names:
            own = next((one for one in self.functions if one.key == name), None)
            partitions = bins_of_feature(function, name)
            reachable = _intervals(partitions, own, now[name]) if name in directions else iter(())
            direction = directions.get(name, 0)
            self.intervals.append(
                [ends for ends in reachable if all(direction * (end - now[name]) >= 0 for end in ends)]
            )

    def moves(self, cost: ChangeCost, sign: int) -> list[Move]:
        """Return the undominated moves that raise (sign 1) or lower (sign -1) the score.

        At most one move of an optimal set ends within a piece. It suffices to consider moves in which every feature
        is at an end of a piece, and moves along a piece of one feature while the others are at an end of a piece.
        """
        if not any(self.intervals):
            return []
        corners = [
            [before, *{end for ends in intervals for end in ends}]
            for before, intervals in zip(self.before, self.intervals, strict=True)
        ]
        n = math.prod(len(numbers) for numbers in corners)
        if n > MAX_COMBINATIONS:
            msg = (
                f"interactions link the features {list(self.names)}, which have {n} combinations of values "
                f"(maximum {MAX_COMBINATIONS}); add some of them to fixed."
            )
            raise ValueError(msg)
        fixed = self._moves_to(None, np.array(list(product(*corners)))[:, :, None], cost, sign)
        costs, gains = [move.near.cost for move in fixed], [move.near.gain for move in fixed]
        moves = list(fixed)
        for i, intervals in enumerate(self.intervals):
            ends = [[(number, number) for number in numbers] for numbers in corners]
            ends[i] = [one for one in intervals if one[0] != one[1]]
            if ends[i]:
                for move in self._moves_to(i, np.array(list(product(*ends))), cost, sign):
                    # `fixed` is sorted by increasing cost and gain.
                    k = int(np.searchsorted(gains, move.far.gain))
                    is_dominated = k < len(fixed) and costs[k] <= move.near.cost
                    if move.rise > 0 and not is_dominated:
                        moves.append(move)
        return moves

    def contributions(self, numbers: FloatArray) -> FloatArray:
        """Return the total contribution of the features; each row of `numbers` has one value per feature."""
        columns = dict(zip(self.names, numbers.T, strict=True))
        total = np.zeros(len(numbers))
        for function in self.functions:
            total += function.evaluate(columns)
        return total

    def effect(self, name: str, number: float) -> float:
        """Return the change of the score if one feature changes and the others keep their values."""
        after = [number if one == name else before for one, before in zip(self.names, self.before, strict=True)]
        new, old = self.contributions(np.array([after, self.before])).tolist()
        return float(new - old)

    def _moves_to(self, moving: int | None, ends: FloatArray, cost: ChangeCost, sign: int) -> list[Move]:
        """Return the moves with a positive gain at one end; `ends` has shape (n_moves, n_features, 1 or 2)."""
        n, _, n_ends = ends.shape
        numbers = np.concatenate([*np.moveaxis(ends, 2, 0), [self.before]])
        total = self.contributions(numbers)
        gains = sign * (total[:-1] - total[-1]).reshape(n_ends, n)
        costs = self._costs(numbers[:-1], moving, cost).reshape(n_ends, n)
        kept = undominated(costs[0], gains[0]) if moving is None else np.arange(n)
        kept = kept[gains.max(axis=0)[kept] > 0]
        near, far = (
            list(map(Endpoint, map(tuple, ends[kept, :, e].tolist()), costs[e, kept].tolist(), gains[e, kept].tolist()))
            for e in (0, n_ends - 1)
        )
        return [Move(self.names, *both) for both in zip(near, far, strict=True)]

    def _costs(self, numbers: FloatArray, moving: int | None, cost: ChangeCost) -> FloatArray:
        total = np.zeros(len(numbers))
        for i, (name, before) in enumerate(zip(self.names, self.before, strict=True)):
            if self.intervals[i]:
                changed = differs(numbers[:, i], before) | (i == moving)
                total[changed] += cost.of(self.inputs[name], before, numbers[changed, i])
        return total


def _intervals(partitions: Sequence[Bins], own: FittedFunction | None, before: float) -> Iterator[Interval]:
    """Return the pieces or levels that a feature can move to; it never changes from or to missing and special values.

    Only the function of the single feature, `own`, has slopes.
    """
    scale = partitions[0].scale
    special = set() if scale.has_levels else {number for bins in partitions for number in bins.special.tolist()}
    if np.isnan(before) or before in special:
        return
    if scale.has_levels:
        yield from ((float(level), float(level)) for level in range(len(scale.levels)) if level != before)
        return
    whole = is_whole(partitions, before)
    for low, high in pairwise([-np.inf, *_edges(partitions), np.inf]):
        first = low + 1 if whole else float(np.nextafter(low, np.inf))
        while first in special and first < high:
            first = float(np.nextafter(first, np.inf))
        has_slope = own is not None and bool(own.slopes[own.bins.bin_of(np.array([high]))[0]])
        if low < before <= high:
            if has_slope:
                yield from ((before, end) for end in (first, high) if end != before)
        elif before <= low:
            yield first, high if has_slope else first
        else:
            yield high, first if has_slope else high


def _edges(partitions: Sequence[Bins]) -> list[float]:
    return sorted({edge for bins in partitions for edge in bins.edges.tolist()})


def undominated(cost: FloatArray, gain: FloatArray) -> NDArray[np.intp]:
    """Return the positions of the points that no other point dominates, by increasing cost and gain."""
    order = np.lexsort((-gain, cost))
    best = np.maximum.accumulate(gain[order])
    kept: NDArray[np.intp] = order[np.append(True, best[1:] > best[:-1])]
    return kept


@dataclass(frozen=True, eq=False)
class _Choices:
    """Undominated endpoints of the moves of one group, including no move, by increasing cost and gain.

    `pick` is 2 x move + (1 if far), or UNCHANGED. `hull` has the cost and gain of each segment of the lower convex
    hull.
    """

    cost: FloatArray
    gain: FloatArray
    pick: NDArray[np.intp]
    hull: FloatArray

    @staticmethod
    def of(moves: Sequence[Move]) -> "_Choices":
        ends = [(0.0, 0.0)] + [(end.cost, end.gain) for move in moves for end in (move.near, move.far)]
        cost, gain = np.array(ends).T
        kept = undominated(cost, gain)
        cost, gain = cost[kept], gain[kept]
        hull = [0]
        for i in range(1, cost.size):
            while len(hull) > 1:
                a, b = hull[-2:]
                if (cost[b] - cost[a]) * (gain[i] - gain[b]) < (cost[i] - cost[b]) * (gain[b] - gain[a]):
                    break
                hull.pop()
            hull.append(i)
        return _Choices(cost, gain, kept - 1, np.diff(np.column_stack([cost[hull], gain[hull]]), axis=0))


@dataclass(frozen=True, eq=False)
class _Front:
    """Undominated sets of moves of some groups; `picks` has one row per set and one column per group."""

    cost: FloatArray
    gain: FloatArray
    picks: NDArray[np.intp]


class _LowerBound:
    """Lower bound on the cost of reaching a gain with some groups, by the linear relaxation."""

    def __init__(self, choices: Sequence[_Choices]) -> None:
        segments = np.concatenate([np.zeros((1, 2)), *(one.hull for one in choices)])
        order = np.argsort(segments[1:, 0] / segments[1:, 1], kind="stable") + 1
        self.cost, self.gain = np.cumsum(segments[np.append(0, order)], axis=0).T

    def at(self, gain: FloatArray) -> FloatArray:
        """Return a lower bound on the cost of reaching each gain; infinite if a gain cannot be reached."""
        bound: FloatArray = np.interp(gain, self.gain, self.cost) * (1 - ROUNDING) - ROUNDING
        bound[gain > self.gain[-1] * (1 + ROUNDING) + ROUNDING] = np.inf
        return bound


def cheapest_moves(moves: Sequence[Sequence[Move]], need: float) -> list[tuple[Move, float]] | None:
    """Return the cheapest moves, at most one per group, with a total gain of at least `need`.

    Each move comes with the share of the way from near to far. None if all groups together cannot gain `need`.
    """
    if need <= 0:
        return []
    search = _Search(moves, need)
    search.run()
    return search.best


class _Search:
    def __init__(self, moves: Sequence[Sequence[Move]], need: float) -> None:
        self.moves = moves
        self.need = need
        self.choices = [_Choices.of(own) for own in moves]
        self.best: list[tuple[Move, float]] | None = None
        self.best_cost = np.inf
        # The relaxation rounded up to whole hull segments is feasible, so its cost is an upper bound.
        relaxed = _LowerBound(self.choices)
        k = int(np.searchsorted(relaxed.gain, need))
        self.limit = float(relaxed.cost[k]) * (1 + ROUNDING) + ROUNDING if k < relaxed.gain.size else np.inf

    def run(self) -> None:
        """Add all groups without linear pieces to the front, then let each of the others be the last one in turn."""
        if sum(float(choices.gain[-1]) for choices in self.choices) < self.need:
            return
        groups = sorted((j for j, own in enumerate(self.moves) if own), key=lambda j: -self.choices[j].gain[-1])
        last = [j for j in groups if any(move.rise > 0 for move in self.moves[j])] or groups[-1:]
        front = _Front(np.zeros(1), np.zeros(1), np.full((1, len(self.moves)), UNCHANGED))
        self._finish_each(self._extend(front, [j for j in groups if j not in last], last), last)

    def _finish_each(self, front: _Front, groups: list[int]) -> None:
        """Complete the front with each group as the last one, after adding all others, by divide and conquer."""
        if front.cost.size == 0:
            return
        if len(groups) == 1:
            self._finish(front, groups[0])
            return
        middle = len(groups) // 2
        halves = (groups[:middle], groups[middle:])
        for inside, outside in (halves, halves[::-1]):
            self._finish_each(self._extend(front, outside, inside), inside)

    def _extend(self, front: _Front, groups: list[int], later: list[int]) -> _Front:
        """Add groups to a front, and keep the sets that the groups in `later` may still complete."""
        for i, j in enumerate(groups):
            if front.cost.size == 0:
                break
            choices, bound = self.choices[j], _LowerBound([self.choices[k] for k in (*groups[i + 1 :], *later)])
            cost = np.add.outer(front.cost, choices.cost).ravel()
            gain = np.minimum(np.add.outer(front.gain, choices.gain).ravel(), self.need)
            kept = undominated(cost, gain)
            kept = kept[cost[kept] + bound.at(self.need - gain[kept]) <= self.limit]
            sets, own = np.divmod(kept, choices.cost.size)
            picks = front.picks[sets]
            picks[:, j] = choices.pick[own]
            front = _Front(cost[kept], gain[kept], picks)
        return front

    def _finish(self, front: _Front, j: int) -> None:
        """Complete each set of the front by group j: no move, a move to an endpoint, or part of a linear piece."""
        lacking = self.need - front.gain
        none = np.zeros(lacking.size)
        for move in self.moves[j]:
            self._offer(front, j, front.cost + move.near.cost, lacking <= move.near.gain, move, none)
            self._offer(front, j, front.cost + move.far.cost, lacking <= move.far.gain, move, none + 1)
            if move.rise > 0:
                share = (lacking - move.near.gain) / move.rise
                cost = front.cost + move.near.cost + share * (move.far.cost - move.near.cost)
                self._offer(front, j, cost, (share > 0) & (share < 1), move, share)
        self._offer(front, j, front.cost, lacking <= 0, None, none)

    def _offer(
        self,
        front: _Front,
        j: int,
        cost: FloatArray,
        is_enough: NDArray[np.bool_],
        move: Move | None,
        share: FloatArray,
    ) -> None:
        """Store the cheapest sufficient set, completed by a move of group j, if it is the cheapest so far."""
        sets = np.flatnonzero(is_enough)
        if not sets.size:
            return
        at = int(sets[np.argmin(cost[sets])])
        if cost[at] >= self.best_cost:
            return
        picks = front.picks[at].tolist()
        chosen = [(self.moves[k][p // 2], float(p % 2)) for k, p in enumerate(picks) if p != UNCHANGED and k != j]
        self.best = chosen if move is None else [*chosen, (move, float(share[at]))]
        self.best_cost = float(cost[at])
        self.limit = min(self.limit, self.best_cost)
