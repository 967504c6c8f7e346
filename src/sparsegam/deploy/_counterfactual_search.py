"""The cheapest moves that gain enough together, exactly.

One move is made of each feature at most (or of features that products link), and some may be made in part. With costs
and gains that grow evenly along such a move, an optimum of which two moves are partial stays one while the cheaper of
them takes over from the other: so one partial move at most need be looked for. All else is a choice between few places
per feature.

Sets of moves are grown feature by feature. Of two sets of the same features, one that costs no less and gains no more
is dropped; so is one that cannot gain enough with the features that are left, or whose lower bound is no better than
what was found. The bound takes moves of the other features in part, the best rate first: a relaxation.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsegam.arrays import FloatArray
from sparsegam.deploy._moves import Move, undominated

NONE = -1  # a feature that stays as it is
SLACK = 1e-12  # of costs and gains, whose sums depend on their order


@dataclass(frozen=True, eq=False)
class Choices:
    """The places that one feature may go to: what they cost and gain, and which end of which move they are.

    `hull` has the cost and the gain of each step along the lower convex hull, from staying to the most gain.
    """

    cost: FloatArray
    gain: FloatArray
    pick: NDArray[np.intp]
    hull: FloatArray

    @staticmethod
    def of(moves: Sequence[Move]) -> "Choices":
        """Return the places of moves that no other place beats, cheapest first."""
        places = [(0.0, 0.0)] + [(place.cost, place.gain) for move in moves for place in (move.near, move.far)]
        cost, gain = np.array(places).T
        kept = undominated(cost, gain)
        return Choices(cost[kept], gain[kept], kept - 1, _hull(cost[kept], gain[kept]))


@dataclass(frozen=True, eq=False)
class Front:
    """Sets of moves of some features, none of which is beaten: cost, gain, and the place picked of every feature."""

    cost: FloatArray
    gain: FloatArray
    picks: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Chosen:
    """A set of moves that gains enough: how far each is made, from 0 (near) to 1 (far)."""

    cost: float
    moves: tuple[tuple[Move, float], ...]


def cheapest(moves: Sequence[Sequence[Move]], need: float) -> Chosen | None:
    """Return the cheapest moves, at most one of each feature, that gain at least what is needed.

    Parameters
    ----------
    moves : sequence of sequence of Move
        For each feature, the moves to choose from.
    need : float
        What they must gain together.

    Returns
    -------
    Chosen or None
        The moves; None where all features together cannot gain as much.
    """
    if need <= 0:
        return Chosen(0.0, ())
    search = _Search(moves, need)
    search.run()
    return search.best


class _Search:
    """Grows fronts of all features but one, and finishes each with the moves of that one, in part if need be."""

    def __init__(self, moves: Sequence[Sequence[Move]], need: float) -> None:
        self.moves = [list(mine) for mine in moves]
        self.need = need
        self.choices = [Choices.of(mine) for mine in self.moves]
        self.best: Chosen | None = None
        self.limit = self._greedy()

    def run(self) -> None:
        """Search; features with straight pieces are left to the last in turn."""
        if sum(float(choices.gain[-1]) for choices in self.choices) < self.need:
            return
        features = sorted((j for j, mine in enumerate(self.moves) if mine), key=lambda j: -self.choices[j].gain[-1])
        sloped = [j for j in features if any(_rise(move) > 0 for move in self.moves[j])]
        last = sloped or features[-1:]
        first = [j for j in features if j not in last]
        none = np.full((1, len(self.moves)), NONE)
        self._leave_one(self._grown(Front(np.zeros(1), np.zeros(1), none), first, last), last)

    def _leave_one(self, front: Front, features: list[int]) -> None:
        """Finish with each of the features in turn, when all others have joined the front."""
        if front.cost.size == 0:
            return
        if len(features) == 1:
            self._finish(front, features[0])
            return
        middle = len(features) // 2
        halves = (features[:middle], features[middle:])
        for inside, outside in (halves, halves[::-1]):
            self._leave_one(self._grown(front, outside, inside), inside)

    def _grown(self, front: Front, features: list[int], later: list[int]) -> Front:
        """Let features join a front, keeping the sets that the others may still complete."""
        for i, j in enumerate(features):
            if front.cost.size == 0:
                break
            choices, bound = self.choices[j], _Bound([self.choices[k] for k in (*features[i + 1 :], *later)])
            cost = np.add.outer(front.cost, choices.cost).ravel()
            gain = np.minimum(np.add.outer(front.gain, choices.gain).ravel(), self.need)
            kept = undominated(cost, gain)
            kept = kept[cost[kept] + bound.at(self.need - gain[kept]) <= self.limit]
            before, mine = np.divmod(kept, choices.cost.size)
            picks = front.picks[before]
            picks[:, j] = choices.pick[mine]
            front = Front(cost[kept], gain[kept], picks)
        return front

    def _finish(self, front: Front, j: int) -> None:
        """Complete every set with the moves of the last feature: whole, or in part where that is enough."""
        lacking = self.need - front.gain
        for i, move in enumerate(self.moves[j]):
            rise, near = _rise(move), move.near
            for end, place in enumerate((move.near, move.far)):
                self._offer(front, j, front.cost + place.cost, lacking <= place.gain, (2 * i + end, float(end)))
            if rise > 0:
                share = (lacking - near.gain) / rise
                cost = front.cost + near.cost + share * (move.far.cost - near.cost)
                self._offer(front, j, cost, (share > 0) & (share < 1), (2 * i, share))
        self._offer(front, j, front.cost, lacking <= 0, (NONE, 0.0))

    def _offer(
        self, front: Front, j: int, cost: FloatArray, enough: NDArray[np.bool_], last: tuple[int, float | FloatArray]
    ) -> None:
        """Take the cheapest of some sets, if it is the cheapest so far."""
        open_to = np.flatnonzero(enough)
        if not open_to.size:
            return
        at = int(open_to[np.argmin(cost[open_to])])
        if self.best is not None and cost[at] >= self.best.cost:
            return
        pick, share = last
        picks = front.picks[at].copy()
        picks[j] = pick
        chosen = [(self.moves[k][p // 2], float(p % 2)) for k, p in enumerate(picks.tolist()) if p != NONE]
        if pick != NONE:
            mine = self.moves[j][pick // 2]
            way = float(share if isinstance(share, float) else share[at])
            chosen = [(move, way if move is mine else far) for move, far in chosen]
        self.best = Chosen(float(cost[at]), tuple(chosen))
        self.limit = min(self.limit, float(cost[at]))

    def _greedy(self) -> float:
        """Return a cost that is enough: steps along the hulls, the best rate first, until they gain what is needed."""
        bound = _Bound(self.choices)
        enough = int(np.searchsorted(bound.gain, self.need))
        return float(bound.cost[enough]) * (1 + SLACK) + SLACK if enough < bound.gain.size else np.inf


class _Bound:
    """The least that a gain can cost with some features, where each may go any part of the way along its hull."""

    def __init__(self, choices: Sequence[Choices]) -> None:
        steps = np.concatenate([np.zeros((1, 2)), *(one.hull for one in choices)])
        order = np.argsort(steps[1:, 0] / steps[1:, 1], kind="stable") + 1
        self.cost, self.gain = np.cumsum(steps[np.append(0, order)], axis=0).T

    def at(self, gain: FloatArray) -> FloatArray:
        """Return the bound for each gain; infinite where it is out of reach."""
        out: FloatArray = np.interp(gain, self.gain, self.cost) * (1 - SLACK) - SLACK
        out[gain > self.gain[-1] * (1 + SLACK) + SLACK] = np.inf
        return out


def _hull(cost: FloatArray, gain: FloatArray) -> FloatArray:
    """Return the steps (cost, gain) along the lower convex hull of places by rising cost and gain."""
    hull = [0]
    for i in range(1, cost.size):
        while len(hull) > 1:
            a, b = hull[-2:]
            if (cost[b] - cost[a]) * (gain[i] - gain[b]) < (cost[i] - cost[b]) * (gain[b] - gain[a]):
                break
            hull.pop()
        hull.append(i)
    return np.diff(np.column_stack([cost[hull], gain[hull]]), axis=0)


def _rise(move: Move) -> float:
    """Return what the way from the near place to the far one gains."""
    return move.far.gain - move.near.gain
