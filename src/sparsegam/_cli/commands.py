"""The commands: functions that convert parsed options to a result, as text and as data for JSON."""

import csv
import io
import json
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import numpy as np

from sparsegam._cli.chunks import (
    check_kept,
    copied_text,
    is_large,
    output_columns,
    predict_in_chunks,
    read_rows,
    split_copied,
    text_options,
)
from sparsegam._cli.parser import BINARY_FORMATS, new_parser
from sparsegam._cli.target import Rows, split_target
from sparsegam._data.columns import KIND_NAMES, Column, text
from sparsegam._data.table import Table
from sparsegam._data.target import rest_label
from sparsegam._design.binning import Binning
from sparsegam._fit.driver import fit, search_path
from sparsegam._fit.spec import FitSpec, SizeSelection, additive_spec
from sparsegam._fit.training import FitData, read_data
from sparsegam._fit.warnings import warn_about_models
from sparsegam._io.files import is_text_file, read_file
from sparsegam._io.writing import write_atomically
from sparsegam._models.additive import Model
from sparsegam._search.options import Deadline
from sparsegam._search.path import Path
from sparsegam.checks import MAX_INTEGER
from sparsegam.choices import Loss

if TYPE_CHECKING:
    from sparsegam.deploy import Scorecard

NAMES_SHOWN = 6
# Values of lambda0 whose selected sizes are marked in the table of the path.
CRITERIA = ("auto", "bic")
# The default of max_terms of estimators that cross-validate.
CV_MAX_TERMS = 40


@dataclass(frozen=True)
class Result:
    """The output of a command: text, the same as data for --json, and notes for standard error."""

    text: str
    data: dict[str, Any]
    notes: tuple[str, ...] = field(default=())


def run_fit(options: Namespace) -> Result:
    """Fit a model and print it; write the model and a report if requested."""
    for file in (options.out, options.report):
        _check_writable(file)
    deadline = Deadline.after(options.time_limit)
    rows, notes = _read(options)
    start = time.perf_counter()
    fitted = _fit(rows, options, deadline)
    seconds = time.perf_counter() - start
    metrics = _training_metrics(fitted.model, rows)
    written = []
    if options.out:
        written.append(str(write_atomically(options.out, fitted.model.to_json() + "\n")))
    if options.report:
        written.append(str(_write_report(options.report, fitted.model, rows, options)))
    data = {
        "target": rows.target,
        "rows": rows.table.n_rows,
        "columns": {column.name: column.scale.kind for column in _columns(rows.table)},
        "n_terms": fitted.model.n_terms,
        "loss": fitted.loss,
        "lambda0": fitted.lambda0,
        "finished": fitted.finished,
        "training": metrics,
        "seconds": seconds,
        "written": written,
        "model": json.loads(fitted.model.to_json()),
    }
    parts = [_data_text(options.data, rows), _fit_text(fitted, metrics, seconds), _model_text(fitted.model)]
    parts += [f"written: {', '.join(written)}"] if written else []
    return Result("\n\n".join(parts), data, notes)


def run_predict(options: Namespace) -> Result:
    """Score the rows of a file."""
    if options.model == options.data == "-":
        msg = "the model and the data cannot both be read from standard input: pass a file name for one of them."
        raise ValueError(msg)
    _check_writable(options.out)
    model = _read_model(options.model)
    if options.out and options.out.lower().endswith((".parquet", ".pq")):
        n_rows = predict_in_chunks(model, options)
        return Result(f"{n_rows} rows scored; written: {options.out}", {"rows": n_rows, "written": options.out})
    kept = options.keep
    table = read_file(options.data, encoding=options.encoding, options=text_options(options, model, kept))
    check_kept(table.labels, kept, output_columns(model))
    if is_text_file(options.data):
        table, copied = split_copied(table, kept)
        columns: dict[str, list[Any]] = {column.name: copied_text(column) for column in copied}
    else:
        columns = {name: _plain_values(table.column(table.labels.index(name))) for name in kept}
    score = model.score_table(table)
    columns["score"] = score.tolist()
    if model.classes is not None:
        columns[f"probability_{model.classes[1]}"] = model.probabilities(score)[:, 1].tolist()
        columns["prediction"] = [model.classes[int(s > 0)] for s in score]
    csv_text = _csv(columns)
    if options.out in (None, "-"):
        return Result(csv_text.rstrip("\n"), columns)
    write_atomically(options.out, csv_text)
    return Result(f"{table.n_rows} rows scored; written: {options.out}", columns)


