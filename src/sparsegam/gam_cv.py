"""Sparse additive models with a cross-validated size: SparseGAMClassifierCV and SparseGAMRegressorCV."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from sparsegam._fit.estimators import class_probabilities, class_scores
from sparsegam._fit.spec import FitSpec, SizeSelection, check_class_loss
from sparsegam._models.additive import Model
from sparsegam._search.path import Path
from sparsegam._search.problem import Progress
from sparsegam.arrays import FloatArray
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

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class SparseGAMClassifierCV(_AdditiveEstimator):
    """Sparse additive classifier whose number of terms is chosen by cross-validation.

    For each fold and ridge, models of every size up to `max_terms` are fitted to the training rows and scored on the
    test rows. The scores select a ridge and a size, and the models of every size are then fitted to all rows with that
    ridge. Bins are learned from the training rows only.

    Parameters
    ----------
    loss : {"logistic", "exponential"}, default="logistic"
        The loss, summed over rows.
    lambda2 : float, list of float or "auto", default="auto"
        Ridge penalty. The best value of a list is chosen together with the size. A number applies to the standardized
        coefficients, so its shrinkage does not depend on the number of rows. "auto" is a grid of Gaussian priors whose
        influence falls as n grows.
    max_terms : int, default=40
        Largest number of terms to try.
    cv : int, splitter, iterable or None, default=None
        The folds, as in scikit-learn; None is 5. A number of folds is shuffled, and stratified by class.
    scoring : str, callable or None, default=None
        The score to maximize, as in scikit-learn; None is "neg_log_loss" for classifiers and "neg_mean_squared_error"
        for regressors.
    rule : {"steady", "best", "one_se"}, default="steady"
        How the ridge and the size are chosen. "best" selects the best mean score. "steady" selects the best mean score
        after averaging each size with the sizes one term smaller and larger, which count half. "one_se" selects the
        smallest size whose mean score is within one standard error of the best, where the standard error is that of the
        differences on the same folds.
    n_repeats : int or "auto", default="auto"
        How often a number of folds is drawn. Repeats make the choice more stable for small tables. "auto" is 4 below
        2,501 rows, 3 below 3,334, 2 below 5,001, and 1 otherwise or with a `time_limit`.
    random_state : int, RandomState or None, default=0
        Seed of the folds.
    standardize : bool or None, default=None
        Whether the ridge applies to the coefficients times the norms of their centred columns (True) or to the
        coefficients themselves (False). None is True for numbers and False for lambda2="auto".
    max_features : int or None, default=None
        Largest number of features in use.
    max_terms_per_feature : int or None, default=None
        Largest number of terms of one feature.
    features_always : list of columns or None, default=None
        Features that have at least one term in every model: the step that lowers the loss most by itself is included.
        It counts as a term. Columns are given by name or position.
    features_never : list of columns or None, default=None
        Features to exclude from all models. A pair of columns excludes their interactions.
    feature_cost : dict or None, default=None
        Factor on lambda0 for the terms of a feature, by column; 1 for other columns. It has no effect where the number
        of terms is fixed (paths and cross-validation).
    monotone : dict, list or None, default=None
        Direction of the score as a feature grows: a dict from column to "increasing" (or 1) or "decreasing" (or -1), or
        a list with 1, -1 or 0 for each column. Missing and special values are unconstrained.
    max_bins : int, default=1000
        Largest number of bins of a feature. Thresholds are at all unique values of a column with at most this many,
        otherwise at (weighted) quantiles. Of a categorical feature, the most frequent levels are kept.
    thresholds : dict or None, default=None
        Thresholds by column, instead of learned ones.
    min_samples_bin : int or "auto", default="auto"
        Minimum number of rows of positive weight on each side of a step, and between two thresholds of a feature.
        "auto" is 1 % of the rows, at most 20; with it, a warning lists steps that are based on fewer than 10 rows.
    min_events_bin : int, default=0
        For classifiers: minimum number of rows of each class on each side of a step, or up to the knot of a ramp.
    categorical : "auto" or list of columns, default="auto"
        Columns to treat as categorical in addition to text and categorical columns. Ordered categorical columns get
        thresholds unless they are listed here.
    min_category_count : int, default=5
        Levels with fewer rows are merged into one, regardless of weights.
    special_values : list, dict or None, default=None
        Special codes: values that are not part of the order of their column, each with a step of its own, for all
        numeric columns (list) or by column (dict). With None, a warning lists columns that seem to contain special
        codes (-9, 999); [] declares that there are none.
    shapes : {"steps", "ramps", "both"}, dict or list of these, default="steps"
        Terms of numeric features: steps (`x <= t`), ramps (`min(x - t, 0)`: linear up to the knot t, constant above),
        or both, for all features or by column. The best entry of a list is chosen together with the size (`shapes_`).
        Ramps are clipped at the 1 % and 99 % quantiles of their column. Features with two values, and those that are
        not numeric, always get steps.
    interactions : int, "auto" or list of pairs of columns, default=0
        Pairs of features whose interactions (`x <= s and z > t`) may be terms. An int: the most promising pairs, this
        many; "auto": pairs that are significantly better than chance; a list: these pairs. Models without interactions
        are scored, too, and preferred unless interactions are better by more than one standard error.
    interaction_cost : float or "auto", default="auto"
        Factor on lambda0 of an interaction, relative to a term of one feature; "auto" is 2.
    hierarchy : {"weak", "strong"} or None, default=None
        Whether an interaction requires a term of one of its features ("weak") or of both ("strong") in the model.
    max_terms_per_pair : int or None, default=None
        Largest number of interactions of one pair of features.
    missing : {"mean", "error", "last"}, default="mean"
        How a missing value, special code or new level is scored if no training row had it in that column: "mean" uses
        the mean contribution of the feature over the training data, with a warning; "error" raises ValueError; "last"
        treats all conditions as false, as for values above all thresholds.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with `sample_weight`; "balanced" gives all classes the same total weight.
        They apply to fitting, not to cross-validation scores.
    positive : label or None, default=None
        The positive class, whose probability is modelled and which `model_`, its equation, plots, reports and
        scorecards describe; None is the last label in sorted order. With more than two labels, all others become one
        class. The estimator keeps the order that scikit-learn requires: `classes_` is sorted, and `decision_function`,
        `intercept_` and `terms_` score `classes_[1]`, whichever label is positive. Scorers in cross-validation see True
        for the positive class.
    device : {"cpu", "cuda"}, default="cpu"
        Where sums over rows are computed. "cuda" is an NVIDIA GPU, for tables of millions of rows; it needs CuPy. The
        data may be on the GPU already: CuPy arrays, cuDF frames, PyTorch and JAX tensors.
    n_jobs : int or None, default=None
        Number of threads; None is 1, -1 is all cores. The result does not depend on it.
    time_limit : float or None, default=None
        Seconds after which the best model found so far is returned, with a ConvergenceWarning. The limit covers
        reading, binning and all searches, of all classes and folds together.
    verbose : int, default=0
        Whether to show a progress bar, in terminals and notebooks, if tqdm is installed.
    callback : callable or None, default=None
        Called with (n_terms, objective) for each model found.

    Attributes
    ----------
    model_ : Model or OneVsRestModel
        The model, which predicts without the compiled core, prints as an equation and can be saved as JSON. With more
        than two classes, one model per class.
    intercept_, terms_, n_terms_ : float, tuple of Term, int
        The parts of the score of `classes_[1]`: those of `model_`, with opposite signs if `positive` is `classes_[0]`.
        Terms carry statistics (`n_rows`, `n_events`, `standard_error`).
    feature_importances_ : ndarray of shape (n_features,)
        Mean absolute centred contribution of each feature over the training data.
    classes_ : ndarray
        The labels in sorted order.
    estimators_ : list
        With more than two classes, the estimators of each class against the rest.
    path_ : Path
        The best models of all sizes on all rows, with the chosen ridge.
    cv_results_ : dict of ndarray
        By ridge and size: lambda2, n_terms, lambda0, mean_test_score, std_test_score, se_test_score, steady_test_score
        (the mean over neighbouring sizes), rank_test_score, and split0_test_score etc. for each fold. Repeated splits
        do not make standard errors smaller, as they test the same rows.
    best_n_terms_, best_score_ : int, float
        The chosen size and its mean score.
    best_lambda2_, lambda2_, standardize_ : float, float, bool
        The chosen ridge, and whether it applies to standardized coefficients.
    best_lambda0_, lambda0_ : float
        A penalty per term at which the chosen size is the best of the path; NaN if there is none.
    n_iter_ : int
        Number of moves of the search on all rows.
    shapes_ : str or dict
        The chosen shapes.
    loss_, objective_ : float
        The loss, and the loss plus all penalties (sums over classes if there are more than two).
    n_features_in_, feature_names_in_ : int, ndarray
        The number and the names of the features; names only if all are strings.

    See Also
    --------
    SparseGAMClassifier : Chooses the number of terms by a penalty per term.
    SparseGAMRegressorCV : The regressor for numeric targets.

    Notes
    -----
    With more than two classes, a size is chosen for each class against the rest, on the same folds; the scorer receives
    True for the class and False for the rest. `path_` and `cv_results_` are then tuples, `best_n_terms_`,
    `best_score_`, `best_lambda0_`, `lambda0_` and `lambda2_` arrays in the order of `classes_`, and `n_terms_`, `loss_`
    and `objective_` sums. `predict_proba` divides the probabilities of the classes by their sum.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsegam import SparseGAMClassifierCV
    >>> X = np.random.default_rng(0).uniform(size=(300, 2))
    >>> gam = SparseGAMClassifierCV(max_terms=4).fit(X, X[:, 0] > 0.5)
    >>> gam.model_.features
    ('x0',)
    """

    classes_: NDArray[Any]
    estimators_: list["SparseGAMClassifierCV"]
    path_: Path[Model]
    cv_results_: dict[str, NDArray[Any]]
    best_n_terms_: int
    best_score_: float
    best_lambda0_: float
    best_lambda2_: float
    shapes_: Shapes

    def __init__(  # noqa: PLR0913
        self,
        *,
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> "SparseGAMClassifierCV":
        """Choose the ridge and the number of terms by cross-validation, and fit the model to all rows.

        Parameters
        ----------
        X : array-like, data frame or stream of shape (n_rows, n_features)
            Numbers, booleans, dates, text and categories; values may be missing. Streams are `sparsegam.scan` of files,
            a pyarrow Dataset, a function that opens a RecordBatchReader, or a polars LazyFrame.
        y : array-like of shape (n_rows,) or str
            Labels of two or more classes; for a stream, the name of its column.
        sample_weight : array-like of shape (n_rows,) or str, default=None
            Weights of the rows; a weight of 2 is the same as the row twice.
        groups : array-like of shape (n_rows,), default=None
            Groups of rows, for splitters that keep them together.

        Returns
        -------
        SparseGAMClassifierCV
            The fitted estimator.
        """
        self._fit(X, y, sample_weight, groups)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return the score of each row: log-odds, up to a factor that depends on the loss.

        Parameters
        ----------
        X : array-like, data frame or stream
            Rows with the columns of the training data.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            Scores of `classes_[1]`, or of each class against the rest if there are more than two. If `positive` is
            `classes_[0]`, they fall with its probability: `model_.decision_function` returns its scores.
        """
        return class_scores(self, self._scores(X))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like, data frame or stream
            Rows with the columns of the training data.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of `classes_`.
        """
        return class_probabilities(self, self._scores(X))

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Plot the mean score by number of terms with its standard error, and mark the chosen size.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        from sparsegam.plots import plot_cv_scores

        return plot_cv_scores(self, ax=ax)

    def _spec(self) -> FitSpec:
        check_class_loss(self.loss, "SparseGAMRegressorCV")
        return self._make_spec(
            loss=self.loss,
            class_weight=self.class_weight,
            positive=self.positive,
            selection=SizeSelection(
                cv=self.cv,
                scoring=self.scoring,
                rule=self.rule,
                n_repeats=self.n_repeats,
                random_state=self.random_state,
            ),
        )


class SparseGAMRegressorCV(_AdditiveEstimator):
    """Sparse additive regression whose number of terms is chosen by cross-validation.

    For each fold and ridge, models of every size up to `max_terms` are fitted to the training rows and scored on the
    test rows. The scores select a ridge and a size, and the models of every size are then fitted to all rows with that
    ridge. Bins are learned from the training rows only.

    Parameters
    ----------
    lambda2 : float, list of float or "auto", default="auto"
        Ridge penalty. The best value of a list is chosen together with the size. A number applies to the standardized
        coefficients, so its shrinkage does not depend on the number of rows. "auto" is a grid of Gaussian priors whose
        influence falls as n grows.
    max_terms : int, default=40
        Largest number of terms to try.
    cv : int, splitter, iterable or None, default=None
        The folds, as in scikit-learn; None is 5. A number of folds is shuffled, and stratified by class.
    scoring : str, callable or None, default=None
        The score to maximize, as in scikit-learn; None is "neg_log_loss" for classifiers and "neg_mean_squared_error"
        for regressors.
    rule : {"steady", "best", "one_se"}, default="steady"
        How the ridge and the size are chosen. "best" selects the best mean score. "steady" selects the best mean score
        after averaging each size with the sizes one term smaller and larger, which count half. "one_se" selects the
        smallest size whose mean score is within one standard error of the best, where the standard error is that of the
        differences on the same folds.
    n_repeats : int or "auto", default="auto"
        How often a number of folds is drawn. Repeats make the choice more stable for small tables. "auto" is 4 below
        2,501 rows, 3 below 3,334, 2 below 5,001, and 1 otherwise or with a `time_limit`.
    random_state : int, RandomState or None, default=0
        Seed of the folds.
    standardize : bool or None, default=None
        Whether the ridge applies to the coefficients times the norms of their centred columns (True) or to the
        coefficients themselves (False). None is True for numbers and False for lambda2="auto".
    max_features : int or None, default=None
        Largest number of features in use.
    max_terms_per_feature : int or None, default=None
        Largest number of terms of one feature.
    features_always : list of columns or None, default=None
        Features that have at least one term in every model: the step that lowers the loss most by itself is included.
        It counts as a term. Columns are given by name or position.
    features_never : list of columns or None, default=None
        Features to exclude from all models. A pair of columns excludes their interactions.
    feature_cost : dict or None, default=None
        Factor on lambda0 for the terms of a feature, by column; 1 for other columns. It has no effect where the number
        of terms is fixed (paths and cross-validation).
    monotone : dict, list or None, default=None
        Direction of the score as a feature grows: a dict from column to "increasing" (or 1) or "decreasing" (or -1), or
        a list with 1, -1 or 0 for each column. Missing and special values are unconstrained.
    max_bins : int, default=1000
        Largest number of bins of a feature. Thresholds are at all unique values of a column with at most this many,
        otherwise at (weighted) quantiles. Of a categorical feature, the most frequent levels are kept.
    thresholds : dict or None, default=None
        Thresholds by column, instead of learned ones.
    min_samples_bin : int or "auto", default="auto"
        Minimum number of rows of positive weight on each side of a step, and between two thresholds of a feature.
        "auto" is 1 % of the rows, at most 20; with it, a warning lists steps that are based on fewer than 10 rows.
    min_events_bin : int, default=0
        For classifiers: minimum number of rows of each class on each side of a step, or up to the knot of a ramp.
    categorical : "auto" or list of columns, default="auto"
        Columns to treat as categorical in addition to text and categorical columns. Ordered categorical columns get
        thresholds unless they are listed here.
    min_category_count : int, default=5
        Levels with fewer rows are merged into one, regardless of weights.
    special_values : list, dict or None, default=None
        Special codes: values that are not part of the order of their column, each with a step of its own, for all
        numeric columns (list) or by column (dict). With None, a warning lists columns that seem to contain special
        codes (-9, 999); [] declares that there are none.
    shapes : {"steps", "ramps", "both"}, dict or list of these, default="steps"
        Terms of numeric features: steps (`x <= t`), ramps (`min(x - t, 0)`: linear up to the knot t, constant above),
        or both, for all features or by column. The best entry of a list is chosen together with the size (`shapes_`).
        Ramps are clipped at the 1 % and 99 % quantiles of their column. Features with two values, and those that are
        not numeric, always get steps.
    interactions : int, "auto" or list of pairs of columns, default=0
        Pairs of features whose interactions (`x <= s and z > t`) may be terms. An int: the most promising pairs, this
        many; "auto": pairs that are significantly better than chance; a list: these pairs. Models without interactions
        are scored, too, and preferred unless interactions are better by more than one standard error.
    interaction_cost : float or "auto", default="auto"
        Factor on lambda0 of an interaction, relative to a term of one feature; "auto" is 2.
    hierarchy : {"weak", "strong"} or None, default=None
        Whether an interaction requires a term of one of its features ("weak") or of both ("strong") in the model.
    max_terms_per_pair : int or None, default=None
        Largest number of interactions of one pair of features.
    missing : {"mean", "error", "last"}, default="mean"
        How a missing value, special code or new level is scored if no training row had it in that column: "mean" uses
        the mean contribution of the feature over the training data, with a warning; "error" raises ValueError; "last"
        treats all conditions as false, as for values above all thresholds.
    device : {"cpu", "cuda"}, default="cpu"
        Where sums over rows are computed. "cuda" is an NVIDIA GPU, for tables of millions of rows; it needs CuPy. The
        data may be on the GPU already: CuPy arrays, cuDF frames, PyTorch and JAX tensors.
    n_jobs : int or None, default=None
        Number of threads; None is 1, -1 is all cores. The result does not depend on it.
    time_limit : float or None, default=None
        Seconds after which the best model found so far is returned, with a ConvergenceWarning. The limit covers
        reading, binning and all searches, of all classes and folds together.
    verbose : int, default=0
        Whether to show a progress bar, in terminals and notebooks, if tqdm is installed.
    callback : callable or None, default=None
        Called with (n_terms, objective) for each model found.

    Attributes
    ----------
    model_ : Model or OneVsRestModel
        The model, which predicts without the compiled core, prints as an equation and can be saved as JSON. With more
        than two classes, one model per class.
    intercept_, terms_, n_terms_ : float, tuple of Term, int
        The parts of the model; terms carry statistics (`n_rows`, `n_events`, `standard_error`).
    feature_importances_ : ndarray of shape (n_features,)
        Mean absolute centred contribution of each feature over the training data.
    path_ : Path
        The best models of all sizes on all rows, with the chosen ridge.
    cv_results_ : dict of ndarray
        By ridge and size: lambda2, n_terms, lambda0, mean_test_score, std_test_score, se_test_score, steady_test_score
        (the mean over neighbouring sizes), rank_test_score, and split0_test_score etc. for each fold. Repeated splits
        do not make standard errors smaller, as they test the same rows.
    best_n_terms_, best_score_ : int, float
        The chosen size and its mean score.
    best_lambda2_, lambda2_, standardize_ : float, float, bool
        The chosen ridge, and whether it applies to standardized coefficients.
    best_lambda0_, lambda0_ : float
        A penalty per term at which the chosen size is the best of the path; NaN if there is none.
    n_iter_ : int
        Number of moves of the search on all rows.
    shapes_ : str or dict
        The chosen shapes.
    loss_, objective_ : float
        The loss, and the loss plus all penalties (sums over classes if there are more than two).
    n_features_in_, feature_names_in_ : int, ndarray
        The number and the names of the features; names only if all are strings.

    See Also
    --------
    SparseGAMRegressor : Chooses the number of terms by a penalty per term.
    SparseGAMClassifierCV : The classifier.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsegam import SparseGAMRegressorCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(300, 2))
    >>> gam = SparseGAMRegressorCV(max_terms=4).fit(X, (X[:, 0] > 0.5) + rng.normal(scale=0.1, size=300))
    >>> gam.model_.features
    ('x0',)
    """

    path_: Path[Model]
    cv_results_: dict[str, NDArray[Any]]
    best_n_terms_: int
    best_score_: float
    best_lambda0_: float
    best_lambda2_: float
    shapes_: Shapes

    def __init__(  # noqa: PLR0913
        self,
        *,
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> "SparseGAMRegressorCV":
        """Choose the ridge and the number of terms by cross-validation, and fit the model to all rows.

        Parameters
        ----------
        X : array-like, data frame or stream of shape (n_rows, n_features)
            Numbers, booleans, dates, text and categories; values may be missing. Streams are `sparsegam.scan` of files,
            a pyarrow Dataset, a function that opens a RecordBatchReader, or a polars LazyFrame.
        y : array-like of shape (n_rows,) or str
            The target values; for a stream, the name of its column.
        sample_weight : array-like of shape (n_rows,) or str, default=None
            Weights of the rows; a weight of 2 is the same as the row twice.
        groups : array-like of shape (n_rows,), default=None
            Groups of rows, for splitters that keep them together.

        Returns
        -------
        SparseGAMRegressorCV
            The fitted estimator.
        """
        self._fit(X, y, sample_weight, groups)
        return self

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Plot the mean score by number of terms with its standard error, and mark the chosen size.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        from sparsegam.plots import plot_cv_scores

        return plot_cv_scores(self, ax=ax)

    def _spec(self) -> FitSpec:
        return self._make_spec(
            loss="squared",
            selection=SizeSelection(
                cv=self.cv,
                scoring=self.scoring,
                rule=self.rule,
                n_repeats=self.n_repeats,
                random_state=self.random_state,
            ),
        )
