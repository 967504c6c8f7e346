"""What could stand in for each term of a model: dropping it, or exchanging it for another column, and the cost."""

from dataclasses import dataclass

import numpy as np

from sparsegam._design.constraints import Constraints
from sparsegam._design.interactions import alternatives_of, interaction_of
from sparsegam._models.additive import Model
from sparsegam._models.terms import SENSE, Clause, Term
from sparsegam._search.refit import Columns, Neighbourhood, Support, objective_at, refit
from sparsegam._search.statistics import covariance_of
from sparsegam._search.table_problem import TableProblem, with_interactions
from sparsegam.arrays import FloatArray

REFITS = 100  # of substitutes, or one for each term: beyond that, a term has fewer
MOST_NEAR = 200  # products that are tried in the place of others
NEARLY = 0.5  # share of what a term brings that a substitute may lose
PROMISING = 0.8  # share that it may be predicted to lose, for a refit to say what it truly loses


@dataclass(frozen=True)
class Substitute:
    """A term that could stand in for another, after a refit, and how much the objective would rise."""

    term: Term
    cost: float


@dataclass(frozen=True)
class Alternatives:
    """One term of a model: what the objective would rise by without it, and the best that could stand in for it."""

    term: Term
    drop_cost: float
    substitutes: tuple[Substitute, ...]


