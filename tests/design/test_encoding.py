"""Encoding of tables and streams: a stream has the same bins and gives the same problem as its whole frame."""

import gc
import os
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from _helpers.mixed_table import mixed_table

from sparsegam._data import sketches as summaries
from sparsegam._data import table as frames
from sparsegam._data.streams import Stream
from sparsegam._design import encoding
from sparsegam._design.binning import Binning
from sparsegam._design.encoding import bin_table, encode_stream

MAPS = Path("/proc/self/maps")


def in_pieces(frame, cuts, max_bytes=None):
    def pieces():
        ends = [0, *cuts, len(frame)]
        for first, last in pairwise(ends):
            yield frames.Table(np.zeros((0, 0)), 0, 0) if first == last else frames.read_table(frame.iloc[first:last])

    return Stream(tuple(frame.columns), pieces, max_bytes=max_bytes)


OPTIONS = [
    {},
    {"max_bins": 4},
    {"max_bins": 30, "min_samples_bin": 20},
    {"special_values": [-9.0], "min_category_count": 40},
    {"categorical": ["debt"], "max_bins": 5},
    {"thresholds": {"income": [0.0, 1.0]}, "special_values": {"debt": [-9.0]}},
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("n_threads", [1, 3])
def test_streams_have_the_bins_of_the_frame(options, n_threads):
    frame = mixed_table(700)
    weight = np.random.default_rng(1).choice([0.5, 1.0, 3.7], 700)
    table, y, given = encode_stream(
        in_pieces(frame.assign(w=weight), [10, 10, 300, 301]), "y", "w", Binning(**options), n_threads
    )
    assert y.tolist() == frame["y"].tolist()
    assert given.tolist() == weight.tolist()
    expected = frames.read_table(frame.drop(columns="y"))
    for rows in (np.arange(700), np.flatnonzero(weight > 1)):
        mine = bin_table(table.take(rows), Binning(**options), weight[rows], n_threads)
        theirs = bin_table(expected.take(rows), Binning(**options), weight[rows])
        for one, other in zip(mine[0], theirs[0], strict=True):
            assert one.conditions() == other.conditions()
            assert one.scale == other.scale
        for one, other in zip(mine[1], theirs[1], strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)


def test_codes_equal_to_bins_are_not_copied():
    table, _, _ = encode_stream(in_pieces(mixed_table(200), [50]), "y", None, Binning(), 1)
    _, codes = bin_table(table, Binning())
    assert codes[1] is table.source[1].codes


@pytest.mark.parametrize("max_bytes", [None, 0])
def test_reusable_codes_are_overwritten_by_bins(max_bytes):
    binning = Binning(max_bins=4, special_values=[-9.0])
    frame = mixed_table(700)
    expected = bin_table(frames.read_table(frame.drop(columns="y")), binning)[1]
    table, _, _ = encode_stream(in_pieces(frame, [50], max_bytes), "y", None, binning, 1)
    before = [column.codes.copy() for column in table.source]
    assert {codes.dtype.itemsize for codes in before} == {1, 2}
    for codes, column, old, bins in zip(bin_table(table, binning)[1], table.source, before, expected, strict=True):
        np.testing.assert_array_equal(codes, bins)
        np.testing.assert_array_equal(column.codes, old)
    for codes, column, bins in zip(
        bin_table(table.with_reusable_codes(allowed=True), binning)[1], table.source, expected, strict=True
    ):
        np.testing.assert_array_equal(codes, bins)
        assert np.shares_memory(codes, column.codes)


def test_sketched_columns_have_bins_of_similar_size(monkeypatch):
    monkeypatch.setattr(summaries, "MOST_VALUES", 2000)
    monkeypatch.setattr(summaries, "SKETCH_VALUES", 1000)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=20_000), "y": rng.integers(0, 2, 20_000)})
    frame.loc[rng.random(20_000) < 0.1, "x"] = -9.0
    binning = Binning(max_bins=20, special_values=[-9.0])
    table, _, _ = encode_stream(in_pieces(frame, [500, 7000]), "y", None, binning, 1)
    (feature,), (codes,) = bin_table(table, binning)
    assert feature.special == (-9.0,)
    assert feature.n_ordered == 20
    counts = np.bincount(codes)
    assert counts[-1] == (frame["x"] == -9.0).sum()
    assert np.abs(counts[:-1] / counts[:-1].mean() - 1).max() < 0.15
    assert np.isin(feature.edges, frame["x"]).all()
    exact = [(frame["x"] <= edge).sum() - (frame["x"] == -9.0).sum() for edge in feature.edges if edge > -9.0]
    np.testing.assert_array_equal(np.cumsum(counts[:-1])[: len(exact)], exact)


