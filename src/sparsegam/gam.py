"""Sparse additive models of step functions: SparseGAMClassifier and SparseGAMRegressor."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sparsegam._data.table import read_table
from sparsegam._fit.fitting import FitsOne, SparseModel
from sparsegam._fit.multiclass import OneVsRest
from sparsegam._fit.outcomes import Classifies, Regresses
from sparsegam._models.methods import Reports
from sparsegam._search.evidence import warn_of_few_rows
from sparsegam._search.inputs import is_cuda
from sparsegam._search.problem import Problem
from sparsegam._search.progress import Progress
from sparsegam._search.solver import Fit
from sparsegam._search.tables import Tables, tables_on
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_choice
from sparsegam.choices import (
    Auto,
    Categorical,
    Cuts,
    Hierarchy,
    Missing,
    Monotone,
    Order,
    Price,
    RidgeChoice,
    RowsPerBin,
    SampleMethod,
    Search,
    ShapesChoice,
    SpecialValues,
)
from sparsegam.parameters import documented, pick

if TYPE_CHECKING:
    from sparsegam.inspection import Stability

SEARCHES = get_args(Search)


@dataclass(kw_only=True, eq=False, repr=False)
class SparseGAM(SparseModel, Reports):
    """What the additive models share: tables of any columns, binned and searched."""

    lambda2: RidgeChoice = "auto"
    standardize: bool | None = None
    max_features: int | None = None
    max_terms_per_feature: int | None = None
    features_always: Any = None
    features_never: Any = None
    feature_cost: Any = None
    monotone: Monotone = None
    max_bins: int = 1000
    thresholds: Any = None
    min_samples_bin: RowsPerBin = "auto"
    min_events_bin: int = 0
    categorical: Categorical = "auto"
    min_category_count: int = 5
    special_values: SpecialValues = None
    shapes: ShapesChoice = "steps"
    interactions: Any = 0
    interaction_cost: float | Auto = "auto"
    hierarchy: Hierarchy | None = None
    max_terms_per_pair: int | None = None
    missing: Missing = "mean"

    def _reported(self) -> tuple[Any, dict[str, Any]]:
        check_is_fitted(self)
        if hasattr(self, "estimators_"):  # one for each class, with choices of their own
            return self.model_, {"settings": self.get_params()}
        chosen: dict[str, Any] = {"lambda2": self.lambda2_, "standardize": self.standardize_}
        chosen["shapes"] = getattr(self, "shapes_", self.shapes)
        return self.model_, {"settings": self.get_params() | chosen, "path": getattr(self, "path_", None)}

    @property
    def feature_importances_(self) -> FloatArray:
        """Mean distance of what each column adds to the score from its mean, over the rows of the fit.

        What two columns add together counts half for each of them. Zero for columns that the model does not use. With
        more than two classes, the mean over the classes.
        """
        check_is_fitted(self)
        models = self._models()
        out: FloatArray = np.zeros(len(models[0].feature_names))
        for model in models:
            for part, of_part in model.importances(model.training).items():
                names = (part,) if isinstance(part, str) else part
                for name in names:
                    out[model.feature_names.index(name)] += of_part / len(names) / len(models)
        return out

    def stability(  # noqa: PLR0913
        self,
        X: Any,
        y: Any,
        *,
        n: int = 50,
        sample_weight: Any = None,
        groups: Any = None,
        method: SampleMethod = "half",
        tolerance: float = 0.02,
        random_state: int = 0,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: int = 0,
    ) -> "Stability":
        """Say how often each feature and each step comes back in samples of the rows of the fit.

        See `sparsegam.inspection.stability` for the options.
        """
        options = {name: value for name, value in locals().items() if name not in ("self", "X", "y")}
        from sparsegam.inspection import stability

        return stability(self, X, y, **options)

    def _models(self) -> Sequence[Any]:
        """Return the additive model, or one for each class where there are more than two."""
        models: Sequence[Any] = getattr(self.model_, "models", (self.model_,))
        return models

    def _look_back(self) -> None:
        if self.min_samples_bin == "auto":  # who chose a number knows
            warn_of_few_rows(self._models())

    def _look_at(self, X: Any) -> None:
        self._inputs().warn_of_columns(read_table(X))

    def _inputs(self) -> Tables:
        return tables_on(vars(self))

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

    lambda0: Price = "auto"
    search: Search = "exchange"
    cuts: Cuts = "auto"
    order: Order = "dynamic"
    certify: bool = False

    def _search(self, problem: Problem[Any], report: Progress | None) -> Fit:
        check_choice("search", self.search, SEARCHES)
        if self.search == "exchange":
            return super()._search(problem, report)
        if is_cuda(self.device):
            msg = "search='swap' is the paper's search, step by step over the rows: it runs on device='cpu' only."
            raise ValueError(msg)
        if problem.design.n_ramps.any():
            msg = f"search='swap' is the paper's search, over steps: use shapes='steps', got {self.shapes!r}."
            raise ValueError(msg)
        if self._inputs().interactions.is_on:
            msg = f"search='swap' has no products: use interactions=0, got {self.interactions!r}."
            raise ValueError(msg)
        from sparsegam._search.swap import Swaps, fit_swap

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

        sum_i s_i loss(y_i, f(x_i)) + lambda0 k + lambda2 sum_j w_j^2,

    {of_steps}
    {gam_classifier}

    Notes
    -----
    Missing values are never in the order of the others: where a column had some in `fit`, `x is missing` is a
    candidate; where it had none, `missing` says how they are scored, and a warning counts them. Levels that `fit` did
    not see go the same way.

    Examples
    --------
    >>> from sparsegam import SparseGAMClassifier
    >>> ages = [[a] for a in range(20, 60)]
    >>> answers = ["no" if a <= 40 else "yes" for (a,) in ages]
    >>> gam = SparseGAMClassifier(lambda2=0.001).fit(ages, answers)
    >>> gam.terms_[0].condition
    Condition(kind='<=', value=40.0)
    """


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class SparseGAMRegressor(Regresses, FitsOneGAM):
    """Sparse additive regression of step functions.

    Minimises, over models f(x) = b + sum_j w_j phi_j(x) with k terms, each of them `x <= t`, `x == level`,
    `x is missing` or the like,

        sum_i s_i (y_i - f(x_i))^2 / 2 + lambda0 k + lambda2 sum_j w_j^2,

    {of_steps}
    {gam_regressor}

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
