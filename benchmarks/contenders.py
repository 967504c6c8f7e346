"""The methods of the time comparisons: sparsegam and its peers behind one interface."""

# ruff: noqa: D102  (what `prepare`, `fit` and `solutions` do is documented in the protocol)

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from benchmarks.data import Problem
from benchmarks.objective import Solution

Inputs = tuple[Any, Any]
SPARSEGAM = "sparsegam"


class Contender(Protocol):
    """A method with its settings. Only `fit` is timed, not `prepare` and `solutions`."""

    name: ClassVar[str]
    loss: str

    def prepare(self, problem: Problem) -> Inputs:
        """Return (X, y) as the method requires them, and import its package."""

    def fit(self, inputs: Inputs, threads: int) -> Any:
        """Fit the method; this is timed."""

    def solutions(self, fitted: Any, inputs: Inputs) -> list[Solution]:
        """Return the models found, as sizes and scores on the training rows."""


class _OnFrame:
    """Methods that take the table itself: their binning is timed."""

    package: ClassVar[str]

    def prepare(self, problem: Problem) -> Inputs:
        importlib.import_module(self.package)
        return problem.frame, problem.y


class _OnThresholds:
    """Methods that take the 0/1 matrix of all thresholds, which is built outside the timing."""

    package: ClassVar[str]

    def prepare(self, problem: Problem) -> Inputs:
        importlib.import_module(self.package)
        return problem.threshold_matrix, problem.signs


# The matrix of the peers contains all thresholds, whatever the number of rows on either side.
EVERY_STEP = {"min_samples_bin": 1}


@dataclass(frozen=True, kw_only=True)
class _SparseGAM(_OnFrame):
    """Parameters that SparseGAM and SparseGAMPath share."""

    loss: str = "logistic"
    lambda2: float = 0.0
    options: dict[str, Any] = field(default_factory=dict)
    name: ClassVar[str] = SPARSEGAM
    package: ClassVar[str] = "sparsegam"


@dataclass(frozen=True, kw_only=True)
class SparseGAM(_SparseGAM):
    """The sparsegam classifier at one lambda0."""

    lambda0: float | str = "bic"

    def fit(self, inputs: Inputs, threads: int) -> Any:
        from sparsegam import SparseGAMClassifier

        settings = {"loss": self.loss, "lambda0": self.lambda0, "lambda2": self.lambda2, **EVERY_STEP, **self.options}
        return SparseGAMClassifier(n_jobs=threads, **settings).fit(*inputs)

    def solutions(self, fitted: Any, inputs: Inputs) -> list[Solution]:
        return [Solution(int(fitted.n_terms_), fitted.decision_function(inputs[0]))]


@dataclass(frozen=True, kw_only=True)
class SparseGAMPath(_SparseGAM):
    """The sparsegam path: the best model of every size up to max_terms."""

    max_terms: int = 50

    def fit(self, inputs: Inputs, threads: int) -> Any:
        from sparsegam import gam_path

        settings = {
            "loss": self.loss,
            "lambda2": self.lambda2,
            "max_terms": self.max_terms,
            **EVERY_STEP,
            **self.options,
        }
        return gam_path(*inputs, n_jobs=threads, **settings)

    def solutions(self, fitted: Any, inputs: Inputs) -> list[Solution]:
        sizes = [int(k) for k in fitted.n_terms]
        return [Solution(k, fitted.at(n_terms=k).decision_function(inputs[0])) for k in sizes]


@dataclass(frozen=True)
class SparseLinear(_OnThresholds):
    """The sparsegam linear classifier at one lambda0, on the 0/1 matrix."""

    loss: str = "logistic"
    lambda0: float = 5.0
    lambda2: float = 0.0
    name: ClassVar[str] = "sparsegam, matrix"
    package: ClassVar[str] = "sparsegam"

    def fit(self, inputs: Inputs, threads: int) -> Any:
        from sparsegam import SparseLinearClassifier

        return SparseLinearClassifier(lambda0=self.lambda0, lambda2=self.lambda2, n_jobs=threads).fit(*inputs)

    def solutions(self, fitted: Any, inputs: Inputs) -> list[Solution]:
        return [Solution(int(fitted.n_terms_), fitted.decision_function(inputs[0]))]


