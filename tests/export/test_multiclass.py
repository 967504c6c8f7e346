"""Models of more than two classes have no exports as a whole; those of each class against the rest have."""

import pickle

import numpy as np
import pandas as pd
import pytest

from sparsegam import Model, SparseGAMClassifier, export
from sparsegam.deploy import reason_table

METHODS = ("to_json", "to_sql", "to_python", "to_javascript", "to_onnx", "to_pmml", "to_excel", "to_latex")


@pytest.fixture(scope="module", name="classifier")
def fit_classifier():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=150), "z": rng.normal(size=150)})
    return SparseGAMClassifier(max_terms=2).fit(X, np.digitize(X.x, [-0.5, 0.5])), X


@pytest.mark.parametrize("name", [*METHODS, "scorecard", "reason_codes", "counterfactual"])
def test_models_of_three_classes_name_the_remedy_for_methods_they_lack(classifier, name):
    model = classifier[0].model_
    assert not hasattr(model, name)
    with pytest.raises(AttributeError, match=rf"more than two classes has no '{name}'.*model_\.models\[0\]\.{name}"):
        getattr(model, name)
    with pytest.raises(AttributeError, match="object has no attribute 'to_cobol'"):
        _ = model.to_cobol


@pytest.mark.parametrize("name", METHODS[1:])
@pytest.mark.parametrize("fitted", ["estimator", "model"])
def test_exports_refuse_models_of_three_classes(classifier, name, fitted, tmp_path):
    for module in {"to_onnx": ["onnx"], "to_excel": ["openpyxl"]}.get(name, []):
        pytest.importorskip(module)
    model = classifier[0] if fitted == "estimator" else classifier[0].model_
    more = {"to_sql": ["rows"], "to_excel": [tmp_path / "book.xlsx"]}.get(name, [])
    with pytest.raises(TypeError, match=r"a model of 3 classes cannot be exported.*pass one of `model_\.models`"):
        getattr(export, name)(model, *more)


def test_reason_table_refuses_models_of_three_classes(classifier):
    with pytest.raises((TypeError, AttributeError), match=r"a model of (3|more than two) classes"):
        reason_table(classifier[0].model_)


def test_models_of_each_class_against_the_rest_can_be_exported(classifier):
    estimator, X = classifier
    model = pickle.loads(pickle.dumps(estimator.model_))
    scores = model.decision_function(X)
    for k, one in enumerate(model.models):
        np.testing.assert_array_equal(Model.from_json(one.to_json()).decision_function(X), scores[:, k])
        assert "probability" in one.to_sql("rows")
