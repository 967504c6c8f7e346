"""How good the predictions are: calibration and the ROC curve."""

from typing import Any

import numpy as np

from sparsegam._models.additive import Model
from sparsegam._models.outcomes import positives
from sparsegam.inspection._assessment import calibration
from sparsegam.inspection._metrics import auc, roc_curve
from sparsegam.parameters import documented
from sparsegam.plots.canvas import BLUE, GREY, LABEL, PALE, canvas, plain, shortened


@documented
def plot_calibration(model: Model, X: Any, y: Any, *, n_bins: int = 10, ax: Any = None) -> Any:  # noqa: D417
    """Draw what happened against what was predicted, in bins of equally many rows.

    Parameters
    ----------
    {rows_drawn}
    y : array-like of shape (n_rows,)
        What happened.
    n_bins : int
        Number of bins.
    {ax}

    Returns
    -------
    matplotlib.figure.Figure
        The figure; bars are 95 % intervals.
    """
    figure, ax = canvas(ax, width=4.6, height=4.2)
    if model.classes is None:
        predicted, observed, words = model.decision_function(X), np.asarray(y, dtype=np.float64), ("prediction", "mean")
    else:
        predicted = model.predict_proba(X)[:, 1]
        observed = positives(model, y).astype(np.float64)
        words = (f"predicted P({shortened(str(model.classes[1]))})", "share")
    bins = calibration(predicted, observed, n_bins=n_bins)
    _draw_density(ax, predicted)
    x, mean = [b.predicted for b in bins], [b.observed for b in bins]
    error = np.abs([[b.observed - b.low for b in bins], [b.high - b.observed for b in bins]])
    ends = [min(x + mean), max(x + mean)] if model.classes is None else [0.0, 1.0]
    ax.plot(ends, ends, color=GREY, linewidth=0.8, linestyle="--", label="perfect")
    ax.errorbar(x, mean, yerr=error, color=BLUE, marker="o", markersize=4, linewidth=1.2, capsize=2, label="model")
    ax.set(xlabel=words[0], ylabel=f"{words[1]} observed")
    ax.legend(frameon=False, fontsize=LABEL, loc="upper left")
    plain(ax)
    return figure


@documented
def plot_roc(model: Model, X: Any, y: Any, *, ax: Any = None) -> Any:  # noqa: D417
    """Draw the ROC curve, with the area under it and its 95 % interval.

    Parameters
    ----------
    model : Model
        A classification model.
    X : array-like or data frame
        Rows.
    y : array-like of shape (n_rows,)
        Labels.
    {ax}

    Returns
    -------
    {figure}
    """
    upper = positives(model, y)
    score = model.decision_function(X)
    area, error = auc(score, upper)
    false, true, _ = roc_curve(score, upper)
    figure, ax = canvas(ax, width=4.4, height=4.2)
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle="--")
    ax.plot(false, true, color=BLUE, linewidth=1.6, label=f"AUC {area:.3f} ± {1.96 * error:.3f}")
    ax.set(xlabel="false positive rate", ylabel="true positive rate", aspect="equal")
    ax.legend(frameon=False, fontsize=LABEL, loc="lower right")
    plain(ax)
    return figure


def _draw_density(ax: Any, predicted: Any) -> None:
    counts, ends = np.histogram(predicted, bins=40)
    below = ax.inset_axes([0.0, 0.0, 1.0, 0.12], sharex=ax, zorder=0)
    below.stairs(counts, ends, fill=True, color=PALE)
    below.set_axis_off()
