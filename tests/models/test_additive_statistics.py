"""Standard errors, importances and changed terms of additive models with interactions."""

from dataclasses import replace

import numpy as np
import pytest
from _helpers import products

from sparsegam._data.table import read_table
from sparsegam._models.functions import joint_shares
from sparsegam._models.training import TrainingCounts


@pytest.fixture(scope="module")
def rows():
    frame, y = products.table(500, seed=3)
    return frame, y, products.as_fitted(products.written(), frame, y)


def test_bin_errors_equal_the_standard_errors_of_their_rows(rows):
    frame, _, model = rows
    numbers = model.score_function.columns(read_table(frame))
    for pair in model.pairs:
        mine = [term for term in model.terms if term.part == pair]
        columns = np.column_stack([model.column_of(term, numbers) for term in mine])
        away = columns - columns.mean(axis=0)
        expected = np.sqrt(((away @ model.statistics.covariance[pair]) * away).sum(axis=1))
        cells = tuple(axis.bin_of(numbers[name]) for axis, name in zip(model.pair_bins(pair), pair, strict=True))
        np.testing.assert_allclose(model.bin_errors(pair)[cells], expected)
    assert np.isnan(model.bin_errors(("age", "priors"))[0]).all()  # no training row had a missing age


def test_bin_errors_are_none_without_covariance(rows):
    _, _, model = rows
    assert products.written().bin_errors(("age", "priors")) is None
    unknown = replace(model, statistics=replace(model.statistics, covariance=None))
    assert unknown.bin_errors(("age", "priors")) is None


def counted(model, frame):
    """Return the rows of a frame as training counts."""
    columns, each = model.score_function.columns(read_table(frame)), np.ones(len(frame))
    pairs = {
        pair: joint_shares(model.pair_bins(pair), tuple(columns[name] for name in pair), each) * len(frame)
        for pair in model.pairs
    }
    bins = {name: (column, np.ones(column.size)) for name, column in columns.items()}
    return TrainingCounts(len(frame), bins, (np.zeros(0), np.zeros(1)), pairs)


def test_importances_are_mean_deviations_of_contributions(rows):
    frame, _, model = rows
    contributions = model.contributions(frame)
    expected = np.abs(contributions - contributions.mean(axis=0)).mean(axis=0)
    found = replace(model, training=counted(model, frame)).importances()
    assert tuple(found) == model.parts
    np.testing.assert_allclose(list(found.values()), expected)


@pytest.mark.parametrize("out", [(2,), (3,), (2, 3), (0, 4), (5,), (2, 3, 4, 5)])
@pytest.mark.parametrize("missing", ["mean", "last"])
def test_with_terms_keeps_the_training_distribution(rows, out, missing):
    frame, _, _ = rows
    model = products.as_fitted(products.written(), frame, missing=missing)
    terms = tuple(term for i, term in enumerate(model.terms) if i not in out)
    left = model.with_terms(model.intercept, terms)
    expected = products.as_fitted(replace(products.written(), terms=terms), frame, missing=missing)
    assert left.terms == terms
    assert left.pair_shares.keys() == expected.pair_shares.keys()
    for pair, shares in expected.pair_shares.items():
        np.testing.assert_allclose(left.pair_shares[pair], shares)
    assert left.baseline() == pytest.approx(expected.baseline())
