"""Warnings point at the line of the user, however deep in the package they are raised."""

import pytest
from sklearn.exceptions import ConvergenceWarning

from sparsegam import SparseGAMClassifier, SparseGAMRegressor, SparseLinearClassifier, SparseLinearRegressor

X = [[float(i), float(i * i % 7)] for i in range(40)]


@pytest.mark.parametrize(
    "kind", [SparseGAMClassifier, SparseGAMRegressor, SparseLinearClassifier, SparseLinearRegressor]
)
def test_a_warning_points_here(kind):
    with pytest.warns(ConvergenceWarning, match="stopped by time_limit") as caught:
        kind(lambda0=0.01, time_limit=0.0).fit(X, [i % 3 > 0 for i in range(40)])
    assert {warning.filename for warning in caught} == {__file__}
