"""Additive models fitted on a device equal those fitted on the CPU; tables that do not fit raise with their size."""

import numpy as np
import pandas as pd
import pytest
from _helpers.device_rows import device, fit_on_both  # noqa: F401
from _helpers.emulated_device import EmulatedDevice

from sparsegam import SparseGAMClassifier, SparseGAMClassifierCV, SparseGAMRegressor, gam_path
from sparsegam._backends.cuda import backend

N = 240


@pytest.fixture(scope="module")
def rows():
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
def test_classifier_has_the_same_model_as_on_the_cpu(device, rows, options, weighted):  # noqa: F811
    frame, labels, weight, _ = rows
    mine, theirs = fit_on_both(SparseGAMClassifier, frame, labels, weight if weighted else None, **options)
    assert_same(mine, theirs)
    assert [t.n_rows for t in mine.terms_] == [t.n_rows for t in theirs.terms_]
    assert [t.n_events for t in mine.terms_] == [t.n_events for t in theirs.terms_]
    ends, counts = zip(*(gam.model_.training.bands() for gam in (mine, theirs)), strict=True)
    np.testing.assert_allclose(*ends, rtol=1e-5)
    np.testing.assert_array_equal(*counts)
    np.testing.assert_allclose(mine.predict_proba(frame), theirs.predict_proba(frame), atol=1e-6)


def test_regressor_has_the_same_model_as_on_the_cpu(device, rows):  # noqa: F811
    frame, _, weight, response = rows
    assert_same(*fit_on_both(SparseGAMRegressor, frame, 1000 + 50 * response, weight))


def test_gam_path_has_the_same_losses_as_on_the_cpu(device, rows):  # noqa: F811
    frame, labels, *_ = rows
    mine, theirs = (gam_path(frame, labels, device=device, max_terms=2, max_bins=10) for device in ("cuda", "cpu"))
    np.testing.assert_allclose(mine.loss, theirs.loss, rtol=1e-7)


def test_cross_validation_chooses_the_same_size_as_on_the_cpu(device, rows):  # noqa: F811
    frame, labels, *_ = rows
    options = {"max_terms": 2, "cv": 2, "lambda2": 1e-2, "max_bins": 10}
    mine, theirs = fit_on_both(SparseGAMClassifierCV, frame, labels, **options)
    np.testing.assert_allclose(mine.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-6)
    assert (mine.best_n_terms_, mine.best_lambda2_) == (theirs.best_n_terms_, theirs.best_lambda2_)


def test_multiclass_fit_has_the_same_probabilities_as_on_the_cpu(device, rows):  # noqa: F811
    frame, labels, *_ = rows
    classes = np.where(frame["late"], "late", labels)
    mine, theirs = fit_on_both(SparseGAMClassifier, frame, classes, max_terms=3)
    np.testing.assert_allclose(mine.predict_proba(frame), theirs.predict_proba(frame), atol=1e-6)


def test_table_larger_than_device_memory_raises_with_both_sizes(monkeypatch, rows):
    monkeypatch.setattr(backend, "Device", lambda: EmulatedDevice(free=12_000, total=50_000))
    with pytest.raises(MemoryError, match=r"240 rows of 5 columns need 0\.0 GB on the device, which has 0\.0 GB"):
        SparseGAMClassifier(device="cuda").fit(rows[0], rows[1])


def test_table_whose_codes_but_not_values_fit_is_fitted_column_by_column(monkeypatch, rows):
    monkeypatch.setattr(backend, "Device", lambda: EmulatedDevice(free=20_000, total=50_000))
    frame, labels, *_ = rows
    assert_same(*fit_on_both(SparseGAMClassifier, frame, labels))


def test_unsupported_search_and_unknown_device_raise(device, rows):  # noqa: F811
    with pytest.raises(ValueError, match="runs on device='cpu' only"):
        SparseGAMClassifier(device="cuda", search="swap").fit(rows[0], rows[1])
    with pytest.raises(ValueError, match="device must be one of 'cpu', 'cuda', got 'gpu'"):
        SparseGAMClassifier(device="gpu").fit(rows[0], rows[1])
