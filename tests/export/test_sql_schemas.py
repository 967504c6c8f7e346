"""Queries on tables with hostile schemas: names like those of the query, absent columns, wrong types, time zones."""

import sqlite3
from datetime import date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pytest
from _helpers import engines

from sparsegam._data.columns import BOOLEAN, DATE, DATETIME, DATETIME_WITH_ZONE, Scale
from sparsegam._models.additive import Model
from sparsegam._models.terms import Condition, Term
from sparsegam.deploy import reason_table, scorecard
from sparsegam.export import to_sql
from sparsegam.export._sql import DIALECTS

INTERNAL = ["score", "probability", "points", "code_0", "code_1", "lost_0", "lost_1", "reason_1", "keep_0", "keep_1"]
INTERNAL += ["source", "scored", "Score", "count", "name", "text"]


@pytest.fixture(scope="module")
def psql():
    try:
        with engines.postgresql() as run:
            yield run
    except engines.EngineNotInstalled as reason:
        pytest.skip(str(reason))


@pytest.fixture(params=["duckdb", "sqlite", "postgresql"])
def database(request):
    """Return the name of a dialect and a function that runs a script and returns the rows of its last query."""
    if request.param == "postgresql":
        return request.param, _runner_of_postgresql(request.getfixturevalue("psql"))
    if request.param == "duckdb":
        return request.param, _run_duckdb
    return request.param, _run_sqlite


def _runner_of_postgresql(run):
    def rows(script, query):
        copied = f"DROP SCHEMA public CASCADE; CREATE SCHEMA public;\n{script};\nCOPY ({query}) TO STDOUT;\n"
        lines = run(copied).splitlines()
        return [[None if cell == "\\N" else _cell(cell) for cell in line.split("\t")] for line in lines if line]

    return rows


def _cell(text):
    try:
        return float(text)
    except ValueError:
        return text


def _run_duckdb(script, query):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.execute(script)
        return connection.execute(query).fetchall()


def _run_sqlite(script, query):
    with sqlite3.connect(":memory:") as connection:
        connection.executescript(script)
        return connection.execute(query).fetchall()


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def table(columns, rows):
    """Return a script that creates the table t; columns are pairs of name and type, rows are literals."""
    declared = ", ".join(f"{quoted(name)} {kind}" for name, kind in columns)
    values = ", ".join(f"({', '.join(map(str, row))})" for row in rows)
    return f"CREATE TABLE t ({declared}); INSERT INTO t VALUES {values}"


def model_of(*names):
    terms = [Term(name, Condition("<=", 2.0), 0.5 + i / 4) for i, name in enumerate(names)]
    return Model(0.25, tuple(terms), names, "logistic", ("good", "bad"))


@pytest.mark.parametrize("name", INTERNAL)
def test_to_sql_scores_tables_with_columns_named_like_those_of_the_query(database, name):
    dialect, rows = database
    model = model_of("x", name)
    card, reasons = scorecard(model, method="plain"), reason_table(model, k=2, texts={"x": "X", name: "N"})
    frame = pd.DataFrame({"id": [1, 2, 3], "x": [1.0, 3.0, 1.0], name: [3.0, 1.0, 30.0]})
    options = {"points": card, "reasons": reasons, "dialect": dialect}
    script = table(
        [("id", "integer"), ("x", "double precision"), (name, "double precision")], frame.to_numpy().tolist()
    )
    folded = name if dialect == "postgresql" else name.lower()
    keep = ["id"] if folded in ("score", "probability", "points", "reason_1") else ["id", name]
    found = sorted(rows(script, to_sql(model, "t", keep=keep, **options)))
    expected = reasons.of(frame).codes()
    for i, row in enumerate(found):
        assert row[: len(keep)] == type(row)(frame[keep].iloc[i])
        score, probability, points, *codes = row[len(keep) :]
        assert score == pytest.approx(model.decision_function(frame)[i])
        assert probability == pytest.approx(model.predict_proba(frame)[i, 1])
        assert points == card.score(frame)[i]
        assert [code or "" for code in codes] == [code or "" for code in expected[i]]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("keep", [["score"], ["id", "probability"], ["points"], ["reason_2"], ["id", "id"]])
def test_to_sql_refuses_duplicate_output_names(dialect, keep):
    model = model_of("x")
    options = {"points": scorecard(model, method="plain"), "reasons": reason_table(model, k=2), "dialect": dialect}
    with pytest.raises(ValueError, match=rf"two columns named '{keep[-1]}'.*score, probability, points, reason_1"):
        to_sql(model, "t", keep=keep, **options)


