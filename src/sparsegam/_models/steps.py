"""A model as tables of steps: the first step of a feature that holds gives what the feature adds to the score.

Scorecards, reason codes and exports are made of these tables, so that none of them reads terms in a way of its own.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparsegam._data.columns import NUMBER, Scale
from sparsegam._data.table import Table, read_table
from sparsegam._models.additive import Model
from sparsegam._models.lookup import positions
from sparsegam._models.seen import NewValues
from sparsegam._models.step_tables import Numbers, PairTable, Position, StepTable, pair_table, step_table
from sparsegam.arrays import FloatArray
from sparsegam.losses import LOSSES, logistic


@dataclass(frozen=True)
class StepModel:
    """score = base + what the steps add; P(second class) = 1 / (1 + exp(-(shift + slope * score))).

    Attributes
    ----------
    base : float
        The score that the steps add to.
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
    def parts(self) -> tuple[StepTable | PairTable, ...]:
        """What is added up: the tables, then the pairs."""
        return (*self.tables, *self.pairs)

    @property
    def inputs(self) -> tuple[StepTable, ...]:
        """A table for each feature in use: its own or, where only pairs ask for it, how the first of them cuts it."""
        found: dict[str, StepTable] = {}
        for table in (*self.tables, *(half for pair in self.pairs for half in pair.halves)):
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

    def changed(self, changes: Sequence[Callable[[float], float]]) -> "StepModel":
        """Return the same steps with other contributions: a change for each part."""
        n = len(self.tables)
        tables = tuple(table.changed(change) for table, change in zip(self.tables, changes[:n], strict=True))
        pairs = tuple(pair.changed(change) for pair, change in zip(self.pairs, changes[n:], strict=True))
        return replace(self, tables=tables, pairs=pairs)

    def locate(self, X: Any) -> list[Position]:
        """Return, for each part, the position of the step, or of the cell, that holds in each row."""
        numbers = step_numbers(self, as_table(X))
        return [part.find(numbers) for part in self.parts]

    def score(self, X: Any) -> FloatArray:
        """Return the score of each row."""
        rows, new = as_table(X), NewValues()
        numbers = step_numbers(self, rows)
        out = self.score_numbers(numbers, rows.n_rows)
        for table in self.inputs:
            new.note(table.feature, table.count_new(numbers[table.feature]))
        new.tell(self.missing)
        return out

    def score_numbers(self, numbers: Numbers, n_rows: int) -> FloatArray:
        """Return the score of each row, given the columns in use, without a word on values that no row had."""
        out = np.full(n_rows, self.base)
        for part in self.parts:
            out += part.of(numbers)
        return out

    def probability(self, score: FloatArray) -> FloatArray:
        """Turn scores into probabilities of the second class."""
        if self.classes is None:
            msg = "a regression has no probabilities: use its scores."
            raise ValueError(msg)
        return logistic(self.log_odds(score))

    def log_odds(self, score: FloatArray) -> FloatArray:
        """Turn scores into log odds of the second class."""
        out: FloatArray = self.shift + self.slope * score
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
        tables=tuple(step_table(name, shape) for name, shape in model.shape_functions().items()),
        feature_names=model.feature_names,
        classes=None if model.classes is None else (_plain(model.classes[0]), _plain(model.classes[1])),
        slope=LOSSES[model.loss].slope,
        missing=model.missing,
        pairs=tuple(pair_table(pair) for pair in model.pair_functions().values()),
    )


def as_table(X: Any) -> Table:
    """Return what a user passes as a table; one that was read already stays as it is."""
    return X if isinstance(X, Table) else read_table(X)


def step_numbers(model: Model | StepModel, table: Table) -> dict[str, FloatArray]:
    """Return the columns of the features in use, as numbers on the scales of the model."""
    where, scales = positions(model.features, model.feature_names, table), model.scales
    return {
        name: table.column(j).on_scale(scales.get(name, NUMBER)) for name, j in zip(model.features, where, strict=True)
    }


def _plain(label: Any) -> Any:
    return label.item() if hasattr(label, "item") else label
