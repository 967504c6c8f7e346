"""The one name that arrays of floats go by."""

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
"""Numbers, one for each row, term or column; in double precision, as sums over many rows lose digits in less."""
