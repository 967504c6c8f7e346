"""What a report is made of: the model, the rows it was fitted to and tested on, and the frontier around it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam.arrays import Vector
from sparsegam.data.columns import Column
from sparsegam.data.frames import Table, read
from sparsegam.data.targets import class_weights, weights
from sparsegam.design.binning import Binning
from sparsegam.design.rules import Rules
from sparsegam.inspection.shrinking import shrunk
from sparsegam.inspection.stability import Stability
from sparsegam.models.additive import Model
from sparsegam.models.lookup import positions
from sparsegam.models.outcomes import positives
from sparsegam.parameters import pick
from sparsegam.search.options import Options
from sparsegam.search.path import Path
from sparsegam.search.solver import Frontier
from sparsegam.search.tables import TableProblem, Tables

FURTHER_TERMS = 8  # how far beyond the model the frontier is searched
MANY_TERMS = 40  # from which on its search starts from the model: at 80, in a third of the time, 0.04 % higher


@dataclass(frozen=True)
class Sample:
    """Rows and what happened to them."""

    table: Table
    y: NDArray[Any]

    @staticmethod
    def of(X: Any, y: Any) -> "Sample | None":
        """Read rows, or return None where there are none."""
        if X is None or y is None:
            return None
        table, outcome = read(X).loaded(), np.asarray(y)
        if outcome.shape != (table.n_rows,):
            msg = f"X and y must have the same number of rows, got {table.n_rows} and {outcome.shape}."
            raise ValueError(msg)
        return Sample(table, outcome)


@dataclass(frozen=True)
class Material:
    """All that a report is computed from.

    Attributes
    ----------
    model : Model
        The model.
    title : str
        Heading of the report.
    train, test : Sample or None
        Rows the model was fitted to, and rows to measure it on.
    settings : mapping
        Options that the model was fitted with.
    path : Path or None
        The frontier, where it is known already.
    stability : Stability or None
        How often features and steps came back in samples of the rows, where that was asked for.
    """

    model: Model
    title: str
    train: Sample | None = None
    test: Sample | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    path: Path[Model] | None = None
    sample_weight: Any = None
    stability: Stability | None = None

    @property
    def measured(self) -> Sample | None:
        """The rows to measure on: those of the test or, for want of them, those of the fit."""
        return self.train if self.test is None else self.test

    @cached_property
    def rules(self) -> Rules:
        """What the model had to obey; its ramps say what settings do not, or leave to folds."""
        ramps = any(term.condition.is_ramp for term in self.model.terms)
        given = self.settings.get("shapes")
        shapes = given if isinstance(given, str | Mapping) else "both" if ramps else "steps"
        return pick(Rules, dict(self.settings) | {"shapes": shapes})

    @cached_property
    def problem(self) -> TableProblem | None:
        """The search problem that the model answers, posed again."""
        if self.train is None:
            return None
        given = {"lambda2": "auto"} | dict(self.settings) | self._binning()
        given |= {"loss": self.model.loss, "max_terms": self.model.n_terms + FURTHER_TERMS, "certify": False}
        target, weight = self._target(self.train)
        options = pick(Options, given)
        return Tables(pick(Binning, given), self.rules).pose(self.train.table, target, weight, options)

    @cached_property
    def frontier(self) -> Path[Model] | None:
        """The best models of the sizes around this one."""
        if self.path is not None or self.problem is None:
            return self.path
        classes = None if self.model.classes is None else np.array(self.model.classes)
        return Path[Model].search(self.problem, classes, rough=True, start=self._start(self.problem))

    def _start(self, problem: TableProblem) -> Frontier | None:
        """Return where the search of a frontier of many terms starts: at this model without its terms, one by one."""
        if self.model.n_terms <= MANY_TERMS:
            return None
        try:
            return shrunk(problem, self.model)
        except ValueError:  # its terms are no columns of these data
            return None

    def column(self, sample: Sample, name: str) -> Column:
        """Return a column of a sample, by name where it has names, else by position."""
        (j,) = positions([name], self.model.feature_names, sample.table)
        return sample.table.column(j)

    def numbers(self, name: str) -> Vector | None:
        """Return the training values of a feature in use as numbers on its scale."""
        if self.train is None:
            return None
        return self.column(self.train, name).on(self.model.source_of(name).scale)

    def _binning(self) -> dict[str, Any]:
        """Recover from the model what its settings do not say: special values, numbers taken as categories."""
        out: dict[str, Any] = {}
        if self.settings.get("special_values") is None and self.model.special_values:
            out["special_values"] = dict(self.model.special_values)
        if self.settings.get("categorical", "auto") == "auto":
            scales = self.model.scales.items()
            forced = [name for name, scale in scales if scale.kind == "category" and not scale.is_text]
            out["categorical"] = forced or "auto"
        return out

    def _target(self, sample: Sample) -> tuple[Vector, Vector]:
        weight = weights(self.sample_weight, sample.table.n_rows)
        if self.model.classes is None:
            return np.ascontiguousarray(sample.y, dtype=np.float64), weight
        upper = positives(self.model, sample.y).astype(np.intp)
        weight = class_weights(self.settings.get("class_weight"), np.array(self.model.classes), upper, weight)
        return np.where(upper, 1.0, -1.0), weight