def run_report(options: Namespace) -> Result:
    """Write a report of a model."""
    _check_writable(options.out)
    model = _read_model(options.model)
    rows, notes = _read(options, model)
    file = _write_report(options.out, model, rows, options)
    size = "" if options.out == "-" else f" ({file.stat().st_size / 1000:.0f} kB)"
    return Result(f"written: {file}{size}", {"report": str(file)}, notes)


def run_path(options: Namespace) -> Result:
    """Print the best model of each size."""
    deadline = Deadline.after(options.time_limit)
    rows, notes = _read(options)
    spec = _spec(rows, options, max_terms=options.max_terms)
    path = search_path(spec, _fit_data(spec, rows, deadline))
    selected = {name: path.at(lambda0=name).n_terms if path.covers(name) else None for name in CRITERIA}
    if (outside := [name for name, k in selected.items() if k is None]) and path.finished:
        names = " and ".join(outside)
        note = (
            f"the path ends at {path.n_terms[-1]} terms, before the size that {names} would select: raise --max-terms."
        )
        notes = (*notes, note)
    lines = [
        [str(k), str(len(model.features)), f"{loss:.2f}", f"{lambda0:.2f}" if np.isfinite(lambda0) else "", mark]
        for k, model, loss, lambda0, mark in zip(
            path.n_terms, path.models, path.loss, path.lambda0, _marks(path, selected), strict=True
        )
    ]
    data = {
        "n_terms": path.n_terms.tolist(),
        "loss": path.loss.tolist(),
        "lambda0": [x if np.isfinite(x) else None for x in path.lambda0],
        **selected,
        "finished": path.finished,
        "models": [json.loads(model.to_json()) for model in path] if options.models else None,
    }
    table = _aligned(["terms", "features", "loss", "optimal up to lambda0", ""], lines)
    return Result(f"{_data_text(options.data, rows)}\n\n{table}", data, notes)


def _marks(path: Path[Model], selected: dict[str, int | None]) -> list[str]:
    """Return, for each size, the criteria that select it."""
    names = [[name for name, k in selected.items() if k == size] for size in path.n_terms]
    return [f"<- {', '.join(some)}" if some else "" for some in names]


def run_compare(options: Namespace) -> Result:
    """Compare with other kinds of models by cross-validation."""
    from sparsegam.comparison import compare

    rows, notes = _read(options)
    settings = _settings(options) | {"lambda0": "auto" if options.lambda0 is None else options.lambda0}
    positive = None if rows.classes is None else rows.classes[1]
    if positive is not None:
        settings |= {"loss": options.loss}
    comparison = compare(
        rows.table, rows.y, positive=positive, sample_weight=rows.weight, folds=options.folds, **settings
    )
    lines = [
        [one.name, "", "", one.size]
        if one.failed
        else [one.name, f"{one.scores.mean():.4f} ± {one.scores.std():.4f}", f"{one.seconds:.2f}", one.size]
        for one in comparison.results
    ]
    table = _aligned(["model", f"{comparison.measure} ({options.folds} folds)", "fit, s", "size (last fold)"], lines)
    data = {
        one.name: {"scores": one.scores.tolist(), "seconds": None if one.failed else one.seconds, "size": one.size}
        for one in comparison.results
    }
    return Result(f"{_data_text(options.data, rows)}\n\n{table}", data, notes)


def run_export(options: Namespace) -> Result:
    """Convert a model to another language or format."""
    _check_writable(options.out)
    if options.to in BINARY_FORMATS and options.out is None:
        msg = f"--to {options.to} writes a binary file: pass its name with --out."
        raise ValueError(msg)
    model = _read_model(options.model)
    if options.to == "excel":
        model.to_excel(options.out)
    elif options.to == "onnx":
        write_atomically(options.out, model.to_onnx().SerializeToString())
    else:
        exports: dict[str, Callable[[], str]] = {
            "sql": lambda: model.to_sql(options.table, dialect=options.dialect, keep=options.keep),
            "python": model.to_python,
            "javascript": model.to_javascript,
            "pmml": model.to_pmml,
            "latex": model.to_latex,
            "json": model.to_json,
        }
        code = exports[options.to]()
        if options.out in (None, "-"):
            return Result(code, {"format": options.to, "text": code})
        write_atomically(options.out, code)
    return Result(f"written: {options.out}", {"format": options.to, "file": options.out})


