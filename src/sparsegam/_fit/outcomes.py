"""What is predicted: classes with their probabilities, or numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from sparsegam._data.streams import as_stream, is_stream, read_columns
from sparsegam._data.table import is_on_device
from sparsegam._models.outcomes import positives
from sparsegam.arrays import FloatArray
from sparsegam.choices import ClassLoss, ClassWeight
from sparsegam.losses import LOSSES, PROBABILITY_LOSSES, REGRESSION
from sparsegam.parameters import documented


class ScoresStreams:
    """Gives scikit-learn's `score` a table that comes in pieces, whose target is one of its columns."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of the predictions, or of a regression its R squared.

        Parameters
        ----------
        X : array-like, data frame or stream
            The rows.
        y, sample_weight : array-like
            Labels or responses, and weights of the rows; for a stream, the names of their columns.

        Returns
        -------
        float
            The score.
        """
        if is_stream(X):
            y, sample_weight = read_columns(as_stream(X), y=y, sample_weight=sample_weight)
        score: float = super().score(X, self._as_fitted(y), sample_weight)  # type: ignore[misc]
        return score

    def _as_fitted(self, y: Any) -> Any:
        """Return labels by the names that the fit gave them."""
        return y


@dataclass(kw_only=True, eq=False, repr=False)
class Classifies(ScoresStreams, ClassifierMixin):  # type: ignore[misc]
    """What classifiers share: labels, probabilities."""

    loss: ClassLoss = "logistic"
    class_weight: ClassWeight = None
    positive: Any = None

    _default_scoring = "neg_log_loss"

    def _loss(self) -> str:
        names = " or ".join(map(repr, PROBABILITY_LOSSES))
        if self.loss == REGRESSION:
            other = type(self).__name__.replace("Classifier", "Regressor")
            msg = f"loss must be {names}, got {REGRESSION!r}: use {other} for it."
            raise ValueError(msg)
        if self.loss in LOSSES and self.loss not in PROBABILITY_LOSSES:
            msg = f"loss={self.loss!r} has no probabilities, which a classifier gives: use {names}, or linear_path."
            raise ValueError(msg)
        return str(self.loss)

    @documented
    def decision_function(self, X: Any) -> FloatArray:
        """Return the score of each row.

        {rows}

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            Intercept plus the coefficients of the terms that hold; above zero for the second class. With more than two
            classes, a column for each against the rest.
        """
        scores: FloatArray = self._scores(X)
        return -scores if self._is_turned() else scores

    @documented
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likeliest class of each row.

        {rows}

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels out of `classes_`.
        """
        scores = self._scores(X)
        best = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        classes = self.classes_[::-1] if self._is_turned() else self.classes_
        if is_on_device(best):
            from sparsegam._backends.cuda.predictions import device_labels

            return device_labels(classes, best)  # type: ignore[no-any-return]
        labels: NDArray[Any] = classes[best]
        return labels

    @documented
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes.

        {rows}

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            One column per class, in the order of `classes_`. With more than two, those of each class against the rest,
            divided by their sum.
        """
        scores = self._scores(X)
        probabilities: FloatArray = self.model_.probabilities(scores)
        return probabilities[:, ::-1] if self._is_turned() else probabilities

    def _is_turned(self) -> bool:
        """Tell whether the model speaks of the first of `classes_`, which are sorted: `positive` may be any label."""
        return self.positive is not None and bool(self.model_.classes[1] == self.classes_[0])

    def _as_fitted(self, y: Any) -> Any:
        if self.positive is None:
            return y
        return np.asarray(self.model_.classes)[positives(self.model_, y).astype(np.intp)]


class Regresses(ScoresStreams, RegressorMixin):  # type: ignore[misc]
    """What regressions share: real responses, the squared loss."""

    _default_scoring = "neg_mean_squared_error"

    def _loss(self) -> str:
        return REGRESSION

    @documented
    def predict(self, X: Any) -> FloatArray:
        """Return the prediction for each row.

        {predictions}
        """
        scores: FloatArray = self._scores(X)
        return scores
