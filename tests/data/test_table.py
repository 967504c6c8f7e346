"""Arrays and frames of every kind give the same columns, and errors name the column."""

from datetime import date, datetime, timezone
from decimal import Decimal

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sparsegam._data.columns import Scale
from sparsegam._data.matrix import read_matrix
from sparsegam._data.table import read_table

COLUMNS = {"age": [20, 30, 40], "income": [1.5, -2.0, 1e9], "member": [True, False, True]}
EXPECTED = np.array([[20, 1.5, 1], [30, -2, 0], [40, 1e9, 1]])


def all_columns(table):
    return np.column_stack([table.column(j).values for j in range(table.n_columns)])


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
def test_frames_of_all_packages_give_the_same_columns(make):
    table = read_table(make(COLUMNS))
    assert (table.n_rows, table.n_columns, table.names) == (3, 3, ("age", "income", "member"))
    np.testing.assert_array_equal(all_columns(table), EXPECTED)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "uint8", "bool", "object"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_any_type_and_order_are_read(dtype, order):
    X = np.array([[0, 1], [1, 1], [1, 0]]).astype(dtype, order=order)
    table = read_table(X)
    assert table.names is None
    assert table.labels == ("x0", "x1")
    assert table.column(1).values.dtype == np.float64
    assert table.column(1).values.flags.c_contiguous
    np.testing.assert_array_equal(all_columns(table), X.astype(float))


def test_a_contiguous_float_column_is_not_copied():
    X = np.asfortranarray(np.random.default_rng(0).random((50, 3)))
    assert np.shares_memory(read_table(X).column(2).values, X)


def test_lists_are_read_as_arrays():
    np.testing.assert_array_equal(all_columns(read_table([[1, 2], [3, 4]])), [[1, 2], [3, 4]])


def test_frames_without_text_names_are_read_by_position():
    table = read_table(pd.DataFrame(EXPECTED))
    assert table.names is None
    np.testing.assert_array_equal(all_columns(table), EXPECTED)


def test_decimals_and_python_numbers_are_read():
    table = read_table(pd.DataFrame({"a": pd.Series([Decimal("1.5"), Decimal(2)], dtype=object)}))
    np.testing.assert_array_equal(table.column(0).values, [1.5, 2.0])


def test_take_selects_rows_by_mask():
    table = read_table(pd.DataFrame(COLUMNS)).take(np.array([True, False, True]))
    assert table.n_rows == 2
    np.testing.assert_array_equal(all_columns(table), EXPECTED[[0, 2]])


def test_take_selects_rows_by_position_repeatedly():
    table = read_table(pl.DataFrame({"c": ["a", "b", "c", "a"]})).load()
    some = table.take(np.array([3, 1, 1]))
    assert some.n_rows == 3
    assert some.column(0).scale.levels == ("a", "b")
    assert some.take(np.array([False, True, True])).column(0).scale.levels == ("b",)


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_infinity_raises_with_the_column_name(make, bad):
    table = read_table(make({"good": [1.0, 2.0], "debt": [np.nan, bad]}))
    with pytest.raises(ValueError, match=r"column 'debt' contains infinity \(first in row 1, 1 in all\).*drop"):
        table.column(1)


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"a": [1, None]}),
        pl.DataFrame({"a": [True, None]}),
        pl.DataFrame({"a": [1.0, np.nan]}),
        pa.table({"a": [1.0, None]}),
        pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}),
        pd.DataFrame({"a": pd.array([True, None], dtype="boolean")}),
        pd.DataFrame({"a": pd.Series([1, None], dtype=object)}),
        pd.DataFrame({"a": pd.Series([1, pd.NA], dtype=object)}),
        pd.DataFrame({"a": pd.Series([Decimal(1), np.nan], dtype=object)}),
        np.array([[1], [None]], dtype=object),
    ],
)
def test_missing_values_of_every_kind_become_nan(frame):
    np.testing.assert_array_equal(read_table(frame).column(0).values, [1.0, np.nan])


