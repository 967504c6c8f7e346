"""Plots for model selection: the loss of each model size, and how stable the selected terms are."""

from typing import TYPE_CHECKING, Any

import numpy as np

from sparsegam._data.table import read_table
from sparsegam._models.additive import Model
from sparsegam._models.terms import part_name
from sparsegam._models.training import NewValues
from sparsegam.arrays import FloatArray
from sparsegam.inspection._assessment import main_metric
from sparsegam.plots._figure import (
    BLUE,
    COUNT_SIZE,
    GREEN,
    GREY,
    LABEL_SIZE,
    ORANGE,
    PAGE_WIDTH,
    PALE,
    TITLE_SIZE,
    get_axes,
    new_figure,
    shorten,
    style_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sparsegam._search.path import Path
    from sparsegam.inspection import Stability

# Features outside the model that are shown in a stability plot, the most frequent first.
MAX_OTHER_FEATURES = 5
FEATURE_BAR_HEIGHT, TERM_BAR_HEIGHT = 0.78, 0.44


def plot_frontier(
    path: "Path[Any]", X: Any = None, y: Any = None, *, n_terms: int | None = None, ax: Any = None
) -> "Figure":
    """Draw the training objective of the best model of each size and, given test data, its test score.

    Parameters
    ----------
    path : Path
        The models by number of terms, as returned by `gam_path`.
    X : array-like or data frame of shape (n_samples, n_features), optional
        Test data. The second panel shows the AUC (classification) or R² (regression) of each model on them.
    y : array-like of shape (n_samples,), optional
        Target of the test data.
    n_terms : int, optional
        Number of terms to mark with a vertical line.
    ax : matplotlib.axes.Axes or pair of Axes, optional
        Axes for the objective and the score. A single axes shows the score if X is given, else the objective.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    figure, loss_axes, score_axes = _panels(ax, with_score=X is not None)
    if loss_axes is not None:
        _draw_objective(loss_axes, path)
    if score_axes is not None:
        metric = "R²" if path.models[0].classes is None else "AUC"
        score_axes.plot(path.n_terms, _test_scores(path, X, y), marker="s", markersize=3.5, color=GREEN, linewidth=1.2)
        score_axes.set_ylabel(f"Test {metric}", fontsize=LABEL_SIZE)
    for axes in (loss_axes, score_axes):
        if axes is not None:
            _finish_panel(axes, n_terms)
    return figure


def _test_scores(path: "Path[Model]", X: Any, y: Any) -> FloatArray:
    """Return the AUC or R² of each model, and warn about new values in X once for all models."""
    table, new_values = read_table(X).load(), NewValues()
    scores = np.array([main_metric(model, model.score_rows(table, new_values), y) for model in path])
    new_values.tell(path.models[0].missing)
    return scores


def _panels(ax: Any, *, with_score: bool) -> "tuple[Figure, Axes | None, Axes | None]":
    """Return the figure and the axes for the objective and the score; None for a panel that is not drawn."""
    if ax is not None and np.size(ax) > 1:
        first, second = np.ravel(ax)[:2]
        return first.figure, first, second if with_score else None
    if ax is None and with_score:
        figure = new_figure(PAGE_WIDTH, 3.2)
        first, second = figure.subplots(1, 2)
        return figure, first, second
    figure, axes = get_axes(ax)
    return (figure, None, axes) if with_score else (figure, axes, None)


def _draw_objective(ax: "Axes", path: "Path[Model]") -> None:
    optimal = ~np.isnan(path.lambda0)
    ax.plot(path.n_terms, path.objective, color=BLUE, linewidth=1.2, marker="o", markersize=4, markerfacecolor="white")
    ax.plot(
        path.n_terms[optimal], path.objective[optimal], "o", color=BLUE, markersize=4, label="Optimal for some lambda0"
    )
    ax.set_ylabel("Training objective (loss + ridge)", fontsize=LABEL_SIZE)
    ax.legend(frameon=False, fontsize=LABEL_SIZE)


def _finish_panel(ax: "Axes", n_terms: int | None) -> None:
    if n_terms is not None:
        ax.axvline(n_terms, color=ORANGE, linewidth=1.2, linestyle="--", zorder=0, label=f"Selected: {n_terms} terms")
        ax.legend(frameon=False, fontsize=LABEL_SIZE)
    locator: Any = ax.xaxis.get_major_locator()
    locator.set_params(integer=True)
    ax.set_xlabel("Number of terms", fontsize=LABEL_SIZE)
    style_axes(ax)


def plot_stability(stability: "Stability", *, ax: "Axes | None" = None) -> "Figure":
    """Draw the share of resamples in which each feature (pale) and each term (blue) of the model was selected.

    The features that were selected most often without being part of the model are shown below.

    Parameters
    ----------
    stability : Stability
        The result of the `stability` method of an estimator.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    bars = _stability_bars(stability)
    figure, ax = get_axes(ax, width=6.5, height=1.0 + 0.23 * len(bars))
    for row, (_, share, is_term) in enumerate(bars):
        colour, height = (BLUE, TERM_BAR_HEIGHT) if is_term else (PALE, FEATURE_BAR_HEIGHT)
        ax.barh(-row, share, height=height, color=colour, zorder=2)
        ax.annotate(
            f"{share:.0%}",
            (share, -row),
            (3, 0),
            textcoords="offset points",
            va="center",
            fontsize=COUNT_SIZE,
            color=GREY,
        )
    ax.set_yticks([-row for row in range(len(bars))], [label for label, _, _ in bars])
    for tick, (_, _, is_term) in zip(ax.get_yticklabels(), bars, strict=True):
        tick.set_color(BLUE if is_term else "black")
    ax.set_xlim(0, 1.08)
    ax.set_ylim(-len(bars) + 0.3, 0.7)
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0%", "25%", "50%", "75%", "100%"])
    ax.set_xlabel(f"Selection frequency in {stability.n} resamples", fontsize=LABEL_SIZE)
    ax.set_title("Features (pale) and their terms (blue)", fontsize=TITLE_SIZE)
    style_axes(ax)
    return figure


def _stability_bars(stability: "Stability") -> list[tuple[str, float, bool]]:
    """Return (label, share, is_term): each feature of the model followed by its terms, then other features."""
    bars: list[tuple[str, float, bool]] = []
    for name in (name for name in stability.features if name in stability.model_features):
        bars.append((shorten(name), stability.features[name], False))
        for selected in stability.terms:
            if part_name(selected.term.part) == name:
                bars.append((shorten(selected.term.short()), selected.share, True))
    others = [name for name in stability.features if name not in stability.model_features][:MAX_OTHER_FEATURES]
    return bars + [(f"(not in the model) {shorten(name)}", stability.features[name], False) for name in others]


def plot_cv_scores(estimator: Any, *, ax: "Axes | None" = None) -> "Axes":
    """Draw the mean cross-validation score by number of terms, with its standard error, and mark the selected size.

    Thin grey lines are the scores of other ridge penalties. A multiclass estimator has a line for each class.

    Parameters
    ----------
    estimator : fitted cross-validation estimator
        For example a SparseGAMClassifierCV.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.
    """
    from sparsegam._fit.scoring import DEFAULT_SCORING

    axes: Axes = get_axes(ax)[1]
    if hasattr(estimator, "estimators_"):
        for part, label in zip(estimator.estimators_, estimator.classes_, strict=True):
            _draw_cv_scores(axes, part, f"{label}: ")
    else:
        _draw_cv_scores(axes, estimator, "")
    scoring = estimator.scoring or DEFAULT_SCORING[hasattr(estimator, "predict_proba")]
    axes.set(xlabel="Number of terms", ylabel=f"Cross-validation score ({scoring})")
    axes.legend(frameon=False, fontsize=LABEL_SIZE)
    style_axes(axes)
    return axes


def _draw_cv_scores(ax: "Axes", estimator: Any, prefix: str) -> None:
    results = estimator.cv_results_
    shown = np.ones(results["lambda2"].size, dtype=bool)
    if "shapes" in results:
        shown = results["shapes"] == str(estimator.shapes_)
    ridges = np.unique(results["lambda2"])
    for n, lambda2 in enumerate(ridges):
        of_ridge = shown & (results["lambda2"] == lambda2)
        sizes, mean, error = (results[key][of_ridge] for key in ("n_terms", "mean_test_score", "se_test_score"))
        if lambda2 != estimator.lambda2_:
            grey = str(0.35 + 0.45 * n / len(ridges))
            ax.plot(sizes, mean, linewidth=0.8, color=grey, label=f"{prefix}lambda2 = {lambda2:.3g}")
            continue
        which = f"lambda2 = {lambda2:.3g}" if len(ridges) > 1 else "Mean over folds"
        label = f"{prefix}{which}, with standard error"
        (line,) = ax.plot(sizes, mean, marker="o", markersize=3, label=label, zorder=3)
        ax.fill_between(sizes, mean - error, mean + error, alpha=0.25, color=line.get_color())
        label = f"{prefix}Selected: {estimator.best_n_terms_} terms"
        ax.axvline(estimator.best_n_terms_, color=line.get_color(), linestyle="--", label=label)
