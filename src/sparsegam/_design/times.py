"""What each value of a column counts for: where distinct values stand for their rows, each is there many times."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsegam.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Times:
    """What each value of a column counts for: its weight, and the rows that it stands for (None: one each)."""

    weight: FloatArray | None = None
    rows: FloatArray | None = None

    def take(self, kept: NDArray[np.bool_] | NDArray[np.intp]) -> "Times":
        """Return the same for some of the values."""
        return Times(*(None if each is None else each[kept] for each in (self.weight, self.rows)))

    def n_rows(self, values: FloatArray) -> int:
        """Return how many rows the values stand for."""
        return values.size if self.rows is None else int(self.rows.sum())
