"""The cells of a pair of features: their words, what they add, how many rows they hold, how well that is known."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsegam._models.additive import Model
from sparsegam._models.seen import NEW
from sparsegam._models.step_tables import pair_table
from sparsegam.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Cells:
    """What two features add together, cell by cell.

    Attributes
    ----------
    names : pair of str
        The features.
    labels : pair of tuple of str
        The cells of each, in words: in order, then single values, then missing ones and all others.
    adds : ndarray of shape (cells of the first, cells of the second)
        What is added.
    counts : ndarray of int or None
        How many of the rows given are in each.
    shares : ndarray or None
        The share of the rows of the fit in each, by weight, where that is known.
    errors : ndarray or None
        Standard errors of what is added, less the mean over the rows of the fit; NaN where a value is new.
    """

    names: tuple[str, str]
    labels: tuple[tuple[str, ...], tuple[str, ...]]
    adds: FloatArray
    counts: NDArray[np.int64] | None = None
    shares: FloatArray | None = None
    errors: FloatArray | None = None

    def worth_drawing(self) -> "Cells":
        """Return the cells that a picture has a use for: values that no row had are for tables."""
        first, second = (self._kept(axis) for axis in (0, 1))
        at = np.ix_(first, second)
        labels = (_some(self.labels[0], first), _some(self.labels[1], second))
        counts = None if self.counts is None else self.counts[at]
        shares, errors = (None if one is None else one[at] for one in (self.shares, self.errors))
        return Cells(self.names, labels, self.adds[at], counts, shares, errors)

    def _kept(self, axis: int) -> list[int]:
        known = [not label.endswith(NEW) for label in self.labels[axis]]
        found = [0] * len(known) if self.counts is None else self.counts.sum(axis=1 - axis).tolist()
        return [i for i, (had, has) in enumerate(zip(known, found, strict=True)) if had or has]


def cells_of(
    model: Model,
    pair: tuple[str, str],
    numbers: Mapping[str, FloatArray] | None = None,
    *,
    centred: bool | None = False,
) -> Cells:
    """Return the cells of a pair.

    Parameters
    ----------
    model : Model
        The model.
    pair : pair of str
        Two features that have products.
    numbers : mapping from str to ndarray, optional
        The columns of both, as numbers on their scales, to be counted.
    centred : bool or None
        As in `Model.pair_functions`.

    Returns
    -------
    Cells
        All that some value can be in.
    """
    table, errors = pair_table(model.pair_functions(centred=centred)[pair]), model.cell_errors(pair)
    counts = None
    if numbers is not None:
        counts = np.bincount(table.find(numbers), minlength=table.adds.size).reshape(table.adds.shape)
    known = None if errors is None else errors[np.ix_(*table.kept)]
    first, second = (tuple(map(_words, labels)) for labels in table.cell_labels())
    return Cells(pair, (first, second), table.adds, counts, table.shares, known)


def _words(label: str) -> str:
    """Write a cell as pictures and pages have it."""
    return f"≤ {label[3:]}" if label.startswith("<= ") else label


def _some(labels: tuple[str, ...], kept: Iterable[int]) -> tuple[str, ...]:
    return tuple(labels[i] for i in kept)
