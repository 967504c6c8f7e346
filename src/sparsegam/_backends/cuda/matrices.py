"""Dense matrices on a card, posed to the same search as matrices in memory."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsegam._backends.cuda.card import Card
from sparsegam._backends.cuda.inputs import fetched
from sparsegam._backends.cuda.matrix_rows import CudaMatrixRows
from sparsegam._backends.cuda.target import CardTarget
from sparsegam._data.matrix import NumericMatrix
from sparsegam._search.matrices import Matrices
from sparsegam._search.options import Options
from sparsegam.arrays import FloatArray


@dataclass(frozen=True)
class CudaMatrices(Matrices):
    """Dense matrices, whose sums are products of matrices on a card."""

    def from_card(self, X: Any) -> Any:
        """Copy what is on a card to the memory of this machine, to be checked: it goes back as it is posed."""
        return fetched(X)

    def read(self, X: Any) -> NumericMatrix:
        """Look at a dense matrix."""
        matrix = super().read(X)
        if matrix.is_sparse:
            msg = "device='cuda' takes dense matrices, got a sparse one: pass X.toarray(), or use device='cpu'."
            raise ValueError(msg)
        return matrix

    def rows_of(self, matrix: NumericMatrix, y: FloatArray, weight: FloatArray, options: Options) -> CudaMatrixRows:
        """Take a matrix to the card, in doubles."""
        card = Card()
        free, total = card.memory()
        needed = 3 * 8 * matrix.n_rows * matrix.n_columns  # itself, and as much for columns that a scan is about
        if needed > free:
            msg = (
                f"{matrix.n_rows} rows of {matrix.n_columns} columns need {needed / 1e9:.1f} GB on the card, which has "
                f"{total / 1e9:.1f} GB, {free / 1e9:.1f} GB of them free: use fewer rows or columns, or device='cpu'."
            )
            raise MemoryError(msg)
        with card:
            values = card.xp.asfortranarray(card.upload(np.ascontiguousarray(matrix.values)).astype(np.float64))
            return CudaMatrixRows(card, values, CardTarget(card, y, weight, options.loss))
