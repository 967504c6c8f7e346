"""Cross-validation on a cluster gives the same folds, scores and selections as on local data."""

import numpy as np
import pytest
from _helpers.dask_parts import delayed_parts, frame_of
from sklearn.model_selection import GroupKFold

from sparsegam import SparseGAMClassifierCV, SparseGAMRegressorCV
from sparsegam.dask import DaskSparseGAMClassifierCV, DaskSparseGAMRegressorCV

pytestmark = pytest.mark.usefixtures("nothing_left")
FEATURES = ["age", "debt", "income", "owner", "job", "grade"]
SETTINGS = {"special_values": [-9.0], "max_bins": 30, "max_terms": 5, "cv": 3}


def assert_same_choice(found, expected):
    assert found.best_n_terms_ == expected.best_n_terms_
    assert found.best_lambda2_ == pytest.approx(expected.best_lambda2_)
    for name, scores in expected.cv_results_.items():
        # Models of a fold are fitted to about six digits, so that close scores may be ranked differently.
        if name != "rank_test_score":
            np.testing.assert_allclose(found.cv_results_[name], scores, rtol=1e-5, atol=1e-6)
    assert [(t.feature, t.condition) for t in found.terms_] == [(t.feature, t.condition) for t in expected.terms_]
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-9)


@pytest.mark.parametrize("scoring", [None, "roc_auc"])
def test_classifier_chooses_the_size_of_the_local_fit(client, table, scoring):
    settings = SETTINGS | {"scoring": scoring, "class_weight": {"bad": 2.0}, "lambda2": [1.0, 10.0]}
    expected = SparseGAMClassifierCV(**settings).fit(table[FEATURES], table["y"], table["w"])
    found = DaskSparseGAMClassifierCV(**settings).fit(frame_of(table[[*FEATURES, "y", "w"]]), "y", "w")
    assert_same_choice(found, expected)
    assert type(found.to_local()) is SparseGAMClassifierCV
    lazy = found.predict(frame_of(table[FEATURES]))
    np.testing.assert_array_equal(lazy.compute(), expected.predict(table[FEATURES]))


def test_regressor_with_groups_chooses_the_size_of_the_local_fit(client, table):
    settings = SETTINGS | {"cv": GroupKFold(3), "lambda2": 1e-3}
    groups = np.arange(2000) % 7
    expected = SparseGAMRegressorCV(**settings).fit(table[FEATURES], table["amount"], groups=groups)
    found = DaskSparseGAMRegressorCV(**settings).fit(
        delayed_parts(table[FEATURES]), delayed_parts(table["amount"]), groups=groups
    )
    assert_same_choice(found, expected)


def test_multiclass_fit_chooses_the_sizes_of_the_local_fit(client, table):
    settings = SETTINGS | {"lambda2": 1.0, "cv": 2}
    expected = SparseGAMClassifierCV(**settings).fit(table[FEATURES], table["three"])
    found = DaskSparseGAMClassifierCV(**settings).fit(frame_of(table[[*FEATURES, "three"]]), "three")
    for one, other in zip(found.estimators_, expected.estimators_, strict=True):
        assert_same_choice(one, other)
    assert found.classes_.tolist() == expected.classes_.tolist()


def test_values_without_training_rows_are_scored_as_in_the_local_fit(client, table):
    frame = table[[*FEATURES, "y"]].copy()
    frame.loc[frame.index[:3], "job"] = ["rare", "rarer", "rarest"]
    settings = SETTINGS | {"lambda2": 1.0, "min_category_count": 1}
    expected = SparseGAMClassifierCV(**settings).fit(frame[FEATURES], frame["y"])
    assert_same_choice(DaskSparseGAMClassifierCV(**settings).fit(frame_of(frame), "y"), expected)
