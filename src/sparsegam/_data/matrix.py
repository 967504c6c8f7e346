"""Matrices of raw numeric columns: arrays, scipy.sparse matrices and numeric frames in the form the core accepts."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._data.columns import RowIndex, fill_masked
from sparsegam._data.table import Table, read_table, series_to_numpy
from sparsegam.arrays import FloatArray
from sparsegam.checks import quoted

ACCEPTED_TYPES = [np.float64, np.float32]
"""Accepted types. All others are converted to the first one."""
ROW_INDEX_TYPE = np.int32
"""Type of the row indices of a sparse matrix: it takes half the memory of int64 and allows 2^31 rows."""
COLUMN_START_TYPE = np.int64
"""Type of the column starts of a sparse matrix, which may contain more than 2^31 values."""
BLOCK_BYTES = 2**24
"""Maximum size of a dense block of columns in bytes."""


@dataclass(frozen=True, eq=False)
class NumericMatrix:
    """A matrix of finite numbers: dense and contiguous by rows or columns, or sparse in canonical CSC format.

    Attributes
    ----------
    values : ndarray or scipy.sparse matrix
        The numbers. This is the input itself if it already had an accepted format.
    names : tuple of str or None
        Column names, or None if columns are identified by position.
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
        """The input, for the check of the number of features by scikit-learn."""
        return self.values

    @property
    def is_sparse(self) -> bool:
        """Whether the matrix is sparse."""
        return bool(sp.issparse(self.values))

    @property
    def n_bytes(self) -> int:
        """Size in bytes of the values and their indices."""
        return sum(part.nbytes for part in self._arrays())

    def label(self, j: int) -> str:
        """Return the name of column j; x0, x1, ... if there are no names."""
        return f"x{j}" if self.names is None else self.names[j]

    def with_names(self, names: tuple[str, ...] | None) -> "NumericMatrix":
        """Return the matrix with other column names."""
        return replace(self, names=names)

    def take(self, rows: RowIndex) -> "NumericMatrix":
        """Return a matrix with the given rows: a mask, or positions in any order."""
        values = self.values[rows]
        return replace(self, values=values if self.is_sparse else np.ascontiguousarray(values))

    def load(self) -> "NumericMatrix":
        """Return the matrix, which is in memory already."""
        return self

    def core(self) -> _core.Matrix:
        """Return the matrix for the compiled core, which keeps a reference to the arrays; copy only read-only ones."""
        if not self.is_sparse:
            return _core.Matrix(self.values if self.values.flags.writeable else self.values.copy(order="K"))
        rows = self.values.indices.astype(ROW_INDEX_TYPE, copy=False)
        starts = self.values.indptr.astype(COLUMN_START_TYPE, copy=False)
        return _core.Matrix(self.values.data, rows, starts, self.n_rows)

    def digest(self) -> bytes:
        """Return bytes that identify the numbers and names, for hashing."""
        parts = [repr((self.names, self.values.shape)).encode(), *(part.tobytes() for part in self._arrays())]
        return b"".join(parts)

    def dense(self, columns: NDArray[np.int64]) -> FloatArray:
        """Return the given columns as a dense float64 array."""
        block = self.values[:, columns]
        out: FloatArray = (block.toarray() if self.is_sparse else np.asarray(block)).astype(np.float64)
        return out

    def dot(self, columns: NDArray[np.int64], coef: FloatArray, centres: FloatArray | None = None) -> FloatArray:
        """Return X[:, columns] @ coef, or (X[:, columns] - centres) @ coef."""
        if centres is not None:
            far = centres != 0
            out = self.dot(columns[~far], coef[~far])
            out += (self.dense(columns[far]) - centres[far]) @ coef[far]
            return out
        block = self.values[:, columns]
        # For dense matrices einsum replaces `@`, because BLAS threads compete with the threads of concurrent fits and
        # cost more than they save.
        product = block @ coef if self.is_sparse else np.einsum("ij,j->i", block, coef)
        result: FloatArray = np.asarray(product, dtype=np.float64).ravel()
        return result

    def squared_norms(self, *, centred: bool) -> FloatArray:
        """Return the sum of squares of each column, about its mean if `centred`."""
        out: FloatArray = np.empty(self.n_columns)
        for first, block in self._dense_blocks():
            values = block.astype(np.float64)
            if centred:
                values -= values.mean(axis=0)
            out[first : first + values.shape[1]] = np.square(values).sum(axis=0)
        return out

    def max_abs(self) -> FloatArray:
        """Return the largest absolute value of each column."""
        if self.is_sparse:
            out: FloatArray = np.zeros(self.n_columns)
            column = np.repeat(np.arange(self.n_columns), np.diff(self.values.indptr))
            np.maximum.at(out, column, np.abs(self.values.data))
            return out
        low, high = self.values.min(axis=0, initial=0), self.values.max(axis=0, initial=0)
        largest: FloatArray = np.maximum(high, -low).astype(np.float64)
        return largest

    def scaled(self, units: FloatArray) -> "NumericMatrix":
        """Return a float64 copy with each column divided by its unit."""
        values = self.values.astype(np.float64)
        if self.is_sparse:
            values.data /= np.repeat(units, np.diff(values.indptr))
        else:
            values /= units
        return replace(self, values=values)

    def shifted(self, columns: NDArray[np.int64], by: FloatArray) -> "NumericMatrix":
        """Return a float64 copy with a number subtracted from each given column; these must have no implicit zeros."""
        values = self.values.astype(np.float64)
        for j, shift in zip(columns, by, strict=True):
            if self.is_sparse:
                values.data[values.indptr[j] : values.indptr[j + 1]] -= shift
            else:
                values[:, j] -= shift
        return replace(self, values=values)

    def is_full(self, columns: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of the given columns have no implicit zeros."""
        if not self.is_sparse:
            return np.ones(columns.size, dtype=bool)
        out: NDArray[np.bool_] = np.diff(self.values.indptr)[columns] == self.n_rows
        return out

    def is_varying(self, column: int) -> bool:
        """Return whether a full column has more than one distinct value."""
        values = self.values[:, [column]]
        numbers = values.data if self.is_sparse else values
        return bool((numbers != numbers.flat[0]).any())

    def many_valued_columns(self) -> NDArray[np.int64]:
        """Return the positions of the columns with more than two distinct values."""
        found = [
            first + np.flatnonzero(((block != block.min(axis=0)) & (block != block.max(axis=0))).any(axis=0))
            for first, block in self._dense_blocks()
        ]
        return np.concatenate(found).astype(np.int64)

    def check_finite(self) -> None:
        """Raise ValueError with the names of the columns if any value is missing or infinite."""
        # Imported here and below because it takes a second.
        from sklearn.utils import assert_all_finite

        try:
            assert_all_finite(self.values.data if self.is_sparse else self.values)
        except ValueError:
            wrong = np.concatenate(
                [first + np.flatnonzero(~np.isfinite(block).all(axis=0)) for first, block in self._dense_blocks()]
            )
            msg = (
                f"X contains NaN or infinity in {quote_columns([self.label(int(j)) for j in wrong])}: impute or drop "
                "them, or use SparseGAMClassifier or SparseGAMRegressor, which accept missing values."
            )
            raise ValueError(msg) from None

    def _arrays(self) -> list[NDArray[Any]]:
        values = self.values
        return [values.data, values.indices, values.indptr] if self.is_sparse else [values]

    def _dense_blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield dense blocks of neighbouring columns, each with the position of its first column."""
        width = max(1, BLOCK_BYTES // (8 * max(self.n_rows, 1)))
        for first in range(0, self.n_columns, width):
            block = self.values[:, first : first + width]
            yield first, block.toarray() if self.is_sparse else block


def read_matrix(X: Any) -> NumericMatrix:
    """Read an array, a sparse matrix or a numeric frame. The numbers are copied only if the core cannot use them.

    Parameters
    ----------
    X : array-like, scipy.sparse matrix or array, or data frame supported by narwhals
        One row per sample.

    Returns
    -------
    NumericMatrix
        The matrix, in which all numbers are finite.
    """
    matrix = _read_sparse(X) if sp.issparse(X) else _read_dense(X)
    matrix.check_finite()
    return matrix


def quote_columns(names: list[str]) -> str:
    """Return "column 'a'" or "columns 'a', 'b', ..." for messages."""
    return f"column{'s' if len(names) > 1 else ''} {quoted(names)}"


def _read_sparse(X: Any) -> NumericMatrix:
    from sklearn.utils import check_array

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


def _contiguous(X: Any) -> NDArray[Any]:
    """Return numbers as a contiguous array of an accepted type, copied only if necessary."""
    from sklearn.utils import check_array

    if getattr(X, "dtype", np.dtype(float)).kind in "mM":
        msg = f"X contains times ({X.dtype}): convert them to numbers, such as days."
        raise ValueError(msg)
    try:
        array: NDArray[Any] = check_array(X, dtype=ACCEPTED_TYPES, ensure_all_finite=False, input_name="X")
    except OverflowError as error:
        msg = f"X contains a number that float64 cannot represent ({error}): rescale or remove its column."
        raise ValueError(msg) from error
    return array if array.flags.c_contiguous or array.flags.f_contiguous else np.ascontiguousarray(array)


def _frame_values(table: Table) -> NDArray[Any]:
    """Return the numbers of a frame: its own array if there is one, otherwise a copy made column by column."""
    import narwhals as nw

    types = table.frame.schema
    wrong = [
        str(name)
        for name, dtype in types.items()
        if dtype == nw.Decimal or not (dtype.is_numeric() or dtype == nw.Boolean)
    ]
    if wrong:
        msg = (
            f"linear models require numeric columns, but {quote_columns(wrong)} contain{'s' * (len(wrong) == 1)} "
            "other types: encode or remove them, or use SparseGAMClassifier or SparseGAMRegressor, which accept "
            "columns of any type."
        )
        raise ValueError(msg)
    if set(types.values()) in ({nw.Float64()}, {nw.Float32()}):
        whole: NDArray[Any] = table.frame.to_numpy()
        return whole
    values = np.empty((table.n_rows, table.n_columns), order="F")
    for j, key in enumerate(table.keys):
        values[:, j] = series_to_numpy(table.frame.get_column(key))
    return values
