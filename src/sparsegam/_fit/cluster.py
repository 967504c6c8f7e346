"""Fits of data on a Dask cluster: training data and test sets on the workers, and functions of the Dask estimators."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, r2_score

from sparsegam import _core
from sparsegam._backends.dask.backend import ClusterTable, DaskBackend, plain_point
from sparsegam._backends.dask.cluster import Cluster, get_client
from sparsegam._backends.dask.parts import split_into_parts
from sparsegam._backends.dask.shards import PlainPoint, Selection, Shard
from sparsegam._backends.local import score_table
from sparsegam._data.target import Target, apply_class_weights
from sparsegam._design.threshold import ThresholdDesign
from sparsegam._fit.driver import fit
from sparsegam._fit.estimators import store_fit
from sparsegam._fit.scoring import DEFAULT_SCORING, SizesAndScores, TestSet, default_scores
from sparsegam._fit.spec import FitSpec, is_cuda
from sparsegam._fit.training import FitData
from sparsegam._fit.warnings import warn_about_columns
from sparsegam._search.options import Deadline
from sparsegam._search.problem import Problem
from sparsegam._search.solver import Frontier
from sparsegam._search.table_problem import TableProblem
from sparsegam.arrays import FloatArray

E = TypeVar("E")

NOTHING = np.zeros(0)
# One row more than those that are checked for special codes, so that the warning states that there are more rows.
FIRST_ROWS = 10_001


@dataclass(frozen=True, eq=False)
class ClusterData(FitData):
    """Training data on a Dask cluster; labels and weights are in memory for cross-validation only."""

    weighted: bool = False

    @property
    def labelled(self) -> ClusterTable:
        """The data in the format of the backend."""
        table: ClusterTable = self.features
        return table

    def make_backend(self, spec: FitSpec) -> DaskBackend:
        """Return the backend of the cluster."""
        return DaskBackend()

    @property
    def mean_weight(self) -> float:
        """Mean weight of the rows with positive weight."""
        summary = self.features.cluster.summary
        return float(summary.total_weight / max(summary.n_weighted, 1))

    def take(self, rows: NDArray[Any]) -> "ClusterData":
        """Return the data with these rows only."""
        return replace(self, features=self.features.take(rows))

    def loaded(self) -> "ClusterData":
        """Return the data unchanged; they stay on the cluster."""
        return self

    def check_training(self) -> None:
        """Do nothing: the rows are checked on the workers when the problem is built."""

    def test_set(self, rows: NDArray[np.intp], scoring: Any) -> "ClusterTestSet":  # type: ignore[override]
        """Return rows to score models on, without copying them from the cluster."""
        return ClusterTestSet(self.features.take(rows), self.classes, scoring, weighted=self.weighted)

    def release(self, problem: Problem[Any]) -> None:
        """Release the rows of a problem on the workers."""
        self.features.cluster.release(problem.rows.encoded)

    def warn_about_columns(self, spec: FitSpec) -> None:
        """Warn about columns that are probably misread, judged by the first rows."""
        warn_about_columns(spec, self.features.cluster.head(FIRST_ROWS))

    def against_rest(self, k: int) -> "ClusterData":
        """Return the data with one class as the positive class, and all others as the negative."""
        features = replace(self.features, positive=k)
        target = Target(np.array([False, True]), NOTHING, _shard_weights(features))
        return replace(self, features=features, target=target)


@contextmanager
def cluster_data(
    spec: FitSpec, X: Any, y: Any, sample_weight: Any, client: Any, *, max_classes: int | None = None
) -> Iterator[ClusterData]:
    """Read a Dask collection into shards on its workers, and release them afterwards.

    Yields the data of the fit. Its time limit starts now.
    """
    deadline = Deadline.after(spec.options.time_limit)
    _check_options(spec)
    assert spec.additive is not None
    parts, binning = split_into_parts(X, y, sample_weight), spec.additive.binning
    cluster = Cluster(get_client(client), parts, binning, is_classifier=spec.is_classifier)
    try:
        features = ClusterTable(cluster, class_weights=_class_factors(spec, cluster, max_classes))
        if cluster.classes is not None and len(cluster.classes) == 2:
            features = replace(features, positive=1)
        labels, values, weight = NOTHING, NOTHING, NOTHING
        if spec.selection is not None:
            values = np.concatenate(cluster.map_shards(Shard.labels))
            labels = values if cluster.classes is None else cluster.classes[values]
            several = cluster.classes is not None and len(cluster.classes) > 2
            weight = np.concatenate(cluster.map_shards(Shard.weights)) if several else _shard_weights(features)
        data = ClusterData(
            features=features,
            labels=labels,
            target=Target(cluster.classes, values, weight),
            source=labels,
            deadline=deadline,
            weighted=sample_weight is not None,
        )
        yield data
    finally:
        cluster.close()


def _check_options(spec: FitSpec) -> None:
    if is_cuda(spec.device):
        msg = "device='cuda' uses one GPU of this machine, but the rows are on a Dask cluster: use device='cpu'."
        raise ValueError(msg)
    if spec.swap is not None:
        msg = "search='swap' needs the rows in memory: use search='exchange' on a cluster."
        raise ValueError(msg)
    if spec.positive is not None:
        msg = f"positive={spec.positive!r} needs labels in memory: on a cluster pass y == {spec.positive!r}."
        raise ValueError(msg)


def _class_factors(spec: FitSpec, cluster: Cluster, max_classes: int | None) -> FloatArray | None:
    """Return the weights of the classes, or None; raise ValueError for an unsupported number of classes."""
    classes = cluster.classes
    if classes is None:
        return None
    if len(classes) < 2:
        msg = f"y contains one class only ({classes}): a classifier requires two classes."
        raise ValueError(msg)
    if max_classes is not None and len(classes) > max_classes:
        msg = f"y must contain two classes, got {len(classes)} ({classes[:5]}): a path supports binary targets only."
        raise ValueError(msg)
    if spec.class_weight is None:
        return None
    total = np.asarray(sum(cluster.map_shards(Shard.weight_by_class, len(classes))))
    weighted: FloatArray = apply_class_weights(spec.class_weight, classes, np.arange(len(classes)), total)
    factors: FloatArray = weighted / np.maximum(total, 1e-300)
    return factors


def _shard_weights(features: ClusterTable) -> FloatArray:
    return np.array([summary.total_weight for summary in features.map_shards(Shard.summarise_target)])


@dataclass(frozen=True, eq=False)
class ClusterTestSet:
    """Rows on a cluster on which paths are scored."""

    features: ClusterTable
    classes: NDArray[Any] | None
    scoring: Any
    weighted: bool

    def score(self, problem: TableProblem, found: Frontier) -> SizesAndScores:
        """Return the size and the score of each model of a path."""
        sizes = np.array([len(point.columns) for point in found.points], dtype=np.int64)
        points = [plain_point(point) for point in found.points]
        design, missing, loss = problem.design, problem.constraints.missing, problem.options.loss
        if self.scoring == DEFAULT_SCORING[self.classes is not None]:
            sums, weights = (
                sum(part)
                for part in zip(*self.features.map_shards(score_sums, design, missing, points, loss), strict=True)
            )
            if weights <= 0:
                msg = "all test rows of a fold have weight zero: use fewer folds."
                raise ValueError(msg)
            return sizes, np.asarray(sums / weights)
        shards = self.features.map_shards(all_scores, design, missing, points, loss)
        scores = np.concatenate([shard[0] for shard in shards], axis=1)
        y, weight = (np.concatenate([shard[i] for shard in shards]) for i in (1, 2))
        labels = y if self.classes is None else self.classes[(y > 0).astype(np.intp)]
        gathered = TestSet(None, None, labels, y, weight if self.weighted else None, self.classes, self.scoring)
        models = [design.model(point, loss, self.classes, missing) for point in found.points]
        return sizes, gathered.scores_of(models, scores)


def score_sums(
    shard: Shard, selection: Selection, design: ThresholdDesign, missing: str, points: list[PlainPoint], loss: str
) -> tuple[FloatArray, float]:
    """Return the weighted sum of the default score of each model over some rows, and the sum of their weights."""
    scores, y, weight = all_scores(shard, selection, design, missing, points, loss)
    return default_scores(loss, y, scores) @ weight, float(weight.sum())


def all_scores(
    shard: Shard, selection: Selection, design: ThresholdDesign, missing: str, points: list[PlainPoint], loss: str
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the scores of some rows under each model, their labels, and their weights without class weights."""
    bare = Selection(selection.mask, selection.positive)
    y, weight = shard.target(bare)
    table = shard.table(bare).load()
    made = [_core.Point(*point) for point in points]
    if table.n_rows == 0:
        return np.zeros((len(made), 0)), y, weight
    scores = score_table(design, table, made)
    if scores is None:
        classes = None if selection.positive is None else np.array([False, True])
        scores = np.array([design.model(point, loss, classes, missing).score_rows(table) for point in made])
    return scores, y, weight


