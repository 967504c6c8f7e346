"""Predictions for what is on a cluster: a Dask array that is computed part by part, where the parts are."""

from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from sparsegam.dask.parts import parts_of


def is_lazy(X: Any) -> bool:
    """Tell whether rows are on a cluster, or a recipe for it."""
    import dask

    return dask.is_dask_collection(X) or (isinstance(X, list) and bool(X) and all(map(dask.is_dask_collection, X)))


def lazily(estimator: Any, method: str, X: Any) -> Any:
    """Return what a method of a fitted estimator would say of each row, as a Dask array.

    Parameters
    ----------
    estimator : estimator
        One that is fitted, without Dask.
    method : str
        The name of its method.
    X : Dask DataFrame, Array or list of delayed parts
        The rows.

    Returns
    -------
    dask.array.Array
        One entry or line per row; how many is known where it is of X.
    """
    import dask.array as da
    from dask import delayed
    from dask.highlevelgraph import HighLevelGraph

    of_none = empty_answer(estimator, method)
    known = X.chunks[0] if hasattr(X, "chunks") else None
    parts = [part.X for part in parts_of(X, None, None)]
    sizes = known if known is not None and len(known) == len(parts) else (np.nan,) * len(parts)
    same, name = delayed(estimator, traverse=False), f"sparsegam-{method}-{uuid4().hex}"
    beside = (0,) * (of_none.ndim - 1)
    tasks = {(name, i, *beside): (answer_part, same.key, method, part.key) for i, part in enumerate(parts)}
    graph = HighLevelGraph.from_collections(name, tasks, dependencies=[same, *parts])
    return da.Array(graph, name, (tuple(sizes), *((n,) for n in of_none.shape[1:])), meta=of_none)


def answer_part(estimator: Any, method: str, X: Any) -> NDArray[Any]:
    """Ask a method about one part; of a frame it sees the columns of the fit only."""
    if len(X) == 0:
        return empty_answer(estimator, method)
    names = estimator.feature_names_in_.tolist()
    if hasattr(X, "columns") and set(names) <= set(X.columns):
        X = X[names]
    answer: NDArray[Any] = getattr(estimator, method)(X)
    return answer


def empty_answer(estimator: Any, method: str) -> NDArray[Any]:
    """Return what a method says of no rows: the type and the width of its answers."""
    classes: Any = getattr(estimator, "classes_", None)
    if method == "predict" and classes is not None:
        return np.zeros(0, dtype=classes.dtype)
    wide = method == "predict_proba" or (method == "decision_function" and len(classes) > 2)
    return np.zeros((0, len(classes)) if wide else 0)
