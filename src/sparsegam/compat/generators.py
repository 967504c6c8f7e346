"""Simulated data as in fastsparsegams and L0Learn.

A seed gives the same numbers as in these packages. The global random generator of NumPy is not used.
"""

from typing import Any

import numpy as np

from sparsegam.arrays import FloatArray
from sparsegam.losses import logistic


def gen_synthetic(
    n: int, p: int, k: int, seed: int | None = None, rho: float = 0, b0: float = 0, snr: float = 1
) -> dict[str, Any]:
    """Draw independent normal columns; y is the sum of the first k, plus noise.

    Parameters
    ----------
    n, p, k : int
        Number of rows, of columns, and of columns with a coefficient of 1.
    seed : int, optional
        Seed of the random generator.
    rho : float
        Values smaller than this in absolute value become zero.
    b0 : float
        The intercept.
    snr : float
        Signal-to-noise ratio: variance of the signal divided by that of the noise.

    Returns
    -------
    dict
        `X`, `y`, the coefficients `B`, the noise `e` and `b0`.
    """
    rng = np.random.RandomState(seed)
    X, B = _independent(rng, n, p, k)
    return _with_noise(rng, _cut(X, rho), B, b0, snr)


def cor_matrix(p: int, base_cor: float) -> FloatArray:
    """Return the matrix with entries base_cor^|i - j|."""
    if not 0 < base_cor < 1:
        msg = f"base_cor must be above 0 and below 1, got {base_cor!r}."
        raise ValueError(msg)
    every = np.arange(p)
    out: FloatArray = base_cor ** np.abs(every - every[:, None]).astype(np.float64)
    return out


def gen_synthetic_high_corr(
    n: int,
    p: int,
    k: int,
    seed: int | None = None,
    rho: float = 0,
    b0: float = 0,
    snr: float = 1,
    mu: Any = 0,
    base_cor: float = 0.8,
) -> dict[str, Any]:
    """Draw normal columns with correlations base_cor^|i - j|; y is the sum of k evenly spaced columns, plus noise.

    Parameters
    ----------
    n, p, k, seed, rho, b0, snr
        As for `gen_synthetic`.
    mu : float or ndarray of shape (p,)
        Means of the columns.
    base_cor : float
        Correlation of adjacent columns.

    Returns
    -------
    dict
        `X`, `y`, the coefficients `B`, the noise `e` and `b0`.
    """
    rng = np.random.RandomState(seed)
    X, B = _correlated(rng, n, p, k, mu, base_cor)
    return _with_noise(rng, _cut(X, rho), B, b0, snr)


def gen_synthetic_logistic(
    n: int,
    p: int,
    k: int,
    seed: int | None = None,
    rho: float = 0,
    b0: float = 0,
    s: float = 1,
    mu: Any = None,
    base_cor: float | None = None,
) -> dict[str, Any]:
    """Draw columns and labels 0 or 1 with P(y = 1) = 1 / (1 + exp(-s (X B + b0))).

    Parameters
    ----------
    n, p, k, seed, rho, b0
        As for `gen_synthetic`.
    s : float
        Larger values make the classes more separable.
    mu, base_cor : float, optional
        As for `gen_synthetic_high_corr`, which draws the columns if either is given.

    Returns
    -------
    dict
        `X`, `y`, the coefficients `B` and `b0`.
    """
    rng = np.random.RandomState(seed)
    if mu is None and base_cor is None:
        X, B = _independent(rng, n, p, k)
    else:
        X, B = _correlated(rng, n, p, k, 0 if mu is None else mu, 0.8 if base_cor is None else base_cor)
    data = _with_noise(rng, _cut(X, rho), B, b0, np.inf)
    data["y"] = rng.binomial(1, logistic(s * data["y"]), size=n)
    del data["e"]
    return data


def _independent(rng: np.random.RandomState, n: int, p: int, k: int) -> tuple[FloatArray, FloatArray]:
    B = np.zeros(p)
    B[:k] = 1
    return rng.normal(size=(n, p)), B


def _correlated(
    rng: np.random.RandomState, n: int, p: int, k: int, mu: Any, base_cor: float
) -> tuple[FloatArray, FloatArray]:
    B = np.zeros(p)
    B[np.round(np.linspace(0, p - 1, k)).astype(int)] = 1
    root = np.linalg.cholesky(cor_matrix(p, base_cor))
    return rng.normal(size=(n, p)) @ root.T + mu, B


def _cut(X: FloatArray, rho: float) -> FloatArray:
    X[np.abs(X) < rho] = 0.0
    return X


def _with_noise(rng: np.random.RandomState, X: FloatArray, B: FloatArray, b0: float, snr: float) -> dict[str, Any]:
    signal = X @ B
    e = rng.normal(size=len(X)) * np.sqrt(signal.var() / snr)
    return {"X": X, "y": signal + e + b0, "B": B, "e": e, "b0": b0}
