"""Where the features of a row could go instead: what each place would cost, and what it would add to the score."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sparsegam.arrays import Vector
from sparsegam.data.scales import MICROSECONDS_PER_DAY
from sparsegam.models.step_tables import WHOLE, StepTable

TOUCH = 0.01  # what any change costs beside the rows that it passes, so that few changes are made
TIE = 1e-6  # what passing all rows costs where changes are counted: it only tells apart what is equally many
SIGNS = {"up": 1, "down": -1}


@dataclass(frozen=True)
class Place:
    """A value that a feature could take, as a number on its scale: what the change costs and adds to the score."""

    number: float
    cost: float
    gain: float


@dataclass(frozen=True)
class Move:
    """A change of one feature: to the place `near`, or along a straight piece to any place up to `far`.

    Cost and gain grow evenly from one to the other; for a step, both are the same place.
    """

    feature: int
    near: Place
    far: Place

    def at(self, share: float) -> Place:
        """Return the place at a share of the way from near to far."""
        if share in (0.0, 1.0):
            return self.far if share else self.near
        ends = ((self.near.number, self.far.number), (self.near.cost, self.far.cost), (self.near.gain, self.far.gain))
        return Place(*(low + share * (high - low) for low, high in ends))


@dataclass(frozen=True)
class Prices:
    """What a change costs.

    Attributes
    ----------
    kind : {"share", "count", "unit"}
        The share of the rows of the fit between the old value and the new, and a little for any change; one for each
        feature that changes, shares deciding between equally many; or prices of one unit.
    units : mapping of str to float
        For "unit": the price of one unit of each feature, of one day for dates and times, of one level for ordered
        levels, of any change for booleans and categories.
    """

    kind: str
    units: Mapping[str, float]

    def of(self, table: StepTable, before: float, after: Vector) -> Vector:
        """Return what it costs to go from one number to each of others."""
        unordered = table.scale.kind in ("category", "boolean")
        if self.kind == "unit":
            away = np.ones(after.size) if unordered else np.abs(after - before)
            each = MICROSECONDS_PER_DAY if table.scale.kind == "datetime" else 1
            return away * self.units[table.feature] / each
        passed = np.ones(after.size) if unordered else rows_between(table, before, after)
        return TOUCH + passed if self.kind == "share" else 1.0 + TIE * passed


def rows_between(table: StepTable, before: float, after: Vector) -> Vector:
    """Return the share of the rows of the fit between one number and others; 0 where these rows are not known.

    Rows are spread evenly within a piece. A piece without an end is entered at its edge, and left from the middle of
    its rows.
    """
    if table.seen is None or not table.seen.upto:
        return np.zeros(after.size)
    edges = np.array([table.scale.number(value) for value, _ in table.seen.upto])
    upto = np.cumsum([share for _, share in table.seen.upto])
    start = float(np.interp(before, edges, upto))
    if before < edges[0]:
        start = upto[0] / 2
    elif before > edges[-1]:
        start = upto[-1] + table.seen.above / 2
    out: Vector = np.abs(np.interp(after, edges, upto) - start)
    return out


def moves_of(table: StepTable, feature: int, before: float, prices: Prices, sign: int, way: int = 0) -> list[Move]:
    """Return the moves of a feature that gain something.

    Parameters
    ----------
    table : StepTable
        What the feature adds.
    feature : int
        Its position among the features.
    before : float
        Its value now, as a number on its scale; a missing or special one stays as it is.
    prices : Prices
        What changes cost.
    sign : {1, -1}
        Whether a higher score is wanted, or a lower one.
    way : {0, 1, -1}
        Whether the value may go both ways, only up, or only down.

    Returns
    -------
    list of Move
        Missing values, special ones and those that no row of the fit had are never suggested.
    """
    if np.isnan(before) or before in _special(table):
        return []
    pairs = list(_levels(table, before) if table.scale.has_levels else _intervals(table, before))
    if not pairs:
        return []
    numbers = np.array(pairs, dtype=np.float64)
    flat = numbers.ravel()
    costs = prices.of(table, before, flat).reshape(-1, 2)
    gains = (sign * (table.at(flat) - table.at(np.array([before])))).reshape(-1, 2)
    right = way * (numbers[:, 1] - before) >= 0
    return [
        Move(feature, *(Place(*map(float, place)) for place in zip(*ends, strict=True)))
        for ends in zip(numbers[right], costs[right], gains[right], strict=True)
        if ends[2].max() > 0
    ]


def _special(table: StepTable) -> set[float]:
    if table.scale.has_levels:
        return set()
    return {table.scale.number(value) for step in table.steps if step.kind == "equal" for value in step.values}


def _levels(table: StepTable, before: float) -> Iterator[tuple[float, float]]:
    """Return the levels of a category that rows had, each as a place of its own."""
    for number in np.arange(len(table.scale.levels), dtype=np.float64).tolist():
        if number != before:
            yield number, number


def _intervals(table: StepTable, before: float) -> Iterator[tuple[float, float]]:
    """Return, for each piece between edges, the place where one enters it and, where it slopes, that where it ends."""
    steps = [step for step in table.steps if step.kind in ("upto", "rest")]
    edges = [table.scale.number(step.values[0]) for step in steps[:-1]]
    special, whole = _special(table), is_whole(table, before)
    for step, (low, high) in zip(steps, pairwise([-np.inf, *edges, np.inf]), strict=True):
        first = _above(low, high, special, whole=whole)
        if low < before <= high:
            if step.slope:
                yield from ((before, end) for end in (first, high) if end != before)
        elif before <= low:
            yield first, high if step.slope else first
        else:
            yield high, first if step.slope else high


def is_whole(table: StepTable, before: float) -> bool:
    """Tell whether a feature goes by whole numbers, as far as its thresholds and a value of it tell."""
    known = [before, *(table.scale.number(step.values[0]) for step in table.steps if step.kind == "upto")]
    return table.scale.kind != "number" or all(number % 1 == 0 and abs(number) < WHOLE for number in known)


def _above(low: float, high: float, special: set[float], *, whole: bool) -> float:
    """Return the first value above an edge that is no special one."""
    first = low + 1 if whole else float(np.nextafter(low, np.inf))
    while first in special and first < high:
        first = float(np.nextafter(first, np.inf))
    return first
