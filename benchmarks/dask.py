"""A fit on a Dask cluster of single-threaded workers beside the local fit with as many threads, on the same rows.

python -m benchmarks.dask [--rows 1000000] [--workers 2] [--rounds 3] [--fits 50]

Reading is apart: both start from rows that are coded, and fit in turn; the best of several rounds counts. CPU seconds
are of the client and all workers, and say more where the machine is busy. `round_trips` are questions that went to all
workers, `megabytes` what they answered. With --fits, memory before and after so many.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import pandas as pd
import psutil

SETTINGS = {"lambda0": "bic", "special_values": [-9, -8, -7]}


def part_of(seed: int, n: int) -> pd.DataFrame:
    """Simulate a part of the rows, on the worker that shall hold it."""
    from sparsegam.datasets import make_credit

    credit = make_credit(n, seed=seed)
    return credit.frame.astype(np.int16).assign(y=np.asarray(credit.target, dtype=np.int8))


class Watch:
    """Seconds of a fit after its rows were coded, by the clock and of CPUs, and bytes that workers answered."""

    def __init__(self, client: Any) -> None:
        from sparsegam._search.tables import Tables

        from sparsegam.dask import cluster, tables

        self.client, self.began, self.bytes = client, np.zeros(2), 0
        for owner in (tables.RemoteTables, Tables):
            self._note_the_start(owner)
        asked = cluster.Cluster.ask_posed

        def ask(this: Any, *given: Any) -> Any:
            answers = asked(this, *given)
            self.bytes += sum(_size(answer) for answer in answers)
            return answers

        cluster.Cluster.ask_posed = ask

    def _note_the_start(self, owner: Any) -> None:
        pose = owner.pose

        def noted(this: Any, *given: Any) -> Any:
            self.began = self._now()
            return pose(this, *given)

        owner.pose = noted

    def _now(self) -> Any:
        there = self.client.run(time.process_time)
        return np.array([time.perf_counter(), time.process_time() + sum(there.values())])

    def seconds(self, fit: Any) -> Any:
        """Run a fit; return what it took from posing on, by the clock and of CPUs."""
        self.bytes = 0
        fit()
        return self._now() - self.began


def _size(answer: Any) -> int:
    if isinstance(answer, tuple | list):
        return sum(map(_size, answer))
    return int(getattr(answer, "nbytes", 8))


def coded(sizes: list[int], n_threads: int) -> tuple[Any, Any]:
    """Return the rows of all parts as codes, as shards on workers have them, and their labels."""
    import pyarrow as pa

    from sparsegam._data.streams import as_stream
    from sparsegam._design.binning import Binning
    from sparsegam._design.encoding import encode_stream

    def reader() -> pa.RecordBatchReader:
        parts = (pa.RecordBatch.from_pandas(part_of(seed, n), preserve_index=False) for seed, n in enumerate(sizes))
        return pa.RecordBatchReader.from_batches(schema, parts)

    schema = pa.Schema.from_pandas(part_of(0, 1), preserve_index=False)
    table, y, _ = encode_stream(
        as_stream(reader), "y", None, Binning(special_values=SETTINGS["special_values"]), n_threads
    )
    return table, y


def memory(client: Any) -> float:
    """Megabytes of this process and of all workers."""
    there = client.run(lambda: psutil.Process().memory_info().rss)
    return (psutil.Process().memory_info().rss + sum(there.values())) / 1e6


def main() -> None:
    """Measure and print."""
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    from sparsegam import SparseGAMClassifier
    from sparsegam.dask import DaskSparseGAMClassifier

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--parts", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--fits", type=int, default=0, help="of a small table, for the memory that they leave")
    args = parser.parse_args()
    sizes = [args.rows // args.parts] * args.parts
    workers = LocalCluster(n_workers=args.workers, threads_per_worker=1, dashboard_address=":0", memory_limit=0)
    with workers, Client(workers) as client:
        X = dd.from_map(part_of, range(args.parts), sizes, meta=part_of(0, 1))
        table, y = coded(sizes, args.workers)
        watch, times = Watch(client), {"local": [], "dask": []}
        local = SparseGAMClassifier(**SETTINGS, n_jobs=args.workers)
        remote = DaskSparseGAMClassifier(**SETTINGS, client=client)
        for _ in range(args.rounds):
            times["local"].append(watch.seconds(lambda: local.fit(table, y)))
            times["dask"].append(watch.seconds(lambda: remote.fit(X, "y")))
        print(f"{args.rows} rows, {args.workers} workers of one thread, best of {args.rounds}:")
        best = {name: np.min(found, axis=0) for name, found in times.items()}
        for what, here, there in zip(("clock", "CPU"), best["local"], best["dask"], strict=True):
            print(f"  {what}: local {here:.2f} s, Dask {there:.2f} s, ratio {there / here:.2f}")
        print(f"  {remote.round_trips_} round trips, {watch.bytes / 1e6:.1f} megabytes answered")
        print(f"  objective {local.objective_!r} and {remote.objective_!r}, {remote.n_terms_} terms")
        same = [(t.feature, t.condition) for t in local.terms_] == [(t.feature, t.condition) for t in remote.terms_]
        print(f"  the same terms: {same}")
        small = X.partitions[[0]]
        for i in range(args.fits + 1):
            if i in (0, min(5, args.fits), args.fits):
                print(f"  after {i} more fits: {memory(client):.0f} MB")
            if i < args.fits:
                remote.fit(small, "y")


if __name__ == "__main__":
    main()
