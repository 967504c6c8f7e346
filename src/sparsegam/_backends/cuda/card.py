"""The card: arrays on it, kernels compiled for it, and a stream of work of its own."""

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from threading import Lock
from types import TracebackType
from typing import Any
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from sparsegam.checks import optional

SOURCES = ("design.cuh", "loss.cuh", "evaluate.cu", "histogram.cu", "gram.cu", "pairs.cu", "matrix.cu", "binning.cu")
GREEDY = ("histogram", "joint_counts", "pair_sums")  # kernels that may ask for all the shared memory of a processor
WORDS = 2**18  # of 8 bytes, that questions travel in

_idle: list[Any] = []  # streams that no rows use: a stream has its own share of the memory pool, so they are kept
_lock = Lock()


def source() -> str:
    """Return the kernels, as one piece of CUDA C++."""
    folder = files("sparsegam._backends.cuda") / "kernels"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in SOURCES)


class Card:
    """A CUDA card and a stream on it; arrays are CuPy's.

    Everything that is done with a card is done within it (`with card:`), one thread at a time. What is launched runs in
    its order; `download` waits for it.
    """

    def __init__(self) -> None:
        self.xp = _cupy()
        with _lock:
            self.stream = _idle.pop() if _idle else self.xp.cuda.Stream(non_blocking=True)
        self._device = self.xp.cuda.Device()
        attributes = self._device.attributes
        self.n_processors = int(attributes["MultiProcessorCount"])
        self.shared_bytes = int(attributes["MaxSharedMemoryPerBlockOptin"])
        self.name = self.xp.cuda.runtime.getDeviceProperties(self._device.id)["name"].decode()
        self._kernels = _kernels(self._device.id, self.shared_bytes)
        self._staged, self._pinned = _pinned(self.xp, WORDS), _pinned(self.xp, WORDS)
        with self:
            self._words = self.xp.empty(WORDS, dtype=np.uint64)
        self._sent = 0
        finalize(self, _idle.append, self.stream)

    def __enter__(self) -> "Card":
        self._device.__enter__()
        self.stream.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stream.__exit__(kind, error, trace)
        self._device.__exit__(kind, error, trace)

    def memory(self) -> tuple[int, int]:
        """Return how many bytes are free, and how many there are; what CuPy holds and does not use counts as free."""
        with self:
            free, total = self.xp.cuda.runtime.memGetInfo()
        return int(free) + int(self.xp.get_default_memory_pool().free_bytes()), int(total)

    def address(self, array: Any) -> int:
        """Return where an array is; 0 for None."""
        return 0 if array is None else int(array.data.ptr)

    def upload(self, array: NDArray[Any]) -> Any:
        """Copy an array to the card."""
        return self.xp.asarray(array)

    def wait(self) -> None:
        """Wait for the work so far, so that others may use what it made."""
        self.stream.synchronize()

    def wait_for_all(self) -> None:
        """Wait for all work on the card, that of others too, whose data is about to be read."""
        self._device.synchronize()

    def fetch(self, array: Any) -> NDArray[Any]:
        """Return an array of the card as NumPy's; any thread may ask for it."""
        out: NDArray[Any] = array.get(stream=self.stream)
        return out

    def download(self, array: Any) -> NDArray[Any]:
        """Wait for the work so far, and return its answer as NumPy's: the way of small things, in a hurry."""
        if array.nbytes > self._pinned.nbytes:
            self._pinned = _pinned(self.xp, -(-array.nbytes // 8))
        room = self._pinned[: -(-array.nbytes // 8)].view(array.dtype)[: array.size]
        array.get(out=room.reshape(array.shape), stream=self.stream)
        self.stream.synchronize()
        self._sent = 0
        out: NDArray[Any] = room.reshape(array.shape).copy()
        return out

    def next_words(self, count: int) -> int:
        """Return where the next words that are sent will be."""
        if self._sent + count > self._words.size:
            self.stream.synchronize()
            self._sent = 0
        if count > self._words.size:
            self._words = self.xp.empty(2 * count, dtype=np.uint64)
            self._staged = _pinned(self.xp, 2 * count)
        return self.address(self._words) + 8 * self._sent

    def send(self, words: NDArray[np.uint64]) -> int:
        """Copy words to the card without waiting, and return where they are there."""
        at = self.next_words(words.size)
        staged = self._staged[self._sent : self._sent + words.size]
        staged[:] = words
        runtime = self.xp.cuda.runtime
        runtime.memcpyAsync(at, staged.ctypes.data, words.nbytes, runtime.memcpyHostToDevice, self.stream.ptr)
        self._sent += words.size
        return at

    def launch(
        self, name: str, grid: tuple[int, ...], threads: int, given: Sequence[Any], shared_bytes: int = 0
    ) -> None:
        """Run a kernel; what is given are arrays, addresses and whole numbers."""
        words = tuple(np.int64(each) if isinstance(each, int) else each for each in given)
        self._kernels[name](grid, (threads,), words, shared_mem=shared_bytes)


def _pinned(cupy: Any, n_words: int) -> NDArray[np.uint64]:
    """Return host memory that the card can read and write by itself."""
    memory = cupy.cuda.alloc_pinned_memory(8 * n_words)
    return np.frombuffer(memory, dtype=np.uint64, count=n_words)


def _cupy() -> Any:
    """Return CuPy where it has a card to work with; else say what is missing."""
    cupy = optional("cupy", "device='cuda'", extra="cuda")
    try:
        found = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        msg = f"device='cuda' found no CUDA card ({error}): use device='cpu', or see that nvidia-smi shows one."
        raise RuntimeError(msg) from error
    if found == 0:
        msg = "device='cuda' found no CUDA card: use device='cpu', or see that nvidia-smi shows one."
        raise RuntimeError(msg)
    return cupy


@cache
def _kernels(device: int, shared_bytes: int) -> dict[str, Any]:
    """Compile the kernels for a card; CuPy keeps what NVRTC made of them on disk."""
    import cupy

    with cupy.cuda.Device(device):
        module = cupy.RawModule(code=source(), options=("-std=c++17",))
        kernels = {name: module.get_function(name) for name in names()}
    for name in GREEDY:
        kernels[name].max_dynamic_shared_size_bytes = shared_bytes
    return kernels


def names() -> list[str]:
    """Return the names of all kernels."""
    text = source()
    found = re.findall(r'^extern "C" __global__ void\s+(?:__launch_bounds__\([\d, ]+\)\s+)?(\w+)\(', text, re.MULTILINE)
    return found + [f"losses_{count}" for count in re.findall(r"^LOSSES\((\d)\)", text, re.MULTILINE)]
