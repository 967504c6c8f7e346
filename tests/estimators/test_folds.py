"""Folds: number of repeats, and number of independent folds."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, ShuffleSplit

from sparsegam._fit.cross_validation import MAX_REPEATS, ROWS_SCORED, n_independent_folds, splitter_of
from sparsegam._fit.spec import SizeSelection


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
