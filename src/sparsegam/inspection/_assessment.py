"""Performance of a model on given data: metrics, calibration, gains, net benefit and metrics of subgroups."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import Column, from_array, text
from sparsegam._data.frames import make_frame
from sparsegam._data.table import Table, position, read_table
from sparsegam._models.display import DisplayedResult, TextTable
from sparsegam._models.scoring import ScoringModel, positives
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_integer, shown
from sparsegam.inspection._metrics import (
    CalibrationBin,
    GainBand,
    auc,
    auc_interval,
    calibration_bins,
    gain_bands,
    ks,
    log_loss,
    net_benefits,
    r_squared,
    wilson_interval,
)
from sparsegam.losses import LOSSES

N_BOOTSTRAP = 200
MAX_BOOTSTRAP_ROWS = 20_000
SEED = 0
MAX_LEVELS = 20
N_RANGES = 4


@dataclass(frozen=True)
class Metric:
    """Value of a metric with its confidence interval; `better` is "higher" or "lower"."""

    name: str
    value: float
    low: float
    high: float
    better: str


@dataclass(frozen=True)
class Subgroup:
    """Performance of a model on the rows of one subgroup.

    Attributes
    ----------
    name, level : str
        The grouping variable and its value or range of values.
    rows : int
        Number of rows.
    observed, predicted : float
        Share of the positive class and mean predicted probability; for a regression, mean target and mean prediction.
    performance : float
        AUC, NaN if the subgroup has a single class; for a regression, R squared.
    low, high : float
        95 % confidence interval of the AUC; NaN for a regression.
    selection_rate : float
        Share of rows with a probability above the threshold; NaN for a regression.
    sensitivity, specificity : float
        Share of the positive class above the threshold and of the negative class below it; NaN for a regression.
    """

    name: str
    level: str
    rows: int
    observed: float
    predicted: float
    performance: float
    low: float = math.nan
    high: float = math.nan
    selection_rate: float = math.nan
    sensitivity: float = math.nan
    specificity: float = math.nan


@dataclass(frozen=True, repr=False)
class Subgroups(DisplayedResult):
    """Performance of a model on subgroups of rows; prints as a table.

    Attributes
    ----------
    lines : tuple of Subgroup
        One entry per subgroup.
    threshold : float
        Probability above which a row is predicted to be of the positive class.
    is_regression : bool
        Whether the model is a regression.

    See Also
    --------
    subgroups : Compute the performance of subgroups.
    """

    lines: tuple[Subgroup, ...]
    threshold: float
    is_regression: bool = False

    def to_frame(self) -> Any:
        """Return a data frame with one row per subgroup and the attributes of `Subgroup` as columns."""
        rows = [asdict(line) for line in self.lines]
        return make_frame({name: [row[name] for row in rows] for name in Subgroup.__dataclass_fields__})

    def __repr__(self) -> str:
        names = dict.fromkeys(line.name for line in self.lines)
        return f"<Subgroups: {len(self.lines)} subgroups by {', '.join(names)}>"

    def _display(self) -> list[str | TextTable]:
        header = ["group", "level", "rows", "observed", "predicted", "R²" if self.is_regression else "AUC"]
        if not self.is_regression:
            header += ["selection rate", "sensitivity", "specificity"]
        rows = []
        for line in self.lines:
            values = [line.observed, line.predicted, line.performance]
            values += [line.selection_rate, line.sensitivity, line.specificity]
            cells = ["-" if math.isnan(value) else f"{value:.3f}" for value in values]
            rows.append([line.name, line.level, str(line.rows), *cells][: len(header)])
        return [TextTable(header, rows)]


def assess(model: Any, X: Any, y: Any, *, level: float = 0.95) -> list[Metric]:
    """Measure the performance of a model, with confidence intervals.

    Parameters
    ----------
    model : Model, LinearModel or fitted estimator
        The model; with more than two classes, pass the model of one class.
    X : array-like or data frame of shape (n_samples, n_features)
        Test data.
    y : array-like of shape (n_samples,)
        True labels or target values.
    level : float, default=0.95
        Confidence level of the intervals: DeLong's for AUC and Gini, Wilson's for the accuracy, and bootstrap
        percentiles for the other metrics. KS has no interval (NaN), as none covers its bias in small samples.

    Returns
    -------
    list of Metric
        AUC, Gini, KS, log loss, Brier score and accuracy (threshold 1/2) of a classifier; R squared, root mean
        squared error and mean absolute error of a regression. Each has `name`, `value`, `low` and `high`.

    See Also
    --------
    calibration : Compare predictions and observations in bins.
    subgroups : Performance of subgroups of rows.

    Examples
    --------
    >>> from sparsegam import SparseGAMClassifier
    >>> from sparsegam.inspection import assess
    >>> X = [[a] for a in range(20, 60)]
    >>> y = [int(a > 40) ^ (a % 7 == 0) for (a,) in X]
    >>> metrics = assess(SparseGAMClassifier(max_terms=1).fit(X, y), X, y)
    >>> [metric.name for metric in metrics]
    ['AUC', 'Gini', 'KS', 'Log loss', 'Brier score', 'Accuracy']
    """
    scores = scores_of(model)
    return assess_scores(scores, scores.decision_function(X), y, level=level)


def calibration(model: Any, X: Any, y: Any, *, n_bins: int = 10, level: float = 0.95) -> list[CalibrationBin]:
    """Compare mean predictions with mean observations in bins of rows with similar predictions.

    Parameters
    ----------
    model : Model, LinearModel or fitted estimator
        The model; with more than two classes, pass the model of one class.
    X : array-like or data frame of shape (n_samples, n_features)
        Test data.
    y : array-like of shape (n_samples,)
        True labels or target values.
    n_bins : int, default=10
        Number of bins of equally many rows; fewer if many predictions are equal.
    level : float, default=0.95
        Confidence level of the intervals of the observed means.

    Returns
    -------
    list of CalibrationBin
        Each has `predicted`, `observed`, `low`, `high` (probabilities of the positive class, or target values) and
        `count`.

    See Also
    --------
    sparsegam.plots.plot_calibration : Draw the bins.
    """
    check_integer("n_bins", n_bins, at_least=1)
    scores = scores_of(model)
    score = scores.decision_function(X)
    observed = _observed(scores, y)
    predicted = score if scores.classes is None else scores.probabilities(score)[:, 1]
    return calibration_bins(predicted, observed.astype(np.float64), n_bins=n_bins, level=level)


def gains(model: Any, X: Any, y: Any, *, n_bands: int = 10) -> list[GainBand]:
    """Count events in bands of rows sorted by decreasing score (gains table).

    Parameters
    ----------
    model : Model, LinearModel or fitted estimator
        A classification model; with more than two classes, pass the model of one class.
    X : array-like or data frame of shape (n_samples, n_features)
        Test data.
    y : array-like of shape (n_samples,)
        True labels.
    n_bands : int, default=10
        Number of bands of equally many rows; fewer if many rows have the same score.

    Returns
    -------
    list of GainBand
        Each has `rows`, `events`, `rate`, `lift`, `cumulative_share`, `cumulative_gain` and `cumulative_lift`.
    """
    check_integer("n_bands", n_bands, at_least=1)
    scores = scores_of(model)
    return gain_bands(scores.decision_function(X), positives(scores, y), n_bands=n_bands)


def net_benefit(model: Any, X: Any, y: Any, thresholds: Any) -> FloatArray:
    """Compute the net benefit of acting on rows whose probability is above a threshold (decision curve).

    Parameters
    ----------
    model : Model, LinearModel or fitted estimator
        A classification model; with more than two classes, pass the model of one class.
    X : array-like or data frame of shape (n_samples, n_features)
        Test data.
    y : array-like of shape (n_samples,)
        True labels.
    thresholds : array-like of shape (n_thresholds,)
        Probabilities in [0, 1) from which one would act. A false positive costs threshold / (1 - threshold) true
        positives.

    Returns
    -------
    ndarray of shape (n_thresholds,)
        Net benefit per row, in units of true positives.
    """
    limits = np.asarray(thresholds, dtype=np.float64)
    if not ((limits >= 0) & (limits < 1)).all():
        msg = f"thresholds must be probabilities in [0, 1), got values from {limits.min():g} to {limits.max():g}."
        raise ValueError(msg)
    scores = scores_of(model)
    return net_benefits(scores.predict_proba(X)[:, 1], positives(scores, y), limits)


def subgroups(model: Any, X: Any, y: Any, groups: Any, *, threshold: float = 0.5) -> Subgroups:
    """Measure the performance of a model on subgroups of rows.

    Parameters
    ----------
    model : Model, LinearModel or fitted estimator
        The model; with more than two classes, pass the model of one class.
    X : array-like or data frame of shape (n_samples, n_features)
        Test data.
    y : array-like of shape (n_samples,)
        True labels or target values.
    groups : sequence of str or mapping of str to array-like of shape (n_samples,)
        Columns of X, which the model need not use; or names with one value per row. A numeric variable of more than
        20 values is divided into four ranges of equally many rows.
    threshold : float, default=0.5
        Probability above which a row is predicted to be of the positive class.

    Returns
    -------
    Subgroups
        One entry per subgroup; prints as a table and has `to_frame()`.

    See Also
    --------
    assess : Performance on all rows.
    """
    scores = scores_of(model)
    return subgroup_performance(
        scores, read_table(X), np.asarray(y), scores.decision_function(X), groups, threshold=threshold
    )


def scores_of(model: Any) -> ScoringModel:
    """Return a model, or the model of a fitted estimator."""
    found = getattr(model, "model_", model)
    if not isinstance(found, ScoringModel):
        msg = (
            f"model must be a Model, a LinearModel or a fitted estimator with one of these, got {type(found).__name__}."
        )
        raise TypeError(msg)
    return found


def main_metric(model: ScoringModel, score: FloatArray, y: Any) -> float:
    """Return the AUC of a classification model or R squared of a regression."""
    if model.classes is None:
        return r_squared(score, np.asarray(y, dtype=np.float64))
    return auc(score, positives(model, y))[0]


def assess_scores(model: ScoringModel, score: FloatArray, y: Any, *, level: float = 0.95) -> list[Metric]:
    """Return the metrics of `assess`, given the scores of the rows."""
    observed = _observed(model, y)
    if model.classes is None:
        residual = observed - score
        columns = np.column_stack([residual**2, np.abs(residual), observed, observed * observed])
        names = {"R²": "higher", "RMSE": "lower", "Mean absolute error": "lower"}
        return _bootstrap_metrics(names, columns, level, _regression_metrics)
    area, low, high = auc_interval(score, observed, level)
    accuracy = float(np.mean((score > 0) == observed))
    metrics = [
        Metric("AUC", area, low, high, "higher"),
        Metric("Gini", 2 * area - 1, 2 * low - 1, 2 * high - 1, "higher"),
        Metric("KS", ks(score, observed), math.nan, math.nan, "higher"),
    ]
    losses = {
        ("Log loss", "lower"): log_loss(LOSSES[model.loss].slope * score, observed),
        ("Brier score", "lower"): (model.probabilities(score)[:, 1] - observed) ** 2,
    }
    for (name, better), loss in losses.items():
        metrics += _bootstrap_metrics({name: better}, loss[:, None], level)
    return [*metrics, Metric("Accuracy", accuracy, *wilson_interval(accuracy, observed.size, level), "higher")]


def _observed(model: ScoringModel, y: Any) -> NDArray[Any]:
    return np.asarray(y, dtype=np.float64) if model.classes is None else positives(model, y)


def _regression_metrics(means: FloatArray) -> FloatArray:
    variance = np.maximum(means[:, 3] - means[:, 2] ** 2, 1e-300)
    return np.column_stack([1 - means[:, 0] / variance, np.sqrt(means[:, 0]), means[:, 1]])


def _bootstrap_metrics(
    names: Mapping[str, str],
    columns: FloatArray,
    level: float,
    metrics: Callable[[FloatArray], FloatArray] = np.asarray,
) -> list[Metric]:
    """Return metrics that are functions of the means of per-row columns, with bootstrap percentile intervals.

    Above MAX_BOOTSTRAP_ROWS rows, resampling is replaced by the normal distribution of the means, which has the
    covariance of the columns divided by the number of rows.
    """
    rng = np.random.default_rng(SEED)
    n = columns.shape[0]
    if n > MAX_BOOTSTRAP_ROWS:
        covariance = np.atleast_2d(np.cov(columns, rowvar=False)) / n
        means = np.asarray(rng.multivariate_normal(columns.mean(axis=0), covariance, size=N_BOOTSTRAP))
    else:
        means = np.stack([columns[rng.integers(0, n, n)].mean(axis=0) for _ in range(N_BOOTSTRAP)])
    values = metrics(columns.mean(axis=0)[None])[0].tolist()
    low, high = np.quantile(metrics(means), [(1 - level) / 2, (1 + level) / 2], axis=0).tolist()
    return [Metric(name, values[i], low[i], high[i], better) for i, (name, better) in enumerate(names.items())]


def subgroup_performance(
    model: ScoringModel, table: Table, y: NDArray[Any], score: FloatArray, groups: Any, *, threshold: float = 0.5
) -> Subgroups:
    """Return the result of `subgroups`, given the scores of the rows."""
    is_regression = model.classes is None
    observed = _observed(model, y)
    predicted = score if is_regression else model.probabilities(score)[:, 1]
    lines = []
    for name, column in _group_columns(groups, table):
        for level, mask in _levels(column):
            target = observed[mask]
            means = int(mask.sum()), float(target.mean()), float(predicted[mask].mean())
            if is_regression:
                lines.append(Subgroup(name, level, *means, r_squared(score[mask], target)))
                continue
            area, low, high = auc_interval(score[mask], target)
            selected = predicted[mask] > threshold
            lines.append(
                Subgroup(
                    name,
                    level,
                    *means,
                    performance=area,
                    low=low,
                    high=high,
                    selection_rate=float(selected.mean()),
                    sensitivity=float(selected[target].mean()) if target.any() else math.nan,
                    specificity=float((~selected[~target]).mean()) if not target.all() else math.nan,
                )
            )
    return Subgroups(tuple(lines), threshold, is_regression)


def _group_columns(groups: Any, table: Table) -> Iterator[tuple[str, Column]]:
    if isinstance(groups, Mapping):
        for name, values in groups.items():
            column = from_array(np.asarray(values), str(name))
            if column.values.size != table.n_rows:
                msg = f"groups[{name!r}] has {column.values.size} values, but X has {table.n_rows} rows."
                raise ValueError(msg)
            yield str(name), column
        return
    if isinstance(groups, str) or not isinstance(groups, Sequence):
        msg = (
            "groups must be a list of columns, or a dict of names to arrays with one value per row, got "
            f"{shown(groups)}."
        )
        raise ValueError(msg)
    for key in groups:
        j = position(key, table.labels, "groups")
        yield table.labels[j], table.column(j)


def _levels(column: Column) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Return the name and the row mask of each value, or range of values, of a grouping variable; missing is last."""
    values, scale = column.values, column.scale
    distinct = np.unique(values[~np.isnan(values)])
    if scale.has_levels or distinct.size <= MAX_LEVELS:
        for number in distinct.tolist():
            yield text(scale.value(number)), values == number
    else:
        cuts = np.unique(np.nanquantile(values, np.linspace(0, 1, N_RANGES + 1)[1:-1], method="lower"))
        for low, high in pairwise([-np.inf, *cuts.tolist(), np.inf]):
            mask = (values > low) & (values <= high)
            # The last range is empty if the highest cut is the maximum.
            if mask.any():
                first, last = (text(scale.value(float(end))) for end in (values[mask].min(), values[mask].max()))
                yield f"{first} to {last}", mask
    if np.isnan(values).any():
        yield "missing", np.isnan(values)
