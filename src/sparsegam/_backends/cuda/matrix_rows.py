"""Rows on a card, as a matrix of numbers: sums are products of matrices, in doubles."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sparsegam import _core
from sparsegam._backends.cuda.card import Card
from sparsegam._backends.cuda.questions import Columns
from sparsegam._backends.cuda.target import THREADS, CardTarget, Totals
from sparsegam.arrays import FloatArray

FEW_DIGITS = 1e-6  # of a sum of squares: a spread below that is summed anew, centred
MANY_COLUMNS = 400  # from here on a shortlist saves work, as in the core


class CudaMatrixRows(_core.Rows):
    """All that a search asks of the rows of a matrix, answered by a card.

    Parameters
    ----------
    card : Card
        The card.
    matrix : array of the card
        Numbers in doubles, one column after the other in memory.
    target : CardTarget
        Labels and weights, and the loss.
    """

    def __init__(self, card: Card, matrix: Any, target: CardTarget) -> None:
        super().__init__()
        self.card, self.matrix, self.target, self.loss = card, matrix, target, target.loss
        self._point: Any = None
        self._rows: Any = None  # gradient and curvature of each row at the last point, and its sums
        with card:
            self.columns = self._measure()

    def evaluate(self, points: Sequence[_core.Point]) -> FloatArray:
        """Loss at each point."""
        with self.card:
            if len(points) == 1:
                return np.array([self._at(points[0])[2].value])
            target, out = self.target, self.card.xp.empty(max(len(points), 1))
            for i, point in enumerate(points):
                parts = self.card.xp.empty(target.n_blocks)
                given = (target.words, self._scores(point), target.rows_per_block, 0, 0, parts)
                self.card.launch("derive", (target.n_blocks,), THREADS, given)
                target.reduced(parts, 1, 1, out[i : i + 1])
            return self.card.download(out)[: len(points)]

    def newton(self, point: _core.Point, support: Columns, rough: bool = False) -> tuple[float, FloatArray, FloatArray]:  # noqa: FBT001, FBT002
        """Loss, curvature and gradient on some columns of the point."""
        with self.card:
            grad, curv, totals = self._at(point)
            return totals.value, *self._gram(support, grad, curv)

    def scan(self, point: _core.Point, among: Columns) -> tuple[Any, ...]:
        """Sums of all columns, or of some, beside the support of the point; the token is the curvature of the rows."""
        with self.card:
            grad, curv, _ = self._at(point)
            mine = self._asked(among)
            carried = self._support(point.columns) * curv[:, None]
            sums = mine.T @ self.card.xp.column_stack([grad, carried])
            gram = self._gram(point.columns, grad, curv)
            found = self.card.download(sums)
            return curv, *gram, found[:, 0], self._squares(mine, curv), found[:, 1:]

    def rescan(self, held: Any, point: _core.Point, entered: Columns, among: Columns) -> tuple[Any, ...]:
        """Gradients at this point, and products with what entered under the curvature of an earlier scan."""
        with self.card:
            grad, _, totals = self._at(point)
            carried = self._taken(entered) * held[:, None]
            sums = self._asked(among).T @ self.card.xp.column_stack([grad, carried])
            found = self.card.download(sums)
            return totals.grad, found[:, 0], None, found[:, 1:]

    def groups(self, point: _core.Point, columns: Columns) -> tuple[Any, ...]:
        """Refuse: rows of a raw column do not fall into two groups."""
        msg = "rows of a raw column do not fall into two groups"
        raise RuntimeError(msg)

    def _at(self, point: _core.Point) -> tuple[Any, Any, Totals]:
        """Return gradient and curvature of each row at a point, and the sums over all rows."""
        order = np.argsort(point.columns)
        key = point.intercept, point.columns[order].tobytes(), point.coef[order].tobytes()
        if key != self._point:
            xp, target, n = self.card.xp, self.target, self.target.n_rows
            grad, curv, parts = xp.empty(n), xp.empty(n), xp.empty(3 * target.n_blocks)
            given = (target.words, self._scores(point), target.rows_per_block, grad, curv, parts)
            self.card.launch("derive", (target.n_blocks,), THREADS, given)
            sums = self.card.download(target.reduced(parts, 3, 3, xp.empty(3)))
            self._point, self._rows = key, (grad, curv, Totals(*sums.tolist()))
        rows: tuple[Any, Any, Totals] = self._rows
        return rows

    def _scores(self, point: _core.Point) -> Any:
        """Return the score of each row."""
        return self._taken(point.columns) @ self.card.upload(point.coef) + point.intercept

    def _taken(self, columns: Columns) -> Any:
        return self.matrix[:, self.card.upload(columns)]

    def _asked(self, among: Columns) -> Any:
        return self._taken(among) if among.size else self.matrix

    def _support(self, columns: Columns) -> Any:
        """Return the matrix [1, X_S]."""
        return self.card.xp.column_stack([self.card.xp.ones(self.target.n_rows), self._taken(columns)])

    def _gram(self, support: Columns, grad: Any, curv: Any) -> tuple[FloatArray, FloatArray]:
        plain = self._support(support)
        sums = self.card.download(plain.T @ self.card.xp.column_stack([grad, plain * curv[:, None]]))
        return sums[:, 1:], sums[:, 0]

    def _squares(self, matrix: Any, weight: Any, centre: FloatArray | None = None) -> FloatArray:
        """Return sum_i w_i (x_ic - m_c)^2 of each column."""
        matrix = self.card.xp.asfortranarray(matrix)
        out = self.card.xp.empty(matrix.shape[1])
        at = 0 if centre is None else self.card.upload(centre)
        given = (matrix, self.target.n_rows, weight, at, out)
        self.card.launch("squares", (matrix.shape[1],), THREADS, given)
        return self.card.download(out)

    def _measure(self) -> _core.ColumnInfo:
        """Gather what columns are like."""
        xp, n = self.card.xp, self.matrix.shape[1]
        weight = xp.ones(self.target.n_rows) if self.target.weight is None else self.target.weight
        total = float(weight.sum())
        sums = self.card.download(self.matrix.T @ weight)
        squares = self._squares(self.matrix, weight)
        spread = np.maximum(squares - sums**2 / total, 0.0)
        if (spread < FEW_DIGITS * squares).any():
            spread = np.where(spread < FEW_DIGITS * squares, self._squares(self.matrix, weight, sums / total), spread)
        return _core.ColumnInfo(
            kind=["raw"] * n,
            mean=sums / total,
            centred_sq_norm=spread,
            total_weight=total,
            nested=[],
            shortlist=n // 2 if n > MANY_COLUMNS else 0,
        )
