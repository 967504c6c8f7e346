"""Search for candidate interactions.

All products of two conditions are far too many to be columns of a design. At a model, the sums of gradient and
curvature over the two-dimensional bins of each pair of features give the gain of every product. The products of largest
gain become candidates, and the search continues over steps and interactions. Candidates that no model uses are
replaced at the next model.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._design.binning import bin_counts, rows_per_bin
from sparsegam._design.constraints import Pair
from sparsegam._design.interactions import BinRange, Interaction, max_interactions
from sparsegam._design.threshold import ThresholdDesign
from sparsegam._search.problem import Problem
from sparsegam._search.solver import fit_to_bins, frontier, with_noise_scaled_ridge
from sparsegam._search.table_problem import TableProblem, with_interactions
from sparsegam.arrays import FloatArray
from sparsegam.losses import LOSSES

P = TypeVar("P", bound=Problem[Any])

# Coarse bins of a feature: ordered bins are grouped into quantiles; of unordered bins, the largest are kept.
MAX_ORDERED_BINS = 32
MAX_UNORDERED_BINS = 32
MIN_PER_PAIR, MAX_PER_PAIR = 4, 24
# Largest number of pairs with candidates for interactions="auto" or a list of pairs.
MAX_PAIRS = 32
N_ROUNDS = 2
# A coarse threshold in a model is refined: number of finer thresholds that are tried on each side of it.
N_REFINED_THRESHOLDS = 4
# Sizes of the models at which candidates are scored if all sizes are searched, as shares of max_terms.
FRONTIER_SIZES = (0.2, 0.5, 1.0)
# With interactions="auto", each pair has about this many distinct products, whose largest gain is, for pure noise,
# the logarithm of their number. The gain of a pair must exceed this by the margin. Set by benchmarks/interactions.py.
N_DISTINCT_PRODUCTS = 64
GAIN_MARGIN = 4.0


@dataclass(frozen=True)
class Conditions:
    """The conditions on one feature from which interactions are built.

    Attributes
    ----------
    coarse_bins : (ndarray of uint8, int, int)
        Coarse bin of each bin, number of ordered coarse bins, and number of all; see `_core.CoarseBins`.
    ranges : list of BinRange or None
        The conditions, in the order of the core; None for the coarse bin that collects rare levels.
    """

    coarse_bins: tuple[NDArray[np.uint8], int, int]
    ranges: list[BinRange | None]


@dataclass(frozen=True)
class Models:
    """Intermediate models, at which candidates are scored.

    Attributes
    ----------
    problem : TableProblem
        The problem of the models.
    points : list of Point
        The models: one, or one per size.
    lambda0 : float or None
        The penalty per term of the model; None for models of all sizes.
    finished : bool
        False if the deadline ended the search.
    """

    problem: TableProblem
    points: list[_core.Point]
    lambda0: float | None
    finished: bool

    @property
    def interactions(self) -> set[Interaction]:
        """The interactions in any of the models."""
        found = (self.problem.design.interaction_of(c) for point in self.points for c in point.columns.tolist())
        return {interaction for interaction in found if interaction is not None}


@dataclass(frozen=True)
class Gains:
    """Predicted gains of candidate interactions, each the largest over all models.

    Attributes
    ----------
    of_interaction : dict from Interaction to float
        Gain of each candidate.
    of_pair : dict from pair to float
        Largest gain of any interaction of each pair, beyond the gains of its two conditions.
    """

    of_interaction: dict[Interaction, float]
    of_pair: dict[Pair, float]


def prepare(problem: P, lambda0: float | str | None = None) -> P:
    """Return the problem ready to be searched: with its ridge scaled by the noise, and with candidate interactions.

    Parameters
    ----------
    problem : Problem
        The problem as it was built.
    lambda0 : float, str or None, default=None
        The penalty per term that will be searched; None for models of all sizes.
    """
    if not isinstance(problem, TableProblem):
        return problem
    prepared: Any = with_noise_scaled_ridge(problem)
    if problem.interaction_options.is_on:
        prepared = add_interactions(prepared, lambda0)
    return cast("P", prepared)


def add_interactions(problem: TableProblem, lambda0: float | str | None) -> TableProblem:
    """Return the problem with candidate interactions, and with the intermediate models as starting points."""
    names, options, constraints = problem.design.names, problem.interaction_options, problem.constraints
    pairs = options.pairs(names, constraints.forbidden(names), constraints.forbidden_pairs(names))
    if not pairs or problem.max_terms < 1:
        return problem
    conditions = [conditions_of(problem.design, j) for j in range(len(names))]
    limit = max_interactions(problem.design.n_rows)
    # Half of the time is left for the search that follows.
    seconds = problem.deadline.share(1 / (2 * (N_ROUNDS + 2))).seconds_left

    models = _search(replace(problem, deadline=problem.deadline.within(seconds)), lambda0)
    noise = _noise_variance(models)
    gains = _gains(models, conditions, pairs, limit)
    pairs = _best_pairs(gains, models, noise)
    if not pairs:
        start = tuple(map(problem.units.to_core, models.points))
        return replace(problem, warm_start=start, interrupted=not models.finished)
    if sum(len(conditions[a].ranges) * len(conditions[b].ranges) for a, b in pairs) <= limit:
        candidates = _best_candidates(gains, pairs, set(), limit)
        return _with_candidates(problem, candidates, replace(models, points=[]), noise)

    for refine in (*[False] * N_ROUNDS, True):
        used = models.interactions
        candidates = _best_candidates(gains, pairs, used, limit)
        if refine:
            candidates = [*sorted(used), *_refined(used, conditions)][:limit]
        extended = _with_candidates(problem, candidates, models, noise)
        models = _search(replace(extended, deadline=problem.deadline.within(seconds)), models.lambda0)
        if not models.interactions and not refine:
            break
        gains = _gains(models, conditions, pairs, limit)
    return _with_candidates(problem, _best_candidates(gains, pairs, models.interactions, limit), models, noise)


def _search(problem: TableProblem, lambda0: float | str | None) -> Models:
    if lambda0 is None:
        path = frontier(problem, polish=False)
        return Models(problem, path.points, None, path.finished)
    found = fit_to_bins(problem, lambda0)
    return Models(problem, [found.point], found.lambda0, found.finished)


def _with_candidates(
    problem: TableProblem, candidates: Sequence[Interaction], models: Models, noise: float
) -> TableProblem:
    """Return the problem with candidate interactions, starting from those models that use no others."""
    extended = with_interactions(problem, candidates)
    size_penalty = problem.units.core_penalty(problem.unit_penalty("auto")(problem.max_terms // 2) * noise)
    moved = (_in_design(problem.units.to_core(p), models.problem.design, extended.design) for p in models.points)
    start = tuple(point for point in moved if point is not None)
    return replace(extended, warm_start=start, size_penalty=size_penalty, interrupted=not models.finished)


def _in_design(point: _core.Point, before: ThresholdDesign, after: ThresholdDesign) -> _core.Point | None:
    """Renumber the columns of a point for a design with other interactions; None if the design lacks one in use."""
    columns = point.columns.copy()
    for i, column in enumerate(columns.tolist()):
        interaction = before.interaction_of(column)
        if interaction is not None:
            columns[i] = after.columns_of([interaction])[0]
    if (columns < 0).any():
        return None
    return _core.Point(point.intercept, columns, point.coef, loss=point.loss, ridge=point.ridge)


def _noise_variance(models: Models) -> float:
    """Return the residual variance of a regression, by which gains are divided; 1 for a classifier."""
    if LOSSES[models.problem.options.loss].is_classifier:
        return 1.0
    largest = models.points[-1]
    return 2 * float(largest.loss) / max(models.problem.total_weight - 1 - 2 * len(largest.columns), 1.0)


def _gains(models: Models, conditions: Sequence[Conditions], pairs: Sequence[Pair], limit: int) -> Gains:
    """Compute the gains of the best interactions of each pair, at some of the models."""
    problem = models.problem
    n_products = sum(len(conditions[a].ranges) * len(conditions[b].ranges) for a, b in pairs)
    per_pair = limit if n_products <= limit else int(np.clip(limit // (2 * len(pairs)), MIN_PER_PAIR, MAX_PER_PAIR))
    coarse_bins = [*(one.coarse_bins for one in conditions), *[None] * len(problem.design.interactions)]
    gains = Gains({}, {})
    for point in map(problem.units.to_core, _representative(models.points)):
        found = _core.best_interactions(
            problem.rows,
            point,
            coarse_bins,
            np.array(pairs, dtype=np.int64).reshape(-1, 2),
            per_pair=per_pair,
            ridge=_ridge_curvature(problem),
            min_curvature=_min_curvature(problem, point),
            stop=problem.stop,
        )
        for pair, gain in zip(pairs, found.best_interaction_gain.tolist(), strict=True):
            gains.of_pair[pair] = max(gains.of_pair.get(pair, 0.0), gain * problem.units.loss)
        best = np.maximum(found.marginal_gain, found.interaction_gain)
        for pair, a, b, gain in zip(found.pair, found.condition_a, found.condition_b, best.tolist(), strict=True):
            first, second = conditions[pairs[pair][0]].ranges[a], conditions[pairs[pair][1]].ranges[b]
            if first is not None and second is not None:
                interaction = Interaction(first, second)
                gains.of_interaction[interaction] = max(gains.of_interaction.get(interaction, 0.0), gain)
    return gains


def _representative(points: list[_core.Point]) -> list[_core.Point]:
    """Return the model or, of models of all sizes, a few."""
    if len(points) == 1:
        return points
    return [points[i] for i in sorted({round(share * (len(points) - 1)) for share in FRONTIER_SIZES})]


def _ridge_curvature(problem: TableProblem) -> float:
    """Return the curvature that the ridge adds to each 0/1 column; 0 for a ridge on standardised coefficients."""
    if problem.ridge.standardized:
        return 0.0
    step = int(np.flatnonzero(~problem.design.is_ramp)[0])
    return float(2 * problem.ridge.lambda2 * problem.ridge.unit(problem.rows.columns, problem.units)[step])


def _min_curvature(problem: TableProblem, point: _core.Point) -> float:
    """Return half of the total curvature of `min_samples_bin` rows, each with the mean curvature."""
    n_rows = problem.design.n_rows
    share = rows_per_bin(problem.constraints.min_samples_bin, n_rows) / n_rows
    _, curvature, _ = problem.rows.newton(point, np.zeros(0, dtype=np.int64))
    return float(0.5 * share * np.ravel(curvature)[0])


def _best_pairs(gains: Gains, models: Models, noise: float) -> list[Pair]:
    """Return the pairs that may have candidates: a given number, or those that are significant."""
    problem, options = models.problem, models.problem.interaction_options
    costs = problem.constraints.costs(problem.design.names)
    lambda0 = 0.0 if models.lambda0 is None else models.lambda0

    def net_gain(pair: Pair) -> float:
        return gains.of_pair[pair] - lambda0 * options.cost * float(max(costs[list(pair)]))

    ranked = sorted(gains.of_pair, key=net_gain, reverse=True)
    if options.is_auto:
        threshold = math.log(len(ranked) * N_DISTINCT_PRODUCTS) + GAIN_MARGIN
        ranked = [pair for pair in ranked if gains.of_pair[pair] > threshold * noise]
    return sorted(ranked[: MAX_PAIRS if options.max_pairs is None else options.max_pairs])


def _best_candidates(gains: Gains, pairs: Sequence[Pair], used: set[Interaction], limit: int) -> list[Interaction]:
    """Return the interactions in use, and those of largest gain among the others."""
    allowed = set(pairs)
    others = [one for one in gains.of_interaction if one.pair in allowed and one not in used]
    return [*sorted(used), *sorted(others, key=lambda one: -gains.of_interaction[one])][:limit]


def _refined(interactions: Iterable[Interaction], conditions: Sequence[Conditions]) -> list[Interaction]:
    """Return interactions with thresholds near those of the given ones, between the coarse bins."""
    given, found = set(interactions), dict[Interaction, None]()
    for one in sorted(given):
        for first in _refined_range(one.first, conditions[one.first.feature]):
            found[replace(one, first=first)] = None
        for second in _refined_range(one.second, conditions[one.second.feature]):
            found[replace(one, second=second)] = None
    return [interaction for interaction in found if interaction not in given]


def _refined_range(side: BinRange, conditions: Conditions) -> list[BinRange]:
    coarse_bin, n_ordered, _ = conditions.coarse_bins
    ordered = np.flatnonzero(coarse_bin < n_ordered)
    if side.last > ordered.size:
        return []
    threshold = side.first if side.first > 0 else side.last
    below = int(coarse_bin[threshold - 1])
    near = np.flatnonzero((coarse_bin[ordered] == below) | (coarse_bin[ordered] == below + 1)) + 1
    near = near[near < ordered.size]
    if not near.size:
        return []
    chosen = np.unique(near[np.linspace(0, near.size - 1, 2 * N_REFINED_THRESHOLDS + 1).round().astype(np.intp)])
    return [side.with_threshold(int(other)) for other in chosen if other != threshold]


def conditions_of(design: ThresholdDesign, j: int) -> Conditions:
    """Return the conditions on feature j from which interactions are built.

    Ordered bins are grouped into coarse bins of about the same weight. The largest unordered bins are coarse bins of
    their own, and all others share one, which is in no interaction.
    """
    feature = design.features[j]
    weight, n = bin_counts(feature, design.weights[design.bins_of(j)]), feature.n_ordered
    coarse, n_ordered = np.zeros(feature.n_bins, dtype=np.int64), 0
    if n > 0:
        coarse[:n], n_ordered = _quantile_groups(weight[:n])
    unordered = np.arange(n, feature.n_bins)
    largest = np.sort(unordered[np.argsort(-weight[n:], kind="stable")][:MAX_UNORDERED_BINS])
    coarse[unordered] = n_ordered + largest.size
    coarse[largest] = n_ordered + np.arange(largest.size)
    n_coarse = n_ordered + largest.size + int(unordered.size > largest.size)

    ends = np.searchsorted(coarse[:n], np.arange(max(n_ordered - 1, 0)), side="right").tolist()
    ranges: list[BinRange | None] = [BinRange(j, 0, end) for end in ends]
    ranges += [BinRange(j, end, n) for end in ends]
    ranges += [BinRange(j, b, b + 1) for b in largest.tolist()]
    rest = np.setdiff1d(unordered, largest)
    if rest.size:
        ranges.append(BinRange(j, int(rest[0]), int(rest[0]) + 1) if rest.size == 1 else None)
    return Conditions((coarse.astype(np.uint8), n_ordered, n_coarse), ranges)


def _quantile_groups(weight: FloatArray) -> tuple[NDArray[np.int64], int]:
    """Group ordered bins at quantiles of their weight; return the group of each bin and the number of groups."""
    if weight.size <= MAX_ORDERED_BINS:
        return np.arange(weight.size), weight.size
    cumulative = np.cumsum(weight)
    quantile = np.floor((cumulative - weight / 2) / cumulative[-1] * MAX_ORDERED_BINS)
    groups = np.unique(quantile, return_inverse=True)[1]
    return groups.astype(np.int64), int(groups[-1]) + 1
