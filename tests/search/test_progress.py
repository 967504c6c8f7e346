"""Progress: a bar where somebody looks, silence elsewhere, and the callback in any case."""

import io
import sys

import pytest

from sparsegam import SparseGAMClassifierCV, SparseGAMRegressor, gam_path
from sparsegam.search.progress import new_bar, watched

X, Y = [[i] for i in range(40)], [float(i > 20) for i in range(40)]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_silent_where_nobody_looks(capsys):
    SparseGAMRegressor(verbose=1).fit(X, Y)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_a_bar_in_a_terminal(monkeypatch):
    pytest.importorskip("tqdm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    seen = []
    gam_path(X, Y, loss="squared", max_terms=3, verbose=1, callback=lambda *event: seen.append(event))
    assert "sparsegam" in sys.stderr.getvalue()
    assert seen


def test_a_bar_over_the_folds(monkeypatch):
    pytest.importorskip("tqdm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    SparseGAMClassifierCV(cv=2, max_terms=2, verbose=1, lambda2=1e-3).fit(X, Y)
    assert "best so far" in sys.stderr.getvalue()
    assert "0/3" in sys.stderr.getvalue()


def test_silent_without_tqdm(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert new_bar(1, 3, "terms") is None


def test_the_callback_is_called_as_it_is_without_a_bar():
    def callback(n_terms, objective):
        pass

    with watched(callback, 0) as report:
        assert report is callback
