"""Folds: number of repeats, number of independent folds, and searches that a time limit cut short."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, ShuffleSplit

from sparsegam import SparseGAMRegressorCV, SparseLinearRegressorCV
from sparsegam._fit import cross_validation
from sparsegam._fit.cross_validation import MAX_REPEATS, ROWS_SCORED, CVScores, n_independent_folds, splitter_of
from sparsegam._fit.spec import SizeSelection
from sparsegam._search.ridge import Ridge
from sparsegam._search.solver import frontiers


def folds_of(n_rows, **options):
    y = np.arange(n_rows) % 2
    classifier = options.pop("classifier", True)
    splitter = splitter_of(SizeSelection(**options), y, classifier=classifier, limited=False)
    return list(splitter.split(y, y))


@pytest.mark.parametrize(
    ("n_rows", "repeats"),
    [
        (10, MAX_REPEATS),
        (ROWS_SCORED // MAX_REPEATS, MAX_REPEATS),
        (ROWS_SCORED // 2, 2),
        (ROWS_SCORED // 2 + 1, 1),
        (ROWS_SCORED + 1, 1),
    ],
)
@pytest.mark.parametrize("classifier", [True, False])
def test_small_tables_are_split_repeatedly(n_rows, repeats, classifier):
    assert len(folds_of(n_rows, classifier=classifier)) == 5 * repeats
    assert len(folds_of(n_rows, classifier=classifier, cv=2)) == 2 * repeats


def test_first_repeat_equals_a_single_split():
    once, again = folds_of(100, n_repeats=1), folds_of(100, n_repeats=3)
    assert len(again) == 15
    for (train, test), (same_train, same_test) in zip(once, again[:5], strict=True):
        np.testing.assert_array_equal(train, same_train)
        np.testing.assert_array_equal(test, same_test)


def test_n_repeats_is_rejected_for_splitters():
    assert len(folds_of(100, cv=KFold(3))) == 3
    with pytest.raises(ValueError, match="n_repeats=2 requires an integer cv"):
        folds_of(100, cv=KFold(3), n_repeats=2)


@pytest.mark.parametrize("n_repeats", [0, 1.5, None, "often", True])
def test_invalid_n_repeats_is_rejected(n_repeats):
    with pytest.raises(ValueError, match="n_repeats must be an integer >= 1"):
        folds_of(100, n_repeats=n_repeats)


def test_repeats_do_not_add_independent_folds():
    assert n_independent_folds(folds_of(100, n_repeats=1)) == n_independent_folds(folds_of(100, n_repeats=7)) == 5
    assert n_independent_folds(folds_of(100, cv=KFold(4))) == 4
    drawn = folds_of(1000, cv=ShuffleSplit(50, test_size=0.5, random_state=0))
    assert n_independent_folds(drawn) == pytest.approx(2)  # each test set has half of the rows


def cut_short(number):
    """Return `frontiers` that loses all models but the smallest in its call with this number, as a time limit does."""
    calls = itertools.count()

    def search(*arguments, **options):
        found = frontiers(*arguments, **options)
        if next(calls) not in number:
            return found
        return [replace(one, points=one.points[:2], finished=False) for one in found]

    return search


FOLDS = list(KFold(4).split(np.zeros(200)))
NOISY = np.random.default_rng(0).normal(size=(200, 4))
SUMS = NOISY.sum(axis=1) + np.random.default_rng(1).normal(size=200)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", [SparseGAMRegressorCV, SparseLinearRegressorCV])
def test_folds_cut_short_by_the_time_limit_do_not_change_the_choice(kind, monkeypatch):
    expected = kind(max_terms=4, cv=[FOLDS[0], FOLDS[2], FOLDS[3]], rule="best").fit(NOISY, SUMS)
    monkeypatch.setattr(cross_validation, "frontiers", cut_short({1}))
    with pytest.warns(ConvergenceWarning, match="based on 3 of 4 folds"):
        found = kind(max_terms=4, cv=FOLDS, rule="best", time_limit=3600).fit(NOISY, SUMS)
    assert found.best_n_terms_ == expected.best_n_terms_
    assert found.best_score_ == pytest.approx(expected.best_score_, rel=1e-6)
    assert found.best_lambda2_ == pytest.approx(expected.best_lambda2_)
    np.testing.assert_allclose(found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"], rtol=1e-6)
    np.testing.assert_allclose(found.cv_results_["se_test_score"], expected.cv_results_["se_test_score"], rtol=1e-6)
    assert np.isnan(found.cv_results_["split1_test_score"]).all()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_sizes_that_no_fold_reached_are_not_chosen_if_no_search_finished(monkeypatch):
    monkeypatch.setattr(cross_validation, "frontiers", cut_short(range(4)))
    with pytest.warns(ConvergenceWarning, match="stopped by time_limit"):
        found = SparseGAMRegressorCV(max_terms=4, cv=FOLDS, time_limit=3600).fit(NOISY, SUMS)
    assert set(found.cv_results_["n_terms"]) == {0, 1}
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("rule", ["best", "steady", "one_se"])
def test_ridges_cut_short_are_not_chosen(rule):
    scores = np.zeros((3, 4, 5))
    scores[0, 2] = 5.0  # looks best, but did not finish
    scores[2, 1] = 1.0
    finished = np.ones((3, 5), dtype=bool)
    finished[0] = False
    given = CVScores(tuple(map(Ridge, (1.0, 2.0, 3.0))), np.ones(3), np.arange(4), scores, finished=finished)
    assert given.choose(rule) == (2, 1)
    assert given.choose(rule, n_plain=1) == (2, 1)
    assert given.choose(rule, n_plain=2) == (2, 1)
    assert np.isnan(given.mean[0]).all()
