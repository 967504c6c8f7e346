"""Tables of any columns: binned, posed to the core, and searched for the best model of every size."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._data.streams import as_stream
from sparsegam._data.table import Table, read_table
from sparsegam._design.binning import Binning
from sparsegam._design.constraints import Constraints, InteractionOptions
from sparsegam._design.encoding import bin_table, take_in
from sparsegam._design.interactions import Interaction, ProductDesign
from sparsegam._design.own import OwnNumbers
from sparsegam._design.ramps import learn_ramps, shapes_of
from sparsegam._design.scaling import Units, in_units, unless_one
from sparsegam._design.threshold import ThresholdDesign
from sparsegam._models.additive import Model
from sparsegam._search.evidence import covariance_of, evidence_of
from sparsegam._search.options import SearchOptions
from sparsegam._search.penalty import SelectionPenalty, mean_weight
from sparsegam._search.problem import Problem, check_room
from sparsegam._search.products import with_products
from sparsegam._search.refit import ridge_penalty
from sparsegam._search.ridge import Ridge
from sparsegam._search.solver import with_noise_scaled_ridge
from sparsegam.arrays import FloatArray
from sparsegam.losses import LOSSES

# A step of Newton that promised so small a share of the objective squares what is left: below the last digit.
LAST_STEP: dict[str, Any] = {"tolerance": 1e-10, "full_precision": False}


@dataclass(frozen=True)
class TableProblem(Problem[ThresholdDesign]):
    """A table posed to the core, whose models say what they stand on."""

    upper: Any = None  # rows of the second class; None for a regression
    own: "OwnValues | None" = None  # the rows, where their bins do not say all of them
    posed: "Posed | None" = None  # what it was made of, where products may join its columns
    always: NDArray[np.int64] | None = None  # columns that are in every model

    def prepared(self, lambda0: float | str | None = None) -> "TableProblem":
        """Let a ridge know the noise, and products join the columns: those that models at this price ask for."""
        problem = with_noise_scaled_ridge(self)
        if self.posed is None or not self.posed.inputs.interactions.is_on:
            return problem
        inputs, posed = self.posed.inputs, self.posed
        return with_products(problem, posed.again, inputs.interactions, inputs.rules, lambda0)

    def on_rows(self, point: _core.Point) -> _core.Point:
        """Fit the coefficients again to the rows' own values, where bins of ramps hold several of them."""
        if self.own is None or self.design.is_exact(point.columns):
            return point
        return self.own.refit(point, self.design, self.ridge, self.units)

    def model(self, point: _core.Point, classes: NDArray[Any] | None) -> Model:
        """Put one point of a search into the words of the data, with the rows and errors of its terms."""
        covariance = covariance_of(self.rows, point, self.ridge, self.units, self.total_weight)
        if covariance is not None and not self.design.is_plain:
            unit = np.append(1.0, self.design.units(point.columns))
            covariance = covariance / np.outer(unit, unit)
        own = None if self.own is None else self.own.numbers
        model = self.design.model(point, self.options.loss, classes, own)
        return model.standing_on(evidence_of(self.design, point, model.terms, covariance, self.upper))


@dataclass(frozen=True, eq=False)
class OwnValues(ABC):
    """Rows with their own values, wherever they are, and the bounds of coefficients: a search went by means of bins."""

    numbers: OwnNumbers | None  # None where they are elsewhere
    bounds: tuple[FloatArray, FloatArray]

    @abstractmethod
    def rows_of(self, design: Any, columns: NDArray[np.int64]) -> Any:
        """Return the rows of some columns, by their own values."""

    def refit(self, point: _core.Point, design: ThresholdDesign, ridge: Ridge, units: Units) -> _core.Point:
        """Return the point with its best coefficients on these rows."""
        columns, k = point.columns, len(point.columns)
        ramps = np.flatnonzero(design.is_ramp()[columns])
        rows = self.rows_of(design, columns)
        unit = None if ridge.standardized else ridge.unit(rows.columns, units, ramps)
        penalty = ridge_penalty(k, ridge.lambda2, unit, (self.bounds[0][columns], self.bounds[1][columns]))
        start = units.to_core(point)
        near = _core.Point(start.intercept, np.arange(k), start.coef)
        found = _core.refit(rows, penalty, near, **LAST_STEP)
        found = units.from_core(found)
        order = np.argsort(found.columns)
        return _core.Point(found.intercept, columns, found.coef[order], loss=found.loss, ridge=found.ridge)


