"""0/1 columns as bin codes: the core columns equal the matrix columns for any chains."""

import numpy as np
import pytest
import scipy.sparse as sp

from sparsegam import _core
from sparsegam._data.matrix import read_matrix
from sparsegam.compat import codes as coding
from sparsegam.compat.codes import encode_columns, is_large, is_zero_one
from sparsegam.compat.fastsparsegams import fit

x = np.random.default_rng(0).integers(0, 400, 900)
RISING = (x[:, None] <= np.arange(0, 399, 7)).astype(float)
MANY = (x[:, None] <= np.arange(399)).astype(float)
NOISE = (np.random.default_rng(1).random((900, 5)) < 0.3).astype(float)
CASES = {
    "thresholds": RISING,
    "from above": 1 - RISING,
    "falling": RISING[:, ::-1],
    "many": MANY,
    "no chain": NOISE,
    "mixed": np.hstack([NOISE, RISING, RISING[:, ::-1], NOISE[:, :2]]),
    "one column": NOISE[:, :1],
    "equal columns": np.repeat(NOISE[:, :1], 3, axis=1),
    "constants": np.hstack([np.zeros((900, 2)), np.ones((900, 2)), NOISE]),
}


@pytest.mark.parametrize("X", CASES.values(), ids=CASES)
def test_core_columns_equal_matrix_columns(X):
    coded = encode_columns(read_matrix(X))
    rows = _core.ThresholdRows(coded.design(), np.zeros(900), np.ones(900), loss="squared", n_threads=1)
    assert len(set(coded.column)) == X.shape[1]
    assert len(coded.feature) == len(rows.columns)
    for j, column in enumerate(coded.column):
        scores = [rows.evaluate([_core.Point(0.0, np.array([column]), np.array([w]))])[0] for w in (1.0, 2.0)]
        np.testing.assert_allclose(scores, [X[:, j].sum() / 2, 2 * X[:, j].sum()])
    for pair in ((0, X.shape[1] - 1), (X.shape[1] // 2, 0)):
        point = _core.Point(0.0, coded.column[list(pair)], np.array([1.0, 3.0])) if pair[0] != pair[1] else None
        if point is not None:
            assert rows.evaluate([point])[0] == pytest.approx(((X[:, pair] @ [1.0, 3.0]) ** 2).sum() / 2)


def test_nested_columns_become_one_feature():
    assert len(encode_columns(read_matrix(RISING)).codes) == 1
    assert len(encode_columns(read_matrix(1 - RISING)).codes) == 1
    assert encode_columns(read_matrix(MANY)).codes[0].dtype == np.uint16
    assert len(encode_columns(read_matrix(NOISE)).codes) == 5


def test_models_do_not_depend_on_the_order_of_the_columns():
    rng = np.random.default_rng(2)
    y = np.where((x > 120) + (x > 300) + rng.normal(size=900) > 1, 1, 0)
    free = {"lambda_grid": [[20.0, 6.0]], "num_lambda": None, "num_gamma": None}
    order = rng.permutation(RISING.shape[1])
    chain, shuffled = fit(RISING, y, "Logistic", **free), fit(RISING[:, order], y, "Logistic", **free)
    np.testing.assert_allclose(chain.objectives, shuffled.objectives, rtol=1e-6)


def test_is_zero_one_and_is_large(monkeypatch):
    assert is_zero_one(read_matrix(NOISE))
    assert is_zero_one(read_matrix(sp.csc_matrix(NOISE)))
    assert not is_zero_one(read_matrix(2 * NOISE))
    assert not is_large(read_matrix(sp.csc_matrix(NOISE)))
    monkeypatch.setattr(coding, "LARGE", 100)
    assert is_large(read_matrix(sp.csc_matrix(NOISE)))
    assert not is_large(read_matrix(NOISE))


@pytest.mark.parametrize("loss", ["Logistic", "SquaredHinge"])
def test_large_sparse_matrix_is_not_encoded(loss, monkeypatch):
    X, y = sp.csc_matrix(np.hstack([NOISE, RISING[:, 5:9]])), NOISE[:, 0] + NOISE[:, 1] > 0
    free = {"lambda_grid": [[8.0]], "num_lambda": None, "num_gamma": None}
    codes = fit(X, y, loss, **free)
    monkeypatch.setattr(coding, "LARGE", 100)
    np.testing.assert_allclose(fit(X, y, loss, **free).objectives, codes.objectives, rtol=1e-5)
