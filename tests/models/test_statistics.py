"""Term statistics: stored in JSON, validated when loaded, and dropped when a model is changed by hand."""

import json
from dataclasses import replace

import numpy as np
import pytest

from sparsegam import Model, SparseGAMClassifier, SparseGAMRegressor
from sparsegam._models.bin_tables import bin_rows
from sparsegam._models.statistics import FitStatistics
from sparsegam._models.terms import Condition, Term

TERMS = (
    Term("a", Condition("<=", 1.0), 1.0),
    Term("a", Condition("<=", 2.0), 0.5),
    Term("b", Condition("missing"), -1.0),
)
STATISTICS = FitStatistics(
    100,
    40,
    (20, 60, 5),
    (10, 30, 5),
    0.3,
    {"a": np.array([[0.04, -0.01], [-0.01, 0.09]]), "b": np.array([[0.25]])},
    (1.1, 0.6, -1.5),
)
MODEL = Model(0.5, STATISTICS.attached_to(TERMS), ("a", "b"), "logistic", ("no", "yes"), statistics=STATISTICS)


def changed(**changes):
    content = {key: value for key, value in json.loads(MODEL.to_json()).items() if key != "sha256"}
    return json.dumps({**content, "statistics": {**content["statistics"], **changes}})


def test_terms_have_statistics():
    first, second, third = MODEL.terms
    assert (first.n_rows, first.n_events, first.standard_error) == (20, 10, pytest.approx(0.2))
    assert second.statistics.smaller == 40
    assert (third.statistics.n_others, third.statistics.smaller) == (95, 5)
    assert Model(0.5, TERMS, ("a", "b"), "logistic", ("no", "yes")) == MODEL
    assert TERMS[0].n_rows is None
    assert TERMS[0].standard_error is None
    assert first.interval == (pytest.approx(1.1 - 1.96 * 0.2), pytest.approx(1.1 + 1.96 * 0.2))
    assert TERMS[0].interval is None


def test_json_keeps_statistics():
    back = Model.from_json(MODEL.to_json())
    assert back.to_json() == MODEL.to_json()
    assert [term.statistics for term in back.terms] == [term.statistics for term in MODEL.terms]
    without = {key: value for key, value in json.loads(MODEL.to_json()).items() if key not in ("statistics", "sha256")}
    without = Model.from_json(json.dumps(without))
    assert without.statistics is None
    assert without.terms[0].statistics is None


def test_models_with_other_coefficients_have_no_statistics():
    doubled = MODEL.with_terms(0.0, (replace(term, coef=2 * term.coef) for term in MODEL.terms))
    assert doubled.statistics is None
    assert all(term.statistics is None for term in doubled.terms)
    with pytest.raises(ValueError, match="statistics describe 3 terms, but the model has 2"):
        replace(MODEL, terms=MODEL.terms[:2])


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"n_rows": 0}, "n_rows must be a count above zero, got 0"),
        ({"n_events": 101}, "n_events must be null or a count up to 100, got 101"),
        ({"events": None}, "events must be null if and only if n_events is null"),
        ({"rows": [20, 60]}, "rows must be 3 counts"),
        ({"rows": [20, 60, 101]}, "rows must be 3 counts"),
        ({"events": [21, 30, 5]}, "events must be 3 counts"),
        ({"intercept_error": -1.0}, "intercept_error must be null or a number >= 0"),
        ({"covariance": {"a": [[1.0]]}}, "covariance must be matrices of"),
        ({"covariance": {"a": [[1.0]], "b": [[1.0]]}}, "2 rows of 2 finite numbers"),
        ({"covariance": {"a": [[1.0, 0.5], [0.2, 1.0]], "b": [[1.0]]}}, "symmetric"),
        ({"covariance": {"a": [[1.0, 0.0], [0.0, -1.0]], "b": [[1.0]]}}, "symmetric, no variance below zero"),
        ({"unshrunken": [1.0]}, "unshrunken must be null or 3 finite numbers"),
        ({"unshrunken": [1.0, None, 2.0]}, "unshrunken must be null or 3 finite numbers"),
        ({"more": 1}, "an object with"),
    ],
)
def test_from_json_rejects_invalid_statistics(changes, wrong):
    with pytest.raises(ValueError, match=wrong):
        Model.from_json(changed(**changes))


