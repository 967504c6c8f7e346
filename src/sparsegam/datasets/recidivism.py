"""Dutch recidivism data: a simulator, and a loader for the original file.

The data (Tollenaar and van der Heijden, 2013) describe individuals and may not be redistributed. The simulated data
have the same columns and number of thresholds: 26 for six discrete features, 999 (1000 quantiles) for each of two ages.
Labels are drawn from the logistic model published by Liu et al. (2022) for lambda0 = 7, see TERMS. The distribution of
the features is invented.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from sparsegam.datasets.dataset import AdditiveTruth, Dataset, TrueTerm
from sparsegam.datasets.published import check_table, read_integers, read_local, read_numbers

ROWS = 20_000
DAYS_PER_YEAR = 365.25
YOUNGEST, OLDEST = 12.0, 80.0
LABEL = "rec4"
DECIMALS = 6
"""Number of decimals to which logarithms are rounded: in the file, equal values differ in the last digits."""

# English names of the features and their names in the file. There are 7 country codes and 8 offence codes, and sex
# is 1 for women.
FEATURES = {
    "sex": "sekse",
    "country_of_birth": "cgebland",
    "log_previous_cases": "lnvgalguz",
    "previous_11_to_20": "dum1120",
    "previous_over_20": "dum21plus",
    "age": "leeftijd",
    "age_first_case": "lftinsz1inclvtt",
    "offence_type": "delcuziv",
}

FEMALE = -0.3092142
# The published model has a term for women; here it is replaced by a term for men (`sex <= 0`).
INTERCEPT = 6.259994 + FEMALE
TERMS = (
    TrueTerm("sex", 0, -FEMALE),
    TrueTerm("log_previous_cases", 0.0, -0.7374188),
    TrueTerm("log_previous_cases", 0.693147181, -0.4302188),
    TrueTerm("log_previous_cases", 1.098612289, -0.2888496),
    TrueTerm("log_previous_cases", 1.386294361, -0.3933033),
    TrueTerm("log_previous_cases", 1.945910149, -0.5383587),
    TrueTerm("age", 18.94046991832, 0.3877289),
    TrueTerm("age", 23.01017483608, 0.5554352),
    TrueTerm("age", 31.55231746536, 0.4700141),
    TrueTerm("age", 43.91512663, 0.6324188),
    TrueTerm("age_first_case", 27.98638057255, -0.2645467),
    TrueTerm("offence_type", 7, 0.2861914),
    TrueTerm("previous_11_to_20", 0, -2.655844),
    TrueTerm("previous_over_20", 0, -3.605789),
)

FEMALE_SHARE = 0.14
COUNTRY_SHARES = (0.58, 0.07, 0.08, 0.08, 0.04, 0.03, 0.12)
OFFENCE_SHARES = (0.19, 0.05, 0.31, 0.11, 0.08, 0.05, 0.19, 0.02)


def make_recidivism(n: int = ROWS, *, seed: int | None = 0) -> Dataset[AdditiveTruth]:
    """Simulate data that resemble the Dutch recidivism data.

    The log-odds of class 1 are `intercept + sum of coef * 1[feature <= threshold]` over `truth.terms`.

    Parameters
    ----------
    n : int, default=20000
        Number of rows, by default that of the original data. A larger n adds rows to those of a smaller one.
    seed : int or None, default=0
        Seed of the random number generator; None uses a random seed.

    Returns
    -------
    Dataset
        Eight numeric features, two of which are ages. `log_previous_cases` is log(1 + number of cases) up to 10 cases
        and 0 above. `target` is 1 for a new case within four years, and `truth` contains the published model and the
        probability of each row.
    """
    if n < 1:
        msg = f"`n` must be at least 1, got {n}."
        raise ValueError(msg)
    features, labels = (np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(2))
    columns = _draw_features(features.random((n, 7)))
    score = np.full(n, INTERCEPT)
    for term in TERMS:
        score += term.coef * (columns[term.feature] <= term.threshold)
    probability: NDArray[np.float64] = expit(score)
    target = (labels.random(n) < probability).astype(np.int64)
    data = np.column_stack([columns[name] for name in FEATURES])
    return Dataset(data, target, list(FEATURES), AdditiveTruth(INTERCEPT, TERMS, probability))


def fetch_recidivism(path: str | PathLike[str]) -> Dataset[None]:
    """Load the Dutch recidivism data from a local file; no download is available.

    Parameters
    ----------
    path : str or path-like
        A csv or csv.gz file with a header and the original column names: `rec4` and those in `FEATURES`.

    Returns
    -------
    Dataset
        20000 rows of eight numeric features; `target` is `rec4`, 1 for a new case within four years.

    Raises
    ------
    FileNotFoundError
        If `path` does not exist.
    ValueError
        If a column is missing or contains values other than numbers, or the number of rows is not 20000.
    """
    table = read_local("recidivism", Path(path))
    check_table("recidivism", table, [LABEL, *FEATURES.values()], ROWS)
    data = np.column_stack([read_numbers(table, name) for name in FEATURES.values()])
    at = list(FEATURES).index("log_previous_cases")
    data[:, at] = data[:, at].round(DECIMALS)
    return Dataset(data, read_integers(table, LABEL), list(FEATURES), None)


def _draw_features(u: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return the features of persons from seven uniform random numbers each.

    Most first cases occur at a young age, and persons with an early first case have more previous cases.
    """
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
        "age": _round_to_days(np.minimum(first + since, OLDEST)),
        "age_first_case": _round_to_days(first),
        "offence_type": _codes(u[:, 6], OFFENCE_SHARES),
    }


def _codes(u: NDArray[np.float64], shares: tuple[float, ...]) -> NDArray[np.float64]:
    """Return the codes 1, 2, ... with the given shares."""
    return np.searchsorted(np.cumsum(shares)[:-1], u, side="right").astype(np.float64) + 1.0


def _round_to_days(years: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.round(years * DAYS_PER_YEAR).astype(np.float64) / DAYS_PER_YEAR
