"""The paper's swap search: optimality, cuts, order, and its Python interface."""

import numpy as np
import pytest
from _helpers.brute_force import minimise
from _helpers.problems import labels, random_problem
from sklearn.exceptions import ConvergenceWarning

from sparsegam import SparseGAMClassifier, _core
from sparsegam._search.swap import SwapSearch
from sparsegam.datasets import make_correlated_classification, make_correlated_regression, make_credit
from sparsegam.path import linear_swap_path, swap_path

CUTS = ("none", "linear", "quadratic", "selfconcordant")
SEEDS = range(8)
MANY_BINS = ((12, 12), (9, 7), (15, 15), (6, 0), (10, 10))
# Swaps whose gain relative to the loss is below this are ignored.
TIE = 1e-6


def search(problem, lambda0=1.0, lambda2=1e-3, **options):
    """Return the last point of the search and its counts; all columns are tried by default."""
    settings = {"max_terms": 50, "cuts": "none", "dynamic": True, "candidates": 0, "line_steps": 10, **options}
    ridge = 0.0 if problem.loss == "exponential" else lambda2
    penalty = settings.pop("penalty", None) or problem.penalty(ridge)
    prices = np.atleast_1d(np.asarray(lambda0, dtype=float))
    points, finished, counts = _core.swap_path(problem.rows(), penalty, lambda0=prices, **settings)
    assert finished
    return points[-1], counts


def matrix_penalty(p, lambda2=0.0, **changes):
    free = {"low": np.full(p, -np.inf), "high": np.full(p, np.inf), "group": np.arange(p)}
    always = np.zeros(0, dtype=np.int64)
    return _core.Penalty(
        lambda2=lambda2, cost=np.ones(p), allowed=np.ones(p, dtype=bool), always=always, **{**free, **changes}
    )


def null_loss(problem):
    return problem.frontier(max_terms=0).points[0].loss


def swapped_values(problem, point, lambda2):
    """Value of the best swap of each term: it leaves along its centred column, another enters along its own.

    For the exponential loss the intercept moves along with the column that enters.
    """
    X, ridge = problem.X, problem.ridge(lambda2)
    centred = X - problem.weight @ X / problem.weight.sum()
    columns = np.setdiff1d(problem.candidates, point.columns)
    columns = columns[problem.rows().columns.centred_sq_norm[columns] > 0]
    A = centred[:, columns].T[:, :, None]
    penalty = ridge[columns][:, None]
    if problem.loss == "exponential":
        A, penalty = np.concatenate([A, np.ones_like(A)], axis=2), np.zeros((len(columns), 2))
    scores = point.intercept + X[:, point.columns] @ point.coef
    for j, coef in zip(point.columns, point.coef, strict=True):
        offset = np.tile(scores - coef * centred[:, j], (len(columns), 1))
        kept = ridge[point.columns] @ point.coef**2 - ridge[j] * coef**2
        yield minimise(problem, A, offset, penalty).min() + kept


def least_of_groups(problem, scores, *groups):
    """Theorem 5.1 for groups of rows that shift by themselves: 2 W sqrt(d (1 - d)) of each."""
    c = problem.weight * np.exp(-problem.y * scores)
    return sum(2 * np.sqrt(c[rows & (problem.y > 0)].sum() * c[rows & (problem.y < 0)].sum()) for rows in groups)


@pytest.fixture(scope="module")
def credit():
    return make_credit(1500, seed=1)


