"""The interface between building a problem and the place where the training data are kept.

A `Backend` bins a training table and keeps the result, an `EncodedTable`, wherever it computes: in the memory of this
process, on a CUDA device, or on the workers of a Dask cluster. The search and the models
need only sums over the training rows, which the operations below compute:

| operation                         | used for                                                                   |
|-----------------------------------|----------------------------------------------------------------------------|
| `Backend.encode`                  | learning bins and ramps, encoding the table, row oracle of the search      |
| `Backend.matrix_rows`             | row oracle of a linear model                                               |
| `EncodedTable.with_interactions`  | adding 0/1 columns for interactions                                        |
| `EncodedTable.count_events`       | `min_events_bin`, term statistics                                          |
| `EncodedTable.sum_cells`          | training distribution of the interactions in a model                       |
| `EncodedTable.score_histogram`    | training distribution of the scores of a model                             |
| `EncodedTable.raw_value_rows`     | refitting coefficients of ramps on raw values instead of bin centres       |
| `EncodedTable.score`              | scores of test data under many candidate models at once (cross-validation) |

The row oracles are `_core.Rows`; `_core.pyi` documents their methods. The design (`ThresholdDesign`) is a plain
description of the columns. It holds counts per column, but neither codes nor rows, can be pickled, and does not depend
on the backend.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._data.columns import RowIndex
from sparsegam._data.matrix import NumericMatrix
from sparsegam._data.table import Table
from sparsegam._design.binning import Binning
from sparsegam._design.histogram import Histogram
from sparsegam._design.interactions import Interaction
from sparsegam._design.scaling import Units
from sparsegam._design.threshold import ThresholdDesign
from sparsegam.arrays import FloatArray

Features = TypeVar("Features", Table, NumericMatrix)
Data = TypeVar("Data", bound="NamedData", contravariant=True)


class NamedData(Protocol):
    """Training data of any backend."""

    @property
    def names(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, eq=False)
class LabelledData(Generic[Features]):
    """Features, target and weights of training rows that are in the memory of this process or on a device.

    Attributes
    ----------
    features : Table or NumericMatrix
        The feature columns.
    target : ndarray of shape (n_rows,)
        Labels -1 and 1 for a classification loss, else the response.
    weight : ndarray of shape (n_rows,)
        Sample weights, at least zero.
    """

    features: Features
    target: FloatArray
    weight: FloatArray

    @property
    def n_rows(self) -> int:
        """Number of rows, including those of weight zero."""
        return self.features.n_rows

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the feature columns."""
        return tuple(self.features.label(j) for j in range(self.features.n_columns))

    def take(self, rows: RowIndex) -> "LabelledData[Features]":
        """Return the data with these rows only."""
        return LabelledData(self.features.take(rows), self.target[rows], self.weight[rows])


@dataclass(frozen=True, eq=False)
class Cells:
    """A grouping of the bins of one feature.

    Attributes
    ----------
    feature : int
        Position of the feature.
    cell_of_bin : ndarray of int of shape (n_bins,)
        The cell of each bin.
    n_cells : int
        Number of cells, some of which may have no bin.
    """

    feature: int
    cell_of_bin: NDArray[np.intp]
    n_cells: int


class EncodedTable(Protocol):
    """Training rows as bin codes, with target and weights, kept where a backend computes.

    Rows of weight zero are left out when the table is encoded, so they are in no count. "Columns" are those of
    `design`: for each feature one per bin, then one per ramp; after all features two per interaction.

    Attributes
    ----------
    design : ThresholdDesign
        The columns, with their counts (`counts`) and, for weighted rows, their weight (`weights`).
    rows : _core.Rows
        The row oracle of the search, in scaled units (`units`).
    units : Units
        Scale between the user's target, weights and coefficients and those in `rows`.
    total_weight : float
        Sum of the weights, in the user's unit.
    n_events : int or None
        Number of rows of the positive class; None for a regression.
    """

    @property
    def design(self) -> ThresholdDesign: ...

    @property
    def rows(self) -> Any: ...

    @property
    def units(self) -> Units: ...

    @property
    def total_weight(self) -> float: ...

    @property
    def n_events(self) -> int | None: ...

    def with_interactions(self, interactions: Sequence[Interaction]) -> "EncodedTable":
        """Return the table with two columns per interaction after those of the features.

        Called on a table without interactions; this table stays valid. The new design is
        `self.design.with_interactions(interactions, counts, weights)`, which sorts the interactions and drops
        duplicates: encode `design.interactions` in that order. Bin 1 of an interaction holds the rows in which both of
        its conditions hold (`Interaction.codes`), bin 0 all others.
        """

    def count_events(self, columns: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of positive-class rows for which each of these columns is 1, or below the knot of a ramp.

        Only called if `n_events` is not None.
        """

    def sum_cells(self, first: Cells, second: Cells, *, weighted: bool) -> FloatArray:
        """Sum rows, or their weights, over the cells of two features.

        Returns an array of shape (first.n_cells, second.n_cells): counts of rows or, if `weighted`, sums of weights up
        to one common factor. Without weights (all rows weigh the same) both are counts.
        """

    def score_histogram(self, point: _core.Point) -> Histogram:
        """Count the scores of the training rows in `N_BUCKETS` buckets from the lowest to the highest score.

        `point` is in the user's units. Ramps over bins of several values are evaluated at the raw values.
        """

    def raw_value_rows(self, columns: NDArray[np.int64]) -> Any:
        """Return a row oracle over these columns only, with ramps evaluated at raw values instead of bin centres.

        It needs `loss`, `columns`, `evaluate` and `newton`, numbers its columns from zero, and is in the same units as
        `rows`. Only called if `design.is_exact(columns)` is False.
        """

    def score(self, data: Table, points: Sequence[_core.Point]) -> FloatArray | None:
        """Return the scores of other rows, shape (n_points, n_rows), for points in the user's units.

        None if a row has a value that no bin with training rows contains (a new level, or a special or missing value
        that the training data lack); models decide how such values are scored.
        """


class Backend(Protocol[Data]):
    """Where the training data of a fit are kept, and where sums over them are computed.

    `Data` is `LabelledData` for the local and the CUDA backend, and a table on a cluster for Dask.
    """

    def encode(
        self, data: Data, binning: Binning, shapes: Sequence[str], loss: str, *, interactions: bool
    ) -> EncodedTable:
        """Learn bins and ramps, and encode the training rows of positive weight.

        Parameters
        ----------
        data : Data
            The training data.
        binning : Binning
            Options of the bins.
        shapes : sequence of {"steps", "ramps", "both"}
            Shapes that each feature may have; ramps are learned for numeric features of at least three values.
        loss : str
            The loss.
        interactions : bool
            Whether `with_interactions` will be called. A backend raises ValueError if it does not support it, and
            counts the memory it takes.

        Raises
        ------
        MemoryError
            If the codes, and what a search needs per row, do not fit; the message states the size and the remedy.
        """

    def matrix_rows(self, data: LabelledData[NumericMatrix], loss: str) -> Any:
        """Return the row oracle of a matrix: `_core.Rows` whose columns are those of the matrix.

        Target and weights are already in scaled units. Raises ValueError for a kind of matrix that is not supported
        (sparse matrices on a device, any matrix on a cluster), and MemoryError if it does not fit.
        """
