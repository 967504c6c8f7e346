"""Linear models: the paper's correlated designs and a sparse text-like matrix, ours beside the peers.

python -m benchmarks.linear [--parts classification text regression auc] [--seeds 10] [--timeout 600]
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks import runner
from benchmarks.linear_contenders import (
    Abess,
    Classification,
    ElasticNet,
    FastSparse,
    Lasso,
    Mcp,
    Ours,
    Regression,
    Text,
)
from benchmarks.linear_worker import LinearJob

LAMBDA2 = (0.0, 0.001, 0.1)
SIZES = (10, 20, 25, 40)
ABESS_SIZES = (5, 10, 15, 20, 25, 30, 35, 40, 45)
TRUE_TERMS = 25
REGRESSION_SEEDS = 3  # the paper's code takes long, and may crash
OURS = Ours.name


def classification(seeds: range) -> Iterator[LinearJob]:
    """Every seed and lambda2, ours and the paper's code; abess, which is compared by its supports, once."""
    for seed in seeds:
        source = (Classification(seed),)
        for lambda2 in LAMBDA2:
            yield LinearJob("classification", Ours(lambda2=lambda2), source)
            yield LinearJob("classification", FastSparse(lambda2=lambda2), source)
        yield LinearJob("classification", Abess(sizes=ABESS_SIZES), source, yardsticks=LAMBDA2)


def auc(seeds: range) -> Iterator[LinearJob]:
    """The peers whose models are not compared by size: their best test AUC only."""
    sources = tuple(map(Classification, seeds))
    for contender in (Lasso(), ElasticNet(), Mcp()):
        yield LinearJob("classification", contender, sources, repeat=False)


def regression(seeds: range) -> Iterator[LinearJob]:
    """Paths to 110 terms."""
    for seed in seeds[:REGRESSION_SEEDS]:
        for contender in (Ours, FastSparse, Abess):
            yield LinearJob("regression", contender(loss="squared", max_terms=110), (Regression(seed),))


def text(seeds: range) -> Iterator[LinearJob]:
    """Ours alone: 20 000 x 100 000, 0.1 % filled, to 50 terms."""
    yield LinearJob("text", Ours(lambda2=1e-3), (Text(0),), repeat=False)


PARTS = {"classification": classification, "text": text, "regression": regression, "auc": auc}


def run(job: LinearJob, timeout: float) -> list[dict[str, Any]]:
    """Measure a job in a fresh process whose thread pools are limited before anything is imported."""
    key = {"cell": job.cell, "contender": job.contender.name, "lambda2": job.contender.lambda2}
    environment = os.environ | dict.fromkeys(runner.THREAD_VARIABLES, str(job.threads))
    with tempfile.TemporaryDirectory() as folder:
        job_file, result_file = Path(folder, "job"), Path(folder, "result")
        job_file.write_bytes(pickle.dumps(job))
        command = [sys.executable, "-m", "benchmarks.linear_worker", str(job_file), str(result_file)]
        status = runner._status(command, environment, timeout)
        results = json.loads(result_file.read_text()) if result_file.exists() else [{}]
    seconds = ", ".join(f"{r['seconds']:.2f}" for r in results if r)
    seeds = ",".join(str(source.seed) for source in job.sources)
    print(f"  {job.cell} seed {seeds} {key['contender']} {key['lambda2']}: {seconds} s, {status}", file=sys.stderr)
    return [key | {"status": status} | result | one for result in results for one in result.pop("judged", [{}])]


def smallest(models: list[dict[str, Any]], size: int) -> float | None:
    """The lowest refitted objective with at most so many terms."""
    values = [m["objective"] for m in models if m["objective"] is not None and m["n_terms"] <= size]
    return min(values, default=None)


