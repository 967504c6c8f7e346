"""Tables of steps: the cells of a pair, what they are called, and that rows find theirs."""

import numpy as np
import pytest
from _helpers import products

from sparsegam._data.table import read_table
from sparsegam._models.steps import step_model, step_numbers


@pytest.fixture(scope="module")
def fitted():
    return products.fitted()


def test_rows_find_the_cells_of_their_pair(fitted):
    model, frame = fitted
    numbers = step_numbers(model, read_table(frame))
    for table, (names, pair) in zip(step_model(model).pairs, model.pair_functions().items(), strict=True):
        found = table.of(numbers)
        np.testing.assert_array_equal(found, pair.at(*(numbers[name] for name in names)))
        np.testing.assert_array_equal(table.adds.ravel()[table.find(numbers)], found)


def test_cells_that_no_value_can_be_in_are_left_out(fitted):
    model, _ = fitted
    ages, hours = step_model(model).pairs[:2]
    assert ages.adds.shape == (4, 4)  # three steps each, and missing, which no row had; nothing else can be
    assert ages.cell_labels()[0] == ("<= 25", "> 25 to 40", "> 40", "missing: no such row was seen")
    assert hours.cell_labels()[1] == ("<= 20", "> 20", "missing")
    for table in (ages, hours):
        assert table.shares.sum() == pytest.approx(1.0)
    assert ages.labels()[2] == "age: <= 25; priors: > 3"
    assert ages.labels()[3] == "age: <= 25; priors: missing: no such row was seen"


def test_values_that_products_do_not_tell_apart_share_a_cell():
    terms = (products.product(("x", products.upto(3.0)), ("y", products.above(5.0)), 1.0),)
    model = products.Model(0.0, terms, ("x", "y"), "squared", special_values={"x": (-9.0, -8.0)})
    (table,) = step_model(model).pairs
    assert table.cell_labels()[0] == ("<= 3", "> 3", "missing, -9, -8")
    assert table.adds.tolist() == [[0.0, 1.0, 0.0], [0.0] * 3, [0.0] * 3]


def test_means_follow_changes(fitted):
    model, _ = fitted
    table = step_model(model).pairs[0]
    values, shares = table.changed(lambda adds: adds + 2.0).spread()
    assert shares @ values == pytest.approx(model.pair_functions()["age", "priors"].mean() + 2.0)


def test_features_of_pairs_alone_are_inputs_too(fitted):
    model, frame = fitted
    steps = step_model(model)
    assert [table.feature for table in steps.tables] == ["age", "priors"]
    assert steps.features == ("age", "priors", "hours", "colour")
    np.testing.assert_array_equal(steps.score(frame), model.decision_function(frame))
