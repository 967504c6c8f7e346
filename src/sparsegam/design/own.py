"""The rows' own numbers, for ramps over bins that hold several of them: read once, and where they are if possible."""

from dataclasses import dataclass, field

from sparsegam.arrays import Vector
from sparsegam.data.coded import Codes
from sparsegam.data.frames import Table


@dataclass(frozen=True, eq=False)
class OwnNumbers:
    """The numbers of a table's columns, as the core reads them."""

    table: Table
    _known: dict[int, tuple[Vector, Codes | None]] = field(default_factory=dict)

    def of(self, j: int) -> tuple[Vector, Codes | None]:
        """Return column j: a number for each row and None, or a number for each code and the codes of the rows."""
        if j not in self._known:
            coded = self.table.coded(j)
            self._known[j] = (self.table.numbers(j), None) if coded is None else (coded.coding.numbers, coded.codes)
        return self._known[j]
