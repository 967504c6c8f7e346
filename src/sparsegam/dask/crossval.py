"""Folds on a cluster: masks over the same codes, searched and scored by the workers that hold the rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import config_context

from sparsegam import _core
from sparsegam._design.threshold import ThresholdDesign
from sparsegam._fit.crossval import DEFAULT_SCORING, Rows, Scored, Task, scorer_named
from sparsegam._search.problem import Problem
from sparsegam._search.solver import Frontier, frontiers
from sparsegam.arrays import FloatArray
from sparsegam.dask.rows import plain
from sparsegam.dask.shard import PlainPoint, Selection, Shard
from sparsegam.dask.tables import RemoteTable, SentDesign
from sparsegam.losses import LOSSES, logistic


@dataclass(frozen=True)
class RemoteTask(Task):
    """Frontiers of folds on a cluster; labels and weights are there, and `weight` is their sum."""

    def fold(self, train: Rows, test: Rows) -> list[Scored]:
        """Search the frontiers of the training rows, and score their models on the test rows, where these are."""
        table: Any = self.data
        scored: list[Scored] = []
        for pose in self.poses:
            problem = pose(table.take(train), self.target, self.weight)
            try:
                found = frontiers(problem, self.ridges, self.callback)
                with config_context(skip_parameter_validation=True):
                    scored += [self._scored_there(problem, search, table.take(test)) for search in found]
            finally:
                table.cluster.drop(problem.rows.posed)
        return scored

    def _scored_there(self, problem: Problem[Any], search: Frontier, test: RemoteTable) -> Scored:
        sizes = np.array([len(point.columns) for point in search.points], dtype=np.int64)
        points = [plain(point) for point in search.points]
        sent, loss = problem.design.sent(), problem.options.loss
        if self.scoring == DEFAULT_SCORING[self.classes is not None]:
            sums, weights = (sum(part) for part in zip(*test.ask(score_sums, sent, points, loss), strict=True))
            if weights <= 0:
                msg = "a fold has no row of positive weight to be tested on: use fewer folds."
                raise ValueError(msg)
            return sizes, np.asarray(sums / weights)
        parts = test.ask(all_scores, sent, points, loss)
        scores = np.concatenate([part[0] for part in parts], axis=1)
        y, weight = (np.concatenate([part[i] for part in parts]) for i in (1, 2))
        return sizes, self._by_scorer(problem, search, scores, y, weight)

    def _by_scorer(
        self, problem: Problem[Any], search: Frontier, scores: FloatArray, y: FloatArray, weight: FloatArray
    ) -> FloatArray:
        """Score as scikit-learn does, with the scores of all test rows at hand."""
        labels = y if self.classes is None else self.classes[(y > 0).astype(np.intp)]
        local = Task(
            **{name: getattr(self, name) for name in ("X", "data", "poses", "ridges", "scoring", "classes")},
            y=labels,
            target=y,
            weight=weight,
            score_weight=None if self.score_weight is None else weight,
        )
        scorer, everything = scorer_named(self.scoring, self.classes), np.arange(y.size)
        models = [problem.design.sent().model(point, problem.options.loss, self.classes) for point in search.points]
        return np.array([local._score(scorer, *one, None, everything) for one in zip(models, scores, strict=True)])


def score_sums(
    shard: Shard, selection: Selection, design: SentDesign, points: list[PlainPoint], loss: str
) -> tuple[FloatArray, float]:
    """Return the weighted sum of the default score of each point over some rows, and what the rows weigh."""
    scores, y, weight = all_scores(shard, selection, design, points, loss)
    if selection.upper is None:
        return -((y - scores) ** 2) @ weight, float(weight.sum())
    right = logistic(LOSSES[loss].slope * np.sign(y) * scores)
    return np.log(np.maximum(right, np.finfo(np.float64).eps)) @ weight, float(weight.sum())


def all_scores(
    shard: Shard, selection: Selection, design: SentDesign, points: list[PlainPoint], loss: str
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the scores of some rows by each point, with their labels and weights, those of classes left out."""
    bare = Selection(selection.rows, selection.upper)
    y, weight = shard.target(bare)
    table = shard.table(bare).load()
    made = [_core.Point(*point) for point in points]
    if table.n_rows == 0:
        return np.zeros((len(made), 0)), y, weight
    scores = ThresholdDesign.scores(design, table, made)
    if scores is None:
        classes = None if selection.upper is None else np.array([False, True])
        scores = np.array([design.model(point, loss, classes).score_rows(table) for point in made])
    return scores, y, weight
