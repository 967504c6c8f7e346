"""Export to source code of a function that scores one row: Python and JavaScript."""

import json
from collections.abc import Callable, Sequence
from datetime import date, datetime, timezone
from typing import Any

from sparsegam._data.columns import Value
from sparsegam._models.functions import Bins, FittedFunction, score_function

PYTHON_HEADER = '''"""Score rows with a model exported by sparsegam. Requires only the Python standard library."""

import datetime
import math


def _missing(x):
    return x is None or x != x


def _since(x):
    """Return the time since 1970 (UTC) of a date, a datetime or an ISO 8601 string."""
    if isinstance(x, str):
        x = datetime.datetime.fromisoformat(x)
    if not isinstance(x, datetime.datetime):
        x = datetime.datetime(x.year, x.month, x.day)
    if x.tzinfo is not None:
        x = x.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return x - datetime.datetime(1970, 1, 1)
'''

JAVASCRIPT_HEADER = """// Score rows with a model exported by sparsegam. Requires no other code.
function missing(x) {
  return x === null || x === undefined || (typeof x === "number" && Number.isNaN(x));
}

// Return the milliseconds since 1970 (UTC) of a Date or an ISO 8601 string; a string without a time zone is UTC.
function milliseconds(x) {
  if (x instanceof Date) return x.getTime();
  const text = String(x).replace(" ", "T");
  return Date.parse(text.length > 10 && !/(Z|[+-]\\d\\d:?\\d\\d)$/.test(text) ? text + "Z" : text);
}
"""


def to_python(model: Any) -> str:
    """Export to a Python module with the function `score(row)` and, for a classifier, `probability(row)`.

    Parameters
    ----------
    model : Model, Scorecard or fitted estimator
        The model to export.

    Returns
    -------
    str
        The source code. A row is a mapping from column names to values; a value that is None, NaN or absent is missing.
    """
    score = score_function(model)
    lines = [PYTHON_HEADER, "", "def score(row):"]
    lines += [
        '    """Return the score of a row, a mapping from column names to values."""',
        f"    total = {score.base!r}",
    ]
    for function in score.of_features:
        lines += _python_branches(function.bins, _additions(function, "float(x)", repr))
    for pair in score.of_pairs:
        for bins, variable in zip(pair.axes, "ij", strict=True):
            lines += _python_branches(bins, _bin_assignments(bins, variable))
        lines.append(f"    total += {pair.contributions.tolist()!r}[i][j]")
    lines.append("    return total")
    if score.classes is not None:
        log_odds = f"{score.shift!r} + {score.slope!r} * score(row)"
        lines += ["", "", "def probability(row):", f"    # Probability of {score.classes[1]!r}"]
        lines.append(f"    return 0.5 * (1.0 + math.tanh(0.5 * ({log_odds})))")
    return "\n".join([*lines, ""])


def to_javascript(model: Any) -> str:
    """Export to JavaScript with the function `score(row)` and, for a classifier, `probability(row)`.

    Parameters
    ----------
    model : Model, Scorecard or fitted estimator
        The model to export.

    Returns
    -------
    str
        The source code, which runs in browsers and as a CommonJS module in Node. A row is an object; null, undefined
        and NaN are missing. Times are compared in milliseconds, the resolution of JavaScript dates.
    """
    score = score_function(model)
    body = []
    for function in score.of_features:
        body += _js_branches(function.bins, _additions(function, "Number(x)", _js))
    for pair in score.of_pairs:
        for bins, variable in zip(pair.axes, "ij", strict=True):
            body += _js_branches(bins, _bin_assignments(bins, variable))
        body.append(f"  total += {json.dumps(pair.contributions.tolist())}[i][j];")
    lines = [JAVASCRIPT_HEADER, "function score(row) {", f"  let total = {_js(score.base)};"]
    lines += ["  let x;"] * bool(body) + ["  let i, j;"] * bool(score.of_pairs)
    lines += [*body, "  return total;", "}", ""]
    functions = "score"
    if score.classes is not None:
        log_odds = f"{_js(score.shift)} + {_js(score.slope)} * score(row)"
        lines += [f"// Probability of {_js(score.classes[1])}.", "function probability(row) {"]
        lines += [f"  return 0.5 * (1 + Math.tanh(0.5 * ({log_odds})));", "}", ""]
        functions = "score, probability"
    return "\n".join([*lines, f'if (typeof module !== "undefined") module.exports = {{ {functions} }};', ""])


