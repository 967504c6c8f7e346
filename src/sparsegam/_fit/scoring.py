"""Scores of models on test rows: the default scorings for many models at once, and scikit-learn's scorers."""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, log_loss, make_scorer

from sparsegam._fit.spec import FitSpec
from sparsegam._search.problem import Problem
from sparsegam._search.solver import Frontier
from sparsegam.arrays import FloatArray
from sparsegam.losses import LOSSES, logistic

SizesAndScores = tuple[NDArray[np.int64], FloatArray]

# Default scoring by `is_classifier`.
DEFAULT_SCORING = {True: "neg_log_loss", False: "neg_mean_squared_error"}


@dataclass(frozen=True, eq=False)
class TestSet:
    """Rows on which paths are scored.

    Attributes
    ----------
    features : Table or NumericMatrix
        The columns.
    X : Any
        The rows as given, for scorers.
    labels : ndarray
        Labels or responses, for scorers.
    target : ndarray
        -1 and 1, or responses.
    sample_weight : ndarray or None
        The weights as given.
    classes : ndarray or None
        The two classes; None for a regression.
    scoring : str or callable
        The score.
    """

    __test__ = False  # for pytest

    features: Any
    X: Any
    labels: NDArray[Any]
    target: FloatArray
    sample_weight: FloatArray | None
    classes: NDArray[Any] | None
    scoring: Any

    def score(self, problem: Problem[Any], found: Frontier) -> SizesAndScores:
        """Return the size and the score of each model of a path."""
        sizes = np.array([len(point.columns) for point in found.points], dtype=np.int64)
        scores = problem.scores(self.features, found.points)
        if scores is None:
            every = (problem.model(point, self.classes) for point in found.points)
            scores = np.array([model.score_rows(self.features) for model in every])
        if self.scoring == DEFAULT_SCORING[self.classes is not None]:
            weight = np.ones(self.target.size) if self.sample_weight is None else self.sample_weight
            each = default_scores(problem.options.loss, self.target, scores)
            return sizes, np.asarray(np.average(each, axis=1, weights=weight))
        models = [problem.model(point, self.classes) for point in found.points]
        return sizes, self.scores_of(models, scores)

    def scores_of(self, models: list[Any], scores: FloatArray) -> FloatArray:
        """Return the score of each model by a scikit-learn scorer."""
        scorer = scorer_named(self.scoring, self.classes)
        kind = _ScoredRegressor if self.classes is None else _ScoredClassifier
        weights = {}
        if self.sample_weight is not None and _takes_weights(scorer):
            weights["sample_weight"] = self.sample_weight
        pairs = zip(models, scores, strict=True)
        known = (kind(model, self.X, score, self.classes) for model, score in pairs)
        return np.array([float(scorer(one, self.X, self.labels, **weights)) for one in known])


def default_scores(loss: str, target: FloatArray, scores: FloatArray) -> FloatArray:
    """Return the default score of each row, as scikit-learn defines it, for all models at once."""
    if not LOSSES[loss].is_classifier:
        return -np.square(target - scores)
    probability = logistic(LOSSES[loss].slope * np.sign(target) * scores)
    out: FloatArray = np.log(np.maximum(probability, np.finfo(np.float64).eps))
    return out


def scoring_of(spec: FitSpec) -> Any:
    """Return the scoring of a fit, or its default."""
    scoring = None if spec.selection is None else spec.selection.scoring
    return scoring or DEFAULT_SCORING[spec.is_classifier]


def scorer_named(scoring: Any, classes: NDArray[Any] | None) -> Callable[..., float]:
    """Return a scikit-learn scorer; the log loss receives the classes, as a fold may contain a single class."""
    if isinstance(scoring, str) and scoring == "neg_log_loss" and classes is not None:
        log = make_scorer(log_loss, response_method="predict_proba", greater_is_better=False, labels=classes)
        scorer: Callable[..., float] = log
    else:
        scorer = get_scorer(scoring)
    return scorer


def _takes_weights(scorer: Any) -> bool:
    """Return whether the metric of a scorer accepts weights; user-defined callables are called without weights."""
    metric = getattr(scorer, "_score_func", None)
    return metric is not None and "sample_weight" in signature(metric).parameters


class _KnownScores(BaseEstimator):  # type: ignore[misc]
    """A model whose scores of the test rows are known, as scikit-learn's scorers expect it."""

    def __init__(self, model: Any, X: Any, scores: FloatArray, classes: NDArray[Any] | None) -> None:
        self.model = model
        self.X = X
        self.scores = scores
        self.classes_ = classes

    def _scores(self, X: Any) -> FloatArray:
        scores: FloatArray = self.scores if X is self.X else self.model.decision_function(X)
        return scores

    def __sklearn_is_fitted__(self) -> bool:
        return True


class _ScoredClassifier(ClassifierMixin, _KnownScores):  # type: ignore[misc]
    def decision_function(self, X: Any) -> FloatArray:
        return self._scores(X)

    def predict_proba(self, X: Any) -> FloatArray:
        probabilities: FloatArray = self.model.probabilities(self._scores(X))
        return probabilities

    def predict(self, X: Any) -> NDArray[Any]:
        labels: NDArray[Any] = np.asarray(self.classes_)[(self._scores(X) > 0).astype(np.intp)]
        return labels


class _ScoredRegressor(RegressorMixin, _KnownScores):  # type: ignore[misc]
    def predict(self, X: Any) -> FloatArray:
        return self._scores(X)
