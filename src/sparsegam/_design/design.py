"""What tables and matrices have in common: rows to be read, and columns that a search may choose from."""

from typing import Any, Protocol, TypeVar

from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._data.columns import RowIndex
from sparsegam._models.scoring import ScoringModel

D = TypeVar("D", bound="Data")
M_co = TypeVar("M_co", bound=ScoringModel, covariant=True)


class Data(Protocol):
    """RowIndex as they were read: a Table or a NumericMatrix."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def source(self) -> Any:
        """Where the columns are; an array where the input was one."""

    def take(self: D, rows: RowIndex) -> D:
        """Return the same data with these rows only."""

    def load(self: D) -> D:
        """Return the same data in memory, for those who take different rows of it again and again."""

    def with_names(self: D, names: Any) -> D:
        """Return the same data with other names for its columns."""


class Design(Protocol[M_co]):
    """The columns that a search may choose from, and what they mean in the words of the data."""

    def model(self, point: _core.Point, loss: str, classes: NDArray[Any] | None) -> M_co:
        """Put one point of a search into the words of the data."""
