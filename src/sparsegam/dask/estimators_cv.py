"""Additive models that choose their own size on a Dask cluster: the estimators of estimators/gam_cv.py, distributed."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score

from sparsegam._fit.folds import Fold, split
from sparsegam.dask.crossval import RemoteTask
from sparsegam.dask.estimators import Distributed, DistributedClassifier, with_upper
from sparsegam.dask.shard import Shard
from sparsegam.dask.tables import RemoteTable
from sparsegam.gam_cv import SparseGAMClassifierCV, SparseGAMRegressorCV
from sparsegam.parameters import documented


class ChoosesRemotely(Distributed):
    """Chooses a ridge and a size by folds on a cluster."""

    @documented
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:  # noqa: D417
        """Search the frontiers of each fold, and choose a ridge and a size: once, or for each of several classes.

        The folds are those of the estimator without Dask: the labels, a byte or eight per row, come to the client for
        them, and nothing else does.

        Parameters
        ----------
        {dask_rows}
        groups : Dask collection or array-like, optional
            Groups of rows, for splitters that keep them together.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        import dask

        self._check_choice()  # type: ignore[attr-defined]
        (groups,) = dask.compute(groups)
        with self._distributed(X, y, sample_weight) as table:
            labels = np.concatenate(table.cluster.ask(Shard.labels))
            self._choose_among(table, labels, groups, weighted=sample_weight is not None)
        self._look_back()  # type: ignore[attr-defined]
        return self

    def _choose_among(self, table: RemoteTable, labels: NDArray[Any], groups: Any, *, weighted: bool) -> None:
        splitter = self._splitter(labels, classifier=False)  # type: ignore[attr-defined]
        self._choose_there(self, table, split(splitter, labels, labels, groups), None, weighted=weighted)

    @staticmethod
    def _choose_there(part: Any, table: RemoteTable, folds: list[Fold], classes: Any, *, weighted: bool) -> Any:
        """Choose for one class against the rest, or for a regression."""
        part._keep_classes(classes)
        nothing = np.zeros(0)
        given = {
            "X": None,
            "y": nothing,
            "data": table,
            "target": nothing,
            "weight": np.array([part["weight"] for part in table.ask(Shard.totals)]),
            "score_weight": nothing if weighted else None,
        }
        return part._choose_by(RemoteTask, given, folds)


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class DaskSparseGAMClassifierCV(DistributedClassifier, ChoosesRemotely, SparseGAMClassifierCV):
    """Sparse additive classifier that chooses its number of terms by cross-validation on a Dask cluster.

    The same choice as that of SparseGAMClassifierCV.

    {client}
    {gam_classifier_cv}
    {round_trips}
    """

    _local = SparseGAMClassifierCV

    def _choose_among(self, table: RemoteTable, labels: NDArray[Any], groups: Any, *, weighted: bool) -> None:
        table = self._with_classes(table)
        classes: Any = table.cluster.classes
        named = classes[labels]
        self.__dict__.pop("estimators_", None)
        if len(classes) == 2:
            folds = split(self._splitter(named, classifier=True), named, named, groups)
            self._choose_there(self, with_upper(table, 1), folds, classes, weighted=weighted)
            return
        weight = np.concatenate(table.cluster.ask(Shard.weights))
        folds = self._folds(named, named, weight, groups)
        parts = []
        for k, _ in enumerate(classes):
            mine = (labels == k) & (weight > 0)
            part = type(self)(**self.get_params(deep=False))
            part.n_features_in_, part.feature_names_in_ = self.n_features_in_, self.feature_names_in_
            taught = [fold for fold in folds if mine[fold[0]].any()]
            two = np.array([False, True])
            parts.append(self._choose_there(part, with_upper(table, k), taught, two, weighted=weighted))
        self._join(parts, classes)


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class DaskSparseGAMRegressorCV(ChoosesRemotely, SparseGAMRegressorCV):
    """Sparse additive regression that chooses its number of terms by cross-validation on a Dask cluster.

    The same choice as that of SparseGAMRegressorCV.

    {client}
    {gam_regressor_cv}
    {round_trips}
    """

    _local = SparseGAMRegressorCV
    _metric = staticmethod(r2_score)
