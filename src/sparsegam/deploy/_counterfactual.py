"""Counterfactual explanations: the cheapest changes of a row that move its prediction past a target."""

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsegam._data.columns import UNSEEN, Value, from_objects, text
from sparsegam._data.frames import make_frame
from sparsegam._data.table import Table, position, read_table
from sparsegam._models.display import DisplayedResult, TextTable
from sparsegam._models.functions import Bins, ScoreFunction, score_function
from sparsegam.checks import check_choice, check_number
from sparsegam.deploy._counterfactual_search import (
    ChangeCost,
    FeatureGroup,
    Move,
    bins_of_feature,
    cheapest_moves,
    differs,
    is_whole,
    linked_features,
)

COSTS = ("share", "count")
DIRECTIONS = {"up": 1, "down": -1}
OVERSHOOT = 1e-9
"""Relative amount by which the required gain is raised if rounding left the score just short of the target."""
DIGITS = 5
"""Significant digits of a value within a linear piece, relative to the length of the piece."""


@dataclass(frozen=True)
class Change:
    """Change of one feature.

    Attributes
    ----------
    feature : str
        The feature.
    before, after : float, int, str, bool or datetime
        Its current and its new value.
    step : str
        The range or level that contains the new value.
    adds : float
        Change of the score by this change on its own.
    cost : float
        Cost of the change.
    """

    feature: str
    before: Value
    after: Value
    step: str
    adds: float
    cost: float


