"""Ramps and steps: fits, unsupported combinations, and the choice of shapes by cross-validation."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from sparsegam import SparseGAMClassifier, SparseGAMClassifierCV, SparseGAMRegressor, SparseGAMRegressorCV, gam_path
from sparsegam.losses import LOSSES


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 1500
    X = pd.DataFrame(
        {
            "line": rng.normal(size=n),
            "count": rng.integers(0, 12, n),
            "jump": rng.exponential(size=n),
            "text": rng.choice(["a", "b", "c"], n),
            "two": rng.integers(0, 2, n),
        }
    )
    X.loc[::29, "line"] = np.nan
    score = 1.5 * np.minimum(X["line"].fillna(0), 0.5) + 0.25 * np.minimum(X["count"] - 8, 0) + 1.2 * (X["jump"] > 1)
    return X, (score + rng.logistic(size=n) > 0).astype(int), score + rng.normal(size=n)


def recomputed(gam, X, target, weight):
    """Return loss plus ridge of a fitted model, computed in NumPy; the ridge of a ramp is scaled by its variance."""
    total = LOSSES[gam.model_.loss].total(target, gam.decision_function(X), weight)
    for term in gam.terms_:
        alone = type(gam.model_)(0.0, (term,), gam.model_.feature_names, "squared")
        column = alone.decision_function(X) / term.coef
        spread = weight @ (column - weight @ column / weight.sum()) ** 2
        ramp = term.condition.is_ramp
        unit = spread if gam.standardize_ else 4 * spread / weight.sum() if ramp else 1.0
        total += gam.lambda2_ * unit * term.coef**2
    return total


@pytest.mark.parametrize("shapes", ["ramps", "both"])
@pytest.mark.parametrize("standardize", [None, True])
def test_objective_is_computed_on_raw_values(table, shapes, standardize):
    X, y, _ = table
    X = X[["line", "count", "jump"]].fillna(0.0)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
    gam = SparseGAMClassifier(shapes=shapes, standardize=standardize, max_terms=6, lambda0=3.0)
    gam.fit(X, y, sample_weight=weight)
    assert any(term.condition.is_ramp for term in gam.terms_)
    expected = recomputed(gam, X, np.where(y == 1, 1.0, -1.0), weight)
    assert gam.objective_ - gam.lambda0_ * gam.n_terms_ == pytest.approx(expected, rel=1e-9)
    assert gam.n_terms_ == len(gam.terms_)


def test_ramps_do_not_depend_on_n_jobs():
    """Where bins hold several values, and rows are more than one thread takes at once."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(20_000, 3))
    y = (np.minimum(X[:, 0], 0.5) + (X[:, 1] > 0) + rng.logistic(size=20_000) > 0).astype(int)
    one, three = (SparseGAMClassifier(shapes="both", max_bins=40, n_jobs=n).fit(X, y) for n in (1, 3))
    assert any(term.condition.is_ramp for term in one.terms_)
    assert one.model_.to_json() == three.model_.to_json()
    assert one.objective_ == three.objective_


def test_ramps_recover_linear_effects(table):
    X, y, _ = table
    both, steps = (gam_path(X, y, shapes=shapes, max_terms=6) for shapes in ("both", "steps"))
    assert (both.objective[1:] < steps.objective[1:]).all()
    kinds = {term.feature: term.condition.kind for term in both.at(4).terms}
    assert (kinds["line"], kinds["jump"]) == ("ramp", "<=")


def test_shapes_may_be_set_by_column(table):
    X, y, _ = table
    gam = SparseGAMClassifier(shapes={"count": "ramps"}, max_terms=8, lambda0=1.0).fit(X, y)
    ramps = {term.feature for term in gam.terms_ if term.condition.is_ramp}
    assert ramps == {"count"}
    assert not any(term.condition.kind == "<=" for term in gam.terms_ if term.feature == "count")


def test_only_numeric_features_get_ramps(table):
    X, y, _ = table
    gam = SparseGAMClassifier(shapes="ramps", lambda0=0.0, max_terms=60).fit(X, y)
    assert {term.feature for term in gam.terms_ if term.condition.is_ramp} <= {"line", "count", "jump"}
    assert {term.feature for term in gam.terms_} >= {"text", "two"}


