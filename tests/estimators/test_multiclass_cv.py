"""Cross-validation with more than two classes: one size per class on common folds, rare classes and weights."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

from sparsegam import SparseGAMClassifierCV, SparseLinearClassifierCV

FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)
LABELS = np.array(["bird", "cat", "dog"])


@pytest.fixture(scope="module")
def rows():
    """Return data in which columns 0 and 1 determine the class and the others are noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 6))
    score = np.column_stack([3 * X[:, 0], -3 * X[:, 0], 3 * X[:, 1]]) + rng.gumbel(size=(240, 3))
    return X, LABELS[score.argmax(axis=1)]


@pytest.fixture(scope="module", params=[SparseGAMClassifierCV, SparseLinearClassifierCV])
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def fitted(rows, kind):
    return kind(cv=FOLDS, max_terms=4).fit(*rows)


def test_each_class_has_its_own_size(rows, fitted):
    X, y = rows
    assert fitted.classes_.tolist() == LABELS.tolist()
    assert len(fitted.estimators_) == len(fitted.path_) == len(fitted.cv_results_) == 3
    for name in ("best_n_terms_", "best_score_", "best_lambda0_", "lambda0_"):
        np.testing.assert_array_equal(getattr(fitted, name), [getattr(part, name) for part in fitted.estimators_])
    assert fitted.n_terms_ == fitted.best_n_terms_.sum()
    assert fitted.score(X, y) > 0.7


def test_size_of_a_class_equals_a_binary_choice_on_the_same_folds(rows, kind, fitted):
    X, y = rows
    for i, label in enumerate(LABELS):
        alone = kind(cv=list(FOLDS.split(X, y)), max_terms=4).fit(X, y == label)
        scores = fitted.cv_results_[i]["mean_test_score"]
        np.testing.assert_array_equal(scores, alone.cv_results_["mean_test_score"])
        np.testing.assert_array_equal(fitted.decision_function(X)[:, i], alone.decision_function(X))


def test_probabilities_are_normalized_over_classes(rows, fitted):
    X, _ = rows
    own = np.column_stack([part.predict_proba(X)[:, 1] for part in fitted.estimators_])
    probabilities = fitted.predict_proba(X)
    np.testing.assert_allclose(probabilities, own / own.sum(axis=1, keepdims=True))
    assert (fitted.classes_[probabilities.argmax(axis=1)] == fitted.predict(X)).all()


def test_rows_without_weight_are_ignored(rows, kind):
    X, y = rows
    weight = np.r_[np.ones(200), np.zeros(40)]
    other = np.r_[y[:200], np.repeat("unicorn", 40)]
    weighted = kind(cv=[(np.arange(120), np.arange(120, 240))], max_terms=3).fit(X, other, sample_weight=weight)
    absent = kind(cv=[(np.arange(120), np.arange(120, 200))], max_terms=3).fit(X[:200], y[:200])
    assert weighted.classes_.tolist() == LABELS.tolist()
    np.testing.assert_allclose(weighted.decision_function(X), absent.decision_function(X))
    np.testing.assert_allclose(weighted.best_score_, absent.best_score_)


def test_sample_weights_equal_repeated_rows(rows, kind):
    X, y = rows
    twice = np.r_[np.arange(240), np.arange(60)]
    folds = [(np.arange(150), np.arange(150, 240))]
    longer = [(np.r_[np.arange(150), np.arange(240, 300)], np.arange(150, 240))]
    weight = np.r_[np.full(60, 2.0), np.ones(180)]
    settings = {"max_terms": 3} | ({"min_samples_bin": 1} if "GAM" in kind.__name__ else {})  # which counts rows
    weighted = kind(cv=folds, **settings).fit(X, y, sample_weight=weight)
    repeated = kind(cv=longer, **settings).fit(X[twice], y[twice])
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-6)


