"""Arrays on their way into the core: what begins between two numbers, as views into bytes may, is copied and kept."""

import gc

import numpy as np
import pytest

from sparsegam import SparseGAMClassifier, SparseLinearClassifier, _core


def between_numbers(values):
    """The same numbers, one byte off."""
    values = np.asarray(values)
    order = "F" if values.flags.f_contiguous else "C"
    out = np.ndarray(values.shape, values.dtype, bytearray(values.nbytes + 1), offset=1, order=order)
    out[...] = values
    assert not out.flags.aligned
    return out


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    "model",
    [
        SparseGAMClassifier(lambda0=2.0),
        SparseGAMClassifier(lambda0=2.0, shapes="both", max_bins=9),
        SparseLinearClassifier(lambda0=2.0),
    ],
    ids=["steps", "ramps", "linear"],
)
def test_models_are_the_same(model, order):
    rng = np.random.default_rng(0)
    X = np.asarray(rng.normal(size=(300, 4)), order=order)
    y, weight = (X[:, 0] + rng.normal(size=300) > 0).astype(float), rng.random(300)
    expected = model.fit(X, y, sample_weight=weight).decision_function(X)
    given = between_numbers(X), between_numbers(y)
    found = model.fit(*given, sample_weight=between_numbers(weight)).decision_function(given[0])
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("code", [np.uint16, np.int64])
def test_codes_that_are_copied_on_the_way_are_kept(code):
    """Other types than those of the core are copied, too."""
    rng = np.random.default_rng(1)
    codes, y = rng.integers(0, 5, 4000), np.repeat([-1.0, 1.0], 2000)
    support = np.arange(4)

    def curvature(given):
        design = _core.ThresholdDesign([given], np.array([5]), np.array([5]))
        del given
        gc.collect()
        others = [np.full(4000, 7.0) for _ in range(20)]  # which memory that was let go of would hold now
        rows = _core.ThresholdRows(design, y, None, loss="logistic", n_threads=1)
        point = _core.Point(0.0, support, np.zeros(4))
        return rows.newton(point, support)[2], others

    found, _ = curvature(between_numbers(codes.astype(code)))
    expected, _ = curvature(codes.astype(np.uint8))
    np.testing.assert_array_equal(found, expected)


def test_sparse_matrices_are_the_same():
    from scipy import sparse

    X = sparse.random_array((200, 6), density=0.4, rng=np.random.default_rng(2), format="csc")
    y = np.asarray(X.sum(axis=1) > np.median(X.sum(axis=1)))
    expected = SparseLinearClassifier(lambda0=1.0).fit(X, y)
    parts = (between_numbers(X.data), between_numbers(X.indices), between_numbers(X.indptr))
    found = SparseLinearClassifier(lambda0=1.0).fit(sparse.csc_array(parts, shape=X.shape), y)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
