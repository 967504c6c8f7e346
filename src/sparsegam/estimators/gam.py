"""The scikit-learn face, SparseGAMClassifier and SparseGAMRegressor: checks, asks the solver, keeps the answer."""

import html
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted, validate_data

from sparsegam.checks import check_choice
from sparsegam.data import targets
from sparsegam.data.frames import Table, read
from sparsegam.design.binning import Binning
from sparsegam.design.rules import Rules
from sparsegam.estimators.multiclass import OneVsRest
from sparsegam.models.additive import Model
from sparsegam.parameters import documented, keep_arguments, pick
from sparsegam.search.options import DEFAULT_MAX_TERMS, Options
from sparsegam.search.path import build_model
from sparsegam.search.price import check_lambda0, mean_weight, warn_of_weights
from sparsegam.search.problem import Problem, pose
from sparsegam.search.progress import Progress, watched
from sparsegam.search.solver import Fit, fit

Vector = NDArray[np.float64]
SEARCHES = ("exchange", "swap")


class SparseModel(BaseEstimator):  # type: ignore[misc]
    """What all estimators share: reading, keeping the model, scoring with it, showing it."""

    def _read(self, X: Any) -> Table:
        return read(X)

    def _scores(self, X: Any) -> Vector:
        """Return the score of each row, after the checks that scikit-learn makes of names."""
        check_is_fitted(self)
        table = self._read(X)
        self._check_columns(X, table, reset=False)
        scores: Vector = self.model_.score_table(table.named(self.model_.feature_names))
        return scores

    def _check_columns(self, X: Any, table: Table, *, y: Any = "no_validation", reset: bool) -> None:
        """Check or learn names and number of columns, as scikit-learn does."""
        source = table.source if isinstance(table.source, np.ndarray) else X
        validate_data(self, source, y, reset=reset, skip_check_array=True)

    def _keep_model(self, model: Model) -> None:
        self.model_ = model
        self.intercept_ = model.intercept
        self.terms_ = model.terms
        self.n_terms_ = model.n_terms

    def _html_repr(self) -> str:
        """Return scikit-learn's diagram and, once fitted, the equation below it."""
        diagram: str = estimator_html_repr(self)
        if not hasattr(self, "model_"):
            return diagram
        return f"{diagram}<pre>{html.escape(self.model_.equation())}</pre>"

    def _repr_html_inner(self) -> str:
        return self._html_repr()


