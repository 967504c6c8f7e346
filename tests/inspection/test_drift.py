"""Tests of drift, of training distributions stored in models and of profiles."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from _helpers import products

from sparsegam import Model, SparseGAMClassifier, SparseGAMClassifierCV, SparseGAMRegressor, gam_path
from sparsegam._models.profile import Profile
from sparsegam.inspection._drift import drift as drift_of
from sparsegam.inspection._drift import profile as profile_of
from sparsegam.inspection._drift import stability_index


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=3000), "city": rng.choice(["a", "b", "c"], 3000)})
    frame.loc[rng.random(3000) < 0.1, "x"] = np.nan
    y = rng.random(3000) < 1 / (1 + np.exp(-frame["x"].fillna(1.0) - (frame["city"] == "a")))
    return frame, y.astype(int)


@pytest.fixture(scope="module")
def model(data):
    return SparseGAMClassifier(lambda0=4).fit(*data).model_


def test_drift_of_the_same_rows_is_zero(model, data):
    drift = model.drift(data[0], data[0])
    assert [line.name for line in drift.lines] == [*model.features, "score"]
    assert drift.worst.psi == 0.0
    assert drift["score"].status == "stable"


def test_drift_reports_shifted_features_and_new_values(model, data):
    new = data[0].assign(x=data[0]["x"] + 1.5)
    new.loc[:299, "city"] = "unseen"
    new.loc[300:899, "x"] = np.nan
    drift = model.drift(new, data[0])
    assert drift["x"].status == "moved"
    assert drift["city"].current["unseen"] == pytest.approx(0.1)
    assert drift["x"].current["missing"] > drift["x"].reference["missing"] + 0.1
    assert len(drift.to_frame()) == len(str(drift).splitlines()) - 4


def test_drift_from_a_profile_equals_drift_from_its_rows(model, data):
    profile = Profile.from_json(model.profile(data[0]).to_json())
    new = data[0].iloc[:1000]
    assert model.drift(new, profile).to_frame().equals(model.drift(new, data[0]).to_frame())


FITS = {
    "classifier": lambda X, y: SparseGAMClassifier(lambda0=1, special_values={"z": [-9]}).fit(X, y).model_,
    "swap": lambda X, y: SparseGAMClassifier(lambda0=3, search="swap", lambda2=0).fit(X, y).model_,
    "regressor": lambda X, y: SparseGAMRegressor(special_values={"z": [-9, -8]}, max_bins=9).fit(X, y).model_,
    "both shapes": lambda X, y: (
        SparseGAMClassifier(lambda0=1, special_values={"z": [-9]}, shapes="both").fit(X, y).model_
    ),
    "ramps of few bins": lambda X, y: SparseGAMRegressor(shapes="ramps", max_bins=9).fit(X, y).model_,
    "path": lambda X, y: gam_path(X, y, max_terms=12, min_category_count=80).at(n_terms=12),
    "cross-validated": lambda X, y: SparseGAMClassifierCV(max_terms=4, cv=2).fit(X, y).model_,
}


def mixed_table(n=1500):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "score": rng.normal(size=n).round(1),  # also the name of the last line of Drift
            "z": rng.choice([-9, -8, 1, 2, 3, 4, 5, 6], n),
            "city": rng.choice(["a", "b", "c", "d", None], n, p=[0.4, 0.3, 0.2, 0.05, 0.05]),
            "grade": pd.Categorical(rng.choice(["low", "mid", "high"], n), ["low", "mid", "high", "top"], ordered=True),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 40, n), unit="D"),
            "member": rng.random(n) < 0.5,
        }
    )
    logit = frame["score"] + (frame["z"] == -9) - (frame["city"] == "a") + (frame["grade"] == "low") * frame["z"] / 4
    logit += (frame["day"] > pd.Timestamp("2024-01-15")) * 1.0 - frame["member"] + frame["city"].isna()
    frame.loc[rng.random(n) < 0.1, "score"] = np.nan
    return frame, (rng.random(n) < 1 / (1 + np.exp(-logit.fillna(0)))).astype(int).to_numpy()


@pytest.mark.parametrize("fit", FITS)
def test_models_store_the_training_distribution(fit):
    X, y = mixed_table()
    model = FITS[fit](X, y)
    assert len(model.features) >= 2
    kept = model.training_profile()
    counted = profile_of(model, X, cuts=kept.cuts)
    assert kept.n_rows == len(X)
    assert list(kept.shares) == list(counted.shares) == list(model.features)
    for name, share in counted.shares.items():
        np.testing.assert_allclose(kept.shares[name], share, atol=1e-12)
        assert kept.kinds[name] == pytest.approx(counted.kinds[name])
    np.testing.assert_allclose(kept.bands, counted.bands, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kept.score, counted.score, atol=1e-12)
    assert model.drift(X).worst.psi < 1e-12


@pytest.mark.parametrize("again", [lambda m: Model.from_json(m.to_json()), lambda m: pickle.loads(pickle.dumps(m))])
def test_training_distribution_survives_json_and_pickle(again):
    X, y = mixed_table()
    model = FITS["classifier"](X, y)
    new = X.iloc[:200].assign(z=-9)
    assert str(again(model).drift(new)) == str(model.drift(new))
    assert model.drift(new)["z"].status == "moved"
    assert again(again(model)).to_json() == model.to_json()


def test_size_of_the_training_distribution_does_not_depend_on_rows():
    sizes = []
    for n in (1000, 20_000):
        X = np.random.default_rng(0).normal(size=(n, 2))
        model = SparseGAMClassifier(max_bins=16, max_terms=2).fit(X, X[:, 0] + X[:, 1] > 0).model_
        sizes.append(len(pickle.dumps(model)))
    assert sizes[1] < sizes[0] + 500


def test_training_distribution_excludes_rows_of_weight_zero():
    X, y = mixed_table()
    weight = (np.arange(len(X)) % 3 > 0).astype(float)
    model = SparseGAMClassifier(lambda0=3).fit(X, y, weight).model_
    assert model.training_profile().n_rows == weight.sum()
    assert model.drift(X[weight > 0]).worst.psi < 1e-12


def test_drift_without_training_distribution_needs_a_reference(model, data):
    for without_training in (
        model.with_terms(1.0, model.terms),
        model.scorecard(*data),
        Model(1.0, (), ("x",), "squared"),
    ):
        with pytest.raises(ValueError, match=r"does not contain the training distribution.*Pass the training data"):
            drift_of(without_training, data[0])


def test_edited_models_store_the_distribution_of_the_edit(model, data):
    threshold = next(t.condition.value for t in model.terms if t.condition.kind == "<=")
    editor = model.edit(*data, who="me")
    edited = editor.move("x", threshold, threshold + 0.5, why="to see")
    assert edited.drift(data[0]).worst.psi == 0.0
    assert edited.training_profile().shares["x"].tolist() == edited.profile(data[0]).shares["x"].tolist()
    assert edited.training_profile().shares["x"].tolist() != model.training_profile().shares["x"].tolist()
    assert "city" not in editor.forbid("city", why="to see").training_profile().shares
    assert editor.undo() is edited


def test_a_feature_named_score_is_distinct_from_the_score():
    X, y = mixed_table()
    drift = FITS["classifier"](X, y).drift(X.assign(score=5.0))
    assert drift["score"].current["missing"] == 0.0 < drift["score"].reference["missing"]
    assert drift.score.psi != drift["score"].psi


def test_shares_of_a_profile_do_not_exceed_one(model):
    # 49 * (1 / 49) differs from 1 in floating point.
    rows = pd.DataFrame({"x": np.full(49, np.nan), "city": ["nowhere"] * 49})
    kinds = Profile.from_json(model.profile(rows).to_json()).kinds
    assert (kinds["x"]["missing"], kinds["city"]["unseen"]) == (1.0, 1.0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"format": "sparsegam.Profile", "version": 1}',
        '{"format": "sparsegam.Profile", "version": 2}',
        "[" * 100_000,
    ],
)
def test_from_json_rejects_other_content(text):
    with pytest.raises(ValueError, match="not a sparsegam profile"):
        Profile.from_json(text)


def one_ramp(n=4000, **options):
    x = np.random.default_rng(0).integers(0, 200, (n, 1)).astype(float)
    y = 0.02 * x[:, 0] + np.random.default_rng(1).normal(0, 0.1, n)
    return SparseGAMRegressor(shapes="ramps", max_terms=1, **options).fit(x, y).model_, x


@pytest.mark.parametrize("max_bins", [12, 1000])
def test_drift_detects_shifts_within_a_ramp(max_bins):
    model, x = one_ramp(max_bins=max_bins)
    assert len(model.terms) == 1
    assert model.drift(x).worst.psi < 1e-9
    moved = np.clip(x + 40, 5, 190)  # almost all within the ramp
    assert model.drift(moved)["x0"].status == "moved"
    assert model.drift(moved).score.status == "moved"
    before = model.training_profile()
    assert 8 <= before.cuts["x0"].size <= 11
    assert before.shares["x0"].max() < 0.2


@pytest.mark.parametrize("knot", [8.0, 7.0])
def test_drift_of_a_ramp_with_its_knot_at_the_maximum(knot):
    x = np.random.default_rng(0).integers(0, 9, (2000, 1)).astype(float)
    model = SparseGAMRegressor(shapes="ramps", max_terms=1).fit(x, np.minimum(x[:, 0], knot)).model_
    assert model.terms[0].condition.value == knot
    assert model.drift(x).worst.psi < 1e-9
    assert model.drift(np.minimum(x + 3, 8)).worst.status == "moved"


def test_profiles_with_cuts_survive_json():
    model, x = one_ramp()
    before = model.training_profile()
    again = Profile.from_json(before.to_json())
    assert again.content() == before.content()
    content = json.loads(before.to_json())
    for cuts, words in (
        ([], "lists by feature"),
        ({"other": [1.0]}, "lists by feature"),
        ({"x0": [2.0, 1.0]}, "increasing order"),
        ({"x0": list(range(50))}, "fewer than shares"),
    ):
        with pytest.raises(ValueError, match=words):
            Profile.from_json(json.dumps(content | {"cuts": cuts}))
    with pytest.raises(ValueError, match="profile belongs to another model"):
        model.drift(x, Profile.from_json(json.dumps(content | {"cuts": {}})))


def test_drift_rejects_the_profile_of_another_model(model, data):
    other = SparseGAMClassifier(lambda0=400).fit(*data).model_
    with pytest.raises(ValueError, match="profile belongs to another model"):
        model.drift(data[0], other.profile(data[0]))


def test_stability_index_equals_its_definition():
    assert stability_index(np.array([0.5, 0.5]), np.array([0.25, 0.75])) == pytest.approx(0.25 * np.log(3))


def test_drift_detects_shifts_of_pairs_without_shifts_of_features():
    frame, y = products.table(800)
    model = products.as_fitted(products.written(), frame, y)
    still = model.drift(frame)
    assert [line.name for line in still.lines][-4:] == ["age & priors", "age & hours", "hours & colour", "score"]
    assert {line.psi for line in still.lines} == {0.0}
    rank = np.argsort(np.argsort(frame["age"], kind="stable"))
    together = frame.assign(priors=np.sort(frame["priors"])[rank])
    moved = model.drift(together)
    assert moved["age"].psi == moved["priors"].psi == 0.0
    assert moved["age & priors"].status == "moved"


def test_profiles_of_pairs_survive_json():
    frame, _ = products.table(300)
    model = products.as_fitted(products.written(), frame)
    text = model.profile(frame).to_json()
    assert '"version": 1' in text
    assert model.drift(frame, reference=Profile.from_json(text)).worst.psi == 0.0
    assert Model.from_json(model.to_json()).drift(frame).worst.psi == 0.0
    content = json.loads(text)
    content["pairs"][0][2] = [1.0]
    with pytest.raises(ValueError, match="the profile belongs to another model"):
        model.drift(frame, reference=Profile.from_json(json.dumps(content)))
    content["pairs"][0][1] = "nobody"
    with pytest.raises(ValueError, match="lists of two features"):
        Profile.from_json(json.dumps(content))
