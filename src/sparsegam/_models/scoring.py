"""From the score of a row to what a user asks for: what additive and linear models share."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._models import notebook
from sparsegam.arrays import FloatArray
from sparsegam.losses import LOSSES, logistic


class Scores(ABC):
    """A model that gives each row a score; its loss says how a score becomes a probability."""

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
        """Write the model as text."""

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class, one column per class."""
        return self.probabilities(self.decision_function(X))

    def probabilities(self, score: FloatArray) -> FloatArray:
        """Turn scores into the probabilities of both classes."""
        if self.classes is None:
            msg = "predict_proba needs a classification model; this one is a regression: use predict."
            raise ValueError(msg)
        upper = logistic(LOSSES[self.loss].slope * score)
        return np.column_stack([1.0 - upper, upper])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likelier class of each row, or its score for a regression."""
        score = self.decision_function(X)
        return score if self.classes is None else np.array(self.classes)[(score > 0).astype(np.intp)]

    def _equation(self, intercept: float, body: list[str], digits: int) -> str:
        """Write the first line, the lines of the terms, and how a score becomes a probability."""
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
        return notebook.fragment(notebook.note(repr(self).strip("<>")), *self._html_parts())

    def _html_parts(self) -> list[str]:
        """Return what a notebook shows of the model."""
        return [notebook.verbatim(self.equation())]
