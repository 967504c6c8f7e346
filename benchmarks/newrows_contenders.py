"""Who is compared on new rows: three ways of ours, EBM with and without interactions, boosted trees, linear models."""

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
# What the defaults were before ridge and size were studied, written out: this line stays when the defaults change.
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
    """A method: `make(binary, options, threads)` returns what has `fit` and `predict` or `predict_proba`.

    `options` is what ours is told about a table's columns; the others ignore it.
    """

    name: str
    package: str
    make: Make

    def settings(self, *, binary: bool, options: Mapping[str, Any]) -> str:
        """The package's version and a digest of all parameters: results made with others are not these."""
        model = self.make(binary, options, 1)
        known = {name: re.sub(r" at 0x[0-9a-f]+", "", repr(value)) for name, value in model.get_params().items()}
        digest = hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:8]
        return f"{self.package} {metadata.version(self.package)} {digest}"


class LightGBM:
    """LightGBM on frames: text becomes a category, the levels being those of the training rows."""

    def __init__(self, *, binary: bool, threads: int) -> None:
        from lightgbm import LGBMClassifier, LGBMRegressor

        kind = LGBMClassifier if binary else LGBMRegressor
        self._model = kind(n_estimators=N_TREES, n_jobs=threads, verbose=-1)

    def get_params(self) -> dict[str, Any]:
        """The parameters of the model inside."""
        return self._model.get_params()

    def fit(self, X: pd.DataFrame, y: NDArray[Any]) -> LightGBM:
        """Learn the levels, then the trees."""
        text = X.select_dtypes("object").columns
        self._levels = {name: pd.CategoricalDtype(sorted(X[name].dropna().unique())) for name in text}
        self._model.fit(self._read(X), y)
        return self

    def predict(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """Numbers."""
        return self._model.predict(self._read(X))

    def predict_proba(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """Probabilities."""
        return self._model.predict_proba(self._read(X))

    def _read(self, X: pd.DataFrame) -> pd.DataFrame:
        """Text as categories, and names without the characters LightGBM refuses."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pandas: levels that are new become missing
            frame = X.assign(**{name: X[name].astype(levels) for name, levels in self._levels.items()})
        return frame.set_axis([f"x{i}" for i in range(X.shape[1])], axis=1)


def ours(*, cv: bool = False, **fixed: Any) -> Make:
    """Return what makes one of our estimators; `fixed` is written out, all else is left to its defaults."""

    def make(binary: bool, options: Mapping[str, Any], threads: int) -> Any:  # noqa: FBT001
        import sparsegam

        name = f"SparseGAM{'Classifier' if binary else 'Regressor'}{'CV' if cv else ''}"
        return getattr(sparsegam, name)(n_jobs=threads, **fixed, **options)

    return make


def ebm(**fixed: Any) -> Make:
    """Return what makes one of interpret's boosted additive models."""

    def make(binary: bool, options: Mapping[str, Any], threads: int) -> Any:  # noqa: FBT001
        from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

        kind = ExplainableBoostingClassifier if binary else ExplainableBoostingRegressor
        return kind(n_jobs=threads, **fixed)

    return make


def linear(binary: bool, options: Mapping[str, Any], threads: int) -> Any:  # noqa: FBT001
    """One-hot logistic regression with C = 1, or ridge regression that chooses its own; numbers imputed and scaled."""
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
    """Two hundred trees, all else left to LightGBM's defaults."""
    return LightGBM(binary=binary, threads=threads)


CONTENDERS = {
    contender.name: contender
    for contender in (
        Contender(BASELINE, "interpret-core", ebm(interactions=0)),
        Contender(CV, "sparsegam", ours(cv=True, max_terms=MAX_TERMS)),
        Contender(CV_SHAPES, "sparsegam", ours(cv=True, max_terms=MAX_TERMS, shapes=["steps", "ramps", "both"])),
        Contender(f"{CV_SHAPES}-25", "sparsegam", ours(cv=True, max_terms=25, shapes=["steps", "ramps", "both"])),
        Contender(DEFAULT, "sparsegam", ours()),
        Contender(FORMER, "sparsegam", ours(**FORMER_OPTIONS)),
        Contender("lightgbm", "lightgbm", lightgbm),
        Contender("linear", "scikit-learn", linear),
        Contender("ebm-interactions", "interpret-core", ebm()),
    )
}
