"""Sparse linear models: SparseLinearClassifier and SparseLinearRegressor."""

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from sparsegam._data.matrix import read_matrix
from sparsegam._fit.driver import fit
from sparsegam._fit.estimators import (
    class_probabilities,
    class_scores,
    html_with_model,
    predictions,
    score_predictions,
    scores_of,
    store_feature_names,
    store_fit,
    tags_of,
)
from sparsegam._fit.spec import FitSpec, SizeSelection, check_class_loss, linear_spec
from sparsegam._fit.training import read_data
from sparsegam._models.linear import LinearModel
from sparsegam._models.scoring import Reports
from sparsegam._search.problem import Progress
from sparsegam.arrays import FloatArray
from sparsegam.choices import ClassLoss, ClassWeight, Lambda0, Lambda2, Lambda2Choice, Loss

if TYPE_CHECKING:
    pass


class _LinearEstimator(BaseEstimator):  # type: ignore[misc]
    """Parameters and methods that all linear estimators share."""

    lambda2: Lambda2Choice
    lambda1: float
    standardize: bool
    fit_intercept: bool
    coef_bounds: Any
    unpenalized: Any
    max_terms: int | None
    device: str
    n_jobs: int | None
    time_limit: float | None
    verbose: int
    callback: Progress | None

    model_: LinearModel
    n_terms_: int
    loss_: float
    objective_: float
    lambda0_: float
    lambda2_: float
    standardize_: bool
    n_iter_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def _spec(self) -> FitSpec:
        """Return the options of a fit."""
        raise NotImplementedError

    def _make_spec(
        self,
        *,
        loss: Loss,
        lambda0: Lambda0 = "auto",
        selection: SizeSelection | None = None,
        class_weight: ClassWeight = None,
        positive: Any = None,
    ) -> FitSpec:
        return linear_spec(
            loss=loss,
            lambda0=lambda0,
            selection=selection,
            class_weight=class_weight,
            positive=positive,
            lambda2=self.lambda2,
            max_terms=self.max_terms,
            lambda1=self.lambda1,
            standardize=self.standardize,
            fit_intercept=self.fit_intercept,
            coef_bounds=self.coef_bounds,
            unpenalized=self.unpenalized,
            device=self.device,
            n_jobs=self.n_jobs,
            time_limit=self.time_limit,
            verbose=self.verbose,
            callback=self.callback,
        )

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> None:
        spec = self._spec()
        data = read_data(spec, X, y, sample_weight)
        store_feature_names(self, data, y)
        store_fit(self, fit(spec, data, groups))

    def _scores(self, X: Any) -> FloatArray:
        return scores_of(self, X, read_matrix)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted class of each row, or the predicted value.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame
            Rows with the columns of the training data.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels of `classes_`, or predictions.
        """
        return predictions(self, self._scores(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of the predictions, or R squared for a regression.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame
            Rows with the columns of the training data.
        y, sample_weight : array-like of shape (n_rows,)
            Labels or target values, and weights.

        Returns
        -------
        float
            The score.
        """
        return score_predictions(self, X, y, sample_weight)

    report = Reports.report

    def _html_repr(self) -> str:
        return html_with_model(self)

    def __sklearn_tags__(self) -> Any:
        tags = tags_of(self, super().__sklearn_tags__())
        tags.input_tags.sparse = True
        return tags


