"""Linear models: the paper's correlated designs and a sparse text-like matrix, ours beside the peers.

python -m benchmarks.linear [--parts loss,f1,auc,time,regression,text] [--seeds 0 1 2] [--rounds 3] [--timeout 600]

`loss`, `f1` and `auc` judge the models of frontiers and share those that they have in common; `time`, `regression` and
`text` are against the clock: one thread, a fresh process each, contenders alternating, the best of the rounds.
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
from benchmarks.linear_contenders import Abess, ElasticNet, FastSparse, Lasso, Mcp, Ours
from benchmarks.linear_data import Classification, Regression, Text
from benchmarks.linear_tables import LOSS_LAMBDA2
from benchmarks.linear_worker import LinearJob

PARTS = ("loss", "f1", "auc", "time", "regression", "text")
LAMBDA2 = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)  # the paper's grid
RATIOS = (0.9, 0.7, 0.5, 0.3, 0.1, 0.001)  # the paper's, with LASSO for 1
SHAPES = (1.5, 25.0)  # the ends of the paper's range
TIMED_LAMBDA2 = 0.001
ALL_SIZES = tuple(range(50))
NEAR_TRUTH = (90, 95, 100, 105)  # sizes of abess that are judged in `regression`, besides the last
REGRESSION_SEEDS = 3  # the paper's code takes long, and may crash
ALIKE = "size and settings chosen per seed on the 160 test rows, for every method alike"
Fits = list[dict[str, Any]]


def frontiers(parts: Sequence[str], seeds: Sequence[int]) -> Iterator[LinearJob]:
    """Frontiers of the best-subset methods: the ridges of `loss`, judged by it, and the paper's for `f1` and `auc`."""
    judged = LOSS_LAMBDA2 if "loss" in parts else ()
    grid = LAMBDA2 if {"f1", "auc"} & set(parts) else ()
    for seed in seeds:
        source = (Classification(seed),)
        for lambda2 in sorted({*judged, *grid}):
            own = (lambda2,) if lambda2 in judged else ()
            yield LinearJob("frontiers", Ours(lambda2=lambda2), source, own)
            yield LinearJob("frontiers", FastSparse(lambda2=lambda2), source, own)
        for alpha in sorted({0.0, *judged, *grid}):  # whose unit is not that of lambda2
            all_of_them = judged if alpha in judged else ()
            yield LinearJob("frontiers", Abess(lambda2=alpha, sizes=ALL_SIZES), source, all_of_them)


def shrinking(seeds: Sequence[int]) -> Iterator[LinearJob]:
    """Give the peers that shrink their whole paths; a process does all seeds, as skglm compiles for long."""
    sources = tuple(map(Classification, seeds))
    for contender in (Lasso(), *map(ElasticNet, RATIOS), *map(Mcp, SHAPES)):
        yield LinearJob("shrinking", contender, sources)


def timed(seeds: Sequence[int]) -> Iterator[LinearJob]:
    """Frontiers to 50 terms."""
    for seed in seeds:
        for contender in (Ours(lambda2=TIMED_LAMBDA2), FastSparse(lambda2=TIMED_LAMBDA2), Abess()):
            yield LinearJob("time", contender, (Classification(seed),), timed=True)


def regression(seeds: Sequence[int]) -> Iterator[LinearJob]:
    """Paths to 110 terms."""
    settings = {"loss": "squared", "max_terms": 110}
    for seed in seeds[:REGRESSION_SEEDS]:
        for contender in (Ours(**settings), FastSparse(**settings), Abess(sizes=NEAR_TRUTH, **settings)):
            yield LinearJob("regression", contender, (Regression(seed),), timed=True)


def text(seeds: Sequence[int]) -> Iterator[LinearJob]:
    """Ours alone: 20 000 x 100 000, 0.1 % filled, to 50 terms."""
    yield LinearJob("text", Ours(lambda2=1e-3), (Text(seeds[0]),), timed=True)


