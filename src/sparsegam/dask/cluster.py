"""Rows on a Dask cluster: shards made of the parts, and questions that go to all of them in one round trip.

Everything on the cluster is a task whose inputs the scheduler knows: a worker that dies takes nothing with it that is
not made again, parts read anew, from where they come from. Answers are added in the order of the shards, and shards
begin at fixed rows, so that no sum depends on who answers first, or on which worker holds what.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam._design.binning import Binning
from sparsegam._design.encoding import codings_of
from sparsegam.checks import optional
from sparsegam.dask.parts import About, Part, code_part, look_at, together
from sparsegam.dask.shard import Posed, Selection, Shard

ALIGNED = 8192  # rows that the core adds up in floats: shards begin at a multiple of them, as if there were but one
AT_ONCE = 8  # parts whose summaries are put together by one task
MOST_DEATHS = 100  # of workers, under one question

Answer = Any


def client_of(client: Any) -> Any:
    """Return the client that was given, or the one that is there; say what is missing where there is none."""
    distributed = optional("distributed", "models on Dask", extra="dask")
    try:
        found = distributed.get_client() if client is None else client
    except ValueError as error:
        msg = "there is no Dask client: make one, as in client = distributed.Client(), or pass it as client."
        raise ValueError(msg) from error
    if not found.scheduler_info()["workers"]:
        msg = "the Dask cluster has no workers: start some, or wait for them with client.wait_for_workers(1)."
        raise RuntimeError(msg)
    return found


@contextmanager
def told_of_loss() -> Iterator[None]:
    """Say in one line that a cluster is gone; what Dask raises then is of many kinds."""
    from concurrent.futures import CancelledError

    from distributed.comm import CommClosedError
    from distributed.utils import TimeoutError as NoAnswer

    try:
        yield
    except (CancelledError, CommClosedError, NoAnswer) as error:
        msg = (
            "the Dask cluster is gone, or was restarted, while it was asked "
            f"({type(error).__name__}): fit again once it is there."
        )
        raise RuntimeError(msg) from error


class Cluster:
    """The shards of one table on a cluster.

    Parameters
    ----------
    client : distributed.Client
        The way to the cluster.
    parts : sequence of Part
        Where the rows come from.
    binning : Binning
        What the user chose about bins.
    classifies : bool
        Whether labels are classes.
    """

    def __init__(self, client: Any, parts: Sequence[Part], binning: Binning, *, classifies: bool) -> None:
        self.client = client
        self.round_trips = 0
        self.shards: list[Any] = []
        self._made: list[Any] = []  # what stays on the cluster until all is over
        try:
            self._begin(parts, binning, classifies=classifies)
        except BaseException:
            self.close()
            raise

    def _begin(self, parts: Sequence[Part], binning: Binning, *, classifies: bool) -> None:
        """Look at the parts, and make shards of them."""
        with told_of_loss():
            self.about = self._look(parts, classifies=classifies)
            if not self.about.summaries:
                msg = "X has no rows: at least one is required."
                raise ValueError(msg)
            if self.about.weight[0] <= 0:
                msg = "sample_weight must not be all zero."
                raise ValueError(msg)
            self.classes = self.about.labels if classifies else None
            self.codings = codings_of(self.about.summaries, binning)
            self.starts = _starts(sum(self.about.rows), len(self.client.scheduler_info()["workers"]))
            self.shards = self._make(parts)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self.about.rows)

    def close(self) -> None:
        """Let go of all that is on the cluster, whoever still knows of it, as the traceback of an error does."""
        for future in self._made:
            future.release()
        self._made.clear()
        self.shards = []

    def _look(self, parts: Sequence[Part], *, classifies: bool) -> About:
        """Summarise all parts, a few at a time, in their order."""
        from dask import delayed

        look, join = delayed(look_at, pure=False), delayed(together, pure=False)
        found = [look(part.X, part.y, part.weight, classifies=classifies) for part in parts]
        while len(found) > 1:
            found = [join(found[i : i + AT_ONCE]) for i in range(0, len(found), AT_ONCE)]
        about: About = self._gathered([self.client.compute(found[0])])[0]
        return about

    def _make(self, parts: Sequence[Part]) -> list[Any]:
        """Code each part where it is, and put shards together of the codes."""
        from dask import delayed

        code, make = delayed(code_part, pure=False), delayed(Shard.of, pure=False)
        codings: Any = delayed(self.codings, traverse=False)
        classes: Any = delayed(self.classes, traverse=False)
        coded = [code(part.X, part.y, part.weight, codings, classes) for part in parts]
        first = np.cumsum([0, *self.about.rows])
        shards = []
        for start, end in zip(self.starts, [*self.starts[1:], self.n_rows], strict=True):
            mine = [i for i in range(len(parts)) if first[i] < end and first[i + 1] > start]
            ranges = [(max(start - int(first[i]), 0), min(end, int(first[i + 1])) - int(first[i])) for i in mine]
            shards.append(make(codings, [coded[i] for i in mine], ranges))
        futures = list(self.client.compute(shards))
        self._made += futures
        self._wait(futures)
        return futures

    def first_rows(self, n: int) -> Any:
        """Return the first rows of the first shard, as a table."""
        return self._asked(Shard.first_rows, self.shards[:1], [(n,)])[0]

    def ask(self, question: Any, *given: Any) -> list[Answer]:
        """Ask all shards the same: a method of Shard."""
        return self.ask_each(question, [given] * len(self.shards))

    def ask_each(self, question: Any, given: Sequence[Sequence[Any]]) -> list[Answer]:
        """Ask each shard with something of its own."""
        return self._asked(question, self.shards, given)

    def pose(self, selections: Sequence[Selection], plan: Any) -> list[Any]:
        """Bin some rows of each shard, where it is; return what can be asked."""
        with told_of_loss():
            known = self.client.submit(_same, plan, pure=False)
            pairs = zip(self.shards, selections, strict=True)
            posed = [self.client.submit(Posed.of, shard, selection, known, pure=False) for shard, selection in pairs]
            self._made += [known, *posed]
            self._wait(posed)
            return posed

    def drop(self, posed: Sequence[Any]) -> None:
        """Let go of rows that will not be asked again."""
        for future in posed:
            future.release()
        self._made = [future for future in self._made if future not in posed]

    def ask_posed(self, posed: Sequence[Any], question: str, *given: Any) -> list[Answer]:
        """Ask all posed rows the same; those that are none give no answer.

        The workers are called by themselves, which takes a tenth of the time that tasks take; whoever does not answer,
        or does not hold its rows any more, is asked by a task, which has the scheduler make them again.
        """
        self.round_trips += 1
        with told_of_loss():
            found = self._called([future.key for future in posed], question, given)
            lost = [future for future in posed if future.key not in found]
            futures = [self.client.submit(Posed.answer, one, question, *given, pure=False) for one in lost]
            found |= dict(zip((one.key for one in lost), self._gathered(futures), strict=True))
        answers = [found[future.key] for future in posed]
        return [answer for answer in answers if answer is not None]

    def _called(self, keys: Sequence[Any], question: str, given: Sequence[Any]) -> dict[Any, Answer]:
        """Call all workers at once; return the answers, by key, of those that gave any."""
        answers = self.client.run(answer_here, keys, question, given, on_error="return")
        found: dict[Any, Answer] = {}
        for worker in sorted(answers):
            if isinstance(answers[worker], dict):
                found |= answers[worker]
        return found

    def _asked(self, question: Any, held: Sequence[Any], given: Sequence[Sequence[Any]]) -> list[Answer]:
        """Send a question along with each shard, and gather the answers in order."""
        with told_of_loss():
            pairs = zip(held, given, strict=True)
            futures = [self.client.submit(question, one, *more, pure=False) for one, more in pairs]
            self.round_trips += 1
            return self._gathered(futures)

    def _gathered(self, futures: Sequence[Any]) -> list[Answer]:
        """Wait for answers, through the deaths of workers."""
        try:
            self._wait(futures)
            answers: list[Answer] = self.client.gather(futures)
            return answers
        finally:
            for future in futures:
                future.release()

    def _wait(self, futures: Sequence[Any]) -> None:
        """Wait until all is done; what was lost with too many workers in a row is asked for again."""
        from distributed import KilledWorker, wait

        for _ in range(MOST_DEATHS):
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

    def masks(self, rows: NDArray[np.intp]) -> list[NDArray[np.uint8]]:
        """Return positions in the whole table as packed masks of the shards."""
        mask = np.zeros(self.n_rows, dtype=bool)
        mask[rows] = True
        return [np.packbits(part) for part in np.split(mask, self.starts[1:])]


async def answer_here(keys: Sequence[Any], question: str, given: Sequence[Any], dask_worker: Any) -> dict[Any, Answer]:
    """Answer, on a worker, for those posed rows that it holds; in a thread, so that it stays in touch meanwhile."""
    held = {key: dask_worker.data[key] for key in keys if key in dask_worker.data}

    def work() -> dict[Any, Answer]:
        return {key: posed.answer(question, *given) for key, posed in held.items()}

    return await asyncio.get_running_loop().run_in_executor(None, work)


def _same(value: Any) -> Any:
    return value


def _starts(n_rows: int, n_workers: int) -> list[int]:
    """Return where shards begin: one for each worker, of about as many rows each."""
    wanted = [round(n_rows * i / n_workers / ALIGNED) * ALIGNED for i in range(n_workers)]
    return sorted({start for start in wanted if start < n_rows})
