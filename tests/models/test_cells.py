"""The cells of a pair: rows counted, errors beside what is added, values that no row had left to tables."""

import numpy as np
import pandas as pd
import pytest
from _helpers import products

from sparsegam._data.table import read_table
from sparsegam._models.cells import cells_of
from sparsegam._models.steps import step_numbers

PAIR = ("age", "priors")


@pytest.fixture(scope="module")
def fitted():
    return products.fitted()


def test_rows_are_counted_by_cell(fitted):
    model, frame = fitted
    cells = cells_of(model, PAIR, step_numbers(model, read_table(frame)))
    young, many = frame["age"] <= 25, frame["priors"] > 3
    assert (cells.labels[0][0], cells.labels[1][2]) == ("≤ 25", "> 3")
    assert cells.counts[0, 2] == (young & many).sum()
    assert cells.counts.sum() == len(frame)
    assert cells.adds[0, 2] == 0.9
    np.testing.assert_allclose(cells.shares, cells.counts / len(frame))


def test_centred_cells_have_mean_zero(fitted):
    model, _ = fitted
    cells = cells_of(model, PAIR, centred=True)
    assert (cells.shares * cells.adds).sum() == pytest.approx(0.0, abs=1e-15)
    assert cells.adds[0, 2] == pytest.approx(0.9 - model.pair_functions()[PAIR].mean())


def test_errors_stand_beside_their_cells(fitted):
    model, _ = fitted
    cells = cells_of(model, PAIR)
    (error,) = (term.standard_error for term in model.terms if term.text() == "age <= 25 and priors > 3")
    assert cells.errors[0, 2] == pytest.approx(error, rel=0.2)  # the mean takes a little of it
    assert np.isnan(cells.errors[-1]).all()


def test_values_that_no_row_had_are_not_drawn_unless_rows_have_them(fitted):
    model, frame = fitted
    drawn = cells_of(model, PAIR).worth_drawing()
    assert drawn.labels == (("≤ 25", "> 25 to 40", "> 40"), ("≤ 1", "> 1 to 3", "> 3"))
    later = pd.concat([frame, frame.head(1).assign(age=np.nan)])
    drawn = cells_of(model, PAIR, step_numbers(model, read_table(later))).worth_drawing()
    assert drawn.labels[0][-1] == "missing: no such row was seen"
    assert drawn.counts[-1].sum() == 1
    assert drawn.adds.shape == drawn.errors.shape == drawn.shares.shape == (4, 3)
