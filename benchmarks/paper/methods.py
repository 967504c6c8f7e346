"""The methods of the figures: sparsegam and its peers. Each is a function of a fold and a cell that yields its models.

sparsegam takes the features, and its binning is timed. The peers take the 0/1 or numeric columns, which are built
outside the timing. Times are CPU seconds of one thread, so that a busy machine does not affect them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.paper import l0learn
from benchmarks.paper.cells import Cell
from benchmarks.paper.solution import Solution
from benchmarks.paper.tables import Fold

Method = Callable[[Fold, Cell], Iterator[Solution]]

# Largest size on a path.
MAX_PATH_TERMS = 60
# Largest size of a single fit.
MAX_TIMED_TERMS = 200
# Last penalty along a path of a shrinkage method, relative to the first.
LAST_PENALTY = 0.02

SWAPS = {
    "swap, no cuts": {"cuts": "none", "order": "sequential"},
    "swap, linear cuts": {"cuts": "linear", "order": "sequential"},
    "swap, quadratic cuts": {"cuts": "quadratic", "order": "sequential"},
    "swap, quadratic + dynamic": {"cuts": "quadratic", "order": "dynamic"},
    "swap, self-concordant + dynamic": {"cuts": "selfconcordant", "order": "dynamic"},
    "swap, exponential": {"cuts": "none", "order": "dynamic"},
    "swap, sequential": {"cuts": "auto", "order": "sequential"},
    "swap, dynamic": {"cuts": "auto", "order": "dynamic"},
}


def method_named(name: str) -> Method:
    """Return a method by its name in the figures."""
    if name in SWAPS:
        return swap
    family = name.split(",")[0].split(" ")[0]
    return {
        "exchange": exchange,
        "fastsparsegams": fastsparsegams,
        "L0Learn": run_l0learn,
        "LASSO": continuous,
        "ElasticNet": continuous,
        "MCP": continuous,
    }[family]


def why_unavailable(name: str) -> str | None:
    """Return why a method cannot run, or None if it can."""
    if name.startswith("L0Learn"):
        return l0learn.why_unavailable()
    package = {"fastsparsegams": "fastsparsegams", "LASSO": "skglm", "ElasticNet": "skglm", "MCP": "skglm"}
    needed = package.get(name.split(",")[0].split(" ")[0])
    if needed is None:
        return None
    from importlib.util import find_spec

    return None if find_spec(needed) else f"{needed} is not installed: pip install -r benchmarks/requirements.txt"


def exchange(fold: Fold, cell: Cell) -> Iterator[Solution]:
    """Run the search of sparsegam at one lambda0, or for all sizes."""
    start = time.process_time()
    models = _path(fold, cell) if cell.lambda0 is None else [(cell.lambda0, _single(fold, cell))]
    seconds = time.process_time() - start
    for lambda0, model in models:
        yield _to_solution(model, fold, cell, lambda0, seconds)


def _single(fold: Fold, cell: Cell) -> Any:
    from sparsegam import SparseGAMClassifier, SparseLinearClassifier

    settings = {"loss": cell.loss, "lambda0": cell.lambda0, "lambda2": cell.lambda2, "n_jobs": 1}
    if fold.linear:
        return SparseLinearClassifier(**settings).fit(fold.train, fold.y).model_
    settings |= {"certify": "certified" in cell.method, "min_samples_bin": 1}
    return SparseGAMClassifier(**settings).fit(_frame(fold), fold.y).model_


def _path(fold: Fold, cell: Cell) -> list[tuple[float, Any]]:
    from sparsegam import gam_path, linear_path

    settings = {"loss": cell.loss, "lambda2": cell.lambda2, "max_terms": _max_terms(cell), "n_jobs": 1}
    search = linear_path if fold.linear else gam_path
    settings |= {} if fold.linear else {"min_samples_bin": 1}
    path = search(fold.train if fold.linear else _frame(fold), fold.y, **settings)
    return list(zip(path.lambda0, path, strict=True))


def _max_terms(cell: Cell) -> int:
    # The simulated regression has 100 true columns.
    return 150 if cell.loss == "squared" else MAX_PATH_TERMS


def swap(fold: Fold, cell: Cell) -> Iterator[Solution]:
    """Run the paper's search at one lambda0 without warm start, or along a path with warm starts."""
    from sparsegam.path import linear_swap_path, swap_path

    search = linear_swap_path if fold.linear else swap_path
    penalties = path_penalties(fold, cell) if cell.lambda0 is None else np.array([cell.lambda0])
    limits = {"max_terms": _max_terms(cell) if cell.lambda0 is None else MAX_TIMED_TERMS, "n_jobs": 1}
    start = time.process_time()
    path = search(
        fold.train if fold.linear else _frame(fold),
        fold.y,
        loss=cell.loss,
        lambda0=penalties,
        lambda2=cell.lambda2,
        **SWAPS[cell.method],
        **limits,
    )
    seconds = time.process_time() - start
    for lambda0, model in zip(penalties, path, strict=True):
        yield _to_solution(model, fold, cell, lambda0, seconds, path.search_stats)