@dataclass(frozen=True, eq=False)
class LocalValues(OwnValues):
    """The same in the memory of this machine."""

    by_bins: _core.ColumnInfo  # what the columns are like where each bin counts as its mean
    target: FloatArray
    weight: FloatArray
    options: SearchOptions

    def rows_of(self, design: Any, columns: NDArray[np.int64]) -> Any:
        """Return the rows of some columns, by their own values."""
        own, loss, n_threads = design.own_columns(self.numbers, columns), self.options.loss, self.options.n_threads
        return _core.RawRows(own, self.by_bins, self.target, self.weight, loss=loss, n_threads=n_threads)


@dataclass(frozen=True, eq=False)
class Posed:
    """What a problem was made of, so that it can be posed again with other columns."""

    inputs: "Tables"
    data: Table
    design: ThresholdDesign
    target: FloatArray
    weight: FloatArray | None  # None where all rows weigh one
    units: Units
    totals: "Totals"
    options: SearchOptions
    always: NDArray[np.int64] | None = None  # as chosen before: of two that are as good, the last bit would choose anew

    def again(self, products: Sequence[Interaction]) -> TableProblem:
        """Pose the same rows with products among the columns."""
        design = self.with_products(products) if products else self.design
        rows = self.rows_of(design)
        problem = self.inputs.problem(design, rows, self.options, self.units, self.totals, self.always)
        own = None if design.is_exact() else self.own_values(design, rows)
        return replace(problem, own=own, posed=replace(self, always=problem.always))

    def with_products(self, products: Sequence[Interaction]) -> ThresholdDesign:
        """Return the design with products behind its columns."""
        return ProductDesign(self.design, products, self.inputs.interactions, self.weight)

    def rows_of(self, design: Any) -> Any:
        """Return the rows of a design."""
        n_threads, loss = self.options.n_threads, self.options.loss
        return _core.ThresholdRows(design.core, self.target, self.weight, loss=loss, n_threads=n_threads)

    def own_values(self, design: ThresholdDesign, rows: Any) -> OwnValues:
        """Return the rows with their own values."""
        numbers, bounds = OwnNumbers(self.data), design.bounds(self.inputs.rules)
        weight = np.ones(self.target.size) if self.weight is None else self.weight
        return LocalValues(numbers, bounds, rows.columns, self.target, weight, self.options)


@dataclass(frozen=True)
class Totals:
    """What the rows of a problem weigh, all together and on average; and which of them are of the second class."""

    weight: float
    mean_weight: float
    upper: Any  # a mask, or what a design elsewhere knows them by; None for a regression


