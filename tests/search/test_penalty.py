"""Penalty per term: criteria, selection penalty and fixed point."""

import numpy as np
import pytest

from sparsegam import SparseGAMClassifier, SparseGAMRegressor, _core
from sparsegam._search.penalty import SelectionPenalty, fixed_point, unit_penalty


def test_criteria():
    n = 1000.0
    assert unit_penalty("aic", n, 1.0, SelectionPenalty())(7) == 1.0
    assert unit_penalty("bic", n, 1.0, SelectionPenalty())(7) == pytest.approx(np.log(n) / 2)
    assert unit_penalty(2.5, n, 1.0, SelectionPenalty())(7) == 2.5


def test_auto_penalizes_terms_chosen_from_many_candidates():
    n = 1000.0
    few, many = (unit_penalty("auto", n, 1.0, SelectionPenalty(p, 0.5)) for p in (10, 10_000))
    assert few(10) == pytest.approx(0.4 * np.log(n) / 2)
    assert many(10) == pytest.approx(0.5 * np.log(1000.0))
    assert many(100) < many(10) < many(1) == many(0)


@pytest.mark.parametrize(("n", "share"), [(100.0, 0.4), (1e4, 0.4), (1e5, 0.9), (1e6, 1.0), (1e12, 1.0)])
def test_share_of_bic_grows_with_the_number_of_rows(n, share):
    assert unit_penalty("auto", n, 1.0, SelectionPenalty())(5) == pytest.approx(share * np.log(n) / 2)
    # Weights that sum to one give the same penalty as n rows of weight one.
    as_shares = unit_penalty("auto", 1.0, 1.0 / n, SelectionPenalty())(5)
    assert as_shares == pytest.approx(share * np.log(n) / 2)


def test_fixed_point_is_the_penalty_of_the_model_it_finds():
    sizes = {2.0: 4, 1.0: 8}
    found = fixed_point(lambda k: 2.0 if k < 4 else 1.0, 100.0, None, lambda at: (0.0, sizes[at]))
    assert found == 1.0


def test_search_stats_count_all_searches_of_the_fixed_point(monkeypatch):
    searches, fit_at = [], _core.fit_at

    def noted(*args, **kwargs):
        searches.append(fit_at(*args, **kwargs))
        return searches[-1]

    monkeypatch.setattr(_core, "fit_at", noted)
    rng = np.random.default_rng(0)
    X = rng.integers(0, 10, (800, 3)).astype(float)
    gam = SparseGAMClassifier(lambda0="auto").fit(X, X[:, 0] + rng.normal(0, 3, 800) > 5)
    assert len(searches) > 1
    assert gam.search_stats_ == {name: sum(search.counts[name] for search in searches) for name in searches[0].counts}


def test_ridge_of_a_regression_is_scaled_by_the_noise_variance():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 10, (800, 3)).astype(float)
    y = 2.0 * (X[:, 0] <= 4)
    clear, noisy = (SparseGAMRegressor().fit(X, y + rng.normal(0, s, 800)) for s in (0.1, 3.0))
    assert clear.lambda2_ == pytest.approx(10 * 0.01 / 1.01, rel=0.2)
    assert noisy.lambda2_ == pytest.approx(10 * 9 / 10, rel=0.2)
    assert not clear.standardize_
    assert clear.n_terms_ == 1
    assert SparseGAMRegressor().fit(X, np.ones(800)).lambda2_ == 10.0


@pytest.mark.parametrize("binary", [True, False])
def test_default_models_exclude_columns_of_noise(binary):
    """Two true steps among forty continuous columns: thousands of thresholds to choose from."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 40))
    score = 1.5 * (X[:, 0] > 0.3) + (X[:, 1] <= 0) - 1
    y = rng.random(4000) < 1 / (1 + np.exp(-score)) if binary else score + rng.normal(size=4000)
    gam = (SparseGAMClassifier() if binary else SparseGAMRegressor()).fit(X, y)
    assert {"x0", "x1"} <= {term.feature for term in gam.terms_}
    assert gam.n_terms_ <= 20
