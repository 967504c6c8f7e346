"""The paper's experiments: their grids, their stores that a run can go on from, their checks, L0Learn's border."""

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
    pytest.skip("the benchmarks are not beside the tests", allow_module_level=True)
sys.path.insert(0, str(REPOSITORY))

from benchmarks.paper import check, l0learn, runner  # noqa: E402
from benchmarks.paper.cells import FIGURES, Cell, Scale  # noqa: E402
from benchmarks.paper.tables import Fold  # noqa: E402

WHOLE = Scale(quick=False)


@pytest.fixture
def paper(tmp_path, monkeypatch):
    """A folder of results of its own."""
    for module in (runner, check):
        monkeypatch.setattr(module, "PAPER", tmp_path)
    return tmp_path


class Answering:
    """A worker that notes what it was asked."""

    data = None

    def __init__(self, reply=None):
        self.asked = []
        self.reply = reply or {"rows": [{"lambda0": 1.0, "n_terms": 1}]}

    def ask(self, cell):
        self.asked.append(cell.method)
        return self.reply


def cells(*methods):
    return [Cell("classification", 0, method) for method in methods]


class TestGrids:
    @pytest.mark.parametrize("figure", ["fig3", "fig6", "fig7"])
    def test_times_are_taken_at_every_pair_of_prices_in_five_folds(self, figure):
        grid = list(FIGURES[figure](WHOLE))
        assert {cell.lambda0 for cell in grid} == {0.8, 1, 2, 3, 4, 5, 6, 7}
        assert {cell.lambda2 for cell in grid} == {0.0, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10}
        for method in ("swap, linear cuts", "swap, quadratic cuts", "swap, quadratic + dynamic", "exchange", "L0Learn"):
            pairs = {(c.fold, c.lambda0, c.lambda2) for c in grid if c.method == method and c.loss == "logistic"}
            assert len(pairs) == 5 * 8 * 7

    def test_the_simulated_data_have_the_papers_penalties(self):
        grid = list(FIGURES["fig4"](WHOLE))
        assert {cell.fold for cell in grid} == {0, 1, 2, 3, 4}
        shapes = {cell.shape for cell in grid if cell.method.startswith("ElasticNet")}
        assert shapes == {0.9, 0.7, 0.5, 0.3, 0.1, 0.001}
        assert {cell.shape for cell in grid if cell.method.startswith("MCP")} == {1.5, 25.0}

    def test_no_two_cells_of_a_figure_share_a_key(self):
        for figure in FIGURES.values():
            keys = [cell.key for cell in figure(WHOLE)]
            assert len(keys) == len(set(keys))


class TestResume:
    def test_what_is_done_is_not_run_again(self, paper):
        runner.run("fig4", cells("exchange", "exchange, certified"), Answering(), resume=False)
        worker = Answering()
        table = runner.run("fig4", cells("exchange", "exchange, certified", "swap, dynamic"), worker, resume=True)
        assert worker.asked == ["swap, dynamic"]
        assert len(table) == 3
        assert len(pd.read_csv(paper / "fig4.csv")) == 3

    def test_without_it_everything_is(self, paper):
        runner.run("fig4", cells("exchange"), Answering(), resume=False)
        worker = Answering()
        runner.run("fig4", cells("exchange"), worker, resume=False)
        assert worker.asked == ["exchange"]

    def test_a_line_that_was_cut_short_is_one_cell_lost(self, paper):
        runner.run("fig4", cells("exchange", "swap, dynamic"), Answering(), resume=False)
        store = paper / "fig4.jsonl"
        store.write_text(store.read_text()[:-20])
        worker = Answering()
        runner.run("fig4", cells("exchange", "swap, dynamic"), worker, resume=True)
        assert worker.asked == ["swap, dynamic"]
        assert [json.loads(line)["cell"]["method"] for line in store.read_text().splitlines()] == [
            "exchange",
            "swap, dynamic",
        ]

    def test_what_failed_is_run_again(self, paper):
        runner.run("fig4", cells("exchange"), Answering({"failed": "no"}), resume=False)
        worker = Answering()
        table = runner.run("fig4", cells("exchange"), worker, resume=True)
        assert worker.asked == ["exchange"]
        assert table["n_terms"].tolist() == [1]

    def test_a_method_that_changed_is_run_again_by_name(self, paper):
        both = cells("exchange", "exchange, certified", "swap, dynamic")
        runner.run("fig4", both, Answering(), resume=False)
        worker = Answering()
        runner.run("fig4", both, worker, resume=True, again=("exchange",))
        assert worker.asked == ["exchange", "exchange, certified"]

    def test_cells_of_another_scale_stay_out_of_the_table(self, paper):
        runner.run("fig4", [Cell("classification", 0, "swap, dynamic", points=5)], Answering(), resume=False)
        table = runner.run("fig4", [Cell("classification", 0, "swap, dynamic")], Answering(), resume=True)
        assert table["points"].tolist() == [40]

    def test_a_process_that_dies_has_another_try(self, monkeypatch):
        worker, replies = runner.Worker(None), iter([{"died": -11}, {"rows": []}])
        monkeypatch.setattr(worker, "_ask", lambda _: next(replies))
        assert worker.ask(cells("exchange")[0]) == {"rows": [], "crashes": [-11]}

    def test_but_only_one(self, monkeypatch):
        worker = runner.Worker(None)
        monkeypatch.setattr(worker, "_ask", lambda _: {"died": -11})
        assert "ended 2 times" in worker.ask(cells("exchange")[0])["failed"]


