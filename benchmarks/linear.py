"""Compare linear models on the paper's correlated designs and on a sparse matrix like word counts.

python -m benchmarks.linear [--parts loss,f1,auc,time,regression,text] [--seeds 0 1 2] [--rounds 3] [--timeout 600]

`loss`, `f1` and `auc` compare the models of whole paths, which they share. `time`, `regression` and `text` are timed:
one thread, a fresh process per measurement, contenders alternating, best of several rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks import linear_tables, runner
from benchmarks.linear_contenders import Abess, ElasticNet, FastSparse, Lasso, Mcp, SparseLinear
from benchmarks.linear_data import Classification, Regression, Text
from benchmarks.linear_tables import LOSS_LAMBDA2
from benchmarks.linear_worker import LinearJob

PARTS = ("loss", "f1", "auc", "time", "regression", "text")
# The grid of the paper.
LAMBDA2 = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
# The ratios of the paper, except 1, which is LASSO.
RATIOS = (0.9, 0.7, 0.5, 0.3, 0.1, 0.001)
# The ends of the paper's range.
SHAPES = (1.5, 25.0)
TIMED_LAMBDA2 = 0.001
ALL_SIZES = tuple(range(50))
# Sizes of abess that are scored in `regression`, in addition to the largest.
NEAR_TRUTH = (90, 95, 100, 105)
# fastsparsegams is slow on these data and may crash, so only this number of seeds is used.
REGRESSION_SEEDS = 3
CHOSEN_ON_TEST = "size and settings of every method chosen per seed on the 160 test rows"
Fits = list[dict[str, Any]]


def frontiers(parts: Sequence[str], seeds: Sequence[int]) -> Iterator[LinearJob]:
    """Yield paths of the best-subset methods at the ridges of `loss`, and at those of the paper for `f1` and `auc`."""
    assessed = LOSS_LAMBDA2 if "loss" in parts else ()
    grid = LAMBDA2 if {"f1", "auc"} & set(parts) else ()
    for seed in seeds:
        source = (Classification(seed),)
        for lambda2 in sorted({*assessed, *grid}):
            refits = (lambda2,) if lambda2 in assessed else ()
            yield LinearJob("frontiers", SparseLinear(lambda2=lambda2), source, refits)
            yield LinearJob("frontiers", FastSparse(lambda2=lambda2), source, refits)
        # The unit of `alpha` differs from that of lambda2.
        for alpha in sorted({0.0, *assessed, *grid}):
            refits = assessed if alpha in assessed else ()
            yield LinearJob("frontiers", Abess(lambda2=alpha, sizes=ALL_SIZES), source, refits)


def shrinking(seeds: Sequence[int]) -> Iterator[LinearJob]:
    """Yield paths of the shrinkage methods. One process runs all seeds, because skglm takes long to compile."""
    sources = tuple(map(Classification, seeds))
    for contender in (Lasso(), *map(ElasticNet, RATIOS), *map(Mcp, SHAPES)):
        yield LinearJob("shrinking", contender, sources)


def timed(seeds: Sequence[int]) -> Iterator[LinearJob]:
    """Yield paths to 50 terms."""
    for seed in seeds:
        for contender in (SparseLinear(lambda2=TIMED_LAMBDA2), FastSparse(lambda2=TIMED_LAMBDA2), Abess()):
            yield LinearJob("time", contender, (Classification(seed),), timed=True)


def regression(seeds: Sequence[int]) -> Iterator[LinearJob]:
    """Yield regression paths to 110 terms."""
    settings = {"loss": "squared", "max_terms": 110}
    for seed in seeds[:REGRESSION_SEEDS]:
        for contender in (SparseLinear(**settings), FastSparse(**settings), Abess(sizes=NEAR_TRUTH, **settings)):
            yield LinearJob("regression", contender, (Regression(seed),), timed=True)


def text(seeds: Sequence[int]) -> Iterator[LinearJob]:
    """Yield the sparsegam path to 50 terms on 20,000 x 100,000 values, 0.1 % of them nonzero."""
    yield LinearJob("text", SparseLinear(lambda2=1e-3), (Text(seeds[0]),), timed=True)


def run(job: LinearJob, timeout: float) -> Fits:
    """Run a job in a fresh process, whose thread pools are limited before anything is imported."""
    key = {"cell": job.cell, "contender": job.contender.name, "setting": job.contender.setting}
    environment = os.environ | dict.fromkeys(runner.THREAD_VARIABLES, str(job.threads))
    with tempfile.TemporaryDirectory() as folder:
        job_file, result_file = Path(folder, "job"), Path(folder, "result")
        job_file.write_bytes(pickle.dumps(job))
        command = [sys.executable, "-m", "benchmarks.linear_worker", str(job_file), str(result_file)]
        status = runner.status_of(command, environment, timeout * len(job.sources))
        results = json.loads(result_file.read_text()) if result_file.exists() else []
    done = "; ".join(f"seed {result['seed']}: {result['seconds']:.3f} s" for result in results)
    print(f"  {job.cell} {key['contender']} {key['setting']:g}, {done or 'no result'}, {status}", file=sys.stderr)
    failed = [{"seed": source.seed} for source in job.sources[len(results) :]]
    return [key | {"status": status} | result for result in (*results, *failed)]


def run_all(args: argparse.Namespace) -> Fits:
    """Run the jobs of the selected parts; timed jobs are repeated in rounds, so that contenders alternate."""
    assessed = [*frontiers(args.parts, args.seeds)] if {"loss", "f1", "auc"} & set(args.parts) else []
    assessed += shrinking(args.seeds) if "auc" in args.parts else []
    timed_parts = {"time": timed, "regression": regression, "text": text}
    jobs = [job for part, make in timed_parts.items() if part in args.parts for job in make(args.seeds)]
    chosen = [job for job in (*assessed, *jobs * args.rounds) if not args.only or job.contender.name in args.only]
    return [fit for job in chosen for fit in run(job, args.timeout)]


def summaries(parts: Sequence[str], found: Fits) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield name, title and table of each part."""
    models, fits = linear_tables.models_of(found), linear_tables.fits_of(found)
    in_paper_grid = models["setting"].isin(LAMBDA2) | (models["contender"] == Abess.name)
    frontier = models[(models["cell"] == "frontiers") & in_paper_grid]
    if "loss" in parts:
        title = "loss plus ridge of the refitted supports: other methods minus sparsegam"
        on_paths = models[models["cell"] == "frontiers"]
        yield "loss", title, linear_tables.losses(on_paths, fits)
    if "f1" in parts:
        title = "F1 of the true columns, best over sizes and the paper's lambda2, mean over seeds"
        yield "f1", title, linear_tables.best(frontier, "f1")
    if "auc" in parts:
        all_models = pd.concat([frontier, models[models["cell"] == "shrinking"]])
        yield "auc", f"test AUC, mean over seeds; {CHOSEN_ON_TEST}", linear_tables.best(all_models, "auc")
    if "time" in parts:
        title = f"path to 50 terms, lambda2 = {TIMED_LAMBDA2:g}, one thread; ratio to sparsegam"
        yield "time", title, linear_tables.times(fits[fits["cell"] == "time"])
    if "regression" in parts:
        title = "regression 2000 x 2000, path to 110 terms, one thread; F1 best over sizes"
        part = fits[fits["cell"] == "regression"]
        yield "regression", title, linear_tables.times(part).merge(linear_tables.recoveries(part))
    if "text" in parts:
        title = "20,000 x 100,000, 0.1 % nonzero, 50 terms, one thread"
        yield "text", title, linear_tables.memories(fits[fits["cell"] == "text"])


