"""Linear models that choose their own size: SparseLinearClassifierCV and SparseLinearRegressorCV."""

from dataclasses import dataclass
from typing import ClassVar

from sparsegam.estimators.choosing import ChoosesSize
from sparsegam.estimators.linear import SparseLinear
from sparsegam.estimators.multiclass_cv import ChoosesForEach
from sparsegam.estimators.outcomes import Classifies, Regresses
from sparsegam.parameters import documented
from sparsegam.search.matrices import LinearPath


@dataclass(kw_only=True, eq=False, repr=False)
class ChoosesColumns(ChoosesSize, SparseLinear):
    """What the linear models share that choose their size."""

    _path_kind: ClassVar[type[LinearPath]] = LinearPath


@documented
@dataclass(kw_only=True, eq=False, repr=False)
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


@documented
@dataclass(kw_only=True, eq=False, repr=False)
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
