"""Integer points for the terms of a model: ramps become ranges, and the points are optimised for the log loss.

    minimise over integers p   sum_i s_i log(1 + exp(-y_i (a + b (p_0 + sum_j p_j phi_j(x_i)))))

The line (a, b) from total points to log-odds is either given by the scaling of the scorecard, or fitted for each
vector of points (small points that are added up by hand).
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import Scale
from sparsegam._data.table import read_table
from sparsegam._data.target import read_weights
from sparsegam._models.additive import Model
from sparsegam._models.functions import FittedFunction, score_function
from sparsegam._models.scoring import events
from sparsegam._models.terms import Condition, Term
from sparsegam._models.training import TrainingDistribution
from sparsegam.arrays import FloatArray
from sparsegam.losses import logistic

Points = NDArray[np.int64]
Histograms = tuple[FloatArray, FloatArray, FloatArray]
"""The possible totals, and the weight of both classes at each total: one row per vector of points."""
LossOf = Callable[[Points], FloatArray]
"""Log loss per row of each vector of points; the vectors are the rows of the argument."""

N_MULTIPLIERS = 60
N_STARTS = 6
MAX_NEWTON_STEPS = 25
MAX_HALVINGS = 6
TOLERANCE = 1e-9
"""Changes of the log loss per row below this value end a search."""
MAX_PAIRED_TERMS = 25
"""Maximum number of terms for which all pairs of changes are tried."""
MAX_CELLS = 4_000_000
"""Maximum number of patterns times candidates that are evaluated at once."""
MAX_RANGES = 10
"""Maximum number of ranges of one linear piece."""


@dataclass(frozen=True)
class Patterns:
    """Groups of rows for which the same terms hold.

    `holds` has shape (n_patterns, n_terms) and is 1 where a term holds. `events` and `others` have the total weight of
    the rows of the positive and of the negative class.
    """

    holds: Points
    events: FloatArray
    others: FloatArray

    @property
    def total(self) -> float:
        """Total weight of all rows."""
        return float(self.events.sum() + self.others.sum())

    def loss(self, log_odds: FloatArray) -> FloatArray:
        """Return the log loss per row of each column of `log_odds`, which has one row per pattern."""
        events, others = self.events[:, None], self.others[:, None]
        loss: FloatArray = (events * np.logaddexp(0, -log_odds) + others * np.logaddexp(0, log_odds)).sum(axis=0)
        return loss / self.total


@dataclass(frozen=True)
class Bounds:
    """Minimum and maximum points of each term."""

    low: Points
    high: Points

    def on_support(self, points: Points) -> "Bounds":
        """Return the bounds in which terms without points keep zero points."""
        return Bounds(np.where(points, self.low, 0), np.where(points, self.high, 0))

    def neighbours(self, points: Points, *, pairs: bool) -> Points:
        """Return all vectors within the bounds that differ by one point in one term, or in two terms."""
        moves = np.vstack([np.eye(points.size, dtype=np.int64), -np.eye(points.size, dtype=np.int64)])
        if pairs:
            first, second = np.triu_indices(len(moves), 1)
            moves = (moves[first] + moves[second])[first % points.size != second % points.size]
        moved = points + moves
        inside: Points = moved[((moved >= self.low) & (moved <= self.high)).all(axis=1)]
        return inside


def patterns_of(model: Model, X: Any, y: Any, sample_weight: Any = None) -> Patterns:
    """Group the rows of a table for which the same terms of a model hold."""
    table = read_table(X)
    numbers = score_function(model).columns(table)
    columns = [model.column_of(term, numbers).astype(np.int64) for term in model.terms]
    holds = np.column_stack(columns) if columns else np.zeros((table.n_rows, 0), dtype=np.int64)
    event, weight = events(model, y, table.n_rows), read_weights(sample_weight, table.n_rows)
    position = np.zeros(len(holds), dtype=np.intp)
    patterns = holds[:1]
    if columns:
        # Sorting packed bits is much faster than sorting the rows of an integer matrix.
        packed = np.packbits(holds.astype(np.uint8), axis=1)
        keys = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1]))).ravel()
        _, first, position = np.unique(keys, return_index=True, return_inverse=True)
        patterns = holds[first]
    n = len(patterns)
    return Patterns(patterns, _sums(position.ravel(), weight * event, n), _sums(position.ravel(), weight * ~event, n))


def round_to_line(patterns: Patterns, exact: FloatArray, a: float, b: float) -> Points:
    """Round each value up or down such that log-odds a + b * total have the lowest log loss; base points are first."""
    holds = np.column_stack([np.ones(len(patterns.holds), dtype=np.int64), patterns.holds])

    def loss_of(points: Points) -> FloatArray:
        return _in_chunks(points, len(holds), lambda chunk: patterns.loss(a + b * (holds @ chunk.T)))

    bounds = Bounds(np.floor(exact).astype(np.int64), np.ceil(exact).astype(np.int64))
    return descend(np.rint(exact).astype(np.int64), bounds, loss_of, pairs=False)


def round_small(
    patterns: Patterns, coef: FloatArray, max_points: int, max_terms: int | None = None
) -> tuple[Points, float, float]:
    """Return small integer points that have the signs of the coefficients, and the line log-odds = a + b * total.

    The points of a term are at most `max_points`, at most `max_terms` terms have points, and the points have no common
    divisor. `coef` has the coefficients on the scale of log-odds.
    """

    def loss_of(points: Points) -> FloatArray:
        return _in_chunks(points, len(patterns.holds), lambda chunk: fit_lines(patterns, chunk)[0])

    bounds = Bounds(np.where(coef < 0, -max_points, 0), np.where(coef > 0, max_points, 0))
    starts = _rounded_multiples(coef, max_points)
    starts = starts[np.argsort(loss_of(starts), kind="stable")[:N_STARTS]]
    ends = np.unique([descend(start, bounds, loss_of, pairs=False) for start in starts], axis=0)
    best = ends[np.argmin(loss_of(ends))]
    if max_terms is not None:
        best, bounds = _limit_terms(best, bounds, loss_of, max_terms)
    best = descend(best, bounds, loss_of, pairs=best.size <= MAX_PAIRED_TERMS)
    best //= max(int(np.gcd.reduce(best)), 1)
    _, a, b = fit_lines(patterns, best[None, :])
    return best, float(a[0]), float(b[0])


def _limit_terms(points: Points, bounds: Bounds, loss_of: LossOf, max_terms: int) -> tuple[Points, Bounds]:
    """Remove the points of the least useful terms one by one, then swap terms while that lowers the loss.

    Returns the points, and bounds in which all other terms have zero points.
    """
    while np.count_nonzero(points) > max_terms:
        fewer = np.array([np.where(np.arange(points.size) == j, 0, points) for j in np.flatnonzero(points)])
        points = fewer[np.argmin(loss_of(fewer))]
        points = descend(points, bounds.on_support(points), loss_of, pairs=False)
    while True:
        swaps = []
        for j in np.flatnonzero(points):
            for c in np.flatnonzero(points == 0):
                for value in range(int(bounds.low[c]), int(bounds.high[c]) + 1):
                    swapped = points.copy()
                    swapped[j] = 0
                    swapped[c] = value
                    swaps.append(swapped)
        best = np.array(swaps)[np.argmin(loss_of(np.array(swaps)))] if swaps else points
        if loss_of(best[None, :])[0] >= loss_of(points[None, :])[0] - TOLERANCE:
            return points, bounds.on_support(points)
        points = descend(best, bounds.on_support(best), loss_of, pairs=False)


def descend(points: Points, bounds: Bounds, loss_of: LossOf, *, pairs: bool) -> Points:
    """Move to the best neighbour while it lowers the loss; with `pairs`, try two changes where no single one does."""
    loss = float(loss_of(points[None, :])[0])
    paired = False
    while True:
        candidates = bounds.neighbours(points, pairs=paired)
        losses = loss_of(candidates) if len(candidates) else np.array([np.inf])
        best = int(np.argmin(losses))
        if losses[best] < loss - TOLERANCE:
            points, loss, paired = candidates[best], float(losses[best]), False
        elif pairs and not paired and points.size > 1:
            paired = True
        else:
            return points


def fit_lines(patterns: Patterns, points: Points) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Fit log-odds = a + b * total to each vector of points by damped Newton steps on the histogram of totals.

    Returns the log loss per row, a and b.
    """
    totals = (patterns.holds @ points.T).T
    lowest, width = int(totals.min()), int(np.ptp(totals)) + 1
    cell = (totals - lowest + width * np.arange(len(points))[:, None]).ravel()
    shape = (len(points), width)
    events, others = (
        _sums(cell, np.tile(weight, len(points)), len(points) * width).reshape(shape)
        for weight in (patterns.events, patterns.others)
    )
    histograms = np.arange(lowest, lowest + width, dtype=np.float64), events, others
    rate = patterns.events.sum() / patterns.total
    a = np.full(len(points), np.log(rate / (1 - rate)))
    b = np.zeros(len(points))
    loss = _line_loss(a, b, histograms)
    for _ in range(MAX_NEWTON_STEPS):
        da, db = _newton_step(a, b, histograms)
        step = np.ones(loss.size)
        for _ in range(MAX_HALVINGS):
            new = _line_loss(a + step * da, b + step * db, histograms)
            worse = new > loss
            if not worse.any():
                break
            step = np.where(worse, 0.5 * step, step)
        # A step that raises the loss after all halvings is not made.
        step, new = np.where(worse, 0.0, step), np.where(worse, loss, new)
        gain = loss - new
        a, b, loss = a + step * da, b + step * db, new
        if gain.max() < TOLERANCE * patterns.total / 10:
            break
    return loss / patterns.total, a, b


