"""Cross-validated additive estimators: folds, scorers, rules, groups, weights and fitted attributes."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss, make_scorer, roc_auc_score
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold, cross_val_score

from sparsegam import (
    Path,
    SparseGAMClassifier,
    SparseGAMClassifierCV,
    SparseGAMRegressorCV,
    SparseLinearRegressorCV,
    gam_path,
)
from sparsegam._fit.cross_validation import CVScores, middle_lambda0
from sparsegam._search.ridge import Ridge
from sparsegam.losses import LOSSES

FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 20, (500, 3)).astype(float), columns=["age", "debt", "noise"])
    X["job"] = rng.choice(["clerk", "baker", "smith"], 500)
    X.loc[rng.random(500) < 0.1, "debt"] = np.nan
    f = 2.0 * (X.age <= 8) - 1.5 * (X.job == "smith") + 1.5 * X.debt.isna() - 0.3
    return X, np.where(rng.random(500) < 1 / (1 + np.exp(-f)), "yes", "no")


@pytest.fixture(scope="module")
def fitted(table):
    return SparseGAMClassifierCV(cv=FOLDS, max_terms=12, lambda2=1e-3, rule="one_se").fit(*table)


def test_fit_stores_path_scores_and_model(table, fitted):
    X, y = table
    assert isinstance(fitted.path_, Path)
    results = fitted.cv_results_
    assert results["n_terms"].tolist() == fitted.path_.n_terms.tolist()
    assert {"split0_test_score", "split2_test_score", "std_test_score", "rank_test_score"} <= set(results)
    assert fitted.best_n_terms_ == fitted.n_terms_ == len(fitted.terms_)
    assert fitted.model_ is fitted.path_.at(n_terms=fitted.best_n_terms_)
    assert 2 <= fitted.n_terms_ <= 6
    assert {"age", "job"} <= set(fitted.model_.features)
    assert fitted.score(X, y) > 0.65
    assert fitted.best_score_ == results["mean_test_score"][fitted.best_n_terms_]


def test_scores_equal_those_of_paths_fitted_to_the_folds(table, fitted):
    X, y = table
    for i, (train, test) in enumerate(FOLDS.split(X, y)):
        path = gam_path(X.iloc[train], y[train], max_terms=12, lambda2=1e-3)
        by_hand = [-log_loss(y[test], model.predict_proba(X.iloc[test]), labels=["no", "yes"]) for model in path]
        found = fitted.cv_results_[f"split{i}_test_score"]
        np.testing.assert_allclose(found[: len(by_hand)], by_hand[: len(found)], rtol=1e-3)
        np.testing.assert_allclose(found[len(by_hand) :], by_hand[-1], rtol=1e-3)


@pytest.mark.parametrize(
    "scoring",
    ["roc_auc", "neg_brier_score", "accuracy", make_scorer(roc_auc_score, response_method="predict_proba"), None],
)
def test_any_scorer_is_accepted(table, scoring):
    X, y = table
    labels = (y == "yes").astype(int)
    gam = SparseGAMClassifierCV(cv=FOLDS, max_terms=4, scoring=scoring, lambda2=1e-3).fit(X, labels)
    train, test = next(FOLDS.split(X, labels))
    model = gam_path(X.iloc[train], labels[train], max_terms=4, lambda2=1e-3).at(n_terms=2)
    if scoring == "roc_auc":
        expected = roc_auc_score(labels[test], model.decision_function(X.iloc[test]))
        assert gam.cv_results_["split0_test_score"][2] == pytest.approx(expected)


def test_scorers_get_the_rows_as_given(table):
    seen = []

    def scorer(estimator, X, y):
        seen.append(len(X))
        return float(np.mean(estimator.predict(X.copy()) == y))

    gam = SparseGAMClassifierCV(cv=FOLDS, max_terms=3, scoring=scorer).fit(*table)
    by_name = SparseGAMClassifierCV(cv=FOLDS, max_terms=3, scoring="accuracy").fit(*table)
    np.testing.assert_array_equal(gam.cv_results_["mean_test_score"], by_name.cv_results_["mean_test_score"])
    assert set(seen) == {166, 167}


def test_rules_choose_the_expected_size():
    scores = np.array([[[0.5, 0.5], [0.73, 0.86], [0.6, 0.6], [0.74, 0.9], [0.7, 0.8]]])
    assert surface(scores).choose("best") == (0, 3)
    assert surface(scores).choose("one_se") == (0, 3)  # behind by 0.01 and 0.04: 0.025 on average, give or take 0.015
    scores[0, 1] = [0.75, 0.85]  # ahead by 0.01, behind by 0.05: 0.02, give or take 0.03
    assert surface(scores).choose("one_se") == (0, 1)
    assert surface(scores + np.array([0.0, 9.0])).choose("one_se") == (0, 1)  # an easier fold is easier for all
    assert surface(scores[:, :, :1]).choose("one_se") == (0, 1)
    with pytest.raises(ValueError, match="not finite"):
        surface(np.array([[[np.nan]]]))


def test_steady_rule_ignores_an_isolated_maximum():
    scores = np.array([[0.1, 0.5, 0.9, 0.5, 0.7, 0.8, 0.7], [0.1, 0.5, 0.6, 0.6, 0.6, 0.6, 0.6]])[:, :, np.newaxis]
    found = surface(scores)
    assert found.choose("best") == (0, 2)
    assert found.choose("steady") == (0, 5)  # 0.9, 0.5 and 0.5 are 0.7 on average, and 0.8, 0.7 and 0.7 are 0.75
    np.testing.assert_allclose(found.steady[0], [0.7 / 3, 0.5, 0.7, 0.65, 0.675, 0.75, 2.2 / 3])


def test_steady_scores_average_adjacent_sizes_only():
    scores = np.array([[[0.1], [0.5], [0.2]]])
    apart = CVScores((Ridge(1.0),), np.ones(1), np.array([0, 2, 3]), scores)
    np.testing.assert_allclose(apart.steady, [[0.1, 0.4, 0.3]])


def test_repeats_do_not_make_standard_errors_smaller(table):
    X, y = table
    once, again = (SparseGAMClassifierCV(max_terms=3, n_repeats=n).fit(X, y).cv_results_ for n in (1, 6))
    splits = np.array([again[f"split{i}_test_score"] for i in range(30)])
    np.testing.assert_allclose(again["se_test_score"], splits.std(axis=0, ddof=1) / np.sqrt(5))
    np.testing.assert_allclose(once["se_test_score"], splits[:5].std(axis=0, ddof=1) / np.sqrt(5))


def test_one_se_counts_folds_without_repeats():
    scores = np.array([[[0.5] * 20, [0.9, 0.7] * 10, [0.83] * 20]])  # behind by 0.03, give or take 0.1 over the root of
    given = CVScores((Ridge(1.0),), np.ones(1), np.arange(3), scores)
    assert given.choose("one_se") == (0, 2)  # twenty
    assert replace(given, n_independent_folds=5.0).choose("one_se") == (0, 1)  # five


def test_rules_with_several_ridges():
    scores = np.array([[[0.5, 0.5], [0.6, 0.6], [0.8, 0.8]], [[0.5, 0.5], [0.7, 0.7], [0.7, 0.7]]])
    assert surface(scores).choose("best") == (0, 2)
    assert surface(scores).choose("one_se") == (0, 2)
    scores[1, 1] = [0.85, 0.7]  # ahead by 0.05, behind by 0.1: 0.025, give or take 0.075
    assert surface(scores).choose("one_se") == (1, 1)


@pytest.mark.parametrize(
    ("scores", "chosen", "message"),
    [
        ([[0.0, 0.0], [-1.0, -1.0]], 0, "chose the model without terms.*try rule='best', n_repeats=5"),
        ([[0.0, 0.0], [1.0, 1.0]], 1, r"chose the largest size tried \(max_terms=1\): raise max_terms"),
        ([[0.0, 0.0], [-3.0, 1.0]], 1, "on fold 0 the model scores 3 below one without terms.*sorted by time"),
    ],
)
def test_doubtful_choices_are_warned_about(scores, chosen, message):
    with pytest.warns(UserWarning, match=message):
        surface(np.array([scores])).warn_about_choice(chosen, max_terms=1)


def surface(scores):
    return CVScores(tuple(Ridge(1.0) for _ in scores), np.ones(len(scores)), np.arange(scores.shape[1]), scores)


def test_ridge_and_size_are_chosen_together(table):
    X, y = table
    gam = SparseGAMClassifierCV(cv=FOLDS, max_terms=8).fit(X, y)
    results = gam.cv_results_
    assert np.unique(results["lambda2"]).tolist() == sorted(LOSSES["logistic"].ridge_grid)
    assert len(results["mean_test_score"]) == 5 * 9
    best = np.argmax(results["steady_test_score"])
    assert gam.best_score_ == results["mean_test_score"][best]
    assert (gam.lambda2_, gam.best_n_terms_) == (results["lambda2"][best], results["n_terms"][best])
    assert (gam.best_lambda2_, gam.standardize_) == (gam.lambda2_, False)
    path = gam_path(X, y, max_terms=8, lambda2=gam.lambda2_, standardize=False)
    assert path.at(n_terms=gam.n_terms_) == gam.model_
    by_hand = SparseGAMClassifierCV(cv=FOLDS, max_terms=8, lambda2=gam.lambda2_, standardize=False).fit(X, y)
    mine = results["lambda2"] == gam.lambda2_
    np.testing.assert_allclose(results["mean_test_score"][mine], by_hand.cv_results_["mean_test_score"], rtol=2e-2)


def test_lambda2_accepts_a_list(table):
    gam = SparseGAMClassifierCV(cv=FOLDS, max_terms=3, lambda2=[0.1, 0.001, 0.1]).fit(*table)
    assert np.unique(gam.cv_results_["lambda2"]).tolist() == [0.001, 0.1]
    assert gam.standardize_
    with pytest.raises(ValueError, match=r"requires cross-validation.*cross-validated estimator"):
        SparseGAMClassifier(lambda2=[0.1, 0.001]).fit(*table)
    with pytest.raises(ValueError, match="at least one number, got an empty list"):
        SparseGAMClassifierCV(lambda2=[]).fit(*table)


def test_standardized_ridges_are_divided_by_the_total_weight(table):
    gam = SparseGAMClassifierCV(cv=FOLDS, max_terms=3, lambda2="auto", standardize=True).fit(*table)
    np.testing.assert_allclose(np.unique(gam.cv_results_["lambda2"]) * len(table[1]), [3, 10, 30, 100, 300])


def test_a_number_of_folds_is_shuffled(table):
    X, y = table
    order = np.argsort(X.age.to_numpy(), kind="stable")
    ordered = SparseGAMRegressorCV(max_terms=4, cv=3).fit(X.iloc[order], X.age.to_numpy()[order])
    assert ordered.n_terms_ == 4
    first, second = (SparseGAMClassifierCV(max_terms=2, random_state=r).fit(X, y) for r in (0, 1))
    assert first.cv_results_["split0_test_score"].tolist() != second.cv_results_["split0_test_score"].tolist()
    assert len(SparseGAMClassifierCV(max_terms=1, cv=2, n_repeats=3).fit(X, y).cv_results_) == 8 + 6
    with pytest.raises(ValueError, match=r"n_repeats=2 requires an integer cv"):
        SparseGAMClassifierCV(cv=FOLDS, n_repeats=2).fit(X, y)


def test_one_se_is_smaller_than_best(table):
    sizes = [
        SparseGAMClassifierCV(cv=FOLDS, max_terms=12, rule=r).fit(*table).best_n_terms_ for r in ("one_se", "best")
    ]
    assert sizes[0] <= sizes[1]


@pytest.mark.filterwarnings("ignore:.*outside the searched path")  # no lambda0 selects the largest size
def test_best_lambda0_selects_the_chosen_size(fitted):
    for index, price in enumerate(fitted.path_.lambda0):
        middle = middle_lambda0(fitted.path_, index)
        assert np.isnan(middle) == np.isnan(price)
        if not np.isnan(price):
            assert fitted.path_.at(lambda0=middle).n_terms == index
    assert fitted.lambda0_ == fitted.best_lambda0_


def test_result_does_not_depend_on_n_jobs(table, fitted):
    two = clone(fitted).set_params(n_jobs=2).fit(*table)
    assert two.model_ == fitted.model_
    np.testing.assert_array_equal(two.cv_results_["mean_test_score"], fitted.cv_results_["mean_test_score"])


@pytest.mark.parametrize(
    "make", [pl.from_pandas, lambda X: pl.from_pandas(X).to_arrow(), lambda X: X.to_numpy().tolist()]
)
def test_scores_do_not_depend_on_the_kind_of_table(table, fitted, make):
    X, y = table
    again = clone(fitted).fit(make(X), y)
    np.testing.assert_allclose(again.cv_results_["mean_test_score"], fitted.cv_results_["mean_test_score"])


def test_groups_are_passed_to_splitters(table):
    X, y = table
    groups = np.arange(len(y)) % 7
    gam = SparseGAMClassifierCV(cv=GroupKFold(3), max_terms=3).fit(X, y, groups=groups)
    given = SparseGAMClassifierCV(cv=list(GroupKFold(3).split(X, y, groups)), max_terms=3).fit(X, y)
    np.testing.assert_array_equal(gam.cv_results_["mean_test_score"], given.cv_results_["mean_test_score"])
    with pytest.raises(ValueError, match="groups"):
        SparseGAMClassifierCV(cv=GroupKFold(3)).fit(X, y)
    assert len(SparseGAMClassifierCV(cv=ShuffleSplit(4, random_state=0), max_terms=1).fit(X, y).cv_results_) == 8 + 4


def test_rows_without_weight_are_ignored(table):
    X, y = table
    weight = (np.arange(len(y)) % 3 > 0).astype(float)
    folds = list(KFold(3).split(X))
    weighted = SparseGAMClassifierCV(cv=folds, max_terms=5).fit(X, y, sample_weight=weight)
    kept = np.flatnonzero(weight)
    place = {row: i for i, row in enumerate(kept)}
    smaller = [tuple(np.array([place[i] for i in part if i in place]) for part in fold) for fold in folds]
    absent = SparseGAMClassifierCV(cv=smaller, max_terms=5).fit(X.iloc[kept], y[kept])
    np.testing.assert_allclose(weighted.cv_results_["mean_test_score"], absent.cv_results_["mean_test_score"])
    assert weighted.model_ == absent.model_


def test_regression(table):
    X, _ = table
    rng = np.random.default_rng(1)
    y = 3.0 * (X.age <= 8) + X.debt.isna() + rng.normal(size=len(X))
    gam = SparseGAMRegressorCV(cv=3, max_terms=10, n_jobs=2).fit(X, y)
    assert gam.score(X, y) > 0.6
    assert gam.cv_results_["mean_test_score"].max() < 0
    assert cross_val_score(SparseGAMRegressorCV(cv=2, max_terms=4), X, y, cv=2).mean() > 0.5


def test_constraints_hold_in_every_model_of_the_path(table):
    X, y = table
    gam = SparseGAMClassifierCV(cv=2, max_terms=6, features_never=["job"], monotone={"age": "decreasing"}).fit(X, y)
    assert all("job" not in model.features for model in gam.path_)
    for model in gam.path_:
        shape = model.shape_functions().get("age")
        assert shape is None or (np.diff(shape.contributions[shape.bins.first_interval :]) <= 0).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "two_se"}, "rule must be one of 'steady', 'best', 'one_se', got 'two_se'"),
        ({"max_terms": None}, "max_terms must be an integer >= 0, got None"),
        ({"loss": "squared"}, "use SparseGAMRegressorCV"),
        ({"loss": "hinge"}, "loss must be one of 'logistic', 'exponential', 'squared', 'squared_hinge', got 'hinge'"),
        ({"scoring": "beauty"}, "beauty"),
        ({"cv": KFold(2)}, "one class only: use fewer folds, or a stratified splitter"),
    ],
)
def test_invalid_options_are_rejected(table, options, message):
    X, y = table
    order = np.argsort(y)
    with pytest.raises(ValueError, match=message):
        SparseGAMClassifierCV(**options).fit(X.iloc[order[150:350]], y[order[150:350]]) if "cv" not in options else (
            SparseGAMClassifierCV(**options).fit(X.iloc[:100], np.repeat(["no", "yes"], 50))
        )


def test_time_limit_disables_automatic_repeats(table):
    for asked, splits in ({}, 3), ({"n_repeats": 2}, 6):
        gam = SparseGAMClassifierCV(cv=3, max_terms=1, time_limit=100.0, **asked).fit(*table)
        assert sum(name.startswith("split") for name in gam.cv_results_) == splits


def test_time_limit_warns(table):
    with pytest.warns(ConvergenceWarning, match="stopped by time_limit=0.0 s"):
        SparseGAMClassifierCV(cv=2, time_limit=0.0).fit(*table)


def test_callback_is_called_for_every_path(table):
    seen = []
    SparseGAMClassifierCV(cv=2, max_terms=3, n_jobs=2, callback=lambda *event: seen.append(event)).fit(*table)
    assert len(seen) >= 9


def test_estimator_can_be_pickled_and_cloned(table, fitted):
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict_proba(table[0]), fitted.predict_proba(table[0]))
    assert not hasattr(clone(fitted), "model_")


def test_plot(fitted):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ax = fitted.plot()
    assert ax.get_ylabel() == "Cross-validation score (neg_log_loss)"
    assert fitted.plot(ax) is ax
    matplotlib.pyplot.close("all")


def test_model_agrees_with_a_fit_at_best_lambda0(table, fitted):
    if np.isnan(fitted.best_lambda0_):
        pytest.skip("no lambda0 selects the chosen size")
    plain = SparseGAMClassifier(lambda0=fitted.best_lambda0_, lambda2=1e-3).fit(*table)
    assert plain.objective_ <= fitted.objective_ + fitted.best_lambda0_ * fitted.n_terms_ + 1.0


@pytest.mark.parametrize("kind", [SparseGAMRegressorCV, SparseLinearRegressorCV])
def test_folds_without_training_weight_are_rejected(kind):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10, 2)), rng.normal(size=10)
    weight = (np.arange(10) < 3) * 1.0
    with pytest.raises(ValueError, match="all training rows of a fold have weight zero"):
        kind(cv=KFold(3)).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("wrong", ["yes", 2, []])
def test_invalid_standardize_is_rejected(table, wrong):
    with pytest.raises(ValueError, match="standardize must be"):
        SparseGAMClassifierCV(standardize=wrong).fit(*table)


@pytest.mark.parametrize("cv", [None, 3])
def test_groups_without_a_group_splitter_are_ignored_with_a_warning(cv):
    X = np.random.default_rng(0).normal(size=(60, 2))
    gam = SparseGAMClassifierCV(cv=cv, max_terms=2, n_repeats=1)
    with pytest.warns(UserWarning, match=rf"groups are ignored .* cv=StratifiedGroupKFold\({cv or 5}\)"):
        gam.fit(X, X[:, 0] > 0, groups=np.arange(60) // 2)
    with pytest.warns(UserWarning, match=r"cv=GroupKFold\(4\)"):
        SparseGAMRegressorCV(cv=4, max_terms=2, n_repeats=1).fit(X, X[:, 0], groups=np.arange(60) // 2)
