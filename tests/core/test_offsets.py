"""Linear paths on columns far from zero (years, degrees Kelvin) and constant columns, for every type of matrix."""

import numpy as np
import pytest
import scipy.sparse as sp

from sparsegam import linear_path

MAKE = {
    "float64 C": np.ascontiguousarray,
    "float64 F": np.asfortranarray,
    "float32 C": lambda X: np.ascontiguousarray(X, dtype=np.float32),
    "float32 F": lambda X: np.asfortranarray(X, dtype=np.float32),
    "csc": sp.csc_array,
}


@pytest.mark.parametrize("n", [300, 5000])
@pytest.mark.parametrize("offset", [0.0, 10.0, 20.0, 100.0, 900.0, 1e4, 1e6])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("make", list(MAKE))
def test_linear_path_finds_a_column_far_from_zero(make, loss, offset, n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    score = X[:, 1] + 0.1 * rng.normal(size=n)
    X[:, 1] += offset
    y = score if loss == "squared" else score > 0
    path = linear_path(MAKE[make](X), y, loss=loss, max_terms=1, lambda2=1e-3)
    assert path.models[1].columns == (1,)


@pytest.mark.parametrize("n", [300, 5000])
@pytest.mark.parametrize("value", [1e4, 12345.678, 1e7 + 1])
@pytest.mark.parametrize("make", list(MAKE))
def test_linear_path_never_selects_a_constant_column(make, value, n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    X[:, 2] = value
    path = linear_path(MAKE[make](X), X[:, 0] + rng.normal(size=n), loss="squared", max_terms=3)
    assert all(2 not in model.columns for model in path)
