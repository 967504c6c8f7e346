"""Whole numbers in place of coefficients: searched together for the lowest log loss, not rounded one by one.

    minimise over integers p   sum_i s_i log(1 + exp(-y_i (a + b (p_0 + sum_j p_j phi_j(x_i)))))

The line (a, b) from points to log odds is either given (a scale of points that users know) or fitted anew for every p
(small numbers to be added up by hand, whose multiplier is free).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.target import read_weights
from sparsegam._models.additive import Model
from sparsegam._models.outcomes import events
from sparsegam._models.steps import as_table, step_numbers
from sparsegam.arrays import FloatArray
from sparsegam.losses import logistic

Points = NDArray[np.int64]
Line = tuple[FloatArray, FloatArray]
LossOf = Callable[[Points], FloatArray]
"""The loss of each of several vectors of points, one per row."""

N_MULTIPLIERS = 60
KEPT_STARTS = 6
NEWTON_STEPS = 25
HALVINGS = 6
SETTLED = 1e-9  # change of the log loss per row below which a fit of the line has ended
MAX_PAIRED = 25  # terms up to which two points are moved at once
FEW_CELLS = 4_000_000  # patterns x candidates to look at in one go


@dataclass(frozen=True)
class Patterns:
    """Rows that answer all terms alike, taken together.

    Attributes
    ----------
    holds : ndarray of shape (n_patterns, n_terms)
        Which terms hold.
    events, others : ndarray
        Total weight of the rows of the second class, and of the first.
    """

    holds: Points
    events: FloatArray
    others: FloatArray

    @property
    def total(self) -> float:
        """Total weight of all rows."""
        return float(self.events.sum() + self.others.sum())

    def loss(self, log_odds: FloatArray) -> FloatArray:
        """Return the log loss per row, given the log odds of each pattern in a column per candidate."""
        events, others = self.events[:, None], self.others[:, None]
        out: FloatArray = (events * np.logaddexp(0, -log_odds) + others * np.logaddexp(0, log_odds)).sum(axis=0)
        return out / self.total


@dataclass(frozen=True)
class Box:
    """The least and the largest number of points of each term."""

    low: Points
    high: Points

    def held(self, points: Points) -> "Box":
        """Return the box in which terms without points stay without."""
        return Box(np.where(points, self.low, 0), np.where(points, self.high, 0))

    def neighbours(self, points: Points, *, pairs: bool) -> Points:
        """Return all vectors that differ in one term (or in two) by one point."""
        one = np.vstack([np.eye(points.size, dtype=np.int64), -np.eye(points.size, dtype=np.int64)])
        moves = one
        if pairs:
            first, second = np.triu_indices(len(one), 1)
            moves = (one[first] + one[second])[first % points.size != second % points.size]
        found = points + moves
        good: Points = found[((found >= self.low) & (found <= self.high)).all(axis=1)]
        return good


def patterns_of(model: Model, X: Any, y: Any, sample_weight: Any = None) -> Patterns:
    """Collect the rows of a table by the terms that hold."""
    table = as_table(X)
    numbers = step_numbers(model, table)
    columns = [model.column_of(term, numbers).astype(np.int64) for term in model.terms]
    holds = np.column_stack(columns) if columns else np.zeros((table.n_rows, 0), dtype=np.int64)
    event, weight = events(model, y, table.n_rows), read_weights(sample_weight, table.n_rows)
    distinct, position = _distinct(holds)
    size = len(distinct)
    return Patterns(distinct, _sums(position, weight * event, size), _sums(position, weight * ~event, size))


def round_to_line(patterns: Patterns, exact: FloatArray, a: float, b: float) -> Points:
    """Round each number up or down, all together, for the lowest loss on a given line; the first is the base."""
    holds = np.column_stack([np.ones(len(patterns.holds), dtype=np.int64), patterns.holds])

    def loss_of(points: Points) -> FloatArray:
        return _in_pieces(points, len(holds), lambda some: patterns.loss(a + b * (holds @ some.T)))

    box = Box(np.floor(exact).astype(np.int64), np.ceil(exact).astype(np.int64))
    return descend(np.rint(exact).astype(np.int64), box, loss_of, pairs=False)


def round_small(
    patterns: Patterns, coef: FloatArray, max_points: int, max_terms: int | None = None
) -> tuple[Points, float, float]:
    """Search points of at most `max_points` in size, none against the sign of its coefficient; and their line.

    Parameters
    ----------
    patterns : Patterns
        The rows.
    coef : ndarray
        Coefficients, in units of log odds.
    max_points : int
        Largest number of points.
    max_terms : int, optional
        Largest number of terms that get points; the terms are chosen for whole points, not for real coefficients.

    Returns
    -------
    points, a, b : ndarray, float, float
        The points of each term; log odds = a + b * total.
    """

    def loss_of(points: Points) -> FloatArray:
        return _in_pieces(points, len(patterns.holds), lambda some: fit_lines(patterns, some)[0])

    box = Box(np.where(coef < 0, -max_points, 0), np.where(coef > 0, max_points, 0))
    starts = _multiples(coef, max_points)
    starts = starts[np.argsort(loss_of(starts), kind="stable")[:KEPT_STARTS]]
    ends = np.unique([descend(start, box, loss_of, pairs=False) for start in starts], axis=0)
    best = ends[np.argmin(loss_of(ends))]
    if max_terms is not None:
        best, box = thin_out(best, box, loss_of, max_terms)
    best = descend(best, box, loss_of, pairs=best.size <= MAX_PAIRED)
    best //= max(int(np.gcd.reduce(best)), 1)  # 2 and 4 say no more than 1 and 2, and are harder to add
    _, a, b = fit_lines(patterns, best[None, :])
    return best, float(a[0]), float(b[0])


def thin_out(points: Points, box: Box, loss_of: LossOf, max_terms: int) -> tuple[Points, Box]:
    """Take points from the terms that matter least, one by one, then exchange terms while that helps.

    Returns
    -------
    points, box : ndarray, Box
        The points, and the box in which all other terms are held at zero.
    """
    while np.count_nonzero(points) > max_terms:
        fewer = np.array([np.where(np.arange(points.size) == j, 0, points) for j in np.flatnonzero(points)])
        points = fewer[np.argmin(loss_of(fewer))]
        points = descend(points, box.held(points), loss_of, pairs=False)
    while True:
        found = _exchanges(points, box)
        best = found[np.argmin(loss_of(found))] if len(found) else points
        if loss_of(best[None, :])[0] >= loss_of(points[None, :])[0] - SETTLED:
            return points, box.held(points)
        points = descend(best, box.held(best), loss_of, pairs=False)


def _exchanges(points: Points, box: Box) -> Points:
    """Return all vectors in which one term gives its points up and another gets some."""
    found = []
    for j in np.flatnonzero(points):
        for c in np.flatnonzero(points == 0):
            for p in range(int(box.low[c]), int(box.high[c]) + 1):
                new = points.copy()
                new[j], new[c] = 0, p
                found.append(new)
    return np.array(found, dtype=np.int64).reshape(len(found), points.size)


def descend(points: Points, box: Box, loss_of: LossOf, *, pairs: bool) -> Points:
    """Move to the best neighbour as long as one is better; try pairs of moves where no single one helps."""
    loss = float(loss_of(points[None, :])[0])
    paired = False
    while True:
        found = box.neighbours(points, pairs=paired)
        losses = loss_of(found) if len(found) else np.array([np.inf])
        best = int(np.argmin(losses))
        if losses[best] < loss - SETTLED:
            points, loss, paired = found[best], float(losses[best]), False
        elif pairs and not paired and points.size > 1:
            paired = True
        else:
            return points


def fit_lines(patterns: Patterns, points: Points) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Fit log odds = a + b * total to each vector of points, by Newton's method on the few totals there are.

    Returns
    -------
    loss, a, b : ndarray
        Log loss per row and the line, for each vector.
    """
    totals, events, others = _histograms(patterns, points)
    rate = patterns.events.sum() / patterns.total
    a = np.full(len(points), np.log(rate / (1 - rate)))
    b = np.zeros(len(points))
    loss = _histogram_loss(a, b, totals, events, others)
    for _ in range(NEWTON_STEPS):
        da, db = _newton_step(a, b, totals, events, others)
        step, new = _damped(loss, partial(_loss_along, (a, b), (da, db), (totals, events, others)))
        a, b, gain, loss = a + step * da, b + step * db, loss - new, new
        if gain.max() < SETTLED * patterns.total / 10:
            break
    return loss / patterns.total, a, b


