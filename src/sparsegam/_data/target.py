"""The target and the row weights: validated and converted to the form the core accepts."""

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import fill_masked, is_missing
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_choice, quoted, shown
from sparsegam.losses import LOSSES

MAX_TARGET = 1e140
"""Largest absolute value of a regression target: the sum of squares over any number of rows stays finite."""


@dataclass(frozen=True, eq=False)
class Target:
    """The target as the core accepts it.

    Attributes
    ----------
    classes : ndarray or None
        The negative and the positive class, or None for regression.
    values : ndarray
        -1 for the negative class and 1 for the positive class, or the values of a regression.
    weight : ndarray
        Row weights multiplied by class weights.
    """

    classes: NDArray[Any] | None
    values: FloatArray
    weight: FloatArray


def read_target(
    y: Any, loss: str, n_rows: int, *, sample_weight: Any = None, class_weight: Any = None, positive: Any = None
) -> Target:
    """Validate and convert labels (or numbers, depending on the loss) and row weights."""
    check_choice("loss", loss, tuple(LOSSES))
    column, weight = target_vector(y, n_rows), read_weights(sample_weight, n_rows)
    if not LOSSES[loss].is_classifier:
        if class_weight is not None:
            msg = f"class_weight requires a classification loss, got {shown(class_weight)} with {loss=}."
            raise ValueError(msg)
        if positive is not None:
            msg = f"positive requires a classification loss, got {shown(positive)} with {loss=}."
            raise ValueError(msg)
        return Target(None, numeric_target(column), weight)
    classes, signs = encode_binary(column, weight) if positive is None else encode_one_vs_rest(column, weight, positive)
    return Target(classes, signs, apply_class_weights(class_weight, classes, (signs > 0).astype(np.intp), weight))


def target_vector(y: Any, n_rows: int) -> NDArray[Any]:
    """Return y as a vector of n_rows finite values."""
    values = as_vector(y, warn_of_columns=True)
    if values.size != n_rows:
        msg = f"X and y must have the same number of rows, got {n_rows} and {values.size}."
        raise ValueError(msg)
    _check_finite(values, "y")
    check_labels(values)
    return values


def as_vector(y: Any, *, warn_of_columns: bool = False) -> NDArray[Any]:
    """Return y as a one-dimensional array. A single column is flattened, as in scikit-learn."""
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iufbOU" and y.flags.c_contiguous:
        return y
    from sklearn.utils import column_or_1d

    values: NDArray[Any] = column_or_1d(fill_masked(y), warn=warn_of_columns)
    return values


def check_labels(y: NDArray[Any]) -> None:
    """Raise ValueError if labels of dtype object are missing, infinite or not sortable."""
    if y.dtype != object:
        return
    labels = y.tolist()
    missing = [i for i, label in enumerate(labels) if is_missing(label)]
    if missing:
        msg = (
            f"y contains NaN or None in {len(missing)} of {y.size} rows (the first is row {missing[0]}): drop these "
            "rows, or give them a label."
        )
        raise ValueError(msg)
    infinite = [i for i, label in enumerate(labels) if isinstance(label, float) and math.isinf(label)]
    if infinite:
        msg = f"y contains infinity (the first in row {infinite[0]}): drop these rows, or give them another label."
        raise ValueError(msg)
    examples = {isinstance(label, str): label for label in reversed(labels)}
    if len(examples) > 1:
        msg = (
            f"y mixes numbers and text ({shown(examples[False])} and {shown(examples[True])}): convert all "
            "labels to text with astype(str)."
        )
        raise ValueError(msg)


def numeric_target(y: NDArray[Any]) -> FloatArray:
    """Return the target of a regression as float64. Raise ValueError for dates, times and durations."""
    is_time = y.dtype.kind in "mM" or (y.dtype == object and any(isinstance(one, date | timedelta) for one in y.flat))
    if is_time:
        msg = (
            f"y contains dates, times or durations (such as {y.flat[0]}), but a regression requires numbers: "
            "convert them, for example to days since a date."
        )
        raise ValueError(msg)
    values = np.ascontiguousarray(y, dtype=np.float64)
    _check_finite(values, "y")
    check_squares(values, "y")
    return values


def check_squares(values: FloatArray, name: str) -> None:
    """Raise ValueError if sums of squares of the values, or of their deviations, overflow or underflow."""
    low, high = float(values.min()), float(values.max())
    largest, width = max(-low, high), high - low
    if largest > MAX_TARGET:
        value = low if largest == -low else high
        msg = f"{name} contains {value:g}, whose square overflows float64: divide by {largest:.0e} before the fit."
        raise ValueError(msg)
    if 0 < width < 1 / MAX_TARGET:
        factor = min(1 / width, sys.float_info.max)
        msg = f"{name} varies by {width:g}, whose square underflows float64: multiply by {factor:.0e} before the fit."
        raise ValueError(msg)


