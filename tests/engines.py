"""Runs every export where it is meant to run: databases, Node, onnxruntime, a PMML engine, a formula engine.

Each engine takes a model and a pandas frame with a column `row_id` beside the features, and returns the scores and the
probabilities of the rows in order. An engine that is not installed raises Absent with the reason.
"""

from __future__ import annotations

import csv
import datetime
import io
import json
import math
import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sparsegam import export
from sparsegam.export import excel
from sparsegam.steps import step_model

KEY = "row_id"
Scores = tuple[np.ndarray, np.ndarray]


class Absent(Exception):  # noqa: N818  (no error: a reason to skip)
    """Why an engine cannot run here."""


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as dicts of plain Python values, None where missing."""
    columns = {name: [_plain(value) for value in frame[name].tolist()] for name in frame}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _plain(value: Any) -> Any:
    if value is None or value is pd.NaT or (isinstance(value, float) and math.isnan(value)):
        return None
    return value.to_pydatetime() if isinstance(value, pd.Timestamp) else value


def run_duckdb(model: Any, frame: pd.DataFrame) -> Scores:
    """Score in DuckDB."""
    duckdb = _module("duckdb")
    with duckdb.connect() as connection:
        connection.register("rows_seen", frame)
        connection.execute('CREATE TABLE "the rows" AS SELECT * FROM rows_seen')
        found = connection.execute(export.to_sql(model, "the rows", dialect="duckdb", keep=[KEY])).fetchall()
    return _in_order(found)


def run_sqlite(model: Any, frame: pd.DataFrame) -> Scores:
    """Score in SQLite, as Python brings it."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("SELECT exp(1.0)")
    except sqlite3.OperationalError as error:
        connection.close()
        reason = f"this SQLite has no mathematical functions ({error})"
        raise Absent(reason) from None
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in frame)
    connection.execute(f'CREATE TABLE "the rows" ({names})')
    places = ", ".join("?" * frame.shape[1])
    rows = [[_iso(value) for value in row.values()] for row in records(frame)]
    connection.executemany(f'INSERT INTO "the rows" VALUES ({places})', rows)
    found = connection.execute(export.to_sql(model, "the rows", dialect="sqlite", keep=[KEY])).fetchall()
    connection.close()
    return _in_order(found)


def run_postgresql(model: Any, frame: pd.DataFrame) -> Scores:
    """Score in a PostgreSQL server started for this."""
    with postgresql() as psql:
        names = {name: '"' + name.replace('"', '""') + '"' for name in frame}
        types = ", ".join(f"{names[name]} {_postgresql_type(frame[name])}" for name in frame)
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([_iso(v) for v in row.values()] for row in records(frame))
        query = export.to_sql(model, "the rows", dialect="postgresql", keep=[KEY])
        script = f'CREATE TABLE "the rows" ({types});\n'
        script += f'\\copy "the rows" FROM STDIN WITH (FORMAT csv)\n{text.getvalue()}\\.\n'
        script += f"COPY ({query}) TO STDOUT WITH (FORMAT csv);\n"
        answer = psql(script)
    return _in_order([[float(cell) for cell in row] for row in csv.reader(io.StringIO(answer)) if len(row) == 3])


def run_python(model: Any, frame: pd.DataFrame) -> Scores:
    """Score by the dependency-free Python module, in an interpreter that has no other packages."""
    code = export.to_python(model)
    names: dict[str, Any] = {}
    exec(compile(code, "scorer", "exec"), names)
    rows = records(frame)
    return np.array([names["score"](row) for row in rows]), np.array([names["probability"](row) for row in rows])


def run_javascript(model: Any, frame: pd.DataFrame) -> Scores:
    """Score in Node."""
    node = shutil.which("node")
    if node is None:
        reason = "node is not installed"
        raise Absent(reason)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "scorer.js").write_text(export.to_javascript(model))
        (Path(folder) / "rows.json").write_text(json.dumps(records(frame), default=_iso))
        program = (
            "const s = require('./scorer.js'); const rows = JSON.parse(require('fs').readFileSync('rows.json'));"
            "console.log(JSON.stringify(rows.map((row) => [s.score(row), s.probability(row)])));"
        )
        done = subprocess.run([node, "-e", program], cwd=folder, capture_output=True, text=True, check=True)
    found = np.array(json.loads(done.stdout))
    return found[:, 0], found[:, 1]


def run_json(model: Any, frame: pd.DataFrame) -> Scores:
    """Score by the model read back from its JSON."""
    again = type(model).from_json(model.to_json())
    return again.decision_function(frame), again.predict_proba(frame)[:, 1]


