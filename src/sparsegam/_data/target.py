"""Labels, responses and row weights: checked once, and put into the form that the core takes."""

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import fill_masked, is_missing
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_choice
from sparsegam.losses import LOSSES

LARGEST_RESPONSE = 1e140  # leaves room for a sum of squares over any number of rows


@dataclass(frozen=True, eq=False)
class Target:
    """What is to be predicted, as the core takes it.

    Attributes
    ----------
    classes : ndarray or None
        The two labels, the one whose probability is modelled last; None for a regression.
    values : ndarray
        -1 for the first class and 1 for the second, or the responses.
    weight : ndarray
        Weights of the rows, those of the classes multiplied in.
    """

    classes: NDArray[Any] | None
    values: FloatArray
    weight: FloatArray


def read_target(
    y: Any, loss: str, n_rows: int, *, sample_weight: Any = None, class_weight: Any = None, positive: Any = None
) -> Target:
    """Read labels or responses, whichever the loss is of, and the weights of the rows."""
    check_choice("loss", loss, tuple(LOSSES))
    column, weight = target_vector(y, n_rows), read_weights(sample_weight, n_rows)
    if not LOSSES[loss].is_classifier:
        if class_weight is not None:
            msg = f"class_weight is for labels, and loss={loss!r} has none, got {class_weight!r}: use sample_weight."
            raise ValueError(msg)
        if positive is not None:
            msg = f"positive names a label, and loss={loss!r} has none, got {positive!r}: use another loss."
            raise ValueError(msg)
        return Target(None, numeric_target(column), weight)
    classes, signs = encode_binary(column, weight) if positive is None else encode_one_vs_rest(column, weight, positive)
    return Target(classes, signs, apply_class_weights(class_weight, classes, (signs > 0).astype(np.intp), weight))


def target_vector(y: Any, n_rows: int) -> NDArray[Any]:
    """Return y as a vector of n_rows finite values."""
    from sklearn.utils import assert_all_finite  # here and below, as it takes a second to import

    values = as_vector(y, warn_of_columns=True)
    if values.size != n_rows:
        msg = f"X and y must have the same number of rows, got {n_rows} and {values.size}."
        raise ValueError(msg)
    if values.dtype.kind == "f":
        assert_all_finite(values, input_name="y")
    check_labels(values)
    return values


def as_vector(y: Any, *, warn_of_columns: bool = False) -> NDArray[Any]:
    """Return y as scikit-learn takes it: a vector, which arrays of numbers are as they come, or a single column."""
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iufb" and y.flags.c_contiguous:
        return y
    from sklearn.utils import column_or_1d

    values: NDArray[Any] = column_or_1d(fill_masked(y), warn=warn_of_columns)
    return values


def check_labels(y: NDArray[Any]) -> None:
    """Raise where labels are missing, or of types without an order among them, on which a sort would fail."""
    if y.dtype != object:
        return
    missing = [i for i, label in enumerate(y.tolist()) if is_missing(label)]
    if missing:
        msg = (
            f"y contains NaN or None in {len(missing)} of {y.size} rows (the first is row {missing[0]}): drop these "
            "rows, or give them a label."
        )
        raise ValueError(msg)
    infinite = [i for i, label in enumerate(y.tolist()) if isinstance(label, float) and math.isinf(label)]
    if infinite:
        msg = f"y contains infinity (the first in row {infinite[0]}): drop these rows, or give them another label."
        raise ValueError(msg)
    kinds = sorted({"text" if isinstance(label, str) else "numbers" for label in y.tolist()})
    if len(kinds) > 1:
        first = {isinstance(label, str): repr(label) for label in reversed(y.tolist())}
        msg = f"y mixes numbers and text ({first[False]} and {first[True]}): make all labels text, with astype(str)."
        raise ValueError(msg)


def numeric_target(y: NDArray[Any]) -> FloatArray:
    """Return the responses of a regression as float64."""
    from sklearn.utils import assert_all_finite

    values = np.ascontiguousarray(y, dtype=np.float64)
    assert_all_finite(values, input_name="y")
    check_squares(values, "y")
    return values


def check_squares(values: FloatArray, name: str) -> None:
    """Raise where the sum of squares of responses, or of their deviations, would be no float."""
    low, high = float(values.min()), float(values.max())
    largest, spread = max(-low, high), high - low
    if largest > LARGEST_RESPONSE:
        held = low if largest == -low else high
        msg = (
            f"{name} holds {held:g}, and squares of such numbers are no floats: divide by {largest:.0e} before the fit."
        )
        raise ValueError(msg)
    if 0 < spread < 1 / LARGEST_RESPONSE:
        factor = min(1 / spread, sys.float_info.max)
        msg = f"{name} varies by {spread:g}, and squares of that are no floats: multiply with {factor:.0e} first."
        raise ValueError(msg)


