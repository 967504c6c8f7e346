"""The type of floating-point arrays and iteration over blocks of rows."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
"""Array of float64; single precision would lose digits in sums over many rows."""

BLOCK_ROWS = 2**16
"""Rows that are processed at a time, to bound temporary memory."""


def blocks(n_rows: int) -> Iterator[slice]:
    """Yield consecutive slices that cover n_rows rows."""
    return (slice(start, start + BLOCK_ROWS) for start in range(0, n_rows, BLOCK_ROWS))
