"""The frontier: loss, and score on rows one chooses, against the number of terms."""

from typing import Any

import numpy as np

from sparsegam._data.table import read
from sparsegam._models.seen import NewValues
from sparsegam._search.path import Path
from sparsegam.arrays import FloatArray
from sparsegam.inspection._assessment import worth
from sparsegam.plots.canvas import BLUE, GREEN, LABEL, ORANGE, PAGE, canvas, new_figure, plain


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
    table, new = read(X).loaded(), NewValues()
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
