"""What could stand in for each term of a model: dropping it, or exchanging it for another column, and the cost."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsegam.design.rules import Rules
from sparsegam.models.additive import Model
from sparsegam.models.terms import Condition, Term
from sparsegam.search.blas import one_blas_thread
from sparsegam.search.tables import TableProblem

Vector = NDArray[np.float64]
Columns = NDArray[np.int64]
NEWTON_STEPS = 12
TOLERANCE = 1e-3  # fall of the objective, a sum of losses, at which a refit ends
NEARLY = 0.5  # share of what a term brings that a substitute may lose
FLAT = 5e-3  # share of its curvature that a column must keep once the others have adjusted


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


def alternatives(problem: TableProblem, model: Model, rules: Rules, *, most: int = 3) -> list[Alternatives]:
    """Find, for each term of a model, the columns that could nearly as well stand in its place.

    One scan of the data gives the second-order estimate of every exchange, the other terms re-optimised: dropping
    term j costs w_j^2 / (2 M_jj), and column c then gains G'^2 / (2 V') with G' = G_c - Q_cj w_j / M_jj and
    V' = V_c + Q_cj^2 / M_jj, where M is the inverse of the curvature on the support, Q_c = M B_c and
    V_c = D_c - B_c' Q_c. The best column of each feature is then refitted, so the costs given are true ones.

    Parameters
    ----------
    problem : Problem
        The data that the model was fitted to.
    model : Model
        The model; its terms must be columns of the problem.
    rules : Rules
        What the model had to obey; substitutes obey its directions and forbidden features too.
    most : int
        Largest number of substitutes of a term, each of another feature.

    Returns
    -------
    list of Alternatives
        One for each term, in the order of the model; substitutes that lose most of what the term brings are left out.
    """
    support = columns_of(problem, model.terms)
    if support.size == 0:
        return []
    coef = np.array([term.coef for term in model.terms])
    with one_blas_thread():
        local = _LocalModel(problem, support, np.concatenate([[model.intercept], coef]), rules)
        return [_of_term(local, term, j, most) for j, term in enumerate(model.terms)]


def columns_of(problem: TableProblem, terms: tuple[Term, ...]) -> Columns:
    """Return the columns of a problem that stand for terms; raise a ValueError where there is no such column."""
    design = problem.design
    known: dict[tuple[str, Condition], int] = {}
    for feature, offset in zip(design.features, design.offset.tolist(), strict=True):
        known |= {(feature.name, condition): offset + b for b, condition in feature.conditions().items()}
    lost = [str(term) for term in terms if (term.feature, term.condition) not in known]
    if lost:
        msg = f"the data have no column for the term {lost[0]}: pass the rows and settings of the fit."
        raise ValueError(msg)
    return np.array([known[term.feature, term.condition] for term in terms], dtype=np.int64)


def objective_of(problem: TableProblem, model: Model) -> float:
    """Return the loss and the ridge of a model on the rows of a problem."""
    theta = np.array([model.intercept, *(term.coef for term in model.terms)])
    return _objective(problem, columns_of(problem, model.terms), theta)


class _LocalModel:
    """The quadratic model of the objective around a fitted support, and refits that verify what it predicts."""

    def __init__(self, problem: TableProblem, support: Columns, theta: Vector, rules: Rules) -> None:
        self.problem = problem
        self.support = support
        self.theta, self.objective = _refit(problem, support, theta)
        gradient, curvature, products = problem.rows.scan(support)
        self.gradient = np.asarray(gradient)
        self.B = np.reshape(products, (self.gradient.size, support.size + 1))
        ridge = 2 * float(problem.options.lambda2) * np.asarray(problem.rows.spread)
        self.D = np.asarray(curvature) + ridge
        hessian, _ = _gram(problem, support)
        self.M = np.linalg.pinv(hessian, hermitian=True)
        self.Q = self.B @ self.M
        self.V = self.D - np.einsum("ij,ij->i", self.B, self.Q)
        self.direction = rules.directions(problem.design.names)
        self.free = problem.design.candidates(rules) & ~np.isin(np.arange(self.gradient.size), support)

    def predicted_costs(self, j: int) -> Vector:
        """Return what the objective would rise by with each column in the place of term j; infinite where barred."""
        m = max(float(self.M[j + 1, j + 1]), 1e-300)
        w = self.theta[j + 1]
        curvature = self.V + self.Q[:, j + 1] ** 2 / m
        usable = self.free & (curvature > FLAT * self.D)
        gain = (self.gradient - self.Q[:, j + 1] * w / m) ** 2 / (2 * np.where(usable, curvature, 1.0))
        return np.where(usable, w * w / (2 * m) - gain, np.inf)

    def without(self, j: int) -> tuple[Columns, Vector]:
        """Return the support without term j, and where its coefficients are predicted to be."""
        m = max(float(self.M[j + 1, j + 1]), 1e-300)
        theta = self.theta - self.M[:, j + 1] * self.theta[j + 1] / m
        return np.delete(self.support, j), np.delete(theta, j + 1)

    def obeys(self, term: Term) -> bool:
        """Tell whether a term goes the way that its feature must: a score that grows falls with `x <= t`."""
        direction = self.direction[self.problem.design.names.index(term.feature)]
        return term.condition.kind != "<=" or direction * term.coef <= 0

    def cost(self, support: Columns, theta: Vector) -> tuple[float, Vector]:
        """Refit another support; return how much higher its objective is, and its coefficients."""
        theta, objective = _refit(self.problem, support, theta)
        return objective - self.objective, theta


def _of_term(local: _LocalModel, term: Term, j: int, most: int) -> Alternatives:
    rest, theta = local.without(j)
    drop_cost, theta = local.cost(rest, theta)
    found = []
    for column in _best_of_each_feature(local, local.predicted_costs(j), most):
        cost, fitted = local.cost(np.append(rest, column), np.append(theta, 0.0))
        found.append(Substitute(local.problem.design.term(int(column), float(fitted[-1])), cost))
    found = [
        substitute for substitute in found if substitute.cost < NEARLY * drop_cost and local.obeys(substitute.term)
    ]
    return Alternatives(term, drop_cost, tuple(sorted(found, key=lambda substitute: substitute.cost)))


def _best_of_each_feature(local: _LocalModel, costs: Vector, most: int) -> list[int]:
    """Return the most promising columns, at most one of each feature."""
    group = local.problem.design.group
    chosen: dict[int, int] = {}
    for column in np.argsort(costs, kind="stable"):
        if len(chosen) == most or not np.isfinite(costs[column]):
            break
        chosen.setdefault(int(group[column]), int(column))
    return list(chosen.values())


def _refit(problem: TableProblem, support: Columns, theta: Vector) -> tuple[Vector, float]:
    """Minimise the objective on a support by damped Newton steps; return coefficients and objective."""
    objective = _objective(problem, support, theta)
    for _ in range(NEWTON_STEPS):
        hessian, gradient = _gram(problem, support)
        ridge = _ridge(problem, support)
        gradient = gradient + 2 * ridge * theta
        step: Vector = -np.asarray(np.linalg.lstsq(hessian, gradient, rcond=1e-12)[0], dtype=np.float64)
        moved, lower = _damped(problem, support, theta, step, objective)
        if lower >= objective - TOLERANCE:
            break
        theta, objective = moved, lower
    _objective(problem, support, theta)  # later questions to the rows are about this point
    return theta, objective


def _damped(
    problem: TableProblem, support: Columns, theta: Vector, step: Vector, objective: float
) -> tuple[Vector, float]:
    """Halve a step until the objective falls."""
    for _ in range(6):
        lower = _objective(problem, support, theta + step)
        if lower < objective:
            return theta + step, lower
        step = step / 2
    return theta, objective


def _objective(problem: TableProblem, support: Columns, theta: Vector) -> float:
    loss = problem.rows.evaluate(float(theta[0]), support, np.ascontiguousarray(theta[1:]))
    return float(loss + np.sum(_ridge(problem, support) * theta**2))


def _gram(problem: TableProblem, support: Columns) -> tuple[Vector, Vector]:
    """Return curvature (ridge included) and gradient (without it) on a support, intercept first."""
    hessian, gradient = problem.rows.gram(support)
    size = support.size + 1
    return np.reshape(hessian, (size, size)) + np.diag(2 * _ridge(problem, support)), np.asarray(gradient)


def _ridge(problem: TableProblem, support: Columns) -> Vector:
    spread = np.asarray(problem.rows.spread)[support]
    return np.concatenate([[0.0], float(problem.options.lambda2) * spread])