@dataclass(frozen=True, repr=False)
class Counterfactual(DisplayedResult):
    """The cheapest changes of a row that move its prediction past a target; prints as a sentence and a table.

    Attributes
    ----------
    changes : tuple of Change
        The changes, sorted by decreasing effect; empty if no change is needed or possible.
    found : bool
        Whether the target can be reached.
    cost : float
        Total cost; for `cost="count"` the number of changes; infinite if the target cannot be reached.
    score, new_score : float
        Score (log-odds, prediction or points) before and after. If the target cannot be reached, `new_score` is the
        closest reachable score.
    probability, new_probability : float or None
        Probability of the positive class before and after; None for a regression.
    goal : str
        Description of the target.

    See Also
    --------
    counterfactual : Find the changes.
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
        """Return a data frame with one row per change and columns feature, before, after, step, adds and cost."""
        names = tuple(Change.__dataclass_fields__)
        return make_frame({name: [getattr(change, name) for change in self.changes] for name in names})

    def __repr__(self) -> str:
        return f"<Counterfactual: {f'{len(self.changes)} changes, cost {self.cost:.4g}' if self.found else 'none'}>"

    def _display(self) -> list[str | TextTable]:
        now, then = (
            f"{score:.4g}" if probability is None else f"{probability:.2%}"
            for score, probability in (
                (self.score, self.probability),
                (self.new_score, self.new_probability),
            )
        )
        if not self.found:
            return [f"No change reaches {self.goal}; the closest reachable value is {then} (now {now})."]
        if not self.changes:
            return [f"No change is needed for {self.goal}; the value is {now}."]
        header = ["feature", "change", "step", "effect", "cost"]
        rows = []
        for one in self.changes:
            # Six digits: the smallest number above a threshold prints as the threshold; its step shows the difference.
            before, after = (
                f"{value:.6g}" if isinstance(value, float) and value % 1 else text(value)
                for value in (one.before, one.after)
            )
            rows.append([one.feature, f"{before} -> {after}", one.step, f"{one.adds:+.4g}", f"{one.cost:.3g}"])
        return [f"For {self.goal}, from {now} to {then}:", TextTable(header, rows, n_text=3)]


def counterfactual(
    model: Any,
    row: Any,
    *,
    target: Any = None,
    fixed: Sequence[str] = (),
    directions: Mapping[str, str] | None = None,
    cost: str | Mapping[str, float] | None = None,
) -> Counterfactual:
    """Find the cheapest changes of a row that move its prediction past a target.

    Parameters
    ----------
    model : Model, Scorecard or fitted SparseGAMClassifier or SparseGAMRegressor
        The model.
    row : mapping of str to value, array-like of shape (n_features,) or table of one row
        The row.
    target : label or float, default=None
        For a classification model, the class to reach (None is the class that was not predicted), or a
        probability of the positive class between 0 and 1 to reach from above or below. For a regression, a prediction;
        for a scorecard, a number of points.
    fixed : sequence of str, default=()
        Features that must not change. Missing and special values never change.
    directions : mapping of str to {"up", "down"}, default=None
        Features that may change in one direction only.
    cost : {"share", "count"} or mapping of str to float, default=None
        "share": for each change, 0.01 plus the share of the training data between the old and the new value (1 for a
        category or boolean). "count": the number of changes; between equal numbers, shares decide. A mapping has
        the cost per unit of each feature (per day for dates, per level for ordered levels, per change for categories
        and booleans); other features do not change. None is "share", or "count" if the model does not contain the
        training distribution.

    Returns
    -------
    Counterfactual
        The changes.

    Notes
    -----
    The result is exact: no cheaper changes reach the target. Values within a ramp are rounded to the next round number
    beyond the optimum, or to the next integer if the value and all thresholds of the feature are integers.

    See Also
    --------
    reason_codes : Find the features that lower or raise a score most.

    Examples
    --------
    >>> from sparsegam import SparseGAMRegressor
    >>> from sparsegam.deploy import counterfactual
    >>> gam = SparseGAMRegressor(max_terms=1).fit([[1], [2], [3], [4]] * 5, [0.0, 0.0, 6.0, 6.0] * 5)
    >>> counterfactual(gam, [1], target=5.0).values
    {'x0': 3.0}
    """
    function = score_function(model)
    table = read_row(row, function.feature_names)
    score = float(function.score(table)[0])
    goal = _goal(function, target, score, is_points=hasattr(model, "scaling"))
    change_cost = _change_cost(function, cost)
    free = _free_features(function, fixed, directions or {})
    if change_cost.kind == "unit":
        free = {name: direction for name, direction in free.items() if name in change_cost.per_unit}
    now = {name: float(values[0]) for name, values in function.columns(table).items()}
    return _Solver(function, now, score, goal, change_cost, free).solve()


def read_row(row: Any, names: Sequence[str]) -> Table:
    """Read a mapping of names to values (dict or Series), a sequence of values, or a table of one row."""
    if hasattr(row, "keys") and getattr(row, "ndim", 1) == 1:
        # A pandas Series iterates over its values, so `keys` is needed.
        columns = tuple(from_objects([row[name]], str(name)) for name in row.keys())  # noqa: SIM118
        return Table(columns, 1, len(columns), tuple(column.name for column in columns))
    if isinstance(row, list | tuple) or getattr(row, "ndim", 2) == 1:
        values = list(row)
        if len(values) != len(names):
            msg = f"row has {len(values)} values, but the model was fitted to {len(names)} columns."
            raise ValueError(msg)
        return read_row(dict(zip(names, values, strict=True)), names)
    table = read_table(row)
    if table.n_rows != 1:
        msg = f"row must be a single row, got {table.n_rows}; pass X.iloc[[i]] or X[i:i+1]."
        raise ValueError(msg)
    return table


@dataclass(frozen=True)
class _Goal:
    """Score to reach, from below (sign 1) or from above (sign -1)."""

    threshold: float
    sign: int
    description: str


class _Solver:
    def __init__(
        self,
        function: ScoreFunction,
        now: Mapping[str, float],
        score: float,
        goal: _Goal,
        cost: ChangeCost,
        free: Mapping[str, int],
    ) -> None:
        self.function = function
        self.now = now
        self.score = score
        self.goal = goal
        self.cost = cost
        groups = [FeatureGroup(function, names, now, free) for names in linked_features(function)]
        self.group_of = {name: group for group in groups for name in group.names}
        self.moves = [group.moves(cost, goal.sign) for group in groups]

    def solve(self) -> Counterfactual:
        new_numbers = self._new_numbers()
        if new_numbers is None:
            best = sum(max((max(m.near.gain, m.far.gain) for m in own), default=0.0) for own in self.moves)
            return self._result((), math.inf, self.score + self.goal.sign * best)
        changes = [self._change(name, number) for name, number in new_numbers.items()]
        changes.sort(key=lambda change: -abs(change.adds))
        return self._result(tuple(changes), math.fsum(one.cost for one in changes), self._score_after(new_numbers))

    def _new_numbers(self) -> dict[str, float] | None:
        """Return the new values as numbers on the scales of the features, or None if the target cannot be reached."""
        need = self.goal.sign * (self.goal.threshold - self.score)
        for more in (0.0, OVERSHOOT * (1.0 + abs(self.score) + abs(need))):
            moves = cheapest_moves(self.moves, need + more)
            if moves is not None:
                numbers = dict(change for move, share in moves for change in self._changed_numbers(move, share))
                if self.goal.sign * self._score_after(numbers) >= self.goal.sign * self.goal.threshold:
                    return numbers
        return None

    def _changed_numbers(self, move: Move, share: float) -> Iterator[tuple[str, float]]:
        numbers = zip(move.features, move.at(share).numbers, move.near.numbers, move.far.numbers, strict=True)
        for name, number, near, far in numbers:
            if differs(np.array([near, far]), number).all():
                yield name, self._rounded(name, number, near, far)
            elif differs(np.array([number]), self.now[name])[0]:
                yield name, number

    def _rounded(self, name: str, number: float, near: float, far: float) -> float:
        """Round a number between `near` and `far` in the direction of `far`."""
        whole = is_whole(bins_of_feature(self.function, name), self.now[name])
        digits = 0 if whole else DIGITS - math.floor(math.log10(abs(far - near)))
        round_up = math.ceil if far > near else math.floor
        number = round(round_up(number * 10.0**digits) / 10.0**digits, digits)
        return min(number, far) if far > near else max(number, far)

    def _score_after(self, new_numbers: Mapping[str, float]) -> float:
        numbers = {name: np.array([number]) for name, number in (dict(self.now) | dict(new_numbers)).items()}
        return float(self.function.score_columns(numbers, 1)[0])

    def _change(self, name: str, number: float) -> Change:
        group, before = self.group_of[name], self.now[name]
        bins, after = group.inputs[name], np.array([number])
        return Change(
            feature=name,
            before=_value(bins, before),
            after=_value(bins, number),
            step=bins.bins[int(bins.bin_of(after)[0])].text,
            adds=group.effect(name, number),
            cost=1.0 if self.cost.kind == "count" else float(self.cost.of(bins, before, after)[0]),
        )

    def _result(self, changes: tuple[Change, ...], cost: float, new_score: float) -> Counterfactual:
        before, after = None, None
        if self.function.classes is not None:
            before, after = self.function.probability(np.array([self.score, new_score])).tolist()
        return Counterfactual(
            changes, math.isfinite(cost), cost, self.score, new_score, before, after, self.goal.description
        )


def _value(bins: Bins, number: float) -> Value:
    return "another level" if bins.scale.has_levels and number == UNSEEN else bins.scale.value(number)


def _goal(function: ScoreFunction, target: Any, score: float, *, is_points: bool) -> _Goal:
    if function.classes is not None and not is_points and (target is None or target in function.classes):
        label = function.classes[0 if score > 0 else 1] if target is None else target
        if label == function.classes[1]:
            return _Goal(float(np.nextafter(0.0, 1.0)), 1, f"class {label}")
        return _Goal(0.0, -1, f"class {label}")
    if function.classes is None or is_points:
        check_number("target", target, at_least=-sys.float_info.max)
        threshold = float(target)
    elif isinstance(target, int | float | np.number) and 0 < target < 1:
        threshold = (math.log(target / (1 - target)) - function.shift) / function.slope
    else:
        msg = f"target must be one of the classes {function.classes} or a probability between 0 and 1, got {target!r}."
        raise ValueError(msg)
    sign = 1 if threshold >= score else -1
    bound = f"at least {target:g}" if sign > 0 else f"at most {target:g}"
    if is_points:
        return _Goal(threshold, sign, f"{bound} points")
    what = "a prediction" if function.classes is None else f"a probability of {function.classes[1]}"
    return _Goal(threshold, sign, f"{what} of {bound}")


def _free_features(function: ScoreFunction, fixed: Sequence[str], directions: Mapping[str, str]) -> dict[str, int]:
    """Return the features that may change, with 0 (both directions), 1 (up) or -1 (down)."""
    if isinstance(fixed, str):
        msg = f"fixed must be a list of columns, got {fixed!r}."
        raise ValueError(msg)
    names = function.feature_names
    fixed_names = {names[position(key, names, "fixed")] for key in fixed}
    signs = {}
    for key, direction in directions.items():
        name = names[position(key, names, "directions")]
        check_choice(f"directions[{name!r}]", direction, tuple(DIRECTIONS))
        if name in function.scales and function.scales[name].kind == "category":
            msg = f"directions contains {name!r}, a categorical feature, whose levels have no order: use fixed."
            raise ValueError(msg)
        signs[name] = DIRECTIONS[direction]
    return {name: signs.get(name, 0) for name in function.features if name not in fixed_names}


def _change_cost(function: ScoreFunction, cost: str | Mapping[str, float] | None) -> ChangeCost:
    unknown = [bins.feature for bins in function.inputs if bins.distribution is None]
    if isinstance(cost, Mapping):
        for name, value in cost.items():
            position(name, function.feature_names, "cost")
            check_number(f"cost[{name!r}]", value, at_least=sys.float_info.min)
        return ChangeCost("unit", cost)
    kind = ("count" if unknown else "share") if cost is None else cost
    check_choice("cost", kind, COSTS, "or a dict from column to the cost of one unit")
    if kind == "share" and unknown:
        msg = (
            f"cost='share' needs the training distribution, which the model does not contain for {unknown[0]!r}; use "
            "cost='count' or a dict from column to the cost of one unit."
        )
        raise ValueError(msg)
    return ChangeCost(kind, {})
