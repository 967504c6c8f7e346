"""Training distributions: shares of the bins, means for any coefficients, and unseen values."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from _helpers.functions import function_of

from sparsegam import Model, SparseGAMClassifier, SparseGAMClassifierCV, SparseGAMRegressor, gam_path
from sparsegam._data.columns import NUMBER, Scale
from sparsegam._models.terms import Condition, Term
from sparsegam._models.training import NewValues, TrainingDistribution, distribution_of

X = np.array([1.0, 2.0, 3.0, 3.0, 9.0, -9.0, np.nan, 4.0])
WEIGHT = np.array([1.0, 1.0, 2.0, 1.0, 1.0, 1.0, 2.0, 1.0])
LETTERS = Scale("category", ("a", "b", "c", "d", "e"))


def upto(value, coef=1.0):
    return Term("x", Condition("<=", value), coef)


def test_distribution_has_the_shares_of_the_conditions():
    seen = distribution_of([Condition("<=", 3.0), Condition("<=", 2.0)], [-9.0, -8.0], NUMBER, X, WEIGHT)
    assert dict(seen.upto) == pytest.approx({2.0: 0.2, 3.0: 0.3})
    assert dict(seen.single) == pytest.approx({-9.0: 0.1})
    assert (seen.above, seen.missing) == pytest.approx((0.2, 0.2))
    assert seen.lacks([-9.0, -8.0], NUMBER) == [-8.0]


def test_levels_that_one_condition_names_are_one_group():
    numbers = np.array([0.0, 2.0, 1.0, 3.0, 3.0, -1.0])  # the last is not on the scale
    seen = distribution_of([Condition("in", ("c", "a"))], [], LETTERS, numbers, np.ones(6))
    assert dict(seen.single) == pytest.approx({"a": 0.4, "b": 0.6})
    assert seen == TrainingDistribution(single=seen.single)


@pytest.mark.parametrize("coefs", [(1.0, -2.0, 0.5, 3.0), (0.0, 7.0, 0.0, 0.0)])
def test_means_are_those_of_the_rows_whatever_the_coefficients(coefs):
    conditions = [Condition("<=", 2.0), Condition("<=", 4.0), Condition("==", -9.0), Condition("missing")]
    seen = distribution_of(conditions, [-9.0, -8.0], NUMBER, X, WEIGHT)
    terms = [Term("x", condition, coef) for condition, coef in zip(conditions, coefs, strict=True)]
    shape = function_of(terms, [-9.0, -8.0], NUMBER, seen)
    assert shape.mean == pytest.approx(np.average(shape.at(X), weights=WEIGHT))
    fewer = function_of(terms[1:3], [-9.0, -8.0], NUMBER, seen)
    assert fewer.mean == pytest.approx(np.average(fewer.at(X), weights=WEIGHT))


def test_means_of_levels_and_of_ordered_levels():
    numbers = np.array([0.0, 1.0, 1.0, 4.0, 3.0])
    for kind, condition in (("category", Condition("in", ("b", "e"))), ("ordered", Condition("<=", "b"))):
        scale = Scale(kind, LETTERS.levels)
        seen = distribution_of([condition], [], scale, numbers, np.ones(5))
        shape = function_of([Term("x", condition, 2.0)], (), scale, seen)
        assert shape.mean == pytest.approx(1.2)
        assert shape.with_mean_where_new()(np.array(["a", "b", "z", None], dtype=object)) == pytest.approx(
            [0.0 if kind == "category" else 2.0, 2.0, 1.2, 1.2]
        )


def test_new_values_are_reported_in_one_message():
    new = NewValues()
    new.note("tenure", {"a missing value": 3})
    new.note("job", {"a new level": 1})
    new.note("job", {"a new level": 1})
    with pytest.warns(UserWarning, match="which did not occur in training") as caught:
        new.tell("mean")
    (said,) = (str(w.message) for w in caught)
    assert said.startswith("3 rows have a missing value in 'tenure', 1 row has a new level in 'job', which did not")
    assert said.endswith(": scored at the mean contribution of the column (missing='mean').")
    with pytest.raises(
        ValueError, match=r"3 rows have a missing value in 'tenure'.*drop the rows, or set missing='mean'"
    ):
        new.tell("error")
    NewValues().tell("error")


@pytest.fixture(scope="module")
def clean():
    """Return a frame without missing values, its labels and unequal weights."""
    rng = np.random.default_rng(0)
    n = 600
    frame = pd.DataFrame({"tenure": rng.integers(0, 60, n).astype(float), "job": rng.choice(["clerk", "nurse"], n)})
    frame["code"] = np.where(rng.random(n) < 0.1, -9.0, rng.integers(0, 20, n))
    odds = 2.0 * (frame.tenure <= 20) + 1.5 * (frame.job == "nurse") + 1.5 * (frame.code == -9) - (frame.code > 9) - 1.5
    y = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)
    return frame, y.to_numpy(), rng.uniform(0.2, 4.0, n)


OPTIONS = {"special_values": {"code": [-9, -8]}, "lambda0": 1.0}


def later(frame):
    """Return four copies of the first row: with a missing value, a special value, a new level and unchanged."""
    rows = pd.concat([frame.head(1)] * 4, ignore_index=True)
    rows.loc[0, "tenure"] = np.nan
    rows.loc[1, "code"] = -8.0
    rows.loc[2, "job"] = "judge"
    return rows


@pytest.mark.parametrize("weighted", [False, True])
def test_new_values_get_the_mean_contribution_by_default(clean, weighted):
    frame, y, weight = clean
    weight = weight if weighted else None
    gam = SparseGAMClassifier(**OPTIONS).fit(frame, y, sample_weight=weight)
    assert set(gam.model_.features) == {"tenure", "job", "code"}
    raw = gam.model_.contributions(frame, centred=False)
    means = dict(zip(gam.model_.features, np.average(raw, axis=0, weights=weight), strict=True))
    first = dict(zip(gam.model_.features, raw[0], strict=True))
    with pytest.warns(UserWarning, match="1 row has a missing value in 'tenure'") as caught:
        found = gam.decision_function(later(frame))
    assert len(caught) == 1
    assert "1 row has a new level in 'job', 1 row has a special value in 'code'" in str(caught[0].message)
    changes = [means[name] - first[name] for name in ("tenure", "code", "job")] + [0.0]
    np.testing.assert_allclose(found - gam.decision_function(frame.head(1)), changes, atol=1e-12)


def test_values_with_training_rows_cause_no_warning(clean):
    frame, y, _ = clean
    gam = SparseGAMClassifier(**OPTIONS).fit(frame, y)
    gam.predict_proba(frame)  # warnings are errors
    gam.predict_proba(frame.assign(tenure=1000.0))
    rare = SparseGAMClassifier(lambda0=1.0, max_terms=1).fit(
        frame.assign(tenure=frame.tenure.where(frame.index > 3)), y
    )
    # No term is about missing values, but some training rows had them.
    rare.predict(later(frame)[:1])


@pytest.mark.parametrize("kind", [SparseGAMClassifier, SparseGAMRegressor])
def test_missing_error_raises_and_missing_last_scores_new_values(clean, kind):
    frame, y, _ = clean
    strict = kind(missing="error", **OPTIONS).fit(frame, y)
    with pytest.raises(
        ValueError, match=r"1 row has a missing value in 'tenure'.*missing='error': fill these values in"
    ):
        strict.predict(later(frame))
    strict.predict(frame)
    old = kind(missing="last", **OPTIONS).fit(frame, y).model_
    with pytest.warns(
        UserWarning, match=r"^1 row has a new level in 'job', which did not occur in training: these contribute 0"
    ):
        found = old.decision_function(later(frame))
    shapes = old.shape_functions()
    change = np.array([shapes["tenure"].contributions[-1] - shapes["tenure"](frame.tenure[:1])[0]])
    np.testing.assert_allclose(found[:1] - old.decision_function(frame.head(1)), change, atol=1e-12)
    assert shapes["code"].at(np.array([-8.0])) == 0.0


@pytest.mark.parametrize("rule", ["median", None, "MEAN", 0])
def test_invalid_missing_raises(clean, rule):
    frame, y, _ = clean
    with pytest.raises(ValueError, match=r"missing must be one of 'mean', 'error', 'last', got"):
        SparseGAMClassifier(missing=rule).fit(frame, y)
    with pytest.raises(ValueError, match=r"missing must be one of"):
        gam_path(frame, y, missing=rule)


def test_several_classes_warn_once(clean):
    frame, y, _ = clean
    three = np.where(frame.tenure > 45, 2, y)
    for gam in (SparseGAMClassifier(**OPTIONS), SparseGAMClassifierCV(max_terms=4, cv=3)):
        gam.fit(frame, three)
        with pytest.warns(UserWarning, match="1 row has a missing value in 'tenure'") as caught:
            gam.predict_proba(later(frame))
        assert len(caught) == 1
        with pytest.warns(UserWarning, match="1 row has a missing value in 'tenure'") as caught:
            gam.model_.decision_function(later(frame))
        assert len(caught) == 1


def test_folds_that_lack_a_value_cause_no_warning(clean):
    frame, y, _ = clean
    once = frame.assign(job=frame.job.mask(frame.index == 5, "judge"), tenure=frame.tenure.mask(frame.index == 7))
    gam = SparseGAMClassifierCV(max_terms=6, cv=5, missing="error").fit(once, y)  # warnings are errors
    assert gam.model_.missing == "error"


def test_gam_path_passes_missing_to_its_models(clean):
    frame, y, _ = clean
    path = gam_path(frame, y, max_terms=3, missing="error")
    assert {model.missing for model in path} == {"error"}
    assert gam_path(frame, y, max_terms=3).at(n_terms=2).missing == "mean"


def test_models_constructed_by_hand_have_no_training_distribution():
    terms = (upto(3.0),)
    assert Model(0.0, terms, ("x",), "squared").missing == "last"
    with pytest.raises(
        ValueError, match=r"missing='mean' needs the training distribution of column 'x'.*use missing='last'"
    ):
        Model(0.0, terms, ("x",), "squared", missing="mean")


def test_changed_coefficients_change_the_mean(clean):
    frame, y, _ = clean
    model = SparseGAMClassifier(**OPTIONS).fit(frame, y).model_
    doubled = replace(model, terms=tuple(replace(term, coef=2 * term.coef) for term in model.terms))
    with pytest.warns(UserWarning, match="which did not occur in training"):
        once, twice = (m.contributions(later(frame), centred=False) for m in (model, doubled))
    np.testing.assert_allclose(twice, 2 * once)