class Classifies(ClassifierMixin):  # type: ignore[misc]
    """What classifiers share: labels, probabilities."""

    def _target(self, y: Any, sample_weight: Any, n_rows: int) -> tuple[Vector, Vector]:
        """Return the labels as -1 and 1, and the weights of the rows; keep the classes."""
        labels = targets.one_column(y, n_rows)
        weight = targets.weights(sample_weight, n_rows)
        self.classes_, signs = targets.binary(labels, weight)
        return signs, targets.class_weights(self.class_weight, self.classes_, signs, weight)

    def _loss(self) -> str:
        if self.loss == "squared":
            other = type(self).__name__.replace("Classifier", "Regressor")
            msg = f"loss must be one of 'logistic', 'exponential', got 'squared': use {other} for it."
            raise ValueError(msg)
        return str(self.loss)

    def decision_function(self, X: Any) -> Vector:
        """Return the score of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows with the columns that the model was fitted with.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            Intercept plus the coefficients of the terms that hold; above zero for the second class. With more than two
            classes, a column for each against the rest.
        """
        scores: Vector = self._scores(X)
        return scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likeliest class of each row.

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
        best = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def predict_proba(self, X: Any) -> Vector:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows with the columns that the model was fitted with.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            One column per class, in the order of `classes_`. With more than two, those of each class against the rest,
            divided by their sum.
        """
        scores = self._scores(X)
        probabilities: Vector = self.model_.probabilities(scores)
        return probabilities


class Regresses(RegressorMixin):  # type: ignore[misc]
    """What regressions share: real responses, the squared loss."""

    classes_ = None

    def _target(self, y: Any, sample_weight: Any, n_rows: int) -> tuple[Vector, Vector]:
        """Return the responses and the weights of the rows."""
        return targets.real(targets.one_column(y, n_rows)), targets.weights(sample_weight, n_rows)

    def _loss(self) -> str:
        return "squared"

    def predict(self, X: Any) -> Vector:
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
        scores: Vector = self._scores(X)
        return scores


class SparseGAM(SparseModel):
    """What the additive models share: tables of any columns, binned and searched."""

    def report(self, file: Any, X: Any = None, y: Any = None, **options: Any) -> Any:
        """Write a report on the fitted model: one HTML file that opens anywhere.

        Parameters
        ----------
        file : str or path-like
            The file to write.
        X, y : array-like or data frame, and array-like, optional
            The rows of the fit.
        **options : dict
            `X_test`, `y_test`, `title` and others of `sparsegam.report.write_report`.

        Returns
        -------
        pathlib.Path
            The file.
        """
        from sparsegam.report import write_report

        check_is_fitted(self)
        known = {"settings": self.get_params(), "path": getattr(self, "path_", None)}
        return write_report(file, self.model_, X, y, **known | options)

    def _pose(self, table: Table, target: Vector, weight: Vector, options: Options) -> Problem:
        given = vars(self)
        return pose(table, target, weight, options, pick(Binning, given), pick(Rules, given))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


class FitsOne(SparseModel):
    """Fits the model of one price per term; `_pose` says how a table becomes a problem."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Search the model.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Numbers, booleans, dates, text and categories; values may be missing.
        y : array-like of shape (n_rows,)
            Labels of two classes, or the responses of a regression.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows; a weight of 2 is the same as the row twice, 0 the same as no row.
            "aic" and "bic" take their sum for the number of rows: divide weights of a survey by their mean.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        self._fit(X, y, sample_weight)
        warn_of_weights(self.lambda0, mean_weight(sample_weight))
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        check_lambda0(self.lambda0)
        options = pick(Options, vars(self) | {"loss": self._loss()})
        table = self._read(X)
        self._check_columns(X, table, y=y, reset=True)
        target, weight = self._target(y, sample_weight, table.n_rows)
        self._search(self._pose(table, target, weight, options))
        return self

    def _search(self, problem: Problem) -> None:
        """Search and keep what was found."""
        with watched(self.callback, self.verbose, self.max_terms) as report:
            found = self._found(problem, report)
        self._keep_model(build_model(problem.design, found.point, problem.options.loss, self.classes_))
        self.lambda0_ = found.lambda0
        self.objective_ = found.objective
        self.loss_ = found.point.loss
        self.certificate_ = found.certificate
        self.search_stats_ = found.counts
        self.n_iter_ = max(1, found.counts.get("moves", 1))
        self._warn(found)

    def _found(self, problem: Problem, report: Progress | None) -> Fit:
        """Run the search that was asked for by name."""
        check_choice("search", self.search, SEARCHES)
        if self.search == "exchange":
            return fit(problem, self.lambda0, report)
        from sparsegam.search.swap import Swaps, fit_swap

        return fit_swap(problem, self.lambda0, pick(Swaps, vars(self)))

    def _warn(self, found: Fit) -> None:
        if not found.finished:
            msg = (
                f"the search was stopped by time_limit={self.time_limit} s and kept the best model found so far "
                f"({self.n_terms_} terms): raise time_limit, or make the search smaller with a larger lambda0, "
                "fewer max_terms or fewer max_bins."
            )
            warnings.warn(msg, ConvergenceWarning, stacklevel=5)
        elif self.max_terms is None and self.n_terms_ >= DEFAULT_MAX_TERMS:
            msg = f"the model reached {DEFAULT_MAX_TERMS} terms, the default limit: raise lambda0 or set max_terms."
            warnings.warn(msg, ConvergenceWarning, stacklevel=5)


