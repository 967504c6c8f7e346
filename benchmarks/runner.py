"""Runs the jobs of a study: a fresh process each, contenders alternating, best of several rounds, ratios at the end."""

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

from benchmarks.contenders import OURS
from benchmarks.data import REPOSITORY
from benchmarks.objective import Worth, objective
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
    """Add the options every study has."""
    cores = os.cpu_count() or 1
    parser.add_argument("--rounds", type=int, default=3, help="rounds over all jobs; the best counts (default 3)")
    parser.add_argument("--threads", type=int, nargs="+", default=sorted({1, cores}), help="default: 1 and all cores")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="measure these contenders only")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for one process (default 600)")


def run(jobs: Iterable[Job], args: argparse.Namespace) -> pd.DataFrame:
    """One row per process that was started, in the order they ran; failures are rows too."""
    chosen = [job for job in jobs if not args.only or job.contender.name in args.only]
    rows = []
    for turn in range(args.rounds):
        for job in chosen:
            rows.append({"round": turn} | run_one(job, timeout=args.timeout))
            print(_progress(rows[-1]), file=sys.stderr, flush=True)
    return pd.DataFrame(rows)


def run_one(job: Job, *, timeout: float) -> dict[str, Any]:
    """Measure one job in a fresh process whose thread pools are limited before anything is imported."""
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
    worths = [Worth(*pair) for pair in result["worths"]]
    best = _best(worths, getattr(job.contender, "lambda0", None))
    return row | {"status": status} | result | best | {"worths": worths}


def measured(measurements: pd.DataFrame) -> pd.DataFrame:
    """Keep the processes that finished a fit, even where a repetition of it failed."""
    return measurements.dropna(subset="seconds") if "seconds" in measurements else measurements.iloc[:0]


def summarise(measurements: pd.DataFrame) -> pd.DataFrame:
    """Best time of each contender in each cell, and how many times ours goes into it."""
    done = measured(measurements)
    columns = {
        "seconds": ("seconds", "min"),
        "median_s": ("seconds", "median"),
        "first_s": ("first_seconds", "min"),
        "cpu_s": ("first_cpu_seconds", "min"),
        **{name: (name, "max") for name in ("input_mb", "peak_mb")},
        **{name: (name, "last") for name in ("n_terms", "loss", "objective")},
        "versions": ("loss", "nunique"),  # more than 1: the rounds did not agree on the model
    }
    if done.empty:
        return pd.DataFrame(columns=[*KEY, *columns, "ratio"])
    table = done.groupby(KEY, sort=False).agg(**columns).reset_index()
    ours = table[table["contender"] == OURS].set_index(["cell", "threads"])["seconds"]
    table["ratio"] = table["seconds"] / ours.reindex(pd.MultiIndex.from_frame(table[["cell", "threads"]])).to_numpy()
    return table


def failures(measurements: pd.DataFrame) -> pd.DataFrame:
    """Count what did not come back, by reason."""
    failed = measurements[measurements["status"] != "ok"]
    return failed.groupby([*KEY, "status"], sort=False).size().rename("times").reset_index()


def report(study: str, measurements: pd.DataFrame) -> pd.DataFrame:
    """Print the summary and the failures; write both, every single measurement and the machine under results/."""
    summary, failed = summarise(measurements), failures(measurements)
    print(summary.to_string(index=False, float_format=_number, na_rep="-"))
    if not failed.empty:
        print("\nfailed:\n" + failed.to_string(index=False))
    save(f"{study}.csv", summary)
    save(f"{study}-rounds.csv", measurements.drop(columns="worths", errors="ignore"))
    RESULTS.joinpath(f"{study}-machine.json").write_text(json.dumps(machine(), indent=1) + "\n")
    return summary


def save(name: str, table: pd.DataFrame) -> None:
    """Write a table under results/."""
    RESULTS.mkdir(exist_ok=True)
    table.to_csv(RESULTS / name, index=False)


def machine() -> dict[str, Any]:
    """Say what the numbers were measured on."""
    models = [line.split(":")[1].strip() for line in _cpuinfo() if line.startswith("model name")]
    host = {"cpu": (models or [platform.processor()])[0], "cores": os.cpu_count(), "system": platform.system()}
    versions = {d.metadata["Name"]: d.version for d in metadata.distributions() if d.metadata["Name"] in PACKAGES}
    return host | {"python": platform.python_version()} | versions


def status_of(command: Sequence[str], environment: dict[str, str], timeout: float) -> str:
    """Run a command and say "ok", or why there is no result: the last line of stderr, the signal, or the clock."""
    try:
        process = subprocess.run(
            command, env=environment, cwd=REPOSITORY, timeout=timeout, capture_output=True, text=True, check=False
        )
    except subprocess.TimeoutExpired:
        return f"over {timeout:g} s"
    if process.returncode < 0:
        return f"killed by signal {-process.returncode}"
    if process.returncode > 0:
        return (process.stderr.strip().splitlines() or ["no message"])[-1]
    return "ok"


def _best(worths: Sequence[Worth], lambda0: object) -> dict[str, Any]:
    """Pick the one model of a single fit, with its objective; of a whole path, the model with the most terms."""
    value = max(worths, key=lambda w: (w.n_terms or 0, -w.loss))
    known = objective(value, lambda0) if isinstance(lambda0, int | float) else None
    return {"n_terms": value.n_terms, "loss": value.loss, "objective": math.nan if known is None else known}


def _number(x: float) -> str:
    """Four digits, and one decimal of what is larger (objectives are compared to within 1)."""
    return f"{x:.4g}" if abs(x) < 1000 else f"{x:.1f}"


def _progress(row: dict[str, Any]) -> str:
    """One line for whoever is waiting."""
    outcome = f"{row['seconds']:.3f} s, " if "seconds" in row else ""
    job = f"{row['cell']}, {row['threads']} thread(s), {row['contender']}"
    return f"  round {row['round']}  {job}: {outcome}{row['status']}"


def _cpuinfo() -> Iterator[str]:
    """Lines of /proc/cpuinfo where there is one."""
    path = Path("/proc/cpuinfo")
    return iter(path.read_text().splitlines() if path.exists() else [])
