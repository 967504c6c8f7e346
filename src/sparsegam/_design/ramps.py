"""Ramps of numeric features: where x is held, where knots may be, and what each bin counts as."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.table import Table, position
from sparsegam._design.binning import Codes, Feature
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_choice, shown
from sparsegam.choices import Shape

SHAPES = get_args(Shape)
HELD = 0.01  # share of the rows below which, and above which, x is held: one outlier has no lever
MOST_KNOTS = 32  # of a feature; neighbouring ramps are nearly the same column, far more so than neighbouring steps
LEAST_PLACES = 2  # below a knot: with one, a ramp would be a step


@dataclass(frozen=True, eq=False)
class Ramps:
    """The ramps min(x - t, 0) of one feature, x held between `low` and `high`.

    In the core they are in units of high - low, measured from high: no unit of the data can spoil a sum.

    Attributes
    ----------
    low, high : float
        The ends at which x is held: where the bins end that are nearest to the 1 % and 99 % quantiles of the rows from
        within.
    place, end : ndarray
        Of each ordered bin, in the unit of the core: the mean of its rows, and where it ends.
    knots : ndarray of int
        The bins at whose ends there is a knot.
    at, middle : ndarray
        In the unit of the feature: the knots, and the mean of the rows of each ordered bin.
    exact : bool
        Whether each bin holds one value, so that bins say all there is to say of the rows.
    """

    low: float
    high: float
    place: FloatArray
    end: FloatArray
    knots: NDArray[np.int64]
    at: FloatArray
    middle: FloatArray
    exact: bool

    @property
    def width(self) -> float:
        """What the core's unit is in the feature's."""
        return self.high - self.low

    def in_core(self) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
        """Return what the core must know."""
        return self.place, self.end, self.knots

    def by_bin(self, ramp: int, n_bins: int) -> FloatArray:
        """Return what a ramp is in each bin, in the unit of the core; bins out of the order are at zero."""
        out = np.zeros(n_bins)
        out[: self.place.size] = np.minimum(self.place - self.end[self.knots[ramp]], 0.0)
        out[self.knots[ramp] + 1 :] = 0.0
        return out

    def rows_below(self, held: FloatArray) -> FloatArray:
        """Return on how many rows each ramp stands, those below its knot, given how many each column of a bin holds."""
        rows: FloatArray = held[np.searchsorted(self.place, self.end[self.knots]) - 1]
        return rows

    def values(self, ramp: int, numbers: FloatArray) -> FloatArray:
        """Return what a ramp is for numbers in the order, in the unit of the core."""
        held = (np.clip(numbers, self.low, self.high) - self.high) / self.width
        out: FloatArray = np.minimum(held - self.end[self.knots[ramp]], 0.0)
        return out


def check_shapes(shapes: Any) -> None:
    """Raise unless shapes are one for all columns, or one for some of them."""
    if isinstance(shapes, list | tuple):
        msg = (
            f"shapes is a list, {shown(shapes)}, from which only cross-validation can choose: give one of {SHAPES}, or "
            "use the estimator of the same name that ends in CV."
        )
        raise ValueError(msg)
    if not isinstance(shapes, Mapping):
        check_choice("shapes", shapes, SHAPES, other="or a dict from column to one of them")
        return
    for key, value in shapes.items():
        check_choice(f"shapes[{key!r}]", value, SHAPES)


def shapes_of(shapes: Any, names: Sequence[str]) -> list[str]:
    """Return the shapes that each column may have."""
    check_shapes(shapes)
    if not isinstance(shapes, Mapping):
        return [shapes] * len(names)
    out = ["steps"] * len(names)
    for key, value in shapes.items():
        out[position(key, names, "shapes")] = value
    return out


def learn_ramps(
    table: Table, features: Sequence[Feature], codes: Sequence[Codes], weight: FloatArray | None, shapes: Sequence[str]
) -> list[Ramps | None]:
    """Return the ramps of each feature that shall have some and can: numbers that take three values or more."""
    return [
        ramps_of(feature, table.column(j).values, codes[j], weight) if may_have_ramps(feature, shapes[j]) else None
        for j, feature in enumerate(features)
    ]


def may_have_ramps(feature: Feature, shape: str) -> bool:
    """Tell whether a feature shall have ramps, and takes enough values for them."""
    return shape != "steps" and feature.scale.kind == "number" and feature.n_ordered > LEAST_PLACES


def ramps_of(feature: Feature, values: FloatArray, codes: Codes, weight: FloatArray | None) -> Ramps | None:
    """Return the ramps of a feature, by rows or by values that each count for several; None where there are none."""
    n = feature.n_ordered
    ordered = codes < n
    if not ordered.all():
        values, codes, weight = values[ordered], codes[ordered], None if weight is None else weight[ordered]
    if values.size == 0:
        return None
    weight = np.ones(values.size) if weight is None else weight / weight.max()
    share = np.bincount(codes, weight, n)
    ends = np.append(feature.edges, max(values.max(), feature.edges[-1]))
    below = values - ends[codes]  # summed from the ends of the bins, so that numbers far from zero keep their digits
    exact = not below.any()
    upto = np.cumsum(share) / share.sum()
    low, high = _held(ends, upto, exact=exact)
    if not low < high or not np.isfinite(high - low):
        return None
    mean = ends + np.bincount(codes, below * weight, n) / np.where(share > 0, share, 1.0)
    middle = np.clip(mean, np.append(-np.inf, np.nextafter(ends[:-1], np.inf)), ends)
    place, end = ((np.clip(x, low, high) - high) / (high - low) for x in (middle, ends))
    knots = _knots(place, end, upto)
    return Ramps(low, high, place, end, knots, ends[knots], middle, exact) if knots.size else None


def _held(ends: FloatArray, upto: FloatArray, *, exact: bool) -> tuple[float, float]:
    """Return where x is held, at ends of bins; where bins hold several values, the last one is beyond."""
    first = int(np.searchsorted(upto, HELD))
    last = int(np.searchsorted(upto, 1 - HELD)) if exact else int(np.searchsorted(upto, 1 - HELD, side="right")) - 1
    return float(ends[first]), float(ends[max(last, 0)])


def _knots(place: FloatArray, end: FloatArray, upto: FloatArray) -> NDArray[np.int64]:
    """Choose the bins with a knot at their ends: above enough places, the last at the upper end, evenly by rows."""
    new = np.diff(place, prepend=-np.inf) > 0
    below = np.cumsum(new) - (place == end)  # places that a ramp with the knot at the end of its bin tells apart
    inside = (below >= LEAST_PLACES) & (np.diff(end, prepend=-np.inf) > 0)
    found = np.flatnonzero(inside)
    if found.size > MOST_KNOTS:
        wanted = np.linspace(upto[found[0]], upto[found[-1]], MOST_KNOTS)
        found = np.unique(found[np.searchsorted(upto[found], wanted)])
    return found.astype(np.int64)
