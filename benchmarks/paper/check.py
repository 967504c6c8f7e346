"""How the claims stand, from the tables of the last run: order of the ablation, objectives, AUC at equal size."""

from __future__ import annotations

import json

import pandas as pd

from benchmarks.paper.runner import PAPER

TIMINGS = ("fig3", "fig6", "fig7")
PATHS = ("fig4", "fig5", "fig5n", "fig8")
TIE = 1e-6  # relative: objectives nearer than this are one and the same
AUC_SLACK = 0.005
OURS = ("exchange", "exchange, certified")


def report() -> None:
    """Print every claim with its numbers."""
    for figure in TIMINGS:
        table = _read(figure)
        if table is not None:
            ablation(figure, table)
            objectives(figure, table)
    for figure in PATHS:
        table = _read(figure)
        if table is not None:
            equal_sizes(figure, table)


def ablation(figure: str, table: pd.DataFrame) -> None:
    """Counts and seconds of each way to search, summed over the cells."""
    swaps = table[table["method"].str.startswith("swap")]
    counts = pd.DataFrame([json.loads(text) for text in swaps["counts"]], index=swaps.index)
    cut = counts[["cut_linear", "cut_quadratic", "cut_selfconcordant"]].sum(axis=1)
    shown = counts[["terms_tried", "columns_tried", "line_searches", "line_points", "swaps"]].assign(cut=cut)
    summed = shown.assign(seconds=swaps["seconds"], method=swaps["method"], lambda2=swaps["lambda2"])
    print(f"  {figure}: the ablation, summed over lambda0 and folds")
    print(summed.groupby(["lambda2", "method"]).sum().round(2).to_string())
    others = table[~table["method"].str.startswith("swap")]
    print(others.groupby(["loss_name", "lambda2", "method"])["seconds"].sum().round(3).to_string())


def objectives(figure: str, table: pd.DataFrame) -> None:
    """In how many cells our objective is at or below every other's."""
    cells = table.pivot_table(
        index=["fold", "loss_name", "lambda2", "lambda0"], columns="method", values="objective", aggfunc="min"
    )
    others = cells.drop(columns=[name for name in OURS if name in cells]).min(axis=1)
    for name in (name for name in OURS if name in cells):
        excess = (cells[name] - others)[cells[name].notna() & others.notna()]
        lost = excess[excess > TIE * others[excess.index]]
        print(f"  {figure}: {name} at or below every other in {len(excess) - len(lost)} of {len(excess)} cells")
        for at, amount in lost.items():
            print(f"    above at fold, loss, lambda2, lambda0 = {at}: by {amount:.4f} of {others[at]:.2f}")


def equal_sizes(figure: str, table: pd.DataFrame) -> None:
    """How far our mean test AUC is below that of another method's models of the same size, at worst."""
    table = table[table["n_terms"] > 0]
    best = table.groupby(["loss_name", "method", "n_terms", "fold", "lambda2"])["test_auc"].max()
    means = best.groupby(["loss_name", "method", "n_terms", "lambda2"]).agg(["mean", "count"])
    whole = means[means["count"] == table["fold"].nunique()]["mean"]
    by_size = whole.groupby(["loss_name", "method", "n_terms"]).max()
    ours = by_size.xs("exchange", level="method")  # of the same loss: the better of two would be chosen on test rows
    for (loss, method), line in by_size.groupby(["loss_name", "method"]):
        if method in OURS:
            continue
        sizes = line.droplevel(["loss_name", "method"])
        short = (sizes - ours[loss].reindex(sizes.index)).dropna()
        if short.empty:
            continue
        count, at = int((short > AUC_SLACK).sum()), short.idxmax()
        print(
            f"  {figure}: against {method} ({loss}): behind by more than {AUC_SLACK} at {count} of {len(short)} sizes;",
            end="",
        )
        print(f" at worst {short.max():+.4f} at {at} terms, mean {short.mean():+.4f}")


def _read(figure: str) -> pd.DataFrame | None:
    path = PAPER / f"{figure}.csv"
    if not path.exists():
        print(f"  no {path.name} yet: run {figure} first")
        return None
    table = pd.read_csv(path)
    return table[table["n_terms"].notna()] if "n_terms" in table else None
