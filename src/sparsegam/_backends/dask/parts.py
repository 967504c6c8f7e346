"""Parts of Dask collections: how workers read, summarise, encode and predict them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import fill_masked
from sparsegam._data.sketches import Codes, Coding, ColumnSummary, summarise_column
from sparsegam._data.table import Table, read_table
from sparsegam._data.target import numeric_target, target_vector
from sparsegam.arrays import FloatArray
from sparsegam.checks import quoted


@dataclass(frozen=True)
class Part:
    """Features, target and weights of one part: delayed values, names of columns of X or, for the weights, None."""

    X: Any
    y: Any
    weight: Any


@dataclass(frozen=True)
class PartsSummary:
    """Summary of one or several consecutive parts.

    Attributes
    ----------
    names : tuple of str or None
        Names of the feature columns; None if there are no rows.
    columns : tuple of ColumnSummary
        Contents of the feature columns; empty if there are no rows.
    labels : ndarray
        Distinct labels of the rows with positive weight; empty for a regression.
    n_rows : tuple of int
        Number of rows of each part.
    total_weight : float
        Sum of the weights.
    n_weighted : int
        Number of rows of positive weight.
    """

    names: tuple[str, ...] | None
    columns: tuple[ColumnSummary, ...]
    labels: NDArray[Any]
    n_rows: tuple[int, ...]
    total_weight: float
    n_weighted: int


@dataclass(frozen=True)
class EncodedPart:
    """The rows of one part as codes, with labels (positions among the classes) or responses, and weights."""

    codes: tuple[Codes, ...]
    y: NDArray[Any]
    weight: FloatArray


def split_into_parts(X: Any, y: Any, sample_weight: Any) -> list[Part]:
    """Split Dask data frames, Dask arrays or lists of delayed values into parts."""
    features = _delayed_parts(X, "X")
    if not features:
        msg = "X has no parts: at least one is required."
        raise ValueError(msg)
    targets, weights = (
        _split_others(values, name, len(features)) for values, name in ((y, "y"), (sample_weight, "sample_weight"))
    )
    return [Part(*each) for each in zip(features, targets, weights, strict=True)]


def _split_others(values: Any, name: str, n_parts: int) -> Sequence[Any]:
    if values is None or isinstance(values, str):
        return [values] * n_parts
    parts = _delayed_parts(values, name)
    if len(parts) != n_parts:
        msg = f"X has {n_parts} parts and {name} has {len(parts)}: align them with repartition or rechunk."
        raise ValueError(msg)
    return parts


def _delayed_parts(values: Any, name: str) -> list[Any]:
    import dask

    if isinstance(values, list | tuple) and all(dask.is_dask_collection(part) for part in values):
        return list(values)
    if not dask.is_dask_collection(values) or not hasattr(values, "to_delayed"):
        msg = (
            f"{name} must be a Dask DataFrame or Array, or a list of delayed parts, got {type(values).__name__}: use "
            "the estimator without Dask for data in memory."
        )
        raise ValueError(msg)
    if getattr(values, "ndim", 1) == 2 and hasattr(values, "rechunk"):
        values = values.rechunk({1: -1})
    return list(np.ravel(values.to_delayed()))


def read_part(X: Any, y: Any, weight: Any) -> tuple[Table | None, NDArray[Any], FloatArray]:
    """Return features, labels and weights of a part; without rows, the features are None."""
    labels, weights = (X[given] if isinstance(given, str) else given for given in (y, weight))
    names = [given for given in (y, weight) if isinstance(given, str)]
    features = X.drop(columns=names) if names else X
    if len(features) == 0:
        return None, np.zeros(0), np.zeros(0)
    table = read_table(features)
    return table, target_vector(labels, table.n_rows), _read_weights(weights, table.n_rows)


def _read_weights(values: Any, n_rows: int) -> FloatArray:
    """Return the weights of a part. Unlike those of all rows, they may all be zero."""
    if values is None:
        return np.ones(n_rows)
    weight: FloatArray = np.ascontiguousarray(fill_masked(values), dtype=np.float64)
    if weight.shape != (n_rows,):
        msg = f"sample_weight must contain one number per row, got shape {weight.shape} for {n_rows} rows."
        raise ValueError(msg)
    if not (np.isfinite(weight).all() and weight.min() >= 0):
        msg = f"sample_weight must be finite and not negative, got values from {weight.min()} to {weight.max()}."
        raise ValueError(msg)
    return weight


def summarise_part(X: Any, y: Any, weight: Any, *, is_classifier: bool) -> PartsSummary:
    """Summarise one part."""
    table, labels, weights = read_part(X, y, weight)
    if table is None:
        return PartsSummary(None, (), np.zeros(0), (0,), 0.0, 0)
    if not is_classifier:
        numeric_target(labels)
    return PartsSummary(
        table.labels,
        tuple(summarise_column(table.column(j)) for j in range(table.n_columns)),
        np.unique(labels[weights > 0]) if is_classifier else np.zeros(0),
        (table.n_rows,),
        float(weights.sum()),
        int(np.count_nonzero(weights)),
    )


def merge_summaries(summaries: Sequence[PartsSummary]) -> PartsSummary:
    """Merge the summaries of consecutive parts."""
    n_rows = tuple(n for each in summaries for n in each.n_rows)
    filled = [each for each in summaries if each.columns]
    if not filled:
        return PartsSummary(None, (), np.zeros(0), n_rows, 0.0, 0)
    names, columns = filled[0].names, filled[0].columns
    for each in filled[1:]:
        if each.names != names:
            msg = (
                f"all parts must have the same columns in the same order, got {quoted(names or (), 8)} in one part and "
                f"{quoted(each.names or (), 8)} in another."
            )
            raise ValueError(msg)
        columns = tuple(one.merge(other) for one, other in zip(columns, each.columns, strict=True))
    labels = np.unique(np.concatenate([each.labels for each in filled if each.labels.size] or [np.zeros(0)]))
    total_weight, n_weighted = sum(each.total_weight for each in filled), sum(each.n_weighted for each in filled)
    return PartsSummary(names, columns, labels, n_rows, total_weight, n_weighted)


def encode_part(X: Any, y: Any, weight: Any, codings: Sequence[Coding], classes: NDArray[Any] | None) -> EncodedPart:
    """Encode the rows of one part; `classes` is None for a regression."""
    table, labels, weights = read_part(X, y, weight)
    dtype: Any = np.float64 if classes is None else np.uint8 if len(classes) <= 2**8 else np.uint32
    if table is None:
        no_codes: Any = tuple(np.zeros(0, dtype=coding.dtype) for coding in codings)
        return EncodedPart(no_codes, np.zeros(0, dtype=dtype), np.zeros(0))
    codes = tuple(coding.codes(table.column(j)) for j, coding in enumerate(codings))
    if classes is None:
        return EncodedPart(codes, numeric_target(labels), weights)
    # Rows of weight zero may have labels that are not among the classes.
    position = np.clip(np.searchsorted(classes, labels), 0, len(classes) - 1)
    return EncodedPart(codes, position.astype(dtype), weights)


def is_lazy(X: Any) -> bool:
    """Return whether X is a Dask collection or a list of Dask collections."""
    import dask

    return dask.is_dask_collection(X) or (isinstance(X, list) and bool(X) and all(map(dask.is_dask_collection, X)))


def predict_lazily(
    estimator: Any,
    predict: Callable[[Any, Any], NDArray[Any]],
    X: Any,
    *,
    dtype: Any = np.float64,
    n_columns: int | None = None,
) -> Any:
    """Return predictions for a Dask collection as a Dask array, which is computed part by part on the workers.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator without Dask.
    predict : callable
        A method of its class, such as SparseGAMClassifier.predict_proba.
    X : Dask DataFrame, Dask Array or list of delayed parts
        The rows.
    dtype, n_columns
        Type and number of columns of the predictions; None for one-dimensional predictions.

    Returns
    -------
    dask.array.Array
        Predictions with an unknown number of rows, unless X is a Dask array of known size.
    """
    import dask.array as da
    from dask import delayed
    from dask.highlevelgraph import HighLevelGraph

    empty: NDArray[Any] = np.zeros(0 if n_columns is None else (0, n_columns), dtype=dtype)
    chunks = X.chunks[0] if hasattr(X, "chunks") else None
    parts = [part.X for part in split_into_parts(X, None, None)]
    sizes = chunks if chunks is not None and len(chunks) == len(parts) else (np.nan,) * len(parts)
    shared, name = delayed(estimator, traverse=False), f"sparsegam-{predict.__name__}-{uuid4().hex}"
    keys = [(name, i) if n_columns is None else (name, i, 0) for i in range(len(parts))]
    tasks = {key: (predict_part, shared.key, predict, empty, part.key) for key, part in zip(keys, parts, strict=True)}
    graph = HighLevelGraph.from_collections(name, tasks, dependencies=[shared, *parts])
    return da.Array(graph, name, (tuple(sizes), *((n,) for n in empty.shape[1:])), meta=empty)


def predict_part(
    estimator: Any, predict: Callable[[Any, Any], NDArray[Any]], empty: NDArray[Any], X: Any
) -> NDArray[Any]:
    """Return the predictions for one part; of a data frame, only the columns of the fit are used."""
    if len(X) == 0:
        return empty
    names = estimator.feature_names_in_.tolist()
    if hasattr(X, "columns") and set(names) <= set(X.columns):
        X = X[names]
    return predict(estimator, X)
