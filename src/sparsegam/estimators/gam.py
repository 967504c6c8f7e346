"""Sparse additive models of step functions: SparseGAMClassifier and SparseGAMRegressor."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from sklearn.utils.validation import check_is_fitted

from sparsegam.checks import check_choice
from sparsegam.estimators.fitting import FitsOne, SparseModel
from sparsegam.estimators.multiclass import OneVsRest
from sparsegam.estimators.outcomes import Classifies, Regresses
from sparsegam.models.additive import Model
from sparsegam.parameters import documented, pick
from sparsegam.search.path import Path
from sparsegam.search.problem import Problem
from sparsegam.search.progress import Progress
from sparsegam.search.solver import Fit
from sparsegam.search.tables import Tables

SEARCHES = ("exchange", "swap")


@dataclass(kw_only=True, eq=False, repr=False)
class SparseGAM(SparseModel):
    """What the additive models share: tables of any columns, binned and searched."""

    max_features: int | None = None
    max_terms_per_feature: int | None = None
    features_always: Any = None
    features_never: Any = None
    feature_cost: Any = None
    monotone: Any = None
    max_bins: int = 1000
    thresholds: Any = None
    min_samples_bin: int = 1
    categorical: Any = "auto"
    min_category_count: int = 5
    special_values: Any = None

    def report(  # noqa: PLR0913
        self,
        file: str | os.PathLike[str],
        X: Any = None,
        y: Any = None,
        *,
        X_test: Any = None,
        y_test: Any = None,
        title: str = "A sparse additive model",
        settings: Mapping[str, Any] | None = None,
        path: Path[Model] | None = None,
        sample_weight: Any = None,
    ) -> FilePath:
        """Write a report on the fitted model: one HTML file that opens anywhere.

        Parameters
        ----------
        file : str or path-like
            The file to write.
        X, y : array-like or data frame, and array-like, optional
            The rows of the fit.
        X_test, y_test : array-like or data frame, and array-like, optional
            Rows to measure the model on; X and y without them.
        title : str
            Heading of the report.
        settings : mapping, optional
            Options to be printed, and to search frontier and alternatives under; those of the estimator by default.
        path : Path, optional
            The frontier, where the estimator does not know it and it shall not be searched.
        sample_weight : array-like, optional
            Weights of the rows of X in the search of frontier and alternatives.

        Returns
        -------
        pathlib.Path
            The file.
        """
        check_is_fitted(self)
        model: Model = self.model_
        return model.report(
            file,
            X,
            y,
            X_test=X_test,
            y_test=y_test,
            title=title,
            settings=self.get_params() if settings is None else settings,
            path=getattr(self, "path_", None) if path is None else path,
            sample_weight=sample_weight,
        )

    def _inputs(self) -> Tables:
        return Tables.of(vars(self))

    def _keep_model(self, model: Any) -> None:
        super()._keep_model(model)
        self.intercept_ = model.intercept
        self.terms_ = model.terms

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class FitsOneGAM(FitsOne, SparseGAM):
    """Fits an additive model at one price per term, by a search that goes by its name."""

    search: str = "exchange"
    cuts: str = "auto"
    order: str = "dynamic"
    certify: bool = False

    def _search(self, problem: Problem[Any], report: Progress | None) -> Fit:
        check_choice("search", self.search, SEARCHES)
        if self.search == "exchange":
            return super()._search(problem, report)
        from sparsegam.search.swap import Swaps, fit_swap

        return fit_swap(problem, self.lambda0, pick(Swaps, vars(self)))

    def _keep(self, problem: Problem[Any], found: Fit) -> None:
        super()._keep(problem, found)
        self.certificate_ = found.certificate


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class SparseGAMClassifier(OneVsRest, Classifies, FitsOneGAM):
    """Sparse additive classifier of step functions.

    Minimises, over models f(x) = b + sum_j w_j phi_j(x) with k terms, each of them `x <= t`, `x == level`,
    `x is missing` or the like,

        sum_i s_i loss(y_i, f(x_i)) + lambda0 k + lambda2 sum_j (sigma_j w_j)^2,

    where s_i are weights and sigma_j is the norm of the centred column of term j.

    Parameters
    ----------
    loss : {"logistic", "exponential"}
        The loss, summed over rows.
    {price}
    {search}
    {table}
    class_weight : dict or "balanced", optional
        Weights of the classes, multiplied with `sample_weight`; "balanced" gives both the same total.
    {run_by_name}

    Attributes
    ----------
    model_ : Model
        The model: predicts without this package's compiled part, prints as an equation, saves as JSON.
    classes_ : ndarray of shape (2,)
        The labels; scores above zero stand for the second.
    {fitted_gam}

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


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class SparseGAMRegressor(Regresses, FitsOneGAM):
    """Sparse additive regression of step functions.

    Minimises, over models f(x) = b + sum_j w_j phi_j(x) with k terms, each of them `x <= t`, `x == level`,
    `x is missing` or the like,

        sum_i s_i (y_i - f(x_i))^2 / 2 + lambda0 k + lambda2 sum_j (sigma_j w_j)^2,

    where s_i are weights and sigma_j is the norm of the centred column of term j.

    Parameters
    ----------
    {noise_price}
    {search}
    {table}
    {run_by_name}

    Attributes
    ----------
    model_ : Model
        The model: predicts without this package's compiled part, prints as an equation, saves as JSON.
    {fitted_gam}

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