def alternatives(
    problem: TableProblem, model: Model, rules: Constraints, *, most: int | None = None
) -> list[Alternatives]:
    """Find, for each term of a model, the columns that could nearly as well stand in its place.

    One scan of the data gives the second-order estimate of every exchange, the other terms re-optimised. The best step
    and the best ramp of each feature are then refitted, so the costs given are true ones: of the rows as the search
    has them, where bins of many values go by their means.

    Parameters
    ----------
    problem : Problem
        The data that the model was fitted to.
    model : Model
        The model; its terms must be columns of the problem.
    rules : Constraints
        What the model had to obey; substitutes obey its directions and forbidden features too.
    most : int, optional
        Largest number of substitutes of a term, each of another feature or of another kind: a step may stand in for a
        ramp of the same feature, and a ramp for a step. Three unless told, fewer where the model has many terms.

    Returns
    -------
    list of Alternatives
        One for each term, in the order of the model; substitutes that lose most of what the term brings are left out.
    """
    start = support_of(problem, model)
    if start.columns.size == 0:
        return []
    search = _Search(problem, start, rules, min(max(REFITS // model.n_terms, 1), 3) if most is None else most)
    return [search.around(term, j) for j, term in enumerate(model.terms)]


def columns_of(problem: TableProblem, terms: tuple[Term, ...]) -> Columns:
    """Return the columns of a problem that stand for terms; raise a ValueError where there is no such column."""
    design = problem.design
    known: dict[tuple[Clause, ...], int] = {}
    for feature, offset in zip(design.features, design.offset.tolist(), strict=True):
        known |= {(Clause(feature.name, condition),): offset + b for b, condition in feature.conditions().items()}
    for column in np.flatnonzero(design.is_ramp | design.is_interaction).tolist():
        known[design.term(column, 1.0).clauses] = column  # of a product the later one: there it holds
    lost = [str(term) for term in terms if term.clauses not in known]
    if lost:
        msg = f"the data have no column for the term {lost[0]}: pass the rows and settings of the fit."
        raise ValueError(msg)
    return np.array([known[term.clauses] for term in terms], dtype=np.int64)


def with_products_of(problem: TableProblem, model: Model) -> TableProblem:
    """Return a problem with the products of a model among its columns, and some that are near to them.

    Products of which the bins of its rows have no cut are left out.
    """
    terms = [term for term in model.terms if term.is_product]
    if not terms:
        return problem
    found = (interaction_of(problem.design.features, term) for term in terms)
    own = [product for product in found if product is not None]
    near = [other for product in own for other in alternatives_of(problem.design, product)]
    return with_interactions(problem, [*own, *near[: max(MOST_NEAR - len(own), 0)]])


def support_of(problem: TableProblem, model: Model) -> Support:
    """Return a model as the columns of a problem and their coefficients, those of ramps in the problem's unit."""
    columns = columns_of(problem, model.terms)
    coef = np.array([term.coef for term in model.terms]) * problem.design.coefficient_units(columns)
    return Support(columns, np.append(model.intercept, coef))


def objective_of(problem: TableProblem, model: Model, *, by_bins: bool = False) -> float:
    """Return the loss and the ridge of a model on the rows of a problem, or on these as the search has them."""
    support, design = support_of(problem, model), problem.design
    columns = support.columns
    if by_bins or design.is_exact(columns):
        return objective_at(problem.rows, problem.ridge, support, problem.units)
    # the search went by the mean of each bin; the model, and what it is worth, go by the rows' own values
    support = Support(np.arange(columns.size), support.theta)
    ramps = np.flatnonzero(design.is_ramp[columns])
    return objective_at(problem.encoded.raw_value_rows(columns), problem.ridge, support, problem.units, ramps)


class _Search:
    """Looks for what could stand in for a term; refits verify what the scan predicts."""

    def __init__(self, problem: TableProblem, start: Support, rules: Constraints, most: int) -> None:
        self.problem = problem
        self.most = most
        self.near = Neighbourhood(problem.rows, problem.ridge, start, problem.units)
        point = self.near.support.point
        self.covariance = covariance_of(problem.rows, point, problem.ridge, problem.units, problem.total_weight)
        self.is_ramp = problem.design.is_ramp
        self.direction = dict(zip(problem.design.names, rules.directions(problem.design.names), strict=True))
        self.barred = ~problem.design.candidates(rules)

    def around(self, term: Term, j: int) -> Alternatives:
        """Find what could stand in for the term at position j."""
        rest = self._refitted(self._without(j))
        drop_cost = self._cost(rest)
        found = []
        for column in self._best_of_each_kind(self.near.swap_costs(j), PROMISING * drop_cost):
            fitted = self._refitted(rest.with_column(column))
            stands_in = self.problem.design.term(column, float(fitted.theta[-1]))
            found.append(Substitute(stands_in, self._cost(fitted)))
        good = [one for one in found if one.cost < NEARLY * drop_cost and self._obeys(one.term)]
        return Alternatives(term, drop_cost, tuple(sorted(good, key=lambda one: one.cost)))

    def _without(self, j: int) -> Support:
        """Leave a term out, with the others where the quadratic model of the objective predicts them."""
        fitted, covariance = self.near.support, self.covariance
        if covariance is None:
            return fitted.without(j)
        step = covariance[:, j + 1] * (fitted.theta[j + 1] / covariance[j + 1, j + 1])
        return Support(fitted.columns, fitted.theta - step).without(j)

    def _refitted(self, start: Support) -> Support:
        problem = self.problem
        return refit(problem.rows, problem.ridge, start, units=problem.units, rough=True)

    def _cost(self, other: Support) -> float:
        return other.objective - self.near.support.objective

    def _obeys(self, term: Term) -> bool:
        """Tell whether a term goes the way that its features must: a score that grows falls with `x <= t`."""
        ways = (SENSE.get(one.condition.kind, 0) * self.direction[one.feature] for one in term.clauses)
        return all(way * term.coef >= 0 for way in ways)

    def _best_of_each_kind(self, costs: FloatArray, limit: float) -> list[int]:
        """Return the most promising columns below a cost: of each feature at most one step and one ramp."""
        costs = np.where(self.barred | (costs > limit), np.inf, costs)
        chosen: dict[tuple[int, bool], int] = {}
        for column in np.argsort(costs, kind="stable"):
            if len(chosen) == self.most or not np.isfinite(costs[column]):
                break
            chosen.setdefault((int(self.problem.design.group[column]), bool(self.is_ramp[column])), int(column))
        return list(chosen.values())
