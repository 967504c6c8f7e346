"""Data sets: simulated credit data, the paper's simulated designs, and the published FICO and COMPAS tables."""

from sparsegam.datasets.correlated import make_correlated_classification, make_correlated_regression
from sparsegam.datasets.credit import make_credit
from sparsegam.datasets.dataset import AdditiveTruth, Dataset, LinearTruth, Term
from sparsegam.datasets.published import fetch_compas, fetch_fico

__all__ = [
    "AdditiveTruth",
    "Dataset",
    "LinearTruth",
    "Term",
    "fetch_compas",
    "fetch_fico",
    "make_correlated_classification",
    "make_correlated_regression",
    "make_credit",
]
