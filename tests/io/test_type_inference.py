"""Text columns that are almost all numbers cause a warning."""

import warnings

import numpy as np
import pandas as pd
import pytest

from sparsegam import SparseGAMClassifier, SparseGAMRegressor, SparseGAMRegressorCV, gam_path

N = 7043


@pytest.fixture(scope="module")
def churn():
    """A column as in the Telco data: charges are text because eleven of them are blank."""
    rng = np.random.default_rng(0)
    charges = rng.uniform(20, 8000, N).round(2)
    text = pd.Series(charges.astype(str), dtype=object)
    text[rng.choice(N, 11, replace=False)] = " "
    return pd.DataFrame({"tenure": rng.integers(0, 72, N), "TotalCharges": text}), (charges > 4000).astype(int)


@pytest.mark.parametrize(
    "fit",
    [
        lambda X, y: SparseGAMClassifier(max_terms=2).fit(X, y),
        lambda X, y: SparseGAMRegressorCV(max_terms=1, cv=2).fit(X, y),
        lambda X, y: gam_path(X, y, max_terms=1),
        lambda X, y: SparseGAMClassifier(max_terms=1).fit(X, np.where(X["tenure"] > 40, 2, y)),
        lambda X, y: SparseGAMClassifier(max_terms=1).fit(X.to_numpy(dtype=object), y),
    ],
    ids=["one", "chosen", "path", "three classes", "array"],
)
def test_fits_warn_once_of_numbers_in_text(churn, fit):
    X, y = churn
    with pytest.warns(UserWarning, match="are numbers") as caught:
        fit(X, y)
    words = [str(one.message) for one in caught if "are numbers" in str(one.message)]
    assert len(words) == 1
    assert "7032 of 7043 values are numbers. Because of the others, such as ' ', the column" in words[0]
    assert [one.filename for one in caught if "are numbers" in str(one.message)] == [__file__]


def fit_without_warnings(X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SparseGAMRegressor(max_terms=1, **options).fit(X, y)


def test_codes_and_declared_categories_do_not_warn(churn):
    X, y = churn
    fit_without_warnings(X, y, categorical=["TotalCharges"])
    rng = np.random.default_rng(0)
    codes = rng.choice(["0", "1", "2", "3+"], N, p=[0.5, 0.3, 0.15, 0.05])
    postal = np.char.zfill(rng.integers(1000, 1200, N).astype(str), 5)
    mixed = np.where(rng.random(N) < 0.5, "none", rng.integers(0, 100, N).astype(str))
    fit_without_warnings(pd.DataFrame({"codes": codes, "postal": postal, "mixed": mixed, "tenure": X["tenure"]}), y)


def test_missing_values_are_not_counted_in_the_share_of_numbers(churn):
    X, y = churn
    some = X.assign(TotalCharges=X["TotalCharges"].where(X.index >= 100, None))
    with pytest.warns(UserWarning, match=r"TotalCharges: 69\d\d of 6943 values are numbers"):
        gam_path(some, y, max_terms=1)
