"""The grid of cells of each figure, complete or quick. A cell is one method on one fold with one setting."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

LAMBDA0 = (7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0, 0.8)
LAMBDA2 = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
RATIOS = (0.9, 0.7, 0.5, 0.3, 0.1, 0.001)
MCP_SHAPES = (1.5, 25.0)
# The fold of the published models.
PUBLISHED_FOLD = 2

LOGISTIC = (
    "exchange",
    "exchange, certified",
    "fastsparsegams",
    "swap, no cuts",
    "swap, linear cuts",
    "swap, quadratic cuts",
    "swap, quadratic + dynamic",
    "swap, self-concordant + dynamic",
    "L0Learn",
)
EXPONENTIAL = ("exchange", "exchange, certified", "fastsparsegams", "swap, exponential")


@dataclass(frozen=True)
class Cell:
    """One run: table, fold, method and setting. Without lambda0 it is a path with the given number of points."""

    table: str
    fold: int
    method: str
    loss: str = "logistic"
    lambda2: float = 0.0
    lambda0: float | None = None
    shape: float | None = None
    points: int = 40

    @property
    def key(self) -> str:
        """Name of the cell in a results file."""
        parts = (self.table, self.fold, self.method, self.loss, self.lambda2, self.lambda0, self.shape, self.points)
        return "|".join("" if part is None else str(part) for part in parts)


@dataclass(frozen=True)
class Scale:
    """Whether to run the complete grids or the quick ones."""

    quick: bool = False

    def pick(self, complete: tuple, quick: tuple) -> tuple:
        """Return one of two grids."""
        return quick if self.quick else complete


def timing(table: str, scale: Scale) -> Iterator[Cell]:
    """Yield the cells of figures 3, 6 and 7: single fits without warm start, for all lambda0 and lambda2."""
    quick = {"fico": (7.0, 5.0, 3.0), "compas": (7.0, 5.0, 3.0, 1.0), "netherlands": (7.0,)}[table]
    ridges = scale.pick(LAMBDA2, (1e-5, 1e-3))
    for fold in scale.pick((2, 0, 1, 3, 4), (PUBLISHED_FOLD,)):
        for lambda0 in scale.pick(LAMBDA0, quick):
            for method in EXPONENTIAL:
                yield Cell(table, fold, method, "exponential", 0.0, lambda0)
            for lambda2 in ridges:
                for method in LOGISTIC:
                    yield Cell(table, fold, method, "logistic", lambda2, lambda0)


def sparsity(table: str, scale: Scale) -> Iterator[Cell]:
    """Yield the cells of figures 5 and 8: paths of all methods on the real tables."""
    points = scale.pick((40,), (12,))[0]
    # Peers that need minutes on the larger tables are left out of quick grids.
    slow = not scale.quick or table == "compas"
    for fold in scale.pick((2, 0, 1, 3, 4), (2, 0) if table == "compas" else (2,)):
        yield Cell(table, fold, "exchange", "exponential")
        yield Cell(table, fold, "swap, exponential", "exponential", points=points)
        for lambda2 in scale.pick(LAMBDA2, (1e-3,)):
            yield Cell(table, fold, "exchange", lambda2=lambda2)
            yield Cell(table, fold, "swap, quadratic + dynamic", lambda2=lambda2, points=points)
            if slow:
                yield Cell(table, fold, "fastsparsegams", lambda2=lambda2)
            if not scale.quick:
                yield Cell(table, fold, "L0Learn", lambda2=lambda2)
        if slow:
            yield Cell(table, fold, "fastsparsegams", "exponential")
            yield from _continuous(table, fold, points)


def simulated(scale: Scale) -> Iterator[Cell]:
    """Yield the cells of figures 4 and 9: paths on the simulated classification, with recovery of the true columns."""
    points = scale.pick((40,), (20,))[0]
    for seed in scale.pick((0, 1, 2, 3, 4), (0,)):
        for lambda2 in scale.pick(LAMBDA2, (1e-3,)):
            yield Cell("classification", seed, "exchange", lambda2=lambda2)
            yield Cell("classification", seed, "swap, quadratic + dynamic", lambda2=lambda2, points=points)
            yield Cell("classification", seed, "fastsparsegams", lambda2=lambda2)
            if not scale.quick:
                yield Cell("classification", seed, "L0Learn", lambda2=lambda2)
        yield from _continuous("classification", seed, points)
        for ratio in scale.pick(RATIOS, (0.5,)):
            yield Cell("classification", seed, f"ElasticNet {ratio:g}", shape=ratio, points=points)


def _continuous(table: str, fold: int, points: int) -> Iterator[Cell]:
    yield Cell(table, fold, "LASSO", points=points)
    for shape in MCP_SHAPES:
        yield Cell(table, fold, f"MCP {shape:g}", shape=shape, points=points)


def ordering(scale: Scale) -> Iterator[Cell]:
    """Yield the cells of appendix D.1: regression paths with sequential and with dynamic ordering."""
    for method in ("swap, sequential", "swap, dynamic", "exchange"):
        yield Cell("regression", 0, method, "squared", 0.0, points=scale.pick((100,), (5,))[0])


FIGURES: dict[str, Callable[[Scale], Iterator[Cell]]] = {
    "fig3": lambda scale: timing("fico", scale),
    "fig6": lambda scale: timing("compas", scale),
    "fig7": lambda scale: timing("netherlands", scale),
    "fig4": simulated,
    "fig5": lambda scale: sparsity("compas", scale),
    "fig5n": lambda scale: sparsity("netherlands", scale),
    "fig8": lambda scale: sparsity("fico", scale),
    "d1": ordering,
}
