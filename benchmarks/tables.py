"""Compare fits of FICO (special codes, monotone shapes, chosen size) with EBM and boosted trees on the same folds.

python -m benchmarks.tables [--data PATH] [--rounds 3] [--threads 2]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benchmarks import runner
from benchmarks.data import fico_path
from sparsegam import SparseGAMClassifier, SparseGAMClassifierCV

SPECIAL = [-7, -8, -9]
MAX_TERMS = 40
LAMBDA0 = 5.0
# Directions of the probability of Bad from FICO's data dictionary, which has none for the other features.
DIRECTIONS = {
    "ExternalRiskEstimate": "decreasing",
    "MSinceOldestTradeOpen": "decreasing",
    "MSinceMostRecentTradeOpen": "decreasing",
    "AverageMInFile": "decreasing",
    "NumSatisfactoryTrades": "decreasing",
    "NumTrades60Ever2DerogPubRec": "increasing",
    "NumTrades90Ever2DerogPubRec": "increasing",
    "PercentTradesNeverDelq": "decreasing",
    "MSinceMostRecentDelq": "decreasing",
    "NumTradesOpeninLast12M": "increasing",
    "MSinceMostRecentInqexcl7days": "decreasing",
    "NumInqLast6M": "increasing",
    "NumInqLast6Mexcl7days": "increasing",
    "NetFractionRevolvingBurden": "increasing",
    "NetFractionInstallBurden": "increasing",
    "NumBank2NatlTradesWHighUtilization": "increasing",
    "MaxDelq2PublicRecLast12M": "decreasing",
    "MaxDelqEver": "decreasing",
}
Labels = NDArray[np.int64]
Method = Callable[[pd.DataFrame, Labels], Any]


def methods(threads: int) -> dict[str, Method]:
    """Return the methods by name; EBM is included if interpret is installed."""
    special = {"special_values": SPECIAL, "n_jobs": threads}

    def sparsegam(**options: Any) -> Method:
        return lambda X, y: SparseGAMClassifier(lambda0=LAMBDA0, **options).fit(X, y)

    def cross_validated(X: pd.DataFrame, y: Labels) -> Any:
        return SparseGAMClassifierCV(max_terms=25, rule="best", scoring="roc_auc", **special).fit(X, y)

    found: dict[str, Method] = {
        "sparsegam, codes as numbers": sparsegam(n_jobs=threads),
        "sparsegam, special codes": sparsegam(**special),
        "sparsegam, special codes, monotone": sparsegam(monotone=DIRECTIONS, **special),
        "sparsegam CV, special codes, <= 25 terms": cross_validated,
        "gradient boosting, 100 trees of depth 3": lambda X, y: GradientBoostingClassifier(random_state=0).fit(X, y),
    }
    try:
        from interpret.glassbox import ExplainableBoostingClassifier
    except ImportError:
        return found
    found["EBM without interactions"] = lambda X, y: ExplainableBoostingClassifier(
        interactions=0, n_jobs=threads, random_state=0
    ).fit(X, y)
    return found


def folds(frame: pd.DataFrame, y: Labels) -> list[tuple[Any, Any]]:
    """Return the folds that all methods share."""
    return list(StratifiedKFold(5, shuffle=True, random_state=0).split(frame, y))


def is_monotone(model: Any) -> bool:
    """Return whether every shape function is exactly monotone in its documented direction."""
    shapes = model.model_.shape_functions()
    steps = [
        (np.diff(shape.contributions[shape.bins.first_interval :]), DIRECTIONS.get(name))
        for name, shape in shapes.items()
    ]
    return all(
        (step >= 0).all() if direction == "increasing" else (step <= 0).all() for step, direction in steps if direction
    )


def measure(name: str, method: Method, frame: pd.DataFrame, y: Labels) -> dict[str, Any]:
    """Fit and test one method on all folds."""
    rows = []
    for train, test in folds(frame, y):
        start = time.perf_counter()
        model = method(frame.iloc[train], y[train])
        seconds = time.perf_counter() - start
        probability = model.predict_proba(frame.iloc[test])[:, 1]
        rows.append(
            {
                "auc": roc_auc_score(y[test], probability),
                "log_loss": log_loss(y[test], probability),
                "n_terms": getattr(model, "n_terms_", np.nan),
                "fit_s": seconds,
                "monotone": is_monotone(model) if hasattr(model, "model_") else np.nan,
            }
        )
    table = pd.DataFrame(rows)
    return {
        "method": name,
        "auc": table["auc"].mean(),
        "auc_min": table["auc"].min(),
        "log_loss": table["log_loss"].mean(),
        "n_terms": table["n_terms"].mean(),
        "n_terms_max": table["n_terms"].max(),
        "fit_s": table["fit_s"].mean(),
        "monotone_folds": table["monotone"].sum(),
    }


def cv_seconds(frame: pd.DataFrame, y: Labels, threads: int, rounds: int, **options: Any) -> list[float]:
    """Time five-fold cross-validation of paths to 40 terms, from the data frame to the chosen model."""
    seconds = []
    for _ in range(rounds):
        cv = SparseGAMClassifierCV(max_terms=MAX_TERMS, cv=folds(frame, y), n_jobs=threads, **options)
        start = time.perf_counter()
        cv.fit(frame, y)
        seconds.append(time.perf_counter() - start)
    return seconds


def main() -> None:
    """Run the fits, print the results and write results/tables*.csv."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="fico.csv.gz or its folder (default: $SPARSEGAM_DATA, else ../shared/data)")
    parser.add_argument("--rounds", type=int, default=3, help="repetitions of the timed cross-validation")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    frame = pd.read_csv(fico_path(args.data))
    y = (frame.pop("RiskPerformance") == "Bad").to_numpy(dtype=np.int64)

    timings = [
        {"job": f"5-fold CV to {MAX_TERMS} terms, {name}", "threads": args.threads, "best_s": min(s), "all_s": s}
        for name, options in {"codes as numbers": {}, "special codes": {"special_values": SPECIAL}}.items()
        for s in [cv_seconds(frame, y, args.threads, args.rounds, **options)]
    ]
    print(pd.DataFrame(timings).to_string(index=False))
    accuracy = pd.DataFrame([measure(name, m, frame, y) for name, m in methods(args.threads).items()])
    print(accuracy.round(4).to_string(index=False))
    runner.save("tables-cv.csv", pd.DataFrame(timings))
    runner.save("tables.csv", accuracy)
    runner.RESULTS.joinpath("tables-machine.json").write_text(json.dumps(runner.machine(), indent=1) + "\n")


if __name__ == "__main__":
    main()
