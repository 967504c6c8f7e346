"""What the command line can do: each command takes its options and returns an answer for people and for machines."""

import json
import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from sparsegam._cli.deploy import export_model, make_scorecard, measure_drift, predict_rows
from sparsegam._cli.large import is_large, read_rows
from sparsegam._cli.outcome import Outcome, split_target
from sparsegam._data.columns import KIND_NAMES, Column
from sparsegam._data.table import Table
from sparsegam._data.target import Target
from sparsegam._design.binning import Binning
from sparsegam._fit.driver import fit, search_path
from sparsegam._fit.spec import FitSpec, SizeSelection, additive_spec
from sparsegam._fit.training import FitData
from sparsegam._io.files import read_file
from sparsegam._io.writing import write_atomically
from sparsegam._models.additive import Model
from sparsegam._search.options import Deadline
from sparsegam.losses import REGRESSION
from sparsegam.parameters import pick

NAMES_SHOWN = 6
CV_MAX_TERMS = 40
MARKED = ("auto", "bic")  # prices by name whose sizes a frontier shows


@dataclass(frozen=True)
class Answer:
    """What a command found: text for people, data for machines, and notes that go to neither."""

    text: str
    data: dict[str, Any]
    notes: tuple[str, ...] = field(default=())


def run_fit(options: Namespace) -> Answer:
    """Fit one model and show it; write it and a report where asked for."""
    for file in (options.out, options.report):
        check_writable(file)
    outcome, notes = _outcome(options)
    start = time.perf_counter()
    found = _fit_model(outcome, options)
    seconds = time.perf_counter() - start
    text = [
        _data_text(options.data, outcome),
        _found_text(found, outcome, seconds),
        _terms_text(found.model),
    ]
    written = []
    if options.out:
        written.append(str(write_atomically(options.out, found.model.to_json() + "\n")))
    if options.report:
        written.append(str(_write_report(options.report, found.model, outcome, options)))
    text += [f"written: {', '.join(written)}"] if written else []
    return Answer("\n\n".join(text), _fit_data(found, outcome, seconds, written), notes)


def run_predict(options: Namespace) -> Answer:
    """Score the rows of a file: score, and for classes probability and label."""
    return Answer(*predict_rows(options))


def run_report(options: Namespace) -> Answer:
    """Write the report of a model that was fitted before."""
    check_writable(options.out)
    model = read_model(options.model)
    outcome, notes = _outcome(options)
    file = _write_report(options.out, model, outcome, options)
    size = "" if options.out == "-" else f" ({file.stat().st_size / 1000:.0f} kB)"
    return Answer(f"written: {file}{size}", {"report": str(file)}, notes)


def run_path(options: Namespace) -> Answer:
    """Show the best model of each size."""
    outcome, notes = _outcome(options)
    spec = _spec(outcome, options, max_terms=options.max_terms)
    path = search_path(spec, _training_data(outcome, spec))
    chosen = {name: path.at(lambda0=name).n_terms if path.covers(name) else None for name in MARKED}
    if outside := [name for name, k in chosen.items() if k is None]:
        names = " and ".join(outside)
        last = path.n_terms[-1]
        notes += (f"the frontier ends at {last} terms, before the size that {names} would choose: raise --max-terms.",)
    rows = [
        [str(k), str(len(m.features)), f"{loss:.2f}", _number(lambda0), _mark(k, chosen)]
        for k, m, loss, lambda0 in zip(path.n_terms, path.models, path.loss, path.lambda0, strict=True)
    ]
    text = _aligned(["terms", "features", "loss", "best below lambda0", ""], rows)
    data = {
        "n_terms": path.n_terms.tolist(),
        "loss": path.loss.tolist(),
        "lambda0": [x if np.isfinite(x) else None for x in path.lambda0],
        **chosen,
        "models": [json.loads(model.to_json()) for model in path] if options.models else None,
    }
    return Answer(f"{_data_text(options.data, outcome)}\n\n{text}", data, notes)


def _mark(size: int, chosen: dict[str, int | None]) -> str:
    names = [name for name, k in chosen.items() if k == size]
    return f"<- {', '.join(names)}" if names else ""


def run_compare(options: Namespace) -> Answer:
    """Compare with other kinds of models on the same folds."""
    from sparsegam.comparison import compare_outcome

    outcome, notes = _outcome(options)
    settings = {name: value for name, value in _settings(options).items() if name != "max_terms"}
    settings = {name: value for name, value in settings.items() if value is not None}
    if outcome.classes is None:
        settings.pop("loss", None)
    settings["lambda0"] = "auto" if options.lambda0 is None else options.lambda0
    standings = compare_outcome(outcome, settings, folds=options.folds)
    score = "R²" if outcome.classes is None else "AUC"
    rows = [
        [s.name, f"{s.scores.mean():.4f} ± {s.scores.std():.4f}", f"{s.seconds:.2f}", s.size]
        if s.scores.size
        else [s.name, "", "", s.size]
        for s in standings
    ]
    text = _aligned(["model", f"{score} ({options.folds} folds)", "fit, s", "size (last fold)"], rows)
    data = {
        s.name: {"scores": s.scores.tolist(), "seconds": s.seconds if s.scores.size else None, "size": s.size}
        for s in standings
    }
    return Answer(f"{_data_text(options.data, outcome)}\n\n{text}", data, notes)


