"""Simulated credit data that resemble the FICO HELOC data in columns, special codes and difficulty.

The features are a Gaussian copula with six latent traits of a borrower: each feature is a quantile function of a
correlated normal score. Some rows then receive the special codes of a credit bureau: -9 for no record, -8 for no
usable trades or inquiries, -7 for a condition that was never met. Labels are drawn from a sparse additive model of
step functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri

from sparsegam.datasets.dataset import AdditiveTruth, Dataset, TrueTerm

NO_RECORD, NO_USABLE, NEVER_MET = -9, -8, -7
NO_RECORD_SHARE = 0.056


class Feature(NamedTuple):
    """A feature with its quantiles at PROBABILITIES and its correlations with TRAITS in percent."""

    name: str
    quantiles: tuple[int, ...]
    loadings: tuple[int, ...]


# The minimum and maximum are placed at four standard deviations, which few of 10,000 rows approach.
PROBABILITIES = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
SCORES = np.concatenate([[-4.0], ndtri(PROBABILITIES), [4.0]])

TRAITS = ("payment", "age", "thickness", "use", "appetite", "installment")

# fmt: off
FEATURES = (
    #                                        min   5%  25%  50%  75%  95%  99%  max    pay  age thick use app. inst.
    Feature("ExternalRiskEstimate",          (33,  57,  64,  72,  80,  88,  91,  94), ( 60,  25,   0, -60, -15, -10)),
    Feature("MSinceOldestTradeOpen",         ( 2,  59, 135, 186, 257, 388, 469, 700), (  0,  85,  25, -10, -10, -10)),
    Feature("MSinceMostRecentTradeOpen",     ( 0,   1,   3,   6,  12,  29,  60, 180), ( -5,  15, -25,   0, -75, -15)),
    Feature("AverageMInFile",                ( 4,  28,  57,  76,  97, 139, 184, 340), (  0,  80,   5, -10, -35, -10)),
    Feature("NumSatisfactoryTrades",         ( 0,   5,  13,  20,  28,  42,  54,  80), ( 10,  15,  90,   5,  15,   0)),
    Feature("NumTrades60Ever2DerogPubRec",   ( 0,   0,   0,   0,   1,   3,   6,  20), (-85,   0,  -5,   5,   0,   5)),
    Feature("NumTrades90Ever2DerogPubRec",   ( 0,   0,   0,   0,   0,   2,   4,  20), (-85,   0,  -5,   5,   0,   5)),
    Feature("PercentTradesNeverDelq",        ( 0,  68,  89,  97, 100, 100, 100, 100), ( 90,   0,  10, -10,   5,   0)),
    Feature("MSinceMostRecentDelq",          ( 0,   1,   5,  15,  34,  67,  78,  86), ( 55,   0,   0,  -5,   0,   0)),
    Feature("MaxDelq2PublicRecLast12M",      ( 0,   3,   5,   6,   7,   7,   7,   9), ( 85,   0,   0, -10,   0,   0)),
    Feature("MaxDelqEver",                   ( 2,   2,   6,   7,   8,   8,   8,   8), ( 92,   0,   0,  -5,   0,   0)),
    Feature("NumTotalTrades",                ( 0,   5,  13,  21,  30,  46,  62, 100), ( -5,  10,  92,   0,  15,   0)),
    Feature("NumTradesOpeninLast12M",        ( 0,   0,   0,   1,   3,   5,   8,  20), ( -5, -15,  25,   5,  80,  10)),
    Feature("PercentInstallTrades",          ( 0,   9,  21,  33,  45,  67,  87, 100), ( -5, -15, -15,   0,   0,  75)),
    Feature("MSinceMostRecentInqexcl7days",  ( 0,   0,   0,   0,   3,  14,  21,  26), (  5,  10,   5, -10, -35,   0)),
    Feature("NumInqLast6M",                  ( 0,   0,   0,   1,   2,   5,   9,  30), (-10, -10,   5,  10,  55,   0)),
    Feature("NumInqLast6Mexcl7days",         ( 0,   0,   0,   1,   2,   5,   9,  30), (-10, -10,   5,  10,  55,   0)),
    Feature("NetFractionRevolvingBurden",    ( 0,   0,   9,  29,  56,  89, 100, 200), (-10, -15,   0,  85,   5,   5)),
    Feature("NetFractionInstallBurden",      ( 0,  19,  53,  74,  87,  99, 101, 200), (  0, -10,   0,   5,  35,  20)),
    Feature("NumRevolvingTradesWBalance",    ( 0,   1,   2,   3,   5,  10,  14,  32), ( -5,   5,  50,  50,  15, -30)),
    Feature("NumInstallTradesWBalance",      ( 1,   1,   1,   2,   3,   5,   9,  22), ( -5,   0,  35,  15,  20,  55)),
    Feature("NumBank2NatlTradesWHighUtilization",
                                             ( 0,   0,   0,   1,   2,   4,   7,  20), ( -5,   0,  25,  75,   5,  -5)),
    Feature("PercentTradesWBalance",         ( 0,  29,  50,  67,  83, 100, 100, 100), (-10, -15, -25,  60,   0,  35)),
)
# fmt: on

# NumInqLast6Mexcl7days equals NumInqLast6M except for a few inquiries of the last week.
REPEATS, REPEATED, WEEK_SHARE = "NumInqLast6Mexcl7days", "NumInqLast6M", 0.06

# Features that receive a code together. One uniform random number per row and group decides: the row receives the code
# in all features of the group whose share exceeds this number.
CODE_GROUPS: tuple[tuple[int, dict[str, float]], ...] = (
    (NO_USABLE, {"MSinceOldestTradeOpen": 0.024}),
    (NO_USABLE, {"MSinceMostRecentDelq": 0.018}),
    (NO_USABLE, {"MSinceMostRecentInqexcl7days": 0.048}),
    (
        NO_USABLE,
        {
            "NumRevolvingTradesWBalance": 0.016,
            "NetFractionRevolvingBurden": 0.019,
            "NumBank2NatlTradesWHighUtilization": 0.059,
        },
    ),
    (NO_USABLE, {"NumInstallTradesWBalance": 0.087, "NetFractionInstallBurden": 0.346}),
    (NO_USABLE, {"PercentTradesWBalance": 0.002}),
    (NO_RECORD, {"ExternalRiskEstimate": 0.001}),
)

INTERCEPT = -0.15
STEPS = {
    "ExternalRiskEstimate": ((62, 0.45), (69, 0.45), (75, 0.40), (81, 0.50), (NO_RECORD, -0.95)),
    "MSinceOldestTradeOpen": ((120, 0.30),),
    "AverageMInFile": ((48, 0.40), (77, 0.30)),
    "NumSatisfactoryTrades": ((12, 0.40), (22, 0.25)),
    "PercentTradesNeverDelq": ((95, 0.35),),
    "MSinceMostRecentDelq": ((NEVER_MET, -0.35),),
    "MaxDelq2PublicRecLast12M": ((5, 0.35),),
    "PercentInstallTrades": ((46, -0.35),),
    "MSinceMostRecentInqexcl7days": ((0, 0.45), (NEVER_MET, -0.90)),
    "NumInqLast6M": ((3, -0.35),),
    "NetFractionRevolvingBurden": ((16, -0.30), (55, -0.35)),
    "NumBank2NatlTradesWHighUtilization": ((2, -0.35),),
    "PercentTradesWBalance": ((73, -0.35),),
}
TERMS = tuple(TrueTerm(feature, *step) for feature, steps in STEPS.items() for step in steps)


def make_credit(n: int = 10459, *, seed: int | None = 0) -> Dataset[AdditiveTruth]:
    """Simulate credit applications that resemble the FICO HELOC data.

    The log-odds of class 1 are `intercept + sum of coef * 1[feature <= threshold]` over `truth.terms`.

    Parameters
    ----------
    n : int, default=10459
        Number of rows, by default that of the FICO data. A larger n adds rows to those of a smaller one.
    seed : int or None, default=0
        Seed of the random number generator; None uses a random seed.

    Returns
    -------
    Dataset
        23 integer features with the names of the FICO data and the special codes -9, -8 and -7; `target` is 1 for
        "bad", and `truth` contains the terms and the true probability of each row.

    Notes
    -----
    A row without a bureau record is -9 in every feature. As in the FICO data, the conditions `x <= -9` of all features
    are therefore nearly identical, and no method can identify which of them the true model uses.
    """
    if n < 1:
        msg = f"`n` must be at least 1, got {n}."
        raise ValueError(msg)
    generators = _independent_generators(seed)
    data = _draw_features(n, generators)
    _write_codes(data, generators)
    probability = expit(_log_odds(data))
    target = (next(generators).random(n) < probability).astype(np.int64)
    truth = AdditiveTruth(INTERCEPT, TERMS, probability)
    return Dataset(data, target, [feature.name for feature in FEATURES], truth)


def _independent_generators(seed: int | None) -> Iterator[np.random.Generator]:
    """Yield independent generators, so that the draws of one do not depend on the number of draws of another."""
    sequence = np.random.SeedSequence(seed)
    while True:
        yield np.random.default_rng(sequence.spawn(1)[0])


_POSITION = {feature.name: j for j, feature in enumerate(FEATURES)}


def _draw_features(n: int, generators: Iterator[np.random.Generator]) -> NDArray[np.int32]:
    """Draw correlated integers without special codes, column by column to avoid a second n x p matrix."""
    traits = [next(generators).standard_normal(n) for _ in TRAITS]
    data = np.empty((n, len(FEATURES)), dtype=np.int32, order="F")
    for j, feature in enumerate(FEATURES):
        loadings = np.array(feature.loadings) / 100
        score = np.sqrt(1.0 - loadings @ loadings) * next(generators).standard_normal(n)
        for loading, trait in zip(loadings, traits, strict=True):
            score += loading * trait
        data[:, j] = np.rint(np.interp(score, SCORES, feature.quantiles))
    inquiries = data[:, _POSITION[REPEATED]]
    data[:, _POSITION[REPEATS]] = inquiries - ((next(generators).random(n) < WEEK_SHARE) & (inquiries > 0))
    return data


def _write_codes(data: NDArray[np.int32], generators: Iterator[np.random.Generator]) -> None:
    """Insert special codes in place: conditions never met, unusable trades, and rows without a record."""
    n = data.shape[0]
    never_late = data[:, _POSITION["MaxDelqEver"]] == 8
    data[never_late, _POSITION["MSinceMostRecentDelq"]] = NEVER_MET
    no_inquiry = (data[:, _POSITION["NumInqLast6M"]] == 0) & (next(generators).random(n) < 0.45)
    data[no_inquiry, _POSITION["MSinceMostRecentInqexcl7days"]] = NEVER_MET
    for code, shares in CODE_GROUPS:
        draw = next(generators).random(n)
        for name, share in shares.items():
            data[draw < share, _POSITION[name]] = code
    data[next(generators).random(n) < NO_RECORD_SHARE] = NO_RECORD


def _log_odds(data: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the log-odds of each row by the true model."""
    total = np.full(data.shape[0], INTERCEPT)
    for term in TERMS:
        total += term.coef * (data[:, _POSITION[term.feature]] <= term.threshold)
    return total
