"""Drift: nothing moves where rows are the same, what moves is named, profiles hold no rows."""

import numpy as np
import pandas as pd
import pytest

from sparsegam import SparseGAMClassifier
from sparsegam.drift import Profile, stability_index


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


def test_same_rows_do_not_move(model, data):
    drift = model.drift(data[0], data[0])
    assert [line.name for line in drift.lines] == [*model.features, "score"]
    assert drift.worst.psi == 0.0
    assert drift["score"].reading == "stable"


def test_what_moves_is_named(model, data):
    new = data[0].assign(x=data[0]["x"] + 1.5)
    new.loc[:299, "city"] = "unseen"
    new.loc[300:899, "x"] = np.nan
    drift = model.drift(new, data[0])
    assert drift["x"].reading == "moved"
    assert drift["city"].now["unseen"] == pytest.approx(0.1)
    assert drift["x"].now["missing"] > drift["x"].before["missing"] + 0.1
    assert len(drift.to_frame()) == len(str(drift).splitlines()) - 3


def test_profiles_stand_for_the_rows(model, data):
    profile = Profile.from_json(model.profile(data[0]).to_json())
    new = data[0].iloc[:1000]
    assert model.drift(new, profile).to_frame().equals(model.drift(new, data[0]).to_frame())


@pytest.mark.parametrize("text", ["", "[]", '{"format": "sparsegam.Profile", "version": 9}', "[" * 100_000])
def test_other_profiles_are_refused(text):
    with pytest.raises(ValueError, match="not a sparsegam profile"):
        Profile.from_json(text)


def test_profile_of_another_model(model, data):
    other = SparseGAMClassifier(lambda0=400).fit(*data).model_
    with pytest.raises(ValueError, match="profile is of another model"):
        model.drift(data[0], other.profile(data[0]))


def test_index_by_hand():
    assert stability_index(np.array([0.5, 0.5]), np.array([0.25, 0.75])) == pytest.approx(0.25 * np.log(3))
