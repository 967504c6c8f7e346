"""Search with the compiled core: one model at a given lambda0, or the best model of every size."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from sparsegam import _core
from sparsegam._design.scaling import Units
from sparsegam._search.penalty import PenaltyOfSize, check_lambda0, depends_on_model, fixed_point, noise_variance
from sparsegam._search.problem import Design, Problem, Progress, at_ridge
from sparsegam._search.ridge import Ridge
from sparsegam.losses import LOSSES

D = TypeVar("D", bound=Design[Any])
P = TypeVar("P", bound=Problem[Any])


@dataclass(frozen=True)
class Certificate:
    """What was proved about a model after the search.

    Attributes
    ----------
    swap_optimal : bool
        Whether no swap of one term for another column lowers the objective (swap 1-OPT).
    pairs, line_searches : int
        Number of possible swaps, and number of those that bounds could not rule out without a line search.
    """

    swap_optimal: bool
    pairs: int
    line_searches: int


@dataclass(frozen=True)
class Fit:
    """The model found at one lambda0, and how the search went.

    Attributes
    ----------
    point : _core.Point
        Columns and coefficients, in the units of the user.
    lambda0 : float
        The penalty per term.
    finished : bool
        False if the deadline ended the search.
    counts : dict
        Counts of the operations of the search.
    certificate : Certificate or None
        What was proved, if that was requested.
    total_cost : float
        Sum of the factors on lambda0 of the terms.
    """

    point: _core.Point
    lambda0: float
    finished: bool
    counts: dict[str, int]
    certificate: Certificate | None
    total_cost: float

    @property
    def objective(self) -> float:
        """Loss, ridge and the penalty of all terms."""
        return self.point.loss + self.point.ridge + self.lambda0 * self.total_cost


@dataclass(frozen=True)
class Frontier:
    """The best model of every size, and how the search went.

    Attributes
    ----------
    points : list of Point
        The models by size, in the units of the user.
    finished : bool
        False if the deadline ended the search.
    counts : dict
        Counts of the operations of the search.
    in_core : list of Point
        The models in the units of the core, as starting points for other searches.
    """

    points: list[_core.Point]
    finished: bool
    counts: dict[str, int]
    in_core: list[_core.Point]


def fit(problem: Problem[D], lambda0: float | str, callback: Progress | None = None) -> Fit:
    """Find the best model at one penalty per term, a number or the name of a criterion."""
    found = fit_to_bins(problem, lambda0, callback)
    return replace(found, point=problem.refit_on_raw_values(found.point))


def fit_to_bins(problem: Problem[D], lambda0: float | str, callback: Progress | None = None) -> Fit:
    """Like `fit`, but without refitting the coefficients to the raw values."""
    check_lambda0(lambda0)
    unit = problem.unit_penalty(lambda0)
    penalty, counts = unit(0), dict[str, int]()
    start = problem.warm_start[-1] if problem.warm_start else None
    if depends_on_model(lambda0, problem.options.loss):
        penalty, start, counts = _converged_penalty(problem, unit, start)
    found = _search_at(problem, penalty, callback, certify=bool(problem.options.certify), start=start)
    return replace(found, counts=_added(counts, found.counts))


def frontier(
    problem: Problem[D], callback: Progress | None = None, *, start: Frontier | None = None, polish: bool = True
) -> Frontier:
    """Find the best model of every size.

    Parameters
    ----------
    problem : Problem
        The problem.
    callback : callable, optional
        Called with (n_terms, objective) for each model found.
    start : Frontier, optional
        Models to improve on: those of the same problem with another ridge.
    polish : bool, default=True
        Whether to refine the coefficients to full precision and refit them to the raw values. Without it they are
        accurate to about six digits, which is enough to compare models.
    """
    search = _core.frontier(
        problem.rows,
        problem.penalty,
        max_terms=problem.max_terms,
        start=list(problem.warm_start) if start is None else start.in_core,
        comparison_lambda0=problem.size_penalty,
        polish=polish,
        time_limit=problem.deadline.seconds_left,
        callback=_in_user_units(callback, problem.units),
        stop=problem.stop,
    )
    points = [problem.units.from_core(point) for point in search.points]
    if polish:
        points = [problem.refit_on_raw_values(point) for point in points]
    return Frontier(points, search.finished and not problem.interrupted, dict(search.counts), search.points)


def frontiers(problem: Problem[D], ridges: Sequence[Ridge], callback: Progress | None = None) -> list[Frontier]:
    """Find the best model of every size for each ridge, without polishing the coefficients.

    The search starts with the middle ridge and proceeds outwards, each from the models of its neighbour. The first
    search may take half of the time left.
    """
    middle, found = len(ridges) // 2, dict[int, Frontier]()
    order = [middle, *range(middle - 1, -1, -1), *range(middle + 1, len(ridges))]
    for n, i in enumerate(order):
        neighbour = None if i == middle else found[i + 1 if i < middle else i - 1]
        share = 1.0 if len(order) == 1 else 0.5 if n == 0 else 1 / (len(order) - n)
        mine = replace(at_ridge(problem, ridges[i]), deadline=problem.deadline.share(share))
        found[i] = frontier(mine, callback, start=neighbour, polish=False)
    return [found[i] for i in range(len(ridges))]


def with_noise_scaled_ridge(problem: P) -> P:
    """Scale the ridge of a regression by the noise share of the variance, estimated from an unpenalised BIC fit."""
    if not problem.ridge.over_noise:
        return problem
    unit = problem.unit_penalty("bic")
    highest = unit(0) * noise_variance(_null_loss(problem), 0, problem.total_weight)
    if highest == 0.0:
        # y is constant, or there is a single row.
        return at_ridge(problem, problem.ridge.times_noise(1.0))
    plain = replace(at_ridge(problem, Ridge(0.0, standardized=False)), deadline=problem.deadline.share(1 / 3))
    penalty, _, _ = _converged_penalty(plain, unit, None)
    interrupted = problem.interrupted or plain.deadline.seconds_left == 0.0
    return replace(at_ridge(problem, problem.ridge.times_noise(penalty / highest)), interrupted=interrupted)


def _converged_penalty(
    problem: Problem[D], unit: PenaltyOfSize, start: _core.Point | None
) -> tuple[float, _core.Point | None, dict[str, int]]:
    """Iterate lambda0 to its fixed point; return it with the last model found and the counts of all searches."""
    counts: dict[str, int] = {}

    def best_at(penalty: float) -> tuple[float, int]:
        nonlocal start, counts
        found = _search_at(problem, penalty, start=start)
        start, counts = problem.units.to_core(found.point), _added(counts, found.counts)
        return found.point.loss + found.point.ridge, len(found.point.columns)

    null_objective = None if LOSSES[problem.options.loss].is_classifier else _null_loss(problem)
    return fixed_point(unit, problem.total_weight, null_objective, best_at), start, counts


def _null_loss(problem: Problem[D]) -> float:
    """Return the loss of the smallest model that the constraints allow."""
    smallest = replace(problem, options=replace(problem.options, max_terms=problem.n_fixed))
    return float(_search_at(smallest, 0.0).point.loss)


def _search_at(
    problem: Problem[D],
    lambda0: float,
    callback: Progress | None = None,
    *,
    certify: bool = False,
    start: _core.Point | None = None,
) -> Fit:
    """Run the compiled search at a numeric lambda0."""
    search = _core.fit_at(
        problem.rows,
        problem.penalty,
        lambda0=problem.units.core_penalty(lambda0),
        max_terms=problem.max_terms,
        certify=certify,
        start=start,
        time_limit=problem.deadline.seconds_left,
        callback=_in_user_units(callback, problem.units),
        stop=problem.stop,
    )
    point, proof = problem.units.from_core(search.points[-1]), search.certificate
    # The certificate of the core is copied, as it cannot be pickled.
    certificate = None if proof is None else Certificate(proof.swap_optimal, proof.pairs, proof.line_searches)
    finished = search.finished and not problem.interrupted
    return Fit(point, lambda0, finished, dict(search.counts), certificate, problem.total_cost(point))


def _added(counts: dict[str, int], more: dict[str, int]) -> dict[str, int]:
    return {name: counts.get(name, 0) + n for name, n in more.items()}


def _in_user_units(callback: Progress | None, units: Units) -> Progress | None:
    if callback is None:
        return None
    return lambda n_terms, objective: callback(n_terms, objective * units.loss)