def encode_binary(y: NDArray[Any], weight: FloatArray) -> tuple[NDArray[Any], FloatArray]:
    """Return the two classes in order, and the labels as -1 (the first) and +1 (the second).

    Rows without weight do not count. Two comparisons do the work of a sort, which is slow for text.
    """
    seen = y if weight.all() else y[weight > 0]
    others = seen[seen != seen[0]]
    if others.size == 0:
        msg = f"y holds one class only ({seen[0]!r}): a classifier needs two classes to tell apart."
        raise ValueError(msg)
    if np.any(others != others[0]):
        _refuse_multiclass(seen)
    classes = np.unique(np.array([seen[0], others[0]], dtype=y.dtype))
    return classes, np.where(y == classes[1], 1.0, -1.0)


def encode_one_vs_rest(y: NDArray[Any], weight: FloatArray, positive: Any) -> tuple[NDArray[Any], FloatArray]:
    """Return the classes with the one that is wanted last, and the labels as -1 and, where they are this one, +1.

    Where there are more than two, the others become "not" this one, and both classes text.
    """
    upper = np.broadcast_to(np.asarray(y == positive, dtype=np.bool_), y.shape)
    seen = weight > 0
    if not (upper & seen).any():
        found = np.unique(y[seen]).tolist()
        shown = ", ".join(map(repr, found[:8])) + (", ..." if len(found) > 8 else "")
        msg = f"positive={positive!r} is no label of y, which holds {shown}: name one of these."
        raise ValueError(msg)
    others = y[~upper & seen]
    if others.size == 0:
        msg = f"y holds one class only ({positive!r}): a classifier needs two classes to tell apart."
        raise ValueError(msg)
    label = y[upper][0]
    many = bool(np.any(others != others[0]))
    classes = np.array([rest_label(label), str(label)]) if many else np.array([others[0], label], dtype=y.dtype)
    return classes, np.where(upper, 1.0, -1.0)


def rest_label(label: Any) -> str:
    """Return the name of all labels but one."""
    return f"not {label}"


def read_weights(sample_weight: Any, n_rows: int) -> FloatArray:
    """Return one weight per row, not negative and not all zero; ones where none are given."""
    if sample_weight is None:
        return np.ones(n_rows)
    from sklearn.utils import assert_all_finite

    given = np.asarray(fill_masked(sample_weight), dtype=np.float64)
    if given.shape != (n_rows,):
        msg = f"sample_weight must hold one number per row, got shape {given.shape} for {n_rows} rows."
        raise ValueError(msg)
    weight: FloatArray = np.ascontiguousarray(given)  # would make one row of a single number
    assert_all_finite(weight, input_name="sample_weight")
    if weight.min() < 0 or weight.max() == 0:
        msg = f"sample_weight must not be negative nor all zero, got values from {weight.min()} to {weight.max()}."
        raise ValueError(msg)
    if weight.max() > sys.float_info.max / weight.size:
        msg = f"sample_weight sums to infinity (its largest is {weight.max():g}): divide it by its largest."
        raise ValueError(msg)
    return weight


def apply_class_weights(
    class_weight: Any, classes: NDArray[Any], position: NDArray[np.intp], weight: FloatArray
) -> FloatArray:
    """Multiply row weights by those of the classes: a mapping, or "balanced" for equal totals.

    `position` says which of the classes each row is of.
    """
    if class_weight is None:
        return weight
    if isinstance(class_weight, str) and class_weight == "balanced":
        total = np.array([weight[position == k].sum() for k in range(len(classes))])
        factors = total.sum() / (len(classes) * total)
    elif isinstance(class_weight, Mapping):
        factors = _mapped_weights(class_weight, classes)
    else:
        msg = f"class_weight must be None, 'balanced' or a dict from class to weight, got {class_weight!r}."
        raise ValueError(msg)
    out: FloatArray = weight * factors[position]
    return out


def _mapped_weights(class_weight: Mapping[Any, float], classes: NDArray[Any]) -> FloatArray:
    known = classes.tolist()
    unknown = [label for label in class_weight if label not in known]
    if unknown:
        msg = f"class_weight names {unknown}, but the classes of y are {known}."
        raise ValueError(msg)
    factors = np.array([class_weight.get(label, 1.0) for label in known], dtype=np.float64)
    if not (np.isfinite(factors).all() and factors.min() > 0):
        msg = f"class_weight must hold positive numbers, got {dict(class_weight)!r}."
        raise ValueError(msg)
    return factors


def _refuse_multiclass(y: NDArray[Any]) -> None:
    from sklearn.utils.multiclass import check_classification_targets

    check_classification_targets(y)
    found = np.unique(y)
    msg = (
        "Only binary classification is supported. The type of the target is multiclass: "
        f"y holds {found.size} classes ({', '.join(map(repr, found[:5].tolist()))}, ...). "
        "Take one class against the rest (positive=class), or a classifier, which does that for each."
    )
    raise ValueError(msg)
