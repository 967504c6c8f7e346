"""Targets and weights that are missing, infinite or of mixed types raise errors that name the rows."""

import numpy as np
import pandas as pd
import pytest

from sparsegam import (
    SparseGAMClassifier,
    SparseGAMClassifierCV,
    SparseGAMRegressor,
    SparseGAMRegressorCV,
    SparseLinearClassifier,
    SparseLinearRegressor,
    gam_path,
    linear_path,
)

X = np.arange(40.0).reshape(-1, 1)
MISSING = "y contains NaN or None in 10 of 40 rows .the first is row 2.: drop these rows, or give them a label"


def fits():
    for kind in (SparseGAMClassifier, SparseGAMClassifierCV, SparseLinearClassifier):
        yield pytest.param(lambda y, kind=kind: kind().fit(X, y), id=kind.__name__)
    for path in (gam_path, linear_path):
        yield pytest.param(lambda y, path=path: path(X, y), id=path.__name__)


@pytest.mark.parametrize("fit", list(fits()))
@pytest.mark.parametrize(
    "y",
    [
        np.array(["a", "b", None, "a"] * 10, dtype=object),
        np.array([0, 1, None, 1] * 10, dtype=object),
        np.array([0, 1, np.nan, 1] * 10, dtype=object),
        pd.Series([True, False, None, True] * 10),
        ["a", "b", None, "c"] * 10,
    ],
    ids=["text", "numbers", "NaN", "booleans", "three"],
)
def test_missing_labels_raise_with_their_rows(fit, y):
    with pytest.raises(ValueError, match=MISSING):
        fit(y)


@pytest.mark.parametrize("fit", list(fits()))
def test_labels_of_mixed_types_raise(fit):
    with pytest.raises(ValueError, match=r"y mixes numbers and text \(0 and 'a'\): convert all labels to text"):
        fit(np.array([0, "a"] * 20, dtype=object))


def test_missing_targets_of_a_regression_raise():
    with pytest.raises(ValueError, match=MISSING):
        SparseGAMRegressor().fit(X, np.array([0.5, 1.0, None, 1.5] * 10, dtype=object))


@pytest.mark.parametrize("search", [gam_path, linear_path, lambda X, y: SparseLinearClassifier().fit(X, y)])
def test_infinite_labels_of_object_dtype_raise(search):
    y = np.where(np.arange(40) % 4 == 2, np.inf, 0.0).astype(object)
    with pytest.raises(ValueError, match=r"y contains infinity \(the first in row 2\)"):
        search(X, y)


@pytest.mark.parametrize("kind", [float, int, object, "U1"])
@pytest.mark.parametrize("fit", [gam_path, SparseLinearClassifier().fit, SparseGAMClassifierCV().fit])
def test_masked_labels_raise(fit, kind):
    y = np.ma.masked_array((np.arange(40) % 2).astype(kind), mask=np.arange(40) % 4 == 2)
    with pytest.raises(ValueError, match="NaN"):
        fit(X, y)


def test_masked_weights_and_features_raise():
    y, mask = np.arange(40) % 2, np.arange(40) == 3
    with pytest.raises(ValueError, match="sample_weight contains NaN"):
        SparseGAMClassifier().fit(X, y, sample_weight=np.ma.masked_array(np.ones(40), mask=mask))
    with pytest.raises(ValueError, match="X contains NaN or infinity in column 'x0'"):
        linear_path(np.ma.masked_array(X, mask=mask), y)


def test_a_scalar_weight_raises_even_for_one_row():
    with pytest.raises(ValueError, match=r"sample_weight must contain one number per row, got shape \(\) for 1 rows"):
        gam_path([[1.0]], [2.0], loss="squared", sample_weight=3.0)


DAYS = np.datetime64("2020-01-01") + np.arange(40)


@pytest.mark.parametrize(
    "y",
    [DAYS, DAYS - DAYS[0], DAYS.tolist(), (DAYS.astype("datetime64[us]") - DAYS[1]).tolist(), pd.Series(DAYS)],
    ids=["datetime64", "timedelta64", "date", "timedelta", "pandas"],
)
@pytest.mark.parametrize("kind", [SparseGAMRegressor, SparseLinearRegressor, SparseGAMRegressorCV])
def test_regressions_reject_dates_and_durations(kind, y):
    with pytest.raises(ValueError, match="y contains dates, times or durations"):
        kind().fit(np.arange(40.0)[:, np.newaxis], y)
