"""Tests of stability selection: frequencies, sampling, matching of terms, time limits and invalid arguments."""

import inspect
import os
import signal
import threading
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from _helpers import products
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GroupKFold

from sparsegam import SparseGAMClassifier, SparseGAMClassifierCV, SparseGAMRegressor
from sparsegam._data.table import read_table
from sparsegam._models.additive import Model
from sparsegam._models.terms import Condition, Term
from sparsegam.inspection._stability import Stability, _Sampler, _TermMatcher, selection_frequencies, stability
from sparsegam.plots._selection import _stability_bars


def make_table(n=600, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "a": rng.integers(0, 100, n).astype(float),
            "b": rng.choice(["x", "y", "z"], n),
            "c": rng.normal(size=n),
        }
    )
    return frame, 2.0 * (frame["a"] <= 40) + 1.5 * (frame["b"] == "y") + rng.normal(0, 0.5, n)


@pytest.fixture(scope="module")
def table():
    return make_table()


@pytest.fixture(scope="module")
def found(table):
    gam = SparseGAMRegressor(max_terms=3, lambda0="bic", lambda2=0.001).fit(*table)
    return gam, gam.stability(*table, n=10)


def test_stability_selects_true_steps_always_and_noise_rarely(found):
    gam, result = found
    shares = {step.term.condition.text(step.term.feature): step.share for step in result.terms}
    assert shares["a <= 40"] == 1.0
    assert shares["b == y"] == 1.0
    assert result.features["a"] == result.features["b"] == 1.0
    (noise,) = [step for step in result.terms if step.term.condition.text("x") not in ("x <= 40", "x == y")]
    assert noise.share < 0.6
    assert result.n == 10
    assert all(step.low <= step.high for step in result.terms if step.share)
    assert [step.term for step in result.terms] == list(gam.terms_)


def test_stability_prints_a_table_and_returns_frames(found):
    gam, result = found
    assert str(result).startswith("10 samples (each half of the rows): 2 to 3 terms; the model has 3")
    assert "100%" in str(result)
    assert result._repr_html_().count("<tr") == 4
    assert repr(result) == "<Stability: 10 samples, 3 terms>"
    frame = result.to_frame()
    assert frame.columns.tolist() == ["feature", "condition", "coef", "share", "low", "high"]
    assert len(frame) == gam.n_terms_
    features = result.to_frame(by="feature")
    assert set(features["feature"][features["in_model"]]) == set(gam.model_.features)
    with pytest.raises(ValueError, match="by must be one of 'term', 'feature', got 'row'"):
        result.to_frame(by="row")


def test_stability_depends_on_the_seed_but_not_on_n_jobs(table, found):
    gam, result = found
    assert gam.stability(*table, n=10, n_jobs=2) == result
    assert gam.stability(*table, n=10, random_state=1) != result


def test_consecutive_half_samples_are_complementary():
    samples = _Sampler(None, np.arange(11) % 2, None, None, "half", 0, is_classifier=True)
    (one, times), (other, _) = samples.draw(4), samples.draw(5)
    assert sorted([*one, *other]) == list(range(11))
    assert (times == 1).all()
    rows, times = _Sampler(None, np.arange(11), None, None, "bootstrap", 0, is_classifier=False).draw(0)
    assert times.sum() == 11
    assert rows.size < 11


def test_groups_are_drawn_as_a_whole_and_passed_to_fit(table):
    X, y = table
    groups = np.repeat(np.arange(60), 10)
    rows, _ = _Sampler(X, y, None, groups, "half", 0, is_classifier=False).draw(0)
    assert np.unique(groups[rows], return_counts=True)[1].tolist() == [10] * 30
    gam = SparseGAMClassifierCV(max_terms=2, cv=GroupKFold(3)).fit(X, y > 1, groups=groups)
    assert gam.stability(X, y > 1, n=2, groups=groups).n == 2


def test_rows_of_weight_zero_are_never_drawn(table):
    X, y = table
    weight = np.repeat([1.0, 0.0], 300)
    rows, _ = _Sampler(X, y, weight, None, "bootstrap", 0, is_classifier=False).draw(0)
    assert rows.max() < 300
    gam = SparseGAMRegressor(max_terms=2).fit(X, y, sample_weight=weight)
    assert gam.stability(X, y, n=2, sample_weight=weight).n == 2


