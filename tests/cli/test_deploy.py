"""`sparsegam export`, `sparsegam scorecard` and `sparsegam drift`: what they print and write, and what they refuse."""

import json
import os

import pytest

from sparsegam._cli import deploy
from sparsegam._cli.main import main
from sparsegam._io import writing
from sparsegam.datasets import make_credit
from sparsegam.deploy import _scorecard as scaling
from sparsegam.export._sql import DIALECTS


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    data = make_credit(800)
    data.frame.assign(bad=data.target).to_csv(folder / "rows.csv", index=False)
    arguments = ["fit", str(folder / "rows.csv"), "-t", "bad", "--terms", "4", "-q", "-o", str(folder / "model.json")]
    assert main(arguments) == 0
    return folder


def test_choices_are_those_of_the_library():
    assert tuple(DIALECTS) == deploy.DIALECTS
    assert scaling.METHODS == deploy.METHODS
    assert tuple(scaling.DIRECTIONS) == deploy.DIRECTIONS
    assert scaling.BASES == deploy.BASES


@pytest.mark.parametrize("to", ["sql", "python", "javascript", "pmml", "latex", "json"])
def test_export_prints_and_writes_the_same(files, capsys, to):
    assert main(["export", str(files / "model.json"), "--to", to]) == 0
    printed = capsys.readouterr().out
    assert main(["export", str(files / "model.json"), "--to", to, "-o", str(files / "out")]) == 0
    assert (files / "out").read_text().strip() == printed.strip()


def test_files_that_are_no_text(files, capsys):
    pytest.importorskip("openpyxl")
    assert main(["export", str(files / "model.json"), "--to", "excel"]) == 1
    assert "say where with --out" in capsys.readouterr().err
    assert main(["export", str(files / "model.json"), "--to", "excel", "-o", str(files / "book.xlsx")]) == 0
    assert (files / "book.xlsx").read_bytes()[:2] == b"PK"


def test_scorecard(files, capsys):
    arguments = ["scorecard", str(files / "model.json"), str(files / "rows.csv"), "-t", "bad"]
    assert main([*arguments, "-o", str(files / "card.html")]) == 0
    assert "Rounding, on 800 rows" in capsys.readouterr().out
    assert "<table>" in (files / "card.html").read_text()
    assert main([*arguments, "--method", "small", "--json"]) == 0
    assert all(abs(row["points"]) <= 20 for row in json.loads(capsys.readouterr().out)["steps"])
    assert main([*arguments, "-o", str(files / "card.doc")]) == 1
    assert "is written as .html" in capsys.readouterr().err


def test_drift(files, capsys):
    model, rows = str(files / "model.json"), str(files / "rows.csv")
    assert main(["drift", model, rows, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["rows_before"] == data["rows_now"] == 800
    assert {line["status"] for line in [*data["features"].values(), data["score"]]} == {"stable"}
    assert main(["drift", model, rows, "--reference", rows]) == 0
    assert "800 reference rows, 800 current rows" in capsys.readouterr().out


def test_drift_without_training_distribution_is_an_error(files, capsys):
    content = json.loads((files / "model.json").read_text())
    del content["profile"], content["missing"], content["seen"], content["evidence"], content["sha256"]
    (files / "old.json").write_text(json.dumps({**content, "version": 1}))
    assert main(["drift", str(files / "old.json"), str(files / "rows.csv")]) == 1
    assert "Pass the training data" in capsys.readouterr().err


@pytest.mark.parametrize("to", deploy.FORMATS)
def test_a_failed_export_leaves_the_old_file(files, monkeypatch, capsys, to):
    pytest.importorskip("onnx" if to == "onnx" else "openpyxl")

    def full(*_):
        raise OSError(28, "No space left on device")

    out = files / f"old.{to}"
    out.write_text("before")
    before = sorted(os.listdir(files))
    monkeypatch.setattr(writing.os, "fsync", full)
    assert main(["export", str(files / "model.json"), "--to", to, "--out", str(out)]) == 1
    assert capsys.readouterr().err == f"sparsegam: {out}: No space left on device\n"
    assert (out.read_text(), sorted(os.listdir(files))) == ("before", before)
