"""Who is measured on linear models: ours and the best-subset peers by path, the convex and MCP peers for their AUC."""

# ruff: noqa: D102  (what `fit` and `models` do is said once, in the protocol)

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Coef = NDArray[np.float64]


@dataclass(frozen=True)
class LinearData:
    """Training and test rows, and the columns that the truth uses."""

    X: Any
    y: NDArray[np.float64]
    X_test: Any
    y_test: NDArray[np.float64]
    support: NDArray[np.int64]


@dataclass(frozen=True)
class Classification:
    """The paper's classification rows: 800 to train, 160 to test, 1000 columns, 25 of them true."""

    seed: int

    def load(self) -> LinearData:
        """Simulate the rows; labels are -1 and 1."""
        from sparsegam.datasets import make_correlated_classification

        rows = make_correlated_classification(n=960, seed=self.seed)
        X, y = np.asfortranarray(rows.data), np.where(rows.target > 0, 1.0, -1.0)
        return LinearData(np.asfortranarray(X[:800]), y[:800], X[800:], y[800:], rows.truth.support)


@dataclass(frozen=True)
class Regression:
    """The paper's regression rows: 2000 rows, 2000 columns, 100 of them true, a signal-to-noise ratio of 5."""

    seed: int

    def load(self) -> LinearData:
        """Simulate the rows."""
        from sparsegam.datasets import make_correlated_regression

        rows = make_correlated_regression(seed=self.seed)
        X = np.asfortranarray(rows.data)
        return LinearData(X, rows.target, X[:0], rows.target[:0], rows.truth.support)


@dataclass(frozen=True)
class Text:
    """Rows like counts of words: columns from frequent to rare, 50 of the more frequent 2000 are true."""

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


class LinearContender(Protocol):
    """One method with its settings: `fit` inside the clock, `models` outside it."""

    name: ClassVar[str]
    package: ClassVar[str]
    loss: str
    lambda2: float

    def fit(self, data: LinearData, threads: int) -> Any:
        """Do what the clock sees."""

    def models(self, fitted: Any, data: LinearData) -> Iterator[tuple[float, Coef]]:
        """List intercepts and coefficients of what was found."""


@dataclass(frozen=True)
class Ours:
    """Our frontier, every size up to max_terms."""

    loss: str = "logistic"
    lambda2: float = 0.0
    max_terms: int = 50
    options: dict[str, Any] = field(default_factory=dict)
    name: ClassVar[str] = "sparsegam"
    package: ClassVar[str] = "sparsegam.linear"

    def fit(self, data: LinearData, threads: int) -> Any:
        from sparsegam import linear_path

        settings = {"loss": self.loss, "lambda2": self.lambda2, "max_terms": self.max_terms, **self.options}
        return linear_path(data.X, data.y, n_jobs=threads, **settings)

    def models(self, fitted: Any, data: LinearData) -> Iterator[tuple[float, Coef]]:
        return ((model.intercept, model.coef) for model in fitted)


@dataclass(frozen=True)
class FastSparse:
    """The paper's own code along its own grid of lambda0 (swaps on), until it passes max_terms."""

    loss: str = "logistic"
    lambda2: float = 0.0
    max_terms: int = 50
    name: ClassVar[str] = "fastsparsegams"
    package: ClassVar[str] = "fastsparsegams"

    def fit(self, data: LinearData, threads: int) -> Any:
        from fastsparsegams import fit

        ridge = {"penalty": "L0L2", "gamma_min": self.lambda2, "gamma_max": self.lambda2, "num_gamma": 1}
        named = {"logistic": "Logistic", "squared": "SquaredError"}[self.loss]
        settings = ridge if self.lambda2 else {"penalty": "L0"}
        return fit(data.X, data.y, loss=named, algorithm="CDPSI", max_support_size=self.max_terms, **settings)

    def models(self, fitted: Any, data: LinearData) -> Iterator[tuple[float, Coef]]:
        coefs = fitted.coeffs[0].toarray()
        return zip(np.ravel(fitted.intercepts[0]).tolist(), coefs.T, strict=True)


