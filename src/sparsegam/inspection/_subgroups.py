"""How a model does in groups of rows: as many and as frequent events as it says, told apart as well as elsewhere."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import Column, from_array, text
from sparsegam._data.frames import make_frame
from sparsegam._data.table import Table, position
from sparsegam._models.notebook import DisplayedResult, TextTable
from sparsegam._models.outcomes import positives
from sparsegam._models.scoring import Scores
from sparsegam._models.steps import as_table
from sparsegam.arrays import FloatArray
from sparsegam.inspection._assessment import auc_metric
from sparsegam.inspection._metrics import r_squared

MOST_LEVELS = 20  # of a group: more are ranges of equally many rows
RANGES = 4


@dataclass(frozen=True)
class Subgroup:
    """Rows of one group.

    Attributes
    ----------
    name, level : str
        What the rows are grouped by, and their part.
    rows : int
        How many they are.
    observed, predicted : float
        Share of the second class and mean probability of it; for a regression, mean outcome and mean prediction.
    worth, low, high : float
        AUC with its 95 % interval, NaN where a group has one class only; for a regression R squared, without.
    called : float
        Share of the rows whose probability is above the threshold; NaN for a regression, as are the next.
    sensitivity, specificity : float
        Shares of the second class called so, and of the first class not called so.
    """

    name: str
    level: str
    rows: int
    observed: float
    predicted: float
    worth: float
    low: float = math.nan
    high: float = math.nan
    called: float = math.nan
    sensitivity: float = math.nan
    specificity: float = math.nan


@dataclass(frozen=True)
class Subgroups(DisplayedResult):
    """How a model does in each group of rows; it prints, and has `to_frame()`."""

    lines: tuple[Subgroup, ...]
    threshold: float
    regression: bool = False

    def to_frame(self) -> Any:
        """Return a row for each group."""
        rows = [asdict(line) for line in self.lines]
        return make_frame({name: [row[name] for row in rows] for name in Subgroup.__dataclass_fields__})

    def __repr__(self) -> str:
        return f"<Subgroups: {len(self.lines)} of {', '.join(dict.fromkeys(line.name for line in self.lines))}>"

    def _display(self) -> list[str | TextTable]:
        header = ["group", "level", "rows", "observed", "predicted", "R²" if self.regression else "AUC"]
        header += [] if self.regression else ["called", "sensitivity", "specificity"]
        rows = []
        for line in self.lines:
            cells = [line.observed, line.predicted, line.worth, line.called, line.sensitivity, line.specificity]
            told = ["-" if math.isnan(cell) else f"{cell:.3f}" for cell in cells]
            rows.append([line.name, line.level, str(line.rows), *told][: len(header)])
        return [TextTable(header, rows)]


def subgroups(model: Scores, X: Any, y: Any, groups: Any, *, threshold: float = 0.5) -> Subgroups:
    """Measure a model in groups of rows.

    Parameters
    ----------
    model : Model or LinearModel
        The model.
    X, y : table and labels
        The rows.
    groups : sequence of str or mapping of str to array-like
        Columns of X, used by the model or not; or names and, for each, what every row is. Numbers of many values are
        taken in four ranges of equally many rows.
    threshold : float
        Probability of the second class above which a row is called so.

    Returns
    -------
    Subgroups
        A line for each group that has rows.
    """
    table = as_table(X)
    return grouped(model, table, np.asarray(y), model.decision_function(X), groups, threshold=threshold)


def grouped(
    model: Scores, table: Table, y: NDArray[Any], score: FloatArray, groups: Any, *, threshold: float = 0.5
) -> Subgroups:
    """Measure rows that were scored already."""
    regression = model.classes is None
    outcome = np.asarray(y, dtype=np.float64) if regression else positives(model, y)
    predicted = score if regression else model.probabilities(score)[:, 1]
    lines = [
        _line(name, level, (outcome[mine], predicted[mine], score[mine]), None if regression else threshold)
        for name, column in _columns(groups, table)
        for level, mine in _parts(column)
    ]
    return Subgroups(tuple(lines), threshold, regression)


def _columns(groups: Any, table: Table) -> Iterator[tuple[str, Column]]:
    if isinstance(groups, Mapping):
        for name, values in groups.items():
            column = from_array(np.asarray(values), str(name))
            if column.values.size != table.n_rows:
                msg = f"groups[{name!r}] has {column.values.size} values, but there are {table.n_rows} rows."
                raise ValueError(msg)
            yield str(name), column
        return
    if isinstance(groups, str) or not isinstance(groups, Sequence):
        msg = f"groups must be a list of columns, or a dict from a name to what every row is, got {groups!r}."
        raise ValueError(msg)
    for key in groups:
        j = position(key, table.labels, "groups")
        yield table.labels[j], table.column(j)


def _parts(column: Column) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Return the levels of a column, or ranges of its numbers, each with a mask of its rows; missing values last."""
    values, scale = column.values, column.scale
    found = np.unique(values[~np.isnan(values)])
    if scale.has_levels or found.size <= MOST_LEVELS:
        for number in found.tolist():
            yield text(scale.value(number)), values == number
    else:
        cuts = np.unique(np.nanquantile(values, np.linspace(0, 1, RANGES + 1)[1:-1], method="lower"))
        ends = [-np.inf, *cuts.tolist(), np.inf]
        for low, high in pairwise(ends):
            mine = (values > low) & (values <= high)
            if not mine.any():  # the highest value of all is where the last range would begin
                continue
            first, last = (text(scale.value(float(end))) for end in (values[mine].min(), values[mine].max()))
            yield f"{first} to {last}", mine
    if np.isnan(values).any():
        yield "missing", np.isnan(values)


def _line(name: str, level: str, rows: tuple[Any, FloatArray, FloatArray], threshold: float | None) -> Subgroup:
    outcome, predicted, score = rows
    n, observed, mean = outcome.size, float(outcome.mean()), float(predicted.mean())
    if threshold is None:
        return Subgroup(name, level, n, observed, mean, r_squared(score, outcome))
    metric, called = auc_metric(score, outcome, 0.95), predicted > threshold
    hit = [float(right.mean()) if right.size else math.nan for right in (called[outcome], ~called[~outcome])]
    return Subgroup(name, level, n, observed, mean, metric.value, metric.low, metric.high, float(called.mean()), *hit)
