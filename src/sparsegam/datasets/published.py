"""The paper's real tables, FICO and COMPAS: read from a local file, or fetched from OpenML.

Neither table is part of this package. Columns and row counts are checked, so that a differing copy is refused aloud.
COMPAS holds race and sex: it is for evaluating methods, not for decisions about people.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsegam.datasets.credit import FEATURES
from sparsegam.datasets.dataset import Dataset
from sparsegam.parameters import documented

Columns = Mapping[str, NDArray[np.str_]]

FICO_OPENML_ID = 46932
FICO_ROWS = 10459
FICO_LABEL = "RiskPerformance"
FICO_FEATURES = [feature.name for feature in FEATURES]

COMPAS_OPENML_ID = 42192
COMPAS_ROWS = 7214
COMPAS_LABEL = "two_year_recid"
COMPAS_COUNTS = ["age", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count"]
COMPAS_CHOICES = {"sex": ("Male", "Female"), "c_charge_degree": ("F", "M")}  # the level that becomes 1, then 0
COMPAS_SCREENED = "days_b_screening_arrest"


@documented
def fetch_fico(path: str | PathLike[str] | None = None) -> Dataset[None]:
    """Load the FICO HELOC table of the Explainable Machine Learning Challenge (2018).

    Parameters
    ----------
    path : str or path-like, optional
        A csv or csv.gz file with a header line: `RiskPerformance` ("Bad" or "Good") and the 23 features. Without it
        the table is asked from OpenML, which needs a network and pandas.

    Returns
    -------
    Dataset
        10459 rows of 23 integer features, special codes -9, -8 and -7 left as they are; `target` is 1 for "Bad".

    {fetched}
        If the table lacks a column or does not have its 10459 rows.
    """
    columns = _load("FICO", path, FICO_OPENML_ID, FICO_LABEL)
    require("FICO", columns, [FICO_LABEL, *FICO_FEATURES], FICO_ROWS)
    data = np.column_stack([_integers(columns, name) for name in FICO_FEATURES])
    return Dataset(data, _equals(columns, FICO_LABEL, "Bad", "Good"), list(FICO_FEATURES), None)


@documented
def fetch_compas(path: str | PathLike[str] | None = None, *, raw: bool = False) -> Dataset[None]:
    """Load ProPublica's COMPAS table of two-year recidivism.

    Parameters
    ----------
    path : str or path-like, optional
        A csv or csv.gz file with a header line and ProPublica's column names. Without it the table is asked from
        OpenML, which needs a network and pandas.
    raw : bool, default=False
        False gives the paper's variant: rows with a known screening delay (6907), and `juvenile_crimes`, the sum of
        the three juvenile counts, in the place of `juv_other_count`; 134 thresholds in all. True gives all 7214 rows
        with the counts as published.

    Returns
    -------
    Dataset
        Seven integer features; `sex` is 1 for male, `c_charge_degree` 1 for a felony; `target` is 1 for a new arrest
        within two years.

    {fetched}
        If the table lacks a column or does not have its 7214 rows.
    """
    columns = _load("COMPAS", path, COMPAS_OPENML_ID, COMPAS_LABEL)
    require("COMPAS", columns, [COMPAS_LABEL, COMPAS_SCREENED, *COMPAS_COUNTS, *COMPAS_CHOICES], COMPAS_ROWS)
    features = {
        **{name: _integers(columns, name) for name in COMPAS_COUNTS},
        **{name: _equals(columns, name, *levels) for name, levels in COMPAS_CHOICES.items()},
    }
    target = _integers(columns, COMPAS_LABEL)
    if raw:
        return _table(features, target)
    juvenile = features["juv_fel_count"] + features["juv_misd_count"] + features["juv_other_count"]
    renamed = {"juvenile_crimes" if name == "juv_other_count" else name: column for name, column in features.items()}
    renamed["juvenile_crimes"] = juvenile
    screened = ~np.isin(columns[COMPAS_SCREENED], ["", "nan", "?"])
    return _table({name: column[screened] for name, column in renamed.items()}, target[screened])


def _table(features: dict[str, Any], target: NDArray[np.int64]) -> Dataset[None]:
    return Dataset(np.column_stack(list(features.values())), target, list(features), None)


def _load(title: str, path: str | PathLike[str] | None, openml_id: int, label: str) -> Columns:
    return _fetch_openml(title, openml_id, label) if path is None else read_csv(title, Path(path))


def read_csv(title: str, path: Path) -> Columns:
    """Columns of a csv or csv.gz file, as text."""
    if not path.is_file():
        msg = f"no {title} table at {path}: `path` must name a csv or csv.gz file"
        raise FileNotFoundError(msg)
    opener: Any = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    ragged = next((i for i, row in enumerate(rows) if len(row) != len(header)), None)
    if ragged is not None:
        msg = f"line {ragged + 2} of {path} has {len(rows[ragged])} fields, its header has {len(header)}"
        raise ValueError(msg)
    return dict(zip(header, np.array(rows, dtype=np.str_).reshape(-1, len(header)).T, strict=True))


def _fetch_openml(title: str, openml_id: int, label: str) -> Columns:
    """Columns of an OpenML table, as text."""
    from sklearn.datasets import fetch_openml  # needs the network: only where it is asked for

    try:
        bunch = fetch_openml(data_id=openml_id, as_frame=True, parser="auto")
    except OSError as error:  # urllib's URLError and HTTPError, time-outs, refused connections
        msg = f"cannot reach OpenML for the {title} table ({error}): pass path= with a csv or csv.gz copy of it"
        raise ConnectionError(msg) from error
    frame = bunch.frame
    return {str(name): frame[name].astype(str).to_numpy(dtype=np.str_) for name in frame.columns}


def require(title: str, columns: Columns, names: list[str], n_rows: int) -> None:
    """Raise unless a table has these columns and so many rows."""
    missing = [name for name in names if name not in columns]
    if missing:
        msg = f"this {title} table lacks {missing}; pass path= with a copy that has all published columns"
        raise ValueError(msg)
    found = len(columns[names[0]])
    if found != n_rows:
        msg = f"this {title} table has {found} rows, the published one has {n_rows}"
        raise ValueError(msg)


def _integers(columns: Columns, name: str) -> NDArray[np.int64]:
    try:
        return columns[name].astype(np.float64).astype(np.int64)  # through float: OpenML may write "3.0"
    except ValueError as error:
        msg = f"column {name!r} holds something other than numbers: {error}"
        raise ValueError(msg) from error


def _equals(columns: Columns, name: str, one: str, zero: str) -> NDArray[np.int64]:
    """1 where the column says `one`, 0 where it says `zero`; anything else is an error."""
    column = columns[name]
    unknown = set(np.unique(column).tolist()) - {one, zero}
    if unknown:
        msg = f"column {name!r} must hold {one!r} or {zero!r}, found {sorted(unknown)}"
        raise ValueError(msg)
    result: NDArray[np.int64] = (column == one).astype(np.int64)
    return result
