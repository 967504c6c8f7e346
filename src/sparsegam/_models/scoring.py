"""Base classes of fitted models: text and HTML output, probabilities, predicted classes and encoded targets."""

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.target import numeric_target, rest_label, target_vector
from sparsegam._models import display
from sparsegam.arrays import FloatArray
from sparsegam.losses import LOSSES, logistic

if TYPE_CHECKING:
    from sparsegam._models.additive import Model
    from sparsegam._search.path import Path as SearchPath
    from sparsegam.deploy import Scorecard
    from sparsegam.inspection import Stability


class Reports:
    """Method `report` of models and estimators."""

    def report(  # noqa: PLR0913
        self: Any,
        file: str | os.PathLike[str],
        X: Any = None,
        y: Any = None,
        *,
        X_test: Any = None,
        y_test: Any = None,
        title: str = "A sparse model",
        settings: Mapping[str, Any] | None = None,
        path: "SearchPath[Model] | None" = None,
        sample_weight: Any = None,
        stability: "Stability | None" = None,
        labels: Mapping[str, str | tuple[str, str]] | None = None,
        groups: Any = None,
        about: Mapping[str, str] | None = None,
        scorecard: "Scorecard | None" = None,
    ) -> Path:
        """Write a report as one self-contained HTML file; see `sparsegam.report.write_report` for the parameters."""
        from sparsegam.report import write_report

        return write_report(
            file,
            self,
            X,
            y,
            X_test=X_test,
            y_test=y_test,
            title=title,
            settings=settings,
            path=path,
            sample_weight=sample_weight,
            stability=stability,
            labels=labels,
            groups=groups,
            about=about,
            scorecard=scorecard,
        )


class ScoringModel(Reports, ABC):
    """Model with one score per row; its loss determines the probability that belongs to a score."""

    loss: str
    classes: tuple[Any, Any] | None

    @property
    @abstractmethod
    def n_terms(self) -> int:
        """Number of terms."""

    @property
    @abstractmethod
    def features(self) -> tuple[str, ...]:
        """Names of the features in use."""

    @abstractmethod
    def decision_function(self, X: Any) -> FloatArray:
        """Return the score of each row."""

    @abstractmethod
    def equation(self) -> str:
        """Return the model as text."""

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class, one column per class."""
        return self.probabilities(self.decision_function(X))

    def probabilities(self, score: FloatArray) -> FloatArray:
        """Return the probabilities of both classes for each score."""
        if self.classes is None:
            msg = "predict_proba needs a classification model; this one is a regression: use predict."
            raise ValueError(msg)
        positive = logistic(LOSSES[self.loss].slope * score)
        return np.column_stack([1.0 - positive, positive])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the more probable class of each row, or its score for a regression."""
        score = self.decision_function(X)
        return score if self.classes is None else np.array(self.classes)[(score > 0).astype(np.intp)]

    def _equation(self, intercept: float, body: list[str], digits: int) -> str:
        """Return the first line, the lines of the terms, and the formula of the probability."""
        if self.classes is None:
            return "\n".join([f"prediction = {intercept:.{digits}g}", *body])
        if LOSSES[self.loss].probability_slope is None:
            last = f"{self.classes[1]} where score > 0, else {self.classes[0]}"
            return "\n".join([f"score = {intercept:.{digits}g}", *body, last])
        slope = LOSSES[self.loss].slope
        last = f"P({self.classes[1]}) = 1 / (1 + exp(-{'' if slope == 1 else f'{slope:g} '}score))"
        return "\n".join([f"score = {intercept:.{digits}g}", *body, last])

    def __str__(self) -> str:
        return self.equation()

    def _repr_html_(self) -> str:
        return display.fragment(display.note(repr(self).strip("<>")), *self._html_parts())

    def _html_parts(self) -> list[str]:
        """Return the HTML of the model for notebooks."""
        return [display.verbatim(self.equation())]


def positives(model: ScoringModel, y: Any) -> NDArray[np.bool_]:
    """Return the mask of the labels of the positive class. Raise ValueError if a label is not a class of the model.

    Parameters
    ----------
    model : ScoringModel
        A classification model.
    y : array-like of shape (n_samples,)
        Labels.

    Returns
    -------
    ndarray of bool
        True for the positive class.
    """
    if model.classes is None:
        msg = "a classification model is required, got a regression."
        raise ValueError(msg)
    first, second = (label.item() if hasattr(label, "item") else label for label in model.classes)
    labels = np.asarray(y)
    if first == rest_label(second):
        # In a one-vs-rest model, all other labels belong to the rest.
        return np.asarray(labels.astype(str) == second, dtype=np.bool_)
    positive = np.asarray(labels == second, dtype=np.bool_)
    unknown = labels[~positive & np.asarray(labels != first)]
    if unknown.size:
        found = unknown.tolist()[0]
        msg = f"y contains {found!r}, but the classes of the model are {first!r} and {second!r}: map y to these."
        raise ValueError(msg)
    return positive


def events(model: ScoringModel, y: Any, n_rows: int) -> NDArray[np.bool_]:
    """Return the mask of the rows of the positive class; y must have n rows."""
    return positives(model, target_vector(y, n_rows))


def target_of(model: ScoringModel, y: Any, n_rows: int) -> FloatArray:
    """Return the target in the form of the core: -1 and 1 for the two classes, or the responses."""
    if model.classes is None:
        return numeric_target(target_vector(y, n_rows))
    return np.where(events(model, y, n_rows), 1.0, -1.0)
