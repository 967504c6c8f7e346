"""Paths of the swap search of Liu et al. (2022), over grids of lambda0 and lambda2."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sparsegam import _core
from sparsegam._fit.spec import FitSpec, additive_spec, linear_spec
from sparsegam._fit.training import FitData, build_problem, read_data
from sparsegam._fit.warnings import warn_about_end
from sparsegam._search.penalty import warn_about_weights
from sparsegam._search.swap import SwapPath, SwapSearch, fixed_penalty, search_swap
from sparsegam.checks import check_number
from sparsegam.choices import Categorical, Cuts, Loss, Missing, Monotone, Order, RowsPerBin, SpecialValues


def swap_path(  # noqa: PLR0913
    X: Any,
    y: Any,
    *,
    loss: Loss = "logistic",
    lambda0: Any = (5.0,),
    lambda2: Any = 1e-3,
    cuts: Cuts = "auto",
    order: Order = "dynamic",
    candidates: int = 50,
    line_steps: int = 10,
    max_terms: int | None = None,
    max_features: int | None = None,
    max_terms_per_feature: int | None = None,
    features_always: Any = None,
    features_never: Any = None,
    feature_cost: Any = None,
    monotone: Monotone = None,
    max_bins: int = 1000,
    thresholds: Any = None,
    min_samples_bin: RowsPerBin = 1,
    categorical: Categorical = "auto",
    min_category_count: int = 5,
    special_values: SpecialValues = None,
    missing: Missing = "mean",
    sample_weight: Any = None,
    n_jobs: int | None = None,
    time_limit: float | None = None,
) -> SwapPath:
    """Find additive models with the published swap search, each lambda0 warm-started from the next larger one.

    It finds models f with k terms such that no swap it tries of one term for another column lowers

        sum_i s_i loss(y_i, f(x_i)) + lambda0 k + lambda2 sum_j (sigma_j w_j)^2.

    Parameters
    ----------
    X : array-like or data frame of shape (n_rows, n_features)
        Numbers, booleans, dates, text and categories; values may be missing.
    y : array-like of shape (n_rows,)
        Labels of two classes, or numbers for the squared loss.
    loss : {"logistic", "exponential", "squared", "squared_hinge"}, default="logistic"
        The loss, summed over rows. The exponential loss needs lambda2=0.
    lambda0 : float, {"aic", "bic"}, or a sequence of them, default=(5.0,)
        Penalties per term. They are searched from the largest down, and returned in the order given.
    lambda2 : float or sequence of float, default=1e-3
        Ridge penalties on the standardized coefficients; each is searched independently.
    cuts, order, candidates, line_steps
        Options of the search: see `SwapSearch`.
    min_samples_bin : int or "auto", default=1
        Minimum number of rows on each side of a step, and between two thresholds of a feature.
    max_terms, max_features, max_terms_per_feature, features_always, features_never, feature_cost, monotone, max_bins, \
thresholds, categorical, min_category_count, special_values, missing, sample_weight, n_jobs, time_limit
        As for `sparsegam.gam_path`.

    Returns
    -------
    SwapPath
        A model for each lambda2 and lambda0.

    Examples
    --------
    >>> from sparsegam._fit.swap_path import swap_path
    >>> ages = [[a] for a in range(20, 60)]
    >>> answers = ["no" if a <= 40 else "yes" for (a,) in ages]
    >>> path = swap_path(ages, answers, lambda0=[3.0, 2.0], lambda2=0.01, cuts="quadratic")
    >>> path.n_terms
    array([1, 1])
    """
    ridges = _listed(lambda2)
    spec = additive_spec(
        loss=loss,
        lambda2=ridges[0],
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
        categorical=categorical,
        min_category_count=min_category_count,
        special_values=special_values,
        missing=missing,
        n_jobs=n_jobs,
        time_limit=time_limit,
    )
    search = SwapSearch(cuts, order, candidates, line_steps)
    return _search_grid(spec, read_data(spec, X, y, sample_weight, max_classes=2), _listed(lambda0), ridges, search)


def linear_swap_path(  # noqa: PLR0913
    X: Any,
    y: Any,
    *,
    loss: Loss = "logistic",
    lambda0: Any = (5.0,),
    lambda2: Any = 1e-3,
    cuts: Cuts = "auto",
    order: Order = "dynamic",
    candidates: int = 50,
    line_steps: int = 10,
    max_terms: int | None = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    time_limit: float | None = None,
) -> SwapPath:
    """Find linear models with the published swap search, each lambda0 warm-started from the next larger one.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        Numbers.
    y, lambda0, lambda2, cuts, order, candidates, line_steps, max_terms, sample_weight, n_jobs, time_limit
        As for `swap_path`; a term is a column with a coefficient other than zero.
    loss : {"logistic", "squared", "squared_hinge"}, default="logistic"
        The loss, summed over rows.

    Returns
    -------
    SwapPath
        A model for each lambda2 and lambda0.
    """
    ridges = _listed(lambda2)
    spec = linear_spec(loss=loss, lambda2=ridges[0], max_terms=max_terms, n_jobs=n_jobs, time_limit=time_limit)
    search = SwapSearch(cuts, order, candidates, line_steps)
    return _search_grid(spec, read_data(spec, X, y, sample_weight, max_classes=2), _listed(lambda0), ridges, search)


def _search_grid(
    spec: FitSpec, data: FitData, lambda0: Sequence[Any], ridges: Sequence[float], search: SwapSearch
) -> SwapPath:
    for value in ridges:
        check_number("lambda2", value, at_least=0.0)
    points: list[_core.Point] = []
    models: list[Any] = []
    objective: list[float] = []
    penalties = np.zeros(0)
    counts: Counter[str] = Counter()
    finished = True
    for n, value in enumerate(ridges):
        mine = replace(spec, options=replace(spec.options, lambda2=value))
        problem = build_problem(mine, data)
        problem = replace(problem, deadline=data.deadline.share(1 / (len(ridges) - n)))
        penalties = np.array([fixed_penalty(one, problem) for one in lambda0])
        order = np.argsort(-penalties, kind="stable")
        found, done, searched = search_swap(problem, penalties[order], search)
        found = [found[i] for i in np.argsort(order)]
        points += found
        models += [problem.model(point, data.classes) for point in found]
        pairs = zip(found, penalties.tolist(), strict=True)
        objective += [point.loss + point.ridge + penalty * problem.total_cost(point) for point, penalty in pairs]
        counts.update(searched)
        finished &= done
    for one in lambda0:
        warn_about_weights(one, data.mean_weight)
    n_terms = np.array([len(point.columns) for point in points], dtype=np.int64)
    warn_about_end(spec, int(n_terms.max()), finished=finished)
    return SwapPath(
        models=tuple(models),
        lambda0=np.tile(penalties, len(ridges)),
        lambda2=np.repeat(np.asarray(ridges, dtype=np.float64), len(lambda0)),
        n_terms=n_terms,
        loss=np.array([point.loss for point in points]),
        objective=np.array(objective),
        finished=finished,
        search_stats=dict(counts),
    )


def _listed(values: Any) -> list[Any]:
    listed = [values] if isinstance(values, str) or np.ndim(values) == 0 else list(values)
    if not listed:
        msg = "lambda0 and lambda2 must contain at least one value, got an empty list."
        raise ValueError(msg)
    return listed
