"""A card without a card: the kernels compiled as C++ for this machine, and NumPy in the place of CuPy.

Whatever runs on a Card runs on it, slowly and bit for bit the same but for the last digits of exp and log.
"""

import ctypes
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from sparsegam._backends.cuda.card import names, source

HERE = Path(__file__).parent
MOST_THREADS = 16  # of a block: kernels must not mind, and fibers are slow


@cache
def library():
    """Compile the kernels for this machine."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler to build the emulated card with")
    listed = "\n".join(f'{{"{name}", emulator::maker({name})}},' for name in names())
    code = f'#include "emulated_card.hpp"\n{source()}\nstatic std::map<std::string, emulator::Maker>& kernels() {{\n'
    code += f"static std::map<std::string, emulator::Maker> all{{\n{listed}\n}};\nreturn all;\n}}\n"
    folder = Path(tempfile.mkdtemp(prefix="sparsegam-"))
    (folder / "kernels.cpp").write_text(code, encoding="utf-8")
    command = [compiler, "-std=c++20", "-O2", "-shared", "-fPIC", "-I", str(HERE), "-ffp-contract=off"]
    subprocess.run([*command, str(folder / "kernels.cpp"), "-o", str(folder / "kernels.so")], check=True)
    loaded = ctypes.CDLL(str(folder / "kernels.so"))
    shutil.rmtree(folder)
    return loaded


class EmulatedCard:
    """What a Card can do, done here."""

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
        pass

    def wait_for_all(self):
        pass

    def fetch(self, array):
        return np.array(array)

    def download(self, array):
        self._sent.clear()
        return np.array(array)

    def send(self, words):
        self._sent.append(np.array(words))
        return self._sent[-1].ctypes.data

    def launch(self, name, grid, threads, given, shared_bytes=0):
        assert shared_bytes <= self.shared_bytes
        values = [each.ctypes.data if isinstance(each, np.ndarray) else int(each) for each in given]
        held = [ctypes.c_int64(value) for value in values]
        pointers = (ctypes.c_void_p * len(held))(*(ctypes.addressof(value) for value in held))
        sizes = (ctypes.c_uint32 * 3)(*(*grid, 1, 1)[:3])
        few = min(threads, MOST_THREADS)
        assert library().launch(name.encode(), sizes, few, ctypes.c_size_t(shared_bytes), pointers) == 0
