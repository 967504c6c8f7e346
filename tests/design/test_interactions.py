"""Interactions as columns of a design: values, terms, costs and bounds."""

import numpy as np
import pandas as pd
import pytest

from sparsegam import _core
from sparsegam._backends.local import LocalBackend
from sparsegam._backends.protocol import LabelledData
from sparsegam._data.table import read_table
from sparsegam._design.binning import Binning
from sparsegam._design.constraints import Constraints, InteractionOptions
from sparsegam._design.interactions import BinRange, Interaction, alternatives_of, interaction_of

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "a": RNG.integers(0, 6, 60).astype(float),
        "b": np.where(RNG.random(60) < 0.2, np.nan, RNG.integers(0, 4, 60)),
        "c": RNG.choice(["x", "y", "z"], 60),
    }
)
WEIGHT = RNG.integers(1, 4, 60).astype(float)
TARGET = np.where(np.arange(60) < 30, 1.0, -1.0)
A, B, C = range(3)
INTERACTIONS = [
    Interaction(BinRange(A, 0, 3), BinRange(B, 2, 4)),  # a <= 2 and b > 1
    Interaction(BinRange(A, 4, 6), BinRange(B, 4, 5)),  # a > 3 and b is missing
    Interaction(BinRange(A, 0, 1), BinRange(C, 1, 2)),  # a <= 0 and c == y
]


@pytest.fixture(scope="module")
def encoded():
    data = LabelledData(read_table(FRAME), TARGET, WEIGHT)
    table = LocalBackend().encode(data, Binning(), ["steps"] * 3, "logistic", interactions=True)
    return table.with_interactions(INTERACTIONS)


@pytest.fixture(scope="module")
def design(encoded):
    return encoded.design


@pytest.fixture(scope="module")
def columns(design):
    return design.columns_of(design.interactions)


def masks(design):
    """The rows in which each interaction of the design is true."""
    a, b, c = (FRAME[name] for name in "abc")
    by_interaction = dict(
        zip(INTERACTIONS, [(a <= 2) & (b > 1), (a > 3) & b.isna(), (a <= 0) & (c == "y")], strict=True)
    )
    return [by_interaction[interaction].to_numpy() for interaction in design.interactions]


def test_columns_are_the_products_of_their_conditions(encoded, design, columns):
    np.testing.assert_array_equal(design.counts[columns], [mask.sum() for mask in masks(design)])
    expected = [WEIGHT[mask].sum() / WEIGHT.mean() for mask in masks(design)]
    np.testing.assert_allclose(design.weights[columns], expected)
    for column, mask in zip(columns, masks(design), strict=True):
        scores = encoded.row_scores(_core.Point(0.0, np.array([column]), np.ones(1)))
        np.testing.assert_array_equal(scores, mask)
    events = [(mask & (TARGET > 0)).sum() for mask in masks(design)]
    np.testing.assert_array_equal(encoded.count_events(columns), events)


def test_interactions_are_replaced_not_added(encoded, columns):
    fewer = encoded.with_interactions(INTERACTIONS[:1])
    assert fewer.design.interactions == (INTERACTIONS[0],)
    assert fewer.design.n_columns == encoded.design.n_columns - 4
    assert len(fewer.codes) == 4


def test_terms_name_both_conditions(design, columns):
    terms = [design.term(int(column), 1.0) for column in columns]
    assert {term.text() for term in terms} == {"a <= 2 and b > 1", "a > 3 and b is missing", "a <= 0 and c == y"}
    assert [interaction_of(design.features, term) for term in terms] == list(design.interactions)
    assert design.features_of(columns) == [A, B, C]
    assert design.columns_of([Interaction(BinRange(A, 0, 2), BinRange(B, 0, 1))]).tolist() == [-1]


def test_alternatives_differ_in_one_threshold_or_value(design):
    for other in alternatives_of(design, INTERACTIONS[0]):
        changed = [other.first != INTERACTIONS[0].first, other.second != INTERACTIONS[0].second]
        assert sum(changed) == 1


def test_training_data_are_scored_as_by_the_row_oracle(encoded, columns):
    point = _core.Point(0.125, np.append(columns, 1), np.array([0.5, -0.25, 2.0, 1.0]))
    expected = encoded.row_scores(point)
    np.testing.assert_allclose(encoded.score(read_table(FRAME), [point])[0], expected, rtol=0, atol=1e-15)
    model = encoded.design.model(point, "logistic", np.array([0, 1]), "last")
    np.testing.assert_allclose(model.decision_function(FRAME), expected, rtol=0, atol=1e-15)
    assert model.pairs == (("a", "b"), ("a", "c"))


def test_values_without_training_rows_are_left_to_models(encoded, columns):
    point = _core.Point(0.0, columns, np.ones(3))
    assert encoded.score(read_table(FRAME.assign(a=np.nan)), [point]) is None


def test_the_complement_of_an_interaction_is_no_candidate(design, columns):
    allowed = design.candidates(Constraints(min_samples_bin=2))
    assert not allowed[columns - 1].any()
    assert allowed[columns].tolist() == [mask.sum() >= 2 for mask in masks(design)]


def test_an_interaction_costs_a_multiple_of_the_larger_feature_cost(design, columns):
    costs = design.costs(Constraints(feature_cost={"b": 5.0}), InteractionOptions("auto", interaction_cost=3.0))
    expected = {(A, B): 15.0, (A, C): 3.0}
    assert costs[columns].tolist() == [expected[interaction.pair] for interaction in design.interactions]


def test_monotone_directions_bound_interactions(design, columns):
    low, high = design.bounds(Constraints(monotone={"a": "increasing", "b": "increasing"}))
    column = dict(zip(design.interactions, columns.tolist(), strict=True))
    opposed, increasing, decreasing = (column[interaction] for interaction in INTERACTIONS)
    assert (low[opposed], high[opposed]) == (0.0, 0.0)  # a <= 2 decreases, b > 1 increases
    assert (low[increasing], high[increasing]) == (0.0, np.inf)  # a > 3; missing has no direction
    assert (low[decreasing], high[decreasing]) == (-np.inf, 0.0)
