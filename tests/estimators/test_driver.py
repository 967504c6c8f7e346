"""The fit driver: one time limit, one reading and one binning per fit, and fits unaffected by later changes."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from sparsegam import (
    SparseGAMClassifier,
    SparseGAMClassifierCV,
    SparseGAMRegressor,
    SparseLinearClassifier,
    SparseLinearRegressorCV,
    _core,
    gam_path,
    linear_path,
    scan,
)
from sparsegam._backends import local
from sparsegam._fit import training
from sparsegam._fit.driver import fit, search_path
from sparsegam._fit.estimators import latest_fit
from sparsegam._fit.spec import additive_spec
from sparsegam._search import options


class Clock:
    """A clock that only moves when a test advances it."""

    def __init__(self, monkeypatch):
        self.now = 1000.0
        monkeypatch.setattr(options.time, "monotonic", lambda: self.now)

    def advance_in(self, monkeypatch, module, name, seconds):
        """Make each call of a function take the given number of seconds."""
        function = getattr(module, name)

        def slow(*args, **kwargs):
            self.now += seconds
            return function(*args, **kwargs)

        monkeypatch.setattr(module, name, slow)


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 9, (200, 3)).astype(float), columns=["a", "b", "c"])
    score = X["a"] - X["b"] + rng.normal(size=200)
    return X, score


ENTRY_POINTS = {
    "classifier": lambda X, y, **kw: SparseGAMClassifier(**kw).fit(X, y > 0),
    "regressor": lambda X, y, **kw: SparseGAMRegressor(**kw).fit(X, y),
    "three classes": lambda X, y, **kw: SparseGAMClassifier(**kw).fit(X, np.digitize(y, [-2.0, 2.0])),
    "cross-validation": lambda X, y, **kw: SparseGAMClassifierCV(cv=2, max_terms=3, **kw).fit(X, y > 0),
    "linear": lambda X, y, **kw: SparseLinearClassifier(**kw).fit(X, y > 0),
    "linear cross-validation": lambda X, y, **kw: SparseLinearRegressorCV(cv=2, max_terms=3, **kw).fit(X, y),
    "swap": lambda X, y, **kw: SparseGAMClassifier(search="swap", lambda2=0.01, **kw).fit(X, y > 0),
    "gam_path": lambda X, y, **kw: gam_path(X, y > 0, max_terms=5, **kw),
    "linear_path": lambda X, y, **kw: linear_path(X, y > 0, **kw),
}


@pytest.mark.parametrize("name", ENTRY_POINTS)
def test_time_limit_includes_reading(monkeypatch, clock, table, name):
    for reader in ("read_table", "read_matrix"):
        clock.advance_in(monkeypatch, training, reader, seconds=100.0)
    with pytest.warns(ConvergenceWarning, match=r"stopped by time_limit=60.0 s") as caught:
        ENTRY_POINTS[name](*table, time_limit=60.0)
    assert sum(one.category is ConvergenceWarning for one in caught) == 1


@pytest.mark.parametrize("name", ["classifier", "regressor", "three classes", "cross-validation", "gam_path"])
def test_time_limit_includes_binning(monkeypatch, clock, table, name):
    clock.advance_in(monkeypatch, local, "bin_table", seconds=100.0)
    with pytest.warns(ConvergenceWarning, match=r"stopped by time_limit=60.0 s"):
        ENTRY_POINTS[name](*table, time_limit=60.0)


@pytest.mark.parametrize("kind", [SparseGAMClassifier(time_limit=60.0), None])
def test_time_limit_includes_reading_a_stream(monkeypatch, clock, table, tmp_path, kind):
    X, score = table
    X.assign(y=(score > 0).astype(int)).to_parquet(tmp_path / "a.parquet")
    clock.advance_in(monkeypatch, training, "encode_stream", seconds=100.0)
    stream = scan(tmp_path / "a.parquet")
    with pytest.warns(ConvergenceWarning, match=r"stopped by time_limit=60.0 s"):
        gam_path(stream, "y", time_limit=60.0) if kind is None else kind.fit(stream, "y")


def test_classes_share_the_time_limit(monkeypatch, clock, table):
    limits, search = [], _core.fit_at

    def noted(*args, time_limit, **kwargs):
        limits.append(time_limit)
        clock.now += 20.0
        return search(*args, time_limit=time_limit, **kwargs)

    monkeypatch.setattr(_core, "fit_at", noted)
    X, score = table
    SparseGAMClassifier(lambda0=2.0, time_limit=50.0).fit(X, np.digitize(score, [-2.0, 2.0]))
    # A third of 50 s, half of the 30 s that are left, and all of the last 10 s.
    np.testing.assert_allclose(limits, [50.0 / 3, 15.0, 10.0])


def test_folds_that_were_stopped_are_warned_about(monkeypatch, table):
    search = _core.frontier

    def limited(*args, polish, time_limit, **kwargs):
        return search(*args, polish=polish, time_limit=time_limit if polish else 0.0, **kwargs)

    monkeypatch.setattr(_core, "frontier", limited)
    X, score = table
    with pytest.warns(ConvergenceWarning, match=r"stopped by time_limit=100.0 s"):
        SparseGAMClassifierCV(cv=2, max_terms=3, time_limit=100.0).fit(X, score > 0)


def test_shapes_share_one_reading_and_one_binning_per_fold(monkeypatch, table):
    read, read_table, binned, bin_table = [], training.read_table, [], local.bin_table
    monkeypatch.setattr(training, "read_table", lambda X: read.append(X) or read_table(X))
    monkeypatch.setattr(local, "bin_table", lambda *given: binned.append(given) or bin_table(*given))
    X, score = table
    gam = SparseGAMClassifierCV(cv=3, n_repeats=1, max_terms=3, shapes=["steps", "ramps", "both"])
    gam.fit(X, score > 0)
    # One binning for each of three folds, and one for all rows with the chosen shapes.
    assert (len(read), len(binned)) == (1, 4)


def test_predict_does_not_validate_options_of_fit(table):
    X, score = table
    gam = SparseGAMClassifier().fit(X, score > 0)
    expected = gam.predict_proba(X)
    gam.set_params(max_bins=1, loss="hinge", device="abacus", lambda0="none", positive="nobody", class_weight=3)
    np.testing.assert_array_equal(gam.predict_proba(X), expected)
    assert gam.predict(X).dtype == bool
    linear = SparseLinearClassifier().fit(X, score > 0).set_params(coef_bounds=3, device="abacus")
    assert linear.predict(X).dtype == bool


def test_latest_fit_is_kept_for_its_estimator_and_data(table):
    X, score = table
    y = score > 0
    gam = SparseGAMClassifier().fit(X, y)
    assert latest_fit(gam, X).model is gam.model_
    assert latest_fit(gam, X.copy()) is None
    other = SparseGAMClassifier().fit(X, y)
    assert latest_fit(gam, X) is None
    assert latest_fit(other, X).problem is not None


def test_driver_fits_and_searches_without_an_estimator(table):
    X, score = table
    y = np.where(score > 0, "bad", "good")
    spec = additive_spec(lambda0=2.0)
    result = fit(spec, training.read_data(spec, X, y))
    gam = SparseGAMClassifier(lambda0=2.0).fit(X, y)
    assert result.model == gam.model_
    assert (result.objective, result.lambda0, result.finished) == (gam.objective_, 2.0, True)
    spec = additive_spec(max_terms=4)
    path = search_path(spec, training.read_data(spec, X, y, max_classes=2))
    assert path.models == gam_path(X, y, max_terms=4).models
