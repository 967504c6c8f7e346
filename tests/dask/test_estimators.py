"""Models fitted on a cluster equal those fitted on one data frame, for any parts; predictions are lazy."""

import pickle

import dask
import dask.array as da
import numpy as np
import pytest
from _helpers.dask_parts import delayed_parts, frame_of, loaded, parts_of

from sparsegam import SparseGAMClassifier, SparseGAMRegressor, gam_path
from sparsegam import dask as distributed_models
from sparsegam.dask import DaskSparseGAMClassifier, DaskSparseGAMRegressor

pytestmark = pytest.mark.usefixtures("nothing_left")
FEATURES = ["age", "debt", "income", "owner", "since", "seen", "job", "grade"]
SETTINGS = {"special_values": [-9.0], "max_bins": 50, "lambda0": 2.0}


def dask_frame(table, *more):
    return frame_of(table[[*FEATURES, *more]])


def assert_same_model(found, expected):
    mine, theirs = found.model_, expected.model_
    assert [(t.feature, t.condition) for t in mine.terms] == [(t.feature, t.condition) for t in theirs.terms]
    assert [t.coef for t in mine.terms] == pytest.approx([t.coef for t in theirs.terms], rel=1e-7)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-9)
    for one, other in zip(mine.terms, theirs.terms, strict=True):
        assert one.n_rows == other.n_rows
        assert one.n_events == other.n_events
        assert one.standard_error == pytest.approx(other.standard_error, rel=1e-6)
    (ends, counts), (expected_ends, expected_counts) = mine.training.bands, theirs.training.bands
    assert counts.sum() == expected_counts.sum()
    # A score on the boundary of two of the 1021 buckets may be counted in either.
    np.testing.assert_allclose(ends, expected_ends, atol=np.ptp(expected_ends) / 300)
    assert mine.distributions.keys() == theirs.distributions.keys()
    assert found.feature_names_in_.tolist() == expected.feature_names_in_.tolist()


def test_classifier_equals_the_local_fit_for_named_target_and_weight(client, table):
    expected = SparseGAMClassifier(**SETTINGS).fit(table[FEATURES], table["y"], table["w"])
    found = DaskSparseGAMClassifier(**SETTINGS, client=client).fit(dask_frame(table, "y", "w"), "y", "w")
    assert_same_model(found, expected)
    assert found.classes_.tolist() == ["bad", "good"]
    assert found.round_trips_ > 10
    assert_same_model(found.to_local(), expected)
    assert type(found.to_local()) is SparseGAMClassifier
    assert not hasattr(found.to_local(), "client")


def test_predictions_of_dask_collections_are_lazy(client, table):
    found = DaskSparseGAMClassifier(**SETTINGS).fit(dask_frame(table, "y"), "y")
    rows = table[FEATURES]
    local = found.to_local()
    for method in ("predict", "predict_proba", "decision_function"):
        lazy = getattr(found, method)(dask_frame(table, "y"))
        assert isinstance(lazy, da.Array)
        np.testing.assert_array_equal(lazy.compute(), getattr(local, method)(rows))
        np.testing.assert_array_equal(getattr(found, method)(rows), getattr(local, method)(rows))
    assert found.score(dask_frame(table, "y"), "y") == local.score(rows, table["y"])
    assert found.score(rows, table["y"]) == local.score(rows, table["y"])
    again = pickle.loads(pickle.dumps(DaskSparseGAMClassifier(client=client, max_bins=7)))
    assert again.client is None
    assert again.max_bins == 7


def test_target_and_weight_may_be_dask_series(client, table):
    expected = SparseGAMClassifier(**SETTINGS, class_weight="balanced").fit(table[FEATURES], table["y"], table["w"])
    whole = dask_frame(table, "y", "w")
    found = DaskSparseGAMClassifier(**SETTINGS, class_weight="balanced").fit(whole[FEATURES], whole["y"], whole["w"])
    assert_same_model(found, expected)


def test_regressor_equals_the_local_fit(client, table):
    expected = SparseGAMRegressor(special_values=[-9.0]).fit(table[FEATURES], table["amount"], table["w"])
    found = DaskSparseGAMRegressor(special_values=[-9.0]).fit(dask_frame(table, "amount", "w"), "amount", "w")
    assert_same_model(found, expected)
    assert found.score(dask_frame(table, "amount"), "amount") == pytest.approx(
        expected.score(table[FEATURES], table["amount"])
    )


