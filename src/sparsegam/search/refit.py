"""Coefficients fitted again on given columns, and what exchanging one of these columns for another would cost.

This is the one place where Newton steps are taken in NumPy: all sums over rows are the core's.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam.arrays import Vector

Columns = NDArray[np.int64]
NEWTON_STEPS = 100
HALVINGS = 20
ROUGH = 1e-3  # fall of the objective, a sum of losses, below which a fit that is but compared has ended
ROUNDING = 1e-13  # share of the objective that is but noise of its sums
FLAT = 5e-3  # share of its curvature that a column must keep once the others have adjusted


@dataclass(frozen=True, eq=False)
class Support:
    """A model on some columns of the rows.

    Attributes
    ----------
    columns : ndarray of int
        The columns.
    theta : ndarray
        The intercept, then the coefficients of the columns.
    objective : float
        Loss and ridge; NaN where nobody has asked yet.
    """

    columns: Columns
    theta: Vector
    objective: float = float("nan")

    def without(self, j: int, theta: Vector) -> "Support":
        """Leave the column at position j out, the others having other coefficients."""
        return Support(np.delete(self.columns, j), np.delete(theta, j + 1))

    def with_column(self, column: int) -> "Support":
        """Let one more column in, with a coefficient of zero for now."""
        return Support(np.append(self.columns, column), np.append(self.theta, 0.0))


def objective_at(rows: _core.Rows, lambda2: float, support: Support) -> float:
    """Return loss and ridge; later questions to the rows are about this point."""
    loss = rows.evaluate(float(support.theta[0]), support.columns, np.ascontiguousarray(support.theta[1:]))
    return float(loss + np.sum(_ridge(rows, lambda2, support.columns) * support.theta**2))


def refit(
    rows: _core.Rows,
    lambda2: float,
    start: Support,
    *,
    held: NDArray[np.bool_] | None = None,
    settled: float = ROUGH,
) -> Support:
    """Minimise loss and ridge over intercept and coefficients by damped Newton steps.

    Parameters
    ----------
    rows : Rows
        The rows; later questions to them are about the point found.
    lambda2 : float
        Ridge penalty on the standardised coefficients.
    start : Support
        The columns, and where to start.
    held : ndarray of bool, optional
        Columns that keep the coefficient they start with.
    settled : float
        Fall of the objective below which the search has ended.

    Returns
    -------
    Support
        The same columns at their best.
    """
    free = np.ones(start.theta.size, dtype=bool)
    if held is not None:
        free[1:] = ~held
    ridge = _ridge(rows, lambda2, start.columns)
    here = _evaluated(rows, lambda2, start)
    for _ in range(NEWTON_STEPS):
        hessian, gradient = _slopes(rows, lambda2, here.columns)
        gradient = gradient + 2 * ridge * here.theta
        step = np.zeros(free.size)
        step[free] = -np.linalg.lstsq(hessian[np.ix_(free, free)], gradient[free], rcond=1e-12)[0]
        before, here = here, _damped(rows, lambda2, here, step)
        if not here.objective < before.objective - max(settled, ROUNDING * abs(before.objective)):
            break
    return _evaluated(rows, lambda2, here)


class Neighbourhood:
    """The quadratic model of the objective around a fitted support: what each exchange of a column would cost.

    One scan gives the second-order estimate of every exchange, with the other coefficients re-optimised: dropping
    column j costs w_j^2 / (2 M_jj), and column c then gains G'^2 / (2 V') with G' = G_c - Q_cj w_j / M_jj and
    V' = V_c + Q_cj^2 / M_jj, where M is the inverse of the curvature on the support, Q_c = M B_c and
    V_c = D_c - B_c' Q_c.

    Parameters
    ----------
    rows : Rows
        The rows.
    lambda2 : float
        Ridge penalty on the standardised coefficients.
    start : Support
        The support, which is fitted first.
    """

    def __init__(self, rows: _core.Rows, lambda2: float, start: Support) -> None:
        self.support = refit(rows, lambda2, start)
        gradient, curvature, products = rows.scan(self.support.columns)
        self.gradient = np.asarray(gradient)
        B = np.reshape(products, (self.gradient.size, self.support.theta.size))
        self.D = np.asarray(curvature) + 2 * lambda2 * np.asarray(rows.spread)
        self.M = np.linalg.pinv(_slopes(rows, lambda2, self.support.columns)[0], hermitian=True)
        self.Q = B @ self.M
        self.V = self.D - np.einsum("ij,ij->i", B, self.Q)

    def swap_costs(self, j: int) -> Vector:
        """Return what the objective would rise by with each column in the place of the one at position j.

        Infinite for columns that the others leave next to nothing to explain, and for those of the support.
        """
        m, w = self._inverse(j), self.support.theta[j + 1]
        curvature = self.V + self.Q[:, j + 1] ** 2 / m
        usable = curvature > FLAT * self.D
        usable[self.support.columns] = False
        gain = (self.gradient - self.Q[:, j + 1] * w / m) ** 2 / (2 * np.where(usable, curvature, 1.0))
        return np.where(usable, w * w / (2 * m) - gain, np.inf)

    def without(self, j: int) -> Support:
        """Return the support without the column at position j, at the coefficients that are predicted."""
        theta = self.support.theta - self.M[:, j + 1] * self.support.theta[j + 1] / self._inverse(j)
        return self.support.without(j, theta)

    def _inverse(self, j: int) -> float:
        return max(float(self.M[j + 1, j + 1]), 1e-300)


def _damped(rows: _core.Rows, lambda2: float, here: Support, step: Vector) -> Support:
    """Halve a step until the objective falls."""
    for _ in range(HALVINGS):
        moved = _evaluated(rows, lambda2, Support(here.columns, here.theta + step))
        if moved.objective < here.objective:
            return moved
        step = step / 2
    return here


def _evaluated(rows: _core.Rows, lambda2: float, support: Support) -> Support:
    return Support(support.columns, support.theta, objective_at(rows, lambda2, support))


def _slopes(rows: _core.Rows, lambda2: float, columns: Columns) -> tuple[Vector, Vector]:
    """Return curvature (ridge included) and gradient (without it) at the last point, intercept first."""
    hessian, gradient = rows.gram(columns)
    size = columns.size + 1
    return np.reshape(hessian, (size, size)) + np.diag(2 * _ridge(rows, lambda2, columns)), np.asarray(gradient)


def _ridge(rows: _core.Rows, lambda2: float, columns: Columns) -> Vector:
    return np.concatenate([[0.0], lambda2 * np.asarray(rows.spread)[columns]])
