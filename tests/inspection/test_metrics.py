"""Measures against scikit-learn, the interval of the area against simulation."""

import numpy as np
import pytest
from scipy.stats import ks_2samp
from sklearn import metrics

from sparsegam.inspection._metrics import (
    auc,
    gini,
    ks,
    log_loss,
    r_squared,
    roc_curve,
    weight_of_evidence,
    weighted_auc,
)


def test_auc_and_curve_are_those_of_scikit_learn(draw_scores):
    score, upper = draw_scores(500, 0)
    assert auc(score, upper)[0] == pytest.approx(metrics.roc_auc_score(upper, score))
    false, true, _ = roc_curve(score, upper)
    expected = metrics.roc_curve(upper, score, drop_intermediate=False)
    np.testing.assert_allclose(false, expected[0])
    np.testing.assert_allclose(true, expected[1])


def test_delong_interval_covers_the_truth(draw_scores):
    truth = auc(*draw_scores(200_000, 1))[0]
    inside = 0
    for seed in range(200):
        value, error = auc(*draw_scores(300, seed + 10))
        inside += abs(value - truth) < 1.96 * error
    assert 180 <= inside <= 199


def test_weights_stand_for_repeated_rows(draw_scores):
    score, upper = draw_scores(500, 4)
    weight = np.random.default_rng(5).random(500)
    expected = metrics.roc_auc_score(upper, score, sample_weight=weight)
    assert weighted_auc(score, upper, weight) == pytest.approx(expected)
    assert weighted_auc(score, upper, np.ones(500)) == pytest.approx(auc(score, upper)[0])
    assert np.isnan(weighted_auc(score, np.ones(500, dtype=bool), weight))


def test_losses_are_those_of_scikit_learn(draw_scores):
    score, upper = draw_scores(500, 6)
    assert log_loss(score, upper).mean() == pytest.approx(metrics.log_loss(upper, 1 / (1 + np.exp(-score))))
    assert r_squared(score, score**2) == pytest.approx(metrics.r2_score(score**2, score))


def test_separation_is_that_of_scipy_and_scikit_learn(draw_scores):
    score, upper = draw_scores(700, 7)
    score = score.round(1)  # ties
    assert gini(score, upper) == pytest.approx(2 * metrics.roc_auc_score(upper, score) - 1, abs=1e-12)
    assert ks(score, upper)[0] == pytest.approx(ks_2samp(score[upper], score[~upper]).statistic, abs=1e-12)
    assert 0.01 < ks(score, upper)[1] < 0.1
    assert np.isnan(ks(score, np.zeros(700, dtype=bool))[0])


def test_weight_of_evidence_adds_up_to_the_information_value():
    rows, events = np.array([50.0, 30.0, 20.0, 5.0]), np.array([5.0, 15.0, 10.0, 0.0])
    woe, iv = weight_of_evidence(rows, events)
    assert woe[0] == pytest.approx(np.log((45 / 75) / (5 / 30)))
    assert iv[1] == pytest.approx((15 / 75 - 15 / 30) * np.log((15 / 75) / (15 / 30)))
    assert np.isnan(woe[3])
    assert iv[3] == 0.0
    assert (iv >= 0).all()