def path_penalties(fold: Fold, cell: Cell) -> Any:
    """Return values of lambda0, from a single selected term to about as many as a figure shows."""
    y = fold.y if cell.loss == "squared" else fold.signs
    gain = ((fold.matrix - fold.matrix.mean(0)).T @ (y - y.mean())) ** 2 / np.maximum(fold.centred_sq_norm, 1e-12)
    largest = 0.5 * gain.max()
    if cell.loss == "squared":
        return np.geomspace(0.5 * largest, 3e-3 * largest, cell.points)
    return np.geomspace(0.25 * largest, max(0.0005 * largest, 0.8), cell.points)


def fastsparsegams(fold: Fold, cell: Cell) -> Iterator[Solution]:
    """Run fastsparsegams at one lambda0, or along its own path."""
    from fastsparsegams import fit

    exponential = cell.loss == "exponential"
    penalty = {"penalty": "L0"} if exponential else {"penalty": "L0L2", "gamma_min": cell.lambda2}
    if not exponential:
        penalty["gamma_max"] = cell.lambda2
    if cell.lambda0 is None:
        grid = {"num_gamma": 1, "num_lambda": 100, "max_support_size": MAX_PATH_TERMS}
    else:
        grid = {"lambda_grid": [[cell.lambda0]], "num_lambda": None, "num_gamma": None}
        grid["max_support_size"] = MAX_TIMED_TERMS
    start = time.process_time()
    found = fit(fold.matrix, fold.signs, loss=cell.loss.capitalize(), algorithm="CDPSI", **penalty, **grid)
    seconds = time.process_time() - start
    models = zip(found.lambda_0[0], found.coeffs[0].toarray().T, found.intercepts[0], strict=True)
    for lambda0, coef, intercept in models:
        used = np.flatnonzero(coef)
        yield Solution(used, coef[used], float(intercept), seconds, cell.loss, float(lambda0), cell.lambda2)


def run_l0learn(fold: Fold, cell: Cell) -> Iterator[Solution]:
    """Run L0Learn, from which fastsparsegams was derived, at one lambda0 or along its own path."""
    return l0learn.fit(fold, cell, MAX_PATH_TERMS if cell.lambda0 is None else MAX_TIMED_TERMS)


def continuous(fold: Fold, cell: Cell) -> Iterator[Solution]:
    """Run LASSO, ElasticNet or MCP of skglm on standardised columns, along a path of penalties."""
    from skglm import GeneralizedLinearEstimator
    from skglm.datafits import Logistic

    mean, scale = fold.matrix.mean(0), np.sqrt(np.maximum(fold.centred_sq_norm / len(fold.y), 1e-12))
    X = np.asfortranarray((fold.matrix - mean) / scale)
    penalty, solver = _continuous(cell)
    largest = np.abs(X.T @ (fold.signs - fold.signs.mean())).max() / (2 * len(fold.y))
    estimator = GeneralizedLinearEstimator(Logistic(), penalty(largest), solver)
    for strength in largest * np.geomspace(0.98, LAST_PENALTY, cell.points):
        estimator.penalty = penalty(strength)
        start = time.process_time()
        estimator.fit(X, fold.signs)
        seconds = time.process_time() - start
        coef = np.ravel(estimator.coef_) / scale
        used = np.flatnonzero(coef)
        yield Solution(used, coef[used], float(np.ravel(estimator.intercept_)[0] - mean @ coef), seconds)
        if used.size > MAX_PATH_TERMS:
            return


def _continuous(cell: Cell) -> tuple[Callable[[float], Any], Any]:
    """Return the penalty as a function of its strength, and a solver."""
    from skglm.penalties import L1_plus_L2, MCPenalty
    from skglm.solvers import AndersonCD, ProxNewton

    settings = {"warm_start": True, "fit_intercept": True, "tol": 1e-4}
    if cell.method.startswith("MCP"):
        return lambda a: MCPenalty(a, cell.shape), AndersonCD(max_iter=30, **settings)
    ratio = cell.shape or 1.0
    return lambda a: L1_plus_L2(a / ratio, ratio), ProxNewton(**settings)


def _frame(fold: Fold) -> Any:
    import pandas as pd

    return pd.DataFrame(fold.train, columns=list(fold.names))


def _to_solution(
    model: Any, fold: Fold, cell: Cell, lambda0: float, seconds: float, counts: dict[str, int] | None = None
) -> Solution:
    """Convert a sparsegam model to the columns of the matrix."""
    if fold.linear:
        columns, coef = np.array(model.columns, dtype=np.int64), np.array(model.weights)
    else:
        columns = np.array([fold.column(term.feature, term.condition.value) for term in model.terms], dtype=np.int64)
        coef = np.array([term.coef for term in model.terms])
    return Solution(columns, coef, model.intercept, seconds, cell.loss, float(lambda0), cell.lambda2, counts or {})
