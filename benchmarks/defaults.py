"""Compare ridges and penalties per term on held-out rows: the study behind the defaults of additive classifiers.

python -m benchmarks.defaults [--data FOLDER] [--folds 2] [--tables german fico ...] [--max-terms 60]

For each table, fold and ridge, one path is searched. Each rule then chooses a size from it by the objective on the
training rows. The output shows the AUC of each rule minus that of the former default ("bic" with lambda2=0.001), and
the number of terms. Simulated tables of pure noise show what a rule selects if there is no signal.
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
    """Return the penalty of k terms by rule, as a function of rows n, candidate columns p, and k = 0, 1, 2, ..."""

    def bic(share: float) -> Callable[..., NDArray[Any]]:
        return lambda n, _, k: share * np.log(n) / 2 * k

    def selection(share: float, of_bic: float) -> Callable[..., NDArray[Any]]:
        def penalty(n: float, p: float, k: NDArray[Any]) -> NDArray[Any]:
            size = np.arange(1, k.max() + 1)
            each = np.maximum(of_bic * np.log(n) / 2, share * np.log(np.maximum(p / size, 1.0)))
            return np.append(0.0, np.cumsum(each))[k]

        return penalty

    shares = {f"{share:g} bic": bic(share) for share in (0.4, 0.6, 1.0)}
    return shares | {f"max(0.4 bic, {share:g} log(P/k))": selection(share, 0.4) for share in (0.4, 0.5, 0.6, 0.7, 1.0)}


def simulated() -> Iterator[tuple[str, Rows]]:
    """Simulate tables with three effects among columns of noise, and tables of noise."""
    for n, p in ((300, 20), (1000, 50), (3000, 100)):
        rng = np.random.default_rng(p)
        X = rng.normal(size=(n, p)).round(2)
        odds = 1.2 * (X[:, 0] > 0) + 0.6 * np.clip(X[:, 1], -1, 1) + (X[:, 2] > 1) - 0.8
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(p)])
        yield f"steps-{n}x{p}", Rows(frame, (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int), binary=True)
        yield f"noise-{n}x{p}", Rows(frame, rng.integers(0, 2, n), binary=True)


def path_scores(fold: Fold, options: dict[str, Any], ridge: dict[str, Any], max_terms: int) -> pd.DataFrame:
    """Search one path and score all of its models on the test rows."""
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
    """Return the model that each rule chooses with each ridge, by table and fold."""
    selected = []
    for name, (rows, options) in tqdm(chosen.items(), unit="table"):
        for number, fold in enumerate(folds(rows, n_folds, "none")):
            n = len(fold.train.y)
            for ridge, settings in RIDGES.items():
                models = path_scores(fold, options, settings, max_terms)
                for rule, penalty in rules().items():
                    best = (models["objective"] + penalty(n, models["p"].iloc[0], models["k"].to_numpy())).idxmin()
                    cell = {"table": name, "fold": number, "ridge": ridge, "rule": rule}
                    selected.append(cell | models.loc[best, ["k", "auc", "loss"]].to_dict())
    return pd.DataFrame(selected)


def main() -> None:
    """Run the study and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=None, help="folder with the public tables")
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--tables", nargs="*", default=["german", "compas", "fico", "spambase", "credit-500"])
    parser.add_argument("--max-terms", type=int, default=60)
    args = parser.parse_args()
    found = tables(args.data or data_directory())
    chosen = {name: (found[name].load(), dict(found[name].options)) for name in args.tables}
    chosen |= {name: (rows, {}) for name, rows in simulated()}
    selected = study(chosen, args.folds, args.max_terms)
    selected.to_csv(RESULTS / "defaults.csv", index=False)
    mean = selected.groupby(["ridge", "rule", "table"], sort=False)[["auc", "loss", "k"]].mean()
    table = mean["auc"].unstack("table")
    print((table - table.loc[(FORMER, "1 bic")]).round(4).to_string())
    print(mean["k"].unstack("table").round(0).to_string())


if __name__ == "__main__":
    main()