def run_example(options: Namespace) -> Answer:
    """Copy the simulated loans that ship with the package."""
    from sparsegam.datasets.loans import FILE

    check_writable(options.out)
    text = FILE.read_text(encoding="utf-8")
    n_rows = text.count("\n") - 1
    if options.out in (None, "-"):
        return Answer(text.rstrip("\n"), {"rows": n_rows, "text": text})
    write_atomically(options.out, text)
    return Answer(f"{n_rows} simulated loans written: {options.out}", {"rows": n_rows, "written": options.out})


def run_completion(options: Namespace) -> Answer:
    """Print what a shell needs to complete commands and options."""
    from sparsegam._cli.completion import script
    from sparsegam._cli.main import new_parser

    text = script(options.shell, new_parser())
    return Answer(text, {"shell": options.shell, "text": text})


def run_export(options: Namespace) -> Answer:
    """Write a model so that it runs elsewhere."""
    return Answer(*export_model(options))


def run_scorecard(options: Namespace) -> Answer:
    """Turn a model into whole points, searched on the rows of a file."""
    outcome, notes = _outcome(options)
    return Answer(*make_scorecard(options, outcome), notes)


def run_drift(options: Namespace) -> Answer:
    """Say how far new rows have moved from those of the fit."""
    return Answer(*measure_drift(options))


def read_model(name: str) -> Model:
    """Read a model that `sparsegam fit --out` wrote, "-" from the standard input."""
    try:
        return Model.from_json(sys.stdin.read() if name == "-" else FilePath(name).read_text(encoding="utf-8"))
    except (ValueError, KeyError) as error:
        msg = f"{name} is no model: give the file that `sparsegam fit --out` wrote ({error})"
        raise ValueError(msg) from error


def check_writable(name: str | None) -> None:
    """Raise before any work is done where a file could not be written after it."""
    if name is None:
        return
    if not FilePath(name).resolve().parent.is_dir():
        msg = f"cannot write {name}: there is no folder {FilePath(name).parent}."
        raise ValueError(msg)
    if FilePath(name).is_dir():
        msg = f"cannot write {name}: this is a folder; name a file in it."
        raise ValueError(msg)


@dataclass(frozen=True)
class _Found:
    """A model and how it came about."""

    model: Model
    loss: float
    lambda0: float | None
    chosen_by: str


def _outcome(options: Namespace) -> tuple[Outcome, tuple[str, ...]]:
    """Read the table and take the target out; leave out columns that only name the rows."""
    table = read_rows(options, pick(Binning, _settings(options) if hasattr(options, "max_bins") else {}))
    named = (options.target, options.weight, *options.drop, *options.categorical)
    ids = tuple(name for name in _row_names(table) if name not in named)
    drop = tuple(name for name in (*options.drop, *ids) if name in table.labels or not is_large(options.data))
    outcome = split_target(table, options.target, positive=options.positive, drop=drop, weight=options.weight)
    notes = [f"column {name!r} is text that differs in every row: left out." for name in ids]
    if outcome.dropped:
        notes.append(f"{outcome.dropped} rows have no {options.target!r}: left out.")
    return outcome, tuple(notes)


def _row_names(table: Table) -> list[str]:
    return [
        column.name
        for column in map(table.column, range(table.n_columns))
        if column.scale.kind == "category" and table.n_rows > 20 and len(column.scale.levels) == table.n_rows
    ]


