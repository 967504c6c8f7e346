"""Compare exports with the model at critical values: thresholds, their neighbours, missing values."""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
import subprocess
import tempfile
import warnings
from datetime import date, datetime
from pathlib import Path

import numpy as np
import pandas as pd

from sparsegam import export
from sparsegam._models.terms import Condition

AGREE = 1e-9  # relative to the sum of absolute contributions
NODE = shutil.which("node")
MOST = 40  # number of rows
SMALLEST = 1e-15


def check_exports(case, model, rng):
    """Compare one randomly chosen export format with the model; return an error message or None."""
    rows = edge_rows(model, rng)
    frame = pd.DataFrame({name: [row[name] for row in rows] for name in model.features}, dtype=object)
    if not model.features:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = model.decision_function(frame)
    size = abs(model.intercept) + sum(abs(term.coef) * _reach(term.condition) for term in model.terms)
    name = str(rng.choice(["json", "python", "sqlite", "javascript"], p=[0.3, 0.3, 0.3, 0.1]))
    if (name == "javascript" and not NODE) or (name == "sqlite" and not _are_literals(model)):
        name = "json"
    found = RUN[name](model, rows, frame)
    wrong = np.flatnonzero(~(np.abs(found - expected) <= AGREE * size))
    if wrong.size:
        i = wrong[0]
        return f"{name}: {rows[i]} scores {found[i]!r}, decision_function {expected[i]!r}"
    return None


def check_counterfactual(model, rng):
    """Check that a counterfactual of a random row reaches the other class; return an error message or None."""
    row = edge_rows(model, rng)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = model.counterfactual(pd.DataFrame({name: [value] for name, value in row.items()}, dtype=object))
        changed = pd.DataFrame({name: [found.values.get(name, row[name])] for name in row}, dtype=object)
        score = float(model.decision_function(changed)[0])
    size = abs(model.intercept) + sum(abs(term.coef) * _reach(term.condition) for term in model.terms)
    if found.found and abs(score - found.new_score) > AGREE * size:
        return f"{row} with {found.values} scores {score!r}, not {found.new_score!r}"
    if found.found and (score > 0) == (found.score > 0) and abs(score) > AGREE * size:
        return f"{row} with {found.values} stays at its class: {found.score!r}, then {score!r}"
    return None


def edge_rows(model, rng):
    """Return rows with thresholds of a model and their neighbours, known and new levels, special and missing values."""
    by_feature = {name: _edges(model, name) for name in model.features}
    rows = [{name: values[rng.integers(len(values))] for name, values in by_feature.items()} for _ in range(MOST)]
    return rows or [{}]


def _edges(model, name):
    values = [None]
    for clause in (one for term in model.terms for one in term.clauses):
        if clause.feature == name:
            values += _around(clause.condition)
    values += list(model.special_values.get(name, ()))
    scale = model.scales.get(name)
    if scale is None or not scale.has_levels:
        return values
    return [*values, *scale.levels, *(["a level never seen"] if scale.is_text else [])]


def ordered_values(model, name):
    """Return the thresholds of a feature and their neighbours in increasing order, without special values."""
    scale, found = model.scale_of(name), {}
    special = {scale.number(value) for value in model.special_values.get(name, ())}
    for value in _edges(model, name):
        if value is not None and not (scale.has_levels and value not in scale.levels):
            found[scale.number(value)] = value
    return [] if scale.kind == "category" else [found[number] for number in sorted(found.keys() - special)]


def _around(condition: Condition):
    value = condition.value
    if isinstance(value, tuple):
        return list(value)
    if not isinstance(value, float) or condition.kind == "==":
        return [] if value is None else [value]
    found = [0.0, -value, *condition.edges, sum(condition.edges) / 2]
    return found + [math.nextafter(edge, way) for edge in condition.edges for way in (-math.inf, math.inf)]


def _reach(condition: Condition):
    """Return the largest absolute value of a term's column."""
    return max(abs(condition.value), abs(condition.low)) * 2 if condition.is_ramp else 1.0


def _are_literals(model):
    """Return whether SQLite parses all thresholds exactly, which it does not for very large or small exponents."""
    asked = [edge for term in model.terms for edge in term.condition.edges if isinstance(edge, float)]
    return all(edge == 0 or SMALLEST < abs(edge) < 1 / SMALLEST for edge in asked)


def _json(model, rows, frame):
    return type(model).from_json(model.to_json()).decision_function(frame)


def _python(model, rows, frame):
    names = {}
    exec(compile(export.to_python(model), "scorer", "exec"), names)
    return np.array([names["score"](row) for row in rows])


def _sqlite(model, rows, frame):
    connection = sqlite3.connect(":memory:")
    try:
        names = ", ".join('"' + name.replace('"', '""') + '"' for name in model.features)
        connection.execute(f'CREATE TABLE "the rows" (row_id, {names})')
        places = ", ".join("?" * (len(model.features) + 1))
        told = [[i, *map(_plain, row.values())] for i, row in enumerate(rows)]
        connection.executemany(f'INSERT INTO "the rows" VALUES ({places})', told)
        found = connection.execute(export.to_sql(model, "the rows", dialect="sqlite", keep=["row_id"])).fetchall()
    finally:
        connection.close()
    return np.array([row[1] for row in sorted(found)])


def _javascript(model, rows, frame):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "scorer.js").write_text(export.to_javascript(model), encoding="utf-8")
        told = [{name: _plain(value) for name, value in row.items()} for row in rows]
        (Path(folder) / "rows.json").write_text(json.dumps(told), encoding="utf-8")
        program = (
            "const s = require('./scorer.js'); const rows = JSON.parse(require('fs').readFileSync('rows.json'));"
            "console.log(JSON.stringify(rows.map((row) => s.score(row))));"
        )
        done = subprocess.run([NODE, "-e", program], cwd=folder, capture_output=True, text=True, check=True)
    return np.array(json.loads(done.stdout))


def _plain(value):
    return value.isoformat() if isinstance(value, date | datetime) else value


RUN = {"json": _json, "python": _python, "sqlite": _sqlite, "javascript": _javascript}
