"""Shape functions: what one feature adds to the score, as a step function of its value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sparsegam.arrays import Vector
from sparsegam.data.columns import from_array
from sparsegam.data.scales import NUMBER, Level, Scale, Value
from sparsegam.models.terms import Term


@dataclass(frozen=True, eq=False)
class ShapeFunction:
    """What one feature adds to the score, as a function of its value.

    Attributes
    ----------
    edges : ndarray
        Thresholds in increasing order, as numbers on the scale.
    values : ndarray
        Contribution between them: values[i] for edges[i-1] < x <= edges[i]; one more than edges.
    special : dict of float to float
        Contribution of each value that is out of the ordering.
    missing : float
        Contribution of missing values.
    levels : dict of level to float
        Contribution of each level of a category; levels that are not named, and unseen ones, add nothing.
    scale : Scale
        What the numbers stand for.
    """

    edges: Vector
    values: Vector
    special: dict[float, float] = field(default_factory=dict)
    missing: float = 0.0
    levels: dict[Level, float] = field(default_factory=dict)
    scale: Scale = NUMBER

    @property
    def thresholds(self) -> tuple[Value, ...]:
        """The edges as the data has them: dates for a date, levels for an ordered category."""
        return tuple(self.scale.value(float(edge)) for edge in self.edges)

    def __call__(self, x: Any) -> Vector:
        """Return the contribution of each value, given as the data has it."""
        return self.at(from_array(np.asarray(x), "x").on(self.scale))

    def at(self, numbers: Vector) -> Vector:
        """Return the contribution of each value, given as a number on the scale."""
        out = self._of_levels(numbers) if self.scale.kind == "category" else self._of_order(numbers)
        if self.missing:
            out[np.isnan(numbers)] = self.missing
        return out

    def _of_levels(self, numbers: Vector) -> Vector:
        table = np.array([self.levels.get(level, 0.0) for level in self.scale.levels] + [0.0])
        out: Vector = table[np.where(np.isnan(numbers), -1, numbers).astype(np.intp)]
        return out

    def _of_order(self, numbers: Vector) -> Vector:
        out: Vector = self.values[np.searchsorted(self.edges, numbers, side="left")]  # NaN is above all edges
        for value, contribution in self.special.items():
            out[numbers == value] = contribution
        if self.scale.has_levels:
            out[numbers < 0] = 0.0
        return out


def shape_of(terms: Sequence[Term], special_values: Sequence[Value] = (), scale: Scale = NUMBER) -> ShapeFunction:
    """Add up the terms of one feature; no `x <= t` holds for its special values."""
    steps = sorted((scale.number(t.condition.value), t.coef) for t in terms if t.condition.kind == "<=")
    equal = _coefs_by_value(terms)
    category = scale.kind == "category"
    return ShapeFunction(
        edges=np.array([edge for edge, _ in steps], dtype=np.float64),
        values=_running_sum([coef for _, coef in steps]),
        special={} if category else _by_number(dict.fromkeys(special_values, 0.0) | equal, scale),
        missing=sum(term.coef for term in terms if term.condition.kind == "missing"),
        levels={level: coef for level, coef in equal.items() if isinstance(level, str | int | float)}
        if category
        else {},
        scale=scale,
    )


def _running_sum(coefs: Sequence[float]) -> Vector:
    """Sum from the right, one by one: sums of coefficients of one sign are monotone to the bit."""
    return np.cumsum(np.array([*coefs, 0.0])[::-1])[::-1]  # x <= edges[i] holds for this step and all above it


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
