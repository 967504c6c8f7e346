"""Statistics of the terms of a fitted model: counts of training rows, and the covariance of the coefficients.

The ridge shrinks the coefficients, so an interval around them would miss the true values too often even if the terms
were given. Intervals are therefore centred at the coefficients after one Newton step without the ridge. With H the
Hessian of the loss and g the gradient of the ridge at the fitted coefficients, the gradient of the loss is -g and the
step is H^-1 g. The covariance is the inverse Hessian of the loss after the step, multiplied by the residual variance
for the squared loss. This is the Wald covariance, which treats the selected columns as fixed.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from sparsegam import _core
from sparsegam._backends.protocol import Cells, EncodedTable
from sparsegam._design.scaling import Units
from sparsegam._models.additive import Model
from sparsegam._models.functions import bins_of
from sparsegam._models.statistics import FitStatistics
from sparsegam._models.terms import Part, Term, conditions_of
from sparsegam._search.ridge import Ridge
from sparsegam.arrays import FloatArray
from sparsegam.checks import first_few, warn
from sparsegam.losses import LOSSES

# Steps with fewer rows on their smaller side are reported, unless that is a large share of a small table.
FEW_ROWS = 10
FEW_SHARE = 0.05
N_NAMED_STEPS = 3
# Smallest squared pivot of a Hessian with unit diagonal: below it, columns are treated as collinear.
SINGULAR = 1e-12


def term_statistics(encoded: EncodedTable, point: _core.Point, terms: Sequence[Term], ridge: Ridge) -> FitStatistics:
    """Return row counts and standard errors of the terms of a point.

    Parameters
    ----------
    encoded : EncodedTable
        The training data.
    point : Point
        The model, in the user's units.
    terms : sequence of Term
        Its terms, in the order of the columns.
    ridge : Ridge
        The ridge penalty.
    """
    design, order = encoded.design, np.argsort(point.columns)
    columns = point.columns[order]
    estimate = unshrunken_estimate(encoded.rows, point, ridge, encoded.units, encoded.total_weight)
    blocks: dict[Part, FloatArray] | None = None
    unshrunken: tuple[float, ...] | None = None
    if estimate is not None:
        coef, covariance = estimate
        unshrunken = tuple((coef / design.coefficient_units(point.columns))[order].tolist())
        unit = np.append(1.0, design.coefficient_units(point.columns))
        in_order = np.append(0, order + 1)
        covariance = (covariance / np.outer(unit, unit))[in_order[:, np.newaxis], in_order]
        blocks = {}
        # The terms of a feature, or of a pair, are adjacent.
        for part, positions in groupby(range(1, len(terms) + 1), key=lambda i: terms[i - 1].part):
            first, *others = positions
            block = slice(first, first + len(others) + 1)
            blocks[part] = covariance[block, block].copy()
    n_events = encoded.n_events
    return FitStatistics(
        n_rows=design.n_rows,
        n_events=n_events,
        rows=tuple(design.counts[columns].astype(np.int64).tolist()),
        events=None if n_events is None else tuple(encoded.count_events(columns).tolist()),
        intercept_error=None if estimate is None else float(np.sqrt(covariance[0, 0])),
        covariance=blocks,
        unshrunken=unshrunken,
    )


def pair_sums(encoded: EncodedTable, terms: Sequence[Term], *, weighted: bool) -> dict[tuple[str, str], FloatArray]:
    """Count training rows, or sum their weights, over the bins of each pair of features with interactions."""
    design, found = encoded.design, dict[tuple[str, str], FloatArray]()
    by_feature, position = conditions_of(terms), {name: j for j, name in enumerate(design.names)}
    for pair in dict.fromkeys(term.part for term in terms if not isinstance(term.part, str)):
        clauses, axes = [term.clauses for term in terms if term.part == pair], []
        for i, name in enumerate(pair):
            j = position[name]
            feature, distribution = design.features[j], design.distribution(j, by_feature[name])
            conditions = [both[i].condition for both in clauses]
            bins = bins_of(name, conditions, feature.special_values, feature.scale, distribution)
            axes.append(Cells(j, bins.bin_of(feature.representatives()), len(bins)))
        found[pair] = encoded.sum_cells(axes[0], axes[1], weighted=weighted)
    return found


def unshrunken_estimate(
    rows: Any, point: _core.Point, ridge: Ridge, units: Units, total_weight: float
) -> tuple[FloatArray, FloatArray] | None:
    """Return coefficients without the shrinkage of the ridge, and the covariance of intercept and coefficients.

    Both are in the user's units. None if the Hessian of the loss is singular. Weights count as repeated rows.
    """
    scaled = units.to_core(point)
    _, hessian = _loss_and_hessian(rows, scaled)
    gradient = 2 * ridge.lambda2 * ridge.unit(rows.columns, units)[point.columns] * scaled.coef
    if gradient.any():
        inverse = _inverse(hessian)
        if inverse is None:
            return None
        step = inverse[:, 1:] @ gradient
        if not np.isfinite(step).all():
            return None
        scaled = _core.Point(scaled.intercept + float(step[0]), scaled.columns, scaled.coef + step[1:])
    loss, hessian = _loss_and_hessian(rows, scaled)
    covariance = _wald_covariance(rows.loss, loss, hessian, units, total_weight)
    return None if covariance is None else (units.from_core(scaled).coef, covariance)


def covariance_of(rows: Any, point: _core.Point, ridge: Ridge, units: Units, total_weight: float) -> FloatArray | None:
    """Return the covariance of intercept and coefficients, in the user's units; None if the Hessian is singular.

    Weights count as repeated rows.
    """
    loss, hessian = _loss_and_hessian(rows, units.to_core(point))
    unit, diagonal = ridge.unit(rows.columns, units)[point.columns], np.arange(1, len(point.columns) + 1)
    hessian[diagonal, diagonal] += 2 * ridge.lambda2 * unit
    return _wald_covariance(rows.loss, loss, hessian, units, total_weight)


def _loss_and_hessian(rows: Any, point: _core.Point) -> tuple[float, FloatArray]:
    k = len(point.columns)
    loss, flat, _ = rows.newton(point, point.columns)
    return loss, np.array(flat).reshape(k + 1, k + 1)


def _wald_covariance(
    loss_name: str, loss: float, hessian: FloatArray, units: Units, total_weight: float
) -> FloatArray | None:
    inverse = _inverse(hessian)
    if inverse is None:
        return None
    if LOSSES[loss_name].is_classifier:
        return _finite(inverse, 1 / units.weight)
    degrees_of_freedom = total_weight - len(hessian)
    return _finite(inverse, 2 * loss * units.target**2 / degrees_of_freedom) if degrees_of_freedom > 0 else None


def _finite(inverse: FloatArray, factor: float) -> FloatArray | None:
    """Return the product; None if it overflows, as it may for extreme weights or responses."""
    with np.errstate(over="ignore", invalid="ignore"):
        out: FloatArray = inverse * factor
    return out if np.isfinite(out).all() else None


def _inverse(hessian: FloatArray) -> FloatArray | None:
    """Invert a positive definite matrix after scaling its diagonal to one; return None if it is singular."""
    diagonal = np.diagonal(hessian)
    if not (np.isfinite(hessian).all() and diagonal.min() > 0):
        return None
    scale = 1 / np.sqrt(diagonal)
    try:
        # Multiplied in this order, no intermediate result overflows.
        root = np.linalg.cholesky(scale[:, None] * hessian * scale)
    except np.linalg.LinAlgError:
        return None
    if np.diagonal(root).min() ** 2 < SINGULAR:
        return None
    half = np.linalg.inv(root) * scale
    with np.errstate(over="ignore"):
        # Infinite variances of undetermined coefficients are handled by the caller.
        inverse: FloatArray = half.T @ half
    return inverse


def warn_of_few_rows(models: Iterable[Model]) -> None:
    """Warn if steps are based on few training rows; the message lists those with the fewest."""
    weak = sorted((term for model in models for term in model.terms if _has_few_rows(term)), key=_smaller_side)
    if not weak:
        return
    named = first_few([f"{term.text()} ({_side(term)})" for term in weak], N_NAMED_STEPS)
    count = f"{len(weak)} steps of the model are" if len(weak) > 1 else "1 step of the model is"
    msg = (
        f"{count} based on fewer than {FEW_ROWS} rows: {named}. Use min_samples_bin={FEW_ROWS} to require that many "
        "rows on each side of a step."
    )
    warn(msg, UserWarning)


def _has_few_rows(term: Term) -> bool:
    known = term.statistics
    if known is None:
        return False
    rows = known.n_rows if term.condition.is_ramp else known.smaller
    return rows < min(FEW_ROWS, FEW_SHARE * (known.n_rows + known.n_others))


def _smaller_side(term: Term) -> int:
    return 0 if term.statistics is None else term.statistics.smaller


def _side(term: Term) -> str:
    """Describe the smaller side of a step, as in "true for 3 rows"."""
    known = term.statistics
    holds = known is not None and known.n_rows <= known.n_others
    n = _smaller_side(term)
    return f"{'true' if holds else 'false'} for {n} row{'s' * (n != 1)}"
