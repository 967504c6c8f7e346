"""Checks of options, the location of warnings and the text of messages."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sparsegam import (
    SparseGAMClassifier,
    SparseGAMRegressor,
    SparseGAMRegressorCV,
    SparseLinearClassifier,
    SparseLinearRegressor,
)
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


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float64(0.0), "0.0"),
        ([np.float64(1.5), (np.str_("a"), np.int8(3))], "[1.5, ('a', 3)]"),
        ({np.str_("a"): np.bool_(True)}, "{'a': True}"),
        (np.array([1, 2]), "[1, 2]"),
    ],
)
def test_shown_converts_numpy_values_to_plain_python(value, expected):
    assert shown(value) == expected


WRONG = (np.float64(-1.0), [np.float64(-1.0)], {np.str_("no such column"): np.float64(-1.0)})


@pytest.mark.parametrize("kind", [SparseGAMClassifier, SparseGAMRegressorCV, SparseLinearClassifier])
@pytest.mark.parametrize("value", WRONG, ids=["number", "list", "dict"])
def test_messages_contain_no_representations_of_numpy(kind, value):
    X = np.random.default_rng(0).normal(size=(40, 2))
    for name in kind().get_params():
        if name in ("callback", "random_state"):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                kind(**{"max_terms": 2, name: value}).fit(X, (X[:, 0] > 0).astype(float))
        except (ValueError, TypeError) as error:
            assert "np." not in str(error), name  # noqa: PT017


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("estimator", [SparseGAMClassifier, SparseGAMRegressor, SparseLinearClassifier])
@pytest.mark.filterwarnings("error")
def test_numbers_of_numpy_give_the_same_fit(estimator, kind):
    X = np.random.default_rng(0).normal(size=(100, 2))
    y = (X[:, 0] > 0).astype(float)
    options = {"lambda0": 2.5, "lambda2": 0.5, "time_limit": 3600.0}
    fitted = estimator(**{name: kind(value) for name, value in options.items()} | {"time_limit": kind(3600)}).fit(X, y)
    assert fitted.objective_ == estimator(**options).fit(X, y).objective_
    with pytest.raises(ValueError, match="lambda0 must be"):
        estimator(lambda0=kind(-1)).fit(X, y)