class _FastSparse(_OnThresholds):
    """fastsparsegams, which has no option for threads and returns its models as columns of coefficients."""

    name: ClassVar[str] = "fastsparsegams"
    package: ClassVar[str] = "fastsparsegams"
    loss: str

    def _fit(self, inputs: Inputs, **settings: Any) -> Any:
        from fastsparsegams import fit

        return fit(*inputs, loss=self.loss.capitalize(), penalty="L0", algorithm="CDPSI", **settings)

    def solutions(self, fitted: Any, inputs: Inputs) -> list[Solution]:
        coefs = fitted.coeffs[0].toarray()
        scores = inputs[0] @ coefs + np.asarray(fitted.intercepts[0])
        return [Solution(int(k), f) for k, f in zip(np.count_nonzero(coefs, axis=0), scores.T, strict=True)]


@dataclass(frozen=True)
class FastSparseGAMs(_FastSparse):
    """fastsparsegams at one lambda0, with swaps."""

    loss: str = "logistic"
    lambda0: float = 5.0
    max_terms: int = 200

    def fit(self, inputs: Inputs, threads: int) -> Any:
        grid = {"lambda_grid": [[float(self.lambda0)]], "num_lambda": None, "num_gamma": None}
        return self._fit(inputs, max_support_size=self.max_terms, **grid)


@dataclass(frozen=True)
class FastSparseGAMsPath(_FastSparse):
    """fastsparsegams along its own grid of lambda0, until a model has more than max_terms terms."""

    loss: str = "logistic"
    max_terms: int = 50

    def fit(self, inputs: Inputs, threads: int) -> Any:
        return self._fit(inputs, max_support_size=self.max_terms)


@dataclass(frozen=True)
class AbessPath(_OnThresholds):
    """abess for every size up to max_terms (logistic loss only); it returns the size with the lowest training loss."""

    loss: str = "logistic"
    max_terms: int = 50
    name: ClassVar[str] = "abess"
    package: ClassVar[str] = "abess"

    def prepare(self, problem: Problem) -> Inputs:
        matrix, _ = super().prepare(problem)
        return matrix, problem.y

    def fit(self, inputs: Inputs, threads: int) -> Any:
        from abess import LogisticRegression

        sizes = range(self.max_terms + 1)
        return LogisticRegression(support_size=sizes, ic_type="loss", thread=threads).fit(*inputs)

    def solutions(self, fitted: Any, inputs: Inputs) -> list[Solution]:
        scores = inputs[0] @ fitted.coef_ + fitted.intercept_
        return [Solution(int(np.count_nonzero(fitted.coef_)), scores)]


@dataclass(frozen=True)
class _Boosted(_OnFrame):
    """Boosted models: one model, whose size cannot be compared."""

    loss: str = "logistic"

    def fit(self, inputs: Inputs, threads: int) -> Any:
        return self._classifier(threads).fit(*inputs)

    def _classifier(self, threads: int) -> Any:
        raise NotImplementedError


class ExplainableBoosting(_Boosted):
    """The explainable boosting machine of interpret without interactions: an additive model that is not sparse."""

    name: ClassVar[str] = "interpret"
    package: ClassVar[str] = "interpret.glassbox"

    def _classifier(self, threads: int) -> Any:
        from interpret.glassbox import ExplainableBoostingClassifier

        return ExplainableBoostingClassifier(interactions=0, n_jobs=threads)

    def solutions(self, fitted: Any, inputs: Inputs) -> list[Solution]:
        return [Solution(None, fitted.decision_function(inputs[0]))]


class LightGBM(_Boosted):
    """LightGBM with its defaults, which is not an additive model, as a reference for speed."""

    name: ClassVar[str] = "lightgbm"
    package: ClassVar[str] = "lightgbm"

    def _classifier(self, threads: int) -> Any:
        from lightgbm import LGBMClassifier

        return LGBMClassifier(n_jobs=threads, verbose=-1)

    def solutions(self, fitted: Any, inputs: Inputs) -> list[Solution]:
        return [Solution(None, fitted.predict(inputs[0], raw_score=True))]
