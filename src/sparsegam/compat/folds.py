"""Cross-validation: each fold is fitted with the lambdas and gammas of the fit to all rows."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sparsegam.arrays import FloatArray
from sparsegam.checks import check_integer
from sparsegam.compat.path import Grid, search_grid_at
from sparsegam.compat.problem import Data, Solution
from sparsegam.compat.settings import Settings
from sparsegam.losses import LOSSES


@dataclass(frozen=True)
class Errors:
    """Mean and standard deviation over folds of the mean loss, by gamma, with one row per lambda0."""

    means: list[FloatArray]
    sds: list[FloatArray]


def check_folds(num_folds: int, seed: int, n_rows: int) -> None:
    """Raise ValueError unless the number of folds is between two and the number of rows."""
    check_integer("num_folds", num_folds, at_least=2, at_most=n_rows)
    check_integer("seed", seed, at_least=0)


def cross_validate(data: Data, settings: Settings, grid: Grid, num_folds: int, seed: int) -> Errors:
    """Score the models of each fold on the held-out rows, without a limit on the support size."""
    order = np.random.default_rng(seed).permutation(data.target.size)
    fold_settings = replace(settings, max_support_size=max(data.matrix.n_columns, 1))
    errors = [np.empty((len(path), num_folds)) for path in grid.paths]
    for k, left_out in enumerate(_folds(order, data, num_folds)):
        others = np.setdiff1d(order, left_out)
        paths = search_grid_at(data.take(others), fold_settings, grid)
        rest = data.take(left_out)
        for error, path in zip(errors, paths, strict=True):
            error[:, k] = [_loss(rest, solution, settings) for solution in path]
    means = [error.mean(axis=1, keepdims=True) for error in errors]
    return Errors(means, [error.std(axis=1, ddof=1, keepdims=True) for error in errors])


def _folds(order: NDArray[np.int64], data: Data, num_folds: int) -> list[NDArray[np.int64]]:
    """Return the test rows of each fold, stratified by class."""
    parts = [order] if data.classes is None else [order[data.target[order] == sign] for sign in (-1.0, 1.0)]
    if data.classes is not None and min(part.size for part in parts) < 2:
        n = min(part.size for part in parts)
        msg = f"cross-validation needs at least two rows of each class, got {n} of one class."
        raise ValueError(msg)
    together = np.concatenate(parts)
    return [together[k::num_folds] for k in range(num_folds)]


def _loss(rest: Data, solution: Solution, settings: Settings) -> float:
    """Return the mean loss; the squared error has no factor 1/2, as in L0Learn."""
    score = solution.intercept + rest.matrix.dot(solution.columns, solution.coef)
    twice = 2.0 if settings.name == "squared" else 1.0
    return twice * float(LOSSES[settings.name].per_row(rest.target, score).mean())