def test_samples_contain_both_classes_of_rare_events(table):
    X, _ = table
    y = np.arange(600) < 2
    gam = SparseGAMClassifier(max_terms=1).fit(X, y)
    assert gam.stability(X, y, n=4, method="bootstrap").n == 4


def term(feature, kind, value, coef):
    return Term(feature, Condition(kind, value), coef)


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (term("x", "<=", 50.0, 2.0), True),
        (term("x", "<=", 52.0, 0.1), True),  # two percent of the rows are between the thresholds
        (term("x", "<=", 53.0, 2.0), False),
        (term("x", "<=", 50.0, -2.0), False),  # opposite direction
        (term("z", "<=", 50.0, 2.0), False),
    ],
)
def test_steps_match_within_the_tolerance_and_in_the_same_direction(other, same):
    numbers = {"x": np.arange(1.0, 101.0)}
    steps = _TermMatcher(Model(0.0, (term("x", "<=", 50.0, 1.0),), ("x", "z"), "squared"), numbers, 0.02)
    assert steps.match(Model(0.0, (other,), ("x", "z"), "squared")) == [other.coef if same else None]


def test_steps_with_few_rows_match_only_nearby_steps():
    numbers = {"x": np.arange(1.0, 1001.0)}
    steps = _TermMatcher(Model(0.0, (term("x", "<=", 10.0, 1.0),), ("x",), "squared"), numbers, 0.02)
    assert steps.match(Model(0.0, (term("x", "<=", 14.0, 1.0),), ("x",), "squared")) == [1.0]
    assert steps.match(Model(0.0, (term("x", "<=", 18.0, 1.0),), ("x",), "squared")) == [None]


def test_a_step_matches_its_complement_with_the_opposite_sign():
    X = pd.DataFrame({"flag": ["no", "yes"] * 100})
    gam = SparseGAMRegressor(max_terms=1).fit(X, np.tile([0.0, 1.0], 100))
    level = gam.terms_[0].condition.value
    other = {"no": "yes", "yes": "no"}[level]
    steps = _TermMatcher(gam.model_, {"flag": np.tile([0.0, 1.0], 100)}, 0.02)
    said = Model(0.0, (term("flag", "==", other, -gam.terms_[0].coef),), ("flag",), "squared", scales=gam.model_.scales)
    assert steps.match(said) == [pytest.approx(gam.terms_[0].coef)]


@pytest.mark.parametrize(
    ("knot", "low", "coef", "back"),
    [
        (50.0, 0.0, 0.5, 0.5),
        (57.0, 3.0, 0.4, 0.4),  # ten percent of the rows apart; `low` does not matter
        (62.0, 0.0, 0.5, None),
        (50.0, 0.0, -0.5, None),
    ],
)
def test_ramps_match_within_five_times_the_tolerance(knot, low, coef, back):
    numbers = {"a": np.arange(100.0)}
    mine = Model(0.0, (Term("a", Condition("ramp", 50.0, 0.0), 0.3),), ("a",), "squared")
    other = Model(0.0, (Term("a", Condition("ramp", knot, low), coef),), ("a",), "squared")
    assert _TermMatcher(mine, numbers, 0.02).match(other) == [back]


@pytest.mark.parametrize("coef", [1.0, -1.0])
def test_steps_do_not_match_ramps(coef):
    numbers = {"a": np.arange(100.0)}
    step, ramp = (
        Model(0.0, (Term("a", condition, coef),), ("a",), "squared")
        for condition in (Condition("<=", 50.0), Condition("ramp", 50.0, 0.0))
    )
    assert _TermMatcher(step, numbers, 0.02).match(ramp) == [None]
    assert _TermMatcher(ramp, numbers, 0.02).match(step) == [None]


def test_stability_selects_true_ramps():
    X, _ = make_table()
    y = 0.05 * np.minimum(X["a"] - 60, 0) + np.random.default_rng(3).normal(0, 0.3, len(X))
    found = SparseGAMRegressor(max_terms=1, shapes="both", lambda2=0.001).fit(X, y).stability(X, y, n=6)
    assert found.terms[0].term.condition.is_ramp
    assert found.terms[0].share == 1.0
    assert found.terms[0].low < 0.05 < found.terms[0].high
    assert "min(x - 6" in str(found)


