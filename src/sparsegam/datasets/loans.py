"""Simulated consumer loans with columns of all types, included in the package as a CSV file.

The examples use this table. Like real loan data, it contains text, dates, booleans, missing values and the special
codes -9 and -8. Later rows differ from earlier ones (more loans come from brokers, and debts are higher), so that
monitoring detects drift. `loans.csv` is the output of `make_loans`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from sparsegam._io.files import read_file
from sparsegam.datasets.dataset import Dataset

FILE = Path(__file__).parent / "loans.csv"
ROWS = 1200
ID, TARGET, POSITIVE = "id", "outcome", "default"
FIRST_DAY, DAYS = date(2023, 1, 2), 720
NO_FILE, SELF_EMPLOYED = -9, -8
POLICY_CHANGE = date(2023, 10, 1)
"""Date of a stricter lending policy, which lowers the risk of later loans."""
REGIONS, REGION_SHARES = ("north", "east", "south", "west", "abroad"), (0.31, 0.24, 0.25, 0.18, 0.02)
HOUSING, HOUSING_SHARES = ("own", "rent", "family"), (0.46, 0.44, 0.10)
PURPOSES, PURPOSE_SHARES = ("car", "home", "study", "debts", "business"), (0.34, 0.26, 0.10, 0.20, 0.10)
CHANNELS = ("branch", "online", "broker")


def load_loans() -> Dataset[None]:
    """Load the simulated loans that are included in the package, without their ids.

    Returns
    -------
    Dataset
        1200 loans sorted by date with 12 features: dates, text, booleans and numbers, with missing values and the
        special codes -9 (no record at the credit bureau) and -8 (self-employed). `target` is "default" or "repaid".

    See Also
    --------
    loans_file : The path of the CSV file, for use on the command line.
    """
    table = read_file(FILE)
    features = table.load(j for j, name in enumerate(table.labels) if name not in (ID, TARGET))
    target = table.values(table.labels.index(TARGET)).astype(str)
    return Dataset(features, target, list(features.labels), None)


def loans_file() -> Path:
    """Return the path of the CSV file with the simulated loans; `sparsegam example --out loans.csv` copies it."""
    return FILE


def make_loans(n: int = ROWS, *, seed: int = 0) -> str:
    """Simulate loans and return them as CSV.

    Parameters
    ----------
    n : int, default=1200
        Number of rows.
    seed : int, default=0
        Seed of the random number generator.

    Returns
    -------
    str
        CSV text with a header and one line per loan, sorted by date.
    """
    if n < 1:
        msg = f"`n` must be at least 1, got {n}."
        raise ValueError(msg)
    columns = _draw_columns(n, np.random.default_rng(seed))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(map(_text, column.tolist()) for column in columns.values()), strict=True))
    return out.getvalue()


def _draw_columns(n: int, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    """Draw the columns, the target last. The target depends on values that are made missing afterwards."""
    day = np.sort(rng.integers(0, DAYS, n))
    late = day / DAYS
    # Latent financial reliability of a person.
    trait = rng.standard_normal(n)
    age = np.clip(np.rint(42 + 13 * rng.standard_normal(n)), 18, 80).astype(np.int64)
    columns: dict[str, NDArray[Any]] = {
        "id": np.array([f"L{i + 1:05d}" for i in range(n)]),
        "opened": np.array([(FIRST_DAY + timedelta(days=int(d))).isoformat() for d in day]),
        "region": _levels(REGIONS, REGION_SHARES, rng.random(n)),
        "channel": np.array(CHANNELS)[_channel(late, rng.random(n))],
        "purpose": _levels(PURPOSES, PURPOSE_SHARES, rng.random(n)),
        "housing": _levels(HOUSING, HOUSING_SHARES, rng.random(n)),
        "customer": rng.random(n) < 0.35 + 0.1 * (age > 40),
        "age": age,
        "income": np.rint(np.exp(7.75 + 0.35 * rng.standard_normal(n) + 0.2 * trait) / 10) * 10,
        "debt_ratio": np.round(np.clip(32 - 7 * trait + 12 * rng.standard_normal(n) + 8 * late, 0, 120), 1),
        "months_employed": np.rint(np.minimum(-60 * np.log1p(-rng.random(n)), 12 * (age - 17))).astype(np.int64),
        "late_payments": rng.poisson(np.exp(-0.9 - 0.8 * trait)),
        "bureau_score": np.clip(np.rint(640 + 60 * trait + 45 * rng.standard_normal(n)), 300, 850).astype(np.int64),
    }
    columns["months_employed"][rng.random(n) < 0.13] = SELF_EMPLOYED
    columns["bureau_score"][rng.random(n) < 0.06 + 0.06 * (age < 25)] = NO_FILE
    defaults = rng.random(n) < expit(_log_odds(columns))
    columns["outcome"] = np.where(defaults, POSITIVE, "repaid")
    for name, share in (("income", 0.07), ("housing", 0.04), ("debt_ratio", 0.02)):
        columns[name] = columns[name].astype(object)
        columns[name][rng.random(n) < share] = None
    return columns


def _log_odds(columns: dict[str, NDArray[Any]]) -> NDArray[np.float64]:
    """Return the log-odds of a default: steps, special codes, one slope, and a change of policy."""
    score, months, debt = (columns[name].astype(float) for name in ("bureau_score", "months_employed", "debt_ratio"))
    known = score != NO_FILE
    terms = (
        -1.95 + 1.1 * (known & (score <= 600)) + 0.6 * (known & (score <= 660)) + 0.9 * ~known,
        0.7 * ((months >= 0) & (months <= 12)) + 0.5 * (months == SELF_EMPLOYED),
        0.028 * np.minimum(debt - 60, 0) + 0.9 * (debt > 50) + 0.6 * (columns["late_payments"].astype(int) >= 2),
        0.5 * (columns["housing"] == "rent") + 0.7 * (columns["purpose"] == "business"),
        0.5 * (columns["channel"] == "broker") - 0.5 * (columns["opened"] >= POLICY_CHANGE.isoformat()),
        -0.4 * (columns["income"].astype(float) > 3000) + 0.5 * (columns["age"].astype(int) <= 25),
    )
    total: NDArray[np.float64] = np.sum(terms, axis=0)
    return total


def _channel(late: NDArray[np.float64], u: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the channel of each loan, as an index. Over time, brokers replace branches."""
    branch = 0.55 - 0.30 * late
    return (u > branch).astype(np.intp) + (u > branch + 0.30)


def _levels(levels: Sequence[str], shares: Sequence[float], u: NDArray[np.float64]) -> NDArray[Any]:
    return np.array(levels)[np.searchsorted(np.cumsum(shares)[:-1], u, side="right")]


def _text(value: object) -> str:
    """Format a value for CSV: missing values are empty, and integers have no decimal point."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)
