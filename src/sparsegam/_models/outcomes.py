"""What happened to rows, in the words of a model: which are of its second class, or what it should have predicted."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.target import numeric_target, rest_label, target_vector
from sparsegam._models.scoring import Scores
from sparsegam.arrays import FloatArray


def positives(model: Scores, y: Any) -> NDArray[np.bool_]:
    """Tell which labels are those of the second class; refuse labels that are neither.

    Parameters
    ----------
    model : Model
        A classification model.
    y : array-like of shape (n_rows,)
        Labels.

    Returns
    -------
    ndarray of bool
        True for the second class.
    """
    if model.classes is None:
        msg = "this needs a classification model, and the model is a regression."
        raise ValueError(msg)
    first, second = (label.item() if hasattr(label, "item") else label for label in model.classes)
    labels = np.asarray(y)
    if first == rest_label(second):  # of more than two labels, whose others need not be called by that name
        return np.asarray(labels.astype(str) == second, dtype=np.bool_)
    upper = np.asarray(labels == second, dtype=np.bool_)
    strange = labels[~upper & np.asarray(labels != first)]
    if strange.size:
        found = strange.tolist()[0]
        msg = f"y holds {found!r}, but the classes of the model are {first!r} and {second!r}: map y to these."
        raise ValueError(msg)
    return upper


def events(model: Scores, y: Any, n_rows: int) -> NDArray[np.bool_]:
    """Tell which of n rows are of the second class."""
    return positives(model, target_vector(y, n_rows))


def target_of(model: Scores, y: Any, n_rows: int) -> FloatArray:
    """Return what happened as the core takes it: -1 and 1 for the classes of a model, or the responses."""
    if model.classes is None:
        return numeric_target(target_vector(y, n_rows))
    return np.where(events(model, y, n_rows), 1.0, -1.0)
