"""Who is measured on linear models: ours and the best-subset peers by their frontiers, LASSO, ElasticNet and MCP."""

# ruff: noqa: D102  (what `fit` and `models` do is said once, in the protocol)

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.linear_data import LinearData

Coef = NDArray[np.float64]


class LinearContender(Protocol):
    """One method with its settings: `fit` inside the clock, `models` outside it; `setting` is what is tuned."""

    name: ClassVar[str]
    package: ClassVar[str]
    loss: str

    @property
    def setting(self) -> float:
        """The ridge of best subsets, the mix of ElasticNet, the shape of MCP."""

    def fit(self, data: LinearData, threads: int) -> Any:
        """Do what the clock sees."""

    def models(self, fitted: Any, data: LinearData) -> Iterator[tuple[float, Coef]]:
        """List intercepts and coefficients of what was found."""


@dataclass(frozen=True)
class _BestSubset:
    """What best-subset methods share: a ridge, and a frontier to max_terms."""

    loss: str = "logistic"
    lambda2: float = 0.0
    max_terms: int = 50

    @property
    def setting(self) -> float:
        return self.lambda2


@dataclass(frozen=True)
class Ours(_BestSubset):
    """Our frontier, every size up to max_terms."""

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
class FastSparse(_BestSubset):
    """The paper's own code along its own grid of lambda0 (swaps on), until it passes max_terms."""

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
class Abess(_BestSubset):
    """abess with lambda2 as its `alpha`, sizes 0 to max_terms inside the clock.

    It hands back one model only, so those of `sizes` are fitted again, outside the clock: each by the path that ends
    there, which is how the one path came by them.
    """

    sizes: tuple[int, ...] = ()
    name: ClassVar[str] = "abess"
    package: ClassVar[str] = "abess"

    def fit(self, data: LinearData, threads: int) -> Any:
        return self._to(self.max_terms, data, threads)

    def models(self, fitted: Any, data: LinearData) -> Iterator[tuple[float, Coef]]:
        ends = (self._to(k, data, 1) for k in self.sizes if k < self.max_terms)
        for end in (fitted, *ends):
            yield float(np.ravel(end.intercept_)[0]), np.ravel(end.coef_)

    def _to(self, size: int, data: LinearData, threads: int) -> Any:
        from abess import LinearRegression, LogisticRegression

        kind = LinearRegression if self.loss == "squared" else LogisticRegression
        y = data.y if self.loss == "squared" else (data.y > 0).astype(int)
        ridge = {"alpha": self.lambda2} if self.lambda2 else {}
        return kind(support_size=range(size + 1), ic_type="loss", thread=threads, **ridge).fit(data.X, y)


class _Penalised:
    """Peers that come to sizes by shrinking: a path of penalties, one model each, on columns of unit variance.

    skglm solves for all of them: the convex ones have one solution, whoever solves, and scikit-learn's solver takes
    longer for one penalty than skglm for the path.
    """

    package: ClassVar[str] = "skglm"
    loss: ClassVar[str] = "logistic"
    n_penalties: ClassVar[int] = 100
    shortest: ClassVar[float]  # the weakest penalty, as a share of the one that leaves no column

    def fit(self, data: LinearData, threads: int) -> Any:
        from skglm import GeneralizedLinearEstimator
        from skglm.datafits import Logistic

        mean, scale = data.X.mean(axis=0), data.X.std(axis=0)
        X = np.asfortranarray((data.X - mean) / scale)
        largest = np.abs(X.T @ (data.y - data.y.mean())).max() / (2 * len(data.y))
        penalty, solver = self._penalty_and_solver()
        model = GeneralizedLinearEstimator(Logistic(), penalty(largest), solver)
        found = []
        for strength in largest * np.geomspace(0.98, self.shortest, self.n_penalties):
            model.penalty = penalty(strength)
            model.fit(X, data.y)  # from where the last penalty ended
            coef = np.ravel(model.coef_) / scale
            found.append((float(np.ravel(model.intercept_)[0] - mean @ coef), coef))
        return found

    def models(self, fitted: Any, data: LinearData) -> Iterator[tuple[float, Coef]]:
        return iter(fitted)

    def _penalty_and_solver(self) -> tuple[Callable[[float], Any], Any]:
        raise NotImplementedError


@dataclass(frozen=True)
class ElasticNet(_Penalised):
    """Logistic regression with a mix of L1 and L2, along glmnet's default path for more columns than rows."""

    setting: float = 0.5  # the share of L1
    name: ClassVar[str] = "elasticnet"
    shortest: ClassVar[float] = 0.01

    def _penalty_and_solver(self) -> tuple[Callable[[float], Any], Any]:
        from skglm.penalties import L1_plus_L2
        from skglm.solvers import ProxNewton

        solver = ProxNewton(tol=1e-4, fit_intercept=True, warm_start=True)
        return lambda strength: L1_plus_L2(strength / self.setting, self.setting), solver


@dataclass(frozen=True)
class Lasso(ElasticNet):
    """Logistic regression with an L1 penalty."""

    setting: float = 1.0
    name: ClassVar[str] = "lasso"


@dataclass(frozen=True)
class Mcp(_Penalised):
    """Logistic regression with the minimax concave penalty, along ncvreg's default path for more columns than rows."""

    setting: float = 3.0  # gamma, its shape
    name: ClassVar[str] = "mcp"
    shortest: ClassVar[float] = 0.05

    def _penalty_and_solver(self) -> tuple[Callable[[float], Any], Any]:
        from skglm.penalties import MCPenalty
        from skglm.solvers import AndersonCD

        solver = AndersonCD(max_iter=50, tol=1e-4, fit_intercept=True, warm_start=True)
        return lambda strength: MCPenalty(strength, self.setting), solver


def load_package(contender: LinearContender) -> None:
    """Import what a contender needs, outside the clock."""
    importlib.import_module(contender.package)
