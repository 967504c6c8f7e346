"""`positive`: the label that a model speaks of, while scikit-learn sees classes in their order."""

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from sparsegam import (
    SparseGAMClassifier,
    SparseGAMClassifierCV,
    SparseLinearClassifier,
    gam_path,
    linear_path,
)
from sparsegam.inspection import assess

RNG = np.random.default_rng(0)
X = RNG.integers(0, 40, (400, 3)).astype(float)
LATE = (X[:, 0] <= 12) ^ (RNG.random(400) < 0.1)
Y = np.where(LATE, "default", "repaid")
THREE = np.where(LATE, "default", np.where(X[:, 1] > 20, "repaid", "open"))
SETTINGS = {"lambda0": 3.0, "lambda2": 0.001, "min_samples_bin": 10}


def new(**options):
    return SparseGAMClassifier(**SETTINGS | options)


def test_the_model_speaks_of_it_and_the_estimator_keeps_the_order():
    plain, turned = new().fit(X, Y), new(positive="default").fit(X, Y)
    assert turned.model_.classes == ("repaid", "default")
    assert turned.classes_.tolist() == plain.classes_.tolist() == ["default", "repaid"]
    np.testing.assert_allclose(turned.model_.decision_function(X), -plain.model_.decision_function(X), atol=1e-6)
    np.testing.assert_allclose(turned.decision_function(X), plain.decision_function(X), atol=1e-6)
    np.testing.assert_allclose(turned.predict_proba(X), plain.predict_proba(X), atol=1e-6)
    assert (turned.predict(X) == plain.predict(X)).all()
    assert turned.score(X, Y) == plain.score(X, Y)


def test_the_last_label_changes_nothing():
    assert new(positive="repaid").fit(X, Y).model_ == new().fit(X, Y).model_


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_log_loss", "accuracy"])
def test_scorers_of_scikit_learn_agree(scoring):
    turned = cross_val_score(new(positive="default"), X, Y, cv=3, scoring=scoring)
    np.testing.assert_allclose(turned, cross_val_score(new(), X, Y, cv=3, scoring=scoring), atol=1e-9)


def test_more_labels_become_not_this_one():
    gam = new(positive="default").fit(X, THREE)
    assert gam.model_.classes == ("not default", "default")
    assert gam.classes_.tolist() == ["default", "not default"]
    assert gam.score(X, THREE) == new(positive="default").fit(X, Y).score(X, Y)
    metrics = assess(gam, X, THREE)
    assert metrics[0].value > 0.8


def test_numbers_may_be_labels():
    gam = new(positive=1).fit(X, np.where(LATE, 1, np.where(X[:, 1] > 20, 2, 3)))
    assert gam.model_.classes == ("not 1", "1")
    assert gam.score(X, np.where(LATE, 1, 2)) > 0.8


def test_sizes_are_chosen_as_without():
    options = {"max_terms": 4, "cv": 3, "scoring": "roc_auc", "lambda2": 0.001, "min_samples_bin": 10}
    plain = SparseGAMClassifierCV(**options).fit(X, Y)
    turned = SparseGAMClassifierCV(**options, positive="default").fit(X, Y)
    assert turned.best_n_terms_ == plain.best_n_terms_
    assert turned.best_score_ == pytest.approx(plain.best_score_)
    assert turned.model_.classes == ("repaid", "default")


def test_paths_and_linear_models_take_it():
    assert gam_path(X, Y, max_terms=2, positive="default").at(1).classes == ("repaid", "default")
    assert linear_path(X, Y, max_terms=2, positive="default").at(1).classes == ("repaid", "default")
    linear = SparseLinearClassifier(positive="default").fit(X, Y)
    assert linear.model_.classes == ("repaid", "default")
    assert linear.score(X, Y) == SparseLinearClassifier().fit(X, Y).score(X, Y)


@pytest.mark.parametrize(
    ("y", "positive", "message"),
    [
        (Y, "bad", "positive='bad' is not a label of y. Labels: 'default', 'repaid'"),
        (np.full(400, "default"), "default", "one class only"),
    ],
)
def test_errors_name_the_remedy(y, positive, message):
    with pytest.raises(ValueError, match=message):
        new(positive=positive).fit(X, y)


def test_regressions_have_none():
    with pytest.raises(ValueError, match="positive requires a classification loss"):
        gam_path(X, X[:, 0], loss="squared", positive=1)
