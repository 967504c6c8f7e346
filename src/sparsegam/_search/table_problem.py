"""Fitting problems of additive models: an encoded table with the penalties and constraints of its columns."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._backends.protocol import Backend, Data, EncodedTable
from sparsegam._design.binning import Binning
from sparsegam._design.constraints import Constraints, InteractionOptions
from sparsegam._design.interactions import Interaction
from sparsegam._design.ramps import shapes_of
from sparsegam._design.threshold import NO_COLUMNS, ThresholdDesign
from sparsegam._models.additive import Model
from sparsegam._models.training import TrainingCounts
from sparsegam._search.options import SearchOptions
from sparsegam._search.penalty import SelectionPenalty
from sparsegam._search.problem import Problem, at_ridge, check_room
from sparsegam._search.refit import ridge_penalty
from sparsegam._search.ridge import Ridge
from sparsegam._search.statistics import pair_sums, term_statistics
from sparsegam.arrays import FloatArray
from sparsegam.losses import LOSSES

# Newton converges quadratically: a predicted relative decrease below 1e-10 leaves an error below machine precision.
REFIT_PRECISION: dict[str, Any] = {"tolerance": 1e-10, "full_precision": False}


@dataclass(frozen=True, kw_only=True)
class TableProblem(Problem[ThresholdDesign]):
    """The problem of an additive model.

    Attributes
    ----------
    encoded : EncodedTable
        The training data, with the interactions of the design.
    constraints : Constraints
        Constraints on the models.
    interaction_options : InteractionOptions
        Options for interactions.
    required : ndarray of int
        Columns that are in every model: one per feature in `features_always`.
    """

    encoded: EncodedTable
    constraints: Constraints
    interaction_options: InteractionOptions
    required: NDArray[np.int64]

    def scores(self, data: Any, points: Sequence[_core.Point]) -> FloatArray | None:
        """Score other rows under many points; see `EncodedTable.score`."""
        return self.encoded.score(data, points)

    def refit_on_raw_values(self, point: _core.Point) -> _core.Point:
        """Return the point with its coefficients refitted on raw values if the bins do not determine its columns."""
        design, columns, k = self.design, point.columns, len(point.columns)
        if design.is_exact(columns):
            return point
        rows = self.encoded.raw_value_rows(columns)
        ramps = np.flatnonzero(design.is_ramp[columns])
        unit = None if self.ridge.standardized else self.ridge.unit(rows.columns, self.units, ramps)
        low, high = (bound[columns] for bound in design.bounds(self.constraints))
        start = self.units.to_core(point)
        found = _core.refit(
            rows,
            ridge_penalty(k, self.ridge.lambda2, unit, (low, high)),
            _core.Point(start.intercept, np.arange(k), start.coef),
            **REFIT_PRECISION,
        )
        found = self.units.from_core(found)
        coef = found.coef[np.argsort(found.columns)]
        return _core.Point(found.intercept, columns, coef, loss=found.loss, ridge=found.ridge)

    def model(self, point: _core.Point, classes: NDArray[Any] | None, *, statistics: bool = True) -> Model:
        """Convert a point of a search to a model with its training distribution and, by default, term statistics."""
        design, encoded = self.design, self.encoded
        terms = design.terms(point)
        shares = {pair: sums / sums.sum() for pair, sums in pair_sums(encoded, terms, weighted=True).items()}
        training = TrainingCounts(
            design.n_rows,
            {design.names[j]: design.rows_by_bin(j) for j in design.features_of(point.columns)},
            encoded.score_histogram(point).bands(),
            pair_sums(encoded, terms, weighted=False),
        )
        found = term_statistics(encoded, point, terms, self.ridge) if statistics else None
        return design.model(
            point,
            self.options.loss,
            classes,
            self.constraints.missing,
            pair_shares=shares,
            training=training,
            statistics=found,
        )


def build_table_problem(
    backend: Backend[Data],
    data: Data,
    binning: Binning,
    constraints: Constraints,
    interaction_options: InteractionOptions,
    options: SearchOptions,
) -> TableProblem:
    """Bin training data and build the problem of an additive model, without interactions.

    Parameters
    ----------
    backend : Backend
        Where the data are stored and summed.
    data : Data
        The training data, of the type that the backend supports.
    binning, constraints, interaction_options, options
        Options of the bins, of the models and of the search.
    """
    encoded = backend.encode(
        data,
        binning,
        shapes_of(constraints.shapes, data.names),
        options.loss,
        interactions=interaction_options.is_on,
    )
    return _table_problem(encoded, constraints, interaction_options, options)


def with_interactions(problem: TableProblem, interactions: Sequence[Interaction]) -> TableProblem:
    """Return the problem with other interactions among its columns; ridge, deadline and required columns are kept."""
    extended = _table_problem(
        problem.encoded.with_interactions(interactions),
        problem.constraints,
        problem.interaction_options,
        problem.options,
        problem.required,
    )
    return replace(at_ridge(extended, problem.ridge), deadline=problem.deadline, stop=problem.stop)


def _table_problem(
    encoded: EncodedTable,
    constraints: Constraints,
    interaction_options: InteractionOptions,
    options: SearchOptions,
    required: NDArray[np.int64] | None = None,
) -> TableProblem:
    """Build the problem of an encoded table; required columns are chosen unless they are given."""
    design, rows = encoded.design, encoded.rows
    if options.certify and (design.has_ramps or interaction_options.is_on):
        msg = (
            "certify=True certifies swaps of steps, not of ramps or interactions: use shapes='steps' and "
            "interactions=0."
        )
        raise ValueError(msg)
    allowed = design.candidates(constraints)
    if constraints.min_events_bin > 0:
        if encoded.n_events is None:
            msg = "min_events_bin counts rows of each class and requires a classification loss: use min_samples_bin."
            raise ValueError(msg)
        events = encoded.count_events(np.arange(design.n_columns))
        allowed &= design.has_events(events, encoded.n_events, int(constraints.min_events_bin))
    check_room(len(constraints.required(design.names)), "features_always", options)
    n_plain = int(np.count_nonzero(allowed & ~design.is_interaction))
    ridge = options.ridge(encoded.total_weight)
    if required is None:
        required = _required_columns(encoded, ridge, constraints, allowed)
    return TableProblem(
        design,
        rows,
        design.penalty(
            ridge.lambda2,
            constraints,
            interaction_options,
            allowed=allowed,
            required=required,
            penalty_scale=None if ridge.standardized else ridge.unit(rows.columns, encoded.units),
        ),
        options,
        total_weight=encoded.total_weight,
        ridge=ridge,
        n_candidates=int(np.count_nonzero(allowed)),
        selection=SelectionPenalty(n_plain, LOSSES[options.loss].bic_share),
        cost=design.costs(constraints, interaction_options),
        mean_weight=encoded.total_weight / design.n_rows,
        n_fixed=required.size,
        units=encoded.units,
        encoded=encoded,
        constraints=constraints,
        interaction_options=interaction_options,
        required=required,
    )


def _required_columns(
    encoded: EncodedTable, ridge: Ridge, constraints: Constraints, allowed: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return, for each feature in features_always, the column that lowers the loss most in a model of one term."""
    design, chosen = encoded.design, []
    for j in constraints.required(design.names):
        of_feature = allowed & (design.group == j)
        if not of_feature.any():
            msg = (
                f"feature {design.names[j]!r} in features_always has no valid split: it is nearly constant, or "
                "min_samples_bin is too high. Remove it from features_always, or lower min_samples_bin."
            )
            raise ValueError(msg)
        lambda2 = ridge.lambda2 if ridge.standardized else 0.0
        penalty = design.penalty(lambda2, constraints, InteractionOptions(), allowed=of_feature)
        point = _core.frontier(encoded.rows, penalty, max_terms=1).points[-1]
        # No column lowers the loss if the target does not depend on the feature at all, as may happen in a fold, or
        # against the direction of a constraint. The middle one then has a coefficient of zero in a model of one term.
        middle = np.flatnonzero(of_feature)[np.count_nonzero(of_feature) // 2]
        chosen.append(int(point.columns[0] if len(point.columns) else middle))
    return np.array(chosen, dtype=np.int64) if chosen else NO_COLUMNS
