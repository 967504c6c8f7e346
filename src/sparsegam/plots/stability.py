"""How often features and their terms come back in samples of the rows."""

from typing import Any

from sparsegam._models.terms import part_name
from sparsegam.inspection import Stability
from sparsegam.parameters import documented
from sparsegam.plots.canvas import BLUE, COUNT, GREY, LABEL, PALE, TITLE, canvas, plain, shortened

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
    for name in (name for name in stability.features if name in stability.used):
        out.append((shortened(name), stability.features[name], False))
        for step in stability.steps:
            if part_name(step.term.part) == name:
                out.append((shortened(step.term.short()), step.share, True))
    others = [name for name in stability.features if name not in stability.used][:MOST_OTHERS]
    return out + [(f"(not in the model) {shortened(name)}", stability.features[name], False) for name in others]
