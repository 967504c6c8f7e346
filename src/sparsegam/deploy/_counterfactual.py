"""Counterfactuals: the cheapest changes of a row that move its score past a threshold."""

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import Any

import numpy as np

from sparsegam._data.columns import UNSEEN, Value, from_objects, text
from sparsegam._data.frames import make_frame
from sparsegam._data.table import Table, position, read_table
from sparsegam._models import notebook
from sparsegam._models.functions import Bins, ScoreFunction, score_function
from sparsegam._models.layout import aligned
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_choice, check_number
from sparsegam.deploy._counterfactual_search import cheapest
from sparsegam.deploy._moves import SIGNS, Block, Move, Prices, bins_of_feature, blocks_of, differs, is_whole

COSTS = ("share", "count")
HAIR = 1e-9  # how much further to go, relative to the score, where rounding left it short of the threshold
DIGITS = 5  # to which a place on a straight piece is rounded, of the length of the piece


@dataclass(frozen=True)
class Change:
    """One feature that changes: its value before and after, the step it comes to, what that adds alone, its cost."""

    feature: str
    before: Value
    after: Value
    step: str
    adds: float
    cost: float

    def cells(self) -> list[str]:
        """Return its line of the table."""
        change = f"{_short(self.before)} -> {_short(self.after)}"
        return [self.feature, change, self.step, f"{self.adds:+.4g}", f"{self.cost:.3g}"]


@dataclass(frozen=True)
class Counterfactual:
    """The cheapest changes of a row that lead past a threshold.

    Attributes
    ----------
    changes : tuple of Change
        The changes, that which adds most first; none where the row is past the threshold already, or cannot be.
    found : bool
        Whether there are changes that lead past it.
    cost : float
        What the changes cost together; for `cost="count"` how many they are.
    score, new_score : float
        The score before and after; where nothing leads past the threshold, `new_score` is the furthest it can go.
    probability, new_probability : float or None
        The same as probabilities of the second class; None for a regression.
    goal : str
        What was asked for, in words.
    """

    changes: tuple[Change, ...]
    found: bool
    cost: float
    score: float
    new_score: float
    probability: float | None
    new_probability: float | None
    goal: str

    @property
    def values(self) -> dict[str, Value]:
        """The new value of each feature that changes."""
        return {change.feature: change.after for change in self.changes}

    def to_frame(self) -> Any:
        """Return the changes as a frame: feature, before, after, step, adds, cost."""
        names = ("feature", "before", "after", "step", "adds", "cost")
        return make_frame({name: [getattr(change, name) for change in self.changes] for name in names})

    def __str__(self) -> str:
        return f"{self._sentence()}\n\n{aligned(*self._table())}" if self.changes else self._sentence()

    def _repr_html_(self) -> str:
        shown = [notebook.table(*self._table(), n_text=3)] if self.changes else []
        return notebook.fragment(notebook.note(self._sentence()), *shown)

    def _table(self) -> tuple[list[str], list[list[str]]]:
        return ["feature", "change", "step", "adds", "cost"], [change.cells() for change in self.changes]

    def __repr__(self) -> str:
        told = f"{len(self.changes)} changes, cost {self.cost:.4g}" if self.found else "none"
        return f"<Counterfactual: {told}>"

    def _sentence(self) -> str:
        now, then = self._figure(self.score, self.probability), self._figure(self.new_score, self.new_probability)
        if not self.found:
            return f"No changes lead to {self.goal}: from {now} they lead to {then} at most."
        if not self.changes:
            return f"Nothing has to change for {self.goal}: it is {now}."
        return f"For {self.goal}, from {now} to {then}:"

    @staticmethod
    def _figure(score: float, probability: float | None) -> str:
        return f"{score:.4g}" if probability is None else f"{probability:.2%}"


