"""Checks of options, the location of warnings and the text of messages."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sparsegam import SparseGAMClassifier, SparseGAMRegressor, SparseLinearClassifier, SparseLinearRegressor
from sparsegam.checks import check_number, first_few, quoted, shown

X = [[float(i), float(i * i % 7)] for i in range(40)]


@pytest.mark.parametrize(
    "kind", [SparseGAMClassifier, SparseGAMRegressor, SparseLinearClassifier, SparseLinearRegressor]
)
def test_warn_points_to_the_calling_line(kind):
    with pytest.warns(ConvergenceWarning, match="stopped by time_limit") as caught:
        kind(lambda0=0.01, time_limit=0.0).fit(X, [i % 3 > 0 for i in range(40)])
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble])
def test_check_number_accepts_and_rejects_any_float_type(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_number("lambda0", kind(3), at_least=0.0)
        for wrong in (np.inf, np.nan, -1):
            with pytest.raises(ValueError, match="lambda0 must be a finite number >= 0, got"):
                check_number("lambda0", kind(wrong), at_least=0.0)


def test_first_few_counts_the_remaining_names():
    assert first_few(["a", "b"], 2) == "a, b"
    assert first_few(["a", "b", "c"], 2) == "a, b and 1 more"
    assert first_few(["a", "b", "c", "d"], 2, "columns") == "a, b and 2 more columns"


def test_values_are_shown_as_plain_python_values():
    assert shown(np.str_("a")) == "'a'"
    assert quoted([np.float64(1.5), np.int64(3)]) == "1.5, 3"
    assert quoted("abcdef", 2) == "'a', 'b', ..."
    assert len(shown("x" * 1000)) == 203
