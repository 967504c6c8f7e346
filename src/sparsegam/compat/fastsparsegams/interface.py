"""`fit` and `cvfit` with the arguments, order and defaults of fastsparsegams 0.2.0."""

from collections.abc import Sequence
from typing import Any, cast

from sparsegam.compat.fastsparsegams.models import CVFitModel, FitModel, fit_model
from sparsegam.compat.folds import check_folds, cross_validate
from sparsegam.compat.path import search_grid
from sparsegam.compat.problem import read_data
from sparsegam.compat.settings import (
    CLASSIFICATION_LOSS,
    SUPPORTED_ALGORITHM,
    SUPPORTED_LOSS,
    SUPPORTED_PENALTY,
    Settings,
)

__all__ = [
    "CLASSIFICATION_LOSS",
    "SUPPORTED_ALGORITHM",
    "SUPPORTED_LOSS",
    "SUPPORTED_PENALTY",
    "cvfit",
    "fit",
]


def fit(
    X: Any,
    y: Any,
    loss: str = "SquaredError",
    penalty: str = "L0",
    algorithm: str = "CD",
    max_support_size: int = 100,
    num_lambda: int | None = 100,
    num_gamma: int | None = 1,
    gamma_max: float = 10.0,
    gamma_min: float = 0.0001,
    partial_sort: bool = True,
    max_iter: int = 200,
    rtol: float = 1e-6,
    atol: float = 1e-9,
    active_set: bool = True,
    active_set_num: int = 3,
    max_swaps: int = 100,
    scale_down_factor: float = 0.8,
    screen_size: int = 1000,
    lambda_grid: Sequence[Sequence[float]] | None = None,
    exclude_first_k: int = 0,
    intercept: bool = True,
    lows: Any = -float("inf"),
    highs: Any = +float("inf"),
) -> FitModel:
    """Fit models for a grid of lambda_0 and gamma.

    For each grid point the search minimises, over intercept and coefficients v of standardised columns,

        sum_i loss(y_i, f_i) + lambda_0 |v|_0 + gamma |v|_1 (L0L1) or + gamma |v|_2^2 (L0L2).

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n, p)
        Finite numbers; zeros and ones for the exponential loss.
    y : array-like of shape (n,)
        Numbers for "SquaredError", otherwise two distinct values; the smaller is the negative class.
    loss : {"SquaredError", "Logistic", "Exponential", "SquaredHinge"}
        The loss. "SquaredError" is half the squared residual, with y centred and divided by its norm.
    penalty : {"L0", "L0L1", "L0L2"}
        The penalty. Classification with "L0" adds a small L2 penalty, except for "Exponential", which supports "L0"
        only.
    algorithm : {"CD", "CDPSI", "exchange"}
        The kind of optimality: with respect to coordinate descent, to coordinate descent and swaps of single columns,
        or to the moves of the search of this package, from which the other algorithms start.
    max_support_size : int
        The path of a gamma ends with the first model that has at least this number of columns.
    num_lambda : int or None
        Maximum number of values of lambda_0; None if `lambda_grid` is given.
    num_gamma : int or None
        Number of values of gamma; None if `lambda_grid` is given.
    gamma_max, gamma_min : float
        Range of gamma. For "L0L1" with several values, gamma_max is computed from the data and gamma_min is relative to
        it.
    partial_sort, max_iter, rtol, atol, active_set, active_set_num, screen_size
        Accepted without effect: every model is refitted to its optimum, and no column is screened out.
    max_swaps : int
        Maximum number of swaps for one lambda_0.
    scale_down_factor : float
        Factor on lambda_0 after a model that is equal to the previous one.
    lambda_grid : list of list of float, optional
        Decreasing values of lambda_0 for each gamma.
    exclude_first_k : int
        Number of leading columns that are included in every model and not penalised by lambda_0.
    intercept : bool
        Whether there is an intercept.
    lows, highs : float or array-like of shape (p,)
        Bounds of the coefficients: lows <= 0 <= highs.

    Returns
    -------
    FitModel
        The models.

    Examples
    --------
    >>> from sparsegam.compat import fastsparsegams
    >>> data = fastsparsegams.models.gen_synthetic(n=100, p=20, k=3, seed=1, snr=10)
    >>> model = fastsparsegams.fit(data["X"], data["y"], max_support_size=5)
    >>> model.support_size
    [[0, 3, 3, 3, 4, 6]]
    >>> model.coeff(lambda_0=0.01).shape
    (21, 1)
    """
    settings = Settings(
        loss=loss,
        penalty=penalty,
        algorithm=algorithm,
        max_support_size=max_support_size,
        num_lambda=num_lambda,
        num_gamma=num_gamma,
        gamma_max=gamma_max,
        gamma_min=gamma_min,
        partial_sort=partial_sort,
        max_iter=max_iter,
        rtol=rtol,
        atol=atol,
        active_set=active_set,
        active_set_num=active_set_num,
        max_swaps=max_swaps,
        scale_down_factor=scale_down_factor,
        screen_size=screen_size,
        lambda_grid=lambda_grid,
        exclude_first_k=exclude_first_k,
        intercept=intercept,
        lows=lows,
        highs=highs,
    )
    data = read_data(X, y, settings)
    return fit_model(search_grid(data, settings), settings, data.classes)


