"""Memory that a fit needs in addition to its input: resident memory before the fit, and its peak during the fit."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import resource
import sys
from pathlib import Path
from typing import Any

import psutil


def baseline_bytes() -> int:
    """Return freed memory to the system and reset the peak, if the system can; return the resident bytes."""
    gc.collect()
    _return_freed_pages()
    _forget_peak()
    return psutil.Process().memory_info().rss


def peak_bytes() -> int:
    """Return the peak of the resident bytes since `baseline_bytes` (Linux) or since the start of the process."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def size_of(inputs: tuple[Any, ...]) -> int:
    """Return the bytes in arrays and data frames."""
    return sum(int(x.memory_usage(deep=True).sum()) if hasattr(x, "memory_usage") else int(x.nbytes) for x in inputs)


def _return_freed_pages() -> None:
    """Return freed pages to the system. Otherwise a fit would reuse them, and its memory would not be counted."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def _forget_peak() -> None:
    """Reset VmHWM (see proc(5)). Where a sandbox forbids this, the peak is an upper bound."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