DAYS = [date(2020, 1, 2), None, date(1960, 1, 1)]
TIMES = [datetime(2020, 1, 2, 12), None, datetime(1960, 1, 1)]


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: pl.DataFrame({"d": DAYS}), "date"),
        (lambda: pa.table({"d": DAYS}), "date"),
        (lambda: pd.DataFrame({"d": pd.Series(DAYS, dtype=object)}), "date"),
        (lambda: pl.DataFrame({"d": DAYS}).to_pandas(use_pyarrow_extension_array=True), "date"),
        (lambda: pl.DataFrame({"d": TIMES}), "datetime"),
        (lambda: pd.DataFrame({"d": pd.to_datetime(TIMES)}), "datetime"),
        (lambda: pd.DataFrame({"d": pd.to_datetime(TIMES).as_unit("ns")}), "datetime"),
        (lambda: pd.DataFrame({"d": pd.Series(TIMES, dtype=object)}), "datetime"),
        (lambda: pd.DataFrame({"d": pd.to_datetime(TIMES).tz_localize("UTC").tz_convert("Asia/Tokyo")}), "datetime"),
        (lambda: np.array(DAYS, dtype="datetime64[D]")[:, None], "date"),
    ],
)
def test_dates_become_numbers_on_a_time_scale(make, kind):
    column = read_table(make()).column(0)
    assert column.scale.kind == kind
    assert np.isnan(column.values[1])
    expected = DAYS if kind == "date" else TIMES
    assert [column.scale.value(column.values[i]) for i in (0, 2)] == [expected[0], expected[2]]
    assert column.scale.number(expected[0]) == column.values[0]


TEXTS = ["b", None, "a", "b"]


@pytest.mark.parametrize(
    "make",
    [
        lambda: pl.DataFrame({"c": TEXTS}),
        lambda: pl.DataFrame({"c": pl.Series(TEXTS, dtype=pl.Categorical)}),
        lambda: pa.table({"c": TEXTS}),
        lambda: pa.table({"c": pa.array(TEXTS).dictionary_encode()}),
        lambda: pd.DataFrame({"c": TEXTS}),
        lambda: pd.DataFrame({"c": pd.Series(TEXTS, dtype=object)}),
        lambda: pd.DataFrame({"c": pd.Series(["b", np.nan, "a", "b"], dtype=object)}),
        lambda: pd.DataFrame({"c": pd.Series(["b", pd.NA, "a", "b"], dtype=object)}),
        lambda: pd.DataFrame({"c": pd.Series(TEXTS, dtype="string")}),
        lambda: pd.DataFrame({"c": pd.Categorical(TEXTS, ["z", "b", "a"])}),
        lambda: pd.DataFrame({"c": TEXTS}).convert_dtypes(dtype_backend="pyarrow"),
        lambda: np.array(TEXTS, dtype=object)[:, None],
        lambda: [["b"], [None], ["a"], ["b"]],
    ],
)
def test_text_and_categories_become_the_same_category(make):
    column = read_table(make()).column(0)
    assert column.scale == Scale("category", ("a", "b"))
    np.testing.assert_array_equal(column.values, [1, np.nan, 0, 1])


def test_pandas_frames_are_the_same_with_and_without_one_block():
    one_block = pd.DataFrame({"a": [1, 2, 3], "b": [3, 1, 2]}, index=[5, 6, 7])
    for frame in (one_block, one_block.assign(b=[0.5, 1.5, 2.5])):
        for given in (frame, nw.from_native(frame)):
            table = read_table(given)
            assert (table.block is not None) == (frame is one_block)
            assert (table.names, table.shape) == (("a", "b"), (3, 2))
            np.testing.assert_array_equal(all_columns(table), frame)
            np.testing.assert_array_equal(all_columns(table.take(np.array([2, 0]))), frame.iloc[[2, 0]])
            np.testing.assert_array_equal(table.values(1), frame["b"])
            np.testing.assert_array_equal(table.frame.to_numpy(), frame)


def test_scales_contains_the_columns_that_were_read():
    table = read_table(pd.DataFrame({"a": ["x", "y"], "b": [1, 2], "c": [True, False]}))
    assert table.scales == {}
    assert [table.column(j).scale for j in (2, 0)] == [table.scales[2], table.scales[0]]
    assert [*table.scales] == [2, 0]
    assert table.take(np.array([0])).scales == {}


@pytest.mark.parametrize("n", [2, 3, 4])
def test_first_rows_returns_the_start_of_each_column(n):
    frame = pd.DataFrame({"a": ["z", "y", "x"], "b": [1.0, 2.0, 3.0], "c": [3, 2, 1]})
    for table in (read_table(frame), read_table(frame).load(), read_table(frame[["b", "c"]])):
        for j, start in table.first_rows(n, range(table.n_columns)):
            np.testing.assert_array_equal(start.raw_values(), table.column(j).raw_values()[:n])
    kept = read_table(frame).take(np.array([False, True, True]))
    assert [start.values.size for _, start in kept.first_rows(1, [0, 2])] == [2, 2]


