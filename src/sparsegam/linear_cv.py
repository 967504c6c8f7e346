"""Sparse linear models with a cross-validated size: SparseLinearClassifierCV and SparseLinearRegressorCV."""

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from sparsegam._fit.estimators import class_probabilities, class_scores
from sparsegam._fit.spec import FitSpec, SizeSelection, check_class_loss
from sparsegam._search.path import LinearPath
from sparsegam._search.problem import Progress
from sparsegam.arrays import FloatArray
from sparsegam.choices import ClassLoss, ClassWeight, Lambda2Choice, Repeats, Rule
from sparsegam.linear import _LinearEstimator

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class SparseLinearClassifierCV(_LinearEstimator):
    """Best-subset linear classifier whose number of columns is chosen by cross-validation.

    For each fold and ridge, models of every size up to `max_terms` are fitted to the training rows and scored on the
    test rows. The scores select a ridge and a size, and the models of every size are then fitted to all rows with that
    ridge.

    Parameters
    ----------
    loss : {"logistic", "exponential"}, default="logistic"
        The loss, summed over rows. The exponential loss needs columns of two values each.
    lambda2 : float, list of float or "auto", default=1e-3
        Ridge penalty on the standardized coefficients. The best value of a list is chosen together with the size.
        "auto" is a grid of penalties that are divided by the sum of the weights.
    max_terms : int, default=40
        Largest number of terms to try.
    cv : int, splitter, iterable or None, default=None
        The folds, as in scikit-learn; None is 5. A number of folds is shuffled, and stratified by class.
    scoring : str, callable or None, default=None
        The score to maximize, as in scikit-learn; None is "neg_log_loss" for classifiers and "neg_mean_squared_error"
        for regressors.
    rule : {"steady", "best", "one_se"}, default="best"
        How the ridge and the size are chosen. "best" selects the best mean score. "steady" selects the best mean score
        after averaging each size with the sizes one term smaller and larger, which count half. "one_se" selects the
        smallest size whose mean score is within one standard error of the best, where the standard error is that of the
        differences on the same folds.
    n_repeats : int or "auto", default="auto"
        How often a number of folds is drawn. Repeats make the choice more stable for small tables. "auto" is 4 below
        2,501 rows, 3 below 3,334, 2 below 5,001, and 1 otherwise or with a `time_limit`.
    random_state : int, RandomState or None, default=0
        Seed of the folds.
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
    path_ : LinearPath
        The best models of all sizes on all rows, with the chosen ridge.
    cv_results_ : dict of ndarray
        By ridge and size: lambda2, n_terms, lambda0, mean_test_score, std_test_score, se_test_score, steady_test_score
        (the mean over neighbouring sizes), rank_test_score, and split0_test_score etc. for each fold. Repeated splits
        do not make standard errors smaller, as they test the same rows.
    best_n_terms_, best_score_ : int, float
        The chosen size and its mean score.
    best_lambda2_, lambda2_, standardize_ : float, float, bool
        The chosen ridge, and whether it applies to standardized coefficients.
    best_lambda0_, lambda0_ : float
        A penalty per term at which the chosen size is the best of the path; NaN if there is none.
    n_iter_ : int
        Number of moves of the search on all rows.
    loss_, objective_ : float
        The loss, and the loss plus all penalties (sums over classes if there are more than two).
    n_features_in_, feature_names_in_ : int, ndarray
        The number and the names of the features; names only if all are strings.

    See Also
    --------
    SparseLinearClassifier : Chooses the number of columns by a penalty per term.
    SparseLinearRegressorCV : The regressor for numeric targets.

    Notes
    -----
    With more than two classes, a size is chosen for each class against the rest, on the same folds; the scorer receives
    True for the class and False for the rest. `path_` and `cv_results_` are then tuples, `best_n_terms_`,
    `best_score_`, `best_lambda0_`, `lambda0_` and `lambda2_` arrays in the order of `classes_`, and `n_terms_`, `loss_`
    and `objective_` sums. `predict_proba` divides the probabilities of the classes by their sum.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsegam import SparseLinearClassifierCV
    >>> X = np.random.default_rng(0).normal(size=(200, 20))
    >>> model = SparseLinearClassifierCV(max_terms=4).fit(X, X[:, 3] - X[:, 7] > 0)
    >>> model.n_terms_
    2
    """

    classes_: NDArray[Any]
    estimators_: list["SparseLinearClassifierCV"]
    path_: LinearPath
    cv_results_: dict[str, NDArray[Any]]
    best_n_terms_: int
    best_score_: float
    best_lambda0_: float
    best_lambda2_: float
    coef_: FloatArray
    intercept_: FloatArray

    def __init__(  # noqa: PLR0913
        self,
        *,
        loss: ClassLoss = "logistic",
        lambda2: Lambda2Choice = 1e-3,
        max_terms: int = 40,
        cv: Any = None,
        scoring: Any = None,
        rule: Rule = "best",
        n_repeats: Repeats = "auto",
        random_state: Any = 0,
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
        self.lambda2 = lambda2
        self.max_terms = max_terms
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.n_repeats = n_repeats
        self.random_state = random_state
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> "SparseLinearClassifierCV":
        """Choose the ridge and the number of terms by cross-validation, and fit the model to all rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
            Finite numbers.
        y : array-like of shape (n_rows,)
            Labels of two or more classes.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows; a weight of 2 is the same as the row twice.
        groups : array-like of shape (n_rows,), default=None
            Groups of rows, for splitters that keep them together.

        Returns
        -------
        SparseLinearClassifierCV
            The fitted estimator.
        """
        self._fit(X, y, sample_weight, groups)
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

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Plot the mean score by number of terms with its standard error, and mark the chosen size.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        from sparsegam.plots import plot_cv_scores

        return plot_cv_scores(self, ax=ax)

    def _spec(self) -> FitSpec:
        check_class_loss(self.loss, "SparseLinearRegressorCV")
        return self._make_spec(
            loss=self.loss,
            class_weight=self.class_weight,
            positive=self.positive,
            selection=SizeSelection(
                cv=self.cv,
                scoring=self.scoring,
                rule=self.rule,
                n_repeats=self.n_repeats,
                random_state=self.random_state,
            ),
        )


class SparseLinearRegressorCV(_LinearEstimator):
    """Best-subset linear regression whose number of columns is chosen by cross-validation.

    For each fold and ridge, models of every size up to `max_terms` are fitted to the training rows and scored on the
    test rows. The scores select a ridge and a size, and the models of every size are then fitted to all rows with that
    ridge.

    Parameters
    ----------
    lambda2 : float, list of float or "auto", default=1e-3
        Ridge penalty on the standardized coefficients. The best value of a list is chosen together with the size.
        "auto" is a grid of penalties that are divided by the sum of the weights.
    max_terms : int, default=40
        Largest number of terms to try.
    cv : int, splitter, iterable or None, default=None
        The folds, as in scikit-learn; None is 5. A number of folds is shuffled, and stratified by class.
    scoring : str, callable or None, default=None
        The score to maximize, as in scikit-learn; None is "neg_log_loss" for classifiers and "neg_mean_squared_error"
        for regressors.
    rule : {"steady", "best", "one_se"}, default="best"
        How the ridge and the size are chosen. "best" selects the best mean score. "steady" selects the best mean score
        after averaging each size with the sizes one term smaller and larger, which count half. "one_se" selects the
        smallest size whose mean score is within one standard error of the best, where the standard error is that of the
        differences on the same folds.
    n_repeats : int or "auto", default="auto"
        How often a number of folds is drawn. Repeats make the choice more stable for small tables. "auto" is 4 below
        2,501 rows, 3 below 3,334, 2 below 5,001, and 1 otherwise or with a `time_limit`.
    random_state : int, RandomState or None, default=0
        Seed of the folds.
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
    path_ : LinearPath
        The best models of all sizes on all rows, with the chosen ridge.
    cv_results_ : dict of ndarray
        By ridge and size: lambda2, n_terms, lambda0, mean_test_score, std_test_score, se_test_score, steady_test_score
        (the mean over neighbouring sizes), rank_test_score, and split0_test_score etc. for each fold. Repeated splits
        do not make standard errors smaller, as they test the same rows.
    best_n_terms_, best_score_ : int, float
        The chosen size and its mean score.
    best_lambda2_, lambda2_, standardize_ : float, float, bool
        The chosen ridge, and whether it applies to standardized coefficients.
    best_lambda0_, lambda0_ : float
        A penalty per term at which the chosen size is the best of the path; NaN if there is none.
    n_iter_ : int
        Number of moves of the search on all rows.
    loss_, objective_ : float
        The loss, and the loss plus all penalties (sums over classes if there are more than two).
    n_features_in_, feature_names_in_ : int, ndarray
        The number and the names of the features; names only if all are strings.

    See Also
    --------
    SparseLinearRegressor : Chooses the number of columns by a penalty per term.
    SparseLinearClassifierCV : The classifier.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsegam import SparseLinearRegressorCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 20))
    >>> model = SparseLinearRegressorCV(max_terms=4).fit(X, 2 * X[:, 4] - X[:, 11] + rng.normal(size=200))
    >>> sorted(model.model_.features)
    ['x11', 'x4']
    """

    path_: LinearPath
    cv_results_: dict[str, NDArray[Any]]
    best_n_terms_: int
    best_score_: float
    best_lambda0_: float
    best_lambda2_: float
    coef_: FloatArray
    intercept_: float

    def __init__(  # noqa: PLR0913
        self,
        *,
        lambda2: Lambda2Choice = 1e-3,
        max_terms: int = 40,
        cv: Any = None,
        scoring: Any = None,
        rule: Rule = "best",
        n_repeats: Repeats = "auto",
        random_state: Any = 0,
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
        self.lambda2 = lambda2
        self.max_terms = max_terms
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.n_repeats = n_repeats
        self.random_state = random_state
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> "SparseLinearRegressorCV":
        """Choose the ridge and the number of terms by cross-validation, and fit the model to all rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
            Finite numbers.
        y : array-like of shape (n_rows,)
            The target values.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows; a weight of 2 is the same as the row twice.
        groups : array-like of shape (n_rows,), default=None
            Groups of rows, for splitters that keep them together.

        Returns
        -------
        SparseLinearRegressorCV
            The fitted estimator.
        """
        self._fit(X, y, sample_weight, groups)
        return self

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Plot the mean score by number of terms with its standard error, and mark the chosen size.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        from sparsegam.plots import plot_cv_scores

        return plot_cv_scores(self, ax=ax)

    def _spec(self) -> FitSpec:
        return self._make_spec(
            loss="squared",
            selection=SizeSelection(
                cv=self.cv,
                scoring=self.scoring,
                rule=self.rule,
                n_repeats=self.n_repeats,
                random_state=self.random_state,
            ),
        )
