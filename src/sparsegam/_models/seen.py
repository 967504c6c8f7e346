"""What the rows of a fit had of a feature, in shares of their weight; and values that only come later."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import UNSEEN, Scale, Value
from sparsegam._data.table import Table
from sparsegam._models.terms import Condition
from sparsegam.arrays import FloatArray
from sparsegam.checks import warn

RULES = {
    "mean": "is scored at the mean contribution of its column",
    "error": "is refused",
    "last": "is scored as if no condition held",
}
"""What becomes of a value that no row of the fit had, by name and in words."""
NEW = ": no such row was seen"  # behind the words for such values

Shares = tuple[tuple[Value, float], ...]


@dataclass(frozen=True)
class Seen:
    """How the rows of a fit spread over the values of one feature, as finely as the terms of a model ask.

    A mean over these rows is thus known for any coefficients of the terms, and need not be kept.

    Attributes
    ----------
    upto : tuple of (value, share)
        For each threshold, knot or end of a ramp from below, the share of rows above the one before it and at most this
        one.
    above : float
        The share of rows above all thresholds.
    alone : tuple of (value, share)
        Special values that came up; for a category, one level of each group that is scored alike.
    missing : float
        The share of rows without a value.
    means : tuple of float
        The mean of the values of each share of `upto`, where a ramp tells them apart: else empty.
    """

    upto: Shares = ()
    above: float = 0.0
    alone: Shares = ()
    missing: float = 0.0
    means: tuple[float, ...] = ()

    def sample(self, scale: Scale) -> tuple[FloatArray, FloatArray]:
        """Return a number that stands for each part of the rows, and its share; parts without rows are left out."""
        top = len(scale.levels) - 1.0 if scale.has_levels else math.inf
        inside = self.means or [scale.number(value) for value, _ in self.upto]
        parts = [(number, share) for number, (_, share) in zip(inside, self.upto, strict=True)]
        parts += [(top, self.above), *((scale.number(value), share) for value, share in self.alone)]
        parts.append((math.nan, self.missing))
        numbers, shares = np.array([part for part in parts if part[1] > 0]).reshape(-1, 2).T
        return numbers, shares

    def mean(self, scale: Scale, contribution: Callable[[FloatArray], FloatArray]) -> float:
        """Return the mean of a function of the feature, exactly rounded, so that it is the same on any machine."""
        numbers, shares = self.sample(scale)
        return math.fsum((shares * contribution(numbers)).tolist())

    def lacks(self, special: Iterable[float], scale: Scale) -> list[float]:
        """Return which of the special values, as numbers, no row had."""
        came_up = {scale.number(value) for value, _ in self.alone}
        return [number for number in special if number not in came_up]

    def content(self, plain: Callable[[Value], Any]) -> dict[str, Any]:
        """Return it as JSON knows it."""
        pairs = {name: [[plain(v), share] for v, share in getattr(self, name)] for name in ("upto", "alone")}
        means = {"means": list(self.means)} if self.means else {}
        return {**pairs, "above": self.above, "missing": self.missing, **means}


class SeenLater(Mapping[str, Seen]):
    """What the rows of a fit had of features, summed up when it is first asked for.

    Parameters
    ----------
    questions : dict of str to callable
        By feature, what sums it up.
    """

    def __init__(self, questions: Mapping[str, Callable[[], Seen]]) -> None:
        self._questions = questions
        self._known: dict[str, Seen] = {}

    def __getitem__(self, name: str) -> Seen:
        if name not in self._known:
            self._known[name] = self._questions[name]()
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        return name in self._questions

    def __iter__(self) -> Iterator[str]:
        return iter(self._questions)

    def __len__(self) -> int:
        return len(self._questions)

    def __repr__(self) -> str:
        return repr(dict(self))

    def __reduce__(self) -> tuple[type[dict[str, Seen]], tuple[dict[str, Seen]]]:
        return dict, (dict(self),)  # in a file it is what it stands for


def seen_of(
    conditions: Sequence[Condition], special: Sequence[Value], scale: Scale, numbers: FloatArray, weight: FloatArray
) -> Seen:
    """Sum the weights of rows, or of bins that a number stands for, by what the conditions of a model ask.

    Parameters
    ----------
    conditions : sequence of Condition
        What the terms of the feature ask.
    special : sequence of value
        Values of the feature that are out of its order.
    scale : Scale
        What the numbers stand for.
    numbers, weight : ndarray
        Values of the feature, and what they weigh; levels that are not on the scale are left out.

    Returns
    -------
    Seen
        The shares.
    """
    if scale.has_levels:
        known = numbers != UNSEEN
        numbers, weight = numbers[known], weight[known]
    if not numbers.size:
        return Seen(missing=1.0)  # rows of another table, which say nothing of this feature
    share, present = weight / weight.sum(), ~np.isnan(numbers)
    numbers, share, missing = numbers[present], share[present], float(share[~present].sum())
    if scale.kind == "category":
        return Seen(alone=tuple(_groups(conditions, scale, numbers, share)), missing=missing)
    asked = sorted({scale.number(value): value for c in conditions for value in c.edges}.items())
    place = np.searchsorted([edge for edge, _ in asked], numbers)
    for i, value in enumerate(special, start=len(asked) + 1):
        place[numbers == scale.number(value)] = i
    sums = np.bincount(place, share, len(asked) + 1 + len(special)).tolist()
    upto = tuple((value, part) for (_, value), part in zip(asked, sums, strict=False))
    apart = zip(special, sums[len(asked) + 1 :], strict=True)
    means: tuple[float, ...] = ()
    if any(c.is_ramp for c in conditions):
        means = _means([edge for edge, _ in asked], place, numbers, share)
    alone = tuple(pair for pair in apart if pair[1] > 0)
    return Seen(upto, sums[len(asked)], alone, missing, means)


def _means(
    edges: Sequence[float], place: NDArray[np.intp], numbers: FloatArray, share: FloatArray
) -> tuple[float, ...]:
    """Return the mean of the numbers up to each edge and above the one before it, in between for certain."""
    inside = place < len(edges)
    sums = np.bincount(place[inside], share[inside], len(edges))
    mean = np.bincount(place[inside], share[inside] * numbers[inside], len(edges)) / np.where(sums > 0, sums, 1.0)
    above = np.append(-np.inf, np.nextafter(edges[:-1], np.inf))
    return tuple(np.where(sums > 0, np.clip(mean, above, edges), edges).tolist())


def _groups(
    conditions: Sequence[Condition], scale: Scale, numbers: FloatArray, share: FloatArray
) -> Iterable[tuple[Value, float]]:
    """Sum the levels that one condition names, and those that none does; a level of each stands for it."""
    group = np.full(len(scale.levels), len(conditions))
    for i, condition in enumerate(conditions):
        named = condition.value if isinstance(condition.value, tuple) else (condition.value,)
        group[[int(scale.number(level)) for level in named if level is not None]] = i
    of_row = group[numbers.astype(np.intp)]
    for i in np.unique(of_row).tolist():
        yield scale.value(float(numbers[of_row == i][0])), float(share[of_row == i].sum())


def count_new(seen: Seen | None, scale: Scale, special: Iterable[float], numbers: FloatArray) -> dict[str, int]:
    """Count the values that no row of the fit had, by kind; without a record of those rows, levels alone tell."""
    found = {}
    if scale.has_levels:
        found["a new level"] = int(np.count_nonzero(numbers == UNSEEN))
    if seen is not None:
        lacking = [] if scale.has_levels else seen.lacks(special, scale)
        found["a special value"] = int(np.count_nonzero(np.isin(numbers, lacking))) if lacking else 0
        found["a missing value"] = 0 if seen.missing else int(np.count_nonzero(np.isnan(numbers)))
    return {kind: count for kind, count in found.items() if count}


class NewValues:
    """Collects, over the columns of a table, the values that no row of a fit had, to say it once."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], int] = {}

    def note(self, name: str, found: Mapping[str, int]) -> None:
        """Take down what was found in a column; several models that find the same count it once."""
        self._counts |= {(name, kind): count for kind, count in found.items()}

    def add(self, other: "NewValues") -> None:
        """Add what was found in other rows."""
        for key, count in other._counts.items():
            self._counts[key] = self._counts.get(key, 0) + count

    def tell(self, rule: str) -> None:
        """Warn of what was found, or refuse it, as the rule of the model says."""
        told = [
            f"{count} row{'s have' if count > 1 else ' has'} {kind} in {name!r}"
            for (name, kind), count in self._counts.items()
            if rule != "last" or kind == "a new level"
        ]
        if not told:
            return
        what = f"{', '.join(told)}, which no training row had"
        if rule == "error":
            msg = (
                f"{what}, and the model has missing='error': fill these values in, drop the rows, or set "
                "missing='mean' to score them at the mean contribution of the column."
            )
            raise ValueError(msg)
        how = "scored at the mean contribution of the column" if rule == "mean" else "these add nothing to the score"
        warn(f"{what}: {how} (missing={rule!r}).", UserWarning)


def score_pieces(model: Any, pieces: Iterable[Table]) -> FloatArray:
    """Return the scores of a table that comes in pieces; values that no row of the fit had are told of once."""
    total, scores = NewValues(), []
    for piece in pieces:
        new = NewValues()
        scores.append(model.score_rows(piece, new))
        total.add(new)
    total.tell(model.missing)
    return np.concatenate(scores) if scores else np.zeros(0)
