"""Searches with interactions: selected terms, constraints and limits."""

import numpy as np
import pandas as pd
import pytest

from sparsegam import SparseGAMClassifier, SparseGAMClassifierCV, SparseGAMRegressor, gam_path
from sparsegam._backends.local import LocalBackend
from sparsegam._backends.protocol import LabelledData
from sparsegam._data.table import read_table
from sparsegam._design.binning import Binning
from sparsegam._search.interactions import MAX_ORDERED_BINS, MAX_UNORDERED_BINS, conditions_of


def planted(seed=0, n=1500, noise=0.5):
    """Six features, a step of two of them, and one quadrant."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    y = 1.0 * (X[:, 2] > 0) - (X[:, 3] > 0.5) + 2.0 * ((X[:, 0] > 0.3) & (X[:, 1] <= -0.2)) + noise * rng.normal(size=n)
    return pd.DataFrame(X, columns=list("abcdef")), y


def products(model):
    return [term for term in model.terms if term.is_interaction]


FRAME, Y = planted()
LABEL = Y > 0.4


@pytest.mark.parametrize("interactions", ["auto", 1, [("a", "b")]])
def test_search_finds_a_quadrant(interactions):
    model = SparseGAMRegressor(lambda0=10.0, interactions=interactions).fit(FRAME, Y).model_
    found = products(model)
    assert model.pairs == (("a", "b"),)
    best = max(found, key=lambda term: abs(term.coef))
    ends = {clause.feature: (clause.condition.kind, clause.condition.value) for clause in best.clauses}
    assert ends["a"][1] == pytest.approx(0.3, abs=0.1)
    assert ends["b"][1] == pytest.approx(-0.2, abs=0.1)


def test_loss_and_objective_equal_those_of_the_model():
    for estimator, y in ((SparseGAMRegressor, Y), (SparseGAMClassifier, LABEL)):
        fitted = estimator(lambda0=5.0, lambda2=0.001, interactions=2).fit(FRAME, y)
        score = fitted.model_.decision_function(FRAME)
        loss = ((y - score) ** 2).sum() / 2 if y is Y else np.logaddexp(0, -np.where(y, 1, -1) * score).sum()
        assert fitted.loss_ == pytest.approx(loss, rel=1e-9)
        assert products(fitted.model_)
        n_prices = sum(2.0 if term.is_interaction else 1.0 for term in fitted.terms_)
        ridge = 0.0
        for term in fitted.terms_:
            column = np.ones(len(FRAME), dtype=bool)
            for one in term.clauses:
                x = FRAME[one.feature]
                column &= (x <= one.condition.value) if one.condition.kind == "<=" else (x > one.condition.value)
            ridge += 0.001 * term.coef**2 * len(FRAME) * column.mean() * (1 - column.mean())
            assert term.n_rows == column.sum()
        assert fitted.objective_ == pytest.approx(loss + ridge + 5.0 * n_prices, rel=1e-9)


def test_noise_yields_no_interactions():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(600, 8)))
    frame.columns = [f"x{j}" for j in range(8)]
    y = rng.random(600) < 1 / (1 + np.exp(-frame["x0"] - (frame["x1"] > 0)))
    assert not products(SparseGAMClassifier(interactions="auto").fit(frame, y).model_)
    cv = SparseGAMClassifierCV(max_terms=5, cv=3, interactions="auto").fit(frame, y)
    assert not products(cv.model_)


def test_cross_validation_chooses_helpful_interactions():
    cv = SparseGAMClassifierCV(max_terms=6, cv=3, lambda2=[1.0, 10.0], interactions="auto").fit(FRAME, LABEL)
    assert products(cv.model_)
    assert set(cv.cv_results_["interactions"].tolist()) == {False, True}
    assert len(cv.cv_results_["interactions"]) == len(cv.cv_results_["n_terms"])
    plain = ~cv.cv_results_["interactions"]
    assert cv.cv_results_["mean_test_score"][plain].max() < cv.cv_results_["mean_test_score"].max()


def test_result_does_not_depend_on_n_jobs():
    one, two = (gam_path(FRAME, LABEL, max_terms=8, interactions="auto", n_jobs=n) for n in (1, 2))
    assert [model.to_json() for model in one] == [model.to_json() for model in two]


def test_limits_on_interactions_are_respected():
    many = gam_path(FRAME, Y, loss="squared", max_terms=10, interactions=3, interaction_cost=1.0)
    assert len(products(many.at(10))) > 1
    few = gam_path(FRAME, Y, loss="squared", max_terms=10, interactions=3, interaction_cost=1.0, max_terms_per_pair=1)
    for model in few:
        assert len(products(model)) == len(model.pairs)
    barred = gam_path(FRAME, Y, loss="squared", max_terms=8, interactions="auto", features_never=[("a", "b")])
    assert all(("a", "b") not in model.pairs for model in barred)
    narrow = gam_path(FRAME, Y, loss="squared", max_terms=8, interactions=3, interaction_cost=1.0, max_features=2)
    assert all(len(model.features) <= 2 for model in narrow)


@pytest.mark.parametrize(("hierarchy", "least"), [("weak", 1), ("strong", 2)])
def test_hierarchy_holds_in_every_model_of_the_path(hierarchy, least):
    path = gam_path(FRAME, Y, loss="squared", max_terms=10, interactions=2, hierarchy=hierarchy)
    assert any(map(products, path))
    for model in path:
        alone = {term.feature for term in model.terms if not term.is_interaction}
        assert all(len(alone & {*term.features}) >= least for term in products(model))


def test_monotone_constraints_hold_for_the_whole_model():
    rng = np.random.default_rng(2)
    path = gam_path(FRAME, Y, loss="squared", max_terms=10, interactions=[("a", "b"), ("b", "c")], monotone={"b": -1})
    assert any(map(products, path))
    rows = pd.DataFrame(rng.normal(size=(40, 6)), columns=list("abcdef"))
    for model in path:
        scores = [model.decision_function(rows.assign(b=value)) for value in np.linspace(-3, 3, 60)]
        assert (np.diff(scores, axis=0) <= 0).all()


def test_levels_and_missing_values_can_be_in_interactions():
    rng = np.random.default_rng(3)
    n = 1500
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue"], n),
            "x": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "code": np.where(rng.random(n) < 0.3, -9.0, rng.normal(size=n)),
        }
    )
    y = 2.0 * ((frame["colour"] == "red") & frame["x"].isna()) - 2.0 * (
        (frame["code"] == -9) & (frame["colour"] == "blue")
    )
    model = (
        SparseGAMRegressor(lambda0=10.0, interactions="auto", special_values={"code": [-9]})
        .fit(frame, y + 0.3 * rng.normal(size=n))
        .model_
    )
    words = {term.text() for term in products(model)}
    assert "colour == red and x is missing" in words
    assert "colour == blue and code == -9" in words


def test_interactions_and_ramps_can_be_combined():
    path = gam_path(FRAME, Y, loss="squared", max_terms=8, shapes="both", interactions="auto")
    assert any(map(products, path))
    np.testing.assert_allclose(
        [((Y - model.decision_function(FRAME)) ** 2).sum() / 2 for model in path], path.loss, rtol=1e-7
    )


def test_unsupported_interactions_are_rejected():
    with pytest.raises(ValueError, match="certify=True"):
        SparseGAMClassifier(interactions="auto", certify=True).fit(FRAME, LABEL)
    with pytest.raises(ValueError, match="search='swap'"):
        SparseGAMClassifier(interactions="auto", search="swap", lambda0=5).fit(FRAME, LABEL)
    assert SparseGAMClassifier(interactions="auto").fit(FRAME[["a"]], LABEL).n_terms_ >= 0


def test_multiclass_models_can_have_interactions():
    classes = np.digitize(Y, [-0.5, 1.0])
    fitted = SparseGAMClassifier(lambda0=8.0, interactions=1).fit(FRAME, classes)
    assert any(products(model) for model in fitted.model_.models)
    assert fitted.predict_proba(FRAME).shape == (len(FRAME), 3)


def test_coarse_bins_have_similar_numbers_of_rows():
    rng = np.random.default_rng(0)
    table = read_table(pd.DataFrame({"x": rng.normal(size=5000), "c": rng.integers(0, 60, 5000).astype(str), "b": 1.0}))
    data = LabelledData(table, np.resize([1.0, -1.0], 5000), np.ones(5000))
    encoded = LocalBackend().encode(data, Binning(), ["steps"] * 3, "logistic", interactions=True)
    of_bin, n_ordered, n_coarse = conditions_of(encoded.design, 0).coarse_bins
    assert n_ordered == n_coarse == MAX_ORDERED_BINS
    counts = np.bincount(of_bin[encoded.codes[0]], minlength=n_coarse)
    assert counts.min() > 0.5 * counts.mean()
    assert (np.diff(of_bin) >= 0).all()
    of_bin, n_ordered, n_coarse = conditions_of(encoded.design, 1).coarse_bins
    assert (n_ordered, n_coarse) == (0, MAX_UNORDERED_BINS + 1)


def test_expensive_pair_does_not_displace_its_duplicate():
    """Two columns are the same, and one of them is dear: the one pair there may be is that of the other."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 8, 600), rng.integers(0, 8, 600)
    frame = pd.DataFrame({"dear": a, "a": a, "b": b}).astype(float)
    label = rng.random(600) < 1 / (1 + np.exp(-4.0 * ((a <= 3) & (b <= 3)) + 1.5))
    gam = SparseGAMClassifier(lambda0=2.0, interactions=1, feature_cost={"dear": 1e6}).fit(frame, label)
    assert {term.features for term in gam.terms_ if term.is_interaction} == {("a", "b")}


def test_weighted_coarse_bins_equal_those_of_repeated_rows():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 600)).round(2)
    weight = np.where(a > 1, 9, 1)
    label = rng.random(600) < 1 / (1 + np.exp(-3.0 * ((a > 1.2) & (b > 0)) + 1))
    frame = pd.DataFrame({"a": a, "b": b})
    rows = np.repeat(np.arange(600), weight)
    settings = {"lambda0": 3.0, "interactions": 1, "min_samples_bin": 1}
    weighted = SparseGAMClassifier(**settings).fit(frame, label, sample_weight=weight)
    repeated = SparseGAMClassifier(**settings).fit(frame.iloc[rows], label[rows])
    assert any(term.is_interaction for term in weighted.terms_)
    assert [term.clauses for term in weighted.terms_] == [term.clauses for term in repeated.terms_]
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-9)