def _sums(position: NDArray[np.integer[Any]], weight: FloatArray, size: int) -> FloatArray:
    return np.bincount(position, weight, size).astype(np.float64, copy=False)


def _line_loss(a: FloatArray, b: FloatArray, histograms: Histograms) -> FloatArray:
    totals, events, others = histograms
    log_odds = a[:, None] + b[:, None] * totals
    loss: FloatArray = (events * np.logaddexp(0, -log_odds) + others * np.logaddexp(0, log_odds)).sum(axis=1)
    return loss


def _newton_step(a: FloatArray, b: FloatArray, histograms: Histograms) -> tuple[FloatArray, FloatArray]:
    totals, events, others = histograms
    p = logistic(a[:, None] + b[:, None] * totals)
    residual = p * (events + others) - events
    curvature = p * (1 - p) * (events + others)
    g0, g1 = residual.sum(axis=1), residual @ totals
    # The small ridge determines b if all points are zero.
    h00, h01, h11 = curvature.sum(axis=1) + 1e-9, curvature @ totals, curvature @ totals**2 + 1e-9
    determinant = h00 * h11 - h01**2
    return -(h11 * g0 - h01 * g1) / determinant, -(h00 * g1 - h01 * g0) / determinant


def _rounded_multiples(coef: FloatArray, max_points: int) -> Points:
    """Return the distinct roundings of many multiples of the coefficients, clipped to `max_points`.

    The multipliers range from the one that gives the largest coefficient its first point to the one that gives the
    median coefficient `max_points`. One large coefficient, of a rare group for example, thus does not force all
    others to zero.
    """
    sizes = np.abs(coef[coef != 0])
    if sizes.size == 0:
        return np.zeros((1, coef.size), dtype=np.int64)
    multipliers = np.geomspace(0.5 / sizes.max(), (max_points + 0.499) / np.median(sizes), N_MULTIPLIERS)
    rounded = np.rint(coef * multipliers[:, None]).clip(-max_points, max_points)
    distinct: Points = np.unique(rounded.astype(np.int64), axis=0)
    return distinct


