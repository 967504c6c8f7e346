"""Engines that run the exports: databases, Node, onnxruntime, PMML engines and spreadsheets.

Each engine takes a model and a pandas frame with a column `row_id` and the features. It returns the scores and the
probabilities of the rows in the order of `row_id`. An engine that is not installed raises EngineNotInstalled.
"""

from __future__ import annotations

import csv
import datetime
import functools
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
from sparsegam._models.functions import score_function
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


class EngineNotInstalled(Exception):  # noqa: N818
    """The reason to skip the tests of an engine; not an error."""


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows as dicts of plain Python values; None is missing."""
    columns = {name: [_plain(value) for value in frame[name].tolist()] for name in frame}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _plain(value: Any) -> Any:
    if value is None or value is pd.NaT or (isinstance(value, float) and math.isnan(value)):
        return None
    return value.to_pydatetime() if isinstance(value, pd.Timestamp) else value


def run_duckdb(model: Any, frame: pd.DataFrame) -> Scores:
    duckdb = _module("duckdb")
    with duckdb.connect() as connection:
        connection.register("rows_view", frame)
        connection.execute('CREATE TABLE "the rows" AS SELECT * FROM rows_view')
        found = connection.execute(export.to_sql(model, "the rows", dialect="duckdb", keep=[KEY])).fetchall()
    return _by_row_id(found)


def run_sqlite(model: Any, frame: pd.DataFrame) -> Scores:
    """Score in the SQLite of the Python standard library."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("SELECT exp(1.0)")
    except sqlite3.OperationalError as error:
        connection.close()
        reason = f"SQLite was built without mathematical functions ({error})"
        raise EngineNotInstalled(reason) from None
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in frame)
    connection.execute(f'CREATE TABLE "the rows" ({names})')
    places = ", ".join("?" * frame.shape[1])
    rows = [[_iso(value) for value in row.values()] for row in records(frame)]
    connection.executemany(f'INSERT INTO "the rows" VALUES ({places})', rows)
    found = connection.execute(export.to_sql(model, "the rows", dialect="sqlite", keep=[KEY])).fetchall()
    connection.close()
    return _by_row_id(found)


def run_postgresql(model: Any, frame: pd.DataFrame) -> Scores:
    """Score in a temporary PostgreSQL server."""
    with postgresql() as psql:
        names = {name: '"' + name.replace('"', '""') + '"' for name in frame}
        types = ", ".join(f"{names[name]} {_sql_type(frame[name], POSTGRESQL_TYPES)}" for name in frame)
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([_iso(v) for v in row.values()] for row in records(frame))
        query = export.to_sql(model, "the rows", dialect="postgresql", keep=[KEY])
        script = f'CREATE TABLE "the rows" ({types});\n'
        script += f'\\copy "the rows" FROM STDIN WITH (FORMAT csv)\n{text.getvalue()}\\.\n'
        script += f"COPY ({query}) TO STDOUT WITH (FORMAT csv);\n"
        output = psql(script)
    return _by_row_id([[float(cell) for cell in row] for row in csv.reader(io.StringIO(output)) if len(row) == 3])


def run_spark(model: Any, frame: pd.DataFrame) -> Scores:
    """Score in a local Spark session."""
    _module("pyspark")
    if shutil.which("java") is None:
        reason = "java is not installed"
        raise EngineNotInstalled(reason)
    from pyspark.sql import SparkSession

    settings = {"spark.ui.enabled": "false", "spark.sql.session.timeZone": "UTC", "spark.sql.shuffle.partitions": "1"}
    builder = SparkSession.builder.master("local[1]").appName("sparsegam")
    for name, value in settings.items():
        builder = builder.config(name, value)
    types = {name: _sql_type(frame[name], SPARK_TYPES) for name in frame}
    # Times are passed as text, so that the local time zone has no effect.
    texts = ", ".join(f"`{name}` {'string' if t in TIMES else t}" for name, t in types.items())
    rows = [[_iso(value) for value in row.values()] for row in records(frame)]
    columns = [f"CAST(`{name}` AS {t}) AS `{name}`" for name, t in types.items()]
    session = builder.getOrCreate()
    try:
        session.sparkContext.setLogLevel("ERROR")
        session.createDataFrame(rows, texts).selectExpr(*columns).createOrReplaceTempView("rows_view")
        found = session.sql(export.to_sql(model, "rows_view", dialect="spark", keep=[KEY])).collect()
    finally:
        session.stop()
    return _by_row_id([list(row) for row in found])


