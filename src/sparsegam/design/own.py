"""The rows' own numbers, for ramps over bins that hold several of them: read once, and where they are if possible."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from sparsegam.arrays import Vector
from sparsegam.data.coded import Codes
from sparsegam.data.frames import Table


class Own(Protocol):
    """Says what number each row has in a column."""

    def of(self, j: int) -> tuple[Vector, Codes | None]:
        """Return column j: a number for each row and None, or a number for each code and the codes of the rows."""


@dataclass(frozen=True, eq=False)
class OwnNumbers:
    """The numbers of a table's columns, as the core reads them."""

    table: Table
    _known: dict[int, tuple[Vector, Codes | None]] = field(default_factory=dict)

    def of(self, j: int) -> tuple[Vector, Codes | None]:
        """Return column j: by codes where the table has it so."""
        if j not in self._known:
            coded = self.table.coded(j)
            self._known[j] = (self.table.numbers(j), None) if coded is None else (coded.coding.numbers, coded.codes)
        return self._known[j]


@dataclass(frozen=True, eq=False)
class CodedNumbers:
    """The numbers and codes of those columns that have ramps over bins of several values."""

    columns: Mapping[int, tuple[Vector, Codes]]

    def of(self, j: int) -> tuple[Vector, Codes | None]:
        """Return column j, by codes."""
        return self.columns[j]
