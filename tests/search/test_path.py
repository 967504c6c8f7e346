"""Paths: sizes, penalties per term, models by size or penalty, and invalid arguments."""

import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from _helpers.reference import best_subsets, column_scale, refit
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from sparsegam import Path, SparseGAMClassifier, gam_path, linear_path
from sparsegam._search.path import hull_slopes

LAMBDA2 = 1e-3


def small_table(seed=0, n=120, p=3, levels=4):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, levels, (n, p)).astype(float)
    f = 1.5 * (X[:, 0] <= 1) - 1.2 * (X[:, 1] <= 2) + 0.8 * (X[:, 2] <= 0)
    return X, f, rng


def small_problem(loss, seed=0):
    X, f, rng = small_table(seed)
    if loss == "squared":
        return X, f + rng.normal(scale=0.5, size=f.size)
    return X, (rng.random(f.size) < 1 / (1 + np.exp(-f))).astype(int)


def columns_of(X):
    """All thresholds of all features, in the order of the core."""
    return np.column_stack([x <= t for x in X.T for t in np.unique(x)[:-1]]).astype(float)


@pytest.fixture(scope="module")
def path():
    X, y = small_problem("logistic")
    return gam_path(X, y, lambda2=LAMBDA2)


@pytest.mark.parametrize("loss", ["logistic", "exponential", "squared"])
def test_path_equals_enumeration(loss):
    X, y = small_problem(loss)
    signs = y if loss == "squared" else np.where(y == 1, 1.0, -1.0)
    best = best_subsets(columns_of(X), signs, np.ones(len(y)), loss, LAMBDA2, 4)
    path = gam_path(X, y, loss=loss, lambda2=LAMBDA2, max_terms=4)
    np.testing.assert_allclose(path.objective, [objective for objective, _, _ in best], rtol=1e-6)


@pytest.mark.parametrize("loss", ["logistic", "exponential", "squared"])
def test_models_reproduce_their_losses(loss):
    X, y = small_problem(loss)
    signs = y if loss == "squared" else np.where(y == 1, 1.0, -1.0)
    path = gam_path(X, y, loss=loss, lambda2=LAMBDA2, max_terms=5)
    for model, loss_value, objective in zip(path, path.loss, path.objective, strict=True):
        f = model.decision_function(X)
        by_hand = {
            "logistic": np.logaddexp(0, -signs * f),
            "exponential": np.exp(-signs * f),
            "squared": 0.5 * (signs - f) ** 2,
        }
        np.testing.assert_allclose(by_hand[loss].sum(), loss_value, rtol=1e-9)
        support = np.column_stack(
            [np.zeros((len(y), 0))] + [X[:, int(t.feature[1:])] <= t.condition.value for t in model.terms]
        ).astype(float)
        weight = np.ones(len(y))
        _, best = refit(support, signs, weight, loss, LAMBDA2 * column_scale(support, weight))
        np.testing.assert_allclose(objective, best, rtol=1e-6)


def test_objective_decreases_with_size(path):
    assert path.finished
    assert path.n_terms.tolist() == list(range(len(path)))
    assert [model.n_terms for model in path] == path.n_terms.tolist()
    assert np.all(np.diff(path.objective) < 0)
    assert np.all(path.loss <= path.objective + 1e-12)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=12))
def test_lambda0_is_where_the_best_size_changes(objective):
    values = np.array(objective)
    sizes = np.arange(len(values))
    prices = hull_slopes(sizes, values)
    chosen = np.flatnonzero(~np.isnan(prices))
    assert prices[0] == np.inf
    assert np.all(np.diff(prices[chosen]) < 0)
    for k, price in zip(chosen[1:], prices[chosen][1:], strict=True):
        total = values + price * sizes
        assert total[k] <= total.min() + 1e-6
    for k in np.flatnonzero(np.isnan(prices)):
        for price in [*prices[chosen][1:], 0.0]:
            assert (values + price * sizes).min() <= values[k] + price * k + 1e-9


def test_at_lambda0_minimizes_the_penalized_objective(path):
    for lambda0 in (0.0, 0.5, 2, 5.0, 1e6):
        best = np.argmin(path.objective + lambda0 * path.n_terms)
        assert path.at(lambda0=lambda0) is path.models[best]
    assert path.at(lambda0="aic") is path.at(lambda0=1.0)
    assert path.at(lambda0="bic") is path.at(lambda0=np.log(120) / 2)
    assert path.at(n_terms=2).n_terms == 2