def test_multiclass_fit_equals_the_local_fit(client, table):
    expected = SparseGAMClassifier(**SETTINGS).fit(table[FEATURES], table["three"])
    found = DaskSparseGAMClassifier(**SETTINGS).fit(dask_frame(table, "three"), "three")
    for one, other in zip(found.estimators_, expected.estimators_, strict=True):
        assert_same_model(one, other)
    lazy = found.predict_proba(dask_frame(table))
    np.testing.assert_allclose(lazy.compute(), expected.predict_proba(table[FEATURES]))


def test_dask_arrays_and_delayed_parts_are_accepted(client, table):
    X = table[["age", "debt", "income"]].to_numpy()
    expected = SparseGAMClassifier(**SETTINGS).fit(X, table["y"])
    chunks = tuple(len(part) for part in parts_of(table) if len(part))
    array = da.from_array(X, chunks=(chunks, (2, 1)))
    labels = da.from_array(table["y"].to_numpy(dtype=object), chunks=(chunks,))
    found = DaskSparseGAMClassifier(**SETTINGS).fit(array, labels)
    assert [(t.feature, t.condition, t.n_rows) for t in found.terms_] == [
        (t.feature, t.condition, t.n_rows) for t in expected.terms_
    ]
    assert found.predict(array).shape == (2000,)
    np.testing.assert_array_equal(found.predict(array).compute(), expected.predict(X))
    parts = [dask.delayed(X[i : i + 500]) for i in range(0, 2000, 500)]
    y = [dask.delayed(table["y"].to_numpy()[i : i + 500]) for i in range(0, 2000, 500)]
    again = DaskSparseGAMClassifier(**SETTINGS).fit(parts, y)
    assert again.objective_ == pytest.approx(expected.objective_, rel=1e-9)


def test_constraints_equal_those_of_the_local_fit(client, table):
    rules = {"min_events_bin": 30, "monotone": {"age": "decreasing"}, "features_always": ["income"], "max_features": 3}
    expected = SparseGAMClassifier(**SETTINGS, **rules).fit(table[FEATURES], table["y"])
    assert_same_model(DaskSparseGAMClassifier(**SETTINGS, **rules).fit(dask_frame(table, "y"), "y"), expected)


def test_ramps_equal_those_of_the_local_fit(client, table):
    # Each bin has one value.
    shapes = {"shapes": "both", "min_samples_bin": 1, "max_bins": 1000}
    expected = SparseGAMClassifier(**SETTINGS | shapes).fit(table[FEATURES], table["y"])
    found = DaskSparseGAMClassifier(**SETTINGS | shapes).fit(dask_frame(table, "y"), "y")
    assert any(term.condition.kind == "ramp" for term in found.terms_)
    assert_same_model(found, expected)


@pytest.mark.parametrize("given", [("y", None), ("amount", "w")])
def test_coefficients_of_ramps_are_refitted_to_raw_values(client, table, given):
    """Bins hold several values, so that bin centres do not determine the ramps."""
    target, weight = given
    settings = SETTINGS | {"shapes": "both", "max_bins": 12, "lambda0": 6.0}
    local, remote = (
        (SparseGAMClassifier, DaskSparseGAMClassifier)
        if target == "y"
        else (SparseGAMRegressor, DaskSparseGAMRegressor)
    )
    expected = local(**settings).fit(table[FEATURES], table[target], None if weight is None else table[weight])
    found = remote(**settings).fit(dask_frame(table, *filter(None, given)), target, weight)
    assert any(term.condition.kind == "ramp" for term in found.terms_)
    assert_same_model(found, expected)


def test_gam_path_equals_the_local_path(client, table):
    expected = gam_path(table[FEATURES], table["y"], max_terms=8)
    found = distributed_models.gam_path(dask_frame(table, "y"), "y", max_terms=8)
    np.testing.assert_allclose(found.objective, expected.objective, rtol=1e-9)
    assert found.n_terms.tolist() == expected.n_terms.tolist()


@pytest.mark.parametrize("cuts", [[], [1], [500, 1000, 1500], [3, 3, 3, 1999]])
def test_fit_does_not_depend_on_the_parts(client, table, cuts):
    expected = SparseGAMClassifier(**SETTINGS).fit(table[FEATURES], table["y"])
    X, y = (delayed_parts(table[names], cuts) for names in (FEATURES, "y"))
    found = DaskSparseGAMClassifier(**SETTINGS).fit(X, y)
    assert_same_model(found, expected)