@documented
class SparseGAMClassifier(OneVsRest, Classifies, FitsOne, SparseGAM):
    """Sparse additive classifier of step functions.

    Minimises, over models f(x) = b + sum_j w_j phi_j(x) with k terms, each of them `x <= t`, `x == level`,
    `x is missing` or the like,

        sum_i s_i loss(y_i, f(x_i)) + lambda0 k + lambda2 sum_j (sigma_j w_j)^2,

    where s_i are weights and sigma_j is the norm of the centred column of term j.

    Parameters
    ----------
    loss : {"logistic", "exponential"}
        The loss, summed over rows.
    lambda0 : float or {"aic", "bic"}
        Price of a term: it must lower the total loss by so much to stay. "aic" is 1 and "bic" is log(n)/2, where n
        is the sum of the weights.
    {search}
    {table}
    class_weight : dict or "balanced", optional
        Weights of the classes, multiplied with `sample_weight`; "balanced" gives both the same total.
    {run}
    search : {"exchange", "swap"}
        "exchange" scores every add, drop and swap at once, with the others re-optimised; "swap" is the paper's search.
    cuts : {"auto", "none", "linear", "quadratic", "selfconcordant"}
        For "swap": the lower bound that rules out a column before its line search.
    order : {"dynamic", "sequential"}
        For "swap": try the term that failed least often first, or go by column.
    certify : bool
        Whether to prove that no exchange of one term for another column helps, and to go on from any better model that
        the proof finds. Takes several times as long, and often finds a lower objective.
    {report}

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

    Notes
    -----
    Missing values are never in the order of the others: where a column had some in `fit`, `x is missing` is a
    candidate; where it had none, a missing value adds nothing to the score. Levels that `fit` did not see add nothing
    either, and a warning counts them.

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
        max_features: int | None = None,
        max_terms_per_feature: int | None = None,
        features_always: Any = None,
        features_never: Any = None,
        feature_cost: Any = None,
        monotone: Any = None,
        max_bins: int = 1000,
        thresholds: Any = None,
        min_samples_bin: int = 1,
        categorical: Any = "auto",
        min_category_count: int = 5,
        special_values: Any = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        search: str = "exchange",
        cuts: str = "auto",
        order: str = "dynamic",
        certify: bool = False,
        verbose: int = 0,
        callback: Progress | None = None,
    ) -> None:
        keep_arguments(self, locals())


@documented
class SparseGAMRegressor(Regresses, FitsOne, SparseGAM):
    """Sparse additive regression of step functions.

    Minimises, over models f(x) = b + sum_j w_j phi_j(x) with k terms, each of them `x <= t`, `x == level`,
    `x is missing` or the like,

        sum_i s_i (y_i - f(x_i))^2 / 2 + lambda0 k + lambda2 sum_j (sigma_j w_j)^2,

    where s_i are weights and sigma_j is the norm of the centred column of term j.

    Parameters
    ----------
    lambda0 : float or {"aic", "bic"}
        Price of a term: it must lower half the sum of squares by so much to stay. "aic" is the noise variance and
        "bic" log(n)/2 times it, where n is the sum of the weights and the variance is estimated from the residuals;
        so they do not depend on the units of y. `lambda0_` is the price found.
    {search}
    {table}
    {run}
    search : {"exchange", "swap"}
        "exchange" scores every add, drop and swap at once, with the others re-optimised; "swap" is the paper's search.
    cuts : {"auto", "none", "linear", "quadratic", "selfconcordant"}
        For "swap": the lower bound that rules out a column before its line search.
    order : {"dynamic", "sequential"}
        For "swap": try the term that failed least often first, or go by column.
    certify : bool
        Whether to prove that no exchange of one term for another column helps, and to go on from any better model that
        the proof finds. Takes several times as long, and often finds a lower objective.
    {report}

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

    Notes
    -----
    Missing values and unseen levels are treated as by SparseGAMClassifier.

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
        max_features: int | None = None,
        max_terms_per_feature: int | None = None,
        features_always: Any = None,
        features_never: Any = None,
        feature_cost: Any = None,
        monotone: Any = None,
        max_bins: int = 1000,
        thresholds: Any = None,
        min_samples_bin: int = 1,
        categorical: Any = "auto",
        min_category_count: int = 5,
        special_values: Any = None,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        search: str = "exchange",
        cuts: str = "auto",
        order: str = "dynamic",
        certify: bool = False,
        verbose: int = 0,
        callback: Progress | None = None,
    ) -> None:
        keep_arguments(self, locals())
