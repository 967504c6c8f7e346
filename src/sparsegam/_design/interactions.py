"""Products of two conditions as columns: 0/1 codes beside those of the features, and what they mean."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._data.table import Table
from sparsegam._design.binning import Codes, Feature
from sparsegam._design.constraints import Constraints, InteractionOptions, Pair
from sparsegam._design.own import Own
from sparsegam._design.threshold import ThresholdDesign
from sparsegam._design.training import Training
from sparsegam._models.functions import Bins, bins_of
from sparsegam._models.terms import Clause, Condition, Term, conditions_of
from sparsegam.arrays import FloatArray

TWO = 2  # bins of a product: it fails, it holds
CellsOf = tuple[int, NDArray[np.intp]]  # a feature, and the cell of each of its bins
CUTS = 12  # of a feature, that could stand in for one of a product


@dataclass(frozen=True, order=True)
class BinRange:
    """One condition of a product: it holds in the bins of a feature from `first` up to, but not including, `last`."""

    feature: int
    first: int
    last: int

    def condition(self, feature: Feature) -> Condition:
        """Say what it asks, in the words of the data."""
        if self.first > 0 and self.last == feature.n_ordered:
            return Condition(">", feature.condition(self.first - 1).value)
        return feature.condition(self.last - 1)

    def sense(self, feature: Feature) -> int:
        """Tell whether it holds for the smaller values (-1) or the larger ones (1) of an order; 0 for single values."""
        if self.last > feature.n_ordered:
            return 0
        return 1 if self.first > 0 else -1

    def holds(self, codes: Codes) -> NDArray[np.bool_]:
        """Tell in which rows it holds."""
        out: NDArray[np.bool_] = codes < self.last
        return out & (codes >= self.first) if self.first else out


@dataclass(frozen=True, order=True)
class Interaction:
    """Two conditions on different features, that of the earlier one first."""

    first: BinRange
    second: BinRange

    @property
    def pair(self) -> Pair:
        """The two features."""
        return self.first.feature, self.second.feature

    def codes(self, first: Codes, second: Codes) -> NDArray[np.uint8]:
        """Return 1 for rows in which both conditions hold, given the codes of the two features."""
        out: NDArray[np.uint8] = (self.first.holds(first) & self.second.holds(second)).astype(np.uint8)
        return out


def interaction_of(features: Sequence[Feature], term: Term) -> Interaction | None:
    """Return a term of two features as a product of bins; None where these have no such cut."""
    place = {feature.name: j for j, feature in enumerate(features)}
    halves = [_half_of(features[place[one.feature]], place[one.feature], one.condition) for one in term.clauses]
    first, second = halves if len(halves) == TWO else (None, None)
    return None if first is None or second is None else Interaction(*sorted((first, second)))


def _half_of(feature: Feature, j: int, condition: Condition) -> BinRange | None:
    """Return the bins in which a condition holds; None where they are not those of a column."""
    upto = Condition("<=", condition.value) if condition.kind == ">" else condition
    found = next((b for b, known in feature.conditions().items() if known == upto), None)
    if found is None:
        return None
    if condition.kind == ">":
        return BinRange(j, found + 1, feature.n_ordered)
    return BinRange(j, 0 if found < feature.n_ordered else found, found + 1)


def neighbours_of(design: ThresholdDesign, product: Interaction) -> list[Interaction]:
    """Return products that ask for other cuts, or for another single value, of one of the two features."""
    first, second = (_others(design, half) for half in (product.first, product.second))
    return [replace(product, first=half) for half in first] + [replace(product, second=half) for half in second]


def _others(design: ThresholdDesign, half: BinRange) -> list[BinRange]:
    """Return conditions of the same kind on the same feature: cuts between which about as many rows are."""
    j, feature = half.feature, design.features[half.feature]
    n = feature.n_ordered
    if half.last > n:
        found = [BinRange(j, b, b + 1) for b in range(n, feature.n_bins)]
    else:
        upto = design.column_counts(j)[:n]
        cuts = np.unique(np.searchsorted(upto, upto[-1] * np.arange(1, CUTS) / CUTS)) + 1
        cuts = cuts[cuts < n]
        found = [BinRange(j, int(cut), n) if half.first > 0 else BinRange(j, 0, int(cut)) for cut in cuts]
    return [other for other in found[:CUTS] if other != half]


class ProductDesign(ThresholdDesign):
    """A threshold design and, behind its columns, two for each product: it fails (which no model may have), it holds.

    Parameters
    ----------
    plain : ThresholdDesign
        The design without products.
    products : sequence of Interaction
        The products.
    interactions : InteractionOptions
        What the user asks of them.
    weight : ndarray or None
        Weights of the rows.
    """

    def __init__(
        self,
        plain: ThresholdDesign,
        products: Sequence[Interaction],
        interactions: InteractionOptions,
        weight: FloatArray | None,
    ) -> None:
        vars(self).update(vars(plain))
        self.plain = plain
        self.products = tuple(sorted(set(products), key=lambda product: (product.pair, product)))
        self._column = {product: plain.n_columns + TWO * i + 1 for i, product in enumerate(self.products)}
        self._n_plain = plain.n_columns
        self.interactions = interactions
        self.weight = weight
        n = len(self.products)
        self.n_bins = np.append(plain.n_bins, np.full(n, TWO))
        self.n_ordered = np.append(plain.n_ordered, np.zeros(n, dtype=np.int64))
        self.n_ramps = np.append(plain.n_ramps, np.zeros(n, dtype=np.int64))
        self.ramps = [*plain.ramps, *[None] * n]
        self.shapes = [*plain.shapes, *["both"] * n]
        self.offset = np.append(plain.offset, plain.n_columns + TWO * np.arange(n))
        first = len(plain.features)
        self.source = np.append(plain.source, np.repeat(first + np.arange(n), TWO))
        self.pairs = tuple(dict.fromkeys(product.pair for product in self.products))
        number = {pair: first + i for i, pair in enumerate(self.pairs)}
        self.group = np.append(plain.group, np.repeat([number[p.pair] for p in self.products], TWO).astype(np.int64))
        made = [p.codes(plain.codes[p.first.feature], plain.codes[p.second.feature]) for p in self.products]
        self.codes = (*plain.codes, *made)
        self.core = self._in_core(self.codes)
        self.counts = np.append(plain.counts, self._sums_of_products(made))
        varied = plain.shares is not plain.counts and weight is not None
        shares = self._sums_of_products(made, weight / weight.mean()) if varied and weight is not None else None
        self.shares = self.counts if shares is None else np.append(plain.shares, shares)

    def _sums_of_products(self, codes: Sequence[Codes], weight: FloatArray | None = None) -> FloatArray:
        sums = [_core.bin_counts(code, TWO, weight) for code in codes]
        return np.concatenate(sums) if sums else np.zeros(0)

    def product(self, column: int) -> Interaction | None:
        """Return the product that a column stands for; None for a column of one feature."""
        place = column - self._n_plain
        return None if place < 0 else self.products[place // TWO]

    def is_product(self) -> NDArray[np.bool_]:
        """Tell which columns are products."""
        out: NDArray[np.bool_] = np.arange(self.n_columns) >= self.plain.n_columns
        return out

    def columns_of(self, products: Sequence[Interaction]) -> NDArray[np.int64]:
        """Return the columns of some products; -1 for those that the design does not have."""
        return np.array([self._column.get(product, -1) for product in products], dtype=np.int64)

    def candidates(self, rules: Constraints) -> NDArray[np.bool_]:
        """Tell which columns may enter a model: of products, those that hold and fail for enough rows."""
        allowed = super().candidates(rules)
        allowed[self.plain.n_columns :: TWO] = False
        return allowed

    def term(self, column: int, coef: float) -> Term:
        """Return a column and its coefficient in the words of the data."""
        product = self.product(column)
        if product is None:
            return self.plain.term(column, coef)
        first, second = (
            Clause(self.names[half.feature], half.condition(self.features[half.feature]))
            for half in (product.first, product.second)
        )
        return Term(first.feature, first.condition, coef, second)

    def features_of(self, columns: NDArray[np.int64]) -> list[int]:
        """Return the features that some columns ask about, in the order of the table."""
        found: set[int] = set()
        for column in columns.tolist():
            product = self.product(column)
            found |= {int(self.source[column])} if product is None else {*product.pair}
        return sorted(found)

    def seen_pairs(self, terms: Sequence[Term]) -> dict[tuple[str, str], FloatArray]:
        """Return the share of the rows, by weight, in the cells of each pair that terms are of."""
        return {pair: sums / sums.sum() for pair, sums in self._by_cell(terms, self.weight).items()}

    def training(self, point: _core.Point, own: Own | None = None) -> Training:
        """Count the rows of a search by what one of its models sees of them, pairs of features among it."""
        terms = [self.term(column, 1.0) for column in np.sort(point.columns).tolist()]
        return replace(super().training(point, own), pairs=self._by_cell(terms, None))

    def _by_cell(self, terms: Sequence[Term], weight: FloatArray | None) -> dict[tuple[str, str], FloatArray]:
        """Sum the rows by the cells of each pair that terms are of."""
        place = {name: j for j, name in enumerate(self.names)}
        pairs = dict.fromkeys((t.feature, t.also.feature) for t in terms if t.also is not None)
        return {(a, b): self._sums_of_cells(terms, place[a], place[b], weight) for a, b in pairs}

    def _sums_of_cells(self, terms: Sequence[Term], a: int, b: int, weight: FloatArray | None) -> FloatArray:
        mine = [term.clauses for term in terms if term.part == (self.names[a], self.names[b])]
        axes = [self._axis(j, terms, [clauses[i].condition for clauses in mine]) for i, j in enumerate((a, b))]
        first, second = (axis.bin_of(self.features[j].representatives()) for axis, j in zip(axes, (a, b), strict=True))
        return self._sums_by_two((a, first), (b, second), (len(axes[0]), len(axes[1])), weight)

    def _sums_by_two(
        self, one: CellsOf, other: CellsOf, shape: tuple[int, ...], weight: FloatArray | None
    ) -> FloatArray:
        """Sum the rows by the cells of two features at once."""
        first, second = (of_bin[self.codes[j]] for j, of_bin in (one, other))
        sums = np.bincount(first * shape[1] + second, weight, shape[0] * shape[1])
        return sums.astype(np.float64).reshape(shape)

    def _axis(self, j: int, terms: Sequence[Term], conditions: Sequence[Condition]) -> Bins:
        """Return the bins of feature j by the conditions of one pair; the terms of a model say which rows it had."""
        feature = self.features[j]
        seen = self.bins(j).seen(conditions_of(terms)[feature.name])
        return bins_of(feature.name, conditions, feature.special_values, feature.scale, seen)

    def _ramp(self, column: int) -> Any:
        return None if column >= self._n_plain else self.plain._ramp(column)

    def _codes_in(self, data: Table, j: int, known: Mapping[int, Codes]) -> Codes | None:
        if j < len(self.features):
            return super()._codes_in(data, j, known)
        product = self.products[j - len(self.features)]
        both = [known[f] if f in known else super(ProductDesign, self)._codes_in(data, f, known) for f in product.pair]
        return None if both[0] is None or both[1] is None else product.codes(both[0], both[1])

    def costs(self, rules: Constraints) -> FloatArray:
        """Return the factor on lambda0 of each column: of a product, that of its dearer feature times its own."""
        by_feature = rules.costs(self.names)
        dearer = [max(by_feature[list(product.pair)]) for product in self.products]
        return np.append(self.plain.costs(rules), np.repeat(self.interactions.cost * np.array(dearer), TWO))

    def bounds(self, rules: Constraints) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and the highest coefficient of each column.

        A product of `x <= t` falls with x where it adds, one of `x > t` grows: its sign is what the direction of x
        wants. Where its two features want different signs, it is held at zero.
        """
        low, high = self.plain.bounds(rules)
        directions = self.plain._directions(rules)
        lows, highs = [], []
        for product in self.products:
            wanted = {
                int(half.sense(self.features[half.feature]) * directions[half.feature])
                for half in (product.first, product.second)
            }
            lows += [0.0 if 1 in wanted else -np.inf] * TWO
            highs += [0.0 if -1 in wanted else np.inf] * TWO
        return np.append(low, lows), np.append(high, highs)

    def _rules_of_products(self) -> dict[str, Any]:
        parents = np.full((self.n_columns, TWO), -1, dtype=np.int64)
        parents[:, 0] = np.append(self.plain.group, np.repeat([p.first.feature for p in self.products], TWO))
        parents[self._n_plain :, 1] = np.repeat([p.second.feature for p in self.products], TWO)
        return {
            "parents": parents,
            "max_per_pair": self.interactions.max_terms_per_pair or 0,
            "hierarchy": self.interactions.hierarchy or "none",
        }
