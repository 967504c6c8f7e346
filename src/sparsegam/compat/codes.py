"""Represent 0/1 columns as bin codes, recognising columns that are thresholds of one feature.

A matrix with a column `x <= t` for every threshold t of some features has thousands of nested columns. As one feature
with bin codes, a chain of nested columns needs one histogram instead of one per column.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._data.matrix import NumericMatrix

LARGE = 2**30  # maximum size in bytes of the codes of a sparse matrix, which take one byte per value, including zeros
MOST_BINS = 2**16 - 1


@dataclass(frozen=True, eq=False)
class CodedColumns:
    """Features with bin codes that are equivalent to the columns of a matrix.

    Attributes
    ----------
    codes : list of ndarray
        The bin of each row, by feature.
    n_bins, n_ordered : ndarray
        Number of bins and of ordered bins: all bins of a chain of thresholds, none of a single column.
    column : ndarray
        The core column of each column of the matrix.
    feature : ndarray
        The feature of each core column.
    """

    codes: list[NDArray[np.uint8] | NDArray[np.uint16]]
    n_bins: NDArray[np.int64]
    n_ordered: NDArray[np.int64]
    column: NDArray[np.int64]

    @property
    def feature(self) -> NDArray[np.int64]:
        """The feature of each core column."""
        return np.repeat(np.arange(len(self.codes)), self.n_bins)

    def design(self) -> _core.ThresholdDesign:
        """Return the design in the format of the compiled core."""
        return _core.ThresholdDesign(self.codes, self.n_bins, self.n_ordered)


def is_zero_one(matrix: NumericMatrix) -> bool:
    """Return whether all values are 0 or 1."""
    values = matrix.values.data if matrix.is_sparse else matrix.values
    return bool(((values == 0) | (values == 1)).all())


def is_large(matrix: NumericMatrix) -> bool:
    """Return whether a sparse matrix is too large to be stored as codes."""
    return matrix.is_sparse and matrix.n_rows * matrix.n_columns > LARGE


def encode_columns(matrix: NumericMatrix) -> CodedColumns:
    """Return the codes of 0/1 columns."""
    dense = matrix.values.toarray() if matrix.is_sparse else matrix.values
    columns = np.ascontiguousarray(dense.T, dtype=np.uint8)
    codes: list[NDArray[np.uint8] | NDArray[np.uint16]] = []
    n_ordered, where = [], np.empty(len(columns), dtype=np.int64)
    start = 0
    for chain in _chains(columns):
        if chain.size == 1:  # Each column becomes a feature with two levels; the second level is the column.
            codes.append(columns[chain[0]])
            n_ordered.append(0)
            where[chain] = start + 1
            start += 2
        else:  # In bin b, the first b columns of the chain are 0.
            narrow = np.uint8 if chain.size < 2**8 else np.uint16
            codes.append((chain.size - columns[chain].sum(axis=0, dtype=np.int64)).astype(narrow))
            n_ordered.append(chain.size + 1)
            where[chain] = start + np.arange(chain.size)
            start += chain.size + 1
    ordered = np.array(n_ordered, dtype=np.int64)
    return CodedColumns(codes, np.maximum(ordered, 2), ordered, where)


def _chains(columns: NDArray[np.uint8]) -> Iterator[NDArray[np.int64]]:
    """Yield chains of adjacent nested columns, ordered such that each column is 1 wherever the previous one is."""
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
