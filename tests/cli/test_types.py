"""Commands that use a model read files by the types of its features, and copy columns without a change."""

import io
import json
import sys

import numpy as np
import pandas as pd
import pytest
from _helpers.one_command import run

from sparsegam import Model
from sparsegam._io import csv as csv_files

LEVELS = {
    "dependents": ["0", "1", "2", "3+"],
    "member": ["true", "false", "maybe"],
    "since": ["2020-01-01", "2021-01-01", "before"],
}


@pytest.fixture(scope="module")
def training(tmp_path_factory):
    """Return a folder with a file whose text columns look like other types in some rows, and a model fitted to it."""
    rng = np.random.default_rng(0)
    n = 400
    frame = pd.DataFrame({name: rng.choice(levels, n) for name, levels in LEVELS.items()})
    score = sum(2.0 * (frame[name] == levels[0]) for name, levels in LEVELS.items()) - 2
    frame["y"] = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "yes", "no")
    folder = tmp_path_factory.mktemp("types")
    frame.to_csv(folder / "all.csv", index=False)
    numeric = frame[(frame["dependents"] != "3+") & (frame["member"] != "maybe") & (frame["since"] != "before")]
    numeric.to_csv(folder / "some.csv", index=False)
    from sparsegam._cli.main import main

    assert main(["fit", str(folder / "all.csv"), "-t", "y", "--lambda0", "1", "-o", str(folder / "m.json"), "-q"]) == 0
    assert set(Model.from_json((folder / "m.json").read_text()).features) == set(LEVELS)
    return folder


@pytest.mark.parametrize("parser", ["arrow", "csv"])
@pytest.mark.parametrize("n", [None, 1])
def test_predict_reads_levels_that_look_like_other_types(training, tmp_path, capsys, monkeypatch, parser, n):
    text = "".join((training / "some.csv").read_text().splitlines(keepends=True)[: None if n is None else n + 1])
    (tmp_path / "rows.csv").write_text(text)
    model = Model.from_json((training / "m.json").read_text())
    expected = model.decision_function(pd.read_csv(io.StringIO(text), dtype=str))
    with monkeypatch.context() as patch:
        if parser == "csv":
            patch.setitem(sys.modules, "pyarrow", None)
        code, output, errors = run(capsys, "predict", training / "m.json", tmp_path / "rows.csv")
    assert (code, errors) == (0, "")
    np.testing.assert_array_equal(pd.read_csv(io.StringIO(output))["score"], expected)


def test_predict_reads_levels_from_standard_input_and_in_chunks(training, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(csv_files, "BLOCK_BYTES", 200)
    file = training / "some.csv"
    whole = run(capsys, "predict", training / "m.json", file)[1]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(file.read_bytes())))
    assert run(capsys, "predict", training / "m.json", "-")[1] == whole
    out = tmp_path / "scores.parquet"
    code, _, errors = run(capsys, "predict", training / "m.json", file, "-o", out, "-q")
    assert (code, errors) == (0, "")
    np.testing.assert_array_equal(pd.read_parquet(out)["score"], pd.read_csv(io.StringIO(whole))["score"])


def test_other_commands_read_levels_that_look_like_other_types(training, tmp_path, capsys):
    model, whole, some = training / "m.json", training / "all.csv", training / "some.csv"
    out = tmp_path / "report.html"
    for words in (
        ("drift", model, some),
        ("drift", model, some, "--reference", some),
        ("report", model, whole, "-t", "y", "--test", some, "--out", out),
        ("report", model, some, "-t", "y", "--out", out),
        ("scorecard", model, some, "-t", "y"),
        ("fit", whole, "-t", "y", "--terms", "3", "--report", out, "--test", some),
    ):
        code, _, errors = run(capsys, *words)
        assert code == 0, (words, errors)
        assert "unseen" not in errors


IDS = ["00017", "1e5", "+5", "1234567890123456789", "12345678901234567", "0", "NA", "", "1.50", "x y"]


@pytest.fixture
def with_ids(training, tmp_path):
    """Return a file with identifiers that would change if they were read as numbers."""
    frame = pd.read_csv(training / "all.csv", dtype=str).head(200)
    frame["id"] = np.resize(IDS[:6], 200)
    frame["mixed"] = np.resize(IDS, 200)
    frame.to_csv(tmp_path / "ids.csv", index=False)
    return tmp_path / "ids.csv"


@pytest.mark.parametrize("parser", ["arrow", "csv", "stdin"])
def test_predict_copies_the_text_of_a_file(training, with_ids, capsys, monkeypatch, parser):
    source = with_ids
    with monkeypatch.context() as patch:
        if parser == "csv":
            patch.setitem(sys.modules, "pyarrow", None)
        if parser == "stdin":
            patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(with_ids.read_bytes())))
            source = "-"
        code, output, _ = run(capsys, "predict", training / "m.json", source, "--keep", "id", "mixed", "dependents")
    assert code == 0
    found, expected = (pd.read_csv(csv, dtype=str, keep_default_na=False) for csv in (io.StringIO(output), with_ids))
    names = ["id", "mixed", "dependents"]
    assert found.columns.tolist() == [*names, "score", "probability_yes", "prediction"]
    pd.testing.assert_frame_equal(found[names], expected[names])


