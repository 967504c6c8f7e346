"""Commands that lead from a model to decisions, `sparsegam predict`, `export`, `scorecard`, `drift`, and small ones."""

import argparse
import csv
import io
import json
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Any

from sparsegam._io.writing import write_atomically

# The choices are written out, so that `sparsegam --help` need not load what they belong to; a test compares them.
DIALECTS = ("duckdb", "postgresql", "sqlite", "spark", "bigquery", "tsql")
METHODS = ("pdo", "min_max", "plain", "small")
DIRECTIONS = ("higher_is_safer", "higher_is_riskier")
BASES = ("apart", "folded")
FORMATS = ("sql", "python", "javascript", "pmml", "latex", "json", "onnx", "excel")
BINARY = ("onnx", "excel")
SHELLS = ("bash", "zsh", "fish")
ENDINGS = {".html": "to_html", ".csv": "to_csv"}

AddCommand = Callable[[str, str], argparse.ArgumentParser]


def add_export(command: AddCommand) -> None:
    """Declare `sparsegam export`."""
    export = command("export", "write a model so that it runs elsewhere")
    export.add_argument("model", help="a model that `fit --out` wrote")
    export.add_argument("--to", choices=FORMATS, required=True, help="the language or format")
    export.add_argument("--out", "-o", metavar="FILE", help="write here instead of printing (onnx and excel need it)")
    export.add_argument("--dialect", choices=DIALECTS, default="postgresql", help="of SQL (default postgresql)")
    export.add_argument("--table", default="rows", help="of SQL: the table to score")
    export.add_argument("--keep", nargs="+", default=[], metavar="COLUMN", help="of SQL: columns to pass through")


def add_scorecard(command: AddCommand, data_options: Callable[[argparse.ArgumentParser], None]) -> None:
    """Declare `sparsegam scorecard`."""
    card = command("scorecard", "turn a model into whole points")
    card.add_argument("model", help="a model that `fit --out` wrote")
    data_options(card)
    card.set_defaults(categorical=[])
    card.add_argument("--method", choices=METHODS, default="pdo")
    card.add_argument("--pdo", type=float, default=20.0, help="points that double the odds")
    card.add_argument("--odds", type=float, default=50.0, help="odds at the base points")
    card.add_argument("--base-points", type=float, default=600.0)
    card.add_argument("--max-points", type=int, default=5, help="of a term, with --method small")
    card.add_argument("--direction", choices=DIRECTIONS)
    card.add_argument("--base", choices=BASES, default="apart")
    card.add_argument("--nonnegative", action="store_true", help="no step below zero")
    card.add_argument("--out", "-o", metavar="FILE", help="write .html, .csv or .xlsx too")


def add_drift(command: AddCommand) -> None:
    """Declare `sparsegam drift`."""
    drift = command("drift", "how far new rows have moved from those that a model was fitted on")
    drift.add_argument("model", help="a model that `fit --out` wrote")
    drift.add_argument("data", help="the new rows: CSV, Parquet, Feather or Excel, also .gz")
    drift.add_argument("--reference", metavar="FILE", help="compare with these rows instead of those of the fit")
    drift.add_argument("--encoding", default="utf-8")


def add_example(command: AddCommand) -> None:
    """Declare `sparsegam example`."""
    example = command("example", "write a small table to try things on: simulated loans, as CSV")
    example.add_argument("--out", "-o", metavar="FILE", help="write here instead of printing")


def add_completion(command: AddCommand) -> None:
    """Declare `sparsegam completion`."""
    completion = command("completion", "print what a shell needs to complete commands and options")
    completion.add_argument("shell", choices=SHELLS)


def add_predict(command: AddCommand) -> None:
    """Declare `sparsegam predict`."""
    predict = command("predict", "score the rows of a table with a model")
    predict.add_argument("model", help="a model that `fit --out` wrote")
    predict.add_argument("data", help="CSV, Parquet, Feather or Excel, also .gz; - is CSV from the standard input")
    predict.add_argument(
        "--keep", nargs="+", default=[], metavar="COLUMN", help="columns to pass through, such as an id"
    )
    predict.add_argument("--out", "-o", metavar="FILE", help="write CSV here instead of printing, or Parquet in pieces")
    predict.add_argument("--encoding", default="utf-8")


def predict_rows(options: Namespace) -> tuple[str, dict[str, Any]]:
    """Score the rows of a file: columns that are kept, score, and for classes probability and label."""
    from sparsegam._cli.commands import check_writable, read_model
    from sparsegam._io.files import read_file

    if options.model == options.data == "-":
        msg = "the model and the rows cannot both come from the standard input: name a file for one of them."
        raise ValueError(msg)
    check_writable(options.out)
    model = read_model(options.model)
    if options.out and options.out.lower().endswith((".parquet", ".pq")):
        from sparsegam._cli.large import predict_in_pieces

        n_rows = predict_in_pieces(model, options, _kept)
        return f"{n_rows} rows scored; written: {options.out}", {"rows": n_rows, "written": options.out}
    table = read_file(options.data, encoding=options.encoding)
    score = model.score_table(table)
    columns = {"score": score.tolist()}
    if model.classes is not None:
        columns[probability_name(model)] = model.probabilities(score)[:, 1].tolist()
        columns["prediction"] = [model.classes[int(s > 0)] for s in score]
    columns = _kept(table, options.keep, tuple(columns)) | columns
    text = _csv(columns)
    if options.out not in (None, "-"):
        write_atomically(options.out, text)
        text = f"{table.n_rows} rows scored; written: {options.out}"
    return text.rstrip("\n"), columns


