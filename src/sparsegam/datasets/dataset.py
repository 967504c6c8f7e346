"""What every data set of this package is: a table, a target, the names of the columns, and the truth where known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.frames import table_to_frame
from sparsegam._data.table import Table, read_table


class Term(NamedTuple):
    """One step of an additive model: adds `coef` where `feature <= threshold`."""

    feature: str
    threshold: float
    coef: float


@dataclass(frozen=True)
class AdditiveTruth:
    """The step-function model that drew the labels.

    Attributes
    ----------
    intercept : float
        Log-odds where no term applies.
    terms : tuple of Term
        Steps whose coefficients add up, with the intercept, to the log-odds of class 1.
    probability : ndarray of shape (n,)
        True probability of class 1 for each row.
    """

    intercept: float
    terms: tuple[Term, ...]
    probability: NDArray[np.float64]


@dataclass(frozen=True)
class LinearTruth:
    """The sparse linear model that drew the target.

    Attributes
    ----------
    support : ndarray of shape (k,)
        Columns whose coefficient is not zero, ascending.
    coef : ndarray of shape (p,)
        Coefficients of all columns; there is no intercept.
    linear : ndarray of shape (n,)
        `X @ coef`: the true log-odds (classification) or mean (regression) of each row.
    noise : float
        Standard deviation of what was added to `linear`; 0 for classification.
    """

    support: NDArray[np.int64]
    coef: NDArray[np.float64]
    linear: NDArray[np.float64]
    noise: float


TruthT = TypeVar("TruthT", AdditiveTruth, LinearTruth, None)


@dataclass(frozen=True, repr=False)
class Dataset(Generic[TruthT]):
    """A table with its target.

    Attributes
    ----------
    data : ndarray of shape (n, p), or Table
        The features; a table where they are not all numbers.
    target : ndarray of shape (n,)
        Labels (0 or 1 where they are simulated) for classification, real numbers for regression.
    feature_names : list of str
        Names of the columns of `data`.
    truth : AdditiveTruth, LinearTruth or None
        The model that drew `target`, where the data are simulated.
    """

    data: NDArray[Any] | Table
    target: NDArray[Any]
    feature_names: list[str]
    truth: TruthT

    @property
    def frame(self) -> Any:
        """The features as a data frame of pandas, polars or Arrow, whichever is installed, else as a table of our own.

        All that takes rows takes each of these.
        """
        return table_to_frame(read_table(self.data).with_names(tuple(self.feature_names)))

    def __repr__(self) -> str:
        n, p = self.data.shape
        return f"Dataset(n={n}, p={p}, truth={type(self.truth).__name__})"