def options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--parts", type=_parts, default=PARTS, help=f"comma-separated parts of {','.join(PARTS)} (default: all)"
    )
    parser.add_argument(
        "--seeds", nargs="+", type=int, default=list(range(10)), help="seeds of the data (default 0 to 9)"
    )
    parser.add_argument("--rounds", type=int, default=3, help="rounds of timed jobs; the best is reported (default 3)")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="measure these contenders only")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for one data set (default 600)")
    return parser.parse_args()


def _parts(value: str) -> tuple[str, ...]:
    parts = tuple(value.split(","))
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        msg = f"unknown part {unknown[0]!r}; choose from {','.join(PARTS)}"
        raise argparse.ArgumentTypeError(msg)
    return parts


def main() -> None:
    """Run the jobs, print the results and write results/linear-*.csv."""
    args = options()
    found = run_all(args)
    runner.save("linear-fits.csv", linear_tables.fits_of(found))
    runner.save("linear-models.csv", linear_tables.models_of(found))
    for name, title, table in summaries(args.parts, found):
        print(f"\n{name}: {title}\n{table.round(4).to_string(index=False)}")
        runner.save(f"linear-{name}.csv", table)
    failed = [fit for fit in found if fit["status"] != "ok"]
    if failed:
        table = pd.DataFrame(failed).groupby(["cell", "contender", "setting", "status"]).size()
        print("\nfailed:\n" + table.rename("times").reset_index().to_string(index=False))
    runner.RESULTS.joinpath("linear-machine.json").write_text(json.dumps(runner.machine(), indent=1) + "\n")


if __name__ == "__main__":
    main()
