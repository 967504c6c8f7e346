"""Alternatives to the terms of a model: the cost of dropping a term and of replacing it, and smaller models."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

from sparsegam._data.frames import make_frame
from sparsegam._design.constraints import Constraints
from sparsegam._design.interactions import alternatives_of, interaction_of
from sparsegam._fit.spec import FitSpec, additive_spec
from sparsegam._fit.training import build_problem, read_data
from sparsegam._models.additive import Model
from sparsegam._models.display import DisplayedResult, TextTable
from sparsegam._models.scoring import positives
from sparsegam._models.terms import SENSE, Clause, Term
from sparsegam._search.refit import Columns, Neighbourhood, Support, objective_at, refit
from sparsegam._search.solver import Frontier, with_noise_scaled_ridge
from sparsegam._search.statistics import covariance_of
from sparsegam._search.table_problem import TableProblem, with_interactions
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_integer

PROBLEM_OPTIONS = {*signature(additive_spec).parameters} - {
    "callback", "certify", "cuts", "device", "lambda0", "loss", "max_terms", "order", "positive", "search", "selection",
    "verbose",
}  # fmt: skip
"""Parameters of estimators that define the problem of a fit."""
MAX_REFITS = 100
"""Maximum total number of substitutes that are refitted; each term has at least one."""
MAX_INTERACTIONS = 200
"""Maximum number of candidate interactions, including those of the model."""
MAX_COST = 0.5
"""A substitute may cost at most this share of the cost of dropping the term."""
MAX_PREDICTED_COST = 0.8
"""A candidate is refitted if its predicted cost is at most this share of the cost of dropping the term."""


@dataclass(frozen=True)
class Substitute:
    """A term that can replace a term of the model; `cost` is the increase of the objective after refitting."""

    term: Term
    cost: float


@dataclass(frozen=True)
class TermAlternatives:
    """Alternatives to one term of a model.

    Attributes
    ----------
    term : Term
        The term of the model.
    drop_cost : float
        Increase of the objective (total loss and ridge) if the term is removed and the others are refitted.
    substitutes : tuple of Substitute
        Terms that can replace it, cheapest first.
    """

    term: Term
    drop_cost: float
    substitutes: tuple[Substitute, ...]


@dataclass(frozen=True, repr=False)
class Alternatives(DisplayedResult):
    """Alternatives to each term of a model; a sequence of `TermAlternatives` that prints as a table.

    Attributes
    ----------
    terms : tuple of TermAlternatives
        One entry per term, in the order of the model.

    See Also
    --------
    alternatives : Find the alternatives.
    """

    terms: tuple[TermAlternatives, ...]

    def __len__(self) -> int:
        return len(self.terms)

    def __getitem__(self, k: int) -> TermAlternatives:
        """Return the alternatives to term number k."""
        return self.terms[k]

    def __iter__(self) -> Iterator[TermAlternatives]:
        return iter(self.terms)

    def to_frame(self) -> Any:
        """Return a data frame with one row per substitute and columns term, drop_cost, substitute and cost."""
        pairs = [(one, substitute) for one in self.terms for substitute in one.substitutes]
        return make_frame(
            {
                "term": [one.term.text() for one, _ in pairs],
                "drop_cost": [one.drop_cost for one, _ in pairs],
                "substitute": [substitute.term.text() for _, substitute in pairs],
                "cost": [substitute.cost for _, substitute in pairs],
            }
        )

    def __repr__(self) -> str:
        return f"<Alternatives: {len(self)} terms, {sum(len(one.substitutes) for one in self)} substitutes>"

    def _display(self) -> list[str | TextTable]:
        rows = []
        for one in self.terms:
            name, drop_cost = one.term.text(), f"{one.drop_cost:.4g}"
            for substitute in one.substitutes:
                rows.append([name, substitute.term.text(), f"{substitute.cost:.4g}", drop_cost])
                name = drop_cost = ""
            if not one.substitutes:
                rows.append([name, "none", "", drop_cost])
        return [TextTable(["term", "substitute", "cost", "cost of dropping"], rows)]


def alternatives(
    model: Any, X: Any, y: Any, *, sample_weight: Any = None, max_substitutes: int | None = None, **options: Any
) -> Alternatives:
    """Find, for each term of a model, the terms that could replace it at little cost.

    The cost of every exchange is predicted from one pass over the data, to second order and with the other terms
    re-optimised. The best step and the best ramp of each feature are then refitted, so that the costs returned are
    exact (for ramps, with the mean of each bin in place of its values).

    Parameters
    ----------
    model : Model, SparseGAMClassifier, SparseGAMRegressor or their CV versions
        A fitted additive model for two classes or a regression.
    X : array-like or data frame of shape (n_samples, n_features)
        Training data.
    y : array-like of shape (n_samples,)
        Target of the training data.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    max_substitutes : int, default=None
        Maximum number of substitutes per term, each of a different feature or kind (step or ramp). None is three, and
        fewer for models of more than 33 terms.
    **options
        Parameters of the fit, such as `lambda2`, `max_bins` or `monotone`. Needed only if `model` is a `Model` that was
        not fitted with the default parameters; those of an estimator are taken from it.

    Returns
    -------
    Alternatives
        For each term, the cost of dropping it and its substitutes, in units of the objective (total loss and ridge).
        Substitutes obey the constraints of the fit and cost at most half as much as dropping the term.

    Raises
    ------
    ValueError
        If a term is not a candidate in these data, because other data or parameters were used to fit the model.

    See Also
    --------
    stability : How often the terms are selected again on samples of the rows.

    Examples
    --------
    >>> from sparsegam import SparseGAMRegressor
    >>> from sparsegam.inspection import alternatives
    >>> X = [[i % 4, 10 * (i % 4)] for i in range(40)]
    >>> y = [float(i % 4 > 1) for i in range(40)]
    >>> gam = SparseGAMRegressor(max_terms=1).fit(X, y)
    >>> len(alternatives(gam, X, y)[0].substitutes)
    1
    """
    if max_substitutes is not None:
        check_integer("max_substitutes", max_substitutes, at_least=1)
    found = getattr(model, "model_", model)
    if not isinstance(found, Model):
        msg = f"model must be a Model or a fitted estimator with one additive model, got a {type(found).__name__}."
        raise TypeError(msg)
    settings: dict[str, Any] = {}
    if found is not model:
        shapes = getattr(model, "shapes_", model.shapes)
        settings = model.get_params(deep=False)
        settings |= {"lambda2": model.lambda2_, "standardize": model.standardize_, "shapes": shapes}
    spec = fit_spec(found, settings | options, found.n_terms)
    problem = fit_problem(spec, found, X, y, sample_weight)
    return find_alternatives(problem, found, problem.constraints, max_substitutes)


def fit_spec(model: Model, settings: Mapping[str, Any], max_terms: int) -> FitSpec:
    """Return the options of the problem that a model was fitted to.

    Special values, categories and shapes that the settings do not determine are taken from the model, and `lambda2` is
    "auto" if the settings contain a list of values.
    """
    options = {name: value for name, value in settings.items() if name in PROBLEM_OPTIONS}
    if not isinstance(options.get("shapes"), str | Mapping):
        options["shapes"] = "both" if any(term.condition.is_ramp for term in model.terms) else "steps"
    if not isinstance(options.get("lambda2"), str | float | int):
        options["lambda2"] = "auto"
    if options.get("special_values") is None and model.special_values:
        options["special_values"] = dict(model.special_values)
    if options.get("categorical", "auto") == "auto":
        scales = model.scales.items()
        numeric_levels = [name for name, scale in scales if scale.kind == "category" and not scale.is_text]
        options["categorical"] = numeric_levels or "auto"
    options |= {"loss": model.loss, "max_terms": max_terms}
    options["positive"] = None if model.classes is None else model.classes[1]
    return additive_spec(**options)


def fit_problem(spec: FitSpec, model: Model, X: Any, y: Any, sample_weight: Any) -> TableProblem:
    """Build the problem that a model was fitted to; candidates include its interactions and similar ones."""
    # Labels of combined classes are text in the model.
    labels = y if model.classes is None else np.array(model.classes)[positives(model, y).astype(np.intp)]
    built: Any = with_noise_scaled_ridge(build_problem(spec, read_data(spec, X, labels, sample_weight, max_classes=2)))
    return with_interactions_of(built, model)


def with_interactions_of(problem: TableProblem, model: Model) -> TableProblem:
    """Add the interactions of a model, and similar ones, to the columns of a problem.

    Interactions whose thresholds are not edges of bins are omitted.
    """
    terms = [term for term in model.terms if term.is_interaction]
    if not terms:
        return problem
    found = (interaction_of(problem.design.features, term) for term in terms)
    own = [interaction for interaction in found if interaction is not None]
    similar = [other for interaction in own for other in alternatives_of(problem.design, interaction)]
    return with_interactions(problem, [*own, *similar[: max(MAX_INTERACTIONS - len(own), 0)]])


def columns_of(problem: TableProblem, terms: tuple[Term, ...]) -> Columns:
    """Return the column of each term; raise ValueError if the problem has no such column."""
    design = problem.design
    known: dict[tuple[Clause, ...], int] = {}
    for feature, offset in zip(design.features, design.offset.tolist(), strict=True):
        known |= {(Clause(feature.name, condition),): offset + b for b, condition in feature.conditions().items()}
    # If several columns have the same conditions, the last one is used.
    for column in np.flatnonzero(design.is_ramp | design.is_interaction).tolist():
        known[design.term(column, 1.0).clauses] = column
    unknown = [str(term) for term in terms if term.clauses not in known]
    if unknown:
        remedy = "pass the training data and the parameters of the fit"
        msg = f"the data contain no candidate for the term {unknown[0]}; {remedy}."
        raise ValueError(msg)
    return np.array([known[term.clauses] for term in terms], dtype=np.int64)


def support_of(problem: TableProblem, model: Model) -> Support:
    """Return the columns of a model and its coefficients in the units of the problem."""
    columns = columns_of(problem, model.terms)
    coef = np.array([term.coef for term in model.terms]) * problem.design.coefficient_units(columns)
    return Support(columns, np.append(model.intercept, coef))


def objective_of(problem: TableProblem, model: Model, *, by_bins: bool = False) -> float:
    """Return the loss and the ridge of a model; `by_bins` replaces raw values within ramps by the mean of their bin."""
    support, design = support_of(problem, model), problem.design
    columns = support.columns
    if by_bins or design.is_exact(columns):
        return objective_at(problem.rows, problem.ridge, support, problem.units)
    support = Support(np.arange(columns.size), support.theta)
    ramps = np.flatnonzero(design.is_ramp[columns])
    return objective_at(problem.encoded.raw_value_rows(columns), problem.ridge, support, problem.units, ramps)


def find_alternatives(
    problem: TableProblem, model: Model, constraints: Constraints, max_substitutes: int | None = None
) -> Alternatives:
    """Return the alternatives to the terms of a model, given the problem that it was fitted to."""
    start = support_of(problem, model)
    if start.columns.size == 0:
        return Alternatives(())
    if max_substitutes is None:
        max_substitutes = min(max(MAX_REFITS // model.n_terms, 1), 3)
    search = _Search(problem, start, constraints, max_substitutes)
    return Alternatives(tuple(search.alternatives_to(term, j) for j, term in enumerate(model.terms)))


class _Search:
    def __init__(self, problem: TableProblem, start: Support, constraints: Constraints, max_substitutes: int) -> None:
        self.problem = problem
        self.max_substitutes = max_substitutes
        self.near = Neighbourhood(problem.rows, problem.ridge, start, problem.units)
        point = self.near.support.point
        self.covariance = covariance_of(problem.rows, point, problem.ridge, problem.units, problem.total_weight)
        self.is_forbidden = ~problem.design.candidates(constraints)
        names = problem.design.names
        self.directions = dict(zip(names, constraints.directions(names), strict=True))

    def alternatives_to(self, term: Term, j: int) -> TermAlternatives:
        """Return the alternatives to the term at position j."""
        rest = self._refit(self._without(j))
        drop_cost = rest.objective - self.near.support.objective
        substitutes = []
        for column in self._best_columns(self.near.swap_costs(j), MAX_PREDICTED_COST * drop_cost):
            fitted = self._refit(rest.with_column(column))
            substitute = self.problem.design.term(column, float(fitted.theta[-1]))
            cost = fitted.objective - self.near.support.objective
            if cost < MAX_COST * drop_cost and self._has_allowed_sign(substitute):
                substitutes.append(Substitute(substitute, cost))
        return TermAlternatives(term, drop_cost, tuple(sorted(substitutes, key=lambda one: one.cost)))

    def _without(self, j: int) -> Support:
        """Return the support without one column; the other coefficients minimise the quadratic approximation."""
        fitted, covariance = self.near.support, self.covariance
        if covariance is None:
            return fitted.without(j)
        step = covariance[:, j + 1] * (fitted.theta[j + 1] / covariance[j + 1, j + 1])
        return Support(fitted.columns, fitted.theta - step).without(j)

    def _refit(self, start: Support) -> Support:
        problem = self.problem
        return refit(problem.rows, problem.ridge, start, units=problem.units, rough=True)

    def _has_allowed_sign(self, term: Term) -> bool:
        """Return whether the sign of a coefficient obeys the monotonicity constraints of its features."""
        signs = (SENSE.get(one.condition.kind, 0) * self.directions[one.feature] for one in term.clauses)
        return all(sign * term.coef >= 0 for sign in signs)

    def _best_columns(self, costs: FloatArray, limit: float) -> list[int]:
        """Return the columns with the lowest costs below a limit, at most one step and one ramp of each feature."""
        design = self.problem.design
        costs = np.where(self.is_forbidden | (costs > limit), np.inf, costs)
        chosen: dict[tuple[int, bool], int] = {}
        for column in np.argsort(costs, kind="stable"):
            if len(chosen) == self.max_substitutes or not np.isfinite(costs[column]):
                break
            chosen.setdefault((int(design.group[column]), bool(design.is_ramp[column])), int(column))
        return list(chosen.values())


def smaller_models(problem: TableProblem, model: Model) -> Frontier | None:
    """Return a model of each smaller size by backward elimination, as starting points of a search.

    With M the inverse of the Hessian, dropping a term with coefficient w costs w^2 / (2 M_jj), changes the other
    coefficients by -M_.j w / M_jj, and leaves M - M_.j M_j. / M_jj. All sizes thus need one pass over the rows; the
    coefficients are correct to second order and should be refitted. None if the Hessian is singular.
    """
    support = support_of(problem, model)
    inverse = covariance_of(problem.rows, support.point, problem.ridge, problem.units, problem.total_weight)
    if inverse is None:
        return None
    supports = [support]
    for _ in range(support.columns.size):
        theta = supports[-1].theta
        j = 1 + int(np.argmin(theta[1:] ** 2 / np.diagonal(inverse)[1:]))
        moved = theta - inverse[:, j] * (theta[j] / inverse[j, j])
        supports.append(Support(supports[-1].columns, moved).without(j - 1))
        inverse = inverse - np.outer(inverse[:, j], inverse[j]) / inverse[j, j]
        inverse = np.delete(np.delete(inverse, j, axis=0), j, axis=1)
    points = [one.point for one in reversed(supports)]
    return Frontier(points, finished=True, counts={}, in_core=[problem.units.to_core(point) for point in points])
