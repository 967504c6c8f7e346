"""The command line: answers, exit codes, one-line errors, and nothing half-written."""

import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from sparsegam import Model
from sparsegam.cli import commands
from sparsegam.cli.main import main


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A small table with numbers, text, missing values, an id, and a target of two labels."""
    rng = np.random.default_rng(0)
    n = 300
    frame = pd.DataFrame(
        {
            "id": [f"row{i}" for i in range(n)],
            "age": rng.integers(18, 80, n),
            "income": rng.normal(50, 15, n).round(1),
            "city": rng.choice(["Rome", "Oslo", "Lima"], n),
        }
    )
    score = 2.0 * (frame["age"] <= 40) + 1.5 * (frame["city"] == "Rome") - 1.5
    frame["answer"] = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "yes", "no")
    frame["amount"] = (score + rng.normal(size=n)).round(3)
    frame.loc[::17, "income"] = np.nan
    file = tmp_path_factory.mktemp("cli") / "data.csv"
    frame.to_csv(file, index=False)
    return file


def run(capsys, *words):
    """Run a command; return its exit code, output and error output."""
    try:
        code = main([str(word) for word in words])
    except SystemExit as stop:  # argparse
        code = stop.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_fit_prints_the_model_and_writes_it(data, tmp_path, capsys):
    out = tmp_path / "model.json"
    code, text, notes = run(capsys, "fit", data, "--target", "answer", "--drop", "amount", "--out", out)
    assert code == 0
    assert "300 rows, target answer (no or yes)" in text
    assert "x <= 4" in text
    assert "'id' is text that differs in every row" in notes
    model = Model.from_json(out.read_text())
    assert model.classes == ("no", "yes")


@pytest.mark.parametrize("size", [("--terms", "2"), ("--lambda0", "3"), ("--lambda0", "aic"), ("--cv",)])
def test_sizes(data, capsys, size):
    code, text, _ = run(capsys, "fit", data, "-t", "answer", "--drop", "amount", "--json", *size)
    assert code == 0
    found = json.loads(text)
    assert found["n_terms"] == len(found["model"]["terms"]) >= 1
    assert found["training"]["AUC"] > 0.6


def test_regression(data, capsys):
    code, text, _ = run(capsys, "fit", data, "-t", "amount", "--drop", "answer")
    assert code == 0
    assert "target amount (a number)" in text
    assert "R²" in text


def test_positive_label(data, capsys):
    _, text, _ = run(capsys, "fit", data, "-t", "answer", "--drop", "amount", "--positive", "no", "--json")
    assert json.loads(text)["model"]["classes"] == ["yes", "no"]
    _, text, _ = run(capsys, "fit", data, "-t", "city", "--drop", "amount", "--positive", "Rome", "--json")
    assert json.loads(text)["model"]["classes"] == ["not Rome", "Rome"]


def test_predict_is_what_the_model_says(data, tmp_path, capsys):
    model_file, out = tmp_path / "model.json", tmp_path / "scores.csv"
    run(capsys, "fit", data, "-t", "answer", "--drop", "amount", "-o", model_file)
    code, _, _ = run(capsys, "predict", model_file, data, "-o", out)
    assert code == 0
    scores, model = pd.read_csv(out), Model.from_json(model_file.read_text())
    frame = pd.read_csv(data)
    np.testing.assert_array_equal(scores["score"], model.decision_function(frame))
    np.testing.assert_array_equal(scores["prediction"], model.predict(frame))


def test_values_that_only_come_later_go_by_the_option(data, tmp_path, capsys):
    new = tmp_path / "new.csv"
    pd.read_csv(data).assign(age=np.nan).to_csv(new, index=False)
    model_file = tmp_path / "model.json"
    for rule in ("mean", "last", "error"):
        fit = ("fit", data, "-t", "answer", "--drop", "amount", "id", "-o", model_file, "--missing", rule)
        assert run(capsys, *fit)[0] == 0
        assert Model.from_json(model_file.read_text()).missing == rule
        code, _, notes = run(capsys, "predict", model_file, new)
        assert ("300 rows have a missing value in 'age', which no training row had" in notes) == (rule != "last")
        assert code == (rule == "error")


def test_path_and_compare(data, capsys):
    code, text, _ = run(capsys, "path", data, "-t", "answer", "--drop", "amount", "--max-terms", 4)
    assert code == 0
    assert "<- bic" in text
    code, text, _ = run(capsys, "compare", data, "-t", "answer", "--drop", "amount", "--folds", 3, "--json")
    assert code == 0
    assert {"sparsegam", "linear (all features)", "gradient boosting"} <= json.loads(text).keys()


def test_report(data, tmp_path, capsys):
    model_file, out = tmp_path / "model.json", tmp_path / "report.html"
    run(capsys, "fit", data, "-t", "answer", "--drop", "amount", "-o", model_file, "--report", tmp_path / "first.html")
    code, _, _ = run(capsys, "report", model_file, data, "-t", "answer", "--drop", "amount", "-o", out, "--test", data)
    assert code == 0
    assert out.stat().st_size > 10_000
    assert sorted(f.name for f in tmp_path.iterdir()) == ["first.html", "model.json", "report.html"]


WRONG = {
    "no such target": (["fit", "{data}", "-t", "nothing"], "no column 'nothing' for --target"),
    "no file": (["fit", "absent.csv", "-t", "y"], "there is no such file"),
    "many labels": (["fit", "{data}", "-t", "city"], "name the one whose probability is wanted with --positive"),
    "no such label": (["fit", "{data}", "-t", "answer", "--positive", "maybe"], "--positive maybe is no label"),
    "no folder": (["fit", "{data}", "-t", "answer", "-o", "absent/model.json"], "there is no folder"),
    "no model": (["predict", "{data}", "{data}"], "is no model"),
    "bad option": (["fit", "{data}", "-t", "answer", "--lambda2", "-1"], "lambda2 must be a finite number"),
    "no such drop": (["fit", "{data}", "-t", "answer", "--drop", "x"], "no column 'x' for --drop"),
    "no order": (["fit", "{data}", "-t", "answer", "--monotone", "city=increasing"], "categories have no order"),
}


@pytest.mark.parametrize("case", WRONG)
def test_errors_are_one_line_and_exit_with_one(data, tmp_path, monkeypatch, capsys, case):
    monkeypatch.chdir(tmp_path)
    words, message = WRONG[case]
    code, text, errors = run(capsys, *(word.format(data=data) for word in words))
    assert code == 1
    assert text == ""
    errors = [line for line in errors.splitlines() if ": note: " not in line]
    assert len(errors) == 1
    assert errors[0].startswith("sparsegam: ")
    assert message in errors[0]
    assert list(tmp_path.iterdir()) == []


def test_usage_errors_exit_with_two(data, capsys):
    assert run(capsys, "fit", data)[0] == 2
    assert run(capsys, "fit", data, "-t", "y", "--lambda0", "cheap")[0] == 2
    assert run(capsys, "fit", data, "-t", "y", "--cv", "--terms", "3")[0] == 2


def test_debug_shows_where_an_error_came_from(data):
    with pytest.raises(ValueError, match="no column"):
        main(["fit", str(data), "-t", "nothing", "--debug"])


def test_one_column_is_not_enough(tmp_path, capsys):
    file = tmp_path / "one.csv"
    file.write_text("y\n1\n0\n")
    code, _, errors = run(capsys, "fit", file, "-t", "y")
    assert code == 1
    assert "no column besides the target 'y'" in errors


def test_module_runs_and_does_not_import_what_it_does_not_need(data):
    code = (
        "import sys; from sparsegam.cli.main import main; "
        f"main(['fit', {str(data)!r}, '-t', 'answer', '--drop', 'amount']); "
        "print([name for name in ('sklearn', 'pandas', 'matplotlib') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    done = subprocess.run([sys.executable, "-m", "sparsegam", "--help"], capture_output=True, text=True, check=True)
    assert "fit" in done.stdout


def test_bugs_are_one_line_too(data, capsys, monkeypatch):
    def broken(*_, **__):
        msg = "name 'x' is not\ndefined"
        raise NameError(msg)

    monkeypatch.setattr("sparsegam.cli.commands.read_file", broken)
    code, _, errors = run(capsys, "fit", data, "-t", "answer")
    assert code == 1
    assert errors == "sparsegam: this is a bug: NameError: name 'x' is not defined (--debug shows where)\n"


def test_a_peer_that_fails_is_a_line_of_the_comparison(data, capsys, monkeypatch):
    def broken(*_):
        raise RuntimeError

    monkeypatch.setattr("sparsegam.cli.compare._numbered", broken)
    code, text, _ = run(capsys, "compare", data, "-t", "answer", "--drop", "amount", "--folds", 2)
    assert code == 0
    assert "failed: RuntimeError" in text


@pytest.mark.parametrize("scale", [1e200, 1e-200, 1e308, 5e-324])
@pytest.mark.parametrize("command", [["fit"], ["fit", "--cv"], ["fit", "--terms", "3"], ["path"], ["compare"]])
def test_targets_whose_squares_are_no_floats(tmp_path, capsys, command, scale):
    file = tmp_path / "t.csv"
    rows = np.random.default_rng(0).integers(1, 9, size=(60, 2))
    file.write_text("x,y\n" + "".join(f"{x},{scale * (y / 9 if scale > 1 else y)!r}\n" for x, y in rows.tolist()))
    assert main([command[0], str(file), "-t", "y", "-q", *command[1:]]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"sparsegam: the target 'y' .* are no floats: (divide by|multiply with) 1?.e.\d+ .*\n", err)


@pytest.mark.parametrize("error", [OverflowError, FloatingPointError])
def test_what_the_core_cannot_count_is_no_bug(data, capsys, monkeypatch, error):
    def raises(*_, **__):
        msg = "too\nlarge"
        raise error(msg)

    monkeypatch.setattr(commands, "fit", raises)
    assert main(["fit", str(data), "-t", "answer", "-q"]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "sparsegam: too large"
