"""The positive class of a model, while scikit-learn expects sorted classes."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score

from sparsegam import (
    SparseGAMClassifier,
    SparseGAMClassifierCV,
    SparseLinearClassifier,
    SparseLinearClassifierCV,
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


def test_positive_class_is_modelled_and_classes_stay_sorted():
    plain, turned = new().fit(X, Y), new(positive="default").fit(X, Y)
    assert turned.model_.classes == ("repaid", "default")
    assert turned.classes_.tolist() == plain.classes_.tolist() == ["default", "repaid"]
    np.testing.assert_allclose(turned.model_.decision_function(X), -plain.model_.decision_function(X), atol=1e-6)
    np.testing.assert_allclose(turned.decision_function(X), plain.decision_function(X), atol=1e-6)
    np.testing.assert_allclose(turned.predict_proba(X), plain.predict_proba(X), atol=1e-6)
    assert (turned.predict(X) == plain.predict(X)).all()
    assert turned.score(X, Y) == plain.score(X, Y)


def test_positive_last_label_equals_the_default():
    assert new(positive="repaid").fit(X, Y).model_ == new().fit(X, Y).model_


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_log_loss", "accuracy"])
def test_scikit_learn_scorers_agree(scoring):
    turned = cross_val_score(new(positive="default"), X, Y, cv=3, scoring=scoring)
    np.testing.assert_allclose(turned, cross_val_score(new(), X, Y, cv=3, scoring=scoring), atol=1e-9)


def test_other_labels_are_merged():
    gam = new(positive="default").fit(X, THREE)
    assert gam.model_.classes == ("not default", "default")
    assert gam.classes_.tolist() == ["default", "not default"]
    assert gam.score(X, THREE) == new(positive="default").fit(X, Y).score(X, Y)
    metrics = assess(gam, X, THREE)
    assert metrics[0].value > 0.8


def test_numeric_labels_are_accepted():
    gam = new(positive=1).fit(X, np.where(LATE, 1, np.where(X[:, 1] > 20, 2, 3)))
    assert gam.model_.classes == ("not 1", "1")
    assert gam.score(X, np.where(LATE, 1, 2)) > 0.8


def test_positive_does_not_change_the_chosen_size():
    options = {"max_terms": 4, "cv": 3, "scoring": "roc_auc", "lambda2": 0.001, "min_samples_bin": 10}
    plain = SparseGAMClassifierCV(**options).fit(X, Y)
    turned = SparseGAMClassifierCV(**options, positive="default").fit(X, Y)
    assert turned.best_n_terms_ == plain.best_n_terms_
    assert turned.best_score_ == pytest.approx(plain.best_score_)
    assert turned.model_.classes == ("repaid", "default")


def test_paths_and_linear_models_accept_positive():
    assert gam_path(X, Y, max_terms=2, positive="default").at(1).classes == ("repaid", "default")
    assert linear_path(X, Y, max_terms=2, positive="default").at(1).classes == ("repaid", "default")
    linear = SparseLinearClassifier(positive="default").fit(X, Y)
    assert linear.model_.classes == ("repaid", "default")
    assert linear.score(X, Y) == SparseLinearClassifier().fit(X, Y).score(X, Y)


@pytest.mark.parametrize("y", [Y, THREE], ids=["two labels", "three labels"])
@pytest.mark.parametrize("positive", ["default", "repaid"])
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (SparseGAMClassifier, {"shapes": "both", "interactions": [(0, 1)]}),
        (SparseGAMClassifierCV, {"max_terms": 3, "cv": 2}),
        (SparseLinearClassifier, {}),
        (SparseLinearClassifierCV, {"max_terms": 3, "cv": 2}),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_attributes_and_scores_of_an_estimator_agree_on_the_class(kind, options, positive, y):
    fitted = kind(positive=positive, **options).fit(X, y)
    scores, in_second = fitted.decision_function(X), np.isin(y, positive) == (fitted.classes_[1] == positive)
    assert fitted.n_terms_ > 0
    assert roc_auc_score(in_second, scores) > 0.7
    assert roc_auc_score(y == positive, fitted.model_.decision_function(X)) > 0.7
    np.testing.assert_allclose(fitted.predict_proba(X)[:, 1], 1 / (1 + np.exp(-scores)))
    np.testing.assert_array_equal(fitted.predict(X) == fitted.classes_[1], scores > 0)
    if hasattr(fitted, "coef_"):
        np.testing.assert_allclose((X @ fitted.coef_.T + fitted.intercept_)[:, 0], scores)
        return
    rebuilt = replace(fitted.model_, intercept=fitted.intercept_, terms=fitted.terms_)
    np.testing.assert_allclose(rebuilt.decision_function(X), scores)
    for term in fitted.terms_:
        if term.condition.kind == "<=" and term.also is None:
            holds = X[:, int(term.feature[1:])] <= term.condition.value
            assert term.n_events == np.count_nonzero(holds & in_second)


@pytest.mark.parametrize(
    ("y", "positive", "message"),
    [
        (Y, "bad", "positive='bad' is not a label of y. Labels: 'default', 'repaid'"),
        (np.full(400, "default"), "default", "one class only"),
    ],
)
def test_invalid_positive_is_rejected_with_the_labels(y, positive, message):
    with pytest.raises(ValueError, match=message):
        new(positive=positive).fit(X, y)


def test_positive_is_rejected_for_regression():
    with pytest.raises(ValueError, match="positive requires a classification loss"):
        gam_path(X, X[:, 0], loss="squared", positive=1)
