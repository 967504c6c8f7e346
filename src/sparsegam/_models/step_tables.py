"""Tables of steps: the first step of a feature that holds gives what it adds to the score, alone or with another."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import Level, Scale, Value, text
from sparsegam._models.pairs import Axis, PairFunction
from sparsegam._models.seen import NEW, Seen, count_new
from sparsegam._models.shapes import ShapeFunction
from sparsegam._models.terms import part_name
from sparsegam.arrays import FloatArray

Position = NDArray[np.intp]
Numbers = Mapping[str, FloatArray]
"""The columns of the features in use, as numbers on their scales."""
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
    def key(self) -> str:
        """What the steps are of: the feature."""
        return self.feature

    @property
    def name(self) -> str:
        """The same in words."""
        return self.feature

    @property
    def ends(self) -> FloatArray:
        """What both ends of each step add."""
        return np.concatenate([self.adds, self.starts])

    @property
    def adds(self) -> FloatArray:
        """What each step adds; of a straight piece, what its upper end does."""
        return np.array([step.adds for step in self.steps], dtype=np.float64)

    @property
    def slopes(self) -> FloatArray:
        """What each unit adds within each step."""
        return np.array([step.slope for step in self.steps], dtype=np.float64)

    @property
    def starts(self) -> FloatArray:
        """What the lower end of each step adds."""
        ends, slopes, out = self._ends(), self.slopes, self.adds
        sloped = np.flatnonzero(slopes)  # the step before one of these ends where it begins
        out[sloped] -= slopes[sloped] * (ends[sloped] - ends[sloped - 1])
        return out

    def find(self, numbers: Numbers) -> Position:
        """Return the position of the step of each row, given the columns in use."""
        return self.locate(numbers[self.feature])

    def of(self, numbers: Numbers) -> FloatArray:
        """Return what is added to each row, given the columns in use."""
        return self.at(numbers[self.feature])

    def at(self, numbers: FloatArray, located: Position | None = None) -> FloatArray:
        """Return what each value adds, given as a number on the scale."""
        located = self.locate(numbers) if located is None else located
        out: FloatArray = self.adds[located]
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

    def _ends(self) -> FloatArray:
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

    def locate(self, numbers: FloatArray) -> Position:
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

    def shares(self) -> FloatArray | None:
        """Return the share of the rows of the fit in each step, by weight, or None where it is not known."""
        if self.seen is None:
            return None
        numbers, shares = self.seen.sample(self.scale)
        return np.bincount(self.locate(numbers), shares, len(self.steps)).astype(np.float64)

    def phrases(self) -> list[tuple[str, str]]:
        """Return by what each step may be called: its text, or its label."""
        return list(zip(self.texts(), self.labels(), strict=True))

    def spread(self) -> tuple[FloatArray, FloatArray] | None:
        """Return what is added to the rows of the fit, and by which share of them; None where that is not known."""
        if self.seen is None:
            return None
        numbers, shares = self.seen.sample(self.scale)
        return self.at(numbers), shares

    def count_new(self, numbers: FloatArray) -> dict[str, int]:
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

    def _holds(self, step: Step, numbers: FloatArray) -> NDArray[np.bool_]:
        if step.kind == "missing":
            return np.isnan(numbers)
        asked = [self.scale.number(value) for value in step.values]
        return np.isin(numbers, asked) if step.kind == "equal" else numbers <= asked[0]


@dataclass(frozen=True, eq=False)
class PairTable:
    """What two features add together: how each is cut into cells, and what is added where two cells meet.

    Attributes
    ----------
    first, second : StepTable
        How the values of each are cut: what a step "adds" is the number of its cell. Steps that the products of the
        pair do not tell apart are in one cell.
    adds : ndarray of shape (cells of the first, cells of the second)
        What is added.
    kept : pair of ndarray
        Which cells of the pair function those of either feature are: all that some value can be in.
    shares : ndarray of the same shape as `adds`, or None
        The share of the rows of the fit in each, by weight, where that is known.
    """

    first: StepTable
    second: StepTable
    adds: FloatArray
    kept: tuple[Position, Position]
    shares: FloatArray | None = None

    @property
    def halves(self) -> tuple[StepTable, StepTable]:
        """How each of the features is cut."""
        return self.first, self.second

    @property
    def key(self) -> tuple[str, str]:
        """What the cells are of: the two features."""
        return self.first.feature, self.second.feature

    @property
    def name(self) -> str:
        """The same in words, as in `age & priors`."""
        return part_name(self.key)

    @property
    def ends(self) -> FloatArray:
        """What the cells add."""
        out: FloatArray = self.adds.ravel()
        return out

    def find(self, numbers: Numbers) -> Position:
        """Return the cell of each row, counted row by row of the table, given the columns in use."""
        first, second = (cells_of(half)[half.find(numbers)] for half in self.halves)
        return np.ravel_multi_index((first, second), self.adds.shape)

    def of(self, numbers: Numbers) -> FloatArray:
        """Return what is added to each row, given the columns in use."""
        out: FloatArray = self.adds.ravel()[self.find(numbers)]
        return out

    @property
    def slopes(self) -> FloatArray:
        """What each unit adds within each cell: nothing."""
        return np.zeros(self.adds.size)

    def cell_labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Write the cells of both features, and where no row of the fit was in one, say so."""
        first, second = (tuple(label for _, label in _cell_phrases(half)) for half in self.halves)
        return first, second

    def labels(self) -> tuple[str, ...]:
        """Write where two cells meet, as in `age: <= 25; priors: > 3`, row by row; where no row was, say so."""
        first, second = self.key
        called = self.phrases()
        return tuple(
            f"{first}: {one}; {second}: {other}{NEW * (both != (one, other))}" for (one, other), both in called
        )

    def phrases(self) -> list[tuple[tuple[str, str], tuple[str, str]]]:
        """Return by what each meeting of cells may be called: the texts of both, or their labels."""
        rows, columns = (list(_cell_phrases(half)) for half in self.halves)
        return [((one[0], other[0]), (one[1], other[1])) for one in rows for other in columns]

    def spread(self) -> tuple[FloatArray, FloatArray] | None:
        """Return what is added to the rows of the fit, and by which share of them; None where that is not known."""
        return None if self.shares is None else (self.adds.ravel(), self.shares.ravel())

    def changed(self, change: Callable[[float], float]) -> "PairTable":
        """Return the same cells with other contributions."""
        return replace(self, adds=np.vectorize(change, otypes=[np.float64])(self.adds))


