"""Progress bars, callbacks and parallel tasks."""

import io
import os
import signal
import sys
import threading
import time

import pytest

from sparsegam import SparseGAMClassifierCV, SparseGAMRegressor, _core, gam_path
from sparsegam._fit.progress import gather, new_bar, watched

X, Y = [[i] for i in range(40)], [float(i > 20) for i in range(40)]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_no_bar_without_a_terminal(capsys):
    SparseGAMRegressor(verbose=1).fit(X, Y)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_bar_is_shown_in_a_terminal(monkeypatch):
    pytest.importorskip("tqdm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    seen = []
    gam_path(X, Y, loss="squared", max_terms=3, verbose=1, callback=lambda *event: seen.append(event))
    assert "sparsegam" in sys.stderr.getvalue()
    assert seen


def test_bar_counts_folds(monkeypatch):
    pytest.importorskip("tqdm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    SparseGAMClassifierCV(cv=2, n_repeats=1, max_terms=2, verbose=1, lambda2=1e-3).fit(X, Y)
    assert "best so far" in sys.stderr.getvalue()
    assert "0/3" in sys.stderr.getvalue()


def test_no_bar_without_tqdm(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert new_bar(1, 3, "terms") is None


def test_watched_yields_the_callback_without_a_bar():
    def callback(n_terms, objective):
        pass

    with watched(callback, 0) as report:
        assert report is callback


def test_ctrl_c_stops_gather():
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # which a job in the background is without
    try:
        for seconds in (0.05, 0.1, 0.2):
            timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            with pytest.raises(KeyboardInterrupt):
                gather([lambda: time.sleep(0.001)] * 20_000, 2, stop=_core.Stop())
            timer.join()
    finally:
        signal.signal(signal.SIGINT, handler)
