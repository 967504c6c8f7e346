"""Which steps come back: true ones do, noise does not, and nothing but the seed decides."""

import inspect
import os
import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from _helpers import products
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GroupKFold

from sparsegam import SparseGAMClassifier, SparseGAMClassifierCV, SparseGAMRegressor
from sparsegam._data.table import read
from sparsegam._models.additive import Model
from sparsegam._models.terms import Condition, Term
from sparsegam.inspection._stability import Stability, _Samples, _Steps, shares_in, stability
from sparsegam.plots._selection import _lines


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


def test_true_steps_come_back_and_noise_does_not(found):
    gam, result = found
    shares = {step.term.condition.text(step.term.feature): step.share for step in result.steps}
    assert shares["a <= 40"] == 1.0
    assert shares["b == y"] == 1.0
    assert result.features["a"] == result.features["b"] == 1.0
    (noise,) = [step for step in result.steps if step.term.condition.text("x") not in ("x <= 40", "x == y")]
    assert noise.share < 0.6
    assert result.n == 10
    assert all(step.low <= step.high for step in result.steps if step.share)
    assert [step.term for step in result.steps] == list(gam.terms_)


def test_it_prints_and_gives_frames(found):
    gam, result = found
    assert str(result).startswith("10 samples (half of the rows each): 2 to 3 terms, the model has 3")
    assert "100%" in str(result)
    assert repr(result) == "<Stability: 10 samples, 3 terms>"
    frame = result.to_frame()
    assert frame.columns.tolist() == ["feature", "condition", "coef", "share", "low", "high"]
    assert len(frame) == gam.n_terms_
    features = result.to_frame(by="feature")
    assert set(features["feature"][features["in_model"]]) == set(gam.model_.features)
    with pytest.raises(ValueError, match="by must be one of 'step', 'feature', got 'row'"):
        result.to_frame(by="row")


def test_threads_change_nothing_and_the_seed_does(table, found):
    gam, result = found
    assert gam.stability(*table, n=10, n_jobs=2) == result
    assert gam.stability(*table, n=10, random_state=1) != result


def test_halves_come_in_pairs_that_share_no_row():
    samples = _Samples(None, np.arange(11) % 2, None, None, "half", 0, classes=True)
    (one, times), (other, _) = samples.draw(4), samples.draw(5)
    assert sorted([*one, *other]) == list(range(11))
    assert (times == 1).all()
    rows, times = _Samples(None, np.arange(11), None, None, "bootstrap", 0, classes=False).draw(0)
    assert times.sum() == 11
    assert rows.size < 11


def test_groups_are_drawn_whole_and_handed_on(table):
    X, y = table
    groups = np.repeat(np.arange(60), 10)
    rows, _ = _Samples(X, y, None, groups, "half", 0, classes=False).draw(0)
    assert np.unique(groups[rows], return_counts=True)[1].tolist() == [10] * 30
    gam = SparseGAMClassifierCV(max_terms=2, cv=GroupKFold(3)).fit(X, y > 1, groups=groups)
    assert gam.stability(X, y > 1, n=2, groups=groups).n == 2


def test_rows_without_weight_are_never_drawn(table):
    X, y = table
    weight = np.repeat([1.0, 0.0], 300)
    rows, _ = _Samples(X, y, weight, None, "bootstrap", 0, classes=False).draw(0)
    assert rows.max() < 300
    gam = SparseGAMRegressor(max_terms=2).fit(X, y, sample_weight=weight)
    assert gam.stability(X, y, n=2, sample_weight=weight).n == 2


