"""The path of models: lambda from large to small for each gamma, each model found from the one before it."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sparsegam import _core
from sparsegam.arrays import FloatArray
from sparsegam.compat.posed import Data, Posed, Solution, pose
from sparsegam.compat.settings import Settings
from sparsegam.losses import LOSSES

NEGLIGIBLE = 1e-12  # of the first lambda0: less is rounding
FEW_COLUMNS = 512  # up to which paths are searched again: hardly any time
ROUNDS = 3  # of that
ROOM = 5  # columns beyond the largest model that others may have
ROUNDING = 1e-9
TIE = 1e-8  # by which the first lambda0 is above what the first column gains: rounding shall not decide
MARGIN = 1e-4  # of a lambda0 at which a model pays, by which it no longer does


@dataclass(frozen=True)
class Grid:
    """Models by gamma, the largest first, then by lambda0."""

    gamma: list[float]
    paths: list[list[Solution]]
    n_columns: int


def search_grid(data: Data, settings: Settings) -> Grid:
    """Find the models of all gammas and lambdas that the settings ask for."""
    posed = pose(data, settings)
    empty = _refit(posed, posed.penalty)
    steepest = float(posed.slopes(empty).max())
    gammas = settings.gammas(steepest)
    paths = []
    for i, gamma in enumerate(gammas):
        prices = None if settings.lambda_grid is None else [float(price) for price in settings.lambda_grid[i]]
        search = PathSearch(posed, gamma)
        path = list(_search_path(search, gamma, prices, steepest))
        path = search.again(path) if posed.column.size <= FEW_COLUMNS else path
        paths.append(path if prices else search.from_nothing(path)[: settings.num_lambda])
    return Grid(gammas, paths, data.matrix.n_columns)


def search_at(data: Data, settings: Settings, grid: Grid) -> list[list[Solution]]:
    """Find models of other rows at every gamma and lambda0 of a grid."""
    posed = pose(data, settings)
    searches = [PathSearch(posed, gamma) for gamma in grid.gamma]
    return [
        [search.at(solution.lambda_0) for solution in path] for search, path in zip(searches, grid.paths, strict=True)
    ]


def _search_path(search: "PathSearch", gamma: float, prices: list[float] | None, steepest: float) -> Iterator[Solution]:
    """Find one model after the other until one has max_support_size columns."""
    posed = search.posed
    settings, rule = posed.settings, Prices(posed, gamma, steepest)
    first: float | None = None
    for i in range(int(settings.num_lambda or 0) if prices is None else len(prices)):
        price = rule.after(search.descended) if prices is None else prices[i]
        if prices is None and first is not None and price <= NEGLIGIBLE * first:
            return  # no column is left that could enter
        found = search.at(price)
        yield found
        if found.columns.size >= min(settings.max_support_size, posed.column.size):
            return
        first = price if first is None else first


class PathSearch:
    """The models of one gamma, for one lambda0 after the other.

    Coordinate descent goes on from where it was at the last lambda0, as in the original; its models set the grid. The
    exchange search goes on from the best model so far, and its model is where the algorithm that was asked for starts
    from: coordinate descent for "CD", the swap search for "CDPSI", none for "exchange". The lower of the two is kept.
    """

    def __init__(self, posed: Posed, gamma: float) -> None:
        self.posed, self._penalty = posed, posed.with_gamma(gamma)
        self._closed = posed.settings.name == "exponential"
        self.descended: Solution | None = None
        self._best: Solution | None = None
        self._tried: set[tuple[float, bytes]] = set()  # starts at a lambda0
        self._swapped: set[bytes] = set()  # supports without a swap that helps: whatever lambda0 is

    def at(self, lambda0: float) -> Solution:
        """Find the model of the next lambda0."""
        self.descended = self._local(lambda0, self.descended, max_swaps=0)
        starts = [start for start in (self._best, self.descended) if start is not None]
        start = min(starts, key=lambda solution: self.posed.value(solution, lambda0))
        found = self._finished(lambda0, start)
        self._best = min(found, self.descended, key=lambda solution: solution.objective)
        return self._best

    def again(self, path: list[Solution]) -> list[Solution]:
        """Search every lambda0 of a path once more, from the best model of each size and from those beside it.

        Back from the end, where columns are dropped in the place of being added, and on to the end again, as long as
        that lowers anything.
        """
        most = min(max(solution.columns.size for solution in path) + ROOM, self.posed.column.size)
        out = path
        for penalty in (self._penalty, *self.posed.smoothed()):
            found = _core.frontier(self.posed.rows, penalty, max_terms=most).points
            points = [_core.refit(self.posed.rows, self._penalty, point) for point in found]
            sizes = [self.posed.solution(0.0, point, finished=True) for point in points]
            out = [self._lower(solution, sizes) for solution in out]
        for _ in range(ROUNDS):
            before = [solution.objective for solution in out]
            for i in (*range(len(out) - 2, -1, -1), *range(1, len(out))):
                out[i] = self._lower(out[i], [out[j] for j in (i - 1, i + 1) if 0 <= j < len(out)])
            if before == [solution.objective for solution in out]:
                break
        return out

    def from_nothing(self, path: list[Solution]) -> list[Solution]:
        """Put a model without columns in front of a path that starts with more, at the least lambda0 that has it.

        Where no column pays alone, several may pay together. Paths of classes may start with one column.
        """
        most = 1 if self.posed.settings.is_classification else 0
        if self.posed.paid(path[0]) <= most:
            return path
        first = self.posed.solution(0.0, _refit(self.posed, self._penalty), finished=True)
        known = path
        while known:
            worth = [(first.objective - self.posed.value(other, 0.0)) / self.posed.paid(other) for other in known]
            lambda0 = max(worth) * (1 + MARGIN)
            found = self._finished(lambda0, first)
            known = [found] if self.posed.paid(found) > most else []
        return [found, *path]

    def _lower(self, solution: Solution, starts: list[Solution]) -> Solution:
        """Return what the best of some models leads to at the same lambda0, where that is lower."""
        start = min(starts, key=lambda other: self.posed.value(other, solution.lambda_0), default=solution)
        tried = (solution.lambda_0, start.columns.tobytes())
        if tried in self._tried or np.array_equal(start.columns, solution.columns):
            return solution
        self._tried.add(tried)
        found = self._finished(solution.lambda_0, start)
        return found if found.objective < solution.objective * (1 - ROUNDING) else solution

    def _finished(self, lambda0: float, start: Solution) -> Solution:
        """Exchange from a model, then do what the algorithm asked for does."""
        found = self._exchange(lambda0, start)
        if self.posed.settings.algorithm == "exchange":
            return found
        found = self._local(lambda0, found, max_swaps=self._max_swaps(found))
        self._swapped.add(found.columns.tobytes())
        return found

    def _max_swaps(self, found: Solution) -> int:
        asked = self.posed.settings.algorithm == "CDPSI" and found.columns.tobytes() not in self._swapped
        return self.posed.settings.max_swaps if asked else 0

    def _exchange(self, lambda0: float, start: Solution | None) -> Solution:
        posed = self.posed
        search = _core.fit_at(
            posed.rows,
            self._penalty,
            lambda0=posed.price(lambda0),
            max_terms=posed.column.size,
            start=None if start is None else start.point,
        )
        return posed.solution(lambda0, search.points[-1], finished=search.finished)

    def _local(self, lambda0: float, start: Solution | None, max_swaps: int) -> Solution:
        """Descend from a model, and swap; the closed form of the exponential loss needs an intercept."""
        posed = self.posed
        if self._closed and not posed.settings.intercept:
            return self._exchange(lambda0, start)
        (point,), finished, _ = _core.swap_path(
            posed.rows,
            self._penalty,
            lambda0=np.array([posed.price(lambda0)]),
            max_terms=posed.column.size,
            cuts="linear" if posed.settings.name == "squared_hinge" else "selfconcordant",
            dynamic=True,
            max_swaps=max_swaps,
            start=None if start is None else start.point,
        )
        return posed.solution(lambda0, point, finished=finished)


def _refit(posed: Posed, penalty: _core.Penalty) -> _core.Point:
    """Return the model without any column but those that are always in."""
    always = posed.column[: posed.settings.exclude_first_k]
    return _core.refit(posed.rows, penalty, _core.Point(0.0, always, np.zeros(always.size)))


class Prices:
    """The rule for the next lambda0: just below where the steepest column outside the last model would enter it.

    A thresholding step adds a column of norm one and slope g where (|g| - lambda1)^2 / (2 L) > lambda0, with L the
    curvature of the loss and of the ridge. Where a model came out as the one before it, lambda0 is scaled down as well.
    """

    def __init__(self, posed: Posed, gamma: float, steepest: float) -> None:
        settings = posed.settings
        self._posed, self._steepest = posed, steepest
        self._lambda1 = gamma if settings.penalty_in_use == "L0L1" else 0.0
        ridge = gamma if settings.penalty_in_use == "L0L2" else 0.0
        self._curvature = LOSSES[settings.name].path_curvature + 2.0 * ridge
        self._before: Solution | None = None

    def after(self, last: Solution | None) -> float:
        """Return the lambda0 after that of the last model; the first one where there is none."""
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
