"""A JavaScript function that scores one row, for browsers and Node, without dependencies."""

import json
from collections.abc import Callable, Sequence
from datetime import date, datetime, timezone
from typing import Any

from sparsegam._data.columns import Value
from sparsegam._models.step_tables import PairTable, StepTable, cells_of
from sparsegam._models.steps import StepModel, step_model
from sparsegam.parameters import documented

JS_HELPERS = """// Scores rows: written by sparsegam; needs nothing else.
function missing(x) {
  return x === null || x === undefined || (typeof x === "number" && Number.isNaN(x));
}

// Milliseconds since 1970, in UTC, of a Date or of ISO text; times without a zone are taken for UTC.
function milliseconds(x) {
  if (x instanceof Date) return x.getTime();
  const text = String(x).replace(" ", "T");
  return Date.parse(text.length > 10 && !/(Z|[+-]\\d\\d:?\\d\\d)$/.test(text) ? text + "Z" : text);
}
"""
EXPORTS = 'if (typeof module !== "undefined") module.exports = { %s };'


@documented
def to_javascript(model: Any) -> str:
    """Write `score(row)` and, for a classifier, `probability(row)`.

    {scorer}

    Returns
    -------
    str
        Source code, also a CommonJS module. A row is an object; null, undefined and NaN are missing. Times are
        compared in milliseconds, all that JavaScript has.
    """
    steps = step_model(model)
    body = [line for table in steps.tables for line in _js_feature(table, sums(table, "Number(x)", _js))]
    pairs = [line for pair in steps.pairs for line in _js_pair(pair)]
    lines = [JS_HELPERS, "function score(row) {", f"  let total = {_js(steps.base)};"]
    lines += ["  let x;"] * bool(body or pairs) + ["  let i, j;"] * bool(pairs)
    lines += [*body, *pairs, "  return total;", "}", ""]
    names = ["score"] if steps.classes is None else ["score", "probability"]
    return "\n".join([*lines, *_js_probability(steps), EXPORTS % ", ".join(names), ""])


def _js_pair(pair: PairTable) -> list[str]:
    """Write the cells of both features, and what is added where they meet."""
    lines = [line for half, results in places(pair) for line in _js_feature(half, results)]
    return [*lines, f"  total += {json.dumps(pair.adds.tolist())}[i][j];"]


def _js_feature(table: StepTable, results: Sequence[str]) -> list[str]:
    """Write one feature: the first condition that holds has its result."""
    value = f"row[{_js(table.feature)}]"
    lines = [f"  x = {value};", f"  if (missing(x)) {results[0]};"]
    x = "milliseconds(x)" if table.scale.is_time else "Number(x)" if table.rounds else "x"
    for step, result in list(zip(table.steps, results, strict=True))[1:-1]:
        asked = [_js(value) for value in step.values]
        if step.kind == "upto":
            test = f"{x} <= {asked[0]}"
        elif table.scale.has_levels:
            test = f"[{', '.join(asked)}].includes({x})"
        else:
            test = " || ".join(f"Number({x}) === Number({one})" for one in asked)
        lines.append(f"  else if ({test}) {result};")
    return lines + [f"  else {results[-1]};"] * bool(results[-1])


def _js_probability(steps: StepModel) -> list[str]:
    if steps.classes is None:
        return []
    log_odds = f"{_js(steps.shift)} + {_js(steps.slope)} * score(row)"
    return [
        f"// Probability of {_js(steps.classes[1])}.",
        "function probability(row) {",
        f"  return 0.5 * (1 + Math.tanh(0.5 * ({log_odds})));",
        "}",
        "",
    ]


def _js(value: Value) -> str:
    """Write a value as JSON, in ASCII; without < and >, so that no text ends a script or opens a comment in a page."""
    if isinstance(value, date):
        moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
        return repr(moment.replace(tzinfo=timezone.utc).timestamp() * 1000)
    return json.dumps(value).replace("<", "\\u003c").replace(">", "\\u003e")


