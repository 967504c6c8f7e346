"""Raw numeric columns: arrays, scipy.sparse matrices and frames of numbers, in the form that the core takes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, check_array

from sparsegam import _core
from sparsegam._data.columns import RowIndex, fill_masked
from sparsegam._data.table import Table, numbers_of, read_table
from sparsegam.arrays import FloatArray

Dense = FloatArray | NDArray[np.float32]

ACCEPTED = [np.float64, np.float32]  # anything else becomes the first
ROW_INDEX = np.int32  # of a CSC matrix: half the memory of 64 bits, and no machine has 2^31 rows
COLUMN_START = np.int64  # a matrix may hold more than 2^31 numbers
BLOCK_BYTES = 2**24  # most that a look at all numbers may take beside them
NAMED_AT_MOST = 5  # columns that an error message names


@dataclass(frozen=True, eq=False)
class NumericMatrix:
    """A matrix of finite numbers, dense (contiguous, by rows or by columns) or sparse (CSC, canonical).

    Attributes
    ----------
    values : ndarray or scipy.sparse matrix
        The numbers; where the input had this form already, the input itself.
    names : tuple of str or None
        Column names, or None where columns go by position.
    """

    values: Any
    names: tuple[str, ...] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.values.shape[1])

    @property
    def source(self) -> Any:
        """The numbers, as what scikit-learn checks the number of columns of."""
        return self.values

    @property
    def is_sparse(self) -> bool:
        """Whether zeros are implicit."""
        return bool(sp.issparse(self.values))

    @property
    def n_bytes(self) -> int:
        """Memory that the numbers take, with their indices."""
        if not self.is_sparse:
            return int(self.values.nbytes)
        return int(self.values.data.nbytes + self.values.indices.nbytes + self.values.indptr.nbytes)

    def label(self, j: int) -> str:
        """Name of column j, x0, x1, ... where there are none."""
        return f"x{j}" if self.names is None else self.names[j]

    def with_names(self, names: tuple[str, ...] | None) -> "NumericMatrix":
        """Return the same matrix with other names for its columns."""
        return replace(self, names=names)

    def take(self, rows: RowIndex) -> "NumericMatrix":
        """Return the same matrix with these rows only: a mask, or positions in any order."""
        values = self.values[rows]
        return replace(self, values=values if self.is_sparse else np.ascontiguousarray(values))

    def load(self) -> "NumericMatrix":
        """Return the matrix: it is in memory already."""
        return self

    def core(self) -> _core.Matrix:
        """Hand the matrix to the core, which keeps it alive; only what may not be written to is copied."""
        if not self.is_sparse:
            return _core.Matrix(self.values if self.values.flags.writeable else self.values.copy(order="K"))
        rows = self.values.indices.astype(ROW_INDEX, copy=False)
        return _core.Matrix(self.values.data, rows, self.values.indptr.astype(COLUMN_START, copy=False), self.n_rows)

    def digest(self) -> bytes:
        """Return what tells these numbers, and their names, from others."""
        parts = [self.values.data, self.values.indices, self.values.indptr] if self.is_sparse else [self.values]
        return b"".join([repr((self.names, self.values.shape)).encode(), *(np.asarray(p).tobytes() for p in parts)])

    def dense(self, columns: NDArray[np.int64]) -> FloatArray:
        """Return some columns, dense."""
        block = self.values[:, columns]
        out: FloatArray = (block.toarray() if self.is_sparse else np.asarray(block)).astype(np.float64)
        return out

    def times(self, columns: NDArray[np.int64], coef: FloatArray, centres: FloatArray | None = None) -> FloatArray:
        """Return X w for coefficients of some columns, or (X - centres) w."""
        if centres is not None:
            far = centres != 0
            block = self.values[:, columns[far]]
            moved = (block.toarray() if self.is_sparse else block).astype(np.float64) - centres[far]
            near = self.times(columns[~far], coef[~far])
            near += moved @ coef[far]
            return near
        block = self.values[:, columns]
        # not `@` where dense: threads of a BLAS are in each other's way where fits meet, and cost more than they save
        scores = block @ coef if self.is_sparse else np.einsum("ij,j->i", block, coef)
        out: FloatArray = np.asarray(scores, dtype=np.float64).ravel()
        return out

    def squares(self, *, centred: bool) -> FloatArray:
        """Return the sum of squares of each column, as it is or about its mean."""
        out: FloatArray = np.empty(self.n_columns)
        for first, block in self._dense_blocks():
            values = block.astype(np.float64)
            if centred:
                values -= values.mean(axis=0)
            out[first : first + values.shape[1]] = np.square(values).sum(axis=0)
        return out

    def is_varied(self, column: int) -> bool:
        """Tell whether a column that stores every row holds more than one number."""
        values = self.values[:, [column]]
        numbers = values.data if self.is_sparse else values
        return bool((numbers != numbers.flat[0]).any())

    def largest(self) -> FloatArray:
        """Return the largest absolute value of each column."""
        if self.is_sparse:
            out: FloatArray = np.zeros(self.n_columns)
            np.maximum.at(
                out, np.repeat(np.arange(self.n_columns), np.diff(self.values.indptr)), np.abs(self.values.data)
            )
            return out
        low, high = self.values.min(axis=0, initial=0), self.values.max(axis=0, initial=0)
        largest: FloatArray = np.maximum(high, -low).astype(np.float64)
        return largest

    def scaled(self, units: FloatArray) -> "NumericMatrix":
        """Return a copy in float64 whose columns are divided by a number each."""
        values = self.values.astype(np.float64)
        if self.is_sparse:
            values.data /= np.repeat(units, np.diff(values.indptr))
        else:
            values /= units
        return replace(self, values=values)

    def shifted(self, columns: NDArray[np.int64], by: FloatArray) -> "NumericMatrix":
        """Return a copy in float64 from whose columns a number each is taken; sparse ones must hold no zeros."""
        values = self.values.astype(np.float64)
        for j, shift in zip(columns, by, strict=True):
            if self.is_sparse:
                values.data[values.indptr[j] : values.indptr[j + 1]] -= shift
            else:
                values[:, j] -= shift
        return replace(self, values=values)

    def is_full(self, columns: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which of these columns store every row."""
        if not self.is_sparse:
            return np.ones(columns.size, dtype=bool)
        out: NDArray[np.bool_] = np.diff(self.values.indptr)[columns] == self.n_rows
        return out

    def many_valued(self) -> NDArray[np.int64]:
        """Return the columns that hold more than two different numbers."""
        found = [first + np.flatnonzero(_many_valued(block)) for first, block in self._dense_blocks()]
        return np.concatenate(found).astype(np.int64)

    def _dense_blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Give the columns some at a time, dense, each time with the position of the first."""
        width = max(1, BLOCK_BYTES // (8 * max(self.n_rows, 1)))
        for first in range(0, self.n_columns, width):
            block = self.values[:, first : first + width]
            yield first, block.toarray() if self.is_sparse else block


def read_matrix(X: Any) -> NumericMatrix:
    """Look at an array, a sparse matrix or a frame of numbers, and copy it only where the core could not take it.

    Parameters
    ----------
    X : array-like, scipy.sparse matrix or array, or data frame known to narwhals
        The input; one row per sample.

    Returns
    -------
    NumericMatrix
        The same numbers, all of them finite; anything else is refused with the names of its columns.
    """
    matrix = _read_sparse(X) if sp.issparse(X) else _read_dense(X)
    _check_finite(matrix)
    return matrix


def _read_sparse(X: Any) -> NumericMatrix:
    values = check_array(X, accept_sparse="csc", dtype=np.float64, ensure_all_finite=False, input_name="X")
    if not values.has_canonical_format:
        values = values.copy() if values is X else values
        values.sum_duplicates()
    return NumericMatrix(values)


def _read_dense(X: Any) -> NumericMatrix:
    table = None if isinstance(X, np.ndarray | list | tuple) else read_table(X)
    if table is None or isinstance(table.source, np.ndarray):
        return NumericMatrix(_contiguous(fill_masked(X) if table is None else table.source))
    return NumericMatrix(_contiguous(_frame_values(table)), table.names)


def _contiguous(X: Any) -> Dense:
    """Return the numbers of an array; only those out of order, or of other types, are copied."""
    if getattr(X, "dtype", np.dtype(float)).kind in "mM":
        msg = f"X holds times ({X.dtype}): turn them into numbers first, for example days."
        raise ValueError(msg)
    try:
        array = check_array(X, dtype=ACCEPTED, ensure_all_finite=False, input_name="X")
    except OverflowError as error:
        msg = f"X holds a number that is no float ({error}): divide its column, or leave it out."
        raise ValueError(msg) from error
    flags = array.flags
    out: Dense = array if flags.c_contiguous or flags.f_contiguous else np.ascontiguousarray(array)
    return out


def _frame_values(table: Table) -> NDArray[Any]:
    """Return the numbers of a frame: as it holds them where that is one array, else column by column."""
    import narwhals as nw

    frame, kinds = table.frame, table.frame.schema
    wrong = [str(name) for name, kind in kinds.items() if not _is_number(kind)]
    if wrong:
        hold = "holds" if len(wrong) == 1 else "hold"
        msg = (
            f"linear models take columns of numbers, but {listed(wrong)} {hold} something else: encode them, leave "
            "them out, or use SparseGAMClassifier or SparseGAMRegressor, which take any columns."
        )
        raise ValueError(msg)
    if set(kinds.values()) in ({nw.Float64()}, {nw.Float32()}):
        whole: NDArray[Any] = frame.to_numpy()
        return whole
    values = np.empty((table.n_rows, table.n_columns), order="F")
    for j, key in enumerate(table.keys):
        values[:, j] = numbers_of(frame.get_column(key))
    return values


def _is_number(kind: Any) -> bool:
    import narwhals as nw

    return bool((kind.is_numeric() and kind != nw.Decimal) or kind == nw.Boolean)


def _check_finite(matrix: NumericMatrix) -> None:
    """Raise, with the names of the columns, where a number is missing or infinite."""
    try:
        assert_all_finite(matrix.values.data if matrix.is_sparse else matrix.values)
    except ValueError:
        wrong = np.concatenate([first + np.flatnonzero(_not_finite(block)) for first, block in matrix._dense_blocks()])
        names = listed([matrix.label(int(j)) for j in wrong])
        msg = (
            f"X contains NaN or infinity in {names}: impute or drop them, or use SparseGAMClassifier or "
            "SparseGAMRegressor, which take missing values."
        )
        raise ValueError(msg) from None


def _not_finite(block: NDArray[Any]) -> NDArray[np.bool_]:
    out: NDArray[np.bool_] = ~np.isfinite(block).all(axis=0)
    return out


def _many_valued(block: NDArray[Any]) -> NDArray[np.bool_]:
    out: NDArray[np.bool_] = ((block != block.min(axis=0)) & (block != block.max(axis=0))).any(axis=0)
    return out


def listed(names: list[str]) -> str:
    """Name the first of some columns."""
    shown = ", ".join(map(repr, names[:NAMED_AT_MOST]))
    return f"column{'s' if len(names) > 1 else ''} {shown}{', ...' if len(names) > NAMED_AT_MOST else ''}"
