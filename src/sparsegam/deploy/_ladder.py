"""Ramps as ladders: ranges of even width, each worth a constant, that a clerk can look up."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from sparsegam._data.columns import Scale
from sparsegam._models.additive import Model
from sparsegam._models.functions import FittedFunction
from sparsegam._models.seen import Seen
from sparsegam._models.terms import Condition, Term

MOST_RUNGS = 10  # of one straight piece: more ranges than that are no longer looked up but computed
Ranges = list[tuple[float, float]]  # where each ends, and what it adds


def laddered(model: Model, rungs: Callable[[float], int]) -> Model:
    """Return a model of steps alone, in which every straight piece is cut into ranges of even width.

    A range adds what the middle of the piece over it adds. Rows of the fit count as spread evenly within a piece.

    Parameters
    ----------
    model : Model
        The model.
    rungs : callable
        How many ranges a piece may be cut into that rises or falls by so much.

    Returns
    -------
    Model
        The same model where it has no ramps.
    """
    if not any(term.condition.is_ramp for term in model.terms):
        return model
    terms: list[Term] = []
    seen = dict(model.seen)
    for name, function in model.functions().items():
        if not isinstance(name, str):
            continue
        mine = [term for term in model.terms if term.part == name]
        if not function.has_slopes:
            terms += mine
            continue
        ranges = list(_ranges(function, rungs))
        kept = [term for term in mine if term.condition.kind not in ("<=", "ramp")]
        terms += [*_steps(name, ranges), *kept]
        if name in seen:
            seen[name] = _spread(seen[name], function.bins.scale, [end for end, _ in ranges])
    terms += [term for term in model.terms if term.is_product]
    return replace(model, terms=tuple(terms), seen=seen)


def _ranges(function: FittedFunction, rungs: Callable[[float], int]) -> Iterator[tuple[float, float]]:
    first, *others = (i for i, bin_ in enumerate(function.bins.bins) if bin_.kind == "interval")
    yield function.bins.bins[first].high, float(function.contributions[first])
    for i in others[:-1]:
        low, high = function.bins.bins[i].low, function.bins.bins[i].high
        start, value = float(function.starts[i]), float(function.contributions[i])
        n = min(max(rungs(abs(value - start)), 1), MOST_RUNGS) if value != start else 1
        cuts = [low, *_even(low, high, n), high]
        for left, right in pairwise(cuts):
            yield right, start + (value - start) * ((left + right) / 2 - low) / (high - low)


def _even(low: float, high: float, n: int) -> list[float]:
    """Return the cuts between n ranges of about the same width, rounded as far as that leaves them apart.

    Between whole numbers cuts are whole: the feature may well have no others.
    """
    whole = low.is_integer() and high.is_integer()
    n = min(n, int(high - low)) if whole else n
    if n <= 1:
        return []
    width = (high - low) / n
    digits = -math.floor(math.log10(width))
    cuts = np.unique(np.round(low + width * np.arange(1, n), min(digits, 0) if whole else digits))
    found: list[float] = cuts[(cuts > low) & (cuts < high)].tolist()
    return found


def _steps(name: str, ranges: Ranges) -> Iterator[Term]:
    """Return the steps whose sums are what the ranges add."""
    above = [adds for _, adds in ranges[1:]] + [0.0]
    for (end, adds), beyond in zip(ranges, above, strict=True):
        if adds != beyond:
            yield Term(name, Condition("<=", end), adds - beyond)


def _spread(seen: Seen, scale: Scale, ends: list[float]) -> Seen:
    """Return what the rows had, with the share of each piece spread over the ranges that it was cut into.

    Thresholds that products ask for, between the ends of ranges, stay.
    """
    known = [scale.number(value) for value, _ in seen.upto]
    upto = []
    for low, end in pairwise([-math.inf, *sorted({*ends, *known})]):
        i = int(np.searchsorted(known, end))
        first = known[i - 1] if i else -math.inf
        part = 1.0 if known[i] == end and low <= first else (end - max(low, first)) / (known[i] - first)
        upto.append((end, seen.upto[i][1] * part))
    return replace(seen, upto=tuple(upto), means=())
