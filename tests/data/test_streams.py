"""Streams are recognised without importing packages and can be read repeatedly."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from _helpers.mixed_table import mixed_table
from pyarrow import dataset, parquet

from sparsegam._data import streams
from sparsegam._data.streams import as_stream, is_stream, read_columns

FRAME = mixed_table(500)
ARROW = pa.Table.from_pandas(FRAME, preserve_index=False)


def reader():
    return pa.RecordBatchReader.from_batches(ARROW.schema, ARROW.to_batches(max_chunksize=64))


SOURCES = {
    "dataset": lambda folder: dataset.dataset(folder),
    "in memory": lambda _: dataset.dataset(ARROW),
    "reader": lambda _: reader,
    "lazy": lambda folder: pl.scan_parquet(folder / "a.parquet"),
}


@pytest.fixture
def folder(tmp_path):
    parquet.write_table(ARROW, tmp_path / "a.parquet", row_group_size=77)
    return tmp_path


@pytest.mark.parametrize("rows", [50, 10_000])
@pytest.mark.parametrize("source", SOURCES)
def test_pieces_yield_all_rows_in_order_repeatedly(source, rows, folder, monkeypatch):
    monkeypatch.setattr(streams, "rows_per_piece", lambda _: rows)
    X = SOURCES[source](folder)
    assert is_stream(X)
    stream = as_stream(X)
    assert stream.names == tuple(FRAME.columns)
    for _ in range(2):
        pieces = list(stream.pieces())
        assert len(pieces) == 1 if rows > 500 else len(pieces) >= 4
        assert np.concatenate([piece.values(0) for piece in pieces]).tolist() == FRAME["age"].tolist()
    age, nothing, y = read_columns(stream, age="age", weight=None, y="y")
    assert age.tolist() == FRAME["age"].tolist()
    assert nothing is None
    assert y.tolist() == FRAME["y"].tolist()


def test_slices_read_lazy_frames_of_older_polars():
    frame = pl.DataFrame({"x": range(10)})
    pieces = list(streams._slices(frame.lazy(), 4))
    assert [piece.n_rows for piece in pieces] == [4, 4, 2]


@pytest.mark.parametrize("X", [np.zeros((2, 2)), [[1.0]], FRAME, pl.DataFrame({"a": [1]}), ARROW, None, pd.DataFrame])
def test_is_stream_is_false_for_data_in_memory(X):
    assert not is_stream(X)


def test_as_stream_rejects_a_reader():
    assert is_stream(reader())
    with pytest.raises(
        ValueError, match="can be read only once, but a fit reads twice: pass a function that returns a reader"
    ):
        as_stream(reader())


def test_as_stream_rejects_functions_that_return_no_reader():
    with pytest.raises(ValueError, match=r"must return a pyarrow.RecordBatchReader, got int"):
        as_stream(lambda: 3)


def test_imports_load_neither_arrow_nor_dask():
    code = (
        "import sys, sparsegam; sparsegam.scan; from sparsegam._data.streams import is_stream; is_stream([[1.0]]); "
        "assert not {'pyarrow', 'polars'} & set(sys.modules), 'loaded by streams'; "  # scikit-learn loads Arrow
        "sparsegam.SparseGAMClassifierCV; sparsegam.gam_path; "
        "assert not {'dask', 'distributed', 'polars'} & set(sys.modules), 'loaded by estimators'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
