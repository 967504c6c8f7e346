"""SQL: one SELECT that gives score, probability, points and reasons of every row of a table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

import numpy as np

from sparsegam._data.columns import Scale, Value
from sparsegam._models.step_tables import PairTable, StepTable, cells_of
from sparsegam._models.steps import StepModel, step_model
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_choice
from sparsegam.deploy import ReasonTable

INDENT = "    "
BREAK = (
    "\0"  # a line end of the layout, until all is indented: no name or text holds a zero byte, but some hold line ends
)
MAX_EXPONENT = 700.0  # PostgreSQL's exp fails beyond 709


def _doubled(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _backslashed(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"


def _national(text: str) -> str:
    return f"N{_doubled(text)}"


SAFE_DIGITS = 15  # which every reader of decimals gets right


@dataclass(frozen=True)
class Dialect:
    """One database's way of writing.

    Attributes
    ----------
    quotes : pair of str
        Around names; the second is doubled (or escaped) within them.
    double : str
        The type of 64-bit floats.
    string : callable
        Writes a text.
    nan : str
        The condition that a number is NaN, with {x}; empty where there are no NaNs.
    booleans : pair of str
        False and True.
    date, time : str
        How dates and times are written, with {}.
    refused : str
        Characters that a name cannot hold, however it is quoted.
    compared : mapping from kind of scale to str
        What a column of that kind must be wrapped in to be compared, with {x}.
    """

    quotes: tuple[str, str]
    double: str
    string: Callable[[str], str] = _doubled
    nan: str = ""
    booleans: tuple[str, str] = ("FALSE", "TRUE")
    date: str = "DATE '{}'"
    time: str = "TIMESTAMP '{}'"
    refused: str = "\0"
    compared: Mapping[str, str] = field(default_factory=dict)

    def name(self, name: str) -> str:
        """Quote a column or table name, so that nothing in it is taken for SQL."""
        left, right = self.quotes
        bad = [c for c in name if c in self.refused]
        if bad or not name:
            why = f"the character {bad[0]!r}" if bad else "no character at all"
            msg = f"the name {name!r} cannot be quoted in this dialect, as it holds {why}: rename the column."
            raise ValueError(msg)
        return f"{left}{name.replace(right, right * 2)}{right}"

    def literal(self, value: Value) -> str:
        """Write a value of a column."""
        if isinstance(value, bool):
            return self.booleans[value]
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, datetime):
            return self.time.format(value.isoformat(sep=" "))
        if isinstance(value, date):
            return self.date.format(value.isoformat())
        return number(value)

    def text(self, text: str) -> str:
        """Write a text, so that nothing in it is taken for SQL."""
        if "\0" in text:
            msg = f"the text {text!r} holds a zero byte, which SQL cannot write: rename the level."
            raise ValueError(msg)
        return self.string(text)

    def column(self, name: str, scale: Scale) -> str:
        """Write a column so that it can be compared with literals."""
        kind = "text" if scale.is_text else scale.kind
        return self.compared.get(kind, "{x}").format(x=self.name(name))

    def missing(self, name: str, scale: Scale) -> str:
        """Write the condition that a value is missing: NULL or, for numbers, NaN."""
        quoted = self.name(name)
        nan = f" OR {self.nan.format(x=quoted)}" if self.nan and _of_numbers(scale) else ""
        return f"{quoted} IS NULL{nan}"

    def as_double(self, expression: str) -> str:
        """Write a conversion to a 64-bit float."""
        return f"CAST({expression} AS {self.double})"


def _of_numbers(scale: Scale) -> bool:
    """Tell whether a column holds numbers, which may be NaN: as such, or as levels."""
    levels = scale.has_levels and not any(isinstance(level, str | bool) for level in scale.levels)
    return scale.kind == "number" or levels


def number(value: float) -> str:
    """Write a number to the bit: whole ones as integers, others in scientific form, which is nowhere a decimal.

    Of those that need 16 digits, the shortest that Python reads as the number may be half a bit away from it, and
    SQLite, whose last bit is not always right, reads one in forty thousand as its neighbour: 17 are closer.
    """
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    digits = repr(float(value))
    if sum(character.isdigit() for character in digits.partition("e")[0]) > SAFE_DIGITS:
        digits = format(float(value), ".17g")
    return digits if "e" in digits else f"{digits}e0"


DIALECTS = {
    "duckdb": Dialect(('"', '"'), "DOUBLE", nan="isnan(CAST({x} AS DOUBLE))"),
    "postgresql": Dialect(
        ('"', '"'), "double precision", nan="CAST({x} AS double precision) = CAST('NaN' AS double precision)"
    ),
    "sqlite": Dialect(
        ('"', '"'),
        "REAL",
        booleans=("0", "1"),
        date="strftime('%Y-%m-%d %H:%M:%f', '{}')",
        time="strftime('%Y-%m-%d %H:%M:%f', '{}')",
        compared=dict.fromkeys(("date", "datetime"), "strftime('%Y-%m-%d %H:%M:%f', {x})"),
    ),
    "spark": Dialect(("`", "`"), "DOUBLE", _backslashed, nan="isnan(CAST({x} AS DOUBLE))", refused="\0\\"),
    "bigquery": Dialect(
        ("`", "`"),
        "FLOAT64",
        _backslashed,
        nan="IS_NAN(CAST({x} AS FLOAT64))",
        time="DATETIME '{}'",
        refused="\0\\`.\n\r",  # backslashes escape in its names, a doubled ` does not, and a dot ends one
    ),
    "tsql": Dialect(
        ("[", "]"),
        "float",
        _national,
        booleans=("0", "1"),
        date="CAST('{}' AS date)",
        time="CAST('{}' AS datetime2)",
        compared={"text": "{x} COLLATE Latin1_General_100_BIN2"},
    ),
}


def dialect_of(name: str) -> Dialect:
    """Return a dialect by its name."""
    check_choice("dialect", name, tuple(DIALECTS))
    return DIALECTS[name]


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
