"""Run the jobs of a study: a fresh process each, contenders alternating, best of several rounds, ratios of times."""

from __future__ import annotations

import argparse
import json
import math
import os
import pickle
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.contenders import SPARSEGAM
from benchmarks.data import REPOSITORY
from benchmarks.objective import SizeAndLoss, objective
from benchmarks.worker import Job

RESULTS = Path(__file__).resolve().parent / "results"
PACKAGES = (
    "sparsegam",
    "fastsparsegams",
    "abess",
    "interpret-core",
    "lightgbm",
    "skglm",
    "numpy",
    "scipy",
    "scikit-learn",
)
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)
KEY = ["cell", "threads", "contender"]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that all studies share."""
    cores = os.cpu_count() or 1
    parser.add_argument("--rounds", type=int, default=3, help="rounds of all jobs; the best is reported (default 3)")
    parser.add_argument(
        "--threads",
        type=int,
        nargs="+",
        default=sorted({1, cores}),
        help="numbers of threads (default 1 and all cores)",
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="measure these contenders only")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for one process (default 600)")


def run(jobs: Iterable[Job], args: argparse.Namespace) -> pd.DataFrame:
    """Return one row per process in the order of the runs; failures are rows too."""
    chosen = [job for job in jobs if not args.only or job.contender.name in args.only]
    rows = []
    for round_ in range(args.rounds):
        for job in chosen:
            rows.append({"round": round_} | run_one(job, timeout=args.timeout))
            print(_progress(rows[-1]), file=sys.stderr, flush=True)
    return pd.DataFrame(rows)


def run_one(job: Job, *, timeout: float) -> dict[str, Any]:
    """Measure one job in a fresh process, whose thread pools are limited before anything is imported."""
    row = {"cell": job.cell, "threads": job.threads, "contender": job.contender.name}
    environment = os.environ | dict.fromkeys(THREAD_VARIABLES, str(job.threads))
    with tempfile.TemporaryDirectory() as folder:
        job_file, result_file = Path(folder, "job"), Path(folder, "result")
        job_file.write_bytes(pickle.dumps(job))
        command = [sys.executable, "-m", "benchmarks.worker", str(job_file), str(result_file)]
        status = status_of(command, environment, timeout)
        if not result_file.exists():
            return row | {"status": status}
        result = json.loads(result_file.read_text())
    models = [SizeAndLoss(*pair) for pair in result["models"]]
    best = _best(models, getattr(job.contender, "lambda0", None))
    return row | {"status": status} | result | best | {"models": models}


def measured(measurements: pd.DataFrame) -> pd.DataFrame:
    """Return the processes that finished a fit, even if a repetition of it failed."""
    return measurements.dropna(subset="seconds") if "seconds" in measurements else measurements.iloc[:0]


def summarise(measurements: pd.DataFrame) -> pd.DataFrame:
    """Return the best time of each contender in each cell, and its ratio to the time of sparsegam."""
    done = measured(measurements)
    columns = {
        "seconds": ("seconds", "min"),
        "median_s": ("seconds", "median"),
        "first_s": ("first_seconds", "min"),
        "cpu_s": ("first_cpu_seconds", "min"),
        **{name: (name, "max") for name in ("input_mb", "peak_mb")},
        **{name: (name, "last") for name in ("n_terms", "loss", "objective")},
        # More than 1 if the rounds found different models.
        "versions": ("loss", "nunique"),
    }
    if done.empty:
        return pd.DataFrame(columns=[*KEY, *columns, "ratio"])
    table = done.groupby(KEY, sort=False).agg(**columns).reset_index()
    sparsegam = table[table["contender"] == SPARSEGAM].set_index(["cell", "threads"])["seconds"]
    table["ratio"] = (
        table["seconds"] / sparsegam.reindex(pd.MultiIndex.from_frame(table[["cell", "threads"]])).to_numpy()
    )
    return table


def failures(measurements: pd.DataFrame) -> pd.DataFrame:
    """Count the failures by reason."""
    failed = measurements[measurements["status"] != "ok"]
    return failed.groupby([*KEY, "status"], sort=False).size().rename("times").reset_index()


def report(study: str, measurements: pd.DataFrame) -> pd.DataFrame:
    """Print the summary and the failures; write these, all measurements and the machine under results/."""
    summary, failed = summarise(measurements), failures(measurements)
    print(summary.to_string(index=False, float_format=_number, na_rep="-"))
    if not failed.empty:
        print("\nfailed:\n" + failed.to_string(index=False))
    save(f"{study}.csv", summary)
    save(f"{study}-rounds.csv", measurements.drop(columns="models", errors="ignore"))
    RESULTS.joinpath(f"{study}-machine.json").write_text(json.dumps(machine(), indent=1) + "\n")
    return summary


def save(name: str, table: pd.DataFrame) -> None:
    """Write a table under results/."""
    RESULTS.mkdir(exist_ok=True)
    table.to_csv(RESULTS / name, index=False)


def machine() -> dict[str, Any]:
    """Return the processor, the system and the versions of the packages."""
    models = [line.split(":")[1].strip() for line in _cpuinfo() if line.startswith("model name")]
    host = {"cpu": (models or [platform.processor()])[0], "cores": os.cpu_count(), "system": platform.system()}
    versions = {d.metadata["Name"]: d.version for d in metadata.distributions() if d.metadata["Name"] in PACKAGES}
    return host | {"python": platform.python_version()} | versions


def status_of(command: Sequence[str], environment: dict[str, str], timeout: float) -> str:
    """Run a command; return "ok", or the reason of the failure: the last line of stderr, the signal or the timeout."""
    try:
        process = subprocess.run(
            command, env=environment, cwd=REPOSITORY, timeout=timeout, capture_output=True, text=True, check=False
        )
    except subprocess.TimeoutExpired:
        return f"longer than {timeout:g} s"
    if process.returncode < 0:
        return f"killed by signal {-process.returncode}"
    if process.returncode > 0:
        return (process.stderr.strip().splitlines() or ["no message"])[-1]
    return "ok"


def _best(models: Sequence[SizeAndLoss], lambda0: object) -> dict[str, Any]:
    """Return the model of a single fit with its objective, or the model of a path with the most terms."""
    value = max(models, key=lambda w: (w.n_terms or 0, -w.loss))
    known = objective(value, lambda0) if isinstance(lambda0, int | float) else None
    return {"n_terms": value.n_terms, "loss": value.loss, "objective": math.nan if known is None else known}


def _number(x: float) -> str:
    """Format a number with four digits, or with one decimal from 1000 on (objectives are compared to within 1)."""
    return f"{x:.4g}" if abs(x) < 1000 else f"{x:.1f}"


def _progress(row: dict[str, Any]) -> str:
    """Return a line about a finished measurement."""
    outcome = f"{row['seconds']:.3f} s, " if "seconds" in row else ""
    job = f"{row['cell']}, {row['threads']} thread(s), {row['contender']}"
    return f"  round {row['round']}  {job}: {outcome}{row['status']}"


def _cpuinfo() -> Iterator[str]:
    """Return the lines of /proc/cpuinfo, none if it does not exist."""
    path = Path("/proc/cpuinfo")
    return iter(path.read_text().splitlines() if path.exists() else [])
