"""The losses of fastsparsegams as functions of targets and predictions, optionally with the penalties of a model."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sparsegam.arrays import FloatArray
from sparsegam.checks import shown

SMALLEST = 1e-15  # lower bound of probabilities before logarithms and odds are computed


def regularization_loss(coeffs: Any, l0: Any = 0, l1: Any = 0, l2: Any = 0) -> Any:
    """Return l0 |v|_0 + l1 |v|_1 + l2 |v|_2^2 for each column v of coefficients.

    Parameters
    ----------
    coeffs : sparse matrix or ndarray of shape (p, k)
        Coefficients of k models.
    l0, l1, l2 : float or sequence of float
        The penalties, for all models or one per model.

    Returns
    -------
    float or ndarray of shape (k,)
        The penalty of each model; a float for a single model.
    """
    b = sp.csc_matrix(coeffs)
    each = [np.asarray(penalty, dtype=np.float64) for penalty in (l0, l1, l2)]
    if max(penalty.ndim for penalty in each) > 1:
        msg = f"l0, l1 and l2 must be numbers or lists of numbers, got {max(p.ndim for p in each)} dimensions."
        raise ValueError(msg)
    n = b.shape[1]
    wrong = [penalty.size for penalty in each if penalty.ndim == 1 and penalty.size != n]
    if wrong:
        msg = f"l0, l1 and l2 must contain one number for each of the {n} models, got {wrong[0]}."
        raise ValueError(msg)
    size = b.astype(bool).astype(np.float64).sum(axis=0)
    absolute = np.asarray(abs(b).sum(axis=0)).ravel()
    squares = np.asarray(b.multiply(b).sum(axis=0)).ravel()
    total = each[0] * np.asarray(size).ravel() + each[1] * absolute + each[2] * squares
    return float(total[0]) if n == 1 else total


def squared_error(y_true: Any, y_pred: Any, coeffs: Any = None, l0: Any = 0, l1: Any = 0, l2: Any = 0) -> Any:
    """Return half the sum of squared residuals for each column of predictions."""
    y, predicted = _aligned(np.asarray(y_true, dtype=np.float64), y_pred)
    return 0.5 * np.square(y - predicted).sum(axis=0) + _penalty(coeffs, l0, l1, l2)


def logistic_loss(
    y_true: Any, y_pred: Any, coeffs: Any = None, l0: Any = 0, l1: Any = 0, l2: Any = 0, eps: float = SMALLEST
) -> Any:
    """Return the sum of -log P(y) for each column of probabilities; y has two distinct values."""
    y, p = _aligned(signs(y_true), y_pred)
    right = np.clip(np.where(y > 0, p, 1 - p), eps, 1 - eps)
    return -np.log(right).sum(axis=0) + _penalty(coeffs, l0, l1, l2)


def exponential_loss(
    y_true: Any, y_pred: Any, coeffs: Any = None, l0: Any = 0, l1: Any = 0, l2: Any = 0, eps: float = SMALLEST
) -> Any:
    """Return the sum of exp(-y f) for each column of P = 1 / (1 + exp(-2 f)); y has two distinct values."""
    y, p = _aligned(signs(y_true), y_pred)
    right = np.clip(np.where(y > 0, p, 1 - p), eps, 1 - eps)
    return np.sqrt(1 / right - 1).sum(axis=0) + _penalty(coeffs, l0, l1, l2)


def squared_hinge_loss(y_true: Any, y_pred: Any, coeffs: Any = None, l0: Any = 0, l1: Any = 0, l2: Any = 0) -> Any:
    """Return the sum of max(1 - y f, 0)^2 for each column of scores; y has two distinct values."""
    y, score = _aligned(signs(y_true), y_pred)
    return np.square(np.maximum(1 - y * score, 0)).sum(axis=0) + _penalty(coeffs, l0, l1, l2)


LOSS_OF = {
    "SquaredError": squared_error,
    "Logistic": logistic_loss,
    "Exponential": exponential_loss,
    "SquaredHinge": squared_hinge_loss,
}


def signs(y: Any, classes: NDArray[Any] | None = None) -> FloatArray:
    """Return labels as -1 and 1; the smaller of two values is the negative class."""
    labels = np.asarray(y)
    found = np.unique(labels)
    if classes is not None and np.isin(found, classes).all():
        return np.where(labels == classes[1], 1.0, -1.0)
    if labels.dtype.kind in "biuf" and (np.isin(found, (0, 1)).all() or np.isin(found, (-1, 1)).all()):
        return np.where(labels > 0, 1.0, -1.0)
    if found.size != 2:
        msg = f"y must contain two distinct values, got {shown(found.tolist())}."
        raise ValueError(msg)
    return np.where(labels == found[1], 1.0, -1.0)


def _aligned(y: FloatArray, predicted: Any) -> tuple[FloatArray, FloatArray]:
    values = np.asarray(predicted, dtype=np.float64)
    return (y[:, None] if values.ndim > 1 else y), values


def _penalty(coeffs: Any, l0: Any, l1: Any, l2: Any) -> Any:
    return 0.0 if coeffs is None else regularization_loss(coeffs, l0, l1, l2)