def fit_on_cluster(estimator: Any, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> None:
    """Fit an estimator on the cluster of its client."""
    import dask

    (groups,) = dask.compute(groups)
    spec = estimator._spec()
    with cluster_data(spec, X, y, sample_weight, estimator.client) as data:
        names = data.features.names
        estimator.n_features_in_, estimator.feature_names_in_ = len(names), np.array(names, dtype=object)
        store_fit(estimator, fit(spec, data, groups))
        estimator.round_trips_ = data.features.cluster.round_trips


def score_on_cluster(estimator: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """Return the accuracy of a classifier, or R squared of a regression."""
    import dask

    given = [X[one] if isinstance(one, str) else one for one in (y, sample_weight)]
    # Dask warns about data frames and arrays that are computed together.
    (predicted,) = dask.compute(estimator.predict(X))
    labels, weight = dask.compute(*given)
    metric = r2_score if estimator.model_.classes is None else accuracy_score
    return float(metric(np.asarray(labels), predicted, sample_weight=weight))


def local_copy(estimator: Any, kind: type[E]) -> E:
    """Return an estimator of another class with the same parameters and fitted attributes."""
    parameters = estimator.get_params(deep=False)
    local = kind(**{name: value for name, value in parameters.items() if name != "client"})
    for name, value in vars(estimator).items():
        if name not in parameters:
            setattr(local, name, value)
    return local
