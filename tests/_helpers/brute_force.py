"""Enumerate all subsets and all swaps of small problems, for comparison with the search and its certificates."""

from functools import partial
from itertools import combinations

import numpy as np

from _helpers.reference import derivatives

MAX_STEPS = 60


@np.errstate(over="ignore", invalid="ignore")  # overflow in long steps is handled by the line search
def minimise(problem, A, offset, ridge):
    """Minimise sum_i s_i loss(y_i, offset_i + a_i'theta) + ridge'theta^2 for m problems at once, by damped Newton.

    A has shape (m, n, q), offset (m, n) and ridge (m, q). Return the m minima.
    """
    lowest, going = np.empty(len(A)), np.arange(len(A))
    theta = np.zeros((len(A), A.shape[2]))
    state = _evaluate(problem, A, offset, ridge, theta)
    lowest[:] = state[0]
    for _ in range(MAX_STEPS):
        step = _newton_step(A, ridge, theta, *state[1:])
        theta, after = _move(partial(_evaluate, problem, A, offset, ridge), theta, step, state)
        still = state[0] - after[0] > 1e-10 * (1e-3 + lowest[going])
        lowest[going] = after[0]
        if not still.any():
            break
        A, offset, ridge, theta, going = A[still], offset[still], ridge[still], theta[still], going[still]
        state = tuple(part[still] for part in after)
    return lowest


def _evaluate(problem, A, offset, ridge, theta):
    """Return the objective of each problem, and the gradient and curvature of each row."""
    score = offset + np.matmul(A, theta[:, :, None])[:, :, 0]
    value, grad, curv = derivatives(problem.y, score, problem.loss)
    objective = value @ problem.weight + (ridge * theta**2).sum(1)
    return np.where(np.isfinite(objective), objective, np.inf), problem.weight * grad, problem.weight * curv


def _newton_step(A, ridge, theta, grad, curv):
    slope = np.matmul(grad[:, None, :], A)[:, 0] + 2 * ridge * theta
    hessian = np.matmul((A * curv[:, :, None]).transpose(0, 2, 1), A)
    diagonal = np.einsum("mqq->mq", hessian)  # a view of the diagonals
    diagonal += 2 * ridge + 1e-9 * diagonal.max(1, keepdims=True) + 1e-100
    return -np.linalg.solve(hessian, slope[:, :, None])[:, :, 0]


def _move(evaluate, theta, step, state):
    """Halve the step of each problem until its objective does not increase; keep the old point if none helps."""
    length = np.ones(len(theta))
    for _ in range(30):
        after = evaluate(theta + length[:, None] * step)
        falls = after[0] <= state[0]
        if falls.all():
            break
        length = np.where(falls, length, 0.5 * length)
    if not falls.all():
        length = np.where(falls, length, 0.0)
        after = evaluate(theta + length[:, None] * step)
    return theta + length[:, None] * step, after


def all_subsets(problem, lambda2, max_terms):
    """Return {columns: objective} for every subset of up to max_terms candidate columns, after a refit."""
    X, ridge, n = problem.X, problem.ridge(lambda2), len(problem.y)
    found = {}
    for k in range(max_terms + 1):
        subsets = list(combinations(problem.candidates.tolist(), k))
        chosen = np.array(subsets, dtype=np.int64).reshape(len(subsets), k)
        A = np.concatenate([np.ones((len(subsets), n, 1)), X[:, chosen].transpose(1, 0, 2)], axis=2)
        penalty = np.concatenate([np.zeros((len(subsets), 1)), ridge[chosen]], axis=1)
        offset = np.zeros((len(subsets), n))
        values = minimise(problem, A, offset, penalty)
        found.update(zip(subsets, values.tolist(), strict=True))
    return found


def best_of_each_size(found):
    """Return the lowest objective among the subsets of each size."""
    sizes = range(max(map(len, found)) + 1)
    return np.array([min(value for subset, value in found.items() if len(subset) == k) for k in sizes])


def greedy(found):
    """Return the objectives of forward selection, with a refit after each column."""
    chosen, values = frozenset(), [found[()]]
    while len(values) <= max(map(len, found)):
        steps = {subset: value for subset, value in found.items() if len(subset) == len(values)}
        following = {subset: value for subset, value in steps.items() if chosen < set(subset)}
        if not following:
            break
        subset = min(following, key=following.get)
        chosen = frozenset(subset)
        values.append(following[subset])
    return np.array(values)


def all_swaps(problem, point, lambda2):
    """Return the objective after each swap of a term j for a candidate c, optimising intercept and coefficient of c.

    The other coefficients are fixed. The result has shape (terms, columns), with NaN where c may not enter.
    """
    X, ridge = problem.X, problem.ridge(lambda2)
    columns = np.setdiff1d(problem.candidates, point.columns)
    A = np.stack([np.ones((len(columns), len(problem.y))), X[:, columns].T], axis=2)
    penalty = np.stack([np.zeros(len(columns)), ridge[columns]], axis=1)
    values = np.full((len(point.columns), X.shape[1]), np.nan)
    for j in range(len(point.columns)):
        kept, coef = np.delete(point.columns, j), np.delete(point.coef, j)
        offset = np.tile(point.intercept + X[:, kept] @ coef, (len(columns), 1))
        swapped = minimise(problem, A, offset, penalty)
        values[j, columns] = swapped + ridge[kept] @ coef**2
    return values