def test_repeated_fit_has_the_same_bits(client, table):
    X = dask_frame(table, "y")
    one, other = (DaskSparseGAMClassifier(**SETTINGS).fit(X, "y").model_.to_json() for _ in range(2))
    assert one == other


def with_changed_part(frame, part, **columns):
    parts = parts_of(frame)
    parts[part] = parts[part].assign(**columns)
    return [loaded(one) for one in parts]


@pytest.mark.parametrize(
    ("parts_of_table", "message"),
    [
        (lambda t: with_changed_part(t, 3, extra=1.0), "all parts must have the same columns in the same order"),
        (lambda t: with_changed_part(t, 3, age="old"), r"'age' contains .* in some parts and .* in others: convert"),
        (lambda t: with_changed_part(t, 4, y=None), "y contains NaN or None in"),
        (lambda t: delayed_parts(t.iloc[:0], []), "X has no rows"),
        (lambda t: with_changed_part(t.assign(y="bad"), 0), "one class only"),
    ],
)
def test_invalid_parts_raise_value_error(client, table, parts_of_table, message):
    with pytest.raises(ValueError, match=message):
        DaskSparseGAMClassifier(**SETTINGS).fit(parts_of_table(table[[*FEATURES, "y"]]), "y")


def test_column_may_be_missing_in_all_rows_of_a_part(client, table):
    frame = table.copy()
    frame.loc[frame.index[40:900], "job"] = None
    frame.loc[frame.index[900:901], "income"] = np.nan
    expected = SparseGAMClassifier(**SETTINGS).fit(frame[FEATURES], frame["y"])
    assert_same_model(DaskSparseGAMClassifier(**SETTINGS).fit(delayed_parts(frame[[*FEATURES, "y"]]), "y"), expected)


def test_invalid_arguments_raise(client, table):
    with pytest.raises(ValueError, match="X must be a Dask DataFrame or Array, or a list of delayed parts, got DataFr"):
        DaskSparseGAMClassifier().fit(table[FEATURES], table["y"])
    with pytest.raises(ValueError, match="X has 7 parts and y has 1: align them"):
        DaskSparseGAMClassifier().fit(delayed_parts(table[FEATURES]), [dask.delayed(table["y"])])
    with pytest.raises(ValueError, match="search='swap' needs the rows in memory"):
        DaskSparseGAMClassifier(search="swap").fit(dask_frame(table, "y"), "y")
    with pytest.raises(TypeError, match="unexpected keyword argument 'max_term'"):
        distributed_models.gam_path(dask_frame(table, "y"), "y", max_term=3)
    with pytest.raises(ValueError, match="sample_weight must be finite and not negative"):
        DaskSparseGAMClassifier().fit(delayed_parts(table.assign(w=-1.0)[[*FEATURES, "y", "w"]]), "y", "w")


def test_fit_warns_about_special_codes_as_the_local_fit(client, table):
    frame = table[["age", "y"]].assign(age=table["age"].where(table["debt"] != -9.0, -999))
    settings = {"lambda0": 2.0, "max_bins": 50}
    with pytest.warns(UserWarning, match="special codes") as expected:
        SparseGAMClassifier(**settings).fit(frame[["age"]], frame["y"])
    with pytest.warns(UserWarning, match="special codes") as found:
        DaskSparseGAMClassifier(**settings).fit(frame_of(frame), "y")
    assert [str(each.message) for each in found] == [str(each.message) for each in expected]


def test_fit_warns_about_survey_weights_as_the_local_fit(client, table):
    settings = SETTINGS | {"lambda0": "bic"}
    with pytest.warns(UserWarning, match="treats weights as numbers of repeated rows") as expected:
        SparseGAMClassifier(**settings).fit(table[FEATURES], table["y"], 100 * table["w"])
    with pytest.warns(UserWarning, match="treats weights as numbers of repeated rows") as found:
        DaskSparseGAMClassifier(**settings).fit(dask_frame(table.assign(w=100 * table["w"]), "y", "w"), "y", "w")
    assert [str(each.message) for each in found] == [str(each.message) for each in expected]