class TestSearch:
    @pytest.mark.parametrize("seed", SEEDS)
    @pytest.mark.parametrize("loss", ["logistic", "squared", "exponential"])
    def test_no_swap_improves_the_result(self, loss, seed):
        problem = random_problem(seed, loss, n=120)
        lambda2 = 0.0 if loss == "exponential" else 1e-3
        point, _ = search(problem, lambda2=lambda2, line_steps=500)
        assert len(point.columns) > 0
        value = point.loss + point.ridge
        assert min(swapped_values(problem, point, lambda2)) >= value - TIE * null_loss(problem)

    @pytest.mark.parametrize("seed", [4, 5, 6])
    def test_no_swap_improves_a_result_with_swaps(self, seed):
        """The exponential loss multiplies weights on the way from one term to the next: errors there would show."""
        problem = random_problem(seed, "exponential", n=400, kinds=MANY_BINS)
        point, counts = search(problem, lambda0=3.0)
        assert 0 < counts["swaps"] < counts["terms_tried"] - len(point.columns)
        assert min(swapped_values(problem, point, 0.0)) >= point.loss - TIE * null_loss(problem)

    @pytest.mark.parametrize("seed", SEEDS)
    @pytest.mark.parametrize("loss", ["logistic", "squared"])
    @pytest.mark.parametrize("lambda2", [0.0, 1e-3, 0.1])
    def test_cuts_do_not_change_the_result(self, loss, seed, lambda2):
        problem = random_problem(seed, loss, n=120)
        found = [search(problem, lambda2=lambda2, cuts=cuts)[0] for cuts in CUTS]
        for point in found[1:]:
            np.testing.assert_array_equal(point.columns, found[0].columns)
            assert point.loss == pytest.approx(found[0].loss)

    @pytest.mark.parametrize("cuts", CUTS)
    @pytest.mark.parametrize("loss", ["logistic", "squared", "exponential"])
    def test_every_tried_column_is_counted_once(self, loss, cuts):
        problem = random_problem(3, loss, n=120)
        _, counts = search(problem, cuts=cuts, candidates=5)
        cut = counts["cut_linear"] + counts["cut_quadratic"] + counts["cut_selfconcordant"]
        assert counts["columns_tried"] == cut + counts["line_searches"] + counts["closed_lines"]
        assert counts["columns_tried"] <= 5 * counts["terms_tried"]
        if cuts in ("none", "selfconcordant"):  # the others take points of their own
            assert counts["line_points"] <= 10 * counts["line_searches"]
        assert counts["swaps"] <= counts["terms_tried"]

    @pytest.mark.parametrize("cuts", CUTS[1:])
    def test_cuts_are_counted_by_kind(self, cuts):
        _, counts = search(random_problem(3, "logistic", n=120), cuts=cuts)
        kinds = [kind for kind in CUTS[1:] if counts[f"cut_{kind}"]]
        assert kinds == [cuts]

    def test_quadratic_cuts_are_linear_without_ridge(self):
        _, counts = search(random_problem(3, "logistic", n=120), cuts="quadratic", lambda2=0.0)
        assert counts["cut_quadratic"] == 0 < counts["cut_linear"]

    @pytest.mark.parametrize("seed", SEEDS)
    @pytest.mark.parametrize("loss", ["logistic", "squared", "exponential"])
    def test_loss_is_that_of_the_point_and_terms_exceed_their_penalty(self, loss, seed):
        problem = random_problem(seed, loss, n=120)
        point, _ = search(problem, lambda0=1.0, lambda2=0.0)
        assert problem.rows().evaluate([point])[0] == pytest.approx(point.loss)
        assert point.loss + len(point.columns) <= null_loss(problem) * (1 + 1e-9)

    def test_expensive_term_is_excluded(self):
        point, counts = search(random_problem(0, "logistic"), lambda0=1e6)
        assert len(point.columns) == 0
        assert counts["terms_tried"] == 0

    def test_lambda0_is_the_least_gain_of_a_term(self):
        """Surrogate 1-OPT: no term's thresholding step would make it zero."""
        problem = random_problem(5, "logistic", n=120)
        point, _ = search(problem, lambda0=1.0, lambda2=1e-3)
        steepness = (0.25 + 2e-3) * problem.rows().columns.centred_sq_norm[point.columns]
        assert (0.5 * steepness * point.coef**2 >= 1.0).all()

    def test_exponential_loss_uses_the_closed_form(self):
        problem = random_problem(5, "exponential", n=200)
        point, _ = search(problem, lambda0=1.0)
        assert len(point.columns) > 0
        scores, everyone = point.intercept + problem.X[:, point.columns] @ point.coef, np.ones(200, dtype=bool)
        for j, coef in zip(point.columns, point.coef, strict=True):
            holds = problem.X[:, j] == 1
            dropped = scores - coef * holds
            gain = least_of_groups(problem, dropped, everyone) - least_of_groups(problem, dropped, holds, ~holds)
            assert gain >= 1.0
            assert least_of_groups(problem, dropped, holds, ~holds) == pytest.approx(point.loss, rel=1e-6)

    def test_bounds_limits_and_fixed_columns_hold(self):
        problem = random_problem(1, "logistic", n=150)
        p = problem.n_columns
        always = problem.candidates[:1].astype(np.int64)
        penalty = problem.penalty(1e-3, high=np.zeros(p), always=always, max_groups=2)
        point, _ = search(problem, lambda0=0.2, penalty=penalty)
        group = np.repeat(np.arange(len(problem.codes)), problem.n_bins)
        assert (point.coef <= 0).all()
        assert always[0] in point.columns
        assert len(set(group[point.columns])) <= 2

    @pytest.mark.parametrize("changes", [{"lambda1": 0.1}, {"free_intercept": False}, {"lambda2": 0.1}])
    def test_closed_form_rejects_other_penalties(self, changes):
        problem = random_problem(1, "exponential")
        with pytest.raises(ValueError, match="requires 0/1 columns"):
            search(problem, penalty=problem.penalty(**changes))

    @pytest.mark.parametrize("loss", ["logistic", "squared", "squared_hinge"])
    @pytest.mark.parametrize("cuts", CUTS)
    def test_no_intercept_equals_centred_columns(self, loss, cuts):
        """Return each row unchanged and with all signs reversed, so that an intercept cannot help."""
        rng = np.random.default_rng(4)
        half = rng.normal(size=(60, 7))
        target = labels(rng, 2 * half[:, 1] - half[:, 4], loss)
        X, y = np.asfortranarray(np.vstack([half, -half])), np.concatenate([target, -target])
        rows = _core.MatrixRows(_core.Matrix(X), y, np.ones(120), loss=loss, n_threads=1)
        settings = {"lambda0": np.array([4.0, 1.0]), "max_terms": 7, "cuts": cuts, "dynamic": True, "candidates": 0}
        with_it, without = (
            _core.swap_path(rows, matrix_penalty(7, lambda2=1e-3, free_intercept=free), **settings)[0][-1]
            for free in (True, False)
        )
        assert without.intercept == 0.0
        assert set(without.columns) == set(with_it.columns)
        assert without.loss == pytest.approx(with_it.loss, rel=1e-6)

    @pytest.mark.parametrize("seed", SEEDS)
    @pytest.mark.parametrize("max_swaps", [0, -1])
    @pytest.mark.parametrize("loss", ["logistic", "squared", "squared_hinge"])
    def test_result_with_lambda1_is_a_surrogate_optimum(self, loss, max_swaps, seed):
        """No thresholding step, with lambda1's share taken from the slope, drops a term or adds a column."""
        rng = np.random.default_rng(seed)
        X = np.asfortranarray(rng.normal(size=(80, 12)) + 0.5)
        rows = _core.MatrixRows(
            _core.Matrix(X), labels(rng, X[:, 0] - X[:, 3], loss), np.ones(80), loss=loss, n_threads=1
        )
        low, high = np.where(np.arange(12) == 3, -0.2, -np.inf), np.full(12, np.inf)
        penalty = matrix_penalty(12, lambda1=0.3, low=low, high=high)
        points, _, _ = _core.swap_path(
            rows, penalty, lambda0=np.array([1.5]), max_terms=12, cuts="linear", dynamic=True, max_swaps=max_swaps
        )
        point, spread = points[0], rows.columns.centred_sq_norm
        steepness = {"logistic": 0.25, "squared": 1.0, "squared_hinge": 2.0}[loss] * spread
        share = 0.3 * np.sqrt(spread)
        slope = rows.slopes(point)[0]
        inside = point.coef > low[point.columns]
        np.testing.assert_allclose(
            slope[point.columns][inside], (-np.sign(point.coef) * share[point.columns])[inside], atol=1e-3
        )
        assert (0.5 * steepness[point.columns] * point.coef**2 >= 1.5)[inside].all()
        outside = np.setdiff1d(np.arange(12), [*point.columns, 3])
        left = np.maximum(np.abs(slope[outside]) - share[outside], 0)
        assert (left**2 / (2 * steepness[outside]) <= 1.5 * (1 + 1e-6)).all()

    def test_max_swaps_zero_is_coordinate_descent(self):
        problem = random_problem(2, "logistic", n=120)
        _, counts = search(problem, max_swaps=0)
        assert counts["swaps"] == counts["terms_tried"] == 0
        _, counts = search(problem, max_swaps=1)
        assert counts["terms_tried"] >= 1 >= counts["swaps"]

    def test_search_continues_from_a_start(self):
        problem = random_problem(2, "logistic", n=120)
        best, _ = search(problem, lambda0=0.5)
        again, counts = search(problem, lambda0=0.5, start=best)
        assert again.loss == pytest.approx(best.loss)
        assert counts["swaps"] == 0
        with pytest.raises(ValueError, match="start contains"):
            search(problem, start=_core.Point(0.0, np.array([problem.n_columns - 1]), np.zeros(1)))


