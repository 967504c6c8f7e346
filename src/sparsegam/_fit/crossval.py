"""Cross-validation of whole frontiers: every ridge and size scored on every fold, in parallel."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, log_loss, make_scorer
from sklearn.utils import _safe_indexing

from sparsegam import _core
from sparsegam._data.table import Table
from sparsegam._design.design import Data
from sparsegam._fit.folds import Fold, n_apart
from sparsegam._fit.surface import Surface
from sparsegam._search.options import n_threads
from sparsegam._search.path import Path
from sparsegam._search.problem import Problem
from sparsegam._search.progress import Progress, gather, new_bar
from sparsegam._search.ridge import Ridge
from sparsegam._search.solver import Frontier, frontiers
from sparsegam.arrays import FloatArray
from sparsegam.losses import LOSSES, logistic

Rows = NDArray[np.intp]
Scored = tuple[NDArray[np.int64], FloatArray]  # sizes, and the score of each
DEFAULT_SCORING = {True: "neg_log_loss", False: "neg_mean_squared_error"}  # of classifiers, of regressions


@dataclass(frozen=True)
class Task:
    """What frontiers are searched on: all of the rows that count, as numbers, and as the user gave them."""

    X: Any
    y: NDArray[Any]
    data: Data
    target: FloatArray
    weight: FloatArray
    score_weight: FloatArray | None
    classes: NDArray[Any] | None
    poses: tuple[Callable[[Data, FloatArray, FloatArray], Problem[Any]], ...]  # one for each design to choose from
    ridges: tuple[Ridge, ...]
    scoring: Any
    callback: Progress | None = None

    def fold(self, train: Rows, test: Rows) -> list[Scored]:
        """Search the frontiers of the training rows, for each design and ridge, and score them on the others."""
        self._check_training(train)
        found: list[tuple[Problem[Any], Frontier]] = []
        for pose in self.poses:
            problem = pose(self.data.take(train), self.target[train], self.weight[train])
            found += [(problem, search) for search in frontiers(problem, self.ridges, self.callback)]
        test = test[self.weight[test] > 0]
        if test.size == 0:
            msg = "a fold has no row of positive weight to be tested on: use fewer folds."
            raise ValueError(msg)
        data = self.data.take(test).load()
        X = data if isinstance(self.X, Table) else _safe_indexing(self.X, test)
        with config_context(skip_parameter_validation=True):
            return [self._scored(problem, search, data, X, test) for problem, search in found]

    def _scored(self, problem: Problem[Any], search: Frontier, data: Data, X: Any, test: Rows) -> Scored:
        sizes = np.array([len(point.columns) for point in search.points], dtype=np.int64)
        scores = problem.design.scores(data, search.points)
        if scores is None:
            scores = np.array([problem.model(point, self.classes).score_rows(data) for point in search.points])
        if self.scoring == DEFAULT_SCORING[self.classes is not None]:
            return sizes, self._default_scores(problem, scores, test)
        scorer = scorer_named(self.scoring, self.classes)
        models = [problem.model(point, self.classes) for point in search.points]
        return sizes, np.array([self._score(scorer, *one, X, test) for one in zip(models, scores, strict=True)])

    def _default_scores(self, problem: Problem[Any], scores: FloatArray, test: Rows) -> FloatArray:
        """Score as scikit-learn would, but all models at once."""
        weight = np.ones(test.size) if self.score_weight is None else self.score_weight[test]
        if self.classes is None:
            found: FloatArray = -np.average((self.target[test] - scores) ** 2, axis=1, weights=weight)
            return found
        sign = np.sign(self.target[test])
        right = logistic(LOSSES[problem.options.loss].slope * sign * scores)
        logs = np.log(np.maximum(right, np.finfo(np.float64).eps))
        found = np.average(logs, axis=1, weights=weight)
        return np.asarray(found)

    def _score(self, scorer: Callable[..., float], model: Any, scores: FloatArray, X: Any, test: Rows) -> float:
        kind = ScoredRegressor if self.classes is None else ScoredClassifier
        scored = kind(model, X, scores, self.classes)
        extra = {}
        if self.score_weight is not None and _takes_weights(scorer):
            extra["sample_weight"] = self.score_weight[test]
        return float(scorer(scored, X, self.y[test], **extra))

    def _check_training(self, rows: Rows) -> None:
        seen = self.target[rows][self.weight[rows] > 0]
        if seen.size == 0:
            msg = "a fold has no row of positive weight to be trained on: use other folds."
            raise ValueError(msg)
        if self.classes is not None and seen.min() == seen.max():
            msg = "the training rows of a fold hold one class only: use fewer folds, or a stratified splitter as cv."
            raise ValueError(msg)


class KnownScores(BaseEstimator):  # type: ignore[misc]
    """A model of a frontier as scikit-learn's scorers want it: the scores of the test rows are known already.

    Parameters
    ----------
    model : Model
        The model.
    X : array or frame
        The test rows.
    scores : ndarray
        Their scores.
    classes : ndarray or None
        The labels of a classification.
    """

    def __init__(self, model: Any, X: Any, scores: FloatArray, classes: Any) -> None:
        self.model = model
        self.X = X
        self.scores = scores
        self.classes_ = classes

    def _scores(self, X: Any) -> FloatArray:
        scores: FloatArray = self.scores if X is self.X else self.model.decision_function(X)
        return scores

    def __sklearn_is_fitted__(self) -> bool:
        return True


class ScoredClassifier(ClassifierMixin, KnownScores):  # type: ignore[misc]
    """A classification model with known scores."""

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores."""
        return self._scores(X)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of both classes."""
        probabilities: FloatArray = self.model.probabilities(self._scores(X))
        return probabilities

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likelier classes."""
        labels: NDArray[Any] = self.classes_[(self._scores(X) > 0).astype(np.intp)]
        return labels


