"""A problem handed to the compiled search: one model, or a frontier, is asked for."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from sparsegam import _core
from sparsegam._design.design import Design
from sparsegam._design.scaling import Units
from sparsegam._search.price import Price, check_lambda0, is_settled, noise_of, settled_price
from sparsegam._search.problem import Problem, at_ridge, replace_options
from sparsegam._search.progress import Progress
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
        Whether no exchange of one term for one column lowers the objective (swap 1-OPT).
    pairs, line_searches : int
        How many exchanges there are, and how many of them the bounds left to a line search.
    """

    swap_optimal: bool
    pairs: int
    line_searches: int


@dataclass(frozen=True)
class Fit:
    """One model as the core returns it, the price per term it was found at, and how the search went."""

    point: _core.Point
    lambda0: float
    finished: bool
    counts: dict[str, int]
    certificate: Certificate | None
    factor: float  # sum of the terms' factors on lambda0: their number, where all cost the same

    @property
    def objective(self) -> float:
        """Loss, ridge and the price of all terms."""
        return self.point.loss + self.point.ridge + self.lambda0 * self.factor


@dataclass(frozen=True)
class Frontier:
    """The best model of every size as the core returns them, and how the search went."""

    points: list[_core.Point]
    finished: bool
    counts: dict[str, int]
    in_core: list[_core.Point]  # the points in the units of the core, to start others from


def frontier(
    problem: Problem[D], callback: Progress | None = None, *, start: Frontier | None = None, polish: bool = True
) -> Frontier:
    """Search the best model of every size, or improve on those of the same problem with another ridge.

    Without polish, coefficients are good to six digits or so: enough to score models with.
    """
    search = _core.frontier(
        problem.rows,
        problem.penalty,
        max_terms=problem.max_terms,
        start=list(problem.warm) if start is None else start.in_core,
        comparison_lambda0=problem.size_price,
        polish=polish,
        time_limit=problem.options.time_limit,
        callback=_in_units(callback, problem.units),
        stop=problem.stop,
    )
    points = [problem.units.from_core(point) for point in search.points]
    if polish:
        points = [problem.on_rows(point) for point in points]
    return Frontier(points, search.finished, dict(search.counts), search.points)


def frontiers(problem: Problem[D], ridges: Sequence[Ridge], callback: Progress | None = None) -> list[Frontier]:
    """Search the frontier of each ridge, from the middle one out, each from the models of the one beside it.

    Those models are to be scored, not kept: they are not polished. A time limit holds for all of them together, and
    leaves half of it to the first.
    """
    middle, found = len(ridges) // 2, dict[int, Frontier]()
    order = [middle, *range(middle - 1, -1, -1), *range(middle + 1, len(ridges))]
    end = None if problem.options.time_limit is None else time.monotonic() + problem.options.time_limit
    for n, i in enumerate(order):
        part = at_ridge(problem, ridges[i])
        if end is not None and len(order) > 1:
            share = 2 if n == 0 else len(order) - n
            part = replace_options(part, time_limit=max(end - time.monotonic(), 0.0) / share)
        beside = None if i == middle else found[i + 1 if i < middle else i - 1]
        found[i] = frontier(part, callback, start=beside, polish=False)
    return [found[i] for i in range(len(ridges))]


def fit(problem: Problem[D], lambda0: float | str, callback: Progress | None = None) -> Fit:
    """Search the best model for one price per term, a number or the name of a criterion."""
    found = fit_at(problem, lambda0, callback)
    return replace(found, point=problem.on_rows(found.point))


