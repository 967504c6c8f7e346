"""Data for linear models: the paper's correlated designs, and a sparse matrix like word counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


@dataclass(frozen=True)
class LinearData:
    """Training and test rows, and the columns of the true model."""

    X: Any
    y: NDArray[np.float64]
    X_test: Any
    y_test: NDArray[np.float64]
    support: NDArray[np.int64]


@dataclass(frozen=True)
class Classification:
    """The paper's classification data: 800 training and 160 test rows, 1000 columns, 25 of them in the true model."""

    seed: int

    def load(self) -> LinearData:
        """Simulate the rows; labels are -1 and 1."""
        from sparsegam.datasets import make_correlated_classification

        rows = make_correlated_classification(n=960, seed=self.seed)
        X, y = np.asfortranarray(rows.data), np.where(rows.target > 0, 1.0, -1.0)
        return LinearData(np.asfortranarray(X[:800]), y[:800], X[800:], y[800:], rows.truth.support)


@dataclass(frozen=True)
class Regression:
    """The paper's regression data: 2000 rows, 2000 columns, 100 of them in the true model, signal-to-noise ratio 5."""

    seed: int

    def load(self) -> LinearData:
        """Simulate the rows."""
        from sparsegam.datasets import make_correlated_regression

        rows = make_correlated_regression(seed=self.seed)
        X = np.asfortranarray(rows.data)
        return LinearData(X, rows.target, X[:0], rows.target[:0], rows.truth.support)


@dataclass(frozen=True)
class Text:
    """Data like word counts: columns from frequent to rare; 50 of the 2000 most frequent are in the true model."""

    seed: int
    n: int = 20_000
    p: int = 100_000
    filled: float = 1e-3
    k: int = 50

    def load(self) -> LinearData:
        """Simulate the rows; labels are -1 and 1."""
        rng = np.random.default_rng(self.seed)
        share = np.arange(1, self.p + 1) ** -0.7
        share = np.minimum(share * self.filled * self.p / share.sum(), 0.2)
        counts = rng.poisson(share * self.n)
        rows = np.concatenate([rng.choice(self.n, count, replace=False) for count in counts])
        values = 1 + rng.exponential(size=rows.size)
        X = sp.csc_matrix((values, (rows, np.repeat(np.arange(self.p), counts))), shape=(self.n, self.p))
        support = np.sort(rng.choice(2000, self.k, replace=False))
        score = X[:, support] @ rng.choice([-1.0, 1.0], self.k)
        y = np.where(rng.random(self.n) < 1 / (1 + np.exp(score.mean() - score)), 1.0, -1.0)
        return LinearData(X, y, X[:0], y[:0], support)
