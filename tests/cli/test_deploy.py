"""`sparsegam export`, `sparsegam scorecard` and `sparsegam drift`."""

import json
import os

import pytest

from sparsegam._cli import parser
from sparsegam._cli.main import main
from sparsegam._io import writing
from sparsegam.datasets import make_credit


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    data = make_credit(800)
    data.frame.assign(bad=data.target).to_csv(folder / "rows.csv", index=False)
    arguments = ["fit", str(folder / "rows.csv"), "-t", "bad", "--terms", "4", "-q", "-o", str(folder / "model.json")]
    assert main(arguments) == 0
    return folder


@pytest.mark.parametrize("to", ["sql", "python", "javascript", "pmml", "latex", "json"])
def test_export_prints_and_writes_the_same_text(files, capsys, to):
    assert main(["export", str(files / "model.json"), "--to", to]) == 0
    printed = capsys.readouterr().out
    assert main(["export", str(files / "model.json"), "--to", to, "-o", str(files / "out")]) == 0
    assert (files / "out").read_text().strip() == printed.strip()


def test_export_of_binary_files_needs_a_file_name(files, capsys):
    pytest.importorskip("openpyxl")
    assert main(["export", str(files / "model.json"), "--to", "excel"]) == 1
    assert "pass its name with --out" in capsys.readouterr().err
    assert main(["export", str(files / "model.json"), "--to", "excel", "-o", str(files / "book.xlsx")]) == 0
    assert (files / "book.xlsx").read_bytes()[:2] == b"PK"


def test_scorecard_command(files, capsys):
    arguments = ["scorecard", str(files / "model.json"), str(files / "rows.csv"), "-t", "bad"]
    assert main([*arguments, "-o", str(files / "card.html")]) == 0
    assert "Rounding, on 800 rows" in capsys.readouterr().out
    assert "<table>" in (files / "card.html").read_text()
    assert main([*arguments, "--method", "small", "--json"]) == 0
    assert all(abs(row["points"]) <= 20 for row in json.loads(capsys.readouterr().out)["steps"])
    assert main([*arguments, "-o", str(files / "card.doc")]) == 1
    assert "is written as .html" in capsys.readouterr().err


def test_drift_command(files, capsys):
    model, rows = str(files / "model.json"), str(files / "rows.csv")
    assert main(["drift", model, rows, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["rows_before"] == data["rows_now"] == 800
    assert {line["status"] for line in [*data["features"].values(), data["score"]]} == {"stable"}
    assert main(["drift", model, rows, "--reference", rows]) == 0
    assert "800 reference rows, 800 current rows" in capsys.readouterr().out


def test_drift_needs_a_reference_without_a_training_profile(files, capsys):
    content = json.loads((files / "model.json").read_text())
    del content["profile"], content["missing"], content["distributions"], content["statistics"], content["sha256"]
    (files / "old.json").write_text(json.dumps(content))
    assert main(["drift", str(files / "old.json"), str(files / "rows.csv")]) == 1
    assert "Pass the training data" in capsys.readouterr().err


@pytest.mark.parametrize("to", [*parser.TEXT_FORMATS, *parser.BINARY_FORMATS])
def test_failed_export_keeps_the_old_file(files, monkeypatch, capsys, to):
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