def flat(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """One line per measurement: time, memory, best F1 and AUC over sizes, objectives at the sizes asked for."""
    lines = []
    for row in rows:
        models = row.pop("models", None)
        line = dict(row)
        if models:
            line["f1"] = max(m["f1"] for m in models)
            line["auc"] = max((m["auc"] for m in models if "auc" in m), default=None)
            line |= {f"at_{k}": smallest(models, k) for k in (*SIZES, 100, 110)}
        lines.append(line)
    return pd.DataFrame(lines)


def margins(table: pd.DataFrame) -> pd.DataFrame:
    """How far the peers' objectives (and the truth's) are above ours: the smallest and the mean over seeds."""
    cls = table[table["cell"] == "classification"]
    ours = cls[cls["contender"] == OURS].set_index(["lambda2", "seed"])
    lines = []
    for (name, lambda2), group in cls.groupby(["contender", "lambda2"], sort=False):
        if name == OURS or name not in (FastSparse.name, Abess.name):
            continue
        for k in SIZES:
            above = group.set_index(["lambda2", "seed"])[f"at_{k}"] - ours[f"at_{k}"]
            above = above.dropna()
            lines.append({"against": name, "lambda2": lambda2, "k": k, "least": above.min(), "mean": above.mean()})
    for lambda2, group in ours.groupby("lambda2"):
        above = group["truth"] - group[f"at_{TRUE_TERMS}"]
        lines.append(
            {"against": "truth", "lambda2": lambda2, "k": TRUE_TERMS, "least": above.min(), "mean": above.mean()}
        )
    return pd.DataFrame(lines)


def best_of_seeds(table: pd.DataFrame) -> pd.DataFrame:
    """Best F1 and test AUC over sizes and lambda2, mean of the seeds, with ours minus theirs and its standard error."""
    cls = table[table["cell"] == "classification"]
    best = cls.groupby(["contender", "seed"], sort=False)[["f1", "auc"]].max().unstack("seed")
    out = pd.DataFrame({"f1": best["f1"].mean(axis=1), "auc": best["auc"].mean(axis=1)})
    difference = best["auc"].loc[OURS] - best["auc"]
    out["auc_ours_minus"] = difference.mean(axis=1)
    out["paired_se"] = difference.std(axis=1) / difference.shape[1] ** 0.5
    return out.reset_index()


def times(table: pd.DataFrame) -> pd.DataFrame:
    """Seconds and memory by cell, contender and lambda2: median over seeds, and its ratio to ours."""
    keys = ["cell", "lambda2", "contender"]
    columns = {"seconds": ("seconds", "median"), "slowest": ("seconds", "max"), "f1": ("f1", "mean")}
    columns |= {"f1_least": ("f1", "min"), "peak_mb": ("peak_mb", "max"), "input_mb": ("input_mb", "max")}
    out = table.groupby(keys, sort=False).agg(**columns).reset_index()
    ours = out[out["contender"] == OURS].set_index(["cell", "lambda2"])["seconds"]
    out["ratio"] = out["seconds"] / ours.reindex(pd.MultiIndex.from_frame(out[["cell", "lambda2"]])).to_numpy()
    return out


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=tuple(PARTS), default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="measure these contenders only")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for one process (default 600)")
    return parser.parse_args()


def main() -> None:
    """Measure, print, write results/linear*.csv."""
    args = options()
    jobs = [job for part in args.parts for job in PARTS[part](range(args.seeds))]
    chosen = [job for job in jobs if not args.only or job.contender.name in args.only]
    table = flat([row for job in chosen for row in run(job, args.timeout)])
    runner.save("linear-rounds.csv", table)
    tables = {"linear": times(table)}
    if {"classification", "auc"} & set(args.parts):
        tables |= {"linear-best": best_of_seeds(table), "linear-margins": margins(table)}
    for name, summary in tables.items():
        print(f"\n{name}:\n{summary.round(4).to_string(index=False)}")
        runner.save(f"{name}.csv", summary)
    failed = table[table["status"] != "ok"]
    if not failed.empty:
        print("\nfailed:\n" + failed.groupby(["cell", "contender", "status"]).size().to_string())
    runner.RESULTS.joinpath("linear-machine.json").write_text(json.dumps(runner.machine(), indent=1) + "\n")


if __name__ == "__main__":
    main()
