"""What two features add together: a grid of their steps, coloured by what is added, with the rows of each cell."""

from typing import Any

import numpy as np

from sparsegam._data.table import Table, read
from sparsegam._models.additive import Model
from sparsegam._models.cells import Cells, cells_of
from sparsegam._models.lookup import positions
from sparsegam._models.seen import NEW
from sparsegam._models.terms import part_name
from sparsegam.arrays import FloatArray
from sparsegam.parameters import documented
from sparsegam.plots.canvas import BLUE, COUNT, GREY, LABEL, ORANGE, TITLE, canvas, shortened

INTERVAL = 1.96  # standard errors on either side: 95 %
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
    found = drawn_cells(model, pair, None if X is None else read(X), centred=centred)
    figure, ax = canvas(ax, width=2.2 + 1.0 * len(found.labels[0]), height=1.4 + 0.55 * len(found.labels[1]))
    draw_pair(ax, found, letters=COUNT)
    return figure


def drawn_cells(model: Model, pair: tuple[str, str], table: Table | None, *, centred: bool | None) -> Cells:
    """Return the cells of a pair that are worth drawing, with the rows of a table counted."""
    numbers: dict[str, FloatArray] | None = None
    if table is not None:
        where = positions(pair, model.feature_names, table)
        numbers = {name: table.column(j).on(model.source_of(name).scale) for name, j in zip(pair, where, strict=True)}
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
