"""Inputs of a report: the model, its training and test data, the models of other sizes, and annotations."""

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
from sparsegam._models.terms import Term, part_name
from sparsegam._search.options import SearchOptions
from sparsegam._search.path import Path
from sparsegam._search.solver import Frontier, with_noise_scaled_ridge
from sparsegam._search.table_problem import TableProblem
from sparsegam._search.tables import Tables
from sparsegam.arrays import FloatArray
from sparsegam.deploy import Scorecard
from sparsegam.inspection import Stability
from sparsegam.inspection._alternatives import with_products_of
from sparsegam.inspection._shrinking import shrunk
from sparsegam.parameters import pick

# The frontier is searched up to so many terms more than the model has.
EXTRA_TERMS = 8

# For larger models, the search of the frontier starts from the model. With 80 terms, it takes a third of the time and
# ends at objectives 0.04 % higher.
MANY_TERMS = 40


@dataclass(frozen=True)
class Dataset:
    """Features as the model reads them, the target, and the features as given."""

    table: Any
    y: NDArray[Any]
    X: Any = None

    @staticmethod
    def read(X: Any, y: Any, read: Callable[[Any], Any] = read_table) -> "Dataset | None":
        """Read X and y; return None if one of them is not given."""
        if X is None or y is None:
            return None
        table, target = read(X).load(), np.asarray(y)
        if target.shape != (table.n_rows,):
            msg = f"X and y must have the same number of rows, got {table.n_rows} and {target.shape}."
            raise ValueError(msg)
        return Dataset(table, target, X)

    def as_table(self) -> Table:
        """Return the features as a table of columns, also for models that read a matrix."""
        return self.table if isinstance(self.table, Table) else read_table(self.X)


@dataclass(frozen=True)
class Annotations:
    """Information about a model that only its author knows.

    Attributes
    ----------
    labels : mapping of str to str or (str, str)
        Labels of features, or pairs of a label and a unit.
    groups : sequence of str, mapping or None
        Subgroups of the rows; see `sparsegam.inspection.subgroups`.
    about : mapping of str to str
        Titles and texts, such as intended use, author and limitations.
    scorecard : Scorecard or None
        The model converted to points.
    """

    labels: Mapping[str, Any] = field(default_factory=dict)
    groups: Any = None
    about: Mapping[str, str] = field(default_factory=dict)
    scorecard: Scorecard | None = None

    def check(self, names: Sequence[str]) -> None:
        """Raise if a label is of an unknown feature, or neither a str nor a pair of str."""
        for name, label in self.labels.items():
            position(name, names, "labels")
            is_pair = isinstance(label, tuple) and len(label) == 2 and all(isinstance(part, str) for part in label)
            if not isinstance(label, str) and not is_pair:
                msg = f"labels[{name!r}] must be a label or a pair (label, unit), got {label!r}."
                raise ValueError(msg)

    def label_and_unit(self, name: str) -> tuple[str, str]:
        """Return the label and the unit of a feature; the label is its name by default."""
        label = self.labels.get(name, name)
        return (label, "") if isinstance(label, str) else label


