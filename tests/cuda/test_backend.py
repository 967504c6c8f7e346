"""Models fitted on a device equal those fitted on the CPU; data larger than its memory raise MemoryError."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from _helpers.device_rows import device, fit_on_both  # noqa: F401
from _helpers.emulated_device import EmulatedDevice

from sparsegam import (
    SparseGAMClassifier,
    SparseGAMClassifierCV,
    SparseGAMRegressor,
    SparseLinearClassifier,
    SparseLinearClassifierCV,
    SparseLinearRegressor,
    gam_path,
    linear_path,
)
from sparsegam._backends.cuda import backend, inputs

N = 240
N_INTERACTION_ROWS = 300
RNG = np.random.default_rng(1)
X = RNG.normal(size=(200, 12)) + np.array([0.0, 1e4, *[0.0] * 10])
SCORE = X[:, 2] - 2 * X[:, 5] + 0.5 * (X[:, 1] - 1e4)
Y = (SCORE + RNG.normal(size=200) > 0).astype(int)


@pytest.fixture(scope="module")
def mixed_data():
    """A data frame of numbers, a category, missing and special values; labels, weights and a response."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "income": rng.normal(size=N).round(1),
            "visits": rng.integers(0, 6, N),
            "kind": rng.choice(["x", "y", "z"], N),
            "late": rng.random(N) < 0.3,
            "spend": rng.exponential(size=N),
        }
    )
    frame.loc[:30, "income"] = np.nan
    frame.loc[31:50, "visits"] = -9
    score = 1.2 * (frame["income"] <= 0.3) - (frame["visits"] <= 2) + (frame["kind"] == "y") - 0.6 * frame["spend"]
    labels = np.where(rng.random(N) < 1 / (1 + np.exp(-score)), "yes", "no")
    return frame, labels, rng.integers(0, 4, N).astype(float), score.to_numpy() + rng.normal(size=N)


def assert_same(one, other):
    assert [(t.feature, t.condition) for t in one.terms_] == [(t.feature, t.condition) for t in other.terms_]
    np.testing.assert_allclose([t.coef for t in one.terms_], [t.coef for t in other.terms_], rtol=1e-5)
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-7)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"lambda0": 2.0, "special_values": [-9], "max_bins": 20},
        {"loss": "exponential", "lambda0": 3.0, "categorical": ["visits"]},
        {"lambda0": 2.0, "min_events_bin": 10, "features_always": ["late"], "monotone": {"spend": "decreasing"}},
        {"lambda0": 3.0, "shapes": "both", "max_bins": 15},
        {"lambda0": 4.0, "certify": True, "max_bins": 10},
    ],
    ids=["default", "special values", "exponential", "rules", "ramps", "certified"],
)
@pytest.mark.parametrize("weighted", [False, True], ids=["even", "weighted"])
def test_classifier_has_the_same_model_as_on_the_cpu(device, mixed_data, options, weighted):  # noqa: F811
    frame, labels, weight, _ = mixed_data
    mine, theirs = fit_on_both(SparseGAMClassifier, frame, labels, weight if weighted else None, **options)
    assert_same(mine, theirs)
    assert [t.n_rows for t in mine.terms_] == [t.n_rows for t in theirs.terms_]
    assert [t.n_events for t in mine.terms_] == [t.n_events for t in theirs.terms_]
    ends, counts = zip(*(gam.model_.training.bands for gam in (mine, theirs)), strict=True)
    np.testing.assert_allclose(*ends, rtol=1e-5)
    np.testing.assert_array_equal(*counts)
    np.testing.assert_allclose(mine.predict_proba(frame), theirs.predict_proba(frame), atol=1e-6)


def test_regressor_has_the_same_model_as_on_the_cpu(device, mixed_data):  # noqa: F811
    frame, _, weight, response = mixed_data
    assert_same(*fit_on_both(SparseGAMRegressor, frame, 1000 + 50 * response, weight))


def test_gam_path_has_the_same_losses_as_on_the_cpu(device, mixed_data):  # noqa: F811
    frame, labels, *_ = mixed_data
    mine, theirs = (gam_path(frame, labels, device=device, max_terms=2, max_bins=10) for device in ("cuda", "cpu"))
    np.testing.assert_allclose(mine.loss, theirs.loss, rtol=1e-7)


