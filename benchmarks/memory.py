"""How much memory a fit needed beyond its input: resident set before, and its peak during."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import resource
import sys
from pathlib import Path
from typing import Any

import psutil


def settled_bytes() -> int:
    """Resident bytes now, after handing freed memory back and forgetting earlier peaks (both where the system can)."""
    gc.collect()
    _return_freed_pages()
    _forget_peak()
    return psutil.Process().memory_info().rss


def peak_bytes() -> int:
    """Highest resident bytes since `settled_bytes` on Linux; since the start of the process elsewhere."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def size_of(inputs: tuple[Any, ...]) -> int:
    """Bytes held by arrays and data frames."""
    return sum(int(x.memory_usage(deep=True).sum()) if hasattr(x, "memory_usage") else int(x.nbytes) for x in inputs)


def _return_freed_pages() -> None:
    """Hand freed memory back, or a fit would reuse what preparing the data left behind, and look free of charge."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def _forget_peak() -> None:
    """Reset VmHWM, as proc(5) says; where a sandbox refuses, the peak is an upper bound."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