def encode_binary(y: NDArray[Any], weight: FloatArray) -> tuple[NDArray[Any], FloatArray]:
    """Return the two classes in sorted order and the labels as -1 and 1. Rows without weight are ignored."""
    # Two comparisons are much faster than sorting, especially for text.
    labels = y if weight.all() else y[weight > 0]
    others = labels[labels != labels[0]]
    if others.size == 0:
        _raise_one_class(labels[0])
    if np.any(others != others[0]):
        _raise_multiclass(labels)
    classes = np.unique(np.array([labels[0], others[0]], dtype=y.dtype))
    return classes, np.where(y == classes[1], 1.0, -1.0)


def encode_one_vs_rest(y: NDArray[Any], weight: FloatArray, positive: Any) -> tuple[NDArray[Any], FloatArray]:
    """Return the classes with the positive one last, and the labels as -1 and 1.

    If there are more than two classes, the others are combined into the class "not <positive>" and both become text.
    """
    is_positive = np.broadcast_to(np.asarray(y == positive, dtype=np.bool_), y.shape)
    has_weight = weight > 0
    if not (is_positive & has_weight).any():
        msg = f"positive={shown(positive)} is not a label of y. Labels: {quoted(np.unique(y[has_weight]).tolist(), 8)}."
        raise ValueError(msg)
    others = y[~is_positive & has_weight]
    if others.size == 0:
        _raise_one_class(positive)
    label = y[is_positive][0]
    if np.any(others != others[0]):
        classes = np.array([rest_label(label), str(label)])
    else:
        classes = np.array([others[0], label], dtype=y.dtype)
    return classes, np.where(is_positive, 1.0, -1.0)


def rest_label(label: Any) -> str:
    """Return the name of the class that combines all labels but one."""
    return f"not {label}"


def read_weights(sample_weight: Any, n_rows: int) -> FloatArray:
    """Validate row weights, which must not be negative or all zero; None means ones."""
    if sample_weight is None:
        return np.ones(n_rows)
    given = np.asarray(fill_masked(sample_weight), dtype=np.float64)
    if given.shape != (n_rows,):
        msg = f"sample_weight must contain one number per row, got shape {given.shape} for {n_rows} rows."
        raise ValueError(msg)
    weight: FloatArray = np.ascontiguousarray(given)
    _check_finite(weight, "sample_weight")
    if weight.min() < 0 or weight.max() == 0:
        msg = f"sample_weight must be nonnegative and not all zero, got values from {weight.min()} to {weight.max()}."
        raise ValueError(msg)
    if weight.max() > sys.float_info.max / weight.size:
        msg = f"sample_weight sums to infinity (its maximum is {weight.max():g}): divide it by its maximum."
        raise ValueError(msg)
    return weight


def apply_class_weights(
    class_weight: Any, classes: NDArray[Any], position: NDArray[np.intp], weight: FloatArray
) -> FloatArray:
    """Multiply row weights by class weights.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        Weight of each class. "balanced" gives all classes the same total weight.
    classes : ndarray
        The classes.
    position : ndarray of int
        Position in `classes` of the class of each row.
    weight : ndarray
        Row weights.

    Returns
    -------
    ndarray
        New row weights.
    """
    if class_weight is None:
        return weight
    if isinstance(class_weight, str) and class_weight == "balanced":
        total = np.array([weight[position == k].sum() for k in range(len(classes))])
        factors = total.sum() / (len(classes) * total)
    elif isinstance(class_weight, Mapping):
        factors = _mapped_weights(class_weight, classes.tolist())
    else:
        msg = f"class_weight must be None, 'balanced' or a dict from class to weight, got {shown(class_weight)}."
        raise ValueError(msg)
    out: FloatArray = weight * factors[position]
    return out


def _check_finite(values: NDArray[Any], name: str) -> None:
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        # Imported only to raise the usual error, because the import takes a second.
        from sklearn.utils import assert_all_finite

        assert_all_finite(values, input_name=name)


def _mapped_weights(class_weight: Mapping[Any, float], classes: list[Any]) -> FloatArray:
    unknown = [label for label in class_weight if label not in classes]
    if unknown:
        msg = f"class_weight names [{quoted(unknown)}], but the classes of y are {classes}."
        raise ValueError(msg)
    factors = np.array([class_weight.get(label, 1.0) for label in classes], dtype=np.float64)
    if not (np.isfinite(factors).all() and factors.min() > 0):
        msg = f"class_weight must contain positive numbers, got {shown(class_weight)}."
        raise ValueError(msg)
    return factors


def _raise_one_class(label: Any) -> NoReturn:
    msg = f"y contains one class only ({shown(label)}): a classifier requires two classes."
    raise ValueError(msg)


def _raise_multiclass(y: NDArray[Any]) -> NoReturn:
    from sklearn.utils.multiclass import check_classification_targets

    check_classification_targets(y)
    found = np.unique(y).tolist()
    # The first two sentences are required by the checks of scikit-learn.
    msg = (
        "Only binary classification is supported. The type of the target is multiclass: "
        f"y contains {len(found)} classes ({quoted(found)}). "
        "Set positive to one class to compare it with the rest, or use a classifier, which fits one model per class."
    )
    raise ValueError(msg)
