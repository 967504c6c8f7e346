"""The parts of a Dask collection: what each worker reads, summarises and codes, without leaving it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import fill_masked
from sparsegam._data.sketches import Codes, Coding, ColumnSummary, summarise_column
from sparsegam._data.table import Table, read_table
from sparsegam._data.target import numeric_target, target_vector
from sparsegam.arrays import FloatArray
from sparsegam.checks import quoted


@dataclass(frozen=True)
class About:
    """What is known of some parts, in their order.

    Attributes
    ----------
    names : tuple of str or None
        Columns; None where they go by position.
    summaries : tuple of ColumnSummary
        What the features hold; none where there are no rows.
    labels : ndarray
        Distinct labels; empty for a regression.
    rows : tuple of int
        Rows of each part.
    weight : tuple of float
        Sum of the weights, the smallest and the largest of those above zero, and how many these are.
    """

    names: tuple[str, ...] | None
    summaries: tuple[ColumnSummary, ...]
    labels: NDArray[Any]
    rows: tuple[int, ...]
    weight: tuple[float, float, float, int]


@dataclass(frozen=True)
class CodedPart:
    """The rows of one part as codes, with their labels (positions among the classes, or responses) and weights."""

    codes: tuple[Codes, ...]
    y: NDArray[Any]
    weight: FloatArray


@dataclass(frozen=True)
class Part:
    """Where one part of the rows comes from: features, and what is to be predicted, as delayed values or names."""

    X: Any
    y: Any
    weight: Any


def parts_of(X: Any, y: Any, sample_weight: Any) -> list[Part]:
    """Split what the user passes into parts: frames and arrays by their own, lists of delayed values as they are."""
    features = _delayed(X, "X")
    others = [_beside(given, name, len(features)) for given, name in ((y, "y"), (sample_weight, "sample_weight"))]
    if not features:
        msg = "X has no parts: at least one is required."
        raise ValueError(msg)
    return [Part(*one) for one in zip(features, *others, strict=True)]


def _beside(given: Any, name: str, n_parts: int) -> Sequence[Any]:
    if given is None or isinstance(given, str):
        return [given] * n_parts
    found = _delayed(given, name)
    if len(found) != n_parts:
        msg = f"X has {n_parts} parts and {name} has {len(found)}: give both the same, with repartition or rechunk."
        raise ValueError(msg)
    return found


def _delayed(given: Any, name: str) -> list[Any]:
    import dask

    if isinstance(given, list | tuple) and all(dask.is_dask_collection(part) for part in given):
        return list(given)
    if not dask.is_dask_collection(given) or not hasattr(given, "to_delayed"):
        msg = (
            f"{name} must be a Dask DataFrame or Array, or a list of delayed parts, got {type(given).__name__}: use "
            "the estimator without Dask for what is in memory."
        )
        raise ValueError(msg)
    if getattr(given, "ndim", 1) == 2 and hasattr(given, "rechunk"):
        given = given.rechunk({1: -1})
    return list(np.ravel(given.to_delayed()))


def read_part(X: Any, y: Any, weight: Any) -> tuple[Table | None, NDArray[Any], FloatArray]:
    """Look at one part: features (None where it has no rows), labels and weights."""
    labels, each = (X[given] if isinstance(given, str) else given for given in (y, weight))
    taken = [given for given in (y, weight) if isinstance(given, str)]
    features = X.drop(columns=taken) if taken else X
    if len(features) == 0:
        return None, np.zeros(0), np.zeros(0)
    table = read_table(features)
    return table, target_vector(labels, table.n_rows), _weights(each, table.n_rows)


def _weights(given: Any, n_rows: int) -> FloatArray:
    """Return the weights of a part, which may all be zero."""
    if given is None:
        return np.ones(n_rows)
    weight: FloatArray = np.ascontiguousarray(fill_masked(given), dtype=np.float64)
    if weight.shape != (n_rows,):
        msg = f"sample_weight must contain one number per row, got shape {weight.shape} for {n_rows} rows."
        raise ValueError(msg)
    if not (np.isfinite(weight).all() and weight.min() >= 0):
        msg = f"sample_weight must be finite and not negative, got values from {weight.min()} to {weight.max()}."
        raise ValueError(msg)
    return weight


def look_at(X: Any, y: Any, weight: Any, *, classifies: bool) -> About:
    """Summarise one part."""
    table, labels, each = read_part(X, y, weight)
    if table is None:
        return About(None, (), np.zeros(0), (0,), (0.0, np.inf, 0.0, 0))
    positive = each[each > 0]
    if not classifies:
        numeric_target(labels)
    return About(
        table.names if table.names is not None else tuple(table.labels),
        tuple(summarise_column(table.column(j)) for j in range(table.n_columns)),
        np.unique(labels[each > 0]) if classifies else np.zeros(0),
        (table.n_rows,),
        (float(each.sum()), positive.min(initial=np.inf), positive.max(initial=0.0), positive.size),
    )


def together(parts: Sequence[About]) -> About:
    """Add up what is known of several parts, in their order."""
    known = [part for part in parts if part.summaries]
    rows = tuple(n for part in parts for n in part.rows)
    if not known:
        return About(None, (), np.zeros(0), rows, (0.0, np.inf, 0.0, 0))
    names, summaries = known[0].names, known[0].summaries
    for part in known[1:]:
        if part.names != names:
            msg = (
                f"a part has the columns {quoted(part.names or (), 8)}, where others have "
                f"{quoted(names or (), 8)}: give all parts the same, in the same order."
            )
            raise ValueError(msg)
        summaries = tuple(one.merge(other) for one, other in zip(summaries, part.summaries, strict=True))
    sums, lows, highs, counts = zip(*(part.weight for part in known), strict=True)
    labels = np.unique(np.concatenate([part.labels for part in known if part.labels.size] or [np.zeros(0)]))
    return About(names, summaries, labels, rows, (float(sum(sums)), min(lows), max(highs), sum(counts)))


def code_part(X: Any, y: Any, weight: Any, codings: Sequence[Coding], classes: NDArray[Any] | None) -> CodedPart:
    """Keep the rows of one part as codes."""
    table, labels, each = read_part(X, y, weight)
    if table is None:
        empty: Any = tuple(np.zeros(0, dtype=coding.dtype) for coding in codings)
        return CodedPart(empty, np.zeros(0, dtype=_label_type(classes)), np.zeros(0))
    codes = tuple(coding.codes(table.column(j)) for j, coding in enumerate(codings))
    if classes is None:
        return CodedPart(codes, numeric_target(labels), each)
    place = np.clip(np.searchsorted(classes, labels), 0, len(classes) - 1)  # rows without weight may have any label
    return CodedPart(codes, place.astype(_label_type(classes)), each)


def _label_type(classes: NDArray[Any] | None) -> Any:
    """Return the narrowest type for positions among the classes; that of responses where there are none."""
    if classes is None:
        return np.float64
    return np.uint8 if len(classes) <= 2**8 else np.uint32
