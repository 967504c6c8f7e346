"""One contender on some data sets in a process of its own: `python -m benchmarks.linear_worker JOB RESULT`."""

from __future__ import annotations

import json
import pickle
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import memory
from benchmarks.linear_contenders import Coef, LinearContender, load_package
from benchmarks.linear_data import LinearData

ENOUGH_SECONDS = 1.5
MAX_FITS = 5
LONG_SECONDS = 20.0  # a fit so long is repeated in other rounds only


@dataclass(frozen=True)
class LinearJob:
    """What to measure.

    `cell` names the question; a `timed` job fits several times. Supports are refitted, and so compared by objective, at
    each lambda2 of `yardsticks`.
    """

    cell: str
    contender: LinearContender
    sources: tuple[Any, ...]
    yardsticks: tuple[float, ...] = ()
    timed: bool = False
    threads: int = 1


def measure(job: LinearJob, source: Any) -> Iterator[dict[str, Any]]:
    """Fit against the clock, judge every model found, then repeat; each time give the best so far."""
    load_package(job.contender)
    data = source.load()
    before = memory.settled_bytes()
    start = time.perf_counter()
    fitted = job.contender.fit(data, job.threads)
    times = [time.perf_counter() - start]
    peak = max(0, memory.peak_bytes() - before) / 1e6
    result = {"seed": source.seed, "peak_mb": peak, "input_mb": _megabytes(data.X)}
    models = job.contender.models(fitted, data)
    result["models"] = [judge(*model, data, job) for model in models]
    result["truth"] = {str(ridge): refitted(data.support, data, job, ridge) for ridge in job.yardsticks}
    yield result | {"seconds": times[0], "fits": 1}
    while job.timed and _again(times):
        start = time.perf_counter()
        job.contender.fit(data, job.threads)
        times.append(time.perf_counter() - start)
        yield result | {"seconds": min(times), "fits": len(times)}


def _again(times: list[float]) -> bool:
    """Tell whether to fit once more: twice unless that takes long, then until there are enough seconds or fits."""
    if len(times) == 1:
        return times[0] < LONG_SECONDS
    return len(times) < MAX_FITS and sum(times) < ENOUGH_SECONDS


def judge(intercept: float, coef: Coef, data: LinearData, job: LinearJob) -> dict[str, Any]:
    """Say how large a model is, what it recovers, how well it ranks, and what its support is worth once refitted."""
    chosen = np.flatnonzero(coef)
    hits = np.intersect1d(chosen, data.support).size
    found: dict[str, Any] = {"n_terms": int(chosen.size), "f1": 2 * hits / (chosen.size + data.support.size)}
    found |= {f"objective {ridge:g}": refitted(chosen, data, job, ridge) for ridge in job.yardsticks}
    if data.y_test.size:
        from sklearn.metrics import roc_auc_score

        found["auc"] = float(roc_auc_score(data.y_test, data.X_test[:, chosen] @ coef[chosen] + intercept))
    return found


def refitted(support: Any, data: LinearData, job: LinearJob, lambda2: float) -> float:
    """Loss + lambda2 sum (sigma w)^2 at the best coefficients of a support: the same yardstick for everyone."""
    from sparsegam import linear_path

    if not len(support):
        return float(linear_path(data.X, data.y, loss=job.contender.loss, max_terms=0).objective[0])
    kept = list(range(len(support)))
    settings = {"loss": job.contender.loss, "lambda2": lambda2, "max_terms": len(kept)}
    return float(linear_path(data.X[:, support], data.y, unpenalized=kept, **settings).objective[-1])


def _megabytes(X: Any) -> float:
    return (X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 1e6


def main() -> None:
    """Read the job, write the results; an exception goes to stderr, where the study picks it up."""
    warnings.simplefilter("ignore")
    job_file, result_file = map(Path, sys.argv[1:])
    job: LinearJob = pickle.loads(job_file.read_bytes())
    done: list[dict[str, Any]] = []
    for source in job.sources:
        for result in measure(job, source):
            result_file.write_text(json.dumps([*done, result]))
        done.append(result)


if __name__ == "__main__":
    main()
