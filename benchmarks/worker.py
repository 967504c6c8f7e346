"""Run one measurement in a separate process, started by the runner: `python -m benchmarks.worker JOB RESULT`."""

from __future__ import annotations

import json
import pickle
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import memory, objective
from benchmarks.contenders import Contender, Inputs
from benchmarks.data import Source

# Fits are repeated in the same process, because the first may include fresh memory and cold caches. Every contender has
# at least two fits, unless a fit takes so long that this does not matter. Short fits are repeated for a second,
# because the best of five fits of 4 ms still varies by a fifth.
MIN_FITS, MAX_FITS = 2, 25
ENOUGH_SECONDS = 1.0
LONG_SECONDS = 60.0


@dataclass(frozen=True)
class Job:
    """What to measure; `cell` is the name of the comparison, shared by all its contenders."""

    cell: str
    contender: Contender
    source: Source
    threads: int = 1


def measure(job: Job) -> Iterator[dict[str, Any]]:
    """Prepare, time a fit, compute the losses of its models, then repeat the fit; yield the best result after each fit.

    If a peer crashes in a later fit, its earlier results are kept.
    """
    problem = job.source.load()
    inputs = job.contender.prepare(problem)
    before = memory.baseline_bytes()
    fitted, first, cpu = _timed_fit(job, inputs)
    peak = memory.peak_bytes()
    solutions = job.contender.solutions(fitted, inputs)
    result = {
        "first_seconds": first,
        "first_cpu_seconds": cpu,
        "input_mb": memory.size_of(inputs) / 1e6,
        "peak_mb": max(0, peak - before) / 1e6,
        "models": [objective.size_and_loss(solution, loss=job.contender.loss, y=problem.y) for solution in solutions],
    }
    times = [first]
    yield result | {"seconds": first}
    while _fit_again(times):
        times.append(_timed_fit(job, inputs)[1])
        yield result | {"seconds": min(times)}


def _fit_again(times: list[float]) -> bool:
    """Return whether to fit again."""
    if len(times) < MIN_FITS:
        return sum(times) < LONG_SECONDS
    return len(times) < MAX_FITS and sum(times) < ENOUGH_SECONDS


def _timed_fit(job: Job, inputs: Inputs) -> tuple[Any, float, float]:
    """Fit; return the result, the wall-clock seconds and the CPU seconds (larger if several cores are used)."""
    wall, cpu = time.perf_counter(), time.process_time()
    fitted = job.contender.fit(inputs, job.threads)
    return fitted, time.perf_counter() - wall, time.process_time() - cpu


def main() -> None:
    """Read the job and write the result. The runner reads exceptions from stderr."""
    job_file, result_file = map(Path, sys.argv[1:])
    for result in measure(pickle.loads(job_file.read_bytes())):
        result_file.write_text(json.dumps(result))


if __name__ == "__main__":
    main()
