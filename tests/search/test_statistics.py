"""Row counts and standard errors of the steps of a fit equal those computed in NumPy."""

import warnings

import numpy as np
import pandas as pd
import pytest
from _helpers.functions import function_of

from sparsegam import SparseGAMClassifier, SparseGAMClassifierCV, SparseGAMRegressor, gam_path
from sparsegam._models.terms import Term
from sparsegam._search.statistics import _inverse
from sparsegam.losses import logistic
from sparsegam.path import swap_path


def small_problem(loss, n=300):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 12, (n, 4)).astype(float)
    score = 1.5 * (X[:, 0] <= 4) - 2.0 * (X[:, 1] <= 7) + 1.0 * (X[:, 2] <= 2) + 0.2
    if loss == "squared":
        return X, score + rng.normal(scale=0.5, size=n)
    return X, (rng.random(n) < logistic(score)).astype(int)


def columns_of(model, X):
    """Return the 0/1 columns of the terms, by their words."""
    names = list(model.feature_names)
    alone = [(names.index(t.feature), function_of([Term(t.feature, t.condition, 1.0)])) for t in model.terms]
    return np.column_stack([shape.at(X[:, j]) for j, shape in alone])


def unshrunken(model, X, y, *, lambda2, weight=None):
    """Return coefficients after a Newton step without the ridge, and the inverse Hessian of the loss there.

    For the squared loss it is multiplied by the variance of the residuals.
    """
    weight = np.ones(len(y)) if weight is None else weight
    phi = columns_of(model, X)
    ones = np.column_stack([np.ones(len(y)), phi])

    def inverse_hessian(score):
        curvature = 1.0 if model.loss == "squared" else logistic(score) * (1 - logistic(score))
        return np.linalg.inv(ones.T @ ((weight * curvature)[:, None] * ones))

    coef = np.array([model.intercept, *(term.coef for term in model.terms)])
    mean = weight @ phi / weight.sum()
    centred_sq_norm = weight @ (phi - mean) ** 2
    coef = coef + inverse_hessian(ones @ coef) @ (2 * lambda2 * np.append(0, centred_sq_norm) * coef)
    inverse = inverse_hessian(ones @ coef)
    if model.loss == "squared":
        inverse *= weight @ (y - ones @ coef) ** 2 / (weight.sum() - 1 - phi.shape[1])
    return coef, inverse


@pytest.mark.parametrize("unit", [1.0, 1e6])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_standard_errors_are_those_of_the_inverse_hessian_without_the_ridge(loss, weighted, unit):
    X, y = small_problem(loss)
    weight = np.random.default_rng(0).integers(1, 4, len(y)) * 1.0 if weighted else None
    y = y * unit if loss == "squared" else y
    model = gam_path(X, y, loss=loss, lambda2=0.01, max_terms=5, sample_weight=weight).at(5)
    target = np.where(y == y.max(), 1.0, -1.0) if loss == "logistic" else y
    coef, covariance = unshrunken(model, X, target, lambda2=0.01, weight=weight)
    expected = np.sqrt(np.diagonal(covariance))
    assert model.statistics.intercept_error == pytest.approx(expected[0], rel=1e-6)
    np.testing.assert_allclose([term.standard_error for term in model.terms], expected[1:], rtol=1e-6)
    intervals = np.column_stack([coef - 1.96 * expected, coef + 1.96 * expected])[1:]
    np.testing.assert_allclose([term.interval for term in model.terms], intervals, rtol=1e-5)


def test_interval_is_unknown_if_the_data_do_not_determine_the_coefficients():
    x = np.array([0.0, 1.0])
    model = SparseGAMRegressor(max_terms=1, lambda0=0, min_samples_bin=1).fit(x[:, None], x).model_
    assert [term.interval for term in model.terms] == [None]


