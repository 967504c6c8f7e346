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
from benchmarks.linear_contenders import Coef, LinearContender, LinearData, load_package

ENOUGH_SECONDS = 1.5
MAX_FITS = 5
LARGEST_REFIT = 120  # terms; larger supports (of the lasso) are not compared by objective


@dataclass(frozen=True)
class LinearJob:
    """What to measure: `cell` names the question; `repeat` says if the clock may see several fits."""

    cell: str
    contender: LinearContender
    sources: tuple[Any, ...]
    threads: int = 1
    repeat: bool = True
    yardsticks: tuple[float, ...] = ()

    @property
    def judged_at(self) -> tuple[float, ...]:
        """Values of lambda2 at which supports are refitted: the contender's own, unless it has none."""
        return self.yardsticks or (self.contender.lambda2,)


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
    models = list(job.contender.models(fitted, data))
    result["judged"] = [judged(models, data, job.contender.loss, lambda2) for lambda2 in job.judged_at]
    yield result | {"seconds": times[0]}
    while job.repeat and len(times) < MAX_FITS and sum(times) < ENOUGH_SECONDS:
        start = time.perf_counter()
        job.contender.fit(data, job.threads)
        times.append(time.perf_counter() - start)
        yield result | {"seconds": min(times)}


def judged(models: list[tuple[float, Coef]], data: LinearData, loss: str, lambda2: float) -> dict[str, Any]:
    """Judge all models, and the true support beside them, by one yardstick."""
    each = [judge(intercept, coef, data, loss, lambda2) for intercept, coef in models]
    return {"lambda2": lambda2, "models": each, "truth": refitted(data.support, data, loss, lambda2)}


def judge(intercept: float, coef: Coef, data: LinearData, loss: str, lambda2: float) -> dict[str, Any]:
    """Say how large a model is, what its support is worth once refitted, what it recovers and how well it ranks."""
    chosen = np.flatnonzero(coef)
    hits = np.intersect1d(chosen, data.support).size
    found = {"n_terms": int(chosen.size), "f1": 2 * hits / (chosen.size + data.support.size)}
    found["objective"] = refitted(chosen, data, loss, lambda2) if 0 < chosen.size <= LARGEST_REFIT else None
    if data.y_test.size:
        from sklearn.metrics import roc_auc_score

        found["auc"] = float(roc_auc_score(data.y_test, data.X_test[:, chosen] @ coef[chosen] + intercept))
    return found


def refitted(support: Any, data: LinearData, loss: str, lambda2: float) -> float:
    """Loss + lambda2 sum (sigma w)^2 at the best coefficients of a support: the same yardstick for everyone."""
    from sparsegam import linear_path

    kept = list(range(len(support)))
    X = data.X[:, support]
    path = linear_path(X, data.y, loss=loss, lambda2=lambda2, max_terms=len(kept), unpenalized=kept)
    return float(path.objective[-1])


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
