"""Figures and colours: those of Okabe and Ito, which the colour-blind tell apart and which differ in print."""

from typing import Any

from sparsegam.checks import optional

BLUE, ORANGE, GREEN, GREY, PALE = "#0072B2", "#D55E00", "#009E73", "#555555", "#C6CFDA"
TITLE, LABEL, COUNT = 10.0, 9.0, 8.0  # points; figures are as wide as a page, so that they are read at this size
PAGE = 7.2  # inches


def canvas(ax: Any = None, *, width: float = 6.0, height: float = 4.0) -> tuple[Any, Any]:
    """Return a figure and its axes: those given, or new ones.

    Parameters
    ----------
    ax : matplotlib.axes.Axes, optional
        Axes to draw into.
    width, height : float
        Size of a new figure, in inches.

    Returns
    -------
    tuple of Figure and Axes
        Where to draw.
    """
    if ax is not None:
        return ax.figure, ax
    figure = new_figure(width, height)
    return figure, figure.subplots()


def new_figure(width: float, height: float) -> Any:
    """Return an empty figure whose parts do not overlap."""
    plt = optional("matplotlib.pyplot", "plots", extra="plot")
    return plt.figure(figsize=(width, height), layout="constrained")


def plain(ax: Any) -> None:
    """Take away what carries no information."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=LABEL)


def shortened(name: str, most: int = 34) -> str:
    """Cut a long name in its middle, where it says least; dollars stay dollars, and are no formula of matplotlib's."""
    if len(name) > most:
        head = (most - 1) // 2
        name = f"{name[:head]}…{name[-(most - 1 - head) :]}"
    return name.replace("$", r"\$")