def counterfactual(
    model: Any,
    row: Any,
    *,
    target: Any = None,
    fixed: Sequence[str] = (),
    directions: Mapping[str, str] | None = None,
    cost: str | Mapping[str, float] | None = None,
) -> Counterfactual:
    """Find the cheapest changes of a row that move its score past a threshold, exactly.

    Parameters
    ----------
    model : Model, Scorecard or fitted estimator
        What scores the row.
    row : mapping, one-dimensional array or table of one row
        The row.
    target : label or float, optional
        A class: the row shall be of that class; unless told, the other than it is. A number between 0 and 1: the
        probability of the second class that it shall reach, from above or from below. For a regression the prediction,
        for a scorecard the points that it shall reach.
    fixed : sequence of str
        Features that stay as they are. Missing and special values always do.
    directions : mapping of str to {"up", "down"}, optional
        Features that may go one way only.
    cost : {"share", "count"} or mapping of str to float, optional
        "share": for each change, the share of the rows of the fit between the old value and the new, and 0.01; a
        change of a category or a boolean counts as passing all rows. "count": the number of changes, shares deciding
        between equally many. A mapping has the price of one unit of each feature (of a day, of one level up or down,
        of any change of a category or boolean), and features that it does not name stay as they are. "share" unless
        told; "count" where the model does not know the rows of its fit.

    Returns
    -------
    Counterfactual
        The changes; it prints, and has `to_frame()`.

    Notes
    -----
    No other changes of the same features cost less: all are considered, ramps as the straight lines they are. Along a
    ramp, a value goes on to the next round number: a whole one, where the thresholds and the value are whole.
    """
    function = score_function(model)
    table = one_row(row, function.feature_names)
    score = float(function.score(table)[0])
    goal = _goal(function, target, score, points=hasattr(model, "scaling"))
    free = _free(function, fixed, directions or {})
    prices = _prices(function, cost)
    if prices.kind == "unit":
        free = {name: way for name, way in free.items() if name in prices.units}
    return _Question(function, function.columns(table), score, goal, prices, free).answer()


def one_row(row: Any, names: Sequence[str]) -> Table:
    """Read one row: a mapping from names to values (a dict, a pandas Series), its values in order, or a table of it."""
    if hasattr(row, "keys") and getattr(row, "ndim", 1) == 1:
        columns = tuple(from_objects([row[name]], str(name)) for name in row.keys())  # noqa: SIM118  (a Series has no others)
        return Table(columns, 1, len(columns), tuple(column.name for column in columns))
    if isinstance(row, list | tuple) or getattr(row, "ndim", 2) == 1:
        values = list(row)
        if len(values) != len(names):
            msg = f"row has {len(values)} values, but the model was fitted with {len(names)} columns."
            raise ValueError(msg)
        return one_row(dict(zip(names, values, strict=True)), names)
    table = read_table(row)
    if table.n_rows != 1:
        msg = f"row must be one row, got {table.n_rows}: pass X.iloc[[i]], or X[i:i+1]."
        raise ValueError(msg)
    return table


@dataclass(frozen=True)
class Goal:
    """The score to reach, from below (1) or from above (-1), and what that is in words."""

    threshold: float
    sign: int
    words: str

    def is_met(self, score: float) -> bool:
        """Tell whether a score is past the threshold."""
        return self.sign * score >= self.sign * self.threshold


class _Question:
    """A row, where its score shall go, and what may change at which price."""

    def __init__(
        self,
        function: ScoreFunction,
        now: Mapping[str, FloatArray],
        score: float,
        goal: Goal,
        prices: Prices,
        free: dict[str, int],
    ) -> None:
        self.function, self.score, self.goal, self.prices = function, score, goal, prices
        self.now = {name: float(values[0]) for name, values in now.items()}
        self.inputs = {bins.feature: bins for bins in function.inputs}
        blocks = [Block(function, names, self.now, free) for names in blocks_of(function)]
        self.blocks = {name: block for block in blocks for name in block.names}
        self.moves = [block.moves(prices, goal.sign) for block in blocks]

    def answer(self) -> Counterfactual:
        """Find the changes and put them into words."""
        made = self._cheapest()
        if made is None:
            return self._result((), math.inf, self.score + self.goal.sign * self._furthest())
        changes = tuple(starmap(self._change, made.items()))
        cost = math.fsum(change.cost for change in changes)
        return self._result(tuple(sorted(changes, key=lambda one: -abs(one.adds))), cost, self._score_after(made))

    def _cheapest(self) -> dict[str, float] | None:
        """Return the new values, followed a hair further where rounding left the score short of the threshold."""
        need = self.goal.sign * (self.goal.threshold - self.score)
        for further in (0.0, HAIR * (1.0 + abs(self.score) + abs(need))):
            chosen = cheapest(self.moves, need + further)
            if chosen is not None:
                made = dict(pair for move, share in chosen.moves for pair in self._values(move, share))
                if self.goal.is_met(self._score_after(made)):
                    return made
        return None

    def _values(self, move: Move, share: float) -> Iterator[tuple[str, float]]:
        """Return the features that a move changes; on a straight piece they go to the next round number on the way."""
        for name, number, near, far in zip(
            move.features, move.at(share).numbers, move.near.numbers, move.far.numbers, strict=True
        ):
            if not differs(np.array([near, far]), number).all():
                if differs(np.array([number]), self.now[name])[0]:
                    yield name, number
            else:
                yield name, self._rounded(name, number, near, far)

    def _rounded(self, name: str, number: float, near: float, far: float) -> float:
        whole = is_whole(bins_of_feature(self.function, name), self.now[name])
        digits = 0 if whole else DIGITS - math.floor(math.log10(abs(far - near)))
        outward = math.ceil if far > near else math.floor
        number = round(outward(number * 10.0**digits) / 10.0**digits, digits)
        return min(number, far) if far > near else max(number, far)

    def _furthest(self) -> float:
        """Return the most that all features together can gain."""
        return sum(max((max(m.near.gain, m.far.gain) for m in mine), default=0.0) for mine in self.moves)

    def _score_after(self, made: Mapping[str, float]) -> float:
        """Return the score of the row after changes, summed as the model does."""
        numbers = {name: np.array([number]) for name, number in (self.now | dict(made)).items()}
        return float(self.function.score_columns(numbers, 1)[0])

    def _change(self, name: str, number: float) -> Change:
        """Put a change into words, with what it adds when it is made alone."""
        bins, before = self.inputs[name], self.now[name]
        words = bins.bins[int(bins.bin_of(np.array([number]))[0])].text
        cost = float(self.prices.of(bins, before, np.array([number]))[0])
        adds = self.blocks[name].alone(name, number)
        cost = 1.0 if self.prices.kind == "count" else cost
        return Change(name, _value(bins, before), _value(bins, number), words, adds, cost)

    def _result(self, changes: tuple[Change, ...], cost: float, new_score: float) -> Counterfactual:
        scores, risks = np.array([self.score, new_score]), (None, None)
        if self.function.classes is not None:
            risks = tuple(self.function.probability(scores).tolist())
        return Counterfactual(changes, math.isfinite(cost), cost, self.score, new_score, *risks, self.goal.words)


