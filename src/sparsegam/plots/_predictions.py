"""The contributions of one row: from the mean score, feature by feature, to the row's own."""

from typing import Any

import numpy as np

from sparsegam._data.columns import UNSEEN, text
from sparsegam._data.table import Table, read_table
from sparsegam._models.additive import Model
from sparsegam._models.outcomes import positives
from sparsegam._models.terms import Part
from sparsegam.arrays import FloatArray
from sparsegam.inspection._assessment import calibration
from sparsegam.inspection._metrics import auc, roc_curve
from sparsegam.parameters import documented
from sparsegam.plots._figure import BLUE, COUNT, GREY, LABEL, ORANGE, PALE, TITLE, canvas, plain, shortened


@documented
def plot_contributions(  # noqa: D417
    model: Model, X: Any, *, row: int = 0, max_features: int = 20, centred: bool | None = None, ax: Any = None
) -> Any:
    """Draw how the score of one row comes about.

    Parameters
    ----------
    {rows_drawn}
    row : int
        Position of the row to be drawn.
    max_features : int
        Features beyond the largest so many contributions are drawn as one bar.
    {centred}
    {ax}

    Returns
    -------
    {figure}
    """
    table = read_table(X)
    if not 0 <= row < table.n_rows:
        msg = f"row must be from 0 to {table.n_rows - 1}, got {row}."
        raise ValueError(msg)
    one = table.take(np.array([row]))
    bars = _bars(model, one, model.contributions(one, centred=centred)[0], max_features)
    figure, ax = canvas(ax, width=6.5, height=1.2 + 0.27 * (len(bars) + 1))
    _draw(ax, model, bars, centred=centred)
    return figure


def _bars(model: Model, table: Table, parts: FloatArray, max_features: int) -> list[tuple[str, float]]:
    """Return words and contribution of each feature, the largest first, the smallest together."""
    bars = [
        (" & ".join(f"{shortened(name)} = {_value(model, table, name)}" for name in _names(key)), float(part))
        for key, part in zip(model.parts, parts, strict=True)
    ]
    bars.sort(key=lambda bar: -abs(bar[1]))
    rest = bars[max_features:]
    return bars[:max_features] + ([(f"{len(rest)} others", sum(part for _, part in rest))] if rest else [])


def _names(part: Part) -> tuple[str, ...]:
    return (part,) if isinstance(part, str) else part


def _value(model: Model, table: Table, name: str) -> str:
    scale = model.source_of(name).scale
    names = list(model.feature_names if table.names is None else table.names)
    column = table.column(names.index(name))
    number = float(column.on_scale(scale)[0])
    if np.isnan(number):
        return "missing"
    return "an unseen level" if scale.has_levels and number == UNSEEN else shortened(text(scale.value(number)), 20)


def _draw(ax: Any, model: Model, bars: list[tuple[str, float]], *, centred: bool | None) -> None:
    """Draw the bars from the top down, each starting where the one above it ended."""
    start_at = model.baseline(centred=centred)
    start_is = "the mean score" if model.is_centred(centred=centred) else "the intercept"
    ends = np.cumsum([start_at, *(part for _, part in bars)])
    places = np.arange(len(bars))[::-1]
    for place, start, (_, part) in zip(places, ends, bars, strict=False):
        colour, hatch = (ORANGE, "") if part > 0 else (BLUE, "////")
        ax.barh(place, part, left=start, height=0.62, color=colour, hatch=hatch, edgecolor="white", linewidth=0)
        ax.plot([start, start], [place - 0.31, place + 0.69], color=GREY, linewidth=0.6, zorder=3)
    _write(ax, bars, places, ends)
    ax.axvline(start_at, color=GREY, linewidth=0.6, linestyle=":", zorder=0)
    ax.set_yticks([*places, -1], [*(words for words, _ in bars), "score"])
    ax.plot(ends[-1], -1, marker="D", color=GREY, markersize=6)
    ax.set_ylim(-1.6, len(bars) - 0.3)
    ax.set_xlabel(f"score (starts at {start_is}, {start_at:.3g})", fontsize=LABEL)
    ax.set_title(_verdict(model, float(ends[-1])), fontsize=TITLE)
    plain(ax)


def _write(ax: Any, bars: list[tuple[str, float]], places: Any, ends: Any) -> None:
    """Write each contribution beside the far end of its bar, and leave room for it."""
    reach = float(np.ptp(ends)) or 1.0
    ax.set_xlim(ends.min() - 0.15 * reach, ends.max() + 0.15 * reach)
    for place, (_, part), start, end in zip(places, bars, ends[:-1], ends[1:], strict=True):
        x = max(start, end)
        ax.annotate(f"{part:+.3g}", (x, place), (4, 0), textcoords="offset points", va="center", fontsize=COUNT)


def _verdict(model: Model, score: float) -> str:
    if model.classes is None:
        return f"prediction {score:.4g}"
    label = shortened(str(model.classes[1]))
    return f"score {score:.3g}: P({label}) = {model.probabilities(np.array([score]))[0, 1]:.3f}"


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