@dataclass(frozen=True)
class Abess:
    """abess, sizes 0 to max_terms inside the clock.

    It hands back one model only, so the others are fitted again, outside the clock: each by the path that ends there.
    """

    loss: str = "logistic"
    lambda2: float = 0.0
    max_terms: int = 50
    sizes: tuple[int, ...] = ()
    name: ClassVar[str] = "abess"
    package: ClassVar[str] = "abess"

    def fit(self, data: LinearData, threads: int) -> Any:
        return self._to(self.max_terms, data, threads)

    def models(self, fitted: Any, data: LinearData) -> Iterator[tuple[float, Coef]]:
        ends = [self._to(k, data, 1) for k in self.sizes if k < self.max_terms]
        return ((float(np.ravel(end.intercept_)[0]), np.ravel(end.coef_)) for end in (*ends, fitted))

    def _to(self, size: int, data: LinearData, threads: int) -> Any:
        from abess import LinearRegression, LogisticRegression

        kind = LinearRegression if self.loss == "squared" else LogisticRegression
        y = data.y if self.loss == "squared" else (data.y > 0).astype(int)
        return kind(support_size=range(size + 1), ic_type="loss", thread=threads).fit(data.X, y)


class _Penalised:
    """Convex and MCP peers: a grid of penalties, one model each; columns are standardised first."""

    package: ClassVar[str] = "sklearn.linear_model"
    loss: str = "logistic"
    lambda2: float = 0.0
    n_penalties: ClassVar[int] = 20

    def fit(self, data: LinearData, threads: int) -> Any:
        scale = data.X.std(axis=0)
        X = (data.X - data.X.mean(axis=0)) / scale
        largest = np.abs(X.T @ (data.y - data.y.mean())).max() / (2 * len(data.y))
        return [(b, w / scale) for b, w in self._along(X, data.y, largest * np.geomspace(0.95, 0.02, self.n_penalties))]

    def models(self, fitted: Any, data: LinearData) -> Iterator[tuple[float, Coef]]:
        return iter(fitted)

    def _along(self, X: Any, y: Any, penalties: Any) -> Iterator[tuple[float, Coef]]:
        raise NotImplementedError


@dataclass(frozen=True)
class Lasso(_Penalised):
    """scikit-learn's logistic regression with an L1 penalty."""

    name: ClassVar[str] = "lasso"

    def _along(self, X: Any, y: Any, penalties: Any) -> Iterator[tuple[float, Coef]]:
        from sklearn.linear_model import LogisticRegression

        for penalty in penalties:
            model = LogisticRegression(C=1 / (len(y) * penalty), l1_ratio=1.0, solver="liblinear", tol=1e-4)
            model.fit(X, y)
            yield float(model.intercept_[0]), model.coef_[0]


@dataclass(frozen=True)
class ElasticNet(_Penalised):
    """scikit-learn's logistic regression with half L1, half L2, from weak to strong penalties by warm starts."""

    name: ClassVar[str] = "elasticnet"

    def _along(self, X: Any, y: Any, penalties: Any) -> Iterator[tuple[float, Coef]]:
        from sklearn.linear_model import LogisticRegression

        settings = {"l1_ratio": 0.5, "solver": "saga", "tol": 1e-3, "max_iter": 500, "warm_start": True}
        model = LogisticRegression(**settings)
        for penalty in 2 * penalties:
            model.set_params(C=1 / (len(y) * penalty)).fit(X, y)
            yield float(model.intercept_[0]), model.coef_[0].copy()


@dataclass(frozen=True)
class Mcp(_Penalised):
    """skglm's logistic regression with the minimax concave penalty."""

    gamma: float = 3.0
    name: ClassVar[str] = "mcp"
    package: ClassVar[str] = "skglm"

    def _along(self, X: Any, y: Any, penalties: Any) -> Iterator[tuple[float, Coef]]:
        from skglm import GeneralizedLinearEstimator
        from skglm.datafits import Logistic
        from skglm.penalties import MCPenalty
        from skglm.solvers import AndersonCD

        solver = AndersonCD(max_iter=50, tol=1e-4, fit_intercept=True, warm_start=True)
        model = GeneralizedLinearEstimator(Logistic(), MCPenalty(penalties[0], self.gamma), solver)
        for penalty in penalties:
            model.penalty = MCPenalty(penalty, self.gamma)
            model.fit(X, y)
            yield float(np.ravel(model.intercept_)[0]), np.ravel(model.coef_).copy()


def load_package(contender: LinearContender) -> None:
    """Import what a contender needs, outside the clock."""
    importlib.import_module(contender.package)
