"""Summarise the measurements of the linear study, with one table per part."""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmarks.linear_contenders import SparseLinear

SPARSEGAM = SparseLinear.name
LOSS_LAMBDA2 = (0.0, 0.001, 0.1)
SIZES = (10, 20, 25, 40)
TRUE_TERMS = 25
# Objectives with a smaller difference count as equal.
ROUNDING = 1e-6
KEY = ["cell", "contender", "setting", "seed"]
MODEL = [*KEY, "n_terms", "f1", "auc", *(f"objective {ridge:g}" for ridge in LOSS_LAMBDA2)]
FIT = ["seconds", "fits", "peak_mb", "input_mb", "f1", *(f"truth {ridge}" for ridge in LOSS_LAMBDA2)]


def models_of(found: list[dict[str, Any]]) -> pd.DataFrame:
    """Return one row per model."""
    lines = [{name: fit[name] for name in KEY} | model for fit in found for model in fit.get("models", [])]
    return pd.DataFrame(lines, columns=MODEL)


def fits_of(found: list[dict[str, Any]]) -> pd.DataFrame:
    """Return one row per fit: time, memory, and the best F1 over its models."""
    lines = []
    for fit in found:
        line = {name: value for name, value in fit.items() if name not in ("models", "truth")}
        line |= {f"truth {ridge}": value for ridge, value in fit.get("truth", {}).items()}
        lines.append(line | {"f1": max((model["f1"] for model in fit.get("models", [])), default=None)})
    return pd.DataFrame(lines, columns=[*KEY, "status", *FIT]).astype(dict.fromkeys(FIT, float))


def losses(models: pd.DataFrame, fits: pd.DataFrame) -> pd.DataFrame:
    """Return how far the refitted objectives of the peers are above those of sparsegam, by lambda2 and size.

    Each method uses its best support of at most k terms among those refitted at that lambda2. The true support is
    compared at its own size.
    """
    lines = []
    for ridge in LOSS_LAMBDA2:
        column = f"objective {ridge:g}"
        own = models[(models["contender"] == SPARSEGAM) & (models["setting"] == ridge)]
        for k in SIZES:
            best_loss = own[own["n_terms"] <= k].groupby("seed")[column].min()
            others = {"true support": fits.groupby("seed")[f"truth {ridge}"].max()} if k == TRUE_TERMS else {}
            for name, group in models[models["contender"] != SPARSEGAM].groupby("contender", sort=False):
                others[name] = group[group["n_terms"] <= k].groupby("seed")[column].min()
            lines += [
                _margin(other - best_loss, {"lambda2": ridge, "k": k, "against": name})
                for name, other in others.items()
            ]
    return pd.DataFrame(lines)


def _margin(above: pd.Series, key: dict[str, Any]) -> dict[str, Any]:
    above = above.dropna()
    n_at_or_below = int((above > -ROUNDING).sum())
    return key | {
        "seeds": len(above),
        "at_or_below": n_at_or_below,
        "min_margin": above.min(),
        "mean_margin": above.mean(),
    }


def best(models: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return the best value over sizes and settings, averaged over seeds, and its paired difference from sparsegam."""
    table = models.dropna(subset=column)
    top = table.loc[table.groupby(["contender", "seed"])[column].idxmax()]
    wide = top.pivot(index="seed", columns="contender", values=column)
    lead = wide.rsub(wide[SPARSEGAM], axis=0) if SPARSEGAM in wide else wide * float("nan")
    out = pd.DataFrame(
        {column: wide.mean(), "sparsegam_minus": lead.mean(), "paired_se": lead.sem(), "seeds": lead.count()}
    )
    out["median_size"] = top.groupby("contender")["n_terms"].median()
    out["models_tried"] = table.groupby(["contender", "seed"]).size().groupby("contender").median()
    return out.sort_values(column, ascending=False).reset_index()


def times(fits: pd.DataFrame) -> pd.DataFrame:
    """Return the best time of each seed, its median over seeds, and its ratio to the time of sparsegam."""
    fastest = fits.groupby(["contender", "seed"], sort=False)["seconds"].min().unstack("contender")
    ratio = fastest.div(fastest[SPARSEGAM], axis=0) if SPARSEGAM in fastest else fastest * float("nan")
    out = pd.DataFrame({"seconds": fastest.median(), "slowest": fastest.max()})
    out["ratio"], out["ratio_min"], out["seeds"] = ratio.median(), ratio.min(), fastest.count()
    return out.reset_index()


def recoveries(fits: pd.DataFrame) -> pd.DataFrame:
    """Return the best F1 over sizes of each seed: mean and minimum over seeds."""
    best_of_seed = fits.groupby(["contender", "seed"], sort=False)["f1"].max().groupby("contender", sort=False)
    return best_of_seed.agg(f1="mean", f1_min="min").reset_index()


def memories(fits: pd.DataFrame) -> pd.DataFrame:
    """Return the best time, and the memory of the fit in addition to the matrix."""
    out = fits.groupby(["contender", "seed"]).agg(
        seconds=("seconds", "min"), peak_mb=("peak_mb", "max"), matrix_mb=("input_mb", "max"), f1=("f1", "max")
    )
    out["ratio_to_matrix"] = out["peak_mb"] / out["matrix_mb"]
    return out.reset_index()
