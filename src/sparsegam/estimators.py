"""The scikit-learn face, SparseGAMClassifier and SparseGAMRegressor: checks, asks the solver, keeps the answer."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from sparsegam import targets
from sparsegam.frames import Table, read
from sparsegam.path import build_model, progress
from sparsegam.solver import DEFAULT_MAX_TERMS, Fit, Options, Problem, check_lambda0, fit, pose


class _SparseGAM(BaseEstimator):  # type: ignore[misc]
    """What both estimators share: reading, searching and keeping the result."""

    def _scores(self, X: Any) -> NDArray[np.float64]:
        """Return the score of each row, after the checks that scikit-learn makes of names and values."""
        check_is_fitted(self)
        table = read(X)
        self._check_columns(X, table, reset=False)
        table.check_finite()
        scores: NDArray[np.float64] = self.model_.score_table(table.by_position())
        return scores

    def _options(self, loss: str) -> Options:
        check_lambda0(self.lambda0)
        return Options(
            loss=loss,
            lambda2=self.lambda2,
            max_terms=self.max_terms,
            max_bins=self.max_bins,
            n_jobs=self.n_jobs,
            time_limit=self.time_limit,
            certify=self.certify,
        )

    def _check_columns(self, X: Any, table: Table, *, y: Any = "no_validation", reset: bool) -> None:
        """Check or learn names and number of columns, as scikit-learn does."""
        source = table.source if isinstance(table.source, np.ndarray) else X
        validate_data(self, source, y, reset=reset, skip_check_array=True)

    def _search(self, problem: Problem, classes: NDArray[Any] | None) -> None:
        """Search and keep what was found."""
        found = fit(problem, self.lambda0, progress(None, self.verbose))
        self.model_ = build_model(problem.design, found.point, problem.options.loss, classes)
        self.lambda0_ = found.lambda0
        self.objective_ = found.objective
        self.loss_ = found.point.loss
        self.intercept_ = self.model_.intercept
        self.terms_ = self.model_.terms
        self.n_terms_ = self.model_.n_terms
        self.certificate_ = found.certificate
        self.search_stats_ = found.counts
        self.n_iter_ = max(1, found.counts.get("moves", 1))
        self._warn(found)

    def _warn(self, found: Fit) -> None:
        if not found.finished:
            msg = (
                f"the search was stopped by time_limit={self.time_limit} s and kept the best model found so far "
                f"({self.n_terms_} terms): raise time_limit, or make the search smaller with a larger lambda0, "
                "fewer max_terms or fewer max_bins."
            )
            warnings.warn(msg, ConvergenceWarning, stacklevel=4)
        elif self.max_terms is None and self.n_terms_ >= DEFAULT_MAX_TERMS:
            msg = f"the model reached {DEFAULT_MAX_TERMS} terms, the default limit: raise lambda0 or set max_terms."
            warnings.warn(msg, ConvergenceWarning, stacklevel=4)


class SparseGAMClassifier(ClassifierMixin, _SparseGAM):  # type: ignore[misc]
    """Sparse additive classifier of step functions.

    Minimises, over models f(x) = b + sum_j w_j 1[x_feature(j) <= t_j] with k terms,

        sum_i s_i loss(y_i, f(x_i)) + lambda0 k + lambda2 sum_j (sigma_j w_j)^2,

    where s_i are weights and sigma_j is the norm of the centred column of term j.

    Parameters
    ----------
    loss : {"logistic", "exponential"}
        The loss, summed over rows.
    lambda0 : float or {"aic", "bic"}
        Price of a term: it must lower the total loss by so much to stay. "aic" is 1 and "bic" is log(n)/2, where n
        is the sum of the weights.
    lambda2 : float
        Ridge penalty on the standardised coefficients.
    max_terms : int, optional
        Largest number of terms.
    max_bins : int
        Thresholds are at every unique value of a column with at most so many, else at quantiles.
    class_weight : dict or "balanced", optional
        Weights of the classes, multiplied with `sample_weight`; "balanced" gives both the same total.
    n_jobs : int, optional
        Number of threads; None is one, -1 is all cores. The result does not depend on it.
    time_limit : float, optional
        Seconds after which the best model so far is kept, with a ConvergenceWarning.
    certify : bool
        Whether to prove that no exchange of one term for another column helps, and to go on from any better model that
        the proof finds. Takes several times as long, and often finds a lower objective.
    verbose : int
        Whether to print a line as the search goes on.

    Attributes
    ----------
    model_ : Model
        The model: predicts without this package's compiled part, prints as an equation, saves as JSON.
    classes_ : ndarray of shape (2,)
        The labels; scores above zero stand for the second.
    intercept_, terms_, n_terms_ : float, tuple of Term, int
        The parts of the model.
    loss_, objective_, lambda0_ : float
        Loss, loss with ridge and price of the terms, and the price of one term.
    certificate_ : Certificate or None
        With `certify`: whether the model was proved to be swap 1-OPT, and at what cost.
    search_stats_ : dict
        Counts of what the search did.
    n_iter_ : int
        Number of moves the search made.
    n_features_in_, feature_names_in_ : int, ndarray
        The columns seen in `fit`.

    Examples
    --------
    >>> from sparsegam import SparseGAMClassifier
    >>> ages = [[a] for a in range(20, 60)]
    >>> answers = ["no" if a <= 40 else "yes" for (a,) in ages]
    >>> gam = SparseGAMClassifier(lambda2=0.01).fit(ages, answers)
    >>> gam.terms_[0].condition
    Condition(kind='<=', value=40.0)
    """

    def __init__(  # noqa: PLR0913
        self,
        *,
        loss: str = "logistic",
        lambda0: float | str = "bic",
        lambda2: float = 1e-3,
        max_terms: int | None = None,
        max_bins: int = 1000,
        class_weight: Any = None,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        certify: bool = False,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.lambda0 = lambda0
        self.lambda2 = lambda2
        self.max_terms = max_terms
        self.max_bins = max_bins
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.certify = certify
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "SparseGAMClassifier":
        """Search the model.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Numeric columns without missing values.
        y : array-like of shape (n_rows,)
            Labels of two classes.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows; a weight of 2 is the same as the row twice, 0 the same as no row.

        Returns
        -------
        SparseGAMClassifier
            The fitted estimator.
        """
        options = self._options(self._classification_loss())
        table = read(X)
        self._check_columns(X, table, y=y, reset=True)
        labels = targets.one_column(y, table.n_rows)
        weight = targets.weights(sample_weight, table.n_rows)
        self.classes_, signs = targets.binary(labels, weight)
        weight = targets.class_weights(self.class_weight, self.classes_, signs, weight)
        self._search(pose(table, signs, weight, options), self.classes_)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the score of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows with the columns that the model was fitted with.

        Returns
        -------
        ndarray of shape (n_rows,)
            Intercept plus the coefficients of the terms that hold; above zero for the second class.
        """
        return self._scores(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likelier class of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows with the columns that the model was fitted with.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels out of `classes_`.
        """
        scores = self._scores(X)
        labels: NDArray[Any] = self.classes_[(scores > 0).astype(np.intp)]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of both classes.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows with the columns that the model was fitted with.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            One column per class, in the order of `classes_`.
        """
        scores = self._scores(X)
        probabilities: NDArray[np.float64] = self.model_.probabilities(scores)
        return probabilities

    def _classification_loss(self) -> str:
        if self.loss == "squared":
            msg = "loss must be one of 'logistic', 'exponential', got 'squared': use SparseGAMRegressor for it."
            raise ValueError(msg)
        return self.loss

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class SparseGAMRegressor(RegressorMixin, _SparseGAM):  # type: ignore[misc]
    """Sparse additive regression of step functions.

    Minimises, over models f(x) = b + sum_j w_j 1[x_feature(j) <= t_j] with k terms,

        sum_i s_i (y_i - f(x_i))^2 / 2 + lambda0 k + lambda2 sum_j (sigma_j w_j)^2,

    where s_i are weights and sigma_j is the norm of the centred column of term j.

    Parameters
    ----------
    lambda0 : float or {"aic", "bic"}
        Price of a term: it must lower half the sum of squares by so much to stay. "aic" is the noise variance and
        "bic" log(n)/2 times it, where n is the sum of the weights and the variance is estimated from the residuals;
        so they do not depend on the units of y. `lambda0_` is the price found.
    lambda2 : float
        Ridge penalty on the standardised coefficients.
    max_terms : int, optional
        Largest number of terms.
    max_bins : int
        Thresholds are at every unique value of a column with at most so many, else at quantiles.
    n_jobs : int, optional
        Number of threads; None is one, -1 is all cores. The result does not depend on it.
    time_limit : float, optional
        Seconds after which the best model so far is kept, with a ConvergenceWarning.
    certify : bool
        Whether to prove that no exchange of one term for another column helps, and to go on from any better model that
        the proof finds. Takes several times as long, and often finds a lower objective.
    verbose : int
        Whether to print a line as the search goes on.

    Attributes
    ----------
    model_ : Model
        The model: predicts without this package's compiled part, prints as an equation, saves as JSON.
    intercept_, terms_, n_terms_ : float, tuple of Term, int
        The parts of the model.
    loss_, objective_, lambda0_ : float
        Loss, loss with ridge and price of the terms, and the price of one term.
    certificate_ : Certificate or None
        With `certify`: whether the model was proved to be swap 1-OPT, and at what cost.
    search_stats_ : dict
        Counts of what the search did.
    n_iter_ : int
        Number of moves the search made.
    n_features_in_, feature_names_in_ : int, ndarray
        The columns seen in `fit`.

    Examples
    --------
    >>> from sparsegam import SparseGAMRegressor
    >>> gam = SparseGAMRegressor(lambda0=1.0, lambda2=0.0).fit([[1], [2], [3], [4]], [0.0, 0.0, 6.0, 6.0])
    >>> gam.n_terms_, round(gam.intercept_, 6)
    (1, 6.0)
    """

    def __init__(  # noqa: PLR0913
        self,
        *,
        lambda0: float | str = "bic",
        lambda2: float = 1e-3,
        max_terms: int | None = None,
        max_bins: int = 1000,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        certify: bool = False,
        verbose: int = 0,
    ) -> None:
        self.lambda0 = lambda0
        self.lambda2 = lambda2
        self.max_terms = max_terms
        self.max_bins = max_bins
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.certify = certify
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "SparseGAMRegressor":
        """Search the model.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Numeric columns without missing values.
        y : array-like of shape (n_rows,)
            Responses.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows; a weight of 2 is the same as the row twice, 0 the same as no row.

        Returns
        -------
        SparseGAMRegressor
            The fitted estimator.
        """
        options = self._options("squared")
        table = read(X)
        self._check_columns(X, table, y=y, reset=True)
        response = targets.real(targets.one_column(y, table.n_rows))
        weight = targets.weights(sample_weight, table.n_rows)
        self._search(pose(table, response, weight, options), None)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the prediction for each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows with the columns that the model was fitted with.

        Returns
        -------
        ndarray of shape (n_rows,)
            Predictions.
        """
        return self._scores(X)