def test_samples_hold_both_classes_of_rare_events(table):
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
        (term("x", "<=", 52.0, 0.1), True),  # two in a hundred rows between them
        (term("x", "<=", 53.0, 2.0), False),
        (term("x", "<=", 50.0, -2.0), False),  # the other way
        (term("z", "<=", 50.0, 2.0), False),
    ],
)
def test_a_step_is_the_same_within_the_tolerance_and_one_way(other, same):
    numbers = {"x": np.arange(1.0, 101.0)}
    steps = _Steps(Model(0.0, (term("x", "<=", 50.0, 1.0),), ("x", "z"), "squared"), numbers, 0.02)
    assert steps.found_in(Model(0.0, (other,), ("x", "z"), "squared")) == [other.coef if same else None]


def test_a_step_on_few_rows_must_come_back_near_them():
    numbers = {"x": np.arange(1.0, 1001.0)}
    steps = _Steps(Model(0.0, (term("x", "<=", 10.0, 1.0),), ("x",), "squared"), numbers, 0.02)
    assert steps.found_in(Model(0.0, (term("x", "<=", 14.0, 1.0),), ("x",), "squared")) == [1.0]
    assert steps.found_in(Model(0.0, (term("x", "<=", 18.0, 1.0),), ("x",), "squared")) == [None]


def test_a_step_said_the_other_way_round_is_the_same():
    """Of two levels, `no` is where `yes` is not: a coefficient of the other sign says the same."""
    X = pd.DataFrame({"flag": ["no", "yes"] * 100})
    gam = SparseGAMRegressor(max_terms=1).fit(X, np.tile([0.0, 1.0], 100))
    level = gam.terms_[0].condition.value
    other = {"no": "yes", "yes": "no"}[level]
    steps = _Steps(gam.model_, {"flag": np.tile([0.0, 1.0], 100)}, 0.02)
    said = Model(0.0, (term("flag", "==", other, -gam.terms_[0].coef),), ("flag",), "squared", scales=gam.model_.scales)
    assert steps.found_in(said) == [pytest.approx(gam.terms_[0].coef)]


@pytest.mark.parametrize(
    ("knot", "low", "coef", "back"),
    [
        (50.0, 0.0, 0.5, 0.5),
        (57.0, 3.0, 0.4, 0.4),  # within a tenth of the rows, wherever its feature is held
        (62.0, 0.0, 0.5, None),
        (50.0, 0.0, -0.5, None),
    ],
)
def test_a_ramp_is_back_near_its_knot(knot, low, coef, back):
    numbers = {"a": np.arange(100.0)}
    mine = Model(0.0, (Term("a", Condition("ramp", 50.0, 0.0), 0.3),), ("a",), "squared")
    other = Model(0.0, (Term("a", Condition("ramp", knot, low), coef),), ("a",), "squared")
    assert _Steps(mine, numbers, 0.02).found_in(other) == [back]


@pytest.mark.parametrize("coef", [1.0, -1.0])
def test_steps_and_ramps_of_one_place_are_not_the_same(coef):
    numbers = {"a": np.arange(100.0)}
    step, ramp = (
        Model(0.0, (Term("a", condition, coef),), ("a",), "squared")
        for condition in (Condition("<=", 50.0), Condition("ramp", 50.0, 0.0))
    )
    assert _Steps(step, numbers, 0.02).found_in(ramp) == [None]
    assert _Steps(ramp, numbers, 0.02).found_in(step) == [None]


def test_true_ramps_come_back():
    X, _ = make_table()
    y = 0.05 * np.minimum(X["a"] - 60, 0) + np.random.default_rng(3).normal(0, 0.3, len(X))
    found = SparseGAMRegressor(max_terms=1, shapes="both", lambda2=0.001).fit(X, y).stability(X, y, n=6)
    assert found.steps[0].term.condition.is_ramp
    assert found.steps[0].share == 1.0
    assert found.steps[0].low < 0.05 < found.steps[0].high
    assert "min(x - 6" in str(found)