def test_time_limit_ends_the_search_with_fewer_samples(table):
    X, y = table
    gam = SparseGAMRegressor(max_terms=3).fit(X, y)
    with pytest.raises(TimeoutError, match=r"time_limit=0.0 s ended the search after 0 of 5 samples"):
        gam.stability(X, y, n=5, time_limit=0.0)
    n = 100_000
    with pytest.warns(ConvergenceWarning, match=rf"after \d+ of {n} samples; raise it or lower n"):
        assert 0 < gam.stability(X, y, n=n, time_limit=1.0).n < n


def test_keyboard_interrupt_stops_all_samples():
    X, y = make_table(20_000)
    gam = SparseGAMRegressor(max_terms=3).fit(X, y)
    # Background jobs ignore SIGINT by default.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timers = [threading.Timer(s, os.kill, (os.getpid(), signal.SIGINT)) for s in (1.0, 20.0)]
        for timer in timers:
            timer.start()
        with pytest.raises(KeyboardInterrupt):
            gam.stability(X, y, n=5000, n_jobs=2)
    finally:
        timers[1].cancel()
        signal.signal(signal.SIGINT, handler)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("ThreadPoolExecutor")]


def test_the_estimator_method_has_the_signature_of_the_function():
    mine, all_of_it = (inspect.signature(one).parameters for one in (SparseGAMRegressor.stability, stability))
    assert [str(one) for one in mine.values()][1:] == [str(one) for one in all_of_it.values()][1:]


def test_stability_rejects_unsuitable_estimators_and_options(table):
    X, y = table
    with pytest.raises(NotFittedError):
        SparseGAMRegressor().stability(X, y)
    many = SparseGAMClassifier(max_terms=2).fit(X, np.digitize(y, [0.5, 2]))
    with pytest.raises(ValueError, match="single additive model, got a OneVsRestModel"):
        many.stability(X, y)
    gam = SparseGAMRegressor(max_terms=1).fit(X, y)
    with pytest.raises(ValueError, match="n must be an integer >= 1, got 0"):
        stability(gam, X, y, n=0)
    with pytest.raises(ValueError, match="method must be one of 'half', 'bootstrap', got 'third'"):
        stability(gam, X, y, method="third")
    listed = SparseGAMClassifierCV(max_terms=1, cv=[(np.arange(300), np.arange(300, 600))]).fit(X, y > 1)
    with pytest.raises(ValueError, match="contains fixed row numbers"):
        listed.stability(X, y > 1)


def test_stability_accepts_arrays_and_polars_frames(table):
    X, y = table
    pl = pytest.importorskip("polars")
    frame = pl.from_pandas(X)
    assert isinstance(SparseGAMRegressor(max_terms=2).fit(frame, y).stability(frame, y, n=2), Stability)
    array = X[["a", "c"]].to_numpy()
    assert SparseGAMRegressor(max_terms=2).fit(array, y).stability(array, y, n=2).model_features[0] == "x0"


def test_interactions_match_interactions_on_similar_rows():
    frame, _ = products.table(1000)
    model = products.written()
    near = products.product(("age", products.upto(25.0)), ("priors", products.above(4.0)), 0.5)
    far = products.product(("age", products.upto(45.0)), ("priors", products.above(0.0)), 0.5)
    against = products.product(("age", products.upto(25.0)), ("priors", products.above(3.0)), -0.5)
    single = Term("age", Condition("<=", 25.0), 0.5)
    others = [replace(model, terms=(term,)) for term in (near, far, against, single, model.terms[2])]
    found = selection_frequencies(model, others, read_table(frame), "half", 0.05)
    assert found.terms[2].share == 0.4  # the identical term and the one with an adjacent threshold
    assert (found.terms[2].low, found.terms[2].high) == pytest.approx((0.52, 0.88))
    assert found.features["age & priors"] == 0.8
    assert found.features["age"] == 1.0
    assert "age <= 25 and priors > 3" in str(found)
    assert found.to_frame()["feature"].tolist()[2] == "age & priors"
    assert [line[0] for line in _stability_bars(found)][:2] == ["age", "x <= 30"]
