"""Passes over the rows of a card: losses of points, derivatives at one, scores, and the columns of a support by row."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._backends.cuda.codes import CardCodes, padded
from sparsegam._backends.cuda.questions import MOST_POINTS, Columns, Lookup, marks_lookup, packed, points_lookup
from sparsegam._backends.cuda.target import THREADS, CardTarget
from sparsegam.arrays import FloatArray

TABLE_BYTES = 40_000  # of shared memory for the tables of a pass, beside what sums need


class Passes:
    """Passes over rows that are bin codes."""

    def __init__(self, codes: CardCodes, target: CardTarget) -> None:
        self.codes, self.target, self.card, self.stride = codes, target, codes.card, padded(codes.n_rows)

    def losses(self, points: Sequence[_core.Point]) -> FloatArray:
        """Return the loss at each of some points, a few of them in one pass."""
        xp, target, n = self.card.xp, self.target, len(points)
        out = xp.zeros(n + MOST_POINTS)
        for first in range(0, n, MOST_POINTS):
            look = points_lookup(self.codes, points[first : first + MOST_POINTS])
            asked, room = self._prepared(look)
            parts = xp.empty(look.width * target.n_blocks)
            given = (self.codes.design, target.words, *asked, target.rows_per_block, room, parts)
            self.card.launch(f"losses_{look.width}", (target.n_blocks,), THREADS, given, room)
            target.reduced(parts, look.width, look.width, out[first : first + look.width])
        return self.card.download(out)[:n]

    def derive(self, point: _core.Point, grad: Any, curv: Any, value: Any) -> Any:
        """Fill in gradient, curvature and, unless None, loss of each row at a point.

        Returns sums of loss, gradient and curvature, then the largest of each, on the card.
        """
        xp, target = self.card.xp, self.target
        asked, room = self._prepared(points_lookup(self.codes, [point]))
        parts = xp.empty(6 * target.n_blocks)
        rows = grad, curv, 0 if value is None else value, parts
        given = (self.codes.design, target.words, *asked, target.rows_per_block, room, *rows)
        self.card.launch("go_to", (target.n_blocks,), THREADS, given, room)
        return target.reduced(parts, 6, 3, xp.empty(6))

    def scores(self, point: _core.Point) -> Any:
        """Return the score of each row, on the card."""
        asked, room = self._prepared(points_lookup(self.codes, [point]))
        out = self.card.xp.empty(self.codes.n_rows)
        given = (self.codes.design, *asked, self.codes.n_rows, room, out)
        self.card.launch("scores", (self._blocks,), THREADS, given, room)
        return out

    def marks(self, support: Columns, flip: NDArray[np.uint32]) -> Any:
        """Return a bit per row and 0/1 column, or of its complement; None where there is no column."""
        if support.size == 0:
            return None
        card, xp, look = self.card, self.card.xp, marks_lookup(self.codes, support)
        words, flip_at = card.send(look.words), card.send(packed(flip))
        segments, room = xp.empty(look.n_bins, dtype=np.uint16), look.room(4, TABLE_BYTES)
        bits = xp.zeros(look.n_segments * look.width, dtype=np.uint32)
        given: tuple[Any, ...] = (self.codes.design, words, segments, 0, bits, look.width)
        card.launch("prepare", (look.n_used,), THREADS, given)
        out = xp.empty(look.width * self.stride, dtype=np.uint32)
        sizes = self.codes.n_rows, self.stride, look.width, room
        given = (self.codes.design, words, segments, bits, flip_at, *sizes, out)
        card.launch("mark", (self._blocks,), THREADS, given, room)
        return out

    def ramps(self, support: Columns) -> Any:
        """Return ramps by row, turned positive; None where there is none."""
        if support.size == 0:
            return None
        codes = self.codes
        out = self.card.xp.empty((support.size, self.stride), dtype=np.float32)
        for i, column in enumerate(support.tolist()):
            at = int(codes.group[column]), int(codes.place[column])
            self.card.launch("column_values", (self._blocks,), THREADS, (codes.design, *at, codes.n_rows, out[i]))
        return out

    def _prepared(self, look: Lookup) -> tuple[tuple[int, Any, Any], int]:
        """Cut bins into segments; return the question, the segments of bins, their scores, and room for them."""
        xp, words = self.card.xp, self.card.send(look.words)
        segments = xp.empty(max(look.n_bins, 1), dtype=np.uint16)
        scores = xp.zeros(max(look.n_segments * look.width, 1))
        if look.n_used:
            self.card.launch("prepare", (look.n_used,), THREADS, (self.codes.design, words, segments, scores, 0, 0))
        return (words, segments, scores), look.room(8, TABLE_BYTES)

    @property
    def _blocks(self) -> int:
        """Number of blocks that go over all rows, where nothing is added up."""
        return min(-(-self.codes.n_rows // (4 * THREADS)), 16 * self.card.n_processors)
