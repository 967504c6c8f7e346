"""Published data: FICO HELOC and COMPAS, read from a local file or fetched from OpenML.

Neither data set is part of this package. Columns and the number of rows are checked, so that a different copy raises
an error. COMPAS contains race and sex. It is meant for the evaluation of methods, not for decisions about people.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import Column
from sparsegam._data.table import Table, read_table
from sparsegam._io.files import read_file
from sparsegam.datasets.credit import FEATURES
from sparsegam.datasets.dataset import Dataset

FICO_OPENML_ID = 46932
FICO_ROWS = 10459
FICO_LABEL = "RiskPerformance"
FICO_FEATURES = [feature.name for feature in FEATURES]

COMPAS_OPENML_ID = 42192
COMPAS_ROWS = 7214
COMPAS_LABEL = "two_year_recid"
COMPAS_COUNTS = ["age", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count"]
COMPAS_LEVELS = {"sex": ("Male", "Female"), "c_charge_degree": ("F", "M")}
"""Columns with two levels; the first becomes 1 and the second 0."""
COMPAS_DELAY = "days_b_screening_arrest"


def fetch_fico(path: str | PathLike[str] | None = None) -> Dataset[None]:
    """Load the FICO HELOC data of the Explainable Machine Learning Challenge (2018).

    Parameters
    ----------
    path : str or path-like, default=None
        A csv or csv.gz file with a header, the column `RiskPerformance` ("Bad" or "Good") and the 23 features. None
        fetches the data from OpenML, which requires internet access and pandas.

    Returns
    -------
    Dataset
        10459 rows of 23 integer features with the special codes -9, -8 and -7; `target` is 1 for "Bad".

    Raises
    ------
    FileNotFoundError
        If `path` does not exist.
    ConnectionError
        If `path` is None and OpenML cannot be reached.
    ValueError
        If a column is missing or the number of rows is not 10459.
    """
    table = _load("FICO", path, FICO_OPENML_ID)
    check_table("FICO", table, [FICO_LABEL, *FICO_FEATURES], FICO_ROWS)
    data = np.column_stack([read_integers(table, name) for name in FICO_FEATURES])
    return Dataset(data, _read_binary(table, FICO_LABEL, "Bad", "Good"), list(FICO_FEATURES), None)


def fetch_compas(path: str | PathLike[str] | None = None, *, raw: bool = False) -> Dataset[None]:
    """Load ProPublica's COMPAS data on two-year recidivism.

    Parameters
    ----------
    path : str or path-like, default=None
        A csv or csv.gz file with a header and ProPublica's column names. None fetches the data from OpenML, which
        requires internet access and pandas.
    raw : bool, default=False
        False returns the variant used by Liu et al. (2022): the 6907 rows with a known screening delay, and
        `juvenile_crimes`, the sum of the three juvenile counts, instead of `juv_other_count`; it has 134 thresholds.
        True returns all 7214 rows with the published counts.

    Returns
    -------
    Dataset
        Seven integer features; `sex` is 1 for male, `c_charge_degree` is 1 for a felony, and `target` is 1 for a new
        arrest within two years.

    Raises
    ------
    FileNotFoundError
        If `path` does not exist.
    ConnectionError
        If `path` is None and OpenML cannot be reached.
    ValueError
        If a column is missing or the number of rows is not 7214.
    """
    table = _load("COMPAS", path, COMPAS_OPENML_ID)
    check_table("COMPAS", table, [COMPAS_LABEL, COMPAS_DELAY, *COMPAS_COUNTS, *COMPAS_LEVELS], COMPAS_ROWS)
    features = {
        **{name: read_integers(table, name) for name in COMPAS_COUNTS},
        **{name: _read_binary(table, name, *levels) for name, levels in COMPAS_LEVELS.items()},
    }
    target = read_integers(table, COMPAS_LABEL)
    if raw:
        return Dataset(np.column_stack(list(features.values())), target, list(features), None)
    juvenile = features["juv_fel_count"] + features["juv_misd_count"] + features["juv_other_count"]
    names = ["juvenile_crimes" if name == "juv_other_count" else name for name in features]
    features["juv_other_count"] = juvenile
    has_delay = ~np.isnan(_column(table, COMPAS_DELAY).values)
    return Dataset(np.column_stack(list(features.values()))[has_delay], target[has_delay], names, None)


def check_table(title: str, table: Table, names: list[str], n_rows: int) -> None:
    """Raise ValueError unless a table has the given columns and number of rows."""
    missing = [name for name in names if name not in table.labels]
    if missing:
        msg = f"this {title} table lacks the columns {missing}: use path= to pass a copy with all published columns."
        raise ValueError(msg)
    if table.n_rows != n_rows:
        msg = f"this {title} table has {table.n_rows} rows, the published one has {n_rows}."
        raise ValueError(msg)


def read_local(title: str, path: Path) -> Table:
    """Read a csv or csv.gz file."""
    if not path.is_file():
        msg = f"there is no {title} table at {path}: `path` must be a csv or csv.gz file."
        raise FileNotFoundError(msg)
    return read_file(path)


def read_numbers(table: Table, name: str) -> NDArray[np.float64]:
    """Return a column of numbers without missing values."""
    column = _column(table, name)
    values = column.values
    # OpenML stores some integers as categories.
    if column.scale.has_levels and not np.isnan(values).any():
        try:
            values = np.array([float(level) for level in column.scale.levels])[values.astype(np.intp)]
        except ValueError as error:
            msg = f"column {name!r} contains values other than numbers: {error}."
            raise ValueError(msg) from error
    if np.isnan(values).any():
        msg = f"column {name!r} must not contain missing values, got {np.count_nonzero(np.isnan(values))} of them."
        raise ValueError(msg)
    return values


def read_integers(table: Table, name: str) -> NDArray[np.int64]:
    """Return a column of integers without missing values."""
    return read_numbers(table, name).astype(np.int64)


def _load(title: str, path: str | PathLike[str] | None, openml_id: int) -> Table:
    if path is not None:
        return read_local(title, Path(path))
    from sklearn.datasets import fetch_openml

    try:
        bunch = fetch_openml(data_id=openml_id, as_frame=True, parser="auto")
    except OSError as error:
        msg = f"cannot fetch the {title} table from OpenML ({error}): use path= to pass a csv or csv.gz copy."
        raise ConnectionError(msg) from error
    return read_table(bunch.frame)


def _column(table: Table, name: str) -> Column:
    return table.column(table.labels.index(name))


def _read_binary(table: Table, name: str, one: str, zero: str) -> NDArray[np.int64]:
    """Return 1 for the level `one` and 0 for the level `zero`; other values raise ValueError."""
    values = _column(table, name).raw_values().tolist()
    unknown = set(values) - {one, zero}
    if unknown:
        msg = f"column {name!r} must contain only {one!r} and {zero!r}, found {sorted(unknown, key=str)}."
        raise ValueError(msg)
    return np.array([value == one for value in values], dtype=np.int64)
