"""All estimators learn the names of the columns of a frame and reject frames with other columns."""

import numpy as np
import pytest

from sparsegam import (
    SparseGAMClassifier,
    SparseGAMClassifierCV,
    SparseGAMRegressor,
    SparseGAMRegressorCV,
    SparseLinearClassifier,
    SparseLinearClassifierCV,
    SparseLinearRegressor,
    SparseLinearRegressorCV,
    ThresholdBinner,
)

RNG = np.random.default_rng(0)
COLUMNS = {name: RNG.normal(size=120) for name in ("u", "v", "w")}
RESPONSE = 2 * COLUMNS["u"] - COLUMNS["v"]
TARGETS = {
    "regression": RESPONSE,
    "two classes": np.where(RESPONSE > 0, "b", "a"),
    "three classes": np.array(["a", "b", "c"])[np.digitize(RESPONSE, [-1.0, 1.0])],
}
CV = {"max_terms": 2, "cv": 2, "n_repeats": 1}
ESTIMATORS = [
    *((SparseGAMRegressor, {}, "regression"), (SparseLinearRegressor, {}, "regression")),
    *((SparseGAMRegressorCV, CV, "regression"), (SparseLinearRegressorCV, CV, "regression")),
    *(
        (kind, {}, y)
        for kind in (SparseGAMClassifier, SparseLinearClassifier)
        for y in ("two classes", "three classes")
    ),
    *((kind, CV, "two classes") for kind in (SparseGAMClassifierCV, SparseLinearClassifierCV)),
    (ThresholdBinner, {}, "regression"),
]
METHODS = ("predict", "decision_function", "predict_proba", "score", "transform")
CHANGES = {
    "reordered": ("v", "u", "w"),
    "renamed": ("u", "v", "z"),
    "missing": ("u", "v"),
    "extra": ("u", "v", "w", "z"),
}


def frame(package, names=("u", "v", "w")):
    columns = {name: COLUMNS.get(name, COLUMNS["w"]) for name in names}
    module = pytest.importorskip("pyarrow" if package == "pyarrow" else package.removeprefix("narwhals "))
    made = module.table(columns) if package == "pyarrow" else module.DataFrame(columns)
    return pytest.importorskip("narwhals").from_native(made) if package.startswith("narwhals") else made


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow", "narwhals polars"])
@pytest.mark.parametrize(
    ("kind", "options", "target"), ESTIMATORS, ids=[f"{kind.__name__}-{target}" for kind, _, target in ESTIMATORS]
)
def test_frames_with_other_columns_are_rejected(kind, options, target, package):
    y = TARGETS[target]
    model = kind(**options).fit(frame(package), y)
    assert model.feature_names_in_.tolist() == ["u", "v", "w"]
    assert model.n_features_in_ == 3
    methods = [name for name in METHODS if hasattr(model, name)]
    assert methods
    for name in methods:
        arguments = (y,) if name == "score" else ()
        getattr(model, name)(frame(package), *arguments)
        for names in CHANGES.values():
            with pytest.raises(ValueError, match="feature names should match"):
                getattr(model, name)(frame(package, names), *arguments)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("kind", "options", "target"), ESTIMATORS, ids=[f"{kind.__name__}-{target}" for kind, _, target in ESTIMATORS]
)
def test_refit_on_an_array_forgets_the_names(kind, options, target):
    array = np.column_stack(list(COLUMNS.values()))
    model = kind(**options).fit(frame("pandas"), TARGETS[target]).fit(array, TARGETS[target])
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 3
