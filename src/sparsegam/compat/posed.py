"""A matrix and its labels handed to the core, on the scale on which fastsparsegams and L0Learn have lambda and gamma.

They minimise, over coefficients v of columns of norm one,

    sum_i loss(y_i, f_i) + lambda0 |v|_0 + gamma |v|_1   or   ... + gamma |v|_2^2,

where columns are centred before they are divided by their norms if the matrix is dense and there is an intercept.
For the squared error y is centred, too, and divided by its norm s: in the units of y, with w = s v / norm, penalties
are s^2 times

    lambda0 |w|_0 + gamma sum_j norm_j |w_j| / s   or   ... + gamma sum_j (norm_j w_j)^2 / s^2.

Columns of zeros and ones are handed over as codes, which take less memory and far fewer sums, and of which the
exponential loss needs no more than their two groups of rows.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._data.matrix import NumericMatrix, quote_columns, read_matrix
from sparsegam._data.target import read_target
from sparsegam._design.linear import Coefficients
from sparsegam._design.scaling import Units, scale_target
from sparsegam._search.matrices import Matrices
from sparsegam._search.options import SearchOptions
from sparsegam.arrays import FloatArray
from sparsegam.compat.codes import code_columns, is_large, is_zero_one
from sparsegam.compat.settings import Settings
from sparsegam.losses import LOSSES

SMOOTHING = (0.001, 0.01, 0.1)  # ridges of starts, as shares of the curvature


@dataclass(frozen=True)
class Solution:
    """A model: where it stands on the path, what it is, and what it is worth on the scale of lambda0."""

    lambda_0: float
    intercept: float
    columns: NDArray[np.int64]
    coef: FloatArray
    objective: float
    finished: bool
    point: _core.Point  # as the core has it


@dataclass(frozen=True, eq=False)
class Data:
    """A matrix with its labels, as they were read.

    Attributes
    ----------
    matrix : NumericMatrix
        The columns, dense or sparse.
    target : ndarray
        -1 and 1, or responses.
    classes : ndarray or None
        The two labels, the smaller first.
    """

    matrix: NumericMatrix
    target: FloatArray
    classes: NDArray[Any] | None

    def keep(self, rows: NDArray[Any]) -> "Data":
        """Return the same with these rows only."""
        return replace(self, matrix=self.matrix.take(rows), target=self.target[rows])


def read_data(X: Any, y: Any, settings: Settings) -> Data:
    """Read a matrix and its labels: arrays, sparse matrices and frames of any numbers, all of them finite."""
    matrix = read_matrix(X)
    target = read_target(np.asarray(y), settings.name, matrix.n_rows)
    if settings.exclude_first_k > matrix.n_columns:
        msg = f"exclude_first_k must be at most {matrix.n_columns}, the columns, got {settings.exclude_first_k}."
        raise ValueError(msg)
    settings.bounds(matrix.n_columns)
    if settings.loss == "Exponential" and not is_zero_one(matrix):
        many = matrix.many_valued_columns()
        which = f", but {quote_columns([matrix.label(int(j)) for j in many])} has others" if many.size else ""
        msg = (
            f"loss='Exponential' needs a matrix of zeros and ones{which}: make a column x <= t for each threshold t, "
            "or use loss='Logistic'."
        )
        raise ValueError(msg)
    return Data(matrix, target.values, target.classes)


@dataclass(frozen=True, eq=False)
class Posed:
    """A problem in the core for one kind of penalty, and what leads back from it.

    Attributes
    ----------
    settings : Settings
        What was asked for.
    rows : LocalRows
        The rows.
    penalty : Penalty
        Bounds and columns that are always in, without any gamma yet.
    units : Units
        Those that the core has the problem in.
    column : ndarray
        The column of the core that is each column of the matrix.
    shift : ndarray
        What was taken from each column on the way.
    norms : ndarray
        Norms of the columns as the original has them; 1 for columns of zeros.
    scale : float
        Norm of y for the squared error, else 1.
    """

    settings: Settings
    rows: _core.LocalRows
    penalty: _core.Penalty
    units: Units
    column: NDArray[np.int64]
    shift: FloatArray
    norms: FloatArray
    scale: float

    def with_gamma(self, gamma: float) -> _core.Penalty:
        """Return the penalty with a value of gamma."""
        if self.settings.penalty_in_use == "L0L1":
            return self.penalty.with_lambda1(gamma * self.scale / self.units.slope)
        return self.penalty.with_lambda2(gamma)

    def smoothed(self) -> list[_core.Penalty]:
        """Return penalties with more of a ridge, under which other columns come first: starts for a search."""
        return [self.penalty.with_lambda2(share * LOSSES[self.settings.name].path_curvature) for share in SMOOTHING]

    def price(self, lambda0: float) -> float:
        """Return lambda0 in the units of the core."""
        return self.units.price(lambda0 * self.scale**2)

    def slopes(self, point: _core.Point) -> FloatArray:
        """Return the absolute slope of the loss along each column of the matrix, on the scale of the original."""
        centred = self.settings.intercept and self.settings.name != "exponential"
        along, _ = self.rows.slopes(point, centred=centred)
        slope: FloatArray = along[self.column] * self.units.loss / self._coefficient_units()
        if self.settings.name == "exponential":  # whose columns are -1/2 and 1/2 there
            _, _, total = self.rows.newton(point, point.columns)
            slope -= 0.5 * total[0] * self.units.loss
        else:
            slope /= self.norms * self.scale
        return np.abs(slope)

    def solution(self, lambda0: float, point: _core.Point, *, finished: bool) -> Solution:
        """Put a point of the core into the words of the matrix."""
        found = self.units.from_core(point)
        at = np.full(int(self.column.max()) + 1, -1)
        at[self.column] = np.arange(self.column.size)
        used = found.coef != 0
        order = np.argsort(at[found.columns[used]])
        columns, coef = at[found.columns[used]][order], found.coef[used][order]
        value = float(found.loss + found.ridge) / self.scale**2
        intercept = float(found.intercept - self.shift[columns] @ coef)
        free = Solution(0.0, intercept, columns, coef, value, finished, point)
        return replace(free, lambda_0=lambda0, objective=self.value(free, lambda0))

    def value(self, solution: Solution, lambda0: float) -> float:
        """Return what a model is worth at another lambda0."""
        return solution.objective + (lambda0 - solution.lambda_0) * self.paid(solution)

    def paid(self, solution: Solution) -> int:
        """Count the columns that lambda0 is on."""
        return int(np.count_nonzero(solution.columns >= self.settings.exclude_first_k))

    def _coefficient_units(self) -> FloatArray | float:
        every = np.arange(self.column.size)
        return self.units.of(every)


def pose(data: Data, settings: Settings) -> Posed:
    """Hand rows to the core: columns of zeros and ones as codes, others as they are."""
    matrix = data.matrix
    centred = settings.intercept and not matrix.is_sparse
    scale = 1.0 if settings.is_classification else _norm(data.target, centred=settings.intercept)
    if is_zero_one(matrix) and (settings.loss == "Exponential" or not is_large(matrix)):
        return _as_codes(data, settings, scale, centred=centred)
    norms = np.sqrt(matrix.squared_norms(centred=centred))
    norms[norms == 0] = 1.0
    demands = Coefficients(
        fit_intercept=settings.intercept,
        coef_bounds=settings.bounds(matrix.n_columns),
        unpenalized=list(range(settings.exclude_first_k)),
        norms=norms,
    )
    options = SearchOptions(loss=settings.name, lambda2=0.0, max_terms=None)
    problem = Matrices(demands).pose(matrix.with_names(None), data.target, np.ones(matrix.n_rows), options)
    shift = np.zeros(matrix.n_columns)
    for j, by in problem.design.shift.items():
        shift[j] = by
    every = np.arange(matrix.n_columns)
    return Posed(settings, problem.rows, problem.penalty, problem.units, every, shift, norms, scale)


def _as_codes(data: Data, settings: Settings, scale: float, *, centred: bool) -> Posed:
    """Pose zeros and ones as bin codes: thresholds of one feature as that feature, other columns as levels."""
    matrix, p = data.matrix, data.matrix.n_columns
    units, target, weight = scale_target(
        data.target, np.ones(data.target.size), centred=settings.intercept and not settings.is_classification
    )
    codes = code_columns(matrix)
    rows = _core.ThresholdRows(codes.design(), target, weight, loss=settings.name, n_threads=1)
    ones = rows.columns.mean[codes.column] * matrix.n_rows
    norms = np.sqrt(rows.columns.centred_sq_norm[codes.column] * units.weight if centred else ones)
    norms[norms == 0] = 1.0
    varies = rows.columns.centred_sq_norm[codes.column] > 0 if settings.intercept else np.ones(p, dtype=bool)
    low, high = settings.bounds(p)

    def spread_out(values: NDArray[Any], other: Any) -> NDArray[Any]:
        out = np.full(len(rows.columns), other, dtype=values.dtype)
        out[codes.column] = values
        return out

    penalty = _core.Penalty(
        lambda2=0.0,
        cost=np.ones(len(rows.columns)),
        low=spread_out(low / units.target, -np.inf),
        high=spread_out(high / units.target, np.inf),
        allowed=spread_out(varies, other=False),
        group=codes.feature,
        always=np.sort(codes.column[: settings.exclude_first_k]),
        penalty_scale=spread_out(np.square(norms) / units.weight, 0.0),
        free_intercept=settings.intercept,
    )
    return Posed(settings, rows, penalty, units, codes.column, np.zeros(p), norms, scale)


def _norm(target: FloatArray, *, centred: bool) -> float:
    """Return the norm of the responses; 1 where they are constant."""
    norm = float(np.linalg.norm(target - target.mean() if centred else target))
    return norm or 1.0
