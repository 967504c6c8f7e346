"""The methods compared on held-out rows: sparsegam, EBM with and without interactions, boosted trees, linear models."""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

MAX_TERMS = 50
N_TREES = 200
BASELINE = "ebm"
CV, CV_SHAPES, DEFAULT, FORMER = "cv", "cv-shapes", "default", "former-default"
# The defaults before the studies of ridge and size, spelled out so that they never change.
FORMER_OPTIONS = {
    "lambda0": "bic",
    "lambda2": 0.001,
    "max_bins": 1000,
    "min_samples_bin": 1,
    "min_category_count": 5,
}
Make = Callable[[bool, Mapping[str, Any], int], Any]


@dataclass(frozen=True)
class Contender:
    """A method: `make(binary, options, threads)` returns an estimator with `fit` and `predict` or `predict_proba`.

    `options` describes the columns of a table, for sparsegam only.
    """

    name: str
    package: str
    make: Make

    def settings(self, *, binary: bool, options: Mapping[str, Any]) -> str:
        """Return the version of the package and a digest of all parameters, which identify comparable results."""
        model = self.make(binary, options, 1)
        parameters = {name: re.sub(r" at 0x[0-9a-f]+", "", repr(value)) for name, value in model.get_params().items()}
        digest = hashlib.sha256(json.dumps(parameters, sort_keys=True).encode()).hexdigest()[:8]
        return f"{self.package} {metadata.version(self.package)} {digest}"


class LightGBM:
    """LightGBM on data frames: text columns become categories with the levels of the training rows."""

    def __init__(self, *, binary: bool, threads: int) -> None:
        from lightgbm import LGBMClassifier, LGBMRegressor

        kind = LGBMClassifier if binary else LGBMRegressor
        self._model = kind(n_estimators=N_TREES, n_jobs=threads, verbose=-1)

    def get_params(self) -> dict[str, Any]:
        """Return the parameters of the LightGBM model."""
        return self._model.get_params()

    def fit(self, X: pd.DataFrame, y: NDArray[Any]) -> LightGBM:
        """Learn the levels, then fit the trees."""
        text = X.select_dtypes("object").columns
        self._levels = {name: pd.CategoricalDtype(sorted(X[name].dropna().unique())) for name in text}
        self._model.fit(self._read(X), y)
        return self

    def predict(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """Return the predicted values."""
        return self._model.predict(self._read(X))

    def predict_proba(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """Return the predicted probabilities."""
        return self._model.predict_proba(self._read(X))

    def _read(self, X: pd.DataFrame) -> pd.DataFrame:
        """Convert text to categories and replace the names, some of which LightGBM rejects."""
        with warnings.catch_warnings():
            # pandas warns that levels without training rows become missing.
            warnings.simplefilter("ignore")
            frame = X.assign(**{name: X[name].astype(levels) for name, levels in self._levels.items()})
        return frame.set_axis([f"x{i}" for i in range(X.shape[1])], axis=1)


def sparsegam_estimator(*, cv: bool = False, **fixed: Any) -> Make:
    """Return a maker of sparsegam estimators; parameters that are not in `fixed` have their defaults."""

    def make(binary: bool, options: Mapping[str, Any], threads: int) -> Any:  # noqa: FBT001
        import sparsegam

        name = f"SparseGAM{'Classifier' if binary else 'Regressor'}{'CV' if cv else ''}"
        return getattr(sparsegam, name)(n_jobs=threads, **fixed, **options)

    return make


def make_ebm(**fixed: Any) -> Make:
    """Return a maker of explainable boosting machines."""

    def make(binary: bool, options: Mapping[str, Any], threads: int) -> Any:  # noqa: FBT001
        from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

        kind = ExplainableBoostingClassifier if binary else ExplainableBoostingRegressor
        return kind(n_jobs=threads, **fixed)

    return make


def linear(binary: bool, options: Mapping[str, Any], threads: int) -> Any:  # noqa: FBT001
    """Make a logistic or cross-validated ridge regression, with imputation and one-hot encoding."""
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    text = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="(missing)", missing_values=None),
        OneHotEncoder(handle_unknown="ignore"),
    )
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")), (text, make_column_selector(dtype_include=object))
    )
    return make_pipeline(columns, LogisticRegression(max_iter=2000) if binary else RidgeCV(np.logspace(-2, 4, 13)))


def lightgbm(binary: bool, options: Mapping[str, Any], threads: int) -> Any:  # noqa: FBT001
    """Make a LightGBM model with 200 trees and otherwise its defaults."""
    return LightGBM(binary=binary, threads=threads)


CONTENDERS = {
    contender.name: contender
    for contender in (
        Contender(BASELINE, "interpret-core", make_ebm(interactions=0)),
        Contender(CV, "sparsegam", sparsegam_estimator(cv=True, max_terms=MAX_TERMS)),
        Contender(
            CV_SHAPES, "sparsegam", sparsegam_estimator(cv=True, max_terms=MAX_TERMS, shapes=["steps", "ramps", "both"])
        ),
        Contender(
            f"{CV_SHAPES}-25",
            "sparsegam",
            sparsegam_estimator(cv=True, max_terms=25, shapes=["steps", "ramps", "both"]),
        ),
        Contender(DEFAULT, "sparsegam", sparsegam_estimator()),
        Contender(FORMER, "sparsegam", sparsegam_estimator(**FORMER_OPTIONS)),
        Contender("lightgbm", "lightgbm", lightgbm),
        Contender("linear", "scikit-learn", linear),
        Contender("ebm-interactions", "interpret-core", make_ebm()),
    )
}
