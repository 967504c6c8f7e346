"""Paths: the best model of every size (gam_path, linear_path), and paths of the swap search of Liu et al. (2022)."""

from collections.abc import Mapping, Sequence
from typing import Any

from sparsegam._fit.driver import search_path
from sparsegam._fit.spec import additive_spec, linear_spec
from sparsegam._fit.swap_path import linear_swap_path, swap_path
from sparsegam._fit.training import read_data
from sparsegam._models.additive import Model
from sparsegam._search.path import LinearPath, Path
from sparsegam._search.problem import Progress
from sparsegam.choices import (
    Auto,
    Categorical,
    ClassWeight,
    Hierarchy,
    Lambda2,
    Loss,
    Missing,
    Monotone,
    RowsPerBin,
    Shapes,
    SpecialValues,
)

__all__ = ["LinearPath", "Path", "gam_path", "linear_path", "linear_swap_path", "swap_path"]


def gam_path(  # noqa: PLR0913
    X: Any,
    y: Any,
    *,
    loss: Loss = "logistic",
    lambda2: Lambda2 = "auto",
    standardize: bool | None = None,
    max_terms: int = 50,
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
    sample_weight: Any = None,
    positive: Any = None,
    device: str = "cpu",
    n_jobs: int | None = None,
    time_limit: float | None = None,
    verbose: int = 0,
    callback: Progress | None = None,
) -> Path[Model]:
    """Find the best additive model of every size.

    For each k up to `max_terms`, the search minimizes

        sum_i s_i loss(y_i, f(x_i)) + lambda2 sum_j w_j^2   over models f with k terms,

    where s_i are the weights and each term is a condition such as `x <= t`, `x == level` or `x is missing`, or a ramp
    `min(x - t, 0)`. With standardized coefficients the ridge applies to sigma_j w_j, where sigma_j is the norm of the
    centred column of term j.

    Parameters
    ----------
    X : array-like, data frame or stream of shape (n_rows, n_features)
        Numbers, booleans, dates, text and categories; values may be missing. Streams are accepted as in `fit` of the
        estimators.
    y : array-like of shape (n_rows,) or str
        Labels of two classes, or numbers for the squared loss; for a stream, the name of its column.
    loss : {"logistic", "exponential", "squared", "squared_hinge"}, default="logistic"
        The loss, summed over rows. Models of the squared hinge, max(1 - y f, 0)^2, have classes but no probabilities.
    lambda2 : float or "auto", default="auto"
        Ridge penalty. A number applies to the standardized coefficients, so its shrinkage does not depend on the number
        of rows. "auto" is a Gaussian prior whose influence falls as n grows: 3 times the squared coefficient of each
        step for an additive classifier, 10 times that, multiplied by the noise share of the variance of y, for an
        additive regression, and 10 divided by the sum of the weights, on standardized coefficients, with
        standardize=True.
    standardize : bool or None, default=None
        Whether the ridge applies to the coefficients times the norms of their centred columns (True) or to the
        coefficients themselves (False). None is True for numbers and False for lambda2="auto".
    max_terms : int, default=50
        Largest number of terms to try.
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
    sample_weight : array-like of shape (n_rows,) or None, default=None
        Weights of the rows; a weight of 2 is the same as the row twice.
    positive : label or None, default=None
        The positive class, whose probability is modelled; None is the last label in sorted order. With more than two
        labels, all others become one class.
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

    Returns
    -------
    Path
        The models by size.

    Examples
    --------
    >>> from sparsegam import gam_path
    >>> x = [[1], [2], [3], [4], [5], [6]]
    >>> path = gam_path(x, [0.0, 0.0, 0.0, 1.0, 1.0, 1.0], loss="squared", lambda2=0.0)
    >>> print(path.at(n_terms=1))
    prediction = 1
        -1 x 1[A <= 3]  # A: x0
    """
    spec = additive_spec(
        loss=loss,
        lambda2=lambda2,
        standardize=standardize,
        max_terms=max_terms,
        max_features=max_features,
        max_terms_per_feature=max_terms_per_feature,
        features_always=features_always,
        features_never=features_never,
        feature_cost=feature_cost,
        monotone=monotone,
        max_bins=max_bins,
        thresholds=thresholds,
        min_samples_bin=min_samples_bin,
        min_events_bin=min_events_bin,
        categorical=categorical,
        min_category_count=min_category_count,
        special_values=special_values,
        shapes=shapes,
        interactions=interactions,
        interaction_cost=interaction_cost,
        hierarchy=hierarchy,
        max_terms_per_pair=max_terms_per_pair,
        missing=missing,
        positive=positive,
        device=device,
        n_jobs=n_jobs,
        time_limit=time_limit,
        verbose=verbose,
        callback=callback,
    )
    return search_path(spec, read_data(spec, X, y, sample_weight, max_classes=2))


