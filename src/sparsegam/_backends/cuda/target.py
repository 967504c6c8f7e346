"""Labels, weights and a loss on a card, and what answers begin with: sums of blocks of rows, added in a fixed order."""

from typing import Any, NamedTuple

import numpy as np

from sparsegam._backends.cuda.card import Card
from sparsegam.losses import LOSSES

BLOCK_ROWS = 4096  # rows that a block adds up, or a multiple: a matter of the number of rows alone, so that the bits
MOST_BLOCKS = 2048  # of a sum do not depend on the card
THREADS = 256  # of a block that adds up


class Totals(NamedTuple):
    """Sums over all rows at a point."""

    value: float
    grad: float
    curv: float


class CardTarget:
    """Labels (-1 and 1) or responses, weights and a loss.

    Parameters
    ----------
    card : Card
        The card.
    y, weight : array
        Of NumPy or of the card; weights are above zero.
    loss : str
        The loss.
    """

    def __init__(self, card: Card, y: Any, weight: Any, loss: str) -> None:
        self.card, self.loss, self.n_rows = card, loss, int(y.size)
        xp = card.xp
        with card:
            labels = xp.asarray(y, dtype=np.int8) if LOSSES[loss].is_classifier else None
            self.y = xp.asarray(y, dtype=np.float64) if labels is None else labels
            even = bool(weight.min() == 1.0) and bool(weight.max() == 1.0)
            self.weight = None if even else xp.asarray(weight, dtype=np.float64)
            ends = (labels, self.y if labels is None else None, self.weight)
            words = [card.address(array) for array in ends] + [self.n_rows, LOSSES[loss].cuda_index]
            self.words = card.upload(np.array(words, dtype=np.int64))

    @property
    def rows_per_block(self) -> int:
        """Number of rows that a block adds up."""
        return BLOCK_ROWS * max(-(-self.n_rows // (BLOCK_ROWS * MOST_BLOCKS)), 1)

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return -(-self.n_rows // self.rows_per_block)

    def reduced(self, parts: Any, n_numbers: int, n_sums: int, out: Any) -> Any:
        """Add up what blocks left, into an array of the card: sums first, then largest numbers."""
        self.card.launch("reduce", (n_numbers,), THREADS, (parts, self.n_blocks, n_sums, out))
        return out
