"""Shape functions: what one feature adds to the score, in steps and straight pieces."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import NUMBER, Level, Scale, Value, from_array
from sparsegam._models.seen import Seen
from sparsegam._models.terms import Term
from sparsegam.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class ShapeFunction:
    """What one feature adds to the score, as a function of its value.

    Attributes
    ----------
    edges : ndarray
        Thresholds in increasing order, as numbers on the scale.
    values, slopes : ndarray
        Contribution between them: values[i] + slopes[i] * (x - edges[i]) for edges[i-1] < x <= edges[i]; one more than
        edges. The first piece and the last, which have no end, have no slope.
    starts : ndarray
        Contribution just above the lower end of each piece.
    special : dict of float to float
        Contribution of each value that is out of the ordering.
    missing : float
        Contribution of missing values.
    levels : dict of level to float
        Contribution of each level of a category that a term names.
    scale : Scale
        What the numbers stand for.
    other, unseen : float
        Contribution of levels of a category that no term names, and of levels that are not on the scale.
    seen : Seen or None
        What the rows of the fit had of the feature, where that is known.
    """

    edges: FloatArray
    values: FloatArray
    slopes: FloatArray
    starts: FloatArray
    special: dict[float, float] = field(default_factory=dict)
    missing: float = 0.0
    levels: dict[Level, float] = field(default_factory=dict)
    scale: Scale = NUMBER
    other: float = 0.0
    unseen: float = 0.0
    seen: Seen | None = None

    @property
    def thresholds(self) -> tuple[Value, ...]:
        """The edges as the data has them: dates for a date, levels for an ordered category."""
        return tuple(self.scale.value(float(edge)) for edge in self.edges)

    @property
    def has_slopes(self) -> bool:
        """Whether there are straight pieces that are not flat."""
        return bool(self.slopes.any())

    def __call__(self, x: Any) -> FloatArray:
        """Return the contribution of each value, given as the data has it."""
        return self.at(from_array(np.asarray(x), "x").on_scale(self.scale))

    def at(self, numbers: FloatArray) -> FloatArray:
        """Return the contribution of each value, given as a number on the scale."""
        out = self._of_levels(numbers) if self.scale.kind == "category" else self._of_order(numbers)
        out[np.isnan(numbers)] = self.missing
        return out

    def mean(self) -> float:
        """Return the mean contribution over the rows of the fit; 0 where these are not known."""
        return 0.0 if self.seen is None else self.seen.mean(self.scale, self.at)

    def with_new_at(self, contribution: float) -> "ShapeFunction":
        """Return the same function with one contribution for all values that no row of the fit had."""
        if self.seen is None:
            return self
        new = dict.fromkeys(self.seen.lacks(self.special, self.scale), contribution)
        missing = self.missing if self.seen.missing else contribution
        return replace(self, special=self.special | new, missing=missing, unseen=contribution)

    def moved(self, by: float) -> "ShapeFunction":
        """Return the same function, higher or lower by a constant."""
        return replace(
            self,
            values=self.values + by,
            starts=self.starts + by,
            special={number: value + by for number, value in self.special.items()},
            missing=self.missing + by,
            levels={level: value + by for level, value in self.levels.items()},
            other=self.other + by,
            unseen=self.unseen + by,
        )

    def _of_levels(self, numbers: FloatArray) -> FloatArray:
        table = np.array([self.levels.get(level, self.other) for level in self.scale.levels] + [self.unseen])
        out: FloatArray = table[np.where(np.isnan(numbers), -1, numbers).astype(np.intp)]
        return out

    def _of_order(self, numbers: FloatArray) -> FloatArray:
        piece = np.searchsorted(self.edges, numbers, side="left")  # NaN is above all edges
        out: FloatArray = self.values[piece]
        if self.has_slopes:
            out = self._sloped(numbers, piece, out)
        for value, contribution in self.special.items():
            out[numbers == value] = contribution
        if self.scale.has_levels:
            out[numbers < 0] = self.unseen
        return out

    def _sloped(self, numbers: FloatArray, piece: NDArray[np.intp], out: FloatArray) -> FloatArray:
        """Add the slopes; between its ends a piece stays between what it is there, so that monotone is monotone."""
        slope, ends = self.slopes[piece], np.append(self.edges, 0.0)
        below = np.where(slope == 0.0, 0.0, numbers) - np.where(slope == 0.0, 0.0, ends[piece])
        low, high = np.minimum(self.starts, self.values), np.maximum(self.starts, self.values)
        sloped: FloatArray = np.clip(out + slope * below, low[piece], high[piece])
        return sloped


def shape_of(
    terms: Sequence[Term], special_values: Sequence[Value] = (), scale: Scale = NUMBER, seen: Seen | None = None
) -> ShapeFunction:
    """Add up the terms of one feature; no `x <= t` holds for its special values, and its ramps are zero there."""
    steps = sorted((scale.number(t.condition.value), t.coef) for t in terms if t.condition.kind == "<=")
    ramps = [term for term in terms if term.condition.is_ramp]
    edges = np.array([edge for edge, _ in steps], dtype=np.float64)
    values, slopes = _running_sum([coef for _, coef in steps]), np.zeros(edges.size + 1)
    starts = values
    if ramps:
        edges, values, slopes, starts = _with_ramps(edges, values, ramps)
    equal = _coefs_by_value(terms)
    category = scale.kind == "category"
    return ShapeFunction(
        edges=edges,
        values=values,
        slopes=slopes,
        starts=starts,
        special={} if category else _by_number(dict.fromkeys(special_values, 0.0) | equal, scale),
        missing=sum(term.coef for term in terms if term.condition.kind == "missing"),
        levels={level: coef for level, coef in equal.items() if isinstance(level, str | int | float)}
        if category
        else {},
        scale=scale,
        seen=seen,
    )


def _running_sum(coefs: Sequence[float]) -> FloatArray:
    """Sum from the right, one by one: sums of coefficients of one sign are monotone to the bit."""
    return np.cumsum(np.array([*coefs, 0.0])[::-1])[::-1]  # x <= edges[i] holds for this step and all above it


def _with_ramps(
    steps: FloatArray, values: FloatArray, ramps: Sequence[Term]
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return edges, values, slopes and starts of steps and ramps together; each part grows or falls as it should."""
    low, knot, coef = np.array([(t.condition.low, t.condition.value, t.coef) for t in ramps], dtype=np.float64).T
    edges = np.unique(np.concatenate([steps, low, knot]))
    fall = np.minimum(np.maximum(edges[:, None], low) - knot, 0.0)
    ramped = np.append(np.add.accumulate(fall * coef, axis=1)[:, -1], 0.0)
    slopes = np.append(((low < edges[:, None]) & (edges[:, None] <= knot)) @ coef, 0.0)
    stepped = values[np.append(np.searchsorted(steps, edges), steps.size)]
    return edges, stepped + ramped, slopes, stepped + np.append(ramped[:1], ramped[:-1])


def _by_number(coefs: Mapping[Value, float], scale: Scale) -> dict[float, float]:
    return {scale.number(value): coef for value, coef in coefs.items()}


def _coefs_by_value(terms: Sequence[Term]) -> dict[Value, float]:
    """Return the coefficient of each value that a term asks to be met exactly."""
    out: dict[Value, float] = {}
    for term in terms:
        asked = term.condition.value
        if term.condition.kind in ("==", "in") and asked is not None:
            out |= dict.fromkeys(asked if isinstance(asked, tuple) else (asked,), term.coef)
    return out
