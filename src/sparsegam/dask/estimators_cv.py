"""Additive models on a Dask cluster whose number of terms is chosen by cross-validation."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from sparsegam._backends.dask.parts import is_lazy, predict_lazily
from sparsegam._fit.cluster import fit_on_cluster, local_copy, score_on_cluster
from sparsegam._fit.estimators import class_probabilities, class_scores
from sparsegam._fit.spec import FitSpec
from sparsegam._models.additive import Model
from sparsegam._search.path import Path
from sparsegam._search.problem import Progress
from sparsegam.choices import (
    Auto,
    Categorical,
    ClassLoss,
    ClassWeight,
    Hierarchy,
    Lambda2Choice,
    Missing,
    Monotone,
    Repeats,
    RowsPerBin,
    Rule,
    Shapes,
    ShapesChoice,
    SpecialValues,
)
from sparsegam.gam import _AdditiveEstimator
from sparsegam.gam_cv import SparseGAMClassifierCV, SparseGAMRegressorCV

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class DaskSparseGAMClassifierCV(_AdditiveEstimator):
    """Sparse additive classifier that chooses its number of terms by cross-validation on a Dask cluster.

    It minimizes the same objective as SparseGAMClassifierCV. The rows stay on the workers, which compute sums over
    them. Only the labels, 1 to 8 bytes per row, are sent to the client, which makes the same folds as
    SparseGAMClassifierCV.

    Parameters
    ----------
    client : distributed.Client, default=None
        The cluster; None for the current client.
    **parameters
        All other parameters are those of SparseGAMClassifierCV, with the same defaults. interactions, positive,
        search="swap" and device="cuda" are not supported.

    Attributes
    ----------
    round_trips_ : int
        Number of requests that were sent to all workers. All other attributes are those of SparseGAMClassifierCV.

    See Also
    --------
    sparsegam.SparseGAMClassifierCV : The estimator for data in memory.
    """

    classes_: NDArray[Any]
    estimators_: list["DaskSparseGAMClassifierCV"]
    path_: Path[Model]
    cv_results_: dict[str, NDArray[Any]]
    best_n_terms_: int
    best_score_: float
    best_lambda0_: float
    best_lambda2_: float
    shapes_: Shapes
    round_trips_: int

    def __init__(  # noqa: PLR0913
        self,
        *,
        client: Any = None,
        loss: ClassLoss = "logistic",
        lambda2: Lambda2Choice = "auto",
        max_terms: int = 40,
        cv: Any = None,
        scoring: Any = None,
        rule: Rule = "steady",
        n_repeats: Repeats = "auto",
        random_state: Any = 0,
        standardize: bool | None = None,
        max_features: int | None = None,
        max_terms_per_feature: int | None = None,
        features_always: Any = None,
        features_never: Any = None,
        feature_cost: Mapping[Any, float] | None = None,
        monotone: Monotone = None,
        max_bins: int = 1000,
        thresholds: Mapping[Any, Sequence[Any]] | None = None,
        min_samples_bin: RowsPerBin = "auto",
        min_events_bin: int = 0,
        categorical: Categorical = "auto",
        min_category_count: int = 5,
        special_values: SpecialValues = None,
        shapes: ShapesChoice = "steps",
        interactions: Any = 0,
        interaction_cost: float | Auto = "auto",
        hierarchy: Hierarchy | None = None,
        max_terms_per_pair: int | None = None,
        missing: Missing = "mean",
        class_weight: ClassWeight = None,
        positive: Any = None,
        device: str = "cpu",
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: int = 0,
        callback: Progress | None = None,
    ) -> None:
        self.client = client
        self.loss = loss
        self.lambda2 = lambda2
        self.max_terms = max_terms
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.n_repeats = n_repeats
        self.random_state = random_state
        self.standardize = standardize
        self.max_features = max_features
        self.max_terms_per_feature = max_terms_per_feature
        self.features_always = features_always
        self.features_never = features_never
        self.feature_cost = feature_cost
        self.monotone = monotone
        self.max_bins = max_bins
        self.thresholds = thresholds
        self.min_samples_bin = min_samples_bin
        self.min_events_bin = min_events_bin
        self.categorical = categorical
        self.min_category_count = min_category_count
        self.special_values = special_values
        self.shapes = shapes
        self.interactions = interactions
        self.interaction_cost = interaction_cost
        self.hierarchy = hierarchy
        self.max_terms_per_pair = max_terms_per_pair
        self.missing = missing
        self.class_weight = class_weight
        self.positive = positive
        self.device = device
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> "DaskSparseGAMClassifierCV":
        """Fit the model on the cluster.

        Parameters
        ----------
        X : Dask DataFrame, Dask Array or list of delayed parts
            Numbers, booleans, dates, text and categories; values may be missing. Parts may be empty.
        y, sample_weight : Dask Series, Dask Array, list of delayed parts or str
            Labels or target values, and weights, in the same parts; for a DataFrame also names of columns.
        groups : Dask collection or array-like, default=None
            Groups of rows, for splitters that keep them together.

        Returns
        -------
        DaskSparseGAMClassifierCV
            The fitted estimator.
        """
        fit_on_cluster(self, X, y, sample_weight, groups)
        return self

    def predict(self, X: Any) -> Any:
        """Return the predicted class of each row, or the predicted value; a lazy Dask Array for Dask collections."""
        if is_lazy(X):
            return predict_lazily(self.to_local(), SparseGAMClassifierCV.predict, X, dtype=self.classes_.dtype)
        return super().predict(X)

    def decision_function(self, X: Any) -> Any:
        """Return the score of each row; a lazy Dask Array for Dask collections."""
        if is_lazy(X):
            n_columns = len(self.classes_) if len(self.classes_) > 2 else None
            return predict_lazily(self.to_local(), SparseGAMClassifierCV.decision_function, X, n_columns=n_columns)
        return class_scores(self, self._scores(X))

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class; a lazy Dask Array for Dask collections."""
        if is_lazy(X):
            return predict_lazily(self.to_local(), SparseGAMClassifierCV.predict_proba, X, n_columns=len(self.classes_))
        return class_probabilities(self, self._scores(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of the predictions; y and sample_weight may be column names."""
        return score_on_cluster(self, X, y, sample_weight)

    def to_local(self) -> SparseGAMClassifierCV:
        """Return SparseGAMClassifierCV with the same parameters and the same fit, to predict on data in memory."""
        return local_copy(self, SparseGAMClassifierCV)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Plot the mean score by number of terms with its standard error, and mark the chosen size."""
        from sparsegam.plots import plot_cv_scores

        return plot_cv_scores(self, ax=ax)

    def _spec(self) -> FitSpec:
        return self.to_local()._spec()

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return state | {"client": None}


class DaskSparseGAMRegressorCV(_AdditiveEstimator):
    """Sparse additive regression that chooses its number of terms by cross-validation on a Dask cluster.

    It minimizes the same objective as SparseGAMRegressorCV. The rows stay on the workers, which compute sums over them.
    Only the target values, 1 to 8 bytes per row, are sent to the client, which makes the same folds as
    SparseGAMRegressorCV.

    Parameters
    ----------
    client : distributed.Client, default=None
        The cluster; None for the current client.
    **parameters
        All other parameters are those of SparseGAMRegressorCV, with the same defaults. interactions, positive,
        search="swap" and device="cuda" are not supported.

    Attributes
    ----------
    round_trips_ : int
        Number of requests that were sent to all workers. All other attributes are those of SparseGAMRegressorCV.

    See Also
    --------
    sparsegam.SparseGAMRegressorCV : The estimator for data in memory.
    """

    path_: Path[Model]
    cv_results_: dict[str, NDArray[Any]]
    best_n_terms_: int
    best_score_: float
    best_lambda0_: float
    best_lambda2_: float
    shapes_: Shapes
    round_trips_: int

    def __init__(  # noqa: PLR0913
        self,
        *,
        client: Any = None,
        lambda2: Lambda2Choice = "auto",
        max_terms: int = 40,
        cv: Any = None,
        scoring: Any = None,
        rule: Rule = "steady",
        n_repeats: Repeats = "auto",
        random_state: Any = 0,
        standardize: bool | None = None,
        max_features: int | None = None,
        max_terms_per_feature: int | None = None,
        features_always: Any = None,
        features_never: Any = None,
        feature_cost: Mapping[Any, float] | None = None,
        monotone: Monotone = None,
        max_bins: int = 1000,
        thresholds: Mapping[Any, Sequence[Any]] | None = None,
        min_samples_bin: RowsPerBin = "auto",
        min_events_bin: int = 0,
        categorical: Categorical = "auto",
        min_category_count: int = 5,
        special_values: SpecialValues = None,
        shapes: ShapesChoice = "steps",
        interactions: Any = 0,
        interaction_cost: float | Auto = "auto",
        hierarchy: Hierarchy | None = None,
        max_terms_per_pair: int | None = None,
        missing: Missing = "mean",
        device: str = "cpu",
        n_jobs: int | None = None,
        time_limit: float | None = None,
        verbose: int = 0,
        callback: Progress | None = None,
    ) -> None:
        self.client = client
        self.lambda2 = lambda2
        self.max_terms = max_terms
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.n_repeats = n_repeats
        self.random_state = random_state
        self.standardize = standardize
        self.max_features = max_features
        self.max_terms_per_feature = max_terms_per_feature
        self.features_always = features_always
        self.features_never = features_never
        self.feature_cost = feature_cost
        self.monotone = monotone
        self.max_bins = max_bins
        self.thresholds = thresholds
        self.min_samples_bin = min_samples_bin
        self.min_events_bin = min_events_bin
        self.categorical = categorical
        self.min_category_count = min_category_count
        self.special_values = special_values
        self.shapes = shapes
        self.interactions = interactions
        self.interaction_cost = interaction_cost
        self.hierarchy = hierarchy
        self.max_terms_per_pair = max_terms_per_pair
        self.missing = missing
        self.device = device
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> "DaskSparseGAMRegressorCV":
        """Fit the model on the cluster.

        Parameters
        ----------
        X : Dask DataFrame, Dask Array or list of delayed parts
            Numbers, booleans, dates, text and categories; values may be missing. Parts may be empty.
        y, sample_weight : Dask Series, Dask Array, list of delayed parts or str
            Labels or target values, and weights, in the same parts; for a DataFrame also names of columns.
        groups : Dask collection or array-like, default=None
            Groups of rows, for splitters that keep them together.

        Returns
        -------
        DaskSparseGAMRegressorCV
            The fitted estimator.
        """
        fit_on_cluster(self, X, y, sample_weight, groups)
        return self

    def predict(self, X: Any) -> Any:
        """Return the predicted class of each row, or the predicted value; a lazy Dask Array for Dask collections."""
        if is_lazy(X):
            return predict_lazily(self.to_local(), SparseGAMRegressorCV.predict, X)
        return super().predict(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R squared of the predictions; y and sample_weight may be column names."""
        return score_on_cluster(self, X, y, sample_weight)

    def to_local(self) -> SparseGAMRegressorCV:
        """Return SparseGAMRegressorCV with the same parameters and the same fit, to predict on data in memory."""
        return local_copy(self, SparseGAMRegressorCV)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Plot the mean score by number of terms with its standard error, and mark the chosen size."""
        from sparsegam.plots import plot_cv_scores

        return plot_cv_scores(self, ax=ax)

    def _spec(self) -> FitSpec:
        return self.to_local()._spec()

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return state | {"client": None}