def test_to_sql_refuses_output_names_that_differ_by_case_except_in_postgresql():
    for dialect in DIALECTS:
        if dialect == "postgresql":
            assert '"Score"' in to_sql(model_of("x"), "t", dialect=dialect, keep=["Score"])
        else:
            with pytest.raises(ValueError, match="two columns named 'Score'"):
                to_sql(model_of("x"), "t", dialect=dialect, keep=["Score"])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_to_sql_qualifies_every_column_of_the_table_and_generates_inner_names(dialect):
    sqlglot = pytest.importorskip("sqlglot")
    model = model_of("i", "score", "lost_0")
    options = {"points": scorecard(model, method="plain"), "reasons": reason_table(model, k=2), "dialect": dialect}
    query = to_sql(model, "t", keep=["id", "code_0"], **options)
    tree = sqlglot.parse_one(query, read={"postgresql": "postgres"}.get(dialect, dialect))
    inner = tree.args["from_" if "from_" in tree.args else "from"].this.this
    assert {column.table for column in inner.find_all(sqlglot.exp.Column)} == {"source"}
    names = [column.alias for column in inner.expressions]
    assert names[:4] == ["keep_0", "keep_1", "score", "points"]
    assert len({*names}) == len(names)
    assert [column.alias_or_name for column in tree.expressions][:2] == ["id", "code_0"]


@pytest.mark.parametrize("name", ["i", "score", "rows", "t", "source", "count", "name", "text"])
@pytest.mark.parametrize("kind", ["number", "text"])
def test_queries_fail_if_the_table_lacks_a_feature(database, name, kind):
    dialect, rows = database
    model = model_of(name)
    if kind == "text":
        terms = (Term(name, Condition("==", "k"), 1.0),)
        model = Model(0.0, terms, (name,), "logistic", (0, 1), scales={name: Scale("category", ("k", "l"))})
    with pytest.raises(Exception, match=r"(?i)column|group by|does not exist|cast|invalid input"):
        rows(table([("id", "integer"), ("b", "integer")], [(1, 2)]), to_sql(model, "t", dialect=dialect, keep=["id"]))


@pytest.mark.parametrize(
    ("dialect", "name"), [("sqlite", "rowid"), ("sqlite", "OID"), ("duckdb", "rowid"), ("postgresql", "xmin")]
)
def test_to_sql_refuses_features_named_like_system_columns(dialect, name):
    with pytest.raises(ValueError, match=f"the feature '{name}' has the name of a system column"):
        to_sql(model_of(name), "t", dialect=dialect)
    assert to_sql(model_of("x"), "t", dialect=dialect, keep=[name])


NUMERIC_LEVELS = Model(
    0.0, (Term("x", Condition("in", (3, 7)), 1.0),), ("x",), "logistic", (0, 1), scales={"x": Scale("category", (3, 7))}
)
OF_BOOLEANS = Model(
    0.0, (Term("x", Condition("<=", value=False), 1.0),), ("x",), "logistic", (0, 1), scales={"x": BOOLEAN}
)
OF_DATES = Model(
    0.0, (Term("x", Condition("<=", date(2020, 1, 1)), 1.0),), ("x",), "logistic", (0, 1), scales={"x": DATE}
)
RAMP = Model(0.0, (Term("x", Condition("ramp", 20.0, 0.0), 1.0),), ("x",), "logistic", (0, 1))
SPECIAL = Model(0.0, (Term("x", Condition("in", (3.0, 7.0)), 1.0),), ("x",), "logistic", (0, 1))
ERRORS = r"(?i)x.* must contain|cannot compare|operator does not exist|could not convert|cast|no function matches"


@pytest.mark.parametrize("model", [model_of("x"), NUMERIC_LEVELS, OF_BOOLEANS, RAMP, SPECIAL])
@pytest.mark.parametrize("value", ["'9'", "'abc'", "'true'", "''"])
def test_queries_refuse_text_for_numbers_and_booleans(database, model, value):
    dialect, rows = database
    with pytest.raises(Exception, match=ERRORS):
        rows(table([("x", "text")], [(value,)]), to_sql(model, "t", dialect=dialect))


def test_queries_on_sqlite_refuse_values_of_another_type():
    for model, value in [(OF_DATES, "18262"), (OF_DATES, "'soon'"), (OF_BOOLEANS, "'False'"), (RAMP, "x'01'")]:
        with pytest.raises(sqlite3.OperationalError, match='column "x" must contain'):
            _run_sqlite(table([("x", "")], [(value,)]), to_sql(model, "t", dialect="sqlite"))
    terms = (Term("x", Condition("==", "1"), 1.0),)
    levels = Model(0.0, terms, ("x",), "squared", scales={"x": Scale("category", ("1", "2"))})
    with pytest.raises(sqlite3.OperationalError, match=r'column "x" must contain text.*got integer'):
        _run_sqlite(table([("x", "")], [("1",)]), to_sql(levels, "t", dialect="sqlite"))


def test_points_and_reasons_refuse_invalid_values_of_features_without_score():
    """A feature may have points and no term: the scorecard and the reasons may be those of another model."""
    card, reasons = scorecard(model_of("x"), method="plain"), reason_table(model_of("x"))
    for options in ({"points": card}, {"reasons": reasons}):
        query = to_sql(model_of("z"), "t", dialect="sqlite", **options)
        with pytest.raises(sqlite3.OperationalError, match='column "x" must contain finite numbers'):
            _run_sqlite(table([("x", "text"), ("z", "real")], [("'1'", 1)]), query)


