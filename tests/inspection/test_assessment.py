"""Metrics against scikit-learn, intervals against simulation."""

import numpy as np
import pytest
from sklearn import metrics

from sparsegam import Model
from sparsegam.inspection._assessment import assess, calibration, worth

CLASSIFIER = Model(0.0, (), ("x",), "logistic", classes=("bad", "good"))


def test_metrics_of_classes(draw_scores):
    score, upper = draw_scores(400, 2)
    found = {m.name: m for m in assess(CLASSIFIER, score, np.where(upper, "good", "bad"))}
    probability = CLASSIFIER.probabilities(score)[:, 1]
    assert found["Log loss"].value == pytest.approx(metrics.log_loss(upper, probability))
    assert found["Brier score"].value == pytest.approx(metrics.brier_score_loss(upper, probability))
    assert worth(CLASSIFIER, score, np.where(upper, "good", "bad")) == found["AUC"].value
    assert found["Accuracy"].value == pytest.approx(np.mean((score > 0) == upper))
    assert all(m.low < m.value < m.high for m in found.values())


@pytest.mark.parametrize("n", [300, 30_000])
def test_metrics_of_regressions(n):
    rng = np.random.default_rng(0)
    y = rng.normal(size=n)
    score = y + rng.normal(size=n) / 2
    found = {m.name: m for m in assess(Model(0.0, (), ("x",), "squared"), score, y)}
    assert found["R²"].value == pytest.approx(metrics.r2_score(y, score))
    assert worth(Model(0.0, (), ("x",), "squared"), score, y) == pytest.approx(found["R²"].value)
    assert found["RMSE"].value == pytest.approx(metrics.root_mean_squared_error(y, score))
    assert all(m.low < m.value < m.high for m in found.values())


def test_calibration_bins_hold_all_rows(draw_scores):
    score, upper = draw_scores(1000, 3)
    bins = calibration(CLASSIFIER.probabilities(score)[:, 1], upper.astype(float))
    assert sum(b.count for b in bins) == 1000
    assert sum(b.low <= b.predicted <= b.high for b in bins) >= len(bins) - 2
    assert len(calibration(np.full(50, 0.3), np.zeros(50))) == 1
