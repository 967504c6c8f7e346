"""Progress of a fit: a tqdm progress bar, the user's callback, and parallel searches in threads."""

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Any, TypeVar

from sparsegam import _core
from sparsegam._search.options import NO_LIMIT, Deadline
from sparsegam._search.problem import Progress

T = TypeVar("T")
# The main thread wakes up this often while it waits, so that Ctrl-C is handled.
POLL_SECONDS = 0.1


@contextmanager
def watched(callback: Progress | None, verbose: int, total: int | None = None) -> Iterator[Progress | None]:
    """Yield the function that a search calls for each model: it updates a bar and calls `callback`; or None.

    The bar counts the terms of the largest model so far, up to `total` if that is known.
    """
    bar = new_bar(verbose, total, "terms")
    if bar is None:
        yield callback
        return

    def report(n_terms: int, objective: float) -> None:
        bar.update(max(n_terms - bar.n, 0))
        bar.set_postfix_str(f"objective {objective:.6g}", refresh=False)
        if callback is not None:
            callback(n_terms, objective)

    try:
        yield report
    finally:
        bar.close()


def serialized(callback: Progress | None) -> Progress | None:
    """Wrap the callback so that only one thread calls it at a time."""
    if callback is None:
        return None
    lock = Lock()

    def call(n_terms: int, objective: float) -> None:
        with lock:
            callback(n_terms, objective)

    return call


def new_bar(verbose: int, total: int | None, unit: str) -> Any:
    """Return a tqdm bar on stderr, or None if stderr is not interactive or tqdm is not installed."""
    if not verbose or not (_in_notebook() or sys.stderr.isatty()):
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=total, unit=unit, desc="sparsegam", leave=False)


def gather(
    tasks: Sequence[Callable[[], Any]],
    workers: int,
    *,
    stop: _core.Stop,
    deadline: Deadline = NO_LIMIT,
    bar: Any = None,
    describe: Callable[[list[Any]], str] | None = None,
) -> list[Any]:
    """Run tasks in threads and return their results in order, None for those that did not finish before the deadline.

    If a task fails, or on Ctrl-C, all tasks are stopped. Results are passed through a queue: waiting
    for futures would hold their locks, and Ctrl-C at a bad moment would leave them locked.

    Parameters
    ----------
    tasks : sequence of callable
        The tasks.
    workers : int
        Number of threads.
    stop : _core.Stop
        Ends the searches of the tasks.
    deadline : Deadline
        When to stop waiting.
    bar : tqdm bar or None
        Progress bar.
    describe : callable, optional
        Text next to the bar, given the results so far, None for missing ones.
    """
    queue, results, n = _TaskQueue(tasks), dict[int, Any](), len(tasks)
    with ThreadPoolExecutor(workers) as pool:
        try:
            for _ in range(workers):
                pool.submit(queue.work)
            while len(results) < n and deadline.seconds_left != 0.0:
                found = queue.poll()
                results |= found
                if found and bar is not None:
                    bar.update(len(found))
                    bar.set_postfix_str("" if describe is None else describe([results.get(i) for i in range(n)]))
        finally:
            if len(results) < n:
                stop.set()
                queue.clear()
            if bar is not None:
                bar.close()
    return [results.get(i) for i in range(n)]


class _TaskQueue:
    """Tasks that several threads process, and their results."""

    def __init__(self, tasks: Sequence[Callable[[], Any]]) -> None:
        self._tasks = tasks
        self._pending: SimpleQueue[int] = SimpleQueue()
        self._results: SimpleQueue[tuple[int, Any, BaseException | None]] = SimpleQueue()
        for i in range(len(tasks)):
            self._pending.put(i)

    def work(self) -> None:
        """Process tasks until none is left."""
        for i in _drain(self._pending):
            try:
                self._results.put((i, self._tasks[i](), None))
            except BaseException as error:
                self._results.put((i, None, error))

    def clear(self) -> None:
        """Remove all tasks that have not started."""
        for _ in _drain(self._pending):
            pass

    def poll(self) -> dict[int, Any]:
        """Wait briefly and return the new results by task number; raise the first error among them."""
        try:
            arrived = [self._results.get(timeout=POLL_SECONDS)]
        except Empty:
            return {}
        arrived += _drain(self._results)
        failed = {i: error for i, _, error in arrived if error is not None}
        if failed:
            raise failed[min(failed)]
        return {i: result for i, result, _ in arrived}


def _drain(queue: "SimpleQueue[T]") -> Iterator[T]:
    while True:
        try:
            yield queue.get_nowait()
        except Empty:
            return


def _in_notebook() -> bool:
    """Return whether this runs in a Jupyter kernel, without importing IPython."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and hasattr(shell, "kernel")
