"""Contributions of a model as shown in plots and reports: one row per value or interval, one grid per pair."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import UNSEEN, text
from sparsegam._models.additive import Model
from sparsegam._models.functions import Bin, Bins, Columns, FittedFunction
from sparsegam._models.terms import INTERVAL
from sparsegam._models.training import NEW
from sparsegam.arrays import FloatArray

# Number of points per interval with a slope. Standard errors are not linear between its ends.
POINTS_PER_SLOPE = 13

# Share of the values on either side that charts may leave out, and number of bars of a histogram.
TAIL = 0.005
HISTOGRAM_BINS = 40


@dataclass(frozen=True)
class BinRow:
    """An interval, a special value or a level of a feature, with its contribution.

    Attributes
    ----------
    kind : {"interval", "special", "level", "other", "unseen", "missing"}
        "other": the levels that no term names; "unseen": levels that are not on the scale.
    label : str
        The values in words, as in `63 < x <= 71`.
    contribution, start : float
        Contribution; for an interval with a slope, at its upper and at its lower end.
    slope : float
        Change per unit.
    low, high : float
        Ends of an interval, as numbers on the scale; otherwise the value, twice.
    is_new : bool
        Whether such values did not occur in training.
    count : int or None
        Number of rows, if data are given.
    errors : tuple of float
        Standard errors of the contribution minus the mean of the feature: at each of `points` for an interval with a
        slope, otherwise a single one; empty if they are unknown.
    corrections : tuple of float
        How far the centre of the 95 % interval is from the contribution, at the same points: intervals are without the
        shrinkage of the ridge.
    """

    kind: Literal["interval", "special", "level", "other", "unseen", "missing"]
    label: str
    contribution: float
    start: float
    slope: float
    low: float
    high: float
    is_new: bool
    count: int | None = None
    errors: tuple[float, ...] = ()
    corrections: tuple[float, ...] = ()

    @property
    def interval(self) -> tuple[FloatArray, FloatArray] | None:
        """Ends of the 95 % interval at each of `points`; None if it is unknown."""
        if not (self.errors and self.corrections):
            return None
        centre = np.linspace(self.start, self.contribution, len(self.errors)) + np.array(self.corrections)
        if not self.slope:
            centre = self.contribution + np.array(self.corrections)
        half_width = INTERVAL * np.array(self.errors)
        return centre - half_width, centre + half_width

    @property
    def error(self) -> float | None:
        """Standard error of the contribution; at the upper end of an interval with a slope."""
        return self.errors[-1] if self.errors else None

    @property
    def points(self) -> FloatArray:
        """Values from just above the lower end of an interval with a slope to its upper end; otherwise one value."""
        return _points(self.low, self.high) if self.slope else np.array([self.high])

    @property
    def is_drawn(self) -> bool:
        """Whether plots show the row: new values are shown only if the data contain them."""
        return bool(self.count) or not self.is_new


def bin_rows(
    model: Model, feature: str, numbers: FloatArray | None = None, *, centred: bool | None = False
) -> list[BinRow]:
    """Return the rows of the function of a feature.

    Parameters
    ----------
    model : Model
        The model.
    feature : str
        The feature.
    numbers : ndarray, optional
        Values of the feature to count, as numbers on its scale.
    centred : bool or None
        As in `Model.shape_functions`.

    Returns
    -------
    list of BinRow
        Intervals in order, then special values; levels by decreasing contribution, then other and new ones. Missing
        values are last, without a row if there are none and they have no contribution.
    """
    function = model.shape_functions(centred=centred)[feature]
    found = list(_rows(model, function, numbers))
    levels = sorted((row for row in found if row.kind == "level"), key=lambda row: -row.contribution)
    of_kind = {kind: [row for row in found if row.kind == kind] for kind in ("interval", "special", "other", "unseen")}
    missing = [row for row in found if row.kind == "missing" and (row.contribution or row.count or row.is_new)]
    return [*of_kind["interval"], *of_kind["special"], *levels, *of_kind["other"], *of_kind["unseen"], *missing]


def _rows(model: Model, function: FittedFunction, numbers: FloatArray | None) -> Iterator[BinRow]:
    bins = function.bins
    counts = None if numbers is None else np.bincount(bins.bin_of(numbers), minlength=len(bins)).tolist()
    has_others = bool(bins.special.size) or bool(function.contributions[0])
    for i, (bin_, contribution, slope) in enumerate(function.lines()):
        start, count = float(function.starts[i]), None if counts is None else counts[i]
        if bin_.kind == "values":
            for value in bin_.values:
                number = bins.scale.number(value)
                mine = None if numbers is None else int(np.count_nonzero(numbers == number))
                is_level = bins.scale.kind == "category"
                label = f"{'' if is_level else '= '}{text(value)}{NEW * bin_.is_new}"
                errors = _errors(model, function, bin_, np.array([number]))
                kind: Literal["level", "special"] = "level" if is_level else "special"
                yield BinRow(kind, label, contribution, contribution, 0.0, number, number, bin_.is_new, mine, *errors)
        elif bin_.kind == "interval":
            points = _points(bin_.low, bin_.high) if slope else np.array([bin_.high])
            label = _interval_label(bins, bin_, has_others=has_others)
            errors = _errors(model, function, bin_, points)
            yield BinRow(
                "interval", label, contribution, start, slope, bin_.low, bin_.high, bin_.is_new, count, *errors
            )
        elif bin_.kind != "unseen" or bin_.is_new:
            labels = {"missing": "missing", "other": "any other level", "unseen": "a new level"}
            label = f"{labels[bin_.kind]}{NEW * bin_.is_new}"
            number = math.nan if bin_.kind == "missing" else UNSEEN
            errors = _errors(model, function, bin_, np.array([number]))
            yield BinRow(bin_.kind, label, contribution, start, 0.0, number, number, bin_.is_new, count, *errors)


def _errors(
    model: Model, function: FittedFunction, bin_: Bin, numbers: FloatArray
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return standard errors and corrections at some values; none for new values, not scored by coefficients."""
    if bin_.is_new:
        return (), ()
    errors, corrections = model.standard_errors(function.key, numbers), model.corrections(function.key, numbers)
    return () if errors is None else tuple(errors.tolist()), () if corrections is None else tuple(corrections.tolist())