def test_time_is_kept(table, found):
    X, y = table
    slow = SparseGAMRegressor(max_terms=3, callback=None).fit(X, y)
    with pytest.raises(TimeoutError, match=r"time_limit=0.0 s ended the search after 0 of 5 samples"):
        slow.stability(X, y, n=5, time_limit=0.0)
    big = make_table(20_000)
    gam = SparseGAMRegressor(max_terms=3).fit(*big)
    start = time.monotonic()
    with pytest.warns(ConvergenceWarning, match=r"after \d+ of 2000 samples: raise it, or lower n"):
        assert gam.stability(*big, n=2000, time_limit=2.0).n < 2000
    assert time.monotonic() - start < 20


def test_ctrl_c_ends_all_samples():
    X, y = make_table(20_000)
    gam = SparseGAMRegressor(max_terms=3).fit(X, y)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # which a job in the background is without
    try:
        timers = [threading.Timer(s, os.kill, (os.getpid(), signal.SIGINT)) for s in (1.0, 20.0)]  # one may be lost
        for timer in timers:
            timer.start()
        with pytest.raises(KeyboardInterrupt):
            gam.stability(X, y, n=5000, n_jobs=2)
    finally:
        timers[1].cancel()
        signal.signal(signal.SIGINT, handler)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("ThreadPoolExecutor")]


def test_the_method_has_the_options_of_the_function():
    mine, all_of_it = (inspect.signature(one).parameters for one in (SparseGAMRegressor.stability, stability))
    assert [str(one) for one in mine.values()][1:] == [str(one) for one in all_of_it.values()][1:]


def test_what_cannot_be_is_refused(table):
    X, y = table
    with pytest.raises(NotFittedError):
        SparseGAMRegressor().stability(X, y)
    many = SparseGAMClassifier(max_terms=2).fit(X, np.digitize(y, [0.5, 2]))
    with pytest.raises(ValueError, match="one additive model, got OneVsRestModel: of several classes, fit the one"):
        many.stability(X, y)
    gam = SparseGAMRegressor(max_terms=1).fit(X, y)
    with pytest.raises(ValueError, match="n must be an integer >= 1, got 0"):
        stability(gam, X, y, n=0)
    with pytest.raises(ValueError, match="method must be one of 'half', 'bootstrap', got 'third'"):
        stability(gam, X, y, method="third")
    listed = SparseGAMClassifierCV(max_terms=1, cv=[(np.arange(300), np.arange(300, 600))]).fit(X, y > 1)
    with pytest.raises(ValueError, match="cv lists the rows of its folds"):
        listed.stability(X, y > 1)


def test_arrays_and_polars_do_as_well(table):
    X, y = table
    pl = pytest.importorskip("polars")
    frame = pl.from_pandas(X)
    assert isinstance(SparseGAMRegressor(max_terms=2).fit(frame, y).stability(frame, y, n=2), Stability)
    array = X[["a", "c"]].to_numpy()
    assert SparseGAMRegressor(max_terms=2).fit(array, y).stability(array, y, n=2).used[0] == "x0"


def test_products_come_back_as_products_of_the_same_rows():
    frame, _ = products.table(1000)
    model = products.written()
    near = products.product(("age", products.upto(25.0)), ("priors", products.above(4.0)), 0.5)
    far = products.product(("age", products.upto(45.0)), ("priors", products.above(0.0)), 0.5)
    against = products.product(("age", products.upto(25.0)), ("priors", products.above(3.0)), -0.5)
    single = Term("age", Condition("<=", 25.0), 0.5)
    others = [replace(model, terms=(term,)) for term in (near, far, against, single, model.terms[2])]
    found = shares_in(model, others, read(frame), "half", 0.05)
    assert found.steps[2].share == 0.4  # as it is, and with a neighbour of its threshold
    assert (found.steps[2].low, found.steps[2].high) == pytest.approx((0.52, 0.88))
    assert found.features["age & priors"] == 0.8
    assert found.features["age"] == 1.0
    assert "age <= 25 and priors > 3" in str(found)
    assert found.to_frame()["feature"].tolist()[2] == "age & priors"
    assert [line[0] for line in _lines(found)][:2] == ["age", "x <= 30"]
