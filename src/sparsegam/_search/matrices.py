"""Matrices of numbers: posed to the core as they are, and searched for the best linear model of every size."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._data.matrix import NumericMatrix, quote_columns, read_matrix
from sparsegam._design.linear import Coefficients, LinearDesign
from sparsegam._design.scaling import power_of_two, scale_target
from sparsegam._search.options import SearchOptions
from sparsegam._search.penalty import SelectionPenalty, mean_weight
from sparsegam._search.problem import Problem, check_room
from sparsegam.arrays import FloatArray
from sparsegam.checks import warn
from sparsegam.losses import LOSSES

FAR_FROM_ZERO = 100.0  # |mean| / standard deviation beyond which sums of squares lose the digits that matter
TOO_FAR = 2.0**20  # the same ratio, beyond which coefficient times value loses digits that count
NO_VARIATION = 1e-13  # standard deviation / |mean| below which a column is constant, but for rounding
ORDINARY = 2.0**16  # a column whose largest number is beyond this, or below one over it, gets a unit of its own
SMALLEST_CAP = 2**26  # bytes that the core may keep beside the matrix, however small that is
LARGEST_CAP = 2**30  # and however large


@dataclass(frozen=True)
class Matrices:
    """Matrices of numbers, whose columns are those that the search may choose."""

    demands: Coefficients
    smaller: ClassVar[str] = "a larger lambda0 or fewer max_terms"

    def read(self, X: Any) -> NumericMatrix:
        """Look at an array, a sparse matrix or a frame of numbers, copied only where the core could not take it."""
        return read_matrix(X)

    def take_in(self, X: Any, y: Any, sample_weight: Any, n_threads: int) -> NoReturn:
        """Refuse what comes in pieces: a matrix is held as it is, not as codes."""
        msg = f"linear models take no streams, got {type(X).__name__}: read it into memory, or use an additive model."
        raise ValueError(msg)

    def rows_of(self, matrix: NumericMatrix, y: FloatArray, weight: FloatArray, options: SearchOptions) -> Any:
        """Return the rows of a matrix, which answer a search."""
        cap = min(max(2 * matrix.n_bytes, SMALLEST_CAP), LARGEST_CAP)
        return _core.MatrixRows(matrix.core(), y, weight, loss=options.loss, n_threads=options.n_threads, max_bytes=cap)

    def pose(
        self, data: NumericMatrix, y: FloatArray, weight: FloatArray, options: SearchOptions
    ) -> Problem[LinearDesign]:
        """Hand a matrix to the core; columns far from zero are centred on the way, in a copy."""
        if LOSSES[options.loss].closed_form:
            _check_two_valued(data)
        always = self.demands.always(data)
        check_room(always.size, "unpenalized", options)
        centred = not LOSSES[options.loss].is_classifier and self.demands.fit_intercept
        units, y_core, weight_core = scale_target(y, weight, centred=centred)
        scaled, columns = _ordinary(data)
        units = replace(units, columns=columns)
        made = partial(self.rows_of, y=y_core, weight=weight_core, options=options)
        rows, shift, too_far, allowed = _rows(scaled, weight_core, self.demands, made)
        ridge = options.ridge(float(weight.sum()))
        penalty = self.demands.penalty(ridge.lambda2, allowed, always, units)
        cost = np.ones(data.n_columns)
        cost[always] = 0.0
        return Problem(
            LinearDesign(data, {j: by * (1.0 if columns is None else columns[j]) for j, by in shift.items()}, too_far),
            rows,
            penalty,
            options,
            total_weight=float(weight.sum()),
            ridge=ridge,
            n_candidates=int(np.count_nonzero(allowed)) + int(np.count_nonzero(~allowed[always])),
            selection=SelectionPenalty(int(np.count_nonzero(allowed))),
            cost=cost,
            mean_weight=mean_weight(weight),
            n_fixed=always.size,
            units=units,
        )


def _rows(
    matrix: NumericMatrix, weight: FloatArray, demands: Coefficients, made: Callable[[NumericMatrix], Any]
) -> tuple[Any, dict[int, float], frozenset[int], NDArray[np.bool_]]:
    """Make the rows; tell what was taken from columns far from zero, which are too far, and which are not constant.

    Without an intercept a constant column is a column like any other, and none may be moved.
    """
    rows = made(matrix)
    if not demands.fit_intercept:
        return rows, {}, frozenset(), np.ones(matrix.n_columns, dtype=bool)
    means = np.asarray(rows.columns.mean)
    mean_part = np.square(means) * weight.sum()
    far = np.flatnonzero(mean_part > FAR_FROM_ZERO**2 * rows.columns.centred_sq_norm)
    far = far[matrix.is_full(far)]
    if far.size:
        rows = made(matrix.shifted(far, means[far]))
    varies: NDArray[np.bool_] = rows.columns.centred_sq_norm > NO_VARIATION**2 * mean_part
    _warn_of_rounding(matrix, np.setdiff1d(far[~varies[far]], demands.always(matrix)))
    too_far = far[mean_part[far] > TOO_FAR**2 * rows.columns.centred_sq_norm[far]]
    return rows, dict(zip(far.tolist(), means[far].tolist(), strict=True)), frozenset(too_far.tolist()), varies


def _warn_of_rounding(matrix: NumericMatrix, columns: NDArray[np.int64]) -> None:
    """Warn of columns taken for constant that are not: what varies is the rounding of their numbers, or nearly."""
    varying = [matrix.label(int(j)) for j in columns if matrix.is_varying(int(j))]
    if varying:
        verb = "vary" if len(varying) > 1 else "varies"
        msg = (
            f"{quote_columns(varying)} {verb} by less than {NO_VARIATION:g} of the mean, as rounding does, and will "
            "not be used. If this is more than rounding, subtract a constant first, for example the mean."
        )
        warn(msg, UserWarning)


def _ordinary(matrix: NumericMatrix) -> tuple[NumericMatrix, FloatArray | None]:
    """Return the matrix with columns of ordinary size, and their units; as it is where all of them are."""
    largest = matrix.max_abs()
    if not ((largest > 0) & ((largest < 1 / ORDINARY) | (largest > ORDINARY))).any():
        return matrix, None
    units = np.array([power_of_two(float(size)) for size in largest])
    return matrix.scaled(units), units


def _check_two_valued(matrix: NumericMatrix) -> None:
    wrong = matrix.many_valued_columns()
    if wrong.size:
        msg = (
            f"the exponential loss needs columns of two values each (0 and 1, say), but column "
            f"{matrix.label(int(wrong[0]))!r} has more: its closed-form steps exist for two groups of rows only, and "
            "with real-valued columns a few far-out rows would outweigh all others exponentially. Use "
            "loss='logistic', or SparseGAMClassifier(loss='exponential'), which makes two-valued steps of any column."
        )
        raise ValueError(msg)
