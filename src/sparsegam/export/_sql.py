"""Export to SQL: a SELECT statement that scores every row of a table, in six dialects."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import groupby
from typing import Any

import numpy as np

from sparsegam._data.columns import Scale, Value
from sparsegam._models.functions import Bins, FittedFunction, ScoreFunction, score_function
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_choice
from sparsegam.deploy import ReasonTable

INDENT = "    "

# Line breaks of the layout are zero bytes until everything is indented, because names and texts may contain line
# breaks but never zero bytes.
BREAK = "\0"

# The exp function of PostgreSQL overflows above 709.
MAX_EXPONENT = 700.0

# Every SQL parser reads decimal numbers of up to 15 significant digits exactly.
EXACT_DIGITS = 15


def _quote_doubled(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _quote_backslashed(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"


def _quote_national(text: str) -> str:
    return f"N{_quote_doubled(text)}"


@dataclass(frozen=True)
class Dialect:
    """The syntax of one database for names, literals and tests for missing values.

    Attributes
    ----------
    quotes : pair of str
        Opening and closing quote of names. A closing quote within a name is doubled.
    double : str
        Type name of 64-bit floats.
    quote_text : callable
        Returns a string literal.
    is_nan : str
        Condition that a number {x} is NaN; empty if the database has no NaN.
    booleans : pair of str
        Literals of False and True.
    date, time : str
        Literals of dates and times, with {} for the ISO 8601 text.
    forbidden : str
        Characters that a quoted name cannot contain.
    comparable : mapping from str to str
        By kind of scale, the expression that makes a column {x} comparable with literals.
    """

    quotes: tuple[str, str]
    double: str
    quote_text: Callable[[str], str] = _quote_doubled
    is_nan: str = ""
    booleans: tuple[str, str] = ("FALSE", "TRUE")
    date: str = "DATE '{}'"
    time: str = "TIMESTAMP '{}'"
    forbidden: str = "\0"
    comparable: Mapping[str, str] = field(default_factory=dict)

    def name(self, name: str) -> str:
        """Quote the name of a column or table."""
        opening, closing = self.quotes
        forbidden = [c for c in name if c in self.forbidden]
        if forbidden or not name:
            reason = f"it contains the character {forbidden[0]!r}" if forbidden else "it is empty"
            msg = f"the name {name!r} cannot be quoted in this dialect because {reason}: rename the column."
            raise ValueError(msg)
        return f"{opening}{name.replace(closing, closing * 2)}{closing}"

    def literal(self, value: Value) -> str:
        """Return the literal of a value of a column."""
        if isinstance(value, bool):
            return self.booleans[value]
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, datetime):
            return self.time.format(value.isoformat(sep=" "))
        if isinstance(value, date):
            return self.date.format(value.isoformat())
        return number_literal(value)

    def text(self, text: str) -> str:
        """Return a string literal."""
        if "\0" in text:
            msg = f"the text {text!r} contains a zero byte, which SQL cannot represent: rename the level."
            raise ValueError(msg)
        return self.quote_text(text)

    def column(self, name: str, scale: Scale) -> str:
        """Return an expression for a column that can be compared with literals."""
        kind = "text" if scale.is_text else scale.kind
        return self.comparable.get(kind, "{x}").format(x=self.name(name))

    def missing(self, name: str, scale: Scale) -> str:
        """Return the condition that a value is missing: NULL or, in numeric columns, NaN."""
        quoted = self.name(name)
        has_numeric_levels = scale.has_levels and not any(isinstance(level, str | bool) for level in scale.levels)
        may_be_nan = self.is_nan and (scale.kind == "number" or has_numeric_levels)
        return f"{quoted} IS NULL" + (f" OR {self.is_nan.format(x=quoted)}" if may_be_nan else "")

    def as_double(self, expression: str) -> str:
        """Return the expression converted to a 64-bit float."""
        return f"CAST({expression} AS {self.double})"


def number_literal(value: float) -> str:
    """Return a literal that the database reads as exactly this number.

    Whole numbers are written as integers, all others in scientific notation, because databases may read a number with
    a decimal point as a fixed-point decimal. The shortest decimal that Python reads exactly may lie half a unit in the
    last place away from the number. SQLite, whose last bit is not always correct, reads one in 40,000 such decimals as
    a neighbouring number. With 17 digits, the error of the decimal is too small for that.
    """
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    digits = repr(float(value))
    if sum(character.isdigit() for character in digits.partition("e")[0]) > EXACT_DIGITS:
        digits = format(float(value), ".17g")
    return digits if "e" in digits else f"{digits}e0"


# BigQuery: within names, ` must be escaped by a backslash instead of doubled, and a dot separates names.
DIALECTS = {
    "duckdb": Dialect(('"', '"'), "DOUBLE", is_nan="isnan(CAST({x} AS DOUBLE))"),
    "postgresql": Dialect(
        ('"', '"'), "double precision", is_nan="CAST({x} AS double precision) = CAST('NaN' AS double precision)"
    ),
    "sqlite": Dialect(
        ('"', '"'),
        "REAL",
        booleans=("0", "1"),
        date="strftime('%Y-%m-%d %H:%M:%f', '{}')",
        time="strftime('%Y-%m-%d %H:%M:%f', '{}')",
        comparable=dict.fromkeys(("date", "datetime"), "strftime('%Y-%m-%d %H:%M:%f', {x})"),
    ),
    "spark": Dialect(("`", "`"), "DOUBLE", _quote_backslashed, is_nan="isnan(CAST({x} AS DOUBLE))", forbidden="\0\\"),
    "bigquery": Dialect(
        ("`", "`"),
        "FLOAT64",
        _quote_backslashed,
        is_nan="IS_NAN(CAST({x} AS FLOAT64))",
        time="DATETIME '{}'",
        forbidden="\0\\`.\n\r",
    ),
    "tsql": Dialect(
        ("[", "]"),
        "float",
        _quote_national,
        booleans=("0", "1"),
        date="CAST('{}' AS date)",
        time="CAST('{}' AS datetime2)",
        comparable={"text": "{x} COLLATE Latin1_General_100_BIN2"},
    ),
}


def to_sql(
    model: Any,
    table: str,
    *,
    dialect: str = "duckdb",
    keep: Sequence[str] = (),
    points: Any = None,
    reasons: ReasonTable | None = None,
) -> str:
    """Export to a SQL query that scores every row of a table.

    Parameters
    ----------
    model : Model, Scorecard or fitted estimator
        The model to export.
    table : str
        Name of the table, with a dot between schema and table.
    dialect : {"duckdb", "postgresql", "sqlite", "spark", "bigquery", "tsql"}, default="duckdb"
        The database.
    keep : sequence of str, default=()
        Columns of the table to include in the result, such as a key. SQL does not guarantee the order of the rows.
    points : Scorecard, optional
        Adds the total of this scorecard as the column `points`.
    reasons : ReasonTable, optional
        Adds reason codes as the columns `reason_1`, `reason_2` and so on: the codes of the features that lower the
        score most, NULL if there are fewer.

    Returns
    -------
    str
        The query. Its columns are `keep`, `score`, `probability` (of the second class, for classifiers only), `points`
        and the reasons.

    Notes
    -----
    NULL and NaN are missing values. SQLite must be built with mathematical functions for `probability`; dates must be
    stored as ISO 8601 text, and text is compared bytewise. In databases that ignore case or trailing blanks in
    comparisons, a text may match a level that differs from it in these.
    """
    check_choice("dialect", dialect, tuple(DIALECTS))
    score, syntax = score_function(model), DIALECTS[dialect]
    columns = [f"source.{syntax.name(name)}" for name in keep]
    columns.append(f"{_score(score, syntax)} AS score")
    if points is not None:
        columns.append(f"{_score(score_function(points), syntax)} AS points")
    if reasons is not None:
        functions = zip(reasons.score_function.functions, reasons.lost, reasons.rates, reasons.texts, strict=True)
        for j, (function, lost, rates, codes) in enumerate(functions):
            columns.append(f"{_case(function, syntax, _results(function, syntax, lost, rates))} AS lost_{j}")
            columns.append(f"{_case(function, syntax, [syntax.text(code) for code, _ in codes])} AS code_{j}")
    source = ".".join(syntax.name(part) for part in table.split("."))
    inner = f"SELECT{BREAK}{_indent_columns(columns)}{BREAK}FROM {source} AS source"
    outer = [f"scored.{syntax.name(name)}" for name in keep] + ["scored.score"]
    if score.classes is not None:
        outer.append(f"{_probability(score, syntax)} AS probability")
    if points is not None:
        outer.append("scored.points")
    if reasons is not None:
        outer += [f"{_reason(len(reasons.lost), i)} AS reason_{i + 1}" for i in range(reasons.k)]
    return BREAK.join(["SELECT", _indent_columns(outer), "FROM (", _indent(inner), ") AS scored"]).replace(BREAK, "\n")


def _score(score: ScoreFunction, syntax: Dialect) -> str:
    summands = [syntax.as_double(number_literal(score.base))]
    for function in score.functions:
        results = _results(function, syntax, function.contributions.ravel(), function.slopes.ravel())
        summands.append(_case(function, syntax, results))
    return f"{BREAK}  + ".join(summands)


def _case(function: FittedFunction, syntax: Dialect, results: Sequence[str]) -> str:
    """Return a CASE expression with the result of the bin of a row."""
    first, *others = function.axes
    if not others:
        return _cases(first, syntax, results)
    # The second feature is tested within each bin of the first in which it makes a difference.
    width = len(others[0])
    rows = [results[i : i + width] for i in range(0, len(results), width)]
    return _cases(first, syntax, [row[0] if len({*row}) == 1 else _cases(others[0], syntax, row) for row in rows])


def _cases(bins: Bins, syntax: Dialect, results: Sequence[str]) -> str:
    """Return a CASE expression of one feature; bins of one kind with the same result share a condition."""
    branches = []
    for _, group in groupby(range(len(bins) - 1), key=lambda i: (bins.bins[i].kind, results[i])):
        positions = list(group)
        branches.append(f"WHEN {_condition(bins, positions, syntax)} THEN {results[positions[0]]}")
    return f"CASE {' '.join(branches)} ELSE {results[-1]} END"


def _results(function: FittedFunction, syntax: Dialect, values: FloatArray, slopes: FloatArray) -> list[str]:
    """Return the result of each bin: a number or, on a ramp, its value at the upper end plus slope * (x - end)."""
    results = [number_literal(value) for value in values]
    for i in np.flatnonzero(slopes):
        bins = function.bins
        x = syntax.as_double(syntax.column(bins.feature, bins.scale))
        end = syntax.literal(bins.upper_value(bins.bins[i]))
        results[i] = f"{results[i]} + {number_literal(slopes[i])} * ({x} - {end})"
    return results


def _condition(bins: Bins, positions: Sequence[int], syntax: Dialect) -> str:
    """Return the condition of consecutive bins of one kind for rows that match no earlier bin."""
    last = bins.bins[positions[-1]]
    if last.kind == "missing":
        return syntax.missing(bins.feature, bins.scale)
    column = syntax.column(bins.feature, bins.scale)
    column = syntax.as_double(column) if bins.needs_float else column
    literals = [syntax.literal(value) for i in positions for value in bins.bins[i].values]
    if not literals:
        return f"{column} <= {syntax.literal(bins.upper_value(last))}"
    return f"{column} = {literals[0]}" if len(literals) == 1 else f"{column} IN ({', '.join(literals)})"


def _probability(score: ScoreFunction, syntax: Dialect) -> str:
    log_odds = f"({number_literal(score.shift)} + {number_literal(score.slope)} * scored.score)"
    if max(abs(score.shift + score.slope * end) for end in score.range()) > MAX_EXPONENT:
        limit = number_literal(MAX_EXPONENT)
        branches = f"WHEN {log_odds} > {limit} THEN {limit} WHEN {log_odds} < -{limit} THEN -{limit}"
        log_odds = f"(CASE {branches} ELSE {log_odds} END)"
    return f"1 / (1 + EXP(-{syntax.as_double(log_odds)}))"


def _reason(n: int, rank: int) -> str:
    """Return the code of the feature with exactly `rank` larger losses; of equal losses, the first counts as larger."""
    branches = []
    for j in range(n):
        larger = [f"CASE WHEN lost_{i} {'>=' if i < j else '>'} lost_{j} THEN 1 ELSE 0 END" for i in range(n) if i != j]
        branches.append(f"WHEN lost_{j} > 0 AND {' + '.join(larger) or '0'} = {rank} THEN code_{j}")
    return f"CASE {' '.join(branches)} END" if branches else "NULL"


def _indent_columns(columns: Sequence[str]) -> str:
    return f",{BREAK}".join(_indent(column) for column in columns)


def _indent(text: str) -> str:
    return BREAK.join(INDENT + line for line in text.split(BREAK))
