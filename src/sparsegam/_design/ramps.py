"""Ramps `min(x - t, 0)` of numeric features: clipping, knots and bin centres."""

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
# x is clipped to its 1 % and 99 % quantiles, so that single outliers have no leverage.
CLIPPED_SHARE = 0.01
# Neighbouring ramps are far more collinear than neighbouring steps, so that few knots are enough.
MAX_KNOTS = 32
# Below its knot a ramp must take two values at least: with one, it would be a step.
MIN_VALUES_BELOW_KNOT = 2


@dataclass(frozen=True, eq=False)
class Ramps:
    """The ramps min(x - t, 0) of one feature, with x clipped to [low, high].

    In the core, x is shifted by `high` and divided by `high - low`, so that sums do not depend on the unit of x.

    Attributes
    ----------
    low, high : float
        Bounds to which x is clipped: the outermost bin ends between the 1 % and 99 % quantiles of the training data.
    bin_centres, bin_ends : ndarray
        Mean of the training rows and upper end of each ordered bin, in the unit of the core.
    knots : ndarray of int
        Bins whose upper ends are knots.
    thresholds, bin_means : ndarray
        Knots, and mean of the training rows of each ordered bin, in the unit of the feature.
    exact : bool
        Whether each bin contains a single value, so that the bins determine the values of the ramps.
    """

    low: float
    high: float
    bin_centres: FloatArray
    bin_ends: FloatArray
    knots: NDArray[np.int64]
    thresholds: FloatArray
    bin_means: FloatArray
    exact: bool

    @property
    def width(self) -> float:
        """Unit of the core, in the unit of the feature."""
        return self.high - self.low

    def in_core(self) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
        """Return the ramps in the format of `_core.ThresholdDesign`."""
        return self.bin_centres, self.bin_ends, self.knots

    def by_bin(self, ramp: int, n_bins: int) -> FloatArray:
        """Return the value of a ramp at the centre of each bin, in the unit of the core; 0 for unordered bins."""
        out = np.zeros(n_bins)
        out[: self.bin_centres.size] = np.minimum(self.bin_centres - self.bin_ends[self.knots[ramp]], 0.0)
        out[self.knots[ramp] + 1 :] = 0.0
        return out

    def rows_below(self, sums: FloatArray) -> FloatArray:
        """Return the number, or weight, of the rows below the knot of each ramp.

        `sums` has an entry for each column `x <= t` of the feature, and is therefore cumulative over the ordered bins.
        """
        rows: FloatArray = sums[np.searchsorted(self.bin_centres, self.bin_ends[self.knots]) - 1]
        return rows

    def values(self, ramp: int, numbers: FloatArray, xp: Any = np) -> FloatArray:
        """Return the value of a ramp at ordered numbers, in the unit of the core.

        `xp` is the module of `numbers`: NumPy, or CuPy for an array on a device.
        """
        scaled = (xp.clip(numbers, self.low, self.high) - self.high) / self.width
        out: FloatArray = xp.minimum(scaled - float(self.bin_ends[self.knots[ramp]]), 0.0)
        return out


def check_shapes(shapes: Any) -> None:
    """Raise unless shapes is one shape for all columns, or a dict with shapes of some of them."""
    if isinstance(shapes, list | tuple):
        msg = (
            f"a list of shapes requires cross-validation, got {shown(shapes)}: pass one of {SHAPES}, or use a "
            "cross-validated estimator, such as SparseGAMClassifierCV."
        )
        raise ValueError(msg)
    if not isinstance(shapes, Mapping):
        check_choice("shapes", shapes, SHAPES, other="or a dict from column to one of them")
        return
    for key, value in shapes.items():
        check_choice(f"shapes[{shown(key)}]", value, SHAPES)


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
    """Return the ramps of each feature; None for features that may not or cannot have ramps."""
    return [
        ramps_of(feature, table.column(j).values, codes[j], weight) if may_have_ramps(feature, shapes[j]) else None
        for j, feature in enumerate(features)
    ]


def may_have_ramps(feature: Feature, shape: str) -> bool:
    """Return whether ramps are allowed for a feature and it is numeric with enough values."""
    return shape != "steps" and feature.scale.kind == "number" and feature.n_ordered > MIN_VALUES_BELOW_KNOT


def ramps_of(feature: Feature, values: FloatArray, codes: Codes, weight: FloatArray | None) -> Ramps | None:
    """Return the ramps of a feature; None if it has no clipping range or no knot.

    Parameters
    ----------
    feature : Feature
        The feature.
    values, codes : ndarray
        Values and their bins, one for each row or distinct value.
    weight : ndarray or None
        Weight of each of them.
    """
    n = feature.n_ordered
    ordered = codes < n
    if not ordered.all():
        values, codes, weight = values[ordered], codes[ordered], None if weight is None else weight[ordered]
    if values.size == 0:
        return None
    weight = np.ones(values.size) if weight is None else weight / weight.max()
    share = np.bincount(codes, weight, n)
    ends = np.append(feature.edges, max(values.max(), feature.edges[-1]))
    # Means are summed as distances from the bin ends, so that numbers far from zero keep their digits.
    below = values - ends[codes]
    exact = not below.any()
    cumulative = np.cumsum(share) / share.sum()
    low, high = _clipping_range(ends, cumulative, exact=exact)
    # The coefficient per unit of the feature overflows if the range is a denormal number.
    if not (np.finfo(np.float64).tiny <= high - low < np.inf):
        return None
    mean = ends + np.bincount(codes, below * weight, n) / np.where(share > 0, share, 1.0)
    bin_means = np.clip(mean, np.append(-np.inf, np.nextafter(ends[:-1], np.inf)), ends)
    bin_centres, bin_ends = ((np.clip(x, low, high) - high) / (high - low) for x in (bin_means, ends))
    knots = _knots(bin_centres, bin_ends, cumulative)
    if not knots.size:
        return None
    return Ramps(low, high, bin_centres, bin_ends, knots, ends[knots], bin_means, exact)


def _clipping_range(ends: FloatArray, cumulative: FloatArray, *, exact: bool) -> tuple[float, float]:
    """Return the bin ends at the 1 % and 99 % quantiles; bins of several values must end below the latter."""
    first = int(np.searchsorted(cumulative, CLIPPED_SHARE))
    upper = 1 - CLIPPED_SHARE
    last = int(np.searchsorted(cumulative, upper)) if exact else int(np.searchsorted(cumulative, upper, "right")) - 1
    return float(ends[first]), float(ends[max(last, 0)])


def _knots(bin_centres: FloatArray, bin_ends: FloatArray, cumulative: FloatArray) -> NDArray[np.int64]:
    """Return the bins whose upper ends are knots: at most MAX_KNOTS, at quantiles of the training data."""
    is_new = np.diff(bin_centres, prepend=-np.inf) > 0
    values_below = np.cumsum(is_new) - (bin_centres == bin_ends)
    possible = (values_below >= MIN_VALUES_BELOW_KNOT) & (np.diff(bin_ends, prepend=-np.inf) > 0)
    found = np.flatnonzero(possible)
    if found.size > MAX_KNOTS:
        quantiles = np.linspace(cumulative[found[0]], cumulative[found[-1]], MAX_KNOTS)
        found = np.unique(found[np.searchsorted(cumulative[found], quantiles)])
    return found.astype(np.int64)