def test_cross_validation_chooses_the_same_size_as_on_the_cpu(device, mixed_data):  # noqa: F811
    frame, labels, *_ = mixed_data
    options = {"max_terms": 2, "cv": 2, "lambda2": 1e-2, "max_bins": 10}
    mine, theirs = fit_on_both(SparseGAMClassifierCV, frame, labels, **options)
    np.testing.assert_allclose(mine.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-6)
    assert (mine.best_n_terms_, mine.best_lambda2_) == (theirs.best_n_terms_, theirs.best_lambda2_)


def test_multiclass_fit_has_the_same_probabilities_as_on_the_cpu(device, mixed_data):  # noqa: F811
    frame, labels, *_ = mixed_data
    classes = np.where(frame["late"], "late", labels)
    mine, theirs = fit_on_both(SparseGAMClassifier, frame, classes, max_terms=3)
    np.testing.assert_allclose(mine.predict_proba(frame), theirs.predict_proba(frame), atol=1e-6)


def test_table_larger_than_device_memory_raises_with_both_sizes(monkeypatch, mixed_data):
    for module in (backend, inputs):
        monkeypatch.setattr(module, "Device", lambda: EmulatedDevice(free=12_000, total=50_000))
    with pytest.raises(
        MemoryError, match=r"240 rows of 5 columns need 0\.0 GB on the device, but only 0\.0 of its 0\.0 GB"
    ):
        SparseGAMClassifier(device="cuda").fit(mixed_data[0], mixed_data[1])


def test_table_whose_codes_but_not_values_fit_is_fitted_column_by_column(monkeypatch, mixed_data):
    for module in (backend, inputs):
        monkeypatch.setattr(module, "Device", lambda: EmulatedDevice(free=20_000, total=50_000))
    frame, labels, *_ = mixed_data
    assert_same(*fit_on_both(SparseGAMClassifier, frame, labels))


def test_unsupported_search_and_unknown_device_raise(device, mixed_data):  # noqa: F811
    with pytest.raises(ValueError, match="runs on device='cpu' only"):
        SparseGAMClassifier(device="cuda", search="swap").fit(mixed_data[0], mixed_data[1])
    with pytest.raises(ValueError, match="device must be one of 'cpu', 'cuda', got 'gpu'"):
        SparseGAMClassifier(device="gpu").fit(mixed_data[0], mixed_data[1])


