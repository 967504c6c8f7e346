"""Inputs of a report: the model, its training and test data, the models of other sizes, and annotations."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import Column
from sparsegam._data.table import Table, position, read_table
from sparsegam._fit.driver import FitResult
from sparsegam._fit.spec import FitSpec
from sparsegam._models.additive import Model
from sparsegam._models.input_columns import positions
from sparsegam._models.one_vs_rest import OneVsRestModel
from sparsegam._models.terms import Term, part_name
from sparsegam._search.options import Deadline
from sparsegam._search.path import Path
from sparsegam._search.table_problem import TableProblem
from sparsegam.arrays import FloatArray
from sparsegam.deploy import Scorecard
from sparsegam.inspection import Stability
from sparsegam.inspection._alternatives import columns_of, fit_problem, fit_spec, smaller_models

# The path is searched up to the size of the model plus this number of terms.
EXTRA_TERMS = 8

# For larger models, the search of the path starts from the model. With 80 terms, it takes a third of the time and
# ends at objectives 0.04 % higher.
MANY_TERMS = 40


@dataclass(frozen=True)
class Dataset:
    """Features in the format of the model, the target, and the features as passed by the user."""

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
    """Information about a model that its author supplies.

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
        """Raise if a label refers to an unknown feature, or is neither a str nor a pair of str."""
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
class Fit:
    """Settings, path and result of the fit of a model, if known.

    Attributes
    ----------
    settings : mapping
        Options of the fit.
    path : Path or None
        The models of other sizes.
    result : FitResult or None
        The result with its problem, if it is in memory.
    classes : tuple of Fit
        The fits of each class against the rest, for more than two classes.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    path: Path[Model] | None = None
    result: FitResult | None = None
    classes: tuple["Fit", ...] = ()

    @staticmethod
    def of(estimator: Any, result: FitResult | None) -> "Fit":
        """Return the fit of an estimator; its settings contain the ridge and the shapes that were selected."""
        parts = getattr(estimator, "estimators_", ())
        results = result.parts if result is not None else (None,) * len(parts)
        settings = estimator.get_params(deep=False)
        path = None
        if not parts and "interactions" in settings:
            path = getattr(estimator, "path_", None)
            settings |= {"lambda2": estimator.lambda2_, "standardize": estimator.standardize_}
            settings["shapes"] = getattr(estimator, "shapes_", estimator.shapes)
        classes = tuple(Fit.of(part, its_result) for part, its_result in zip(parts, results, strict=True))
        return Fit(settings, path, result, classes)


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
    fit : Fit
        Settings, path and problem of the fit, if known.
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
    fit: Fit = field(default_factory=Fit)
    sample_weight: Any = None
    stability: Stability | None = None
    annotations: Annotations = field(default_factory=Annotations)
    names: tuple[str, str] | None = None

    def against_rest(self, k: int) -> "ReportData":
        """Return the report data of the model of class k against the rest."""
        model: OneVsRestModel = self.model
        label = model.classes[k]
        train, test = (None if data is None else replace(data, y=data.y == label) for data in (self.train, self.test))
        fit = self.fit.classes[k] if self.fit.classes else replace(self.fit, path=None, result=None)
        names = (f"not {label}", str(label))
        return replace(self, model=model.models[k], train=train, test=test, fit=fit, names=names)

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

    @cached_property
    def spec(self) -> FitSpec:
        """Options of the fit: the settings; special values, categories and shapes default to those of the model."""
        return fit_spec(self.model, self.fit.settings, self.model.n_terms + EXTRA_TERMS)

    @cached_property
    def problem(self) -> TableProblem | None:
        """The problem of the fit if it is in memory, otherwise built from the training data; None without data."""
        if self.train is None:
            return None
        if self.fit.result is None:
            return fit_problem(self.spec, self.model, self.train.table, self.train.y, self.sample_weight)
        known: Any = self.fit.result.problem
        deadline = Deadline.after(self.spec.options.time_limit)
        problem: TableProblem = replace(known, options=self.spec.options, deadline=deadline, stop=None)
        return problem

    @cached_property
    def missing_columns(self) -> str:
        """Error message if a term is not a column of the problem (for example after edits), otherwise empty."""
        if self.problem is not None and self.fit.result is None:
            try:
                columns_of(self.problem, self.model.terms)
            except ValueError as error:
                return str(error)
        return ""

    @cached_property
    def path(self) -> Path[Model] | None:
        """The best models of other sizes; None without training data."""
        if self.fit.path is not None or self.problem is None:
            return self.fit.path
        classes = None if self.model.classes is None else np.array(self.model.classes)
        from_model = self.model.n_terms > MANY_TERMS and not self.missing_columns
        start = smaller_models(self.problem, self.model) if from_model else None
        return Path[Model].search(self.problem, classes, rough=True, start=start)
