"""The pieces of a shape function, each with its words, its contribution and the number of rows in it."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from sparsegam._data.columns import UNSEEN, Level, text
from sparsegam._models.seen import NEW
from sparsegam._models.shapes import ShapeFunction
from sparsegam.arrays import FloatArray

PieceKind = Literal["step", "special", "level", "other", "unseen", "missing"]
ALONG = 13  # places on a sloped piece at which its errors are worked out: between its ends these are no straight line


@dataclass(frozen=True)
class Piece:
    """A set of values of a feature that all add the same to the score, or more and more along a straight line.

    Attributes
    ----------
    kind : {"step", "special", "level", "other", "unseen", "missing"}
        A step is an interval `low < x <= high`; "other" is all levels that no term names, "unseen" those that are not
        on the scale.
    label : str
        The values in words, as in `63 < x <= 71`.
    contribution : float
        What they add to the score; of a sloped piece, what its upper end adds.
    count : int or None
        Rows with such values; None where no data were given.
    low, high : float
        The ends of a step, as numbers on the scale; the value itself for special values, the position of a level.
    error : float or None
        Standard error of the contribution less the feature's mean over the rows of the fit; None where it is not known.
    new : bool
        Whether no row of the fit had such a value.
    slope : float
        What each unit adds.
    errors : tuple of float
        Of a sloped piece, the standard errors at each place of `along`; empty where they are not known.
    """

    kind: PieceKind
    label: str
    contribution: float
    count: int | None = None
    low: float = -np.inf
    high: float = np.inf
    new: bool = False
    error: float | None = None
    slope: float = 0.0
    errors: tuple[float, ...] = ()

    @property
    def start(self) -> float:
        """What the lower end of the piece adds."""
        return self.contribution - self.slope * (self.high - self.low) if self.slope else self.contribution

    @property
    def inside(self) -> float:
        """A number that the piece holds: missing is NaN, and levels that no term names are as good as unseen ones."""
        return {"missing": np.nan, "other": UNSEEN, "unseen": UNSEEN}.get(self.kind, self.high)

    def along(self) -> FloatArray:
        """Return numbers from just above the lower end of a sloped piece to its upper end; of others, one number."""
        if not self.slope:
            return np.array([self.inside])
        return np.linspace(np.nextafter(self.low, self.high), self.high, ALONG)

    @property
    def is_worth_drawing(self) -> bool:
        """Whether a picture has a use for it: values that no row had are for tables."""
        return bool(self.count) or not self.new


def pieces_of(shape: ShapeFunction, numbers: FloatArray | None = None) -> list[Piece]:
    """Return the pieces of a shape function: in order, then special values, then missing ones.

    Parameters
    ----------
    shape : ShapeFunction
        What the feature adds to the score.
    numbers : ndarray, optional
        Values of the feature, as numbers on the scale, to be counted.

    Returns
    -------
    list of Piece
        A piece for missing values only where they are found or have a contribution; where the rows of the fit are
        known, also for values that none of them had.
    """
    body = _levels(shape, numbers) if shape.scale.kind == "category" else _ordered(shape, numbers)
    return [*body, *_unseen(shape, numbers), *_missing(shape, numbers)]


def importance(contributions: FloatArray, counts: FloatArray | None = None) -> float:
    """Return the mean distance of contributions from their mean; each may stand for as many rows as counted."""
    if not contributions.size:
        return 0.0
    mean = np.average(contributions, weights=counts)
    return float(np.average(np.abs(contributions - mean), weights=counts))


def _unseen(shape: ShapeFunction, numbers: FloatArray | None) -> Iterator[Piece]:
    if shape.scale.has_levels and shape.seen is not None:
        count = None if numbers is None else int(np.count_nonzero(numbers == UNSEEN))
        yield Piece("unseen", f"a new level{NEW}", shape.unseen, count, new=True)


def _missing(shape: ShapeFunction, numbers: FloatArray | None) -> Iterator[Piece]:
    count = None if numbers is None else int(np.isnan(numbers).sum())
    new = shape.seen is not None and not shape.seen.missing
    if shape.missing or count or new:
        yield Piece("missing", f"missing{NEW * new}", shape.missing, count, new=new)


def _ordered(shape: ShapeFunction, numbers: FloatArray | None) -> Iterator[Piece]:
    present = None if numbers is None else numbers[~np.isnan(numbers)]
    plain = None if present is None else present[~np.isin(present, list(shape.special))]
    counts = [None] * shape.values.size if plain is None else _step_counts(shape, plain)
    ends = [-np.inf, *shape.edges.tolist(), np.inf]
    lines = zip(shape.values.tolist(), shape.slopes.tolist(), strict=True)
    for (low, high), (value, slope), count in zip(pairwise(ends), lines, counts, strict=True):
        yield Piece("step", _step_label(shape, low, high), value, count, low, high, slope=slope)
    lacking = [] if shape.seen is None else shape.seen.lacks(shape.special, shape.scale)
    for number, value in shape.special.items():
        count = None if present is None else int(np.count_nonzero(present == number))
        new = number in lacking
        yield Piece("special", f"= {text(shape.scale.value(number))}{NEW * new}", value, count, number, number, new)


def _step_counts(shape: ShapeFunction, numbers: FloatArray) -> list[int]:
    if shape.scale.has_levels:
        numbers = numbers[numbers != UNSEEN]
    steps = np.searchsorted(shape.edges, numbers, side="left")
    counts: list[int] = np.bincount(steps, minlength=shape.values.size).tolist()
    return counts


def _step_label(shape: ShapeFunction, low: float, high: float) -> str:
    if np.isinf(low) and np.isinf(high):
        return "any other value" if shape.special or shape.missing else "any value"
    if np.isinf(low):
        return f"≤ {text(shape.scale.value(high))}"
    if np.isinf(high):
        return f"> {text(shape.scale.value(low))}"
    return f"{text(shape.scale.value(low))} < x ≤ {text(shape.scale.value(high))}"


def _levels(shape: ShapeFunction, numbers: FloatArray | None) -> Iterator[Piece]:
    """Return the named levels from the highest contribution down, then all others as one piece.

    Levels that are not on the scale are others too, where the rows of the fit are not known.
    """
    named = sorted(shape.levels.items(), key=lambda item: -item[1])
    counts = {} if numbers is None else _level_counts(shape, numbers)
    for level, value in named:
        count, place = None if numbers is None else counts.get(level, 0), _place(shape, level)
        yield Piece("level", text(level), value, count, place, place)
    yield Piece("other", "any other level", shape.other, None if numbers is None else _n_others(shape, numbers, counts))


def _n_others(shape: ShapeFunction, numbers: FloatArray, counts: dict[str | int | float, int]) -> int:
    among = ~np.isnan(numbers) if shape.seen is None else numbers >= 0
    return int(among.sum()) - sum(counts.get(name, 0) for name in shape.levels)


def _place(shape: ShapeFunction, level: Level) -> float:
    return shape.scale.number(level) if shape.scale.holds(level) else UNSEEN


def _level_counts(shape: ShapeFunction, numbers: FloatArray) -> dict[str | int | float, int]:
    known = numbers[numbers >= 0].astype(np.intp)
    counts = np.bincount(known, minlength=len(shape.scale.levels)).tolist()
    return dict(zip(shape.scale.levels, counts, strict=True))
