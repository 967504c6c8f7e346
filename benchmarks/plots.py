"""Plot the results of the studies: `python -m benchmarks.plots` (requires matplotlib)."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from benchmarks.runner import RESULTS


def plot_frontiers(table: pd.DataFrame) -> Figure:
    """Plot the loss against the number of terms, a panel per loss and a line per contender."""
    lines = {name: name.split(", ") for name in table.columns.drop("k")}
    losses = list(dict.fromkeys(loss for loss, _ in lines.values()))
    figure = Figure(figsize=(5 * len(losses), 4), layout="constrained")
    axes = figure.subplots(1, len(losses), squeeze=False)
    for name, (loss, contender) in lines.items():
        axis = axes[0, losses.index(loss)]
        axis.step(table["k"], table[name], where="post", label=contender)
        axis.set(title=f"FICO fold, {loss} loss", xlabel="terms k", ylabel="lowest loss with at most k terms")
        axis.legend()
    return figure


def plot_scaling(table: pd.DataFrame) -> Figure:
    """Plot seconds and megabytes against rows, a line per contender and number of threads."""
    rows = table[table["cell"].str.startswith("rows=")]
    rows = rows.assign(n=rows["cell"].str.removeprefix("rows=").astype(int))
    figure = Figure(figsize=(10, 4), layout="constrained")
    axes = figure.subplots(1, 2)
    for (contender, threads), line in rows.groupby(["contender", "threads"], sort=False):
        axes[0].loglog(line["n"], line["seconds"], marker="o", label=f"{contender}, {threads} thread(s)")
        axes[1].loglog(line["n"], line["peak_mb"], marker="o", label=f"{contender}, {threads} thread(s)")
    axes[0].set(xlabel="rows", ylabel="seconds")
    axes[1].set(xlabel="rows", ylabel="peak memory beyond the input, MB")
    axes[0].legend()
    return figure


PLOTS = {"fico-frontier": plot_frontiers, "scaling": plot_scaling}


def main() -> None:
    """Plot all results that exist."""
    for study, plot in PLOTS.items():
        source = Path(RESULTS, f"{study}.csv")
        if source.exists():
            plot(pd.read_csv(source)).savefig(source.with_suffix(".svg"))
            print(f"results/{study}.svg")
        else:
            print(f"results/{study}.csv does not exist: run {study} first")


if __name__ == "__main__":
    main()
