"""Fitting problems of linear models: a matrix with the penalties of its columns."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._backends.protocol import Backend, LabelledData
from sparsegam._data.matrix import NumericMatrix, quote_columns
from sparsegam._design.linear import Coefficients, LinearDesign
from sparsegam._design.scaling import power_of_two, scale_target
from sparsegam._search.options import SearchOptions
from sparsegam._search.penalty import SelectionPenalty, mean_weight
from sparsegam._search.problem import Problem, check_room
from sparsegam.arrays import FloatArray
from sparsegam.checks import warn
from sparsegam.losses import LOSSES

# Above this ratio of |mean| to standard deviation, sums of squares lose significant digits.
FAR_FROM_ZERO = 100.0
# Above this ratio, products of coefficients and values lose significant digits, too.
TOO_FAR_FROM_ZERO = 2.0**20
# Below this ratio of standard deviation to |mean|, a column is constant up to rounding.
NO_VARIATION = 1e-13
# A column whose largest value is above this, or below its inverse, is rescaled.
LARGEST_UNSCALED = 2.0**16


def build_matrix_problem(
    backend: Backend[Any],
    data: LabelledData[NumericMatrix],
    coefficients: Coefficients,
    options: SearchOptions,
) -> Problem[LinearDesign]:
    """Build the problem of a linear model; columns far from zero are centred in a copy.

    Parameters
    ----------
    backend : Backend
        Where the data are stored and summed.
    data : LabelledData
        The matrix, the target and the weights.
    coefficients : Coefficients
        Penalties and bounds of the coefficients.
    options : SearchOptions
        Options of the search.
    """
    matrix, weight, is_classifier = data.features, data.weight, LOSSES[options.loss].is_classifier
    if LOSSES[options.loss].closed_form:
        _check_two_valued(matrix)
    fixed = coefficients.required(matrix)
    check_room(fixed.size, "unpenalized", options)
    units, target, scaled_weight = scale_target(
        data.target, weight, centred=not is_classifier and coefficients.fit_intercept
    )
    scaled, column_units = _rescaled(matrix)
    units = replace(units, columns=column_units)

    def rows_of(columns: NumericMatrix) -> Any:
        return backend.matrix_rows(LabelledData(columns, target, scaled_weight), options.loss)

    rows, shift, too_far, allowed = _centred_rows(scaled, scaled_weight, coefficients, rows_of)
    ridge = options.ridge(float(weight.sum()))
    cost = np.ones(matrix.n_columns)
    cost[fixed] = 0.0
    shift = {j: by * (1.0 if column_units is None else column_units[j]) for j, by in shift.items()}
    return Problem(
        LinearDesign(matrix, shift, too_far),
        rows,
        coefficients.penalty(ridge.lambda2, allowed, fixed, units),
        options,
        total_weight=float(weight.sum()),
        ridge=ridge,
        n_candidates=int(np.count_nonzero(allowed)) + int(np.count_nonzero(~allowed[fixed])),
        selection=SelectionPenalty(int(np.count_nonzero(allowed))),
        cost=cost,
        mean_weight=mean_weight(weight),
        n_fixed=fixed.size,
        units=units,
    )


def _centred_rows(
    matrix: NumericMatrix, weight: FloatArray, coefficients: Coefficients, rows_of: Callable[[NumericMatrix], Any]
) -> tuple[Any, dict[int, float], frozenset[int], NDArray[np.bool_]]:
    """Build the row oracle; return it with column offsets, ill-conditioned columns and the mask of varying columns.

    Without an intercept no column may be centred, and constant columns may be selected.
    """
    rows = rows_of(matrix)
    if not coefficients.fit_intercept:
        return rows, {}, frozenset(), np.ones(matrix.n_columns, dtype=bool)
    means = np.asarray(rows.columns.mean)
    mean_part = np.square(means) * weight.sum()
    far = np.flatnonzero(mean_part > FAR_FROM_ZERO**2 * rows.columns.centred_sq_norm)
    far = far[matrix.is_full(far)]
    if far.size:
        rows = rows_of(matrix.shifted(far, means[far]))
    varies: NDArray[np.bool_] = rows.columns.centred_sq_norm > NO_VARIATION**2 * mean_part
    _warn_about_rounding(matrix, np.setdiff1d(far[~varies[far]], coefficients.required(matrix)))
    too_far = far[mean_part[far] > TOO_FAR_FROM_ZERO**2 * rows.columns.centred_sq_norm[far]]
    return rows, dict(zip(far.tolist(), means[far].tolist(), strict=True)), frozenset(too_far.tolist()), varies


def _warn_about_rounding(matrix: NumericMatrix, columns: NDArray[np.int64]) -> None:
    """Warn about columns that are treated as constant because they vary by little more than rounding errors."""
    varying = [matrix.label(int(j)) for j in columns if matrix.is_varying(int(j))]
    if varying:
        verb = "vary" if len(varying) > 1 else "varies"
        msg = (
            f"{quote_columns(varying)} {verb} by less than {NO_VARIATION:g} of the mean, which may be rounding error, "
            "and will not be used. If the variation is real, subtract a constant first, for example the mean."
        )
        warn(msg, UserWarning)


def _rescaled(matrix: NumericMatrix) -> tuple[NumericMatrix, FloatArray | None]:
    """Return the matrix with very large and very small columns rescaled, and the units of the columns (None: all 1)."""
    largest = matrix.max_abs()
    if not ((largest > 0) & ((largest < 1 / LARGEST_UNSCALED) | (largest > LARGEST_UNSCALED))).any():
        return matrix, None
    units = np.array([power_of_two(float(size)) for size in largest])
    return matrix.scaled(units), units


def _check_two_valued(matrix: NumericMatrix) -> None:
    wrong = matrix.many_valued_columns()
    if wrong.size:
        msg = (
            "loss='exponential' of a linear model needs columns of two values each, such as 0 and 1, but column "
            f"{matrix.label(int(wrong[0]))!r} has more: use loss='logistic', or SparseGAMClassifier, whose steps have "
            "two values."
        )
        raise ValueError(msg)
