"""A Python function that scores one row with nothing but the standard library."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from sparsegam._data.columns import Value
from sparsegam._models.step_tables import PairTable, StepTable
from sparsegam._models.steps import StepModel, step_model
from sparsegam.export.statements import places, sums
from sparsegam.parameters import documented

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