def probability_name(model: Any) -> str:
    """Return the column of the probabilities, which says whose they are."""
    return f"probability_{model.classes[1]}"


def _kept(table: Any, names: list[str], taken: tuple[str, ...]) -> dict[str, list[Any]]:
    """Return columns of a table as they read; None where a value is missing."""
    from sparsegam.checks import quoted

    for name in names:
        if name not in table.labels:
            msg = f"there is no column {name!r} for --keep: the columns are {quoted(table.labels, 8)}."
            raise ValueError(msg)
        if name in taken:
            msg = f"--keep names {name!r}, which the answer has already ({', '.join(taken)}): rename the column."
            raise ValueError(msg)
    return {name: _values(table.column(table.labels.index(name))) for name in names}


def _values(column: Any) -> list[Any]:
    """Return the values of a column: whole numbers without a point; refuse those that have lost digits when read."""
    import numpy as np

    from sparsegam._data.columns import text
    from sparsegam.checks import MAX_INTEGER

    if column.scale.kind == "number" and np.nanmax(np.abs(column.values), initial=0.0) >= MAX_INTEGER:
        msg = (
            f"--keep {column.name}: it holds numbers beyond {MAX_INTEGER}, which are read without their last "
            "digits: write it as text, with a letter in front."
        )
        raise ValueError(msg)
    known = zip(column.values.tolist(), np.isnan(column.values), strict=True)
    values = [None if missing else column.scale.value(number) for number, missing in known]
    if column.scale.kind == "number":
        return [int(value) if value is not None and value == int(value) else value for value in values]
    return [value if value is None or isinstance(value, str | int | float) else text(value) for value in values]


def _csv(columns: dict[str, list[Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return out.getvalue()


def export_model(options: Namespace) -> tuple[str, dict[str, Any]]:
    """Write the export; the text to print and the data for machines."""
    from sparsegam._cli.commands import check_writable, read_model

    check_writable(options.out)
    if options.to in BINARY and options.out is None:
        msg = f"--to {options.to} writes a file that is no text: say where with --out."
        raise ValueError(msg)
    model = read_model(options.model)
    if options.to == "excel":
        model.to_excel(options.out)
    elif options.to == "onnx":
        write_atomically(options.out, model.to_onnx().SerializeToString())
    elif options.out not in (None, "-"):
        write_atomically(options.out, _text(model, options))
    else:
        text = _text(model, options)
        return text, {"format": options.to, "text": text}
    return f"written: {options.out}", {"format": options.to, "file": options.out}


def make_scorecard(options: Namespace, outcome: Any) -> tuple[str, dict[str, Any]]:
    """Make the card on rows that were read, and write it where asked for."""
    from sparsegam._cli.commands import check_writable, read_model

    check_writable(options.out)
    names = ("method", "pdo", "odds", "base_points", "max_points", "direction", "base", "nonnegative")
    given = {name: getattr(options, name) for name in names} | {"sample_weight": outcome.weight}
    card = read_model(options.model).scorecard(outcome.table, outcome.y, **given)
    data = {"base": card.base, "formula": card.formula(), "steps": card.table(), "rounding": vars(card.rounding)}
    if options.out:
        _write_card(card, FilePath(options.out))
    return str(card), data


def measure_drift(options: Namespace) -> tuple[str, dict[str, Any]]:
    """Compare the rows of a file with those of the fit, or with those of another file."""
    from sparsegam._cli.commands import read_model
    from sparsegam._io.files import read_file

    before = None if options.reference is None else read_file(options.reference, encoding=options.encoding)
    found = read_model(options.model).drift(read_file(options.data, encoding=options.encoding), before)
    lines = {line.name: {"psi": line.psi, "status": line.status, **_now(line)} for line in found.lines[:-1]}
    score = {"psi": found.score.psi, "status": found.score.status}
    return str(found), {
        "rows_before": found.n_reference,
        "rows_now": found.n_current,
        "features": lines,
        "score": score,
    }


def _now(line: Any) -> dict[str, Any]:
    return {"before": dict(line.reference), "now": dict(line.current)}


def _text(model: Any, options: Namespace) -> str:
    """Return the text of an export."""
    if options.to == "sql":
        return str(model.to_sql(options.table, dialect=options.dialect, keep=options.keep))
    return str(getattr(model, f"to_{options.to}")())


def _write_card(card: Any, path: FilePath) -> None:
    if path.suffix == ".xlsx":
        card.to_excel(path)
    elif path.suffix == ".json":
        write_atomically(path, json.dumps(card.table(), indent=2))
    elif path.suffix in ENDINGS:
        write_atomically(path, getattr(card, ENDINGS[path.suffix])())
    else:
        msg = f"cannot write {path}: a scorecard is written as .html, .csv, .xlsx or .json."
        raise ValueError(msg)
