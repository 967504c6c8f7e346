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
    """How far our mean test AUC is below that of another method's models of the same size and loss, at worst.

    Sizes are compared on the folds in which the other method has a model of that size, at least half of them. Each
    side has the lambda2 that is best for it on the test rows of those folds; of several models of one size along a
    path, the one with the lowest training loss counts, which is the one that a user would take.
    """
    table = table[table["n_terms"] > 0].sort_values("loss")
    keys = ["loss_name", "method", "lambda2", "n_terms", "fold"]
    aucs = table.drop_duplicates(keys).set_index(keys)["test_auc"].unstack("fold")
    ours = aucs.xs("exchange", level="method")
    for (loss, method), others in aucs.groupby(["loss_name", "method"]):
        if method in OURS:
            continue
        short = [_shortfall(size, group, ours.loc[loss]) for size, group in others.groupby("n_terms")]
        lines = pd.DataFrame([line for line in short if line], columns=["size", "short", "error", "folds"])
        if lines.empty:
            continue
        behind, worst = lines[lines["short"] > AUC_SLACK], lines.loc[lines["short"].idxmax()]
        print(f"  {figure}: against {method} ({loss}): ", end="")
        print(f"behind by more than {AUC_SLACK} at {len(behind)} of {len(lines)} sizes; at worst ", end="")
        print(f"{worst['short']:+.4f} +- {worst['error']:.4f} at {worst['size']:.0f} terms ", end="")
        print(f"({worst['folds']:.0f} folds), mean {lines['short'].mean():+.4f}")


def _shortfall(size: int, others: pd.DataFrame, ours: pd.DataFrame) -> tuple[int, float, float, int] | None:
    """Most that any lambda2 of the other method is ahead of our best one, its standard error, on how many folds."""
    found = []
    mine = ours.xs(size, level="n_terms") if size in ours.index.get_level_values("n_terms") else ours.iloc[:0]
    for _, other in others.iterrows():
        folds = other.dropna().index
        whole = mine[folds].dropna()
        if 2 * len(folds) < others.shape[1] or whole.empty:
            continue
        ahead = other[folds] - whole.loc[whole.mean(axis=1).idxmax()]
        found.append((size, ahead.mean(), ahead.std(ddof=1) / len(folds) ** 0.5, len(folds)))
    return max(found, key=lambda line: line[1], default=None)


def _read(figure: str) -> pd.DataFrame | None:
    path = PAPER / f"{figure}.csv"
    if not path.exists():
        print(f"  no {path.name} yet: run {figure} first")
        return None
    table = pd.read_csv(path)
    return table[table["n_terms"].notna()] if "n_terms" in table else None