def _points(low: float, high: float) -> FloatArray:
    return np.linspace(np.nextafter(low, high), high, POINTS_PER_SLOPE)


def _interval_label(bins: Bins, bin_: Bin, *, has_others: bool) -> str:
    if bin_.low == -math.inf and bin_.high == math.inf:
        return "any other value" if has_others else "any value"
    if bin_.low == -math.inf:
        return f"≤ {text(bins.scale.value(bin_.high))}"
    if bin_.high == math.inf:
        return f"> {text(bins.scale.value(bin_.low))}"
    return f"{text(bins.scale.value(bin_.low))} < x ≤ {text(bins.scale.value(bin_.high))}"


def is_discrete(bins: Bins) -> bool:
    """Return whether the values of a feature are levels or booleans."""
    return bins.scale.has_levels or bins.scale.kind == "boolean"


def ordinary_values(bins: Bins, numbers: FloatArray | None) -> FloatArray:
    """Return the values that are neither missing nor special."""
    if numbers is None:
        return np.empty(0)
    return numbers[~(np.isnan(numbers) | np.isin(numbers, bins.special))]


def value_range(bins: Bins, numbers: FloatArray | None) -> tuple[float, float]:
    """Return a range that includes all thresholds and nearly all values; (0, 1) if there are none."""
    values = ordinary_values(bins, numbers)
    ends = [*(np.quantile(values, [TAIL, 1 - TAIL]) if values.size else ()), *bins.edges[:1], *bins.edges[-1:]]
    return (float(min(ends)), float(max(ends))) if ends else (0.0, 1.0)


def histogram(
    bins: Bins, numbers: FloatArray | None, limits: tuple[float, float]
) -> tuple[NDArray[np.intp], FloatArray]:
    """Count values in intervals of equal width; levels and small numbers of integers have one interval each.

    Returns
    -------
    tuple of ndarray
        The counts, and the ends of the intervals.
    """
    values, (low, high) = ordinary_values(bins, numbers), limits
    if is_discrete(bins):
        ends = np.arange(-0.5, max(len(bins.scale.levels), 2))
    elif high - low < 1.5 * HISTOGRAM_BINS and bool(np.all(values % 1 == 0)):
        ends = np.arange(np.floor(low) - 0.5, np.ceil(high) + 1.0)
    else:
        ends = np.linspace(low, high, HISTOGRAM_BINS + 1)
    return np.histogram(values, bins=ends)


