"""A model as tables of steps: the first step of a feature that holds gives what the feature adds to the score.

Scorecards, reason codes and exports are made of these tables, so that none of them reads terms in a way of its own.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sparsegam.arrays import Vector
from sparsegam.data.frames import Table, read
from sparsegam.data.scales import NUMBER, Level, Scale, Value, text
from sparsegam.losses import LOSSES, logistic
from sparsegam.models.additive import Model
from sparsegam.models.lookup import positions
from sparsegam.models.pairs import PairFunction
from sparsegam.models.seen import NEW, NewValues, Seen, count_new
from sparsegam.models.shapes import ShapeFunction
from sparsegam.models.terms import part_name

Position = NDArray[np.intp]
WHOLE = 2.0**53  # below it, every whole number is a float


@dataclass(frozen=True)
class Step:
    """What is added where a condition holds and none of the steps before it does.

    `missing`: the value is missing; `equal`: it is one of `values`; `upto`: it is at most `values[0]`; `rest`: always.
    `new`: no row of the fit was there. Up to `values[0]`, each unit below it adds `-slope`: a straight piece.
    """

    kind: Literal["missing", "equal", "upto", "rest"]
    adds: float
    values: tuple[Value, ...] = ()
    new: bool = False
    slope: float = 0.0


@dataclass(frozen=True)
class StepTable:
    """The steps of one feature: missing first, then single values, then thresholds from below, and the rest.

    `seen` is what the rows of the fit had of the feature, where that is known.
    """

    feature: str
    scale: Scale
    steps: tuple[Step, ...]
    seen: Seen | None = None

    @property
    def adds(self) -> Vector:
        """What each step adds; of a straight piece, what its upper end does."""
        return np.array([step.adds for step in self.steps], dtype=np.float64)

    @property
    def slopes(self) -> Vector:
        """What each unit adds within each step."""
        return np.array([step.slope for step in self.steps], dtype=np.float64)

    @property
    def starts(self) -> Vector:
        """What the lower end of each step adds."""
        ends, slopes, out = self._ends(), self.slopes, self.adds
        sloped = np.flatnonzero(slopes)  # the step before one of these ends where it begins
        out[sloped] -= slopes[sloped] * (ends[sloped] - ends[sloped - 1])
        return out

    def at(self, numbers: Vector, located: Position | None = None) -> Vector:
        """Return what each value adds, given as a number on the scale."""
        located = self.locate(numbers) if located is None else located
        out: Vector = self.adds[located]
        slopes = self.slopes
        if not slopes.any():
            return out
        sloped = slopes[located] != 0
        where, piece = numbers[sloped], located[sloped]
        ends = np.sort(np.stack([self.starts, self.adds]), axis=0)  # rounding must not lead beyond them
        out[sloped] = np.clip(
            out[sloped] + slopes[piece] * (where - self._ends()[piece]), ends[0][piece], ends[1][piece]
        )
        return out

    def _ends(self) -> Vector:
        """Return where the steps up to a threshold end, as numbers; the others have no end."""
        upto = [self.scale.number(step.values[0]) if step.kind == "upto" else np.inf for step in self.steps]
        return np.array(upto, dtype=np.float64)

    @property
    def rounds(self) -> bool:
        """Tell whether values must become floats before they are compared: whole numbers from 2^53 on are rounded then.

        Python and some databases compare such integers with floats to the last digit, and would find other steps.
        """
        asked = [value for step in self.steps for value in step.values]
        return self.scale.kind == "number" and any(abs(self.number(value)) >= WHOLE for value in asked)

    def locate(self, numbers: Vector) -> Position:
        """Return the position of the step of each value, given as a number on the scale."""
        out = np.full(numbers.size, len(self.steps) - 1, dtype=np.intp)
        for i, step in reversed(list(enumerate(self.steps[:-1]))):
            out[self._holds(step, numbers)] = i
        return out

    def texts(self) -> tuple[str, ...]:
        """Write the condition of each step, as `62 < x <= 69` without the x where there is no order."""
        return tuple(_texts(self))

    def labels(self) -> tuple[str, ...]:
        """Write the condition of each step, and where no row of the fit was there, say so."""
        return tuple(f"{words}{NEW * step.new}" for words, step in zip(self.texts(), self.steps, strict=True))

    def shares(self) -> Vector | None:
        """Return the share of the rows of the fit in each step, by weight, or None where it is not known."""
        if self.seen is None:
            return None
        numbers, shares = self.seen.sample(self.scale)
        return np.bincount(self.locate(numbers), shares, len(self.steps)).astype(np.float64)

    def count_new(self, numbers: Vector) -> dict[str, int]:
        """Count the values that no row of the fit had, by kind."""
        special = [self.scale.number(v) for step in self.steps if step.kind == "equal" for v in step.values]
        return count_new(self.seen, self.scale, special, numbers)

    def changed(self, change: Callable[[float], float]) -> "StepTable":
        """Return the same steps with other contributions; none of them may have a slope."""
        return replace(self, steps=tuple(replace(step, adds=change(step.adds)) for step in self.steps))

    def number(self, value: Value) -> float:
        """Return what other programs take for a value that is no text: levels that are numbers stand for themselves."""
        if self.scale.has_levels and isinstance(value, int | float):
            return float(value)
        return self.scale.number(value)

    def _holds(self, step: Step, numbers: Vector) -> NDArray[np.bool_]:
        if step.kind == "missing":
            return np.isnan(numbers)
        asked = [self.scale.number(value) for value in step.values]
        return np.isin(numbers, asked) if step.kind == "equal" else numbers <= asked[0]


@dataclass(frozen=True, eq=False)
class PairTable:
    """What two features add together: the steps of both, and what is added where one of each holds.

    Attributes
    ----------
    first, second : StepTable
        How the values of each are cut; what their steps add by themselves means nothing.
    adds : ndarray of shape (steps of the first, steps of the second)
        What is added.
    mean : float or None
        The mean of what is added over the rows of the fit, where that is known.
    """

    first: StepTable
    second: StepTable
    adds: Vector
    mean: float | None = None

    @property
    def features(self) -> tuple[str, str]:
        """The two features."""
        return self.first.feature, self.second.feature

    @property
    def name(self) -> str:
        """Both names in one, as in `age & priors`."""
        return part_name(self.features)

    def at(self, first: Vector, second: Vector) -> Vector:
        """Return what is added, given the values of both features as numbers on their scales."""
        out: Vector = self.adds[self.first.locate(first), self.second.locate(second)]
        return out

    def changed(self, change: Callable[[float], float]) -> "PairTable":
        """Return the same steps with other contributions."""
        return replace(self, adds=np.vectorize(change, otypes=[np.float64])(self.adds))


@dataclass(frozen=True)
class StepModel:
    """score = base + what the steps add; P(second class) = 1 / (1 + exp(-(shift + slope * score))).

    Attributes
    ----------
    base : float
        Score before anything is added.
    tables : tuple of StepTable
        One for each feature that adds something by itself.
    pairs : tuple of PairTable
        One for each pair of features that add something together; they come after the tables.
    feature_names : tuple of str
        All columns of the training table: arrays are read by these positions.
    classes : tuple or None
        The two labels; None for a regression, which has no probability.
    slope, shift : float
        From score to log odds of the second class.
    missing : {"mean", "error", "last"}
        What is said of values that no row of the fit had; how they are scored is in the steps.
    """

    base: float
    tables: tuple[StepTable, ...]
    feature_names: tuple[str, ...]
    classes: tuple[Any, Any] | None = None
    slope: float = 1.0
    shift: float = 0.0
    missing: str = "last"
    pairs: tuple[PairTable, ...] = ()

    @property
    def inputs(self) -> tuple[StepTable, ...]:
        """A table for each feature in use: its own or, where only pairs ask for it, how the first of them cuts it."""
        found: dict[str, StepTable] = {}
        for table in (*self.tables, *(half for pair in self.pairs for half in (pair.first, pair.second))):
            found.setdefault(table.feature, table)
        return tuple(found.values())

    @property
    def features(self) -> tuple[str, ...]:
        """The features in use."""
        return tuple(table.feature for table in self.inputs)

    @property
    def scales(self) -> dict[str, Scale]:
        """The scales of the features in use."""
        return {table.feature: table.scale for table in self.inputs}

    def locate(self, X: Any) -> list[Position]:
        """Return, for each table, the position of the step that holds in each row."""
        numbers = step_numbers(self, as_table(X))
        return [table.locate(numbers[table.feature]) for table in self.tables]

    def score(self, X: Any) -> Vector:
        """Return the score of each row."""
        rows, new = as_table(X), NewValues()
        numbers, out = step_numbers(self, rows), np.full(rows.n_rows, self.base)
        for table in self.tables:
            out += table.at(numbers[table.feature])
        for pair in self.pairs:
            out += pair.at(*(numbers[name] for name in pair.features))
        for table in self.inputs:
            new.note(table.feature, table.count_new(numbers[table.feature]))
        new.tell(self.missing)
        return out

    def probability(self, score: Vector) -> Vector:
        """Turn scores into probabilities of the second class."""
        if self.classes is None:
            msg = "a regression has no probabilities: use its scores."
            raise ValueError(msg)
        return logistic(self.log_odds(score))

    def log_odds(self, score: Vector) -> Vector:
        """Turn scores into log odds of the second class."""
        out: Vector = self.shift + self.slope * score
        return out

    def check_inputs(self, format_: str, taken: tuple[str, ...]) -> None:
        """Raise where a format needs an input and the model has none, or one by a name that an output has."""
        if not self.inputs:
            msg = f"{format_} needs at least one feature, but the model has no terms: its score is always {self.base}."
            raise ValueError(msg)
        for name in self.features:
            if name in taken or not name:
                why = "an output has this name" if name else "names must not be empty"
                msg = f"{format_} cannot write a column named {name!r}, since {why}: rename the column."
                raise ValueError(msg)

    def range(self) -> tuple[float, float]:
        """Return bounds on the score of any row: the lowest and the highest there is, but for pairs."""
        ends = [np.stack([table.starts, table.adds]) for table in self.tables]
        ends += [pair.adds for pair in self.pairs]
        return self.base + sum(float(e.min()) for e in ends), self.base + sum(float(e.max()) for e in ends)


def step_model(model: Any) -> StepModel:
    """Return a model, or anything that holds its own steps (a scorecard), as tables of steps."""
    if isinstance(model, StepModel):
        return model
    if hasattr(model, "steps"):
        return step_model(model.steps)
    if hasattr(model, "model_"):
        return step_model(model.model_)
    if not isinstance(model, Model):
        msg = f"a Model, a Scorecard or a fitted estimator is wanted, got {type(model).__name__}."
        raise TypeError(msg)
    return StepModel(
        base=model.intercept,
        tables=tuple(_table(name, shape) for name, shape in model.shape_functions().items()),
        feature_names=model.feature_names,
        classes=None if model.classes is None else (_plain(model.classes[0]), _plain(model.classes[1])),
        slope=LOSSES[model.loss].slope,
        missing=model.missing,
        pairs=tuple(_pair_table(pair) for pair in model.pair_functions().values()),
    )


def as_table(X: Any) -> Table:
    """Return what a user passes as a table; one that was read already stays as it is."""
    return X if isinstance(X, Table) else read(X)


def step_numbers(model: Model | StepModel, table: Table) -> dict[str, Vector]:
    """Return the columns of the features in use, as numbers on the scales of the model."""
    where, scales = positions(model.features, model.feature_names, table), model.scales
    return {name: table.column(j).on(scales.get(name, NUMBER)) for name, j in zip(model.features, where, strict=True)}


def _plain(label: Any) -> Any:
    return label.item() if hasattr(label, "item") else label


def _table(name: str, shape: ShapeFunction) -> StepTable:
    steps = _level_steps(shape) if shape.scale.has_levels else _number_steps(shape)
    missing = Step("missing", float(shape.missing), new=shape.seen is not None and not shape.seen.missing)
    return StepTable(name, shape.scale, (missing, *steps), shape.seen)


def _pair_table(pair: PairFunction) -> PairTable:
    first, second = (_table(axis.name, axis.cell) for axis in pair.axes)
    cells = np.ix_(first.adds.astype(np.intp), second.adds.astype(np.intp))
    return PairTable(first, second, pair.values[cells], None if pair.shares is None else pair.mean())


def _number_steps(shape: ShapeFunction) -> Iterator[Step]:
    lacking = set() if shape.seen is None else {*shape.seen.lacks(shape.special, shape.scale)}
    special = sorted((number in lacking, adds, number) for number, adds in shape.special.items())
    for (new, adds), group in groupby(special, key=lambda one: one[:2]):
        yield Step("equal", float(adds), tuple(shape.scale.value(number) for *_, number in group), new=new)
    for edge, adds, slope in zip(shape.thresholds, shape.values[:-1], shape.slopes[:-1], strict=True):
        yield Step("upto", float(adds), (edge,), slope=float(slope))
    yield Step("rest", float(shape.values[-1]))


def _level_steps(shape: ShapeFunction) -> Iterator[Step]:
    """Group levels that add the same: neighbours for an ordered scale, any for a category.

    What a level adds that is not on the scale is the rest, and so are the levels that add the same.
    """
    adds = shape.at(np.arange(len(shape.scale.levels), dtype=np.float64))
    pairs: list[tuple[float, Level]] = list(zip(adds.tolist(), shape.scale.levels, strict=True))
    if shape.scale.kind == "category":
        pairs.sort(key=lambda pair: pair[0])  # stable: levels keep their order
    for value, group in groupby(pairs, key=lambda pair: pair[0]):
        if value != shape.unseen:
            yield Step("equal", float(value), tuple(level for _, level in group))
    yield Step("rest", float(shape.unseen), new=bool(np.all(adds != shape.unseen)))


def _texts(table: StepTable) -> Iterator[str]:
    lower: str | None = None
    for step in table.steps:
        if step.kind == "missing":
            yield "missing"
        elif step.kind == "equal":
            yield ", ".join(map(text, step.values))
        elif table.scale.kind == "boolean":
            yield "False" if step.kind == "upto" else "True" if lower else "any other"
            lower = "False"
        elif step.kind == "upto":
            upper = text(step.values[0])
            yield f"<= {upper}" if lower is None else f"> {lower} to {upper}"
            lower = upper
        else:
            yield "any other" if lower is None else f"> {lower}"
