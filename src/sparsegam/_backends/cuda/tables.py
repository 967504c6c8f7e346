"""Tables on a card: binned there, and posed to the same search as tables in memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsegam._backends.cuda.binning import bin_column, numbers_of
from sparsegam._backends.cuda.card import Card
from sparsegam._backends.cuda.codes import CardCodes, padded
from sparsegam._backends.cuda.design import CudaDesign, CudaProductDesign
from sparsegam._backends.cuda.inputs import on_card, table_of
from sparsegam._backends.cuda.matrix_rows import CudaMatrixRows
from sparsegam._backends.cuda.rows import CudaRows
from sparsegam._backends.cuda.target import CardTarget
from sparsegam._data.table import Table
from sparsegam._design.binning import Feature, Learner
from sparsegam._design.interactions import Interaction
from sparsegam._design.own import OwnNumbers
from sparsegam._design.ramps import Ramps, may_have_ramps, ramps_of, shapes_of
from sparsegam._design.scaling import in_units
from sparsegam._design.threshold import ThresholdDesign
from sparsegam._design.training import bin_counts
from sparsegam._search.options import Options
from sparsegam._search.price import mean_weight
from sparsegam._search.products import most_products
from sparsegam._search.tables import OwnValues, Posed, TableProblem, Tables, Totals
from sparsegam.arrays import FloatArray
from sparsegam.losses import LOSSES

PER_ROW = 40  # bytes beside codes, label and weight: gradient, curvature, those a scan holds, marks, scores


@dataclass(frozen=True, eq=False)
class CardValues(OwnValues):
    """Rows with their own values on a card."""

    def rows_of(self, design: Any, columns: Any) -> Any:
        """Return the rows of some columns, by their own values."""
        card = design.rows.card
        with card:
            matrix = design.matrix(self.numbers.table, columns)  # type: ignore[union-attr]
        return CudaMatrixRows(card, matrix, design.rows.target)


@dataclass(frozen=True, eq=False)
class CardPosed(Posed):
    """What a problem on a card was made of."""

    def with_products(self, products: Sequence[Interaction]) -> CudaDesign:
        """Return the design with products behind its columns."""
        plain: Any = self.design
        return CudaProductDesign(plain, products, self.inputs.interactions)

    def rows_of(self, design: Any) -> Any:
        """Return the rows of a design."""
        return design.rows

    def own_values(self, design: ThresholdDesign, rows: Any) -> CardValues:
        """Return the rows with their own values."""
        return CardValues(OwnNumbers(self.data), design.bounds(self.inputs.rules))


@dataclass(frozen=True)
class CudaTables(Tables):
    """Tables of any columns, binned and summed on a card."""

    def from_card(self, X: Any) -> Table:
        """Look at what is on a card, where it is."""
        return table_of(X)

    def read(self, X: Any) -> Table:
        """Take columns of numbers to the card, unless they are there; those of text and categories stay here."""
        return on_card(Card(), super().read(X))

    def pose(self, data: Table, y: FloatArray, weight: FloatArray, options: Options) -> TableProblem:
        """Bin the table on the card and pose the problem that the card will answer."""
        kept = weight > 0
        if not kept.all():
            data, y, weight = data.take(np.flatnonzero(kept)), y[kept], weight[kept]
        units, y_core, weight_core = in_units(y, weight, centred=not LOSSES[options.loss].is_classifier)
        card = Card()
        with card:
            check_memory(card, data, products=self.interactions.is_on)
            features, codes = self._binned(card, data, weight)
            target = CardTarget(card, y_core, weight_core, options.loss)
            varied = None if weight.min() == weight.max() else card.upload(weight / weight.mean())
            shapes = shapes_of(self.rules.shapes, data.labels)
            rows = _rows(card, features, codes, [None] * len(features), target)
            ramps = _ramps(rows, data, features, shapes)
            if any(mine is not None for mine in ramps):
                rows = _rows(card, features, codes, ramps, target)
            design = CudaDesign(features, rows, varied, self.rules, (ramps, shapes))
        upper = "upper" if LOSSES[options.loss].is_classifier else None
        totals = Totals(float(weight.sum()), mean_weight(weight), upper)
        return CardPosed(self, data, design, y_core, weight_core, units, totals, options).again(())

    def _binned(self, card: Card, data: Table, weight: FloatArray) -> tuple[list[Feature], list[Any]]:
        """Learn and code all columns."""
        learner = Learner(data.labels, self.binning, weight)
        by_weight = None if learner.weight is None else card.upload(weight)
        found = [bin_column(card, learner, data, j, by_weight) for j in range(data.n_columns)]
        return [feature for feature, _ in found], [codes for _, codes in found]


def check_memory(card: Card, table: Table, *, products: bool = False) -> None:
    """Raise where the codes of a table, and what a search needs per row beside them, do not fit onto the card."""
    per_row = 2 * table.n_columns + 8 + 8 + PER_ROW
    if products:  # those of a search, and of the next
        per_row += 2 * most_products(table.n_rows)
    free, total = card.memory()
    if padded(table.n_rows) * per_row > free:
        size = padded(table.n_rows) * per_row / 1e9
        msg = (
            f"{table.n_rows} rows of {table.n_columns} columns need {size:.1f} GB on the card, which has "
            f"{total / 1e9:.1f} GB, {free / 1e9:.1f} GB of them free: use fewer rows or columns, or device='cpu'."
        )
        raise MemoryError(msg)


def _rows(
    card: Card, features: Sequence[Feature], codes: Sequence[Any], ramps: Sequence[Ramps | None], target: CardTarget
) -> CudaRows:
    bins = tuple(np.array([getattr(f, name) for f in features], dtype=np.int64) for name in ("n_bins", "n_ordered"))
    in_core = [None if mine is None else mine.in_core() for mine in ramps]
    return CudaRows(CardCodes(card, codes, target.n_rows, (bins[0], bins[1]), in_core), target)


def _ramps(rows: CudaRows, data: Table, features: Sequence[Feature], shapes: Sequence[str]) -> list[Ramps | None]:
    """Return the ramps of each feature that shall have some, and can."""
    asked = [may_have_ramps(feature, shape) for feature, shape in zip(features, shapes, strict=True)]
    if not any(asked):
        return [None] * len(features)
    weight = rows.target.weight
    sums = rows.counts if weight is None else rows.sums_of(weight)
    return [_ramps_of(rows, data, features[j], j, sums) if asked[j] else None for j in range(len(features))]


def _ramps_of(rows: CudaRows, data: Table, feature: Feature, j: int, sums: FloatArray) -> Ramps | None:
    """Learn ramps from the mean of each ordered bin; the largest value, which weighs nothing more, ends the last."""
    card, n, codes = rows.card, feature.n_ordered, rows.codes
    mine = slice(int(codes.offset[j]), int(codes.offset[j]) + feature.n_bins)
    share = bin_counts(feature, sums[mine])[:n]
    numbers, bins = numbers_of(card, data.column(j)), codes.codes[j][: codes.n_rows]
    ordered = bins < n
    if not bool(ordered.any()):
        return None
    largest = float(numbers[ordered].max())
    ends = np.append(feature.edges, max(largest, feature.edges[-1]))
    short = card.xp.where(ordered, card.upload(np.append(ends, np.zeros(feature.n_bins - n)))[bins] - numbers, 0.0)
    if rows.target.weight is not None:
        short = short * rows.target.weight
    below = bin_counts(feature, rows.sums_of(short)[mine])[:n]
    held = share > 0
    middle = ends[held] - below[held] / share[held]
    places = np.append(np.flatnonzero(held), n - 1)
    return ramps_of(feature, np.append(middle, ends[-1]), places, np.append(share[held], 0.0))
