"""One measurement in a process of its own: `python -m benchmarks.worker JOB RESULT` (the runner starts it)."""

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

# Fits are repeated in the same process: the first may pay for fresh memory and cold caches, and no one is to be ranked
# by that alone. Everyone gets at least two (but for fits so long that it cannot matter), short ones as many as a second
# has room for: the best of five fits of 4 ms still varies by a fifth.
MIN_FITS, MAX_FITS = 2, 25
ENOUGH_SECONDS = 1.0
LONG_SECONDS = 60.0


@dataclass(frozen=True)
class Job:
    """What to measure: `cell` names the question, the same for all contenders that answer it."""

    cell: str
    contender: Contender
    source: Source
    threads: int = 1


def measure(job: Job) -> Iterator[dict[str, Any]]:
    """Prepare, fit against the clock, recompute what the models are worth; then repeat, each time with the best so far.

    The result is given after every fit, so that a peer that crashes in a later one keeps what it had.
    """
    problem = job.source.load()
    inputs = job.contender.prepare(problem)
    before = memory.settled_bytes()
    fitted, first, cpu = _timed_fit(job, inputs)
    peak = memory.peak_bytes()
    solutions = job.contender.solutions(fitted, inputs)
    result = {
        "first_seconds": first,
        "first_cpu_seconds": cpu,
        "input_mb": memory.size_of(inputs) / 1e6,
        "peak_mb": max(0, peak - before) / 1e6,
        "worths": [objective.worth(solution, loss=job.contender.loss, y=problem.y) for solution in solutions],
    }
    times = [first]
    yield result | {"seconds": first}
    while _wants_another(times):
        times.append(_timed_fit(job, inputs)[1])
        yield result | {"seconds": min(times)}


def _wants_another(times: list[float]) -> bool:
    """Whether the clock has not seen enough yet."""
    if len(times) < MIN_FITS:
        return sum(times) < LONG_SECONDS
    return len(times) < MAX_FITS and sum(times) < ENOUGH_SECONDS


def _timed_fit(job: Job, inputs: Inputs) -> tuple[Any, float, float]:
    """Fit; give back the result, the seconds, and the processor seconds (the more of these, the more cores)."""
    wall, cpu = time.perf_counter(), time.process_time()
    fitted = job.contender.fit(inputs, job.threads)
    return fitted, time.perf_counter() - wall, time.process_time() - cpu


def main() -> None:
    """Read the job, write the result; an exception goes to stderr, where the runner picks it up."""
    job_file, result_file = map(Path, sys.argv[1:])
    for result in measure(pickle.loads(job_file.read_bytes())):
        result_file.write_text(json.dumps(result))


if __name__ == "__main__":
    main()