def test_class_weights_do_not_affect_scores(rows, kind, fitted):
    X, y = rows
    factors = {"bird": 5.0, "cat": 1.0, "dog": 1.0}
    weighted = kind(cv=FOLDS, max_terms=4, class_weight=factors).fit(X, y)
    assert (weighted.predict(X) == "bird").sum() > (fitted.predict(X) == "bird").sum()
    same = kind(cv=FOLDS, max_terms=4, class_weight=dict.fromkeys(LABELS, 3.0), lambda2=1e-3).fit(X, y)
    plain = kind(cv=FOLDS, max_terms=4, lambda2=1e-3).fit(X, y)
    np.testing.assert_allclose(same.best_score_, plain.best_score_, rtol=1e-4)
    constant = weighted.cv_results_[0]["split0_test_score"][0]  # of the intercept alone: the loss of rows, each once
    train, test = next(FOLDS.split(X, y))
    share = 5 * np.mean(y[train] == "bird") / (5 * np.mean(y[train] == "bird") + np.mean(y[train] != "bird"))
    expected = np.mean(np.log(np.where(y[test] == "bird", share, 1 - share)))
    assert constant == pytest.approx(expected, rel=1e-4)


def test_classes_share_repeated_folds(rows, kind):
    X, y = rows
    model = kind(max_terms=2, cv=2, n_repeats=3).fit(X, y)
    assert [sum(name.startswith("split") for name in part) for part in model.cv_results_] == [6, 6, 6]
    few = np.r_[np.flatnonzero(y == "dog")[:4], np.flatnonzero(y != "dog")]
    with pytest.warns(UserWarning, match=r"class 'dog' has 4 rows of positive weight, fewer than the 5 folds"):
        kind(max_terms=1, n_repeats=2).fit(X[few], y[few])


def test_rare_classes_are_warned_about(rows, kind):
    X, y = rows
    few = np.r_[np.flatnonzero(y == "dog")[:3], np.flatnonzero(y != "dog")]
    with pytest.warns(UserWarning, match=r"class 'dog' has 3 rows of positive weight, fewer than the 5 folds"):
        model = kind(max_terms=2, n_repeats=1).fit(X[few], y[few].astype(object))
    assert model.predict_proba(X).shape == (240, 3)
    with pytest.warns(UserWarning, match=r"class 'dog' has 1 row of positive weight, fewer than the 5 folds"):
        model = kind(max_terms=2, n_repeats=1).fit(X[few[2:]], y[few[2:]])
    assert "split4_test_score" not in model.cv_results_[2]
    assert "split4_test_score" in model.cv_results_[0]


def test_folds_without_a_class_are_rejected(rows, kind):
    X, y = rows
    order = np.argsort(y, kind="stable")
    with pytest.raises(ValueError, match=r"fold 0 has no training row of class 'bird' \(of \d+ rows in all\)"):
        kind(cv=KFold(2), max_terms=2).fit(X[order], y[order].astype(object))


def test_groups_and_fold_generators_are_accepted(rows, kind):
    X, y = rows
    groups = np.arange(240) % 7
    grouped = kind(cv=GroupKFold(3), max_terms=2).fit(X, y, groups=groups)
    given = kind(cv=GroupKFold(3).split(X, y, groups), max_terms=2).fit(X, y)
    np.testing.assert_array_equal(grouped.best_score_, given.best_score_)


def test_refitting_with_two_classes_removes_estimators(rows, kind, fitted):
    X, y = rows
    two = y != "dog"
    again = clone(fitted).fit(X, y).fit(X[two], y[two])
    assert not hasattr(again, "estimators_")
    assert again.decision_function(X).shape == (240,)
    assert isinstance(again.best_n_terms_, int)


def test_estimator_can_be_pickled_and_plotted(rows, fitted):
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict_proba(rows[0]), fitted.predict_proba(rows[0]))
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    names = [text.get_text() for text in fitted.plot().get_legend().get_texts()]
    assert f"dog: Selected: {fitted.best_n_terms_[2]} terms" in names
    matplotlib.pyplot.close("all")


def test_multiclass_accepts_tables_and_sparse_matrices(rows):
    X, y = rows
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["f"] = np.where(X[:, 5] > 0, "up", "down")
    gam = SparseGAMClassifierCV(cv=FOLDS, max_terms=3).fit(frame, y)
    assert gam.feature_names_in_.tolist() == list("abcdef")
    assert len(gam.terms_) == 3
    dense = SparseLinearClassifierCV(cv=FOLDS, max_terms=3).fit(X, y)
    sparse = SparseLinearClassifierCV(cv=FOLDS, max_terms=3).fit(sp.csc_array(X), y)
    assert dense.coef_.shape == (3, 6)
    assert dense.intercept_.shape == (3,)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-6, atol=1e-9)
