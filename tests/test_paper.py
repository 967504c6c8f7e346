"""Tests of the paper's experiments: grids, resumable results, checks of the claims, and the interface to L0Learn."""

import json
import os
import stat
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
if not (REPOSITORY / "benchmarks" / "paper").is_dir():
    pytest.skip("the benchmarks are not part of this checkout", allow_module_level=True)
sys.path.insert(0, str(REPOSITORY))

from benchmarks.paper import check, l0learn, runner  # noqa: E402
from benchmarks.paper.cells import FIGURES, Cell, Scale  # noqa: E402
from benchmarks.paper.tables import Fold  # noqa: E402

COMPLETE = Scale(quick=False)


@pytest.fixture
def paper(tmp_path, monkeypatch):
    """Return an empty folder for results."""
    for module in (runner, check):
        monkeypatch.setattr(module, "PAPER", tmp_path)
    return tmp_path


class RecordingWorker:
    """A worker that records the commands it receives."""

    data = None

    def __init__(self, reply=None):
        self.methods = []
        self.reply = reply or {"rows": [{"lambda0": 1.0, "n_terms": 1}]}

    def run(self, cell):
        self.methods.append(cell.method)
        return self.reply


def cells(*methods):
    return [Cell("classification", 0, method) for method in methods]


class TestGrids:
    @pytest.mark.parametrize("figure", ["fig3", "fig6", "fig7"])
    def test_grid_has_all_penalties_and_five_folds(self, figure):
        grid = list(FIGURES[figure](COMPLETE))
        assert {cell.lambda0 for cell in grid} == {0.8, 1, 2, 3, 4, 5, 6, 7}
        assert {cell.lambda2 for cell in grid} == {0.0, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10}
        for method in ("swap, linear cuts", "swap, quadratic cuts", "swap, quadratic + dynamic", "exchange", "L0Learn"):
            pairs = {(c.fold, c.lambda0, c.lambda2) for c in grid if c.method == method and c.loss == "logistic"}
            assert len(pairs) == 5 * 8 * 7

    def test_simulated_data_use_the_penalties_of_the_paper(self):
        grid = list(FIGURES["fig4"](COMPLETE))
        assert {cell.fold for cell in grid} == {0, 1, 2, 3, 4}
        shapes = {cell.shape for cell in grid if cell.method.startswith("ElasticNet")}
        assert shapes == {0.9, 0.7, 0.5, 0.3, 0.1, 0.001}
        assert {cell.shape for cell in grid if cell.method.startswith("MCP")} == {1.5, 25.0}

    def test_cell_keys_are_unique(self):
        for figure in FIGURES.values():
            keys = [cell.key for cell in figure(COMPLETE)]
            assert len(keys) == len(set(keys))


class TestResume:
    def test_resume_skips_finished_cells(self, paper):
        runner.run("fig4", cells("exchange", "exchange, certified"), RecordingWorker(), resume=False)
        worker = RecordingWorker()
        table = runner.run("fig4", cells("exchange", "exchange, certified", "swap, dynamic"), worker, resume=True)
        assert worker.methods == ["swap, dynamic"]
        assert len(table) == 3
        assert len(pd.read_csv(paper / "fig4.csv")) == 3

    def test_without_resume_all_cells_run(self, paper):
        runner.run("fig4", cells("exchange"), RecordingWorker(), resume=False)
        worker = RecordingWorker()
        runner.run("fig4", cells("exchange"), worker, resume=False)
        assert worker.methods == ["exchange"]

    def test_truncated_line_loses_one_cell(self, paper):
        runner.run("fig4", cells("exchange", "swap, dynamic"), RecordingWorker(), resume=False)
        store = paper / "fig4.jsonl"
        store.write_text(store.read_text()[:-20])
        worker = RecordingWorker()
        runner.run("fig4", cells("exchange", "swap, dynamic"), worker, resume=True)
        assert worker.methods == ["swap, dynamic"]
        assert [json.loads(line)["cell"]["method"] for line in store.read_text().splitlines()] == [
            "exchange",
            "swap, dynamic",
        ]

    def test_resume_repeats_failed_cells(self, paper):
        runner.run("fig4", cells("exchange"), RecordingWorker({"failed": "no"}), resume=False)
        worker = RecordingWorker()
        table = runner.run("fig4", cells("exchange"), worker, resume=True)
        assert worker.methods == ["exchange"]
        assert table["n_terms"].tolist() == [1]

    def test_again_repeats_the_named_method(self, paper):
        both = cells("exchange", "exchange, certified", "swap, dynamic")
        runner.run("fig4", both, RecordingWorker(), resume=False)
        worker = RecordingWorker()
        runner.run("fig4", both, worker, resume=True, again=("exchange",))
        assert worker.methods == ["exchange", "exchange, certified"]

    def test_table_ignores_cells_of_other_runs(self, paper):
        runner.run("fig4", [Cell("classification", 0, "swap, dynamic", points=5)], RecordingWorker(), resume=False)
        table = runner.run("fig4", [Cell("classification", 0, "swap, dynamic")], RecordingWorker(), resume=True)
        assert table["points"].tolist() == [40]

    def test_crashed_worker_is_retried(self, monkeypatch):
        worker, replies = runner.Worker(None), iter([{"exit_status": -11}, {"rows": []}])
        monkeypatch.setattr(worker, "_send", lambda _: next(replies))
        assert worker.run(cells("exchange")[0]) == {"rows": [], "crashes": [-11]}

    def test_crashed_worker_is_retried_once_only(self, monkeypatch):
        worker = runner.Worker(None)
        monkeypatch.setattr(worker, "_send", lambda _: {"exit_status": -11})
        assert "crashed 2 times" in worker.run(cells("exchange")[0])["failed"]