@dataclass(frozen=True, eq=False)
class PairGrid:
    """Contributions of a pair of features, one per cell.

    Attributes
    ----------
    names : pair of str
        The features.
    bins : pair of tuple of Bin
        The bins of each feature: intervals, then single values and levels, then missing values.
    contributions : ndarray of shape (n_bins_of_first, n_bins_of_second)
        Contribution of each cell.
    counts : ndarray of int or None
        Number of rows in each cell, if data are given.
    shares : ndarray or None
        Share of the training rows in each cell, by weight, if it is known.
    errors : ndarray or None
        Standard errors of the contributions minus their mean; NaN for new values.
    corrections : ndarray or None
        How far the centre of the 95 % interval of each cell is from its contribution; NaN for new values.
    """

    names: tuple[str, str]
    bins: tuple[tuple[Bin, ...], tuple[Bin, ...]]
    contributions: FloatArray
    counts: NDArray[np.int64] | None = None
    shares: FloatArray | None = None
    errors: FloatArray | None = None
    corrections: FloatArray | None = None

    @property
    def interval(self) -> tuple[FloatArray, FloatArray] | None:
        """Ends of the 95 % interval of each cell; None if it is unknown."""
        if self.errors is None or self.corrections is None:
            return None
        centre, half_width = self.contributions + self.corrections, INTERVAL * self.errors
        return centre - half_width, centre + half_width

    @property
    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Labels of the bins of each feature."""
        first, second = (tuple(_grid_label(bin_) for bin_ in bins) for bins in self.bins)
        return first, second

    @property
    def is_drawn(self) -> tuple[list[bool], list[bool]]:
        """Whether plots show the bins of each feature: new values are shown only if the data contain them."""
        first, second = (self._is_drawn(axis) for axis in (0, 1))
        return first, second

    def _is_drawn(self, axis: int) -> list[bool]:
        found = [0] * len(self.bins[axis]) if self.counts is None else self.counts.sum(axis=1 - axis).tolist()
        return [not bin_.is_new or n > 0 for bin_, n in zip(self.bins[axis], found, strict=True)]

    def drawn(self) -> "PairGrid":
        """Return the cells that plots show."""
        first, second = (np.flatnonzero(kept) for kept in self.is_drawn)
        return self.take(first, second)

    def take(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> "PairGrid":
        """Return some bins of each feature, in another order."""
        at = np.ix_(first, second)
        bins = tuple(self.bins[0][i] for i in first), tuple(self.bins[1][i] for i in second)
        counts = None if self.counts is None else self.counts[at]
        known = (self.shares, self.errors, self.corrections)
        shares, errors, corrections = (None if one is None else one[at] for one in known)
        return PairGrid(self.names, bins, self.contributions[at], counts, shares, errors, corrections)


def pair_grid(
    model: Model, pair: tuple[str, str], columns: Columns | None = None, *, centred: bool | None = False
) -> PairGrid:
    """Return the contributions of a pair of features as a grid.

    Parameters
    ----------
    model : Model
        The model.
    pair : pair of str
        Two features with interactions.
    columns : mapping of str to ndarray, optional
        The columns of both features to count, as numbers on their scales.
    centred : bool or None
        As in `Model.pair_functions`.

    Returns
    -------
    PairGrid
        The cells.
    """
    function = model.pair_functions(centred=centred)[pair]
    shape = function.contributions.shape
    counts = None
    if columns is not None:
        counts = np.bincount(function.bin_of(columns), minlength=function.contributions.size).reshape(shape)
    bins = function.axes[0].bins, function.axes[1].bins
    errors, corrections = model.bin_errors(pair), model.bin_corrections(pair)
    grid = PairGrid(pair, bins, function.contributions, counts, function.shares, errors, corrections)
    return grid.take(_display_order(bins[0]), _display_order(bins[1]))


def _display_order(bins: tuple[Bin, ...]) -> NDArray[np.intp]:
    rank = {"interval": 0, "values": 1, "other": 2, "unseen": 3, "missing": 4}
    return np.argsort([rank[bin_.kind] for bin_ in bins], kind="stable")


def _grid_label(bin_: Bin) -> str:
    return f"≤ {bin_.label[3:]}" if bin_.label.startswith("<= ") else bin_.label
