"""Numbers published in the paper: its FICO and NETHERLANDS models, times and boosted trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from sparsegam.datasets import recidivism


class PublishedModel(NamedTuple):
    """A published model: intercept, and by feature (threshold, coefficient) of each term `feature <= threshold`."""

    loss: str
    lambda2: float
    seconds: float
    intercept: float
    steps: Mapping[str, Sequence[tuple[float, float]]]

    @property
    def terms(self) -> list[tuple[str, float, float]]:
        """Feature, threshold and coefficient of each term."""
        return [(feature, *step) for feature, steps in self.steps.items() for step in steps]


FICO_EXPONENTIAL = PublishedModel(
    "exponential",
    0.0,
    3.15,
    -0.2584626,
    {
        "ExternalRiskEstimate": ((63, 0.1825955), (70, 0.1387806), (74, 0.2286364), (83, 0.2569742)),
        "AverageMInFile": ((51, 0.1840013), (75, 0.172138)),
        "NumSatisfactoryTrades": ((13, 0.2015039), (31, 0.1923697)),
        "PercentTradesNeverDelq": ((96, 0.2654667),),
        "MSinceMostRecentDelq": ((33, 0.2320259),),
        "NumTotalTrades": ((8, 0.1009372),),
        "PercentInstallTrades": ((46, -0.2311165),),
        "MSinceMostRecentInqexcl7days": ((-8, -0.7723769), (0, 0.3636577)),
        "NumInqLast6M": ((5, -0.2762694),),
        "NetFractionRevolvingBurden": ((37, -0.1897788), (73, -0.2742168)),
        "NumRevolvingTradesWBalance": ((5, -0.1038025), (7, -0.1938047)),
    },
)
FICO_LOGISTIC = PublishedModel(
    "logistic",
    1e-3,
    5.95,
    2.805021,
    {
        "ExternalRiskEstimate": ((63, 0.4071199), (70, 0.310368), (74, 0.4604512), (83, 0.5471219)),
        "AverageMInFile": ((51, 0.408959), (75, 0.3283239)),
        "NumSatisfactoryTrades": ((13, 0.4225237), (31, 0.3396898)),
        "PercentTradesNeverDelq": ((96, 0.525166),),
        "MSinceMostRecentDelq": ((33, 0.4427697),),
        "PercentInstallTrades": ((46, -0.4317725),),
        "MSinceMostRecentInqexcl7days": ((-8, -1.576435), (0, 0.5045199), (1, 0.2874494)),
        "NumInqLast6M": ((11, -3.97116),),
        "NetFractionRevolvingBurden": ((37, -0.3657186), (73, -0.5681891)),
        "NumRevolvingTradesWBalance": ((7, -0.4969551),),
    },
)
# The paper has a term for women. Here the term is `sex <= 0` (men), and the intercept includes the term for women.
NETHERLANDS_EXPONENTIAL = PublishedModel(
    "exponential",
    0.0,
    2.73,
    3.114342 - 0.1439394,
    {
        "sex": ((0, 0.1439394),),
        "log_previous_cases": ((0.0, -0.4739628), (1.098612289, -0.3336059), (1.609437912, -0.3083761)),
        "age": (
            (22.26146475, 0.2887266),
            (28.48266213076, 0.2354507),
            (39.07432555374, 0.1951787),
            (46.91581109, 0.2304243),
        ),
        "age_first_case": ((28.06920954072, -0.1674992),),
        "offence_type": ((7, 0.1526613),),
        "previous_11_to_20": ((0, -1.381801),),
        "previous_over_20": ((0, -1.856642),),
    },
)
NETHERLANDS_LOGISTIC = PublishedModel(
    "logistic",
    1e-3,
    7.2,
    recidivism.INTERCEPT,
    # The simulation draws from this model.
    {
        feature: [(term.threshold, term.coef) for term in terms]
        for feature, terms in groupby(recidivism.TERMS, key=attrgetter("feature"))
    },
)
FICO_LAMBDA0 = 5.0
NETHERLANDS_LAMBDA0 = 7.0

# Gradient boosting, 100 trees of depth 3: mean and standard deviation of the AUC over five folds.
BOOSTED = {
    "fico": {"train": (0.8318, 0.0028), "test": (0.7959, 0.0133)},
    "netherlands": {"train": (0.7850, 0.0014), "test": (0.7696, 0.0062)},
}
