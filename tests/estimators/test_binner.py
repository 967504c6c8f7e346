"""ThresholdBinner: its 0/1 columns, their names, and frames."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from sparsegam import ThresholdBinner

X = pd.DataFrame(
    {
        "age": [20.0, 30.0, np.nan, -9.0],
        "job": ["clerk", "baker", "clerk", None],
        "since": pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-02", "2020-01-03"]),
        "owner": [True, False, True, True],
    }
)
NAMES = [
    "age <= 20",
    "age == -9",
    "age is missing",
    "job == baker",
    "job == clerk",
    "job is missing",
    "since <= 2020-01-01",
    "since <= 2020-01-02",
    "owner is False",
]
EXPECTED = [
    [1, 0, 0, 0, 1, 0, 1, 1, 0],
    [0, 0, 0, 1, 0, 0, 0, 1, 1],
    [0, 0, 1, 0, 1, 0, 0, 1, 0],
    [0, 1, 0, 0, 0, 1, 0, 0, 0],
]


@pytest.fixture
def binner():
    return ThresholdBinner(special_values=[-9], min_category_count=1)


@pytest.mark.parametrize("make", [lambda frame: frame, pl.from_pandas])
def test_transform_returns_one_column_per_condition(binner, make):
    found = binner.fit_transform(make(X))
    assert binner.get_feature_names_out().tolist() == NAMES
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, EXPECTED)


@pytest.mark.parametrize(("output", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_set_output_returns_frames(binner, output, kind):
    found = binner.set_output(transform=output).fit_transform(X)
    assert isinstance(found, kind)
    assert list(found.columns) == NAMES


def test_new_levels_and_missing_values_are_in_no_column(binner):
    binner.fit(X.iloc[:2])
    row = pd.DataFrame({"age": [np.nan], "job": ["pilot"], "since": [pd.NaT], "owner": [None]})
    assert binner.transform(row).sum() == 0


def test_binner_works_in_pipelines(binner):
    y = [0, 1, 0, 1]
    transformer = make_column_transformer((binner, ["age", "job"]), remainder="drop")
    pipeline = make_pipeline(transformer, LogisticRegression()).fit(X, y)
    names = pipeline[:-1].get_feature_names_out()
    assert names[0] == "thresholdbinner__age <= 20"
    assert pipeline.predict(X).shape == (4,)


def test_names_are_checked(binner):
    with pytest.raises(ValueError, match="input_features is not equal to feature_names_in_"):
        binner.fit(X).get_feature_names_out(["a", "b", "c", "d"])
    with pytest.raises(ValueError, match="length equal to number of features"):
        ThresholdBinner().fit(np.ones((2, 2))).get_feature_names_out(["a"])


def test_weights_are_repeated_rows():
    rng = np.random.default_rng(0)
    values, weight = rng.normal(size=(3000, 1)), rng.integers(0, 4, 3000)
    weighted = ThresholdBinner(max_bins=20).fit(values, sample_weight=weight)
    repeated = ThresholdBinner(max_bins=20).fit(np.repeat(values, weight, axis=0))
    assert weighted.get_feature_names_out().tolist() == repeated.get_feature_names_out().tolist()
    assert (
        weighted.get_feature_names_out().tolist()
        != ThresholdBinner(max_bins=20).fit(values).get_feature_names_out().tolist()
    )


def test_category_without_levels_accepts_new_levels():
    """Where only rows without weight, or none, held a level, there is no telling what kind the levels were."""
    X = pd.DataFrame({"c": pd.Categorical([None, None, "a"]), "x": [1.0, 2.0, 3.0]})
    binner = ThresholdBinner().fit(X, sample_weight=[1, 2, 0])
    assert binner.transform(X).shape == (3, len(binner.get_feature_names_out()))
    assert binner.transform(X.iloc[[2]]).sum() == 0