def cvfit(
    X: Any,
    y: Any,
    loss: str = "SquaredError",
    penalty: str = "L0",
    algorithm: str = "CD",
    num_folds: int = 10,
    seed: int = 1,
    max_support_size: int = 100,
    num_lambda: int | None = 100,
    num_gamma: int | None = 1,
    gamma_max: float = 10.0,
    gamma_min: float = 0.0001,
    partial_sort: bool = True,
    max_iter: int = 200,
    rtol: float = 1e-6,
    atol: float = 1e-9,
    active_set: bool = True,
    active_set_num: int = 3,
    max_swaps: int = 100,
    scale_down_factor: float = 0.8,
    screen_size: int = 1000,
    lambda_grid: Sequence[Sequence[float]] | None = None,
    exclude_first_k: int = 0,
    intercept: bool = True,
    lows: Any = -float("inf"),
    highs: Any = +float("inf"),
) -> CVFitModel:
    """Fit the models of a grid and cross-validate them.

    Parameters
    ----------
    X, y, loss, penalty, algorithm
        As for `fit`.
    num_folds : int
        Number of folds, stratified by class.
    seed : int
        Seed for shuffling the rows.
    max_support_size, num_lambda, num_gamma, gamma_max, gamma_min, partial_sort, max_iter, rtol, atol, active_set
        As for `fit`.
    active_set_num, max_swaps, scale_down_factor, screen_size, lambda_grid, exclude_first_k, intercept, lows, highs
        As for `fit`.

    Returns
    -------
    CVFitModel
        The models of all rows, with `cv_means` and `cv_sds`.

    Examples
    --------
    >>> from sparsegam.compat import fastsparsegams
    >>> data = fastsparsegams.models.gen_synthetic(n=100, p=20, k=3, seed=1, snr=10)
    >>> model = fastsparsegams.cvfit(data["X"], data["y"], num_folds=5, max_support_size=5)
    >>> model.support_size[0][model.cv_means[0].argmin()]
    3
    """
    settings = Settings(
        loss=loss,
        penalty=penalty,
        algorithm=algorithm,
        max_support_size=max_support_size,
        num_lambda=num_lambda,
        num_gamma=num_gamma,
        gamma_max=gamma_max,
        gamma_min=gamma_min,
        partial_sort=partial_sort,
        max_iter=max_iter,
        rtol=rtol,
        atol=atol,
        active_set=active_set,
        active_set_num=active_set_num,
        max_swaps=max_swaps,
        scale_down_factor=scale_down_factor,
        screen_size=screen_size,
        lambda_grid=lambda_grid,
        exclude_first_k=exclude_first_k,
        intercept=intercept,
        lows=lows,
        highs=highs,
    )
    data = read_data(X, y, settings)
    check_folds(num_folds, seed, data.target.size)
    grid = search_grid(data, settings)
    errors = cross_validate(data, settings, grid, num_folds, seed)
    return cast("CVFitModel", fit_model(grid, settings, data.classes, errors))