HEADER = '''"""Scores rows: written by sparsegam, needs Python's standard library only."""

import datetime
import math
'''
HELPERS = '''

def _missing(x):
    return x is None or x != x


def _since(x):
    """Return the time since 1970, in UTC, of a date, a time or ISO text."""
    if isinstance(x, str):
        x = datetime.datetime.fromisoformat(x)
    if not isinstance(x, datetime.datetime):
        x = datetime.datetime(x.year, x.month, x.day)
    if x.tzinfo is not None:
        x = x.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return x - datetime.datetime(1970, 1, 1)


'''


@documented
def to_python(model: Any) -> str:
    """Write a module with `score(row)` and, for a classifier, `probability(row)`.

    {scorer}

    Returns
    -------
    str
        Source code. A row is a mapping from column name to value; None, NaN or an absent name is missing.
    """
    steps = step_model(model)
    lines = [HEADER.rstrip("\n"), HELPERS.rstrip("\n"), "", "", "def score(row):"]
    lines.append('    """Return the score of a row, a mapping from column name to value."""')
    lines.append(f"    total = {steps.base!r}")
    for table in steps.tables:
        lines += _feature(table, sums(table, "float(x)", repr))
    for pair in steps.pairs:
        lines += _pair(pair)
    lines.append("    return total")
    return "\n".join([*lines, *_probability(steps), ""])


def _pair(pair: PairTable) -> list[str]:
    """Write the cells of both features, and what is added where they meet."""
    lines = [line for half, results in places(pair) for line in _feature(half, results)]
    return [*lines, f"    total += {pair.adds.tolist()!r}[i][j]"]


def _feature(table: StepTable, results: Sequence[str]) -> list[str]:
    """Write one feature: the first condition that holds has its result."""
    time, x = table.scale.is_time, "float(x)" if table.rounds else "x"
    others = list(zip(table.steps, results, strict=True))[1:]
    lines = [f"    x = row.get({table.feature!r})", "    if _missing(x):", f"        {results[0]}"]
    if time and len(others) > 1:
        lines += ["    else:", "        x = _since(x)"]
        pad, first = "        ", "if"
    else:
        pad, first = "    ", "elif"
    for step, result in others[:-1]:
        asked = [_literal(value, time=time) for value in step.values]
        test = f"{x} <= {asked[0]}" if step.kind == "upto" else f"{x} in ({', '.join(asked)},)"
        lines += [f"{pad}{first} {test}:", f"{pad}    {result}"]
        first = "elif"
    return lines + [f"{pad}else:", f"{pad}    {results[-1]}"] * bool(results[-1])


def _literal(value: Value, *, time: bool) -> str:
    if not time:
        return repr(value)
    if not isinstance(value, date):
        msg = f"{value!r} is not a date."
        raise TypeError(msg)
    return f"_since({value.isoformat()!r})"


def _probability(steps: StepModel) -> list[str]:
    if steps.classes is None:
        return []
    return [
        "",
        "",
        "def probability(row):",
        f"    # the probability of {steps.classes[1]!r}",
        f"    return 0.5 * (1.0 + math.tanh(0.5 * ({steps.shift!r} + {steps.slope!r} * score(row))))",
    ]


def sums(table: StepTable, number: str, literal: Callable[[Value], str]) -> list[str]:
    """Write what each step does; the last one nothing, where it adds nothing.

    Parameters
    ----------
    table : StepTable
        The steps.
    number : str
        The value of the row as a number, in the language.
    literal : callable
        Writes a value in the language.

    Returns
    -------
    list of str
        A statement for each step.
    """
    out = []
    for step in table.steps:
        line = f" + {literal(step.slope)} * ({number} - {literal(step.values[0])})" if step.slope else ""
        out.append(f"total += {literal(step.adds)}{line}")
    return [*out[:-1], out[-1] if table.steps[-1].adds else ""]


def places(pair: PairTable) -> list[tuple[StepTable, list[str]]]:
    """Write, for the steps of both features of a pair, where they are in its cells: line `i`, column `j`."""
    return [
        (half, [f"{name} = {cell}" for cell in cells_of(half)]) for half, name in zip(pair.halves, "ij", strict=True)
    ]
