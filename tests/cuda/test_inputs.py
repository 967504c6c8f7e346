"""Data on a device are read there, and predictions stay there."""

import numpy as np
import pytest
from _helpers.device_rows import device, why_no_device  # noqa: F401

from sparsegam import SparseGAMClassifier, SparseGAMRegressor, SparseLinearRegressor
from sparsegam._backends.cuda.inputs import read_device_table
from sparsegam._data.columns import Column
from sparsegam._data.table import is_on_device

RNG = np.random.default_rng(0)
X = np.column_stack([RNG.normal(size=(300, 3)), RNG.integers(0, 5, 300)])
Y = (X[:, 0] + (X[:, 3] <= 2) + RNG.normal(size=300) > 0.5).astype(int)


class DeviceArray:
    """A NumPy array that claims to be in device memory."""

    def __init__(self, array):
        self.array = array
        self.shape, self.ndim = array.shape, array.ndim

    __cuda_array_interface__ = property(lambda self: self.array.__array_interface__)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.array, dtype=dtype)


def uploader(kind):
    """Return a function that copies arrays to the device, as a library does."""
    if kind == "interface":
        return DeviceArray
    if why_no_device():
        pytest.skip(why_no_device())
    module = pytest.importorskip(kind)
    if kind == "torch":
        return lambda array: module.as_tensor(array, device="cuda")
    if kind == "jax":
        module.config.update("jax_enable_x64", True)
        return lambda array: module.device_put(array, module.devices("gpu")[0])
    return module.asarray


@pytest.fixture(params=["interface", "cupy", "torch", "jax"])
def put(request, device):  # noqa: F811
    if (request.param == "interface") != (device.name == "emulated"):
        pytest.skip("the emulated device accepts only DeviceArray")
    return uploader(request.param)


def to_numpy(array):
    return array.get() if hasattr(array, "get") else np.asarray(array)


def test_is_on_device_recognises_device_arrays(put):
    assert is_on_device(put(X))
    assert not is_on_device(X)
    assert not is_on_device([[1.0]])


@pytest.mark.parametrize("rows", [100, 1000])
def test_column_starts_are_read_into_host_memory(put, rows):
    table = read_device_table(put(X))
    for some, seen in ((table, min(rows, 300)), (table.take(np.arange(200)), 200)):
        looks = [start for _, start in some.first_rows(rows, range(4))]
        assert {type(start) for start in looks} == {Column}
        np.testing.assert_array_equal([start.values for start in looks], X[:seen].T)


def test_device_arrays_are_fitted_and_predicted_as_host_arrays(put):
    there = SparseGAMClassifier(device="cuda", lambda0=2.0).fit(put(X), put(Y), put(np.ones(300)))
    expected = SparseGAMClassifier(lambda0=2.0).fit(X, Y)
    assert [(t.feature, t.condition) for t in there.terms_] == [(t.feature, t.condition) for t in expected.terms_]
    assert there.n_features_in_ == 4
    assert not hasattr(there, "feature_names_in_")
    np.testing.assert_allclose(to_numpy(there.predict_proba(put(X))), expected.predict_proba(X), atol=1e-6)
    np.testing.assert_array_equal(to_numpy(there.predict(put(X))), expected.predict(X))
    np.testing.assert_allclose(to_numpy(there.decision_function(put(X))), there.decision_function(X), rtol=1e-12)


def test_device_scores_of_ramps_special_and_missing_values_match_the_host(put):
    table = X.copy()
    table[:20, 0], table[20:50, 3] = np.nan, -9
    gam = SparseGAMRegressor(shapes="both", special_values=[-9], max_bins=30).fit(table, X[:, 0] + X[:, 1])
    np.testing.assert_allclose(to_numpy(gam.predict(put(table))), gam.predict(table), rtol=1e-12, atol=1e-12)


def test_device_scores_of_interactions_match_the_host(put):
    table = X.copy()
    table[:20, 0], table[20:50, 3] = np.nan, -9
    both = (X[:, 1] <= 0.2) & (X[:, 3] > 1)
    gam = SparseGAMRegressor(interactions=3, special_values=[-9], max_bins=30).fit(table, 3 * both + X[:, 0] / 9)
    assert any(term.also is not None for term in gam.terms_)
    np.testing.assert_allclose(to_numpy(gam.predict(put(table))), gam.predict(table), rtol=1e-12, atol=1e-12)


def test_device_scores_warn_about_values_without_training_rows(put):
    gam = SparseGAMClassifier(lambda0=2.0).fit(X, Y)
    table = X.copy()
    table[:7] = np.nan
    with pytest.warns(UserWarning, match="7 rows have a missing value in 'x0'"):
        there = gam.decision_function(put(table))
    with pytest.warns(UserWarning, match="7 rows have a missing value in 'x0'"):
        np.testing.assert_allclose(to_numpy(there), gam.decision_function(table), rtol=1e-12)


def test_device_scores_of_linear_models_match_the_host(put):
    model = SparseLinearRegressor(device="cuda", lambda0=0.1).fit(put(X), put(X[:, 0] - 2 * X[:, 3]))
    np.testing.assert_allclose(to_numpy(model.predict(put(X))), model.predict(X), rtol=1e-12)


def test_invalid_device_data_raise(put):
    with pytest.raises(ValueError, match="use device='cuda'"):
        SparseGAMClassifier().fit(put(X), Y)
    with pytest.raises(ValueError, match="column 'x1' contains infinity"):
        SparseGAMClassifier(device="cuda").fit(put(np.where(X[5, 1] == X, np.inf, X)), Y)
    with pytest.raises(ValueError, match="must be a matrix"):
        SparseGAMClassifier(device="cuda").fit(put(X[:, 0].copy()), Y)
    gam = SparseGAMClassifier(lambda0=2.0).fit(X, Y)
    with pytest.raises(ValueError, match="X has 3 columns, but the model was fitted with 4"):
        gam.predict(put(X[:, :3].copy()))
