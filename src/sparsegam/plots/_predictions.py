"""Plots of predictions: the contributions to one prediction, calibration and the ROC curve."""

from typing import TYPE_CHECKING, Any

import numpy as np

from sparsegam._data.columns import UNSEEN, text
from sparsegam._data.table import Table, read_table
from sparsegam._models.additive import Model
from sparsegam._models.scoring import positives
from sparsegam.arrays import FloatArray
from sparsegam.inspection._metrics import auc_interval, calibration_bins, roc_curve
from sparsegam.plots._figure import (
    BLUE,
    COUNT_SIZE,
    GREY,
    LABEL_SIZE,
    ORANGE,
    PALE,
    TITLE_SIZE,
    get_axes,
    score_name,
    shorten,
    style_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_contributions(
    model: Model,
    X: Any,
    *,
    row: int = 0,
    max_features: int = 20,
    centred: bool | None = None,
    ax: "Axes | None" = None,
) -> "Figure":
    """Draw the contributions of the features to one prediction as a waterfall chart.

    Parameters
    ----------
    model : Model
        The model.
    X : array-like or data frame of shape (n_samples, n_features)
        Data that contain the row to explain.
    row : int, default=0
        Position of the row in X.
    max_features : int, default=20
        Number of features shown; the contributions of all others are summed in one bar.
    centred : bool, optional
        Whether contributions are relative to their mean over the training data, so that the chart starts at the mean
        prediction instead of the intercept. By default True if these means are known.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    table = read_table(X)
    if not 0 <= row < table.n_rows:
        msg = f"row must be from 0 to {table.n_rows - 1}, got {row}."
        raise ValueError(msg)
    single = table.take(np.array([row]))
    bars = _contribution_bars(model, single, model.contributions(single, centred=centred)[0], max_features)
    figure, ax = get_axes(ax, width=6.5, height=1.2 + 0.27 * (len(bars) + 1))
    _draw_waterfall(ax, model, bars, centred=centred)
    return figure


def _contribution_bars(
    model: Model, table: Table, contributions: FloatArray, max_features: int
) -> list[tuple[str, float]]:
    """Return the label and contribution of each feature or pair, largest first; the smallest are combined."""
    bars = []
    for key, contribution in zip(model.parts, contributions, strict=True):
        names = (key,) if isinstance(key, str) else key
        label = " & ".join(f"{shorten(name)} = {_value_text(model, table, name)}" for name in names)
        bars.append((label, float(contribution)))
    bars.sort(key=lambda bar: -abs(bar[1]))
    rest = bars[max_features:]
    return bars[:max_features] + ([(f"{len(rest)} others", sum(value for _, value in rest))] if rest else [])


def _value_text(model: Model, table: Table, name: str) -> str:
    scale = model.scale_of(name)
    names = list(model.feature_names if table.names is None else table.names)
    number = float(table.column(names.index(name)).on_scale(scale)[0])
    if np.isnan(number):
        return "missing"
    return "new level" if scale.has_levels and number == UNSEEN else shorten(text(scale.value(number)), 20)


def _draw_waterfall(ax: "Axes", model: Model, bars: list[tuple[str, float]], *, centred: bool | None) -> None:
    """Draw the bars from top to bottom, each starting where the previous one ended."""
    baseline = model.baseline(centred=centred)
    start = "training mean" if model.is_centred(centred=centred) else "intercept"
    ends = np.cumsum([baseline, *(value for _, value in bars)])
    heights = np.arange(len(bars))[::-1]
    for y, left, (_, value) in zip(heights, ends, bars, strict=False):
        colour, hatch = (ORANGE, "") if value > 0 else (BLUE, "////")
        ax.barh(y, value, left=left, height=0.62, color=colour, hatch=hatch, edgecolor="white", linewidth=0)
        ax.plot([left, left], [y - 0.31, y + 0.69], color=GREY, linewidth=0.6, zorder=3)
        x = max(left, left + value)
        ax.annotate(f"{value:+.3g}", (x, y), (4, 0), textcoords="offset points", va="center", fontsize=COUNT_SIZE)
    margin = 0.15 * (float(np.ptp(ends)) or 1.0)
    ax.set_xlim(ends.min() - margin, ends.max() + margin)
    ax.axvline(baseline, color=GREY, linewidth=0.6, linestyle=":", zorder=0)
    name = score_name(model)
    ax.set_yticks([*heights, -1], [*(label for label, _ in bars), name])
    ax.plot(ends[-1], -1, marker="D", color=GREY, markersize=6)
    ax.set_ylim(-1.6, len(bars) - 0.3)
    ax.set_xlabel(f"{name.capitalize()} (starts at the {start}, {baseline:.3g})", fontsize=LABEL_SIZE)
    ax.set_title(_prediction_text(model, float(ends[-1])), fontsize=TITLE_SIZE)
    style_axes(ax)


def _prediction_text(model: Model, score: float) -> str:
    if model.classes is None:
        return f"Prediction {score:.4g}"
    label = shorten(str(model.classes[1]))
    probability = model.probabilities(np.array([score]))[0, 1]
    return f"P({label}) = {probability:.3f} ({score_name(model)} {score:.3g})"


def plot_calibration(model: Model, X: Any, y: Any, *, n_bins: int = 10, ax: "Axes | None" = None) -> "Figure":
    """Draw the observed against the predicted mean in bins with equally many rows.

    Error bars are 95 % intervals. The histogram at the bottom shows the distribution of the predictions.

    Parameters
    ----------
    model : Model
        The model.
    X : array-like or data frame of shape (n_samples, n_features)
        Test data.
    y : array-like of shape (n_samples,)
        Target of the test data.
    n_bins : int, default=10
        Number of bins.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    figure, ax = get_axes(ax, width=4.6, height=4.2)
    if model.classes is None:
        predicted, observed = model.decision_function(X), np.asarray(y, dtype=np.float64)
        labels = "Prediction", "Observed mean"
    else:
        predicted = model.predict_proba(X)[:, 1]
        observed = positives(model, y).astype(np.float64)
        labels = f"Predicted P({shorten(str(model.classes[1]))})", "Observed proportion"
    bins = calibration_bins(predicted, observed, n_bins=n_bins)
    counts, edges = np.histogram(predicted, bins=40)
    histogram = ax.inset_axes((0.0, 0.0, 1.0, 0.12), sharex=ax, zorder=0)
    histogram.stairs(counts, edges, fill=True, color=PALE)
    histogram.set_axis_off()
    x, mean = [b.predicted for b in bins], [b.observed for b in bins]
    error = np.abs([[b.observed - b.low for b in bins], [b.high - b.observed for b in bins]])
    diagonal = [min(x + mean), max(x + mean)] if model.classes is None else [0.0, 1.0]
    ax.plot(diagonal, diagonal, color=GREY, linewidth=0.8, linestyle="--", label="Perfect calibration")
    ax.errorbar(x, mean, yerr=error, color=BLUE, marker="o", markersize=4, linewidth=1.2, capsize=2, label="Model")
    ax.set(xlabel=labels[0], ylabel=labels[1])
    ax.legend(frameon=False, fontsize=LABEL_SIZE, loc="upper left")
    style_axes(ax)
    return figure


def plot_roc(model: Model, X: Any, y: Any, *, ax: "Axes | None" = None) -> "Figure":
    """Draw the ROC curve; the legend gives the AUC with its 95 % interval.

    Parameters
    ----------
    model : Model
        A classification model.
    X : array-like or data frame of shape (n_samples, n_features)
        Test data.
    y : array-like of shape (n_samples,)
        Class labels of the test data.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    positive = positives(model, y)
    score = model.decision_function(X)
    area, low, high = auc_interval(score, positive)
    false_positive_rate, true_positive_rate, _ = roc_curve(score, positive)
    figure, ax = get_axes(ax, width=4.4, height=4.2)
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle="--")
    label = f"AUC {area:.3f} ({low:.3f} to {high:.3f})"
    ax.plot(false_positive_rate, true_positive_rate, color=BLUE, linewidth=1.6, label=label)
    ax.set(xlabel="False positive rate", ylabel="True positive rate", aspect="equal")
    ax.legend(frameon=False, fontsize=LABEL_SIZE, loc="lower right")
    style_axes(ax)
    return figure
