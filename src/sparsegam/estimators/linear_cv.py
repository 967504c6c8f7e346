"""Linear models that choose their own size: SparseLinearClassifierCV and SparseLinearRegressorCV."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparsegam.data.columns import Rows
from sparsegam.data.matrix import NumericMatrix, Vector, read_matrix
from sparsegam.estimators.gam import Classifies, Regresses
from sparsegam.estimators.gam_cv import ChoosesSize
from sparsegam.estimators.linear import SparseLinear, search_linear_path
from sparsegam.estimators.multiclass_cv import ChoosesForEach
from sparsegam.parameters import SECTIONS, documented, keep_arguments
from sparsegam.search.path import Path
from sparsegam.search.problem import Problem
from sparsegam.search.progress import Progress

SECTIONS["{folds}"] = """\
cv : int, splitter or iterable, optional
    The folds, as scikit-learn takes them; None is five.
scoring : str or callable, optional
    What a good model is, as scikit-learn takes it; None is "neg_log_loss", or "neg_mean_squared_error".
rule : {"one_se", "best"}
    "one_se" takes the smallest size whose mean score is within one standard error of the best.
"""


@dataclass(frozen=True, eq=False)
class RowsOfMatrix(NumericMatrix):
    """A matrix whose rows can be taken, as cross-validation does."""

    def keep(self, rows: Rows) -> "RowsOfMatrix":
        """Return the same matrix with these rows only."""
        values = self.values[rows]
        return replace(self, values=values if self.is_sparse else np.ascontiguousarray(values))

    def loaded(self) -> "RowsOfMatrix":
        """Return the matrix: it is in memory already."""
        return self


class ChoosesColumns(ChoosesSize, SparseLinear):
    """What the linear models share that choose their size."""

    def _read(self, X: Any) -> Any:
        matrix = read_matrix(X)
        return RowsOfMatrix(matrix.values, matrix.names)

    def _frontier(self, problem: Problem, callback: Progress | None) -> Path:
        return search_linear_path(problem, self.classes_, callback)


@documented
class SparseLinearClassifierCV(ChoosesForEach, Classifies, ChoosesColumns):
    """Best-subset linear classifier that chooses its number of columns by cross-validation.

    The frontier (the best model of each size up to `max_terms`) is searched on all rows and on the training rows of
    each fold; every size is scored on the rows left out.

    Parameters
    ----------
    loss : {"logistic", "exponential"}
        The loss, summed over rows. The exponential one needs columns of two values each.
    {search}
    {folds}
    {coefficients}
    class_weight : dict or "balanced", optional
        Weights of the classes in fitting (not in scoring), multiplied with `sample_weight`.
    {run}
    {report}

    Attributes
    ----------
    path_ : LinearPath
        The frontier of all rows.
    cv_results_ : dict of ndarray
        Scores by size, as in SparseGAMClassifierCV.
    best_n_terms_, best_score_, best_lambda0_ : int, float, float
        The size chosen, its mean score, and a price per column at which it is best (NaN where there is none).
    coef_, intercept_ : ndarray of shape (1, n_features) and (1,), or (n_classes, n_features) and (n_classes,)
        Coefficients of all columns, and the intercept, fitted to all rows.
    model_, n_terms_, classes_ : LinearModel or OneVsRestModel, int, ndarray
        The model, the number of columns in use, the labels.
    n_features_in_, feature_names_in_ : int, ndarray
        The columns seen in `fit`.

    Notes
    -----
    {each_class}
    """

    _default_scoring = "neg_log_loss"

    def __init__(  # noqa: PLR0913
        self,
        *,
        loss: str = "logistic",
        lambda2: float = 1e-3,
        lambda1: float = 0.0,
        max_terms: int = 40,
        cv: Any = None,
        scoring: Any = None,
        rule: str = "one_se",
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
class SparseLinearRegressorCV(Regresses, ChoosesColumns):
    """Best-subset linear regression that chooses its number of columns by cross-validation.

    The frontier (the best model of each size up to `max_terms`) is searched on all rows and on the training rows of
    each fold; every size is scored on the rows left out.

    Parameters
    ----------
    {search}
    {folds}
    {coefficients}
    {run}
    {report}

    Attributes
    ----------
    path_ : LinearPath
        The frontier of all rows.
    cv_results_ : dict of ndarray
        Scores by size, as in SparseGAMClassifierCV.
    best_n_terms_, best_score_, best_lambda0_ : int, float, float
        The size chosen, its mean score, and a price per column at which it is best (NaN where there is none).
    coef_, intercept_ : ndarray of shape (n_features,), float
        Coefficients of all columns, and the intercept, fitted to all rows.
    model_, n_terms_ : LinearModel, int
        The model, and the number of columns in use.
    n_features_in_, feature_names_in_ : int, ndarray
        The columns seen in `fit`.
    """

    _default_scoring = "neg_mean_squared_error"

    def __init__(  # noqa: PLR0913
        self,
        *,
        lambda2: float = 1e-3,
        lambda1: float = 0.0,
        max_terms: int = 40,
        cv: Any = None,
        scoring: Any = None,
        rule: str = "one_se",
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
