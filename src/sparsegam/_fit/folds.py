"""The rows that sizes and ridges are scored on: shuffled folds, again and again where rows are few."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold, check_cv

from sparsegam._data.table import Table
from sparsegam._search.ridge import AUTO
from sparsegam.checks import check_integer, shown
from sparsegam.choices import Repeats

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]

DEFAULT_FOLDS = 5
# "auto", set by benchmarks/choosing.py: a table is split anew until as many rows were scored, since which rows fall
# into which fold decides the choice where they are few. Larger tables, whose searches take long, are split once.
ROWS_SCORED = 10_000
MOST_REPEATS = 4


def splitter_of(cv: Any, y: Any, *, n_repeats: Repeats, random_state: Any, classifier: bool) -> Any:
    """Return a scikit-learn splitter: a number of folds is shuffled, since rows often come in an order of their own.

    Parameters
    ----------
    cv : int, splitter or iterable, optional
        The folds; None is five.
    y : ndarray
        The labels or responses.
    n_repeats : int or "auto"
        How often to shuffle and split, or until enough rows were scored; a splitter of the user's own knows that for
        itself.
    random_state : int, RandomState or None
        The seed of the shuffles.
    classifier : bool
        Whether folds shall hold the same share of each class.
    """
    repeats = _repeats(n_repeats, len(y))
    if cv is not None and not isinstance(cv, Integral):
        if n_repeats != AUTO and repeats > 1:
            msg = f"n_repeats={n_repeats} is for a number of folds, and cv is {cv!r}: let the splitter repeat itself."
            raise ValueError(msg)
        return check_cv(cv, y, classifier=classifier)
    n_splits = DEFAULT_FOLDS if cv is None else cv
    check_integer("cv", n_splits, at_least=2)
    kind = RepeatedStratifiedKFold if classifier else RepeatedKFold
    return kind(n_splits=int(n_splits), n_repeats=repeats, random_state=random_state)


def _repeats(n_repeats: Repeats, n_rows: int) -> int:
    """Return how often to split so many rows."""
    if isinstance(n_repeats, str):
        if n_repeats != AUTO:
            msg = f"n_repeats must be an integer >= 1 or 'auto', got {shown(n_repeats)}."
            raise ValueError(msg)
        return min(max(ROWS_SCORED // max(n_rows, 1), 1), MOST_REPEATS)
    check_integer("n_repeats", n_repeats, at_least=1)
    return int(n_repeats)


def split(splitter: Any, X: Any, labels: NDArray[Any], groups: Any) -> list[Fold]:
    """Return the folds; of a table that came in pieces, a splitter sees the labels only."""
    return list(splitter.split(labels if isinstance(X, Table) else X, labels, groups))


def n_apart(folds: Sequence[Fold]) -> float:
    """Return how many folds of the same size hold as many different rows: those of a repeat test the same rows again.

    A repeat steadies a mean of scores, but it says nothing new of the rows, and leaves the standard error as it is.
    """
    tested = np.concatenate([test for _, test in folds])
    return len(folds) * np.unique(tested).size / max(tested.size, 1)
