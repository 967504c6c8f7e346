"""Summarise `newrows`: results by table, differences from EBM without interactions, and among settings of sparsegam."""

from __future__ import annotations

import pandas as pd

from benchmarks.data import REPOSITORY
from benchmarks.newrows_contenders import BASELINE, CV, DEFAULT, FORMER

RESULTS = REPOSITORY / "benchmarks" / "results"
BEHIND = (0.003, 0.006, 0.015)
SHUFFLED = "shuffled"
WHERE = ["table", "order", "folds"]
CELL = [*WHERE, "fold"]


def report(fits: pd.DataFrame) -> None:
    """Print results by table, the summary and the failures; write newrows-tables.csv and newrows-summary.csv."""
    done = with_differences(latest(fits))
    if not done.empty:
        per_table, summary = by_table(done), by_contender(done)
        for (name, order, folds), part in per_table.groupby(WHERE, sort=False):
            first = part.iloc[0]
            score = "AUC, log loss" if first["kind"] == "binary" else "R2, RMSE"
            title = f"{name}: {first['n']} x {first['p']}, {score}, {folds} folds"
            print(f"\n{title}{'' if order == 'none' else f', order of training rows: {order}'}")
            shown = part.drop(columns=[*WHERE, "kind", "n", "p"]).dropna(axis=1, how="all")
            print(shown.to_string(index=False, float_format=_number, na_rep="-"))
        if not summary.empty:
            print(
                f"\nscore minus that of {BASELINE}, over tables; behind_x: tables on which it is lower by more than x"
            )
            print(summary.to_string(index=False, float_format=_number, na_rep="-"))
        for line in compare_settings(per_table):
            print(line)
        per_table.to_csv(RESULTS / "newrows-tables.csv", index=False)
        summary.to_csv(RESULTS / "newrows-summary.csv", index=False)
    failed = fits[fits["status"] != "ok"]
    if not failed.empty:
        print("\nfailed:\n" + failed[[*CELL, "contender", "status"]].to_string(index=False))


def latest(fits: pd.DataFrame) -> pd.DataFrame:
    """Return the fits with a result; for a fit with several settings, the last one."""
    return fits[fits["status"] == "ok"].drop_duplicates([*CELL, "contender"], keep="last")


def with_differences(done: pd.DataFrame) -> pd.DataFrame:
    """Add differences from the baseline on the same fold; that of the loss is relative."""
    columns = {"score": "baseline_score", "loss": "baseline_loss"}
    base = done[done["contender"] == BASELINE].set_index(CELL)[list(columns)].rename(columns=columns)
    joined = done.join(base, on=CELL)
    score, loss = joined["score"] - joined["baseline_score"], joined["loss"] / joined["baseline_loss"] - 1
    return joined.assign(score_minus=score, loss_percent=100 * loss)


def by_table(done: pd.DataFrame) -> pd.DataFrame:
    """Return means over the folds by contender and table, and the standard error of the difference."""
    keys = [*WHERE, "kind", "n", "p", "contender"]
    table = done.groupby(keys, sort=False).agg(
        score=("score", "mean"),
        minus_ebm=("score_minus", "mean"),
        minus_se=("score_minus", "sem"),
        loss=("loss", "mean"),
        loss_percent=("loss_percent", "mean"),
        n_terms=("n_terms", "mean"),
        n_terms_least=("n_terms", "min"),
        n_terms_most=("n_terms", "max"),
        lambda2=("lambda2", "median"),
        seconds=("seconds", "mean"),
    )
    return table.reset_index()


def by_contender(done: pd.DataFrame) -> pd.DataFrame:
    """Return the mean difference from the baseline by contender and kind of table, and how often it is large."""
    per_table = by_table(done).dropna(subset="minus_ebm")
    rows = []
    for (order, folds, kind, name), part in per_table.groupby(["order", "folds", "kind", "contender"], sort=False):
        minus = part.set_index("table")["minus_ebm"]
        counts = {f"behind_{limit:g}": int((minus < -limit).sum()) for limit in BEHIND}
        row = {"order": order, "folds": folds, "kind": kind, "contender": name, "tables": len(minus)}
        row |= {"mean": minus.mean(), "median": minus.median(), **counts}
        row |= {"worst": minus.min(), "worst_table": minus.idxmin(), "loss_percent": part["loss_percent"].mean()}
        rows.append(row | {"n_terms": part["n_terms"].mean(), "seconds": part["seconds"].sum()})
    return pd.DataFrame(rows)


def compare_settings(per_table: pd.DataFrame) -> list[str]:
    """Compare the default with the former default, and cross-validation on ordered rows with that on shuffled rows."""
    lines = []
    scores = per_table.pivot_table(index=["kind", *WHERE], columns="contender", values="score")
    if {DEFAULT, FORMER} <= set(scores):
        for kind, part in (scores[DEFAULT] - scores[FORMER]).dropna().groupby("kind"):
            where = part.idxmin()[1]
            lines.append(
                f"{kind}: {DEFAULT} minus {FORMER}: mean {part.mean():+.4f}, worst {part.min():+.4f} ({where})"
            )
    return lines + ordered_against_shuffled(per_table[per_table["contender"] == CV])


def ordered_against_shuffled(chosen: pd.DataFrame) -> list[str]:
    """Compare cross-validation on ordered training rows with that on shuffled ones."""
    lines = []
    both = chosen.pivot_table(index=["table", "folds"], columns="order", values=["score", "n_terms"])
    for order in [name for name in chosen["order"].unique() if name != SHUFFLED and ("score", SHUFFLED) in both]:
        minus = (both["score"][order] - both["score"][SHUFFLED]).dropna()
        terms = (both["n_terms"][order] - both["n_terms"][SHUFFLED]).dropna()
        if len(minus):
            text = f"score mean {minus.mean():+.4f}, worst {minus.min():+.4f} ({minus.idxmin()[0]})"
            text += f", terms {terms.min():+.0f} to {terms.max():+.0f}"
            lines.append(f"{CV}, order {order} minus shuffled, {len(minus)} tables: {text}")
    return lines


def _number(x: float) -> str:
    """Format a number with four decimals if it is small, else with four significant digits."""
    return f"{x:.4f}" if abs(x) < 10 else f"{x:.4g}"
