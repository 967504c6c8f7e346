"""Data on a CUDA card: how it is recognised, without loading anything."""

from typing import Any

import numpy as np

CUDA = 2  # what DLPack calls a card


def is_on_card(X: Any) -> bool:
    """Tell whether something is an array, a tensor or a frame on a CUDA card: CuPy, PyTorch, JAX, cuDF and the like."""
    if isinstance(X, np.ndarray):
        return False
    if type(X).__module__.split(".")[0] == "cudf":
        return True
    if not hasattr(X, "__dlpack_device__"):
        return hasattr(X, "__cuda_array_interface__")
    return int(X.__dlpack_device__()[0]) == CUDA