@pytest.fixture(scope="module")
def interaction_data():
    """A data frame with an interaction of two features; labels, weights and a response."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 40, N_INTERACTION_ROWS).astype(float),
            "priors": rng.integers(0, 6, N_INTERACTION_ROWS),
            "kind": rng.choice(["x", "y", "z"], N_INTERACTION_ROWS),
            "noise": rng.normal(size=N_INTERACTION_ROWS).round(1),
        }
    )
    frame.loc[:25, "age"] = np.nan
    score = 4 * ((frame["age"] <= 27) & (frame["priors"] > 2)) + 3 * ((frame["age"] > 27) & (frame["priors"] <= 2))
    score = score.to_numpy() - 2.0
    labels = np.where(rng.random(N_INTERACTION_ROWS) < 1 / (1 + np.exp(-score)), "yes", "no")
    return frame, labels, rng.uniform(0.5, 2.0, N_INTERACTION_ROWS), score + rng.normal(size=N_INTERACTION_ROWS) / 2


def clauses_of(terms):
    return [[(one.feature, one.condition) for one in term.clauses] for term in terms]


def assert_same_interactions(mine, theirs):
    assert clauses_of(mine.terms_) == clauses_of(theirs.terms_)
    assert any(term.also is not None for term in mine.terms_)
    np.testing.assert_allclose([t.coef for t in mine.terms_], [t.coef for t in theirs.terms_], rtol=1e-5)
    assert mine.objective_ == pytest.approx(theirs.objective_, rel=1e-7)


INTERACTION_OPTIONS = {
    "auto": {"interactions": "auto", "lambda0": 2.0},
    "some": {"interactions": 2, "lambda0": 1.5, "max_terms_per_pair": 1},
    "named": {"interactions": [("age", "priors")], "lambda0": 2.0, "interaction_cost": 0.5},
    "ramps": {"interactions": [("age", "priors")], "lambda0": 2.0, "shapes": {"age": "both"}, "max_bins": 8},
}


@pytest.mark.parametrize("options", INTERACTION_OPTIONS.values(), ids=INTERACTION_OPTIONS.keys())
@pytest.mark.parametrize("weighted", [False, True], ids=["even", "weighted"])
def test_interactions_are_the_same_as_on_the_cpu(device, interaction_data, options, weighted):  # noqa: F811
    frame, labels, weight, _ = interaction_data
    mine, theirs = fit_on_both(SparseGAMClassifier, frame, labels, weight if weighted else None, **options)
    assert_same_interactions(mine, theirs)
    assert [(t.n_rows, t.n_events) for t in mine.terms_] == [(t.n_rows, t.n_events) for t in theirs.terms_]
    np.testing.assert_allclose(mine.predict_proba(frame), theirs.predict_proba(frame), atol=1e-6)
    np.testing.assert_allclose(mine.feature_importances_, theirs.feature_importances_, atol=1e-6)
    for pair, shares in theirs.model_.training_profile().pairs.items():
        np.testing.assert_allclose(mine.model_.training_profile().pairs[pair], shares, rtol=1e-12)
    for pair, shares in theirs.model_.pair_shares.items():
        np.testing.assert_allclose(mine.model_.pair_shares[pair], shares, rtol=1e-12)


def test_interactions_of_a_regression_are_the_same_as_on_the_cpu(device, interaction_data):  # noqa: F811
    frame, _, weight, response = interaction_data
    assert_same_interactions(*fit_on_both(SparseGAMRegressor, frame, 1000 + 50 * response, weight, interactions=2))


def test_gam_path_has_the_same_interactions_as_on_the_cpu(device, interaction_data):  # noqa: F811
    frame, labels, *_ = interaction_data
    given, options = (frame[["age", "priors"]], labels), {"max_terms": 2, "max_bins": 3, "interactions": 1}
    mine, theirs = (gam_path(*given, device=device, **options) for device in ("cuda", "cpu"))
    np.testing.assert_allclose(mine.loss, theirs.loss, rtol=1e-7)
    assert clauses_of(mine.at(n_terms=2).terms) == clauses_of(theirs.at(n_terms=2).terms)


def test_cross_validation_scores_interactions_as_on_the_cpu(device, interaction_data):  # noqa: F811
    frame, labels, *_ = interaction_data
    options = {"max_terms": 1, "cv": 2, "lambda2": 1e-2, "max_bins": 3, "interactions": 1}
    mine, theirs = fit_on_both(SparseGAMClassifierCV, frame[["age", "priors"]], labels, **options)
    np.testing.assert_allclose(mine.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-6)


def test_memory_of_interactions_is_checked(monkeypatch, interaction_data):
    for module in (backend, inputs):
        monkeypatch.setattr(module, "Device", lambda: EmulatedDevice(free=150_000, total=160_000))
    frame, labels, *_ = interaction_data
    SparseGAMClassifier(device="cuda", max_terms=1).fit(frame, labels)
    with pytest.raises(MemoryError, match="300 rows of 4 columns"):
        SparseGAMClassifier(device="cuda", max_terms=1, interactions=1).fit(frame, labels)


def test_linear_models_are_the_same_as_on_the_cpu(device):  # noqa: F811
    mine, theirs = fit_on_both(SparseLinearClassifier, X, Y)
    np.testing.assert_allclose(mine.coef_, theirs.coef_, atol=1e-6)
    mine, theirs = fit_on_both(SparseLinearRegressor, X, SCORE, np.random.default_rng(2).random(200))
    np.testing.assert_array_equal(mine.coef_ != 0, theirs.coef_ != 0)
    mine, theirs = (linear_path(X, Y, device=device, max_terms=2) for device in ("cuda", "cpu"))
    np.testing.assert_allclose(mine.loss, theirs.loss, rtol=1e-7)


def test_cross_validation_of_linear_models_chooses_the_same_size_as_on_the_cpu(device):  # noqa: F811
    options = {"max_terms": 2, "cv": 2, "lambda2": 1e-3}
    mine, theirs = fit_on_both(SparseLinearClassifierCV, X, Y, **options)
    assert mine.best_n_terms_ == theirs.best_n_terms_


def test_sparse_and_too_large_matrices_raise(device, monkeypatch):  # noqa: F811
    with pytest.raises(ValueError, match="supports dense matrices only, got a sparse one"):
        SparseLinearClassifier(device="cuda").fit(scipy.sparse.csr_array(X), Y)
    for module in (backend, inputs):
        monkeypatch.setattr(module, "Device", lambda: EmulatedDevice(free=1000, total=2000))
    with pytest.raises(MemoryError, match="200 rows of 12 columns need"):
        SparseLinearClassifier(device="cuda").fit(X, Y)
