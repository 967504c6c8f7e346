"""Random problems and the objective of fastsparsegams by its definition, for tests of the compatibility modules."""

import numpy as np
import scipy.sparse as sp

LOSSES = ("SquaredError", "Logistic", "Exponential", "SquaredHinge")
CURVATURE = {"SquaredError": 1.0, "Logistic": 0.25, "SquaredHinge": 2.0}


def make(loss, n=80, p=12, seed=0, *, sparse=False, shift=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    if loss == "Exponential":
        X = (X > 0.3).astype(float)
    elif sparse:
        X *= np.abs(X) > 0.7
    else:
        X += shift * rng.normal(size=p)
    score = (X - X.mean(axis=0))[:, :3] @ [2.0, -1.5, 1.0]
    noisy = score + rng.normal(size=n)
    y = 5 * noisy + 3 if loss == "SquaredError" else np.where(noisy > 0, 1.0, -1.0)
    return (sp.csc_matrix(X) if sparse else X), y


def norms(X, *, intercept=True):
    if sp.issparse(X):
        return np.sqrt(np.asarray(X.multiply(X).sum(axis=0)).ravel())
    return np.linalg.norm(X - X.mean(axis=0) if intercept else X, axis=0)


def target_norm(loss, y, *, intercept=True):
    return np.linalg.norm(y - y.mean() if intercept else y) if loss == "SquaredError" else 1.0


def loss_sum(loss, y, f):
    margin = y * f
    return {
        "SquaredError": lambda: 0.5 * np.sum((y - f) ** 2),
        "Logistic": lambda: np.logaddexp(0, -margin).sum(),
        "Exponential": lambda: np.exp(-margin).sum(),
        "SquaredHinge": lambda: (np.maximum(1 - margin, 0) ** 2).sum(),
    }[loss]()


def objective(X, y, loss, theta, lambda_0, *, l1=0.0, l2=0.0, intercept=True, free=0):
    """Return the loss plus penalties of theta = (intercept, coefficients), for columns and targets of norm one."""
    scale = target_norm(loss, y, intercept=intercept)
    v = theta[1:] * norms(X, intercept=intercept) / scale
    fitted = loss_sum(loss, y, X @ theta[1:] + theta[0]) / scale**2
    return fitted + lambda_0 * np.count_nonzero(v[free:]) + l1 * np.abs(v).sum() + l2 * np.square(v).sum()
