"""Tables on a card: columns of numbers there, from wherever they come; text and categories stay on this machine."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._backends.cuda.card import Card
from sparsegam._data.columns import BOOLEAN, NUMBER, Column, RowIndex, Scale, check_finite
from sparsegam._data.table import Table, is_on_device, read_table
from sparsegam.arrays import FloatArray

SLAB = 2**28  # bytes of an array that go to the card at once
SCALES = {"b": BOOLEAN, "i": NUMBER, "u": NUMBER, "f": NUMBER}


@dataclass(frozen=True, eq=False)
class CardColumn(Column):
    """A column whose numbers are on a card, in the type they came in."""

    card: Card

    def take(self, rows: RowIndex | slice | None) -> Column:
        """Return some of the rows: on the card but for a slice, which is for a look at the first of them."""
        if rows is None:
            return self
        if isinstance(rows, slice):
            return replace(self, values=self.values[rows]).host()
        with self.card:
            out = replace(self, values=self.values[self.card.upload(rows)])
            self.card.wait()
        return out

    def numbers(self) -> Any:
        """Return the numbers as doubles, NaN where missing, on the card."""
        return self.values.astype(np.float64, copy=False)

    def host(self) -> Column:
        """Return the same column in the memory of this machine."""
        with self.card:
            return Column(self.name, self.scale, self.card.fetch(self.numbers()))

    def on_scale(self, scale: Scale) -> FloatArray:
        """Return the values as numbers on another scale, in the memory of this machine."""
        return self.host().on_scale(scale)

    def as_category(self) -> Column:
        """Return the values as levels without order."""
        return self.host().as_category()

    def raw_values(self) -> NDArray[Any]:
        """Return the values as their user knows them."""
        return self.host().raw_values()


def fetched(values: Any) -> Any:
    """Return what is on a card as NumPy's, and all else as it is."""
    if not is_on_device(values):
        return values
    if hasattr(values, "to_numpy"):
        return values.to_numpy()
    card = Card()
    return card.fetch(array_of(card, values))


def table_of(X: Any) -> Table:
    """Look at an array, a tensor or a cuDF frame on a card."""
    card = Card()
    if hasattr(X, "columns"):
        return _of_frame(card, X)
    array = array_of(card, X)
    if array.ndim != 2 or 0 in array.shape:
        msg = f"X must be a matrix of at least one row and one column, got the shape {tuple(array.shape)}."
        raise ValueError(msg)
    if array.dtype.kind not in SCALES:
        msg = f"X holds {array.dtype} on the card: convert it to numbers, or pass it from the memory of this machine."
        raise TypeError(msg)
    columns = tuple(_column(card, array[:, j], f"x{j}") for j in range(array.shape[1]))
    return Table(columns, n_rows=int(array.shape[0]), n_columns=int(array.shape[1]))


def on_card(card: Card, table: Table) -> Table:
    """Return a table with its columns of numbers on a card, where there is room; the others stay where they are."""
    if isinstance(table.source, tuple) and any(isinstance(column, CardColumn) for column in table.source):
        return table
    if _room_needed(table) > card.memory()[0]:
        return table
    columns = tuple(_uploaded(card, table))
    return Table(columns, table.n_rows, table.n_columns, names=table.names)


def _room_needed(table: Table) -> int:
    """Return the bytes of a table on a card, with as much again to sort one column and to hold its codes."""
    item = table.source.itemsize if isinstance(table.source, np.ndarray) else 8
    return table.n_rows * (table.n_columns * (item + 2) + 64)


def _uploaded(card: Card, table: Table) -> Iterator[Any]:
    array = table.source if isinstance(table.source, np.ndarray) and table.row_index is None else None
    with card:
        if array is not None and array.dtype.kind in "iuf" and array.flags.c_contiguous:
            for j, values in enumerate(_by_column(card, array)):
                yield _column(card, values, table.label(j))
            return
        for j in range(table.n_columns):
            column = table.coded_column(j) or table.column(j)
            if isinstance(column, Column) and column.scale.kind != "category":
                yield CardColumn(column.name, column.scale, card.upload(column.values), card)
            else:
                yield column
        card.wait()


def _by_column(card: Card, array: NDArray[Any]) -> Any:
    """Copy an array row by row as it lies, and turn it on the card: a column of it would be read in small pieces."""
    n_rows, n_columns = array.shape
    out = card.xp.empty((n_columns, n_rows), dtype=array.dtype)
    step = max(SLAB // (n_columns * array.itemsize), 1)
    for first in range(0, n_rows, step):
        out[:, first : first + step] = card.upload(array[first : first + step]).T
    return out


def _of_frame(card: Card, frame: Any) -> Table:
    """Read a cuDF frame: numbers where they are, all else as pandas has it."""
    names, columns = [str(name) for name in frame.columns], list[Column]()
    for key, name in zip(frame.columns, names, strict=True):
        series = frame[key]
        if getattr(series.dtype, "kind", "O") in SCALES:
            missing = {"dtype": "float64", "na_value": np.nan} if series.has_nulls else {}
            columns.append(_column(card, series.to_cupy(**missing), name))
        else:
            columns.append(read_table(series.to_frame().to_pandas()).column(0))
    return Table(tuple(columns), len(frame), len(names), names=tuple(names))


def array_of(card: Card, X: Any) -> Any:
    """Return what offers itself by DLPack or CUDA's array interface as an array of the card, once it is ready."""
    with card:
        array = card.xp.from_dlpack(X) if hasattr(X, "__dlpack__") else card.xp.asarray(X)
    card.wait_for_all()
    return array


def _column(card: Card, values: Any, name: str) -> CardColumn:
    """Return a column of a card; infinity is refused, as everywhere."""
    with card:
        column = CardColumn(name, SCALES[values.dtype.kind], card.xp.ascontiguousarray(values), card)
        if values.dtype.kind == "f" and bool(card.xp.isinf(values).any()):
            check_finite(column.host().values, name)
        card.wait()
    return column