def run_onnx(model: Any, frame: pd.DataFrame) -> Scores:
    """Score in onnxruntime."""
    onnxruntime = _module("onnxruntime")
    _module("onnx")
    session = onnxruntime.InferenceSession(
        export.to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    feed = {table.feature: _tensor(frame[table.feature], table.scale) for table in step_model(model).tables}
    score, probability = session.run(["score", "probability"], feed)
    return score.ravel(), probability.ravel()


def run_pmml(model: Any, frame: pd.DataFrame) -> Scores:
    """Score in PMML4S, through pypmml."""
    pypmml = _module("pypmml")
    if shutil.which("java") is None:
        reason = "java is not installed"
        raise Absent(reason)
    found = pmml_rows(pypmml.Model.fromString(export.to_pmml(model)), model, frame)
    return found["score"].to_numpy(dtype=float), found["probability"].to_numpy(dtype=float)


def pmml_rows(scorer: Any, model: Any, frame: pd.DataFrame) -> pd.DataFrame:
    """All outputs of a PMML document for the rows of a frame."""
    tables = step_model(model).tables
    columns = [_tensor(frame[t.feature], t.scale, missing_text=None).ravel().tolist() for t in tables]
    rows = [[_plain(value) for value in row] for row in zip(*columns, strict=True)]
    # pypmml writes frames with 10 digits; its own call takes all of them
    answer = json.loads(scorer.call("predict", json.dumps({"columns": [t.feature for t in tables], "data": rows})))
    return pd.DataFrame(answer["data"], columns=answer["columns"])


def run_excel(model: Any, frame: pd.DataFrame) -> Scores:
    """Score by the workbook's formulas, in the engine `formulas` (slow: few rows)."""
    formulas = _module("formulas")
    _module("openpyxl")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "book.xlsx"
        export.to_excel(model, path, frame)
        solution = formulas.ExcelModel().loads(str(path)).finish().calculate()
    width = len(step_model(model).tables)
    letters = [excel.letters_of(j) for j in (2 * width + 1, 2 * width + 2)]
    cell = "'[book.xlsx]SCORE'!{}{}"
    found = [
        [float(solution[cell.format(letter, i)].value[0, 0]) for letter in letters] for i in range(2, len(frame) + 2)
    ]
    scores = np.array(found)
    return scores[:, 0], scores[:, 1]


ENGINES: dict[str, Callable[[Any, pd.DataFrame], Scores]] = {
    "duckdb": run_duckdb,
    "sqlite": run_sqlite,
    "postgresql": run_postgresql,
    "python": run_python,
    "javascript": run_javascript,
    "json": run_json,
    "onnx": run_onnx,
    "pmml": run_pmml,
    "excel": run_excel,
}


@contextmanager
def postgresql() -> Iterator[Callable[[str], str]]:
    """Start a server in a folder of its own, reached through a socket there; gives a function that runs psql."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin")) or [Path(shutil.which("initdb") or "none").parent]
    initdb, control = programs[-1] / "initdb", programs[-1] / "pg_ctl"
    if not initdb.exists():
        reason = "PostgreSQL's server is not installed"
        raise Absent(reason)
    as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        data, log = f"{folder}/data", f"{folder}/log"

        def run(*command: Any, text: str | None = None) -> str:
            done = subprocess.run(
                [*as_user, *map(str, command)], input=text, capture_output=True, text=True, check=False, cwd=folder
            )
            if done.returncode:
                msg = f"{command[0]}: {done.stderr[-500:]}"
                raise RuntimeError(msg)
            return done.stdout

        try:
            run(initdb, "-D", data, "-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8", "--locale=C")
            run(control, "-D", data, "-l", log, "-w", "-o", f"-c listen_addresses= -k {folder} -F", "start")
        except (RuntimeError, OSError) as error:
            reason = f"PostgreSQL does not start here ({error})"
            raise Absent(reason) from None
        try:
            yield lambda script: run(
                "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", folder, "-U", "postgres", text=script
            )
        finally:
            run(control, "-D", data, "-m", "immediate", "stop")


def _module(name: str) -> Any:
    try:
        return __import__(name)
    except ImportError:
        reason = f"{name} is not installed"
        raise Absent(reason) from None


def _in_order(rows: list[Any]) -> Scores:
    found = np.array(sorted(rows), dtype=float)
    return found[:, 1], found[:, 2]


def _iso(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, datetime.date) else value


def _postgresql_type(column: pd.Series) -> str:
    kinds = {type(value) for value in map(_plain, column.tolist())} - {type(None)}
    if kinds <= {bool}:
        return "boolean"
    if kinds <= {str}:
        return "text"
    if kinds <= {datetime.datetime, pd.Timestamp}:
        return "timestamp"
    if kinds <= {datetime.date}:
        return "date"
    return "bigint" if kinds <= {int} else "double precision"


def _tensor(column: pd.Series, scale: Any, missing_text: Any = "") -> np.ndarray:
    """A column as ONNX and PMML take it: text, or a number on the scale."""
    values = [_plain(value) for value in column.tolist()]
    if scale.is_text:
        return np.array([missing_text if v is None else v for v in values], dtype=object)[:, None]
    number = (lambda v: float(v)) if scale.has_levels else scale.number
    return np.array([np.nan if v is None else number(v) for v in values])[:, None]
