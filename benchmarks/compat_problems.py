"""Random problems for comparing fastsparsegams with the compatible interface, and their objectives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from benchmarks.objective import loss_sum

LOSSES = ("SquaredError", "Logistic", "SquaredHinge", "Exponential")
PENALTIES = ("L0", "L0L1", "L0L2")
ALGORITHMS = ("CD", "CDPSI")
# Size of the largest models.
SIZE = 20
LAMBDAS = 30


@dataclass(frozen=True)
class RandomProblem:
    """Random data, loss, penalty and algorithm of a seed; 24 consecutive seeds cover all combinations."""

    seed: int

    @property
    def loss(self) -> str:
        """The loss, as fastsparsegams names it."""
        return LOSSES[self.seed % 4]

    @property
    def penalty(self) -> str:
        """The penalty. The exponential loss supports L0 only."""
        return "L0" if self.loss == "Exponential" else PENALTIES[self.seed // 4 % 3]

    @property
    def algorithm(self) -> str:
        """The algorithm."""
        return ALGORITHMS[self.seed // 12 % 2]

    @property
    def is_sparse(self) -> bool:
        """Whether X is sparse: every other block of 24 seeds, except for the exponential loss."""
        return bool(self.seed // 24 % 2) and self.loss != "Exponential"

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments of `fit` except the data and the grid."""
        chosen = {"loss": self.loss, "penalty": self.penalty, "algorithm": self.algorithm}
        return chosen if self.penalty == "L0" else {**chosen, "gamma_max": 1.0, "gamma_min": 1e-3}

    @cached_property
    def rows(self) -> tuple[Any, NDArray[np.float64]]:
        """Correlated columns and a target that depends on some of them."""
        rng = np.random.default_rng(self.seed)
        n, p, k = (int(rng.integers(*ends)) for ends in ((60, 400), (10, 120), (2, 10)))
        rho = rng.choice([0.0, 0.5, 0.9])
        X = rng.normal(size=(n, p))
        for j in range(1, p):
            X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
        coef = np.zeros(p)
        coef[rng.choice(p, k, replace=False)] = rng.choice([-1, 1], k) * rng.uniform(0.5, 2, k)
        if self.loss == "Exponential":
            X = (0.5 * rng.normal(size=p) < X).astype(float)
        elif self.is_sparse:
            X = X * (np.abs(X) > 0.8)
        else:
            X = X + rng.normal(size=p)
        score = (X - X.mean(axis=0)) @ coef
        if self.loss == "SquaredError":
            y = score + rng.normal(size=n) * score.std() * rng.choice([0.3, 1.0])
        else:
            y = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), 1.0, -1.0)
        return (sp.csc_matrix(X) if self.is_sparse else X), y

    def values(self, model: Any) -> list[NDArray[np.float64]]:
        """Return the objectives of all models of each gamma, recomputed from intercepts and coefficients."""
        X, y = self.rows
        lengths = norms(X)
        out = []
        for i, gamma in enumerate(model.gamma):
            coefs, intercepts = model.coeffs[i].toarray(), np.ravel(model.intercepts[i])
            models = zip(model.lambda_0[i], intercepts, coefs.T, strict=True)
            out.append(np.array([self._value(X @ w + b, y, w * lengths, lambda0, gamma) for lambda0, b, w in models]))
        return out

    def _value(self, score: NDArray[Any], y: NDArray[Any], v: NDArray[Any], lambda_0: float, gamma: float) -> float:
        """Return loss plus penalties; columns (and responses of a regression) are scaled to norm one."""
        if self.loss == "SquaredError":
            scale = float(np.linalg.norm(y - y.mean()))
            loss, v = 0.5 * float(np.sum((y - score) ** 2)) / scale**2, v / scale
        else:
            named = {"Logistic": "logistic", "Exponential": "exponential", "SquaredHinge": "squared_hinge"}
            loss = loss_sum(named[self.loss], y, score)
        penalty = np.abs(v).sum() if self.penalty == "L0L1" else np.square(v).sum()
        return float(loss + lambda_0 * np.count_nonzero(v) + gamma * penalty)


def norms(X: Any) -> NDArray[np.float64]:
    """Return the column norms of fastsparsegams: of centred columns if X is dense, of raw columns if sparse."""
    if sp.issparse(X):
        return np.sqrt(np.asarray(X.multiply(X).sum(axis=0)).ravel())
    return np.linalg.norm(X - X.mean(axis=0), axis=0)
