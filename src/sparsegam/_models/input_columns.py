"""Positions of the columns of a model in data."""

from collections.abc import Sequence

from sparsegam._data.matrix import NumericMatrix
from sparsegam._data.table import Table


def check_width(data: Table | NumericMatrix, n_features: int) -> None:
    """Raise if data without column names do not have as many columns as the training data."""
    if data.n_columns != n_features:
        msg = f"X has {data.n_columns} columns, but the model was fitted with {n_features}."
        raise ValueError(msg)


def positions(features: Sequence[str], feature_names: Sequence[str], data: Table | NumericMatrix) -> list[int]:
    """Return the positions of features in data: by name if the data have column names, else by position.

    Parameters
    ----------
    features : sequence of str
        The features.
    feature_names : sequence of str
        All columns of the training data, in the order of data without names.
    data : Table or NumericMatrix
        The data.

    Returns
    -------
    list of int
        A position for each of `features`.
    """
    if data.names is None:
        check_width(data, len(feature_names))
    position = {name: j for j, name in enumerate(feature_names if data.names is None else data.names)}
    missing = [name for name in features if name not in position]
    if missing:
        msg = f"X lacks the columns {missing}: add them, or pass an array to use positions."
        raise ValueError(msg)
    return [position[name] for name in features]
