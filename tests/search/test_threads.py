"""Fits in threads, in forked processes and at the exit of Python."""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sparsegam import SparseGAMClassifier, SparseGAMClassifierCV, linear_path
from sparsegam._search.options import n_threads


def rows(n=600, p=40):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    return X, X[:, :5].sum(axis=1) + rng.normal(size=n) > 0


def bits(max_terms=8, n_jobs=1):
    return linear_path(*rows(), max_terms=max_terms, n_jobs=n_jobs).objective.tobytes()


def test_threads_find_the_model_of_the_main_thread():
    expected, found = bits(), []
    workers = [threading.Thread(target=lambda: found.extend(bits() for _ in range(3))) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [expected] * 24


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.skipif(
    "ASAN_OPTIONS" in os.environ, reason="the sanitizer's own allocator hangs where a fork meets another thread in it"
)
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_forked_processes_find_the_same_model():
    expected, done = bits(), threading.Event()

    def work():
        while not done.is_set():
            bits(max_terms=15, n_jobs=2)

    worker = threading.Thread(target=work)
    worker.start()
    try:
        for _ in range(10):
            child = os.fork()
            if child == 0:
                os._exit(0 if bits() == expected else 3)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        done.set()
        worker.join()


def test_n_threads_is_at_most_the_number_of_cores():
    assert n_threads(10**8) == os.cpu_count()
    assert SparseGAMClassifier(n_jobs=10**8).fit(*rows()).n_terms_ > 0
    assert SparseGAMClassifierCV(n_jobs=10**6, max_terms=3).fit(*rows()).path_.n_terms.size == 4


AT_EXIT = """
import threading, time
import numpy as np
from sparsegam import gam_path

X = np.random.default_rng(0).normal(size=(50_000, 20))
work = lambda: gam_path(X, X[:, 0] > 0.3, max_terms=100, n_jobs=2)
threading.Thread(target=work, daemon=True).start()
time.sleep(0.5)
print("leaving")
"""


def test_python_can_exit_during_a_fit():
    done = subprocess.run([sys.executable, "-c", AT_EXIT], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "leaving\n"), done.stderr


WHILE_READING = """
import sys, threading, time
import numpy as np
from sparsegam import _core

sys.stderr = None
x = np.abs(np.random.default_rng(0).normal(size=20_000))
matrix = _core.Matrix(np.broadcast_to(x[:, None], (x.size, 2)).copy())

def loop():
    while True:
        WORK

threading.Thread(target=loop, daemon=True).start()
time.sleep(0.3)
print("leaving")
"""


@pytest.mark.parametrize(
    "work",
    [
        "_core.bin_edges(x, 100)",
        "_core.bin_codes(x, np.sort(x[:50]))",
        "_core.MatrixRows(matrix, x, x, loss='squared', n_threads=1, max_bytes=2**30)",
    ],
)
def test_python_can_exit_while_data_are_read(work):
    """Exit waits for all work without the GIL, not only for searches, and no such work begins afterwards."""
    code = WHILE_READING.replace("WORK", work)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "leaving\n"), done.stderr


INTERRUPTED = """
import os, signal, threading, time
import numpy as np
from sparsegam import SparseGAMClassifierCV

X = np.random.default_rng(0).normal(size=(50_000, 20))
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a job in the background is without
threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    SparseGAMClassifierCV(max_terms=100, n_jobs=2).fit(X, X[:, 0] + np.sin(3 * X[:, 1]) > 0.3)
except KeyboardInterrupt:
    print("interrupted", threading.active_count() <= 2)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Ctrl-C is sent by a signal of POSIX")
def test_ctrl_c_stops_a_cross_validation():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "interrupted True\n"), done.stderr


def test_failing_fold_stops_the_others():
    X, y = rows(n=20_000)
    with pytest.raises(ValueError, match="one class only"):
        SparseGAMClassifierCV(cv=[(np.flatnonzero(y), np.flatnonzero(~y))] * 2, max_terms=100, n_jobs=2).fit(X, y)


@pytest.mark.parametrize("certify", [False, True])
def test_time_limit_stops_a_long_search(certify):
    """Reading, binning, the search, its proof and the last refits; what is not searched in time is left out."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 20))
    y = np.sin(3 * X).sum(axis=1) + rng.normal(size=len(X)) > 0
    with pytest.warns(ConvergenceWarning, match="stopped by time_limit"):
        model = SparseGAMClassifier(lambda0=0.5, certify=certify, time_limit=1.5).fit(X, y)
    assert np.isfinite(model.decision_function(X[:5])).all()