def path_rows(method, auc, *, loss=1.0, folds=5, n_terms=3, lambda2=0.0):
    row = {"loss_name": "logistic", "method": method, "lambda2": lambda2, "n_terms": n_terms, "loss": loss}
    return [{**row, "fold": fold, "test_auc": auc} for fold in range(folds)]


class TestCheck:
    def said(self, capsys, *rows):
        check.equal_sizes("fig5", pd.DataFrame([row for group in rows for row in group]))
        return capsys.readouterr().out

    def test_being_behind_at_equal_size_is_said(self, capsys):
        said = self.said(capsys, path_rows("exchange", 0.70), path_rows("LASSO", 0.71))
        assert "behind by more than 0.005 at 1 of 1 sizes; at worst +0.0100" in said

    def test_a_hair_is_not(self, capsys):
        said = self.said(capsys, path_rows("exchange", 0.70), path_rows("LASSO", 0.704))
        assert "at 0 of 1 sizes" in said

    def test_sizes_that_are_not_equal_are_not_compared(self, capsys):
        assert not self.said(capsys, path_rows("exchange", 0.70), path_rows("LASSO", 0.9, n_terms=4))

    def test_nor_those_of_few_folds(self, capsys):
        assert not self.said(capsys, path_rows("exchange", 0.70), path_rows("LASSO", 0.9, folds=2))

    def test_of_two_models_of_a_size_the_one_that_fits_better_counts(self, capsys):
        lucky = path_rows("LASSO", 0.9, loss=2.0)
        assert "at 0 of 1" in self.said(capsys, path_rows("exchange", 0.70), path_rows("LASSO", 0.70), lucky)

    def test_an_objective_above_another_is_said(self, capsys):
        row = {"fold": 0, "loss_name": "logistic", "lambda2": 0.0, "lambda0": 5.0}
        rows = [
            {**row, "method": "exchange", "objective": 10.1},
            {**row, "method": "fastsparsegams", "objective": 10.0},
        ]
        check.objectives("fig3", pd.DataFrame(rows))
        said = capsys.readouterr().out
        assert "exchange at or below every other in 0 of 1 cells" in said
        assert "by 0.1000 of 10.00" in said


FAKE_R = """#!{python}
import os, sys
if sys.argv[1] == "-e":
    sys.exit({status})
_, _, folder, n, p, lambda2, price, most_terms = sys.argv
assert os.path.getsize(os.path.join(folder, "matrix.bin")) == 8 * int(n) * int(p)
assert os.path.getsize(os.path.join(folder, "labels.bin")) == 8 * int(n)
if price == "9.0":
    sys.exit("no such price")
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
            l0learn.missing.cache_clear()

        yield make
        l0learn.missing.cache_clear()

    @pytest.fixture
    def fold(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(20, 4)), np.arange(20) % 2.0
        return Fold(("a", "b", "c", "d"), X, y, X, y, linear=True)

    def test_it_is_left_out_in_one_line_where_it_is_not(self, fake_r, tmp_path, monkeypatch):
        fake_r(status=1)
        assert 'install.packages("L0Learn")' in l0learn.missing()
        monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
        l0learn.missing.cache_clear()
        assert "R is not installed" in l0learn.missing()

    def test_models_come_back_with_columns_counted_from_zero(self, fake_r, fold):
        fake_r()
        assert l0learn.missing() is None
        empty, two = l0learn.fit(fold, Cell("x", 0, "L0Learn", lambda2=1e-3), 60)
        assert (empty.columns.size, empty.intercept, empty.lambda0) == (0, -0.25, 8.0)
        assert (two.columns.tolist(), two.coef.tolist(), two.intercept) == ([0, 2], [1.5, -2.0], 0.125)
        assert (two.seconds, two.lambda2) == (0.5, 1e-3)

    def test_what_r_says_is_in_the_error(self, fake_r, fold):
        fake_r()
        with pytest.raises(RuntimeError, match="no such price"):
            next(l0learn.fit(fold, Cell("x", 0, "L0Learn", lambda0=9.0), 60))
