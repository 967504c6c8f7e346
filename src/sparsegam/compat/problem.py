"""Build problems with the scales of lambda and gamma that fastsparsegams and L0Learn use.

They minimise, over coefficients v of columns with unit norm,

    sum_i loss(y_i, f_i) + lambda0 |v|_0 + gamma |v|_1   or   ... + gamma |v|_2^2,

where columns are centred before they are divided by their norms if the matrix is dense and there is an intercept.
For the squared error y is also centred and divided by its norm s. In the units of y, with w = s v / norm, the penalties
are s^2 times

    lambda0 |w|_0 + gamma sum_j norm_j |w_j| / s   or   ... + gamma sum_j (norm_j w_j)^2 / s^2.

0/1 columns are converted to bin codes, which need less memory and fewer sums. The closed form of the exponential loss
needs only the two groups of rows of such a column.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._backends.local import LocalBackend
from sparsegam._backends.protocol import LabelledData
from sparsegam._data.matrix import NumericMatrix, quote_columns, read_matrix
from sparsegam._data.target import read_target
from sparsegam._design.linear import Coefficients
from sparsegam._design.scaling import Units, scale_target
from sparsegam._search.matrix_problem import build_matrix_problem
from sparsegam._search.options import SearchOptions
from sparsegam.arrays import FloatArray
from sparsegam.compat.codes import encode_columns, is_large, is_zero_one
from sparsegam.compat.settings import Settings
from sparsegam.losses import LOSSES

SMOOTHING = (0.001, 0.01, 0.1)  # ridges of auxiliary searches, relative to the curvature


@dataclass(frozen=True)
class Solution:
    """A model: its lambda0, its coefficients in the units of the matrix, and its objective on the scale of lambda0."""

    lambda_0: float
    intercept: float
    columns: NDArray[np.int64]
    coef: FloatArray
    objective: float
    finished: bool
    point: _core.Point  # the model in the units of the core


@dataclass(frozen=True, eq=False)
class Data:
    """A matrix and its labels.

    Attributes
    ----------
    matrix : NumericMatrix
        The columns, dense or sparse.
    target : ndarray
        -1 and 1, or a numeric target.
    classes : ndarray or None
        The two labels, the smaller first.
    """

    matrix: NumericMatrix
    target: FloatArray
    classes: NDArray[Any] | None

    def take(self, rows: NDArray[Any]) -> "Data":
        """Return the data of some rows."""
        return replace(self, matrix=self.matrix.take(rows), target=self.target[rows])


def read_data(X: Any, y: Any, settings: Settings) -> Data:
    """Validate a matrix and its labels: arrays, sparse matrices or data frames with finite numbers."""
    matrix = read_matrix(X)
    target = read_target(np.asarray(y), settings.name, matrix.n_rows)
    if settings.exclude_first_k > matrix.n_columns:
        k, most = settings.exclude_first_k, matrix.n_columns
        msg = f"exclude_first_k must be at most the number of columns ({most}), got {k}."
        raise ValueError(msg)
    settings.bounds(matrix.n_columns)
    if settings.loss == "Exponential" and not is_zero_one(matrix):
        many = matrix.many_valued_columns()
        which = f", but {quote_columns([matrix.label(int(j)) for j in many])} has other values" if many.size else ""
        msg = (
            f"loss='Exponential' needs a matrix of zeros and ones{which}: use one column x <= t per threshold t, "
            "or use loss='Logistic'."
        )
        raise ValueError(msg)
    return Data(matrix, target.values, target.classes)


@dataclass(frozen=True, eq=False)
class GridProblem:
    """A problem of the core for one kind of penalty, with the conversion of its results.

    Attributes
    ----------
    settings : Settings
        The arguments of `fit`.
    rows : LocalRows
        The rows.
    penalty : Penalty
        Bounds and unpenalised columns, without gamma.
    units : Units
        The units of the core.
    column : ndarray
        The core column of each column of the matrix.
    shift : ndarray
        The value subtracted from each column.
    norms : ndarray
        The norm of each column as in the original; 1 for columns of zeros.
    scale : float
        The norm of y for the squared error, otherwise 1.
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

    def with_stronger_ridges(self) -> list[_core.Penalty]:
        """Return penalties with stronger ridges, whose models are used as starting points."""
        return [self.penalty.with_lambda2(share * LOSSES[self.settings.name].path_curvature) for share in SMOOTHING]

    def core_lambda0(self, lambda0: float) -> float:
        """Return lambda0 in the units of the core."""
        return self.units.core_penalty(lambda0 * self.scale**2)

    def slopes(self, point: _core.Point) -> FloatArray:
        """Return the absolute slope of the loss along each column of the matrix, on the scale of the original."""
        centred = self.settings.intercept and self.settings.name != "exponential"
        along, _ = self.rows.slopes(point, centred=centred)
        slope: FloatArray = along[self.column] * self.units.loss / self._coefficient_units()
        if self.settings.name == "exponential":  # its columns are coded as -1/2 and 1/2
            _, _, total = self.rows.newton(point, point.columns)
            slope -= 0.5 * total[0] * self.units.loss
        else:
            slope /= self.norms * self.scale
        return np.abs(slope)

    def solution(self, lambda0: float, point: _core.Point, *, finished: bool) -> Solution:
        """Convert a point of the core to the units of the matrix."""
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
        """Return the objective of a model at another lambda0."""
        return solution.objective + (lambda0 - solution.lambda_0) * self.n_penalized(solution)

    def n_penalized(self, solution: Solution) -> int:
        """Return the number of penalised columns."""
        return int(np.count_nonzero(solution.columns >= self.settings.exclude_first_k))

    def _coefficient_units(self) -> FloatArray | float:
        every = np.arange(self.column.size)
        return self.units.of(every)


