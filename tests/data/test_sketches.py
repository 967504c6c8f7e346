"""Summaries of parts of a column merge to the summary of the column, exactly or within the bounds of the sketch."""

from functools import reduce

import numpy as np
import pytest

from sparsegam._data import sketches
from sparsegam._data.columns import BOOLEAN, DATE, DATETIME, NUMBER, Column, Scale, from_levels, from_objects
from sparsegam._data.sketches import ColumnSummary, summarise_column


def parts_of(values, n_parts, rng):
    cuts = np.sort(rng.integers(0, values.size + 1, n_parts - 1))
    return [Column("x", NUMBER, part) for part in np.split(values, cuts)]


@pytest.mark.parametrize("n_parts", [1, 2, 7])
def test_merge_counts_distinct_values_exactly(n_parts):
    rng = np.random.default_rng(n_parts)
    values = rng.integers(-20, 20, 1000).astype(float)
    values[rng.random(1000) < 0.1] = np.nan
    found = reduce(ColumnSummary.merge, map(summarise_column, parts_of(values, n_parts, rng)))
    expected, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    np.testing.assert_array_equal(found.values, expected)
    np.testing.assert_array_equal(found.counts, counts)
    assert found.is_exact
    assert found.missing == np.isnan(values).sum()
    assert found.n_rows == 1000


def assert_ranks_within_bounds(found, values):
    """Check that each true rank is within the bounds of the sketch."""
    upto = np.cumsum(found.counts)
    true = np.searchsorted(np.sort(values), found.values, side="right")
    assert (upto <= true).all()
    assert (true <= upto + found.slack).all()


@pytest.mark.parametrize("order", ["shuffled", "sorted", "atoms"])
@pytest.mark.parametrize("n_parts", [1, 2, 9, 60])
def test_merged_sketches_bound_the_true_ranks(n_parts, order, monkeypatch):
    monkeypatch.setattr(sketches, "MOST_VALUES", 500)
    monkeypatch.setattr(sketches, "SKETCH_VALUES", 400)
    rng = np.random.default_rng(n_parts)
    values = rng.normal(size=60_000)
    if order == "sorted":
        values.sort()
    if order == "atoms":
        values = np.where(rng.random(60_000) < 0.4, 0.5, values)
    found = reduce(ColumnSummary.merge, map(summarise_column, parts_of(values, n_parts, rng)))
    assert found.values.size <= 500
    assert not found.is_exact
    assert found.counts.sum() == 60_000
    assert found.values[-1] == values.max()
    assert_ranks_within_bounds(found, values)
    assert (found.slack + found.below).max() <= 0.04 * 60_000
    if order == "atoms":
        assert found.counts[found.values == 0.5] >= 0.39 * 60_000


def test_merge_is_symmetric():
    rng = np.random.default_rng(0)
    one, other = (summarise_column(Column("x", NUMBER, rng.normal(size=100))) for _ in range(2))
    np.testing.assert_array_equal(one.merge(other).values, other.merge(one).values)


def test_merge_matches_levels_by_name():
    one = summarise_column(from_levels(["b", "a", None, "b"], "job"))
    other = summarise_column(from_levels(["c", "b"], "job"))
    both = one.merge(other)
    assert both.scale.levels == ("a", "b", "c")
    assert both.counts.tolist() == [1, 3, 1]
    assert both.missing == 1


def test_merge_with_an_empty_part_keeps_the_other_scale():
    nothing = summarise_column(from_objects([None, None], "job"))
    some = summarise_column(from_levels(["b"], "job"))
    for both in (nothing.merge(some), some.merge(nothing)):
        assert both.scale == some.scale
        assert both.missing == 2


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [(NUMBER, BOOLEAN, NUMBER), (DATE, DATETIME, DATETIME), (DATETIME, DATE, DATETIME)],
)
def test_merge_finds_a_common_scale(one, other, expected):
    both = summarise_column(Column("x", one, np.array([1.0]))).merge(
        summarise_column(Column("x", other, np.array([0.0])))
    )
    assert both.scale == expected
    assert both.n_rows == 2


def test_merge_converts_dates_to_times():
    both = summarise_column(Column("x", DATE, np.array([1.0]))).merge(
        summarise_column(Column("x", DATETIME, np.array([5.0])))
    )
    assert both.values.tolist() == [5.0, 86_400_000_000.0]


@pytest.mark.parametrize("other", [Scale("category", ("a",)), DATE, Scale("ordered", ("a", "b"))])
def test_merge_rejects_incompatible_scales(other):
    with pytest.raises(ValueError, match=r"'x' contains numbers in some parts and .* in others: convert"):
        summarise_column(Column("x", NUMBER, np.zeros(1))).merge(summarise_column(Column("x", other, np.zeros(1))))


def test_summarise_column_rejects_too_many_levels(monkeypatch):
    monkeypatch.setattr(sketches, "MOST_VALUES", 3)
    monkeypatch.setattr(sketches, "SKETCH_VALUES", 2)
    with pytest.raises(ValueError, match="'id' has more than 3 levels"):
        summarise_column(from_levels(["a", "b", "c", "d"], "id"))
