"""The calls of fastsparsegams by it and by us: objectives on random problems, seconds of its default paths.

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

OURS, THEIRS = "sparsegam.compat.fastsparsegams", "fastsparsegams"
NEVER_ABOVE = 1e-3  # of their objective
ROUNDING = 1e-9


def theirs(problem: RandomProblem) -> Any:
    """Fit the original on its own grid, in a process that it may take down with it."""
    warnings.simplefilter("ignore")
    gammas = {} if problem.penalty == "L0" else {"num_gamma": 3}
    sizes = {"max_support_size": SIZE, "num_lambda": LAMBDAS}
    return import_module(THEIRS).fit(*problem.rows, **problem.settings, **gammas, **sizes)


def ours(problem: RandomProblem, grid: list[list[float]]) -> Any:
    """Fit ours at the lambdas of the original, whatever the sizes are there.

    Those of its first gamma with L0L1 are all zero, where no column can enter: a grid of ours has to fall.
    """
    warnings.simplefilter("ignore")
    falling = [values if values[0] > 0 else [1e-9 / 2**i for i in range(len(values))] for values in grid]
    whole = {"num_lambda": None, "num_gamma": None, "max_support_size": problem.rows[0].shape[1]}
    return import_module(OURS).fit(*problem.rows, **problem.settings, **whole, lambda_grid=falling)


def compare(n_problems: int) -> pd.DataFrame:
    """One row for each (lambda0, gamma) that the original returns a model for; NaN where it ended its process."""
    rows: list[dict[str, Any]] = []
    pool = ProcessPoolExecutor(max_workers=1)
    for seed in range(n_problems):
        problem = RandomProblem(seed)
        names = {"seed": seed, **{key: problem.settings[key] for key in ("loss", "penalty", "algorithm")}}
        try:
            start = time.perf_counter()
            peer = pool.submit(theirs, problem).result()
            seconds = time.perf_counter() - start
        except BrokenProcessPool:
            pool = ProcessPoolExecutor(max_workers=1)
            rows.append({**names, "above": np.nan})
            continue
        start = time.perf_counter()
        model = ours(problem, peer.lambda_0)
        took = time.perf_counter() - start
        for peers, mine in zip(problem.values(peer), problem.values(model), strict=True):
            n = min(len(peers), len(mine))  # a model of all columns ends a path
            rows += [{**names, "above": float(above)} for above in mine[:n] / peers[:n] - 1]
        rows[-1] |= {"seconds": took, "peer_seconds": seconds}
    return pd.DataFrame(rows)


def summary(found: pd.DataFrame) -> pd.DataFrame:
    """Shares of the models at or below those of the original, and the worst, by loss, penalty and algorithm."""

    def told(part: pd.DataFrame) -> pd.Series:
        above = part["above"].dropna()
        return pd.Series(
            {
                "models": above.size,
                "at or below %": 100 * (above <= ROUNDING).mean(),
                "above by 0.1 % or more": int((above > NEVER_ABOVE).sum()),
                "worst %": 100 * above.max(),
                "mean %": 100 * above.mean(),
                "original crashed": int(part["above"].isna().sum()),
            }
        )

    groups = found.groupby(["loss", "penalty", "algorithm"])
    parts = {key: told(part) for key, part in groups}
    return pd.DataFrame({**parts, ("all", "", ""): told(found)}).T


def path_seconds(rows: tuple[Any, Any], rounds: int) -> pd.DataFrame:
    """Seconds of the default logistic CDPSI path, the two packages in turn; the best of some rounds."""
    warnings.simplefilter("ignore")
    found = []
    for _ in range(rounds):
        for name in (OURS, THEIRS):
            package = import_module(name)
            own = rows[0].copy(order="K"), rows[1].copy()  # the original leaves X in another order of memory
            start = time.perf_counter()
            model = package.fit(*own, loss="Logistic", algorithm="CDPSI")
            seconds = time.perf_counter() - start
            found.append({"package": name, "seconds": seconds, "models": len(model.lambda_0[0])})
            found[-1]["largest"] = model.support_size[0][-1]
            print(found[-1], flush=True)
    best = pd.DataFrame(found).groupby("package").min()
    return best.assign(times=best["seconds"] / best.loc[OURS, "seconds"])


def wide(n_rows: int) -> tuple[Any, Any]:
    """The paper's simulation: 800 rows and 1000 correlated columns unless told."""
    from sparsegam.datasets import make_correlated_classification

    rows = make_correlated_classification(n_rows, 1000, 25, rho=0.5, seed=0)
    return np.asarray(rows.data, dtype=float), np.where(np.asarray(rows.target) > 0, 1.0, -1.0)


def main() -> None:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=200)
    parser.add_argument("--parts", nargs="*", default=["objectives", "wide", "fico"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=800)
    parser.add_argument("--data")
    given = parser.parse_args()
    if "objectives" in given.parts:
        found = compare(given.problems)
        print(summary(found).round(4).to_string())
        print("seconds, ours and theirs:", found["seconds"].sum(), found["peer_seconds"].sum())
    if "wide" in given.parts:
        print(path_seconds(wide(given.rows), given.rounds).to_string())
    if "fico" in given.parts:
        problem = FicoFold(fico_path(given.data)).load()
        print(path_seconds((problem.threshold_matrix, problem.signs), given.rounds).to_string())


if __name__ == "__main__":
    main()