def test_summary_and_frame_have_rows_events_and_errors():
    frame = MODEL.to_frame()
    assert frame.columns.tolist() == [
        "feature",
        "condition",
        "coef",
        "standard_error",
        "low",
        "high",
        "n_rows",
        "n_others",
        "n_events",
    ]
    assert frame["n_rows"].tolist() == [20, 60, 5]
    lines = MODEL.summary().splitlines()
    assert lines[0].split() == [
        "feature",
        "x",
        "condition",
        "coefficient",
        "std.",
        "error",
        "95",
        "%",
        "interval",
        "rows",
        "events",
    ]
    assert lines[3].split() == ["a", "x", "<=", "1", "+1.0000", "0.2000", "+0.7080", "to", "+1.4920", "20", "10"]
    bare = Model(0.5, TERMS, ("a", "b"), "logistic", ("no", "yes"))
    assert bare.summary().splitlines()[0].split() == ["feature", "x", "condition", "coefficient"]
    assert bare.to_frame()["n_rows"].isna().all()


def test_standard_errors_are_of_the_contribution_minus_its_mean():
    """The mean of what a feature adds is 0.2 w1 + 0.6 w2; up to 1 it adds w1 + w2, up to 2 it adds w2, else nothing."""
    parts = bin_rows(MODEL, "a")
    covariance = STATISTICS.covariance["a"]
    for piece, away in zip(parts, ([0.8, 0.4], [-0.2, 0.4], [-0.2, -0.6]), strict=True):
        assert piece.error == pytest.approx(np.sqrt(np.array(away) @ covariance @ away))
        low, high = piece.interval
        assert (low[0] + high[0]) / 2 == pytest.approx(piece.contribution + 0.1 * sum(away))
        assert high[0] - low[0] == pytest.approx(2 * 1.96 * piece.error)
    missing = bin_rows(MODEL, "b")[-1]
    assert (missing.kind, missing.error) == ("missing", pytest.approx(0.5 * 0.95))


def test_new_values_have_no_standard_error():
    X = np.random.default_rng(0).integers(0, 20, (400, 1)).astype(float)
    model = SparseGAMRegressor(max_terms=2).fit(X, 2.0 * (X[:, 0] <= 9)).model_
    errors = {row.kind: row.error for row in bin_rows(model, "x0", np.array([1.0, 15.0, np.nan]))}
    assert errors["interval"] is not None
    assert errors["missing"] is None


def test_importances_are_mean_deviations_of_contributions():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 20, (400, 3)).astype(float)
    y = 2.0 * (X[:, 0] <= 9) - (X[:, 2] <= 4) + rng.normal(0, 0.1, 400)
    gam = SparseGAMRegressor(max_terms=6).fit(X, y)
    parts = gam.model_.contributions(X)
    expected = np.zeros(3)
    expected[[int(name[1:]) for name in gam.model_.features]] = np.abs(parts - parts.mean(axis=0)).mean(axis=0)
    np.testing.assert_allclose(gam.feature_importances_, expected)
    assert gam.feature_importances_[1] < gam.feature_importances_[2] < gam.feature_importances_[0]
    assert not hasattr(SparseGAMRegressor(), "feature_importances_")
    many = SparseGAMClassifier(max_terms=4).fit(X, np.digitize(X[:, 0], [6, 12]))
    each = [part.feature_importances_ for part in many.estimators_]
    np.testing.assert_allclose(many.feature_importances_, np.mean(each, axis=0))


def test_one_vs_rest_models_have_summaries():
    X = np.random.default_rng(0).integers(0, 20, (200, 2)).astype(float)
    model = SparseGAMClassifier(max_terms=2).fit(X, np.digitize(X[:, 0], [6, 12])).model_
    assert model.summary().count("against the rest") == 3
    frame = model.to_frame()
    assert frame["class"].tolist() == [label for label, part in enumerate(model.models) for _ in part.terms]
    assert frame["n_rows"].tolist() == [term.n_rows for part in model.models for term in part.terms]


def test_interval_of_a_negated_term_is_turned_round():
    term = MODEL.terms[0]
    low, high = term.interval
    assert term.negated().interval == (-high, -low)
