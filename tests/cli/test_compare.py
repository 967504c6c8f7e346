"""compare: results, measures and errors."""

import numpy as np
import pandas as pd
import pytest

import sparsegam


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=240), "b": rng.integers(0, 9, 240), "c": rng.choice(["x", "y"], 240)})
    return X, X["a"].to_numpy() + (X["b"] > 4) + rng.normal(0, 0.5, 240)


def test_compare_classifiers_and_regressors(rows):
    X, score = rows
    found = sparsegam.compare(X, np.where(score > 0.5, "yes", "no"), folds=2, max_terms=4)
    assert found.measure == "AUC"
    assert [s.name for s in found.results][:3] == ["sparsegam", "linear (all features)", "gradient boosting"]
    assert all(s.scores.size == 2 for s in found.results)
    assert found.results[0].scores.mean() > 0.7
    assert "AUC (2 folds)" in str(found)
    assert list(found.to_frame().columns) == ["model", "AUC", "std", "seconds", "size"]
    assert "<table" in found._repr_html_()
    assert "\n" not in repr(found)
    assert sparsegam.compare(X, score, folds=2, max_terms=4).measure == "R²"


def test_compare_with_a_positive_class(rows):
    X, score = rows
    labels = np.select([score > 1, score > 0], ["high", "middle"], "low")
    assert sparsegam.compare(X, labels, positive="high", folds=2, max_terms=3).measure == "AUC"
    with pytest.raises(ValueError, match="positive="):
        sparsegam.compare(X, labels)
    with pytest.raises(ValueError, match="is not a label of y"):
        sparsegam.compare(X, labels, positive="highest")
    with pytest.raises(ValueError, match="folds"):
        sparsegam.compare(X, score, folds=1)
