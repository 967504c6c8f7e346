"""A problem that the core can search: a design with rows, penalties and options."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar

from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._design.scaling import Units
from sparsegam._models.scoring import ScoringModel
from sparsegam._search.options import DEFAULT_MAX_TERMS, NO_LIMIT, Deadline, SearchOptions
from sparsegam._search.penalty import PenaltyOfSize, SelectionPenalty, unit_penalty
from sparsegam._search.ridge import Ridge
from sparsegam.arrays import FloatArray

M = TypeVar("M", bound=ScoringModel)
P = TypeVar("P", bound="Problem[Any]")
Progress = Callable[[int, float], None]
"""Called with (n_terms, objective without the penalty of the terms) for each model found."""

M_co = TypeVar("M_co", bound=ScoringModel, covariant=True)


class Design(Protocol[M_co]):
    """The columns that a search chooses from."""

    def model(self, point: _core.Point, loss: str, classes: NDArray[Any] | None) -> M_co:
        """Convert a point of a search to a model."""


D_co = TypeVar("D_co", bound=Design[Any], covariant=True)


@dataclass(frozen=True)
class Problem(Generic[D_co]):
    """A design with rows, penalties and options, ready to be searched.

    Attributes
    ----------
    design : Design
        The candidate columns and their meaning.
    rows : _core.Rows
        The row oracle, which returns sums over the rows.
    penalty : _core.Penalty
        Ridge, lasso, bounds and constraints of the columns.
    options : SearchOptions
        Options of the search.
    total_weight, mean_weight : float
        Sum of the weights, and their mean over rows of positive weight.
    ridge : Ridge
        The ridge penalty.
    n_candidates, n_fixed : int
        Number of candidate columns, and of those that are in every model.
    selection : SelectionPenalty
        The part of lambda0="auto" that corrects for selection among many columns.
    cost : ndarray
        Factor on lambda0 of each column.
    units : Units
        Units of the core; points that a search returns are in the units of the user.
    warm_start : tuple of Point
        Good models to start from, in the units of the core.
    size_penalty : float
        Penalty at which models of one size are compared if columns differ in cost, in the units of the core.
    deadline : Deadline
        When the search must end.
    stop : _core.Stop or None
        Lets another thread end the search.
    interrupted : bool
        Whether the deadline already ended a search that prepared this problem.
    """

    design: D_co
    rows: Any
    penalty: _core.Penalty
    options: SearchOptions
    total_weight: float
    ridge: Ridge
    n_candidates: int
    selection: SelectionPenalty
    cost: FloatArray
    mean_weight: float = 1.0
    n_fixed: int = 0
    stop: _core.Stop | None = None
    units: Units = field(default_factory=Units)
    warm_start: tuple[_core.Point, ...] = ()
    size_penalty: float = 0.0
    deadline: Deadline = NO_LIMIT
    interrupted: bool = False

    @property
    def max_terms(self) -> int:
        """Largest number of terms to search: at most the number of candidates, at least the number of fixed columns."""
        limit = DEFAULT_MAX_TERMS if self.options.max_terms is None else int(self.options.max_terms)
        return max(min(limit, self.n_candidates), self.n_fixed)

    def model(
        self: "Problem[Design[M]]", point: _core.Point, classes: NDArray[Any] | None, *, statistics: bool = True
    ) -> M:
        """Convert a point of a search to a model, with the statistics of its terms if it has any."""
        return self.design.model(point, self.options.loss, classes)

    def scores(self, data: Any, points: Sequence[_core.Point]) -> FloatArray | None:
        """Return the scores of other rows, shape (n_points, n_rows); None if models must score them one by one."""
        return None

    def refit_on_raw_values(self, point: _core.Point) -> _core.Point:
        """Refit the coefficients to the raw values if the search used bin centres."""
        return point

    def unit_penalty(self, lambda0: float | str) -> PenaltyOfSize:
        """Return the penalty per term by number of terms, for a noise variance of one."""
        return unit_penalty(lambda0, self.total_weight, self.mean_weight, self.selection)

    def total_cost(self, point: _core.Point) -> float:
        """Return the sum of the cost factors of all terms: the number of terms if all factors are 1."""
        return float(self.cost[point.columns].sum())


def at_ridge(problem: P, ridge: Ridge) -> P:
    """Return the problem with another ridge of the same kind (standardized or not)."""
    ridge = ridge.at(problem.total_weight)
    return replace(problem, ridge=ridge, penalty=problem.penalty.with_lambda2(ridge.lambda2))


def check_room(n_fixed: int, option: str, options: SearchOptions) -> None:
    """Raise ValueError if more terms are required than a model may have."""
    if options.max_terms is not None and n_fixed > options.max_terms:
        msg = f"{option} lists {n_fixed} columns, which are in every model, but max_terms is {options.max_terms}."
        raise ValueError(msg)
