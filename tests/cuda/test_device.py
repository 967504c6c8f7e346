"""Missing devices, interrupted and concurrent fits, memory and streams."""

import builtins
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from _helpers.device_rows import device, open_device  # noqa: F401

from sparsegam import SparseGAMClassifier
from sparsegam._backends.cuda import backend
from sparsegam._backends.cuda.device import Device, kernel_names
from sparsegam._backends.cuda.rows import CudaThresholdRows

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 5)).round(1)
Y = (X[:, 0] + X[:, 1] > RNG.normal(size=600)).astype(int)


def test_missing_cupy_raises_with_the_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(ImportError, match=r"device='cuda' needs cupy: pip install 'sparsegam\[cuda\]'"):
        SparseGAMClassifier(device="cuda").fit(X, Y)


class NoDeviceError(RuntimeError):
    """The error that CuPy raises if the driver finds no device."""


def raise_no_device():
    msg = "cudaErrorNoDevice"
    raise NoDeviceError(msg)


@pytest.mark.parametrize("count", [lambda: 0, raise_no_device], ids=["none", "an error"])
def test_missing_device_raises_with_the_remedy(monkeypatch, count):
    runtime = SimpleNamespace(getDeviceCount=count, CUDARuntimeError=NoDeviceError)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=SimpleNamespace(runtime=runtime)))
    with pytest.raises(RuntimeError, match=r"found no CUDA device.*use device='cpu'"):
        SparseGAMClassifier(device="cuda").fit(X, Y)


def test_cpu_fit_does_not_import_the_cuda_backend(monkeypatch):
    load = builtins.__import__

    def import_without_cuda(name, *rest):
        assert not name.startswith(("cupy", "sparsegam._backends.cuda"))
        return load(name, *rest)

    monkeypatch.setattr(builtins, "__import__", import_without_cuda)
    SparseGAMClassifier(max_terms=2).fit(X, Y)


def test_kernel_names_are_found_and_unique():
    assert {"histogram", "losses_8", "joint_counts", "bin_values_16"} < set(kernel_names())
    assert len(set(kernel_names())) == len(kernel_names())


def test_fit_works_after_an_interrupted_fit(device, monkeypatch):  # noqa: F811
    before = SparseGAMClassifier(device="cuda", max_terms=4).fit(X, Y)
    scan, handler = CudaThresholdRows.scan, signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupted(self, *given):
        signal.raise_signal(signal.SIGINT)
        return scan(self, *given)

    try:
        with monkeypatch.context() as patched:
            patched.setattr(CudaThresholdRows, "scan", interrupted)
            with pytest.raises(KeyboardInterrupt):
                SparseGAMClassifier(device="cuda", max_terms=4).fit(X, Y)
    finally:
        signal.signal(signal.SIGINT, handler)
    again = SparseGAMClassifier(device="cuda", max_terms=4).fit(X, Y)
    assert again.model_.to_json() == before.model_.to_json()


def test_concurrent_fits_return_the_same_models_as_single_fits():
    open_device("cuda")

    def fitted(seed):
        rows = np.random.default_rng(seed).permutation(600)[:400]
        return SparseGAMClassifier(device="cuda", max_terms=5).fit(X[rows], Y[rows]).model_.to_json()

    alone = [fitted(seed) for seed in range(6)]
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(fitted, range(6))) == alone


def test_fits_release_device_memory():
    pool = open_device("cuda").xp.get_default_memory_pool()
    held = []
    for _ in range(30):
        SparseGAMClassifier(device="cuda", max_terms=3).fit(X, Y)
        held.append((pool.used_bytes(), pool.total_bytes()))
    assert held[-1][0] <= held[5][0]
    assert held[-1][1] <= held[5][1]


def test_streams_are_reused():
    open_device("cuda")
    streams = {Device().stream.ptr for _ in range(20)}
    assert len(streams) < 4
    assert backend.Device is Device
