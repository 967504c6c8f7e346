"""Sparse linear models: SparseLinearClassifier, SparseLinearRegressor, and the frontier of sizes, linear_path."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from sparsegam.data import targets
from sparsegam.data.matrix import NumericMatrix, Vector, read_matrix
from sparsegam.design.linear import LinearDesign, Terms, pose_linear
from sparsegam.estimators.gam import Classifies, FitsOne, Regresses
from sparsegam.estimators.multiclass import OneVsRest
from sparsegam.models.linear import LinearModel
from sparsegam.parameters import SECTIONS, documented, keep_arguments, pick
from sparsegam.search.options import DEFAULT_MAX_TERMS, Options
from sparsegam.search.path import Path, hull_prices
from sparsegam.search.problem import Problem
from sparsegam.search.progress import Progress, watched
from sparsegam.search.solver import Fit, fit, frontier

COEFFICIENTS = """\
lambda1 : float
    Lasso penalty on the standardised coefficients (L0L1 with lambda0), to shrink them where data are noisy.
standardize : bool
    Whether lambda1 and lambda2 are on the coefficients times the norms of their centred columns, so that the units
    of the columns do not matter; else they are on the coefficients themselves.
fit_intercept : bool
    Whether there is an intercept; it is never penalised.
coef_bounds : (low, high), optional
    Bounds of the coefficients, each a number or an array with one for each column; low <= 0 <= high.
unpenalized : list of columns, optional
    Columns that are in every model and free of lambda0, by name or position. They count as terms.
