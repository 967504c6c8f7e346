"""Dutch recidivism: a simulator in the shape of the NETHERLANDS table of the paper, and a loader for its holders.

The table (Tollenaar and van der Heijden, 2013) describes persons and may not be redistributed. The simulator has its
columns and its number of thresholds: six discrete features with 26, two real-valued ages with 999 each (1000
quantiles). Labels are drawn from the logistic model that the paper publishes (lambda0 = 7), whose numbers stand in
TERMS; how the features are distributed, and how they hang together, is made up.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from sparsegam.datasets.dataset import AdditiveTruth, Dataset, Term
from sparsegam.datasets.published import read_csv, require

ROWS = 20_000
DAYS = 365.25  # ages are known to the day
YOUNGEST, OLDEST = 12.0, 80.0
LABEL = "rec4"
DECIMALS = 6  # the published file writes one and the same logarithm with differing last digits

# Our name of a feature: the file's.
FEATURES = {
    "sex": "sekse",  # 1 for women
    "country_of_birth": "cgebland",  # 7 codes
    "log_previous_cases": "lnvgalguz",  # log(1 + number) up to 10, 0 above
    "previous_11_to_20": "dum1120",
    "previous_over_20": "dum21plus",
    "age": "leeftijd",
    "age_first_case": "lftinsz1inclvtt",
    "offence_type": "delcuziv",  # 8 codes
}

FEMALE = -0.3092142
INTERCEPT = 6.259994 + FEMALE  # the paper prices women; here the term is `sex <= 0`, men
TERMS = (
    Term("sex", 0, -FEMALE),
    Term("log_previous_cases", 0.0, -0.7374188),
    Term("log_previous_cases", 0.693147181, -0.4302188),
    Term("log_previous_cases", 1.098612289, -0.2888496),
    Term("log_previous_cases", 1.386294361, -0.3933033),
    Term("log_previous_cases", 1.945910149, -0.5383587),
    Term("age", 18.94046991832, 0.3877289),
    Term("age", 23.01017483608, 0.5554352),
    Term("age", 31.55231746536, 0.4700141),
    Term("age", 43.91512663, 0.6324188),
    Term("age_first_case", 27.98638057255, -0.2645467),
    Term("offence_type", 7, 0.2861914),
    Term("previous_11_to_20", 0, -2.655844),
    Term("previous_over_20", 0, -3.605789),
)

FEMALE_SHARE = 0.14
COUNTRY_SHARES = (0.58, 0.07, 0.08, 0.08, 0.04, 0.03, 0.12)
OFFENCE_SHARES = (0.19, 0.05, 0.31, 0.11, 0.08, 0.05, 0.19, 0.02)


def make_recidivism(n: int = ROWS, *, seed: int | None = 0) -> Dataset[AdditiveTruth]:
    """Simulate convicted persons in the shape of the Dutch recidivism data.

    The log-odds of class 1 are `intercept + sum of coef * 1[feature <= threshold]` over `truth.terms`.

    Parameters
    ----------
    n : int, default=20000
        Number of rows; the default is that of the paper. A larger n continues the rows of a smaller one.
    seed : int or None, default=0
        Seed of the random numbers; None draws a new one.

    Returns
    -------
    Dataset
        Eight numeric features, two of them real-valued ages; `target` is 1 for a new case within four years, and
        `truth` holds the published model and every row's probability by it.
    """
    if n < 1:
        msg = f"`n` must be at least 1, got {n}"
        raise ValueError(msg)
    features, labels = (np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(2))
    columns = _persons(features.random((n, 7)))
    score = np.full(n, INTERCEPT)
    for term in TERMS:
        score += term.coef * (columns[term.feature] <= term.threshold)
    probability: NDArray[np.float64] = expit(score)
    target = (labels.random(n) < probability).astype(np.int64)
    data = np.column_stack([columns[name] for name in FEATURES])
    return Dataset(data, target, list(FEATURES), AdditiveTruth(INTERCEPT, TERMS, probability))


def fetch_recidivism(path: str | PathLike[str]) -> Dataset[None]:
    """Load the Dutch recidivism table from a file that you hold; it cannot be downloaded.

    Parameters
    ----------
    path : str or path-like
        A csv or csv.gz file with a header line and the Dutch column names: `rec4` and those in `FEATURES`.

    Returns
    -------
    Dataset
        20000 rows of eight numeric features; `target` is `rec4`, 1 for a new case within four years.

    Raises
    ------
    FileNotFoundError
        If `path` does not exist.
    ValueError
        If the table lacks a column, holds something other than numbers, or does not have its 20000 rows.
    """
    columns = read_csv("recidivism", Path(path))
    require("recidivism", columns, [LABEL, *FEATURES.values()], ROWS)
    data = np.column_stack([columns[theirs].astype(np.float64) for theirs in FEATURES.values()])
    at = list(FEATURES).index("log_previous_cases")
    data[:, at] = data[:, at].round(DECIMALS)
    return Dataset(data, columns[LABEL].astype(np.float64).astype(np.int64), list(FEATURES), None)


def _persons(u: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Columns from seven uniform numbers per person: most begin young, and who began young has more cases behind."""
    waiting = -np.log1p(-u)
    first = np.minimum(YOUNGEST + 4.0 * waiting[:, 2] + 3.2 * waiting[:, 2] ** 2, 70.0)
    cases = np.floor(0.2 + 2.6 * waiting[:, 3] * (0.3 + waiting[:, 4]) * (24.0 / (first + 4.0)))
    since = np.where(cases > 0, (1.0 + 1.8 * cases**0.6) * waiting[:, 5], 0.0)
    return {
        "sex": (u[:, 0] < FEMALE_SHARE).astype(np.float64),
        "country_of_birth": _codes(u[:, 1], COUNTRY_SHARES),
        "log_previous_cases": np.where(cases <= 10, np.log1p(cases), 0.0).round(DECIMALS + 3),
        "previous_11_to_20": ((cases > 10) & (cases <= 20)).astype(np.float64),
        "previous_over_20": (cases > 20).astype(np.float64),
        "age": _to_the_day(np.minimum(first + since, OLDEST)),
        "age_first_case": _to_the_day(first),
        "offence_type": _codes(u[:, 6], OFFENCE_SHARES),
    }


def _codes(u: NDArray[np.float64], shares: tuple[float, ...]) -> NDArray[np.float64]:
    """Codes 1, 2, ... with these shares."""
    return np.searchsorted(np.cumsum(shares)[:-1], u, side="right").astype(np.float64) + 1.0


def _to_the_day(years: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.round(years * DAYS).astype(np.float64) / DAYS
