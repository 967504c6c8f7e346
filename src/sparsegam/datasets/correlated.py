"""Simulated data with normal features of correlation rho^|i-j| and k equally spaced coefficients of one.

The design is from Liu, Zhong, Seltzer and Rudin (AISTATS 2022), appendix C.2, after Dedieu, Hazimeh and Mazumder
(2021).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from sparsegam.datasets.dataset import Dataset, LinearTruth


def make_correlated_classification(
    n: int = 800, p: int = 1000, k: int = 25, *, rho: float = 0.9, seed: int | None = 0
) -> Dataset[LinearTruth]:
    """Simulate a binary target from a sparse logistic model of highly correlated features.

    `P(y = 1) = 1 / (1 + exp(-x'w))` with `w = 1` at k equally spaced columns and 0 elsewhere.

    Parameters
    ----------
    n : int, default=800
        Number of rows. A larger n adds rows to those of a smaller one: the 160 test rows of the paper are the last
        ones of `n=960`.
    p : int, default=1000
        Number of features.
    k : int, default=25
        Number of features with a nonzero coefficient.
    rho : float, default=0.9
        Correlation of neighbouring features. Features i and j have correlation `rho ** abs(i - j)`.
    seed : int or None, default=0
        Seed of the random number generator; None uses a random seed.

    Returns
    -------
    Dataset
        `target` contains 0 and 1; `truth` is a LinearTruth.
    """
    _check(n, p, k, rho)
    features, labels = _two_generators(seed)
    X = _autoregressive_rows(n, p, rho, features)
    support, coef = _equally_spaced(p, k)
    linear = X[:, support].sum(axis=1)
    target = (labels.random(n) < expit(linear)).astype(np.int64)
    return Dataset(X, target, [f"x{j}" for j in range(p)], LinearTruth(support, coef, linear, noise=0.0))


def make_correlated_regression(
    n: int = 2000, p: int = 2000, k: int = 100, *, rho: float = 0.9, snr: float = 5.0, seed: int | None = 0
) -> Dataset[LinearTruth]:
    """Simulate a numeric target from a sparse linear model of highly correlated features.

    `y = x'w + e` with `w = 1` at k equally spaced columns and 0 elsewhere, and `Var(x'w) / Var(e) = snr`.

    Parameters
    ----------
    n : int, default=2000
        Number of rows. A larger n adds rows to those of a smaller one.
    p : int, default=2000
        Number of features.
    k : int, default=100
        Number of features with a nonzero coefficient.
    rho : float, default=0.9
        Correlation of neighbouring features. Features i and j have correlation `rho ** abs(i - j)`.
    snr : float, default=5.0
        Signal-to-noise ratio `w' Sigma w / sigma^2`, with the true covariance Sigma.
    seed : int or None, default=0
        Seed of the random number generator; None uses a random seed.

    Returns
    -------
    Dataset
        `target` contains numbers; `truth` is a LinearTruth, whose `noise` is sigma.
    """
    _check(n, p, k, rho)
    if not snr > 0:
        msg = f"`snr` must be positive, got {snr}."
        raise ValueError(msg)
    features, noise = _two_generators(seed)
    X = _autoregressive_rows(n, p, rho, features)
    support, coef = _equally_spaced(p, k)
    linear = X[:, support].sum(axis=1)
    covariance = float(rho) ** np.abs(support[:, None] - support[None, :])
    sigma = float(np.sqrt(covariance.sum() / snr))
    target = linear + sigma * noise.standard_normal(n)
    return Dataset(X, target, [f"x{j}" for j in range(p)], LinearTruth(support, coef, linear, noise=sigma))


def _autoregressive_rows(n: int, p: int, rho: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw rows with covariance rho^|i-j| by x_j = rho x_{j-1} + sqrt(1 - rho^2) e_j.

    This takes O(n p) operations, a Cholesky decomposition O(n p^2).
    """
    X = rng.standard_normal((n, p))
    innovation = np.sqrt(1.0 - rho * rho)
    for j in range(1, p):
        X[:, j] *= innovation
        X[:, j] += rho * X[:, j - 1]
    return X


def _equally_spaced(p: int, k: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the positions 0, p/k, 2p/k, ... (rounded down) and coefficients that are 1 there and 0 elsewhere."""
    support = np.arange(k, dtype=np.int64) * p // k
    coef = np.zeros(p)
    coef[support] = 1.0
    return support, coef


def _two_generators(seed: int | None) -> tuple[np.random.Generator, np.random.Generator]:
    """Return separate generators for features and target, so that a larger n does not change the first rows."""
    first, second = np.random.SeedSequence(seed).spawn(2)
    return np.random.default_rng(first), np.random.default_rng(second)


def _check(n: int, p: int, k: int, rho: float) -> None:
    if n < 1:
        msg = f"`n` must be at least 1, got {n}."
        raise ValueError(msg)
    if not 1 <= k <= p:
        msg = f"`k` must lie between 1 and `p`={p}, got {k}."
        raise ValueError(msg)
    if not -1.0 < rho < 1.0:
        msg = f"`rho` must lie strictly between -1 and 1, got {rho}."
        raise ValueError(msg)
