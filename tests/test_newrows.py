"""Tests of the benchmark on held-out rows: folds, resumable results, recorded failures, and the summary."""

import argparse
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
if not (REPOSITORY / "benchmarks").is_dir():
    pytest.skip("the benchmarks are not part of this checkout", allow_module_level=True)
sys.path.insert(0, str(REPOSITORY))

from benchmarks import newrows, newrows_summary  # noqa: E402
from benchmarks.newrows_contenders import CONTENDERS, Contender  # noqa: E402
from benchmarks.newrows_data import Rows, folds, tables  # noqa: E402

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="each fit runs in a forked process")


def rows(n=60, *, binary=True):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"text": rng.choice(["a", "b"], n), "number": rng.random(n)}).astype({"text": object})
    return Rows(frame, (frame["number"] > 0.5).to_numpy(dtype=np.int64 if binary else np.float64), binary)


@dataclass(frozen=True)
class Small:
    name: str = "small"
    options: dict = field(default_factory=dict)

    def load(self):
        return rows()


class Fails:
    def get_params(self):
        return {}

    def fit(self, X, y):
        msg = "on purpose"
        raise ValueError(msg)


class Dies(Fails):
    def fit(self, X, y):
        os._exit(3)


@pytest.fixture
def results(tmp_path, monkeypatch):
    for module in (newrows, newrows_summary):
        monkeypatch.setattr(module, "RESULTS", tmp_path)
    for name, kind in (("fails", Fails), ("dies", Dies)):
        monkeypatch.setitem(CONTENDERS, name, Contender(name, "numpy", lambda *_, kind=kind: kind()))
    return tmp_path


def run(*contenders, resume=False, again=(), order="none"):
    args = argparse.Namespace(
        contenders=contenders, folds=2, order=order, resume=resume, again=list(again), threads=1, timeout=60.0
    )
    return newrows.run(args, [Small()])


class TestFolds:
    def test_every_row_is_in_one_test_fold(self):
        tested = pd.concat([fold.test.frame for fold in folds(rows(), 3, "none")])
        assert sorted(tested["number"]) == sorted(rows().frame["number"])

    @pytest.mark.parametrize("order", ["label", "feature"])
    def test_sorted_tables_have_the_same_rows(self, order):
        for fold, shuffled in zip(folds(rows(), 3, order), folds(rows(), 3, "none"), strict=True):
            key = fold.train.y if order == "label" else fold.train.frame["number"].to_numpy()
            assert (np.diff(key) >= 0).all()
            assert sorted(fold.train.frame["number"]) == sorted(shuffled.train.frame["number"])
            np.testing.assert_array_equal(fold.train.y, fold.train.frame["number"] > 0.5)
            pd.testing.assert_frame_equal(fold.test.frame, shuffled.test.frame)

    def test_shuffled_tables_have_the_same_rows(self):
        fold, plain = folds(rows(), 2, "shuffled")[0], folds(rows(), 2, "none")[0]
        assert fold.train.frame["number"].tolist() != plain.train.frame["number"].tolist()
        assert sorted(fold.train.frame["number"]) == sorted(plain.train.frame["number"])
        np.testing.assert_array_equal(fold.train.y, fold.train.frame["number"] > 0.5)

    def test_table_names_are_unique(self, tmp_path):
        assert len(tables(tmp_path)) >= 20


@needs_fork
class TestRuns:
    def test_failures_are_recorded(self, results):
        table = run("fails", "dies", "linear").set_index(["contender", "fold"])["status"]
        assert table["fails", 0] == "ValueError: on purpose"
        assert table["dies", 1] == "ended with status 3"
        assert table["linear", 0] == "ok"

    def test_resume_keeps_results_and_repeats_failures(self, results):
        first = run("fails", "linear")
        second = run("fails", "linear", resume=True)
        assert len(second) == 4
        both = [table[table["contender"] == "linear"]["seconds"].tolist() for table in (first, second)]
        assert both[0] == both[1]

    def test_again_repeats_the_named_contender(self, results):
        first, second = run("linear"), run("linear", resume=True, again=["linear"])
        assert len(first) == len(second) == 2
        assert first["seconds"].tolist() != second["seconds"].tolist()

    def test_results_of_other_orders_are_kept(self, results):
        run("linear")
        assert len(run("linear", order="label")) == 4

    @pytest.mark.parametrize("name", ["cv", "default", "former-default"])
    def test_sparsegam_results_have_terms(self, results, name):
        table = run(name)
        assert table["status"].eq("ok").all()
        assert table["n_terms"].ge(1).all()


class TestSummary:
    def test_summary_uses_paired_differences(self, results, capsys):
        known = {"order": "none", "folds": 2, "kind": "binary", "n": 9, "p": 1, "n_terms": 1, "lambda2": 0.0}
        known |= {"seconds": 1.0, "status": "ok", "loss": 1.0}
        scores = {"ebm": [0.8, 0.6], "cv": [0.79, 0.6], "default": [0.8, 0.6], "former-default": [0.7, 0.7]}
        fits = [
            {**known, "table": "small", "fold": fold, "contender": name, "score": score}
            for name, both in scores.items()
            for fold, score in enumerate(both)
        ]
        newrows_summary.report(pd.DataFrame(fits))
        summary = pd.read_csv(results / "newrows-summary.csv").set_index("contender")
        assert summary.loc["cv", "mean"] == pytest.approx(-0.005)
        assert summary.loc["cv", ["behind_0.003", "behind_0.006"]].tolist() == [1, 0]
        assert "default minus former-default: mean +0.0000" in capsys.readouterr().out

    def test_summary_compares_orders_with_shuffled_rows(self):
        known = {"contender": "cv", "folds": 2, "table": "small"}
        chosen = [{"order": "shuffled", "score": 0.8, "n_terms": 9}, {"order": "label", "score": 0.5, "n_terms": 0}]
        (line,) = newrows_summary.ordered_against_shuffled(pd.DataFrame([known | row for row in chosen]))
        assert line.startswith("cv, order label minus shuffled, 1 tables: score mean -0.3000")