def run_bigquery(model: Any, frame: pd.DataFrame) -> Scores:
    """Translate the BigQuery query with sqlglot and run it in DuckDB, because BigQuery cannot run locally."""
    return _run_translated(model, frame, "bigquery")


def run_tsql(model: Any, frame: pd.DataFrame) -> Scores:
    """Translate the SQL Server query with sqlglot and run it in DuckDB, with booleans as bits and NaN as NULL."""
    bits = {name: frame[name].map({True: 1, False: 0}) for name in frame if set(frame[name]) <= {True, False, None}}
    return _run_translated(model, frame.assign(**bits).replace({np.nan: None}), "tsql")


def _run_translated(model: Any, frame: pd.DataFrame, dialect: str) -> Scores:
    """Parse a query in its dialect, which fails if it is invalid, and run its translation in DuckDB."""
    duckdb, sqlglot = _module("duckdb"), _module("sqlglot")
    tree = sqlglot.parse_one(export.to_sql(model, "the rows", dialect=dialect, keep=[KEY]), read=dialect)
    tree = tree.transform(lambda node: _for_duckdb(sqlglot.exp, node))
    with duckdb.connect() as connection:
        connection.register("rows_view", frame)
        connection.execute('CREATE TABLE "the rows" AS SELECT * FROM rows_view')
        return _by_row_id(connection.execute(tree.sql(dialect="duckdb")).fetchall())


def _for_duckdb(exp: Any, node: Any) -> Any:
    """Adapt a node that sqlglot does not translate: collations, national strings and the 64-bit FLOAT of T-SQL."""
    if isinstance(node, exp.Collate):
        return node.this.transform(lambda inner: _for_duckdb(exp, inner))
    if isinstance(node, exp.National):
        return exp.Literal.string(node.this)
    is_float = isinstance(node, exp.DataType) and node.this == exp.DataType.Type.FLOAT
    return exp.DataType.build("DOUBLE", dialect="duckdb") if is_float else node


def run_python(model: Any, frame: pd.DataFrame) -> Scores:
    """Score with the exported Python module."""
    code = export.to_python(model)
    names: dict[str, Any] = {}
    exec(compile(code, "scorer", "exec"), names)
    rows = records(frame)
    return np.array([names["score"](row) for row in rows]), np.array([names["probability"](row) for row in rows])


def run_javascript(model: Any, frame: pd.DataFrame) -> Scores:
    node = shutil.which("node")
    if node is None:
        reason = "node is not installed"
        raise EngineNotInstalled(reason)
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
    """Score with the model after a round trip through JSON."""
    again = type(model).from_json(model.to_json())
    return again.decision_function(frame), again.predict_proba(frame)[:, 1]


