"""A model without its terms, one after the other: where a search of smaller models can start."""

import numpy as np

from sparsegam._models.additive import Model
from sparsegam._search.refit import Support
from sparsegam._search.solver import Frontier
from sparsegam._search.statistics import covariance_of
from sparsegam._search.table_problem import TableProblem
from sparsegam.inspection._alternatives import support_of


def shrunk(problem: TableProblem, model: Model) -> Frontier | None:
    """Return a model of each size up to that of the model, each with the term dropped that costs least.

    With M the inverse of the Hessian, a term of coefficient w costs w^2 / (2 M_jj), and the others move by
    -M_.j w / M_jj; what is left of M is M - M_.j M_j. / M_jj. So all sizes come from one pass over the rows, to second
    order: they are to be refitted.

    Parameters
    ----------
    problem : TableProblem
        The rows.
    model : Model
        The model; its terms must be columns of the problem, else a ValueError is raised.

    Returns
    -------
    Frontier or None
        The models in the units of the core, the smallest first; None where the rows do not determine the coefficients.
    """
    support = support_of(problem, model)
    inverse = covariance_of(problem.rows, support.point, problem.ridge, problem.units, problem.total_weight)
    if inverse is None:
        return None
    found = [support]
    for _ in range(support.columns.size):
        theta = found[-1].theta
        j = 1 + int(np.argmin(theta[1:] ** 2 / np.diagonal(inverse)[1:]))
        moved = theta - inverse[:, j] * (theta[j] / inverse[j, j])
        found.append(Support(found[-1].columns, moved).without(j - 1))
        inverse = inverse - np.outer(inverse[:, j], inverse[j]) / inverse[j, j]
        inverse = np.delete(np.delete(inverse, j, axis=0), j, axis=1)
    points = [one.point for one in reversed(found)]
    return Frontier(points, finished=True, counts={}, in_core=[problem.units.to_core(point) for point in points])