def fit_at(problem: Problem[D], lambda0: float | str, callback: Progress | None = None) -> Fit:
    """Search the same, its coefficients as the search has them."""
    check_lambda0(lambda0)
    unit, start = problem.price(lambda0), problem.warm[-1] if problem.warm else None
    if is_settled(lambda0, problem.options.loss):
        settled = _settled(problem, unit, start)
    else:
        settled = _Settled(problem, unit(0) if isinstance(lambda0, str) else float(lambda0), start, {})
    certify = bool(problem.options.certify)
    found = _fit_at(settled.problem, settled.lambda0, callback, certify=certify, start=settled.start)
    return replace(found, counts=_summed(settled.counts, found.counts))


def at_noise(problem: P) -> P:
    """Return the problem with its ridge beside the noise of a regression, that of a model without ridge, by "bic"."""
    if not problem.ridge.over_noise:
        return problem
    unit, limit = problem.price("bic"), problem.options.time_limit
    highest = unit(0) * noise_of(_without_terms(problem), 0, problem.total_weight)
    if highest == 0.0:  # y does not vary, or there is one row
        return at_ridge(problem, problem.ridge.beside(1.0))
    plain = at_ridge(problem, Ridge(0.0, standardized=False))
    settled = _settled(replace_options(plain, time_limit=None if limit is None else limit / 3), unit, None)
    return at_ridge(problem, problem.ridge.beside(settled.lambda0 / highest))


def _fit_at(
    problem: Problem[D],
    lambda0: float,
    callback: Progress | None = None,
    *,
    certify: bool = False,
    start: _core.Point | None = None,
) -> Fit:
    search = _core.fit_at(
        problem.rows,
        problem.penalty,
        lambda0=problem.units.price(lambda0),
        max_terms=problem.max_terms,
        certify=certify,
        start=start,
        time_limit=problem.options.time_limit,
        callback=_in_units(callback, problem.units),
        stop=problem.stop,
    )
    point = problem.units.from_core(search.points[-1])
    proof = _certificate(search.certificate)
    return Fit(point, lambda0, search.finished, dict(search.counts), proof, problem.factor(point))


@dataclass(frozen=True)
class _Settled(Generic[D]):
    """What settling the price of a term left: the problem with the rest of its time, the price, where to start from."""

    problem: Problem[D]
    lambda0: float
    start: _core.Point | None
    counts: dict[str, int]


def _settled(problem: Problem[D], unit: Price, start: _core.Point | None) -> _Settled[D]:
    """Settle the price of a term by searches without certificates, each from where the last one ended."""
    end = None if problem.options.time_limit is None else time.monotonic() + problem.options.time_limit
    counts: dict[str, int] = {}

    def left() -> Problem[D]:
        return problem if end is None else replace_options(problem, time_limit=max(end - time.monotonic(), 0.0))

    def solve(lambda0: float) -> tuple[float, int]:
        nonlocal start, counts
        found = _fit_at(left(), lambda0, start=start)
        start, counts = problem.units.to_core(found.point), _summed(counts, found.counts)
        return found.point.loss + found.point.ridge, len(found.point.columns)

    noisy = not LOSSES[problem.options.loss].is_classifier
    price = settled_price(unit, problem.total_weight, _without_terms(problem) if noisy else None, solve)
    return _Settled(left(), price, start, counts)


def _summed(counts: dict[str, int], more: dict[str, int]) -> dict[str, int]:
    """Add up what searches that follow each other did."""
    return {name: counts.get(name, 0) + n for name, n in more.items()}


def _without_terms(problem: Problem[D]) -> float:
    """Return the loss of the smallest model there may be."""
    return float(_fit_at(replace_options(problem, max_terms=problem.n_fixed), 0.0).point.loss)


def _in_units(callback: Progress | None, units: Units) -> Progress | None:
    """Let a callback hear objectives in the units of the user."""
    if callback is None:
        return None
    return lambda n_terms, objective: callback(n_terms, objective * units.loss)


def _certificate(proof: _core.Certificate | None) -> Certificate | None:
    """Copy a certificate out of the core, so that it can be pickled."""
    if proof is None:
        return None
    return Certificate(proof.swap_optimal, proof.pairs, proof.line_searches)