def test_rows_and_events_of_terms_are_counted():
    rng = np.random.default_rng(0)
    n = 500
    x = rng.normal(size=n)
    x[:60] = np.nan
    x[60:120] = -9
    region = rng.choice(["a", "b", "c"], n).astype(object)
    score = 2 * (x <= 0) + 3 * np.isnan(x) - 2 * (x == -9) + 1.5 * (region == "b") - 1
    y = np.where(rng.random(n) < logistic(score), "yes", "no")
    frame = pd.DataFrame({"x": x, "region": region})
    model = SparseGAMClassifier(lambda0=2, special_values={"x": [-9]}, min_samples_bin=5).fit(frame, y).model_
    assert {term.condition.kind for term in model.terms} == {"<=", "==", "missing"}
    for term in model.terms:
        column = frame[term.feature]
        if term.condition.kind == "<=":
            holds = (column <= term.condition.value) & (column != -9)
        else:
            holds = column.isna() if term.condition.kind == "missing" else column == term.condition.value
        assert (term.n_rows, term.n_events) == (holds.sum(), (holds & (y == "yes")).sum())
        assert term.statistics.n_others == n - holds.sum()
    assert model.statistics.n_events == (y == "yes").sum()


def test_rows_of_weight_zero_are_not_counted():
    X, y = small_problem("logistic")
    weight = np.repeat([1.0, 0.0], [len(y) - 20, 20])
    some = gam_path(X, y, max_terms=3, sample_weight=weight).at(3)
    fewer = gam_path(X[:-20], y[:-20], max_terms=3).at(3)
    assert some.terms == fewer.terms
    assert [term.statistics for term in some.terms] == [term.statistics for term in fewer.terms]


def test_all_estimators_have_term_statistics():
    X, y = small_problem("logistic")
    plain = SparseGAMClassifier(lambda0=3).fit(X, y)
    chosen = SparseGAMClassifierCV(max_terms=4, cv=3).fit(X, y)
    swapped = SparseGAMClassifier(lambda0=3, search="swap").fit(X, y)
    for gam in (plain, chosen, swapped):
        assert all(term.standard_error > 0 for term in gam.terms_)
        assert gam.terms_ == gam.model_.terms
    grid = swap_path(X, y, lambda0=[3.0], lambda2=[0.001, 1.0])
    errors = [model.terms[0].standard_error for model in grid.models]
    assert errors[1] < errors[0]


def test_undetermined_coefficients_have_no_standard_error():
    model = SparseGAMRegressor(lambda0=1e-9, lambda2=0.0).fit([[1.0], [2.0], [3.0]], [1.0, 5.0, 2.0]).model_
    assert model.n_terms == 2
    assert model.statistics.covariance is None
    assert [term.standard_error for term in model.terms] == [None, None]
    assert model.terms[0].n_rows == 1


def spiked(n=400, few=4):
    rng = np.random.default_rng(0)
    x = np.where(np.arange(n) < few, 1.0, 0.0)
    return pd.DataFrame({"spike": x, "noise": rng.normal(size=n)}), 5 * x + rng.normal(0, 0.1, n)


def test_steps_on_few_rows_raise_a_warning_with_column_count_and_remedy():
    X, y = spiked(few=7)
    with pytest.warns(
        UserWarning, match=r"1 step .* fewer than 10 rows: spike <= 0 \(false for 7 rows\).*min_samples_bin"
    ) as told:
        SparseGAMRegressor(max_terms=1).fit(X, y)
    assert [one.filename for one in told] == [__file__]
    with pytest.warns(UserWarning, match="fewer than 10 rows: spike <= 0"):
        SparseGAMClassifier(max_terms=1).fit(X, y > 2)


@pytest.mark.parametrize(
    ("options", "few"), [({}, 12), ({"min_samples_bin": 2}, 4), ({"min_samples_bin": 10}, 4)], ids=str
)
def test_steps_on_enough_rows_raise_no_warning(options, few):
    X, y = spiked(few=few)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SparseGAMRegressor(max_terms=1, **options).fit(X, y)


def test_small_tables_raise_no_warning_of_few_rows():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SparseGAMRegressor(lambda0=1.0).fit(*spiked(n=60, few=4))


def test_tiny_curvatures_raise_no_warning():
    """The diagonal is scaled by 1e160, and squares of such scales overflow."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(_inverse(np.diag([1e-320, 4.0]))[1, 1], 0.25)
