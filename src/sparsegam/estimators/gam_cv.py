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

    {frontier}

    Parameters
    ----------
    loss : {"logistic", "exponential"}
        The loss, summed over rows.
    {folds}
    {table}
    {classes_run_folds}

    {chosen_gam}
    classes_ : ndarray
        The labels; with two of them, scores above zero stand for the second.

    Notes
    -----
    {each_class}
    """


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class SparseGAMRegressorCV(Regresses, ChoosesSize, SparseGAM):
    """Sparse additive regression of step functions that chooses its number of terms by cross-validation.

    {frontier}

    Parameters
    ----------
    {folds}
    {table}
    {run_folds}

    {chosen_gam}
    """