@pytest.mark.parametrize(("direction", "sign"), [("increasing", 1), ("decreasing", -1)])
def test_monotone_constraints_hold_exactly(table, direction, sign):
    X, y, _ = table
    names = ["line", "count", "jump"]
    gam = SparseGAMClassifier(shapes="both", monotone=dict.fromkeys(names, direction), lambda0=0.5, max_terms=20)
    gam.fit(X[names], y)
    for name, shape in gam.model_.shape_functions().items():
        values = X[name].dropna().to_numpy(dtype=float)
        grid = np.sort(
            np.concatenate([values, np.nextafter(values, np.inf), np.linspace(-9, 20, 4001), shape.bins.edges])
        )
        assert (sign * np.diff(shape.at(grid)) >= 0).all(), name


@pytest.mark.parametrize("kind", [SparseGAMClassifierCV, SparseGAMRegressorCV])
def test_cross_validation_chooses_shapes(table, kind):
    X, y, real = table
    outcome = y if kind is SparseGAMClassifierCV else real
    gam = kind(shapes=["steps", "both"], max_terms=8, cv=3).fit(X, outcome)
    assert gam.shapes_ == "both"
    assert set(gam.cv_results_["shapes"].tolist()) == {"steps", "both"}
    best = np.argmax(gam.cv_results_["steady_test_score"])
    assert gam.cv_results_["shapes"][best] == gam.shapes_
    assert gam.cv_results_["mean_test_score"][best] == gam.best_score_
    alone = clone(gam).set_params(shapes="both").fit(X, outcome)
    assert alone.best_score_ == gam.best_score_
    assert alone.model_ == gam.model_
    gam.plot().figure.clear()


def test_ramps_are_clipped_at_the_ends(table):
    X, _, real = table
    X = X[["line"]].dropna()
    gam = SparseGAMRegressor(shapes="ramps", lambda0=0.5).fit(X, real[X.index])
    low, high = np.quantile(X["line"], [0.01, 0.99])
    far = gam.predict(pd.DataFrame({"line": [low - 100, low - 1, high + 1, high + 100]}))
    assert far[0] == far[1] != far[2] == far[3]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shapes": "curves"}, "shapes must be one of"),
        ({"shapes": {"line": "curves"}}, r"shapes\['line'\] must be one of"),
        ({"shapes": {"no": "both"}}, "no"),
        ({"shapes": ["steps", "both"]}, "a list of shapes requires cross-validation"),
        ({"shapes": "both", "certify": True}, "certifies swaps of steps"),
        ({"shapes": "both", "search": "swap", "lambda0": 1.0}, "supports steps only"),
    ],
)
def test_unsupported_shapes_are_rejected(table, options, message):
    X, y, _ = table
    with pytest.raises(ValueError, match=message):
        SparseGAMClassifier(**options).fit(X, y)
    if options == {"shapes": ["steps", "both"]}:
        with pytest.raises(ValueError, match="at least one"):
            SparseGAMClassifierCV(shapes=[]).fit(X, y)


def test_min_events_bin_counts_rows_below_the_knot(table):
    X, y, _ = table
    gam = SparseGAMClassifier(shapes="ramps", min_events_bin=30, lambda0=1.0).fit(X[["count"]], y)
    assert [term.condition.value for term in gam.terms_][-1] > 7  # the truth bends at 8, with few rows of a class above
    few = SparseGAMClassifier(shapes="ramps", min_events_bin=10**6, lambda0=1.0).fit(X[["count"]], y)
    assert few.n_terms_ == 0


def test_chosen_shapes_by_column_are_plotted(table):
    X, y, _ = table
    gam = SparseGAMClassifierCV(shapes=["steps", {"count": "ramps"}], max_terms=4, cv=3).fit(X[["count", "line"]], y)
    ax = gam.plot()
    assert len(ax.lines) > 1
    assert all(len(line.get_xdata()) for line in ax.lines)
    ax.figure.clear()


@pytest.mark.parametrize("unit", [5e-324, 1e-320, 1e-310])
@pytest.mark.parametrize("shapes", ["ramps", "both"])
def test_columns_of_denormal_numbers_have_steps_instead_of_ramps(unit, shapes):
    z = np.round(np.random.default_rng(0).normal(size=300) * 2)
    y = z + np.random.default_rng(1).normal(size=300)
    gam = SparseGAMRegressor(shapes=shapes, max_terms=4).fit((z * unit)[:, None], y)
    assert gam.n_terms_ > 0
    assert not any(term.condition.is_ramp for term in gam.terms_)
    assert np.isfinite(gam.predict((z * unit)[:, None])).all()