def run_scorecard(options: Namespace) -> Result:
    """Convert a model to integer points, optimised on the rows of a file."""
    _check_writable(options.out)
    model = _read_model(options.model)
    rows, notes = _read(options, model)
    card = model.scorecard(
        rows.table,
        rows.y,
        method=options.method,
        pdo=options.pdo,
        odds=options.odds,
        base_points=options.base_points,
        max_points=options.max_points,
        direction=options.direction,
        base=options.base,
        nonnegative=options.nonnegative,
        sample_weight=rows.weight,
    )
    if options.out:
        _write_scorecard(card, FilePath(options.out))
    data = {"base": card.base, "formula": card.formula(), "steps": card.table(), "rounding": vars(card.rounding)}
    return Result(str(card), data, notes)


def run_drift(options: Namespace) -> Result:
    """Compare the distribution of new data with the training data, or with another file."""
    model = _read_model(options.model)
    how = text_options(options, model)
    reference = None
    if options.reference is not None:
        reference = read_file(options.reference, encoding=options.encoding, options=how)
    drift = model.drift(read_file(options.data, encoding=options.encoding, options=how), reference)
    features = {
        line.name: {"psi": line.psi, "status": line.status, "before": dict(line.reference), "now": dict(line.current)}
        for line in drift.lines[:-1]
    }
    score = {"psi": drift.score.psi, "status": drift.score.status}
    data = {"rows_before": drift.n_reference, "rows_now": drift.n_current, "features": features, "score": score}
    return Result(str(drift), data)


def run_example(options: Namespace) -> Result:
    """Write the simulated loans that ship with the package."""
    from sparsegam.datasets import loans_file

    _check_writable(options.out)
    example = loans_file().read_text(encoding="utf-8")
    n_rows = example.count("\n") - 1
    if options.out in (None, "-"):
        return Result(example.rstrip("\n"), {"rows": n_rows, "text": example})
    write_atomically(options.out, example)
    return Result(f"{n_rows} simulated loans written: {options.out}", {"rows": n_rows, "written": options.out})


def run_completion(options: Namespace) -> Result:
    """Print the completion script of a shell."""
    from sparsegam._cli.completion import completion_script

    script = completion_script(options.shell, new_parser())
    return Result(script, {"shell": options.shell, "text": script})


COMMANDS: dict[str, Callable[[Namespace], Result]] = {
    "fit": run_fit,
    "predict": run_predict,
    "report": run_report,
    "path": run_path,
    "compare": run_compare,
    "export": run_export,
    "scorecard": run_scorecard,
    "drift": run_drift,
    "example": run_example,
    "completion": run_completion,
}


def _read_model(name: str) -> Model:
    try:
        return Model.from_json(sys.stdin.read() if name == "-" else FilePath(name).read_text(encoding="utf-8"))
    except (ValueError, KeyError) as error:
        msg = f"{name} is not a model file: pass a file written by `sparsegam fit --out` ({error})"
        raise ValueError(msg) from error


def _check_writable(name: str | None) -> None:
    """Raise ValueError before any work is done if a file cannot be written."""
    if name is None:
        return
    if not FilePath(name).resolve().parent.is_dir():
        msg = f"cannot write {name}: there is no folder {FilePath(name).parent}."
        raise ValueError(msg)
    if FilePath(name).is_dir():
        msg = f"cannot write {name}: it is a folder; pass the name of a file."
        raise ValueError(msg)


def _read(options: Namespace, model: Model | None = None) -> tuple[Rows, tuple[str, ...]]:
    """Read the table and split it; exclude columns of text that differ in every row. Return the rows and notes."""
    table = read_rows(options, _binning(options), model)
    named = (options.target, options.weight, *options.drop, *options.categorical)
    ids = tuple(column.name for column in _columns(table) if _is_identifier(column, table.n_rows))
    ids = tuple(name for name in ids if name not in named)
    drop = tuple(name for name in (*options.drop, *ids) if name in table.labels or not is_large(options.data))
    rows = split_target(
        table,
        options.target,
        positive=options.positive,
        drop=drop,
        weight=options.weight,
        against_rest=_class_against_rest(model),
    )
    notes = [f"column {name!r} contains text that differs in every row and was excluded." for name in ids]
    if rows.n_dropped:
        notes.append(f"{rows.n_dropped} rows without {options.target!r} were excluded.")
    return rows, tuple(notes)


