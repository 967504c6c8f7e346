"""Data from a sparse linear model with correlated columns, and the estimator class for a loss."""

import numpy as np

from sparsegam import SparseLinearClassifier, SparseLinearRegressor

LOSSES = ("logistic", "squared")


def make_rows(n=120, p=8, seed=0, loss="logistic", rho=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rho / (1 - rho) * rng.normal(size=(n, 1))
    coef = np.zeros(p)
    coef[: min(3, p)] = [1.5, -1.0, 0.8][:p]
    score = X @ coef + 0.3
    y = (
        score + rng.normal(size=n)
        if loss == "squared"
        else np.where(rng.random(n) < 1 / (1 + np.exp(-score)), 1.0, -1.0)
    )
    return X, y


def estimator(loss, **options):
    return SparseLinearRegressor(**options) if loss == "squared" else SparseLinearClassifier(loss=loss, **options)