class SparseLinearClassifier(_LinearEstimator):
    """Best-subset linear classifier.

    Minimizes, over models f(x) = b + sum_j w_j x_j with k nonzero coefficients,

        sum_i s_i loss(y_i, f(x_i)) + lambda0 k + lambda2 sum_j (sigma_j w_j)^2 + lambda1 sum_j sigma_j |w_j|,

    where s_i are the weights and sigma_j is the norm of the centred column j (1 without `standardize`).

    Parameters
    ----------
    loss : {"logistic", "exponential"}, default="logistic"
        The loss, summed over rows. The exponential loss needs columns of two values each.
    lambda0 : float or {"auto", "aic", "bic"}, default="bic"
        Penalty per term. A term is kept only if it lowers the total loss by at least this much. "aic" is 1 and "bic" is
        log(n)/2, where n is the sum of the weights, or the number of rows if that is larger. "auto" also accounts for
        the number of candidates: for a model of k terms it is the larger of 0.4 times "bic" and log(P / k) / 2
        (additive models, P thresholds and levels) or 0.7 log(P / k) (linear models, P columns). Above 10,000 rows the
        share of "bic" grows, up to 1 at 160,000 rows.
    lambda2 : float or "auto", default=1e-3
        Ridge penalty on the standardized coefficients. Its shrinkage does not depend on the number of rows; that of
        "auto" falls as n grows: it is 10 divided by the sum of the weights with standardize=True, otherwise as for
        additive models.
    max_terms : int or None, default=None
        Largest number of terms; None for no limit below 500.
    lambda1 : float, default=0.0
        Lasso penalty on the standardized coefficients, which shrinks them if the data are noisy.
    standardize : bool, default=True
        Whether lambda1 and lambda2 apply to the coefficients times the norms of their centred columns, so that the
        units of the columns do not matter, or to the coefficients themselves.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is never penalized.
    coef_bounds : pair or None, default=None
        Lower and upper bounds of the coefficients, low <= 0 <= high, each a number or an array with one entry per
        column.
    unpenalized : list of columns or None, default=None
        Columns that are in every model and free of lambda0, by name or position. They count as terms.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with `sample_weight`; "balanced" gives all classes the same total weight.
        They apply to fitting, not to cross-validation scores.
    positive : label or None, default=None
        The positive class, whose probability is modelled and which `model_`, its equation, plots, reports and
        scorecards describe; None is the last label in sorted order. With more than two labels, all others become one
        class. The estimator keeps the order that scikit-learn requires: `classes_` is sorted, and `decision_function`,
        `intercept_` and `coef_` score `classes_[1]`, whichever label is positive. Scorers in cross-validation see True
        for the positive class.
    device : {"cpu", "cuda"}, default="cpu"
        Where sums over rows are computed. "cuda" is an NVIDIA GPU, for tables of millions of rows; it needs CuPy. The
        data may be on the GPU already: CuPy arrays, cuDF frames, PyTorch and JAX tensors.
    n_jobs : int or None, default=None
        Number of threads; None is 1, -1 is all cores. The result does not depend on it.
    time_limit : float or None, default=None
        Seconds after which the best model found so far is returned, with a ConvergenceWarning. The limit covers
        reading, binning and all searches, of all classes and folds together.
    verbose : int, default=0
        Whether to show a progress bar, in terminals and notebooks, if tqdm is installed.
    callback : callable or None, default=None
        Called with (n_terms, objective) for each model found.

    Attributes
    ----------
    model_, n_terms_ : LinearModel or OneVsRestModel, int
        The model, which predicts without the compiled core and prints as an equation, and its number of terms.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients of all columns for the score of `classes_[1]` or of each class, zero for those that are not in use.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts of these scores.
    classes_ : ndarray
        The labels in sorted order.
    estimators_ : list
        With more than two classes, the estimators of each class against the rest.
    loss_, objective_ : float
        The loss, and the loss plus all penalties (sums over classes if there are more than two).
    lambda0_, lambda2_, standardize_ : float, float, bool
        The penalty per term, the ridge penalty, and whether it applies to standardized coefficients.
    search_stats_ : dict
        Counts of the operations of the search: `passes` over the data, and moves tried.
    n_iter_ : int
        Number of moves of the search.
    n_features_in_, feature_names_in_ : int, ndarray
        The number and the names of the features; names only if all are strings.

    See Also
    --------
    SparseLinearClassifierCV : Chooses the number of columns by cross-validation.
    SparseLinearRegressor : The regressor for numeric targets.
    linear_path : Returns the best model of every size.

    Notes
    -----
    With more than two classes, one model is fitted for each class against the rest, and `predict_proba` divides their
    probabilities by their sum. `n_terms_`, `loss_` and `objective_` are then sums over the classes, `lambda0_` and
    `lambda2_` arrays in the order of `classes_`.

    Dense float64 and float32 arrays and CSC matrices are not copied, unless the mean of a column is more than a hundred
    times its standard deviation, or its largest value is above 65536 or below 1 / 65536.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsegam import SparseLinearClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 50))
    >>> model = SparseLinearClassifier(lambda2=0.01).fit(X, X[:, 3] - X[:, 7] > 0)
    >>> np.flatnonzero(model.coef_).tolist()
    [3, 7]
    """

    classes_: NDArray[Any]
    estimators_: list["SparseLinearClassifier"]
    search_stats_: dict[str, int]
    coef_: FloatArray
    intercept_: FloatArray

    def __init__(  # noqa: PLR0913
        self,
        *,
        loss: ClassLoss = "logistic",
        lambda0: Lambda0 = "bic",
        lambda2: Lambda2 = 1e-3,
        max_terms: int | None = None,
        lambda1: float = 0.0,
        standardize: bool = True,
        fit_intercept: bool = True,
        coef_bounds: Any = None,
        unpenalized: Any = None,
        class_weight: ClassWeight = None,
        positive: Any = None,
        device: str = "cpu",
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: int = 0,
        callback: Progress | None = None,
    ) -> None:
        self.loss = loss
        self.lambda0 = lambda0
        self.lambda2 = lambda2
        self.max_terms = max_terms
        self.lambda1 = lambda1
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.coef_bounds = coef_bounds
        self.unpenalized = unpenalized
        self.class_weight = class_weight
        self.positive = positive
        self.device = device
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "SparseLinearClassifier":
        """Fit the model (one per class for more than two classes).

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
            Finite numbers.
        y : array-like of shape (n_rows,)
            Labels of two or more classes.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows; a weight of 2 is the same as the row twice. Criteria for lambda0 treat their sum as the
            number of rows: divide survey weights by their mean.

        Returns
        -------
        SparseLinearClassifier
            The fitted estimator.
        """
        self._fit(X, y, sample_weight)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return the score of each row: log-odds, up to a factor that depends on the loss.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame
            Rows with the columns of the training data.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            Scores of `classes_[1]`, or of each class against the rest if there are more than two. If `positive` is
            `classes_[0]`, they fall with its probability: `model_.decision_function` returns its scores.
        """
        return class_scores(self, self._scores(X))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame
            Rows with the columns of the training data.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of `classes_`.
        """
        return class_probabilities(self, self._scores(X))

    def _spec(self) -> FitSpec:
        check_class_loss(self.loss, "SparseLinearRegressor")
        return self._make_spec(
            loss=self.loss,
            lambda0=self.lambda0,
            class_weight=self.class_weight,
            positive=self.positive,
        )


