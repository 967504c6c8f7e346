"""Dense matrices on a device, posed to the same search as matrices in memory."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsegam._backends.cuda.device import Device, check_free_memory
from sparsegam._backends.cuda.inputs import to_host
from sparsegam._backends.cuda.layouts import DeviceTarget
from sparsegam._backends.cuda.rows import CudaMatrixRows
from sparsegam._data.matrix import NumericMatrix
from sparsegam._search.matrices import Matrices
from sparsegam._search.options import SearchOptions
from sparsegam.arrays import FloatArray


@dataclass(frozen=True)
class CudaMatrices(Matrices):
    """Dense matrices, whose sums are products of matrices on a device."""

    def from_device(self, X: Any) -> Any:
        """Copy what is on a device to the memory of this machine, to be checked: it goes back as it is posed."""
        return to_host(X)

    def read(self, X: Any) -> NumericMatrix:
        """Look at a dense matrix."""
        matrix = super().read(X)
        if matrix.is_sparse:
            msg = "device='cuda' takes dense matrices, got a sparse one: pass X.toarray(), or use device='cpu'."
            raise ValueError(msg)
        return matrix

    def rows_of(
        self, matrix: NumericMatrix, y: FloatArray, weight: FloatArray, options: SearchOptions
    ) -> CudaMatrixRows:
        """Take a matrix to the device, in doubles."""
        device = Device()
        # A scan of selected columns copies them, and again for their products with the curvature.
        check_free_memory(device, 3 * 8 * matrix.n_rows * matrix.n_columns, matrix.n_rows, matrix.n_columns)
        with device:
            values = device.xp.asfortranarray(device.upload(np.ascontiguousarray(matrix.values)).astype(np.float64))
            return CudaMatrixRows(device, values, DeviceTarget(device, y, weight, options.loss))
