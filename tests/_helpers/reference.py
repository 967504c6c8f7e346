"""Reference implementation of Rows in NumPy on expanded 0/1 columns. The compiled search can run on it.

The ridge is sum_j ridge_j w_j^2 with ridge_j = lambda2 * scale_j and scale_j = sum_i s_i (x_ij - mean_j)^2.
"""

from itertools import combinations

import numpy as np

from sparsegam import _core

RIDGE_FLOOR = 1e-10


def expand(codes, n_bins, n_ordered):
    """Return the 0/1 columns of all features: `code <= b` for ordered bins b, `code == b` for the others."""
    columns = [
        code <= b if b < ordered else code == b
        for code, bins, ordered in zip(codes, n_bins, n_ordered, strict=True)
        for b in range(bins)
    ]
    return np.column_stack(columns).astype(np.float64)


def derivatives(y, f, loss):
    """Return loss, gradient and curvature of each row with respect to its score."""
    if loss == "logistic":
        p = 0.5 * (1 + np.tanh(0.5 * f))
        return np.logaddexp(0, -y * f), p - (y > 0), p * (1 - p)
    if loss == "exponential":
        e = np.exp(-y * f)
        return e, -y * e, e
    if loss == "squared_hinge":
        short = np.maximum(1 - y * f, 0)
        return short**2, -2 * y * short, 2.0 * (short > 0)
    return 0.5 * (y - f) ** 2, f - y, np.ones_like(f)


def column_scale(X, weight):
    """Return sigma_j^2, the squared weighted norms of the centred columns."""
    mean = weight @ X / weight.sum()
    return weight @ (X - mean) ** 2


class ReferenceRows(_core.Rows):
    """The operations of `Rows`. `nested` are ranges of columns that are thresholds of the same feature.

    The bin codes of the features are needed for `pair_sums` only. This class also shows how to implement `Rows` in
    Python: `_core.frontier` and `_core.fit_at` call its methods.
    """

    def __init__(self, X, y, weight, loss, nested=(), codes=()):
        super().__init__()
        self.X, self.y, self.weight, self.loss, self.codes = X, y, weight, loss, codes
        zero_one = bool(np.isin(X, (0, 1)).all())
        self.columns = _core.ColumnInfo(
            kind=["level" if zero_one else "raw"] * X.shape[1],
            mean=weight @ X / weight.sum(),
            centred_sq_norm=column_scale(X, weight),
            total_weight=float(weight.sum()),
            nested=list(nested),
        )

    def at(self, point):
        """Return loss, gradient and curvature of each row at a point."""
        scores = point.intercept + self.X[:, point.columns] @ point.coef
        return [self.weight * part for part in derivatives(self.y, scores, self.loss)]

    def support(self, columns):
        """Return the matrix A = [1, X_S]."""
        return np.column_stack([np.ones(len(self.y)), self.X[:, columns]])

    def evaluate(self, points):
        """Return the loss at each point."""
        return np.array([self.at(point)[0].sum() for point in points])

    def newton(self, point, support, rough=False):
        """Return the loss, A' diag(h) A and A'g."""
        value, g, h = self.at(point)
        A = self.support(support)
        return value.sum(), A.T @ (h[:, None] * A), A.T @ g

    def scan(self, point, among):
        """Return the token (curvatures), A' diag(h) A, A'g, and for each column x'g, x'(h x) and A'(h x)."""
        _, g, h = self.at(point)
        A, X = self.support(point.columns), self.X[:, self.asked(among)]
        hX = h[:, None] * X
        return h, A.T @ (h[:, None] * A), A.T @ g, X.T @ g, (X * hX).sum(0), hX.T @ A

    def rescan(self, held, point, entered, among):
        """Return 1'g, and for each column x'g, x'(h x) and its products with `entered` under the frozen curvature."""
        _, g, h = self.at(point)
        X = self.X[:, self.asked(among)]
        return g.sum(), X.T @ g, (X**2).T @ h, (X * held[:, None]).T @ self.X[:, entered]

    def groups(self, point, columns):
        """Return the sums of gradient, curvature and loss over the rows of each 0/1 column, and over all rows."""
        value, g, h = self.at(point)
        X = self.X[:, columns]
        return X.T @ g, X.T @ h, X.T @ value, [g.sum(), h.sum(), value.sum()]

    def pair_sums(self, point, cells, pairs):
        """Return the sums of gradient and curvature over the cells of pairs of features."""
        _, g, h = self.at(point)
        tables = [np.empty(0)], [np.empty(0)]
        for a, b in pairs:
            (of_a, _, n_a), (of_b, _, n_b) = cells[a], cells[b]
            in_a, in_b = (np.eye(n)[of[self.codes[f]]] for of, n, f in ((of_a, n_a, a), (of_b, n_b, b)))
            for table, sums in zip(tables, (g, h), strict=True):
                table.append((in_a.T @ (sums[:, None] * in_b)).ravel())
        return tuple(np.concatenate(table) for table in tables)

    def asked(self, among):
        """Return the selected columns; an empty selection means all."""
        return among if len(among) else np.arange(self.X.shape[1])


def refit(X, y, weight, loss, ridge, max_iter=100):
    """Minimise loss + sum_j ridge_j w_j^2 over theta = (b, w) by damped Newton; return theta and the objective."""
    rows, columns = ReferenceRows(X, y, weight, loss), np.arange(X.shape[1])
    quadratic = np.concatenate([[0.0], np.asarray(ridge, dtype=np.float64)])
    theta = np.zeros(X.shape[1] + 1)
    for _ in range(max_iter):
        value, hessian, grad = rows.newton(_core.Point(theta[0], columns, theta[1:].copy()), columns)
        objective = value + quadratic @ theta**2
        step = -np.linalg.lstsq(
            hessian + np.diag(2 * quadratic + RIDGE_FLOOR), grad + 2 * quadratic * theta, rcond=None
        )[0]
        theta, objective, decrease = _line_search(rows, columns, theta, step, quadratic, objective)
        if decrease < 1e-12 * (1 + abs(objective)):
            break
    return theta, objective


def best_subsets(X, y, weight, loss, lambda2, max_terms):
    """Return the best (objective, columns, theta) among all subsets of k columns, for k = 0..max_terms."""
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
    """Halve the step until the objective decreases; return the old point if none does."""
    for t in 0.5 ** np.arange(30):
        new = theta + t * step
        value = rows.evaluate([_core.Point(new[0], columns, new[1:].copy())])[0] + quadratic @ new**2
        if value < objective:
            return new, value, objective - value
    return theta, objective, 0.0