def test_sketched_columns_cannot_be_categories(monkeypatch):
    monkeypatch.setattr(summaries, "MOST_VALUES", 50)
    monkeypatch.setattr(summaries, "SKETCH_VALUES", 40)
    frame = pd.DataFrame({"x": np.arange(200.0), "y": np.arange(200) % 2})
    binning = Binning(categorical=["x"])
    table, _, _ = encode_stream(in_pieces(frame, []), "y", None, binning, 1)
    with pytest.raises(ValueError, match="column 'x' in categorical has more than"):
        bin_table(table, binning)


def test_large_codes_are_stored_in_a_temporary_file(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    frame = mixed_table(501)
    table, _, _ = encode_stream(in_pieces(frame, [100], max_bytes=0), "y", None, Binning(), 2)
    inside, _, _ = encode_stream(in_pieces(frame, [100]), "y", None, Binning(), 2)
    for one, other in zip(table.source, inside.source, strict=True):
        assert one.codes.base is not None
        assert one.codes.ctypes.data % one.codes.itemsize == 0
        np.testing.assert_array_equal(one.codes, other.codes)
    assert os.listdir(tmp_path) == []
    if MAPS.exists():
        assert str(tmp_path) in MAPS.read_text()
        del table, one
        gc.collect()
        assert str(tmp_path) not in MAPS.read_text()


def changing(frames_in_turn):
    turns = iter(frames_in_turn)
    names = tuple(frames_in_turn[0].columns)
    return Stream(names, lambda: iter([frames.read_table(next(turns))]))


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (lambda frame: frame.iloc[:-1], "had 100 rows when it was first read and 99 rows the second time"),
        (lambda frame: pd.concat([frame, frame]), "had 100 rows when it was first read and more rows the second time"),
        (lambda frame: frame.assign(job="new"), "'job' contains new levels in the second pass"),
        (lambda frame: frame.assign(age=np.nan), "'age' contains missing values in the second pass"),
    ],
)
def test_data_that_change_between_readings_raise(second, message):
    frame = mixed_table(100)
    frame["job"] = "old"
    with pytest.raises(ValueError, match=message):
        encode_stream(changing([frame, second(frame)]), "y", None, Binning(), 1)


def test_unknown_column_names_raise():
    stream = in_pieces(mixed_table(100), [])
    with pytest.raises(ValueError, match="y names the column 'z', but the columns are 'age'"):
        encode_stream(stream, "z", None, Binning(), 1)
    with pytest.raises(
        ValueError, match="sample_weight of a stream must be the name of one of its columns, got ndarray"
    ):
        encode_stream(stream, "y", np.ones(100), Binning(), 1)
    with pytest.raises(ValueError, match="X has no column other than 'y'"):
        encode_stream(in_pieces(mixed_table(100)[["y"]], []), "y", None, Binning(), 1)


def test_pieces_with_other_columns_or_types_raise():
    frame = mixed_table(100)

    def parts(other):
        return Stream(tuple(frame.columns), lambda: iter([frames.read_table(frame), frames.read_table(other)]))

    with pytest.raises(
        ValueError, match=r"all parts must have the same columns in the same order, got .*'age', 'debt'"
    ):
        encode_stream(parts(frame.rename(columns={"job": "work"})), "y", None, Binning(), 1)
    with pytest.raises(ValueError, match=r"'age' contains numbers in some parts and categories \('7'\) in others"):
        encode_stream(parts(frame.assign(age="7")), "y", None, Binning(), 1)


def test_streams_without_rows_raise():
    with pytest.raises(ValueError, match="X has no rows"):
        encode_stream(in_pieces(mixed_table(10).iloc[:0], []), "y", None, Binning(), 1)


def test_map_in_threads_keeps_the_order():
    assert encoding.map_in_threads(lambda i: i * i, range(20), 4) == [i * i for i in range(20)]


@pytest.mark.parametrize("kind", [np.uint8, np.int64, np.bool_])
@pytest.mark.parametrize(
    "options",
    [{}, {"min_samples_bin": 30}, {"special_values": {2: [0]}}, {"categorical": [1]}, {"thresholds": {3: [0.5]}}],
)
def test_binary_blocks_are_encoded_like_single_columns(kind, options):
    rng = np.random.default_rng(0)
    block = (rng.random((200, 8)) < [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1.0]).astype(kind)
    if kind is np.bool_ and "special_values" in options:
        options = {}
    features, codes = bin_table(frames.read_table(block), Binning(**options))
    columns = pd.DataFrame({f"x{j}": block[:, j] for j in range(8)}).assign(text="a")  # types differ: read one by one
    expected, expected_codes = bin_table(frames.read_table(columns), Binning(**options))
    for j, (mine, other) in enumerate(zip(features, expected[:8], strict=True)):
        assert (mine.name, mine.special, mine.missing, mine.scale) == (
            other.name,
            other.special,
            other.missing,
            other.scale,
        )
        np.testing.assert_array_equal(mine.edges, other.edges)
        np.testing.assert_array_equal(codes[j], expected_codes[j])
        assert codes[j].dtype == expected_codes[j].dtype
