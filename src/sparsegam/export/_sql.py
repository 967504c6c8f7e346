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
        By kind of scale, the expression that makes a column {x} comparable with literals. It must give the same result
        whatever the time zone of the session.
    comparable_literal : str
        The same for the literals {x} of dates and times.
    invalid : mapping from str to str
        By kind of scale, the condition that a value {x} cannot be scored, such as infinity or text for a number.
        "levels" are categories without text. The condition must not hold for missing values.
    error : str
        Expression that raises an error if it is evaluated, with {message} for a text literal and {x} for the value.
    system_columns : set of str
        Names of system columns, which the database resolves for every table.
    ignores_case : bool
        Whether names are equal that differ by upper and lower case only.
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
    comparable_literal: str = "{x}"
    invalid: Mapping[str, str] = field(default_factory=dict)
    error: str = ""
    system_columns: frozenset[str] = frozenset()
    ignores_case: bool = True

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
            return self.comparable_literal.format(x=self.time.format(value.isoformat(sep=" ")))
        if isinstance(value, date):
            return self.comparable_literal.format(x=self.date.format(value.isoformat()))
        return number_literal(value)

    def text(self, text: str) -> str:
        """Return a string literal."""
        if "\0" in text:
            msg = f"the text {text!r} contains a zero byte, which SQL cannot represent: rename the level."
            raise ValueError(msg)
        return self.quote_text(text)

    def feature(self, name: str) -> str:
        """Return the column of a feature, qualified so that a table without it is an error in every database."""
        quoted = self.name(name)
        if name.lower() in self.system_columns:
            msg = (
                f"the feature {name!r} has the name of a system column of this database: if a table lacked the "
                "feature, the query would read the system column without an error. Rename the column and fit the model "
                "again."
            )
            raise ValueError(msg)
        return f"source.{quoted}"

    def column(self, name: str, scale: Scale) -> str:
        """Return an expression for a column that can be compared with literals."""
        return self.comparable.get(_kind(scale), "{x}").format(x=self.feature(name))

    def missing(self, name: str, scale: Scale) -> str:
        """Return the condition that a value is missing: NULL or, in numeric columns, NaN."""
        column = self.feature(name)
        may_be_nan = self.is_nan and _has_numbers(scale)
        return f"{column} IS NULL" + (f" OR {self.is_nan.format(x=column)}" if may_be_nan else "")

    def check(self, name: str, scale: Scale) -> str:
        """Return the branch of a CASE expression that refuses values that cannot be scored; empty if none is needed."""
        condition = self.invalid.get(_kind(scale), "").format(x=self.feature(name))
        if not condition:
            return ""
        message = f'column "{name}" must contain {VALID[_kind(scale)]}; convert or remove other values'
        return f"WHEN {condition} THEN {self.error.format(x=self.feature(name), message=self.text(message))} "

    def as_double(self, expression: str) -> str:
        """Return the expression converted to a 64-bit float."""
        return f"CAST({expression} AS {self.double})"


def _has_numbers(scale: Scale) -> bool:
    return scale.kind == "number" or _kind(scale) == "levels"


def _kind(scale: Scale) -> str:
    """Return the kind of a scale, where categories are "text", "boolean" or, if their levels are numbers, "levels"."""
    if not scale.has_levels:
        return scale.kind
    if scale.is_text:
        return "text"
    return "boolean" if any(isinstance(level, bool) for level in scale.levels) else "levels"


VALID = {
    "number": "finite numbers",
    "levels": "finite numbers",
    "boolean": "booleans",
    "date": "dates",
    "datetime": "times",
    "text": "text",
}


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


def _for_numbers(condition: str) -> dict[str, str]:
    return dict.fromkeys(("number", "levels"), condition)


def _for_times(expression: str) -> dict[str, str]:
    return dict.fromkeys(("date", "datetime"), expression)


