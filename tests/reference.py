"""The oracle: a NumPy twin of the core's rows on expanded 0/1 columns, written to be read, not to be fast.

Penalty throughout: sum_j ridge_j w_j^2 with ridge_j = lambda2 * scale_j, scale_j = sum_i s_i (x_ij - mean_j)^2.
"""

from itertools import combinations

import numpy as np

RIDGE_FLOOR = 1e-10


def expand(codes, n_bins, n_ordered):
    """0/1 columns of all features, feature by feature: `code <= b` for ordered bins b, `code == b` for later ones."""
    columns = [
        code <= b if b < ordered else code == b
        for code, bins, ordered in zip(codes, n_bins, n_ordered, strict=True)
        for b in range(bins)
    ]
    return np.column_stack(columns).astype(np.float64)


def derivatives(y, f, loss):
    """Loss of each row, its gradient and its curvature in f."""
    if loss == "logistic":
        p = 0.5 * (1 + np.tanh(0.5 * f))
        return np.logaddexp(0, -y * f), p - (y > 0), p * (1 - p)
    if loss == "exponential":
        e = np.exp(-y * f)
        return e, -y * e, e
    return 0.5 * (y - f) ** 2, f - y, np.ones_like(f)


def column_scale(X, weight):
    """Squared weighted norm of the centred columns: sigma_j^2."""
    mean = weight @ X / weight.sum()
    return weight @ (X - mean) ** 2


class ReferenceRows:
    """Sums over rows at the current model: what every `Rows` must return."""

    def __init__(self, X, y, weight, loss):
        self.X, self.y, self.weight, self.loss = X, y, weight, loss
        self.evaluate([], [0.0])

    def support(self, columns):
        """Matrix A = [1, X_S]."""
        return np.column_stack([np.ones(len(self.y)), self.X[:, list(columns)]])

    def evaluate(self, columns, theta):
        """Move to the model theta = (b, w) on the columns; return its loss."""
        return self._move(self.support(columns) @ np.asarray(theta))

    def shift(self, column, on, off):
        """Move the scores where a 0/1 column is 1 by `on`, the others by `off`; return the loss."""
        return self._move(self.scores + np.where(self.X[:, column] == 1, on, off))

    def _move(self, scores):
        value, grad, curv = derivatives(self.y, scores, self.loss)
        self.scores = scores
        self.value, self.g, self.h = self.weight * value, self.weight * grad, self.weight * curv
        return float(self.value.sum())

    def gradient(self, columns):
        """A'g."""
        return self.support(columns).T @ self.g

    def gram(self, columns):
        """A' diag(h) A."""
        A = self.support(columns)
        return A.T @ (self.h[:, None] * A)

    def scan(self, columns):
        """For every column c: G_c = x_c'g, D_c = x_c'(h x_c), B_c = A'(h x_c)."""
        hX = self.h[:, None] * self.X
        return self.X.T @ self.g, (self.X * hX).sum(0), hX.T @ self.support(columns)

    def groups(self):
        """Sums of gradient, curvature and loss over the rows where each 0/1 column is 1."""
        return self.X.T @ self.g, self.X.T @ self.h, self.X.T @ self.value


def refit(X, y, weight, loss, ridge, max_iter=100):
    """Minimise loss + sum_j ridge_j w_j^2 over theta = (b, w) by damped Newton; return theta and the objective."""
    rows, all_columns = ReferenceRows(X, y, weight, loss), range(X.shape[1])
    quadratic = np.concatenate([[0.0], np.asarray(ridge, dtype=np.float64)])
    theta = np.zeros(X.shape[1] + 1)
    objective = rows.evaluate(all_columns, theta)
    for _ in range(max_iter):
        grad = rows.gradient(all_columns) + 2 * quadratic * theta
        hessian = rows.gram(all_columns) + np.diag(2 * quadratic + RIDGE_FLOOR)
        step = -np.linalg.lstsq(hessian, grad, rcond=None)[0]
        theta, objective, decrease = _line_search(rows, all_columns, theta, step, quadratic, objective)
        if decrease < 1e-12 * (1 + abs(objective)):
            break
    return theta, objective


def best_subsets(X, y, weight, loss, lambda2, max_terms):
    """For k = 0..max_terms the best (objective, columns, theta) over all subsets of k columns."""
    ridge = lambda2 * column_scale(X, weight)
    best = []
    for k in range(max_terms + 1):
        fits = []
        for subset in combinations(range(X.shape[1]), k):
            theta, objective = refit(X[:, subset], y, weight, loss, ridge[list(subset)])
            fits.append((objective, subset, theta))
        best.append(min(fits, key=lambda fit: fit[0]))
    return best


def _line_search(rows, columns, theta, step, quadratic, objective):
    """Halve the step until the objective falls; stay where it does not."""
    for t in 0.5 ** np.arange(30):
        new = theta + t * step
        value = rows.evaluate(columns, new) + quadratic @ new**2
        if value < objective:
            return new, value, objective - value
    rows.evaluate(columns, theta)
    return theta, objective, 0.0
