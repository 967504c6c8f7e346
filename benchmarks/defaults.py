"""What the defaults of additive classifiers rest on: ridges and prices of a term, judged on new rows.

python -m benchmarks.defaults [--data FOLDER] [--folds 2] [--tables german fico ...] [--max-terms 60]

For each table, fold and ridge the frontier is searched once; each rule then picks its size from it by the objective on
the training rows alone. Printed is what a rule gains in AUC over the former default ("bic" beside lambda2=0.001), and
the terms that it takes. Simulated tables of noise say what a rule does where there is nothing to find.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import log_loss, roc_auc_score
from tqdm import tqdm

from benchmarks.data import data_directory
from benchmarks.newrows_data import Fold, Rows, folds, tables

RESULTS = Path(__file__).parent / "results"
FORMER = "0.001, standardised"
RIDGES: dict[str, dict[str, Any]] = {
    FORMER: {"lambda2": 1e-3},
    **{f"{c}/n, standardised": {"over_rows": c} for c in (10, 30, 100)},
    **{f"{a}, steps": {"lambda2": a, "standardize": False} for a in (0.3, 1.0, 3.0, 10.0)},
}


def rules() -> dict[str, Callable[[float, float, NDArray[Any]], NDArray[Any]]]:
    """Prices of models with k = 0, 1, 2 ... terms, by rows and by columns to choose from."""

    def bic(share: float) -> Callable[..., NDArray[Any]]:
        return lambda n, _, k: share * np.log(n) / 2 * k

    def choices(share: float, of_bic: float) -> Callable[..., NDArray[Any]]:
        def price(n: float, p: float, k: NDArray[Any]) -> NDArray[Any]:
            size = np.arange(1, k.max() + 1)
            each = np.maximum(of_bic * np.log(n) / 2, share * np.log(np.maximum(p / size, 1.0)))
            return np.append(0.0, np.cumsum(each))[k]

        return price

    shares = {f"{share:g} bic": bic(share) for share in (0.4, 0.6, 1.0)}
    return shares | {f"max(0.4 bic, {share:g} log(P/k))": choices(share, 0.4) for share in (0.4, 0.5, 0.6, 0.7, 1.0)}


def simulated() -> Iterator[tuple[str, Rows]]:
    """Three steps among columns of noise, and noise alone."""
    for n, p in ((300, 20), (1000, 50), (3000, 100)):
        rng = np.random.default_rng(p)
        X = rng.normal(size=(n, p)).round(2)
        odds = 1.2 * (X[:, 0] > 0) + 0.6 * np.clip(X[:, 1], -1, 1) + (X[:, 2] > 1) - 0.8
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(p)])
        yield f"steps-{n}x{p}", Rows(frame, (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int), binary=True)
        yield f"noise-{n}x{p}", Rows(frame, rng.integers(0, 2, n), binary=True)


def judged(fold: Fold, options: dict[str, Any], ridge: dict[str, Any], max_terms: int) -> pd.DataFrame:
    """Search one frontier and judge all of its models on the test rows."""
    from sparsegam import gam_path

    n = len(fold.train.y)
    settings = {k: v for k, v in ridge.items() if k != "over_rows"}
    if "over_rows" in ridge:
        settings["lambda2"] = ridge["over_rows"] / n
    path = gam_path(fold.train.frame, fold.train.y, max_terms=max_terms, **settings, **options)
    scores = [model.decision_function(fold.test.frame) for model in path]
    return pd.DataFrame(
        {
            "p": path.selection.n_candidates,
            "k": path.n_terms,
            "objective": path.objective,
            "auc": [roc_auc_score(fold.test.y, score) for score in scores],
            "loss": [log_loss(fold.test.y, 1 / (1 + np.exp(-score))) for score in scores],
        }
    )


def study(chosen: dict[str, tuple[Rows, dict[str, Any]]], n_folds: int, max_terms: int) -> pd.DataFrame:
    """Return what each rule picks beside each ridge, by table and fold."""
    picked = []
    for name, (rows, options) in tqdm(chosen.items(), unit="table"):
        for number, fold in enumerate(folds(rows, n_folds, "none")):
            n = len(fold.train.y)
            for ridge, settings in RIDGES.items():
                models = judged(fold, options, settings, max_terms)
                for rule, price in rules().items():
                    best = (models["objective"] + price(n, models["p"].iloc[0], models["k"].to_numpy())).idxmin()
                    cell = {"table": name, "fold": number, "ridge": ridge, "rule": rule}
                    picked.append(cell | models.loc[best, ["k", "auc", "loss"]].to_dict())
    return pd.DataFrame(picked)


def main() -> None:
    """Run the study and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=None, help="folder with the public tables")
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--tables", nargs="*", default=["german", "compas", "fico", "spambase", "credit-500"])
    parser.add_argument("--max-terms", type=int, default=60)
    args = parser.parse_args()
    found = tables(args.data or data_directory())
    chosen = {name: (found[name].load(), dict(found[name].options)) for name in args.tables}
    chosen |= {name: (rows, {}) for name, rows in simulated()}
    picked = study(chosen, args.folds, args.max_terms)
    picked.to_csv(RESULTS / "defaults.csv", index=False)
    mean = picked.groupby(["ridge", "rule", "table"], sort=False)[["auc", "loss", "k"]].mean()
    table = mean["auc"].unstack("table")
    print((table - table.loc[(FORMER, "1 bic")]).round(4).to_string())
    print(mean["k"].unstack("table").round(0).to_string())


if __name__ == "__main__":
    main()