def test_criteria_of_the_squared_loss_are_invariant_to_units():
    X, y = small_problem("squared")
    sizes = [gam_path(X, unit * y, loss="squared").at(lambda0="bic").n_terms for unit in (1e-3, 1.0, 1e3)]
    assert sizes[0] == sizes[1] == sizes[2]
    assert 3 <= sizes[0] <= 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "either n_terms or lambda0"),
        ({"n_terms": 1, "lambda0": 1}, "either n_terms or lambda0"),
        ({"n_terms": 99}, "one of the sizes 0 to .* got 99"),
        ({"n_terms": 1.5}, "n_terms must be an integer, got 1.5"),
        ({"lambda0": -1}, "lambda0 must be a finite number >= 0, got -1"),
        ({"lambda0": "cv"}, "lambda0 must be one of 'auto', 'aic', 'bic' or a number >= 0, got 'cv'"),
    ],
)
def test_at_rejects_invalid_arguments(path, options, message):
    with pytest.raises(ValueError, match=message):
        path.at(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "hinge"}, "loss must be one of 'logistic', 'exponential', 'squared', 'squared_hinge', got 'hinge'"),
        ({"lambda2": -1.0}, "lambda2 must be a finite number >= 0, got -1.0"),
        ({"lambda2": np.nan}, "lambda2 must be"),
        ({"max_terms": -1}, "max_terms must be an integer >= 0, got -1"),
        ({"max_terms": 2.5}, "max_terms must be an integer >= 0, got 2.5"),
        ({"max_bins": 1}, "max_bins must be an integer >= 2 and <= 65536, got 1"),
        ({"max_bins": 10**6}, "max_bins must be an integer >= 2 and <= 65536, got 1000000"),
        ({"n_jobs": "all"}, "n_jobs must be an integer, got 'all'"),
        ({"n_jobs": 0}, "n_jobs == 0"),
        ({"time_limit": -3}, "time_limit must be a finite number >= 0, got -3"),
        ({"sample_weight": [1.0]}, r"one number per row, got shape \(1,\) for 120 rows"),
        ({"sample_weight": np.full(120, -1.0)}, "must be nonnegative and not all zero"),
        ({"sample_weight": np.zeros(120)}, "must be nonnegative and not all zero"),
        ({"sample_weight": np.full(120, np.nan)}, "sample_weight contains NaN"),
    ],
)
def test_invalid_options_are_rejected(options, message):
    X, y = small_problem("logistic")
    with pytest.raises(ValueError, match=message):
        gam_path(X, y, **options)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.zeros(120), "one class only"),
        (np.arange(120) % 3, "Only binary classification.*3 classes"),
        (np.linspace(0, 1, 120), "Unknown label type"),
        (np.zeros(7), "same number of rows, got 120 and 7"),
        (np.full(120, np.nan), "y contains NaN"),
    ],
)
def test_invalid_labels_are_rejected(y, message):
    with pytest.raises(ValueError, match=message):
        gam_path(small_table()[0], y)


