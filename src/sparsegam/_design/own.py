"""The rows' own numbers, for ramps over bins that hold several of them: read once, and where they are if possible."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from sparsegam._data.sketches import Codes
from sparsegam._data.table import Table
from sparsegam.arrays import FloatArray


class Own(Protocol):
    """Says what number each row has in a column."""

    def of(self, j: int) -> tuple[FloatArray, Codes | None]:
        """Return column j: a number for each row and None, or a number for each code and the codes of the rows."""


@dataclass(frozen=True, eq=False)
class OwnNumbers:
    """The numbers of a table's columns, as the core reads them."""

    table: Table
    _known: dict[int, tuple[FloatArray, Codes | None]] = field(default_factory=dict)

    def of(self, j: int) -> tuple[FloatArray, Codes | None]:
        """Return column j: by codes where the table has it so."""
        if j not in self._known:
            coded = self.table.coded_column(j)
            self._known[j] = (self._plain(j), None) if coded is None else (coded.coding.numbers, coded.codes)
        return self._known[j]

    def _plain(self, j: int) -> FloatArray:
        """Return a number for each row: a view where all columns are one array of floats."""
        whole = self.table.numeric_array
        if whole is None or whole.dtype != np.float64:
            return self.table.column(j).values
        out: FloatArray = whole[:, j]
        return out


@dataclass(frozen=True, eq=False)
class CodedNumbers:
    """The numbers and codes of those columns that have ramps over bins of several values."""

    columns: Mapping[int, tuple[FloatArray, Codes]]

    def of(self, j: int) -> tuple[FloatArray, Codes | None]:
        """Return column j, by codes."""
        return self.columns[j]
