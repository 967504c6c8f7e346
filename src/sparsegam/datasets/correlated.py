"""The paper's simulated designs: normal features with correlation rho^|i-j|, k equally spaced coefficients of one.

Liu, Zhong, Seltzer, Rudin (AISTATS 2022), appendix C.2, after Dedieu, Hazimeh and Mazumder (2021).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from sparsegam.datasets.dataset import Dataset, LinearTruth


def make_correlated_classification(
    n: int = 800, p: int = 1000, k: int = 25, *, rho: float = 0.9, seed: int | None = 0
) -> Dataset[LinearTruth]:
    """Simulate a binary target from a sparse logistic model over highly correlated features.

    `P(y = 1) = 1 / (1 + exp(-x'w))` with `w = 1` at k equally spaced columns and 0 elsewhere.

    Parameters
    ----------
    n : int, default=800
        Number of rows. A larger n continues the rows of a smaller one: the paper's 160 test rows are the last ones
        of `n=960`.
    p, k : int, default=1000 and 25
        Number of columns, and of those with a coefficient.
    rho : float, default=0.9
        Correlation of neighbouring columns; columns i and j have `rho ** abs(i - j)`.
    seed : int or None, default=0
        Seed of the random numbers; None draws a new one.

    Returns
    -------
    Dataset
        `target` holds 0 and 1; `truth` is a LinearTruth.
    """
    _check(n, p, k, rho)
    features, labels = _two_streams(seed)
    X = _autoregressive_rows(n, p, rho, features)
    support, coef = _equally_spaced(p, k)
    linear = X[:, support].sum(axis=1)
    target = (labels.random(n) < expit(linear)).astype(np.int64)
    return Dataset(X, target, _names(p), LinearTruth(support, coef, linear, noise=0.0))


def make_correlated_regression(
    n: int = 2000, p: int = 2000, k: int = 100, *, rho: float = 0.9, snr: float = 5.0, seed: int | None = 0
) -> Dataset[LinearTruth]:
    """Simulate a real target from a sparse linear model over highly correlated features.

    `y = x'w + e` with `w = 1` at k equally spaced columns and 0 elsewhere, and `Var(x'w) / Var(e) = snr`.

    Parameters
    ----------
    n : int, default=2000
        Number of rows. A larger n continues the rows of a smaller one.
    p, k : int, default=2000 and 100
        Number of columns, and of those with a coefficient.
    rho : float, default=0.9
        Correlation of neighbouring columns; columns i and j have `rho ** abs(i - j)`.
    snr : float, default=5
        Signal-to-noise ratio `w' Sigma w / sigma^2`, with the true covariance Sigma.
    seed : int or None, default=0
        Seed of the random numbers; None draws a new one.

    Returns
    -------
    Dataset
        `target` holds real numbers; `truth` is a LinearTruth, with sigma as `noise`.
    """
    _check(n, p, k, rho)
    if not snr > 0:
        msg = f"`snr` must be positive, got {snr}"
        raise ValueError(msg)
    features, noise = _two_streams(seed)
    X = _autoregressive_rows(n, p, rho, features)
    support, coef = _equally_spaced(p, k)
    linear = X[:, support].sum(axis=1)
    covariance = float(rho) ** np.abs(support[:, None] - support[None, :])
    sigma = float(np.sqrt(covariance.sum() / snr))
    target = linear + sigma * noise.standard_normal(n)
    return Dataset(X, target, _names(p), LinearTruth(support, coef, linear, noise=sigma))


def _autoregressive_rows(n: int, p: int, rho: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Rows with covariance rho^|i-j|: x_j = rho x_{j-1} + sqrt(1 - rho^2) e_j, in O(n p) where Cholesky is O(n p^2)."""
    X = rng.standard_normal((n, p))
    own = np.sqrt(1.0 - rho * rho)
    for j in range(1, p):
        X[:, j] *= own
        X[:, j] += rho * X[:, j - 1]
    return X


def _equally_spaced(p: int, k: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Columns 0, p/k, 2p/k, ... (rounded down where k does not divide p) and the coefficients: one there, else zero."""
    support = np.arange(k, dtype=np.int64) * p // k
    coef = np.zeros(p)
    coef[support] = 1.0
    return support, coef


def _two_streams(seed: int | None) -> tuple[np.random.Generator, np.random.Generator]:
    """One stream for the features and one for the target, so that neither shifts the other when n grows."""
    first, second = np.random.SeedSequence(seed).spawn(2)
    return np.random.default_rng(first), np.random.default_rng(second)


def _names(p: int) -> list[str]:
    return [f"x{j}" for j in range(p)]


def _check(n: int, p: int, k: int, rho: float) -> None:
    if n < 1:
        msg = f"`n` must be at least 1, got {n}"
        raise ValueError(msg)
    if not 1 <= k <= p:
        msg = f"`k` must lie between 1 and `p`={p}, got {k}"
        raise ValueError(msg)
    if not -1.0 < rho < 1.0:
        msg = f"`rho` must lie strictly between -1 and 1, got {rho}"
        raise ValueError(msg)
