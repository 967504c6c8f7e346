"""Check the claims of the paper with the tables of the last run: ablation, objectives, and AUC at equal size."""

from __future__ import annotations

import json

import pandas as pd

from benchmarks.paper.runner import PAPER

TIMINGS = ("fig3", "fig6", "fig7")
PATHS = ("fig4", "fig5", "fig5n", "fig8")
# Objectives with a smaller relative difference count as equal.
TIE = 1e-6
AUC_SLACK = 0.005
SPARSEGAM_METHODS = ("exchange", "exchange, certified")


def report() -> None:
    """Print the check of every claim."""
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
    """Print operation counts and seconds of each search, summed over the cells."""
    swaps = table[table["method"].str.startswith("swap")]
    counts = pd.DataFrame([json.loads(text) for text in swaps["counts"]], index=swaps.index)
    cut = counts[["cut_linear", "cut_quadratic", "cut_selfconcordant"]].sum(axis=1)
    shown = counts[["terms_tried", "columns_tried", "line_searches", "line_points", "swaps"]].assign(cut=cut)
    summed = shown.assign(seconds=swaps["seconds"], method=swaps["method"], lambda2=swaps["lambda2"])
    print(f"  {figure}: ablation, summed over lambda0 and folds")
    print(summed.groupby(["lambda2", "method"]).sum().round(2).to_string())
    others = table[~table["method"].str.startswith("swap")]
    print(others.groupby(["loss_name", "lambda2", "method"])["seconds"].sum().round(3).to_string())


def objectives(figure: str, table: pd.DataFrame) -> None:
    """Print in how many cells the objective of sparsegam is at or below that of every other method."""
    cells = table.pivot_table(
        index=["fold", "loss_name", "lambda2", "lambda0"], columns="method", values="objective", aggfunc="min"
    )
    others = cells.drop(columns=[name for name in SPARSEGAM_METHODS if name in cells]).min(axis=1)
    for name in (name for name in SPARSEGAM_METHODS if name in cells):
        excess = (cells[name] - others)[cells[name].notna() & others.notna()]
        higher = excess[excess > TIE * others[excess.index]]
        print(f"  {figure}: {name} at or below every other in {len(excess) - len(higher)} of {len(excess)} cells")
        for at, amount in higher.items():
            print(f"    above at fold, loss, lambda2, lambda0 = {at}: by {amount:.4f} of {others[at]:.2f}")


def equal_sizes(figure: str, table: pd.DataFrame) -> None:
    """Print how far the mean test AUC of sparsegam is below that of other methods at equal size and loss.

    Sizes are compared on the folds in which the other method has a model of that size, at least half of all folds. Each
    side uses the lambda2 that is best for it on the test rows of those folds. Of several models of one size along a
    path, the one with the lowest training loss is used, as a user would.
    """
    table = table[table["n_terms"] > 0].sort_values("loss")
    keys = ["loss_name", "method", "lambda2", "n_terms", "fold"]
    aucs = table.drop_duplicates(keys).set_index(keys)["test_auc"].unstack("fold")
    own_aucs = aucs.xs("exchange", level="method")
    for (loss, method), others in aucs.groupby(["loss_name", "method"]):
        if method in SPARSEGAM_METHODS:
            continue
        leads = [_largest_lead(size, group, own_aucs.loc[loss]) for size, group in others.groupby("n_terms")]
        lines = pd.DataFrame([line for line in leads if line], columns=["size", "lead", "error", "folds"])
        if lines.empty:
            continue
        behind, worst = lines[lines["lead"] > AUC_SLACK], lines.loc[lines["lead"].idxmax()]
        print(f"  {figure}: against {method} ({loss}): ", end="")
        print(f"behind by more than {AUC_SLACK} at {len(behind)} of {len(lines)} sizes; at worst ", end="")
        print(f"{worst['lead']:+.4f} +- {worst['error']:.4f} at {worst['size']:.0f} terms ", end="")
        print(f"({worst['folds']:.0f} folds), mean {lines['lead'].mean():+.4f}")


def _largest_lead(size: int, others: pd.DataFrame, own_aucs: pd.DataFrame) -> tuple[int, float, float, int] | None:
    """Return the largest lead of the other method over its lambda2, its standard error, and the number of folds."""
    found = []
    has_size = size in own_aucs.index.get_level_values("n_terms")
    own = own_aucs.xs(size, level="n_terms") if has_size else own_aucs.iloc[:0]
    for _, other in others.iterrows():
        folds = other.dropna().index
        complete = own[folds].dropna()
        if 2 * len(folds) < others.shape[1] or complete.empty:
            continue
        ahead = other[folds] - complete.loc[complete.mean(axis=1).idxmax()]
        found.append((size, ahead.mean(), ahead.std(ddof=1) / len(folds) ** 0.5, len(folds)))
    return max(found, key=lambda line: line[1], default=None)


def _read(figure: str) -> pd.DataFrame | None:
    path = PAPER / f"{figure}.csv"
    if not path.exists():
        print(f"  {path.name} does not exist: run {figure} first")
        return None
    table = pd.read_csv(path)
    return table[table["n_terms"].notna()] if "n_terms" in table else None
