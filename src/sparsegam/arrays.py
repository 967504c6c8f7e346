"""The one name that arrays of floats go by; rows in blocks."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
"""Numbers, one for each row, term or column; in double precision, as sums over many rows lose digits in less."""

AT_ONCE = 2**16  # rows that are looked up or counted at a time, so that what it takes stays small


def blocks(n_rows: int) -> Iterator[slice]:
    """Return so many rows in blocks, one after the other."""
    return (slice(start, start + AT_ONCE) for start in range(0, n_rows, AT_ONCE))
