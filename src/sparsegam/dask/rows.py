"""Rows that are elsewhere: each question of a search goes to all workers, and the sums of their answers come back."""

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import count
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam.arrays import FloatArray
from sparsegam.dask.cluster import Cluster
from sparsegam.dask.shard import PlainPoint

_names = count()


class RemoteRows(_core.Rows):
    """All that a search asks of the rows, answered by the workers that hold them.

    Parameters
    ----------
    cluster : Cluster
        The workers.
    posed : sequence of futures
        The rows that each holds.
    loss : str
        The loss.
    about : sequence of dict
        What the columns are like for the rows of each.
    """

    def __init__(self, cluster: Cluster, posed: Sequence[Any], loss: str, about: Sequence[dict[str, Any]]) -> None:
        super().__init__()
        self.cluster, self.posed, self.loss = cluster, posed, loss
        self.columns = _columns(about)

    def ask(self, question: str, *given: Any) -> list[Any]:
        """Ask all workers, and add up what they answer, part by part, in a fixed order."""
        answers = self.cluster.ask_posed(self.posed, question, *given)
        return [added(parts) for parts in zip(*answers, strict=True)]

    def evaluate(self, points: Sequence[_core.Point]) -> FloatArray:
        """Loss at each point."""
        (losses,) = self.ask("evaluate", [plain(point) for point in points])
        return losses  # type: ignore[no-any-return]

    def newton(self, point: _core.Point, support: NDArray[np.int64], rough: bool = False) -> tuple[Any, ...]:  # noqa: FBT001, FBT002
        """Loss, curvature and gradient on some columns of the point."""
        return tuple(self.ask("newton", plain(point), support, rough))

    def scan(self, point: _core.Point, among: NDArray[np.int64]) -> tuple[Any, ...]:
        """Sums of all columns; the token is a name, and the point, from which any worker can make it again."""
        held = f"scan-{next(_names)}", plain(point)
        return held, *self.ask("scan", *held, among)

    def rescan(
        self, held: tuple[str, PlainPoint], point: _core.Point, entered: NDArray[np.int64], among: NDArray[np.int64]
    ) -> tuple[Any, ...]:
        """Sums with the curvature of an earlier scan."""
        return tuple(self.ask("rescan", held, plain(point), entered, among))

    def groups(self, point: _core.Point, columns: NDArray[np.int64]) -> tuple[Any, ...]:
        """Sums over the rows where each column is 1."""
        return tuple(self.ask("groups", plain(point), columns))


class RemoteOwnRows(RemoteRows):
    """Some columns by the rows' own values: coefficients are fitted to them.

    Parameters
    ----------
    rows : RemoteRows
        The rows as a search has them.
    columns : ndarray of int
        The columns.
    """

    def __init__(self, rows: RemoteRows, columns: NDArray[np.int64]) -> None:
        about = rows.cluster.ask_posed(rows.posed, "own", columns, "about")
        super().__init__(rows.cluster, rows.posed, rows.loss, about)
        self._chosen = columns

    def ask(self, question: str, *given: Any) -> list[Any]:
        """Ask about these columns by the rows' own values."""
        return super().ask("own", self._chosen, question, *given)


def plain(point: _core.Point) -> PlainPoint:
    """Return a point as it travels."""
    return float(point.intercept), point.columns, point.coef


def added(parts: Iterable[Any]) -> Any:
    """Add up answers, one after the other."""
    return reduce(add, parts)


def _columns(about: Sequence[dict[str, Any]]) -> _core.ColumnInfo:
    """Put together what columns are like: means by weight, spreads with what the means differ by."""
    weight = np.array([part["weight"] for part in about])
    total = float(weight.sum())
    mean = added([part["weight"] * part["mean"] for part in about]) / total
    spread = added([part["spread"] + part["weight"] * (part["mean"] - mean) ** 2 for part in about])
    first = about[0]
    return _core.ColumnInfo(
        kind=first["kind"],
        mean=mean,
        centred_sq_norm=spread,
        total_weight=total,
        nested=first["nested"],
        shortlist=first["shortlist"],
        nested_ramps=first["nested_ramps"],
        knot=first["knot"],
    )
