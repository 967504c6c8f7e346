"""Where the columns of a model are in new data: by name where both sides have names, else by position."""

from collections.abc import Sequence
from typing import Protocol


class Columns(Protocol):
    """What a look-up asks of a Table or a NumericMatrix."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """Column names, or None where columns go by position."""

    @property
    def n_columns(self) -> int:
        """Number of columns."""


def check_width(data: Columns, n_features: int) -> None:
    """Raise unless data that go by position have as many columns as those of the fit."""
    if data.n_columns != n_features:
        msg = f"X has {data.n_columns} columns, but the model was fitted with {n_features}."
        raise ValueError(msg)


def positions(features: Sequence[str], feature_names: Sequence[str], data: Columns) -> list[int]:
    """Return where columns in use are in new data.

    Parameters
    ----------
    features : sequence of str
        The columns wanted.
    feature_names : sequence of str
        All columns of the fit: the order of those that have no names in the data.
    data : Table or NumericMatrix
        The data.

    Returns
    -------
    list of int
        A position for each of `features`.
    """
    if data.names is None:
        check_width(data, len(feature_names))
    place = {name: j for j, name in enumerate(feature_names if data.names is None else data.names)}
    absent = [name for name in features if name not in place]
    if absent:
        msg = f"X lacks the columns {absent}: add them, or pass an array to go by position."
        raise ValueError(msg)
    return [place[name] for name in features]