def _class_against_rest(model: Model | None) -> str | None:
    """Return the positive class of a model of one label against all others; None for other models."""
    if model is None or model.classes is None or model.classes[0] != rest_label(model.classes[1]):
        return None
    return str(model.classes[1])


def _columns(table: Table) -> list[Column]:
    return [table.column(j) for j in range(table.n_columns)]


def _is_identifier(column: Column, n_rows: int) -> bool:
    return column.scale.kind == "category" and n_rows > 20 and len(column.scale.levels) == n_rows


def _special_values(options: Namespace) -> Any:
    return dict(options.special_values) or options.special


def _binning(options: Namespace) -> Binning:
    """Return the binning options, which determine the codes of large files; `scorecard` has none of them."""
    if not hasattr(options, "max_bins"):
        return Binning()
    return Binning(
        max_bins=options.max_bins,
        special_values=_special_values(options),
        categorical=options.categorical or "auto",
        min_samples_bin=options.min_samples_bin,
    )


def _settings(options: Namespace) -> dict[str, Any]:
    """Return the parameters of the estimators that are not None."""
    settings = {
        "lambda2": options.lambda2,
        "max_bins": options.max_bins,
        "special_values": _special_values(options),
        "missing": options.missing,
        "categorical": options.categorical or "auto",
        "monotone": dict(options.monotone) or None,
        "shapes": options.shapes,
        "interactions": options.interactions,
        "max_features": options.max_features,
        "n_jobs": options.n_jobs,
        "time_limit": options.time_limit,
        "min_samples_bin": options.min_samples_bin,
    }
    return {name: value for name, value in settings.items() if value is not None}


@dataclass(frozen=True)
class _Fitted:
    """A fitted model and how its size was chosen."""

    model: Model
    loss: float
    lambda0: float | None
    finished: bool
    chosen_by: str


def _fit(rows: Rows, options: Namespace, deadline: Deadline) -> _Fitted:
    """Fit the model with the given number of terms, by cross-validation, or for lambda0."""
    if options.terms is not None:
        spec = _spec(rows, options, max_terms=options.terms)
        data = _fit_data(spec, rows, deadline)
        path = search_path(spec, data)
        warn_about_models(spec, path.models[-1:], data.mean_weight)
        return _Fitted(path.models[-1], float(path.loss[-1]), None, path.finished, f"--terms {options.terms}")
    if options.cv:
        chosen_by = "cross-validation"
        spec = _spec(rows, options, selection=SizeSelection(), max_terms=CV_MAX_TERMS)
    else:
        lambda0 = "auto" if options.lambda0 is None else options.lambda0
        chosen_by = f"lambda0 = {lambda0}"
        spec = _spec(rows, options, lambda0=lambda0)
    result = fit(spec, _fit_data(spec, rows, deadline))
    return _Fitted(result.model, result.loss, result.lambda0, result.finished, chosen_by)


def _spec(rows: Rows, options: Namespace, **settings: Any) -> FitSpec:
    loss: Loss = "squared" if rows.classes is None else options.loss
    return additive_spec(
        loss=loss,
        positive=None if rows.classes is None else rows.classes[1],
        verbose=int(not options.quiet),
        **_settings(options),
        **settings,
    )


def _fit_data(spec: FitSpec, rows: Rows, deadline: Deadline) -> FitData:
    """Return the data of a fit, whose time limit started before the file was read."""
    return replace(read_data(spec, rows.table, rows.y, rows.weight), deadline=deadline)


def _write_report(name: str, model: Model, rows: Rows, options: Namespace) -> FilePath:
    test = None
    if options.test:
        how = text_options(options, model)
        # The alternatives of a report also use columns that the model does not.
        text_columns = how.text_columns | {column.name for column in _columns(rows.table) if column.scale.is_text}
        table = read_file(options.test, encoding=options.encoding, options=replace(how, text_columns=text_columns))
        test = split_target(table, options.target, positive=options.positive, against_rest=_class_against_rest(model))
    return model.report(
        name,
        rows.table,
        rows.y,
        X_test=None if test is None else test.table,
        y_test=None if test is None else test.y,
        title=f"{rows.target}: model of {FilePath(options.data).name}",
        settings=_settings(options),
        sample_weight=rows.weight,
    )


