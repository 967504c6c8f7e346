"""Products as columns of a design: what they are on the rows, in words, and what they may do."""

import numpy as np
import pandas as pd
import pytest

from sparsegam import _core
from sparsegam._data.table import read_table
from sparsegam._design.binning import Binning
from sparsegam._design.constraints import Constraints, InteractionOptions
from sparsegam._design.encoding import bin_table
from sparsegam._design.interactions import BinRange, Interaction, ProductDesign
from sparsegam._design.own import OwnNumbers
from sparsegam._design.threshold import ThresholdDesign

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "a": RNG.integers(0, 6, 60).astype(float),
        "b": np.where(RNG.random(60) < 0.2, np.nan, RNG.integers(0, 4, 60)),
        "c": RNG.choice(["x", "y", "z"], 60),
    }
)
WEIGHT = RNG.integers(1, 4, 60).astype(float)
A, B, C = range(3)
PRODUCTS = [
    Interaction(BinRange(A, 0, 3), BinRange(B, 2, 4)),  # a <= 2 and b > 1
    Interaction(BinRange(A, 4, 6), BinRange(B, 4, 5)),  # a > 3 and b is missing
    Interaction(BinRange(A, 0, 1), BinRange(C, 1, 2)),  # a <= 0 and c == y
]


def plain():
    features, codes = bin_table(read_table(FRAME), Binning(), WEIGHT, 1)
    return ThresholdDesign(features, codes, WEIGHT)


def design(interactions=None):
    return ProductDesign(plain(), PRODUCTS, interactions or InteractionOptions("auto"), WEIGHT)


def by_hand():
    a, b, c = (FRAME[name] for name in "abc")
    return [(a <= 2) & (b > 1), (a > 3) & b.isna(), (a <= 0) & (c == "y")]


def columns(made):
    return made.columns_of(made.products)


def test_columns_are_those_of_the_rows():
    made = design()
    held = [by_hand()[PRODUCTS.index(product)] for product in made.products]
    np.testing.assert_array_equal(made.counts[columns(made)], [mask.sum() for mask in held])
    np.testing.assert_allclose(made.shares[columns(made)], [WEIGHT[mask].sum() / WEIGHT.mean() for mask in held])
    for column, mask in zip(columns(made), held, strict=True):
        own = made.own_columns(OwnNumbers(read_table(FRAME)), np.array([column]))
        np.testing.assert_array_equal(own.scores(0.0, np.ones(1)), mask)
    upper = np.arange(60) < 30
    np.testing.assert_array_equal(made.counts_among(columns(made), upper), [(mask & upper).sum() for mask in held])


def test_terms_are_in_the_words_of_the_data():
    made = design()
    words = {made.term(int(column), 1.0).text() for column in columns(made)}
    assert words == {"a <= 2 and b > 1", "a > 3 and b is missing", "a <= 0 and c == y"}
    assert made.features_of(columns(made)) == [A, B, C]
    assert made.columns_of([Interaction(BinRange(A, 0, 2), BinRange(B, 0, 1))]).tolist() == [-1]


def test_a_model_scores_as_the_rows_do_and_knows_its_pairs():
    made = design()
    coef = np.array([0.5, -0.25, 2.0, 1.0])
    point = _core.Point(0.125, np.append(columns(made), 1), coef)
    model = made.model(point, "logistic", np.array([0, 1]))
    np.testing.assert_allclose(model.decision_function(FRAME), made.row_scores(point), rtol=0, atol=1e-15)
    np.testing.assert_allclose(made.scores(read_table(FRAME), [point])[0], made.row_scores(point), rtol=0, atol=1e-15)
    assert model.pairs == (("a", "b"), ("a", "c"))
    for pair, function in model.pair_functions().items():
        assert function.shares.sum() == pytest.approx(1.0)
        numbers = [read_table(FRAME).column("abc".index(name)).on_scale(model.scale_of(name)) for name in pair]
        assert function.mean == pytest.approx(np.average(function.at(*numbers), weights=WEIGHT))


def test_other_rows_with_values_that_no_row_had_are_for_models():
    made = design()
    point = _core.Point(0.0, columns(made), np.ones(3))
    other = FRAME.assign(a=np.nan)
    assert made.scores(read_table(other), [point]) is None


def test_that_a_product_fails_is_no_candidate():
    allowed = design().candidates(Constraints(min_samples_bin=2))
    made = design()
    assert not allowed[columns(made) - 1].any()
    enough = [mask.sum() >= 2 for mask in by_hand()]
    assert allowed[columns(made)].tolist() == [enough[PRODUCTS.index(product)] for product in made.products]


def test_costs_are_those_of_the_dearer_feature():
    made = design(InteractionOptions("auto", interaction_cost=3.0))
    costs = made.costs(Constraints(feature_cost={"b": 5.0}))
    expected = {(A, B): 15.0, (A, C): 3.0}
    assert costs[columns(made)].tolist() == [expected[product.pair] for product in made.products]


def test_directions_bound_products():
    made = design()
    low, high = made.bounds(Constraints(monotone={"a": "increasing", "b": "increasing"}))
    at = dict(zip(made.products, columns(made).tolist(), strict=True))
    opposed, up, down = (at[product] for product in PRODUCTS)
    assert (low[opposed], high[opposed]) == (0.0, 0.0)  # a <= 2 wants to fall, b > 1 to grow
    assert (low[up], high[up]) == (0.0, np.inf)  # a > 3; missing has no direction
    assert (low[down], high[down]) == (-np.inf, 0.0)
