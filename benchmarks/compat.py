"""Compare sparsegam.compat.fastsparsegams with fastsparsegams: objectives on random problems, times of default paths.

python -m benchmarks.compat [--problems 200] [--parts objectives wide fico] [--rounds 3] [--data FOLDER] [--rows 800]
"""

from __future__ import annotations

import argparse
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.compat_problems import LAMBDAS, SIZE, RandomProblem
from benchmarks.data import FicoFold, fico_path

SPARSEGAM, ORIGINAL = "sparsegam.compat.fastsparsegams", "fastsparsegams"
# Relative excess over the objective of fastsparsegams that is counted as large.
LARGE_EXCESS = 1e-3
ROUNDING = 1e-9


def fit_original(problem: RandomProblem) -> Any:
    """Fit fastsparsegams on its own grid; it runs in a separate process, which it may crash."""
    warnings.simplefilter("ignore")
    gammas = {} if problem.penalty == "L0" else {"num_gamma": 3}
    sizes = {"max_support_size": SIZE, "num_lambda": LAMBDAS}
    return import_module(ORIGINAL).fit(*problem.rows, **problem.settings, **gammas, **sizes)


def fit_sparsegam(problem: RandomProblem, grid: list[list[float]]) -> Any:
    """Fit sparsegam at the values of lambda0 that fastsparsegams used.

    With L0L1, the values of its first gamma are all zero, and no column can be selected. sparsegam requires a
    decreasing grid, so tiny decreasing values replace them.
    """
    warnings.simplefilter("ignore")
    decreasing = [values if values[0] > 0 else [1e-9 / 2**i for i in range(len(values))] for values in grid]
    no_grid = {"num_lambda": None, "num_gamma": None, "max_support_size": problem.rows[0].shape[1]}
    return import_module(SPARSEGAM).fit(*problem.rows, **problem.settings, **no_grid, lambda_grid=decreasing)


def compare(n_problems: int) -> pd.DataFrame:
    """Return a row per (lambda0, gamma) for which fastsparsegams returns a model, with NaN if it crashed."""
    rows: list[dict[str, Any]] = []
    pool = ProcessPoolExecutor(max_workers=1)
    for seed in range(n_problems):
        problem = RandomProblem(seed)
        names = {"seed": seed, **{key: problem.settings[key] for key in ("loss", "penalty", "algorithm")}}
        try:
            start = time.perf_counter()
            peer = pool.submit(fit_original, problem).result()
            seconds = time.perf_counter() - start
        except BrokenProcessPool:
            pool = ProcessPoolExecutor(max_workers=1)
            rows.append({**names, "above": np.nan})
            continue
        start = time.perf_counter()
        model = fit_sparsegam(problem, peer.lambda_0)
        took = time.perf_counter() - start
        for original, fitted in zip(problem.values(peer), problem.values(model), strict=True):
            # A path ends with a model of all columns, so the paths may differ in length.
            n = min(len(original), len(fitted))
            rows += [{**names, "above": float(above)} for above in fitted[:n] / original[:n] - 1]
        rows[-1] |= {"seconds": took, "peer_seconds": seconds}
    return pd.DataFrame(rows)


def summary(found: pd.DataFrame) -> pd.DataFrame:
    """Count by loss, penalty and algorithm how often sparsegam is at or below fastsparsegams."""

    def row(part: pd.DataFrame) -> pd.Series:
        above = part["above"].dropna()
        return pd.Series(
            {
                "models": above.size,
                "at or below %": 100 * (above <= ROUNDING).mean(),
                "above by more than 0.1 %": int((above > LARGE_EXCESS).sum()),
                "worst %": 100 * above.max(),
                "mean %": 100 * above.mean(),
                "fastsparsegams crashed": int(part["above"].isna().sum()),
            }
        )

    groups = found.groupby(["loss", "penalty", "algorithm"])
    parts = {key: row(part) for key, part in groups}
    return pd.DataFrame({**parts, ("all", "", ""): row(found)}).T


def path_seconds(rows: tuple[Any, Any], rounds: int) -> pd.DataFrame:
    """Time the default logistic CDPSI path of both packages in turn; return the best time of all rounds."""
    warnings.simplefilter("ignore")
    found = []
    for _ in range(rounds):
        for name in (SPARSEGAM, ORIGINAL):
            package = import_module(name)
            # fastsparsegams changes the memory order of X, so each fit gets a copy.
            data = rows[0].copy(order="K"), rows[1].copy()
            start = time.perf_counter()
            model = package.fit(*data, loss="Logistic", algorithm="CDPSI")
            seconds = time.perf_counter() - start
            found.append({"package": name, "seconds": seconds, "models": len(model.lambda_0[0])})
            found[-1]["largest"] = model.support_size[0][-1]
            print(found[-1], flush=True)
    best = pd.DataFrame(found).groupby("package").min()
    return best.assign(ratio=best["seconds"] / best.loc[SPARSEGAM, "seconds"])


def wide(n_rows: int) -> tuple[Any, Any]:
    """Return the paper's simulation with 1000 correlated columns."""
    from sparsegam.datasets import make_correlated_classification

    rows = make_correlated_classification(n_rows, 1000, 25, rho=0.5, seed=0)
    return np.asarray(rows.data, dtype=float), np.where(np.asarray(rows.target) > 0, 1.0, -1.0)


def main() -> None:
    """Run the selected parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=200)
    parser.add_argument("--parts", nargs="*", default=["objectives", "wide", "fico"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=800)
    parser.add_argument("--data")
    args = parser.parse_args()
    if "objectives" in args.parts:
        found = compare(args.problems)
        print(summary(found).round(4).to_string())
        print("seconds of sparsegam and fastsparsegams:", found["seconds"].sum(), found["peer_seconds"].sum())
    if "wide" in args.parts:
        print(path_seconds(wide(args.rows), args.rounds).to_string())
    if "fico" in args.parts:
        problem = FicoFold(fico_path(args.data)).load()
        print(path_seconds((problem.threshold_matrix, problem.signs), args.rounds).to_string())


if __name__ == "__main__":
    main()
