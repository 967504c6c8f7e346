"""L0Learn's functions with the names and defaults of R: `from sparsegam.compat import l0learn`.

`L0Learn.fit(x, y)` is `l0learn.fit(x, y)`, `coef(fit, supportSize = 5)` is `l0learn.coef(fit, supportSize=5)`, and
`fit$beta` is `fit.beta`. `lambda` is called `lambda_`, because it is a keyword in Python.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from sparsegam.arrays import FloatArray
from sparsegam.checks import optional
from sparsegam.compat.fastsparsegams.models import CVFitModel, FitModel, fit_model
from sparsegam.compat.folds import check_folds, cross_validate
from sparsegam.compat.generators import gen_synthetic, gen_synthetic_high_corr
from sparsegam.compat.path import Grid, search_grid
from sparsegam.compat.problem import Data, read_data
from sparsegam.compat.settings import Settings

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["CVFit", "Fit", "GenSynthetic", "GenSyntheticHighCorr", "coef", "cvfit", "fit", "plot", "predict", "print"]

DIGITS = 6  # number of digits of lambda in R


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """All models of a grid, by gamma, as in R.

    Attributes
    ----------
    beta : list of csc_matrix of shape (p, n_lambda)
        Coefficients.
    lambda_ : list of list of float
        The values of lambda, rounded to six digits.
    a0 : list of list of float
        Intercepts.
    converged : list of list of bool
        Whether the search converged.
    suppSize : list of list of int
        Support sizes.
    gamma : list of float
        The values of gamma, the largest first.
    objectives : list of list of float
        The objectives, on the scale of lambda.
    penalty, loss : str
        The penalty and the loss.
    settings : dict
        `intercept`.
    varnames : tuple of str
        Names of the columns.
    n, p : int
        Numbers of rows and columns.
    """

    model: FitModel = field(repr=False)
    varnames: tuple[str, ...]
    n: int
    p: int

    beta = property(lambda self: self.model.coeffs)
    a0 = property(lambda self: self.model.intercepts)
    converged = property(lambda self: self.model.converged)
    suppSize = property(lambda self: self.model.support_size)  # noqa: N815
    gamma = property(lambda self: self.model.gamma)
    objectives = property(lambda self: self.model.objectives)
    lambda_ = property(lambda self: self.model.lambda_0)
    penalty = property(lambda self: self.model.settings["penalty"])
    loss = property(lambda self: self.model.settings["loss"])
    settings = property(lambda self: {"intercept": self.model.settings["intercept"]})

    def __repr__(self) -> str:
        return print(self).to_string()


@dataclass(frozen=True, eq=False, repr=False)
class CVFit:
    """The models of all rows and their cross-validated losses.

    Attributes
    ----------
    fit : Fit
        The models.
    cvMeans, cvSDs : list of ndarray of shape (n_lambda, 1)
        Mean and standard deviation over folds of the mean test loss, for each gamma.
    """

    fit: Fit
    cvMeans: list[FloatArray]  # noqa: N815
    cvSDs: list[FloatArray]  # noqa: N815

    def __repr__(self) -> str:
        return repr(self.fit)


def fit(
    x: Any,
    y: Any,
    loss: str = "SquaredError",
    penalty: str = "L0",
    algorithm: str = "CD",
    maxSuppSize: int = 100,
    nLambda: int = 100,
    nGamma: int = 10,
    gammaMax: float = 10,
    gammaMin: float = 0.0001,
    partialSort: bool = True,
    maxIters: int = 200,
    rtol: float = 1e-6,
    atol: float = 1e-9,
    activeSet: bool = True,
    activeSetNum: int = 3,
    maxSwaps: int = 100,
    scaleDownFactor: float = 0.8,
    screenSize: int = 1000,
    autoLambda: bool | None = None,
    lambdaGrid: Sequence[Sequence[float]] = (),
    excludeFirstK: int = 0,
    intercept: bool = True,
    lows: Any = -np.inf,
    highs: Any = np.inf,
) -> Fit:
    """Fit models for a grid of lambda and gamma, like `L0Learn.fit`.

    Parameters
    ----------
    x : array-like, sparse matrix or data frame of shape (n, p)
        Finite numbers.
    y : array-like of shape (n,)
        Numbers, or two distinct values for classification.
    loss : {"SquaredError", "Logistic", "SquaredHinge", "Exponential"}
        The loss. "Exponential" is available in FastSparse, but not in L0Learn.
    penalty, algorithm, rtol, atol, intercept, lows, highs
        As for `sparsegam.compat.fastsparsegams.fit`.
    maxSuppSize : int
        Maximum support size; a last model that exceeds it is dropped.
    nLambda, nGamma : int
        Maximum number of values of lambda, and number of values of gamma.
    gammaMax, gammaMin, partialSort, maxIters, activeSet, activeSetNum, maxSwaps, scaleDownFactor, screenSize
        As the corresponding parameters there (`gamma_max` and so on).
    autoLambda : bool, optional
        Whether the values of lambda are computed from the data; by default, True unless `lambdaGrid` is given.
    lambdaGrid : list of list of float
        Values of lambda for each gamma, in non-increasing order.
    excludeFirstK : int
        Number of leading columns that are included in every model and not penalised by lambda.

    Returns
    -------
    Fit
        The models.

    Examples
    --------
    >>> from sparsegam.compat import l0learn
    >>> data = l0learn.GenSynthetic(n=100, p=20, k=3, seed=1, snr=10)
    >>> found = l0learn.fit(data["X"], data["y"], maxSuppSize=4)
    >>> found.suppSize
    [[0, 3, 3, 3, 4]]
    >>> l0learn.coef(found, supportSize=3).shape
    (21, 3)
    """
    settings = _settings(
        Settings(
            loss=loss,
            penalty=penalty,
            algorithm=algorithm,
            max_support_size=maxSuppSize,
            num_lambda=nLambda,
            # The penalty L0 has no gamma, whatever the value of nGamma.
            num_gamma=1 if penalty == "L0" else nGamma,
            gamma_max=gammaMax,
            gamma_min=gammaMin,
            partial_sort=partialSort,
            max_iter=maxIters,
            rtol=rtol,
            atol=atol,
            active_set=activeSet,
            active_set_num=activeSetNum,
            max_swaps=maxSwaps,
            scale_down_factor=scaleDownFactor,
            screen_size=screenSize,
            exclude_first_k=excludeFirstK,
            intercept=intercept,
            lows=lows,
            highs=highs,
            strict=False,
        ),
        lambdaGrid,
        autoLambda=autoLambda,
    )
    data = read_data(x, y, settings)
    return _fit(data, fit_model(_trimmed(search_grid(data, settings), settings), settings, data.classes))


def cvfit(
    x: Any,
    y: Any,
    loss: str = "SquaredError",
    penalty: str = "L0",
    algorithm: str = "CD",
    maxSuppSize: int = 100,
    nLambda: int = 100,
    nGamma: int = 10,
    gammaMax: float = 10,
    gammaMin: float = 0.0001,
    partialSort: bool = True,
    maxIters: int = 200,
    rtol: float = 1e-6,
    atol: float = 1e-9,
    activeSet: bool = True,
    activeSetNum: int = 3,
    maxSwaps: int = 100,
    scaleDownFactor: float = 0.8,
    screenSize: int = 1000,
    autoLambda: bool | None = None,
    lambdaGrid: Sequence[Sequence[float]] = (),
    nFolds: int = 10,
    seed: int = 1,
    excludeFirstK: int = 0,
    intercept: bool = True,
    lows: Any = -np.inf,
    highs: Any = np.inf,
) -> CVFit:
    """Fit the models of a grid and cross-validate them, like `L0Learn.cvfit`.

    Parameters
    ----------
    x, y, loss, penalty, algorithm, maxSuppSize, nLambda, nGamma, gammaMax, gammaMin, partialSort, maxIters, rtol, atol
        As for `fit`.
    activeSet, activeSetNum, maxSwaps, scaleDownFactor, screenSize, autoLambda, lambdaGrid
        As for `fit`.
    nFolds : int
        Number of folds.
    seed : int
        Seed for shuffling the rows.
    excludeFirstK, intercept, lows, highs
        As for `fit`.

    Returns
    -------
    CVFit
        `fit`, `cvMeans` and `cvSDs`.
    """
    settings = _settings(
        Settings(
            loss=loss,
            penalty=penalty,
            algorithm=algorithm,
            max_support_size=maxSuppSize,
            num_lambda=nLambda,
            # The penalty L0 has no gamma, whatever the value of nGamma.
            num_gamma=1 if penalty == "L0" else nGamma,
            gamma_max=gammaMax,
            gamma_min=gammaMin,
            partial_sort=partialSort,
            max_iter=maxIters,
            rtol=rtol,
            atol=atol,
            active_set=activeSet,
            active_set_num=activeSetNum,
            max_swaps=maxSwaps,
            scale_down_factor=scaleDownFactor,
            screen_size=screenSize,
            exclude_first_k=excludeFirstK,
            intercept=intercept,
            lows=lows,
            highs=highs,
            strict=False,
        ),
        lambdaGrid,
        autoLambda=autoLambda,
    )
    data = read_data(x, y, settings)
    check_folds(nFolds, seed, data.target.size)
    grid = _trimmed(search_grid(data, settings), settings)
    errors = cross_validate(data, settings, grid, nFolds, seed)
    return CVFit(_fit(data, fit_model(grid, settings, data.classes, errors)), errors.means, errors.sds)


def coef(
    object: "Fit | CVFit",
    lambda_: float | None = None,
    gamma: float | None = None,
    supportSize: int | None = None,
) -> sp.csc_matrix:
    """Return coefficients with one column per model; the intercept, if there is one, is row 0.

    Parameters
    ----------
    object : Fit or CVFit
        The models.
    lambda_, gamma : float, optional
        Values that select the nearest grid points. If only `lambda_` or `supportSize` is given, the first (largest)
        gamma is used.
    supportSize : int, optional
        Selects all models of the nearest support size, instead of `lambda_`.

    Returns
    -------
    csc_matrix
        The coefficients.
    """
    model = _plain(object).model
    include = bool(model.settings["intercept"])
    if supportSize is None:
        return model.coeff(lambda_, gamma, include_intercept=include)
    if lambda_ is not None:
        msg = f"lambda_ and supportSize are mutually exclusive, got {lambda_!r} and {supportSize!r}: pass one of them."
        raise ValueError(msg)
    i = 0 if gamma is None else int(np.argmin(np.abs(np.asarray(model.gamma) - gamma)))
    distance = np.abs(np.asarray(model.support_size[i]) - supportSize)
    found = model.coeff(gamma=model.gamma[i], include_intercept=include)
    return sp.csc_matrix(found[:, np.flatnonzero(distance == distance.min())])


def predict(object: "Fit | CVFit", newx: Any, lambda_: float | None = None, gamma: float | None = None) -> FloatArray:
    """Return one column of predictions per model: probabilities of the larger class (logistic loss) or scores."""
    return _plain(object).model.predict(newx, lambda_, gamma)


def print(x: "Fit | CVFit") -> "pd.DataFrame":
    """Return one row per model: `lambda`, `gamma` and `suppSize`."""
    found, pandas = _plain(x), optional("pandas", "print", extra="compat")
    rows = [
        (value, gamma, size)
        for gamma, values, sizes in zip(found.gamma, found.lambda_, found.suppSize, strict=True)
        for value, size in zip(values, sizes, strict=True)
    ]
    table: pd.DataFrame = pandas.DataFrame(rows, columns=["lambda", "gamma", "suppSize"])
    return table


def plot(x: "Fit | CVFit", gamma: float = 0, showLines: bool = False, **kwargs: Any) -> "Axes":
    """Plot coefficients, or for a CVFit the cross-validated loss, by support size."""
    model = _plain(x).model
    if isinstance(x, CVFit) and isinstance(model, CVFitModel):
        return model.cv_plot(gamma, **kwargs)
    return model.plot(gamma, showLines, **kwargs)


def GenSynthetic(  # noqa: N802
    n: int, p: int, k: int, seed: int | None = None, rho: float = 0, b0: float = 0, snr: float = 1
) -> dict[str, Any]:
    """Simulate independent normal columns: see `fastsparsegams.models.gen_synthetic`."""
    return gen_synthetic(n, p, k, seed, rho, b0, snr)


def GenSyntheticHighCorr(  # noqa: N802
    n: int,
    p: int,
    k: int,
    seed: int | None = None,
    rho: float = 0,
    b0: float = 0,
    snr: float = 1,
    mu: Any = 0,
    base_cor: float = 0.9,
) -> dict[str, Any]:
    """Simulate correlated normal columns: see `fastsparsegams.models.gen_synthetic_high_corr`."""
    return gen_synthetic_high_corr(n, p, k, seed, rho, b0, snr, mu, base_cor)


def _settings(settings: Settings, lambdaGrid: Sequence[Sequence[float]], *, autoLambda: bool | None) -> Settings:
    """Return the settings with a grid of lambda, if there is one."""
    if not len(lambdaGrid):
        if autoLambda is False:
            msg = "autoLambda=False needs the values of lambda in lambdaGrid, got none."
            raise ValueError(msg)
        return settings
    return replace(settings, lambda_grid=list(lambdaGrid), num_lambda=None, num_gamma=None)


def _trimmed(grid: Grid, settings: Settings) -> Grid:
    """Drop the last model of a path if it has too many columns, and round lambda as R does."""
    paths = []
    for path in grid.paths:
        over = len(path) > 1 and path[-1].columns.size > settings.max_support_size
        kept = path[:-1] if over else path
        paths.append([replace(solution, lambda_0=float(f"{solution.lambda_0:.{DIGITS}g}")) for solution in kept])
    return replace(grid, paths=paths)


def _fit(data: Data, model: FitModel) -> Fit:
    matrix = data.matrix
    names = tuple(matrix.label(j) for j in range(matrix.n_columns))
    return Fit(model, names, matrix.n_rows, matrix.n_columns)


def _plain(x: "Fit | CVFit") -> Fit:
    return x.fit if isinstance(x, CVFit) else x
