"""Tables with very many thresholds, whose candidates are shortlisted."""

import numpy as np
import pytest

from sparsegam import SparseGAMRegressor

ROWS, COLUMNS, TERMS = 240, 900, 14
# Size of a local model of all columns above which scans use shortlists (core/include/sparsegam/tuning.hpp).
ROOM = 1 << 21


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS))
    y = (X[:, :TERMS] > 0) @ np.linspace(5.0, 10.0, TERMS) + 0.1 * rng.normal(size=ROWS)
    return X, y


def fitted(X, y, n_jobs):
    return SparseGAMRegressor(lambda0=1.0, lambda2=0.0, min_samples_bin=1, max_terms=TERMS, n_jobs=n_jobs).fit(X, y)


def test_steps_among_very_many_are_found(wide):
    X, y = wide
    gam = fitted(X, y, 1)
    assert (ROWS - 1) * COLUMNS * TERMS > ROOM
    assert {term.feature for term in gam.terms_} == {f"x{j}" for j in range(TERMS)}
    assert gam.objective_ == pytest.approx(0.5 * np.sum((y - gam.predict(X)) ** 2) + TERMS)


def test_fits_are_identical_for_any_number_of_threads(wide):
    X, y = wide
    one, two = fitted(X, y, 1), fitted(X, y, 2)
    assert one.objective_ == two.objective_
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