"""
SECTIONS["{coefficients}"] = COEFFICIENTS


class SparseLinear(FitsOne):
    """What the linear models share: matrices of numbers, whose columns are the candidates."""

    intercept_: Any

    def _keep_model(self, model: Any) -> None:
        self.model_ = model
        self.coef_, self.intercept_ = self._shaped(model)
        self.n_terms_ = model.n_terms

    def _shaped(self, model: Any) -> tuple[Vector, Any]:
        """Return coefficients and intercept in the shapes that scikit-learn has for them."""
        return model.coef, model.intercept

    def _read(self, X: Any) -> Any:
        return read_matrix(X)

    def _pose(self, matrix: NumericMatrix, target: Vector, weight: Vector, options: Options) -> Problem:
        return pose_linear(matrix, target, weight, options, pick(Terms, vars(self)))

    def _search(self, problem: Problem) -> None:
        """Search and keep what was found."""
        design: LinearDesign = problem.design  # type: ignore[assignment]
        with watched(self.callback, self.verbose, self.max_terms) as report:
            found = fit(problem, self.lambda0, report)
        self._keep_model(design.model(found.point, problem.options.loss, self.classes_))
        self.lambda0_ = found.lambda0
        self.objective_ = design.objective(found.point, found.lambda0)
        self.loss_ = found.point.loss
        self.search_stats_ = found.counts
        self.n_iter_ = max(1, found.counts.get("moves", 1))
        self._warn(found)

    def _warn(self, found: Fit) -> None:
        if not found.finished:
            msg = (
                f"the search was stopped by time_limit={self.time_limit} s and kept the best model found so far "
                f"({self.n_terms_} terms): raise time_limit, or make the search smaller with a larger lambda0 or "
                "fewer max_terms."
            )
            warnings.warn(msg, ConvergenceWarning, stacklevel=6)
        elif self.max_terms is None and self.n_terms_ >= DEFAULT_MAX_TERMS:
            msg = f"the model reached {DEFAULT_MAX_TERMS} terms, the default limit: raise lambda0 or set max_terms."
            warnings.warn(msg, ConvergenceWarning, stacklevel=6)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@documented
class SparseLinearClassifier(OneVsRest, Classifies, SparseLinear):
    """Best-subset linear classifier.

    Minimises, over models f(x) = b + sum_j w_j x_j with k columns in use,

        sum_i s_i loss(y_i, f(x_i)) + lambda0 k + lambda2 sum_j (sigma_j w_j)^2 + lambda1 sum_j sigma_j |w_j|,

    where s_i are weights and sigma_j is the norm of the centred column j (1 without `standardize`).

    Parameters
    ----------
    loss : {"logistic", "exponential"}
        The loss, summed over rows. The exponential one needs columns of two values each.
    lambda0 : float or {"aic", "bic"}
        Price of a column: it must lower the total loss by so much to stay. "aic" is 1 and "bic" is log(n)/2, where n
        is the sum of the weights.
    {search}
    {coefficients}
    class_weight : dict or "balanced", optional
        Weights of the classes, multiplied with `sample_weight`; "balanced" gives all the same total.
    {run}
    {report}

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients of all columns, zero for those not in use.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    n_terms_ : int
        Number of columns in use, over all classes.
    classes_ : ndarray
        The labels; with two of them, scores above zero stand for the second.
    model_ : LinearModel or OneVsRestModel
        The model: predicts without this package's compiled part, prints as an equation.
    loss_, objective_, lambda0_ : float
        Loss, loss with penalties and price of the columns, and the price of one.
    search_stats_ : dict
        Counts of what the search did.
    n_iter_ : int
        Number of moves the search made.
    n_features_in_, feature_names_in_ : int, ndarray
        The columns seen in `fit`.

    Notes
    -----
    With more than two classes, one model is fitted for each class against the rest (`estimators_`), and
    `predict_proba` divides their probabilities by their sum.

    Dense float64 and float32 arrays and CSC matrices are not copied, unless a column's mean is more than a thousand
    times its standard deviation.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsegam import SparseLinearClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 50))
    >>> model = SparseLinearClassifier(lambda2=0.01).fit(X, X[:, 3] - X[:, 7] > 0)
    >>> np.flatnonzero(model.coef_).tolist()
    [3, 7]
    """

    def __init__(  # noqa: PLR0913
        self,
        *,
        loss: str = "logistic",
        lambda0: float | str = "bic",
        lambda2: float = 1e-3,
        lambda1: float = 0.0,
        max_terms: int | None = None,
        standardize: bool = True,
        fit_intercept: bool = True,
        coef_bounds: Any = None,
        unpenalized: Any = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: int = 0,
        callback: Progress | None = None,
    ) -> None:
        keep_arguments(self, locals())

    def _shaped(self, model: Any) -> tuple[Vector, Any]:
        return np.atleast_2d(model.coef), np.atleast_1d(model.intercept)


@documented
class SparseLinearRegressor(Regresses, SparseLinear):
    """Best-subset linear regression.

    Minimises, over models f(x) = b + sum_j w_j x_j with k columns in use,

        sum_i s_i (y_i - f(x_i))^2 / 2 + lambda0 k + lambda2 sum_j (sigma_j w_j)^2 + lambda1 sum_j sigma_j |w_j|,

    where s_i are weights and sigma_j is the norm of the centred column j (1 without `standardize`).

    Parameters
    ----------
    lambda0 : float or {"aic", "bic"}
        Price of a column: it must lower half the sum of squares by so much to stay. "aic" is the noise variance and
        "bic" log(n)/2 times it, where n is the sum of the weights and the variance is estimated from the residuals;
        so they do not depend on the units of y. `lambda0_` is the price found.
    {search}
    {coefficients}
    {run}
    {report}

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients of all columns, zero for those not in use.
    intercept_ : float
        The intercept.
    n_terms_ : int
        Number of columns in use.
    model_ : LinearModel
        The model: predicts without this package's compiled part, prints as an equation, saves as JSON.
    loss_, objective_, lambda0_ : float
        Loss, loss with penalties and price of the columns, and the price of one.
    search_stats_ : dict
        Counts of what the search did.
    n_iter_ : int
        Number of moves the search made.
    n_features_in_, feature_names_in_ : int, ndarray
        The columns seen in `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsegam import SparseLinearRegressor
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> model = SparseLinearRegressor(lambda2=0.0).fit(X, 2 * X[:, 4] - X[:, 11] + 5)
    >>> print(model.model_)
    prediction = 5
        +2 x x4
        -1 x x11
    """

    def __init__(  # noqa: PLR0913
        self,
        *,
        lambda0: float | str = "bic",
        lambda2: float = 1e-3,
        lambda1: float = 0.0,
        max_terms: int | None = None,
        standardize: bool = True,
        fit_intercept: bool = True,
        coef_bounds: Any = None,
        unpenalized: Any = None,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: int = 0,
        callback: Progress | None = None,
    ) -> None:
        keep_arguments(self, locals())


@documented
def linear_path(  # noqa: D417, PLR0913
    X: Any,
    y: Any,
    *,
    loss: str = "logistic",
    lambda2: float = 1e-3,
    lambda1: float = 0.0,
    max_terms: int = 50,
    standardize: bool = True,
    fit_intercept: bool = True,
    coef_bounds: Any = None,
    unpenalized: Any = None,
    sample_weight: Any = None,
    class_weight: Any = None,
    n_jobs: int | None = None,
    time_limit: float | None = None,
    verbose: int = 0,
    callback: Progress | None = None,
) -> "LinearPath":
    """Find the best linear model of every size.

    For each k up to `max_terms` the search minimises, over models f(x) = b + sum_j w_j x_j with k columns in use,

        sum_i s_i loss(y_i, f(x_i)) + lambda2 sum_j (sigma_j w_j)^2 + lambda1 sum_j sigma_j |w_j|.

    Parameters
    ----------
    X : array-like, scipy.sparse matrix or data frame of shape (n_rows, n_features)
        Finite numbers.
    y : array-like of shape (n_rows,)
        Labels of two classes, or numbers for the squared loss.
    loss : {"logistic", "exponential", "squared"}
        The loss, summed over rows.
    {search}
    {coefficients}
    sample_weight : array-like of shape (n_rows,), optional
        Weights of the rows; a weight of 2 is the same as the row twice.
    class_weight : dict or "balanced", optional
        Weights of the classes, multiplied with `sample_weight`.
    {run}
    {report}

    Returns
    -------
    LinearPath
        The models by size.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsegam import linear_path
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> path = linear_path(X, 2 * X[:, 4] - X[:, 11], loss="squared", lambda2=0.0, max_terms=2)
    >>> path.at(n_terms=1).features, path.at(n_terms=2).features
    (('x4',), ('x4', 'x11'))
    """
    given = locals()
    options, terms = pick(Options, given), pick(Terms, given)
    matrix = read_matrix(X)
    classes, target, weight = _target(y, loss, sample_weight, class_weight, matrix.n_rows)
    problem = pose_linear(matrix, target, weight, options, terms)
    with watched(callback, verbose, problem.max_terms) as report:
        return search_linear_path(problem, classes, report)


@dataclass(frozen=True, repr=False)
class LinearPath(Path):
    """The best linear model found of each size: a Path whose models are LinearModels."""

    models: tuple[LinearModel, ...]  # type: ignore[assignment]

    def at(self, *, n_terms: int | None = None, lambda0: float | str | None = None) -> LinearModel:  # type: ignore[override]
        """Return one model.

        Parameters
        ----------
        n_terms : int, optional
            Its size.
        lambda0 : float or {"aic", "bic"}, optional
            The price per term: the model that minimises objective + lambda0 * n_terms is returned.
            For the squared loss the names are in units of the noise variance, which is estimated.

        Returns
        -------
        LinearModel
            The model asked for.
        """
        return super().at(n_terms=n_terms, lambda0=lambda0)  # type: ignore[return-value]

    @property
    def coef_path_(self) -> sp.csc_array:
        """Coefficients, a row per column of X and a column per size."""
        start = np.cumsum([0, *(model.n_terms for model in self.models)])
        rows = np.concatenate([np.array(model.columns, dtype=np.int32) for model in self.models])
        data = np.concatenate([np.array(model.weights, dtype=np.float64) for model in self.models])
        return sp.csc_array((data, rows, start), shape=(self.models[0].n_features, len(self.models)))

    @property
    def intercept_path_(self) -> Vector:
        """Intercepts, one per size."""
        return np.array([model.intercept for model in self.models])


def search_linear_path(problem: Problem, classes: NDArray[Any] | None, callback: Progress | None = None) -> LinearPath:
    """Search the frontier of a problem and put it into the words of the data."""
    design: LinearDesign = problem.design  # type: ignore[assignment]
    search = frontier(problem, callback)
    n_terms = np.array([len(point.columns) for point in search.points], dtype=np.int64)
    objective = np.array([point.loss + point.ridge for point in search.points])
    return LinearPath(
        models=tuple(design.model(point, problem.options.loss, classes) for point in search.points),
        n_terms=n_terms,
        loss=np.array([point.loss for point in search.points]),
        objective=objective,
        lambda0=hull_prices(n_terms, objective),
        total_weight=problem.total_weight,
        finished=search.finished,
        search_stats=dict(search.counts),
        mean_weight=problem.mean_weight,
    )


def _target(
    y: Any, loss: str, sample_weight: Any, class_weight: Any, n_rows: int
) -> tuple[NDArray[Any] | None, Vector, Vector]:
    """Return the classes (None for regression), labels or responses, and the weights of the rows."""
    labels = targets.one_column(y, n_rows)
    weight = targets.weights(sample_weight, n_rows)
    if loss == "squared":
        return None, targets.real(labels), weight
    classes, signs = targets.binary(labels, weight)
    return classes, signs, targets.class_weights(class_weight, classes, signs, weight)
