"""Additive models that choose their own size: SparseGAMClassifierCV and SparseGAMRegressorCV."""

from dataclasses import dataclass

from sparsegam.estimators.choosing import ChoosesSize
from sparsegam.estimators.gam import SparseGAM
from sparsegam.estimators.multiclass_cv import ChoosesForEach
from sparsegam.estimators.outcomes import Classifies, Regresses
from sparsegam.parameters import documented


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class SparseGAMClassifierCV(ChoosesForEach, Classifies, ChoosesSize, SparseGAM):
    """Sparse additive classifier of step functions that chooses its number of terms by cross-validation.

    The frontier (the best model of each size up to `max_terms`) is searched on all rows and on the training rows of
    each fold, bins included; every size is scored on the rows left out.

    Parameters
    ----------
    loss : {"logistic", "exponential"}
        The loss, summed over rows.
    {search}
    {folds}
    {table}
    class_weight : dict or "balanced", optional
        Weights of the classes in fitting (not in scoring), multiplied with `sample_weight`; "balanced" gives all the
        same total.
    {run_folds}
    {report}

    Attributes
    ----------
    {chosen}
    model_, intercept_, terms_, n_terms_ : Model, float, tuple of Term, int
        The model of that size, fitted to all rows, and its parts.
    loss_, objective_ : float
        Its loss, and its loss with the ridge penalty.
    classes_ : ndarray
        The labels; with two of them, scores above zero stand for the second.
    n_iter_ : int
        Number of moves that the search on all rows made.
    n_features_in_, feature_names_in_ : int, ndarray
        The columns seen in `fit`.

    Notes
    -----
    {each_class}
    """


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class SparseGAMRegressorCV(Regresses, ChoosesSize, SparseGAM):
    """Sparse additive regression of step functions that chooses its number of terms by cross-validation.

    The frontier (the best model of each size up to `max_terms`) is searched on all rows and on the training rows of
    each fold, bins included; every size is scored on the rows left out.

    Parameters
    ----------
    {search}
    {folds}
    {table}
    {run_folds}
    {report}

    Attributes
    ----------
    {chosen}
    model_, intercept_, terms_, n_terms_ : Model, float, tuple of Term, int
        The model of that size, fitted to all rows, and its parts.
    loss_, objective_ : float
        Its loss, and its loss with the ridge penalty.
    n_iter_ : int
        Number of moves that the search on all rows made.
    n_features_in_, feature_names_in_ : int, ndarray
        The columns seen in `fit`.
    """
