"""Tests of metrics against scikit-learn, SciPy, simulation and their definitions."""

import numpy as np
import pytest
from scipy.stats import ks_2samp
from sklearn import metrics

from sparsegam.inspection._metrics import (
    auc,
    calibration_bins,
    gain_bands,
    ks,
    log_loss,
    net_benefits,
    r_squared,
    roc_curve,
    treat_all_benefits,
    weight_of_evidence,
    weighted_auc,
)


def test_auc_and_roc_curve_equal_scikit_learn(draw_scores):
    score, positive = draw_scores(500, 0)
    assert auc(score, positive)[0] == pytest.approx(metrics.roc_auc_score(positive, score))
    false, true, _ = roc_curve(score, positive)
    expected = metrics.roc_curve(positive, score, drop_intermediate=False)
    np.testing.assert_allclose(false, expected[0])
    np.testing.assert_allclose(true, expected[1])


def test_delong_interval_has_its_nominal_coverage(draw_scores):
    truth = auc(*draw_scores(200_000, 1))[0]
    inside = 0
    for seed in range(200):
        value, error = auc(*draw_scores(300, seed + 10))
        inside += abs(value - truth) < 1.96 * error
    assert 180 <= inside <= 199


def test_weighted_auc_equals_scikit_learn(draw_scores):
    score, positive = draw_scores(500, 4)
    weight = np.random.default_rng(5).random(500)
    expected = metrics.roc_auc_score(positive, score, sample_weight=weight)
    assert weighted_auc(score, positive, weight) == pytest.approx(expected)
    assert weighted_auc(score, positive, np.ones(500)) == pytest.approx(auc(score, positive)[0])
    assert np.isnan(weighted_auc(score, np.ones(500, dtype=bool), weight))


def test_log_loss_and_r_squared_equal_scikit_learn(draw_scores):
    score, positive = draw_scores(500, 6)
    assert log_loss(score, positive).mean() == pytest.approx(metrics.log_loss(positive, 1 / (1 + np.exp(-score))))
    assert r_squared(score, score**2) == pytest.approx(metrics.r2_score(score**2, score))


def test_ks_equals_scipy(draw_scores):
    score, positive = draw_scores(700, 7)
    score = score.round(1)  # ties
    assert ks(score, positive) == pytest.approx(ks_2samp(score[positive], score[~positive]).statistic, abs=1e-12)
    assert np.isnan(ks(score, np.zeros(700, dtype=bool)))


def test_weight_of_evidence_follows_its_definition():
    rows, events = np.array([50.0, 30.0, 20.0, 5.0]), np.array([5.0, 15.0, 10.0, 0.0])
    woe, iv = weight_of_evidence(rows, events)
    assert woe[0] == pytest.approx(np.log((45 / 75) / (5 / 30)))
    assert iv[1] == pytest.approx((15 / 75 - 15 / 30) * np.log((15 / 75) / (15 / 30)))
    assert np.isnan(woe[3])
    assert iv[3] == 0.0
    assert (iv >= 0).all()


def test_gain_bands_contain_all_rows_and_events(draw_scores):
    score, positive = draw_scores(1003, 0)
    bands = gain_bands(score, positive)
    assert len(bands) == 10
    assert sum(band.rows for band in bands) == 1003
    assert sum(band.events for band in bands) == positive.sum()
    assert bands[-1].cumulative_gain == bands[-1].cumulative_share == bands[-1].cumulative_lift == 1.0
    top = np.argsort(-score)[: bands[0].rows]
    assert bands[0].rate == pytest.approx(positive[top].mean())
    assert bands[0].lift == bands[0].cumulative_lift == pytest.approx(positive[top].mean() / positive.mean())
    np.testing.assert_allclose([band.cumulative_share for band in bands], np.arange(1, 11) / 10, atol=0.05)


def test_gain_bands_do_not_divide_rows_with_equal_scores():
    score = np.repeat([3.0, 2.0, 1.0], [10, 80, 10])
    bands = gain_bands(score, score > 2)
    assert [band.rows for band in bands] == [10, 80, 10]
    assert [band.rate for band in bands] == [1.0, 0.0, 0.0]
    assert len(gain_bands(np.zeros(7), np.arange(7) < 2)) == 1


def test_net_benefit_weighs_false_positives_by_the_odds_of_the_threshold(draw_scores):
    score, positive = draw_scores(500, 1)
    probability = 1 / (1 + np.exp(-score))
    thresholds = np.array([0.0, 0.2, 0.5, 0.9])
    found = net_benefits(probability, positive, thresholds)
    for value, threshold in zip(found, thresholds, strict=True):
        called = probability > threshold
        expected = np.mean(called & positive) - np.mean(called & ~positive) * threshold / (1 - threshold)
        assert value == pytest.approx(expected)
    assert found[0] == pytest.approx(treat_all_benefits(positive.mean(), thresholds)[0])


def test_calibration_bins_contain_all_rows(draw_scores):
    score, positive = draw_scores(1000, 3)
    bins = calibration_bins(1 / (1 + np.exp(-score)), positive.astype(float))
    assert sum(b.count for b in bins) == 1000
    assert sum(b.low <= b.predicted <= b.high for b in bins) >= len(bins) - 2
    assert len(calibration_bins(np.full(50, 0.3), np.zeros(50))) == 1
