"""Rows and grids that plots and reports show of the functions of a model."""

import numpy as np
import pandas as pd
import pytest
from _helpers import products

from sparsegam._data.columns import Scale
from sparsegam._data.table import read_table
from sparsegam._models.additive import Model
from sparsegam._models.bin_tables import bin_rows, pair_grid
from sparsegam._models.terms import Condition, Term
from sparsegam._models.training import TrainingDistribution

X = np.array([1.0, 3.0, 4.0, 7.0, 9.0, -9.0, np.nan])
PAIR = ("age", "priors")


def term(kind, value, coef):
    return Term("x", Condition(kind, value), coef)


def model(terms, special_values=(), scale=None, **options):
    scales = {} if scale is None else {"x": scale}
    return Model(0.0, tuple(terms), ("x",), "squared", special_values={"x": special_values}, scales=scales, **options)


def test_bin_rows_lists_intervals_special_values_and_missing_values():
    terms = [term("<=", 3.0, 1.0), term("<=", 7.0, 2.0), term("==", -9.0, 5.0), term("missing", None, -1.0)]
    rows = bin_rows(model(terms, (-9.0,)), "x", X)
    assert [(row.label, row.contribution, row.count) for row in rows] == [
        ("≤ 3", 3.0, 2),
        ("3 < x ≤ 7", 2.0, 2),
        ("> 7", 0.0, 1),
        ("= -9", 5.0, 1),
        ("missing", -1.0, 1),
    ]


def test_bin_rows_count_each_row_once():
    made = model([term("<=", 4.0, 1.0)])
    assert sum(row.count for row in bin_rows(made, "x", X)) == X.size
    assert all(row.count is None for row in bin_rows(made, "x"))


def test_bin_rows_lists_levels_one_by_one():
    made = model([term("in", ("a", "c"), 2.0)], scale=Scale("category", ("a", "b", "c")))
    rows = bin_rows(made, "x", np.array([0.0, 1.0, 1.0, 2.0, -1.0]))
    assert [(row.label, row.contribution, row.count) for row in rows] == [
        ("a", 2.0, 1),
        ("c", 2.0, 1),
        ("any other level", 0.0, 3),
    ]


def test_bin_rows_of_new_values_are_not_drawn_unless_the_data_have_them():
    seen = TrainingDistribution(upto=((4.0, 0.5),), above=0.3, single=((-9.0, 0.2),))
    made = model([term("<=", 4.0, 1.0)], (-9.0, -8.0), missing="mean", distributions={"x": seen})
    rows = bin_rows(made, "x", X[:-1])
    assert [(row.label, row.contribution, row.is_drawn) for row in rows[2:]] == [
        ("= -9", 0.0, True),
        ("= -8: no training rows", 0.5, False),
        ("missing: no training rows", 0.5, False),
    ]
    assert bin_rows(made, "x", X)[-1].is_drawn


def test_bin_rows_of_new_levels():
    seen = TrainingDistribution(single=(("a", 0.5), ("b", 0.5)))
    scale = Scale("category", ("a", "b"))
    made = model([term("==", "a", 2.0)], scale=scale, missing="mean", distributions={"x": seen})
    rows = bin_rows(made, "x", np.array([0.0, 1.0, 1.0, -1.0]), centred=True)
    assert [(row.label, row.contribution, row.count) for row in rows] == [
        ("a", 1.0, 1),
        ("any other level", -1.0, 2),
        ("a new level: no training rows", 0.0, 1),
        ("missing: no training rows", 0.0, 0),
    ]


@pytest.fixture(scope="module")
def fitted():
    return products.fitted()


def columns_of(made, frame):
    return made.score_function.columns(read_table(frame))


def test_pair_grid_counts_rows(fitted):
    made, frame = fitted
    grid = pair_grid(made, PAIR, columns_of(made, frame))
    young, many = frame["age"] <= 25, frame["priors"] > 3
    assert (grid.labels[0][0], grid.labels[1][2]) == ("≤ 25", "> 3")
    assert grid.counts[0, 2] == (young & many).sum()
    assert grid.counts.sum() == len(frame)
    assert grid.contributions[0, 2] == 0.9
    np.testing.assert_allclose(grid.shares, grid.counts / len(frame))


def test_centred_pair_grid_has_mean_zero(fitted):
    made, _ = fitted
    grid = pair_grid(made, PAIR, centred=True)
    assert (grid.shares * grid.contributions).sum() == pytest.approx(0.0, abs=1e-15)
    assert grid.contributions[0, 2] == pytest.approx(0.9 - made.pair_functions()[PAIR].mean)


def test_pair_grid_has_standard_errors_except_of_new_values(fitted):
    made, _ = fitted
    grid = pair_grid(made, PAIR)
    (error,) = (term.standard_error for term in made.terms if term.text() == "age <= 25 and priors > 3")
    assert grid.errors[0, 2] == pytest.approx(error, rel=0.2)  # the mean takes a little of it
    assert np.isnan(grid.errors[-1]).all()


def test_pair_grid_draws_new_values_only_if_the_data_have_them(fitted):
    made, frame = fitted
    drawn = pair_grid(made, PAIR).drawn()
    assert drawn.labels == (("≤ 25", "> 25 to 40", "> 40"), ("≤ 1", "> 1 to 3", "> 3"))
    later = pd.concat([frame, frame.head(1).assign(age=np.nan)])
    drawn = pair_grid(made, PAIR, columns_of(made, later)).drawn()
    assert drawn.labels[0][-1] == "missing: no training rows"
    assert drawn.counts[-1].sum() == 1
    assert drawn.contributions.shape == drawn.errors.shape == drawn.shares.shape == (4, 3)