def build_problem(data: Data, settings: Settings) -> GridProblem:
    """Build the problem, with bin codes for 0/1 columns."""
    matrix = data.matrix
    centred = settings.intercept and not matrix.is_sparse
    scale = 1.0 if settings.is_classification else _norm(data.target, centred=settings.intercept)
    if is_zero_one(matrix) and (settings.loss == "Exponential" or not is_large(matrix)):
        return _problem_of_codes(data, settings, scale, centred=centred)
    norms = np.sqrt(matrix.squared_norms(centred=centred))
    norms[norms == 0] = 1.0
    demands = Coefficients(
        fit_intercept=settings.intercept,
        coef_bounds=settings.bounds(matrix.n_columns),
        unpenalized=list(range(settings.exclude_first_k)),
        norms=norms,
    )
    options = SearchOptions(loss=settings.name, lambda2=0.0, max_terms=None)
    rows = LabelledData(matrix.with_names(None), data.target, np.ones(matrix.n_rows))
    problem = build_matrix_problem(LocalBackend(), rows, demands, options)
    shift = np.zeros(matrix.n_columns)
    for j, by in problem.design.shift.items():
        shift[j] = by
    every = np.arange(matrix.n_columns)
    return GridProblem(settings, problem.rows, problem.penalty, problem.units, every, shift, norms, scale)


def _problem_of_codes(data: Data, settings: Settings, scale: float, *, centred: bool) -> GridProblem:
    """Build the problem with bin codes: chains of thresholds as ordered features, other columns as two levels."""
    matrix, p = data.matrix, data.matrix.n_columns
    units, target, weight = scale_target(
        data.target, np.ones(data.target.size), centred=settings.intercept and not settings.is_classification
    )
    codes = encode_columns(matrix)
    rows = _core.ThresholdRows(codes.design(), target, weight, loss=settings.name, n_threads=1)
    ones = rows.columns.mean[codes.column] * matrix.n_rows
    norms = np.sqrt(rows.columns.centred_sq_norm[codes.column] * units.weight if centred else ones)
    norms[norms == 0] = 1.0
    varies = rows.columns.centred_sq_norm[codes.column] > 0 if settings.intercept else np.ones(p, dtype=bool)
    low, high = settings.bounds(p)

    def by_core_column(values: NDArray[Any], other: Any) -> NDArray[Any]:
        out = np.full(len(rows.columns), other, dtype=values.dtype)
        out[codes.column] = values
        return out

    penalty = _core.Penalty(
        lambda2=0.0,
        cost=np.ones(len(rows.columns)),
        low=by_core_column(low / units.target, -np.inf),
        high=by_core_column(high / units.target, np.inf),
        allowed=by_core_column(varies, other=False),
        group=codes.feature,
        always=np.sort(codes.column[: settings.exclude_first_k]),
        penalty_scale=by_core_column(np.square(norms) / units.weight, 0.0),
        free_intercept=settings.intercept,
    )
    return GridProblem(settings, rows, penalty, units, codes.column, np.zeros(p), norms, scale)


def _norm(target: FloatArray, *, centred: bool) -> float:
    """Return the norm of the target, or 1 if it is constant."""
    norm = float(np.linalg.norm(target - target.mean() if centred else target))
    return norm or 1.0
