"""The face of the compiled search: options are checked, a problem is posed, one model or a frontier asked for."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
from joblib import effective_n_jobs  # type: ignore[import-untyped]
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from sparsegam import _core
from sparsegam.checks import check_boolean, check_choice, check_integer, check_number
from sparsegam.data.frames import Table
from sparsegam.design.binning import Binning, bin_table
from sparsegam.design.rules import Rules
from sparsegam.design.threshold import Design
from sparsegam.search.progress import Progress

LOSSES = ("logistic", "exponential", "squared")
CRITERIA = ("aic", "bic")
DEFAULT_MAX_TERMS = 500  # far above what a person can read; a search without a price per term must end somewhere
NOISE_ROUNDS = 10
SMALLEST_NOISE = 1e-4  # share of the variance of y below which a fit counts as perfect


@dataclass(frozen=True)
class Options:
    """What the user may choose about a problem and its search; wrong values are refused when it is made.

    Attributes
    ----------
    loss : {"logistic", "exponential", "squared"}
        Loss that is summed over rows.
    lambda2 : float
        Ridge penalty on the standardised coefficients.
    max_terms : int or None
        Largest number of terms; None leaves it to the price per term.
    n_jobs : int or None
        Number of threads, as joblib counts them.
    time_limit : float or None
        Seconds after which the search returns the best it has.
    certify : bool
        Whether to prove the model swap 1-OPT, going on from any better one that the proof finds.
    """

    loss: str
    lambda2: float
    max_terms: int | None
    n_jobs: int | None = None
    time_limit: float | None = None
    certify: bool = False

    def __post_init__(self) -> None:
        check_choice("loss", self.loss, LOSSES)
        check_number("lambda2", self.lambda2, at_least=0.0)
        if self.max_terms is not None:
            check_integer("max_terms", self.max_terms, at_least=0)
        if self.n_jobs is not None:
            check_integer("n_jobs", self.n_jobs)
        if self.time_limit is not None:
            check_number("time_limit", self.time_limit, at_least=0.0)
        check_boolean("certify", self.certify)

    @property
    def n_threads(self) -> int:
        """Number of threads that n_jobs stands for."""
        return int(effective_n_jobs(self.n_jobs))


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
class Problem:
    """A design with labels, weights and a loss, ready to be searched."""

    design: Design
    rows: _core.Rows
    penalty: _core.Penalty
    options: Options
    total_weight: float
    n_candidates: int
    cost: NDArray[np.float64] | None = None  # factor on lambda0 by column, where they are not all one

    @property
    def max_terms(self) -> int:
        """Largest size to search: what was asked for, but no more terms than candidates."""
        asked = DEFAULT_MAX_TERMS if self.options.max_terms is None else int(self.options.max_terms)
        return min(asked, self.n_candidates)


@dataclass(frozen=True)
class Fit:
    """One model as the core returns it, the price per term it was found at, and how the search went."""

    point: _core.Point
    lambda0: float
    finished: bool
    counts: dict[str, int]
    certificate: Certificate | None
    factor: float | None = None  # sum of the terms' factors on lambda0, where they are not all one

    @property
    def objective(self) -> float:
        """Loss, ridge and the price of all terms."""
        factor = len(self.point.columns) if self.factor is None else self.factor
        return self.point.loss + self.point.ridge + self.lambda0 * factor


def pose(
    table: Table,
    y: NDArray[np.float64],
    weight: NDArray[np.float64],
    options: Options,
    binning: Binning,
    rules: Rules,
) -> Problem:
    """Bin the table and hand it to the core; rows without weight are left out, as if they were absent."""
    kept = weight > 0
    if not kept.all():
        table, y, weight = table.keep(kept), y[kept], weight[kept]
    design = Design(*bin_table(table, binning), weight)
    rows = _core.Rows(design.core, y, weight, loss=options.loss, n_threads=options.n_threads)
    allowed = design.candidates(rules)
    always = _always(design, rows, options, rules, allowed)
    penalty = design.penalty(float(options.lambda2), rules, allowed=allowed, always=always)
    cost = rules.costs(design.names)[design.group] if rules.feature_cost else None
    return Problem(design, rows, penalty, options, float(weight.sum()), int(np.count_nonzero(allowed)), cost)


def frontier(problem: Problem, callback: Progress | None = None) -> _core.Search:
    """Search the best model of every size."""
    with one_blas_thread():
        return _core.frontier(
            problem.rows,
            problem.penalty,
            max_terms=problem.max_terms,
            time_limit=problem.options.time_limit,
            callback=callback,
        )


def fit(problem: Problem, lambda0: float | str, callback: Progress | None = None) -> Fit:
    """Search the best model for one price per term, a number or the name of a criterion."""
    check_lambda0(lambda0)
    if isinstance(lambda0, str) and problem.options.loss == "squared":
        problem, lambda0 = _noise_priced(problem, price(lambda0, problem.total_weight))
    return _fit_at(problem, price(lambda0, problem.total_weight), callback, certify=bool(problem.options.certify))


def price(lambda0: float | str, total_weight: float) -> float:
    """Return the price of a term: 1 for "aic", log(n)/2 for "bic" (weights count as repeated rows), or the number."""
    if lambda0 == "aic":
        return 1.0
    return math.log(max(total_weight, 1.0)) / 2 if lambda0 == "bic" else float(lambda0)


def noise_price(unit: float, n: float, start: float, solve: Callable[[float], tuple[float, int]]) -> float:
    """Return unit times the noise variance of a regression: the price of a term where the variance is unknown.

    The variance is that of the residuals of the model found at this very price. It is settled from above, from the
    variance of y down, as long as it falls. A term takes two numbers from the data, its threshold and its
    coefficient, so that models with nearly as many terms as rows are not taken for free of noise.

    Parameters
    ----------
    unit : float
        Price of a term where the variance is one.
    n : float
        Number of rows, or their total weight.
    start : float
        Objective (half the sum of squares, and ridge) of the model without terms.
    solve : callable
        Gives objective and number of terms of the best model at a price.

    Returns
    -------
    float
        The price.
    """
    noise = _noise(start, 0, n)
    floor = SMALLEST_NOISE * noise
    for _ in range(NOISE_ROUNDS):
        updated = max(_noise(*solve(unit * noise), n), floor)
        if updated > 0.999 * noise:
            break
        noise = updated
    return unit * noise


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread while the core runs.

    The core has threads of its own, its matrices are small, and sums that BLAS splits by threads would not be the
    same bits for any number of them. Several searches may run at once: the first sets the limit, the last lifts it.
    """
    _blas_limit.enter()
    try:
        yield
    finally:
        _blas_limit.leave()


