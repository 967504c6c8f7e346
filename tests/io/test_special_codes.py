"""Columns that look as if they held special codes: told of once, with the remedy, and hardly ever without need."""

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


def told(X):
    """Return what is warned of a table, or None."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        warn_of_special_codes(read_table(X))
    return str(said[0].message) if said else None


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
def test_codes_are_found(codes, found):
    assert find_special_codes(np.append(MONTHS, codes)) == found


@pytest.mark.parametrize(
    "others",
    [
        [],
        [-9] * 2,  # as likely an outlier
        [-1] * 5,  # no more frequent than other values, and beside zero
        [-1] * 9 + [-2] * 9,  # differences have these
        [-9, -8.5, -7] * 5,  # numbers
        list(range(-9, 0)) * 5,  # too many
        [-12] * 20,  # nobody's code
        [99] * 20,  # less than twice the next value
        [998] * 20,  # no nines at all
        [np.nan] * 20,
    ],
)
def test_other_values_are_left_alone(others):
    assert find_special_codes(np.append(MONTHS, others)) == {}


def test_few_values_may_all_be_codes():
    assert find_special_codes(np.repeat([-9.0, 1.0, 2.0, 3.0], 50)) == {}


def test_the_warning_names_columns_and_remedy():
    message = told(make_credit(2000).frame)
    assert "columns look as if they held special codes" in message
    assert "ExternalRiskEstimate (-9 in " in message
    assert "special_values=[-9, -8, -7]" in message
    assert "special_values=[]" in message


def test_one_column_is_named_by_itself():
    column = np.append(MONTHS, [999.0] * 4)
    assert "special_values={'x0': [999]}" in told(column[:, None])


def test_counts_of_long_tables_are_those_of_their_first_rows():
    column = np.append(np.tile(MONTHS, 40), [-9.0] * 20)
    assert told(column[::-1, None]).count("of the first 10000 rows") == 1


@pytest.mark.filterwarnings("error")
def test_who_names_codes_or_none_is_not_warned():
    credit = make_credit(500)
    for special in ([-9, -8, -7], [], {"ExternalRiskEstimate": [-9]}):
        gam_path(credit.frame, credit.target, max_terms=2, special_values=special)


def test_fits_and_paths_warn():
    credit = make_credit(500)
    with pytest.warns(UserWarning, match="held special codes"):
        gam_path(credit.frame, credit.target, max_terms=2)
    with pytest.warns(UserWarning, match="held special codes"):
        SparseGAMClassifier(max_terms=2, min_samples_bin=10).fit(credit.frame, credit.target)


def test_simulated_numbers_are_left_alone():
    assert told(make_recidivism(3000).data) is None


@pytest.mark.parametrize("name", ["compas", "german", "magic", "spambase", "fico"])
def test_published_tables(name):
    file = DATA / f"{name}.csv.gz"
    if not file.is_file():
        pytest.skip(f"no {file.name}: set SPARSEGAM_DATA to the folder that holds it")
    message = told(read_file(file))
    assert (message is not None) == (name == "fico")


@pytest.mark.parametrize("kind", [float, int, np.int8, bool])
def test_one_look_at_all_columns_tells_what_a_look_at_each_does(kind):
    rng = np.random.default_rng(0)
    plain = rng.integers(0, 60, size=(300, 3))
    plain[::20, 1] = -9
    plain[::30, 2] = 99
    table = pd.DataFrame(plain.astype(kind), columns=list("abc"))
    mixed = table.assign(d="text")
    assert read_table(table).numeric_array is not None or kind is bool
    assert read_table(mixed).numeric_array is None
    assert told(table) == told(mixed)
    assert (told(table) is None) == (kind is bool)
