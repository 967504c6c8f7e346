"""SQL: one SELECT that gives score, probability, points and reasons of every row of a table."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sparsegam._models.step_tables import PairTable, StepTable, cells_of
from sparsegam._models.steps import StepModel, step_model
from sparsegam.arrays import FloatArray
from sparsegam.deploy import ReasonTable
from sparsegam.export.dialects import Dialect, dialect_of, number

INDENT = "    "
BREAK = (
    "\0"  # a line end of the layout, until all is indented: no name or text holds a zero byte, but some hold line ends
)
MAX_EXPONENT = 700.0  # PostgreSQL's exp fails beyond 709


def to_sql(
    model: Any,
    table: str,
    *,
    dialect: str = "duckdb",
    keep: Sequence[str] = (),
    points: Any = None,
    reasons: ReasonTable | None = None,
) -> str:
    """Write a query that scores every row of a table.

    Parameters
    ----------
    model : Model, Scorecard or fitted estimator
        What scores.
    table : str
        Name of the table, with dots between schema and table.
    dialect : {"duckdb", "postgresql", "sqlite", "spark", "bigquery", "tsql"}
        The database.
    keep : sequence of str
        Columns to pass through, such as the key of a row; SQL promises no order of rows.
    points : Scorecard, optional
        Adds its total as the column `points`.
    reasons : ReasonTable, optional
        Adds `reason_1`, `reason_2` and so on: codes of the features that cost most, NULL where there are fewer.

    Returns
    -------
    str
        The query, with the columns of `keep`, `score`, `probability` (of the second class; not for regressions),
        `points` and reasons.

    Notes
    -----
    NULL is missing, and so is NaN where a database has it. SQLite needs its mathematical functions for `probability`,
    dates as ISO text, and compares text as bytes. Databases that ignore case or trailing blanks in comparisons may
    take other texts for a level.
    """
    steps, way = step_model(model), dialect_of(dialect)
    columns = [f"source.{way.name(name)}" for name in keep]
    columns.append(f"{_sum(steps, way)} AS score")
    if points is not None:
        columns.append(f"{_sum(step_model(points), way)} AS points")
    if reasons is not None:
        each = zip(reasons.steps.parts, reasons.lost, reasons.rates, reasons.said, strict=True)
        for j, (part, lost, rates, said) in enumerate(each):
            columns.append(f"{_case(part, way, _lines(part, way, lost, rates))} AS lost_{j}")
            columns.append(f"{_case(part, way, [way.text(code) for code, _ in said])} AS code_{j}")
    source = ".".join(way.name(part) for part in table.split("."))
    inner = f"SELECT{BREAK}{_indented(columns)}{BREAK}FROM {source} AS source"
    outer = [f"scored.{way.name(name)}" for name in keep] + ["scored.score"]
    outer += [] if steps.classes is None else [f"{_probability(steps, way)} AS probability"]
    outer += [] if points is None else ["scored.points"]
    outer += [] if reasons is None else [f"{_reason(reasons, i)} AS reason_{i + 1}" for i in range(reasons.k)]
    parts = ["SELECT", _indented(outer), "FROM (", _shifted(inner), ") AS scored"]
    return BREAK.join(parts).replace(BREAK, "\n")


def score_expression(model: Any, *, dialect: str = "duckdb") -> str:
    """Write the score as one expression over the columns, for a view or a generated column."""
    return _sum(step_model(model), dialect_of(dialect)).replace(BREAK, "\n")


def _sum(steps: StepModel, way: Dialect) -> str:
    parts = [way.as_double(number(steps.base))]
    parts += [_case(part, way, _lines(part, way, part.adds.ravel(), part.slopes)) for part in steps.parts]
    return f"{BREAK}  + ".join(parts)


def _case(part: StepTable | PairTable, way: Dialect, results: Sequence[str]) -> str:
    """Write one feature: the result of the first condition that holds; or a pair: that of the cells of both."""
    if isinstance(part, PairTable):
        return _nested(part, way, results)
    lines = [f"WHEN {_condition(part, i, way)} THEN {results[i]}" for i in range(len(part.steps) - 1)]
    return f"CASE {' '.join(lines)} ELSE {results[-1]} END"


def _nested(pair: PairTable, way: Dialect, results: Sequence[str]) -> str:
    """Write the second feature within each step of the first, where it matters there."""
    width = pair.adds.shape[1]
    rows = [results[i : i + width] for i in range(0, len(results), width)]
    cells = cells_of(pair.second)
    inner = [row[0] if len({*row}) == 1 else _case(pair.second, way, [row[c] for c in cells]) for row in rows]
    return _case(pair.first, way, [inner[c] for c in cells_of(pair.first)])


def _lines(part: StepTable | PairTable, way: Dialect, values: FloatArray, slopes: FloatArray) -> list[str]:
    """Write what each step gives: a number, or a line through it at the upper end."""
    out = [number(value) for value in values]
    if isinstance(part, PairTable):
        return out
    for i in np.flatnonzero(slopes):
        column = way.as_double(way.column(part.feature, part.scale))
        out[i] = f"{out[i]} + {number(slopes[i])} * ({column} - {way.literal(part.steps[i].values[0])})"
    return out


def _condition(table: StepTable, i: int, way: Dialect) -> str:
    step = table.steps[i]
    if step.kind == "missing":
        return way.missing(table.feature, table.scale)
    column = way.column(table.feature, table.scale)
    column = way.as_double(column) if table.rounds else column
    asked = [way.literal(value) for value in step.values]
    if step.kind == "upto":
        return f"{column} <= {asked[0]}"
    return f"{column} = {asked[0]}" if len(asked) == 1 else f"{column} IN ({', '.join(asked)})"


def _probability(steps: StepModel, way: Dialect) -> str:
    """Write the logistic function; log odds that could be too large for EXP are cut."""
    log_odds = f"({number(steps.shift)} + {number(steps.slope)} * scored.score)"
    if max(abs(steps.shift + steps.slope * end) for end in steps.range()) > MAX_EXPONENT:
        limit = number(MAX_EXPONENT)
        cut = f"WHEN {log_odds} > {limit} THEN {limit} WHEN {log_odds} < -{limit} THEN -{limit}"
        log_odds = f"(CASE {cut} ELSE {log_odds} END)"
    return f"1 / (1 + EXP(-{way.as_double(log_odds)}))"


def _reason(reasons: ReasonTable, rank: int) -> str:
    """Write the code of the feature that so many others go before: larger losses, or equal ones of earlier features."""
    n = len(reasons.lost)
    lines = []
    for j in range(n):
        before = [f"CASE WHEN lost_{i} {'>=' if i < j else '>'} lost_{j} THEN 1 ELSE 0 END" for i in range(n) if i != j]
        lines.append(f"WHEN lost_{j} > 0 AND {' + '.join(before) or '0'} = {rank} THEN code_{j}")
    return f"CASE {' '.join(lines)} END" if lines else "NULL"


def _indented(columns: Sequence[str]) -> str:
    return f",{BREAK}".join(_shifted(column) for column in columns)


def _shifted(text: str) -> str:
    return BREAK.join(INDENT + line for line in text.split(BREAK))
