"""The target column of a table: which task it poses, its labels, and the rows where it is known."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import Column, text
from sparsegam._data.table import Table
from sparsegam._data.target import check_squares, read_weights
from sparsegam.checks import quoted


@dataclass(frozen=True)
class Outcome:
    """A target and the table of the features, rows without a target left out.

    Attributes
    ----------
    name : str
        The target column.
    table : Table
        The features.
    y : ndarray
        Labels, or numbers of a regression.
    classes : tuple or None
        The two labels, the second one being the one whose probability is modelled; None for regressions.
    dropped : int
        Rows that had no target.
    weight : ndarray or None
        Weights of the rows; None where each counts once.
    """

    name: str
    table: Table
    y: NDArray[Any]
    classes: tuple[Any, Any] | None
    dropped: int = 0
    weight: NDArray[np.float64] | None = None

    @property
    def signs(self) -> NDArray[np.float64]:
        """The target as the core takes it: -1 and 1 for classes, numbers as they are."""
        if self.classes is None:
            return np.ascontiguousarray(self.y, dtype=np.float64)
        return np.where(self.y == self.classes[1], 1.0, -1.0)


def split_target(
    table: Table, target: str, *, positive: str | None = None, drop: tuple[str, ...] = (), weight: str | None = None
) -> Outcome:
    """Take the target out of a table.

    Parameters
    ----------
    table : Table
        All columns.
    target : str
        Name of the target.
    positive : str, optional
        The label whose probability is wanted; where there are more than two, the others become "not" this one.
    drop : tuple of str
        Columns to leave out.
    weight : str, optional
        The column that holds the weights of the rows; it is no feature.

    Returns
    -------
    Outcome
        Features and labels.
    """
    names = table.labels
    options = [("--target", target), *(("--drop", name) for name in drop), ("--weight", weight)]
    for option, name in options:
        if name is not None and name not in names:
            msg = f"there is no column {name!r} for {option}: the columns are {quoted(names, 8)}."
            raise ValueError(msg)
    if weight == target:
        msg = f"--weight {weight} is the target: name the column that says how much each row counts."
        raise ValueError(msg)
    kept = [j for j, name in enumerate(names) if name not in (target, weight, *drop)]
    if not kept:
        msg = f"the table has no column besides the target {target!r}: give at least one feature."
        raise ValueError(msg)
    column = table.column(names.index(target))
    known = ~np.isnan(column.values)
    if not known.any():
        msg = f"the target {target!r} is missing in every row."
        raise ValueError(msg)
    features = tuple(table.column_rows(j, None if known.all() else known) for j in kept)
    y, classes = _labels(column.take(known), positive)
    rows = Table(features, int(known.sum()), len(kept), names=tuple(names[j] for j in kept))
    each = None if weight is None else _weights(table.column(names.index(weight)).take(known))
    return Outcome(target, rows, y, classes, dropped=int((~known).sum()), weight=each)


def _weights(column: Column) -> NDArray[np.float64]:
    """Return the weights of rows, all of them numbers that are not negative."""
    wrong = np.flatnonzero(~(column.values >= 0)) if column.scale.kind in ("number", "boolean") else np.zeros(1, int)
    if wrong.size:
        number = float(column.values[wrong[0]])
        found = "nothing" if np.isnan(number) else text(column.scale.value(number))
        msg = (
            f"--weight {column.name} must hold a number >= 0 in every row, got {found} in row {wrong[0]} ({wrong.size} "
            "such rows): fill in a weight, 0 for rows that shall not count."
        )
        raise ValueError(msg)
    return read_weights(column.values, column.values.size)


def _labels(column: Column, positive: str | None) -> tuple[NDArray[Any], tuple[Any, Any] | None]:
    found = np.unique(column.values)
    values = [_plain(column.scale.value(float(number))) for number in found[:1000]]
    if found.size == 1:
        msg = f"the target {column.name!r} is {text(values[0])} in every row: there is nothing to predict."
        raise ValueError(msg)
    if positive is not None:
        return _against_rest(column, found, values, positive)
    if found.size == 2:
        return np.array(values, dtype=object)[np.searchsorted(found, column.values)], (values[0], values[1])
    if column.scale.kind != "number":
        msg = (
            f"the target {column.name!r} has {found.size} labels ({quoted(values, 4)}): name the one whose "
            "probability is wanted with --positive."
        )
        raise ValueError(msg)
    check_squares(column.values, f"the target {column.name!r}")
    return column.values, None


def _against_rest(
    column: Column, found: NDArray[np.float64], values: list[Any], positive: str
) -> tuple[NDArray[Any], tuple[Any, Any]]:
    at = [i for i, value in enumerate(values) if text(value) == positive]
    if not at:
        msg = f"--positive {positive} is no label of the target {column.name!r}, which has {quoted(values, 8)}."
        raise ValueError(msg)
    other = values[1 - at[0]] if len(values) == 2 else f"not {positive}"
    upper = column.values == found[at[0]]
    chosen = values[at[0]] if len(values) == 2 else positive
    return np.where(upper, np.array(chosen, dtype=object), np.array(other, dtype=object)), (other, chosen)


def _plain(value: Any) -> Any:
    """Return whole numbers as integers, dates as text: labels that JSON keeps."""
    if isinstance(value, float) and value == int(value):
        return int(value)
    return value if isinstance(value, bool | int | float | str) else text(value)
