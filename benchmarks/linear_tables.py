"""What a run of the linear study comes to: one table for each question."""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmarks.linear_contenders import Ours

OURS = Ours.name
LOSS_LAMBDA2 = (0.0, 0.001, 0.1)
SIZES = (10, 20, 25, 40)
TRUE_TERMS = 25
ROUNDING = 1e-6  # objectives so close are equal
KEY = ["cell", "contender", "setting", "seed"]
MODEL = [*KEY, "n_terms", "f1", "auc", *(f"objective {ridge:g}" for ridge in LOSS_LAMBDA2)]
FIT = ["seconds", "fits", "peak_mb", "input_mb", "f1", *(f"truth {ridge}" for ridge in LOSS_LAMBDA2)]


def models_of(found: list[dict[str, Any]]) -> pd.DataFrame:
    """One line per model that was found."""
    lines = [{name: fit[name] for name in KEY} | model for fit in found for model in fit.get("models", [])]
    return pd.DataFrame(lines, columns=MODEL)


def fits_of(found: list[dict[str, Any]]) -> pd.DataFrame:
    """One line per fit: time, memory, the best F1 over its models."""
    lines = []
    for fit in found:
        line = {name: value for name, value in fit.items() if name not in ("models", "truth")}
        line |= {f"truth {ridge}": value for ridge, value in fit.get("truth", {}).items()}
        lines.append(line | {"f1": max((model["f1"] for model in fit.get("models", [])), default=None)})
    return pd.DataFrame(lines, columns=[*KEY, "status", *FIT]).astype(dict.fromkeys(FIT, float))


def losses(models: pd.DataFrame, fits: pd.DataFrame) -> pd.DataFrame:
    """How far the peers' objectives, refitted at equal lambda2, are above ours at equal size, over the seeds.

    Each has its best support of at most k terms among those refitted at that lambda2. The true support has its place at
    its own size.
    """
    lines = []
    for ridge in LOSS_LAMBDA2:
        column = f"objective {ridge:g}"
        ours = models[(models["contender"] == OURS) & (models["setting"] == ridge)]
        for k in SIZES:
            mine = ours[ours["n_terms"] <= k].groupby("seed")[column].min()
            others = {"true support": fits.groupby("seed")[f"truth {ridge}"].max()} if k == TRUE_TERMS else {}
            for name, group in models[models["contender"] != OURS].groupby("contender", sort=False):
                others[name] = group[group["n_terms"] <= k].groupby("seed")[column].min()
            lines += [
                _margin(above - mine, {"lambda2": ridge, "k": k, "against": name}) for name, above in others.items()
            ]
    return pd.DataFrame(lines)


def _margin(above: pd.Series, key: dict[str, Any]) -> dict[str, Any]:
    above = above.dropna()
    held = int((above > -ROUNDING).sum())
    return key | {"seeds": len(above), "at_or_below": held, "least_margin": above.min(), "mean_margin": above.mean()}


def best(models: pd.DataFrame, column: str) -> pd.DataFrame:
    """The best over sizes and settings of each seed: its mean, and ours minus theirs with its paired standard error."""
    table = models.dropna(subset=column)
    top = table.loc[table.groupby(["contender", "seed"])[column].idxmax()]
    wide = top.pivot(index="seed", columns="contender", values=column)
    ahead = wide.rsub(wide[OURS], axis=0) if OURS in wide else wide * float("nan")
    out = pd.DataFrame(
        {column: wide.mean(), "ours_minus": ahead.mean(), "paired_se": ahead.sem(), "seeds": ahead.count()}
    )
    out["median_size"] = top.groupby("contender")["n_terms"].median()
    out["models_tried"] = table.groupby(["contender", "seed"]).size().groupby("contender").median()
    return out.sort_values(column, ascending=False).reset_index()


def times(fits: pd.DataFrame) -> pd.DataFrame:
    """Best seconds of each seed over the rounds: the median seed, and how many times ours goes into theirs."""
    fastest = fits.groupby(["contender", "seed"], sort=False)["seconds"].min().unstack("contender")
    ratio = fastest.div(fastest[OURS], axis=0) if OURS in fastest else fastest * float("nan")
    out = pd.DataFrame({"seconds": fastest.median(), "slowest": fastest.max()})
    out["ratio"], out["ratio_least"], out["seeds"] = ratio.median(), ratio.min(), fastest.count()
    return out.reset_index()


def recoveries(fits: pd.DataFrame) -> pd.DataFrame:
    """Best F1 of each seed over the sizes judged: the mean and the least of the seeds."""
    best_of_seed = fits.groupby(["contender", "seed"], sort=False)["f1"].max().groupby("contender", sort=False)
    return best_of_seed.agg(f1="mean", f1_least="min").reset_index()


def memories(fits: pd.DataFrame) -> pd.DataFrame:
    """Best seconds and the memory that the fit took beside the matrix."""
    out = fits.groupby(["contender", "seed"]).agg(
        seconds=("seconds", "min"), peak_mb=("peak_mb", "max"), matrix_mb=("input_mb", "max"), f1=("f1", "max")
    )
    out["times_the_matrix"] = out["peak_mb"] / out["matrix_mb"]
    return out.reset_index()
