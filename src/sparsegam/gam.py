"""Sparse additive models of step functions: SparseGAMClassifier and SparseGAMRegressor."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from sparsegam._data.table import read_table
from sparsegam._fit.driver import fit
from sparsegam._fit.estimators import (
    class_probabilities,
    class_scores,
    html_with_model,
    predictions,
    score_predictions,
    scores_of,
    store_feature_names,
    store_fit,
    tags_of,
)
from sparsegam._fit.spec import FitSpec, SizeSelection, additive_spec, check_class_loss
from sparsegam._fit.training import read_data
from sparsegam._models.additive import Model
from sparsegam._models.scoring import Reports
from sparsegam._models.terms import Term
from sparsegam._search.problem import Progress
from sparsegam._search.solver import Certificate
from sparsegam.arrays import FloatArray
from sparsegam.choices import (
    Auto,
    Categorical,
    ClassLoss,
    ClassWeight,
    Cuts,
    Hierarchy,
    Lambda0,
    Lambda2,
    Lambda2Choice,
    Loss,
    Missing,
    Monotone,
    Order,
    RowsPerBin,
    SampleMethod,
    Search,
    Shapes,
    ShapesChoice,
    SpecialValues,
)

if TYPE_CHECKING:
    from sparsegam.inspection import Stability


class _AdditiveEstimator(BaseEstimator):  # type: ignore[misc]
    """Parameters and methods that all additive estimators share."""

    lambda2: Lambda2Choice
    standardize: bool | None
    max_features: int | None
    max_terms_per_feature: int | None
    features_always: Any
    features_never: Any
    feature_cost: Mapping[Any, float] | None
    monotone: Monotone
    max_bins: int
    thresholds: Mapping[Any, Sequence[Any]] | None
    min_samples_bin: RowsPerBin
    min_events_bin: int
    categorical: Categorical
    min_category_count: int
    special_values: SpecialValues
    shapes: ShapesChoice
    interactions: Any
    interaction_cost: float | Auto
    hierarchy: Hierarchy | None
    max_terms_per_pair: int | None
    missing: Missing
    max_terms: int | None
    device: str
    n_jobs: int | None
    time_limit: float | None
    verbose: int
    callback: Progress | None

    model_: Model
    intercept_: float
    terms_: tuple[Term, ...]
    n_terms_: int
    loss_: float
    objective_: float
    lambda0_: float
    lambda2_: float
    standardize_: bool
    n_iter_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def _spec(self) -> FitSpec:
        """Return the options of a fit."""
        raise NotImplementedError

    def _make_spec(  # noqa: PLR0913
        self,
        *,
        loss: Loss,
        lambda0: Lambda0 = "auto",
        selection: SizeSelection | None = None,
        class_weight: ClassWeight = None,
        positive: Any = None,
        search: Search = "exchange",
        cuts: Cuts = "auto",
        order: Order = "dynamic",
        certify: bool = False,
    ) -> FitSpec:
        return additive_spec(
            loss=loss,
            lambda0=lambda0,
            selection=selection,
            class_weight=class_weight,
            positive=positive,
            search=search,
            cuts=cuts,
            order=order,
            certify=certify,
            lambda2=self.lambda2,
            max_terms=self.max_terms,
            standardize=self.standardize,
            max_features=self.max_features,
            max_terms_per_feature=self.max_terms_per_feature,
            features_always=self.features_always,
            features_never=self.features_never,
            feature_cost=self.feature_cost,
            monotone=self.monotone,
            max_bins=self.max_bins,
            thresholds=self.thresholds,
            min_samples_bin=self.min_samples_bin,
            min_events_bin=self.min_events_bin,
            categorical=self.categorical,
            min_category_count=self.min_category_count,
            special_values=self.special_values,
            shapes=self.shapes,
            interactions=self.interactions,
            interaction_cost=self.interaction_cost,
            hierarchy=self.hierarchy,
            max_terms_per_pair=self.max_terms_per_pair,
            missing=self.missing,
            device=self.device,
            n_jobs=self.n_jobs,
            time_limit=self.time_limit,
            verbose=self.verbose,
            callback=self.callback,
        )

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> None:
        spec = self._spec()
        data = read_data(spec, X, y, sample_weight)
        store_feature_names(self, data, y)
        store_fit(self, fit(spec, data, groups))

    def _scores(self, X: Any) -> FloatArray:
        return scores_of(self, X, read_table)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted class of each row, or the predicted value.

        Parameters
        ----------
        X : array-like, data frame or stream
            Rows with the columns of the training data.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels of `classes_`, or predictions.
        """
        return predictions(self, self._scores(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of the predictions, or R squared for a regression.

        Parameters
        ----------
        X : array-like, data frame or stream
            Rows with the columns of the training data.
        y, sample_weight : array-like of shape (n_rows,) or str
            Labels or target values, and weights. For a stream, names of columns.

        Returns
        -------
        float
            The score.
        """
        return score_predictions(self, X, y, sample_weight)

    @property
    def feature_importances_(self) -> FloatArray:
        """Mean absolute centred contribution of each feature over the training data.

        An interaction counts half for each of its features. With more than two classes, the mean over the classes.
        """
        check_is_fitted(self)
        models: Sequence[Any] = getattr(self.model_, "models", (self.model_,))
        out: FloatArray = np.zeros(len(models[0].feature_names))
        for model in models:
            for part, importance in model.importances().items():
                names = (part,) if isinstance(part, str) else part
                for name in names:
                    out[model.feature_names.index(name)] += importance / len(names) / len(models)
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
        """Return how often each feature and each term is selected again on random subsamples of the training data.

        The parameters are those of `sparsegam.inspection.stability`.
        """
        from sparsegam.inspection import stability

        return stability(
            self,
            X,
            y,
            n=n,
            sample_weight=sample_weight,
            groups=groups,
            method=method,
            tolerance=tolerance,
            random_state=random_state,
            n_jobs=n_jobs,
            time_limit=time_limit,
            verbose=verbose,
        )

    report = Reports.report

    def _html_repr(self) -> str:
        return html_with_model(self)

    def __sklearn_tags__(self) -> Any:
        tags = tags_of(self, super().__sklearn_tags__())
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


class SparseGAMClassifier(_AdditiveEstimator):
    """Sparse additive classifier of step functions.

    Minimizes, over models f(x) = b + sum_j w_j phi_j(x) with k terms,

        sum_i s_i loss(y_i, f(x_i)) + lambda0 k + lambda2 sum_j w_j^2,

    where s_i are the weights and each phi_j is a condition such as `x <= t`, `x == level` or `x is missing`. With
    standardized coefficients (the default for a numeric lambda2) the ridge applies to sigma_j w_j, where sigma_j is the
    norm of the centred column of term j.

    Parameters
    ----------
    loss : {"logistic", "exponential"}, default="logistic"
        The loss, summed over rows.
    lambda0 : float or {"auto", "aic", "bic"}, default="auto"
        Penalty per term. A term is kept only if it lowers the total loss by at least this much. "aic" is 1 and "bic" is
        log(n)/2, where n is the sum of the weights, or the number of rows if that is larger. "auto" also accounts for
        the number of candidates: for a model of k terms it is the larger of 0.4 times "bic" and log(P / k) / 2
        (additive models, P thresholds and levels) or 0.7 log(P / k) (linear models, P columns). Above 10,000 rows the
        share of "bic" grows, up to 1 at 160,000 rows.
    lambda2 : float or "auto", default="auto"
        Ridge penalty. A number applies to the standardized coefficients, so its shrinkage does not depend on the number
        of rows. "auto" is a Gaussian prior whose influence falls as n grows: 3 times the squared coefficient of each
        step for an additive classifier, 10 times that, multiplied by the noise share of the variance of y, for an
        additive regression, and 10 divided by the sum of the weights, on standardized coefficients, with
        standardize=True.
    max_terms : int or None, default=None
        Largest number of terms; None for no limit below 500.
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
    shapes : {"steps", "ramps", "both"} or dict, default="steps"
        Terms of numeric features: steps (`x <= t`), ramps (`min(x - t, 0)`: linear up to the knot t, constant above),
        or both, for all features or by column. Ramps are clipped at the 1 % and 99 % quantiles of their column.
        Features with two values, and those that are not numeric, always get steps.
    interactions : int, "auto" or list of pairs of columns, default=0
        Pairs of features whose interactions (`x <= s and z > t`) may be terms. An int: the most promising pairs, this
        many; "auto": pairs that are significantly better than chance; a list: these pairs.
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
    search : {"exchange", "swap"}, default="exchange"
        The search: "exchange" evaluates all additions, removals and swaps at once; "swap" is the swap search of Liu et
        al. (2022).
    cuts : {"auto", "none", "linear", "quadratic", "selfconcordant"}, default="auto"
        For search="swap": the lower bound that rules out a column before its line search.
    order : {"dynamic", "sequential"}, default="dynamic"
        For search="swap": try the term that failed least often first, or in the order of columns.
    certify : bool, default=False
        Whether to prove that no swap of one term for another column lowers the objective, and to continue from any
        better model that the proof finds. It takes several times as long and often finds a lower objective; with
        hundreds of terms it can take minutes.
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
    loss_, objective_ : float
        The loss, and the loss plus all penalties (sums over classes if there are more than two).
    lambda0_, lambda2_, standardize_ : float, float, bool
        The penalty per term, the ridge penalty, and whether it applies to standardized coefficients.
    search_stats_ : dict
        Counts of the operations of the search: `passes` over the data, and moves tried.
    n_iter_ : int
        Number of moves of the search.
    certificate_ : Certificate or None
        With `certify`: whether the model was proved to be swap 1-OPT, and the cost of the proof.
    n_features_in_, feature_names_in_ : int, ndarray
        The number and the names of the features; names only if all are strings.

    See Also
    --------
    SparseGAMClassifierCV : Chooses the number of terms by cross-validation.
    SparseGAMRegressor : The regressor for numeric targets.
    gam_path : Returns the best model of every size.

    Notes
    -----
    Missing values are never part of the order of a feature. If a column has missing values in `fit`, `x is missing` is
    a candidate term; otherwise `missing` decides how they are scored, and a warning counts them. The same holds for new
    levels.

    With more than two classes, one model is fitted for each class against the rest, and `predict_proba` divides their
    probabilities by their sum. `n_terms_`, `loss_` and `objective_` are then sums over the classes, `lambda0_` and
    `lambda2_` arrays in the order of `classes_`.

    Examples
    --------
    >>> from sparsegam import SparseGAMClassifier
    >>> ages = [[a] for a in range(20, 60)]
    >>> answers = ["no" if a <= 40 else "yes" for (a,) in ages]
    >>> gam = SparseGAMClassifier(lambda2=0.001).fit(ages, answers)
    >>> gam.terms_[0].condition
    Condition(kind='<=', value=40.0)
    """

    classes_: NDArray[Any]
    estimators_: list["SparseGAMClassifier"]
    search_stats_: dict[str, int]
    certificate_: Certificate | None

    def __init__(  # noqa: PLR0913
        self,
        *,
        loss: ClassLoss = "logistic",
        lambda0: Lambda0 = "auto",
        lambda2: Lambda2 = "auto",
        max_terms: int | None = None,
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
        shapes: Shapes = "steps",
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
        search: Search = "exchange",
        cuts: Cuts = "auto",
        order: Order = "dynamic",
        certify: bool = False,
        verbose: int = 0,
        callback: Progress | None = None,
    ) -> None:
        self.loss = loss
        self.lambda0 = lambda0
        self.lambda2 = lambda2
        self.max_terms = max_terms
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
        self.search = search
        self.cuts = cuts
        self.order = order
        self.certify = certify
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "SparseGAMClassifier":
        """Fit the model (one per class for more than two classes).

        Parameters
        ----------
        X : array-like, data frame or stream of shape (n_rows, n_features)
            Numbers, booleans, dates, text and categories; values may be missing. Streams are `sparsegam.scan` of files,
            a pyarrow Dataset, a function that opens a RecordBatchReader, or a polars LazyFrame.
        y : array-like of shape (n_rows,) or str
            Labels of two or more classes; for a stream, the name of its column.
        sample_weight : array-like of shape (n_rows,) or str, default=None
            Weights of the rows; a weight of 2 is the same as the row twice. Criteria for lambda0 treat their sum as the
            number of rows: divide survey weights by their mean.

        Returns
        -------
        SparseGAMClassifier
            The fitted estimator.
        """
        self._fit(X, y, sample_weight)
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

    def _spec(self) -> FitSpec:
        check_class_loss(self.loss, "SparseGAMRegressor")
        return self._make_spec(
            loss=self.loss,
            lambda0=self.lambda0,
            class_weight=self.class_weight,
            positive=self.positive,
            search=self.search,
            cuts=self.cuts,
            order=self.order,
            certify=self.certify,
        )


class SparseGAMRegressor(_AdditiveEstimator):
    """Sparse additive regression of step functions.

    Minimizes, over models f(x) = b + sum_j w_j phi_j(x) with k terms,

        sum_i s_i (y_i - f(x_i))^2 / 2 + lambda0 k + lambda2 sum_j w_j^2,

    where s_i are the weights and each phi_j is a condition such as `x <= t`, `x == level` or `x is missing`. With
    standardized coefficients (the default for a numeric lambda2) the ridge applies to sigma_j w_j, where sigma_j is the
    norm of the centred column of term j.

    Parameters
    ----------
    lambda0 : float or {"auto", "aic", "bic"}, default="auto"
        Penalty per term. A term is kept only if it lowers half the sum of squares by at least this much. "aic" is the
        noise variance and "bic" is log(n)/2 times the noise variance, where n is the sum of the weights, or the number
        of rows if that is larger, and the variance is estimated from the residuals. "auto" also accounts for the number
        of candidates: for a model of k terms it is the larger of 0.4 times "bic" and the noise variance times 0.6 log(P
        / k) (additive models, P thresholds and levels) or 0.7 log(P / k) (linear models, P columns). Above 10,000 rows
        the share of "bic" grows, up to 1 at 160,000 rows. The resulting number is `lambda0_`.
    lambda2 : float or "auto", default="auto"
        Ridge penalty. A number applies to the standardized coefficients, so its shrinkage does not depend on the number
        of rows. "auto" is a Gaussian prior whose influence falls as n grows: 3 times the squared coefficient of each
        step for an additive classifier, 10 times that, multiplied by the noise share of the variance of y, for an
        additive regression, and 10 divided by the sum of the weights, on standardized coefficients, with
        standardize=True.
    max_terms : int or None, default=None
        Largest number of terms; None for no limit below 500.
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
    shapes : {"steps", "ramps", "both"} or dict, default="steps"
        Terms of numeric features: steps (`x <= t`), ramps (`min(x - t, 0)`: linear up to the knot t, constant above),
        or both, for all features or by column. Ramps are clipped at the 1 % and 99 % quantiles of their column.
        Features with two values, and those that are not numeric, always get steps.
    interactions : int, "auto" or list of pairs of columns, default=0
        Pairs of features whose interactions (`x <= s and z > t`) may be terms. An int: the most promising pairs, this
        many; "auto": pairs that are significantly better than chance; a list: these pairs.
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
    search : {"exchange", "swap"}, default="exchange"
        The search: "exchange" evaluates all additions, removals and swaps at once; "swap" is the swap search of Liu et
        al. (2022).
    cuts : {"auto", "none", "linear", "quadratic", "selfconcordant"}, default="auto"
        For search="swap": the lower bound that rules out a column before its line search.
    order : {"dynamic", "sequential"}, default="dynamic"
        For search="swap": try the term that failed least often first, or in the order of columns.
    certify : bool, default=False
        Whether to prove that no swap of one term for another column lowers the objective, and to continue from any
        better model that the proof finds. It takes several times as long and often finds a lower objective; with
        hundreds of terms it can take minutes.
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
    loss_, objective_ : float
        The loss, and the loss plus all penalties (sums over classes if there are more than two).
    lambda0_, lambda2_, standardize_ : float, float, bool
        The penalty per term, the ridge penalty, and whether it applies to standardized coefficients.
    search_stats_ : dict
        Counts of the operations of the search: `passes` over the data, and moves tried.
    n_iter_ : int
        Number of moves of the search.
    certificate_ : Certificate or None
        With `certify`: whether the model was proved to be swap 1-OPT, and the cost of the proof.
    n_features_in_, feature_names_in_ : int, ndarray
        The number and the names of the features; names only if all are strings.

    See Also
    --------
    SparseGAMRegressorCV : Chooses the number of terms by cross-validation.
    SparseGAMClassifier : The classifier.
    gam_path : Returns the best model of every size.

    Notes
    -----
    Missing values and new levels are treated as by SparseGAMClassifier.

    Examples
    --------
    >>> from sparsegam import SparseGAMRegressor
    >>> gam = SparseGAMRegressor(lambda0=1.0, lambda2=0.0).fit([[1], [2], [3], [4]], [0.0, 0.0, 6.0, 6.0])
    >>> gam.n_terms_, round(gam.intercept_, 6)
    (1, 6.0)
    """

    search_stats_: dict[str, int]
    certificate_: Certificate | None

    def __init__(  # noqa: PLR0913
        self,
        *,
        lambda0: Lambda0 = "auto",
        lambda2: Lambda2 = "auto",
        max_terms: int | None = None,
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
        shapes: Shapes = "steps",
        interactions: Any = 0,
        interaction_cost: float | Auto = "auto",
        hierarchy: Hierarchy | None = None,
        max_terms_per_pair: int | None = None,
        missing: Missing = "mean",
        device: str = "cpu",
        n_jobs: int | None = None,
        time_limit: float | None = None,
        search: Search = "exchange",
        cuts: Cuts = "auto",
        order: Order = "dynamic",
        certify: bool = False,
        verbose: int = 0,
        callback: Progress | None = None,
    ) -> None:
        self.lambda0 = lambda0
        self.lambda2 = lambda2
        self.max_terms = max_terms
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
        self.search = search
        self.cuts = cuts
        self.order = order
        self.certify = certify
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "SparseGAMRegressor":
        """Fit the model.

        Parameters
        ----------
        X : array-like, data frame or stream of shape (n_rows, n_features)
            Numbers, booleans, dates, text and categories; values may be missing. Streams are `sparsegam.scan` of files,
            a pyarrow Dataset, a function that opens a RecordBatchReader, or a polars LazyFrame.
        y : array-like of shape (n_rows,) or str
            The target values; for a stream, the name of its column.
        sample_weight : array-like of shape (n_rows,) or str, default=None
            Weights of the rows; a weight of 2 is the same as the row twice. Criteria for lambda0 treat their sum as the
            number of rows: divide survey weights by their mean.

        Returns
        -------
        SparseGAMRegressor
            The fitted estimator.
        """
        self._fit(X, y, sample_weight)
        return self

    def _spec(self) -> FitSpec:
        return self._make_spec(
            loss="squared",
            lambda0=self.lambda0,
            search=self.search,
            cuts=self.cuts,
            order=self.order,
            certify=self.certify,
        )
