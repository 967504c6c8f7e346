"""Measure one contender on some data sets in a separate process: `python -m benchmarks.linear_worker JOB RESULT`."""

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
# A fit that takes longer is repeated in other rounds only.
LONG_SECONDS = 20.0


@dataclass(frozen=True)
class LinearJob:
    """What to measure.

    `cell` names the part of the study. A `timed` job fits several times. Supports are refitted at each lambda2 of
    `refit_lambda2`, so that their objectives can be compared.
    """

    cell: str
    contender: LinearContender
    sources: tuple[Any, ...]
    refit_lambda2: tuple[float, ...] = ()
    timed: bool = False
    threads: int = 1


def measure(job: LinearJob, source: Any) -> Iterator[dict[str, Any]]:
    """Time a fit and assess every model found, then repeat the fit; yield the best result so far after each fit."""
    load_package(job.contender)
    data = source.load()
    before = memory.baseline_bytes()
    start = time.perf_counter()
    fitted = job.contender.fit(data, job.threads)
    times = [time.perf_counter() - start]
    peak = max(0, memory.peak_bytes() - before) / 1e6
    result = {"seed": source.seed, "peak_mb": peak, "input_mb": _megabytes(data.X)}
    models = job.contender.models(fitted, data)
    result["models"] = [assess(*model, data, job) for model in models]
    result["truth"] = {str(ridge): refitted(data.support, data, job, ridge) for ridge in job.refit_lambda2}
    yield result | {"seconds": times[0], "fits": 1}
    while job.timed and _again(times):
        start = time.perf_counter()
        job.contender.fit(data, job.threads)
        times.append(time.perf_counter() - start)
        yield result | {"seconds": min(times), "fits": len(times)}


def _again(times: list[float]) -> bool:
    """Return whether to fit again: twice unless that takes long, then until enough seconds or fits were measured."""
    if len(times) == 1:
        return times[0] < LONG_SECONDS
    return len(times) < MAX_FITS and sum(times) < ENOUGH_SECONDS


def assess(intercept: float, coef: Coef, data: LinearData, job: LinearJob) -> dict[str, Any]:
    """Return the size of a model, its F1 against the true support, its test AUC, and its objectives after a refit."""
    chosen = np.flatnonzero(coef)
    hits = np.intersect1d(chosen, data.support).size
    found: dict[str, Any] = {"n_terms": int(chosen.size), "f1": 2 * hits / (chosen.size + data.support.size)}
    found |= {f"objective {ridge:g}": refitted(chosen, data, job, ridge) for ridge in job.refit_lambda2}
    if data.y_test.size:
        from sklearn.metrics import roc_auc_score

        found["auc"] = float(roc_auc_score(data.y_test, data.X_test[:, chosen] @ coef[chosen] + intercept))
    return found


def refitted(support: Any, data: LinearData, job: LinearJob, lambda2: float) -> float:
    """Return loss + lambda2 sum (sigma w)^2 at the best coefficients of a support, by the same code for all methods."""
    from sparsegam import linear_path

    if not len(support):
        return float(linear_path(data.X, data.y, loss=job.contender.loss, max_terms=0).objective[0])
    kept = list(range(len(support)))
    settings = {"loss": job.contender.loss, "lambda2": lambda2, "max_terms": len(kept)}
    return float(linear_path(data.X[:, support], data.y, unpenalized=kept, **settings).objective[-1])


def _megabytes(X: Any) -> float:
    return (X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 1e6


def main() -> None:
    """Read the job and write the results. The study reads exceptions from stderr."""
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
