"""The class of data sets: features, target, column names and, for simulated data, the true model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.frames import table_to_frame
from sparsegam._data.table import Table, read_table


class TrueTerm(NamedTuple):
    """A step of an additive model: it adds `coef` if `feature <= threshold`."""

    feature: str
    threshold: float
    coef: float


@dataclass(frozen=True)
class AdditiveTruth:
    """The additive model from which the labels were drawn.

    Attributes
    ----------
    intercept : float
        Log-odds of a row to which no term applies.
    terms : tuple of TrueTerm
        Steps; the intercept and the coefficients that apply add up to the log-odds of class 1.
    probability : ndarray of shape (n,)
        True probability of class 1 of each row.
    """

    intercept: float
    terms: tuple[TrueTerm, ...]
    probability: NDArray[np.float64]


@dataclass(frozen=True)
class LinearTruth:
    """The sparse linear model from which the target was drawn.

    Attributes
    ----------
    support : ndarray of shape (k,)
        Sorted positions of the columns with a nonzero coefficient.
    coef : ndarray of shape (p,)
        Coefficients of all columns; there is no intercept.
    linear : ndarray of shape (n,)
        `X @ coef`: the true log-odds (classification) or mean (regression) of each row.
    noise : float
        Standard deviation of the noise added to `linear`; 0 for classification.
    """

    support: NDArray[np.int64]
    coef: NDArray[np.float64]
    linear: NDArray[np.float64]
    noise: float


TruthT = TypeVar("TruthT", AdditiveTruth, LinearTruth, None)


@dataclass(frozen=True, repr=False)
class Dataset(Generic[TruthT]):
    """Features with their target.

    Attributes
    ----------
    data : ndarray of shape (n, p), or Table
        Features; a Table if not all of them are numeric.
    target : ndarray of shape (n,)
        Labels for classification (0 or 1 in most simulated data), numbers for regression.
    feature_names : list of str
        Names of the columns of `data`.
    truth : AdditiveTruth, LinearTruth or None
        The model from which `target` was drawn, if the data are simulated.
    """

    data: NDArray[Any] | Table
    target: NDArray[Any]
    feature_names: list[str]
    truth: TruthT

    @property
    def frame(self) -> Any:
        """The features as a data frame of pandas, polars or pyarrow, or as a Table if none of them is installed.

        All functions of this package that accept a data frame also accept a Table.
        """
        return table_to_frame(read_table(self.data).with_names(tuple(self.feature_names)))

    def __repr__(self) -> str:
        n, p = self.data.shape
        return f"Dataset(n={n}, p={p}, truth={type(self.truth).__name__})"