def replace_options(problem: Problem, **changes: Any) -> Problem:
    """Return the same problem with other options for its search."""
    return replace(problem, options=replace(problem.options, **changes))


def check_lambda0(lambda0: float | str) -> None:
    """Raise unless lambda0 is a name or a number that is not negative."""
    if isinstance(lambda0, str):
        check_choice("lambda0", lambda0, CRITERIA, other="or a number >= 0")
    else:
        check_number("lambda0", lambda0, at_least=0.0)


def _fit_at(problem: Problem, lambda0: float, callback: Progress | None = None, *, certify: bool = False) -> Fit:
    with one_blas_thread():
        search = _core.fit_at(
            problem.rows,
            problem.penalty,
            lambda0=lambda0,
            max_terms=problem.max_terms,
            certify=certify,
            time_limit=problem.options.time_limit,
            callback=callback,
        )
    point = search.points[-1]
    factor = None if problem.cost is None else float(problem.cost[point.columns].sum())
    return Fit(point, lambda0, search.finished, dict(search.counts), _certificate(search.certificate), factor)


class _BlasLimit:
    """The limit on BLAS threads, shared by all searches of this process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._searches = 0
        self._limit: Any = None

    def enter(self) -> None:
        with self._lock:
            if self._searches == 0:
                self._limit = _thread_pools().limit(limits=1, user_api="blas")
            self._searches += 1

    def leave(self) -> None:
        with self._lock:
            self._searches -= 1
            if self._searches == 0:
                self._limit.restore_original_limits()


_blas_limit = _BlasLimit()


@cache
def _thread_pools() -> ThreadpoolController:
    return ThreadpoolController()  # looks through all loaded libraries, so once


def _always(
    design: Design, rows: _core.Rows, options: Options, rules: Rules, allowed: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Choose a column for each feature that must be in: the one that, alone, lowers the loss most."""
    chosen = []
    for j in rules.always(design.names):
        mine = allowed & (design.group == j)
        if not mine.any():
            msg = f"features_always names {design.names[j]!r}, of which no term can be made: it does not vary enough."
            raise ValueError(msg)
        penalty = design.penalty(float(options.lambda2), rules, allowed=mine)
        with one_blas_thread():
            point = _core.frontier(rows, penalty, max_terms=1).points[-1]
        if len(point.columns) == 0:
            msg = f"no term of {design.names[j]!r} (in features_always) lowers the loss, as the rules are."
            raise ValueError(msg)
        chosen.append(int(point.columns[0]))
    return np.array(chosen, dtype=np.int64)


def _noise_priced(problem: Problem, unit: float) -> tuple[Problem, float]:
    """Settle the price of a term by searches without certificates; the problem comes back with the time left."""
    end = None if problem.options.time_limit is None else time.monotonic() + problem.options.time_limit

    def left() -> Problem:
        return problem if end is None else replace_options(problem, time_limit=max(end - time.monotonic(), 0.0))

    def solve(lambda0: float) -> tuple[float, int]:
        point = _fit_at(left(), lambda0).point
        return point.loss + point.ridge, len(point.columns)

    empty = _fit_at(replace_options(problem, max_terms=0), 0.0).point
    return left(), noise_price(unit, problem.total_weight, empty.loss, solve)


def _noise(objective: float, n_terms: int, n: float) -> float:
    return 2 * objective / max(n - 1 - 2 * n_terms, 1.0)


def _certificate(proof: _core.Certificate | None) -> Certificate | None:
    """Copy a certificate out of the core, so that it can be pickled."""
    if proof is None:
        return None
    return Certificate(proof.swap_optimal, proof.pairs, proof.line_searches)
