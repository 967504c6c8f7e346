"""Run L0Learn with Rscript: folds are written as binary files, models are read from CSV. Requires R and L0Learn."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.paper.cells import Cell
from benchmarks.paper.solution import Solution
from benchmarks.paper.tables import Fold

SCRIPT = Path(__file__).with_name("l0learn.R")
PROBE = 'quit(status = as.integer(!requireNamespace("L0Learn", quietly = TRUE)))'


@lru_cache(maxsize=1)
def why_unavailable() -> str | None:
    """Return why L0Learn cannot run, or None if it can."""
    if shutil.which("Rscript") is None:
        return "R is not installed; L0Learn is skipped"
    found = subprocess.run(["Rscript", "-e", PROBE], capture_output=True, check=False)
    if found.returncode == 0:
        return None
    return 'the R package L0Learn is not installed: run install.packages("L0Learn"), or set R_LIBS to its library'


def fit(fold: Fold, cell: Cell, max_terms: int) -> Iterator[Solution]:
    """Fit at one lambda0, or along L0Learn's own path; the seconds are CPU seconds of the fit as measured by R."""
    lambda0 = "path" if cell.lambda0 is None else repr(cell.lambda0)
    with tempfile.TemporaryDirectory() as folder:
        fold.matrix.ravel(order="F").astype("<f8").tofile(Path(folder, "matrix.bin"))
        fold.signs.astype("<f8").tofile(Path(folder, "labels.bin"))
        settings = [*map(str, fold.matrix.shape), repr(cell.lambda2), lambda0, str(max_terms)]
        command = ["Rscript", str(SCRIPT), folder, *settings]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            msg = f"Rscript ended with status {run.returncode}: {run.stderr.strip()[-500:]}"
            raise RuntimeError(msg)
        found = pd.read_csv(Path(folder, "models.csv"))
    for _, lines in found.groupby("model"):
        yield _solution(lines, cell)


def _solution(lines: pd.DataFrame, cell: Cell) -> Solution:
    """Convert the rows of a model: R counts columns from one, and column 0 is the intercept."""
    terms = lines[lines["column"] > 0]
    return Solution(
        terms["column"].to_numpy(dtype=np.int64) - 1,
        terms["coef"].to_numpy(dtype=np.float64),
        float(lines.loc[lines["column"] == 0, "coef"].iloc[0]),
        float(lines["seconds"].iloc[0]),
        cell.loss,
        float(lines["lambda0"].iloc[0]),
        cell.lambda2,
    )
