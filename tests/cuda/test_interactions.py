"""Interactions fitted on a device equal those fitted on the CPU."""

import numpy as np
import pandas as pd
import pytest
from _helpers.device_rows import device, fit_on_both  # noqa: F401
from _helpers.emulated_device import EmulatedDevice

from sparsegam import SparseGAMClassifier, SparseGAMClassifierCV, SparseGAMRegressor, gam_path
from sparsegam._backends.cuda import backend

N = 300


@pytest.fixture(scope="module")
def rows():
    """A data frame with an interaction of two features; labels, weights and a response."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 40, N).astype(float),
            "priors": rng.integers(0, 6, N),
            "kind": rng.choice(["x", "y", "z"], N),
            "noise": rng.normal(size=N).round(1),
        }
    )
    frame.loc[:25, "age"] = np.nan
    score = 4 * ((frame["age"] <= 27) & (frame["priors"] > 2)) + 3 * ((frame["age"] > 27) & (frame["priors"] <= 2))
    score = score.to_numpy() - 2.0
    labels = np.where(rng.random(N) < 1 / (1 + np.exp(-score)), "yes", "no")
    return frame, labels, rng.uniform(0.5, 2.0, N), score + rng.normal(size=N) / 2


def clauses_of(terms):
    return [[(one.feature, one.condition) for one in term.clauses] for term in terms]


def assert_same(mine, theirs):
    assert clauses_of(mine.terms_) == clauses_of(theirs.terms_)
    assert any(term.also is not None for term in mine.terms_)
    np.testing.assert_allclose([t.coef for t in mine.terms_], [t.coef for t in theirs.terms_], rtol=1e-5)
    assert mine.objective_ == pytest.approx(theirs.objective_, rel=1e-7)


OPTIONS = {
    "auto": {"interactions": "auto", "lambda0": 2.0},
    "some": {"interactions": 2, "lambda0": 1.5, "max_terms_per_pair": 1},
    "named": {"interactions": [("age", "priors")], "lambda0": 2.0, "interaction_cost": 0.5},
    "ramps": {"interactions": [("age", "priors")], "lambda0": 2.0, "shapes": {"age": "both"}, "max_bins": 8},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
@pytest.mark.parametrize("weighted", [False, True], ids=["even", "weighted"])
def test_interactions_are_the_same_as_on_the_cpu(device, rows, options, weighted):  # noqa: F811
    frame, labels, weight, _ = rows
    mine, theirs = fit_on_both(SparseGAMClassifier, frame, labels, weight if weighted else None, **options)
    assert_same(mine, theirs)
    assert [(t.n_rows, t.n_events) for t in mine.terms_] == [(t.n_rows, t.n_events) for t in theirs.terms_]
    np.testing.assert_allclose(mine.predict_proba(frame), theirs.predict_proba(frame), atol=1e-6)
    np.testing.assert_allclose(mine.feature_importances_, theirs.feature_importances_, atol=1e-6)
    for pair, shares in theirs.model_.training_profile().pairs.items():
        np.testing.assert_allclose(mine.model_.training_profile().pairs[pair], shares, rtol=1e-12)
    for pair, shares in theirs.model_.pair_shares.items():
        np.testing.assert_allclose(mine.model_.pair_shares[pair], shares, rtol=1e-12)


def test_interactions_of_a_regression_are_the_same_as_on_the_cpu(device, rows):  # noqa: F811
    frame, _, weight, response = rows
    assert_same(*fit_on_both(SparseGAMRegressor, frame, 1000 + 50 * response, weight, interactions=2))


def test_gam_path_has_the_same_interactions_as_on_the_cpu(device, rows):  # noqa: F811
    frame, labels, *_ = rows
    given, options = (frame[["age", "priors"]], labels), {"max_terms": 2, "max_bins": 3, "interactions": 1}
    mine, theirs = (gam_path(*given, device=device, **options) for device in ("cuda", "cpu"))
    np.testing.assert_allclose(mine.loss, theirs.loss, rtol=1e-7)
    assert clauses_of(mine.at(n_terms=2).terms) == clauses_of(theirs.at(n_terms=2).terms)


def test_cross_validation_scores_interactions_as_on_the_cpu(device, rows):  # noqa: F811
    frame, labels, *_ = rows
    options = {"max_terms": 1, "cv": 2, "lambda2": 1e-2, "max_bins": 3, "interactions": 1}
    mine, theirs = fit_on_both(SparseGAMClassifierCV, frame[["age", "priors"]], labels, **options)
    np.testing.assert_allclose(mine.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-6)


def test_memory_of_interactions_is_checked(monkeypatch, rows):
    monkeypatch.setattr(backend, "Device", lambda: EmulatedDevice(free=150_000, total=160_000))
    frame, labels, *_ = rows
    SparseGAMClassifier(device="cuda", max_terms=1).fit(frame, labels)
    with pytest.raises(MemoryError, match="300 rows of 4 columns"):
        SparseGAMClassifier(device="cuda", max_terms=1, interactions=1).fit(frame, labels)
