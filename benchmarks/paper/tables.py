"""Training and test rows of the paper's data: FICO, COMPAS, NETHERLANDS (simulated), and two simulated designs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import data_directory

FOLDS = 5
MAX_BINS = 1000
# Test rows of the simulated classification, in addition to 800 training rows.
TEST_ROWS = 160
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Fold:
    """Training and test rows. sparsegam takes the features, the other methods the columns of the matrix."""

    names: tuple[str, ...]
    train: Matrix
    y: NDArray[np.float64]
    test: Matrix
    y_test: NDArray[np.float64]
    linear: bool = False
    support: tuple[int, ...] | None = None

    @cached_property
    def edges(self) -> list[NDArray[np.float64]]:
        """Thresholds of each feature: its unique training values except the largest, or quantiles if there are many."""
        from sparsegam import _core

        return [_core.bin_edges(np.ascontiguousarray(column, dtype=float), MAX_BINS) for column in self.train.T]

    @cached_property
    def matrix(self) -> Matrix:
        """Training columns in Fortran order: the features themselves, or one 0/1 column per threshold."""
        return np.asfortranarray(self.train) if self.linear else self._steps(self.train)

    @cached_property
    def test_matrix(self) -> Matrix:
        """The columns of the test rows."""
        return self.test if self.linear else self._steps(self.test)

    @cached_property
    def centred_sq_norm(self) -> NDArray[np.float64]:
        """Squared norm of each centred column of `matrix`, which scales its ridge penalty."""
        return self.matrix.var(axis=0) * len(self.y)

    @property
    def signs(self) -> NDArray[np.float64]:
        """Labels as -1 and 1."""
        return np.where(self.y > 0, 1.0, -1.0)

    def column(self, feature: str, threshold: float) -> int:
        """Return the column of `matrix` for a threshold of a feature."""
        j = self.names.index(feature)
        before = sum(edge.size for edge in self.edges[:j])
        return before + int(np.searchsorted(self.edges[j], threshold))

    def _steps(self, data: Matrix) -> Matrix:
        steps = [column[:, None] <= edge[None, :] for column, edge in zip(data.T, self.edges, strict=True)]
        return np.asfortranarray(np.hstack(steps), dtype=np.float64)


def why_missing(table: str, data: str | None) -> str | None:
    """Return why a table is not available, or None if it is."""
    if table not in ("fico", "compas") or _path(table, data).is_file():
        return None
    return f"{_path(table, data)} not found: pass its folder as --data, or set SPARSEGAM_DATA"


@lru_cache(maxsize=2)
def load(table: str, fold: int, data: str | None) -> Fold:
    """Return one fold (of five, stratified, seed 0) of a real table, or the data of one seed of a simulated table."""
    if table == "classification":
        return _classification(fold)
    if table == "regression":
        return _regression(fold)
    from sklearn.model_selection import StratifiedKFold

    names, X, y = _real(table, data)
    train, test = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))[fold]
    return Fold(names, X[train], y[train], X[test], y[test])


def _real(table: str, data: str | None) -> tuple[tuple[str, ...], Matrix, NDArray[np.float64]]:
    from sparsegam import datasets

    path = _path(table, data)
    if table == "netherlands":
        rows = datasets.fetch_recidivism(path) if path.is_file() else datasets.make_recidivism()
    else:
        rows = {"fico": datasets.fetch_fico, "compas": datasets.fetch_compas}[table](path)
    return tuple(rows.feature_names), rows.data.astype(np.float64), rows.target.astype(np.float64)


def _path(table: str, data: str | None) -> Path:
    return data_directory(data) / f"{table}.csv.gz"


def _classification(seed: int) -> Fold:
    from sparsegam.datasets import make_correlated_classification

    rows = make_correlated_classification(800 + TEST_ROWS, seed=100 + seed)
    X, y, support = rows.data, rows.target.astype(float), tuple(int(j) for j in rows.truth.support)
    return Fold(tuple(rows.feature_names), X[:800], y[:800], X[800:], y[800:], linear=True, support=support)


def _regression(seed: int) -> Fold:
    from sparsegam.datasets import make_correlated_regression

    rows = make_correlated_regression(2400, seed=100 + seed)
    X, y, support = rows.data, rows.target, tuple(int(j) for j in rows.truth.support)
    return Fold(tuple(rows.feature_names), X[:2000], y[:2000], X[2000:], y[2000:], linear=True, support=support)