def run_onnx(model: Any, frame: pd.DataFrame) -> Scores:
    onnxruntime = _module("onnxruntime")
    _module("onnx")
    session = onnxruntime.InferenceSession(
        export.to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    feed = {bins.feature: _tensor(frame[bins.feature], bins.scale) for bins in score_function(model).inputs}
    score, probability = session.run(["score", "probability"], feed)
    return score.ravel(), probability.ravel()


def run_pmml(model: Any, frame: pd.DataFrame) -> Scores:
    """Score in PMML4S, which pypmml wraps."""
    pypmml = _module("pypmml")
    if shutil.which("java") is None:
        reason = "java is not installed"
        raise EngineNotInstalled(reason)
    found = pmml_rows(pypmml.Model.fromString(export.to_pmml(model)), model, frame)
    return found["score"].to_numpy(dtype=float), found["probability"].to_numpy(dtype=float)


def pmml_rows(scorer: Any, model: Any, frame: pd.DataFrame) -> pd.DataFrame:
    """Return all outputs of a PMML document for the rows of a frame."""
    tables = score_function(model).inputs
    columns = [_tensor(frame[t.feature], t.scale, missing_text=None).ravel().tolist() for t in tables]
    rows = [[_plain(value) for value in row] for row in zip(*columns, strict=True)]
    # The data frame interface of pypmml rounds to 10 digits; `call` does not.
    result = json.loads(scorer.call("predict", json.dumps({"columns": [t.feature for t in tables], "data": rows})))
    return pd.DataFrame(result["data"], columns=result["columns"])


def pmml_schema() -> Any:
    """Return the XML Schema of PMML 4.4 from the jar files of a Python package, without importing the package."""
    etree = _module("lxml.etree").etree
    for package in ("jpmml_evaluator", "sklearn2pmml"):
        spec = importlib.util.find_spec(package)
        for folder in [] if spec is None else spec.submodule_search_locations or []:
            for jar in Path(folder).rglob("pmml-model-[0-9]*.jar"):
                with zipfile.ZipFile(jar) as archive:
                    return etree.XMLSchema(etree.fromstring(archive.read("pmml.xsd")))
    reason = "neither jpmml_evaluator nor sklearn2pmml is installed, which contain the schema of PMML"
    raise EngineNotInstalled(reason)


def run_jpmml(model: Any, frame: pd.DataFrame) -> Scores:
    """Score row by row in JPMML-Evaluator."""
    jpmml = _module("jpmml_evaluator")
    if shutil.which("java") is None:
        reason = "java is not installed"
        raise EngineNotInstalled(reason)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pmml"
        path.write_text(export.to_pmml(model))
        evaluator = jpmml.make_evaluator(str(path), backend=_jpmml_backend()).verify()
    columns = {t.feature: _tensor(frame[t.feature], t.scale, missing_text=None) for t in score_function(model).inputs}
    rows = zip(*(map(_plain, values.ravel().tolist()) for values in columns.values()), strict=True)
    found = [evaluator.evaluate(dict(zip(columns, row, strict=True))) for row in rows]
    return np.array([one["score"] for one in found]), np.array([one["probability"] for one in found])


@functools.cache
def _jpmml_backend() -> Any:
    """Start Java once per process. By default it would keep running when the tests end."""
    from jpmml_evaluator import _classpath
    from jpmml_evaluator.py4j import Py4JBackend
    from py4j.java_gateway import JavaGateway

    return Py4JBackend(JavaGateway.launch_gateway(classpath=os.pathsep.join(_classpath([])), die_on_exit=True))


def run_libreoffice(model: Any, frame: pd.DataFrame) -> Scores:
    """Score with the formulas of the workbook in LibreOffice."""
    office = shutil.which("soffice") or shutil.which("libreoffice")
    openpyxl = _module("openpyxl")
    if office is None:
        reason = "LibreOffice is not installed"
        raise EngineNotInstalled(reason)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "book.xlsx"
        export.to_excel(model, path, frame)
        home = f"-env:UserInstallation=file://{folder}/home"
        command = [office, home, "--headless", "--convert-to", "xlsx", "--outdir", f"{folder}/out", str(path)]
        subprocess.run(command, capture_output=True, check=True, timeout=600)
        book = openpyxl.load_workbook(Path(folder) / "out" / "book.xlsx", data_only=True, read_only=True)
        found = list(book["Score"].iter_rows(min_row=2, max_row=len(frame) + 1, values_only=True))
        book.close()
    width = _n_columns_before_score(model)
    scores = np.array([row[width : width + 2] for row in found], dtype=float)
    return scores[:, 0], scores[:, 1]


def run_excel(model: Any, frame: pd.DataFrame) -> Scores:
    """Score with the formulas of the workbook in the Python package `formulas`, which is slow."""
    formulas = _module("formulas")
    _module("openpyxl")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "book.xlsx"
        export.to_excel(model, path, frame)
        solution = formulas.ExcelModel().loads(str(path)).finish().calculate()
    letters = [column_letters(_n_columns_before_score(model) + j) for j in (1, 2)]
    cell = "'[book.xlsx]SCORE'!{}{}"
    found = [
        [float(solution[cell.format(letter, i)].value[0, 0]) for letter in letters] for i in range(2, len(frame) + 2)
    ]
    scores = np.array(found)
    return scores[:, 0], scores[:, 1]


def _n_columns_before_score(model: Any) -> int:
    """Return the number of columns before the score: the features and their contributions."""
    score = score_function(model)
    return len(score.inputs) + len(score.functions)


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
    """Start a server in a temporary folder and yield a function that runs a psql script."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin")) or [Path(shutil.which("initdb") or "none").parent]
    initdb, control = programs[-1] / "initdb", programs[-1] / "pg_ctl"
    if not initdb.exists():
        reason = "the PostgreSQL server is not installed"
        raise EngineNotInstalled(reason)
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
            reason = f"PostgreSQL does not start ({error})"
            raise EngineNotInstalled(reason) from None
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
        raise EngineNotInstalled(reason) from None


def _by_row_id(rows: list[Any]) -> Scores:
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
    """Return a column as ONNX and PMML expect it: text, or the numbers of its scale."""
    values = [_plain(value) for value in column.tolist()]
    if scale.is_text:
        return np.array([missing_text if v is None else v for v in values], dtype=object)[:, None]
    number = (lambda v: float(v)) if scale.has_levels else scale.number
    return np.array([np.nan if v is None else number(v) for v in values])[:, None]
