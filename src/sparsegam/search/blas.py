"""BLAS held to one thread while the core runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread while the core runs.

    The core has threads of its own, its matrices are small, and sums that BLAS splits by threads would not be the
    same bits for any number of them. Several searches may run at once: the first sets the limit, the last lifts it.
    """
    _blas_limit.enter()
    try:
        yield
    finally:
        _blas_limit.leave()


class _BlasLimit:
    """The limit on BLAS threads, shared by all searches of this process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._searches = 0
        self._limit: Any = None

    def enter(self) -> None:
        with self._lock:
            if self._searches == 0:
                self._limit = _thread_pools().limit(limits=1, user_api="blas")
            self._searches += 1

    def leave(self) -> None:
        with self._lock:
            self._searches -= 1
            if self._searches == 0:
                self._limit.restore_original_limits()


_blas_limit = _BlasLimit()


@cache
def _thread_pools() -> ThreadpoolController:
    return ThreadpoolController()  # looks through all loaded libraries, so once
