"""Bin codes on a card: the codes themselves, and what kernels must know of the features and columns they stand for."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._backends.cuda.card import Card
from sparsegam.arrays import FloatArray

PADDED = 16  # rows: arrays on a card end at a multiple of them, so that four can be read at once
TWO = 2  # bins of a 0/1 column
FAR = -1  # where the ramps of a feature are that has none
RampsInCore = tuple[FloatArray, FloatArray, NDArray[np.int64]]


def padded(n_rows: int) -> int:
    """Return the rows that arrays on a card have room for."""
    return -(-n_rows // PADDED) * PADDED


class CardCodes:
    """Bin codes of all features on a card; columns are numbered as in the core.

    Parameters
    ----------
    card : Card
        The card.
    codes : sequence of arrays of the card
        Codes of each feature, one or two bytes each, with room for `padded` rows.
    n_rows : int
        Number of rows.
    n_bins, n_ordered : ndarray of int
        Of each feature.
    ramps : sequence of tuples or None
        Of each feature what the core must know of its ramps.
    """

    def __init__(
        self,
        card: Card,
        codes: Sequence[Any],
        n_rows: int,
        bins: tuple[NDArray[np.int64], NDArray[np.int64]],
        ramps: Sequence[RampsInCore | None],
    ) -> None:
        self.card, self.codes, self.n_rows, self.ramps = card, tuple(codes), n_rows, tuple(ramps)
        self.n_bins, self.n_ordered = bins
        n_ramps = np.array([0 if mine is None else mine[2].size for mine in ramps], dtype=np.int64)
        self.width = self.n_bins + n_ramps
        self.offset = np.cumsum(self.width) - self.width
        self.first_bin = np.cumsum(self.n_bins) - self.n_bins
        self.group = np.repeat(np.arange(self.width.size), self.width)
        self.place = np.arange(self.width.sum()) - self.offset[self.group]
        self.is_ramp = self.place >= self.n_bins[self.group]
        self.is_step = self.place < self.n_ordered[self.group]
        most = np.where(self.is_step, 1, np.where(self.is_ramp, self.n_bins[self.group], 2))
        self.breaks = most  # by how many segments a column may cut the bins of its feature further
        self._send(ramps)

    def _send(self, ramps: Sequence[RampsInCore | None]) -> None:
        """Describe features to the kernels; how many rows a bin holds is counted later."""
        card, xp = self.card, self.card.xp
        place, end, knots = ([mine[i] for mine in ramps if mine is not None] or [np.zeros(1)] for i in range(3))
        at_place, at_knot = _starts(ramps, 0), _starts(ramps, 2)
        wide = np.array([codes.dtype.itemsize == 2 for codes in self.codes], dtype=np.int64)
        addresses = np.array([card.address(codes) for codes in self.codes], dtype=np.int64)
        facts = (addresses, wide, self.n_bins, self.n_ordered, self.width, self.first_bin, at_place, at_knot)
        with card:
            self.bin_rows = xp.zeros(int(self.n_bins.sum()), dtype=np.int64)
            self._held = [
                card.upload(np.column_stack(facts)),
                self.bin_rows,
                card.upload(np.concatenate(place)),
                card.upload(np.concatenate(end)),
                card.upload(np.concatenate(knots).astype(np.int64)),
            ]
            self.design = card.upload(np.array([card.address(array) for array in self._held], dtype=np.int64))

    def joined_by(self, codes: Sequence[Any]) -> "CardCodes":
        """Return the same codes, and behind them those of features of two bins that stand alone."""
        n = len(codes)
        bins = np.append(self.n_bins, np.full(n, TWO)), np.append(self.n_ordered, np.zeros(n, dtype=np.int64))
        return CardCodes(self.card, (*self.codes, *codes), self.n_rows, bins, (*self.ramps, *[None] * n))

    @property
    def n_columns(self) -> int:
        """Number of columns: one for each bin, and one for each ramp."""
        return self.group.size

    @property
    def has_ramps(self) -> bool:
        """Whether any column is a ramp."""
        return bool(self.is_ramp.any())

    def kinds(self) -> list[str]:
        """Return what each column is, in the words of the core."""
        kinds: list[str] = np.where(self.is_step, "step", np.where(self.is_ramp, "ramp", "level")).tolist()
        return kinds

    def nested(self) -> list[tuple[int, int]]:
        """Return the ranges of columns that are thresholds of one feature."""
        return list(zip(self.offset.tolist(), (self.offset + self.n_ordered).tolist(), strict=True))

    def nested_ramps(self) -> list[tuple[int, int]]:
        """Return the ranges of columns that are ramps of the same features."""
        first = self.offset + self.n_bins
        return list(zip(first.tolist(), (self.offset + self.width).tolist(), strict=True))

    def knots(self) -> FloatArray:
        """Return the knot of each step and ramp, in the unit of the ramps; nothing where there are none."""
        out = np.zeros(self.n_columns if self.has_ramps else 0)
        for j, mine in enumerate(self.ramps):
            if mine is not None:
                _, end, knots = mine
                first, beyond = self.offset[j], self.offset[j] + self.n_bins[j]
                out[first : first + end.size], out[beyond : beyond + knots.size] = end, end[knots]
        return out


def _starts(ramps: Sequence[RampsInCore | None], part: int) -> NDArray[np.int64]:
    """Return where a part of the ramps of each feature begins, all put one after the other."""
    sizes = np.array([0 if mine is None else mine[part].size for mine in ramps], dtype=np.int64)
    return np.where(sizes > 0, np.cumsum(sizes) - sizes, FAR)