def _settings(options: Namespace) -> dict[str, Any]:
    """Return the options of a search by the names that the estimators have for them."""
    return {
        "loss": options.loss,
        "lambda2": options.lambda2,
        "max_terms": getattr(options, "terms", None),
        "max_bins": options.max_bins,
        "special_values": dict(options.special_values) or options.special,
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


def _spec(outcome: Outcome, options: Namespace, **changes: Any) -> FitSpec:
    """Return the options of a fit."""
    given = _settings(options) | {"verbose": int(not options.quiet)} | changes
    return additive_spec(**given | ({"loss": REGRESSION} if outcome.classes is None else {}))


def _training_data(outcome: Outcome, spec: FitSpec) -> FitData:
    target = outcome.signs
    return FitData(
        features=outcome.table,
        labels=target if outcome.classes is None else target > 0,
        target=Target(
            None if outcome.classes is None else np.array(outcome.classes, dtype=object),
            target,
            np.ones(target.size) if outcome.weight is None else outcome.weight,
        ),
        source=outcome.table,
        sample_weight=outcome.weight,
        deadline=Deadline.after(spec.options.time_limit),
    )


def _fit_model(outcome: Outcome, options: Namespace) -> _Found:
    if options.cv:
        spec = _spec(outcome, options, selection=SizeSelection(), max_terms=options.terms or CV_MAX_TERMS)
        result = fit(spec, _training_data(outcome, spec))
        return _Found(result.model, result.loss, result.lambda0, "cross-validation")
    if options.terms is not None:
        spec = _spec(outcome, options)
        path = search_path(spec, _training_data(outcome, spec))
        return _Found(path.models[-1], float(path.loss[-1]), None, f"--terms {options.terms}")
    lambda0 = "auto" if options.lambda0 is None else options.lambda0
    spec = _spec(outcome, options, lambda0=lambda0)
    result = fit(spec, _training_data(outcome, spec))
    return _Found(result.model, result.loss, result.lambda0, f"lambda0 = {lambda0}")


def _write_report(name: str, model: Model, outcome: Outcome, options: Namespace) -> FilePath:
    from sparsegam.report import write_report

    test = None
    if options.test:
        table = read_file(options.test, encoding=options.encoding)
        test = split_target(table, options.target, positive=options.positive)
    return write_report(
        name,
        model,
        outcome.table,
        outcome.y,
        X_test=None if test is None else test.table,
        y_test=None if test is None else test.y,
        title=f"{outcome.name}: a model of {FilePath(options.data).name}",
        settings={key: value for key, value in _settings(options).items() if value is not None},
        sample_weight=outcome.weight,
    )


def _data_text(name: str, outcome: Outcome) -> str:
    """Say what was read: rows, target, and the columns by type."""
    target = "a number" if outcome.classes is None else f"{outcome.classes[0]} or {outcome.classes[1]}"
    lines = [f"{name}: {outcome.table.n_rows} rows, target {outcome.name} ({target})"]
    by_type: dict[str, list[Column]] = {}
    for column in map(outcome.table.column, range(outcome.table.n_columns)):
        by_type.setdefault(KIND_NAMES[column.scale.kind], []).append(column)
    for kind, columns in by_type.items():
        names = ", ".join(column.name for column in columns[:NAMES_SHOWN])
        more = ", ..." if len(columns) > NAMES_SHOWN else ""
        lines.append(f"  {kind} ({len(columns)}): {names}{more}")
    missing = {c.name: int(np.isnan(c.values).sum()) for columns in by_type.values() for c in columns}
    some = [f"{name} ({count})" for name, count in missing.items() if count]
    if some:
        lines.append(f"  missing values: {', '.join(some[:NAMES_SHOWN])}{', ...' if len(some) > NAMES_SHOWN else ''}")
    return "\n".join(lines)


def _found_text(found: _Found, outcome: Outcome, seconds: float) -> str:
    model = found.model
    head = f"{model.n_terms} terms of {len(model.features)} features, by {found.chosen_by}; {seconds:.2f} s"
    (name, value), *_ = _measures(found, outcome).items()
    return f"{head}\nloss {found.loss:.2f}, {name} {value:.4f} on these rows"


def _measures(found: _Found, outcome: Outcome) -> dict[str, float]:
    from sparsegam.inspection._metrics import auc, r_squared

    score = found.model.score_table(outcome.table)
    if outcome.classes is None:
        return {"R²": r_squared(score, outcome.signs)}
    return {"AUC": auc(score, outcome.signs > 0)[0], "accuracy": float(np.mean((score > 0) == (outcome.signs > 0)))}


def _terms_text(model: Model) -> str:
    """Return the model as a table, and how its score becomes a probability."""
    last = model.equation().splitlines()[-1:] if model.classes is not None else []
    return "\n".join([model.summary(), *last])


def _fit_data(found: _Found, outcome: Outcome, seconds: float, written: list[str]) -> dict[str, Any]:
    return {
        "target": outcome.name,
        "rows": outcome.table.n_rows,
        "columns": {
            column.name: column.scale.kind for column in map(outcome.table.column, range(outcome.table.n_columns))
        },
        "n_terms": found.model.n_terms,
        "loss": found.loss,
        "lambda0": found.lambda0,
        "training": _measures(found, outcome),
        "seconds": seconds,
        "written": written,
        "model": json.loads(found.model.to_json()),
    }


def _aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return columns padded to their widest entry: the first and texts to the left, numbers to the right."""
    widths = [max(len(row[j]) for row in [header, *rows]) for j in range(len(header))]
    right = [j > 0 and all(_is_number(row[j]) for row in rows) for j in range(len(header))]
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join(
        "  ".join(c.rjust(w) if r else c.ljust(w) for c, w, r in zip(line, widths, right, strict=True)).rstrip()
        for line in lines
    )


def _is_number(text: str) -> bool:
    return not text or text[0] in "+-.0123456789"


def _number(value: float) -> str:
    return f"{value:.2f}" if np.isfinite(value) else ""
