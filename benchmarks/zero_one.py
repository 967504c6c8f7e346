"""Compare sparsegam on tables of 0/1 columns, as a table and as a matrix, with fastsparsegams on the matrix.

python -m benchmarks.zero_one [--data FOLDER] [--rounds 3] [--threads 1] [--parts tables random]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import runner
from benchmarks.contenders import FastSparseGAMs, SparseGAM, SparseLinear
from benchmarks.data import Problem, data_directory
from benchmarks.objective import objective, size_and_loss
from benchmarks.worker import Job
from benchmarks.zero_one_data import ZeroOne

LAMBDA0 = {"compas": (5.0, 2.0, 1.0), "german": (2.0, 1.0, 0.5), "credit": (5.0, 2.0, 1.0)}
RANDOM_PROBLEMS = 20


def tables(folder: Path, threads: int) -> Iterator[Job]:
    """Yield the fits of the three tables, with contenders alternating."""
    for name, penalties in LAMBDA0.items():
        for lambda0 in penalties:
            for contender in (
                SparseGAM(lambda0=lambda0),
                SparseLinear(lambda0=lambda0),
                FastSparseGAMs(lambda0=lambda0),
            ):
                yield Job(f"{name} lambda0={lambda0:g}", contender, ZeroOne(name, folder), threads)


def random_problems() -> pd.DataFrame:
    """Return the objectives on random 0/1 columns as a table, as a matrix and by fastsparsegams."""
    rows = []
    for seed in range(RANDOM_PROBLEMS):
        problem, lambda0 = _random(seed)
        row: dict[str, float] = {"seed": seed, "lambda0": lambda0}
        for key, contender in (
            ("table", SparseGAM(lambda0=lambda0)),
            ("matrix", SparseLinear(lambda0=lambda0)),
            ("fastsparsegams", FastSparseGAMs(lambda0=lambda0)),
        ):
            inputs = contender.prepare(problem)
            (solution,) = contender.solutions(contender.fit(inputs, 1), inputs)
            row[key] = objective(size_and_loss(solution, loss="logistic", y=problem.y), lambda0) or np.nan
        rows.append(row)
    found = pd.DataFrame(rows)
    lower = found[["table", "matrix"]].min(axis=1)
    return found.assign(
        difference_percent=100 * (found["table"] - found["matrix"]).abs() / lower,
        below_peer=found["fastsparsegams"] - lower,
    )


def _random(seed: int) -> tuple[Problem, float]:
    """Return correlated 0/1 columns, each with another share of ones; labels depend on some of them."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(400, 4000)), int(rng.integers(30, 200))
    shared = rng.normal(size=(n, 1))
    scores = rng.uniform(0, 0.8) * shared + rng.normal(size=(n, p))
    frame = (scores < np.quantile(scores, rng.uniform(0.03, 0.97, p), axis=0).diagonal()).astype(np.uint8)
    coef = rng.normal(size=p) * (rng.random(p) < 0.2)
    log_odds = (frame - frame.mean(axis=0)) @ coef
    y = (rng.random(n) < 1 / (1 + np.exp(-log_odds))).astype(np.int64)
    return Problem(pd.DataFrame(frame, columns=[f"c{i}" for i in range(p)]), y), float(rng.uniform(1, 5))


def options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the public tables (default: $SPARSEGAM_DATA, else ../shared/data)")
    parser.add_argument("--parts", nargs="+", choices=("tables", "random"), default=["tables", "random"])
    runner.add_options(parser)
    return parser.parse_args()


def main() -> None:
    """Run the fits, print the results and write results/zero_one*.csv."""
    args = options()
    if "tables" in args.parts:
        jobs = [job for threads in args.threads for job in tables(data_directory(args.data), threads)]
        runner.report("zero_one", runner.run(jobs, args))
    if "random" in args.parts:
        found = random_problems()
        print(found.round(3).to_string(index=False))
        print(f"\ntable and matrix within 0.1 %: {(found['difference_percent'] <= 0.1).sum()} of {len(found)}")
        print(f"lower one at or below fastsparsegams: {(found['below_peer'] >= -1e-6).sum()} of {len(found)}")
        runner.save("zero_one-random.csv", found)


if __name__ == "__main__":
    main()
