"""A problem: a design with labels, weights and a loss, posed to the core."""

import time
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._design.design import Design
from sparsegam._design.scaling import Units
from sparsegam._models.scoring import Scores
from sparsegam._search.options import DEFAULT_MAX_TERMS, Options
from sparsegam._search.price import Choices, Price, price
from sparsegam._search.ridge import Ridge
from sparsegam.arrays import FloatArray

M = TypeVar("M", bound=Scores)
P = TypeVar("P", bound="Problem[Any]")
D_co = TypeVar("D_co", bound=Design[Any], covariant=True)


@dataclass(frozen=True)
class Problem(Generic[D_co]):
    """A design with labels, weights and a loss, ready to be searched."""

    design: D_co
    rows: Any  # a _core.Rows, on this machine or on others
    penalty: _core.Penalty
    options: Options
    total_weight: float
    ridge: Ridge
    n_candidates: int
    choices: Choices
    cost: FloatArray  # factor on lambda0 by column
    mean_weight: float = 1.0  # of the rows that have any
    n_fixed: int = 0  # columns that are in every model
    stop: _core.Stop | None = None  # with which another thread may end the search
    units: Units = field(
        default_factory=Units
    )  # in which the core has the problem; points of a search are in the user's

    warm: tuple[_core.Point, ...] = ()  # models that are known to be good ones, in the units of the core
    size_price: float = 0.0  # at which models of one size are compared where columns differ in cost, in those units too

    def prepared(self, lambda0: float | str | None = None) -> "Problem[D_co]":
        """Return the problem as it is searched, at a price per term or, for None, for models of all sizes."""
        return self

    @property
    def max_terms(self) -> int:
        """Largest size to search: what was asked for, no more terms than candidates, no fewer than are fixed."""
        asked = DEFAULT_MAX_TERMS if self.options.max_terms is None else int(self.options.max_terms)
        return max(min(asked, self.n_candidates), self.n_fixed)

    def model(self: "Problem[Design[M]]", point: _core.Point, classes: NDArray[Any] | None) -> M:
        """Put one point of a search into the words of the data."""
        return self.design.model(point, self.options.loss, classes)

    def on_rows(self, point: _core.Point) -> _core.Point:
        """Return a point as the rows themselves have it, where the search went by something near to them."""
        return point

    def price(self, lambda0: float | str) -> Price:
        """Return the price of a term in a model of so many, in units of the noise of a regression."""
        return price(lambda0, self.total_weight, self.mean_weight, self.choices)

    def factor(self, point: _core.Point) -> float:
        """Sum of the factors on lambda0 of all terms: their number, where all cost the same."""
        return float(self.cost[point.columns].sum())


def at_ridge(problem: P, ridge: Ridge) -> P:
    """Return the same problem with another ridge on the same kind of coefficients."""
    ridge = ridge.at(problem.total_weight)
    return replace(problem, ridge=ridge, penalty=problem.penalty.with_lambda2(ridge.lambda2))


def with_time_left(problem: P, start: float) -> P:
    """Return the problem with what is left of its time limit, by time.monotonic(), once it was read and posed."""
    limit = problem.options.time_limit
    if limit is None:
        return problem
    return replace_options(problem, time_limit=max(float(limit) - (time.monotonic() - start), 0.0))


def prepared(problem: P, start: float, lambda0: float | str | None = None) -> P:
    """Return the problem as it is searched, with what is left of its time limit since `start`."""
    ready: Any = with_time_left(problem, start).prepared(lambda0)
    out: P = with_time_left(replace(ready, options=problem.options), start)
    return out


def replace_options(problem: P, **changes: Any) -> P:
    """Return the same problem with other options for its search."""
    return replace(problem, options=replace(problem.options, **changes))


def check_room(n_fixed: int, option: str, options: Options) -> None:
    """Raise where more terms are demanded than a model may have."""
    if options.max_terms is not None and n_fixed > options.max_terms:
        msg = f"{option} names {n_fixed} columns, each a term of every model, but max_terms is {options.max_terms}."
        raise ValueError(msg)