def _short(value: Value) -> str:
    """Write a value to six digits: the next number above a threshold reads as the threshold, and its step tells."""
    return f"{value:.6g}" if isinstance(value, float) and value % 1 else text(value)


def _value(bins: Bins, number: float) -> Value:
    """Return the value that a number stands for; a level that is not on the scale is told as such."""
    return "another level" if bins.scale.has_levels and number == UNSEEN else bins.scale.value(number)


def _goal(function: ScoreFunction, target: Any, score: float, *, points: bool) -> Goal:
    """Return the score to reach: that of a class, of a probability, of a prediction or of points."""
    if function.classes is not None and not points and (target is None or target in function.classes):
        label = function.classes[0 if score > 0 else 1] if target is None else target
        upper = label == function.classes[1]
        return Goal(float(np.nextafter(0.0, 1.0)) if upper else 0.0, 1 if upper else -1, f"class {label}")
    if function.classes is None or points:
        check_number("target", target, at_least=-sys.float_info.max)
        return _reached(float(target), score, f"{{}} {target:g}{' points' * points}")
    if not isinstance(target, int | float | np.number) or not 0 < target < 1:
        msg = f"target must be one of the classes {function.classes} or a probability between 0 and 1, got {target!r}."
        raise ValueError(msg)
    odds = math.log(target / (1 - target))
    return _reached(
        (odds - function.shift) / function.slope, score, f"a probability of {function.classes[1]} of {{}} {target:g}"
    )


def _reached(threshold: float, score: float, words: str) -> Goal:
    sign = 1 if threshold >= score else -1
    return Goal(threshold, sign, words.format("at least" if sign > 0 else "at most"))


def _free(function: ScoreFunction, fixed: Sequence[str], directions: Mapping[str, str]) -> dict[str, int]:
    """Return the features that may change, and which way."""
    if isinstance(fixed, str):
        msg = f"fixed must be a list of columns, got {fixed!r}."
        raise ValueError(msg)
    names = function.feature_names
    held = {names[position(key, names, "fixed")] for key in fixed}
    ways = {}
    for key, way in directions.items():
        name = names[position(key, names, "directions")]
        check_choice(f"directions[{name!r}]", way, tuple(SIGNS))
        if name in function.scales and function.scales[name].kind == "category":
            msg = f"directions names {name!r}, a category, whose levels have no order: put it into fixed, or leave it."
            raise ValueError(msg)
        ways[name] = SIGNS[way]
    return {name: ways.get(name, 0) for name in function.features if name not in held}


def _prices(function: ScoreFunction, cost: str | Mapping[str, float] | None) -> Prices:
    """Return what changes cost."""
    unknown = [bins.feature for bins in function.inputs if bins.seen is None]
    if isinstance(cost, Mapping):
        for name, price in cost.items():
            position(name, function.feature_names, "cost")
            check_number(f"cost[{name!r}]", price, at_least=sys.float_info.min)
        return Prices("unit", cost)
    kind = ("count" if unknown else "share") if cost is None else cost
    check_choice("cost", kind, COSTS, "or a dict from column to the price of a unit")
    if kind == "share" and unknown:
        msg = (
            f"cost='share' needs the rows of the fit, which the model does not know of column {unknown[0]!r}: use "
            "cost='count', or a dict from column to the price of a unit."
        )
        raise ValueError(msg)
    return Prices(kind, {})
