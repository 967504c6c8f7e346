"""The methods compared on linear models: best subsets by sparsegam and its peers, LASSO, ElasticNet and MCP."""

# ruff: noqa: D102  (what `fit` and `models` do is documented in the protocol)

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
    """A method with its settings. Only `fit` is timed, not `models`; `setting` is the parameter that is tuned."""

    name: ClassVar[str]
    package: ClassVar[str]
    loss: str

    @property
    def setting(self) -> float:
        """The ridge of best subsets, the L1 share of ElasticNet, or the shape of MCP."""

    def fit(self, data: LinearData, threads: int) -> Any:
        """Fit the method; this is timed."""

    def models(self, fitted: Any, data: LinearData) -> Iterator[tuple[float, Coef]]:
        """Return the intercepts and coefficients of the models found."""


@dataclass(frozen=True)
class _BestSubset:
    """Parameters of best-subset methods: a ridge, and the largest size of the path."""

    loss: str = "logistic"
    lambda2: float = 0.0
    max_terms: int = 50

    @property
    def setting(self) -> float:
        return self.lambda2


@dataclass(frozen=True)
class SparseLinear(_BestSubset):
    """The sparsegam path: the best model of every size up to max_terms."""

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
    """fastsparsegams along its own grid of lambda0, with swaps, until a model has more than max_terms terms."""

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
    """abess with lambda2 as its `alpha`; the sizes 0 to max_terms are timed.

    It returns a single model. The models of `sizes` are fitted again outside the timing, each with a path that ends at
    that size.
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


class _Shrinkage:
    """Shrinkage methods: one model per penalty along a path, on columns of unit variance.

    All are solved by skglm. The convex problems have one solution, whichever solver is used, and scikit-learn takes
    longer for one penalty than skglm for the whole path.
    """

    package: ClassVar[str] = "skglm"
    loss: ClassVar[str] = "logistic"
    n_penalties: ClassVar[int] = 100
    # The weakest penalty, relative to the smallest one that selects no column.
    weakest: ClassVar[float]

    def fit(self, data: LinearData, threads: int) -> Any:
        from skglm import GeneralizedLinearEstimator
        from skglm.datafits import Logistic

        mean, scale = data.X.mean(axis=0), data.X.std(axis=0)
        X = np.asfortranarray((data.X - mean) / scale)
        largest = np.abs(X.T @ (data.y - data.y.mean())).max() / (2 * len(data.y))
        penalty, solver = self._penalty_and_solver()
        model = GeneralizedLinearEstimator(Logistic(), penalty(largest), solver)
        found = []
        for strength in largest * np.geomspace(0.98, self.weakest, self.n_penalties):
            model.penalty = penalty(strength)
            # Each fit starts from the previous solution.
            model.fit(X, data.y)
            coef = np.ravel(model.coef_) / scale
            found.append((float(np.ravel(model.intercept_)[0] - mean @ coef), coef))
        return found

    def models(self, fitted: Any, data: LinearData) -> Iterator[tuple[float, Coef]]:
        return iter(fitted)

    def _penalty_and_solver(self) -> tuple[Callable[[float], Any], Any]:
        raise NotImplementedError


@dataclass(frozen=True)
class ElasticNet(_Shrinkage):
    """Logistic regression with an L1 and an L2 penalty, along glmnet's default path for more columns than rows."""

    # Share of L1.
    setting: float = 0.5
    name: ClassVar[str] = "elasticnet"
    weakest: ClassVar[float] = 0.01

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
class Mcp(_Shrinkage):
    """Logistic regression with the minimax concave penalty, along ncvreg's default path for more columns than rows."""

    # The shape parameter gamma.
    setting: float = 3.0
    name: ClassVar[str] = "mcp"
    weakest: ClassVar[float] = 0.05

    def _penalty_and_solver(self) -> tuple[Callable[[float], Any], Any]:
        from skglm.penalties import MCPenalty
        from skglm.solvers import AndersonCD

        solver = AndersonCD(max_iter=50, tol=1e-4, fit_intercept=True, warm_start=True)
        return lambda strength: MCPenalty(strength, self.setting), solver


def load_package(contender: LinearContender) -> None:
    """Import the package of a contender, which is not timed."""
    importlib.import_module(contender.package)
