"""Summaries of the training data in a model: distributions and counts, and the detection of new values."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import UNSEEN, Scale, Value
from sparsegam._data.table import Table
from sparsegam._models.terms import Condition
from sparsegam.arrays import FloatArray
from sparsegam.checks import warn

if TYPE_CHECKING:
    from sparsegam._models.additive import Model
    from sparsegam._models.one_vs_rest import OneVsRestModel

RULES = {
    "mean": "is scored at the mean contribution of its column",
    "error": "raises an error",
    "last": "is scored as if no condition held",
}
"""Rules for values that did not occur in training, with their description."""
NEW = ": no training rows"  # appended to the label of such values

Shares = tuple[tuple[Value, float], ...]


@dataclass(frozen=True)
class TrainingDistribution:
    """Training distribution of a feature, at the resolution of the conditions of a model.

    The mean contribution of the feature follows from it for any coefficients.

    Attributes
    ----------
    upto : tuple of (value, share)
        For each threshold, in order, the share of the rows above the threshold before it and at most at this one.
    above : float
        The share of the rows above all thresholds.
    single : tuple of (value, share)
        Shares of special values; for a category, one level of each group of levels with the same contribution.
    missing : float
        The share of the rows without a value.
    means : tuple of float
        The mean of the values of each share of `upto` if the feature has ramps, else empty.
    """

    upto: Shares = ()
    above: float = 0.0
    single: Shares = ()
    missing: float = 0.0
    means: tuple[float, ...] = ()

    def sample(self, scale: Scale) -> tuple[FloatArray, FloatArray]:
        """Return a number for each share above zero, and the shares."""
        top = len(scale.levels) - 1.0 if scale.has_levels else math.inf
        inside = self.means or [scale.number(value) for value, _ in self.upto]
        parts = [(number, share) for number, (_, share) in zip(inside, self.upto, strict=True)]
        parts += [(top, self.above), *((scale.number(value), share) for value, share in self.single)]
        parts.append((math.nan, self.missing))
        numbers, shares = np.array([part for part in parts if part[1] > 0]).reshape(-1, 2).T
        return numbers, shares

    def lacks(self, special: Iterable[float], scale: Scale) -> list[float]:
        """Return the special values, as numbers, that did not occur in training."""
        found = {scale.number(value) for value, _ in self.single}
        return [number for number in special if number not in found]

    def to_json(self, plain: Callable[[Value], Any]) -> dict[str, Any]:
        """Return the distribution for JSON; `plain` converts a value."""
        pairs = {
            name: [[plain(value), share] for value, share in shares]
            for name, shares in (("upto", self.upto), ("single", self.single))
        }
        means = {"means": list(self.means)} if self.means else {}
        return {**pairs, "above": self.above, "missing": self.missing, **means}


def distribution_of(
    conditions: Sequence[Condition], special: Sequence[Value], scale: Scale, numbers: FloatArray, weight: FloatArray
) -> TrainingDistribution:
    """Return the distribution of rows, or of bins with one number each, over the conditions of a model.

    Parameters
    ----------
    conditions : sequence of Condition
        The conditions on the feature.
    special : sequence of value
        Special values of the feature.
    scale : Scale
        Scale of the numbers.
    numbers, weight : ndarray
        Values of the feature and their weights; levels that are not on the scale are ignored.

    Returns
    -------
    TrainingDistribution
        The shares.
    """
    if scale.has_levels:
        known = numbers != UNSEEN
        numbers, weight = numbers[known], weight[known]
    if not numbers.size:
        return TrainingDistribution(missing=1.0)
    share, present = weight / weight.sum(), ~np.isnan(numbers)
    numbers, share, missing = numbers[present], share[present], float(share[~present].sum())
    if scale.kind == "category":
        return TrainingDistribution(single=tuple(_level_groups(conditions, scale, numbers, share)), missing=missing)
    thresholds = sorted({scale.number(value): value for c in conditions for value in c.edges}.items())
    edges = [edge for edge, _ in thresholds]
    place = np.searchsorted(edges, numbers)
    for i, value in enumerate(special, start=len(edges) + 1):
        place[numbers == scale.number(value)] = i
    sums = np.bincount(place, share, len(edges) + 1 + len(special)).tolist()
    upto = tuple((value, part) for (_, value), part in zip(thresholds, sums, strict=False))
    single = tuple(pair for pair in zip(special, sums[len(edges) + 1 :], strict=True) if pair[1] > 0)
    means = _interval_means(edges, place, numbers, share) if any(c.is_ramp for c in conditions) else ()
    return TrainingDistribution(upto, sums[len(edges)], single, missing, means)


def _interval_means(
    edges: Sequence[float], place: NDArray[np.intp], numbers: FloatArray, share: FloatArray
) -> tuple[float, ...]:
    """Return the mean of the numbers in each interval, clipped to the interval against rounding."""
    inside = place < len(edges)
    sums = np.bincount(place[inside], share[inside], len(edges))
    mean = np.bincount(place[inside], share[inside] * numbers[inside], len(edges)) / np.where(sums > 0, sums, 1.0)
    above = np.append(-np.inf, np.nextafter(edges[:-1], np.inf))
    return tuple(np.where(sums > 0, np.clip(mean, above, edges), edges).tolist())


def _level_groups(
    conditions: Sequence[Condition], scale: Scale, numbers: FloatArray, share: FloatArray
) -> Iterator[tuple[Value, float]]:
    """Return a level and the share of each group of levels with the same conditions."""
    group = np.full(len(scale.levels), len(conditions))
    for i, condition in enumerate(conditions):
        group[[int(scale.number(level)) for level in condition.values]] = i
    of_row = group[numbers.astype(np.intp)]
    for i in np.unique(of_row).tolist():
        yield scale.value(float(numbers[of_row == i][0])), float(share[of_row == i].sum())


@dataclass(frozen=True, eq=False)
class TrainingCounts:
    """Unweighted counts of the training rows by the bins of the fit.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    bins : dict of str to (ndarray, ndarray)
        For each feature in use, a number in each bin of the fit and the number of rows in it.
    bands : (ndarray, ndarray)
        Scores at which bands of about a tenth of the rows end, and the number of rows in each band.
    pairs : dict of pair of str to ndarray
        For each pair of features with interactions, the number of rows in each pair of bins of the model.
    """

    n_rows: int
    bins: Mapping[str, tuple[FloatArray, FloatArray]]
    bands: tuple[FloatArray, FloatArray]
    pairs: Mapping[tuple[str, str], FloatArray] = field(default_factory=dict)


class NewValues:
    """Counts of the values of a table that did not occur in training, collected for a single warning."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], int] = {}

    def note(self, name: str, found: Mapping[str, int]) -> None:
        """Store the counts of a column by kind. A column that is read by several models is counted once."""
        self._counts |= {(name, kind): count for kind, count in found.items()}

    def add(self, other: "NewValues") -> None:
        """Add the counts of other rows of the table."""
        for key, count in other._counts.items():
            self._counts[key] = self._counts.get(key, 0) + count

    def tell(self, rule: str) -> None:
        """Warn about the new values, or raise ValueError if the rule of the model is "error"."""
        found = [
            f"{count} row{'s have' if count > 1 else ' has'} {kind} in {name!r}"
            for (name, kind), count in self._counts.items()
            if rule != "last" or kind == "a new level"
        ]
        if not found:
            return
        what = f"{', '.join(found)}, which did not occur in training"
        if rule == "error":
            msg = (
                f"{what}, and the model has missing='error': fill these values in, drop the rows, or set "
                "missing='mean' to score them at the mean contribution of the column."
            )
            raise ValueError(msg)
        how = "scored at the mean contribution of the column" if rule == "mean" else "these contribute 0 to the score"
        warn(f"{what}: {how} (missing={rule!r}).", UserWarning)


def score_pieces(model: "Model | OneVsRestModel", pieces: Iterable[Table]) -> FloatArray:
    """Return the scores of a table that is read in pieces, with a single warning about new values."""
    total, scores = NewValues(), []
    for piece in pieces:
        new = NewValues()
        scores.append(model.score_rows(piece, new))
        total.add(new)
    total.tell(model.missing)
    return np.concatenate(scores) if scores else np.zeros(0)