def run(job: LinearJob, timeout: float) -> Fits:
    """Measure a job in a fresh process whose thread pools are limited before anything is imported."""
    key = {"cell": job.cell, "contender": job.contender.name, "setting": job.contender.setting}
    environment = os.environ | dict.fromkeys(runner.THREAD_VARIABLES, str(job.threads))
    with tempfile.TemporaryDirectory() as folder:
        job_file, result_file = Path(folder, "job"), Path(folder, "result")
        job_file.write_bytes(pickle.dumps(job))
        command = [sys.executable, "-m", "benchmarks.linear_worker", str(job_file), str(result_file)]
        status = runner.status_of(command, environment, timeout * len(job.sources))
        results = json.loads(result_file.read_text()) if result_file.exists() else []
    done = "; ".join(f"seed {result['seed']}: {result['seconds']:.3f} s" for result in results)
    print(f"  {job.cell} {key['contender']} {key['setting']:g}, {done or 'nothing'}, {status}", file=sys.stderr)
    failed = [{"seed": source.seed} for source in job.sources[len(results) :]]
    return [key | {"status": status} | result for result in (*results, *failed)]


def run_all(args: argparse.Namespace) -> Fits:
    """Run the jobs of the parts asked for, those against the clock in rounds, so that contenders alternate."""
    judged = [*frontiers(args.parts, args.seeds)] if {"loss", "f1", "auc"} & set(args.parts) else []
    judged += shrinking(args.seeds) if "auc" in args.parts else []
    clocked = {"time": timed, "regression": regression, "text": text}
    jobs = [job for part, make in clocked.items() if part in args.parts for job in make(args.seeds)]
    chosen = [job for job in (*judged, *jobs * args.rounds) if not args.only or job.contender.name in args.only]
    return [fit for job in chosen for fit in run(job, args.timeout)]


def summaries(parts: Sequence[str], found: Fits) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Name, title and table of each part."""
    models, fits = linear_tables.models_of(found), linear_tables.fits_of(found)
    in_grid = models["setting"].isin(LAMBDA2) | (models["contender"] == Abess.name)
    frontier = models[(models["cell"] == "frontiers") & in_grid]
    if "loss" in parts:
        title = "loss with ridge of the supports found, refitted alike: the others' minus ours"
        frontiers_only = models[models["cell"] == "frontiers"]
        yield "loss", title, linear_tables.losses(frontiers_only, fits)
    if "f1" in parts:
        title = "recovery F1, best over sizes and the paper's lambda2, mean of the seeds"
        yield "f1", title, linear_tables.best(frontier, "f1")
    if "auc" in parts:
        everyone = pd.concat([frontier, models[models["cell"] == "shrinking"]])
        yield "auc", f"test AUC, mean of the seeds; {ALIKE}", linear_tables.best(everyone, "auc")
    if "time" in parts:
        title = f"frontier to 50 terms, lambda2 = {TIMED_LAMBDA2:g}, one thread; ratio: times ours"
        yield "time", title, linear_tables.times(fits[fits["cell"] == "time"])
    if "regression" in parts:
        title = "regression 2000 x 2000, path to 110 terms, one thread; F1 best over sizes"
        part = fits[fits["cell"] == "regression"]
        yield "regression", title, linear_tables.times(part).merge(linear_tables.recoveries(part))
    if "text" in parts:
        title = "20 000 x 100 000, 0.1 % filled, 50 terms, one thread"
        yield "text", title, linear_tables.memories(fits[fits["cell"] == "text"])


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", type=_parts, default=PARTS, help=f"some of {','.join(PARTS)} (default: all)")
    parser.add_argument("--seeds", nargs="+", type=int, default=list(range(10)), help="of the rows (default 0 to 9)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds against the clock; the best counts (default 3)")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="measure these contenders only")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for one data set (default 600)")
    return parser.parse_args()


def _parts(value: str) -> tuple[str, ...]:
    parts = tuple(value.split(","))
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        msg = f"no part {unknown[0]!r}: some of {','.join(PARTS)}"
        raise argparse.ArgumentTypeError(msg)
    return parts


def main() -> None:
    """Measure, print, write results/linear-*.csv."""
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
