"""Large files are read and scored in chunks, with the same results."""

import json

import numpy as np
import pandas as pd
import pytest

from sparsegam._cli import chunks
from sparsegam._cli.main import main
from sparsegam.datasets import make_credit


@pytest.fixture
def file(tmp_path):
    credit = make_credit(900)
    frame = credit.frame.assign(bad=np.where(np.asarray(credit.target) > 0, "yes", "no"))
    frame["id"] = [f"row {i}" for i in range(900)]
    frame.loc[:9, "bad"] = None
    frame.to_parquet(tmp_path / "credit.parquet")
    frame.to_csv(tmp_path / "credit.csv", index=False)
    return tmp_path


@pytest.mark.parametrize("name", ["credit.parquet", "credit.csv"])
@pytest.mark.parametrize("drop", [[], ["--drop", "id"]])
def test_large_file_gives_the_same_model(file, capsys, monkeypatch, name, drop):
    words = [
        "fit",
        str(file / name),
        "--target",
        "bad",
        "--lambda0",
        "3",
        "--special",
        "-9",
        "-8",
        "-7",
        "--json",
        *drop,
    ]
    assert main(words) == 0
    expected = json.loads(capsys.readouterr().out)
    monkeypatch.setattr(chunks, "MAX_SHARE_OF_MEMORY", 0.0)
    # The function that reads whole files must not be called.
    monkeypatch.setattr(chunks, "read_file", None)
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["model"] == expected["model"]
    assert found["rows"] == expected["rows"] == 890


def test_predict_writes_parquet(file, capsys):
    fitted, out = str(file / "model.json"), file / "scores.parquet"
    assert main(["fit", str(file / "credit.csv"), "-t", "bad", "--lambda0", "3", "-o", fitted, "-q"]) == 0
    capsys.readouterr()
    assert main(["predict", fitted, str(file / "credit.csv"), "--keep", "id", "-o", str(out)]) == 0
    assert "900 rows scored; written" in capsys.readouterr().out
    assert main(["predict", fitted, str(file / "credit.csv"), "--keep", "id", "-o", str(file / "scores.csv")]) == 0
    pd.testing.assert_frame_equal(pd.read_parquet(out), pd.read_csv(file / "scores.csv"), check_dtype=False)


def test_failed_predict_leaves_no_file(file, capsys):
    fitted = str(file / "model.json")
    assert main(["fit", str(file / "credit.csv"), "-t", "bad", "--lambda0", "3", "-o", fitted, "-q"]) == 0
    before = sorted(file.iterdir())
    words = ["predict", fitted, str(file / "credit.csv"), "--keep", "nobody", "-o", str(file / "s.parquet")]
    assert main(words) == 1
    assert "there is no column 'nobody' for --keep" in capsys.readouterr().err
    assert sorted(file.iterdir()) == before


def test_is_large_is_false_for_small_files(file):
    assert not chunks.is_large(str(file / "credit.csv"))
    assert not chunks.is_large(str(file / "nobody.csv"))
