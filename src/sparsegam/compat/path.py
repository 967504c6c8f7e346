"""Compute paths of models: decreasing lambda0 for each gamma, each model started from the previous one."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sparsegam import _core
from sparsegam.arrays import FloatArray
from sparsegam.compat.problem import Data, GridProblem, Solution, build_problem
from sparsegam.compat.settings import Settings
from sparsegam.losses import LOSSES

NEGLIGIBLE = 1e-12  # share of the first lambda0 below which differences are rounding errors
FEW_COLUMNS = 512  # paths with at most this many columns are improved in further rounds
ROUNDS = 3  # number of further rounds
ROOM = 5  # number of sizes beyond that of the largest model that are searched as starting points
ROUNDING = 1e-9
TIE = 1e-8  # relative excess of the first lambda0 over the gain of the first column, because of rounding
MARGIN = 1e-4  # relative increase of a lambda0 at which a model is optimal, so that it is no longer optimal


@dataclass(frozen=True)
class Grid:
    """Models by gamma, the largest first, then by lambda0."""

    gamma: list[float]
    paths: list[list[Solution]]
    n_columns: int


def search_grid(data: Data, settings: Settings) -> Grid:
    """Find the models for all gammas and lambdas."""
    problem = build_problem(data, settings)
    empty = _refit(problem, problem.penalty)
    steepest = float(problem.slopes(empty).max())
    gammas = settings.gammas(steepest)
    paths = []
    for i, gamma in enumerate(gammas):
        lambdas = None if settings.lambda_grid is None else [float(lambda0) for lambda0 in settings.lambda_grid[i]]
        search = PathSearch(problem, gamma)
        path = list(_search_path(search, gamma, lambdas, steepest))
        path = search.improve(path) if problem.column.size <= FEW_COLUMNS else path
        paths.append(path if lambdas else search.with_empty_start(path)[: settings.num_lambda])
    return Grid(gammas, paths, data.matrix.n_columns)


def search_grid_at(data: Data, settings: Settings, grid: Grid) -> list[list[Solution]]:
    """Find models of other rows for the gammas and lambdas of a grid."""
    problem = build_problem(data, settings)
    searches = [PathSearch(problem, gamma) for gamma in grid.gamma]
    return [
        [search.at(solution.lambda_0) for solution in path] for search, path in zip(searches, grid.paths, strict=True)
    ]


def _search_path(
    search: "PathSearch", gamma: float, lambdas: list[float] | None, steepest: float
) -> Iterator[Solution]:
    """Yield models until one has max_support_size columns."""
    problem = search.problem
    settings, rule = problem.settings, LambdaRule(problem, gamma, steepest)
    first: float | None = None
    for i in range(int(settings.num_lambda or 0) if lambdas is None else len(lambdas)):
        lambda0 = rule.after(search.descended) if lambdas is None else lambdas[i]
        if lambdas is None and first is not None and lambda0 <= NEGLIGIBLE * first:
            return  # No further column can enter.
        found = search.at(lambda0)
        yield found
        if found.columns.size >= min(settings.max_support_size, problem.column.size):
            return
        first = lambda0 if first is None else first


class PathSearch:
    """Find the models of one gamma for a sequence of lambda0.

    Coordinate descent continues from its result at the previous lambda0, as in the original, and its models determine
    the next lambda0. The exchange search continues from the best model so far. Its result is the start of the selected
    algorithm: coordinate descent for "CD", the swap search for "CDPSI", nothing for "exchange". The model with the
    lower objective is kept.
    """

    def __init__(self, problem: GridProblem, gamma: float) -> None:
        self.problem, self._penalty = problem, problem.with_gamma(gamma)
        self._closed = problem.settings.name == "exponential"
        self.descended: Solution | None = None
        self._best: Solution | None = None
        self._tried: set[tuple[float, bytes]] = set()  # pairs of lambda0 and support that were used as starts
        self._swapped: set[bytes] = set()  # supports that no swap improves, for any lambda0

    def at(self, lambda0: float) -> Solution:
        """Find the model for the next lambda0."""
        self.descended = self._local(lambda0, self.descended, max_swaps=0)
        starts = [start for start in (self._best, self.descended) if start is not None]
        start = min(starts, key=lambda solution: self.problem.value(solution, lambda0))
        found = self._finished(lambda0, start)
        self._best = min(found, self.descended, key=lambda solution: solution.objective)
        return self._best

    def improve(self, path: list[Solution]) -> list[Solution]:
        """Improve a path: start each search from the best model of each size and from neighbouring models.

        The path is traversed backwards and forwards as long as an objective decreases.
        """
        most = min(max(solution.columns.size for solution in path) + ROOM, self.problem.column.size)
        out = path
        for penalty in (self._penalty, *self.problem.with_stronger_ridges()):
            found = _core.frontier(self.problem.rows, penalty, max_terms=most).points
            points = [_core.refit(self.problem.rows, self._penalty, point) for point in found]
            sizes = [self.problem.solution(0.0, point, finished=True) for point in points]
            out = [self._lower(solution, sizes) for solution in out]
        for _ in range(ROUNDS):
            before = [solution.objective for solution in out]
            for i in (*range(len(out) - 2, -1, -1), *range(1, len(out))):
                out[i] = self._lower(out[i], [out[j] for j in (i - 1, i + 1) if 0 <= j < len(out)])
            if before == [solution.objective for solution in out]:
                break
        return out

    def with_empty_start(self, path: list[Solution]) -> list[Solution]:
        """Insert an empty model at the start of a path that begins with more columns.

        Several columns may lower the objective jointly although no single column does. The smallest lambda0 with an
        empty model is used. Paths of classifiers may start with one column.
        """
        most = 1 if self.problem.settings.is_classification else 0
        if self.problem.n_penalized(path[0]) <= most:
            return path
        first = self.problem.solution(0.0, _refit(self.problem, self._penalty), finished=True)
        known = path
        while known:
            worth = [
                (first.objective - self.problem.value(other, 0.0)) / self.problem.n_penalized(other) for other in known
            ]
            lambda0 = max(worth) * (1 + MARGIN)
            found = self._finished(lambda0, first)
            known = [found] if self.problem.n_penalized(found) > most else []
        return [found, *path]

    def _lower(self, solution: Solution, starts: list[Solution]) -> Solution:
        """Return the result of a search from the best of some models, if it is better than `solution`."""
        start = min(starts, key=lambda other: self.problem.value(other, solution.lambda_0), default=solution)
        tried = (solution.lambda_0, start.columns.tobytes())
        if tried in self._tried or np.array_equal(start.columns, solution.columns):
            return solution
        self._tried.add(tried)
        found = self._finished(solution.lambda_0, start)
        return found if found.objective < solution.objective * (1 - ROUNDING) else solution

    def _finished(self, lambda0: float, start: Solution) -> Solution:
        """Run the exchange search and then the selected algorithm."""
        found = self._exchange(lambda0, start)
        if self.problem.settings.algorithm == "exchange":
            return found
        found = self._local(lambda0, found, max_swaps=self._max_swaps(found))
        self._swapped.add(found.columns.tobytes())
        return found

    def _max_swaps(self, found: Solution) -> int:
        asked = self.problem.settings.algorithm == "CDPSI" and found.columns.tobytes() not in self._swapped
        return self.problem.settings.max_swaps if asked else 0

    def _exchange(self, lambda0: float, start: Solution | None) -> Solution:
        problem = self.problem
        search = _core.fit_at(
            problem.rows,
            self._penalty,
            lambda0=problem.core_lambda0(lambda0),
            max_terms=problem.column.size,
            start=None if start is None else start.point,
        )
        return problem.solution(lambda0, search.points[-1], finished=search.finished)

    def _local(self, lambda0: float, start: Solution | None, max_swaps: int) -> Solution:
        """Run coordinate descent and swaps; the closed form of the exponential loss needs an intercept."""
        problem = self.problem
        if self._closed and not problem.settings.intercept:
            return self._exchange(lambda0, start)
        (point,), finished, _ = _core.swap_path(
            problem.rows,
            self._penalty,
            lambda0=np.array([problem.core_lambda0(lambda0)]),
            max_terms=problem.column.size,
            cuts="linear" if problem.settings.name == "squared_hinge" else "selfconcordant",
            dynamic=True,
            max_swaps=max_swaps,
            start=None if start is None else start.point,
        )
        return problem.solution(lambda0, point, finished=finished)


def _refit(problem: GridProblem, penalty: _core.Penalty) -> _core.Point:
    """Return the model that contains only the unpenalised columns."""
    always = problem.column[: problem.settings.exclude_first_k]
    return _core.refit(problem.rows, penalty, _core.Point(0.0, always, np.zeros(always.size)))


class LambdaRule:
    """Rule for the next lambda0: just below the value at which the steepest column outside the last model enters.

    A thresholding step adds a column with unit norm and slope g if (|g| - lambda1)^2 / (2 L) > lambda0, where L is the
    curvature of loss and ridge. If a model is equal to the previous one, lambda0 is also scaled down.
    """

    def __init__(self, problem: GridProblem, gamma: float, steepest: float) -> None:
        settings = problem.settings
        self._posed, self._steepest = problem, steepest
        self._lambda1 = gamma if settings.penalty_in_use == "L0L1" else 0.0
        ridge = gamma if settings.penalty_in_use == "L0L2" else 0.0
        self._curvature = LOSSES[settings.name].path_curvature + 2.0 * ridge
        self._before: Solution | None = None

    def after(self, last: Solution | None) -> float:
        """Return the lambda0 after that of the last model, or the first lambda0 of the path."""
        if last is None:
            return (1 + TIE) * self._entering(self._steepest)
        same = self._before is not None and np.array_equal(self._before.columns, last.columns)
        self._before = last
        below = self._entering(self._steepest_outside(last))
        if same:
            return min(last.lambda_0 * self._posed.settings.scale_down_factor, 0.97 * below)
        return 0.99 * below if 0.99 * below < last.lambda_0 else 0.97 * last.lambda_0

    def _entering(self, slope: float) -> float:
        return float((slope - self._lambda1) ** 2 / (2.0 * self._curvature))

    def _steepest_outside(self, last: Solution) -> float:
        slopes: FloatArray = self._posed.slopes(last.point)
        slopes[last.columns] = 0.0
        slopes[: self._posed.settings.exclude_first_k] = 0.0
        return float(slopes.max())
