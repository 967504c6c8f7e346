"""Data sets: simulated loans, credit, recidivism and correlated features, and loaders of published data."""

from sparsegam.datasets.correlated import make_correlated_classification, make_correlated_regression
from sparsegam.datasets.credit import make_credit
from sparsegam.datasets.dataset import AdditiveTruth, Dataset, LinearTruth, TrueTerm
from sparsegam.datasets.loans import load_loans, loans_file, make_loans
from sparsegam.datasets.published import fetch_compas, fetch_fico
from sparsegam.datasets.recidivism import fetch_recidivism, make_recidivism

__all__ = [
    "AdditiveTruth",
    "Dataset",
    "LinearTruth",
    "TrueTerm",
    "fetch_compas",
    "fetch_fico",
    "fetch_recidivism",
    "load_loans",
    "loans_file",
    "make_correlated_classification",
    "make_correlated_regression",
    "make_credit",
    "make_loans",
    "make_recidivism",
]