class TestOrder:
    def test_dynamic_tries_fewer_terms(self):
        credit = make_credit(3000, seed=3)
        tried = {}
        for order in ("dynamic", "sequential"):
            path = swap_path(credit.data, credit.target, lambda0=[4.0, 3.0, 2.0], order=order)
            tried[order] = path.search_stats["terms_tried"]
        assert tried["dynamic"] < tried["sequential"]


class TestPath:
    def test_models_are_in_the_order_of_lambda0(self, credit):
        path = swap_path(credit.data, credit.target, lambda0=[3.0, 9.0, 5.0], lambda2=[1e-3, 0.1])
        assert len(path) == 6
        np.testing.assert_array_equal(path.lambda0, [3, 9, 5, 3, 9, 5])
        np.testing.assert_array_equal(path.lambda2, [1e-3] * 3 + [0.1] * 3)
        assert path.n_terms[0] >= path.n_terms[2] >= path.n_terms[1]
        np.testing.assert_array_equal(path.n_terms, [model.n_terms for model in path])

    def test_models_reproduce_their_losses(self, credit):
        path = swap_path(credit.data, credit.target, lambda0=[6.0, 3.0], lambda2=0.0, loss="exponential")
        signs = np.where(credit.target == 1, 1, -1)
        for model, loss in zip(path, path.loss, strict=True):
            assert np.exp(-signs * model.decision_function(credit.data)).sum() == pytest.approx(loss)

    def test_criteria_are_accepted_as_lambda0(self, credit):
        path = swap_path(credit.data, credit.target, lambda0="bic")
        assert path.lambda0[0] == pytest.approx(np.log(1500) / 2)

    def test_linear_models_find_the_true_columns(self):
        rows = make_correlated_regression(400, 60, 5, rho=0.5, seed=2)
        path = linear_swap_path(rows.data, rows.target, loss="squared", lambda0=[20.0], lambda2=0.0)
        np.testing.assert_array_equal(path.models[0].columns, rows.truth.support)

    def test_linear_classifiers_find_the_true_columns(self):
        rows = make_correlated_classification(1500, 40, 4, rho=0.3, seed=2)
        path = linear_swap_path(rows.data, rows.target, lambda0=[8.0], lambda2=1e-4, cuts="quadratic")
        np.testing.assert_array_equal(path.models[0].columns, rows.truth.support)

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"cuts": "cubic"}, "cuts must be one of"),
            ({"order": "random"}, "order must be one of"),
            ({"candidates": -1}, "candidates must be an integer >= 0"),
            ({"line_steps": 0}, "line_steps must be an integer >= 1"),
            ({"lambda0": []}, "at least one value"),
            ({"lambda2": -1.0}, "lambda2 must be a finite number >= 0"),
            ({"loss": "exponential"}, "set lambda2=0"),
            ({"loss": "squared", "lambda0": "bic"}, "cannot use lambda0='bic', which depends on the model"),
        ],
    )
    def test_invalid_options_are_rejected(self, options, words):
        with pytest.raises(ValueError, match=words):
            swap_path([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1], **options)

    def test_swap_search_has_default_options(self):
        assert SwapSearch().candidates == 50


