"""The command line: exit codes, one-line errors, complete files, standard input and output."""

import re
import subprocess
import sys

import numpy as np
import pytest
from _helpers.one_command import run

import sparsegam
from sparsegam import Model
from sparsegam._cli import commands
from sparsegam._cli.main import main

WRONG = {
    "no such target": (["fit", "{data}", "-t", "nothing"], "no column 'nothing' for --target"),
    "no file": (["fit", "absent.csv", "-t", "y"], "there is no such file"),
    "many labels": (["fit", "{data}", "-t", "city"], "select the label to predict with --positive"),
    "no such label": (["fit", "{data}", "-t", "answer", "--positive", "maybe"], "--positive maybe is not a label"),
    "no folder": (["fit", "{data}", "-t", "answer", "-o", "absent/model.json"], "there is no folder"),
    "no model": (["predict", "{data}", "{data}"], "is not a model file"),
    "bad option": (["fit", "{data}", "-t", "answer", "--lambda2", "-1"], "lambda2 must be a finite number"),
    "no such drop": (["fit", "{data}", "-t", "answer", "--drop", "x"], "no column 'x' for --drop"),
    "no order": (["fit", "{data}", "-t", "answer", "--monotone", "city=increasing"], "unordered categories"),
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


def test_debug_raises_the_error(data):
    with pytest.raises(ValueError, match="no column"):
        main(["fit", str(data), "-t", "nothing", "--debug"])


def test_fit_needs_a_feature(tmp_path, capsys):
    file = tmp_path / "one.csv"
    file.write_text("y\n1\n0\n")
    code, _, errors = run(capsys, "fit", file, "-t", "y")
    assert code == 1
    assert "no column other than the target 'y'" in errors


def test_fit_does_not_import_optional_packages(data):
    code = (
        "import sys; from sparsegam._cli.main import main; "
        f"main(['fit', {str(data)!r}, '-t', 'answer', '--drop', 'amount']); "
        "print([name for name in ('sklearn', 'pandas', 'matplotlib') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    done = subprocess.run([sys.executable, "-m", "sparsegam", "--help"], capture_output=True, text=True, check=True)
    assert "fit" in done.stdout


def test_unexpected_errors_are_one_line(data, capsys, monkeypatch):
    def broken(*_, **__):
        msg = "name 'x' is not\ndefined"
        raise NameError(msg)

    monkeypatch.setattr("sparsegam._cli.commands.read_rows", broken)
    code, _, errors = run(capsys, "fit", data, "-t", "answer")
    assert code == 1
    assert errors == "sparsegam: this is a bug: NameError: name 'x' is not defined (use --debug to see the traceback)\n"


@pytest.mark.parametrize("scale", [1e200, 1e-200, 1e308, 5e-324])
@pytest.mark.parametrize("command", [["fit"], ["fit", "--cv"], ["fit", "--terms", "3"], ["path"], ["compare"]])
def test_targets_whose_squares_overflow_are_rejected(tmp_path, capsys, command, scale):
    file = tmp_path / "t.csv"
    rows = np.random.default_rng(0).integers(1, 9, size=(60, 2))
    file.write_text("x,y\n" + "".join(f"{x},{scale * (y / 9 if scale > 1 else y)!r}\n" for x, y in rows.tolist()))
    assert main([command[0], str(file), "-t", "y", "-q", *command[1:]]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(
        r"sparsegam: the target 'y' .* (over|under)flows float64: (divide|multiply) by 1?.e.\d+ .*\n", err
    )


@pytest.mark.parametrize("error", [OverflowError, FloatingPointError])
def test_arithmetic_errors_are_not_reported_as_bugs(data, capsys, monkeypatch, error):
    def raises(*_, **__):
        msg = "too\nlarge"
        raise error(msg)

    monkeypatch.setattr(commands, "fit", raises)
    assert main(["fit", str(data), "-t", "answer", "-q"]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "sparsegam: too large"


def test_version_option(capsys):
    code, text, _ = run(capsys, "--version")
    assert code == 0
    assert text == f"sparsegam {sparsegam.__version__}\n"


def piped(*words, given=b""):
    """Run a command in a separate process with the given standard input."""
    command = [sys.executable, "-m", "sparsegam", *map(str, words)]
    return subprocess.run(command, input=given, capture_output=True, check=False)


def test_hyphen_means_standard_input_and_output(data, tmp_path):
    fitted = piped("fit", "-", "-t", "answer", "--drop", "amount", "-q", "--out", "-", given=data.read_bytes())
    model = Model.from_json(fitted.stdout.decode())
    assert model.classes == ("no", "yes")
    assert b"300 rows, target answer" in fitted.stderr
    scored = piped("predict", "-", data, "--keep", "id", "--out", "-", given=fitted.stdout)
    assert scored.stdout.startswith(b"id,score,probability_yes,prediction\nrow0,")
    file = tmp_path / "model.json"
    file.write_bytes(fitted.stdout)
    report = piped("report", file, "-", "-t", "answer", "--out", "-", given=data.read_bytes())
    assert report.stdout.startswith(b"<!DOCTYPE html>")
    both = piped("predict", "-", "-", given=fitted.stdout)
    assert both.returncode == 1
    assert b"cannot both be read from standard input" in both.stderr
