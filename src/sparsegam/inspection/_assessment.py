"""How good a model is on given rows: metrics with confidence intervals, and calibration."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._models.outcomes import positives
from sparsegam._models.scoring import Scores
from sparsegam.arrays import FloatArray
from sparsegam.inspection._metrics import auc, gini, ks, log_loss, r_squared
from sparsegam.losses import LOSSES

BOOTSTRAPS = 200
MAX_BOOTSTRAP_ROWS = 20_000  # see `_bootstrap`
SEED = 0


@dataclass(frozen=True)
class Metric:
    """A number and its confidence interval."""

    name: str
    value: float
    low: float
    high: float
    better: str  # "higher" or "lower"


@dataclass(frozen=True)
class CalibrationBin:
    """Rows of similar prediction: mean prediction, mean outcome with its interval, and how many rows."""

    predicted: float
    observed: float
    low: float
    high: float
    count: int


def assess(model: Scores, score: FloatArray, y: Any, *, level: float = 0.95) -> list[Metric]:
    """Measure scores against outcomes.

    Parameters
    ----------
    model : Model
        The model that gave the scores.
    score : ndarray of shape (n_rows,)
        Its scores.
    y : array-like of shape (n_rows,)
        What happened.
    level : float
        Level of the intervals: DeLong's for the area under the ROC curve and Gini, that of a difference of shares for
        KS, percentiles of the bootstrap for the others.

    Returns
    -------
    list of Metric
        AUC, Gini, KS, log loss, Brier score and accuracy at 1/2; for regressions R squared, RMSE and mean absolute
        error.
    """
    if model.classes is None:
        return _regression(score, np.asarray(y, dtype=np.float64), level)
    upper = positives(model, y)
    return [
        auc_metric(score, upper, level),
        *_separation(score, upper, level),
        *_by_bootstrap(_classification(model), score, upper, level),
    ]


def worth(model: Scores, score: FloatArray, y: Any) -> float:
    """Return the one number that scores are compared by: the AUC of classes, R squared of a regression."""
    if model.classes is None:
        return r_squared(score, np.asarray(y, dtype=np.float64))
    return auc(score, positives(model, y))[0]


def calibration(
    predicted: FloatArray, observed: FloatArray, *, n_bins: int = 10, level: float = 0.95
) -> list[CalibrationBin]:
    """Compare mean prediction with mean outcome in bins of equally many rows; equal predictions stay together.

    Intervals are Wilson's for outcomes of 0 and 1, normal ones otherwise.
    """
    z = NormalDist().inv_cdf(0.5 + level / 2)
    cuts = np.unique(np.quantile(predicted, np.linspace(0, 1, n_bins + 1)[1:-1]))
    member = np.searchsorted(cuts, predicted, side="left")
    share = bool(np.isin(observed, (0.0, 1.0)).all())
    return [
        _calibration_bin(predicted[member == b], observed[member == b], z, share=share)
        for b in range(cuts.size + 1)
        if np.any(member == b)
    ]


def _calibration_bin(predicted: FloatArray, observed: FloatArray, z: float, *, share: bool) -> CalibrationBin:
    n, mean = observed.size, float(observed.mean())
    if share:
        centre = (mean + z * z / (2 * n)) / (1 + z * z / n)
        half = z * np.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    else:
        centre, half = mean, z * float(observed.std()) / np.sqrt(n)
    return CalibrationBin(float(predicted.mean()), mean, float(centre - half), float(centre + half), n)


def auc_metric(score: FloatArray, upper: NDArray[np.bool_], level: float) -> Metric:
    """Return the area under the ROC curve with DeLong's interval."""
    value, error = auc(score, upper)
    reach = NormalDist().inv_cdf(0.5 + level / 2) * error
    return Metric("AUC", value, max(value - reach, 0.0), min(value + reach, 1.0), "higher")


def _separation(score: FloatArray, upper: NDArray[np.bool_], level: float) -> list[Metric]:
    """Return what credit scoring asks for: Gini, whose interval is that of the area, and Kolmogorov-Smirnov."""
    area, (value, error) = auc_metric(score, upper, level), ks(score, upper)
    reach = NormalDist().inv_cdf(0.5 + level / 2) * error
    return [
        Metric("Gini", gini(score, upper), 2 * area.low - 1, 2 * area.high - 1, "higher"),
        Metric("KS", value, max(value - reach, 0.0), min(value + reach, 1.0), "higher"),
    ]


Losses = dict[str, tuple[str, Callable[[FloatArray, Any], FloatArray]]]
"""Metrics that are means over rows: by name, which way is better and the summand of each row."""


def _classification(model: Scores) -> Losses:
    slope = LOSSES[model.loss].slope

    def surprise(score: FloatArray, upper: NDArray[np.bool_]) -> FloatArray:
        return log_loss(slope * score, upper)

    def brier(score: FloatArray, upper: NDArray[np.bool_]) -> FloatArray:
        return np.asarray((model.probabilities(score)[:, 1] - upper) ** 2)

    def accuracy(score: FloatArray, upper: NDArray[np.bool_]) -> FloatArray:
        return np.asarray((score > 0) == upper, dtype=np.float64)

    return {"Log loss": ("lower", surprise), "Brier score": ("lower", brier), "Accuracy": ("higher", accuracy)}


def _by_bootstrap(losses: Losses, score: FloatArray, y: Any, level: float) -> list[Metric]:
    out = []
    for name, (better, summand) in losses.items():
        parts = summand(score, y)
        low, high = np.quantile(_bootstrap(parts[:, None])[:, 0], [(1 - level) / 2, (1 + level) / 2])
        out.append(Metric(name, float(parts.mean()), float(low), float(high), better))
    return out


def _regression(score: FloatArray, y: FloatArray, level: float) -> list[Metric]:
    squares = (y - score) ** 2
    columns = np.column_stack([squares, np.abs(y - score), y, y * y])

    def measures(means: FloatArray) -> FloatArray:
        variance = np.maximum(means[:, 3] - means[:, 2] ** 2, 1e-300)
        return np.column_stack([1 - means[:, 0] / variance, np.sqrt(means[:, 0]), means[:, 1]])

    values = measures(columns.mean(axis=0)[None])[0]
    ends = np.quantile(measures(_bootstrap(columns)), [(1 - level) / 2, (1 + level) / 2], axis=0)
    names = (("R²", "higher"), ("RMSE", "lower"), ("Mean absolute error", "lower"))
    return [
        Metric(name, float(values[i]), float(ends[0, i]), float(ends[1, i]), better)
        for i, (name, better) in enumerate(names)
    ]


def _bootstrap(columns: FloatArray) -> FloatArray:
    """Return means of the columns over rows drawn with replacement, one line per draw.

    Rows beyond MAX_BOOTSTRAP_ROWS are not drawn one by one: the mean of so many is normal, with the covariance of the
    columns over the number of rows.
    """
    rng = np.random.default_rng(SEED)
    n = columns.shape[0]
    if n > MAX_BOOTSTRAP_ROWS:
        covariance = np.atleast_2d(np.cov(columns, rowvar=False)) / n
        return np.asarray(rng.multivariate_normal(columns.mean(axis=0), covariance, size=BOOTSTRAPS))
    return np.stack([columns[rng.integers(0, n, n)].mean(axis=0) for _ in range(BOOTSTRAPS)])