def path_rows(method, auc, *, loss=1.0, folds=5, n_terms=3, lambda2=0.0):
    row = {"loss_name": "logistic", "method": method, "lambda2": lambda2, "n_terms": n_terms, "loss": loss}
    return [{**row, "fold": fold, "test_auc": auc} for fold in range(folds)]


class TestCheck:
    def output_of(self, capsys, *rows):
        check.equal_sizes("fig5", pd.DataFrame([row for group in rows for row in group]))
        return capsys.readouterr().out

    def test_lower_auc_at_equal_size_is_reported(self, capsys):
        output = self.output_of(capsys, path_rows("exchange", 0.70), path_rows("LASSO", 0.71))
        assert "behind by more than 0.005 at 1 of 1 sizes; at worst +0.0100" in output

    def test_small_differences_are_not_reported(self, capsys):
        output = self.output_of(capsys, path_rows("exchange", 0.70), path_rows("LASSO", 0.704))
        assert "at 0 of 1 sizes" in output

    def test_different_sizes_are_not_compared(self, capsys):
        assert not self.output_of(capsys, path_rows("exchange", 0.70), path_rows("LASSO", 0.9, n_terms=4))

    def test_sizes_of_few_folds_are_not_compared(self, capsys):
        assert not self.output_of(capsys, path_rows("exchange", 0.70), path_rows("LASSO", 0.9, folds=2))

    def test_the_better_fit_of_a_size_is_used(self, capsys):
        lucky = path_rows("LASSO", 0.9, loss=2.0)
        assert "at 0 of 1" in self.output_of(capsys, path_rows("exchange", 0.70), path_rows("LASSO", 0.70), lucky)

    def test_higher_objective_is_reported(self, capsys):
        row = {"fold": 0, "loss_name": "logistic", "lambda2": 0.0, "lambda0": 5.0}
        rows = [
            {**row, "method": "exchange", "objective": 10.1},
            {**row, "method": "fastsparsegams", "objective": 10.0},
        ]
        check.objectives("fig3", pd.DataFrame(rows))
        output = capsys.readouterr().out
        assert "exchange at or below every other in 0 of 1 cells" in output
        assert "by 0.1000 of 10.00" in output


FAKE_R = """#!{python}
import os, sys
if sys.argv[1] == "-e":
    sys.exit({status})
_, _, folder, n, p, lambda2, lambda0, max_terms = sys.argv
assert os.path.getsize(os.path.join(folder, "matrix.bin")) == 8 * int(n) * int(p)
assert os.path.getsize(os.path.join(folder, "labels.bin")) == 8 * int(n)
if lambda0 == "9.0":
    sys.exit("no such lambda0")
with open(os.path.join(folder, "models.csv"), "w") as out:
    out.write("model,lambda0,seconds,column,coef\\n1,8,0.5,0,-0.25\\n2,5,0.5,0,0.125\\n2,5,0.5,1,1.5\\n2,5,0.5,3,-2\\n")
"""


@pytest.mark.skipif(os.name == "nt", reason="a script stands in for Rscript")
class TestL0Learn:
    @pytest.fixture
    def fake_r(self, tmp_path, monkeypatch):
        def make(status=0):
            script = tmp_path / "Rscript"
            script.write_text(FAKE_R.format(python=sys.executable, status=status))
            script.chmod(script.stat().st_mode | stat.S_IEXEC)
            monkeypatch.setenv("PATH", str(tmp_path))
            l0learn.why_unavailable.cache_clear()

        yield make
        l0learn.why_unavailable.cache_clear()

    @pytest.fixture
    def fold(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(20, 4)), np.arange(20) % 2.0
        return Fold(("a", "b", "c", "d"), X, y, X, y, linear=True)

    def test_l0learn_is_skipped_with_a_message_if_not_installed(self, fake_r, tmp_path, monkeypatch):
        fake_r(status=1)
        assert 'install.packages("L0Learn")' in l0learn.why_unavailable()
        monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
        l0learn.why_unavailable.cache_clear()
        assert "R is not installed" in l0learn.why_unavailable()

    def test_l0learn_columns_are_zero_based(self, fake_r, fold):
        fake_r()
        assert l0learn.why_unavailable() is None
        empty, two = l0learn.fit(fold, Cell("x", 0, "L0Learn", lambda2=1e-3), 60)
        assert (empty.columns.size, empty.intercept, empty.lambda0) == (0, -0.25, 8.0)
        assert (two.columns.tolist(), two.coef.tolist(), two.intercept) == ([0, 2], [1.5, -2.0], 0.125)
        assert (two.seconds, two.lambda2) == (0.5, 1e-3)

    def test_error_contains_the_message_of_r(self, fake_r, fold):
        fake_r()
        with pytest.raises(RuntimeError, match="no such lambda0"):
            next(l0learn.fit(fold, Cell("x", 0, "L0Learn", lambda0=9.0), 60))
