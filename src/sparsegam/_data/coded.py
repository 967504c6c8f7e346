"""A column in a byte or two per row: the position of each value among the distinct ones, or among those of a sketch."""

from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._data.columns import Column, Rows
from sparsegam._data.scales import Scale
from sparsegam._data.summaries import Summary
from sparsegam.arrays import FloatArray, blocks

Codes = NDArray[np.uint8] | NDArray[np.uint16]


@dataclass(frozen=True, eq=False)
class Coding:
    """The numbers that the codes of a column stand for.

    Attributes
    ----------
    name : str
        The column's name.
    scale : Scale
        What the numbers stand for.
    numbers : ndarray
        In ascending order; a value goes by the smallest that is not below it. NaN is last, where values are missing.
    is_exact : bool
        Whether the numbers are all distinct values of the column; else values in between have become the next one.
    """

    name: str
    scale: Scale
    numbers: FloatArray
    is_exact: bool

    @classmethod
    def of(cls, summary: Summary, pinned: FloatArray) -> "Coding":
        """Take the numbers from a summary of the whole column.

        Values that are `pinned` keep a code of their own even in a sketch: special values, and thresholds.
        """
        numbers = summary.values
        if not summary.is_exact:
            numbers = np.unique(np.concatenate([numbers, pinned, np.nextafter(pinned, -np.inf)]))
        if summary.missing:
            numbers = np.append(numbers, np.nan)
        return cls(summary.name, summary.scale, numbers, summary.is_exact)

    @property
    def type(self) -> type[np.uint8] | type[np.uint16]:
        """The narrowest type of the codes."""
        return np.uint8 if self.numbers.size <= 2**8 else np.uint16

    @property
    def has_missing(self) -> bool:
        """Whether a code stands for missing values."""
        return bool(self.numbers.size) and bool(np.isnan(self.numbers[-1]))

    def codes(self, column: Column) -> Codes:
        """Return the codes of some rows of the column; refuse values that were not there when it was summarised."""
        values = column.on(self.scale)
        present, missing = self.numbers[:-1] if self.has_missing else self.numbers, np.isnan(values)
        some_missing = bool(missing.any())  # most pieces have none, and are not gone over again
        if some_missing and not self.has_missing:
            self._refuse("nothing")
        if some_missing:
            values = np.where(missing, 0.0, values)
        if self.scale.has_levels and values.min(initial=0.0) < 0:
            self._refuse("a level that is new")
        out: Codes = _core.bin_codes(values, present[:-1]).astype(self.type, copy=False)  # type: ignore[assignment]
        if some_missing:
            out[missing] = self.numbers.size - 1
        return out

    def _refuse(self, what: str) -> NoReturn:
        msg = f"column {self.name!r} holds {what} on a second look: the data changed while they were read."
        raise ValueError(msg)


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """A column of a table as codes; its numbers are made when rows are taken.

    Attributes
    ----------
    coding : Coding
        What the codes stand for: their numbers, and the scale of these.
    codes : ndarray
        One for each row.
    is_spent : bool
        Whether nobody asks for the codes once they have been looked up, so that the answers may take their place.
    """

    coding: Coding
    codes: Codes
    is_spent: bool = False

    @property
    def name(self) -> str:
        """Its name."""
        return self.coding.name

    def take(self, rows: Rows | slice | None) -> Column:
        """Return some of the rows as numbers; a category keeps only the levels found there."""
        codes = self.codes if rows is None else self.codes[rows]
        column = Column(self.name, self.coding.scale, self.coding.numbers[codes])
        return column.with_seen_levels() if column.scale.kind == "category" else column

    def looked_up(self, table: Codes) -> Codes:
        """Return what a table, which has an entry for each code, says of each row."""
        codes, fits = self.codes, table.itemsize <= self.codes.itemsize
        place = codes.view(table.dtype) if self.is_spent and fits else np.empty(codes.size, table.dtype)
        out: Codes = place[: codes.size]
        for rows in blocks(codes.size):
            out[rows] = table[codes[rows]]
        return out

    def loaded(self, rows: Rows | None) -> "CodedColumn":
        """Return some of the rows, in memory."""
        return self if rows is None else replace(self, codes=self.codes[rows])
