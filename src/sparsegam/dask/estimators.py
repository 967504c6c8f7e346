"""Additive models fitted on a Dask cluster: DaskSparseGAMClassifier and DaskSparseGAMRegressor."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted

from sparsegam._data.target import Target, apply_class_weights
from sparsegam._fit.fitting import FitsOne
from sparsegam.dask.cluster import Cluster, client_of
from sparsegam.dask.parts import parts_of
from sparsegam.dask.predictions import is_lazy, lazily
from sparsegam.dask.shard import Shard
from sparsegam.dask.tables import RemoteTable, RemoteTables
from sparsegam.gam import SparseGAMClassifier, SparseGAMRegressor
from sparsegam.parameters import documented

NOTHING = np.zeros(0)


@dataclass(kw_only=True, eq=False, repr=False)
class Distributed:
    """What estimators on a cluster share: rows stay with the workers, predictions are lazy.

    To stand before the estimator without Dask, of which all else is: it has no parameters but its own, as those of a
    base that both share would hide what the estimator made of them.
    """

    client: Any = None

    _local: ClassVar[Any]
    _metric: ClassVar[Any]

    @contextmanager
    def _distributed(self, X: Any, y: Any, sample_weight: Any) -> Iterator[RemoteTable]:
        """Make shards of what `fit` is given, and let go of them afterwards."""
        inputs = self._inputs()
        client, classifies = client_of(self.client), self._metric is accuracy_score
        cluster = Cluster(client, parts_of(X, y, sample_weight), inputs.binning, classifies=classifies)
        try:
            self.n_features_in_ = len(cluster.codings)
            self.feature_names_in_ = np.array([coding.name for coding in cluster.codings], dtype=object)
            yield RemoteTable(cluster)
        finally:
            self.round_trips_ = cluster.round_trips
            cluster.close()

    def _inputs(self) -> RemoteTables:
        return RemoteTables.of(vars(self))

    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Target]:
        """Return rows on the cluster as they are: their labels and weights are there too, y are the classes."""
        self._keep_classes(y)  # type: ignore[attr-defined]
        return X, Target(y, NOTHING, NOTHING)

    def predict(self, X: Any) -> Any:
        """Return the likeliest class of each row, or the prediction of a regression.

        Parameters
        ----------
        X : Dask DataFrame, Array, list of delayed parts, array-like or data frame
            The rows.

        Returns
        -------
        dask.array.Array or ndarray
            Lazy where X is.
        """
        return self._answer("predict", X)

    def _answer(self, method: str, X: Any) -> Any:
        check_is_fitted(self)
        return lazily(self.to_local(), method, X) if is_lazy(X) else getattr(super(), method)(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of the predictions, or of a regression its R squared.

        Parameters
        ----------
        X : Dask collection, array-like or data frame
            The rows.
        y, sample_weight : Dask collection, array-like or str
            Labels or responses, and weights; of a Dask DataFrame also names of its columns.

        Returns
        -------
        float
            The score.
        """
        import dask

        given = [X[one] if isinstance(one, str) else one for one in (y, sample_weight)]
        (predicted,) = dask.compute(self.predict(X))  # apart, as Dask warns of frames and arrays together
        labels, weight = dask.compute(*given)
        return float(self._metric(np.asarray(labels), predicted, sample_weight=weight))

    def to_local(self) -> Any:
        """Return the same estimator without Dask, fitted where this one is.

        Returns
        -------
        estimator
            SparseGAMClassifier for DaskSparseGAMClassifier, and so on; it predicts what is in memory.
        """
        given = self.get_params(deep=False)  # type: ignore[attr-defined]
        settings = {name: value for name, value in given.items() if name != "client"}
        local = self._local(**settings)
        vars(local).update({name: value for name, value in vars(self).items() if name != "client"})
        return local

    def __getstate__(self) -> Any:
        return super().__getstate__() | {"client": None}  # type: ignore[misc]


class DistributedClassifier(Distributed):
    """What classifiers on a cluster share."""

    _metric = staticmethod(accuracy_score)

    def decision_function(self, X: Any) -> Any:
        """Return the score of each row, as the estimator without Dask does; lazy where X is."""
        return self._answer("decision_function", X)

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classes, as the estimator without Dask does; lazy where X is."""
        return self._answer("predict_proba", X)

    def _with_classes(self, table: RemoteTable) -> RemoteTable:
        """Return the table with the weights of its classes."""
        classes = table.cluster.classes
        if classes is None or len(classes) < 2:
            msg = f"y holds one class only ({classes}): a classifier needs two classes to tell apart."
            raise ValueError(msg)
        if self.positive is not None:  # type: ignore[attr-defined]
            msg = f"positive={self.positive!r} needs labels in memory: on a cluster pass y == {self.positive!r}."  # type: ignore[attr-defined]
            raise ValueError(msg)
        if self.class_weight is None:  # type: ignore[attr-defined]
            return table
        total = sum(table.cluster.ask(Shard.class_weights, len(classes)))
        given = self.class_weight  # type: ignore[attr-defined]
        position = np.arange(len(classes))
        factors = apply_class_weights(given, classes, position, np.asarray(total)) / np.maximum(total, 1e-300)
        return RemoteTable(table.cluster, factors=factors)


def with_upper(table: RemoteTable, upper: int) -> RemoteTable:
    """Return the table with one class that counts as 1, against all others."""
    return RemoteTable(table.cluster, table.rows, upper, table.factors)


class FitsOneRemotely(Distributed):
    """Fits the model of one price per term on a cluster."""

    @documented
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:  # noqa: D417
        """Search the model, or one for each class where there are more than two.

        Parameters
        ----------
        {dask_rows}

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        self._check_search()
        with self._distributed(X, y, sample_weight) as table:
            self._fit_table(table)
        self._look_back()  # type: ignore[attr-defined]
        return self

    def _check_search(self) -> None:
        """Refuse the search that asks for more than sums."""
        if vars(self).get("search", "exchange") != "exchange":
            msg = f"search={vars(self)['search']!r} needs the rows in memory: use search='exchange' on a cluster."
            raise ValueError(msg)

    def _fit_table(self, table: RemoteTable) -> None:
        FitsOne._fit(self, table, None, None)  # type: ignore[arg-type]


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class DaskSparseGAMClassifier(DistributedClassifier, FitsOneRemotely, SparseGAMClassifier):
    """Sparse additive classifier of step functions, fitted on a Dask cluster.

    The same model as that of SparseGAMClassifier, whose objective it minimises.

    {client}
    {gam_classifier}
    {round_trips}
    """

    _local = SparseGAMClassifier

    def _fit_table(self, table: RemoteTable) -> None:
        table = self._with_classes(table)
        classes: Any = table.cluster.classes
        self.__dict__.pop("estimators_", None)
        if len(classes) == 2:
            FitsOne._fit(self, with_upper(table, 1), classes, None)
            return
        settings = self.get_params(deep=False)
        parts = [type(self)(**settings) for _ in classes]
        for k, part in enumerate(parts):
            FitsOne._fit(part, with_upper(table, k), np.array([False, True]), None)
            part.n_features_in_, part.feature_names_in_ = self.n_features_in_, self.feature_names_in_
        self._join(parts, classes)


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class DaskSparseGAMRegressor(FitsOneRemotely, SparseGAMRegressor):
    """Sparse additive regression of step functions, fitted on a Dask cluster.

    The same model as that of SparseGAMRegressor, whose objective it minimises.

    {client}
    {gam_regressor}
    {round_trips}
    """

    _local = SparseGAMRegressor
    _metric = staticmethod(r2_score)
