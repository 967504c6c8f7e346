"""Data that is on a device already is read where it is, and predictions stay there."""

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


class Lent:
    """A NumPy array that says it is on a device."""

    def __init__(self, array):
        self.array = array
        self.shape, self.ndim = array.shape, array.ndim

    __cuda_array_interface__ = property(lambda self: self.array.__array_interface__)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.array, dtype=dtype)


def made(kind):
    """Return what puts arrays onto the device, as a library would."""
    if kind == "lent":
        return Lent
    if why_no_device():
        pytest.skip(why_no_device())
    module = pytest.importorskip(kind)
    if kind == "torch":
        return lambda array: module.as_tensor(array, device="cuda")
    if kind == "jax":
        module.config.update("jax_enable_x64", True)
        return lambda array: module.device_put(array, module.devices("gpu")[0])
    return module.asarray


@pytest.fixture(params=["lent", "cupy", "torch", "jax"])
def put(request, device):  # noqa: F811
    if (request.param == "lent") != (device.name == "emulated"):
        pytest.skip("arrays of a device go with a device")
    return made(request.param)


def here(array):
    return array.get() if hasattr(array, "get") else np.asarray(array)


def test_arrays_on_a_card_are_known(put):
    assert is_on_device(put(X))
    assert not is_on_device(X)
    assert not is_on_device([[1.0]])


@pytest.mark.parametrize("rows", [100, 1000])
def test_a_look_at_the_first_rows_is_taken_on_this_machine(put, rows):
    table = read_device_table(put(X))
    for some, seen in ((table, min(rows, 300)), (table.take(np.arange(200)), 200)):
        looks = [start for _, start in some.first_rows(rows, range(4))]
        assert {type(start) for start in looks} == {Column}
        np.testing.assert_array_equal([start.values for start in looks], X[:seen].T)


def test_arrays_on_a_card_are_fitted_and_predicted_there(put):
    there = SparseGAMClassifier(device="cuda", lambda0=2.0).fit(put(X), put(Y), put(np.ones(300)))
    expected = SparseGAMClassifier(lambda0=2.0).fit(X, Y)
    assert [(t.feature, t.condition) for t in there.terms_] == [(t.feature, t.condition) for t in expected.terms_]
    assert there.n_features_in_ == 4
    assert not hasattr(there, "feature_names_in_")
    np.testing.assert_allclose(here(there.predict_proba(put(X))), expected.predict_proba(X), atol=1e-6)
    np.testing.assert_array_equal(here(there.predict(put(X))), expected.predict(X))
    np.testing.assert_allclose(here(there.decision_function(put(X))), there.decision_function(X), rtol=1e-12)


def test_ramps_special_values_and_missing_ones_are_scored_alike(put):
    table = X.copy()
    table[:20, 0], table[20:50, 3] = np.nan, -9
    gam = SparseGAMRegressor(shapes="both", special_values=[-9], max_bins=30).fit(table, X[:, 0] + X[:, 1])
    np.testing.assert_allclose(here(gam.predict(put(table))), gam.predict(table), rtol=1e-12, atol=1e-12)


def test_products_are_scored_alike(put):
    table = X.copy()
    table[:20, 0], table[20:50, 3] = np.nan, -9
    both = (X[:, 1] <= 0.2) & (X[:, 3] > 1)
    gam = SparseGAMRegressor(interactions=3, special_values=[-9], max_bins=30).fit(table, 3 * both + X[:, 0] / 9)
    assert any(term.also is not None for term in gam.terms_)
    np.testing.assert_allclose(here(gam.predict(put(table))), gam.predict(table), rtol=1e-12, atol=1e-12)


def test_values_that_only_come_later_are_told_of(put):
    gam = SparseGAMClassifier(lambda0=2.0).fit(X, Y)
    table = X.copy()
    table[:7] = np.nan
    with pytest.warns(UserWarning, match="7 rows have a missing value in 'x0'"):
        there = gam.decision_function(put(table))
    with pytest.warns(UserWarning, match="7 rows have a missing value in 'x0'"):
        np.testing.assert_allclose(here(there), gam.decision_function(table), rtol=1e-12)


def test_linear_models_score_on_the_card(put):
    model = SparseLinearRegressor(device="cuda", lambda0=0.1).fit(put(X), put(X[:, 0] - 2 * X[:, 3]))
    np.testing.assert_allclose(here(model.predict(put(X))), model.predict(X), rtol=1e-12)


def test_wrong_data_on_a_card_is_refused(put):
    with pytest.raises(ValueError, match="use device='cuda'"):
        SparseGAMClassifier().fit(put(X), Y)
    with pytest.raises(ValueError, match="column 'x1' contains infinity"):
        SparseGAMClassifier(device="cuda").fit(put(np.where(X[5, 1] == X, np.inf, X)), Y)
    with pytest.raises(ValueError, match="must be a matrix"):
        SparseGAMClassifier(device="cuda").fit(put(X[:, 0].copy()), Y)
    gam = SparseGAMClassifier(lambda0=2.0).fit(X, Y)
    with pytest.raises(ValueError, match="X has 3 columns, but the model was fitted with 4"):
        gam.predict(put(X[:, :3].copy()))
