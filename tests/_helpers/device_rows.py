"""Devices for tests (the emulated one, and a CUDA device if there is one), and row oracles on them."""

import importlib
from functools import cache

import numpy as np
import pytest

from _helpers.emulated_device import EmulatedDevice
from sparsegam._backends.cuda.device import Device
from sparsegam._backends.cuda.layouts import DeviceCodes, DeviceTarget, padded_size
from sparsegam._backends.cuda.rows import CudaMatrixRows, CudaThresholdRows

MODULES_WITH_DEVICE = ("inputs", "backend", "predictions")
DEVICES = ("emulated", "cuda")


@cache
def why_no_device():
    """Return why no CUDA device can be used, an empty string if one can."""
    try:
        Device()
    except (ImportError, RuntimeError) as error:
        return str(error)
    return ""


def open_device(kind):
    """Return a device of this kind; skip the test if there is none."""
    if kind == "emulated":
        return EmulatedDevice()
    if why_no_device():
        pytest.skip(why_no_device())
    return Device()


@pytest.fixture(params=DEVICES)
def device(request, monkeypatch):
    """Return a device, and let the package use devices of the same kind."""
    found = open_device(request.param)
    if request.param == "emulated":
        emulate_device(monkeypatch)
    return found


def emulate_device(monkeypatch):
    """Let the package use emulated devices."""
    for name in MODULES_WITH_DEVICE:
        monkeypatch.setattr(importlib.import_module(f"sparsegam._backends.cuda.{name}"), "Device", EmulatedDevice)


def fit_on_both(estimator, *rows, **options):
    """Return an estimator fitted with device="cuda" and one fitted with device="cpu"."""
    return [estimator(device=device, **options).fit(*rows) for device in ("cuda", "cpu")]


def padded_codes(device, codes):
    padded = np.zeros(padded_size(codes.size), dtype=codes.dtype)
    padded[: codes.size] = codes
    return device.upload(padded)


def rows_of_codes(device, problem, ramps=None):
    """Return the row oracle of a threshold problem on a device."""
    with device:
        codes = [padded_codes(device, code) for code in problem.codes]
        n_bins, n_ordered = problem.n_bins.astype(np.int64), problem.n_ordered.astype(np.int64)
        on_device = DeviceCodes(device, codes, problem.y.size, n_bins, n_ordered, ramps or [None] * len(codes))
        return CudaThresholdRows(on_device, DeviceTarget(device, problem.y, problem.weight, problem.loss))


def rows_of_matrix(device, problem):
    """Return the row oracle of the 0/1 matrix of a problem on a device."""
    with device:
        matrix = device.xp.asfortranarray(device.upload(problem.X))
        return CudaMatrixRows(device, matrix, DeviceTarget(device, problem.y, problem.weight, problem.loss))
