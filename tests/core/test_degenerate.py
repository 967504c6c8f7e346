"""Searches on degenerate data: separable classes, constant columns, saturated models."""

import numpy as np
import pytest

from sparsegam import SparseGAMClassifier, _core, gam_path, linear_path


@pytest.mark.parametrize("seed", [3, 9, 25])
def test_fits_of_separable_classes_with_bounds_or_lambda1_are_finite(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 4))
    y = (X[:, 0] + 0.3 * rng.normal(size=20) > 0).astype(int)
    gam = SparseGAMClassifier(lambda0=0.1, lambda2=0.0, monotone=[1, -1, 0, 0]).fit(X, y)
    assert np.isfinite(gam.decision_function(X)).all()
    assert np.isfinite(gam_path(X, y, lambda2=0.0, monotone=[1, -1, 0, 0], max_terms=5).loss).all()
    assert np.isfinite(linear_path(X, y, lambda2=0.0, lambda1=1e-6, max_terms=4).loss).all()


@pytest.mark.parametrize("value", [0.0, 1.0])
@pytest.mark.parametrize("options", [{}, {"lambda1": 1e-3, "lambda2": 0.0}, {"coef_bounds": (0.0, np.inf)}])
def test_constant_column_in_every_model_does_not_change_the_loss(value, options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    X[:, 4] = value
    kept = linear_path(X, y, unpenalized=[4], max_terms=3, **options)
    without = linear_path(X[:, :4], y, max_terms=2, **options)
    np.testing.assert_allclose(kept.loss, without.loss, rtol=1e-5)


def test_second_search_on_the_same_rows_returns_the_same_model():
    rng = np.random.default_rng(1)
    X = np.asfortranarray(rng.normal(size=(150, 600)))
    y = X[:, :12].sum(axis=1) + rng.normal(size=150)
    p = X.shape[1]
    columns = {
        "cost": np.ones(p),
        "low": np.full(p, -np.inf),
        "high": np.full(p, np.inf),
        "allowed": np.ones(p, dtype=bool),
    }
    penalty = _core.Penalty(lambda2=0.0, **columns, group=np.arange(p), always=np.empty(0, dtype=np.int64))
    rows = _core.MatrixRows(_core.Matrix(X), y, np.ones(150), loss="squared", n_threads=1)
    first, second = (_core.fit_at(rows, penalty, lambda0=9.0, max_terms=30, certify=False) for _ in range(2))
    assert first.points[0].columns.tolist() == second.points[0].columns.tolist()


@pytest.mark.parametrize("p", [20, 500])
def test_frontier_never_increases_after_the_loss_is_zero(p):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, p))
        y = (X[:, :3].sum(axis=1) > 0).astype(int)
        loss = linear_path(X, y, lambda2=0.0, max_terms=8).loss
        assert (np.diff(loss) <= 1e-6).all(), (seed, loss)
