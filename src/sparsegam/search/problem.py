"""A problem: a design with labels, weights and a loss, posed to the core."""

from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from numpy.typing import NDArray

from sparsegam import _core
from sparsegam.arrays import Vector
from sparsegam.design.design import Design
from sparsegam.models.scoring import Scores
from sparsegam.search.options import DEFAULT_MAX_TERMS, Options

M = TypeVar("M", bound=Scores)
D_co = TypeVar("D_co", bound=Design[Any], covariant=True)


@dataclass(frozen=True)
class Problem(Generic[D_co]):
    """A design with labels, weights and a loss, ready to be searched."""

    design: D_co
    rows: _core.LocalRows
    penalty: _core.Penalty
    options: Options
    total_weight: float
    n_candidates: int
    cost: Vector  # factor on lambda0 by column
    mean_weight: float = 1.0  # of the rows that have any

    @property
    def max_terms(self) -> int:
        """Largest size to search: what was asked for, but no more terms than candidates."""
        asked = DEFAULT_MAX_TERMS if self.options.max_terms is None else int(self.options.max_terms)
        return min(asked, self.n_candidates)

    def model(self: "Problem[Design[M]]", point: _core.Point, classes: NDArray[Any] | None) -> M:
        """Put one point of a search into the words of the data."""
        return self.design.model(point, self.options.loss, classes)

    def factor(self, point: _core.Point) -> float:
        """Sum of the factors on lambda0 of all terms: their number, where all cost the same."""
        return float(self.cost[point.columns].sum())


def replace_options(problem: Problem[D_co], **changes: Any) -> Problem[D_co]:
    """Return the same problem with other options for its search."""
    return replace(problem, options=replace(problem.options, **changes))
