"""Content of reports, and the functions that write them."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from _helpers.reports import SPECIAL, fit_mixed, make_mixed, write_annotated  # noqa: F401

from sparsegam import Model, SparseGAMClassifier, SparseGAMClassifierCV, gam_path
from sparsegam._io.writing import write_atomically
from sparsegam.deploy import best_scorecard
from sparsegam.inspection._alternatives import fit_problem
from sparsegam.report import _data, write_report
from sparsegam.report._content import report_content
from sparsegam.report._data import Annotations, Dataset, Fit, ReportData
from sparsegam.report._write import render_page


def test_report_content_has_rows_and_standard_errors_of_terms(mixed):
    frame, y, gam = mixed
    parts = report_content(ReportData(gam.model_, "t", train=Dataset.read(frame, y), fit=Fit(gam.get_params())))
    lines = parts["term_statistics"]["terms"]
    assert [line["rows"] for line in lines] == [term.n_rows for term in gam.terms_]
    assert [line["error"] for line in lines] == [term.standard_error for term in gam.terms_]
    assert parts["term_statistics"]["intercept"]["events"] == (y == "yes").sum()
    pieces = [piece for feature in parts["features"] for piece in feature["pieces"]]
    assert all(piece["error"] > 0 for piece in pieces if piece["count"])
    assert parts["stability"] is None
    bare = report_content(ReportData(replace(gam.model_, terms=(), statistics=None), "t"))
    assert bare["term_statistics"] is None


def test_report_content_measures_performance_on_training_data_without_test_data(mixed):
    frame, y, gam = mixed
    parts = report_content(ReportData(gam.model_, "t", train=Dataset.read(frame, y), fit=Fit(gam.get_params())))
    assert "rows of training data" in parts["summary"]
    assert parts["performance"]["metrics"][0]["name"] == "AUC"
    assert parts["frontier"]["model"]["objective"] == pytest.approx(gam.objective_ - gam.lambda0_ * gam.n_terms_)
    assert len(parts["alternatives"]["terms"]) == gam.n_terms_
    assert {column["name"] for column in parts["columns"]} == set(frame.columns)


def test_report_content_centres_shown_contributions_but_not_those_of_the_form(mixed):
    frame, y, gam = mixed
    parts = report_content(ReportData(gam.model_, "t", train=Dataset.read(frame, y)))
    assert parts["centred"]
    assert parts["intercept"] == gam.intercept_
    assert parts["baseline"] == pytest.approx(gam.decision_function(frame).mean())
    for feature in parts["features"]:
        weighed = [piece["value"] * piece["count"] for piece in feature["pieces"]]
        assert sum(weighed) / len(frame) == pytest.approx(0.0, abs=1e-9)
        assert sum(piece["count"] for piece in feature["pieces"]) == len(frame)
    flag = next(feature for feature in parts["features"] if feature["name"] == "flag")
    assert flag["pieces"][-1]["label"] == "missing: no training rows"
    assert flag["pieces"][-1]["value"] == 0.0
    assert not flag["pieces"][-1]["drawn"]
    assert flag["missing"] == flag["mean"] != 0.0


def test_hashes_identify_model_and_training_data(mixed):
    frame, y, gam = mixed
    hashes = [
        report_content(ReportData(gam.model_, "t", train=Dataset.read(data, y)))["provenance"]["hashes"]
        for data in (frame, frame.copy(), frame.assign(whole=frame["whole"] + 1))
    ]
    assert hashes[0] == hashes[1]
    assert hashes[0]["model"] == hashes[2]["model"]
    assert hashes[0]["training data"] != hashes[2]["training data"]


def test_annotations_are_checked_and_optional(annotated):
    frame, y, model, _, _ = annotated
    with pytest.raises(ValueError, match="labels names the column 'height'"):
        Annotations(labels={"height": "Height"}).check(model.feature_names)
    with pytest.raises(ValueError, match="must be a label or a pair"):
        Annotations(labels={"number": 3}).check(model.feature_names)
    parts = report_content(ReportData(model, "t", Dataset.read(frame, y)))
    assert parts["scorecard"] is None
    assert parts["about"] == []
    assert parts["performance"]["subgroups"] is None
    assert parts["performance"]["prevalence"]["events"] == (y == "yes").sum()


@pytest.mark.parametrize("n_terms", [0, 1])
def test_write_report_accepts_small_models_and_no_data(mixed, tmp_path, n_terms):
    frame, y, _ = mixed
    path = gam_path(frame, y, max_terms=3)
    bare = write_report(tmp_path / "bare.html", path.at(n_terms=n_terms))
    full = write_report(tmp_path / "full.html", path.at(n_terms=n_terms), frame, y, path=path)
    assert bare.stat().st_size < full.stat().st_size


def test_write_report_rejects_unknown_labels_in_y(mixed, tmp_path):
    frame, y, gam = mixed
    with pytest.raises(ValueError, match="classes of the model"):
        write_report(tmp_path / "r.html", gam.model_, frame, np.where(y == "yes", "Yes", "no"))
    assert list(tmp_path.iterdir()) == []


def test_write_atomically_leaves_no_partial_file(tmp_path):
    file = tmp_path / "there" / "r.html"
    with pytest.raises(FileNotFoundError):
        write_atomically(file, "text")
    file.parent.mkdir()
    assert write_atomically(file, "text").read_text() == "text"
    assert [f.name for f in file.parent.iterdir()] == ["r.html"]


def test_render_page_escapes_closing_script_tags(mixed):
    frame, y, gam = mixed
    parts = report_content(ReportData(gam.model_, "</script><b>", train=Dataset.read(frame, y)))
    text = render_page(parts)
    inside = text.split('type="application/json">')[1].split("</script>")[0]
    assert json.loads(inside)["title"] == "</script><b>"


@pytest.mark.parametrize("kind", ["model", "estimator", "frontier"])
def test_model_and_estimators_have_a_report_method(mixed, tmp_path, kind):
    frame, y, gam = mixed
    file = tmp_path / "r.html"
    if kind == "model":
        gam.model_.report(file, frame, y, title="t")
    elif kind == "estimator":
        gam.report(str(file), frame, y)
    else:
        SparseGAMClassifierCV(max_terms=3, cv=2).fit(frame, y).report(file, frame, y)
    assert "confusion" in file.read_text(encoding="utf-8")


def test_write_report_rejects_other_objects(tmp_path):
    with pytest.raises(ValueError, match="additive or a linear model or a fitted estimator, got int"):
        write_report(tmp_path / "r.html", 3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_report_after_a_fit_does_not_build_the_problem_again(tmp_path, monkeypatch, n_classes):
    frame, y = make_mixed()
    y = np.where(frame["whole"] > 20, "high", y) if n_classes == 3 else y
    gam = SparseGAMClassifier(lambda0=5.0, special_values={"number": [SPECIAL]}).fit(frame, y)
    built = []
    monkeypatch.setattr(_data, "fit_problem", lambda *given: built.append(given) or fit_problem(*given))
    reused = gam.report(tmp_path / "reused.html", frame, y).read_text(encoding="utf-8")
    assert built == []
    other = gam.report(tmp_path / "built.html", frame.copy(), y).read_text(encoding="utf-8")
    assert len(built) == (1 if n_classes == 2 else n_classes)
    assert re.sub(r'"date":"[^"]*"', "", reused) == re.sub(r'"date":"[^"]*"', "", other)


def test_report_after_cross_validation_does_not_search_the_path_again(tmp_path, monkeypatch):
    frame, y = make_mixed()
    gam = SparseGAMClassifierCV(max_terms=3, cv=2, special_values={"number": [SPECIAL]}).fit(frame, y)
    monkeypatch.delattr(_data.Path, "search")
    gam.report(tmp_path / "report.html", frame, y)


def test_report_content_has_alternatives_of_a_model_of_one_class_against_several(mixed):
    frame, y, _ = mixed
    y = np.where(frame["whole"] > 20, 3, np.where(y == "yes", 2, 1))
    gam = SparseGAMClassifier(lambda0=5.0, positive=3, special_values={"number": [SPECIAL]}).fit(frame, y)
    parts = report_content(ReportData(gam.model_, "t", train=Dataset.read(frame, y), fit=Fit(gam.get_params())))
    assert parts["alternatives"]["note"] == ""
    assert len(parts["alternatives"]["terms"]) == gam.n_terms_


def test_write_report_refuses_a_scorecard_of_another_model(tmp_path):
    frame, y = make_mixed(300)
    path = gam_path(frame, y, max_terms=3)
    model, other = path.at(n_terms=3), path.at(n_terms=2)
    for card in (other.scorecard(frame, y), other.scorecard(), best_scorecard([other], frame, y)):
        with pytest.raises(ValueError, match=r"another model \(<Model: .*2 terms.*\) than that of the report"):
            write_report(tmp_path / "report.html", model, scorecard=card)
    assert not list(tmp_path.iterdir())
    same = Model.from_json(model.to_json())
    assert write_report(tmp_path / "report.html", same, scorecard=model.scorecard(frame, y)).exists()
