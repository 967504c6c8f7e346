"""What a report is made of: the model, the rows it was fitted to and tested on, and the frontier around it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import Column
from sparsegam._data.table import Table, position, read_table
from sparsegam._data.target import apply_class_weights, read_weights
from sparsegam._design.binning import Binning
from sparsegam._design.constraints import Constraints, InteractionOptions
from sparsegam._models.additive import Model
from sparsegam._models.lookup import positions
from sparsegam._models.outcomes import positives
from sparsegam._models.terms import Term
from sparsegam._search.options import SearchOptions
from sparsegam._search.path import Path
from sparsegam._search.solver import Frontier, with_noise_scaled_ridge
from sparsegam._search.tables import TableProblem, Tables
from sparsegam.arrays import FloatArray
from sparsegam.deploy import Scorecard
from sparsegam.inspection import Stability
from sparsegam.inspection._alternatives import with_products_of
from sparsegam.inspection._shrinking import shrunk
from sparsegam.parameters import pick

FURTHER_TERMS = 8  # how far beyond the model the frontier is searched
MANY_TERMS = 40  # from which on its search starts from the model: at 80, in a third of the time, 0.04 % higher


@dataclass(frozen=True)
class Sample:
    """Rows, as a model reads them and as they came, and what happened to them."""

    table: Any
    y: NDArray[Any]
    source: Any = None

    @staticmethod
    def of(X: Any, y: Any, look: Callable[[Any], Any] = read_table) -> "Sample | None":
        """Read rows, or return None where there are none."""
        if X is None or y is None:
            return None
        table, outcome = look(X).load(), np.asarray(y)
        if outcome.shape != (table.n_rows,):
            msg = f"X and y must have the same number of rows, got {table.n_rows} and {outcome.shape}."
            raise ValueError(msg)
        return Sample(table, outcome, X)

    def columns(self) -> Table:
        """Return the rows as a table of columns, whatever the model reads."""
        return self.table if isinstance(self.table, Table) else read_table(self.source)


@dataclass(frozen=True)
class Notes:
    """What only a person knows about a model.

    Attributes
    ----------
    labels : mapping of str to str or (str, str)
        Friendly names of features, or names and units.
    groups : sequence of str, mapping or None
        Subgroups of the measured rows to be looked at by themselves; see `sparsegam.inspection.subgroups`.
    about : mapping of str to str
        Titles and texts, such as intended use, author, limits.
    scorecard : Scorecard or None
        The same model in points.
    """

    labels: Mapping[str, Any] = field(default_factory=dict)
    groups: Any = None
    about: Mapping[str, str] = field(default_factory=dict)
    scorecard: Scorecard | None = None

    def check(self, names: Sequence[str]) -> None:
        """Raise where a label is of no column, or is neither a name nor a name and a unit."""
        for name, label in self.labels.items():
            position(name, names, "labels")
            pair = isinstance(label, tuple) and len(label) == 2 and all(isinstance(part, str) for part in label)
            if not isinstance(label, str) and not pair:
                msg = f"labels[{name!r}] must be a name, or a pair of a name and a unit, got {label!r}."
                raise ValueError(msg)

    def named(self, name: str) -> tuple[str, str]:
        """Return the name and the unit of a feature, as they were given."""
        label = self.labels.get(name, name)
        return (label, "") if isinstance(label, str) else label


@dataclass(frozen=True)
class Material:
    """All that a report is computed from.

    Attributes
    ----------
    model : Model, LinearModel or OneVsRestModel
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
    notes : Notes
        What only a person knows: names and units, groups of rows to look at, use and author, a scorecard.
    names : (str, str) or None
        What the two classes are called here, where the model has no names for them: a class and the rest.
    """

    model: Any
    title: str
    train: Sample | None = None
    test: Sample | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    path: Path[Model] | None = None
    sample_weight: Any = None
    stability: Stability | None = None
    notes: Notes = field(default_factory=Notes)
    names: tuple[str, str] | None = None

    @property
    def class_names(self) -> Any:
        """What the classes are called, or None for a regression."""
        if self.names is not None or self.model.classes is None:
            return self.names
        return tuple(str(label) for label in self.model.classes)

    def equation(self, **options: int) -> str:
        """Return the model as text, with the names that its classes have here."""
        named = self.model if self.names is None else replace(self.model, classes=self.names)
        return str(named.equation(**options))

    def label(self, name: str) -> str:
        """Return a feature as its readers know it, with its unit."""
        label, unit = self.notes.named(name)
        return f"{label} ({unit})" if unit else label

    def words(self, term: Term) -> str:
        """Return the condition of a term in the words of its readers."""
        return term.text({name: self.notes.named(name)[0] for name in term.features})

    @property
    def measured(self) -> Sample | None:
        """The rows to measure on: those of the test or, for want of them, those of the fit."""
        return self.train if self.test is None else self.test

    @cached_property
    def rules(self) -> Constraints:
        """What the model had to obey; its ramps say what settings do not, or leave to folds."""
        ramps = any(term.condition.is_ramp for term in self.model.terms)
        given = self.settings.get("shapes")
        shapes = given if isinstance(given, str | Mapping) else "both" if ramps else "steps"
        return pick(Constraints, dict(self.settings) | {"shapes": shapes})

    @cached_property
    def problem(self) -> TableProblem | None:
        """The search problem that the model answers, posed again."""
        if self.train is None:
            return None
        given = {"lambda2": "auto"} | dict(self.settings) | self._binning()
        given |= {"loss": self.model.loss, "max_terms": self.model.n_terms + FURTHER_TERMS, "certify": False}
        target, weight = self._target(self.train)
        tables = Tables(pick(Binning, given), self.rules, pick(InteractionOptions, given))
        problem = with_noise_scaled_ridge(tables.pose(self.train.table, target, weight, pick(SearchOptions, given)))
        return with_products_of(problem, self.model)

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
        column: Column = sample.table.column(j)
        return column

    def numbers(self, name: str) -> FloatArray | None:
        """Return the training values of a feature in use as numbers on its scale."""
        if self.train is None:
            return None
        if name not in self._numbers:
            self._numbers[name] = self.column(self.train, name).on_scale(self.model.scale_of(name))
        return self._numbers[name]

    @cached_property
    def _numbers(self) -> dict[str, FloatArray]:
        return {}

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

    def _target(self, sample: Sample) -> tuple[FloatArray, FloatArray]:
        weight = read_weights(self.sample_weight, sample.table.n_rows)
        if self.model.classes is None:
            return np.ascontiguousarray(sample.y, dtype=np.float64), weight
        upper = positives(self.model, sample.y).astype(np.intp)
        weight = apply_class_weights(self.settings.get("class_weight"), np.array(self.model.classes), upper, weight)
        return np.where(upper, 1.0, -1.0), weight