def _write_scorecard(card: "Scorecard", path: FilePath) -> None:
    if path.suffix == ".xlsx":
        card.to_excel(path)
    elif path.suffix == ".json":
        write_atomically(path, json.dumps(card.table(), indent=2))
    elif path.suffix == ".html":
        write_atomically(path, card.to_html())
    elif path.suffix == ".csv":
        write_atomically(path, card.to_csv())
    else:
        msg = f"cannot write {path}: a scorecard is written as .html, .csv, .xlsx or .json."
        raise ValueError(msg)


def _data_text(name: str, rows: Rows) -> str:
    """Describe the data: rows, target, and the columns by type."""
    target = "a number" if rows.classes is None else f"{rows.classes[0]} or {rows.classes[1]}"
    lines = [f"{name}: {rows.table.n_rows} rows, target {rows.target} ({target})"]
    by_type: dict[str, list[str]] = {}
    for column in _columns(rows.table):
        by_type.setdefault(KIND_NAMES[column.scale.kind], []).append(column.name)
    lines += [f"  {kind} ({len(names)}): {_first_names(names)}" for kind, names in by_type.items()]
    counts = {column.name: int(np.isnan(column.values).sum()) for column in _columns(rows.table)}
    missing = [f"{name} ({count})" for name, count in counts.items() if count]
    if missing:
        lines.append(f"  missing values: {_first_names(missing)}")
    return "\n".join(lines)


def _first_names(names: Sequence[str]) -> str:
    return ", ".join([*names[:NAMES_SHOWN], *(["..."] if len(names) > NAMES_SHOWN else [])])


def _fit_text(fitted: _Fitted, metrics: dict[str, float], seconds: float) -> str:
    model, (name, value) = fitted.model, next(iter(metrics.items()))
    head = f"{model.n_terms} terms of {len(model.features)} features, by {fitted.chosen_by}; {seconds:.2f} s"
    return f"{head}\nloss {fitted.loss:.2f}, {name} {value:.4f} on the training data"


def _model_text(model: Model) -> str:
    """Return the summary of a model and the conversion of its score to a probability."""
    link = model.equation().splitlines()[-1:] if model.classes is not None else []
    return "\n".join([model.summary(), *link])


def _training_metrics(model: Model, rows: Rows) -> dict[str, float]:
    """Return metrics on the training data, weighted by the sample weights."""
    from sparsegam.inspection._metrics import r_squared, weighted_auc

    score = model.score_table(rows.table)
    weight = np.ones(score.size) if rows.weight is None else rows.weight
    if rows.classes is None:
        return {"R²": r_squared(score, rows.y, weight)}
    accuracy = float(np.average((score > 0) == rows.is_positive, weights=weight))
    return {"AUC": weighted_auc(score, rows.is_positive, weight), "accuracy": accuracy}


def _plain_values(column: Column) -> list[Any]:
    """Return the values of a column, whole numbers as integers; raise for numbers that were rounded when read."""
    is_number = column.scale.kind == "number"
    if is_number and np.nanmax(np.abs(column.values), initial=0.0) >= MAX_INTEGER:
        msg = (
            f"--keep {column.name} contains numbers beyond {MAX_INTEGER}, whose last digits were lost when the file "
            "was read: write the predictions to a .parquet file with --out, which keeps the numbers, or store them "
            "as text."
        )
        raise ValueError(msg)
    known = zip(column.values.tolist(), np.isnan(column.values), strict=True)
    values = [None if missing else column.scale.value(number) for number, missing in known]
    if is_number:
        return [int(value) if isinstance(value, float) and value == int(value) else value for value in values]
    return [value if value is None or isinstance(value, str | int | float) else text(value) for value in values]


def _csv(columns: dict[str, list[Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return out.getvalue()


def _aligned(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a table as text, with columns of numbers right-aligned."""
    widths = [max(len(line[j]) for line in [header, *lines]) for j in range(len(header))]
    right = [j > 0 and all(not line[j] or line[j][0] in "+-.0123456789" for line in lines) for j in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if is_right else cell.ljust(width)
            for cell, width, is_right in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in [header, ["-" * width for width in widths], *lines]
    )
