"""CSV files give the same table or error whether pyarrow is installed or not."""

import csv
import io
import sys
import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sparsegam._io import csv as csv_files
from sparsegam._io.contents import FileError
from sparsegam._io.files import read_file, scan

CELLS = [
    *("", " ", "1", "2.5", "-3e2", "+7", "1_00", ".5", "5.", "1e400", "1e-400", "nan(x)", "-nan", "0x1A", "١٢", "1,5"),
    *("NA", "n/a", "?", ".", "NULL", "true", "FALSE", "2020-01-05", "2020-01-05T10:00:00", "0001-01-01T00:00+14:00"),
    *(
        "a",
        " a ",
        "b ",
        "Zürich",
        "日本",
        "\ufeff",
        '5" pipe',
        '"',
        '""',
        "a,b",
        "a;b",
        "x\ty",
        "two\nlines",
        "é\u2028",
    ),
    *("=1+1", "'", "\\", "\\n", "#", "//", "-", "None", "nan", "tab\t", "a\r\nb", "\u00a0", "\u3000x"),
]
COLUMNS = {
    "numbers": ["1", "2.5", "-3e2", " 7 ", "NA", "", "?", ".5", "5.", "0.1", "1e-400"],
    "text": CELLS,
    "truth": ["true", "False", "", "TRUE "],
    "days": ["2020-01-05", "", "1969-12-31"],
    "times": ["2020-01-05T10:00:00", "2020-01-05 10:00:00.5", "NA"],
}


def read_columns(file):
    """Return the columns of a file, or the message if it cannot be read."""
    try:
        table = read_file(file)
    except ValueError as error:
        return str(error)
    columns = [table.column(j) for j in range(table.n_columns)]
    return [(c.name, c.scale, [repr(type(level)) for level in c.scale.levels], c.values.tobytes()) for c in columns]


def assert_parsers_agree(folder, content):
    file = folder / "t.csv"
    file.write_bytes(content)
    with_arrow = read_columns(file)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "pyarrow", None)
        without_arrow = read_columns(file)
    assert with_arrow == without_arrow
    return without_arrow


def read_in_pieces(file):
    """Return the columns of a file read as a stream, or the message if it cannot be read."""
    try:
        pieces = list(scan(file).pieces())
    except ValueError as error:
        return str(error)
    return [(column.name, column.scale.kind) for column in (pieces[0].column(j) for j in range(pieces[0].n_columns))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("csv")


def written(rows, **how):
    text = io.StringIO(newline="")
    csv.writer(text, **how).writerows(rows)
    return text.getvalue()


@st.composite
def csv_files_with_typed_columns(draw):
    kinds = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=4))
    n = draw(st.integers(0, 8))
    columns = [draw(st.lists(st.sampled_from(COLUMNS[kind]), min_size=n, max_size=n)) for kind in kinds]
    names = [f"{kind} {j}" for j, kind in enumerate(kinds)]
    text = written(
        [names, *zip(*columns, strict=True)],
        delimiter=draw(st.sampled_from(",;\t|")),
        quoting=draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
        lineterminator=draw(st.sampled_from(["\n", "\r\n"])),
    )
    return text.encode(draw(st.sampled_from(["utf-8", "utf-8-sig"])))


@settings(deadline=None)
@given(csv_files_with_typed_columns())
def test_parsers_read_the_same_tables(folder, content):
    assert_parsers_agree(folder, content)


@settings(deadline=None)
@given(st.text(alphabet='ab1.,;"\n\r \t_', max_size=40))
@example('a,b\n1, "x, y"\n2,z\n')
@example('a,b\n5" pipe,1\n6,2\n')
@example('a,b\n"x"y,1\n')
@example('a,b\n"x,1\n')
@example("a\n1\n\n2\n")
@example('a\n""\n2\n')
@example("a,b\n1,2\n \n3,4\n")
@example("a,b\n1\n1,2,3\n")
@example("a,b\r1,2\r3,4\r")
@example('a,b\n"x\ry",2\n"x\r\ny",3\n')
@example('"a,\nb",c\n1,2\n')
@example("a,a\n1,2\n")
@example("a,\n1,2\n")
def test_parsers_agree_on_arbitrary_text(folder, text):
    assert_parsers_agree(folder, text.encode())


@pytest.mark.parametrize("quoted", [False, True])
def test_regular_text_is_read_by_arrow(quoted):
    rows = [["x", "y"], *([str(i / 7), "p\nq" if quoted else f"t{i % 3}"] for i in range(500))]
    raw = written(rows, lineterminator="\r\n").encode().strip()
    columns = csv_files._read_with_arrow(raw, ["x", "y"], ",")
    assert columns["x"].to_pylist() == [str(i / 7) for i in range(500)]
    assert set(columns["y"].to_pylist()) == ({"p\nq"} if quoted else {"t0", "t1", "t2"})


@pytest.mark.parametrize("text", ['a,b\n1, "x"', "a,b\n1"])
def test_text_that_arrow_cannot_read_is_left_to_the_csv_module(text):
    assert csv_files._read_with_arrow(text.encode(), ["a", "b"], ",") is None


def test_many_columns_take_linear_time(folder):
    n = 100_000
    names = [f"c{j}" for j in range(n)]
    file = folder / "wide.csv"
    file.write_text(f"{','.join(names)}\n{','.join(['1'] * n)}\n")
    table = read_file(file)
    assert (table.n_rows, table.labels[-1]) == (1, "c99999")
    file.write_text(f"{','.join([*names, 'c7'])}\n{','.join(['1'] * (n + 1))}\n")
    with pytest.raises(FileError, match="'c7' appears more than once"):
        read_file(file)


