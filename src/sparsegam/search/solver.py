"""A problem handed to the compiled search: one model, or a frontier, is asked for."""

import time
from dataclasses import dataclass
from typing import Any, TypeVar

from sparsegam import _core
from sparsegam.design.design import Design
from sparsegam.design.units import Units
from sparsegam.losses import LOSSES
from sparsegam.search.price import check_lambda0, noise_price, price
from sparsegam.search.problem import Problem, replace_options
from sparsegam.search.progress import Progress

D = TypeVar("D", bound=Design[Any])


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


def frontier(problem: Problem[D], callback: Progress | None = None) -> Frontier:
    """Search the best model of every size."""
    search = _core.frontier(
        problem.rows,
        problem.penalty,
        max_terms=problem.max_terms,
        time_limit=problem.options.time_limit,
        callback=_in_units(callback, problem.units),
        stop=problem.stop,
    )
    return Frontier([problem.units.from_core(p) for p in search.points], search.finished, dict(search.counts))


def fit(problem: Problem[D], lambda0: float | str, callback: Progress | None = None) -> Fit:
    """Search the best model for one price per term, a number or the name of a criterion."""
    check_lambda0(lambda0)
    if isinstance(lambda0, str) and not LOSSES[problem.options.loss].is_classifier:
        problem, lambda0 = _noise_priced(problem, price(lambda0, problem.total_weight, problem.mean_weight))
    return _fit_at(
        problem,
        price(lambda0, problem.total_weight, problem.mean_weight),
        callback,
        certify=bool(problem.options.certify),
    )


def _fit_at(problem: Problem[D], lambda0: float, callback: Progress | None = None, *, certify: bool = False) -> Fit:
    search = _core.fit_at(
        problem.rows,
        problem.penalty,
        lambda0=problem.units.price(lambda0),
        max_terms=problem.max_terms,
        certify=certify,
        time_limit=problem.options.time_limit,
        callback=_in_units(callback, problem.units),
        stop=problem.stop,
    )
    point = problem.units.from_core(search.points[-1])
    proof = _certificate(search.certificate)
    return Fit(point, lambda0, search.finished, dict(search.counts), proof, problem.factor(point))


def _noise_priced(problem: Problem[D], unit: float) -> tuple[Problem[D], float]:
    """Settle the price of a term by searches without certificates; the problem comes back with the time left."""
    end = None if problem.options.time_limit is None else time.monotonic() + problem.options.time_limit

    def left() -> Problem[D]:
        return problem if end is None else replace_options(problem, time_limit=max(end - time.monotonic(), 0.0))

    def solve(lambda0: float) -> tuple[float, int]:
        point = _fit_at(left(), lambda0).point
        return point.loss + point.ridge, len(point.columns)

    empty = _fit_at(replace_options(problem, max_terms=0), 0.0).point
    return left(), noise_price(unit, problem.total_weight, empty.loss, solve)


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
