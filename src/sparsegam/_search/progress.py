"""Progress for those who wait: a bar where tqdm is installed, the user's callback, and many searches at once."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Any, TypeVar

from sparsegam import _core

T = TypeVar("T")
POLL_SECONDS = 0.1  # how often the main thread looks up from its wait, for Ctrl-C
Progress = Callable[[int, float], None]
"""Called once per model with (n_terms, objective without the price of the terms)."""


@contextmanager
def watched(callback: Progress | None, verbose: int, total: int | None = None) -> Iterator[Progress | None]:
    """Give what a search shall call once per model: it moves a bar and calls the user's function, or is None.

    The bar counts the terms of the largest model so far, up to `total` where it is known.
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
    """Let a callback be called by one thread at a time."""
    if callback is None:
        return None
    lock = Lock()

    def call(n_terms: int, objective: float) -> None:
        with lock:
            callback(n_terms, objective)

    return call


def new_bar(verbose: int, total: int | None, unit: str) -> Any:
    """Return a tqdm bar on stderr, or None where nobody would see it or tqdm is not installed."""
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
    time_limit: float | None = None,
    bar: Any = None,
    told: Callable[[list[Any]], str] | None = None,
) -> list[Any]:
    """Run tasks in threads and return their answers, None for those that the time was too short for.

    Beside the bar stands what is `told` of the answers so far, None for those that are not there yet.

    Where one fails, or Ctrl-C comes, all are stopped; the main thread looks up from its wait to notice it. It hears of
    answers by a queue: to wait for futures is to hold their locks, which Ctrl-C in the wrong moment leaves closed.
    """
    end = None if time_limit is None else time.monotonic() + time_limit
    shared, answers, n = _Tasks(tasks), dict[int, Any](), len(tasks)
    with ThreadPoolExecutor(workers) as pool:
        try:
            for _ in range(workers):
                pool.submit(shared.work)
            while len(answers) < n and (end is None or time.monotonic() < end):
                found = shared.news()
                answers |= found
                if found and bar is not None:
                    bar.update(len(found))
                    bar.set_postfix_str("" if told is None else told([answers.get(i) for i in range(n)]))
        finally:
            if len(answers) < n:
                stop.set()
                shared.close()
            if bar is not None:
                bar.close()
    return [answers.get(i) for i in range(n)]


class _Tasks:
    """Tasks that threads take one after the other, and what is heard of them."""

    def __init__(self, tasks: Sequence[Callable[[], Any]]) -> None:
        self._tasks = tasks
        self._todo: SimpleQueue[int] = SimpleQueue()
        self._heard: SimpleQueue[tuple[int, Any, BaseException | None]] = SimpleQueue()
        for i in range(len(tasks)):
            self._todo.put(i)

    def work(self) -> None:
        """Do tasks until none is left."""
        for i in _taken(self._todo):
            try:
                self._heard.put((i, self._tasks[i](), None))
            except BaseException as error:
                self._heard.put((i, None, error))

    def close(self) -> None:
        """See to it that no more tasks are begun."""
        for _ in _taken(self._todo):
            pass

    def news(self) -> dict[int, Any]:
        """Wait a moment for answers; return those that came, by number. Of several errors the first is raised."""
        try:
            came = [self._heard.get(timeout=POLL_SECONDS)]
        except Empty:
            return {}
        came += _taken(self._heard)
        failed = {i: error for i, _, error in came if error is not None}
        if failed:
            raise failed[min(failed)]
        return {i: answer for i, answer, _ in came}


def _taken(queue: "SimpleQueue[T]") -> Iterator[T]:
    """Take what there is out of a queue."""
    while True:
        try:
            yield queue.get_nowait()
        except Empty:
            return


def _in_notebook() -> bool:
    """Tell whether this runs in a Jupyter kernel, without importing IPython."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and hasattr(shell, "kernel")
