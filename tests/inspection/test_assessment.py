"""Tests of performance metrics, gains and subgroups of models."""

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

from sparsegam import Model, SparseGAMClassifier, SparseGAMRegressor
from sparsegam._data.table import read_table
from sparsegam.inspection import assess, calibration, gains, net_benefit, subgroups
from sparsegam.inspection._assessment import assess_scores, main_metric, subgroup_performance

CLASSIFIER = Model(0.0, (), ("x",), "logistic", classes=("bad", "good"))


def test_classification_metrics_equal_scikit_learn(draw_scores):
    score, positive = draw_scores(400, 2)
    found = {m.name: m for m in assess_scores(CLASSIFIER, score, np.where(positive, "good", "bad"))}
    probability = CLASSIFIER.probabilities(score)[:, 1]
    assert found["Log loss"].value == pytest.approx(metrics.log_loss(positive, probability))
    assert found["Brier score"].value == pytest.approx(metrics.brier_score_loss(positive, probability))
    assert main_metric(CLASSIFIER, score, np.where(positive, "good", "bad")) == found["AUC"].value
    assert found["Accuracy"].value == pytest.approx(np.mean((score > 0) == positive))
    assert all(m.low < m.value < m.high for m in found.values() if m.name != "KS")
    assert np.isnan([found["KS"].low, found["KS"].high]).all()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_intervals_of_separated_classes_do_not_end_where_they_start(sign):
    """The AUC and the accuracy are 1 or 0 in all resamples of such rows; Wilson's interval of 20 of 20 is wider."""
    score = sign * np.repeat([-1.0, 1.0], 20)
    label = np.repeat(["bad", "good"], 20)
    found = {m.name: m for m in assess_scores(CLASSIFIER, score, label)}
    for name in ("AUC", "Gini", "Accuracy"):
        metric = found[name]
        assert metric.high - metric.low > 0.05
        assert metric.low <= metric.value <= metric.high
    table = read_table(score[:, None])
    part = subgroup_performance(CLASSIFIER, table, label, score, {"all": np.zeros(40)})
    assert part.lines[0].high - part.lines[0].low > 0.05


@pytest.mark.parametrize("n", [300, 30_000])
def test_regression_metrics_equal_scikit_learn(n):
    rng = np.random.default_rng(0)
    y = rng.normal(size=n)
    score = y + rng.normal(size=n) / 2
    found = {m.name: m for m in assess_scores(Model(0.0, (), ("x",), "squared"), score, y)}
    assert found["R²"].value == pytest.approx(metrics.r2_score(y, score))
    assert main_metric(Model(0.0, (), ("x",), "squared"), score, y) == pytest.approx(found["R²"].value)
    assert found["RMSE"].value == pytest.approx(metrics.root_mean_squared_error(y, score))
    assert all(m.low < m.value < m.high for m in found.values())


def test_functions_accept_estimators_and_models(data):
    frame, y = data
    gam = SparseGAMClassifier(max_terms=4).fit(frame, y)
    probability, positive = gam.predict_proba(frame)[:, 1], y == "yes"
    assert assess(gam, frame, y) == assess(gam.model_, frame, y)
    assert assess(gam, frame, y)[0].value == pytest.approx(metrics.roc_auc_score(positive, probability))
    bins = calibration(gam, frame, y, n_bins=4)
    assert sum(one.count * one.observed for one in bins) == pytest.approx(positive.sum())
    assert sum(band.events for band in gains(gam, frame, y, n_bands=5)) == positive.sum()
    assert net_benefit(gam, frame, y, [0.0])[0] == pytest.approx(positive.mean())
    with pytest.raises(ValueError, match=r"thresholds must be probabilities in \[0, 1\), got values from 0.5 to 1"):
        net_benefit(gam, frame, y, [0.5, 1.0])
    with pytest.raises(TypeError, match="model must be a Model, a LinearModel or a fitted estimator"):
        assess(frame, frame, y)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=600), "b": rng.integers(0, 9, 600), "sex": rng.choice(["f", "m"], 600)})
    frame.loc[::50, "a"] = np.nan
    y = np.where(frame["a"].fillna(0) + 0.2 * frame["b"] + rng.normal(size=600) > 1, "yes", "no")
    return frame, y


def test_subgroups_equal_metrics_of_their_rows(data):
    frame, y = data
    model = SparseGAMClassifier(max_terms=4).fit(frame, y).model_
    found = subgroups(model, frame, y, ["sex", "a"], threshold=0.4)
    assert [(line.name, line.level) for line in found.lines[:2]] == [("sex", "f"), ("sex", "m")]
    mine = (frame["sex"] == "m").to_numpy()
    risk, positive = model.predict_proba(frame)[mine, 1], y[mine] == "yes"
    line = found.lines[1]
    assert line.rows == mine.sum()
    assert line.observed == positive.mean()
    assert line.predicted == pytest.approx(risk.mean())
    assert line.performance == pytest.approx(metrics.roc_auc_score(positive, risk))
    assert line.low < line.performance < line.high
    assert line.sensitivity == pytest.approx(metrics.recall_score(positive, risk > 0.4))
    assert line.specificity == pytest.approx(metrics.recall_score(~positive, risk <= 0.4))
    ranges = [line for line in found.lines if line.name == "a"]
    assert [line.level for line in ranges][-1] == "missing"
    assert len(ranges) == 5
    assert sum(line.rows for line in ranges) == len(frame)
    assert len(found.to_frame()) == len(found.lines)
    assert "specificity" in str(found)


def test_subgroups_accept_arrays_that_are_not_columns(data):
    frame, y = data
    target = (y == "yes") + frame["b"].to_numpy()
    model = SparseGAMRegressor(max_terms=4).fit(frame, target).model_
    side = np.where(np.arange(600) < 200, "first", "second")
    found = subgroups(model, frame, target, {"side": side})
    assert [line.rows for line in found.lines] == [200, 400]
    expected = metrics.r2_score(target[:200], model.predict(frame.iloc[:200]))
    assert found.lines[0].performance == pytest.approx(expected)
    assert "selection rate" not in str(found)


def test_subgroups_of_one_class_have_no_auc_and_invalid_groups_are_rejected(data):
    frame, y = data
    model = SparseGAMClassifier(max_terms=2).fit(frame, y).model_
    found = subgroups(model, frame, y, {"label": y})
    assert np.isnan(found.lines[0].performance)
    assert " - " in str(found)
    with pytest.raises(ValueError, match="list of columns"):
        subgroups(model, frame, y, "sex")
    with pytest.raises(ValueError, match="X has 600 rows"):
        subgroups(model, frame, y, {"side": [1, 2]})
    with pytest.raises(ValueError, match="names the column 'age'"):
        subgroups(model, frame, y, ["age"])
