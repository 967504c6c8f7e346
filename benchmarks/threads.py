"""Many threads that fit at once, and forks during a fit: the same bits as alone, and how long it takes.

python -m benchmarks.threads [--threads 16] [--fits 20] [--forks 50] [--rounds 3]

`ratio` is the time of all fits over that of as many one after the other, shared by the cores: 1 is perfect. `cpu_ratio`
is that of processor time: above 1, threads are in each other's way, whatever else the machine does.
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
    """Rows whose first five columns matter."""
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
    """Fit one in a few milliseconds, half of which is Python's own: that half goes one thread at a time."""
    X, y = rows(300, 20)
    return SparseLinearRegressor(lambda0=5.0).fit(X, y).predict(X).tobytes()


def frontier(n_jobs: int = 1) -> bytes:
    """Search a linear classifier of each size."""
    X, y = rows(2000, 150)
    return linear_path(X, y > 0, max_terms=10, n_jobs=n_jobs).objective.tobytes()


FITS = (table, matrix, frontier, small)


def timed(work) -> tuple[float, float]:
    """Seconds by the clock, and of the processor."""
    began = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began[0], time.process_time() - began[1]


def in_threads(fit, n_threads: int, n_fits: int) -> list[bytes]:
    """What fits find in threads that all start at once."""
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
    """Alone and in threads in turn; the best time of each counts."""
    expected, total, found = fit(), n_threads * n_fits, []
    alone, together = [], []
    for _ in range(rounds):
        alone.append(timed(lambda: [fit() for _ in range(n_fits)]))
        together.append(timed(lambda: found.extend(in_threads(fit, n_threads, n_fits))))
    one, all_of_them = np.min(alone, axis=0) / n_fits, np.min(together, axis=0)
    return {
        "fit": fit.__name__,
        "fits": total,
        "one_ms": 1000 * one[0],
        "all_s": all_of_them[0],
        "ratio": all_of_them[0] / (total * one[0] / min(n_threads, cores())),
        "cpu_ratio": all_of_them[1] / (total * one[1]),
        "same_bits": f"{found.count(expected)} of {len(found)}",
    }


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def fork_during_a_fit(n_forks: int) -> tuple[int, float]:
    """How many children, each made while another thread fits, found what the parent finds; and the seconds it took."""
    expected, done, good = frontier(), threading.Event(), 0

    def work() -> None:
        while not done.is_set():
            frontier(n_jobs=2)

    worker = threading.Thread(target=work)
    worker.start()
    began = time.perf_counter()
    for _ in range(n_forks):
        child = os.fork()
        if child == 0:
            os._exit(0 if frontier() == expected else 3)
        good += os.waitpid(child, 0)[1] == 0
    seconds = time.perf_counter() - began
    done.set()
    worker.join()
    return good, seconds


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--fits", type=int, default=20, help="of each thread")
    parser.add_argument("--forks", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    print(f"{given.threads} threads x {given.fits} fits on {cores()} cores")
    found = pd.DataFrame([compare(fit, given.threads, given.fits, given.rounds) for fit in FITS])
    print(found.to_string(index=False, float_format="{:.3f}".format), flush=True)
    if hasattr(os, "fork"):
        good, seconds = fork_during_a_fit(given.forks)
        print(f"{good} of {given.forks} forks during a fit finished with the same bits, in {seconds:.1f} s")


if __name__ == "__main__":
    main()