@pytest.mark.filterwarnings("ignore:.*new level in")
@pytest.mark.parametrize("model", [model_of("x"), NUMERIC_LEVELS, RAMP, SPECIAL])
@pytest.mark.parametrize("sign", ["", "-"])
def test_queries_refuse_infinity_like_decision_function(database, model, sign):
    dialect, rows = database
    value = f"{sign}9e999" if dialect == "sqlite" else f"CAST('{sign}Infinity' AS double precision)"
    frame = pd.DataFrame({"x": [float(f"{sign}inf"), 1.0]})
    with pytest.raises(ValueError, match="column 'x' contains infinity"):
        model.decision_function(frame)
    query = to_sql(model, "t", dialect=dialect)
    with pytest.raises(Exception, match='column "x" must contain finite numbers'):
        rows(table([("x", "double precision")], [(1.0,), (value,), ("NULL",)]), query)
    found = rows(table([("x", "double precision")], [(1.0,), (1.7e308,), ("NULL",)]), query)
    expected = model.decision_function(pd.DataFrame({"x": [1.0, 1.7e308, np.nan]}))
    np.testing.assert_allclose([row[0] for row in found], expected)


@pytest.mark.parametrize("dialect", ["bigquery", "spark"])
@pytest.mark.parametrize("model", [model_of("x"), NUMERIC_LEVELS])
def test_to_sql_checks_for_infinity_in_dialects_that_have_it(dialect, model):
    query = to_sql(model, "t", dialect=dialect)
    assert {"bigquery": "IS_INF(CAST(source.`x`", "spark": "= CAST('Infinity' AS DOUBLE)"}[dialect] in query
    assert 'column "x" must contain finite numbers' in query


NEW_YORK, TOKYO = "America/New_York", "Asia/Tokyo"
MOMENT = datetime(2021, 3, 14, 6, 30, 0, 250000)


def time_model(scale):
    value = MOMENT.date() if scale == DATE else MOMENT
    terms = (Term("when", Condition("<=", value), 1.0), Term("when", Condition("==", value), 0.25))
    return Model(0.0, terms, ("when",), "squared", scales={"when": scale})


def times(scale):
    start = MOMENT if scale == DATETIME else datetime(2021, 3, 14)
    steps = [timedelta(0), timedelta(microseconds=1), *(timedelta(hours=h) for h in (1, 4, 5, 9, 24))]
    return sorted({start + sign * step for step in steps for sign in (-1, 1)})


@pytest.mark.parametrize("zone", ["UTC", NEW_YORK, TOKYO])
@pytest.mark.parametrize("scale", [DATETIME, DATE])
@pytest.mark.parametrize("kind", ["timestamp", "timestamptz", "date"])
@pytest.mark.parametrize("dialect", ["duckdb", "postgresql"])
def test_queries_compare_times_in_utc_in_every_session(request, dialect, kind, scale, zone):
    model, values = time_model(scale), times(scale)
    if kind == "date":
        values = [datetime(value.year, value.month, value.day) for value in values]
    with_zone = kind == "timestamptz" and scale == DATETIME
    model = time_model(DATETIME_WITH_ZONE) if with_zone else model
    frame = pd.DataFrame({"when": [v.replace(tzinfo=timezone.utc) if with_zone else v for v in values]})
    offset = "+00" if kind == "timestamptz" else ""
    literals = [(f"{kind} '{value.isoformat(sep=' ')}{offset}'", i) for i, value in enumerate(values)]
    script = table([("when", kind), ("id", "integer")], literals)
    setting = f"SET TimeZone = '{zone}'"
    rows = _run_duckdb if dialect == "duckdb" else _runner_of_postgresql(request.getfixturevalue("psql"))
    query = to_sql(model, "t", dialect=dialect, keep=["id"])
    found = sorted(rows(f"{setting}; {script}", query))
    np.testing.assert_array_equal([row[1] for row in found], model.decision_function(frame))


def test_to_sql_writes_times_of_spark_with_their_zone():
    for scale in (DATETIME, DATETIME_WITH_ZONE):
        assert "TIMESTAMP '2021-03-14 06:30:00.250000 UTC'" in to_sql(time_model(scale), "t", dialect="spark")


@pytest.mark.parametrize("value", ["infinity", "-infinity"])
@pytest.mark.parametrize("dialect", ["duckdb", "postgresql"])
def test_queries_refuse_infinite_times(request, dialect, value):
    rows = _run_duckdb if dialect == "duckdb" else _runner_of_postgresql(request.getfixturevalue("psql"))
    script = table([("when", "timestamp")], [(f"timestamp '{value}'",)])
    with pytest.raises(Exception, match='column "when" must contain times'):
        rows(script, to_sql(time_model(DATETIME), "t", dialect=dialect))
