"""Measure fits of streamed files: time by phase, rows per second and peak memory, compared with a data frame in memory.

python -m benchmarks.streams [--rows 1000000 10000000] [--folder DIR] [--threads 2] [--frame] [--max-bytes N]

Credit applications are simulated a million at a time and written as Parquet files, which are removed afterwards. Peak
memory is the resident memory in addition to that before the fit. `of_allowed` is its ratio to the expected memory: 1.3
bytes per value for the codes, plus 40 bytes per row.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.memory import baseline_bytes, peak_bytes

ROWS_PER_FILE = 1_000_000
# Approximate size of a row in Parquet.
BYTES_ON_DISK = 30
SETTINGS = {"lambda0": "bic", "special_values": [-9, -8, -7]}


def write(folder: Path, n: int) -> None:
    """Simulate rows and write them, one file at a time."""
    from sparsegam.datasets import make_credit

    free = shutil.disk_usage(folder).free
    if n * BYTES_ON_DISK > 0.8 * free:
        msg = f"{n} rows need about {n * BYTES_ON_DISK / 1e9:.0f} GB, but {folder} has {free / 1e9:.0f} GB free"
        raise SystemExit(msg)
    for i, start in enumerate(range(0, n, ROWS_PER_FILE)):
        credit = make_credit(min(ROWS_PER_FILE, n - start), seed=i)
        frame = credit.frame.astype(np.int16).assign(y=np.asarray(credit.target, dtype=np.int8))
        frame.to_parquet(folder / f"{i:05d}.parquet", index=False)


class Phases:
    """Seconds spent in selected functions, by phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def watch(self, owner: Any, name: str, phase: str) -> None:
        """Add the time of a function to a phase."""
        function: Callable[..., Any] = getattr(owner, name)

        def timed(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                self.seconds[phase] = self.seconds.get(phase, 0.0) + time.perf_counter() - start

        setattr(owner, name, timed)


def measure(folder: Path, threads: int, *, as_frame: bool, max_bytes: int | None) -> dict[str, Any]:
    """Fit the files of a folder in this process and return the measurements."""
    from sparsegam import SparseGAMClassifier, scan
    from sparsegam._design import encoding
    from sparsegam._fit import training
    from sparsegam._search import solver

    phases = Phases()
    phases.watch(encoding, "summarise_columns", "learn")
    phases.watch(training, "encode_stream", "read")
    phases.watch(training, "build_table_problem", "build")
    phases.watch(solver, "_search_at", "search")
    gam = SparseGAMClassifier(n_jobs=threads, **SETTINGS)
    if as_frame:
        frame = pd.concat([pd.read_parquet(file) for file in sorted(folder.glob("*.parquet"))], ignore_index=True)
        arguments: tuple[Any, ...] = (frame.drop(columns="y"), frame["y"])
    else:
        arguments = (scan(folder, max_bytes=max_bytes), "y")
    before, start = baseline_bytes(), time.perf_counter()
    gam.fit(*arguments)
    seconds, peak = time.perf_counter() - start, peak_bytes() - before
    n = gam.model_.statistics.n_rows
    if "read" in phases.seconds:
        phases.seconds["code"] = phases.seconds.pop("read") - phases.seconds["learn"]
    allowed = 1.3 * 23 * n + 40 * n
    return {
        "rows": n,
        "from": "frame" if as_frame else "files",
        "threads": threads,
        "seconds": seconds,
        **{phase: phases.seconds.get(phase, 0.0) for phase in ("learn", "code", "build", "search")},
        "rows_per_s": n / seconds,
        "peak_bytes_per_row": peak / n,
        "of_allowed": peak / allowed,
        "terms": gam.n_terms_,
        "objective": gam.objective_,
    }


def in_own_process(folder: Path, args: argparse.Namespace, *, as_frame: bool) -> dict[str, Any]:
    """Measure in a fresh process, whose memory is not affected by other fits."""
    command = [sys.executable, "-m", "benchmarks.streams", "--measure", str(folder), "--threads", str(args.threads)]
    command += ["--frame"] * as_frame
    command += [] if args.max_bytes is None else ["--max-bytes", str(args.max_bytes)]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(found.stdout.splitlines()[-1])


def main() -> None:
    """Write the files, measure the fits and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--folder", type=Path, help="folder to write to (default: the folder for temporary files)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--frame", action="store_true", help="also fit the same rows as a data frame")
    parser.add_argument("--max-bytes", type=int, help="memory for codes; larger codes are stored in a file")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(measure(args.measure, args.threads, as_frame=args.frame, max_bytes=args.max_bytes)))
        return
    lines = []
    for n in args.rows:
        with tempfile.TemporaryDirectory(dir=args.folder, prefix="sparsegam-rows-") as folder:
            write(Path(folder), n)
            lines.append(in_own_process(Path(folder), args, as_frame=False))
            if args.frame:
                lines.append(in_own_process(Path(folder), args, as_frame=True))
    print(pd.DataFrame(lines).to_string(index=False, float_format="{:.6g}".format))


if __name__ == "__main__":
    main()
