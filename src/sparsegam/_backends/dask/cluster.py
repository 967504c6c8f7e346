"""Rows on a Dask cluster: shards made from the parts, and functions that are computed on all shards in one round trip.

All data on the cluster are results of tasks whose inputs are known to the scheduler. If a worker fails, its results
are computed again, from the parts if necessary. Results of shards are added in the order of the shards, which start at
fixed rows, so that no sum depends on which worker has which shard or responds first.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._backends.dask.parts import Part, PartsSummary, encode_part, merge_summaries, summarise_part
from sparsegam._backends.dask.shards import EncodedShard, EncodingPlan, Selection, Shard, coded_table
from sparsegam._data.table import Table
from sparsegam._design.binning import Binning
from sparsegam._design.encoding import codings_of
from sparsegam.checks import optional

# Shards start at multiples of the number of rows that the core adds in single precision, so that the sums of a shard
# are those of the same rows in one table.
SHARD_ALIGNMENT = 8192
MERGED_AT_ONCE = 8  # summaries that one task merges
MAX_WORKER_FAILURES = 100  # during one computation


def get_client(client: Any) -> Any:
    """Return the client passed or the current one; raise if there is none, or if its cluster has no workers."""
    distributed = optional("distributed", "models on Dask", extra="dask")
    try:
        found = distributed.get_client() if client is None else client
    except ValueError as error:
        msg = "there is no Dask client: create one, as in client = distributed.Client(), or pass it as client."
        raise ValueError(msg) from error
    if not found.scheduler_info()["workers"]:
        msg = "the Dask cluster has no workers: start some, or wait for them with client.wait_for_workers(1)."
        raise RuntimeError(msg)
    return found


@contextmanager
def translate_cluster_errors() -> Iterator[None]:
    """Raise RuntimeError with a remedy for the several errors that Dask raises if a cluster is gone."""
    from concurrent.futures import CancelledError

    from distributed.comm import CommClosedError
    from distributed.utils import TimeoutError as DaskTimeoutError

    try:
        yield
    except (CancelledError, CommClosedError, DaskTimeoutError) as error:
        msg = f"the Dask cluster was closed or restarted during a fit ({type(error).__name__}): fit again."
        raise RuntimeError(msg) from error


class Cluster:
    """The shards of one table on a cluster.

    Parameters
    ----------
    client : distributed.Client
        The client.
    parts : sequence of Part
        The parts of the table.
    binning : Binning
        Options of the bins; values listed there have separate codes.
    is_classifier : bool
        Whether the target contains labels.
    """

    def __init__(self, client: Any, parts: Sequence[Part], binning: Binning, *, is_classifier: bool) -> None:
        self.client = client
        self.round_trips = 0
        self.shards: list[Any] = []
        # All futures that keep results on the cluster, until `close`.
        self._futures: list[Any] = []
        try:
            with translate_cluster_errors():
                self.summary = self._summarise(parts, is_classifier=is_classifier)
                if not self.summary.columns:
                    msg = "X has no rows: at least one is required."
                    raise ValueError(msg)
                if self.summary.total_weight <= 0:
                    msg = "sample_weight must not be all zero."
                    raise ValueError(msg)
                self.classes = self.summary.labels if is_classifier else None
                self.codings = codings_of(self.summary.columns, binning)
                self.shard_starts = starts_of_shards(self.n_rows, len(client.scheduler_info()["workers"]))
                self.shards = self._make_shards(parts)
        except BaseException:
            self.close()
            raise

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self.summary.n_rows)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the feature columns."""
        return tuple(coding.name for coding in self.codings)

    def close(self) -> None:
        """Release everything on the cluster, even if an error's traceback still refers to this object."""
        for future in self._futures:
            future.release()
        self._futures.clear()
        self.shards = []

    def _summarise(self, parts: Sequence[Part], *, is_classifier: bool) -> PartsSummary:
        from dask import delayed

        summarise, merge = delayed(summarise_part, pure=False), delayed(merge_summaries, pure=False)
        found = [summarise(part.X, part.y, part.weight, is_classifier=is_classifier) for part in parts]
        while len(found) > 1:
            found = [merge(found[i : i + MERGED_AT_ONCE]) for i in range(0, len(found), MERGED_AT_ONCE)]
        summary: PartsSummary = self._gather([self.client.compute(found[0])])[0]
        return summary

    def _make_shards(self, parts: Sequence[Part]) -> list[Any]:
        """Encode each part on the worker that has it, and concatenate the codes of consecutive rows into shards."""
        from dask import delayed

        encode, concatenate = delayed(encode_part, pure=False), delayed(Shard.of, pure=False)
        codings: Any = delayed(self.codings, traverse=False)
        classes: Any = delayed(self.classes, traverse=False)
        encoded = [encode(part.X, part.y, part.weight, codings, classes) for part in parts]
        first = np.cumsum([0, *self.summary.n_rows])
        shards = []
        for start, end in zip(self.shard_starts, [*self.shard_starts[1:], self.n_rows], strict=True):
            mine = [i for i in range(len(parts)) if first[i] < end and first[i + 1] > start]
            ranges = [(max(start - int(first[i]), 0), min(end, int(first[i + 1])) - int(first[i])) for i in mine]
            shards.append(concatenate(codings, [encoded[i] for i in mine], ranges))
        futures = list(self.client.compute(shards))
        self._futures += futures
        self._wait(futures)
        return futures

    def head(self, n: int) -> Table:
        """Return the features of the first n rows, in the memory of the client."""
        arguments = [(n - start,) for start in self.shard_starts if start < n]
        shards = self._map(Shard.first_codes, self.shards[: len(arguments)], arguments)
        return coded_table(self.codings, [np.concatenate(codes) for codes in zip(*shards, strict=True)])

    def map_shards(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Compute a function of each shard; return the results in the order of the shards."""
        return self._map(function, self.shards, [arguments] * len(self.shards))

    def map_selections(
        self, function: Callable[..., Any], selections: Sequence[Selection], *arguments: Any
    ) -> list[Any]:
        """Compute a function of each shard and its selection; return the results in the order of the shards."""
        return self._map(function, self.shards, [(selection, *arguments) for selection in selections])

    def _map(
        self, function: Callable[..., Any], shards: Sequence[Any], arguments: Sequence[Sequence[Any]]
    ) -> list[Any]:
        with translate_cluster_errors():
            pairs = zip(shards, arguments, strict=True)
            futures = [self.client.submit(function, shard, *each, pure=False) for shard, each in pairs]
            self.round_trips += 1
            return self._gather(futures)

    def encode(self, selections: Sequence[Selection], plan: EncodingPlan) -> list[Any]:
        """Bin selected rows of each shard on its worker; return futures of EncodedShard."""
        with translate_cluster_errors():
            shared = self.client.submit(_identity, plan, pure=False)
            pairs = zip(self.shards, selections, strict=True)
            encoded = [
                self.client.submit(EncodedShard.of, shard, selection, shared, pure=False) for shard, selection in pairs
            ]
            self._futures += [shared, *encoded]
            self._wait(encoded)
            return encoded

    def release(self, encoded: Sequence[Any]) -> None:
        """Release encoded shards that are not needed any more."""
        for future in encoded:
            future.release()
        self._futures = [future for future in self._futures if future not in encoded]

    def map_encoded(self, encoded: Sequence[Any], function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Compute a function of each encoded shard that has rows; return the results in the order of the shards.

        The workers are called directly, which takes a tenth of the time of tasks. For shards that no worker returned a
        result for, a task is submitted, so that the scheduler computes lost shards again.
        """
        self.round_trips += 1
        with translate_cluster_errors():
            results = self._call_workers([future.key for future in encoded], function, arguments)
            lost = [future for future in encoded if future.key not in results]
            futures = [self.client.submit(EncodedShard.compute, one, function, *arguments, pure=False) for one in lost]
            results |= dict(zip((one.key for one in lost), self._gather(futures), strict=True))
        in_order = [results[future.key] for future in encoded]
        return [result for result in in_order if result is not None]

    def _call_workers(
        self, keys: Sequence[Any], function: Callable[..., Any], arguments: Sequence[Any]
    ) -> dict[Any, Any]:
        """Call all workers at once; return the results by key, without those of workers that failed."""
        by_worker = self.client.run(compute_on_worker, keys, function, arguments, on_error="return")
        results: dict[Any, Any] = {}
        for worker in sorted(by_worker):
            if isinstance(by_worker[worker], dict):
                results |= by_worker[worker]
        return results

    def _gather(self, futures: Sequence[Any]) -> list[Any]:
        """Wait for results, retrying after worker failures, and release the futures."""
        try:
            self._wait(futures)
            results: list[Any] = self.client.gather(futures)
            return results
        finally:
            for future in futures:
                future.release()

    def _wait(self, futures: Sequence[Any]) -> None:
        """Wait until all futures are finished. Tasks that Dask abandoned after too many worker failures are retried."""
        from distributed import KilledWorker, wait

        for _ in range(MAX_WORKER_FAILURES):
            wait(futures)
            failed = [future for future in futures if future.status == "error"]
            if not failed or not isinstance(failed[0].exception(), KilledWorker):
                break
            self.client.retry(failed)
        for future in futures:
            if future.status == "cancelled":
                future.result()
            if future.status == "error":
                raise future.exception()

    def masks_of_shards(self, rows: NDArray[np.intp]) -> list[NDArray[np.uint8]]:
        """Return positions of rows in the whole table as a packed mask for each shard."""
        mask = np.zeros(self.n_rows, dtype=bool)
        mask[rows] = True
        return [np.packbits(part) for part in np.split(mask, self.shard_starts[1:])]


async def compute_on_worker(
    keys: Sequence[Any], function: Callable[..., Any], arguments: Sequence[Any], dask_worker: Any
) -> dict[Any, Any]:
    """Compute a function of the encoded shards that this worker has.

    It runs in a thread, so that the worker remains responsive to the scheduler.
    """
    encoded = {key: dask_worker.data[key] for key in keys if key in dask_worker.data}

    def compute() -> dict[Any, Any]:
        return {key: shard.compute(function, *arguments) for key, shard in encoded.items()}

    return await asyncio.get_running_loop().run_in_executor(None, compute)


def _identity(value: Any) -> Any:
    return value


def starts_of_shards(n_rows: int, n_workers: int) -> list[int]:
    """Return the first row of each shard: one shard per worker, of about the same number of rows."""
    wanted = [round(n_rows * i / n_workers / SHARD_ALIGNMENT) * SHARD_ALIGNMENT for i in range(n_workers)]
    return sorted({start for start in wanted if start < n_rows})
