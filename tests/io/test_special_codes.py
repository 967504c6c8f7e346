"""Columns that probably contain special codes cause one warning, and others cause none."""

import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sparsegam import SparseGAMClassifier, gam_path
from sparsegam._data.table import read_table
from sparsegam._io.files import read_file
from sparsegam._io.special_codes import find_special_codes, warn_of_special_codes
from sparsegam.datasets import make_credit, make_recidivism

DATA = Path(os.environ.get("SPARSEGAM_DATA", Path(__file__).parents[3] / "shared" / "data"))
MONTHS = np.arange(60.0).repeat(5)


def warning_of(X):
    """Return the warning for a table, or None."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_special_codes(read_table(X))
    return str(caught[0].message) if caught else None


@pytest.mark.parametrize(
    ("codes", "found"),
    [
        ([-9] * 20, {-9: 20}),
        ([-9] * 20 + [-8] * 5 + [-7] * 3, {-9: 20, -8: 5, -7: 3}),
        ([-999] * 4, {-999: 4}),
        ([-1] * 6, {-1: 6}),  # the most frequent value
        ([999] * 3, {999: 3}),
        ([998] * 3 + [999] * 4, {998: 3, 999: 4}),
        ([9999] * 10 + [np.nan] * 10, {9999: 10}),
    ],
)
def test_find_special_codes_finds_codes(codes, found):
    assert find_special_codes(np.append(MONTHS, codes)) == found


@pytest.mark.parametrize(
    "others",
    [
        [],
        [-9] * 2,  # may be an outlier
        [-1] * 5,  # not more frequent than other values, and next to zero
        [-1] * 9 + [-2] * 9,  # as in differences
        [-9, -8.5, -7] * 5,  # not integers
        list(range(-9, 0)) * 5,  # too many
        [-12] * 20,  # not a common code
        [99] * 20,  # less than twice the next value
        [998] * 20,  # not nines
        [np.nan] * 20,
    ],
)
def test_find_special_codes_ignores_other_values(others):
    assert find_special_codes(np.append(MONTHS, others)) == {}


def test_find_special_codes_ignores_columns_of_few_values():
    assert find_special_codes(np.repeat([-9.0, 1.0, 2.0, 3.0], 50)) == {}


def test_warning_names_columns_and_remedy():
    message = warning_of(make_credit(2000).frame)
    assert "columns probably contain special codes" in message
    assert "ExternalRiskEstimate (-9 in " in message
    assert "special_values=[-9, -8, -7]" in message
    assert "special_values=[]" in message


def test_warning_suggests_codes_for_a_single_column():
    column = np.append(MONTHS, [999.0] * 4)
    assert "special_values={'x0': [999]}" in warning_of(column[:, None])


def test_warning_of_long_tables_counts_the_first_rows():
    column = np.append(np.tile(MONTHS, 40), [-9.0] * 20)
    assert warning_of(column[::-1, None]).count("of the first 10000 rows") == 1


@pytest.mark.filterwarnings("error")
def test_declared_codes_do_not_warn():
    credit = make_credit(500)
    for special in ([-9, -8, -7], [], {"ExternalRiskEstimate": [-9]}):
        gam_path(credit.frame, credit.target, max_terms=2, special_values=special)


def test_fits_and_paths_warn_of_special_codes():
    credit = make_credit(500)
    with pytest.warns(UserWarning, match="probably contains? special codes"):
        gam_path(credit.frame, credit.target, max_terms=2)
    with pytest.warns(UserWarning, match="probably contains? special codes"):
        SparseGAMClassifier(max_terms=2, min_samples_bin=10).fit(credit.frame, credit.target)


def test_simulated_data_do_not_warn():
    assert warning_of(make_recidivism(3000).data) is None


@pytest.mark.parametrize("name", ["compas", "german", "magic", "spambase", "fico"])
def test_published_data_warn_only_for_fico(name):
    file = DATA / f"{name}.csv.gz"
    if not file.is_file():
        pytest.skip(f"no {file.name}: set SPARSEGAM_DATA to the folder that holds it")
    message = warning_of(read_file(file))
    assert (message is not None) == (name == "fico")


@pytest.mark.parametrize("kind", [float, int, np.int8, bool])
def test_warning_is_the_same_for_arrays_and_single_columns(kind):
    rng = np.random.default_rng(0)
    plain = rng.integers(0, 60, size=(300, 3))
    plain[::20, 1] = -9
    plain[::30, 2] = 99
    table = pd.DataFrame(plain.astype(kind), columns=list("abc"))
    mixed = table.assign(d="text")
    assert read_table(table).numeric_array is not None or kind is bool
    assert read_table(mixed).numeric_array is None
    assert warning_of(table) == warning_of(mixed)
    assert (warning_of(table) is None) == (kind is bool)
