"""CUDA device: arrays in its memory, the compiled kernels, and a stream that runs them in order."""

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
KERNELS_WITH_DYNAMIC_SHARED_MEMORY = ("histogram", "joint_counts", "pair_sums")
BUFFER_WORDS = 2**18  # 8-byte words of the buffer that passes kernel arguments from the host to the device

# Streams that no Device uses at present. CuPy keeps a separate pool of free memory for each stream, so streams are
# reused: a new stream for each fit would leave the pools of the old ones behind.
_idle_streams: list[Any] = []
_lock = Lock()


def kernel_source() -> str:
    """Return the CUDA C++ source of all kernels as one translation unit."""
    folder = files("sparsegam._backends.cuda") / "kernels"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in SOURCES)


def kernel_names() -> list[str]:
    """Return the names of all kernels."""
    source = kernel_source()
    found = re.findall(
        r'^extern "C" __global__ void\s+(?:__launch_bounds__\([\d, ]+\)\s+)?(\w+)\(', source, re.MULTILINE
    )
    return found + [f"losses_{count}" for count in re.findall(r"^LOSSES\((\d)\)", source, re.MULTILINE)]


class Device:
    """The current CUDA device and a stream on it. Arrays on the device are CuPy arrays.

    All work must be done inside `with device:`, by one thread at a time. Kernels run asynchronously, in the order of
    their launches; `download` waits for them.
    """

    def __init__(self) -> None:
        self.xp = _import_cupy()
        with _lock:
            self.stream = _idle_streams.pop() if _idle_streams else self.xp.cuda.Stream(non_blocking=True)
        self._cupy_device = self.xp.cuda.Device()
        attributes = self._cupy_device.attributes
        self.n_processors = int(attributes["MultiProcessorCount"])
        self.shared_bytes = int(attributes["MaxSharedMemoryPerBlockOptin"])
        self.name = self.xp.cuda.runtime.getDeviceProperties(self._cupy_device.id)["name"].decode()
        self._kernels = _compiled_kernels(self._cupy_device.id, self.shared_bytes)
        self._receive_buffer = _pinned_words(self.xp, BUFFER_WORDS)
        self._full_buffers: list[tuple[Any, Any]] = []
        with self:
            self._allocate_send_buffers(BUFFER_WORDS)
        finalize(self, _idle_streams.append, self.stream)

    def __enter__(self) -> "Device":
        self._cupy_device.__enter__()
        self.stream.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stream.__exit__(kind, error, trace)
        self._cupy_device.__exit__(kind, error, trace)

    def memory(self) -> tuple[int, int]:
        """Return the free and the total memory in bytes; unused memory in CuPy's pool counts as free."""
        with self:
            free, total = self.xp.cuda.runtime.memGetInfo()
        return int(free) + int(self.xp.get_default_memory_pool().free_bytes()), int(total)

    def address(self, array: Any) -> int:
        """Return the address of an array on the device, 0 for None."""
        return 0 if array is None else int(array.data.ptr)

    def upload(self, array: NDArray[Any]) -> Any:
        """Copy a NumPy array to the device."""
        return self.xp.asarray(array)

    def wait(self) -> None:
        """Wait for all work of this stream, so that other streams may use its results."""
        self.stream.synchronize()
        self._full_buffers.clear()
        self._n_sent = 0

    def wait_for_all_streams(self) -> None:
        """Wait for all work on the device, including that of other libraries whose arrays are about to be read."""
        self._cupy_device.synchronize()

    def fetch(self, array: Any) -> NDArray[Any]:
        """Copy an array from the device to a NumPy array. Unlike `download`, any thread may call this."""
        out: NDArray[Any] = array.get(stream=self.stream)
        return out

    def download(self, array: Any) -> NDArray[Any]:
        """Wait for all work of this stream and copy an array to NumPy through pinned memory, with little latency."""
        n_words = -(-array.nbytes // 8)
        if array.nbytes > self._receive_buffer.nbytes:
            self._receive_buffer = _pinned_words(self.xp, n_words)
        received = self._receive_buffer[:n_words].view(array.dtype)[: array.size].reshape(array.shape)
        array.get(out=received, stream=self.stream)
        self.wait()
        out: NDArray[Any] = received.copy()
        return out

    def send(self, words: NDArray[np.uint64]) -> int:
        """Copy 8-byte words to the device without waiting and return their address there.

        The words stay valid until the next `download` or `wait`.
        """
        if self._n_sent + words.size > self._device_buffer.size:
            # Kernels that are launched later may still read words sent earlier: the full buffers are kept until then.
            self._full_buffers.append((self._send_buffer, self._device_buffer))
            self._allocate_send_buffers(max(2 * words.size, BUFFER_WORDS))
        address = self.address(self._device_buffer) + 8 * self._n_sent
        staged = self._send_buffer[self._n_sent : self._n_sent + words.size]
        staged[:] = words
        runtime = self.xp.cuda.runtime
        runtime.memcpyAsync(address, staged.ctypes.data, words.nbytes, runtime.memcpyHostToDevice, self.stream.ptr)
        self._n_sent += words.size
        return address

    def _allocate_send_buffers(self, n_words: int) -> None:
        self._send_buffer = _pinned_words(self.xp, n_words)
        self._device_buffer = self.xp.empty(n_words, dtype=np.uint64)
        self._n_sent = 0

    def launch(
        self, name: str, grid: tuple[int, ...], threads: int, arguments: Sequence[Any], shared_bytes: int = 0
    ) -> None:
        """Start a kernel. Arguments are device arrays, addresses and integers (passed as 64-bit integers)."""
        converted = tuple(np.int64(each) if isinstance(each, int) else each for each in arguments)
        self._kernels[name](grid, (threads,), converted, shared_mem=shared_bytes)


def check_free_memory(device: Device, needed: int, n_rows: int, n_columns: int) -> None:
    """Raise MemoryError if the device has fewer than `needed` bytes free for a table of this size."""
    free, total = device.memory()
    if needed > free:
        msg = (
            f"{n_rows} rows of {n_columns} columns need {needed / 1e9:.1f} GB on the device, but only "
            f"{free / 1e9:.1f} of its {total / 1e9:.1f} GB are free: use fewer rows or columns, or device='cpu'."
        )
        raise MemoryError(msg)


def _pinned_words(cupy: Any, n_words: int) -> NDArray[np.uint64]:
    """Allocate page-locked host memory, which the device can read and write directly."""
    memory = cupy.cuda.alloc_pinned_memory(8 * n_words)
    return np.frombuffer(memory, dtype=np.uint64, count=n_words)


def _import_cupy() -> Any:
    """Import CuPy and check that it finds a CUDA device."""
    cupy = optional("cupy", "device='cuda'", extra="cuda")
    try:
        n_devices = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        msg = f"device='cuda' found no CUDA device ({error}): use device='cpu', or check that nvidia-smi lists a GPU."
        raise RuntimeError(msg) from error
    if n_devices == 0:
        msg = "device='cuda' found no CUDA device: use device='cpu', or check that nvidia-smi lists a GPU."
        raise RuntimeError(msg)
    return cupy


@cache
def _compiled_kernels(device_id: int, shared_bytes: int) -> dict[str, Any]:
    """Compile all kernels with NVRTC; CuPy caches the binaries on disk."""
    import cupy

    with cupy.cuda.Device(device_id):
        module = cupy.RawModule(code=kernel_source(), options=("-std=c++17",))
        kernels = {name: module.get_function(name) for name in kernel_names()}
    for name in KERNELS_WITH_DYNAMIC_SHARED_MEMORY:
        kernels[name].max_dynamic_shared_size_bytes = shared_bytes
    return kernels
