"""What a fitted model stands on: its rows counted, and the covariance of its coefficients asked of the core.

With H the Hessian of loss and ridge on the support, the intercept first, the covariance is H^-1, for the squared loss
times the variance of the residuals: Wald's, as if the columns had been given and not chosen.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from sparsegam import _core
from sparsegam._design.scaling import Units
from sparsegam._design.threshold import ThresholdDesign
from sparsegam._models.additive import Model
from sparsegam._models.evidence import Evidence
from sparsegam._models.terms import Part, Term
from sparsegam._search.ridge import Ridge
from sparsegam.arrays import FloatArray
from sparsegam.checks import first_few, warn
from sparsegam.losses import LOSSES

FEW_ROWS = 10  # on the smaller side of a step, below which its coefficient is hardly more than a guess
FEW_SHARE = 0.05  # of all rows: in a table of 60, three rows are few and nine are not
SINGULAR = 1e-12  # least squared pivot of a Hessian with ones on its diagonal: below, a column says nothing of its own
NAMED = 3  # steps that a warning spells out


def evidence_of(
    design: ThresholdDesign, point: _core.Point, terms: Sequence[Term], covariance: FloatArray | None, upper: Any
) -> Evidence:
    """Count the rows of each term of a point, and of its events; the covariance goes with them, by feature."""
    order = np.argsort(point.columns)
    columns = point.columns[order]
    blocks: dict[Part, FloatArray] | None = None
    if covariance is not None:
        at = np.append(0, order + 1)
        covariance = covariance[at[:, np.newaxis], at]
        blocks = {}
        for part, mine in groupby(range(1, len(terms) + 1), key=lambda i: terms[i - 1].part):  # which follow each other
            first, *others = mine
            block = slice(first, first + len(others) + 1)
            blocks[part] = covariance[block, block].copy()
    return Evidence(
        n_rows=design.core.n_rows,
        n_events=None if upper is None else design.count(upper),
        rows=tuple(design.counts[columns].astype(np.int64).tolist()),
        events=None if upper is None else tuple(design.counts_among(columns, upper).tolist()),
        intercept_error=None if covariance is None else float(np.sqrt(covariance[0, 0])),
        covariance=blocks,
    )


def covariance_of(rows: Any, point: _core.Point, ridge: Ridge, units: Units, total_weight: float) -> FloatArray | None:
    """Return the covariance of intercept and coefficients of a point in the user's units; None if H is singular.

    Weights count as repeated rows, as everywhere. In the units of the core, H is smaller by those of the weights.
    """
    at, k = units.to_core(point), len(point.columns)
    loss, flat, _ = rows.newton(at, point.columns)
    hessian = np.array(flat).reshape(k + 1, k + 1)
    unit = ridge.unit(rows.columns, units)[point.columns]
    hessian[np.arange(1, k + 1), np.arange(1, k + 1)] += 2 * ridge.lambda2 * unit
    inverse = _inverse(hessian)
    if inverse is None or LOSSES[rows.loss].is_classifier:
        return None if inverse is None else _finite(inverse, 1 / units.weight)
    free = total_weight - 1 - k
    return _finite(inverse, 2 * loss * units.target**2 / free) if free > 0 else None


def _finite(inverse: FloatArray, factor: float) -> FloatArray | None:
    """Return the product, or None where weights or targets are so small or large that it is beyond floats."""
    with np.errstate(over="ignore", invalid="ignore"):
        out: FloatArray = inverse * factor
    return out if np.isfinite(out).all() else None


def _inverse(hessian: FloatArray) -> FloatArray | None:
    """Invert a positive definite matrix, its diagonal made one first, so that no unit spoils it; None if singular."""
    diagonal = np.diagonal(hessian)
    if not (np.isfinite(hessian).all() and diagonal.min() > 0):
        return None
    scale = 1 / np.sqrt(diagonal)
    try:
        root = np.linalg.cholesky(scale[:, None] * hessian * scale)  # in this order nothing is beyond floats
    except np.linalg.LinAlgError:
        return None
    if np.diagonal(root).min() ** 2 < SINGULAR:
        return None
    half = np.linalg.inv(root) * scale
    with np.errstate(over="ignore"):  # errors of coefficients that say nothing: the caller leaves them out
        inverse: FloatArray = half.T @ half
    return inverse


def warn_of_few_rows(models: Iterable[Model]) -> None:
    """Warn of steps that stand on few rows of the fit, naming the worst, how many they are, and what to do."""
    weak = sorted((term for model in models for term in model.terms if _stands_on_few(term)), key=_smaller)
    if not weak:
        return
    named = first_few([f"{term.text()} ({_side(term)})" for term in weak], NAMED)
    msg = (
        f"{len(weak)} step{'s' * (len(weak) > 1)} of the model stand{'s' * (len(weak) == 1)} on few rows: {named}. "
        f"Set min_samples_bin, to {FEW_ROWS} say: a step then holds for so many rows, and fails for as many."
    )
    warn(msg, UserWarning)


def _stands_on_few(term: Term) -> bool:
    standing = term.standing
    if standing is None:
        return False
    rows = standing.n_rows if term.condition.is_ramp else standing.smaller
    return rows < min(FEW_ROWS, FEW_SHARE * (standing.n_rows + standing.n_others))


def _smaller(term: Term) -> int:
    return 0 if term.standing is None else term.standing.smaller


def _side(term: Term) -> str:
    """Say which side of a step is the small one."""
    standing = term.standing
    holds = standing is not None and standing.n_rows <= standing.n_others
    n = _smaller(term)
    return f"{'holds' if holds else 'fails'} for {n} row{'s' * (n != 1)}"