def test_too_many_columns_raise(folder):
    file = folder / "commas.csv"
    file.write_bytes(b"," * 1_000_000 + b"\n")
    with pytest.raises(FileError, match="it has 1000001 columns, but at most 1000000"):
        read_file(file)


@pytest.mark.parametrize("position", ["header", "start", "end"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_zero_bytes_raise_in_every_reader(folder, position, encoding):
    lines = ["a,b", *(f"{i},text {i}" for i in range(2000))]
    i = {"header": 0, "start": 5, "end": -1}[position]
    lines[i] = lines[i] + "\0"
    file = folder / "nul.csv"
    file.write_bytes("\n".join(lines).encode(encoding))
    for read in (lambda: read_file(file, encoding=encoding), lambda: list(scan(file, encoding=encoding).pieces())):
        with pytest.raises(FileError, match="not a text file, as it contains a zero byte"):
            read()


def test_long_fields_raise_in_every_reader(folder):
    limit = csv_files.MAX_FIELD
    for letter in "aé":
        assert len(assert_parsers_agree(folder, f"x,y\n1,{letter * limit}\n".encode())) == 2
        content = f"x,y\n1,b\n2,{letter * (limit + 1)}\n".encode()
        assert "line 3 is not valid CSV (field larger than field limit (131072))" in assert_parsers_agree(
            folder, content
        )
        assert "a field has more than 131072 characters" in read_in_pieces(folder / "t.csv")
    assert "line 1 is not valid CSV" in assert_parsers_agree(folder, f"x,{'y' * (limit + 1)}\n1,2\n".encode())
    assert "line 1 is not valid CSV" in read_in_pieces(folder / "t.csv")


@pytest.mark.filterwarnings("ignore:column 'x' is read as numbers with decimal commas")
@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["12,5", "3", "-0,25", "", "NA"], [12.5, 3, -0.25, np.nan, np.nan]),
        (["1.234,5", "12,25", "+1,5e2"], [1234.5, 12.25, 150]),
        (["0,125", "0,250"], [0.125, 0.25]),
        (["1,234", "2,5"], [1.234, 2.5]),
        (["1,234", "12,500"], "error"),
        (["12,5", "3.5"], "category"),
        (["1,234,567", "2,5"], "category"),
        (["1,5", "a"], "category"),
        ([",", "1,5"], "category"),
    ],
)
@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_decimal_commas(folder, texts, found, delimiter):
    content = f"x{delimiter}y\n" + "".join(f"{text}{delimiter}1\n" for text in texts)
    result = assert_parsers_agree(folder, content.encode())
    if isinstance(found, list):
        np.testing.assert_array_equal(np.frombuffer(result[0][3]), found)
        assert read_in_pieces(folder / "t.csv")[0] == ("x", "number")
    elif found == "category":
        assert result[0][1].kind == "category"
        assert read_in_pieces(folder / "t.csv")[0] == ("x", "category")
    else:
        assert "--decimal ," in result
        assert "--decimal ," in read_in_pieces(folder / "t.csv")


def test_commas_between_fields_are_not_decimal_commas(folder):
    content = b'x,y\n"12,5",1\n"3,25",2\n'
    assert assert_parsers_agree(folder, content)[0][1].kind == "category"
    assert read_in_pieces(folder / "t.csv")[0] == ("x", "category")
    declared = csv_files.TextOptions(decimal=",")
    assert read_file(folder / "t.csv", options=declared).column(0).values.tolist() == [12.5, 3.25]
    assert next(scan(folder / "t.csv", decimal=",").pieces()).column(0).values.tolist() == [12.5, 3.25]


def test_decimal_commas_warn_and_can_be_declared(folder):
    file = folder / "t.csv"
    file.write_text("x;y\n12,5;1\n3,25;2\n")
    for read in (lambda: read_file(file), lambda: list(scan(file).pieces())):
        with pytest.warns(UserWarning, match="column 'x' is read as numbers with decimal commas") as caught:
            read()
        assert len(caught) == 1
    text = csv_files.TextOptions(decimal=".")
    assert read_file(file, options=text).column(0).scale.kind == "category"
    assert next(scan(file, decimal=".").pieces()).column(0).scale.kind == "category"
    with pytest.raises(ValueError, match=r"decimal must be one of 'auto', '.', ',', got ';'"):
        scan(file, decimal=";")


def test_decimal_commas_are_inferred_from_all_blocks(folder, monkeypatch):
    monkeypatch.setattr(csv_files, "BLOCK_BYTES", 100)
    file = folder / "blocks.csv"
    for last, kind in (("2,5", "number"), ("2,5\n2.5", "category"), ("x", "category")):
        values = ["7"] * 100 + ["1,234"] * 100 + last.split()
        file.write_text("x;y\n" + "".join(f"{value};1\n" for value in values))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole = read_file(file).column(0)
            pieces = [piece.column(0) for piece in scan(file).pieces()]
        assert len(pieces) > 3
        assert {whole.scale.kind, *(piece.scale.kind for piece in pieces)} == {kind}
        if kind == "number":
            np.testing.assert_array_equal(np.concatenate([piece.values for piece in pieces]), whole.values)