def _histograms(patterns: Patterns, points: Points) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the possible totals, and the weight of both classes at each (a row per vector of points)."""
    totals = (patterns.holds @ points.T).T
    low, width = int(totals.min()), int(np.ptp(totals)) + 1
    cell = (totals - low + width * np.arange(len(points))[:, None]).ravel()
    shape = (len(points), width)
    events = _sums(cell, np.tile(patterns.events, len(points)), len(points) * width).reshape(shape)
    others = _sums(cell, np.tile(patterns.others, len(points)), len(points) * width).reshape(shape)
    return np.arange(low, low + width, dtype=np.float64), events, others


def _sums(position: NDArray[np.integer[Any]], weight: FloatArray, size: int) -> FloatArray:
    return np.bincount(position, weight, size).astype(np.float64, copy=False)


def _histogram_loss(
    a: FloatArray, b: FloatArray, totals: FloatArray, events: FloatArray, others: FloatArray
) -> FloatArray:
    z = a[:, None] + b[:, None] * totals
    out: FloatArray = (events * np.logaddexp(0, -z) + others * np.logaddexp(0, z)).sum(axis=1)
    return out


def _loss_along(
    start: Line, way: Line, histogram: tuple[FloatArray, FloatArray, FloatArray], step: FloatArray
) -> FloatArray:
    return _histogram_loss(start[0] + step * way[0], start[1] + step * way[1], *histogram)


def _damped(loss: FloatArray, loss_at: Callable[[FloatArray], FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Halve the steps that would raise the loss, and take none where that does not help; also return the loss there."""
    step = np.ones(loss.size)
    for _ in range(HALVINGS):
        new = loss_at(step)
        worse = new > loss
        if not worse.any():
            return step, new
        step = np.where(worse, 0.5 * step, step)
    return np.where(worse, 0.0, step), np.where(worse, loss, new)


