"""Runs every export where it is meant to run: databases, Node, onnxruntime, PMML engines, spreadsheets.

Each engine takes a model and a pandas frame with a column `row_id` beside the features, and returns the scores and the
probabilities of the rows in order. An engine that is not installed raises Absent with the reason.
"""

from __future__ import annotations

import csv
import datetime
import importlib.util
import io
import json
import math
import os
import shutil
import sqlite3
import subprocess
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sparsegam import export
from sparsegam._models.steps import step_model
from sparsegam.export._excel import column_letters

KEY = "row_id"
POSTGRESQL_TYPES = {
    bool: "boolean",
    str: "text",
    datetime.datetime: "timestamp",
    datetime.date: "date",
    int: "bigint",
    float: "double precision",
}
SPARK_TYPES = POSTGRESQL_TYPES | {str: "string", float: "double"}
TIMES = ("timestamp", "date")
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
        types = ", ".join(f"{names[name]} {_sql_type(frame[name], POSTGRESQL_TYPES)}" for name in frame)
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([_iso(v) for v in row.values()] for row in records(frame))
        query = export.to_sql(model, "the rows", dialect="postgresql", keep=[KEY])
        script = f'CREATE TABLE "the rows" ({types});\n'
        script += f'\\copy "the rows" FROM STDIN WITH (FORMAT csv)\n{text.getvalue()}\\.\n'
        script += f"COPY ({query}) TO STDOUT WITH (FORMAT csv);\n"
        answer = psql(script)
    return _in_order([[float(cell) for cell in row] for row in csv.reader(io.StringIO(answer)) if len(row) == 3])


def run_spark(model: Any, frame: pd.DataFrame) -> Scores:
    """Score in Spark, on this machine."""
    _module("pyspark")
    if shutil.which("java") is None:
        reason = "java is not installed"
        raise Absent(reason)
    from pyspark.sql import SparkSession

    settings = {"spark.ui.enabled": "false", "spark.sql.session.timeZone": "UTC", "spark.sql.shuffle.partitions": "1"}
    builder = SparkSession.builder.master("local[1]").appName("sparsegam")
    for name, value in settings.items():
        builder = builder.config(name, value)
    types = {name: _sql_type(frame[name], SPARK_TYPES) for name in frame}
    # times go in as text, so that no time zone of this machine comes between
    texts = ", ".join(f"`{name}` {'string' if t in TIMES else t}" for name, t in types.items())
    rows = [[_iso(value) for value in row.values()] for row in records(frame)]
    columns = [f"CAST(`{name}` AS {t}) AS `{name}`" for name, t in types.items()]
    session = builder.getOrCreate()
    try:
        session.sparkContext.setLogLevel("ERROR")
        session.createDataFrame(rows, texts).selectExpr(*columns).createOrReplaceTempView("rows_seen")
        found = session.sql(export.to_sql(model, "rows_seen", dialect="spark", keep=[KEY])).collect()
    finally:
        session.stop()
    return _in_order([list(row) for row in found])


def run_bigquery(model: Any, frame: pd.DataFrame) -> Scores:
    """Score in DuckDB, by the query for BigQuery as sqlglot reads it: BigQuery itself cannot be had."""
    return _translated(model, frame, "bigquery")


def run_tsql(model: Any, frame: pd.DataFrame) -> Scores:
    """Score in DuckDB, by the query for SQL Server as sqlglot reads it; booleans are bits there, and NaN is NULL."""
    bits = {name: frame[name].map({True: 1, False: 0}) for name in frame if set(frame[name]) <= {True, False, None}}
    return _translated(model, frame.assign(**bits).replace({np.nan: None}), "tsql")


def _translated(model: Any, frame: pd.DataFrame, dialect: str) -> Scores:
    """Parse a query in its dialect, which fails where it is none, and run it in DuckDB's."""
    duckdb, sqlglot = _module("duckdb"), _module("sqlglot")
    tree = sqlglot.parse_one(export.to_sql(model, "the rows", dialect=dialect, keep=[KEY]), read=dialect)
    tree = tree.transform(lambda node: _for_duckdb(sqlglot.exp, node))
    with duckdb.connect() as connection:
        connection.register("rows_seen", frame)
        connection.execute('CREATE TABLE "the rows" AS SELECT * FROM rows_seen')
        return _in_order(connection.execute(tree.sql(dialect="duckdb")).fetchall())


def _for_duckdb(exp: Any, node: Any) -> Any:
    """Put right what sqlglot leaves: DuckDB compares bytes and has one kind of text; float has 53 bits in T-SQL."""
    if isinstance(node, exp.Collate):
        return node.this.transform(lambda inner: _for_duckdb(exp, inner))
    if isinstance(node, exp.National):
        return exp.Literal.string(node.this)
    is_float = isinstance(node, exp.DataType) and node.this == exp.DataType.Type.FLOAT
    return exp.DataType.build("DOUBLE", dialect="duckdb") if is_float else node


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
    feed = {table.feature: _tensor(frame[table.feature], table.scale) for table in step_model(model).inputs}
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
    tables = step_model(model).inputs
    columns = [_tensor(frame[t.feature], t.scale, missing_text=None).ravel().tolist() for t in tables]
    rows = [[_plain(value) for value in row] for row in zip(*columns, strict=True)]
    # pypmml writes frames with 10 digits; its own call takes all of them
    answer = json.loads(scorer.call("predict", json.dumps({"columns": [t.feature for t in tables], "data": rows})))
    return pd.DataFrame(answer["data"], columns=answer["columns"])


