"""Draw the figures of the paper from the results of the cells: times, trade-offs, recovery, orderings."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from benchmarks.paper.runner import PAPER

COLOURS = {
    "exchange": "black",
    "exchange, certified": "dimgray",
    "fastsparsegams": "tab:orange",
    "L0Learn": "gold",
    "swap, no cuts": "tab:brown",
    "swap, linear cuts": "tab:purple",
    "swap, quadratic cuts": "tab:green",
    "swap, quadratic + dynamic": "tab:blue",
    "swap, self-concordant + dynamic": "tab:cyan",
    "swap, exponential": "tab:red",
    "swap, sequential": "tab:green",
    "swap, dynamic": "tab:blue",
    "LASSO": "tab:pink",
    "MCP 1.5": "tab:olive",
    "MCP 25": "darkgreen",
}
TITLES = {"fico": "FICO", "compas": "COMPAS", "netherlands": "NETHERLANDS (simulated)"}


def draw(figure: str, table: pd.DataFrame) -> None:
    """Draw a figure next to its table; nothing is drawn from an empty table."""
    if table.empty or "n_terms" not in table:
        return
    table = table[table["n_terms"].notna()].assign(label=_labels(table))
    for name, picture in PICTURES[figure].items():
        picture(table).savefig(PAPER / f"{name}.png", dpi=70)


def times(table: pd.DataFrame) -> Figure:
    """Draw the seconds of a fit against lambda0, a panel per lambda2, and test AUC against seconds."""
    ridges = sorted(table.loc[table["lambda2"] > 0, "lambda2"].unique())
    shown = [ridge for ridge in (1e-5, 1e-3) if ridge in ridges] or ridges[:2]
    picture = Figure(figsize=(5.2 * len(shown), 7.6), layout="constrained")
    axes = picture.subplots(2, len(shown), squeeze=False)
    for n, ridge in enumerate(shown):
        cells = table[(table["lambda2"] == ridge) | (table["lambda2"] == 0)]
        _times(axes[0, n], cells, f"{TITLES[cells['table'].iloc[0]]}, lambda2 = {ridge:g}")
        _auc_by_time(axes[1, n], cells)
    axes[1, 0].legend(*axes[0, 0].get_legend_handles_labels(), fontsize=6)
    return picture


def _times(axis: Axes, cells: pd.DataFrame, title: str) -> None:
    for label, line in cells.groupby("label", sort=False):
        mean = line.groupby("lambda0")["seconds"].mean()
        axis.plot(mean.index, mean, marker="o", ms=3, color=_colour(label), ls=_style(label), label=label)
    axis.set(title=title, xlabel="lambda0", ylabel="CPU seconds, one thread", yscale="log")


def _auc_by_time(axis: Axes, cells: pd.DataFrame) -> None:
    for label, points in cells.groupby("label", sort=False):
        marker = "x" if "exponential" in label else "o"
        axis.scatter(points["seconds"], points["test_auc"], s=14, marker=marker, color=_colour(label))
    axis.set(xlabel="CPU seconds", ylabel="test AUC", xscale="log")


def tradeoffs(table: pd.DataFrame) -> Figure:
    """Draw AUC and accuracy on training and test rows against the number of terms, for all folds and settings."""
    names = ["train_accuracy", "test_accuracy", "train_auc", "test_auc"]
    picture = _panels(table, names)
    picture.suptitle(TITLES[table["table"].iloc[0]])
    return picture


def recovery(table: pd.DataFrame) -> Figure:
    """Draw AUC and F1 of the recovered columns against the number of terms, for the simulated data."""
    return _panels(table[~table["method"].str.startswith("ElasticNet")], ["train_auc", "test_auc", "f1"])


def elastic(table: pd.DataFrame) -> Figure:
    """Draw AUC and F1 for ElasticNet including LASSO, and for the L0 methods."""
    return _panels(table[~table["method"].str.startswith("MCP")], ["train_auc", "test_auc", "f1"])


def _panels(table: pd.DataFrame, names: list[str]) -> Figure:
    picture = Figure(figsize=(3.6 * len(names), 4.4), layout="constrained")
    table = table[table["n_terms"].between(1, 60)]
    for axis, name in zip(picture.subplots(1, len(names)), names, strict=True):
        for label, points in table.groupby("label", sort=False):
            marker = "x" if label.endswith("exponential") else "o"
            axis.scatter(points["n_terms"], points[name], s=7, marker=marker, color=_colour(label), label=label)
        axis.set(xlabel="terms", ylabel=name.replace("_", " "))
        low = table.loc[table["n_terms"] >= 3, name].quantile(0.02)
        axis.set_ylim(bottom=low)
    axis.legend(fontsize=6)
    return picture


def orderings(table: pd.DataFrame) -> Figure:
    """Draw the seconds of the whole path, and F1 along the path."""
    picture = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = picture.subplots(1, 2)
    for label, line in table.groupby("label", sort=False):
        left.barh(label, line["seconds"].iloc[0], color=_colour(label))
        right.plot(line["n_terms"], line["f1"], marker=".", color=_colour(label), label=label)
    left.set(xlabel="CPU seconds for the whole path")
    right.set(xlabel="terms", ylabel="recovery F1")
    right.legend(fontsize=7)
    return picture


def _labels(table: pd.DataFrame) -> pd.Series:
    """Return the method, with the loss if the method is used with both losses."""
    both = table["method"].isin(["exchange", "exchange, certified", "fastsparsegams"])
    exponential = table["loss_name"] == "exponential"
    return table["method"].where(~(both & exponential), table["method"] + ", exponential")


def _colour(label: str) -> str:
    if label.startswith("ElasticNet"):
        return to_hex(colormaps["plasma"](float(label.split(" ")[1])))
    return COLOURS.get(label.removesuffix(", exponential"), COLOURS.get(label, "gray"))


def _style(label: str) -> str:
    return "--" if label.endswith("exponential") else "-"


PICTURES: dict[str, dict[str, Callable[[pd.DataFrame], Figure]]] = {
    "fig3": {"fig3": times},
    "fig6": {"fig6": times},
    "fig7": {"fig7": times},
    "fig4": {"fig4": recovery, "fig9": elastic},
    "fig5": {"fig5": tradeoffs},
    "fig5n": {"fig5n": tradeoffs},
    "fig8": {"fig8": tradeoffs},
    "d1": {"d1": orderings},
}
