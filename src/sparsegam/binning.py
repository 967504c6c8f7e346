"""Learns the bins of each feature and turns columns into bin codes: ordered bins first, then one per special case."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam.frames import Table, Values
from sparsegam.terms import Condition

Codes = NDArray[np.uint8] | NDArray[np.uint16]

MAX_BINS = 65536  # codes are uint16 at most
MAX_BINS_UINT8 = 256  # the core keeps codes in uint8 up to here


@dataclass(frozen=True, eq=False)
class Feature:
    """One source column and its bins.

    Attributes
    ----------
    name : str
        Name of the source column.
    edges : ndarray
        Sorted thresholds; bin b holds the values in (edges[b-1], edges[b]].
    special : tuple of float
        Values out of the ordering, each with a bin of its own after the ordered ones.
    missing : bool
        Whether NaN has a bin of its own, the last one.
    """

    name: str
    edges: Values
    special: tuple[float, ...] = ()
    missing: bool = False

    @property
    def n_ordered(self) -> int:
        """Number of ordered bins."""
        return self.edges.size + 1

    @property
    def n_bins(self) -> int:
        """Number of all bins."""
        return self.n_ordered + len(self.special) + self.missing

    def codes(self, values: Values) -> Codes:
        """Return the bin of each value."""
        present = np.nan_to_num(values) if self.missing else values  # the core takes no NaN
        ordered = _core.bin_codes(present, self.edges)
        return ordered if self.n_bins == self.n_ordered else self._with_extra_bins(ordered, values)

    def condition(self, bin_: int) -> Condition:
        """Say what the column of a bin asks of the feature."""
        if bin_ < self.edges.size:
            return Condition("<=", float(self.edges[bin_]))
        if 0 <= bin_ - self.n_ordered < len(self.special):
            return Condition("==", self.special[bin_ - self.n_ordered])
        if self.missing and bin_ == self.n_bins - 1:
            return Condition("missing")
        msg = f"bin {bin_} of feature {self.name!r} stands for no condition (it has {self.edges.size} thresholds)."
        raise ValueError(msg)

    def _with_extra_bins(self, ordered: Codes, values: Values) -> Codes:
        codes: Codes = ordered.astype(np.uint8 if self.n_bins <= MAX_BINS_UINT8 else np.uint16)
        for extra, value in enumerate(self.special):
            codes[values == value] = self.n_ordered + extra
        if self.missing:
            codes[np.isnan(values)] = self.n_bins - 1
        return codes


def learn(values: Values, name: str, *, max_bins: int) -> Feature:
    """Learn the bins of a column: a threshold at every unique value but the largest, at quantiles beyond max_bins."""
    return Feature(name, _core.unique_edges(values, max_bins))


def bin_table(table: Table, *, max_bins: int) -> tuple[list[Feature], list[Codes]]:
    """Learn and code all columns, holding one of them at a time as numbers."""
    features, codes = [], []
    for j, name in enumerate(table.labels):
        values = table.column(j)
        features.append(learn(values, name, max_bins=max_bins))
        codes.append(features[-1].codes(values))
    return features, codes