def pmml_schema() -> Any:
    """The XML Schema of PMML 4.4, out of the jars that some Python packages bring (nothing of them is imported)."""
    etree = _module("lxml.etree").etree
    for package in ("jpmml_evaluator", "sklearn2pmml"):
        spec = importlib.util.find_spec(package)
        for folder in [] if spec is None else spec.submodule_search_locations or []:
            for jar in Path(folder).rglob("pmml-model-[0-9]*.jar"):
                with zipfile.ZipFile(jar) as archive:
                    return etree.XMLSchema(etree.fromstring(archive.read("pmml.xsd")))
    reason = "neither jpmml_evaluator nor sklearn2pmml is installed, which bring the schema of PMML"
    raise Absent(reason)


def run_jpmml(model: Any, frame: pd.DataFrame) -> Scores:
    """Score in JPMML-Evaluator, row by row."""
    jpmml = _module("jpmml_evaluator")
    if shutil.which("java") is None:
        reason = "java is not installed"
        raise Absent(reason)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pmml"
        path.write_text(export.to_pmml(model))
        evaluator = jpmml.make_evaluator(str(path), backend="py4j").verify()
    columns = {t.feature: _tensor(frame[t.feature], t.scale, missing_text=None) for t in step_model(model).inputs}
    rows = zip(*(map(_plain, values.ravel().tolist()) for values in columns.values()), strict=True)
    found = [evaluator.evaluate(dict(zip(columns, row, strict=True))) for row in rows]
    return np.array([one["score"] for one in found]), np.array([one["probability"] for one in found])


def run_libreoffice(model: Any, frame: pd.DataFrame) -> Scores:
    """Score by the workbook's formulas, in LibreOffice without a window."""
    office = shutil.which("soffice") or shutil.which("libreoffice")
    openpyxl = _module("openpyxl")
    if office is None:
        reason = "LibreOffice is not installed"
        raise Absent(reason)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "book.xlsx"
        export.to_excel(model, path, frame)
        home = f"-env:UserInstallation=file://{folder}/home"
        command = [office, home, "--headless", "--convert-to", "xlsx", "--outdir", f"{folder}/out", str(path)]
        subprocess.run(command, capture_output=True, check=True, timeout=600)
        book = openpyxl.load_workbook(Path(folder) / "out" / "book.xlsx", data_only=True, read_only=True)
        found = list(book["Score"].iter_rows(min_row=2, max_row=len(frame) + 1, values_only=True))
        book.close()
    width = _width(model)
    scores = np.array([row[width : width + 2] for row in found], dtype=float)
    return scores[:, 0], scores[:, 1]


def run_excel(model: Any, frame: pd.DataFrame) -> Scores:
    """Score by the workbook's formulas, in the engine `formulas` (slow: few rows)."""
    formulas = _module("formulas")
    _module("openpyxl")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "book.xlsx"
        export.to_excel(model, path, frame)
        solution = formulas.ExcelModel().loads(str(path)).finish().calculate()
    letters = [column_letters(_width(model) + j) for j in (1, 2)]
    cell = "'[book.xlsx]SCORE'!{}{}"
    found = [
        [float(solution[cell.format(letter, i)].value[0, 0]) for letter in letters] for i in range(2, len(frame) + 2)
    ]
    scores = np.array(found)
    return scores[:, 0], scores[:, 1]


def _width(model: Any) -> int:
    """Number of columns of a workbook before the score: values, then what they add."""
    steps = step_model(model)
    return len(steps.inputs) + len(steps.parts)


ENGINES: dict[str, Callable[[Any, pd.DataFrame], Scores]] = {
    "duckdb": run_duckdb,
    "sqlite": run_sqlite,
    "postgresql": run_postgresql,
    "spark": run_spark,
    "bigquery": run_bigquery,
    "tsql": run_tsql,
    "python": run_python,
    "javascript": run_javascript,
    "json": run_json,
    "onnx": run_onnx,
    "pmml": run_pmml,
    "jpmml": run_jpmml,
    "excel": run_excel,
    "libreoffice": run_libreoffice,
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


def _sql_type(column: pd.Series, types: dict[type, str]) -> str:
    kinds = {type(value) for value in map(_plain, column.tolist())} - {type(None)}
    return next(name for kind, name in types.items() if kinds <= {kind} or kind is float)


def _tensor(column: pd.Series, scale: Any, missing_text: Any = "") -> np.ndarray:
    """A column as ONNX and PMML take it: text, or a number on the scale."""
    values = [_plain(value) for value in column.tolist()]
    if scale.is_text:
        return np.array([missing_text if v is None else v for v in values], dtype=object)[:, None]
    number = (lambda v: float(v)) if scale.has_levels else scale.number
    return np.array([np.nan if v is None else number(v) for v in values])[:, None]
