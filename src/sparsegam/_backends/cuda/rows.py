"""Rows on a card, as bin codes: each question of a search is a few kernels, and its answer comes back in one piece.

Per row there are gradient and curvature in floats; scores and losses are in doubles. Losses are added up in doubles, in
a fixed order, and all else in whole numbers, for which no order matters: answers are the same bits from run to run.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sparsegam import _core
from sparsegam._backends.cuda.codes import CardCodes
from sparsegam._backends.cuda.passes import Passes
from sparsegam._backends.cuda.questions import NOTHING, Carried, Cells, Channels, Columns, bits_of
from sparsegam._backends.cuda.sums import COARSE, FINE, Sums
from sparsegam._backends.cuda.target import CardTarget, Totals
from sparsegam.arrays import FloatArray

MANY_COLUMNS = 32768  # from here on a shortlist saves work, as in the core


class Held(NamedTuple):
    """The curvature of each row at the point of a scan; with the sums, and the largest numbers, of that point."""

    curv: Any
    stats: Any


class CudaRows(_core.Rows):
    """All that a search asks of the rows, answered by a card.

    Parameters
    ----------
    codes : CardCodes
        The rows as bin codes.
    target : CardTarget
        Their labels and weights, and the loss.
    """

    def __init__(self, codes: CardCodes, target: CardTarget) -> None:
        super().__init__()
        self.codes, self.target, self.card, self.loss = codes, target, codes.card, target.loss
        self.passes, self.sums = Passes(codes, target), Sums(codes)
        self._point: Any = None  # the last one, and what each row has there
        self._totals: Totals | None = None
        self._grad: Any = None
        self._curv: Any = None
        self._value: Any = None
        self._stats: Any = None
        self._largest: Any = None  # of the numbers summed last, which kernels read where it is
        with self.card:
            self.columns = self._measure()

    def evaluate(self, points: Sequence[_core.Point]) -> FloatArray:
        """Loss at each point: at one with all that `newton` will want, at several in one pass for each few."""
        with self.card:
            if len(points) == 1:
                self._go_to(points[0])
                return np.array([self._sums().value])
            return self.passes.losses(points) if points else np.zeros(0)

    def newton(self, point: _core.Point, support: Columns, rough: bool = False) -> tuple[float, FloatArray, FloatArray]:  # noqa: FBT001, FBT002
        """Loss, curvature and gradient on some columns of the point."""
        with self.card:
            self._go_to(point)
            if support.size and not self.codes.is_ramp[support].any():
                upper = self.sums.gram(self._beside(support, self._held), self.counts[support])
                return self._sums().value, *_unfolded(upper, support.size, self._sums())
            features = np.unique(self.codes.group[support])
            sums = self.sums.by_column(self._beside(support, self._held), features, FINE) if support.size else None
            return self._sums().value, *self._gram(support, sums, features)

    def scan(self, point: _core.Point, among: Columns) -> tuple[Any, ...]:
        """Sums of all columns, or of some, beside the support of the point; the token is the curvature of the rows."""
        with self.card:
            self._go_to(point)
            support, held = point.columns, self._held
            features = self._features(among, support)
            sums = self.sums.by_column(self._beside(support, held, may_flip=True), features, COARSE)
            gram, mine = self._gram(support, sums, features), self._asked(sums, among, features)
            self._curv = None  # the token's from here on
            answer = mine[:, 0], self._squares(mine, among), self._in_order(mine[:, 1:], support, 1)
            return held, *gram, *answer, *self._moments(mine, among)

    def rescan(self, held: Held, point: _core.Point, entered: Columns, among: Columns) -> tuple[Any, ...]:
        """Sums at this point, with the curvature of an earlier scan for the columns that entered."""
        with self.card:
            self._go_to(point)
            features = self._features(among)
            sums = self.sums.by_column(self._beside(entered, held), features, COARSE)
            mine = self._asked(sums, among, features)
            cross = self._in_order(mine[:, 2:], entered, 0)
            return self._sums().grad, mine[:, 0], self._squares(mine, among), cross

    def groups(self, point: _core.Point, columns: Columns) -> tuple[Any, ...]:
        """Sums of gradient, curvature and loss over the rows where each column is 1, and over all rows."""
        with self.card:
            self._go_to(point, with_value=True)
            features = np.unique(self.codes.group[columns])
            channels = Channels([*self._base, Carried(self._value, self._most(0))])
            sums = self.sums.by_column(channels, features, FINE) if columns.size else np.zeros((0, 3))
            mine, totals = sums[self._positions(columns, features)], self._sums()
            return mine[:, 0], mine[:, 1], mine[:, 2], [totals.grad, totals.curv, totals.value]

    def pair_sums(
        self, point: _core.Point, cells: Sequence[Cells | None], pairs: Columns
    ) -> tuple[FloatArray, FloatArray]:
        """Sums of gradient and of curvature over the cells of two features at once, table after table."""
        with self.card:
            self._go_to(point)
            grad, curv = self.sums.by_pair(self._base, cells, pairs)
            return grad, curv

    def scores(self, point: _core.Point) -> Any:
        """Return the score of each row, on the card."""
        with self.card:
            return self.passes.scores(point)

    def sums_of(self, numbers: Any) -> FloatArray:
        """Sum what each row has, zero or more, over the rows where each column is 1."""
        with self.card:
            return self._weighed(numbers)[0]

    def pair_sums_of(self, numbers: Any, cells: Sequence[Cells | None], pairs: Columns) -> FloatArray:
        """Sum what each row has, zero or more, over the cells of two features at once; None counts each row once."""
        with self.card:
            sums = self.sums.by_pair(self._carried(numbers), cells, pairs)
            both: FloatArray = sums.sum(axis=0)
            return sums[1] if numbers is None else both

    def joined_by(self, codes: Sequence[Any]) -> "CudaRows":
        """Return the same rows with 0/1 columns behind the others: codes on the card, of two bins each."""
        return CudaRows(self.codes.joined_by(codes), self.target)

    # --- going to a point

    def _go_to(self, point: _core.Point, *, with_value: bool = False) -> None:
        """Make gradient and curvature of each row those at a point; nothing to do where they are."""
        order = np.argsort(point.columns)
        key = point.intercept, point.columns[order].tobytes(), point.coef[order].tobytes()
        if key == self._point and self._curv is not None and (self._value is not None or not with_value):
            return
        self._point = None  # until all of it is done: Ctrl-C may come in between
        self._grad, self._curv = (self._room() if old is None else old for old in (self._grad, self._curv))
        self._value = self._room() if with_value else None
        self._stats = self.passes.derive(point, self._grad, self._curv, self._value)
        self._totals, self._point = None, key

    def _room(self) -> Any:
        return self.card.xp.empty(self.sums.stride, dtype=np.float32)

    def _sums(self) -> Totals:
        """Return the sums over all rows at the point."""
        if self._totals is None:
            self._totals = Totals(*self.card.download(self._stats)[:3].tolist())
        return self._totals

    # --- channels

    def _most(self, part: int) -> int:
        """Return where the largest loss (0), gradient (1) or curvature (2) of a row is."""
        return self.card.address(self._stats) + 8 * (3 + part)

    @property
    def _base(self) -> list[Carried]:
        return [Carried(self._grad, self._most(1), signed=True), Carried(self._curv, self._most(2))]

    @property
    def _held(self) -> Held:
        return Held(self._curv, self._stats)

    def _beside(self, support: Columns, held: Held, *, may_flip: bool = False) -> Channels:
        """Return the channels of gradient, of curvature, and of the curvature held for the rows of each column.

        Of columns that most rows have, the other rows can be marked: fewer additions for the same sums.
        """
        ramps = self.codes.is_ramp[support]
        marked, real = support[~ramps], support[ramps]
        flip = bits_of(self.columns.mean[marked] > 0.5 if may_flip else np.zeros(marked.size, dtype=bool))
        carried = Carried(held.curv, self.card.address(held.stats) + 8 * 5)
        marks, reals = self.passes.marks(marked, flip), self.passes.ramps(real)
        return Channels(self._base, carried, marks, flip, reals, marked.size, real.size)

    # --- columns of answers

    def _features(self, among: Columns, support: Columns | None = None) -> Columns:
        """Return the features whose sums tell of some columns (none: of all) and of a support."""
        if among.size == 0:
            return np.arange(self.codes.n_bins.size)
        columns = among if support is None else np.concatenate([among, support])
        features: Columns = np.unique(self.codes.group[columns])
        return features

    def _positions(self, columns: Columns, features: Columns) -> Columns:
        """Return where columns are among those of some features."""
        width, group = self.codes.width[features], self.codes.group[columns]
        first = (np.cumsum(width) - width)[np.searchsorted(features, group)]
        positions: Columns = first + self.codes.place[columns]
        return positions

    def _asked(self, sums: FloatArray, among: Columns, features: Columns) -> FloatArray:
        return sums[self._positions(among, features)] if among.size else sums

    def _squares(self, sums: FloatArray, among: Columns) -> FloatArray:
        """Return x'(h x): a 0/1 column is its own square."""
        if not self.codes.has_ramps:
            return sums[:, 1]
        ramp = self.codes.is_ramp[among] if among.size else self.codes.is_ramp
        return np.where(ramp, sums[:, -1], sums[:, 1])

    def _moments(self, sums: FloatArray, among: Columns) -> list[FloatArray]:
        """Return what pairs need of ramps, where there are any: 1'(h x), and of a step the same of its rows' places."""
        if not self.codes.has_ramps:
            return []
        ramp = self.codes.is_ramp[among] if among.size else self.codes.is_ramp
        return [np.where(ramp, sums[:, 1], sums[:, -1])]

    def _in_order(self, sums: FloatArray, support: Columns, n_before: int) -> FloatArray:
        """Return the channels of a support in its own order: marked columns were summed first, then ramps."""
        count = n_before + support.size
        if not self.codes.is_ramp[support].any():
            return sums[:, :count]
        ramps = self.codes.is_ramp[support]
        place = np.empty(support.size, dtype=np.int64)
        place[np.concatenate([np.flatnonzero(~ramps), np.flatnonzero(ramps)])] = np.arange(support.size)
        return sums[:, np.append(np.arange(n_before), n_before + place)]

    def _gram(self, support: Columns, sums: FloatArray | None, features: Columns) -> tuple[FloatArray, FloatArray]:
        """Return curvature and gradient of a support, from the sums of its own columns and the totals."""
        totals = self._sums()
        curv, grad = np.empty((support.size + 1,) * 2), np.empty(support.size + 1)
        curv[0, 0], grad[0] = totals.curv, totals.grad
        if sums is not None and support.size:
            mine = sums[self._positions(support, features)]
            grad[1:] = mine[:, 0]
            curv[1:] = self._in_order(mine[:, 1:], support, 1)
            curv[0, 1:] = curv[1:, 0]
        return curv, grad

    # --- facts about columns

    def _measure(self) -> _core.ColumnInfo:
        """Count the rows of each column, and gather what columns are like by weight."""
        codes, weight = self.codes, self.target.weight
        self.counts, squares = self._weighed(None)
        sums = self.counts
        if weight is not None:
            sums, squares = self._weighed(weight)
        first = slice(0, int(codes.n_bins[0]))
        n, bins = int(codes.n_ordered[0]), sums[first]
        total = float(bins[n - 1] + bins[n:].sum()) if n else float(bins.sum())
        return _core.ColumnInfo(
            kind=codes.kinds(),
            mean=sums / total,
            centred_sq_norm=np.maximum(squares - sums**2 / total, 0.0),
            total_weight=total,
            nested=codes.nested(),
            nested_ramps=codes.nested_ramps(),
            knot=codes.knots(),
            shortlist=codes.n_columns // 2 if codes.n_columns > MANY_COLUMNS else 0,
        )

    def _weighed(self, numbers: Any) -> tuple[FloatArray, FloatArray]:
        """Return x'w and x'(w x) of each column for numbers of zero or more; None counts each row once."""
        every = np.arange(self.codes.n_bins.size)
        sums = self.sums.by_column(Channels(self._carried(numbers)), every, FINE)
        if numbers is None:
            return sums[:, 1], self._squares(sums, every[:0])
        return sums[:, 0] + sums[:, 1], self._squares(sums, every[:0]) + np.where(self.codes.is_ramp, 0.0, sums[:, 0])

    def _carried(self, numbers: Any) -> list[Carried]:
        """Return a double of each row as two floats, each of which is summed in whole numbers; None: one, twice."""
        if numbers is None:
            return [NOTHING, NOTHING]
        xp = self.card.xp
        parts = xp.zeros((2, self.sums.stride), dtype=np.float32)
        parts[1, : numbers.size] = numbers
        parts[0, : numbers.size] = numbers - parts[1, : numbers.size]
        self._largest = xp.abs(parts).max(axis=1).astype(np.float64)
        at = self.card.address(self._largest)
        return [Carried(parts[0], at, signed=True), Carried(parts[1], at + 8)]


def _unfolded(upper: FloatArray, n: int, totals: Totals) -> tuple[FloatArray, FloatArray]:
    """Return the Gram matrix with the intercept before it, and the gradient, from the upper triangle and gradients."""
    curv, grad = np.empty((n + 1, n + 1)), np.append(totals.grad, upper[-n:])
    rows, columns = np.triu_indices(n)
    curv[rows + 1, columns + 1] = curv[columns + 1, rows + 1] = upper[:-n]
    curv[0, 0] = totals.curv
    curv[0, 1:] = curv[1:, 0] = np.diagonal(curv)[1:]  # a 0/1 column is its own square
    return curv, grad
