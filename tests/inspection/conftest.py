"""Scores that are the true log-odds of random labels."""

import numpy as np
import pytest


@pytest.fixture(scope="package")
def draw_scores():
    def draw(n, seed):
        rng = np.random.default_rng(seed)
        score = rng.normal(size=n).round(1)
        return score, rng.random(n) < 1 / (1 + np.exp(-score))

    return draw