def test_estimator_runs_the_swap_search():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 20, size=(400, 3)).astype(float)
    y = rng.random(400) < 1 / (1 + np.exp(1.5 - 3 * (X[:, 0] <= 8)))
    found = {
        search: SparseGAMClassifier(lambda0=3.0, search=search, cuts="linear", order="sequential").fit(X, y)
        for search in ("exchange", "swap")
    }
    assert found["swap"].search_stats_["terms_tried"] > 0
    assert found["exchange"].objective_ <= found["swap"].objective_ + 1e-6
    with pytest.raises(ValueError, match="search must be one of 'exchange', 'swap', got 'anneal'"):
        SparseGAMClassifier(search="anneal").fit(X, y)


COST = {"x0": 4.0}  # terms of x0 cost four times lambda0, those of x1 lambda0


def costly_rows():
    rng = np.random.default_rng(4)
    X = rng.integers(0, 20, size=(600, 2)).astype(float)
    return X, rng.random(600) < 1 / (1 + np.exp(1.5 - 3 * (X[:, 0] <= 8) - 2 * (X[:, 1] <= 5)))


def factors_of(model):
    return sum(COST.get(term.feature, 1.0) for term in model.terms)


def test_estimator_objective_includes_feature_costs():
    gam = SparseGAMClassifier(lambda0=3.0, lambda2=0.0, search="swap", feature_cost=COST).fit(*costly_rows())
    assert factors_of(gam.model_) > gam.n_terms_
    assert gam.objective_ == pytest.approx(gam.loss_ + 3.0 * factors_of(gam.model_))


