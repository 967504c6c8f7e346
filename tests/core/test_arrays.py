"""Unaligned and converted input arrays, which the core copies and keeps alive."""

import gc

import numpy as np
import pytest

from sparsegam import SparseGAMClassifier, SparseLinearClassifier, _core


def unaligned(values):
    """Return a copy of the values whose memory starts at an odd address."""
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
def test_fits_of_unaligned_arrays_equal_those_of_aligned_arrays(model, order):
    rng = np.random.default_rng(0)
    X = np.asarray(rng.normal(size=(300, 4)), order=order)
    y, weight = (X[:, 0] + rng.normal(size=300) > 0).astype(float), rng.random(300)
    expected = model.fit(X, y, sample_weight=weight).decision_function(X)
    given = unaligned(X), unaligned(y)
    found = model.fit(*given, sample_weight=unaligned(weight)).decision_function(given[0])
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("code", [np.uint16, np.int64])
def test_converted_codes_are_kept_alive(code):
    """Codes of other types than uint8 and uint16 are copied, too."""
    rng = np.random.default_rng(1)
    codes, y = rng.integers(0, 5, 4000), np.repeat([-1.0, 1.0], 2000)
    support = np.arange(4)

    def curvature(given):
        design = _core.ThresholdDesign([given], np.array([5]), np.array([5]))
        del given
        gc.collect()
        # If the copy had been released, its memory would now contain these values.
        others = [np.full(4000, 7.0) for _ in range(20)]
        rows = _core.ThresholdRows(design, y, None, loss="logistic", n_threads=1)
        point = _core.Point(0.0, support, np.zeros(4))
        return rows.newton(point, support)[2], others

    found, _ = curvature(unaligned(codes.astype(code)))
    expected, _ = curvature(codes.astype(np.uint8))
    np.testing.assert_array_equal(found, expected)


def test_fit_of_an_unaligned_sparse_matrix_equals_that_of_an_aligned_one():
    from scipy import sparse

    X = sparse.random_array((200, 6), density=0.4, rng=np.random.default_rng(2), format="csc")
    y = np.asarray(X.sum(axis=1) > np.median(X.sum(axis=1)))
    expected = SparseLinearClassifier(lambda0=1.0).fit(X, y)
    parts = (unaligned(X.data), unaligned(X.indices), unaligned(X.indptr))
    found = SparseLinearClassifier(lambda0=1.0).fit(sparse.csc_array(parts, shape=X.shape), y)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
