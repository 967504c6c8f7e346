"""Split the table of a command into features, target and weights."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import Column, text
from sparsegam._data.table import Table
from sparsegam._data.target import check_squares, read_weights, rest_label
from sparsegam._io.type_inference import infer_column
from sparsegam.checks import quoted


@dataclass(frozen=True)
class Rows:
    """The rows of a table that have a target.

    Attributes
    ----------
    target : str
        Name of the target column.
    table : Table
        The features.
    y : ndarray
        Labels, or numbers.
    classes : tuple or None
        The two labels, the positive class second; None for a regression.
    n_dropped : int
        Number of rows without a target.
    weight : ndarray or None
        Sample weights.
    """

    target: str
    table: Table
    y: NDArray[Any]
    classes: tuple[Any, Any] | None
    n_dropped: int
    weight: NDArray[np.float64] | None

    @property
    def is_positive(self) -> NDArray[np.bool_]:
        """Mask of the rows of the positive class."""
        found: NDArray[np.bool_] = self.y == self.classes[1] if self.classes else np.zeros(self.y.size, dtype=bool)
        return found


def split_target(
    table: Table,
    target: str,
    *,
    positive: str | None = None,
    drop: tuple[str, ...] = (),
    weight: str | None = None,
    against_rest: str | None = None,
) -> Rows:
    """Split a table into features, target and weights.

    Parameters
    ----------
    table : Table
        All columns.
    target : str
        Name of the target column.
    positive : str, optional
        The positive class, written as in the file. If there are more than two labels, all others are combined.
    drop : tuple of str, default=()
        Columns to exclude.
    weight : str, optional
        Column of sample weights, which is not a feature.
    against_rest : str, optional
        The positive class of a model of one label against all others, whose classes are used even if the table has only
        two labels. It is also the default of `positive`.

    Returns
    -------
    Rows
        The rows that have a target.
    """
    names = table.labels
    for option, name in [("--target", target), *(("--drop", name) for name in drop), ("--weight", weight)]:
        if name is not None and name not in names:
            msg = f"there is no column {name!r} for {option}: the columns are {quoted(names, 8)}."
            raise ValueError(msg)
    if weight == target:
        msg = f"--weight {weight} is also the target: pass the column of sample weights."
        raise ValueError(msg)
    features = [j for j, name in enumerate(names) if name not in (target, weight, *drop)]
    if not features:
        msg = f"the table has no column other than the target {target!r}: at least one feature is needed."
        raise ValueError(msg)
    column = table.column(names.index(target))
    known = ~np.isnan(column.values)
    if not known.any():
        msg = f"the target {target!r} is missing in every row."
        raise ValueError(msg)
    y, classes = _labels(column.take(known), positive or against_rest, against_rest)
    kept = (table if known.all() else table.take(known)).load(features)
    weights = None if weight is None else _weights(table.column(names.index(weight)).take(known))
    return Rows(target, kept, y, classes, int((~known).sum()), weights)


def _weights(column: Column) -> NDArray[np.float64]:
    wrong = np.flatnonzero(~(column.values >= 0)) if column.scale.kind in ("number", "boolean") else np.zeros(1, int)
    if wrong.size:
        number = float(column.values[wrong[0]])
        found = "a missing value" if np.isnan(number) else text(column.scale.value(number))
        msg = (
            f"--weight {column.name} must have a number >= 0 in every row, got {found} in row {wrong[0]} (invalid "
            f"in {wrong.size} in all): use 0 for rows to ignore."
        )
        raise ValueError(msg)
    return read_weights(column.values, column.values.size)


def _labels(
    column: Column, positive: str | None, against_rest: str | None
) -> tuple[NDArray[Any], tuple[Any, Any] | None]:
    """Return the target and its two classes, or None for a regression."""
    found = np.unique(column.values)
    values = [_label(column.scale.value(float(number))) for number in found[:1000]]
    if found.size == 1:
        msg = f"the target {column.name!r} is {text(values[0])} in every row: there is nothing to predict."
        raise ValueError(msg)
    if positive is not None:
        return _one_against_rest(column, found, values, positive, against_rest)
    if found.size == 2:
        return np.array(values, dtype=object)[np.searchsorted(found, column.values)], (values[0], values[1])
    if column.scale.kind != "number":
        msg = (
            f"the target {column.name!r} has {found.size} labels ({quoted(values, 4)}): select the label to predict "
            "with --positive."
        )
        raise ValueError(msg)
    check_squares(column.values, f"the target {column.name!r}")
    return column.values, None


def _one_against_rest(
    column: Column, found: NDArray[np.float64], values: list[Any], positive: str, against_rest: str | None
) -> tuple[NDArray[Any], tuple[Any, Any]]:
    at = [i for i, value in enumerate(values) if text(value) == positive]
    at = at or np.flatnonzero(found[: len(values)] == _number_of(positive, column)).tolist()
    if not at:
        msg = f"--positive {positive} is not a label of the target {column.name!r}. Labels: {quoted(values, 8)}."
        raise ValueError(msg)
    if len(values) == 2 and against_rest is None:
        other, chosen = values[1 - at[0]], values[at[0]]
    else:
        chosen = positive if against_rest is None else against_rest
        other = rest_label(chosen)
    y = np.where(column.values == found[at[0]], np.array(chosen, dtype=object), np.array(other, dtype=object))
    return y, (other, chosen)


def _number_of(label: str, column: Column) -> float:
    """Return the number of a label written as in a text file, such as "true" or "01"; NaN if the column has none."""
    try:
        return float(infer_column(column.name, [label]).on_scale(column.scale)[0])
    except ValueError:
        return float("nan")


def _label(value: Any) -> Any:
    """Return a label that JSON can represent: whole numbers as integers, dates as text."""
    if isinstance(value, float) and value == int(value):
        return int(value)
    return value if isinstance(value, bool | int | float | str) else text(value)
