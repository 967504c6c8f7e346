"""The commands: their output, the files they write, and their options."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from _helpers.one_command import run
from sklearn import metrics

from sparsegam import Model, SparseGAMClassifier
from sparsegam._cli import commands
from sparsegam.datasets import loans_file


def test_fit_prints_and_writes_the_model(data, tmp_path, capsys):
    out = tmp_path / "model.json"
    code, text, notes = run(capsys, "fit", data, "--target", "answer", "--drop", "amount", "--out", out)
    assert code == 0
    assert "300 rows, target answer (no or yes)" in text
    assert "x <= 4" in text
    assert "'id' contains text that differs in every row" in notes
    model = Model.from_json(out.read_text())
    assert model.classes == ("no", "yes")


@pytest.mark.parametrize("size", [("--terms", "2"), ("--lambda0", "3"), ("--lambda0", "aic"), ("--cv",)])
def test_fit_options_for_the_number_of_terms(data, capsys, size):
    code, text, _ = run(capsys, "fit", data, "-t", "answer", "--drop", "amount", "--json", *size)
    assert code == 0
    found = json.loads(text)
    assert found["n_terms"] == len(found["model"]["terms"]) >= 1
    assert found["training"]["AUC"] > 0.6


def test_fit_of_a_regression(data, capsys):
    code, text, _ = run(capsys, "fit", data, "-t", "amount", "--drop", "answer")
    assert code == 0
    assert "target amount (a number)" in text
    assert "R²" in text


def test_fit_with_a_positive_label(data, capsys):
    _, text, _ = run(capsys, "fit", data, "-t", "answer", "--drop", "amount", "--positive", "no", "--json")
    assert json.loads(text)["model"]["classes"] == ["yes", "no"]
    _, text, _ = run(capsys, "fit", data, "-t", "city", "--drop", "amount", "--positive", "Rome", "--json")
    assert json.loads(text)["model"]["classes"] == ["not Rome", "Rome"]


def test_predict_agrees_with_the_model(data, tmp_path, capsys):
    model_file, out = tmp_path / "model.json", tmp_path / "scores.csv"
    run(capsys, "fit", data, "-t", "answer", "--drop", "amount", "-o", model_file)
    code, _, _ = run(capsys, "predict", model_file, data, "-o", out)
    assert code == 0
    scores, model = pd.read_csv(out), Model.from_json(model_file.read_text())
    frame = pd.read_csv(data)
    np.testing.assert_array_equal(scores["score"], model.decision_function(frame))
    np.testing.assert_array_equal(scores["prediction"], model.predict(frame))


def test_missing_option_for_unseen_values(data, tmp_path, capsys):
    new = tmp_path / "new.csv"
    pd.read_csv(data).assign(age=np.nan).to_csv(new, index=False)
    model_file = tmp_path / "model.json"
    for rule in ("mean", "last", "error"):
        fit = ("fit", data, "-t", "answer", "--drop", "amount", "id", "-o", model_file, "--missing", rule)
        assert run(capsys, *fit)[0] == 0
        assert Model.from_json(model_file.read_text()).missing == rule
        code, _, notes = run(capsys, "predict", model_file, new)
        assert ("300 rows have a missing value in 'age', which did not occur in training" in notes) == (rule != "last")
        assert code == (rule == "error")


def test_shapes_option(data, tmp_path, capsys):
    model_file, page = tmp_path / "model.json", tmp_path / "report.html"
    words = ("fit", data, "-t", "answer", "--drop", "amount", "id", "--shapes", "ramps", "-o", model_file)
    code, text, _ = run(capsys, *words, "--report", page)
    assert code == 0
    assert "per unit" in text
    assert any(term.condition.is_ramp for term in Model.from_json(model_file.read_text()).terms)
    assert '"shapes":"ramps"' in page.read_text(encoding="utf-8")
    assert run(capsys, *words[:-3], "curves")[0] == 2


def test_path_and_compare_print_tables(data, capsys):
    code, text, _ = run(capsys, "path", data, "-t", "answer", "--drop", "amount", "--max-terms", 4)
    assert code == 0
    assert "<- " in text
    code, text, _ = run(capsys, "compare", data, "-t", "answer", "--drop", "amount", "--folds", 3, "--json")
    assert code == 0
    assert {"sparsegam", "linear (all features)", "gradient boosting"} <= json.loads(text).keys()


def test_compare_reports_failed_models(data, capsys, monkeypatch):
    def broken(**_):
        raise RuntimeError

    monkeypatch.setattr("sparsegam.comparison._encoder", broken)
    code, text, _ = run(capsys, "compare", data, "-t", "answer", "--drop", "amount", "--folds", 2)
    assert code == 0
    assert "failed: RuntimeError" in text


def test_path_marks_a_criterion_only_if_the_path_is_long_enough(data, capsys):
    code, text, notes = run(capsys, "path", data, "-t", "answer", "--drop", "amount", "--max-terms", "30")
    assert code == 0
    assert text.count("<-") == 1 + ("auto, bic" not in text)
    assert "path ends" not in notes
    words = ("path", data, "-t", "answer", "--drop", "amount", "--max-terms", "1")
    code, text, notes = run(capsys, *words)
    assert code == 0
    assert "<-" not in text
    assert "the path ends at 1 terms, before the size that auto and bic would select: raise --max-terms." in notes
    found = json.loads(run(capsys, *words, "--json")[1])
    assert found["auto"] is found["bic"] is None


def test_fit_has_the_defaults_of_the_estimators(data, tmp_path, capsys):
    model_file = tmp_path / "model.json"
    words = ("fit", data, "-t", "answer", "--drop", "amount", "--special")
    assert run(capsys, *words, "--out", model_file)[0] == 0
    found = Model.from_json(model_file.read_text())
    frame = pd.read_csv(data).drop(columns=["id", "amount"])
    y = frame.pop("answer")
    gam = SparseGAMClassifier(special_values=[]).fit(frame, y)
    assert [(t.feature, t.condition) for t in found.terms] == [(t.feature, t.condition) for t in gam.terms_]
    np.testing.assert_allclose([t.coef for t in found.terms], [t.coef for t in gam.terms_], rtol=1e-9)
    code, _, error = run(capsys, *words, "--lambda2", "some")
    assert code == 2
    assert "must be a number or auto, got 'some'" in error


def test_fit_prints_term_statistics(data, tmp_path, capsys):
    out = tmp_path / "model.json"
    words = ("fit", data, "-t", "answer", "--drop", "amount", "--out", out)
    for size in ((), ("--cv",), ("--terms", "2")):
        text = run(capsys, *words, *size)[1]
        assert re.search(r"coefficient  std. error +95 % interval +rows  events", text)
        model = Model.from_json(out.read_text())
        assert all(term.n_rows for term in model.terms)
        assert model.training_profile().n_rows == 300


def test_fit_notes_terms_on_few_rows(tmp_path, capsys):
    rng = np.random.default_rng(0)
    x = np.repeat([1, 0], [4, 396])
    file = tmp_path / "spike.csv"
    pd.DataFrame({"x": x, "z": rng.normal(size=400), "y": 5 * x + rng.normal(0, 0.1, 400)}).to_csv(file, index=False)
    words = ("fit", file, "-t", "y", "--terms", "1")
    assert "is based on fewer than 10 rows: x <= 0 (false for 4 rows)" in run(capsys, *words)[2]
    code, text, notes = run(capsys, *words, "--min-samples-bin", "10")
    assert (code, notes) == (0, "")
    assert "x <= 0 " not in text


def test_special_values_option_by_column(data, capsys):
    words = ("fit", data, "-t", "answer", "--drop", "amount", "--json")
    code, text, _ = run(capsys, *words, "--special-values", "age=30,40", "income=50.5")
    assert code == 0
    assert json.loads(text)["model"]["special_values"] == {"age": [30.0, 40.0], "income": [50.5]}
    code, _, errors = run(capsys, *words, "--special-values", "age")
    assert code == 2
    assert "must be COLUMN=VALUE or COLUMN=VALUE,VALUE,..., got 'age'" in errors
    assert run(capsys, *words, "--special", "30", "--special-values", "age=30")[0] == 2
    code, _, errors = run(capsys, *words, "--special-values", "ag=30")
    assert code == 1
    assert "special_values names the column 'ag'" in errors


def test_special_option_without_values_declares_none(tmp_path, capsys):
    file = tmp_path / "loans.csv"
    run(capsys, "example", "--out", file)
    words = ("fit", file, "-t", "outcome", "--terms", "1", "--drop", "id", "-q")
    assert "probably contain" in run(capsys, *words)[2]
    assert run(capsys, *words, "--special")[2] == ""
    assert run(capsys, *words, "--special", "-9", "-8")[2] == ""


@pytest.fixture(scope="module")
def weighted(data):
    """Return a file with weights, and a file with rows repeated by these weights."""
    frame = pd.read_csv(data).drop(columns="amount")
    weight = np.random.default_rng(1).integers(0, 4, len(frame))
    file, repeated = data.with_name("weighted.csv"), data.with_name("repeated.csv")
    frame.assign(w=weight).to_csv(file, index=False)
    frame.loc[frame.index.repeat(weight)].drop(columns="id").to_csv(repeated, index=False)
    return file, repeated


@pytest.mark.parametrize("size", [("--terms", "2"), ("--lambda0", "3"), ("--cv",)])
def test_weights_are_equivalent_to_repeated_rows(weighted, capsys, size):
    file, repeated = weighted
    found = json.loads(run(capsys, "fit", file, "-t", "answer", "--weight", "w", *size, "--json")[1])
    same = json.loads(run(capsys, "fit", repeated, "-t", "answer", *size, "--json")[1])
    assert "w" not in found["columns"]
    # With --cv the folds of the two files differ.
    if size != ("--cv",):
        coefs = ([term["coef"] for term in result["model"]["terms"]] for result in (found, same))
        assert next(coefs) == pytest.approx(next(coefs))
        assert found["loss"] == pytest.approx(same["loss"])


def test_all_commands_use_weights(weighted, tmp_path, capsys):
    file, _ = weighted
    rows = (file, "-t", "answer", "--weight", "w")
    model = tmp_path / "model.json"
    assert run(capsys, "fit", *rows, "--terms", "3", "--out", model)[0] == 0
    assert run(capsys, "path", *rows, "--max-terms", "3")[0] == 0
    plain = json.loads(run(capsys, "compare", file, "-t", "answer", "--drop", "w", "--folds", "2", "--json")[1])
    found = json.loads(run(capsys, "compare", *rows, "--folds", "2", "--json")[1])
    assert all(found[name]["scores"] != plain[name]["scores"] for name in plain)
    assert run(capsys, "report", model, *rows, "--out", tmp_path / "report.html")[0] == 0
    assert run(capsys, "scorecard", model, *rows)[0] == 0


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (("--weight", "v"), "there is no column 'v' for --weight"),
        (("--weight", "answer"), "--weight answer is also the target"),
        (("--weight", "city"), "--weight city must have a number >= 0 in every row, got"),
        (("--weight", "income"), "--weight income must have a number >= 0 in every row, got a missing value in row 0"),
    ],
)
def test_invalid_weights_are_rejected(data, capsys, words, wrong):
    code, _, errors = run(capsys, "fit", data, "-t", "answer", *words)
    assert code == 1
    assert wrong in errors


def test_predict_copies_columns(data, tmp_path, capsys):
    model, out = tmp_path / "model.json", tmp_path / "scores.csv"
    run(capsys, "fit", data, "-t", "answer", "--drop", "amount", "--out", model)
    assert run(capsys, "predict", model, data, "--keep", "id", "age", "income", "--out", out)[0] == 0
    scores, frame = pd.read_csv(out), pd.read_csv(data)
    assert scores.columns.tolist() == ["id", "age", "income", "score", "probability_yes", "prediction"]
    pd.testing.assert_frame_equal(scores[["id", "age", "income"]], frame[["id", "age", "income"]])
    kept = json.loads(run(capsys, "predict", model, data, "--keep", "income", "--json")[1])["income"]
    assert kept[0] is None
    code, _, errors = run(capsys, "predict", model, data, "--keep", "name")
    assert code == 1
    assert "there is no column 'name' for --keep" in errors
    frame.assign(score=1, number=2.0**60).to_csv(tmp_path / "more.csv", index=False)
    assert (
        "--keep score has the same name as an output column"
        in run(capsys, "predict", model, tmp_path / "more.csv", "--keep", "score")[2]
    )
    frame.assign(number=2.0**60).to_parquet(tmp_path / "more.parquet")
    assert (
        "--keep number contains numbers beyond"
        in run(capsys, "predict", model, tmp_path / "more.parquet", "--keep", "number")[2]
    )


def test_fit_notes_text_that_is_mostly_numbers(tmp_path, capsys):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 500, 400)
    words = np.where(np.arange(400) % 50 == 3, "unknown", x.astype(str))
    file = tmp_path / "text.csv"
    pd.DataFrame({"x": words, "z": rng.integers(0, 9, 400), "y": rng.integers(0, 2, 400)}).to_csv(file, index=False)
    for size in (("--terms", "1"), ("--cv",)):
        notes = run(capsys, "fit", file, "-t", "y", *size)[2]
        assert notes.count("x: 392 of 400 values are numbers. Because of the others, such as 'unknown'") == 1


def test_report_command(data, tmp_path, capsys):
    model_file, out = tmp_path / "model.json", tmp_path / "report.html"
    run(capsys, "fit", data, "-t", "answer", "--drop", "amount", "-o", model_file, "--report", tmp_path / "first.html")
    code, _, _ = run(capsys, "report", model_file, data, "-t", "answer", "--drop", "amount", "-o", out, "--test", data)
    assert code == 0
    assert out.stat().st_size > 10_000
    assert sorted(f.name for f in tmp_path.iterdir()) == ["first.html", "model.json", "report.html"]


def test_example_writes_the_packaged_file(tmp_path, capsys):
    file = tmp_path / "loans.csv"
    code, text, _ = run(capsys, "example", "--out", file)
    assert code == 0
    assert "1200 simulated loans written" in text
    assert file.read_bytes() == loans_file().read_bytes()
    assert run(capsys, "example")[1] == loans_file().read_text()


STOPPED = "the search was stopped by time_limit="


@pytest.mark.parametrize("size", [("--terms", "3"), ("--lambda0", "1"), (), ("--cv",)])
def test_fit_notes_a_search_that_was_stopped_by_the_time_limit(data, capsys, size):
    words = ("fit", data, "-t", "answer", "--drop", "amount", "--json", *size)
    # The limit includes the time of reading the file, which alone is longer.
    code, text, notes = run(capsys, *words, "--time-limit", "1e-9")
    assert code == 0
    assert notes.count(f"sparsegam: note: {STOPPED}1e-09 s") == 1
    assert json.loads(text)["finished"] is False
    code, text, notes = run(capsys, *words, "--time-limit", "10000")
    assert code == 0
    assert STOPPED not in notes
    assert json.loads(text)["finished"] is True


def test_path_notes_a_search_that_was_stopped_by_the_time_limit(data, capsys):
    words = ("path", data, "-t", "answer", "--drop", "amount", "--json", "--max-terms", "3")
    code, text, notes = run(capsys, *words, "--time-limit", "1e-9")
    assert code == 0
    assert notes.count(f"sparsegam: note: {STOPPED}1e-09 s") == 1
    assert "raise --max-terms" not in notes
    assert json.loads(text)["finished"] is False
    code, text, notes = run(capsys, *words, "--time-limit", "10000")
    assert STOPPED not in notes
    assert json.loads(text)["finished"] is True


@pytest.mark.parametrize("words", [("fit", "--terms", "3"), ("fit", "--lambda0", "1"), ("path", "--max-terms", "3")])
def test_time_limit_includes_reading(data, capsys, monkeypatch, words):
    clock = [0.0]
    monkeypatch.setattr("sparsegam._search.options.time", SimpleNamespace(monotonic=lambda: clock[0]))
    read = commands.read_rows

    def slow_read(*options):
        clock[0] += 100.0
        return read(*options)

    monkeypatch.setattr(commands, "read_rows", slow_read)
    command, *size = words
    fit = (command, data, "-t", "answer", "--drop", "amount", "--json", *size, "--time-limit")
    assert json.loads(run(capsys, *fit, "99")[1])["finished"] is False
    assert json.loads(run(capsys, *fit, "10000")[1])["finished"] is True


@pytest.mark.parametrize("target", ["answer", "amount"])
def test_training_metrics_are_weighted(weighted, tmp_path, capsys, target):
    frame = pd.read_csv(weighted[0]).assign(amount=pd.read_csv(weighted[0].with_name("data.csv"))["amount"])
    file, model_file = tmp_path / "weighted.csv", tmp_path / "model.json"
    frame.to_csv(file, index=False)
    other = "amount" if target == "answer" else "answer"
    words = ("fit", file, "-t", target, "--drop", other, "--weight", "w", "--terms", "2", "--json", "-o", model_file)
    found = json.loads(run(capsys, *words)[1])["training"]
    score = Model.from_json(model_file.read_text()).decision_function(frame)
    weight = frame["w"]
    if target == "amount":
        expected = {"R²": metrics.r2_score(frame["amount"], score, sample_weight=weight)}
    else:
        positive = frame["answer"] == "yes"
        expected = {
            "AUC": metrics.roc_auc_score(positive, score, sample_weight=weight),
            "accuracy": metrics.accuracy_score(positive, score > 0, sample_weight=weight),
        }
        assert found["AUC"] != pytest.approx(metrics.roc_auc_score(positive, score), abs=1e-4)
    assert found == pytest.approx(expected)


def test_report_states_that_its_metrics_are_unweighted(weighted, tmp_path, capsys):
    model, out = tmp_path / "model.json", tmp_path / "report.html"
    rows = (weighted[0], "-t", "answer")
    assert run(capsys, "fit", *rows, "--weight", "w", "--terms", "2", "--out", model)[0] == 0
    for weight, expected in ((("--weight", "w"), True), (("--drop", "w"), False)):
        assert run(capsys, "report", model, *rows, *weight, "--out", out)[0] == 0
        page = out.read_text(encoding="utf-8")
        assert ("its unweighted AUC is" in page) == expected
        assert (f'"ignores_weights":{str(expected).lower()}') in page
