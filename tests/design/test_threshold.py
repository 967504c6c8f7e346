"""Threshold designs: numbering, counts and terms of the columns."""

import numpy as np
import pytest
from _helpers.reference import expand

from sparsegam import _core
from sparsegam._backends.local import encoded_table
from sparsegam._data.columns import Scale
from sparsegam._design.binning import Feature
from sparsegam._design.constraints import Constraints
from sparsegam._models.terms import Condition, Term

FEATURES = (
    Feature("age", np.array([20.0, 30.0])),
    Feature("constant", np.array([])),
    Feature("debt", np.array([0.0]), special=(-9.0,), missing=True),
)
VALUES = (
    np.array([20.0, 25.0, 30.0, 31.0, 1.0]),
    np.ones(5),
    np.array([-9.0, 0.0, 1.0, np.nan, -9.0]),
)


def encode(features, values, weight=None, events=None):
    codes = [feature.codes(x) for feature, x in zip(features, values, strict=True)]
    target = np.where(np.arange(values[0].size) % 2 if events is None else events, 1.0, -1.0)
    return encoded_table(features, codes, target, weight, loss="logistic")


@pytest.fixture
def encoded():
    return encode(FEATURES, VALUES)


@pytest.fixture
def design(encoded):
    return encoded.design


def test_columns_are_numbered_as_in_the_core(encoded, design):
    assert (design.n_columns, np.count_nonzero(design.candidates(Constraints()))) == (8, 5)
    assert design.names == ("age", "constant", "debt")
    assert (encoded.core.n_rows, encoded.core.n_columns) == (5, 8)
    np.testing.assert_array_equal(design.offset, encoded.core.offset[:3])


@pytest.mark.parametrize(
    ("n_levels", "missing", "candidates"),
    [(2, False, [1]), (1, True, [1]), (2, True, [0, 1, 2]), (3, False, [0, 1, 2])],
)
def test_one_of_two_levels_is_a_candidate(n_levels, missing, candidates):
    levels, scale = np.arange(n_levels), Scale("category", tuple("abc"[:n_levels]))
    feature = Feature("region", np.array([]), missing=missing, scale=scale, bin_of_level=levels)
    values = np.resize(np.append(levels, np.nan) if missing else levels, 12).astype(np.float64)
    design = encode([feature], [values]).design
    assert np.flatnonzero(design.candidates(Constraints())).tolist() == candidates


@pytest.mark.parametrize(("bins", "candidates"), [([0, 1, 1], [0]), ([0, 0, 1], [1])])
def test_a_single_level_is_a_candidate_rather_than_its_complement(bins, candidates):
    feature = Feature("city", np.array([]), scale=Scale("category", tuple("abc")), bin_of_level=np.array(bins))
    design = encode([feature], [np.resize(np.arange(3.0), 12)]).design
    assert np.flatnonzero(design.candidates(Constraints())).tolist() == candidates


@pytest.mark.parametrize(
    ("column", "feature", "condition"),
    [
        (0, "age", Condition("<=", 20.0)),
        (1, "age", Condition("<=", 30.0)),
        (4, "debt", Condition("<=", 0.0)),
        (6, "debt", Condition("==", -9.0)),
        (7, "debt", Condition("missing")),
    ],
)
def test_terms_of_columns(design, column, feature, condition):
    assert design.term(column, 0.5) == Term(feature, condition, 0.5)


@pytest.mark.parametrize("column", [2, 3, 5])
def test_term_of_the_last_ordered_bin_raises(design, column):
    with pytest.raises(ValueError, match="has no condition: it is the last ordered bin"):
        design.term(column, 1.0)


def test_columns_are_one_where_their_conditions_are_true(design):
    codes = [feature.codes(x) for feature, x in zip(FEATURES, VALUES, strict=True)]
    matrix = expand(codes, design.n_bins, design.n_ordered)
    age, debt = VALUES[0], VALUES[2]
    for column, holds in {0: age <= 20, 1: age <= 30, 4: debt == 0, 6: debt == -9, 7: np.isnan(debt)}.items():
        np.testing.assert_array_equal(matrix[:, column], holds)


@pytest.mark.parametrize("weight", [None, np.array([1.0, 0.5, 2.0, 0.25, 3.0])])
def test_counts_weights_and_events_are_those_of_the_columns(weight):
    columns = np.column_stack(
        [feature.indicators(x) for feature, x in zip(FEATURES, VALUES, strict=True)]
    )  # without the last ordered bin of each feature, which holds wherever the order does
    candidates = [0, 1, 4, 6, 7]
    events = np.array([True, False, True, True, False])
    encoded = encode(FEATURES, VALUES, weight, events)
    relative = np.ones(5) if weight is None else weight / weight.mean()
    np.testing.assert_array_equal(encoded.design.counts[candidates], columns.sum(axis=0))
    np.testing.assert_allclose(encoded.design.weights[candidates], relative @ columns, rtol=1e-15)
    reversed_ = np.array(candidates[::-1])
    np.testing.assert_array_equal(encoded.count_events(reversed_), columns[events].sum(axis=0)[::-1])
    assert encoded.count_events(np.zeros(0, dtype=np.int64)).size == 0
    assert encoded.n_events == 3


def test_arguments_of_column_counts_are_checked(encoded):
    features = np.arange(3)
    with pytest.raises(ValueError, match="does not have feature 3"):
        encoded.core.column_counts(features + 1)
    with pytest.raises(ValueError, match="one entry per row"):
        encoded.core.column_counts(features, np.ones(4))
    with pytest.raises(ValueError, match="one entry per row"):
        encoded.core.column_counts(features, mask=np.ones(6, dtype=bool))
    with pytest.raises(ValueError, match="pass either weight or mask"):
        encoded.core.column_counts(features, np.ones(5), np.ones(5, dtype=bool))
    with pytest.raises(ValueError, match="codes must be below the number of bins"):
        _core.bin_counts(encoded.codes[0], 1)


@pytest.mark.parametrize("n_bins", [2, 3, 300])
def test_rows_are_counted_by_bin(n_bins):
    rng = np.random.default_rng(n_bins)
    codes = rng.integers(0, n_bins, 1003).astype(np.uint8 if n_bins <= 256 else np.uint16)
    weight, among = rng.random(1003), rng.random(1003) < 0.3
    core = _core.ThresholdDesign([codes], np.array([n_bins]), np.array([0]))
    for counted, wanted in (
        (core.column_counts(np.array([0])), np.bincount(codes, minlength=n_bins)),
        (core.column_counts(np.array([0]), weight), np.bincount(codes, weight, n_bins)),
        (core.column_counts(np.array([0]), mask=among), np.bincount(codes[among], minlength=n_bins)),
        (_core.bin_counts(codes, n_bins), np.bincount(codes, minlength=n_bins)),
        (_core.bin_counts(codes, n_bins, weight), np.bincount(codes, weight, n_bins)),
    ):
        np.testing.assert_array_equal(counted, wanted)


def test_scores_of_rows_are_sums_over_their_bins(encoded, design):
    point = _core.Point(0.1, np.array([7, 0, 4, 1]), np.array([0.7, -0.2, 1e-17, 0.3]))
    score = np.full(5, 0.1)
    for j, table in design.bin_tables(point.columns, point.coef).items():
        score += table[encoded.codes[j]]
    assert encoded.row_scores(point).tobytes() == score.tobytes()
    with pytest.raises(ValueError, match="does not have column 99"):
        encoded.core.row_scores(_core.Point(0.0, np.array([99]), np.ones(1)))
