"""Sparse linear models: SparseLinearClassifier and SparseLinearRegressor."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sparsegam._fit.fitting import FitsOne, SparseModel
from sparsegam._fit.multiclass import OneVsRest
from sparsegam._fit.outcomes import Classifies, Regresses
from sparsegam._models.methods import Reports
from sparsegam._search.matrices import Matrices, matrices_on
from sparsegam.choices import RidgeChoice
from sparsegam.parameters import documented


@dataclass(kw_only=True, eq=False, repr=False)
class SparseLinear(SparseModel, Reports):
    """What the linear models share: matrices of numbers, whose columns are the candidates."""

    lambda2: RidgeChoice = 1e-3
    lambda1: float = 0.0
    standardize: bool = True
    fit_intercept: bool = True
    coef_bounds: Any = None
    unpenalized: Any = None

    def _reported(self) -> tuple[Any, dict[str, Any]]:
        check_is_fitted(self)
        return self.model_, {"settings": self.get_params()}

    def _inputs(self) -> Matrices:
        return matrices_on(vars(self))

    def _keep_model(self, model: Any) -> None:
        """Keep coefficients and intercept in the shapes that scikit-learn has for them."""
        super()._keep_model(model)
        if isinstance(self, Classifies):
            self.coef_, self.intercept_ = np.atleast_2d(model.coef), np.atleast_1d(model.intercept)
        else:
            self.coef_, self.intercept_ = model.coef, model.intercept

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class SparseLinearClassifier(OneVsRest, Classifies, FitsOne, SparseLinear):
    """Best-subset linear classifier.

    Minimises, over models f(x) = b + sum_j w_j x_j with k columns in use,

        sum_i s_i loss(y_i, f(x_i)) + lambda0 k + lambda2 sum_j (sigma_j w_j)^2 + lambda1 sum_j sigma_j |w_j|,

    {of_columns}
    {loss_of_columns}
    {price}
    {coefficients}
    {classes_run}

    {fitted_linear}
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients of all columns, zero for those not in use.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    {classes}

    Notes
    -----
    With more than two classes, one model is fitted for each class against the rest (`estimators_`), and
    `predict_proba` divides their probabilities by their sum.

    Dense float64 and float32 arrays and CSC matrices are not copied, unless a column's mean is more than a hundred
    times its standard deviation, or its largest number is beyond 65536 or below 1 / 65536.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsegam import SparseLinearClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 50))
    >>> model = SparseLinearClassifier(lambda2=0.01).fit(X, X[:, 3] - X[:, 7] > 0)
    >>> np.flatnonzero(model.coef_).tolist()
    [3, 7]
    """


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class SparseLinearRegressor(Regresses, FitsOne, SparseLinear):
    """Best-subset linear regression.

    Minimises, over models f(x) = b + sum_j w_j x_j with k columns in use,

        sum_i s_i (y_i - f(x_i))^2 / 2 + lambda0 k + lambda2 sum_j (sigma_j w_j)^2 + lambda1 sum_j sigma_j |w_j|,

    {of_columns}
    {noise_price}
    {coefficients}
    {run_report}

    {fitted_linear}
    coef_ : ndarray of shape (n_features,)
        Coefficients of all columns, zero for those not in use.
    intercept_ : float
        The intercept.

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