def cells_of(half: StepTable) -> Position:
    """Return the cell of each step of a feature of a pair."""
    return half.adds.astype(np.intp)


def pair_table(pair: PairFunction) -> PairTable:
    """Return a pair function as cells; those that no value can be in are left out."""
    (first, rows), (second, columns) = (_cut(axis) for axis in pair.axes)
    at = np.ix_(rows, columns)
    shares = None if pair.shares is None else pair.shares[at]
    return PairTable(first, second, pair.values[at], (rows, columns), shares)


def _cut(axis: Axis) -> tuple[StepTable, Position]:
    """Return how a feature of a pair is cut, and which cells of the axis its cells are."""
    table = step_table(axis.name, axis.cell)
    found, cell = np.unique(cells_of(table), return_inverse=True)
    steps = (replace(step, adds=float(c)) for step, c in zip(table.steps, cell.ravel(), strict=True))
    return replace(table, steps=tuple(steps)), found


def _cell_phrases(half: StepTable) -> Iterator[tuple[str, str]]:
    """Write each cell: its steps, and the same with a word where no row of the fit was."""
    cell, texts = cells_of(half), half.texts()
    for i in range(int(cell.max()) + 1):
        mine = np.flatnonzero(cell == i).tolist()
        words, new = ", ".join(texts[k] for k in mine), all(half.steps[k].new for k in mine)
        yield words, f"{words}{NEW * new}"


def step_table(name: str, shape: ShapeFunction) -> StepTable:
    """Return a shape function as steps."""
    steps = _level_steps(shape) if shape.scale.has_levels else _number_steps(shape)
    missing = Step("missing", float(shape.missing), new=shape.seen is not None and not shape.seen.missing)
    return StepTable(name, shape.scale, (missing, *steps), shape.seen)


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
