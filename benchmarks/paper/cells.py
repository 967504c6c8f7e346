"""What is run for each figure: the grid of cells, whole or quick. A cell is one method on one fold with one setting."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

LAMBDA0 = (7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0, 0.8)
LAMBDA2 = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
RATIOS = (0.9, 0.7, 0.5, 0.3, 0.1, 0.001)
MCP_SHAPES = (1.5, 25.0)
THIRD = 2  # the fold that the published models come from

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
    """One run: its table and fold, its method and setting. Without lambda0 it is a path of so many points."""

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
        """Its name in a results file."""
        parts = (self.table, self.fold, self.method, self.loss, self.lambda2, self.lambda0, self.shape, self.points)
        return "|".join("" if part is None else str(part) for part in parts)


@dataclass(frozen=True)
class Scale:
    """How much of a figure to run."""

    quick: bool = False

    def pick(self, whole: tuple, quick: tuple) -> tuple:
        """One of two grids."""
        return quick if self.quick else whole


def timing(table: str, scale: Scale) -> Iterator[Cell]:
    """Figures 3, 6, 7: single fits, each cold, at every pair of prices."""
    quick = {"fico": (7.0, 5.0, 3.0), "compas": (7.0, 5.0, 3.0, 1.0), "netherlands": (7.0,)}[table]
    ridges = scale.pick(LAMBDA2, (1e-5, 1e-3))
    for fold in scale.pick((2, 0, 1, 3, 4), (THIRD,)):
        for lambda0 in scale.pick(LAMBDA0, quick):
            for method in EXPONENTIAL:
                yield Cell(table, fold, method, "exponential", 0.0, lambda0)
            for lambda2 in ridges:
                for method in LOGISTIC:
                    yield Cell(table, fold, method, "logistic", lambda2, lambda0)


def sparsity(table: str, scale: Scale) -> Iterator[Cell]:
    """Figures 5, 8: paths on the real tables, all methods."""
    points = scale.pick((40,), (12,))[0]
    slow = not scale.quick or table == "compas"  # peers that need minutes on the larger tables
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
    """Figures 4, 9: paths on the simulated classification, recovery included."""
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
    """Appendix D.1: linear regression along a path, sequential against dynamic ordering."""
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
