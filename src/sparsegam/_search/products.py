"""Products that a search may choose from: found by sums over cells of two features, renewed as the model changes.

Candidates are not enumerated. At a model, the rows are asked for sums of gradient and curvature over the cells of pairs
of features, which give the gain of every product; the best few of each pair join the columns, and the same search goes
on over steps and products. Those that no model took make room for others at the next model.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._design.binning import rows_per_bin
from sparsegam._design.constraints import Constraints, InteractionOptions, Pair
from sparsegam._design.interactions import BinRange, Interaction, ProductDesign
from sparsegam._design.threshold import ThresholdDesign
from sparsegam._design.training import bin_counts
from sparsegam._search.options import Deadline
from sparsegam._search.problem import Problem, at_ridge
from sparsegam._search.solver import fit_to_bins, frontier
from sparsegam.arrays import FloatArray
from sparsegam.losses import LOSSES

P = TypeVar("P", bound=Problem[Any])

MOST_CELLS = 32  # ordered cells of a feature, of about as many rows each
MOST_ALONE = 32  # levels and the like: the largest
MOST_PRODUCTS = 256  # among the columns at a time
MOST_BYTES = 1 << 27  # and no more than this of codes
LEAST_PRODUCTS = 16
LEAST_PER_PAIR, MOST_PER_PAIR = 4, 24
MOST_PAIRS = 32  # that may have products at a time
ROUNDS = 2
FINER = 4  # cuts tried between two neighbouring ones around each that a model took
FRONTIER_SIZES = (0.2, 0.5, 1.0)  # shares of max_terms, at whose models a frontier looks for products
# "auto": the best of all products, about so many of a pair that differ, lowers the loss of noise by the logarithm of
# their number; a pair must gain more by this much. Set by benchmarks/interactions.py.
PRODUCTS_THAT_DIFFER = 64
EVIDENCE = 4.0

Cells = tuple[NDArray[np.uint8], int, int]  # of each bin its cell; ordered cells, and all of them
Pose = Callable[[Sequence[Interaction]], Any]


def with_products(
    problem: P, pose: Pose, interactions: InteractionOptions, rules: Constraints, lambda0: float | str | None
) -> P:
    """Return the problem with products among its columns, and the models that asked for them to start from.

    Parameters
    ----------
    problem : Problem
        The problem over plain columns.
    pose : callable
        Poses the same rows with some products.
    interactions, rules : InteractionOptions, Constraints
        What the user asks of products, and of all terms.
    lambda0 : float, str or None
        The price per term of the model to be found; None for a frontier.
    """
    design = problem.design
    never, apart = rules.forbidden(design.names), rules.forbidden_pairs(design.names)
    pairs = interactions.pairs(design.names, never, apart)
    if not pairs or problem.max_terms < 1:
        return problem
    found: P = _Hunt(problem, pose, interactions, rules, lambda0).run(pairs)
    return found


def most_products(n_rows: int) -> int:
    """Return how many products there may be among the columns at a time."""
    return int(np.clip(MOST_BYTES // max(n_rows, 1), LEAST_PRODUCTS, MOST_PRODUCTS))


@dataclass(frozen=True)
class Offer:
    """Products of some pairs at some models, with their gains; and what each pair would gain at most."""

    gain: dict[Interaction, float]
    best: dict[Pair, float]


class _Hunt:
    """Rounds of searches, each over the products that the models of the one before ask for."""

    def __init__(
        self,
        problem: Any,
        pose: Pose,
        interactions: InteractionOptions,
        rules: Constraints,
        lambda0: float | str | None,
    ) -> None:
        self.plain, self.pose, self.interactions, self.lambda0 = problem, pose, interactions, lambda0
        self.seconds = problem.deadline.share(1 / (2 * (ROUNDS + 2))).seconds_left
        self.interrupted = bool(problem.interrupted)
        design: ThresholdDesign = problem.design
        self.cells = [cells_of(design, j) for j in range(len(design.features))]
        self.halves = [[_half(cells, j, part) for part in range(_n_parts(cells))] for j, cells in enumerate(self.cells)]
        self.costs = rules.costs(design.names)
        n_rows = design.core.n_rows
        self.most = most_products(n_rows)
        self.at_least = rows_per_bin(rules.min_samples_bin, n_rows) / n_rows

    def run(self, pairs: Sequence[Pair]) -> Any:
        problem = replace(self.plain, deadline=self._share())
        points = self._search(problem)
        unit = self._noise(points)
        offer = self._ask(problem, points, pairs)
        pairs = self._screened(offer.best, unit)
        if not pairs:  # what was found is a start for the search that comes
            warm = tuple(map(self.plain.units.to_core, points))
            return replace(self.plain, warm_start=warm, interrupted=self.interrupted)
        if self._n_products(pairs) <= self.most:  # all of them are columns: one search will do
            return self._posed(self._pool(offer, pairs, set()), (), self.plain, unit)
        taken: set[Interaction] = set()
        for finer in (*[False] * ROUNDS, True):
            products = self._pool(offer, pairs, taken)
            if finer:
                products = [*taken, *self._finer(taken)][: self.most]
            posed = self._posed(products, points, problem, unit)
            points, problem = self._search(posed), posed
            taken = {product for point in points for product in _products_of(problem.design, point)}
            if not taken and not finer:
                break
            offer = self._ask(problem, points, pairs)
        kept = self._posed(self._pool(offer, pairs, taken), points, problem, unit)
        return replace(kept, deadline=self.plain.deadline, interrupted=self.interrupted)

    def _share(self) -> Deadline:
        """Return the deadline of one search: half of the time is for the search that comes after all of these."""
        return self.plain.deadline.within(self.seconds)

    def _posed(self, products: Sequence[Interaction], points: Sequence[_core.Point], before: Any, unit: float) -> Any:
        """Pose the rows with these products; models that were found before are known to the search that follows."""
        posed = at_ridge(self.pose(products), self.plain.ridge)
        price = self.plain.units.price(self.plain.unit_penalty("auto")(self.plain.max_terms // 2) * unit)
        warm = tuple(_moved(point, before.design, posed.design) for point in map(self.plain.units.to_core, points))
        known = tuple(point for point in warm if point is not None)
        return replace(
            posed,
            deadline=self.plain.deadline if before is self.plain else self._share(),
            stop=self.plain.stop,
            warm_start=known,
            size_penalty=price,
            interrupted=self.interrupted,
        )

    def _search(self, problem: Any) -> list[_core.Point]:
        """Find the model at the price, or a few of the frontier."""
        if self.lambda0 is None:
            models = frontier(problem, polish=False)
            self.interrupted |= not models.finished
            return models.points
        found = fit_to_bins(problem, self.lambda0)
        self.interrupted |= not found.finished
        self.lambda0 = found.lambda0  # what a name stands for is settled once, and again by the search to come
        return [found.point]

    def _asked(self, points: Sequence[_core.Point]) -> list[_core.Point]:
        if len(points) == 1:
            return list(points)
        places = {round(share * (len(points) - 1)) for share in FRONTIER_SIZES}
        return [points[place] for place in sorted(places)]

    def _ask(self, problem: Any, points: Sequence[_core.Point], pairs: Sequence[Pair]) -> Offer:
        """Ask the rows what products would gain at each model; a product counts for its best."""
        gain: dict[Interaction, float] = {}
        best: dict[Pair, float] = {}
        per_pair = int(np.clip(self.most // (2 * len(pairs)), LEAST_PER_PAIR, MOST_PER_PAIR))
        if self._n_products(pairs) <= self.most:
            per_pair = self.most
        for point in map(problem.units.to_core, self._asked(points)):
            found = _core.best_interactions(
                problem.rows,
                point,
                self._all_cells(problem.design),
                np.array(pairs, dtype=np.int64).reshape(-1, 2),
                per_pair=per_pair,
                ridge=self._ridge(problem),
                min_curvature=self._min_curvature(problem, point),
                stop=problem.stop,
            )
            for pair, one in zip(pairs, found.best_interaction_gain.tolist(), strict=True):
                best[pair] = max(best.get(pair, 0.0), one * problem.units.loss)
            columns = (
                found.pair,
                found.condition_a,
                found.condition_b,
                np.maximum(found.marginal_gain, found.interaction_gain),
            )
            for pair, a, b, worth in zip(*(column.tolist() for column in columns), strict=True):
                product = self._product(pairs[pair], a, b)
                if product is not None:
                    gain[product] = max(gain.get(product, 0.0), worth)
        return Offer(gain, best)

    def _all_cells(self, design: ThresholdDesign) -> list[Cells | None]:
        """Return the cells of each feature that the core has; products have none."""
        return [*self.cells, *[None] * (design.n_bins.size - len(self.cells))]

    def _ridge(self, problem: Any) -> float:
        """Return what the ridge adds to the curvature of a step; that on standardised columns is left out."""
        ridge = problem.ridge
        if ridge.standardized:
            return 0.0
        step = int(np.flatnonzero(~problem.design.is_ramp())[0])
        return float(2 * ridge.lambda2 * ridge.unit(problem.rows.columns, problem.units)[step])

    def _min_curvature(self, problem: Any, point: _core.Point) -> float:
        """Return about what as many rows have that a condition must hold for."""
        _, curv, _ = problem.rows.newton(point, np.zeros(0, dtype=np.int64))
        return float(0.5 * self.at_least * np.ravel(curv)[0])

    def _noise(self, points: Sequence[_core.Point]) -> float:
        """Return the variance of the residuals of a regression, in which gains are measured."""
        if LOSSES[self.plain.options.loss].is_classifier:
            return 1.0
        last = points[-1]
        left = float(self.plain.total_weight) - 1 - 2 * len(last.columns)
        return 2 * float(last.loss) / max(left, 1.0)

    def _screened(self, best: dict[Pair, float], unit: float) -> list[Pair]:
        """Return the pairs that may have products: as many as asked for, or those that stand out from noise."""
        ranked = sorted(best, key=lambda pair: self._price(pair) - best[pair])
        if self.interactions.is_auto:
            least = math.log(len(best) * PRODUCTS_THAT_DIFFER) + EVIDENCE
            ranked = [pair for pair in ranked if best[pair] > least * unit]
        most = self.interactions.max_pairs
        return sorted(ranked[: MOST_PAIRS if most is None else most])

    def _price(self, pair: Pair) -> float:
        """Return what a product of a pair costs at the price of a model: that of its dearer feature times its own."""
        price = 0.0 if self.lambda0 is None else float(self.lambda0)  # a number, once a model was found at it
        return price * self.interactions.cost * float(max(self.costs[list(pair)]))

    def _pool(self, offer: Offer, pairs: Sequence[Pair], taken: set[Interaction]) -> list[Interaction]:
        """Return those that models have, and the best of those on offer."""
        wanted = {*pairs}
        ranked = sorted((p for p in offer.gain if p.pair in wanted and p not in taken), key=lambda p: -offer.gain[p])
        return [*sorted(taken), *ranked][: self.most]

    def _finer(self, products: set[Interaction]) -> list[Interaction]:
        """Return the same products with cuts in between those of the cells."""
        found: dict[Interaction, None] = {}
        for product in sorted(products):
            for first in self._finer_half(product.first):
                found[replace(product, first=first)] = None
            for second in self._finer_half(product.second):
                found[replace(product, second=second)] = None
        return [product for product in found if product not in products]

    def _finer_half(self, half: BinRange) -> list[BinRange]:
        of_bin, n_ordered, _ = self.cells[half.feature]
        ordered = np.flatnonzero(of_bin < n_ordered)
        if half.last > ordered.size:
            return []
        cut = half.first if half.first > 0 else half.last  # bins below it are on the one side
        cell = int(of_bin[cut - 1])
        near = np.flatnonzero((of_bin[ordered] == cell) | (of_bin[ordered] == cell + 1)) + 1
        near = near[near < ordered.size]
        if not near.size:
            return []
        chosen = np.unique(near[np.linspace(0, near.size - 1, 2 * FINER + 1).round().astype(np.intp)])
        return [_cut(half, int(at)) for at in chosen if at != cut]

    def _product(self, pair: Pair, part_a: int, part_b: int) -> Interaction | None:
        first, second = self.halves[pair[0]][part_a], self.halves[pair[1]][part_b]
        return None if first is None or second is None else Interaction(first, second)

    def _n_products(self, pairs: Sequence[Pair]) -> int:
        sizes = [_n_parts(cells) for cells in self.cells]
        return sum(sizes[a] * sizes[b] for a, b in pairs)


def cells_of(design: ThresholdDesign, j: int) -> Cells:
    """Put the bins of a feature into cells: neighbours in order into those of about the same weight, the others alone.

    Of more levels than there is room for, the largest are cells, and the others share one that no product asks for.
    """
    feature = design.features[j]
    counts = bin_counts(feature, design.bins(j).shares)  # a row that weighs two is two rows
    n = feature.n_ordered
    of_bin = np.zeros(feature.n_bins, dtype=np.int64)
    n_ordered = 0
    if n > 0:
        of_bin[:n], n_ordered = _ordered_cells(counts[:n])
    alone = np.arange(n, feature.n_bins)
    largest = np.sort(alone[np.argsort(-counts[n:], kind="stable")][:MOST_ALONE])
    of_bin[alone] = n_ordered + largest.size
    of_bin[largest] = n_ordered + np.arange(largest.size)
    n_cells = n_ordered + largest.size + int(alone.size > largest.size)
    return of_bin.astype(np.uint8), n_ordered, n_cells


def _ordered_cells(counts: FloatArray) -> tuple[NDArray[np.int64], int]:
    """Cut ordered bins where shares of the rows are reached; few bins are a cell each."""
    if counts.size <= MOST_CELLS:
        return np.arange(counts.size), counts.size
    upto = np.cumsum(counts)
    share = np.floor((upto - counts / 2) / upto[-1] * MOST_CELLS)
    cells = np.unique(share, return_inverse=True)[1]
    return cells.astype(np.int64), int(cells[-1]) + 1


def _n_parts(cells: Cells) -> int:
    _, n_ordered, n_cells = cells
    return 2 * max(n_ordered - 1, 0) + n_cells - n_ordered


def _half(cells: Cells, feature: int, part: int) -> BinRange | None:
    """Return a part of the cells of a feature, as the core numbers them, in bins; None for the cell of many levels."""
    of_bin, n_ordered, _ = cells
    cuts = max(n_ordered - 1, 0)
    if part < 2 * cuts:
        ordered = of_bin[of_bin < n_ordered]
        cut = int(np.searchsorted(ordered, part % cuts, side="right"))
        return BinRange(feature, 0, cut) if part < cuts else BinRange(feature, cut, ordered.size)
    bins = np.flatnonzero(of_bin == n_ordered + part - 2 * cuts)
    return BinRange(feature, int(bins[0]), int(bins[0]) + 1) if bins.size == 1 else None


def _cut(half: BinRange, at: int) -> BinRange:
    return replace(half, first=at) if half.first > 0 else replace(half, last=at)


def _products_of(design: ThresholdDesign, point: _core.Point) -> list[Interaction]:
    """Return the products among the columns of a point."""
    if not isinstance(design, ProductDesign):
        return []
    return [product for column in point.columns.tolist() if (product := design.product(column)) is not None]


def _moved(point: _core.Point, before: ThresholdDesign, after: ThresholdDesign) -> _core.Point | None:
    """Return a point in the columns of another design of the same rows; None where that lacks one of them."""
    columns = point.columns.copy()
    if isinstance(before, ProductDesign):
        for i, column in enumerate(point.columns.tolist()):
            product = before.product(column)
            if product is not None:
                columns[i] = after.columns_of([product])[0] if isinstance(after, ProductDesign) else -1
    if (columns < 0).any():
        return None
    return _core.Point(point.intercept, columns, point.coef, loss=point.loss, ridge=point.ridge)
