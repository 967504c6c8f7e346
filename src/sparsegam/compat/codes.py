"""Columns of zeros and ones as bin codes: those that are thresholds of one feature become that feature again.

A matrix made of `x <= t` for every threshold t of some features has thousands of columns, of which each holds wherever
the one before it does. As one feature of bin codes they cost one histogram in the place of one each.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._data.matrix import NumericMatrix

LARGE = 2**30  # bytes that the codes of a sparse matrix may take: one for every number, zeros too
MOST_BINS = 2**16 - 1


@dataclass(frozen=True, eq=False)
class CodedColumns:
    """Features of bin codes that have the columns of a matrix.

    Attributes
    ----------
    codes : list of ndarray
        The bins of the rows, an array for each feature.
    n_bins, n_ordered : ndarray
        Numbers of bins, and of those that are in order: all of a chain of thresholds, none of a single column.
    column : ndarray
        The column of the core that is each column of the matrix.
    feature : ndarray
        The feature of each column of the core.
    """

    codes: list[NDArray[np.uint8] | NDArray[np.uint16]]
    n_bins: NDArray[np.int64]
    n_ordered: NDArray[np.int64]
    column: NDArray[np.int64]

    @property
    def feature(self) -> NDArray[np.int64]:
        """The feature of each column of the core."""
        return np.repeat(np.arange(len(self.codes)), self.n_bins)

    def design(self) -> _core.ThresholdDesign:
        """Hand the codes to the core."""
        return _core.ThresholdDesign(self.codes, self.n_bins, self.n_ordered)


def is_zero_one(matrix: NumericMatrix) -> bool:
    """Tell whether all numbers are 0 or 1."""
    values = matrix.values.data if matrix.is_sparse else matrix.values
    return bool(((values == 0) | (values == 1)).all())


def is_large(matrix: NumericMatrix) -> bool:
    """Tell whether a sparse matrix had better stay one."""
    return matrix.is_sparse and matrix.n_rows * matrix.n_columns > LARGE


def code_columns(matrix: NumericMatrix) -> CodedColumns:
    """Turn columns of zeros and ones into codes."""
    dense = matrix.values.toarray() if matrix.is_sparse else matrix.values
    columns = np.ascontiguousarray(dense.T, dtype=np.uint8)
    codes: list[NDArray[np.uint8] | NDArray[np.uint16]] = []
    n_ordered, where = [], np.empty(len(columns), dtype=np.int64)
    start = 0
    for chain in _chains(columns):
        if chain.size == 1:  # a feature of two levels, of which the second is the column
            codes.append(columns[chain[0]])
            n_ordered.append(0)
            where[chain] = start + 1
            start += 2
        else:  # bin b is the one where the first b columns of the chain do not hold
            narrow = np.uint8 if chain.size < 2**8 else np.uint16
            codes.append((chain.size - columns[chain].sum(axis=0, dtype=np.int64)).astype(narrow))
            n_ordered.append(chain.size + 1)
            where[chain] = start + np.arange(chain.size)
            start += chain.size + 1
    ordered = np.array(n_ordered, dtype=np.int64)
    return CodedColumns(codes, np.maximum(ordered, 2), ordered, where)


def _chains(columns: NDArray[np.uint8]) -> Iterator[NDArray[np.int64]]:
    """Give the columns in chains side by side, in the order in which each holds wherever the one before it does."""
    first, p = 0, len(columns)
    while first < p:
        last, rises = first + 1, True
        if last < p:
            rises = bool((columns[first] <= columns[last]).all())
            falls = not rises and bool((columns[first] >= columns[last]).all())
            while last < p and (rises or falls) and last - first < MOST_BINS:
                low, high = (last - 1, last) if rises else (last, last - 1)
                if not (columns[low] <= columns[high]).all():
                    break
                last += 1
        chain = np.arange(first, last)
        yield chain if rises else chain[::-1]
        first = last
