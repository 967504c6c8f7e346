"""Refits of the coefficients of given columns, and the cost of swapping one of these columns for another."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._design.scaling import Units
from sparsegam._search.ridge import Ridge
from sparsegam.arrays import FloatArray

Columns = NDArray[np.int64]
USER_UNITS = Units()
ROUGH: dict[str, Any] = {"tolerance": 1e-6, "full_precision": False}


@dataclass(frozen=True, eq=False)
class Support:
    """A model on some columns.

    Attributes
    ----------
    columns : ndarray of int
        The columns in use.
    theta : ndarray
        The intercept, then the coefficients of the columns.
    objective : float
        Loss plus ridge; NaN if it was not computed.
    """

    columns: Columns
    theta: FloatArray
    objective: float = float("nan")

    @property
    def point(self) -> _core.Point:
        """The model as a `_core.Point`."""
        return _core.Point(float(self.theta[0]), self.columns, np.ascontiguousarray(self.theta[1:]))

    def without(self, j: int) -> "Support":
        """Return the model without the column at position j."""
        return Support(np.delete(self.columns, j), np.delete(self.theta, j + 1))

    def with_column(self, column: int) -> "Support":
        """Return the model with another column, whose coefficient is zero."""
        return Support(np.append(self.columns, column), np.append(self.theta, 0.0))


def ridge_penalty(
    p: int, lambda2: float, unit: FloatArray | None = None, bounds: tuple[FloatArray, FloatArray] | None = None
) -> _core.Penalty:
    """Return a penalty of p columns with a ridge and, if given, bounds."""
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
    """Return the penalty with this ridge on all columns."""
    unit = None if ridge.standardized else ridge.unit(rows.columns, units, ramps)
    return ridge_penalty(len(rows.columns), ridge.lambda2, unit)


def objective_at(
    rows: _core.LocalRows, ridge: Ridge, support: Support, units: Units = USER_UNITS, ramps: Columns | None = None
) -> float:
    """Return loss plus ridge; `ramps` are the columns that are ramps, if `rows` lacks this information."""
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
    units: Units = USER_UNITS,
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
        The columns, and the starting coefficients.
    held : ndarray of bool, optional
        Columns whose coefficients are frozen.
    units : Units
        Units of the rows; supports are in the units of the user.
    ramps : ndarray of int, optional
        Columns that are ramps, if the rows lack this information.
    rough : bool, default=False
        Whether to stop at a predicted relative decrease of 1e-6, which is enough to compare costs.

    Returns
    -------
    Support
        The columns with their optimal coefficients.
    """
    kept = None if held is None else start.columns[held]
    penalty = penalty_of(rows, ridge, units, ramps)
    point = units.from_core(
        _core.refit(rows, penalty, units.to_core(start.point), fixed=kept, **(ROUGH if rough else {}))
    )
    order = [point.columns.tolist().index(column) for column in start.columns.tolist()]
    return Support(start.columns, np.append(point.intercept, point.coef[order]), point.loss + point.ridge)


class Neighbourhood:
    """The costs of swapping a column of a support for another.

    The support is refitted first. One scan then gives the second-order estimate of every swap, with the other
    coefficients re-optimised.
    """

    def __init__(self, rows: _core.LocalRows, ridge: Ridge, start: Support, units: Units = USER_UNITS) -> None:
        self.support = refit(rows, ridge, start, units=units)
        penalty = penalty_of(rows, ridge, units)
        _, rises = _core.swap_costs(rows, penalty, units.to_core(self.support.point))
        self._rises = np.reshape(rises, (-1, start.columns.size)) * units.loss

    def swap_costs(self, j: int) -> FloatArray:
        """Return the increase of the objective with each column in place of the one at position j.

        It is infinite for columns of the support, and for columns that depend linearly on the others.
        """
        out: FloatArray = self._rises[:, j]
        return out