def test_a_constant_table_gives_the_intercept_only():
    path = gam_path(np.ones((6, 2)), [0, 0, 1, 0, 0, 1])
    assert len(path) == 1
    np.testing.assert_allclose(path.at(n_terms=0).predict_proba(np.ones((1, 2)))[0, 1], 1 / 3, rtol=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_weights_are_repeated_rows(seed):
    X, y = small_problem("logistic", seed)
    weight = np.random.default_rng(seed).integers(0, 3, len(y))
    weighted = gam_path(X, y, sample_weight=weight, max_terms=5)
    repeated = gam_path(X.repeat(weight, axis=0), y.repeat(weight), max_terms=5)
    np.testing.assert_allclose(weighted.objective, repeated.objective, rtol=1e-9)
    assert weighted.total_weight == repeated.total_weight


def test_criteria_warn_about_weights_that_do_not_count_rows():
    X, y = small_problem("logistic")
    for path in (gam_path, linear_path):
        found = path(X, y, sample_weight=np.full(len(y), 500.0), max_terms=9)
        with pytest.warns(UserWarning, match="their mean is 500: it will choose more terms") as told:
            found.at(lambda0="bic")
        assert [one.filename for one in told] == [__file__]
        found.at(lambda0=1e6)


def test_at_accepts_a_positional_size(path):
    assert path.at(2) is path.at(n_terms=2)
    with pytest.raises(ValueError, match=r"got 'bic'. To use a criterion: at\(lambda0='bic'\)"):
        path.at("bic")


def test_lambda0_beyond_the_path_is_warned_about():
    X, y = small_problem("logistic")
    cut = gam_path(X, y, max_terms=2)
    assert cut.cut_off
    assert not cut.covers(0.0)
    assert cut.covers(1e6)
    with pytest.warns(UserWarning, match=r"lambda0=0.0 is outside .* ended at 2 terms because of max_terms"):
        assert cut.at(lambda0=0.0).n_terms == 2
    assert cut.at(lambda0=1e6).n_terms == 0
    whole = gam_path(X, y, max_terms=1000)
    assert not whole.cut_off
    assert whole.at(lambda0=0.0).n_terms == whole.n_terms[-1]
    with pytest.warns(ConvergenceWarning):
        ended = gam_path(X, y, time_limit=0.0)
    with pytest.warns(UserWarning, match="ended at 0 terms because of time_limit"):
        ended.at(lambda0="bic")


@pytest.mark.filterwarnings("ignore:lambda0=")
@pytest.mark.parametrize("total", [1.0, 0.01, 60.0])
def test_small_weights_do_not_make_terms_free(total):
    """log(n) of weights that sum to one is zero: "bic" counts no fewer than the rows."""
    X, y = small_problem("logistic")
    weight = np.full(len(y), total / len(y))
    path = gam_path(X, y, sample_weight=weight)
    model = SparseGAMClassifier(lambda0="bic")
    assert path.at(lambda0="bic") is path.at(lambda0=np.log(len(y)) / 2)
    assert model.fit(X, y, sample_weight=weight).lambda0_ == pytest.approx(np.log(len(y)) / 2)


def test_result_does_not_depend_on_n_jobs():
    X, y = small_problem("logistic")
    one, two = (gam_path(X, y, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.objective, two.objective)
    assert one.models == two.models


def test_time_limit_stops_the_path_with_a_warning():
    X, y = small_problem("logistic")
    with pytest.warns(ConvergenceWarning, match=r"stopped by time_limit=0.0 s"):
        path = gam_path(X, y, time_limit=0.0)
    assert not path.finished
    assert "stopped by time_limit" in repr(path)
    assert path.at(n_terms=0).n_terms == 0


def test_callback_is_called_for_every_size():
    X, y = small_problem("logistic")
    seen = []
    path = gam_path(X, y, max_terms=3, callback=lambda *event: seen.append(event))
    assert {n_terms for n_terms, _ in seen} >= {1, 2, 3}
    assert min(objective for _, objective in seen) == pytest.approx(path.objective[-1])


def test_errors_in_the_callback_are_raised():
    X, y = small_problem("logistic")

    def fail(n_terms, objective):
        msg = "enough"
        raise RuntimeError(msg)

    with pytest.raises(RuntimeError, match="enough"):
        gam_path(X, y, callback=fail)


def test_path_prints_iterates_and_pickles(path):
    assert repr(path).startswith(f"<Path: logistic, 0 to {len(path) - 1} terms, objective ")
    again = pickle.loads(pickle.dumps(path))
    assert isinstance(again, Path)
    assert again.models == path.models


def test_to_frame(path, monkeypatch):
    frame = path.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame) == ["n_terms", "n_features", "loss", "objective", "lambda0"]
    without(monkeypatch, "pandas")
    np.testing.assert_array_equal(path.to_frame()["loss"], path.loss)


def test_plot(path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    assert path.plot().get_xlabel() == "Number of terms"
    matplotlib.pyplot.close("all")
    without(monkeypatch, "matplotlib.pyplot")
    with pytest.raises(ImportError, match=r"sparsegam\[plot\]"):
        path.plot()


def without(monkeypatch, module):
    """Make the import of a module fail."""
    monkeypatch.setitem(sys.modules, module, None)
