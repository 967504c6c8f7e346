"""The columns of an additive model: steps, levels, ramps and interactions, with their counts, terms and constraints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._data.columns import Scale
from sparsegam._design.binning import Codes, Feature, bin_counts, rows_per_bin
from sparsegam._design.constraints import Constraints, InteractionOptions
from sparsegam._design.interactions import Interaction
from sparsegam._design.ramps import Ramps
from sparsegam._models.additive import Model
from sparsegam._models.statistics import FitStatistics
from sparsegam._models.terms import Condition, Term, conditions_of
from sparsegam._models.training import TrainingCounts, TrainingDistribution, distribution_of
from sparsegam.arrays import FloatArray

NO_COLUMNS = np.zeros(0, dtype=np.int64)
# Minimum weight on each side of a step, relative to the mean weight of a row. With less weight, the coefficient is
# undetermined.
NEGLIGIBLE_WEIGHT = 1e-3


@dataclass(frozen=True, eq=False)
class ThresholdDesign:
    """A description of the columns that a search chooses from.

    The columns are numbered feature by feature: first one per bin, `x <= t` for the ordered bins and `x == v` for the
    others, then one per ramp. After all features follow two columns per interaction: not both of its conditions are
    true (never a candidate), and both are true.

    Attributes
    ----------
    features : tuple of Feature
        The features.
    n_rows : int
        Number of training rows of positive weight.
    counts : ndarray of shape (n_columns,)
        Number of training rows for which each column is 1; for a ramp, number of rows below its knot.
    weights : ndarray of shape (n_columns,)
        Total weight of these rows, in units of the mean weight of a row.
    ramps : tuple of Ramps or None
        Ramps of each feature.
    shapes : tuple of {"steps", "ramps", "both"}
        Shapes that each feature may have. A feature without ramps always has steps.
    interactions : tuple of Interaction, default=()
        Interactions, sorted by pair.
    """

    features: tuple[Feature, ...]
    n_rows: int
    counts: FloatArray
    weights: FloatArray
    ramps: tuple[Ramps | None, ...]
    shapes: tuple[str, ...]
    interactions: tuple[Interaction, ...] = ()

    # --- numbering of the columns

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(feature.name for feature in self.features)

    @cached_property
    def n_bins(self) -> NDArray[np.int64]:
        """Number of bins of each feature."""
        return np.array([feature.n_bins for feature in self.features], dtype=np.int64)

    @cached_property
    def n_ordered(self) -> NDArray[np.int64]:
        """Number of ordered bins of each feature; these are its first bins."""
        return np.array([feature.n_ordered for feature in self.features], dtype=np.int64)

    @cached_property
    def n_ramps(self) -> NDArray[np.int64]:
        """Number of ramps of each feature."""
        return np.array([0 if ramps is None else ramps.knots.size for ramps in self.ramps], dtype=np.int64)

    @cached_property
    def offset(self) -> NDArray[np.int64]:
        """First column of each feature."""
        width = self.n_bins + self.n_ramps
        offset: NDArray[np.int64] = np.cumsum(width) - width
        return offset

    @cached_property
    def n_feature_columns(self) -> int:
        """Number of columns without those of interactions."""
        return int(self.n_bins.sum() + self.n_ramps.sum())

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.n_feature_columns + 2 * len(self.interactions)

    @property
    def has_ramps(self) -> bool:
        """Whether any feature has ramps."""
        return bool(self.n_ramps.any())

    @cached_property
    def feature_of(self) -> NDArray[np.int64]:
        """Feature of each column that is not an interaction."""
        return np.repeat(np.arange(len(self.features)), self.n_bins + self.n_ramps)

    @cached_property
    def group(self) -> NDArray[np.int64]:
        """Feature of each column or, for interactions, the number of features plus the position of the pair."""
        pairs = dict.fromkeys(interaction.pair for interaction in self.interactions)
        number = {pair: len(self.features) + i for i, pair in enumerate(pairs)}
        of_interactions = np.array([number[interaction.pair] for interaction in self.interactions], dtype=np.int64)
        return np.append(self.feature_of, np.repeat(of_interactions, 2))

    @cached_property
    def is_ordered(self) -> NDArray[np.bool_]:
        """Mask of the columns `x <= t`."""
        return self._with_interactions(self._position < self.n_ordered[self.feature_of])

    @cached_property
    def is_ramp(self) -> NDArray[np.bool_]:
        """Mask of the columns that are ramps."""
        return self._with_interactions(self._position >= self.n_bins[self.feature_of])

    @cached_property
    def is_interaction(self) -> NDArray[np.bool_]:
        """Mask of the columns of interactions."""
        out: NDArray[np.bool_] = np.arange(self.n_columns) >= self.n_feature_columns
        return out

    @property
    def _position(self) -> NDArray[np.int64]:
        """Position of each column among those of its feature."""
        position: NDArray[np.int64] = np.arange(self.n_feature_columns) - self.offset[self.feature_of]
        return position

    def _with_interactions(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return np.append(mask, np.zeros(2 * len(self.interactions), dtype=bool))

    def bins_of(self, j: int) -> slice:
        """Return the columns of the bins of feature j."""
        first = int(self.offset[j])
        return slice(first, first + int(self.n_bins[j]))

    def ramp_of(self, column: int) -> tuple[Ramps, int] | None:
        """Return the ramps of a column's feature and the position of the column among them; None for other columns."""
        if column >= self.n_feature_columns:
            return None
        j = int(self.feature_of[column])
        ramps, position = self.ramps[j], column - int(self.offset[j] + self.n_bins[j])
        return None if ramps is None or position < 0 else (ramps, position)

    def interaction_of(self, column: int) -> Interaction | None:
        """Return the interaction of a column; None for columns of single features."""
        position = column - self.n_feature_columns
        return None if position < 0 else self.interactions[position // 2]

    def columns_of(self, interactions: Sequence[Interaction]) -> NDArray[np.int64]:
        """Return the column that is 1 where an interaction is true, for each of them; -1 if the design lacks it."""
        column = {known: self.n_feature_columns + 2 * i + 1 for i, known in enumerate(self.interactions)}
        return np.array([column.get(interaction, -1) for interaction in interactions], dtype=np.int64)

    def features_of(self, columns: NDArray[np.int64]) -> list[int]:
        """Return the features that some columns depend on, in ascending order."""
        found: set[int] = set()
        for column in columns.tolist():
            interaction = self.interaction_of(column)
            found |= {int(self.feature_of[column])} if interaction is None else {*interaction.pair}
        return sorted(found)

    def with_interactions(
        self, interactions: Sequence[Interaction], counts: FloatArray, weights: FloatArray
    ) -> "ThresholdDesign":
        """Return the design with other interactions.

        Parameters
        ----------
        interactions : sequence of Interaction
            The interactions, as `sorted_interactions` returns them.
        counts, weights : ndarray of shape (2 * n_interactions,)
            As the attributes of these names, for the columns of the interactions.
        """
        n = self.n_feature_columns
        return replace(
            self,
            interactions=tuple(interactions),
            counts=np.append(self.counts[:n], counts),
            weights=np.append(self.weights[:n], weights),
        )

    # --- models

    def term(self, column: int, coef: float) -> Term:
        """Convert a column and its coefficient to a term of a model."""
        interaction, ramp = self.interaction_of(column), self.ramp_of(column)
        if interaction is not None:
            return interaction.term(self.features, coef)
        j = int(self.feature_of[column])
        feature = self.features[j]
        if ramp is None:
            return Term(feature.name, feature.condition(column - int(self.offset[j])), coef)
        ramps, r = ramp
        return Term(feature.name, Condition("ramp", float(ramps.thresholds[r]), ramps.low), coef / ramps.width)

    def terms(self, point: _core.Point) -> tuple[Term, ...]:
        """Return the terms of a point, in the order of the columns."""
        order = np.argsort(point.columns)
        return tuple(map(self.term, point.columns[order].tolist(), point.coef[order].tolist()))

    def model(  # noqa: PLR0913
        self,
        point: _core.Point,
        loss: str,
        classes: NDArray[Any] | None,
        missing: str = "mean",
        *,
        pair_shares: Mapping[tuple[str, str], FloatArray] | None = None,
        training: TrainingCounts | None = None,
        statistics: FitStatistics | None = None,
    ) -> Model:
        """Convert a point to a model.

        Parameters
        ----------
        point : Point
            Intercept, columns and coefficients, in the user's units.
        loss : str
            The loss.
        classes : ndarray or None
            The two class labels, the positive one last; None for a regression.
        missing : {"mean", "error", "last"}, default="mean"
            How the model scores values that no training row had.
        pair_shares : dict from pair of str to ndarray, optional
            Share of the training rows in each pair of bins of features with interactions.
        training : TrainingCounts, optional
            Counts of the training rows.
        statistics : FitStatistics, optional
            Term statistics.
        """
        terms, used = self.terms(point), self.features_of(point.columns)
        conditions = conditions_of(terms)
        return Model(
            intercept=float(point.intercept),
            terms=terms if statistics is None else statistics.attached_to(terms),
            feature_names=self.names,
            loss=loss,
            classes=None if classes is None else (classes[0], classes[1]),
            special_values={feature.name: feature.special_values for feature in self.features if feature.special},
            scales=self._scales(set(used)),
            missing=missing,
            distributions={self.names[j]: self.distribution(j, conditions[self.names[j]]) for j in used},
            pair_shares=pair_shares or {},
            training=training,
            statistics=statistics,
        )

    def rows_by_bin(self, j: int) -> tuple[FloatArray, FloatArray]:
        """Return a number in each bin of feature j, and the number of training rows in the bin."""
        feature = self.features[j]
        return feature.representatives(), bin_counts(feature, self.counts[self.bins_of(j)])

    def distribution(self, j: int, conditions: Sequence[Condition]) -> TrainingDistribution:
        """Return the training distribution of feature j over the conditions of a model."""
        feature, ramps = self.features[j], self.ramps[j]
        numbers = feature.representatives()
        if ramps is not None:
            numbers[: ramps.bin_means.size] = ramps.bin_means
        weight = bin_counts(feature, self.weights[self.bins_of(j)])
        return distribution_of(conditions, feature.special_values, feature.scale, numbers, weight)

    def _scales(self, used: set[int]) -> dict[str, Scale]:
        """Return the scales of features that are not plain numbers; those of categories only if a model uses them."""
        return {
            feature.name: feature.scale
            for j, feature in enumerate(self.features)
            if feature.scale.kind != "number" and (j in used or not feature.scale.has_levels)
        }

    # --- values of the columns

    def is_exact(self, columns: NDArray[np.int64] | None = None) -> bool:
        """Return whether bins determine the values of columns (default: all): false if a ramp varies within a bin."""
        if columns is None:
            return all(ramps is None or ramps.exact for ramps in self.ramps)
        return all(ramp is None or ramp[0].exact for ramp in map(self.ramp_of, columns.tolist()))

    def coefficient_units(self, columns: NDArray[np.int64]) -> FloatArray:
        """Return the ratio of the coefficient of each column to that of its term."""
        ramps = map(self.ramp_of, columns.tolist())
        return np.array([1.0 if ramp is None else ramp[0].width for ramp in ramps], dtype=np.float64)

    def bin_tables(self, columns: NDArray[np.int64], coef: FloatArray) -> dict[int, FloatArray]:
        """Return, for each feature of some columns, the contribution to the score of each of its bins.

        Interactions are left out.
        """
        plain = columns < self.n_feature_columns
        tables = {j: np.zeros(self.n_bins[j]) for j in dict.fromkeys(self.feature_of[columns[plain]].tolist())}
        for column, value in zip(columns[plain].tolist(), coef[plain].tolist(), strict=True):
            j, ramp = int(self.feature_of[column]), self.ramp_of(column)
            if ramp is None:
                bin_ = column - int(self.offset[j])
                tables[j][0 if bin_ < self.n_ordered[j] else bin_ : bin_ + 1] += value
            else:
                tables[j] += value * ramp[0].by_bin(ramp[1], int(self.n_bins[j]))
        return tables

    def had_rows(self, j: int, codes: Codes, xp: Any = np) -> bool:
        """Return whether all unordered bins of feature j among these codes had training rows.

        `xp` is the module of `codes`: NumPy, or CuPy for an array on a device.
        """
        first, last = int(self.n_ordered[j]), int(self.n_bins[j])
        is_empty = xp.asarray(self.counts[self.bins_of(j)][first:] == 0)
        return not bool((xp.bincount(codes, minlength=last)[first:][is_empty] > 0).any())

    # --- constraints

    def candidates(self, constraints: Constraints) -> NDArray[np.bool_]:
        """Return the mask of the columns that may enter a model."""
        allowed = self._on_both_sides(self.counts, rows_per_bin(constraints.min_samples_bin, self.n_rows))
        allowed &= self._on_both_sides(self.weights, NEGLIGIBLE_WEIGHT)
        # The last ordered bin of a feature is constant or, with special and missing values, the complement of theirs.
        allowed[(self.offset + self.n_ordered - 1)[self.n_ordered > 0]] = False
        # One of two levels is the complement of the other. With a ridge, both together would cost less than one.
        for j in np.flatnonzero((self.n_ordered == 0) & (self.n_bins == 2)).tolist():
            allowed[self.offset[j] + self.features[j].redundant_bin()] = False
        if self.has_ramps:
            ramps_only = (self.n_ramps > 0) & (np.array(self.shapes) == "ramps")
            allowed[: self.n_feature_columns][
                self.is_ordered[: self.n_feature_columns] & ramps_only[self.feature_of]
            ] = False
        forbidden = constraints.forbidden(self.names)
        if forbidden:
            allowed[np.isin(self.group, forbidden)] = False
        allowed[self.n_feature_columns :: 2] = False
        return allowed

    def _on_both_sides(self, sums: FloatArray, minimum: float) -> NDArray[np.bool_]:
        """Return the columns that are 1 for enough rows and 0 for enough; ramps only need rows below the knot."""
        enough: NDArray[np.bool_] = (sums >= minimum) & (self.is_ramp | (self.n_rows - sums >= minimum))
        return enough

    def has_events(self, events: NDArray[np.int64], n_events: int, minimum: int) -> NDArray[np.bool_]:
        """Return the columns with enough rows of either class where they are 1 and where they are 0.

        Parameters
        ----------
        events : ndarray of int of shape (n_columns,)
            Number of positive-class rows for which each column is 1, or below the knot of a ramp.
        n_events : int
            Number of positive-class rows.
        minimum : int
            Minimum number of rows. For ramps it applies below the knot only.
        """
        outside = np.minimum(n_events - events, (self.n_rows - self.counts) - (n_events - events))
        sides = (events, self.counts - events, np.where(self.is_ramp, np.inf, outside))
        enough: NDArray[np.bool_] = np.minimum.reduce(sides) >= minimum
        return enough

    def penalty(
        self,
        lambda2: float,
        constraints: Constraints,
        interactions: InteractionOptions,
        *,
        allowed: NDArray[np.bool_],
        required: NDArray[np.int64] = NO_COLUMNS,
        penalty_scale: FloatArray | None = None,
    ) -> _core.Penalty:
        """Return the penalties, bounds and limits of the columns for the core."""
        low, high = self.bounds(constraints)
        of_interactions: dict[str, Any] = {}
        if self.interactions:
            pairs = np.repeat(np.array([one.pair for one in self.interactions], dtype=np.int64), 2, axis=0)
            parents = np.full((self.n_columns, 2), -1, dtype=np.int64)
            parents[: self.n_feature_columns, 0] = self.feature_of
            parents[self.n_feature_columns :] = pairs
            of_interactions = {
                "parents": parents,
                "max_per_pair": interactions.max_terms_per_pair or 0,
                "hierarchy": interactions.hierarchy or "none",
            }
        return _core.Penalty(
            lambda2=lambda2,
            cost=np.ascontiguousarray(self.costs(constraints, interactions)),
            low=low,
            high=high,
            allowed=allowed,
            group=self.group,
            always=required,
            penalty_scale=penalty_scale,
            max_groups=constraints.max_features or 0,
            max_per_group=constraints.max_terms_per_feature or 0,
            **of_interactions,
        )

    def costs(self, constraints: Constraints, interactions: InteractionOptions) -> FloatArray:
        """Return the factor on lambda0 of each column.

        An interaction costs `interaction_cost` times the larger cost of its two features.
        """
        by_feature = constraints.costs(self.names)
        if not self.interactions and by_feature.size and (by_feature == by_feature[0]).all():
            return np.broadcast_to(by_feature[0], self.n_columns)
        larger = np.array([max(by_feature[list(one.pair)]) for one in self.interactions])
        return np.append(by_feature[self.feature_of], np.repeat(interactions.cost * larger, 2))

    def bounds(self, constraints: Constraints) -> tuple[FloatArray, FloatArray]:
        """Return the lower and the upper bound of each coefficient, from the monotone directions.

        If the score must increase with x, the coefficients of the columns `x <= t` are at most zero and those of ramps
        at least zero. Special and missing values are unordered and stay free. An interaction of `x <= t` or `x > t` has
        the sign that the direction of x requires; if its two features require different signs, it is fixed at zero.
        """
        directions = self._directions(constraints)
        if not directions.any():
            return np.full(self.n_columns, -np.inf), np.full(self.n_columns, np.inf)
        n = self.n_feature_columns
        sense = np.where(self.is_ramp[:n], -1, np.where(self.is_ordered[:n], 1, 0))
        direction = sense * directions[self.feature_of]
        low, high = np.full(self.n_columns, -np.inf), np.full(self.n_columns, np.inf)
        low[:n][direction < 0], high[:n][direction > 0] = 0.0, 0.0
        for i, interaction in enumerate(self.interactions):
            columns = slice(n + 2 * i, n + 2 * i + 2)
            for side in (interaction.first, interaction.second):
                sign = side.direction(self.features[side.feature]) * directions[side.feature]
                if sign > 0:
                    low[columns] = 0.0
                elif sign < 0:
                    high[columns] = 0.0
        return low, high

    def _directions(self, constraints: Constraints) -> NDArray[np.int64]:
        directions = constraints.directions(self.names)
        for j in np.flatnonzero(directions):
            if self.n_ordered[j] == 0:
                msg = (
                    f"column {self.names[j]!r} in monotone has unordered categories: remove it from monotone, or make "
                    "it an ordered categorical."
                )
                raise ValueError(msg)
        return directions


def sorted_interactions(interactions: Sequence[Interaction]) -> tuple[Interaction, ...]:
    """Return distinct interactions in the order in which a design has them."""
    return tuple(sorted(set(interactions), key=lambda interaction: (interaction.pair, interaction)))
