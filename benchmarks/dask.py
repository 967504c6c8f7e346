"""Compare fits on a Dask cluster of single-threaded workers with local fits of as many threads, on the same rows.

python -m benchmarks.dask [--rows 1000000] [--workers 2] [--rounds 3] [--fits 50]

Reading is not timed: the clock starts once both have integer codes of the rows. Local and Dask fits alternate, and the
best of several rounds is used. CPU seconds are summed over the client and all workers; they are more reliable on a busy
machine. `round_trips` counts requests to all workers, `megabytes` the size of their replies. With --fits, memory is
measured before and after that number of further fits.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import pandas as pd
import psutil

SETTINGS = {"lambda0": "bic", "special_values": [-9, -8, -7]}


def simulate_part(seed: int, n: int) -> pd.DataFrame:
    """Simulate one part of the rows, on the worker that will hold it."""
    from sparsegam.datasets import make_credit

    credit = make_credit(n, seed=seed)
    return credit.frame.astype(np.int16).assign(y=np.asarray(credit.target, dtype=np.int8))


class Stopwatch:
    """Measures fits from the time when the rows are codes: wall-clock and CPU seconds, and bytes sent by workers."""

    def __init__(self, client: Any) -> None:
        from sparsegam._backends.dask.backend import DaskBackend
        from sparsegam._backends.dask.cluster import Cluster
        from sparsegam._backends.local import LocalBackend

        self.client, self.start, self.bytes = client, np.zeros(2), 0
        for backend in (DaskBackend, LocalBackend):
            self._start_with_encoding(backend)
        map_encoded = Cluster.map_encoded

        def count_bytes(cluster: Any, *arguments: Any) -> Any:
            replies = map_encoded(cluster, *arguments)
            self.bytes += sum(_size(reply) for reply in replies)
            return replies

        Cluster.map_encoded = count_bytes

    def _start_with_encoding(self, backend: Any) -> None:
        encode = backend.encode

        def start_and_encode(this: Any, *arguments: Any, **options: Any) -> Any:
            self.start = self._now()
            return encode(this, *arguments, **options)

        backend.encode = start_and_encode

    def _now(self) -> Any:
        on_workers = self.client.run(time.process_time)
        return np.array([time.perf_counter(), time.process_time() + sum(on_workers.values())])

    def seconds(self, fit: Any) -> Any:
        """Run a fit; return its wall-clock and CPU seconds from binning to the model."""
        self.bytes = 0
        fit()
        return self._now() - self.start


def _size(reply: Any) -> int:
    if isinstance(reply, tuple | list):
        return sum(map(_size, reply))
    return int(getattr(reply, "nbytes", 8))


def reader_of(sizes: list[int]) -> Any:
    """Return a function that opens an Arrow reader of all parts."""
    import pyarrow as pa

    schema = pa.Schema.from_pandas(simulate_part(0, 1), preserve_index=False)
    frames = [simulate_part(seed, n) for seed, n in enumerate(sizes)]

    def reader() -> pa.RecordBatchReader:
        batches = (pa.RecordBatch.from_pandas(frame, preserve_index=False) for frame in frames)
        return pa.RecordBatchReader.from_batches(schema, batches)

    return reader


def memory(client: Any) -> float:
    """Return the megabytes of this process and of all workers."""
    on_workers = client.run(lambda: psutil.Process().memory_info().rss)
    return (psutil.Process().memory_info().rss + sum(on_workers.values())) / 1e6


def main() -> None:
    """Run the fits and print the measurements."""
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    from sparsegam import SparseGAMClassifier
    from sparsegam.dask import DaskSparseGAMClassifier

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--parts", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--fits", type=int, default=0, help="fits of a small table after which memory is measured")
    args = parser.parse_args()
    sizes = [args.rows // args.parts] * args.parts
    workers = LocalCluster(n_workers=args.workers, threads_per_worker=1, dashboard_address=":0", memory_limit=0)
    with workers, Client(workers) as client:
        X = dd.from_map(simulate_part, range(args.parts), sizes, meta=simulate_part(0, 1))
        reader = reader_of(sizes)
        stopwatch, times = Stopwatch(client), {"local": [], "dask": []}
        local = SparseGAMClassifier(**SETTINGS, n_jobs=args.workers)
        remote = DaskSparseGAMClassifier(**SETTINGS, client=client)
        for _ in range(args.rounds):
            times["local"].append(stopwatch.seconds(lambda: local.fit(reader, "y")))
            times["dask"].append(stopwatch.seconds(lambda: remote.fit(X, "y")))
        print(f"{args.rows} rows, {args.workers} workers with one thread each, best of {args.rounds}:")
        best = {name: np.min(found, axis=0) for name, found in times.items()}
        for clock, here, there in zip(("wall-clock", "CPU"), best["local"], best["dask"], strict=True):
            print(f"  {clock}: local {here:.2f} s, Dask {there:.2f} s, ratio {there / here:.2f}")
        print(f"  {remote.round_trips_} round trips, {stopwatch.bytes / 1e6:.1f} megabytes received")
        print(f"  objective {local.objective_!r} and {remote.objective_!r}, {remote.n_terms_} terms")
        same = [(t.feature, t.condition) for t in local.terms_] == [(t.feature, t.condition) for t in remote.terms_]
        print(f"  same terms: {same}")
        small = X.partitions[[0]]
        for i in range(args.fits + 1):
            if i in (0, min(5, args.fits), args.fits):
                print(f"  after {i} more fits: {memory(client):.0f} MB")
            if i < args.fits:
                remote.fit(small, "y")


if __name__ == "__main__":
    main()
