"""The frontier: loss, and score on rows one chooses, against the number of terms."""

from typing import Any

import numpy as np

from sparsegam._data.table import read_table
from sparsegam._models.seen import NewValues
from sparsegam._models.terms import part_name
from sparsegam._search.path import Path
from sparsegam.arrays import FloatArray
from sparsegam.inspection import Stability
from sparsegam.inspection._assessment import worth
from sparsegam.parameters import documented
from sparsegam.plots._figure import (
    BLUE,
    COUNT,
    GREEN,
    GREY,
    LABEL,
    ORANGE,
    PAGE,
    PALE,
    TITLE,
    canvas,
    new_figure,
    plain,
    shortened,
)


def plot_frontier(path: Path[Any], X: Any = None, y: Any = None, *, n_terms: int | None = None, ax: Any = None) -> Any:
    """Draw the loss of the best model of each size; with rows, the score of each on them too.

    Parameters
    ----------
    path : Path
        The models by size.
    X, y : array-like or data frame, and array-like, optional
        Rows to score the models on, such as a test set: AUC for classes, R squared for regressions.
    n_terms : int, optional
        The size chosen, to be marked.
    ax : matplotlib.axes.Axes or pair of them, optional
        Where to draw the loss (and the score); a new figure by default.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    figure, loss_axes, score_axes = _places(ax, scored=X is not None)
    if loss_axes is not None:
        _draw_loss(loss_axes, path)
    if score_axes is not None:
        label = "AUC" if path.models[0].classes is not None else "R²"
        score_axes.plot(path.n_terms, scores(path, X, y), marker="s", markersize=3.5, color=GREEN, linewidth=1.2)
        score_axes.set_ylabel(f"{label} on the rows given", fontsize=LABEL)
    for axes in (loss_axes, score_axes):
        if axes is not None:
            _finish(axes, n_terms)
    return figure


def scores(path: Path[Any], X: Any, y: Any) -> FloatArray:
    """Return the AUC of each model on some rows, or its R squared for a regression."""
    table, new = read_table(X).load(), NewValues()
    found = np.array([worth(model, model.score_rows(table, new), y) for model in path])
    new.tell(path.models[0].missing)
    return found


def _places(ax: Any, *, scored: bool) -> tuple[Any, Any, Any]:
    """Return the figure and the axes of loss and score, None for what is not drawn."""
    if ax is not None and np.size(ax) > 1:
        first, second = np.ravel(ax)[:2]
        return first.figure, first, second if scored else None
    if ax is None and scored:
        figure = new_figure(PAGE, 3.2)
        first, second = figure.subplots(1, 2)
        return figure, first, second
    figure, axes = canvas(ax)
    return (figure, None, axes) if scored else (figure, axes, None)


def _draw_loss(ax: Any, path: Path[Any]) -> None:
    best = ~np.isnan(path.lambda0)
    ax.plot(path.n_terms, path.objective, color=BLUE, linewidth=1.2, marker="o", markersize=4, markerfacecolor="white")
    ax.plot(path.n_terms[best], path.objective[best], "o", color=BLUE, markersize=4, label="best at some lambda0")
    ax.set_ylabel("loss and ridge, summed over rows", fontsize=LABEL)
    ax.legend(frameon=False, fontsize=LABEL)


def _finish(ax: Any, n_terms: int | None) -> None:
    if n_terms is not None:
        ax.axvline(n_terms, color=ORANGE, linewidth=1.2, linestyle="--", zorder=0, label=f"chosen: {n_terms} terms")
        ax.legend(frameon=False, fontsize=LABEL)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set_xlabel("number of terms", fontsize=LABEL)
    plain(ax)


MOST_OTHERS = 5  # features that only samples have
TALL, THIN = 0.78, 0.44  # bars of features and of terms


@documented
def plot_stability(stability: Stability, *, ax: Any = None) -> Any:  # noqa: D417
    """Draw the share of samples in which each feature (pale) and each of its terms (blue) came back.

    Parameters
    ----------
    stability : Stability
        What `stability` of an estimator returned.
    {ax}

    Returns
    -------
    matplotlib.figure.Figure
        The figure; features that no term of the model is of, but that samples used often, stand below.
    """
    lines = _lines(stability)
    figure, ax = canvas(ax, width=6.5, height=1.0 + 0.23 * len(lines))
    for place, (_, share, is_step) in enumerate(lines):
        colour, height = (BLUE, THIN) if is_step else (PALE, TALL)
        ax.barh(-place, share, height=height, color=colour, zorder=2)
        ax.annotate(
            f"{share:.0%}", (share, -place), (3, 0), textcoords="offset points", va="center", fontsize=COUNT, color=GREY
        )
    ax.set_yticks([-place for place in range(len(lines))], [words for words, _, _ in lines])
    for tick, (_, _, is_step) in zip(ax.get_yticklabels(), lines, strict=True):
        tick.set_color(BLUE if is_step else "black")
    ax.set_xlim(0, 1.08)
    ax.set_ylim(-len(lines) + 0.3, 0.7)
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
    ax.set_xlabel(f"share of {stability.n} samples in which it came back", fontsize=LABEL)
    ax.set_title("Features (pale) and their terms (blue)", fontsize=TITLE)
    plain(ax)
    return figure


def _lines(stability: Stability) -> list[tuple[str, float, bool]]:
    """Return words, share and whether it is a step: each feature of the model, followed by its steps, then others."""
    out: list[tuple[str, float, bool]] = []
    for name in (name for name in stability.features if name in stability.model_features):
        out.append((shortened(name), stability.features[name], False))
        for step in stability.terms:
            if part_name(step.term.part) == name:
                out.append((shortened(step.term.short()), step.share, True))
    others = [name for name in stability.features if name not in stability.model_features][:MOST_OTHERS]
    return out + [(f"(not in the model) {shortened(name)}", stability.features[name], False) for name in others]
