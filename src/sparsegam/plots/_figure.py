"""Figures, colours, text sizes and labels shared by all plots."""

from typing import TYPE_CHECKING, Any

from sparsegam._models.additive import Model
from sparsegam.checks import optional
from sparsegam.losses import LOSSES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The palette of Okabe and Ito, which remains distinguishable with colour blindness and in print.
BLUE, ORANGE, GREEN, GREY, PALE = "#0072B2", "#D55E00", "#009E73", "#555555", "#C6CFDA"

# Text sizes in points. New figures are at most as wide as a page (in inches), so that they are printed at these sizes.
TITLE_SIZE, LABEL_SIZE, COUNT_SIZE = 10.0, 9.0, 8.0
PAGE_WIDTH = 7.2


def get_axes(ax: "Axes | None" = None, *, width: float = 6.0, height: float = 4.0) -> "tuple[Figure, Axes]":
    """Return the given axes and their figure, or those of a new figure; sizes are in inches."""
    if ax is not None:
        figure: Any = ax.figure
        return figure, ax
    figure = new_figure(width, height)
    return figure, figure.subplots()


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure whose elements are laid out without overlap."""
    plt = optional("matplotlib.pyplot", "plots", extra="plot")
    figure: Figure = plt.figure(figsize=(width, height), layout="constrained")
    return figure


def style_axes(ax: "Axes") -> None:
    """Hide the top and right border and set the size of the tick labels."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=LABEL_SIZE)


def shorten(name: str, max_length: int = 34) -> str:
    """Replace the middle of a long name by an ellipsis, and escape $, which starts a formula in matplotlib."""
    if len(name) > max_length:
        head = (max_length - 1) // 2
        name = f"{name[:head]}…{name[-(max_length - 1 - head) :]}"
    return name.replace("$", r"\$")


def score_name(model: Model) -> str:
    """Return the name of the scale on which contributions add up."""
    if model.classes is None:
        return "prediction"
    return "log-odds" if LOSSES[model.loss].probability_slope == 1.0 else "score"
