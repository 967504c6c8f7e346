"""Shape functions: what one feature adds to the score, as a step function of its value."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sparsegam.frames import Values
from sparsegam.terms import Kind, Term


@dataclass(frozen=True, eq=False)
class ShapeFunction:
    """What one feature adds to the score, as a function of its value.

    Attributes
    ----------
    edges : ndarray
        Thresholds in increasing order.
    values : ndarray
        Contribution between them: values[i] for edges[i-1] < x <= edges[i]; one more than edges.
    special : dict of float to float
        Contribution of each value that is out of the ordering.
    missing : float
        Contribution of NaN.
    """

    edges: Values
    values: Values
    special: dict[float, float] = field(default_factory=dict)
    missing: float = 0.0

    def __call__(self, x: Values) -> Values:
        """Return the contribution of each value."""
        out: Values = self.values[np.searchsorted(self.edges, x, side="left")]
        for value, contribution in self.special.items():
            out[x == value] = contribution
        if self.missing:
            out[np.isnan(x)] = self.missing
        return out


def shape_of(terms: Sequence[Term], special_values: Sequence[float] = ()) -> ShapeFunction:
    """Add up the terms of one feature; no `x <= t` holds for its special values."""
    steps = sorted(_coefs(terms, "<=").items())
    coefs = np.array([coef for _, coef in steps] + [0.0])
    return ShapeFunction(
        edges=np.array([edge for edge, _ in steps], dtype=np.float64),
        values=np.cumsum(coefs[::-1])[::-1],  # x <= edges[i] holds for this step and all above it
        special=dict.fromkeys(special_values, 0.0) | _coefs(terms, "=="),
        missing=sum(term.coef for term in terms if term.condition.kind == "missing"),
    )


def _coefs(terms: Sequence[Term], kind: Kind) -> dict[float, float]:
    """Return the coefficients of one kind of term by the value they ask for."""
    return {
        term.condition.value: term.coef
        for term in terms
        if term.condition.kind == kind and term.condition.value is not None
    }