def linear_path(  # noqa: PLR0913
    X: Any,
    y: Any,
    *,
    loss: Loss = "logistic",
    lambda2: Lambda2 = 1e-3,
    lambda1: float = 0.0,
    max_terms: int = 50,
    standardize: bool = True,
    fit_intercept: bool = True,
    coef_bounds: Any = None,
    unpenalized: Any = None,
    sample_weight: Any = None,
    class_weight: ClassWeight = None,
    positive: Any = None,
    device: str = "cpu",
    n_jobs: int | None = None,
    time_limit: float | None = None,
    verbose: int = 0,
    callback: Progress | None = None,
) -> LinearPath:
    """Find the best linear model of every size.

    For each k up to `max_terms`, the search minimizes, over models f(x) = b + sum_j w_j x_j with k nonzero weights w_j,

        sum_i s_i loss(y_i, f(x_i)) + lambda2 sum_j (sigma_j w_j)^2 + lambda1 sum_j sigma_j |w_j|,

    where s_i are the weights and sigma_j is the norm of the centred column j (1 without `standardize`).

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
        Finite numbers.
    y : array-like of shape (n_rows,)
        Labels of two classes, or numbers for the squared loss.
    loss : {"logistic", "exponential", "squared", "squared_hinge"}, default="logistic"
        The loss, summed over rows. Models of the squared hinge, max(1 - y f, 0)^2, have classes but no probabilities.
    lambda2 : float or "auto", default=1e-3
        Ridge penalty on the standardized coefficients. Its shrinkage does not depend on the number of rows; that of
        "auto" falls as n grows: it is 10 divided by the sum of the weights with standardize=True, otherwise as for
        additive models.
    lambda1 : float, default=0.0
        Lasso penalty on the standardized coefficients, which shrinks them if the data are noisy.
    max_terms : int, default=50
        Largest number of terms to try.
    standardize : bool, default=True
        Whether lambda1 and lambda2 apply to the coefficients times the norms of their centred columns, so that the
        units of the columns do not matter, or to the coefficients themselves.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is never penalized.
    coef_bounds : pair or None, default=None
        Lower and upper bounds of the coefficients, low <= 0 <= high, each a number or an array with one entry per
        column.
    unpenalized : list of columns or None, default=None
        Columns that are in every model and free of lambda0, by name or position. They count as terms.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        Weights of the rows; a weight of 2 is the same as the row twice.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with `sample_weight`; "balanced" gives all classes the same total weight.
        They apply to fitting, not to cross-validation scores.
    positive : label or None, default=None
        The positive class, whose probability is modelled; None is the last label in sorted order. With more than two
        labels, all others become one class.
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

    Returns
    -------
    LinearPath
        The models by size.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsegam import linear_path
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> path = linear_path(X, 2 * X[:, 4] - X[:, 11], loss="squared", lambda2=0.0, max_terms=2)
    >>> path.at(n_terms=1).features, path.at(n_terms=2).features
    (('x4',), ('x4', 'x11'))
    """
    spec = linear_spec(
        loss=loss,
        lambda2=lambda2,
        lambda1=lambda1,
        max_terms=max_terms,
        standardize=standardize,
        fit_intercept=fit_intercept,
        coef_bounds=coef_bounds,
        unpenalized=unpenalized,
        class_weight=class_weight,
        positive=positive,
        device=device,
        n_jobs=n_jobs,
        time_limit=time_limit,
        verbose=verbose,
        callback=callback,
    )
    path = search_path(spec, read_data(spec, X, y, sample_weight, max_classes=2))
    assert isinstance(path, LinearPath)
    return path
