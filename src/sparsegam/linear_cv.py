"""Linear models that choose their own size: SparseLinearClassifierCV and SparseLinearRegressorCV."""

from dataclasses import dataclass
from typing import ClassVar

from sparsegam._fit.choosing import ChoosesSize
from sparsegam._fit.multiclass_cv import ChoosesForEach
from sparsegam._fit.outcomes import Classifies, Regresses
from sparsegam._search.matrices import LinearPath
from sparsegam.choices import Rule
from sparsegam.linear import SparseLinear
from sparsegam.parameters import documented


@dataclass(kw_only=True, eq=False, repr=False)
class ChoosesColumns(ChoosesSize, SparseLinear):
    """What the linear models share that choose their size.

    A column of a matrix has no neighbour that could stand in for it, as a threshold has: one fewer than there should be
    says little of the size that is right, so that the best score counts alone.
    """

    rule: Rule = "best"

    _path_kind: ClassVar[type[LinearPath]] = LinearPath


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class SparseLinearClassifierCV(ChoosesForEach, Classifies, ChoosesColumns):
    """Best-subset linear classifier that chooses its number of columns by cross-validation.

    {frontier}
    {loss_of_columns}
    {folds}
    {coefficients}
    {classes_run_folds}

    {chosen_linear}
    coef_, intercept_ : ndarray of shape (1, n_features) and (1,), or (n_classes, n_features) and (n_classes,)
        Coefficients of all columns, and the intercept, fitted to all rows.
    classes_ : ndarray
        The labels.

    Notes
    -----
    {each_class}
    """


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class SparseLinearRegressorCV(Regresses, ChoosesColumns):
    """Best-subset linear regression that chooses its number of columns by cross-validation.

    {frontier}
    {folds}
    {coefficients}
    {run_folds}

    {chosen_linear}
    coef_, intercept_ : ndarray of shape (n_features,), float
        Coefficients of all columns, and the intercept, fitted to all rows.
    """
