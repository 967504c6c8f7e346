"""Emulation of a CUDA device: the kernels compiled as C++ for the host, and NumPy in place of CuPy.

Everything that runs on a Device runs on an EmulatedDevice, slowly. The results have the same bits except for the last
digits of exp and log.
"""

import ctypes
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from sparsegam._backends.cuda.device import kernel_names, kernel_source

HERE = Path(__file__).parent
MAX_THREADS = 16  # Kernels must work with any number of threads in a block, and emulated threads are slow.


@cache
def library():
    """Compile the kernels for the host and load them."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler to build the emulated device with")
    entries = "\n".join(f'{{"{name}", emulator::maker({name})}},' for name in kernel_names())
    code = f"""#include "emulated_device.hpp"
{kernel_source()}
static std::map<std::string, emulator::Maker>& kernels() {{
    static std::map<std::string, emulator::Maker> all{{
{entries}
    }};
    return all;
}}
"""
    folder = Path(tempfile.mkdtemp(prefix="sparsegam-"))
    (folder / "kernels.cpp").write_text(code, encoding="utf-8")
    command = [compiler, "-std=c++20", "-O2", "-shared", "-fPIC", "-I", str(HERE), "-ffp-contract=off"]
    subprocess.run([*command, str(folder / "kernels.cpp"), "-o", str(folder / "kernels.so")], check=True)
    loaded = ctypes.CDLL(str(folder / "kernels.so"))
    shutil.rmtree(folder)
    return loaded


class EmulatedDevice:
    """The interface of Device, implemented on the host."""

    xp = np
    n_processors = 2
    shared_bytes = 232448
    name = "emulated"

    def __init__(self, free=2**40, total=2**40):
        self._free, self._total = free, total
        self._sent = []

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def memory(self):
        return self._free, self._total

    def address(self, array):
        return 0 if array is None else array.ctypes.data

    def upload(self, array):
        return np.array(array)

    def wait(self):
        self._sent.clear()

    def wait_for_all_streams(self):
        pass

    def fetch(self, array):
        return np.array(array)

    def download(self, array):
        self.wait()
        return np.array(array)

    def send(self, words):
        self._sent.append(np.array(words))
        return self._sent[-1].ctypes.data

    def launch(self, name, grid, threads, arguments, shared_bytes=0):
        assert shared_bytes <= self.shared_bytes
        values = [each.ctypes.data if isinstance(each, np.ndarray) else int(each) for each in arguments]
        words = [ctypes.c_int64(value) for value in values]
        pointers = (ctypes.c_void_p * len(words))(*(ctypes.addressof(word) for word in words))
        sizes = (ctypes.c_uint32 * 3)(*(*grid, 1, 1)[:3])
        n_threads = min(threads, MAX_THREADS)
        assert library().launch(name.encode(), sizes, n_threads, ctypes.c_size_t(shared_bytes), pointers) == 0
