"""Coefficients fitted again on given columns, and what exchanging one of these columns for another would cost."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._design.scaling import Units
from sparsegam._search.ridge import Ridge
from sparsegam.arrays import FloatArray

Columns = NDArray[np.int64]
ORDINARY = Units()
ROUGH: dict[str, Any] = {"tolerance": 1e-6, "full_precision": False}


@dataclass(frozen=True, eq=False)
class Support:
    """A model on some columns of the rows.

    Attributes
    ----------
    columns : ndarray of int
        The columns in use.
    theta : ndarray
        The intercept, then the coefficients of the columns.
    objective : float
        Loss and ridge; NaN where nobody has asked yet.
    """

    columns: Columns
    theta: FloatArray
    objective: float = float("nan")

    @property
    def point(self) -> _core.Point:
        """The model as the core has it."""
        return _core.Point(float(self.theta[0]), self.columns, np.ascontiguousarray(self.theta[1:]))

    def without(self, j: int) -> "Support":
        """Leave the column at position j out."""
        return Support(np.delete(self.columns, j), np.delete(self.theta, j + 1))

    def with_column(self, column: int) -> "Support":
        """Let one more column in, with a coefficient of zero for now."""
        return Support(np.append(self.columns, column), np.append(self.theta, 0.0))


def ridge_penalty(
    p: int, lambda2: float, unit: FloatArray | None = None, bounds: tuple[FloatArray, FloatArray] | None = None
) -> _core.Penalty:
    """Return the penalty of p columns that has a ridge and, if any, bounds: standardised, without units."""
    low, high = (np.full(p, -np.inf), np.full(p, np.inf)) if bounds is None else bounds
    return _core.Penalty(
        lambda2=lambda2,
        cost=np.ones(p),
        low=low,
        high=high,
        allowed=np.ones(p, dtype=bool),
        group=np.arange(p),
        always=np.zeros(0, dtype=np.int64),
        penalty_scale=unit,
    )


def penalty_of(rows: _core.LocalRows, ridge: Ridge, units: Units, ramps: Columns | None = None) -> _core.Penalty:
    """Return the penalty that is this ridge on all columns."""
    unit = None if ridge.standardized else ridge.unit(rows.columns, units, ramps)
    return ridge_penalty(len(rows.columns), ridge.lambda2, unit)


def objective_at(
    rows: _core.LocalRows, ridge: Ridge, support: Support, units: Units = ORDINARY, ramps: Columns | None = None
) -> float:
    """Return loss and ridge; rows that do not know which columns are ramps must be told."""
    point = units.to_core(support.point)
    (loss,) = rows.evaluate([point])
    unit = ridge.unit(rows.columns, units, ramps)[point.columns]
    return float(loss + ridge.lambda2 * np.sum(unit * point.coef**2)) * units.loss


def refit(  # noqa: PLR0913
    rows: _core.LocalRows,
    ridge: Ridge,
    start: Support,
    *,
    held: NDArray[np.bool_] | None = None,
    units: Units = ORDINARY,
    ramps: Columns | None = None,
    rough: bool = False,
) -> Support:
    """Minimise loss and ridge over intercept and coefficients.

    Parameters
    ----------
    rows : LocalRows
        The rows.
    ridge : Ridge
        The ridge.
    start : Support
        The columns, and where to start.
    held : ndarray of bool, optional
        Columns that keep the coefficient they start with.
    units : Units
        Those that the rows are in; supports are in the user's.
    ramps : ndarray of int, optional
        Columns that are ramps, where the rows do not know.
    rough : bool
        For costs that are read to a few digits: to end with a step that promised a millionth of the objective, which
        leaves far less than that behind.

    Returns
    -------
    Support
        The same columns at their best.
    """
    kept = None if held is None else start.columns[held]
    penalty = penalty_of(rows, ridge, units, ramps)
    point = units.from_core(
        _core.refit(rows, penalty, units.to_core(start.point), fixed=kept, **(ROUGH if rough else {}))
    )
    order = [point.columns.tolist().index(column) for column in start.columns.tolist()]
    return Support(start.columns, np.append(point.intercept, point.coef[order]), point.loss + point.ridge)


class Neighbourhood:
    """What each exchange of a column of a fitted support for another would cost.

    One scan gives the second-order estimate of every exchange, with the other coefficients re-optimised. The support
    is fitted first.
    """

    def __init__(self, rows: _core.LocalRows, ridge: Ridge, start: Support, units: Units = ORDINARY) -> None:
        self.support = refit(rows, ridge, start, units=units)
        penalty = penalty_of(rows, ridge, units)
        _, rises = _core.swap_costs(rows, penalty, units.to_core(self.support.point))
        self._rises = np.reshape(rises, (-1, start.columns.size)) * units.loss

    def swap_costs(self, j: int) -> FloatArray:
        """Return what the objective would rise by with each column in the place of the one at position j.

        Infinite for columns that the others leave next to nothing to explain, and for those of the support.
        """
        out: FloatArray = self._rises[:, j]
        return out