class ScoredRegressor(RegressorMixin, KnownScores):  # type: ignore[misc]
    """A regression model with known scores."""

    def predict(self, X: Any) -> FloatArray:
        """Return the predictions."""
        return self._scores(X)


def cross_validate(
    task: Task,
    folds: Sequence[Fold],
    path: Callable[[int, Ridge], Path[Any]],
    *,
    n_jobs: int | None,
    verbose: int,
    stop: _core.Stop,
) -> tuple[Surface, Callable[[int], Path[Any]]]:
    """Score every design, ridge and size on every fold; where a search fails, or Ctrl-C comes, all are stopped.

    Where there is one design and one ridge only, the frontier of all rows is searched along with the folds.

    Returns
    -------
    Surface
        The scores. Where a fold's frontier lacks a size, its largest smaller one counts.
    callable
        Gives the frontier of all rows for the design and the ridge at a position.
    """
    choices = [(design, ridge) for design in range(len(task.poses)) for ridge in task.ridges]
    alone = len(choices) == 1
    tasks: list[Callable[[], Any]] = [partial(path, *choices[0])] if alone else []
    tasks += [partial(task.fold, train, test) for train, test in folds]
    bar, workers = new_bar(verbose, len(tasks), "frontier"), min(n_threads(n_jobs), len(tasks))
    answers = gather(tasks, workers, stop=stop, bar=bar, told=lambda found: _so_far(found[alone:]))
    surface = _surface(task, answers[alone:], n_apart(folds))
    return surface, (lambda _: answers[0]) if alone else (lambda chosen: path(*choices[chosen]))


def _so_far(folds: Sequence[Sequence[Scored] | None]) -> str:
    """Say which size has the best mean score over the folds that are done."""
    scored = [fold for fold in folds if fold is not None]
    if not scored:
        return ""
    sizes = _common_sizes(scored)
    mean = np.mean([[_at_sizes(one, sizes) for one in fold] for fold in scored], axis=0)
    best = np.unravel_index(int(np.argmax(mean)), mean.shape)
    return f"best so far: {sizes[best[1]]} terms, score {mean[best]:.4g}"


def _surface(task: Task, scored: Sequence[Sequence[Scored]], apart: float) -> Surface:
    sizes = _common_sizes(scored)
    scores = np.array([[_at_sizes(one, sizes) for one in fold] for fold in scored])
    total = float(task.weight.sum())
    ridges = task.ridges * len(task.poses)
    lambda2 = np.array([ridge.at(total).lambda2 for ridge in ridges])
    return Surface(ridges, lambda2, sizes, np.moveaxis(scores, 0, 2), apart)


def _common_sizes(scored: Sequence[Sequence[Scored]]) -> NDArray[np.int64]:
    return np.unique(np.concatenate([sizes for fold in scored for sizes, _ in fold]))


def _at_sizes(scored: Scored, sizes: NDArray[np.int64]) -> FloatArray:
    mine, scores = scored
    at_sizes: FloatArray = scores[np.maximum(np.searchsorted(mine, sizes, side="right") - 1, 0)]
    return at_sizes


def scorer_named(scoring: Any, classes: NDArray[Any] | None) -> Callable[..., float]:
    """Return a scikit-learn scorer; the log loss is told the classes, so that a fold may hold rows of one only."""
    if isinstance(scoring, str) and scoring == "neg_log_loss" and classes is not None:
        scorer: Callable[..., float] = make_scorer(
            log_loss, response_method="predict_proba", greater_is_better=False, labels=classes
        )
    else:
        scorer = get_scorer(scoring)
    return scorer


def threads_per_search(n_jobs: int | None, n_searches: int) -> int:
    """Number of threads left for each of several searches at once."""
    return max(1, n_threads(n_jobs) // n_searches)


def _takes_weights(scorer: Any) -> bool:
    """Tell whether a scorer's metric has a use for weights; functions of the user's own are called without."""
    metric = getattr(scorer, "_score_func", None)
    return metric is not None and "sample_weight" in signature(metric).parameters
