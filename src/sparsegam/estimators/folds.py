"""The rows that sizes and ridges are scored on: shuffled folds, again and again where rows are few."""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold, check_cv

from sparsegam.checks import check_integer
from sparsegam.data.frames import Table

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]

DEFAULT_FOLDS = 5


def splitter_of(cv: Any, y: Any, *, n_repeats: int, random_state: Any, classifier: bool) -> Any:
    """Return a scikit-learn splitter: a number of folds is shuffled, since rows often come in an order of their own.

    Parameters
    ----------
    cv : int, splitter or iterable, optional
        The folds; None is five.
    y : ndarray
        The labels or responses.
    n_repeats : int
        How often to shuffle and split; a splitter of the user's own knows that for itself.
    random_state : int, RandomState or None
        The seed of the shuffles.
    classifier : bool
        Whether folds shall hold the same share of each class.
    """
    check_integer("n_repeats", n_repeats, at_least=1)
    if cv is not None and not isinstance(cv, Integral):
        if n_repeats > 1:
            msg = f"n_repeats={n_repeats} is for a number of folds, and cv is {cv!r}: let the splitter repeat itself."
            raise ValueError(msg)
        return check_cv(cv, y, classifier=classifier)
    n_splits = DEFAULT_FOLDS if cv is None else cv
    check_integer("cv", n_splits, at_least=2)
    kind = RepeatedStratifiedKFold if classifier else RepeatedKFold
    return kind(n_splits=int(n_splits), n_repeats=int(n_repeats), random_state=random_state)


def split(splitter: Any, X: Any, labels: NDArray[Any], groups: Any) -> list[Fold]:
    """Return the folds; of a table that came in pieces, a splitter sees the labels only."""
    return list(splitter.split(labels if isinstance(X, Table) else X, labels, groups))