def test_predict_copies_the_text_of_a_file_in_chunks(training, with_ids, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(csv_files, "BLOCK_BYTES", 300)
    out = tmp_path / "scores.parquet"
    words = ("predict", training / "m.json", with_ids, "--keep", "id", "mixed", "--out", out, "-q")
    assert run(capsys, *words)[0] == 0
    expected = pd.read_csv(with_ids, dtype=str, keep_default_na=False)[["id", "mixed"]]
    pd.testing.assert_frame_equal(pd.read_parquet(out)[["id", "mixed"]].fillna(""), expected, check_dtype=False)


def test_predict_copies_typed_values_in_chunks(training, with_ids, tmp_path, capsys):
    frame = pd.read_csv(with_ids, dtype=str, keep_default_na=False)
    frame["big"] = 2**60 + np.arange(len(frame))
    frame["time"] = pd.date_range("2020-01-01", periods=len(frame))
    frame.to_parquet(tmp_path / "rows.parquet")
    out = tmp_path / "scores.parquet"
    words = ("predict", training / "m.json", tmp_path / "rows.parquet", "--keep", "big", "id", "time", "--out", out)
    assert run(capsys, *words, "-q")[0] == 0
    pd.testing.assert_frame_equal(pd.read_parquet(out)[["big", "id", "time"]], frame[["big", "id", "time"]])


LABELS = {
    "true": (["true", "false"], True),
    "True": (["true", "false"], True),
    "FALSE": (["TRUE", "FALSE"], False),
    "1": (["0", "1"], 1),
    "0": (["0", "1"], 0),
    "01": (["01", "02"], 1),
    "1.0": (["1.0", "2.0"], 1),
    "2020-01-05": (["2020-01-05", "2021-01-05"], "2020-01-05"),
    "b": (["a", "b"], "b"),
}


@pytest.mark.parametrize("positive", LABELS)
def test_positive_label_is_written_as_in_the_file(tmp_path, capsys, positive):
    labels, expected = LABELS[positive]
    rng = np.random.default_rng(0)
    file = tmp_path / "t.csv"
    pd.DataFrame({"x": rng.normal(size=100), "y": np.resize(labels, 100)}).to_csv(file, index=False)
    code, text, errors = run(capsys, "fit", file, "-t", "y", "--positive", positive, "--terms", "1", "--json")
    assert code == 0, errors
    assert json.loads(text)["model"]["classes"][1] == expected
    code, _, errors = run(capsys, "fit", file, "-t", "y", "--positive", "other")
    assert code == 1
    assert "--positive other is not a label of the target 'y'. Labels:" in errors


def test_test_data_may_lack_labels_of_the_rest(training, tmp_path, capsys):
    model, out = tmp_path / "model.json", tmp_path / "report.html"
    target = ("-t", "member", "--positive", "true", "--drop", "y")
    assert run(capsys, "fit", training / "all.csv", *target, "--terms", "1", "-o", model)[0] == 0
    assert Model.from_json(model.read_text()).classes == ("not true", "true")
    words = ("report", model, training / "all.csv", *target, "--test", training / "some.csv", "--out", out)
    code, _, errors = run(capsys, *words)
    assert code == 0, errors
    events = (pd.read_csv(training / "some.csv", dtype=str)["member"] == "true").sum()
    assert f'"events":{events},' in out.read_text(encoding="utf-8").replace(": ", ":").replace(", ", ",")


@pytest.mark.parametrize("large", [False, True])
def test_decimal_commas_are_read_as_numbers(tmp_path, capsys, monkeypatch, large):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(50, 20, 300).round(1)})
    frame["y"] = np.where(frame["x"] > 40, "yes", "no")
    frame.to_csv(tmp_path / "point.csv", index=False)
    frame.to_csv(tmp_path / "comma.csv", index=False, sep=";", decimal=",")
    fit = ("-t", "y", "--terms", "1", "--json", "-q")
    expected = json.loads(run(capsys, "fit", tmp_path / "point.csv", *fit)[1])["model"]
    if large:
        monkeypatch.setattr("sparsegam._cli.chunks.MAX_SHARE_OF_MEMORY", 0.0)
        monkeypatch.setattr(csv_files, "BLOCK_BYTES", 200)
    code, text, notes = run(capsys, "fit", tmp_path / "comma.csv", *fit)
    assert code == 0
    assert notes.count("note: column 'x' is read as numbers with decimal commas") == 1
    assert json.loads(text)["model"] == expected
    code, text, notes = run(capsys, "fit", tmp_path / "comma.csv", *fit, "--decimal", ",")
    assert json.loads(text)["model"] == expected
    assert notes == ""
    assert json.loads(run(capsys, "fit", tmp_path / "comma.csv", *fit, "--decimal", ".")[1])["columns"] == {
        "x": "category"
    }
    frame.assign(x=[f"{number:.0f},250" for number in frame["x"]]).to_csv(
        tmp_path / "unclear.csv", index=False, sep=";"
    )
    code, _, errors = run(capsys, "fit", tmp_path / "unclear.csv", *fit)
    assert code == 1
    assert "--decimal ," in errors
    assert run(capsys, "fit", tmp_path / "unclear.csv", *fit, "--decimal", ",")[0] == 0


def test_unknown_columns_to_copy_are_named_with_the_columns_of_the_file(training, capsys):
    code, _, errors = run(capsys, "predict", training / "m.json", training / "some.csv", "--keep", "y", "nobody")
    assert code == 1
    assert "there is no column 'nobody' for --keep: the columns are 'dependents', 'member', 'since', 'y'.\n" in errors
