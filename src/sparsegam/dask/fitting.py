"""What the Dask estimators share: fitting on a cluster, scoring, and copies that predict in memory."""

from typing import Any, TypeVar

import numpy as np
from sklearn.metrics import accuracy_score, r2_score

from sparsegam._fit.driver import fit
from sparsegam._fit.estimators import store_fit
from sparsegam.dask.training import cluster_data

E = TypeVar("E")


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
