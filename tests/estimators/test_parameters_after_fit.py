"""Parameters that are changed after a fit have no effect before the next fit."""

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
X = RNG.normal(size=(150, 3))
RESPONSE = 2 * X[:, 0] - X[:, 1]
TWO = np.where(RESPONSE > 0, "b", "a")
THREE = np.array(["a", "b", "c"])[np.digitize(RESPONSE, [-1.0, 1.0])]
UNSEEN = np.vstack([X, [[np.nan] * 3, [1e9, -1e9, 0.5]]])
CV = {"max_terms": 2, "cv": 2, "n_repeats": 1}
ESTIMATORS = [
    (SparseGAMRegressor, {}, RESPONSE),
    (SparseGAMRegressorCV, CV, RESPONSE),
    (SparseGAMClassifier, {}, TWO),
    (SparseGAMClassifier, {"positive": "a"}, TWO),
    (SparseGAMClassifier, {"positive": "a"}, THREE),
    (SparseGAMClassifier, {}, THREE),
    (SparseGAMClassifierCV, CV | {"positive": "a"}, TWO),
    (SparseLinearRegressor, {}, RESPONSE),
    (SparseLinearRegressorCV, CV, RESPONSE),
    (SparseLinearClassifier, {"positive": "a"}, TWO),
    (SparseLinearClassifier, {}, THREE),
    (SparseLinearClassifierCV, CV | {"positive": "a"}, TWO),
    (ThresholdBinner, {}, RESPONSE),
]
METHODS = ("predict", "decision_function", "predict_proba", "transform", "get_feature_names_out")
# Values of other types, which every parameter rejects in a fit, and valid values that a fit would use.
VALUES = [object(), -1, {"loss": "exponential", "positive": "b", "max_bins": 1, "missing": "last"}]


def outputs(model, y):
    rows = X if "Linear" in type(model).__name__ else UNSEEN
    found = {}
    for name in METHODS:
        if hasattr(model, name):
            method = getattr(model, name)
            found[name] = method() if name == "get_feature_names_out" else method(rows)
    if hasattr(model, "score"):
        found["score"] = model.score(X, y)
    for name in dir(model):
        if name.endswith("_") and not name.startswith("_"):
            found[name] = getattr(model, name)
    return found


def assert_same(one, other, name):
    if isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, other, err_msg=name)
    elif isinstance(one, dict):
        assert one.keys() == other.keys(), name
        for key, value in one.items():
            assert_same(value, other[key], f"{name}[{key!r}]")
    else:
        assert one == other or one is other, name


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("value", VALUES, ids=["object", "negative", "valid"])
@pytest.mark.parametrize(
    ("kind", "options", "y"), ESTIMATORS, ids=[f"{i}-{kind.__name__}" for i, (kind, _, _) in enumerate(ESTIMATORS)]
)
def test_outputs_do_not_depend_on_parameters_changed_after_the_fit(kind, options, y, value):
    model = kind(**options).fit(X, y)
    before = outputs(model, y)
    changed = dict.fromkeys(model.get_params(), value) if not isinstance(value, dict) else value
    model.set_params(**{name: new for name, new in changed.items() if name in model.get_params()})
    after = outputs(model, y)
    assert before.keys() == after.keys()
    for name, result in before.items():
        assert_same(result, after[name], name)