# The functions epoch_us of DuckDB and EXTRACT(EPOCH ...) of PostgreSQL read times without a time zone as UTC and return
# the instant of all others, whatever the time zone of the session. A comparison of both types would depend on it.
#
# DuckDB compares text in IN lists as text, and Spark in all comparisons converts text to the type of the literal, which
# truncates decimals. SQLite compares text with numbers as text or by the type, and has no errors at run time except
# those of functions. PostgreSQL has none either, so that a conversion of the message fails; it contains the value,
# because constant expressions are evaluated even in branches that are not.
#
# In names of BigQuery, ` must be escaped by a backslash instead of doubled, and a dot separates names.
DIALECTS = {
    "duckdb": Dialect(
        ('"', '"'),
        "DOUBLE",
        is_nan="isnan(CAST({x} AS DOUBLE))",
        comparable=_for_times("epoch_us({x})"),
        comparable_literal="epoch_us({x})",
        invalid=_for_numbers("typeof({x}) = 'VARCHAR' OR isinf(CAST({x} AS DOUBLE))")
        | _for_times("NOT isfinite({x})")
        | {"boolean": "typeof({x}) = 'VARCHAR'"},
        error="error({message})",
        system_columns=frozenset({"rowid"}),
    ),
    "postgresql": Dialect(
        ('"', '"'),
        "double precision",
        is_nan="CAST({x} AS double precision) = CAST('NaN' AS double precision)",
        comparable=_for_times("EXTRACT(EPOCH FROM {x})"),
        comparable_literal="EXTRACT(EPOCH FROM {x})",
        invalid=_for_numbers("CAST({x} AS double precision) IN ('Infinity', '-Infinity')")
        | _for_times("NOT isfinite({x})"),
        error="CAST({message} || ', got ' || CAST({x} AS text) AS double precision)",
        system_columns=frozenset({"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"}),
        ignores_case=False,
    ),
    "sqlite": Dialect(
        ('"', '"'),
        "REAL",
        booleans=("0", "1"),
        date="strftime('%Y-%m-%d %H:%M:%f', '{}')",
        time="strftime('%Y-%m-%d %H:%M:%f', '{}')",
        comparable=_for_times("strftime('%Y-%m-%d %H:%M:%f', {x})"),
        invalid=_for_numbers("typeof({x}) IN ('text', 'blob') OR {x} IN (9e999, -9e999)")
        | _for_times("{x} IS NOT NULL AND (typeof({x}) <> 'text' OR strftime('%Y', {x}) IS NULL)")
        | {"boolean": "typeof({x}) IN ('text', 'blob')", "text": "typeof({x}) NOT IN ('text', 'null')"},
        error="json_extract('{{}}', {message} || ', got ' || typeof({x}))",
        system_columns=frozenset({"rowid", "oid", "_rowid_"}),
    ),
    "spark": Dialect(
        ("`", "`"),
        "DOUBLE",
        _quote_backslashed,
        is_nan="isnan(CAST({x} AS DOUBLE))",
        time="TIMESTAMP '{} UTC'",
        forbidden="\0\\",
        comparable=_for_numbers("CAST({x} AS DOUBLE)"),
        invalid=_for_numbers(
            "{x} IS NOT NULL AND CAST({x} AS DOUBLE) IS NULL OR abs(CAST({x} AS DOUBLE)) = CAST('Infinity' AS DOUBLE)"
        ),
        error="raise_error({message})",
    ),
    "bigquery": Dialect(
        ("`", "`"),
        "FLOAT64",
        _quote_backslashed,
        is_nan="IS_NAN(CAST({x} AS FLOAT64))",
        time="DATETIME '{}'",
        forbidden="\0\\`.\n\r",
        invalid=_for_numbers("IS_INF(CAST({x} AS FLOAT64))"),
        error="ERROR({message})",
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
        Columns of the table to include in the result, such as a key. A column named like another column of the result
        is refused. SQL does not guarantee the order of the rows.
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
    NULL and NaN are missing values. The query fails if the table lacks a feature or contains infinity. Columns must
    have the types of the training data: text in a numeric column is an error, except in Spark and SQL Server, which
    convert it to numbers. Times without a time zone are UTC; the time zone of the session has no effect. Times must be
    of type TIMESTAMP in Spark and of type DATETIME in BigQuery.

    SQLite must be built with mathematical functions for `probability`; dates must be stored as ISO 8601 text, and text
    is compared bytewise. In databases that ignore case or trailing blanks in comparisons, a text may match a level that
    differs from it in these.
    """
    check_choice("dialect", dialect, tuple(DIALECTS))
    score, syntax = score_function(model), DIALECTS[dialect]
    _check_output_names(keep, score, points, reasons, syntax)
    # Columns of the inner query have generated names, which cannot collide with names of the user.
    checked: set[str] = set()
    columns = [f"source.{syntax.name(name)} AS keep_{i}" for i, name in enumerate(keep)]
    columns.append(f"{_score(score, syntax, checked)} AS score")
    if points is not None:
        columns.append(f"{_score(score_function(points), syntax, checked)} AS points")
    if reasons is not None:
        functions = zip(reasons.score_function.functions, reasons.lost, reasons.rates, reasons.texts, strict=True)
        for j, (function, lost, rates, codes) in enumerate(functions):
            columns.append(f"{_case(function, syntax, _results(function, syntax, lost, rates), checked)} AS lost_{j}")
            columns.append(f"{_case(function, syntax, [syntax.text(code) for code, _ in codes], checked)} AS code_{j}")
    source = ".".join(syntax.name(part) for part in table.split("."))
    inner = f"SELECT{BREAK}{_indent_columns(columns)}{BREAK}FROM {source} AS source"
    outer = [f"scored.keep_{i} AS {syntax.name(name)}" for i, name in enumerate(keep)] + ["scored.score"]
    if score.classes is not None:
        outer.append(f"{_probability(score, syntax)} AS probability")
    if points is not None:
        outer.append("scored.points")
    if reasons is not None:
        outer += [f"{_reason(len(reasons.lost), i)} AS reason_{i + 1}" for i in range(reasons.k)]
    return BREAK.join(["SELECT", _indent_columns(outer), "FROM (", _indent(inner), ") AS scored"]).replace(BREAK, "\n")


def _check_output_names(
    keep: Sequence[str], score: ScoreFunction, points: Any, reasons: ReasonTable | None, syntax: Dialect
) -> None:
    """Raise if the result would have two columns of the same name."""
    outputs = ["score"]
    outputs += ["probability"] * (score.classes is not None) + ["points"] * (points is not None)
    outputs += [] if reasons is None else [f"reason_{i + 1}" for i in range(reasons.k)]
    taken = set(outputs)
    for name in keep:
        folded = name.lower() if syntax.ignores_case else name
        if folded in taken:
            msg = (
                f"keep={list(keep)!r} would give the result two columns named {name!r}; the query adds "
                f"{', '.join(outputs)}. Leave {name!r} out of keep, or rename it in a view of the table."
            )
            raise ValueError(msg)
        taken.add(folded)


def _score(score: ScoreFunction, syntax: Dialect, checked: set[str]) -> str:
    summands = [syntax.as_double(number_literal(score.base))]
    for function in score.functions:
        results = _results(function, syntax, function.contributions.ravel(), function.slopes.ravel())
        summands.append(_case(function, syntax, results, checked))
    return f"{BREAK}  + ".join(summands)


def _case(function: FittedFunction, syntax: Dialect, results: Sequence[str], checked: set[str]) -> str:
    """Return a CASE expression with the result of the bin of a row.

    It refuses invalid values of features that are not in `checked`, and adds these features.
    """
    checks = "".join(syntax.check(one.feature, one.scale) for one in function.axes if one.feature not in checked)
    checked.update(one.feature for one in function.axes)
    first, *others = function.axes
    if not others:
        return _cases(first, syntax, results, checks)
    # The second feature is tested within each bin of the first in which it makes a difference.
    width = len(others[0])
    rows = [results[i : i + width] for i in range(0, len(results), width)]
    inner = [row[0] if len({*row}) == 1 else _cases(others[0], syntax, row) for row in rows]
    return _cases(first, syntax, inner, checks)


def _cases(bins: Bins, syntax: Dialect, results: Sequence[str], checks: str = "") -> str:
    """Return a CASE expression of one feature; bins of one kind with the same result share a condition."""
    branches = []
    for _, group in groupby(range(len(bins) - 1), key=lambda i: (bins.bins[i].kind, results[i])):
        positions = list(group)
        branches.append(f"WHEN {_condition(bins, positions, syntax)} THEN {results[positions[0]]}")
    return f"CASE {checks}{' '.join(branches)} ELSE {results[-1]} END"


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
