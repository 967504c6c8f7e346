"""Plots of shape functions and interactions."""

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import text
from sparsegam._data.table import Table, read_table
from sparsegam._models.additive import Model, importance
from sparsegam._models.bin_tables import BinRow, PairGrid, bin_rows, histogram, is_discrete, pair_grid, value_range
from sparsegam._models.functions import Bins
from sparsegam._models.input_columns import positions
from sparsegam._models.terms import Part, part_name
from sparsegam._models.training import NEW
from sparsegam.arrays import FloatArray
from sparsegam.plots._figure import (
    BLUE,
    COUNT_SIZE,
    GREY,
    LABEL_SIZE,
    ORANGE,
    PAGE_WIDTH,
    PALE,
    TITLE_SIZE,
    get_axes,
    new_figure,
    score_name,
    shorten,
    style_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

# Row counts are written if there are at most MAX_COUNTS bins, on bins that span at least MIN_COUNT_WIDTH of the axis.
MAX_COUNTS = 10
MIN_COUNT_WIDTH = 0.07

MAX_LEVELS = 20

# Axes of dates that span more days than this are labelled by month.
MAX_DAYS_BY_DAY = 180
ONE_DAY_AFTER_EPOCH = datetime(1970, 1, 2)

# The text in the cells of an interaction shrinks if there are more columns, and is left out below a minimum size.
FULL_SIZE_COLUMNS = 3
MIN_TEXT_SIZE = 4.0

# Cells whose contribution exceeds this share of the largest one have white text.
DARK_CELL = 0.6


def plot_shape(
    model: Model, feature: str, X: Any = None, *, centred: bool | None = None, ax: "Axes | None" = None
) -> "Figure":
    """Draw the contribution of one feature, with 95 % intervals if the model has standard errors.

    The intervals are for the difference from the mean contribution over the training data. They treat the terms as
    fixed in advance and ignore that they were selected; see the `stability` method of the estimators for how often
    each term is selected again.

    Parameters
    ----------
    model : Model
        The model.
    feature : str
        A feature with main effects in the model. For interactions, see `plot_pair`.
    X : array-like or data frame of shape (n_samples, n_features), optional
        Data whose distribution is shown as a histogram and as row counts.
    centred : bool, optional
        Whether contributions are relative to their mean over the training data. By default True if these means are
        known.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    shapes = model.shape_functions(centred=centred)
    if feature not in shapes:
        msg = f"the model has no shape function of {feature!r}. Features: {list(shapes)}."
        raise ValueError(msg)
    figure, ax = get_axes(ax, width=5.0, height=3.2)
    _draw_shape(ax, model, feature, _column(model, feature, None if X is None else read_table(X)), centred=centred)
    ax.set_ylabel(_contribution_label(model, centred=centred), fontsize=LABEL_SIZE)
    return figure


def plot_shapes(
    model: Model,
    X: Any = None,
    *,
    features: Sequence[Part] | None = None,
    centred: bool | None = None,
    ax: Any = None,
) -> "Figure":
    """Draw the contributions of all features and interactions, the most important first if X is given.

    See `plot_shape` and `plot_pair` for how each of them is drawn.

    Parameters
    ----------
    model : Model
        The model.
    X : array-like or data frame of shape (n_samples, n_features), optional
        Data whose distribution is shown as histograms and as row counts.
    features : sequence of str or pair of str, optional
        The features and interactions to draw, in this order. By default all of the model.
    centred : bool, optional
        Whether contributions are relative to their mean over the training data. By default True if these means are
        known.
    ax : sequence of matplotlib.axes.Axes, optional
        Axes to draw into, at least as many as features; by default those of a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    table = None if X is None else read_table(X)
    names = _by_importance(model, table) if features is None else list(features)
    figure, axes = _grid(len(names)) if ax is None else (np.ravel(ax)[0].figure, list(np.ravel(ax)))
    if len(axes) < len(names):
        msg = f"ax contains {len(axes)} axes for {len(names)} features: pass one per feature, or select fewer."
        raise ValueError(msg)
    for axis, name in zip(axes, names, strict=False):
        if isinstance(name, str):
            _draw_shape(axis, model, name, _column(model, name, table), centred=centred)
        else:
            _draw_grid(axis, _pair_grid(model, name, table, centred=centred))
    if ax is None and names:
        figure.supylabel(_contribution_label(model, centred=centred), fontsize=TITLE_SIZE)
    return figure


def plot_pair(
    model: Model,
    pair: tuple[str, str],
    X: Any = None,
    *,
    centred: bool | None = None,
    ax: "Axes | None" = None,
) -> "Figure":
    """Draw the interaction of two features as a grid; it is added to the main effects of both features.

    Each cell shows its contribution, its 95 % interval if the model has standard errors, and the
    number of rows of X or the share of the training data in the cell. The intervals are explained in `plot_shape`.

    Parameters
    ----------
    model : Model
        The model.
    pair : pair of str
        Two features with an interaction, as listed in `model.pairs`.
    X : array-like or data frame of shape (n_samples, n_features), optional
        Data whose rows are counted in each cell.
    centred : bool, optional
        Whether contributions are relative to their mean over the training data. By default True if these means are
        known.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    if pair not in model.pairs:
        msg = f"the model has no interaction of {pair!r}. Interactions: {list(model.pairs)}."
        raise ValueError(msg)
    grid = _pair_grid(model, pair, None if X is None else read_table(X), centred=centred)
    figure, ax = get_axes(ax, width=2.2 + 1.0 * len(grid.labels[0]), height=1.4 + 0.55 * len(grid.labels[1]))
    _draw_grid(ax, grid, text_size=COUNT_SIZE)
    return figure


def _contribution_label(model: Model, *, centred: bool | None) -> str:
    return f"Contribution to {score_name(model)}" + (" (centred)" if model.is_centred(centred=centred) else "")


def _by_importance(model: Model, table: Table | None) -> list[Part]:
    if table is None:
        return list(model.parts)
    columns = model.score_function.columns(table)
    importances = {function.key: importance(function.evaluate(columns)) for function in model.score_function.functions}
    return sorted(model.parts, key=lambda part: -importances[part])


def _column(model: Model, feature: str, table: Table | None) -> FloatArray | None:
    if table is None:
        return None
    (j,) = positions([feature], model.feature_names, table)
    return table.column(j).on_scale(model.scale_of(feature))


def _grid(n_panels: int) -> "tuple[Figure, list[Axes]]":
    """Return a figure as wide as a page, with two panels in each row."""
    n_columns = min(max(n_panels, 1), 2)
    n_rows = -(-max(n_panels, 1) // n_columns)
    figure = new_figure(PAGE_WIDTH if n_columns > 1 else 5.0, 2.5 * n_rows + 0.3)
    axes: list[Axes] = figure.subplots(n_rows, n_columns, squeeze=False).ravel().tolist()
    for unused in axes[n_panels:]:
        unused.set_axis_off()
    return figure, axes


def _draw_shape(ax: "Axes", model: Model, name: str, numbers: FloatArray | None, *, centred: bool | None) -> None:
    rows = [row for row in bin_rows(model, name, numbers, centred=centred) if row.is_drawn]
    bins = model.shape_functions()[name].bins
    if bins.scale.kind == "category":
        _draw_levels(ax, rows)
    else:
        _draw_intervals(ax, bins, rows, numbers)
    ax.set_title(shorten(name), fontsize=TITLE_SIZE)
    style_axes(ax)


def _draw_intervals(ax: "Axes", bins: Bins, rows: list[BinRow], numbers: FloatArray | None) -> None:
    """Draw the contribution as a line over the ordered values, and markers for special and missing values."""
    intervals = [row for row in rows if row.kind == "interval"]
    markers = [row for row in rows if row.kind != "interval" and (row.contribution or row.count)]
    low, high = _axis_limits(bins, numbers)
    # Between two neighbouring discrete values, the contribution changes half-way.
    ends = np.clip([low, *(bins.edges + 0.5 * is_discrete(bins)), high], low, high)
    ax.axhline(0.0, color=PALE, linewidth=0.8, zorder=0)
    lines = [_row_line(row, *limits) for row, limits in zip(intervals, pairwise(ends), strict=True)]
    x, contribution, lower, upper = np.concatenate(lines, axis=1)
    ax.fill_between(x, lower, upper, color=BLUE, alpha=0.18, linewidth=0)
    ax.plot(x, contribution, color=BLUE, linewidth=1.8, solid_joinstyle="miter")
    # Special and missing values are to the right of the ordered ones.
    marker_x = [high + (0.08 + 0.17 * i) * (high - low) for i in range(len(markers))]
    heights, (lower, upper) = [row.contribution for row in markers], _ends(markers)
    ax.vlines(marker_x, lower, upper, color=ORANGE, linewidth=1)
    ax.plot(marker_x, heights, linestyle="none", marker="D", color=ORANGE, markersize=5)
    _set_height(ax, rows)
    if numbers is not None:
        _draw_histogram(ax, bins, numbers, (low, high))
        has_room = (np.diff(ends) > MIN_COUNT_WIDTH * (high - low)) | _is_spike(intervals)
        centres = zip(intervals, (ends[:-1] + ends[1:]) / 2, strict=True)
        counted = [row_and_x for row_and_x, fits in zip(centres, has_room, strict=True) if fits]
        _write_counts(ax, [*counted, *zip(markers, marker_x, strict=True)])
    _set_ticks(ax, bins, (low, high), dict(zip(marker_x, markers, strict=True)))


def _row_line(row: BinRow, low: float, high: float) -> FloatArray:
    """Return x, contribution and the ends of the interval at points between the ends of a bin."""
    x = row.points if row.slope else np.array([low, high])
    contribution = np.linspace(row.start if row.slope else row.contribution, row.contribution, x.size)
    lower, upper = (contribution, contribution) if row.interval is None else row.interval
    return np.stack([x, contribution, *(np.broadcast_to(end, x.shape) for end in (lower, upper))])


def _ends(rows: list[BinRow]) -> tuple[list[float], list[float]]:
    """Return the ends of the interval of each row; its contribution twice if the interval is unknown."""
    ends = [row.interval or (np.array([row.contribution]),) * 2 for row in rows]
    return [float(lower[-1]) for lower, _ in ends], [float(upper[-1]) for _, upper in ends]


def _is_spike(intervals: list[BinRow]) -> NDArray[np.bool_]:
    """Return which intervals are above or below both neighbours; their row counts are shown at any width."""
    rises = np.sign(np.diff([row.contribution for row in intervals]))
    spikes = np.zeros(len(intervals), dtype=np.bool_)
    spikes[1:-1] = rises[:-1] * rises[1:] < 0
    return spikes


def _axis_limits(bins: Bins, numbers: FloatArray | None) -> tuple[float, float]:
    if is_discrete(bins):
        return -0.5, max(len(bins.scale.levels), 2) - 0.5
    low, high = value_range(bins, numbers)
    margin = 0.05 * ((high - low) or 1.0)
    return low - margin, high + margin


def _set_height(ax: "Axes", rows: list[BinRow]) -> None:
    """Leave room for the histogram below the line and for the counts above it."""
    values = [0.0] + [row.contribution for row in rows] + [row.start for row in rows if row.slope]
    height = (max(values) - min(values)) or 1.0
    top, bottom = max(values), min(values)
    for row in rows:
        if row.interval is None:
            continue
        lower, upper = row.interval
        for i, value in [(-1, row.contribution), *([(0, row.start)] if row.slope else [])]:
            # A wide interval, of a bin of very few rows, is cut off so that the other bins remain readable.
            top = max(top, min(float(upper[i]), value + 0.5 * height))
            bottom = min(bottom, max(float(lower[i]), value - 0.5 * height))
    ax.set_ylim(
        min(bottom - 0.2 * height, min(values) - 0.4 * height), max(top, max(values) + 0.1 * height) + 0.1 * height
    )


def _draw_histogram(ax: "Axes", bins: Bins, numbers: FloatArray, limits: tuple[float, float]) -> None:
    counts, ends = histogram(bins, numbers, limits)
    if counts.max() > 0:
        inset = ax.inset_axes((0.0, 0.0, 1.0, 0.2), sharex=ax, zorder=0)
        inset.stairs(counts, ends, fill=True, color=PALE)
        inset.set_axis_off()


def _write_counts(ax: "Axes", rows_and_x: list[tuple[BinRow, float]]) -> None:
    if len(rows_and_x) > MAX_COUNTS:
        return
    for row, x in rows_and_x:
        rises = float(np.sign(row.slope))
        ax.annotate(
            f"{row.count:,}",
            (x, (row.start + row.contribution) / 2),
            xytext=(-2 * rises, 4),
            textcoords="offset points",
            ha="right" if rises > 0 else "left" if rises < 0 else "center",
            fontsize=COUNT_SIZE,
            color=GREY,
        )


def _set_ticks(ax: "Axes", bins: Bins, limits: tuple[float, float], markers: dict[float, BinRow]) -> None:
    """Label the ordered values by their scale, and each special value by its name."""
    low, high = limits
    if bins.scale.is_time:
        ticks = np.linspace(low, high, 4)[1:-1].tolist()
    elif is_discrete(bins):
        ticks = [float(i) for i in range(max(len(bins.scale.levels), 2))]
    else:
        ticks = [float(tick) for tick in ax.get_xticks() if low <= tick <= high]
        ticks = ticks[:: max(1, len(ticks) // 5)]
    ticks = [tick for tick in ticks if not markers or tick < min(markers) - 0.04 * (high - low)]
    by_month = bins.scale.is_time and high - low > MAX_DAYS_BY_DAY * bins.scale.number(ONE_DAY_AFTER_EPOCH)
    labels = [_tick_label(bins, tick)[: 7 if by_month else None] for tick in ticks]
    labels += [shorten(row.label.removeprefix("= ").removesuffix(NEW)) for row in markers.values()]
    ax.set_xticks([*ticks, *markers], labels, rotation=30 if markers or bins.scale.has_levels else 0, ha="center")
    right = max([high, *(x + 0.05 * (high - low) for x in markers)])
    # Around a single threshold that is far from zero, the limits may be equal in floating point.
    if right > low:
        ax.set_xlim(low, right)


def _tick_label(bins: Bins, number: float) -> str:
    if bins.scale.kind == "number":
        return f"{number:g}"
    if bins.scale.is_time:
        return text(bins.scale.value(round(number)))[:10]
    return shorten(text(bins.scale.value(number))) if number == int(number) else ""


def _draw_levels(ax: "Axes", rows: list[BinRow]) -> None:
    """Draw a bar for each level of a category; of many levels, those with the highest and lowest contributions."""
    shown = rows if len(rows) <= MAX_LEVELS else [*rows[: MAX_LEVELS // 2], *rows[-MAX_LEVELS // 2 :]]
    y = np.arange(len(shown))[::-1]
    ax.axvline(0.0, color=PALE, linewidth=0.8, zorder=0)
    ax.barh(y, [row.contribution for row in shown], color=BLUE, height=0.6)
    ax.hlines(y, *_ends(shown), color=GREY, linewidth=1)
    counts = ["" if row.count is None else f" ({row.count:,})" for row in shown]
    ax.set_yticks(y, [shorten(row.label, 18) + count for row, count in zip(shown, counts, strict=True)])


def _pair_grid(model: Model, pair: tuple[str, str], table: Table | None, *, centred: bool | None) -> PairGrid:
    """Return the cells that occur in the training data or in the table, and the number of rows of the table in each."""
    columns = {name: _column(model, name, table) for name in pair}
    numbers = {name: column for name, column in columns.items() if column is not None}
    return pair_grid(model, pair, numbers or None, centred=centred).drawn()


def _draw_grid(ax: "Axes", grid: PairGrid, text_size: float | None = None) -> None:
    """Draw the first feature along x and the second along y; by default, the text size depends on the columns."""
    contributions = grid.contributions.T
    largest = float(np.abs(contributions).max()) or 1.0
    colours = _diverging_colours()
    ax.pcolormesh(contributions, cmap=colours, vmin=-largest, vmax=largest, edgecolors="white", linewidth=1.5)
    size = COUNT_SIZE * min(1.0, FULL_SIZE_COLUMNS / contributions.shape[1]) if text_size is None else text_size
    for j, i in np.ndindex(contributions.shape) if size >= MIN_TEXT_SIZE else ():
        colour = "white" if abs(contributions[j, i]) > DARK_CELL * largest else "black"
        ax.text(i + 0.5, j + 0.5, _cell_text(grid, i, j), ha="center", va="center", fontsize=size, color=colour)
    for axis, labels, name in zip((ax.xaxis, ax.yaxis), grid.labels, grid.names, strict=True):
        axis.set_ticks(np.arange(len(labels)) + 0.5, [shorten(label.removesuffix(NEW), 18) for label in labels])
        axis.set_label_text(shorten(name), fontsize=LABEL_SIZE)
    ax.tick_params(labelsize=COUNT_SIZE, length=0, colors=GREY)
    ax.tick_params(axis="x", rotation=30 if len(grid.labels[0]) > 3 else 0)
    ax.spines[:].set_visible(False)
    ax.set_title(shorten(part_name(grid.names)), fontsize=TITLE_SIZE)


def _cell_text(grid: PairGrid, i: int, j: int) -> str:
    lines = [f"{grid.contributions[i, j]:+.2f}"]
    if grid.interval is not None and not np.isnan(grid.interval[0][i, j]):
        lines.append(" to ".join(f"{end[i, j]:+.2f}" for end in grid.interval))
    if grid.counts is not None:
        n = int(grid.counts[i, j])
        lines.append(f"{n:,} row{'s' * (n != 1)}")
    elif grid.shares is not None:
        lines.append(f"{grid.shares[i, j]:.1%} of rows")
    return "\n".join(lines)


def _diverging_colours() -> "Colormap":
    """Return a colour map from blue through white to orange."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("blue to orange", [BLUE, "#F7F7F7", ORANGE])