def _newton_step(
    a: FloatArray, b: FloatArray, totals: FloatArray, events: FloatArray, others: FloatArray
) -> tuple[FloatArray, FloatArray]:
    p = logistic(a[:, None] + b[:, None] * totals)
    residual = p * (events + others) - events
    curvature = p * (1 - p) * (events + others)
    g0, g1 = residual.sum(axis=1), residual @ totals
    h00, h01, h11 = curvature.sum(axis=1), curvature @ totals, curvature @ totals**2
    h00, h11 = h00 + 1e-9, h11 + 1e-9  # points that are all zero leave b free
    determinant = h00 * h11 - h01**2
    return -(h11 * g0 - h01 * g1) / determinant, -(h00 * g1 - h01 * g0) / determinant


def _multiples(coef: FloatArray, max_points: int) -> Points:
    """Round the coefficients after many multipliers; those that grow too large are cut to `max_points`.

    The multipliers run from where the largest coefficient gets its first point to where the median gets the most: one
    large coefficient (of a rare group, say) must not crush the others.
    """
    sizes = np.abs(coef[coef != 0])
    if sizes.size == 0:
        return np.zeros((1, coef.size), dtype=np.int64)
    multipliers = np.geomspace(0.5 / sizes.max(), (max_points + 0.499) / np.median(sizes), N_MULTIPLIERS)
    rounded = np.rint(coef * multipliers[:, None]).clip(-max_points, max_points)
    found: Points = np.unique(rounded.astype(np.int64), axis=0)
    return found


def _distinct(holds: Points) -> tuple[Points, NDArray[np.intp]]:
    """Return the distinct rows of a 0/1 matrix and which of them each row is; bits are packed to be sorted fast."""
    packed = np.packbits(holds.astype(np.uint8), axis=1)
    if packed.shape[1] == 0:
        return holds[:1], np.zeros(len(holds), dtype=np.intp)
    keys = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, position = np.unique(keys, return_index=True, return_inverse=True)
    return holds[first], position.ravel()


def _in_pieces(points: Points, n_patterns: int, loss_of: LossOf) -> FloatArray:
    """Look at many candidates a few at a time, so that memory stays small."""
    size = max(1, FEW_CELLS // max(n_patterns, 1))
    return np.concatenate([loss_of(points[i : i + size]) for i in range(0, len(points), size)])
