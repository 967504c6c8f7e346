"""Estimators on streams: the same models, scores and predictions as on a data frame."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from _helpers.mixed_table import mixed_table, with_outcomes
from sklearn.metrics import roc_auc_score

from sparsegam import (
    SparseGAMClassifier,
    SparseGAMClassifierCV,
    SparseGAMRegressor,
    SparseGAMRegressorCV,
    SparseLinearClassifier,
    gam_path,
    linear_path,
    scan,
)
from sparsegam._backends.local import LocalBackend
from sparsegam._data import streams
from sparsegam._design import encoding
from sparsegam.datasets import make_credit

FEATURES = [name for name in mixed_table(5).columns if name != "y"]
SETTINGS = {"special_values": [-9.0], "max_bins": 50, "lambda0": 2.0}


@pytest.fixture(scope="module")
def table():
    frame = mixed_table(1500)
    frame["grade"] = frame["grade"].astype(str)  # Arrow, as narwhals reads it, has no order of levels
    return with_outcomes(frame)


@pytest.fixture
def files(table, tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "MIN_PIECE_ROWS", 100)
    monkeypatch.setattr(streams, "PIECE_VALUES", 100)
    for i, part in enumerate(np.split(np.arange(1500), [3, 600, 601, 1200])):
        table.iloc[part].to_parquet(tmp_path / f"{i}.parquet", index=False)
    return tmp_path


def features_of(table, *others):
    return table[[*FEATURES, *others]]


def streamed(files, *columns):
    return scan(files, columns=[*FEATURES, *columns])


def assert_same_model(one, other):
    assert one.model_.to_json() == other.model_.to_json()
    assert one.objective_ == other.objective_
    assert one.feature_names_in_.tolist() == other.feature_names_in_.tolist()
    assert one.n_features_in_ == other.n_features_in_


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("max_bytes", [None, 0])
def test_classifier_of_a_stream_equals_that_of_a_frame(table, files, n_jobs, max_bytes):
    expected = SparseGAMClassifier(**SETTINGS).fit(features_of(table), table["y"], table["w"])
    stream = scan(files, columns=[*features_of(table).columns, "y", "w"], max_bytes=max_bytes)
    found = SparseGAMClassifier(**SETTINGS, n_jobs=n_jobs).fit(stream, y="y", sample_weight="w")
    assert_same_model(found, expected)
    assert found.classes_.tolist() == expected.classes_.tolist()
    np.testing.assert_array_equal(found.predict(stream), expected.predict(features_of(table)))
    np.testing.assert_array_equal(found.predict_proba(stream), expected.predict_proba(features_of(table)))
    assert found.score(stream, "y", "w") == expected.score(features_of(table), table["y"], table["w"])
    assert found.score(stream, "y") == expected.score(features_of(table), table["y"])
    np.testing.assert_array_equal(found.predict(features_of(table)), expected.predict(features_of(table)))


@pytest.mark.parametrize("min_samples_bin", [1, 40])
def test_ramps_of_a_stream_equal_those_of_a_frame(table, files, min_samples_bin):
    settings = SETTINGS | {"shapes": "both", "min_samples_bin": min_samples_bin}
    expected = SparseGAMClassifier(**settings).fit(features_of(table), table["y"])
    found = SparseGAMClassifier(**settings).fit(streamed(files, "y"), "y")
    assert_same_model(found, expected)
    assert any(term.condition.kind == "ramp" for term in found.terms_)


def test_regressor_of_a_stream_equals_that_of_a_frame(table, files):
    expected = SparseGAMRegressor(special_values=[-9.0]).fit(features_of(table), table["amount"])
    found = SparseGAMRegressor(special_values=[-9.0]).fit(streamed(files, "amount"), "amount")
    assert_same_model(found, expected)
    assert found.score(streamed(files, "amount"), "amount") == expected.score(features_of(table), table["amount"])


def test_multiclass_model_of_a_stream_equals_that_of_a_frame(table, files):
    expected = SparseGAMClassifier(**SETTINGS).fit(features_of(table), table["three"])
    found = SparseGAMClassifier(**SETTINGS).fit(streamed(files, "three"), "three")
    assert [model.to_json() for model in found.model_.models] == [model.to_json() for model in expected.model_.models]
    np.testing.assert_array_equal(found.predict_proba(streamed(files)), expected.predict_proba(features_of(table)))


@pytest.mark.parametrize("scoring", [None, "roc_auc"])
def test_cross_validation_of_a_stream_uses_the_same_folds(table, files, scoring):
    settings = {"special_values": [-9.0], "max_terms": 8, "scoring": scoring, "cv": 3}
    expected = SparseGAMClassifierCV(**settings).fit(features_of(table), table["y"])
    found = SparseGAMClassifierCV(**settings).fit(streamed(files, "y"), "y")
    assert_same_model(found, expected)
    for name, scores in expected.cv_results_.items():
        np.testing.assert_array_equal(found.cv_results_[name], scores)


def test_regression_cross_validation_of_a_stream_equals_that_of_a_frame(table, files):
    settings = {"max_terms": 6, "cv": 3, "lambda2": 1e-3}
    expected = SparseGAMRegressorCV(**settings).fit(features_of(table), table["amount"], table["w"])
    found = SparseGAMRegressorCV(**settings).fit(streamed(files, "amount", "w"), "amount", "w")
    assert_same_model(found, expected)
    assert found.best_score_ == expected.best_score_


def test_path_of_a_stream_equals_that_of_a_frame(table, files):
    expected = gam_path(features_of(table), table["y"], max_terms=10)
    found = gam_path(streamed(files, "y"), "y", max_terms=10)
    np.testing.assert_array_equal(found.objective, expected.objective)
    assert found.at(7).to_json() == expected.at(7).to_json()


def test_readers_and_lazy_frames_are_streams(table):
    frame = features_of(table, "y")
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    expected = SparseGAMClassifier(**SETTINGS).fit(features_of(table), table["y"])

    def reader():
        return arrow.to_reader(max_chunksize=200)

    for X in (reader, pl.from_arrow(arrow).lazy()):
        assert_same_model(SparseGAMClassifier(**SETTINGS).fit(X, "y"), expected)


def test_csv_files_are_streams(table, tmp_path):
    frame = features_of(table, "y")
    frame.to_csv(tmp_path / "a.csv", index=False)
    text = pd.read_csv(tmp_path / "a.csv", parse_dates=["seen"])
    text["since"] = pd.to_datetime(text["since"]).dt.date
    expected = SparseGAMClassifier(**SETTINGS).fit(text.drop(columns="y"), text["y"])
    assert_same_model(SparseGAMClassifier(**SETTINGS).fit(scan(tmp_path / "a.csv"), "y"), expected)


def test_labels_keep_their_type(tmp_path):
    credit = make_credit(400)
    frame = credit.frame.assign(y=np.asarray(credit.target))
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    for name in ("a.csv", "a.parquet"):
        gam = SparseGAMClassifier(lambda0=3.0).fit(scan(tmp_path / name), "y")
        assert gam.classes_.dtype.kind == "i"
        scores = gam.decision_function(scan(tmp_path / name))
        assert roc_auc_score(frame["y"], scores) > 0.7


def test_new_values_in_a_stream_are_warned_about_once(table, files):
    gam = SparseGAMClassifier(**SETTINGS).fit(
        features_of(table).dropna(), table["y"][features_of(table).dropna().index]
    )
    n = int(table["job"].isna().sum())
    assert "job" in gam.model_.features
    with pytest.warns(UserWarning, match=f"{n} rows have a missing value in 'job'") as told:
        gam.predict(streamed(files))
    assert len(told) == 1


def test_codes_of_a_stream_are_overwritten_by_bins(files, monkeypatch):
    encoded, encode = [], LocalBackend.encode

    def noted(backend, data, *given, **options):
        encoded.append((data.features, encode(backend, data, *given, **options)))
        return encoded[-1][1]

    monkeypatch.setattr(LocalBackend, "encode", noted)
    SparseGAMClassifier(**SETTINGS | {"max_bins": 10}).fit(streamed(files, "y"), "y")
    ((table, found),) = encoded
    for column, codes in zip(table.source, found.codes, strict=True):
        assert np.shares_memory(column.codes, codes)


def test_arrow_memory_is_released_between_pieces(files, monkeypatch):
    pool, held = pa.default_memory_pool(), []
    monkeypatch.setattr(encoding, "release_memory", lambda: held.append(pool.bytes_allocated()))
    before = pool.bytes_allocated()
    SparseGAMClassifier(**SETTINGS).fit(streamed(files, "y"), "y")
    assert held == [before]


@pytest.mark.parametrize("max_bins", [3, 1000])
def test_special_code_warnings_of_streams_name_values(tmp_path, max_bins):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": np.append(rng.integers(0, 60, 290), [-9] * 10), "y": rng.integers(0, 2, 300)})
    frame.to_parquet(tmp_path / "a.parquet")
    with pytest.warns(UserWarning, match=r"1 column probably contains special codes.*x \(-9 in 10 rows\)"):
        SparseGAMClassifier(max_bins=max_bins).fit(scan(tmp_path / "a.parquet"), "y")


def test_missing_targets_are_rejected_with_the_row(table, tmp_path):
    frame = features_of(table, "y")
    frame.loc[7, "y"] = None
    frame.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"y contains NaN or None in 1 of 1500 rows .*row 7"):
        SparseGAMClassifier().fit(scan(tmp_path / "a.parquet"), "y")


def test_missing_columns_at_predict_are_rejected(table, files):
    gam = SparseGAMClassifier(**SETTINGS).fit(streamed(files, "y"), "y")
    with pytest.raises(ValueError, match="X lacks the columns"):
        gam.predict(scan(files, columns=["owner"]))


def test_linear_models_reject_streams(files):
    with pytest.raises(ValueError, match="linear models do not support streams, got Stream"):
        SparseLinearClassifier().fit(streamed(files, "y"), "y")
    with pytest.raises(ValueError, match="linear models do not support streams"):
        linear_path(streamed(files, "y"), "y")
