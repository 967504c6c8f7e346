"""A JavaScript function that scores one row, for browsers and Node, without dependencies."""

import json
from collections.abc import Sequence
from datetime import date, datetime, timezone
from typing import Any

from sparsegam._data.columns import Value
from sparsegam._models.step_tables import PairTable, StepTable
from sparsegam._models.steps import StepModel, step_model
from sparsegam.export.statements import places, sums
from sparsegam.parameters import documented

HELPERS = """// Scores rows: written by sparsegam; needs nothing else.
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
    body = [line for table in steps.tables for line in _feature(table, sums(table, "Number(x)", _js))]
    pairs = [line for pair in steps.pairs for line in _pair(pair)]
    lines = [HELPERS, "function score(row) {", f"  let total = {_js(steps.base)};"]
    lines += ["  let x;"] * bool(body or pairs) + ["  let i, j;"] * bool(pairs)
    lines += [*body, *pairs, "  return total;", "}", ""]
    names = ["score"] if steps.classes is None else ["score", "probability"]
    return "\n".join([*lines, *_probability(steps), EXPORTS % ", ".join(names), ""])


def _pair(pair: PairTable) -> list[str]:
    """Write the cells of both features, and what is added where they meet."""
    lines = [line for half, results in places(pair) for line in _feature(half, results)]
    return [*lines, f"  total += {json.dumps(pair.adds.tolist())}[i][j];"]


def _feature(table: StepTable, results: Sequence[str]) -> list[str]:
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


def _probability(steps: StepModel) -> list[str]:
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
