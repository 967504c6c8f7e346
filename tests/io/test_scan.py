"""Files scanned as one stream: columns, order of rows, and errors of one line."""

import gzip
from functools import reduce

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from _helpers.mixed_table import mixed_table
from pyarrow import feather, parquet

from sparsegam import scan
from sparsegam._data.sketches import ColumnSummary, summarise_column
from sparsegam._io import csv as csv_files
from sparsegam._io.contents import FileError
from sparsegam._io.files import read_file


def summarise_stream(stream):
    pieces = list(stream.pieces())
    return [
        reduce(ColumnSummary.merge, (summarise_column(piece.column(j)) for piece in pieces))
        for j in range(len(stream.names))
    ]


def assert_same_columns(stream, table):
    assert stream.names == table.labels
    for j, found in enumerate(summarise_stream(stream)):
        expected = summarise_column(table.column(j))
        assert found.scale == expected.scale, found.name
        assert found.missing == expected.missing
        np.testing.assert_array_equal(found.values, expected.values)
        np.testing.assert_array_equal(found.counts, expected.counts)


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_scan_reads_arrow_files_in_the_order_of_their_names(tmp_path, ending):
    frame = mixed_table(300)
    write = parquet.write_table if ending == "parquet" else feather.write_feather
    for i, part in enumerate(np.split(np.arange(300), [90, 91, 200])):
        write(pa.Table.from_pandas(frame.iloc[part], preserve_index=False), tmp_path / f"part-{i}.{ending}")
    write(pa.Table.from_pandas(frame, preserve_index=False), tmp_path / f"whole.{ending}")
    whole = read_file(tmp_path / f"whole.{ending}")
    assert_same_columns(scan(str(tmp_path / f"part-*.{ending}")), whole)
    assert_same_columns(scan([tmp_path / f"whole.{ending}"]), whole)
    ages = [piece.values(0) for piece in scan(tmp_path / f"part-*.{ending}").pieces()]
    assert np.concatenate(ages).tolist() == frame["age"].tolist()


@pytest.mark.parametrize("packed", [False, True])
def test_scan_infers_types_of_text_from_all_blocks(tmp_path, monkeypatch, packed):
    monkeypatch.setattr(csv_files, "BLOCK_BYTES", 2000)
    frame = mixed_table(300)
    frame["late"] = [str(i) for i in range(299)] + ["three"]
    frame["early"] = ["n/a", "x", *[str(i) for i in range(298)]]
    frame["empty"] = np.nan
    text = frame.to_csv(index=False)
    names = [tmp_path / f"{name}.csv{'.gz' * packed}" for name in ("whole", "a", "b")]
    head, *lines = text.splitlines(keepends=True)
    for name, part in zip(names, (text, head + "".join(lines[:100]), head + "".join(lines[100:])), strict=True):
        name.write_bytes(gzip.compress(part.encode()) if packed else part.encode())
    whole = read_file(names[0])
    assert_same_columns(scan(names[0]), whole)
    assert_same_columns(scan(names[1:]), whole)
    assert scan(names[1:], columns=["late", "age"]).names == ("late", "age")


def test_scan_converts_dates_and_times_of_text_to_times(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_files, "BLOCK_BYTES", 60)
    lines = ["2020-01-01"] * 20 + ["2020-01-01 12:30:00"] * 20
    (tmp_path / "t.csv").write_text("t;x\n" + "".join(f"{line};1\n" for line in lines))
    assert_same_columns(scan(tmp_path / "t.csv"), read_file(tmp_path / "t.csv"))


def test_scan_of_a_folder_ignores_hidden_files(tmp_path):
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / "sub").mkdir()
    for name in ("a", "sub/b"):
        pd.DataFrame({"x": [1.0]}).to_parquet(tmp_path / f"{name}.parquet")
    assert sum(piece.n_rows for piece in scan(tmp_path).pieces()) == 2


def test_scan_unifies_integers_and_floats(tmp_path):
    pd.DataFrame({"x": [1, 2]}).to_parquet(tmp_path / "a.parquet")
    pd.DataFrame({"x": [1.5]}).to_parquet(tmp_path / "b.parquet")
    pd.DataFrame({"x": [None]}).to_parquet(tmp_path / "c.parquet")
    (found,) = summarise_stream(scan(tmp_path / "*.parquet"))
    assert found.values.tolist() == [1.0, 1.5, 2.0]
    assert found.missing == 1


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"x": ["a"], "y": [1]}, "b.parquet: column 'x' is .*string, not int64 as in a.parquet: convert one of them"),
        ({"x": [1]}, "b.parquet: it lacks the columns 'y', unlike a.parquet"),
        ({"x": [1], "y": [1], "z": [1]}, "b.parquet: it has the additional columns 'z', unlike a.parquet"),
    ],
)
def test_scan_names_the_file_with_other_columns(tmp_path, other, message):
    pd.DataFrame({"x": [1], "y": [1]}).to_parquet(tmp_path / "a.parquet")
    pd.DataFrame(other).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(FileError, match=message):
        scan(tmp_path / "*.parquet")


def test_scan_names_a_deleted_file(tmp_path):
    for name in "ab":
        pd.DataFrame({"x": [1.0]}).to_parquet(tmp_path / f"{name}.parquet")
    stream = scan(tmp_path / "*.parquet")
    (tmp_path / "b.parquet").unlink()
    with pytest.raises(FileError, match=r"b.parquet: the file was deleted"):
        list(stream.pieces())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda folder: scan(folder / "none*.csv"), "there is no file"),
        (lambda folder: scan([]), "there is no file"),
        (lambda folder: scan(folder / "nobody.csv"), "nobody.csv: there is no such file"),
        (lambda folder: scan([folder / "a.csv", folder / "b.parquet"]), "files must have one format"),
        (lambda folder: list(scan(folder / "bad.parquet").pieces()), "bad.parquet: cannot be read"),
        (lambda folder: list(scan(folder / "ragged.csv").pieces()), "ragged.csv: cannot be read .*columns"),
        (lambda folder: scan(folder / "a.csv", encoding="klingon"), "unknown encoding 'klingon'"),
    ],
)
def test_scan_errors_are_one_line(tmp_path, call, message):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "ragged.csv").write_text("x,y\n1,2\n1,2,3\n")
    (tmp_path / "bad.parquet").write_text("this is not Parquet")
    pd.DataFrame({"x": [1]}).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(FileError, match=message) as error:
        call(tmp_path)
    assert "\n" not in str(error.value)


def test_scan_rejects_invalid_options(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    with pytest.raises(ValueError, match="columns contains 'z', but the columns of the files are 'x', 'y'"):
        scan(tmp_path / "a.csv", columns=["x", "z"])
    with pytest.raises(ValueError, match="max_bytes must be an integer"):
        scan(tmp_path / "a.csv", max_bytes=-1)