class SparseLinearRegressor(_LinearEstimator):
    """Best-subset linear regression.

    Minimizes, over models f(x) = b + sum_j w_j x_j with k nonzero coefficients,

        sum_i s_i (y_i - f(x_i))^2 / 2 + lambda0 k + lambda2 sum_j (sigma_j w_j)^2 + lambda1 sum_j sigma_j |w_j|,

    where s_i are the weights and sigma_j is the norm of the centred column j (1 without `standardize`).

    Parameters
    ----------
    lambda0 : float or {"auto", "aic", "bic"}, default="bic"
        Penalty per term. A term is kept only if it lowers half the sum of squares by at least this much. "aic" is the
        noise variance and "bic" is log(n)/2 times the noise variance, where n is the sum of the weights, or the number
        of rows if that is larger, and the variance is estimated from the residuals. "auto" also accounts for the number
        of candidates: for a model of k terms it is the larger of 0.4 times "bic" and the noise variance times 0.6 log(P
        / k) (additive models, P thresholds and levels) or 0.7 log(P / k) (linear models, P columns). Above 10,000 rows
        the share of "bic" grows, up to 1 at 160,000 rows. The resulting number is `lambda0_`.
    lambda2 : float or "auto", default=1e-3
        Ridge penalty on the standardized coefficients. Its shrinkage does not depend on the number of rows; that of
        "auto" falls as n grows: it is 10 divided by the sum of the weights with standardize=True, otherwise as for
        additive models.
    max_terms : int or None, default=None
        Largest number of terms; None for no limit below 500.
    lambda1 : float, default=0.0
        Lasso penalty on the standardized coefficients, which shrinks them if the data are noisy.
    standardize : bool, default=True
        Whether lambda1 and lambda2 apply to the coefficients times the norms of their centred columns, so that the
        units of the columns do not matter, or to the coefficients themselves.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is never penalized.
    coef_bounds : pair or None, default=None
        Lower and upper bounds of the coefficients, low <= 0 <= high, each a number or an array with one entry per
        column.
    unpenalized : list of columns or None, default=None
        Columns that are in every model and free of lambda0, by name or position. They count as terms.
    device : {"cpu", "cuda"}, default="cpu"
        Where sums over rows are computed. "cuda" is an NVIDIA GPU, for tables of millions of rows; it needs CuPy. The
        data may be on the GPU already: CuPy arrays, cuDF frames, PyTorch and JAX tensors.
    n_jobs : int or None, default=None
        Number of threads; None is 1, -1 is all cores. The result does not depend on it.
    time_limit : float or None, default=None
        Seconds after which the best model found so far is returned, with a ConvergenceWarning. The limit covers
        reading, binning and all searches, of all classes and folds together.
    verbose : int, default=0
        Whether to show a progress bar, in terminals and notebooks, if tqdm is installed.
    callback : callable or None, default=None
        Called with (n_terms, objective) for each model found.

    Attributes
    ----------
    model_, n_terms_ : LinearModel or OneVsRestModel, int
        The model, which predicts without the compiled core and prints as an equation, and its number of terms.
    coef_ : ndarray of shape (n_features,)
        Coefficients of all columns, zero for those outside the model.
    intercept_ : float
        The intercept.
    loss_, objective_ : float
        The loss, and the loss plus all penalties (sums over classes if there are more than two).
    lambda0_, lambda2_, standardize_ : float, float, bool
        The penalty per term, the ridge penalty, and whether it applies to standardized coefficients.
    search_stats_ : dict
        Counts of the operations of the search: `passes` over the data, and moves tried.
    n_iter_ : int
        Number of moves of the search.
    n_features_in_, feature_names_in_ : int, ndarray
        The number and the names of the features; names only if all are strings.

    See Also
    --------
    SparseLinearRegressorCV : Chooses the number of columns by cross-validation.
    SparseLinearClassifier : The classifier.
    linear_path : Returns the best model of every size.

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

    search_stats_: dict[str, int]
    coef_: FloatArray
    intercept_: float

    def __init__(  # noqa: PLR0913
        self,
        *,
        lambda0: Lambda0 = "bic",
        lambda2: Lambda2 = 1e-3,
        max_terms: int | None = None,
        lambda1: float = 0.0,
        standardize: bool = True,
        fit_intercept: bool = True,
        coef_bounds: Any = None,
        unpenalized: Any = None,
        device: str = "cpu",
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: int = 0,
        callback: Progress | None = None,
    ) -> None:
        self.lambda0 = lambda0
        self.lambda2 = lambda2
        self.max_terms = max_terms
        self.lambda1 = lambda1
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.coef_bounds = coef_bounds
        self.unpenalized = unpenalized
        self.device = device
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "SparseLinearRegressor":
        """Fit the model.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
            Finite numbers.
        y : array-like of shape (n_rows,)
            The target values.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows; a weight of 2 is the same as the row twice. Criteria for lambda0 treat their sum as the
            number of rows: divide survey weights by their mean.

        Returns
        -------
        SparseLinearRegressor
            The fitted estimator.
        """
        self._fit(X, y, sample_weight)
        return self

    def _spec(self) -> FitSpec:
        return self._make_spec(
            loss="squared",
            lambda0=self.lambda0,
        )
