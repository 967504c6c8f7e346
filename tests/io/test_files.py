"""Files of every format give the same table, and errors are one line."""

import datetime as dt
import gzip
import os
import threading
import zipfile

import numpy as np
import pandas as pd
import pytest

from sparsegam._data.table import read_table
from sparsegam._io import contents
from sparsegam._io.files import FileError, read_file
from sparsegam._io.type_inference import infer_column

TEXT = "age,city,member,since,y\n30,Rome,true,2020-01-05,1\n41.5,,false,2021-02-03,0\n,Oslo,true,,1\n"


def values_by_name(table):
    return {name: table.column(j) for j, name in enumerate(table.labels)}


@pytest.mark.parametrize(
    ("values", "kind", "numbers"),
    [
        (["1", "2.5", "-3e2"], "number", [1, 2.5, -300]),
        (["1", "", "NA", "?", "nan"], "number", [1, np.nan, np.nan, np.nan, np.nan]),
        (["True", "false", ""], "boolean", [1, 0, np.nan]),
        (["2020-01-01", "1970-01-02", ""], "date", [18262, 1, np.nan]),
        (["1970-01-01T00:00:01", "1970-01-01 00:00:02"], "datetime", [1e6, 2e6]),
        (["b", "a", "b ", ""], "category", [1, 0, 1, np.nan]),
        (["1", "a"], "category", [0, 1]),
        (["1_00", "2"], "category", [0, 1]),
        (["1_00", "na"], "category", [0, np.nan]),
        (["0001-01-01T00:00:00+14:00", "x"], "category", [0, 1]),
        (["0001-01-01T00:00:00+14:00"], "category", [0]),
        (["", ""], "number", [np.nan, np.nan]),
    ],
)
def test_infer_column_finds_the_type(values, kind, numbers):
    column = infer_column("x", values)
    assert column.scale.kind == kind
    np.testing.assert_array_equal(column.values, numbers)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("zipped", [False, True])
def test_read_file_detects_the_delimiter(tmp_path, delimiter, zipped):
    text = TEXT.replace(",", delimiter).encode("utf-8-sig")
    file = tmp_path / ("t.csv.gz" if zipped else "t.csv")
    file.write_bytes(gzip.compress(text) if zipped else text)
    table = read_file(file)
    assert table.labels == ("age", "city", "member", "since", "y")
    assert [table.column(j).scale.kind for j in range(5)] == ["number", "category", "boolean", "date", "number"]


@pytest.mark.parametrize("ending", ["parquet", "feather", "xlsx"])
def test_read_file_reads_other_formats_like_frames(tmp_path, ending):
    frame = pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": ["x", None, "y"], "c": [dt.datetime(2020, 1, 1)] * 3})
    file = tmp_path / f"t.{ending}"
    writers = {"parquet": frame.to_parquet, "feather": frame.to_feather, "xlsx": frame.to_excel}
    writers[ending](file, **({"index": False} if ending == "xlsx" else {}))
    mine, theirs = values_by_name(read_file(file)), values_by_name(read_table(frame))
    for name, column in theirs.items():
        assert mine[name].scale == column.scale
        np.testing.assert_array_equal(mine[name].values, column.values)


BAD = {
    "empty.csv": (b"", "empty"),
    "blank.csv": (b"\n\n", "empty"),
    "header.csv": (b"a,b\n", "no rows"),
    "ragged.csv": (b"a,b\n1,2\n1,2,3\n", "row 2 has 3 fields"),
    "binary.csv": (b"\x00\x01\x02" * 100, "not a text file"),
    "latin.csv": ("a,b\nh\xe9,1\n".encode("latin-1"), "byte 0xe9 in line 2"),
    "wide.csv": ("a,b\n1,2\n".encode("utf-16"), "UTF-16"),
    "twice.csv": (b"a,a\n1,2\n", "'a' appears more than once"),
    "damaged.csv.gz": (gzip.compress(b"a,b\n1,2\n" * 100)[:-20], "damaged"),
    "broken.parquet": (b"no parquet at all", "cannot be read"),
    "broken.feather": (b"no feather at all", "cannot be read"),
    "broken.xlsx": (b"no workbook at all", "cannot be read"),
}


@pytest.mark.parametrize("name", BAD)
def test_invalid_files_raise_an_error_of_one_line(tmp_path, name):
    content, message = BAD[name]
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(FileError, match=message) as caught:
        read_file(file)
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)


def test_missing_files_and_folders_raise(tmp_path):
    with pytest.raises(FileError, match="no such file"):
        read_file(tmp_path / "absent.csv")
    with pytest.raises(FileError, match="folder"):
        read_file(tmp_path)


def test_files_larger_than_the_memory_raise(tmp_path, monkeypatch):
    file = tmp_path / "big.csv"
    with file.open("wb") as stream:
        stream.write(TEXT.encode())
        stream.truncate(2_000_000_000)  # sparse: takes no room
    monkeypatch.setattr(contents, "free_memory", lambda: 1_000_000_000)
    with pytest.raises(FileError, match=r"GB of memory, and 1\.0 GB are free"):
        read_file(file)


@pytest.mark.parametrize("ending", ["csv.gz", "parquet.gz", "xlsx.gz"])
def test_gzip_bombs_raise(tmp_path, ending):
    file = tmp_path / f"bomb.{ending}"
    file.write_bytes(gzip.compress(b"a\n" + b"1\n" * 8_000_000))
    assert file.stat().st_size < 20_000
    with pytest.raises(FileError, match=r"expand to more than 10 MB, over 200 times as much: .* decompress the file"):
        read_file(file)


def test_zip_bombs_raise(tmp_path):
    file = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * 50_000_000)
    with pytest.raises(FileError, match="expand to more than 50 MB"):
        read_file(file)


def test_compressed_files_larger_than_the_memory_raise(tmp_path, monkeypatch):
    file = tmp_path / "big.csv.gz"
    file.write_bytes(gzip.compress(np.random.default_rng(0).bytes(1_000_000).hex().encode()))
    monkeypatch.setattr(contents, "free_memory", lambda: 20_000_000)
    with pytest.raises(FileError, match="GB are free"):
        read_file(file)


def test_parquet_files_larger_than_the_memory_raise(tmp_path, monkeypatch):
    file = tmp_path / "long.parquet"
    pd.DataFrame({"a": np.zeros(1_000_000)}).to_parquet(file)
    monkeypatch.setattr(contents, "free_memory", lambda: 10_000_000)
    with pytest.raises(FileError, match="GB are free"):
        read_file(file)


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_read_file_reads_pipes(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(TEXT))
    writer.start()
    assert read_file(pipe).n_rows == 3
    writer.join()


def test_read_file_decodes_other_encodings(tmp_path):
    file = tmp_path / "t.csv"
    file.write_bytes("a,b\nh\xe9,1\n".encode("latin-1"))
    assert read_file(file, encoding="latin-1").column(0).scale.levels == ("h\xe9",)
    with pytest.raises(FileError, match="unknown encoding 'klingon'"):
        read_file(file, encoding="klingon")