@pytest.mark.parametrize(
    "make",
    [
        lambda: pd.DataFrame({"o": pd.Categorical(["lo", None, "hi"], ["lo", "mid", "hi"], ordered=True)}),
        lambda: pl.DataFrame({"o": pl.Series(["lo", None, "hi"], dtype=pl.Enum(["lo", "mid", "hi"]))}),
    ],
)
def test_ordered_categories_keep_their_order(make):
    column = read_table(make()).column(0)
    assert column.scale == Scale("ordered", ("lo", "mid", "hi"))
    np.testing.assert_array_equal(column.values, [0, np.nan, 2])


def test_intervals_become_text_levels():
    column = read_table(pd.DataFrame({"age": pd.cut([1, 9, 5], [0, 5, 10])})).column(0)
    assert column.scale == Scale("ordered", ("(0, 5]", "(5, 10]"))


def test_levels_may_be_numbers_or_booleans():
    frame = pd.DataFrame({"i": pd.Categorical([2, 1, None]), "b": pd.Categorical([True, False, None])})
    assert read_table(frame).column(0).scale.levels == (1, 2)
    assert read_table(frame).column(1).scale.levels == (False, True)


def test_lists_may_mix_numbers_and_text():
    table = read_table([[30, "clerk"], [40, "baker"]])
    assert [table.column(j).scale.kind for j in (0, 1)] == ["number", "category"]


def test_columns_without_values_are_numbers():
    for frame in (pl.DataFrame({"a": [None, None]}), pd.DataFrame({"a": [None, None]}), pa.table({"a": [None, None]})):
        column = read_table(frame).column(0)
        assert column.scale.kind == "number"
        assert np.isnan(column.values).all()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, "2"], r"column 'kind' mixes types \(int, str; such as 1 and '2'\): .*astype"),
        ([date(2020, 1, 1), 3], "column 'kind' mixes types"),
        ([{}, []], r"column 'kind' contains dict \(row 0: {}\).*must be"),
        ([10**400, 1], "column 'kind' contains a number that float64"),
        (pd.to_timedelta([1, 2], unit="s"), "column 'kind' contains Duration.*seconds"),
        (pd.Categorical([1, "a"]), "column 'kind' mixes types"),
        ([datetime(2020, 1, 1, tzinfo=timezone.utc), datetime(2020, 1, 2)], "'kind' mixes times with and without"),
    ],
    ids=["mixed", "dates and numbers", "objects", "huge", "durations", "mixed levels", "zones"],
)
def test_unsupported_columns_raise_with_their_name(values, message):
    with pytest.raises((ValueError, TypeError), match=message):
        read_table(pd.DataFrame({"kind": pd.Series(values, dtype=getattr(values, "dtype", object))})).column(0)


@pytest.mark.parametrize("kind", ["f8", "f4", "i8", "u1", "M8[D]", "M8[us]", object, "U1", bool])
def test_masked_values_are_missing(kind):
    raw = np.array([[1], [2], [3]]).astype("i8" if "M8" in str(kind) else kind).astype(kind)
    column = read_table(np.ma.masked_array(raw, mask=[[0], [1], [0]])).column(0)
    whole = read_table(raw).column(0)
    assert column.scale.kind == whole.scale.kind
    assert np.isnan(column.values).tolist() == [False, True, False]
    assert read_table(np.ma.masked_array(raw)).column(0).values.tolist() == whole.values.tolist()


@pytest.mark.parametrize(
    ("value", "unit"), [("300000-01-01", "s"), ("300000-01-01T00", "h"), ("300000000000000000", "Y")]
)
def test_times_that_overflow_raise(value, unit):
    with pytest.raises(ValueError, match=r"column .x0. contains .*, which overflows int64"):
        read_table(np.array([["2020"], [value]], dtype=f"M8[{unit}]")).column(0)


def test_integers_of_128_bits_become_floats():
    frame = pl.DataFrame({"a": [1, 2**100, None]}, schema={"a": pl.Int128})
    assert read_table(frame).column(0).values.tolist()[:2] == [1.0, 2.0**100]
    assert read_matrix(frame.drop_nulls()).values.tolist() == [[1.0], [2.0**100]]


def test_huge_finite_values_are_accepted():
    assert read_table(np.full((4, 2), 1e308)).column(0).values.tolist() == [1e308] * 4


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
    ],
)
def test_invalid_tables_raise(X, message):
    with pytest.raises(ValueError, match=message):
        read_table(X)
