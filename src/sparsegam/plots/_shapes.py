"""Shape functions: steps and straight pieces with their errors, over the density of the data and rows per piece."""

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import text
from sparsegam._data.table import Table, read_table
from sparsegam._models.additive import Model
from sparsegam._models.cells import Cells, cells_of
from sparsegam._models.lookup import positions
from sparsegam._models.pieces import Piece, importance, pieces_of
from sparsegam._models.seen import NEW
from sparsegam._models.shapes import ShapeFunction
from sparsegam._models.steps import step_model, step_numbers
from sparsegam._models.terms import Part, part_name
from sparsegam.arrays import FloatArray
from sparsegam.parameters import documented
from sparsegam.plots._figure import (
    BLUE,
    COUNT,
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

MOST_COUNTS = 10  # pieces whose rows are written out
NARROW = 0.07  # share of the width below which a step has no room for its count
MOST_LEVELS = 20
BINS = 40  # of the density
LONG = 180  # days, beyond which an axis of dates tells months
SECOND_OF_JANUARY = datetime(1970, 1, 2)  # a day from where dates and times count from
INTERVAL = 1.96  # standard errors on either side: 95 %
TAIL = 0.005  # share of rows at either end that may be cut off the picture


@documented
def plot_shape(model: Model, feature: str, X: Any = None, *, centred: bool | None = None, ax: Any = None) -> Any:  # noqa: D417
    """Draw what one feature adds to the score, with intervals of 95 % where the model knows its errors.

    Intervals are of the difference from the feature's mean over the rows of the fit, as if the steps had been given and
    not chosen; `stability` of an estimator says how sure the steps themselves are.

    Parameters
    ----------
    model : Model
        The model.
    feature : str
        A feature that the model uses.
    X : array-like or data frame, optional
        Rows whose density is drawn underneath, and counted per step.
    {centred}
    {ax}

    Returns
    -------
    {figure}
    """
    shapes = model.shape_functions(centred=centred)
    if feature not in shapes:
        msg = f"the model does not use {feature!r}; it uses {list(shapes)}."
        raise ValueError(msg)
    figure, ax = canvas(ax, width=5.0, height=3.2)
    numbers = _numbers(model, feature, None if X is None else read_table(X))
    _draw(ax, model, feature, shapes[feature], numbers)
    ax.set_ylabel(_adds(model, centred=centred), fontsize=LABEL)
    return figure


@documented
def plot_shapes(  # noqa: D417
    model: Model,
    X: Any = None,
    *,
    features: Sequence[Part] | None = None,
    centred: bool | None = None,
    ax: Any = None,
) -> Any:
    """Draw what each feature, and each pair with products, adds to the score, the most important first with rows.

    See `plot_shape` and `plot_pair`.

    Parameters
    ----------
    model : Model
        The model.
    X : array-like or data frame, optional
        Rows whose density is drawn underneath, and counted per step.
    features : sequence of str or pair of str, optional
        The features and pairs to draw, in this order; all by default.
    {centred}
    ax : sequence of matplotlib.axes.Axes, optional
        Where to draw, one for each feature; a new figure, as long as need be, by default.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.
    """
    table = None if X is None else read_table(X)
    names = ranked(model, table) if features is None else list(features)
    if ax is None:
        figure, axes = _grid(len(names))
    else:
        axes = list(np.ravel(ax))
        figure = axes[0].figure
    if len(axes) < len(names):
        msg = f"ax holds {len(axes)} axes for {len(names)} features: pass one for each, or name fewer features."
        raise ValueError(msg)
    shapes = model.shape_functions(centred=centred)
    for axis, name in zip(axes, names, strict=False):
        if isinstance(name, str):
            _draw(axis, model, name, shapes[name], _numbers(model, name, table))
        else:
            draw_pair(axis, drawn_cells(model, name, table, centred=centred))
    if ax is None and names:
        figure.supylabel(_adds(model, centred=centred), fontsize=TITLE)
    return figure


def _adds(model: Model, *, centred: bool | None) -> str:
    return "adds to the score, against its mean" if model.is_centred(centred=centred) else "adds to the score"


def ranked(model: Model, table: Table | None) -> list[Part]:
    """Return the features and pairs that add something, the most important first where rows are given."""
    if table is None:
        return list(model.parts)
    steps, numbers = step_model(model), step_numbers(model, table)
    weight = {part.key: importance(part.of(numbers)) for part in steps.parts}
    return sorted(model.parts, key=lambda part: -weight[part])


def _numbers(model: Model, feature: str, table: Table | None) -> FloatArray | None:
    if table is None:
        return None
    scale = model.shape_functions()[feature].scale
    names = model.feature_names if table.names is None else table.names
    return table.column(list(names).index(feature)).on_scale(scale)


def _grid(n: int) -> tuple[Any, list[Any]]:
    """Return a figure with room for n pictures, two in a row: as wide as a page."""
    columns = min(max(n, 1), 2)
    rows = -(-max(n, 1) // columns)
    figure = new_figure(PAGE if columns > 1 else 5.0, 2.5 * rows + 0.3)
    axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for spare in axes[n:]:
        spare.set_axis_off()
    return figure, axes


def _draw(ax: Any, model: Model, name: str, shape: ShapeFunction, numbers: FloatArray | None) -> None:
    parts = [piece for piece in model.with_errors(name, pieces_of(shape, numbers)) if piece.is_worth_drawing]
    if shape.scale.kind == "category":
        _draw_levels(ax, parts)
    else:
        _draw_ordered(ax, shape, parts, numbers)
    ax.set_title(shortened(name), fontsize=TITLE)
    plain(ax)


def _draw_ordered(ax: Any, shape: ShapeFunction, parts: list[Piece], numbers: FloatArray | None) -> None:
    steps = [piece for piece in parts if piece.kind == "step"]
    apart = [piece for piece in parts if piece.kind != "step" and (piece.contribution or piece.count)]
    low, high = _range(shape, numbers)
    # values that are apart, with nothing between them, change half-way
    ends = np.clip([low, *(shape.edges + 0.5 * _is_discrete(shape)), high], low, high)
    ax.axhline(0.0, color=PALE, linewidth=0.8, zorder=0)
    lines = [_line(piece, *limits) for piece, limits in zip(steps, pairwise(ends), strict=True)]
    x, adds, reach = np.concatenate(lines, axis=1)
    ax.fill_between(x, adds - reach, adds + reach, color=BLUE, alpha=0.18, linewidth=0)
    ax.plot(x, adds, color=BLUE, linewidth=1.8, solid_joinstyle="miter")
    places = _apart_places(low, high, len(apart))
    heights, errors = [piece.contribution for piece in apart], [_reach(piece) for piece in apart]
    ax.errorbar(places, heights, yerr=errors, linestyle="none", marker="D", color=ORANGE, markersize=5, elinewidth=1)
    _room_below(ax, parts)
    if numbers is not None:
        _draw_density(ax, shape, numbers, (low, high))
        wide = (np.diff(ends) > NARROW * (high - low)) | _are_spikes(steps)
        middles = zip(steps, (ends[:-1] + ends[1:]) / 2, strict=True)
        placed = [pair for pair, fits in zip(middles, wide, strict=True) if fits]
        _write_counts(ax, [*placed, *zip(apart, places, strict=True)])
    _mark_x(ax, shape, (low, high), dict(zip(places, apart, strict=True)))


def _line(piece: Piece, low: float, high: float) -> FloatArray:
    """Return places from one end of a piece to the other, what these add, and how far their intervals reach."""
    if not piece.slope:
        return np.array([[low, high], [piece.contribution] * 2, [_reach(piece)] * 2])
    x = piece.along()
    reach = INTERVAL * np.array(piece.errors or np.zeros(x.size))
    return np.stack([x, np.linspace(piece.start, piece.contribution, x.size), reach])


def _reach(piece: Piece) -> float:
    """Return half of the interval of what a piece adds; none where its error is not known."""
    return 0.0 if piece.error is None else INTERVAL * piece.error


def _is_discrete(shape: ShapeFunction) -> bool:
    return shape.scale.has_levels or shape.scale.kind == "boolean"


def _are_spikes(steps: list[Piece]) -> NDArray[np.bool_]:
    """Tell which steps stand out above or below both of their neighbours: one wants to know on how many rows."""
    rises = np.sign(np.diff([piece.contribution for piece in steps]))
    out = np.zeros(len(steps), dtype=np.bool_)
    out[1:-1] = rises[:-1] * rises[1:] < 0
    return out


def _range(shape: ShapeFunction, numbers: FloatArray | None) -> tuple[float, float]:
    """Return the part of the scale to be shown: all edges, and nearly all rows."""
    if _is_discrete(shape):
        return -0.5, max(len(shape.scale.levels), 2) - 0.5
    edges = shape.edges
    seen = np.empty(0) if numbers is None else numbers[~(np.isnan(numbers) | np.isin(numbers, list(shape.special)))]
    if seen.size:
        low, high = np.quantile(seen, [TAIL, 1 - TAIL])
    else:
        low, high = (edges[0], edges[-1]) if edges.size else (0.0, 1.0)
    if edges.size:
        low, high = min(low, edges[0]), max(high, edges[-1])
    width = (high - low) or 1.0
    return float(low - 0.05 * width), float(high + 0.05 * width)


def _apart_places(low: float, high: float, n: int) -> list[float]:
    """Return where special and missing values stand: to the right of the ordered ones."""
    return [high + (0.08 + 0.17 * i) * (high - low) for i in range(n)]


def _room_below(ax: Any, parts: list[Piece]) -> None:
    """Leave the lower quarter of the axes to the density, and some room above for the counts."""
    ends = [(piece.contribution, _reach(piece)) for piece in parts] + [(0.0, 0.0)]
    ends += [(piece.start, INTERVAL * piece.errors[0] if piece.errors else 0.0) for piece in parts if piece.slope]
    values = [value for value, _ in ends]
    height = (max(values) - min(values)) or 1.0
    reach = [min(by, 0.5 * height) for _, by in ends]  # of a piece of three rows, as far as need be
    top = max(value + by for value, by in zip(values, reach, strict=True))
    bottom = min(value - by for value, by in zip(values, reach, strict=True))
    ax.set_ylim(
        min(bottom - 0.2 * height, min(values) - 0.4 * height), max(top, max(values) + 0.1 * height) + 0.1 * height
    )


def _draw_density(ax: Any, shape: ShapeFunction, numbers: FloatArray, limits: tuple[float, float]) -> None:
    seen = numbers[~(np.isnan(numbers) | np.isin(numbers, list(shape.special)))]
    bins: Any = np.linspace(*limits, BINS + 1)
    if _is_discrete(shape) or (limits[1] - limits[0] < 1.5 * BINS and bool(np.all(seen % 1 == 0))):
        bins = np.arange(np.floor(limits[0]) - 0.5, np.ceil(limits[1]) + 1.0)  # one for each value
    counts, ends = np.histogram(seen, bins=bins)
    if counts.max() > 0:
        below = ax.inset_axes([0.0, 0.0, 1.0, 0.2], sharex=ax, zorder=0)
        below.stairs(counts, ends, fill=True, color=PALE)
        below.set_axis_off()


def _write_counts(ax: Any, placed: list[tuple[Piece, float]]) -> None:
    if len(placed) > MOST_COUNTS:
        return
    for piece, x in placed:
        rises = float(np.sign(piece.slope))
        ax.annotate(
            f"{piece.count:,}",
            (x, (piece.start + piece.contribution) / 2),
            xytext=(-2 * rises, 4),
            textcoords="offset points",
            ha={1.0: "right", -1.0: "left"}.get(rises, "center"),  # on the upper side of a slope
            fontsize=COUNT,
            color=GREY,
        )


def _mark_x(ax: Any, shape: ShapeFunction, limits: tuple[float, float], apart: dict[float, Piece]) -> None:
    """Label the ordinary part as its scale reads, and each special value by its own name."""
    if shape.scale.is_time:
        ticks = np.linspace(*limits, 4)[1:-1].tolist()
    elif _is_discrete(shape):
        ticks = [float(i) for i in range(max(len(shape.scale.levels), 2))]
    else:
        ticks = [float(tick) for tick in ax.get_xticks() if limits[0] <= tick <= limits[1]]
        ticks = ticks[:: max(1, len(ticks) // 5)]
    room = 0.04 * (limits[1] - limits[0])
    ticks = [tick for tick in ticks if not apart or tick < min(apart) - room]
    months = shape.scale.is_time and limits[1] - limits[0] > LONG * shape.scale.number(SECOND_OF_JANUARY)
    words = [_tick(shape, tick)[: 7 if months else None] for tick in ticks] + [
        shortened(piece.label.removeprefix("= ").removesuffix(NEW)) for piece in apart.values()
    ]
    ax.set_xticks([*ticks, *apart], words, rotation=30 if apart or shape.scale.has_levels else 0, ha="center")
    right = max([limits[1], *(place + 0.05 * (limits[1] - limits[0]) for place in apart)])
    if right > limits[0]:  # a single threshold far from zero leaves no room that floats could tell
        ax.set_xlim(limits[0], right)


def _tick(shape: ShapeFunction, number: float) -> str:
    if shape.scale.kind == "number":
        return f"{number:g}"
    if shape.scale.is_time:
        number = round(number)
        return text(shape.scale.value(number))[:10]
    return shortened(text(shape.scale.value(number))) if number == int(number) else ""


def _draw_levels(ax: Any, parts: list[Piece]) -> None:
    shown = parts if len(parts) <= MOST_LEVELS else [*parts[: MOST_LEVELS // 2], *parts[-MOST_LEVELS // 2 :]]
    places = np.arange(len(shown))[::-1]
    ax.axvline(0.0, color=PALE, linewidth=0.8, zorder=0)
    heights, errors = [piece.contribution for piece in shown], [_reach(piece) for piece in shown]
    ax.barh(places, heights, xerr=errors, color=BLUE, height=0.6, error_kw={"elinewidth": 1, "ecolor": GREY})
    words = [shortened(piece.label, 18) + ("" if piece.count is None else f" ({piece.count:,})") for piece in shown]
    ax.set_yticks(places, words)


SMALLEST = 4.0  # size of numbers in cells, in points, below which they are not written
IN_A_ROW = 3  # cells side by side in a picture among others for which letters are of full size
DARK = 0.6  # of the strongest colour, from which on letters are white


@documented
def plot_pair(  # noqa: D417
    model: Model, pair: tuple[str, str], X: Any = None, *, centred: bool | None = None, ax: Any = None
) -> Any:
    """Draw what two features add to the score together, beside what each adds by itself.

    Each cell has what it adds, half of its interval of 95 % where the model knows its errors, and the rows in it: how
    many of those given, or else which share of those of the fit. Intervals are as in `plot_shape`.

    Parameters
    ----------
    model : Model
        The model.
    pair : pair of str
        Two features that have products, as in `model.pairs`.
    X : array-like or data frame, optional
        Rows to be counted per cell.
    {centred}
    {ax}

    Returns
    -------
    {figure}
    """
    if pair not in model.pairs:
        msg = f"the model has no products of {pair!r}; it has some of {list(model.pairs)}."
        raise ValueError(msg)
    found = drawn_cells(model, pair, None if X is None else read_table(X), centred=centred)
    figure, ax = canvas(ax, width=2.2 + 1.0 * len(found.labels[0]), height=1.4 + 0.55 * len(found.labels[1]))
    draw_pair(ax, found, letters=COUNT)
    return figure


def drawn_cells(model: Model, pair: tuple[str, str], table: Table | None, *, centred: bool | None) -> Cells:
    """Return the cells of a pair that are worth drawing, with the rows of a table counted."""
    numbers: dict[str, FloatArray] | None = None
    if table is not None:
        where = positions(pair, model.feature_names, table)
        numbers = {
            name: table.column(j).on_scale(model.source_of(name).scale) for name, j in zip(pair, where, strict=True)
        }
    return cells_of(model, pair, numbers, centred=centred).worth_drawing()


def draw_pair(ax: Any, cells: Cells, letters: float | None = None) -> None:
    """Draw the grid: the first feature across, the second up; letters are as large as there is room, or as told."""
    adds = cells.adds.T
    strongest = float(np.abs(adds).max()) or 1.0
    ax.pcolormesh(adds, cmap=_colours(), vmin=-strongest, vmax=strongest, edgecolors="white", linewidth=1.5)
    size = COUNT * min(1.0, IN_A_ROW / adds.shape[1]) if letters is None else letters
    for j, i in np.ndindex(adds.shape) if size >= SMALLEST else ():
        colour = "white" if abs(adds[j, i]) > DARK * strongest else "black"
        ax.text(i + 0.5, j + 0.5, _words(cells, i, j), ha="center", va="center", fontsize=size, color=colour)
    for axis, labels, name in zip((ax.xaxis, ax.yaxis), cells.labels, cells.names, strict=True):
        words = [shortened(label.removesuffix(NEW), 18) for label in labels]
        axis.set_ticks(np.arange(len(labels)) + 0.5, words)
        axis.set_label_text(shortened(name), fontsize=LABEL)
    ax.tick_params(labelsize=COUNT, length=0, colors=GREY)
    ax.tick_params(axis="x", rotation=30 if len(cells.labels[0]) > 3 else 0)
    ax.spines[:].set_visible(False)
    ax.set_title(shortened(part_name(cells.names)), fontsize=TITLE)


def _words(cells: Cells, i: int, j: int) -> str:
    """Return what a cell adds, how well that is known, and its rows."""
    error = np.nan if cells.errors is None else INTERVAL * float(cells.errors[i, j])
    lines = [f"{cells.adds[i, j]:+.2f}" + ("" if np.isnan(error) else f" ± {error:.2f}")]
    if cells.counts is not None:
        n = int(cells.counts[i, j])
        lines.append(f"{n:,} row{'s' * (n != 1)}")
    elif cells.shares is not None:
        lines.append(f"{cells.shares[i, j]:.1%} of rows")
    return "\n".join(lines)


def _colours() -> Any:
    """Return blue through white to orange, which the colour-blind tell apart."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("blue to orange", [BLUE, "#F7F7F7", ORANGE])