def _in_chunks(points: Points, n_patterns: int, loss_of: LossOf) -> FloatArray:
    size = max(1, MAX_CELLS // max(n_patterns, 1))
    return np.concatenate([loss_of(points[i : i + size]) for i in range(0, len(points), size)])


def replace_ramps(model: Model, n_ranges: Callable[[float], int]) -> Model:
    """Return a model of steps in which every linear piece is cut into ranges of equal width.

    The contribution of a range is that of the piece at the middle of the range. The training data are assumed to be
    evenly spread within a piece. `n_ranges` returns the maximum number of ranges of a piece, given the absolute change
    of its contribution. A model without ramps is returned unchanged.
    """
    if not any(term.condition.is_ramp for term in model.terms):
        return model
    terms: list[Term] = []
    distributions = dict(model.distributions)
    for name, function in model.functions().items():
        if not isinstance(name, str):
            continue
        own = [term for term in model.terms if term.part == name]
        if not function.has_slopes:
            terms += own
            continue
        ranges = list(_ranges(function, n_ranges))
        terms += _steps(name, ranges)
        terms += [term for term in own if term.condition.kind not in ("<=", "ramp")]
        if name in distributions:
            distributions[name] = _divide_shares(distributions[name], model.scale_of(name), [end for end, _ in ranges])
    terms += [term for term in model.terms if term.is_interaction]
    return replace(
        model,
        terms=tuple(replace(term, statistics=None) for term in terms),
        distributions=distributions,
        training=None,
        stored_profile=None,
        statistics=None,
    )


def _ranges(function: FittedFunction, n_ranges: Callable[[float], int]) -> Iterator[tuple[float, float]]:
    """Return the upper end and the contribution of each range."""
    first, *others = (i for i, bin_ in enumerate(function.bins.bins) if bin_.kind == "interval")
    yield function.bins.bins[first].high, float(function.contributions[first])
    for i in others[:-1]:
        low, high = function.bins.bins[i].low, function.bins.bins[i].high
        start, value = float(function.starts[i]), float(function.contributions[i])
        n = min(max(n_ranges(abs(value - start)), 1), MAX_RANGES) if value != start else 1
        for left, right in pairwise([low, *_round_cuts(low, high, n), high]):
            yield right, start + (value - start) * ((left + right) / 2 - low) / (high - low)


def _round_cuts(low: float, high: float, n: int) -> list[float]:
    """Return the cuts between n ranges of similar width, rounded as much as possible without making cuts equal.

    If both ends are integers, so are the cuts, because the feature may have integer values only.
    """
    is_integer = low.is_integer() and high.is_integer()
    n = min(n, int(high - low)) if is_integer else n
    if n <= 1:
        return []
    width = (high - low) / n
    digits = -math.floor(math.log10(width))
    cuts = np.unique(np.round(low + width * np.arange(1, n), min(digits, 0) if is_integer else digits))
    inside: list[float] = cuts[(cuts > low) & (cuts < high)].tolist()
    return inside


def _steps(name: str, ranges: list[tuple[float, float]]) -> Iterator[Term]:
    """Return the steps that add up to the contribution of each range."""
    above = [contribution for _, contribution in ranges[1:]] + [0.0]
    for (end, contribution), beyond in zip(ranges, above, strict=True):
        if contribution != beyond:
            yield Term(name, Condition("<=", end), contribution - beyond)


def _divide_shares(distribution: TrainingDistribution, scale: Scale, ends: list[float]) -> TrainingDistribution:
    """Divide the share of the training data in each piece among its ranges, in proportion to their width.

    Thresholds of interactions between the ends of ranges are kept.
    """
    known = [scale.number(value) for value, _ in distribution.upto]
    upto = []
    for low, end in pairwise([-math.inf, *sorted({*ends, *known})]):
        i = int(np.searchsorted(known, end))
        first = known[i - 1] if i else -math.inf
        part = 1.0 if known[i] == end and low <= first else (end - max(low, first)) / (known[i] - first)
        upto.append((end, distribution.upto[i][1] * part))
    return replace(distribution, upto=tuple(upto), means=())
