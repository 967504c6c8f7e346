"""`fit` and `cvfit` with the arguments, in the order and with the defaults of fastsparsegams 0.2.0."""

from collections.abc import Sequence
from typing import Any, cast

from sparsegam.compat.fastsparsegams.models import CVFitModel, FitModel, model_of
from sparsegam.compat.folds import check_folds, cross_validate
from sparsegam.compat.grid import search_grid
from sparsegam.compat.posed import read_data
from sparsegam.compat.settings import (
    CLASSIFICATION_LOSS,
    SUPPORTED_ALGORITHM,
    SUPPORTED_LOSS,
    SUPPORTED_PENALTY,
    Settings,
)
from sparsegam.parameters import pick

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
    """Find the models of a grid of lambda_0 and gamma.

    For each of them the search minimises, over intercept and coefficients v of standardised columns,

        sum_i loss(y_i, f_i) + lambda_0 |v|_0 + gamma |v|_1 (L0L1) or + gamma |v|_2^2 (L0L2).

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n, p)
        Finite numbers; zeros and ones for the exponential loss.
    y : array-like of shape (n,)
        Numbers for "SquaredError"; any two values else, of which the smaller is the first class.
    loss : {"SquaredError", "Logistic", "Exponential", "SquaredHinge"}
        The loss. That of numbers is half the squared residual, with y centred and divided by its norm.
    penalty : {"L0", "L0L1", "L0L2"}
        The penalty. Classes with "L0" have a small L2 beside it (none for "Exponential", which takes no other penalty).
    algorithm : {"CD", "CDPSI", "exchange"}
        What the models are optimal for: coordinate descent's thresholding steps, swaps of one column for another as
        well, or the moves of this package's own search, which both of the others start from.
    max_support_size : int
        The path of a gamma ends with the first model of so many columns, or more.
    num_lambda : int or None
        Largest number of values of lambda_0; None where `lambda_grid` is given.
    num_gamma : int or None
        Number of values of gamma; None where `lambda_grid` is given.
    gamma_max, gamma_min : float
        Ends of the values of gamma. For "L0L1" with more than one of them, gamma_max is set by the data, and gamma_min
        is a share of it.
    partial_sort, max_iter, rtol, atol, active_set, active_set_num, screen_size
        Accepted and without effect: every model is refitted to its optimum, and no column is left out.
    max_swaps : int
        Largest number of swaps at one lambda_0.
    scale_down_factor : float
        What lambda_0 is multiplied with after a model that is the same as the one before.
    lambda_grid : list of list of float, optional
        Values of lambda_0 for each gamma, from large to small.
    exclude_first_k : int
        The first columns, which are in every model and free of lambda_0.
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
    settings = pick(Settings, locals())
    data = read_data(X, y, settings)
    return model_of(search_grid(data, settings), settings, data.classes)


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
    """Find the models of a grid, and their losses on rows left out.

    Parameters
    ----------
    X, y, loss, penalty, algorithm
        As for `fit`.
    num_folds : int
        Number of folds; each has its share of both classes.
    seed : int
        What the rows are shuffled by.
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
    settings = pick(Settings, locals())
    data = read_data(X, y, settings)
    check_folds(num_folds, seed, data.target.size)
    grid = search_grid(data, settings)
    errors = cross_validate(data, settings, grid, num_folds, seed)
    return cast("CVFitModel", model_of(grid, settings, data.classes, errors))
