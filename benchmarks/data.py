"""Data of the benchmarks: one training fold of FICO, and simulated credit tables of any size."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

REPOSITORY = Path(__file__).resolve().parent.parent
DATA_VARIABLE = "SPARSEGAM_DATA"


@dataclass(frozen=True)
class Problem:
    """A table of features and its 0/1 labels."""

    frame: pd.DataFrame
    y: NDArray[np.int64]

    @cached_property
    def threshold_matrix(self) -> NDArray[np.float64]:
        """The 0/1 matrix that the peers need: `x <= t` for every unique value t of a feature except the largest."""
        columns = [self.frame[name].to_numpy() for name in self.frame]
        edges = [np.unique(column)[:-1] for column in columns]
        matrix = np.empty((len(self.y), sum(map(len, edges))), order="F")
        blocks = np.split(matrix, np.cumsum([len(e) for e in edges])[:-1], axis=1)
        for block, column, edge in zip(blocks, columns, edges, strict=True):
            np.less_equal(column[:, None], edge[None, :], out=block, casting="unsafe")
        return matrix

    @cached_property
    def signs(self) -> NDArray[np.float64]:
        """Labels as -1 and 1."""
        return np.where(self.y > 0, 1.0, -1.0)


class Source(Protocol):
    """Source of a problem, small enough to be sent to a worker process."""

    def load(self) -> Problem:
        """Read or simulate the rows."""


@dataclass(frozen=True)
class FicoFold:
    """Training rows of one fold of FICO (by default the third of five), label Bad = 1: 8367 rows, 1861 thresholds."""

    path: Path
    fold: int = 2

    def load(self) -> Problem:
        """Read the table and return the training rows of the fold."""
        from sklearn.model_selection import StratifiedKFold

        frame = pd.read_csv(self.path)
        y = (frame.pop("RiskPerformance") == "Bad").to_numpy(dtype=np.int64)
        folds = StratifiedKFold(5, shuffle=True, random_state=0).split(frame, y)
        train = [train for train, _ in folds][self.fold]
        return Problem(frame.iloc[train].reset_index(drop=True), y[train])


@dataclass(frozen=True)
class Credit:
    """Simulated credit applications: 23 integer features, optionally with more features or finer values.

    `copies` adds copies - 1 shuffled tables as further columns. `continuous` subtracts a random number in [0, 1) from
    every integer. Neither changes the true model: a shuffled feature keeps its thresholds but carries no signal, and
    `x - u <= t` is equivalent to `x <= t` for integers x and t and u in [0, 1).
    """

    n_rows: int
    copies: int = 1
    continuous: bool = False
    seed: int = 0

    def load(self) -> Problem:
        """Simulate the rows."""
        from sparsegam.datasets import make_credit

        rows = make_credit(self.n_rows, seed=self.seed)
        rng = np.random.default_rng(self.seed)
        frame = rows.frame - rng.random(rows.frame.shape) if self.continuous else rows.frame
        return Problem(_widened(frame, self.copies, rng), rows.target)


def _widened(frame: pd.DataFrame, copies: int, rng: np.random.Generator) -> pd.DataFrame:
    """Add shuffled copies of the table as further columns."""
    orders = [rng.permutation(len(frame)) for _ in range(copies - 1)]
    shuffled = [frame.iloc[rows].reset_index(drop=True).add_suffix(f"_{i}") for i, rows in enumerate(orders, 1)]
    return pd.concat([frame, *shuffled], axis=1)


def data_directory(option: str | None = None) -> Path:
    """Return the folder of the public tables: the --data option, else $SPARSEGAM_DATA, else ../shared/data."""
    return Path(option or os.environ.get(DATA_VARIABLE) or REPOSITORY.parent / "shared" / "data")


def fico_path(option: str | None = None) -> Path:
    """Return the path of the FICO table (`option` is the file or its folder), or exit with a message."""
    source = data_directory(option)
    path = source if source.is_file() else source / "fico.csv.gz"
    if not path.is_file():
        msg = f"FICO data not found at {path}: pass the folder or path of fico.csv.gz as --data, or set {DATA_VARIABLE}"
        raise SystemExit(msg)
    return path
