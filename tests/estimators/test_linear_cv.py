"""Cross-validated linear estimators: scikit-learn's checks, recovery, dense and sparse matrices."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsegam import SparseLinearClassifierCV, SparseLinearRegressorCV


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:The least populated class in y has only:UserWarning")
@pytest.mark.filterwarnings("ignore:class .* has .* fewer than the 5 folds:UserWarning")
@parametrize_with_checks([SparseLinearClassifierCV(), SparseLinearRegressorCV()])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def matrix():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 30))
    return X, 2 * X[:, 3] - 1.5 * X[:, 7] + X[:, 11], rng


def test_regression_finds_the_true_columns(matrix):
    X, f, rng = matrix
    model = SparseLinearRegressorCV(max_terms=10, n_jobs=2).fit(X, f + rng.normal(size=300))
    assert np.flatnonzero(model.coef_).tolist() == [3, 7, 11]
    assert model.best_n_terms_ == 3
    assert len(model.path_) == 11


def test_sparse_and_dense_matrices_agree(matrix):
    X, f, rng = matrix
    X = np.where(rng.random(X.shape) < 0.7, 0.0, X)
    y = f + rng.normal(size=300) > 0
    dense = SparseLinearClassifierCV(max_terms=6).fit(X, y)
    for make in (sp.csc_array, sp.csr_array):
        found = SparseLinearClassifierCV(max_terms=6).fit(make(X), y)
        np.testing.assert_allclose(
            found.cv_results_["mean_test_score"], dense.cv_results_["mean_test_score"], rtol=1e-6
        )
        np.testing.assert_allclose(found.coef_, dense.coef_, rtol=1e-6, atol=1e-9)
    assert dense.coef_.shape == (1, 30)
