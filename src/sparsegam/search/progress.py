"""Progress for those who wait: a bar where tqdm is installed, the user's callback, and many searches at once."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from threading import Lock
from typing import Any

from sparsegam import _core

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

    Where one fails, or Ctrl-C comes, all are stopped; the main thread looks up from its wait to notice it.
    """
    end = None if time_limit is None else time.monotonic() + time_limit
    with ThreadPoolExecutor(workers) as pool:
        try:
            jobs = [pool.submit(task) for task in tasks]
            waiting = set(jobs)
            while waiting and (end is None or time.monotonic() < end):
                done, waiting = wait(waiting, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
                for job in [job for job in jobs if job in done]:  # so that of several errors the first is raised
                    job.result()
                    if bar is not None:
                        bar.update()
                if done and bar is not None and told is not None:
                    bar.set_postfix_str(told([job.result() if job.done() else None for job in jobs]))
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)  # and waits for those that run
            raise
        finally:
            if bar is not None:
                bar.close()
        if waiting:
            stop.set()
            pool.shutdown(cancel_futures=True)
    return [None if job in waiting else job.result() for job in jobs]


def _in_notebook() -> bool:
    """Tell whether this runs in a Jupyter kernel, without importing IPython."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and hasattr(shell, "kernel")