@dataclass(frozen=True)
class Tables:
    """Tables of any columns, which are binned: each bin is a column that the search may choose."""

    binning: Binning
    rules: Constraints
    interactions: InteractionOptions = field(default_factory=InteractionOptions)
    smaller: ClassVar[str] = "a larger lambda0, fewer max_terms or fewer max_bins"

    def read(self, X: Any) -> Table:
        """Look at an array or a frame without copying it."""
        return read_table(X)

    def take_in(self, X: Any, y: Any, sample_weight: Any, n_threads: int) -> tuple[Table, Any, Any]:
        """Read what comes in pieces, as codes; y and sample_weight are names of columns."""
        return take_in(as_stream(X), y, sample_weight, self.binning, n_threads)

    def pose(self, data: Table, y: FloatArray, weight: FloatArray, options: SearchOptions) -> TableProblem:
        """Bin the table and hand it to the core; rows without weight are left out, as if they were absent."""
        kept = weight > 0
        if not kept.all():
            data, y, weight = data.take(kept), y[kept], weight[kept]
        units, y_core, weight_core = in_units(y, weight, centred=not LOSSES[options.loss].is_classifier)
        shapes = shapes_of(self.rules.shapes, data.labels)
        if set(shapes) != {"steps"}:  # ramps go by the rows' own values
            data = data.with_reusable_codes(allowed=False)
        features, codes = bin_table(data, self.binning, weight, options.n_threads)
        ramps = learn_ramps(data, features, codes, weight, shapes)
        design = ThresholdDesign(features, codes, weight, missing=self.rules.missing, ramps=ramps, shapes=shapes)
        upper = y > 0 if LOSSES[options.loss].is_classifier else None
        totals = Totals(float(weight.sum()), mean_weight(weight), upper)
        return Posed(self, data, design, y_core, unless_one(weight_core), units, totals, options).again(())

    def problem(
        self,
        design: ThresholdDesign,
        rows: Any,
        options: SearchOptions,
        units: Units,
        totals: Totals,
        always: NDArray[np.int64] | None = None,
    ) -> TableProblem:
        """Pose a design, wherever its rows are, with all that is demanded of its models."""
        if design.n_ramps.any() or self.interactions.is_on:
            _refuse_certificate(options)
        allowed = design.candidates(self.rules)
        if self.rules.min_events_bin > 0:
            allowed &= design.stand_on_events(_events(totals.upper), int(self.rules.min_events_bin))
        check_room(len(self.rules.required(design.names)), "features_always", options)
        ridge = options.ridge(totals.weight)
        unit = None if ridge.standardized else ridge.unit(rows.columns, units)
        if always is None:
            always = _always(design, rows, ridge, self.rules, allowed)
        penalty = design.penalty(ridge.lambda2, self.rules, allowed=allowed, always=always, unit=unit)
        return TableProblem(
            design,
            rows,
            penalty,
            options,
            total_weight=totals.weight,
            ridge=ridge,
            n_candidates=int(np.count_nonzero(allowed)),
            selection=SelectionPenalty(
                int(np.count_nonzero(allowed & ~design.is_product())), LOSSES[options.loss].bic_share
            ),
            cost=design.costs(self.rules),
            mean_weight=totals.mean_weight,
            n_fixed=always.size,
            units=units,
            upper=totals.upper,
            always=always,
        )


def _events(upper: Any) -> Any:
    """Return the rows of the second class."""
    if upper is None:
        msg = "min_events_bin counts rows of either class, and a regression has none: use min_samples_bin."
        raise ValueError(msg)
    return upper


def _refuse_certificate(options: SearchOptions) -> None:
    if options.certify:
        msg = (
            "certify=True proves that no exchange of a step helps, and cannot speak of ramps or products: use "
            "shapes='steps' and interactions=0."
        )
        raise ValueError(msg)


def _always(
    design: ThresholdDesign, rows: Any, ridge: Ridge, rules: Constraints, allowed: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Choose a column for each feature that must be in: the one that, alone, lowers the loss most."""
    chosen = []
    for j in rules.required(design.names):
        mine = allowed & (design.group == j)
        if not mine.any():
            msg = f"features_always names {design.names[j]!r}, of which no term can be made: it does not vary enough."
            raise ValueError(msg)
        penalty = design.penalty(ridge.lambda2 if ridge.standardized else 0.0, rules, allowed=mine)
        point = _core.frontier(rows, penalty, max_terms=1).points[-1]
        if len(point.columns) == 0:
            msg = f"no term of {design.names[j]!r} (in features_always) lowers the loss, as the rules are."
            raise ValueError(msg)
        chosen.append(int(point.columns[0]))
    return np.array(chosen, dtype=np.int64)