@dataclass(frozen=True)
class ReportData:
    """Everything that a report is computed from.

    Attributes
    ----------
    model : Model, LinearModel or OneVsRestModel
        The model.
    title : str
        Heading of the report.
    train, test : Dataset or None
        Training and test data.
    settings : mapping
        Options of the fit.
    path : Path or None
        The models of other sizes, if known.
    sample_weight : array-like or None
        Weights of the training data.
    stability : Stability or None
        Selection frequencies of features and terms.
    annotations : Annotations
        Labels, subgroups, texts and scorecard.
    names : (str, str) or None
        Names of the two classes of a model of one class against the rest.
    """

    model: Any
    title: str
    train: Dataset | None = None
    test: Dataset | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    path: Path[Model] | None = None
    sample_weight: Any = None
    stability: Stability | None = None
    annotations: Annotations = field(default_factory=Annotations)
    names: tuple[str, str] | None = None

    @property
    def class_names(self) -> tuple[str, str] | None:
        """Names of the two classes; None for a regression."""
        if self.names is not None or self.model.classes is None:
            return self.names
        negative, positive = self.model.classes
        return str(negative), str(positive)

    def equation(self, **options: int) -> str:
        """Return the model as text."""
        model = self.model if self.names is None else replace(self.model, classes=self.names)
        return str(model.equation(**options))

    def label(self, name: str) -> str:
        """Return the label of a feature with its unit, as in `Income (EUR)`."""
        label, unit = self.annotations.label_and_unit(name)
        return f"{label} ({unit})" if unit else label

    def term(self, term: Term) -> dict[str, Any]:
        """Return the JSON content of a term."""
        labels = {name: self.annotations.label_and_unit(name)[0] for name in term.features}
        return {
            "feature": part_name(term.part),
            "condition": term.text(labels),
            "coef": term.coef,
            "ramp": term.condition.is_ramp,
        }

    @property
    def evaluation(self) -> Dataset | None:
        """The data to measure performance on: test data or, if there are none, training data."""
        return self.train if self.test is None else self.test

    @cached_property
    def constraints(self) -> Constraints:
        """Constraints of the fit; where the settings leave the shapes open, those of the model."""
        ramps = any(term.condition.is_ramp for term in self.model.terms)
        given = self.settings.get("shapes")
        shapes = given if isinstance(given, str | Mapping) else "both" if ramps else "steps"
        return pick(Constraints, dict(self.settings) | {"shapes": shapes})

    @cached_property
    def problem(self) -> TableProblem | None:
        """The fitting problem of the model, built from the training data and the settings."""
        if self.train is None:
            return None
        given = {"lambda2": "auto"} | dict(self.settings) | self._binning()
        given |= {"loss": self.model.loss, "max_terms": self.model.n_terms + EXTRA_TERMS, "certify": False}
        target, weight = self._target(self.train)
        tables = Tables(pick(Binning, given), self.constraints, pick(InteractionOptions, given))
        problem = with_noise_scaled_ridge(tables.pose(self.train.table, target, weight, pick(SearchOptions, given)))
        return with_products_of(problem, self.model)

    @cached_property
    def frontier(self) -> Path[Model] | None:
        """The best models of other sizes."""
        if self.path is not None or self.problem is None:
            return self.path
        classes = None if self.model.classes is None else np.array(self.model.classes)
        return Path[Model].search(self.problem, classes, rough=True, start=self._start(self.problem))

    def _start(self, problem: TableProblem) -> Frontier | None:
        if self.model.n_terms <= MANY_TERMS:
            return None
        try:
            return shrunk(problem, self.model)
        except ValueError:  # its terms are no columns of these data
            return None

    def column(self, data: Dataset, name: str) -> Column:
        """Return a column of the data, by name or, if the data have no names, by position."""
        (j,) = positions([name], self.model.feature_names, data.table)
        column: Column = data.table.column(j)
        return column

    def numbers(self, name: str) -> FloatArray | None:
        """Return the training values of a feature as numbers on its scale."""
        if self.train is None:
            return None
        if name not in self._numbers:
            self._numbers[name] = self.column(self.train, name).on_scale(self.model.scale_of(name))
        return self._numbers[name]

    @cached_property
    def _numbers(self) -> dict[str, FloatArray]:
        return {}

    def _binning(self) -> dict[str, Any]:
        out: dict[str, Any] = {}
        if self.settings.get("special_values") is None and self.model.special_values:
            out["special_values"] = dict(self.model.special_values)
        if self.settings.get("categorical", "auto") == "auto":
            scales = self.model.scales.items()
            forced = [name for name, scale in scales if scale.kind == "category" and not scale.is_text]
            out["categorical"] = forced or "auto"
        return out

    def _target(self, data: Dataset) -> tuple[FloatArray, FloatArray]:
        weight = read_weights(self.sample_weight, data.table.n_rows)
        if self.model.classes is None:
            return np.ascontiguousarray(data.y, dtype=np.float64), weight
        positive = positives(self.model, data.y).astype(np.intp)
        weight = apply_class_weights(self.settings.get("class_weight"), np.array(self.model.classes), positive, weight)
        return np.where(positive, 1.0, -1.0), weight