def test_path_objectives_include_feature_costs():
    path = swap_path(*costly_rows(), lambda0=[6.0, 3.0], lambda2=0.0, feature_cost=COST)
    factors = np.array([factors_of(model) for model in path])
    assert (factors > path.n_terms).all()
    np.testing.assert_allclose(path.objective, path.loss + path.lambda0 * factors)


def test_certify_is_rejected():
    with pytest.raises(ValueError, match="use search='exchange' for a certificate, or certify=False"):
        SparseGAMClassifier(search="swap", certify=True).fit([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])


def test_swap_path_shares_its_time_limit_among_ridges(monkeypatch):
    limits, search = [], _core.swap_path

    def limited(*args, time_limit, **options):
        limits.append(time_limit)
        return search(*args, time_limit=0.0, **options)

    monkeypatch.setattr(_core, "swap_path", limited)
    X = np.random.default_rng(0).normal(size=(200, 3))
    with pytest.warns(ConvergenceWarning, match="stopped by time_limit"):
        path = swap_path(X, X[:, 0] > 0, lambda0=[1.0], lambda2=[0.0, 0.01, 0.1, 1.0], time_limit=100.0)
    assert not path.finished
    # The first of four searches may use a quarter of the time limit. The searches end at once, so the rest remains.
    np.testing.assert_allclose(limits, [25.0, 100 / 3, 50.0, 100.0], atol=10.0)
