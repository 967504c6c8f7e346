"""Measure concurrent fits in many threads, and forks during a fit: identical results, and times.

python -m benchmarks.threads [--threads 16] [--fits 20] [--forks 50] [--rounds 3]

`ratio` is the time of all fits relative to the same number of sequential fits divided by the number of cores: 1 is
perfect. `cpu_ratio` is the ratio of CPU times: above 1, threads slow each other down, whatever else the machine does.
"""

from __future__ import annotations

import argparse
import functools
import os
import threading
import time

import numpy as np
import pandas as pd

from sparsegam import SparseGAMClassifier, SparseLinearRegressor, linear_path


@functools.cache
def rows(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Return data whose target depends on the first five columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    return X, X[:, :5].sum(axis=1) + rng.normal(size=n)


def table() -> bytes:
    """Fit an additive classifier to a table."""
    X, y = rows(5000, 20)
    return SparseGAMClassifier(lambda0=5.0, max_bins=64).fit(X, y > 0).decision_function(X).tobytes()


def matrix() -> bytes:
    """Fit a linear regression to a matrix."""
    X, y = rows(5000, 400)
    return SparseLinearRegressor(lambda0=5.0).fit(X, y).predict(X).tobytes()


def small() -> bytes:
    """Fit in a few milliseconds, half of which is Python code, which runs in one thread at a time."""
    X, y = rows(300, 20)
    return SparseLinearRegressor(lambda0=5.0).fit(X, y).predict(X).tobytes()


def path(n_jobs: int = 1) -> bytes:
    """Search a path of linear classifiers."""
    X, y = rows(2000, 150)
    return linear_path(X, y > 0, max_terms=10, n_jobs=n_jobs).objective.tobytes()


FITS = (table, matrix, path, small)


def timed(work) -> tuple[float, float]:
    """Return wall-clock and CPU seconds."""
    began = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began[0], time.process_time() - began[1]


def in_threads(fit, n_threads: int, n_fits: int) -> list[bytes]:
    """Return the results of fits in threads that all start at once."""
    found: list[bytes] = []
    start = threading.Barrier(n_threads)

    def work() -> None:
        start.wait()
        found.extend(fit() for _ in range(n_fits))

    threads = [threading.Thread(target=work) for _ in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def compare(fit, n_threads: int, n_fits: int, rounds: int) -> dict:
    """Run fits sequentially and in threads in turn, and compare the best times."""
    expected, total, found = fit(), n_threads * n_fits, []
    sequential, concurrent = [], []
    for _ in range(rounds):
        sequential.append(timed(lambda: [fit() for _ in range(n_fits)]))
        concurrent.append(timed(lambda: found.extend(in_threads(fit, n_threads, n_fits))))
    one, all_fits = np.min(sequential, axis=0) / n_fits, np.min(concurrent, axis=0)
    return {
        "fit": fit.__name__,
        "fits": total,
        "one_ms": 1000 * one[0],
        "all_s": all_fits[0],
        "ratio": all_fits[0] / (total * one[0] / min(n_threads, cores())),
        "cpu_ratio": all_fits[1] / (total * one[1]),
        "identical": f"{found.count(expected)} of {len(found)}",
    }


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def fork_during_fits(n_forks: int) -> tuple[int, float]:
    """Fork during fits; return how many children found the same model as the parent, and the seconds."""
    expected, done, good = path(), threading.Event(), 0

    def work() -> None:
        while not done.is_set():
            path(n_jobs=2)

    worker = threading.Thread(target=work)
    worker.start()
    began = time.perf_counter()
    for _ in range(n_forks):
        child = os.fork()
        if child == 0:
            os._exit(0 if path() == expected else 3)
        good += os.waitpid(child, 0)[1] == 0
    seconds = time.perf_counter() - began
    done.set()
    worker.join()
    return good, seconds


def main() -> None:
    """Run the fits and print the measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--fits", type=int, default=20, help="fits of each thread")
    parser.add_argument("--forks", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    print(f"{args.threads} threads x {args.fits} fits on {cores()} cores")
    found = pd.DataFrame([compare(fit, args.threads, args.fits, args.rounds) for fit in FITS])
    print(found.to_string(index=False, float_format="{:.3f}".format), flush=True)
    if hasattr(os, "fork"):
        good, seconds = fork_during_fits(args.forks)
        print(f"{good} of {args.forks} forked processes found the same model, in {seconds:.1f} s")


if __name__ == "__main__":
    main()
