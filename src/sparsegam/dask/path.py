"""The best model of every size, found on a Dask cluster."""

from collections.abc import Mapping, Sequence
from typing import Any

from sparsegam._fit.cluster import cluster_data
from sparsegam._fit.driver import search_path
from sparsegam._fit.spec import additive_spec
from sparsegam._models.additive import Model
from sparsegam._search.path import Path
from sparsegam._search.problem import Progress
from sparsegam.choices import (
    Auto,
    Categorical,
    Hierarchy,
    Lambda2,
    Loss,
    Missing,
    Monotone,
    RowsPerBin,
    Shapes,
    SpecialValues,
)


def gam_path(  # noqa: D417, PLR0913
    X: Any,
    y: Any,
    *,
    client: Any = None,
    sample_weight: Any = None,
    loss: Loss = "logistic",
    lambda2: Lambda2 = "auto",
    standardize: bool | None = None,
    max_terms: int = 50,
    max_features: int | None = None,
    max_terms_per_feature: int | None = None,
    features_always: Any = None,
    features_never: Any = None,
    feature_cost: Mapping[Any, float] | None = None,
    monotone: Monotone = None,
    max_bins: int = 1000,
    thresholds: Mapping[Any, Sequence[Any]] | None = None,
    min_samples_bin: RowsPerBin = "auto",
    min_events_bin: int = 0,
    categorical: Categorical = "auto",
    min_category_count: int = 5,
    special_values: SpecialValues = None,
    shapes: Shapes = "steps",
    interactions: Any = 0,
    interaction_cost: float | Auto = "auto",
    hierarchy: Hierarchy | None = None,
    max_terms_per_pair: int | None = None,
    missing: Missing = "mean",
    positive: Any = None,
    device: str = "cpu",
    n_jobs: int | None = None,
    time_limit: float | None = None,
    verbose: int = 0,
    callback: Progress | None = None,
) -> Path[Model]:
    """Find the best additive model of every size on a Dask cluster.

    Parameters
    ----------
    X : Dask DataFrame, Dask Array or list of delayed parts
        Numbers, booleans, dates, text and categories; values may be missing.
    y, sample_weight : Dask Series, Dask Array, list of delayed parts or str
        Labels or target values, and weights, in the same parts; for a DataFrame also names of columns.
    client : distributed.Client, default=None
        The cluster; None for the current client.
    **parameters
        All other parameters are those of `sparsegam.gam_path`, with the same defaults. interactions, positive and
        device="cuda" are not supported.

    Returns
    -------
    Path
        The models by size.
    """
    spec = additive_spec(
        loss=loss,
        lambda2=lambda2,
        standardize=standardize,
        max_terms=max_terms,
        max_features=max_features,
        max_terms_per_feature=max_terms_per_feature,
        features_always=features_always,
        features_never=features_never,
        feature_cost=feature_cost,
        monotone=monotone,
        max_bins=max_bins,
        thresholds=thresholds,
        min_samples_bin=min_samples_bin,
        min_events_bin=min_events_bin,
        categorical=categorical,
        min_category_count=min_category_count,
        special_values=special_values,
        shapes=shapes,
        interactions=interactions,
        interaction_cost=interaction_cost,
        hierarchy=hierarchy,
        max_terms_per_pair=max_terms_per_pair,
        missing=missing,
        positive=positive,
        device=device,
        n_jobs=n_jobs,
        time_limit=time_limit,
        verbose=verbose,
        callback=callback,
    )
    with cluster_data(spec, X, y, sample_weight, client, max_classes=2) as data:
        return search_path(spec, data)
