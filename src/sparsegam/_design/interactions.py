"""Interactions: products of two conditions on the bins of different features."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sparsegam._design.binning import Codes, Feature
from sparsegam._design.constraints import Pair
from sparsegam._models.terms import Clause, Condition, Term

if TYPE_CHECKING:
    from sparsegam._design.threshold import ThresholdDesign

# Number of alternative thresholds of a condition, at quantiles of the training data.
N_ALTERNATIVES = 12
# Bounds of the maximum number of interactions that a design holds as columns at the same time. Their codes take one
# byte per row and interaction.
MIN_INTERACTIONS, MAX_INTERACTIONS = 16, 256
MAX_CODE_BYTES = 1 << 27


@dataclass(frozen=True, order=True)
class BinRange:
    """A condition on a feature: true in the bins from `first` up to, but not including, `last`."""

    feature: int
    first: int
    last: int

    def condition(self, feature: Feature) -> Condition:
        """Return the condition in terms of the values of the feature."""
        if self.first > 0 and self.last == feature.n_ordered:
            return Condition(">", feature.condition(self.first - 1).value)
        return feature.condition(self.last - 1)

    def direction(self, feature: Feature) -> int:
        """Return -1 if the condition is `x <= t`, 1 if it is `x > t`, and 0 if it is true for a single value."""
        if self.last > feature.n_ordered:
            return 0
        return 1 if self.first > 0 else -1

    def with_threshold(self, threshold: int) -> "BinRange":
        """Return the condition `x <= t` or `x > t` with another threshold, the upper end of bin `threshold - 1`."""
        return replace(self, first=threshold) if self.first > 0 else replace(self, last=threshold)

    def is_true(self, codes: Codes) -> NDArray[np.bool_]:
        """Return the rows in which the condition is true."""
        out: NDArray[np.bool_] = codes < self.last
        return out & (codes >= self.first) if self.first else out


@dataclass(frozen=True, order=True)
class Interaction:
    """The product of two conditions on different features; `first.feature < second.feature`."""

    first: BinRange
    second: BinRange

    @property
    def pair(self) -> Pair:
        """The positions of the two features."""
        return self.first.feature, self.second.feature

    def codes(self, first: Codes, second: Codes) -> NDArray[np.uint8]:
        """Return 1 for rows in which both conditions are true, given the bin codes of the two features."""
        out: NDArray[np.uint8] = (self.first.is_true(first) & self.second.is_true(second)).astype(np.uint8)
        return out

    def term(self, features: Sequence[Feature], coef: float) -> Term:
        """Return the term of a model."""
        first, second = (
            Clause(features[side.feature].name, side.condition(features[side.feature]))
            for side in (self.first, self.second)
        )
        return Term(first.feature, first.condition, coef, second)


def max_interactions(n_rows: int) -> int:
    """Return the maximum number of interactions that a design holds as columns at the same time."""
    return int(np.clip(MAX_CODE_BYTES // max(n_rows, 1), MIN_INTERACTIONS, MAX_INTERACTIONS))


def interaction_of(features: Sequence[Feature], term: Term) -> Interaction | None:
    """Convert a term of two features to an interaction of bins; None if a condition matches no bin."""
    position = {feature.name: j for j, feature in enumerate(features)}
    found = [_bin_range_of(features[position[c.feature]], position[c.feature], c.condition) for c in term.clauses]
    sides = sorted(side for side in found if side is not None)
    return Interaction(sides[0], sides[1]) if len(sides) == 2 else None


def _bin_range_of(feature: Feature, j: int, condition: Condition) -> BinRange | None:
    below = Condition("<=", condition.value) if condition.kind == ">" else condition
    bin_ = next((b for b, known in feature.conditions().items() if known == below), None)
    if bin_ is None:
        return None
    if condition.kind == ">":
        return BinRange(j, bin_ + 1, feature.n_ordered)
    return BinRange(j, 0 if bin_ < feature.n_ordered else bin_, bin_ + 1)


def alternatives_of(design: "ThresholdDesign", interaction: Interaction) -> list[Interaction]:
    """Return interactions that differ in the threshold, or the single value, of one of the two conditions."""
    first, second = (_alternative_ranges(design, side) for side in (interaction.first, interaction.second))
    return [replace(interaction, first=side) for side in first] + [replace(interaction, second=side) for side in second]


def _alternative_ranges(design: "ThresholdDesign", side: BinRange) -> list[BinRange]:
    """Return conditions of the same kind on the same feature, with thresholds at quantiles of the training data."""
    j, feature = side.feature, design.features[side.feature]
    n = feature.n_ordered
    if side.last > n:
        found = [BinRange(j, b, b + 1) for b in range(n, feature.n_bins)]
    else:
        cumulative = design.counts[design.bins_of(j)][:n]
        quantiles = cumulative[-1] * np.arange(1, N_ALTERNATIVES) / N_ALTERNATIVES
        thresholds = np.unique(np.searchsorted(cumulative, quantiles)) + 1
        found = [side.with_threshold(int(t)) for t in thresholds[thresholds < n]]
    return [other for other in found[:N_ALTERNATIVES] if other != side]
