"""Progress for those who wait: a bar in terminals and notebooks where tqdm is installed, and the user's callback."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

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


def _in_notebook() -> bool:
    """Tell whether this runs in a Jupyter kernel, without importing IPython."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and hasattr(shell, "kernel")
