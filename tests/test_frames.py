"""Reading arrays and frames: the same columns from every kind, and errors that name the column."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sparsegam import frames

COLUMNS = {"age": [20, 30, 40], "income": [1.5, -2.0, 1e9], "member": [True, False, True]}
EXPECTED = np.array([[20, 1.5, 1], [30, -2, 0], [40, 1e9, 1]])


def all_columns(table):
    return np.column_stack([table.column(j) for j in range(table.n_columns)])


@pytest.mark.parametrize(
    "make",
    [
        pd.DataFrame,
        pl.DataFrame,
        pa.table,
        lambda columns: pd.DataFrame(columns).convert_dtypes(),
        lambda columns: pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
    ],
    ids=["pandas", "polars", "pyarrow", "pandas nullable", "pandas arrow"],
)
def test_every_frame_gives_the_same_columns_and_names(make):
    table = frames.read(make(COLUMNS))
    assert (table.n_rows, table.n_columns, table.names) == (3, 3, ("age", "income", "member"))
    np.testing.assert_array_equal(all_columns(table), EXPECTED)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "uint8", "bool", "object"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_any_type_and_layout(dtype, order):
    X = np.array([[0, 1], [1, 1], [1, 0]]).astype(dtype, order=order)
    table = frames.read(X)
    assert table.names is None
    assert table.labels == ("x0", "x1")
    assert table.column(1).dtype == np.float64
    assert table.column(1).flags.c_contiguous
    np.testing.assert_array_equal(all_columns(table), X.astype(float))


def test_a_contiguous_float_column_is_not_copied():
    X = np.asfortranarray(np.random.default_rng(0).random((50, 3)))
    assert np.shares_memory(frames.read(X).column(2), X)


def test_lists_are_read_as_arrays():
    np.testing.assert_array_equal(all_columns(frames.read([[1, 2], [3, 4]])), [[1, 2], [3, 4]])


def test_names_that_are_not_text_go_by_position():
    table = frames.read(pd.DataFrame(EXPECTED))
    assert table.names is None
    np.testing.assert_array_equal(all_columns(table), EXPECTED)


def test_decimals_and_python_numbers_are_read():
    table = frames.read(pd.DataFrame({"a": pd.Series([Decimal("1.5"), Decimal(2)], dtype=object)}))
    np.testing.assert_array_equal(table.column(0), [1.5, 2.0])


def test_rows_can_be_left_out():
    table = frames.read(pd.DataFrame(COLUMNS)).keep(np.array([True, False, True]))
    assert table.n_rows == 2
    np.testing.assert_array_equal(all_columns(table), EXPECTED[[0, 2]])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_values_that_are_not_finite_are_refused_by_name(make, bad):
    table = frames.read(make({"good": [1.0, 2.0], "debt": [0.5, bad]}))
    with pytest.raises(ValueError, match=r"column 'debt' contains (NaN|infinity) \(row 1; 1 such rows\).*drop"):
        table.check_finite()


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"a": [1, None]}),
        pl.DataFrame({"a": [True, None]}),
        pa.table({"a": [1.0, None]}),
        pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}),
        pd.DataFrame({"a": pd.array([True, None], dtype="boolean")}),
        pd.DataFrame({"a": pd.Series([1, None], dtype=object)}),
    ],
)
def test_nulls_of_every_kind_are_refused_as_nan(frame):
    with pytest.raises(ValueError, match="column 'a' contains NaN"):
        frames.read(frame).column(0)


def test_huge_finite_values_are_no_infinity():
    frames.read(np.full((4, 2), 1e308)).check_finite()


@pytest.mark.parametrize(
    "values",
    [["a", "b"], pd.to_datetime(["2020-01-01", "2021-01-01"]), pd.Categorical(["x", "y"]), [1, "2"], [{}, []]],
    ids=["text", "dates", "categories", "mixed", "objects"],
)
def test_columns_that_are_not_numbers_are_refused_by_name(values):
    with pytest.raises(ValueError, match=r"column 'kind' is not numeric .*encode it"):
        frames.read(pd.DataFrame({"kind": values})).column(0)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (pd.DataFrame(np.ones((2, 2)), columns=["a", "a"]), r"unique, got \['a'\]"),
        (pd.DataFrame({"a": []}), "0 rows and 1 columns"),
        (pd.DataFrame(index=[0, 1]), "2 rows and 0 columns"),
        ([{"a": 1}], "list of dicts.*DataFrame"),
        (pl.LazyFrame({"a": [1]}), r"lazy.*collect\(\)"),
        (np.ones(3), "Expected 2D array"),
        (np.ones((0, 3)), "0 sample"),
        (np.ones((3, 0)), "0 feature"),
        (np.ones((2, 2, 2)), "dim 3"),
        (np.array([["a"], ["b"]]), "not compatible with arrays of bytes/strings"),
    ],
)
def test_wrong_shapes_and_kinds_get_a_clear_error(X, message):
    with pytest.raises(ValueError, match=message):
        frames.read(X)
