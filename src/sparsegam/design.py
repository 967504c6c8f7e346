"""The columns a search may choose from: features as bin codes, what each column stands for, and what it may cost."""

from collections.abc import Sequence

import numpy as np

from sparsegam import _core
from sparsegam.binning import Codes, Feature
from sparsegam.terms import Term


class Design:
    """Bin codes of all features in the core, and the meaning of each of its columns.

    Parameters
    ----------
    features : sequence of Feature
        One per source column.
    codes : sequence of ndarray
        Their bin codes.
    """

    def __init__(self, features: Sequence[Feature], codes: Sequence[Codes]) -> None:
        self.features = tuple(features)
        self.n_bins = np.array([feature.n_bins for feature in features], dtype=np.int64)
        self.n_ordered = np.array([feature.n_ordered for feature in features], dtype=np.int64)
        self.offset = np.cumsum(self.n_bins) - self.n_bins
        self.core = _core.ThresholdDesign(codes, self.n_bins, self.n_ordered)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(feature.name for feature in self.features)

    @property
    def n_columns(self) -> int:
        """Number of columns, one per bin."""
        return int(self.n_bins.sum())

    @property
    def n_candidates(self) -> int:
        """Number of columns that may enter a model."""
        return self.n_columns - len(self.features)

    def term(self, column: int, coef: float) -> Term:
        """Return a column and its coefficient in the words of the data."""
        j = int(np.searchsorted(self.offset, column, side="right")) - 1
        feature = self.features[j]
        return Term(feature.name, feature.condition(column - int(self.offset[j])), coef)

    def penalty(self, lambda2: float) -> _core.Penalty:
        """Return the price of the columns: all alike and free in sign.

        The last ordered bin of a feature may not enter: its column is constant or, beside special and missing
        values, the complement of theirs.
        """
        allowed = np.ones(self.n_columns, dtype=np.bool_)
        allowed[self.offset + self.n_ordered - 1] = False
        unbounded = np.full(self.n_columns, np.inf)
        return _core.Penalty(
            lambda2=lambda2,
            cost=np.ones(self.n_columns),
            low=-unbounded,
            high=unbounded,
            allowed=allowed,
            group=np.repeat(np.arange(len(self.features)), self.n_bins),
        )
