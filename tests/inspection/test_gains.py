"""Gains, lift and net benefit against their definitions."""

import numpy as np
import pytest

from sparsegam.inspection._gains import gains, net_benefit, treat_all


def test_bands_hold_all_rows_and_events(draw_scores):
    score, upper = draw_scores(1003, 0)
    bands = gains(score, upper)
    assert len(bands) == 10
    assert sum(band.rows for band in bands) == 1003
    assert sum(band.events for band in bands) == upper.sum()
    assert bands[-1].gain == bands[-1].upto == bands[-1].total_lift == 1.0
    top = np.argsort(-score)[: bands[0].rows]
    assert bands[0].rate == pytest.approx(upper[top].mean())
    assert bands[0].lift == bands[0].total_lift == pytest.approx(upper[top].mean() / upper.mean())
    np.testing.assert_allclose([band.upto for band in bands], np.arange(1, 11) / 10, atol=0.05)  # scores have ties


def test_rows_of_one_score_stay_together():
    score = np.repeat([3.0, 2.0, 1.0], [10, 80, 10])
    bands = gains(score, score > 2)
    assert [band.rows for band in bands] == [10, 80, 10]
    assert [band.rate for band in bands] == [1.0, 0.0, 0.0]
    assert len(gains(np.zeros(7), np.arange(7) < 2)) == 1


def test_net_benefit_counts_errors_at_the_odds_of_the_threshold(draw_scores):
    score, upper = draw_scores(500, 1)
    probability = 1 / (1 + np.exp(-score))
    thresholds = np.array([0.0, 0.2, 0.5, 0.9])
    found = net_benefit(probability, upper, thresholds)
    for value, threshold in zip(found, thresholds, strict=True):
        called = probability > threshold
        expected = np.mean(called & upper) - np.mean(called & ~upper) * threshold / (1 - threshold)
        assert value == pytest.approx(expected)
    assert found[0] == pytest.approx(treat_all(upper.mean(), thresholds)[0])
