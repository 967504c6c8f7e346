"""Warnings point at the line of the user, however deep they are raised; numbers are refused whatever their width."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sparsegam import SparseGAMClassifier, SparseGAMRegressor, SparseLinearClassifier, SparseLinearRegressor
from sparsegam.checks import check_number, first_few

X = [[float(i), float(i * i % 7)] for i in range(40)]


@pytest.mark.parametrize(
    "kind", [SparseGAMClassifier, SparseGAMRegressor, SparseLinearClassifier, SparseLinearRegressor]
)
def test_a_warning_points_here(kind):
    with pytest.warns(ConvergenceWarning, match="stopped by time_limit") as caught:
        kind(lambda0=0.01, time_limit=0.0).fit(X, [i % 3 > 0 for i in range(40)])
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble])
def test_numbers_of_any_width_are_checked_alike(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_number("lambda0", kind(3), at_least=0.0)
        for wrong in (np.inf, np.nan, -1):
            with pytest.raises(ValueError, match="lambda0 must be a finite number >= 0, got"):
                check_number("lambda0", kind(wrong), at_least=0.0)


def test_the_first_few_of_many_are_named():
    assert first_few(["a", "b"], 2) == "a, b"
    assert first_few(["a", "b", "c"], 2) == "a, b and 1 more"
    assert first_few(["a", "b", "c", "d"], 2, "columns") == "a, b and 2 more columns"
