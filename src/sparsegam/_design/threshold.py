"""The columns a search may choose from: features as bin codes, what each column stands for, and what it may cost."""

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._data.columns import Scale
from sparsegam._data.table import Table
from sparsegam._design.binning import Codes, Feature, rows_per_bin
from sparsegam._design.constraints import Constraints
from sparsegam._design.own import Own
from sparsegam._design.ramps import Ramps
from sparsegam._design.training import Bins, Histogram, Training, histogram_of
from sparsegam._models.additive import Model
from sparsegam._models.seen import SeenLater
from sparsegam._models.terms import Condition, Term, conditions_of
from sparsegam.arrays import FloatArray

NO_COLUMNS = np.zeros(0, dtype=np.int64)
NEGLIGIBLE = 1e-3  # of the weight of an average row: rows that weigh less together can tell nothing


class ThresholdDesign:
    """Bin codes of all features in the core, and the meaning of each of its columns.

    Parameters
    ----------
    features : sequence of Feature
        One per source column.
    codes : sequence of ndarray
        Their bin codes.
    weight : ndarray, optional
        Weights of the rows.
    missing : {"mean", "error", "last"}
        How models score a value that no row had.
    ramps : sequence of Ramps or None, optional
        Those of each feature, whose columns come after those of its bins; none by default.
    shapes : sequence of {"steps", "ramps", "both"}, optional
        What each feature may be described by; features without ramps always have their steps.
    """

    def __init__(
        self,
        features: Sequence[Feature],
        codes: Sequence[Codes],
        weight: FloatArray | None = None,
        *,
        missing: str = "mean",
        ramps: Sequence[Ramps | None] | None = None,
        shapes: Sequence[str] | None = None,
    ) -> None:
        self.missing = missing
        self.ramps = [None] * len(features) if ramps is None else list(ramps)
        self.shapes = ["both"] * len(features) if shapes is None else list(shapes)
        self.features = tuple(features)
        self.n_bins = np.array([feature.n_bins for feature in features], dtype=np.int64)
        self.n_ordered = np.array([feature.n_ordered for feature in features], dtype=np.int64)
        self.n_ramps = np.array([0 if mine is None else mine.knots.size for mine in self.ramps], dtype=np.int64)
        width = self.n_bins + self.n_ramps
        self.offset = np.cumsum(width) - width
        self.source = np.repeat(np.arange(len(self.features), dtype=np.int32), width)  # whose codes a column is made of
        self.group = self.source  # whose terms it is counted among
        self.codes = tuple(codes)
        self.core = self._in_core(codes)
        self.counts = self.sums()
        varied = weight is not None and weight.min() < weight.max()
        self.shares = self.sums(weight / weight.mean()) if weight is not None and varied else self.counts

    def _in_core(self, codes: Sequence[Codes]) -> Any:
        """Return the design as the core has it, which reads the codes where they are."""
        ramped = [None if mine is None else mine.in_core() for mine in self.ramps]
        return _core.ThresholdDesign(codes, self.n_bins, self.n_ordered, ramped)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(feature.name for feature in self.features)

    @property
    def is_plain(self) -> bool:
        """Whether there are no ramps: columns are 0 or 1."""
        return not self.n_ramps.any()

    @property
    def n_columns(self) -> int:
        """Number of columns, one per bin and one per ramp."""
        return int(self.n_bins.sum() + self.n_ramps.sum())

    @property
    def n_candidates(self) -> int:
        """Number of columns that may enter a model."""
        return int(np.count_nonzero(self.candidates(Constraints())))

    def candidates(self, rules: Constraints) -> NDArray[np.bool_]:
        """Tell which columns may enter a model.

        The last ordered bin of a feature may not: its column is constant or, beside special and missing values, the
        complement of theirs. Nor may one of two levels, the complement of the other (beside a ridge, both would cost
        less than one), nor columns that hold or fail for too few rows, or for rows of next to no weight.
        """
        allowed = self._on_both_sides(self.counts, rows_per_bin(rules.min_samples_bin, self.core.n_rows))
        if self.shares is not self.counts:
            allowed &= self._on_both_sides(self.shares, NEGLIGIBLE)
        allowed[(self.offset + self.n_ordered - 1)[self.n_ordered > 0]] = False
        of_two = np.flatnonzero((self.n_ordered == 0) & (self.n_bins == 2))
        allowed[[self.offset[j] + self.features[j].spare_bin() for j in of_two if j < len(self.features)]] = False
        if not self.is_plain:
            alone = (self.n_ramps > 0) & (np.array(self.shapes) == "ramps")
            allowed[self.is_ordered() & alone[self.group]] = False
        never = rules.forbidden(self.names)
        if len(never):
            allowed[np.isin(self.group, never)] = False
        return allowed

    def _on_both_sides(self, held: FloatArray, at_least: float) -> NDArray[np.bool_]:
        """Tell which columns hold for so much, and fail for as much; ramps say something above their knots, too."""
        n = self.core.n_rows
        enough: NDArray[np.bool_] = (held >= at_least) & (self.is_ramp() | (n - held >= at_least))
        return enough

    def stand_on_events(self, events: NDArray[np.bool_], at_least: int) -> NDArray[np.bool_]:
        """Tell which columns hold, and fail, for so many rows of either class; ramps need them below their knots."""
        held, total = self.held_by(events)
        fails = np.minimum(total - held, (self.core.n_rows - self.counts) - (total - held))
        sides = (held, self.counts - held, np.where(self.is_ramp(), np.inf, fails))
        enough: NDArray[np.bool_] = np.minimum.reduce(sides) >= at_least
        return enough

    def held_by(self, rows: NDArray[np.bool_]) -> tuple[FloatArray, float]:
        """Return for how many of some rows each column is 1, and how many they are."""
        return self.core.column_counts(np.arange(len(self.codes)), mask=rows), float(np.count_nonzero(rows))

    def term(self, column: int, coef: float) -> Term:
        """Return a column and its coefficient in the words of the data."""
        j, ramp = int(self.source[column]), self._ramp(column)
        feature = self.features[j]
        if ramp is None:
            return Term(feature.name, feature.condition(column - int(self.offset[j])), coef)
        ramps, r = ramp
        return Term(feature.name, Condition("ramp", float(ramps.at[r]), ramps.low), coef / ramps.width)

    def _ramp(self, column: int) -> tuple[Ramps, int] | None:
        """Return the ramps of the column's feature, and which of them it is; None for the column of a bin."""
        j = int(self.source[column])
        ramps = self.ramps[j]
        if ramps is None:
            return None
        r = column - int(self.offset[j] + self.n_bins[j])
        return None if r < 0 else (ramps, r)

    def model(self, point: _core.Point, loss: str, classes: NDArray[Any] | None, own: Own | None = None) -> Model:
        """Put one point of a search into the words of the data; `own` are the rows, where bins do not say all."""
        columns, order = point.columns, np.argsort(point.columns)
        terms = tuple(map(self.term, columns[order].tolist(), point.coef[order].tolist()))
        used, asked = self.features_of(columns), conditions_of(terms)
        model = Model(
            intercept=float(point.intercept),
            terms=terms,
            feature_names=self.names,
            loss=loss,
            classes=None if classes is None else (classes[0], classes[1]),
            special_values={feature.name: feature.special_values for feature in self.features if feature.special},
            scales=self._scales(set(used)),
            missing=self.missing,
            seen=SeenLater({self.names[j]: partial(self.bins(j).seen, asked[self.names[j]]) for j in used}),
            seen_pairs=self.seen_pairs(terms),
        )
        return model.remembering(self.training(point, own))

    def seen_pairs(self, _terms: Sequence[Term]) -> dict[tuple[str, str], FloatArray]:
        """Sum the weight of the rows by the cells of each pair that terms are of: there is none."""
        return {}

    def is_product(self) -> NDArray[np.bool_]:
        """Tell which columns are products of two conditions: none."""
        return np.zeros(self.n_columns, dtype=bool)

    def features_of(self, columns: NDArray[np.int64]) -> list[int]:
        """Return the features that some columns ask about, in the order of the table."""
        return sorted(set(self.source[columns].tolist()))

    def training(self, point: _core.Point, own: Own | None = None) -> Training:
        """Count the rows of a search by what one of its models sees of them."""
        columns = tuple((self.features[j], self.column_counts(j)) for j in self.features_of(point.columns))
        return Training(self.core.n_rows, columns, self.histogram(point, own))

    def histogram(self, point: _core.Point, own: Own | None = None) -> Histogram:
        """Count the scores of the rows."""
        return histogram_of(self.row_scores(point, own))

    def row_scores(self, point: _core.Point, own: Own | None = None) -> FloatArray:
        """Return the score of each row of the search: by its bins, or by its own values where these are given."""
        if own is not None and not self.is_exact(point.columns):
            return self.own_columns(own, point.columns).scores(float(point.intercept), point.coef)
        score: FloatArray = self.core.row_scores(point)
        return score

    def column_counts(self, j: int) -> FloatArray:
        """Return for how many rows each column of feature j is 1."""
        out: FloatArray = self.counts[self.bins_of(j)].copy()
        return out

    def bins(self, j: int) -> Bins:
        """Return the bins of feature j, and what their rows weigh."""
        ramps = self.ramps[j]
        return Bins(self.features[j], self.shares[self.bins_of(j)].copy(), None if ramps is None else ramps.middle)

    def count(self, rows: NDArray[np.bool_]) -> int:
        """Return how many some rows are."""
        return int(np.count_nonzero(rows))

    def bins_of(self, j: int) -> slice:
        """Return where the columns of the bins of feature j are."""
        first = int(self.offset[j])
        return slice(first, first + int(self.n_bins[j]))

    def counts_among(self, columns: NDArray[np.int64], rows: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return for how many of some rows each of some columns is 1."""
        source = self.source[columns].astype(np.int64)
        features = np.unique(source)
        if not features.size:
            return np.zeros(0, dtype=np.int64)
        sums = self.core.column_counts(features, mask=rows)
        width = self.n_bins[features] + self.n_ramps[features]
        moved = np.cumsum(width) - width - self.offset[features]
        found: NDArray[np.int64] = sums[moved[np.searchsorted(features, source)] + columns].astype(np.int64)
        return found

    def bin_tables(self, columns: NDArray[np.int64], coef: FloatArray) -> dict[int, FloatArray]:
        """Return, for each feature that some columns are of, what these add to the score in each of its bins."""
        tables = {j: np.zeros(self.n_bins[j]) for j in dict.fromkeys(self.source[columns].tolist())}
        for column, value in zip(columns.tolist(), coef.tolist(), strict=True):
            j, ramp = int(self.source[column]), self._ramp(column)
            if ramp is None:
                place = column - int(self.offset[j])
                tables[j][0 if place < self.n_ordered[j] else place : place + 1] += value
            else:
                tables[j] += value * ramp[0].by_bin(ramp[1], int(self.n_bins[j]))
        return tables

    def scores(self, data: Table, points: Sequence[_core.Point]) -> FloatArray | None:
        """Score other rows by the bins of this design, all points at once.

        Returns an array of shape (n_points, n_rows), or None where a row has a value of which no training row was:
        what that counts as is for models to say.
        """
        tables = [self.bin_tables(point.columns, point.coef) for point in points]
        codes: dict[int, Codes] = {}
        for j in sorted({j for table in tables for j in table}):
            found = self._codes_in(data, j, codes)
            if found is None:
                return None
            codes[j] = found
        out = np.empty((len(points), data.n_rows))
        part = np.empty(data.n_rows)
        for i, (point, table) in enumerate(zip(points, tables, strict=True)):
            out[i] = point.intercept
            for j, by_bin in table.items():
                out[i] += by_bin.take(codes[j], out=part, mode="clip")
            if not self.is_exact(point.columns):
                self._correct(out[i], data, point, codes)
        return out

    def _codes_in(self, data: Table, j: int, _known: Mapping[int, Codes]) -> Codes | None:
        """Return the codes of feature j in other rows; None where these have a value of which no training row was."""
        found = self.features[j].codes_of(data.column(j))
        return found if found is not None and self._had_rows(j, found) else None

    def _correct(self, score: FloatArray, data: Table, point: _core.Point, codes: Mapping[int, Codes]) -> None:
        """Put the rows' own values into scores that went by the means of bins."""
        for column, coef in zip(point.columns.tolist(), point.coef.tolist(), strict=True):
            j, ramp = int(self.source[column]), self._ramp(column)
            if ramp is None or ramp[0].exact:
                continue
            ramps, r = ramp
            ordered = codes[j] < self.n_ordered[j]
            own = ramps.values(r, data.column(j).values[ordered])
            score[ordered] += coef * (own - ramps.by_bin(r, int(self.n_bins[j]))[codes[j][ordered]])

    def is_exact(self, columns: NDArray[np.int64] | None = None) -> bool:
        """Tell whether bins say all there is to say of these columns, or of all: no ramp is over several values."""
        if columns is None:
            return all(ramps is None or ramps.exact for ramps in self.ramps)
        return all(ramp is None or ramp[0].exact for ramp in map(self._ramp, columns.tolist()))

    def own_columns(self, own: Own, columns: NDArray[np.int64]) -> _core.RawColumns:
        """Return some columns by the rows' own values."""
        return _core.RawColumns(self.core, columns, [self._own_ramp(own, column) for column in columns.tolist()])

    def _own_ramp(self, own: Own, column: int) -> tuple[Any, ...] | None:
        """Return the numbers of a ramp, where it is held, and its knot; None where bins say all there is to say."""
        ramp = self._ramp(column)
        if ramp is None or ramp[0].exact:
            return None
        ramps, r = ramp
        return *own.of(int(self.source[column])), ramps.low, ramps.high, float(ramps.end[ramps.knots[r]])

    def units(self, columns: NDArray[np.int64]) -> FloatArray:
        """Return by what the coefficients of these columns are larger than those of their terms."""
        ramps = map(self._ramp, columns.tolist())
        return np.array([1.0 if ramp is None else ramp[0].width for ramp in ramps], dtype=np.float64)

    def _had_rows(self, j: int, codes: Codes) -> bool:
        """Tell whether training rows were in all of these bins of feature j that are out of the order."""
        first, last = int(self.n_ordered[j]), int(self.n_bins[j])
        empty = self.counts[self.bins_of(j)][first:] == 0
        return not (np.bincount(codes, minlength=last)[first:][empty] > 0).any()

    def penalty(
        self,
        lambda2: float,
        rules: Constraints,
        *,
        allowed: NDArray[np.bool_] | None = None,
        always: NDArray[np.int64] = NO_COLUMNS,
        unit: FloatArray | None = None,
    ) -> _core.Penalty:
        """Return the price, the bounds and the limits of the columns."""
        low, high = self.bounds(rules)
        return _core.Penalty(
            lambda2=lambda2,
            cost=np.ascontiguousarray(self.costs(rules)),
            low=low,
            high=high,
            allowed=self.candidates(rules) if allowed is None else allowed,
            group=self.group.astype(np.int64),
            always=always,
            penalty_scale=unit,
            max_groups=rules.max_features or 0,
            max_per_group=rules.max_terms_per_feature or 0,
            **self._rules_of_products(),
        )

    def _rules_of_products(self) -> dict[str, Any]:
        """Return what the core must know of products, which a design may have."""
        return {}

    def costs(self, rules: Constraints) -> FloatArray:
        """Return the factor on lambda0 of each column: one number behind all of them where they cost the same."""
        by_feature = rules.costs(self.names)
        if by_feature.size and (by_feature == by_feature[0]).all():
            return np.broadcast_to(by_feature[0], self.n_columns)
        out: FloatArray = by_feature[self.group]
        return out

    def bounds(self, rules: Constraints) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and the highest coefficient of each column.

        A score that grows with x falls with the columns `x <= t`: their coefficients are at most zero, those of ramps,
        which grow themselves, at least zero. Special and missing values are out of the order and stay free.
        """
        directions = self._directions(rules)
        if not directions.any():
            return np.full(self.n_columns, -np.inf), np.full(self.n_columns, np.inf)
        sense = np.where(self.is_ramp(), -1, np.where(self.is_ordered(), 1, 0))
        direction = sense * directions[self.group]
        return np.where(direction < 0, 0.0, -np.inf), np.where(direction > 0, 0.0, np.inf)

    def _scales(self, used: set[int]) -> dict[str, Scale]:
        """Say what features hold that are no numbers; levels of a category only where a model has a use for them."""
        return {
            feature.name: feature.scale
            for j, feature in enumerate(self.features)
            if feature.scale.kind != "number" and (j in used or not feature.scale.has_levels)
        }

    def sums(self, weight: FloatArray | None = None) -> FloatArray:
        """Sum the weights of the rows for which each column is 1; without weights, count them."""
        out: FloatArray = self.core.column_counts(np.arange(len(self.codes)), weight)
        return out

    def is_ordered(self) -> NDArray[np.bool_]:
        """Tell which columns are `x <= t`."""
        out: NDArray[np.bool_] = self._place() < self.n_ordered[self.source]
        return out

    def is_ramp(self) -> NDArray[np.bool_]:
        """Tell which columns are ramps."""
        out: NDArray[np.bool_] = self._place() >= self.n_bins[self.source]
        return out

    def _place(self) -> NDArray[np.int64]:
        """Return where each column is among those of its feature."""
        place: NDArray[np.int64] = np.arange(self.n_columns) - self.offset[self.source]
        return place

    def _directions(self, rules: Constraints) -> NDArray[np.int64]:
        directions = rules.directions(self.names)
        for j in np.flatnonzero(directions):
            if self.n_ordered[j] == 0:
                msg = (
                    f"monotone names column {self.names[j]!r}, whose categories have no order: leave it out, or make "
                    "it an ordered categorical."
                )
                raise ValueError(msg)
        return directions
