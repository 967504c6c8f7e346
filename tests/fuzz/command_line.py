"""Run the command line on a random table: fit, predict and export, or reject the input with an error of one line."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from pathlib import Path

from fuzz import layouts
from fuzz.columns import draw_columns
from fuzz.targets import draw_labels, draw_numeric_target, name_labels, signal
from sparsegam._cli.main import main

SIZES = (1, 2, 12, 60, 200)
ODD = (
    "--lambda2=-1",
    "--lambda2=nan",
    "--max-bins=1",
    "--max-features=0",
    "--n-jobs=0",
    "--time-limit=-1",
    "--special=inf",
)


def run_commands(rng):
    """Run several commands on one table; return an error message or None."""
    with tempfile.TemporaryDirectory() as folder:
        table, spoiled = Path(folder) / "table.csv", rng.random() < 0.2
        _write(rng, table)
        model = Path(folder) / "model.json"
        fit = ["fit", str(table), "--target", "the target", "--out", str(model), *_options(rng, spoiled=spoiled)]
        code, wrong = _run(fit)
        if wrong or code:
            return wrong
        then = [
            ["predict", str(model), str(table)],
            ["export", str(model), "--to", str(rng.choice(["sql", "python", "javascript"]))],
            ["path", str(table), "--target", "the target", "--max-terms", "3"],
        ]
        for command in then:
            code, wrong = _run(command)
            if wrong or code == 2:
                return wrong or f"{command[0]} was not understood"
    return None


def _write(rng, path):
    n = int(rng.choice(SIZES))
    columns = draw_columns(rng, n, int(rng.integers(1, 5)), kinds=layouts.holds("pandas"), missing=True)
    frame = layouts.build(columns, "pandas")
    score = signal(rng, columns, n)
    y = (
        draw_numeric_target(rng, score)[1]
        if rng.random() < 0.4
        else name_labels(rng, draw_labels(rng, score, 2)[1], 2)[1]
    )
    frame.assign(**{"the target": y}).to_csv(path, index=False)


def _options(rng, *, spoiled):
    some = [
        "--json",
        "--lambda0=aic",
        "--lambda0=0.1",
        "--terms=2",
        "--max-bins=10",
        "--loss=exponential",
        "--n-jobs=2",
    ]
    chosen = [option for option in some if rng.random() < 0.2]
    priced = [option for option in chosen if option.startswith(("--lambda0", "--terms"))]
    chosen = [option for option in chosen if option not in priced[1:]]
    return [*chosen, ODD[rng.integers(len(ODD))]] if spoiled else chosen


def _run(words):
    """Run one command; return its exit code and an error message or None."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(words)
        except SystemExit as stop:  # raised by argparse
            code = stop.code
    said = err.getvalue()
    if code not in (0, 1, 2):
        return code, f"{words}: exit code {code}"
    if "this is a bug" in said or "Traceback" in said:
        return code, f"{words}: {said[-300:]}"
    if code and not said.strip():
        return code, f"{words}: failed without a message"
    if code == 0 and "--json" in words:
        json.loads(out.getvalue())
    return code, None