def _additions(function: FittedFunction, number: str, literal: Callable[[Value], str]) -> list[str]:
    """Return the statement of each bin, where `number` is the numeric value of the feature in the target language.

    The statement of the last bin is empty if its contribution is zero.
    """
    statements = []
    for bin_, contribution, slope in function.lines():
        line = f" + {literal(slope)} * ({number} - {literal(function.bins.upper_value(bin_))})" if slope else ""
        statements.append(f"total += {literal(contribution)}{line}")
    return [*statements[:-1], statements[-1] if function.contributions[-1] else ""]


def _bin_assignments(bins: Bins, variable: str) -> list[str]:
    return [f"{variable} = {i}" for i in range(len(bins))]


def _python_branches(bins: Bins, statements: Sequence[str]) -> list[str]:
    """Write if, elif and else, so that the statement of the bin of a row is executed."""
    is_time, x = bins.scale.is_time, "float(x)" if bins.needs_float else "x"
    others = list(zip(bins.bins, statements, strict=True))[1:]
    lines = [f"    x = row.get({bins.feature!r})", "    if _missing(x):", f"        {statements[0]}"]
    if is_time and len(others) > 1:
        lines += ["    else:", "        x = _since(x)"]
        indent, keyword = "        ", "if"
    else:
        indent, keyword = "    ", "elif"
    for bin_, statement in others[:-1]:
        literals = [_python_literal(value, is_time=is_time) for value in bin_.values or [bins.upper_value(bin_)]]
        test = f"{x} in ({', '.join(literals)},)" if bin_.values else f"{x} <= {literals[0]}"
        lines += [f"{indent}{keyword} {test}:", f"{indent}    {statement}"]
        keyword = "elif"
    return lines + [f"{indent}else:", f"{indent}    {statements[-1]}"] * bool(statements[-1])


def _python_literal(value: Value, *, is_time: bool) -> str:
    if not is_time:
        return repr(value)
    if not isinstance(value, date):
        msg = f"{value!r} is not a date."
        raise TypeError(msg)
    return f"_since({value.isoformat()!r})"


def _js_branches(bins: Bins, statements: Sequence[str]) -> list[str]:
    """Write an if, else if, else chain that executes the statement for the bin that contains the value."""
    lines = [f"  x = row[{_js(bins.feature)}];", f"  if (missing(x)) {statements[0]};"]
    x = "milliseconds(x)" if bins.scale.is_time else "Number(x)" if bins.needs_float else "x"
    for bin_, statement in list(zip(bins.bins, statements, strict=True))[1:-1]:
        literals = [_js(value) for value in bin_.values or [bins.upper_value(bin_)]]
        if not bin_.values:
            test = f"{x} <= {literals[0]}"
        elif bins.scale.has_levels:
            test = f"[{', '.join(literals)}].includes({x})"
        else:
            test = " || ".join(f"Number({x}) === Number({literal})" for literal in literals)
        lines.append(f"  else if ({test}) {statement};")
    return lines + [f"  else {statements[-1]};"] * bool(statements[-1])


def _js(value: Value) -> str:
    """Return a value as ASCII JSON without < and >, so that no text can close a script element or open a comment."""
    if isinstance(value, date):
        moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
        return repr(moment.replace(tzinfo=timezone.utc).timestamp() * 1000)
    return json.dumps(value).replace("<", "\\u003c").replace(">", "\\u003e")
