"""A linear model's problem: which columns may enter, within what bounds, at what price; posed to the core."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam.checks import check_boolean, check_number
from sparsegam.data.frames import position
from sparsegam.data.matrix import NumericMatrix, Vector
from sparsegam.models.linear import LinearModel
from sparsegam.search.options import Options
from sparsegam.search.problem import Problem

FAR_FROM_ZERO = 100.0  # |mean| / standard deviation beyond which sums of squares lose the digits that matter
NO_VARIATION = 1e-13  # standard deviation / |mean| below which a column is constant, but for rounding
SMALLEST_CAP = 2**26  # bytes that the core may keep beside the matrix, however small that is
LARGEST_CAP = 2**30  # and however large


@dataclass(frozen=True)
class Terms:
    """What the user may demand of the coefficients; wrong values are refused when it is made or meets a matrix.

    Attributes
    ----------
    lambda1 : float
        Lasso penalty on the standardised coefficients.
    standardize : bool
        Whether lambda1 and lambda2 are on coefficients times the norms of their centred columns, or on the bare ones.
    fit_intercept : bool
        Whether there is an intercept.
    coef_bounds : (low, high), optional
        Bounds of the coefficients, numbers or one for each column: low <= 0 <= high.
    unpenalized : list of columns, optional
        Columns that are in every model and free of lambda0.
    """

    lambda1: float = 0.0
    standardize: bool = True
    fit_intercept: bool = True
    coef_bounds: Any = None
    unpenalized: Any = None

    def __post_init__(self) -> None:
        check_number("lambda1", self.lambda1, at_least=0.0)
        check_boolean("standardize", self.standardize)
        check_boolean("fit_intercept", self.fit_intercept)
        if isinstance(self.unpenalized, str):
            msg = f"unpenalized must be a list of columns, got {self.unpenalized!r}."
            raise ValueError(msg)

    def bounds(self, n_columns: int) -> tuple[Vector, Vector]:
        """Return the lowest and the highest coefficient of each column."""
        if self.coef_bounds is None:
            return np.full(n_columns, -np.inf), np.full(n_columns, np.inf)
        try:
            low, high = self.coef_bounds
            low, high = (np.array(np.broadcast_to(b, (n_columns,)), dtype=np.float64) for b in (low, high))
        except (TypeError, ValueError):
            msg = (
                f"coef_bounds must be a pair (low, high) of numbers or of arrays with one number for each of the "
                f"{n_columns} columns, got {self.coef_bounds!r}."
            )
            raise ValueError(msg) from None
        wrong = np.flatnonzero(~((low <= 0) & (high >= 0)))
        if wrong.size:
            j = wrong[0]
            msg = (
                f"coef_bounds must have low <= 0 <= high, so that a column may stay out of the model, got "
                f"({low[j]:g}, {high[j]:g}) for column {j}."
            )
            raise ValueError(msg)
        return low, high

    def always(self, matrix: NumericMatrix) -> NDArray[np.int64]:
        """Return the positions of the columns that every model has."""
        if self.unpenalized is None:
            return np.zeros(0, dtype=np.int64)
        names = [matrix.label(j) for j in range(matrix.n_columns)]
        return np.unique([position(key, names, "unpenalized") for key in self.unpenalized]).astype(np.int64)


@dataclass(frozen=True)
class LinearDesign:
    """The columns as the core has them, and what is needed to speak of them in the words of the data.

    Attributes
    ----------
    matrix : NumericMatrix
        The columns.
    always : ndarray
        Those in every model, free of lambda0.
    shift : dict from column to float
        What was taken from columns far from zero, so that the core works with the digits that vary.
    offset : float
        What was taken from the response of a regression, for the same reason.
    """

    matrix: NumericMatrix
    always: NDArray[np.int64]
    shift: dict[int, float]
    offset: float = 0.0

    def model(self, point: _core.Point, loss: str, classes: NDArray[Any] | None) -> LinearModel:
        """Put one point of a search into the words of the data."""
        order = np.argsort(point.columns)
        columns, coef = point.columns[order].tolist(), point.coef[order].tolist()
        moved = sum(w * self.shift.get(j, 0.0) for j, w in zip(columns, coef, strict=True))
        return LinearModel(
            intercept=float(point.intercept) + self.offset - moved,
            columns=tuple(columns),
            weights=tuple(coef),
            n_features=self.matrix.n_columns,
            loss=loss,
            classes=None if classes is None else (classes[0], classes[1]),
            feature_names=self.matrix.names,
        )

    def objective(self, point: _core.Point, lambda0: float) -> float:
        """Loss, penalties and the price of all terms that have one."""
        return point.loss + point.ridge + lambda0 * (len(point.columns) - self.always.size)


def pose_linear(matrix: NumericMatrix, y: Vector, weight: Vector, options: Options, terms: Terms) -> Problem:
    """Hand a matrix to the core; columns far from zero are centred on the way, in a copy.

    Parameters
    ----------
    matrix : NumericMatrix
        The columns.
    y, weight : ndarray
        Labels -1 and 1, or responses; and a weight for each row.
    options : Options
        The loss, and how to search.
    terms : Terms
        What is demanded of the coefficients.

    Returns
    -------
    Problem
        Ready to be searched; its `design` is a LinearDesign.
    """
    if options.loss == "exponential":
        _check_two_valued(matrix)
    low, high = terms.bounds(matrix.n_columns)
    always = terms.always(matrix)
    _check_room(always, options)
    offset = _mean(y, weight) if options.loss == "squared" and terms.fit_intercept else 0.0
    if offset:
        y = y - offset
    rows, shift, allowed = _rows(matrix, y, weight, options, terms)
    penalty = _core.Penalty(
        lambda2=float(options.lambda2),
        lambda1=float(terms.lambda1),
        cost=np.ones(matrix.n_columns),
        low=low,
        high=high,
        allowed=allowed,
        group=np.arange(matrix.n_columns),
        always=always,
        standardize=bool(terms.standardize),
        free_intercept=bool(terms.fit_intercept),
    )
    n_candidates = int(np.count_nonzero(allowed)) + int(np.count_nonzero(~allowed[always]))
    design: Any = LinearDesign(matrix, always, shift, offset)  # Any: Problem was written for the other Design
    total = float(weight.sum())
    return Problem(design, rows, penalty, options, total, n_candidates, mean_weight=total / weight.size)


def _rows(
    matrix: NumericMatrix, y: Vector, weight: Vector, options: Options, terms: Terms
) -> tuple[_core.Rows, dict[int, float], NDArray[np.bool_]]:
    """Make the rows; tell what was taken from columns far from zero, and which columns are not constant.

    Without an intercept a constant column is a column like any other, and none may be moved.
    """

    def made(m: NumericMatrix) -> _core.Rows:
        cap = min(max(2 * m.n_bytes, SMALLEST_CAP), LARGEST_CAP)
        return _core.Rows(m.core(), y, weight, loss=options.loss, n_threads=options.n_threads, max_bytes=cap)

    rows = made(matrix)
    if not terms.fit_intercept:
        return rows, {}, np.ones(matrix.n_columns, dtype=bool)
    means = matrix.means(weight)
    mean_part = np.square(means) * weight.sum()
    far = np.flatnonzero(mean_part > FAR_FROM_ZERO**2 * rows.spread)
    far = far[matrix.is_full(far)]
    if far.size:
        rows = made(matrix.shifted(far, means[far]))
    varies: NDArray[np.bool_] = rows.spread > NO_VARIATION**2 * mean_part
    return rows, dict(zip(far.tolist(), means[far].tolist(), strict=True)), varies


def _mean(y: Vector, weight: Vector) -> float:
    return float(weight @ y / weight.sum())


def _check_two_valued(matrix: NumericMatrix) -> None:
    wrong = matrix.many_valued()
    if wrong.size:
        msg = (
            f"the exponential loss needs columns of two values each (0 and 1, say), but column "
            f"{matrix.label(int(wrong[0]))!r} has more: its closed-form steps exist for two groups of rows only, and "
            "with real-valued columns a few far-out rows would outweigh all others exponentially. Use "
            "loss='logistic', or SparseGAMClassifier(loss='exponential'), which makes two-valued steps of any column."
        )
        raise ValueError(msg)


def _check_room(always: NDArray[np.int64], options: Options) -> None:
    if options.max_terms is not None and always.size > options.max_terms:
        msg = f"unpenalized names {always.size} columns, which count as terms, but max_terms is {options.max_terms}."
        raise ValueError(msg)
