"""The paper's theorems about one coefficient, each as a property of random lines: steps, cuts, the closed form."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
from _helpers.problems import random_problem
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar

from sparsegam import _core

STEEPEST = {"logistic": 0.25, "squared": 1.0}
RELATIVE = 1e-10  # of the values of a line: what rounding may take


@dataclass(frozen=True)
class Line:
    """The loss of a random problem along one centred column from a random point, with a ridge m w^2."""

    seed: int
    loss: str
    lambda2: float = 0.0

    @cached_property
    def problem(self):
        return random_problem(self.seed, self.loss, n=80)

    @cached_property
    def column(self):
        return int(np.random.default_rng(self.seed + 1).choice(self._others))

    @cached_property
    def _others(self):
        X = self.problem.X
        return [c for c in self.problem.candidates if 0 < X[:, c].sum() < len(X)]

    @cached_property
    def rows_and_start(self):
        rng = np.random.default_rng(self.seed + 2)
        columns = rng.choice([c for c in self._others if c != self.column], 3, replace=False)
        return self.problem.rows(), _core.Point(rng.normal() / 2, np.sort(columns), rng.normal(size=3))

    @property
    def spread(self):
        return self.rows_and_start[0].columns.centred_sq_norm

    @property
    def m(self):
        return self.lambda2 * self.spread[self.column]

    @property
    def lipschitz(self):
        return STEEPEST[self.loss] * self.spread[self.column] + 2 * self.m

    def at(self, w):
        """Value, slope and curvature at a coefficient."""
        rows, start = self.rows_and_start
        value, slope, curv = rows.line(start, self.column, float(w))
        return value + self.m * w * w, slope + 2 * self.m * w, curv + 2 * self.m

    def point(self, w):
        value, slope, _ = self.at(w)
        return _core.LinePoint(float(w), value, slope)

    @cached_property
    def best(self):
        """The best coefficient and its value; a group of one class only pushes it outwards without end."""
        found = minimize_scalar(lambda w: self.at(w)[0], bounds=(-40, 40), method="bounded", options={"xatol": 1e-10})
        return found.x, min(found.fun, self.at(40)[0], self.at(-40)[0])

    @property
    def slack(self):
        return RELATIVE * self.at(0)[0]

    def sides(self, rng):
        """Two coefficients on both sides of the best one."""
        w, _ = self.best
        return w - rng.exponential(), w + rng.exponential()


seeds = st.integers(0, 10**6)
few = settings(max_examples=60, deadline=None)


def lines(losses=("logistic", "squared"), lambda2=(0.0, 1e-3, 0.1, 10.0)):
    return st.builds(Line, seeds, st.sampled_from(losses), st.sampled_from(lambda2))


class TestRowsLine:
    """What the searches ask of the rows along a column."""

    @few
    @given(lines(("logistic", "exponential", "squared"), (0.0,)), st.floats(-2, 2))
    def test_slope_and_curvature_are_the_derivatives(self, line, w):
        h = 1e-4
        value = [line.at(w + d)[0] for d in (-h, 0, h)]
        assert line.at(w)[1] == pytest.approx((value[2] - value[0]) / (2 * h), rel=1e-4, abs=1e-4)
        assert line.at(w)[2] == pytest.approx((value[2] - 2 * value[1] + value[0]) / h**2, rel=1e-2, abs=1e-3)

    @few
    @given(lines(("logistic", "exponential", "squared"), (0.0,)))
    def test_slopes_are_those_at_the_start_of_each_line(self, line):
        rows, start = line.rows_and_start
        slope, curv = rows.slopes(start)
        ours = np.array([rows.line(start, c, 0.0) for c in range(line.problem.n_columns)])
        np.testing.assert_allclose(slope, ours[:, 1], atol=1e-9)
        np.testing.assert_allclose(curv, ours[:, 2], atol=1e-9)


class TestThresholdingStep:
    """Theorem 4.1."""

    @few
    @given(lines(), st.floats(-3, 3))
    def test_never_crosses_the_best_coefficient_nor_raises_the_loss(self, line, w):
        value, slope, _ = line.at(w)
        after = w - slope / line.lipschitz
        new_value, new_slope, _ = line.at(after)
        best = line.best[0]
        assert slope * new_slope >= -line.slack
        assert (w - best) * (after - best) >= -1e-6 * max(1.0, abs(w - best))
        assert new_value <= value + line.slack


class TestLinearCut:
    """Theorem 4.2."""

    @few
    @given(lines(), seeds)
    def test_is_a_lower_bound(self, line, seed):
        a, b = line.sides(np.random.default_rng(seed))
        assert _core.linear_cut(line.point(a), line.point(b)) <= line.best[1] + line.slack

    def test_is_where_the_tangents_meet(self):
        a, b = _core.LinePoint(-1.0, 1.0, -2.0), _core.LinePoint(1.0, 1.0, 2.0)  # x^2
        assert _core.linear_cut(a, b) == pytest.approx(-1.0)


class TestQuadraticCut:
    """Theorem 4.3."""

    @few
    @given(lines(lambda2=(1e-5, 1e-3, 0.1, 10.0)), st.floats(-3, 3), seeds)
    def test_both_are_lower_bounds(self, line, w, seed):
        a, b = line.sides(np.random.default_rng(seed))
        assert _core.quadratic_cut_one(line.point(w), line.m) <= line.best[1] + line.slack
        assert _core.quadratic_cut_two(line.point(a), line.point(b), line.m) <= line.best[1] + line.slack

    @few
    @given(lines(lambda2=(1e-5, 1e-3, 0.1, 10.0)), seeds)
    def test_is_never_below_the_linear_one(self, line, seed):
        a, b = (line.point(w) for w in line.sides(np.random.default_rng(seed)))
        assert _core.quadratic_cut_two(a, b, line.m) >= _core.linear_cut(a, b) - line.slack

    def test_a_vertex_before_the_crossing_counts(self):
        """f = x^2 + |x - 1|, slightly rounded at 1: the parabolas cross at 1 with value 1, but f(1/2) = 3/4."""
        a, b = _core.LinePoint(0.0, 1.0, -1.0), _core.LinePoint(2.0, 5.0, 5.0)
        assert _core.quadratic_cut_two(a, b, 1.0) == pytest.approx(0.75)
        assert _core.quadratic_cut_two(b, a, 1.0) == pytest.approx(0.75)

    def test_is_the_value_at_the_crossing_else(self):
        """f = x^2 + 10 |x - 1|, slightly rounded at 1, where it is least."""
        a, b = _core.LinePoint(0.0, 10.0, -10.0), _core.LinePoint(2.0, 14.0, 14.0)
        assert _core.quadratic_cut_two(a, b, 1.0) == pytest.approx(1.0)


class TestSelfConcordantCut:
    """The bound from |f'''| <= r f''."""

    @few
    @given(lines(("logistic", "exponential", "squared"), (0.0,)), st.floats(-3, 3))
    def test_is_a_lower_bound(self, line, w):
        x = line.problem.X[:, line.column]
        mean = line.problem.weight @ x / line.problem.weight.sum()
        r = 0.0 if line.loss == "squared" else max(mean, 1 - mean)
        bound = _core.concordant_cut(line.point(w), line.at(w)[2], r)
        assert bound <= line.best[1] + line.slack

    @few
    @given(lines(("squared",), (0.0,)), st.floats(-3, 3))
    def test_is_exact_for_the_squared_loss(self, line, w):
        assert _core.concordant_cut(line.point(w), line.at(w)[2], 0.0) == pytest.approx(line.best[1])

    def test_there_is_none_where_the_slope_is_too_steep(self):
        assert _core.concordant_cut(_core.LinePoint(0.0, 1.0, 2.0), 1.0, 1.0) == -np.inf


def closed_form(X_column, y, weight, scores):
    """Theorem 5.1 for a column read as -1 and 1: loss without it, share of it where they disagree, best coefficient."""
    z = y * (2 * X_column - 1)
    c = weight * np.exp(-y * scores)
    d = c[z < 0].sum() / c.sum()
    return c.sum(), d, 0.5 * np.log((1 - d) / d)


def core_step(x, y, weight, scores):
    """What the core makes of the sums over the two groups of rows."""
    c = weight * np.exp(-y * scores)
    sums = [(float(-(y * c)[rows].sum()), float(c[rows].sum())) for rows in (x == 1, x == 0)]
    return _core.closed_step(*sums[0], *sums[1])


def random_exponential(seed):
    """A 0/1 column that both classes are on both sides of, labels, weights, scores."""
    rng = np.random.default_rng(seed)
    x = np.concatenate([[0, 0, 1, 1], rng.random(60) < rng.uniform(0.1, 0.9)]).astype(float)
    y = np.concatenate([[-1, 1, -1, 1], np.where(rng.random(60) < rng.uniform(0.2, 0.8), 1, -1)])
    return x, y, rng.uniform(0.5, 2.0, 64), rng.normal(size=64)


class TestExponentialLoss:
    """Theorem 5.1."""

    @few
    @given(seeds)
    def test_the_closed_form_is_the_minimum(self, seed):
        x, y, weight, scores = random_exponential(seed)
        H, d, w = closed_form(x, y, weight, scores)
        found = minimize_scalar(lambda w: weight @ np.exp(-y * (scores + w * (2 * x - 1))), bracket=(-1, 1), tol=1e-12)
        assert w == pytest.approx(found.x, abs=1e-5)
        assert 2 * H * np.sqrt(d * (1 - d)) == pytest.approx(found.fun, rel=1e-10)

    @few
    @given(seeds, st.floats(0.01, 60.0))
    def test_the_interval_decides_as_the_objectives_do(self, seed, lambda0):
        H, d, _ = closed_form(*random_exponential(seed))
        lambda0 = min(lambda0, H)  # a dearer term never pays: the interval is then all of [0, 1]
        half = np.sqrt(lambda0 * (2 * H - lambda0)) / (2 * H)
        without, with_ = H, 2 * H * np.sqrt(d * (1 - d)) + lambda0
        if abs(without - with_) > 1e-9 * H:
            assert (abs(d - 0.5) <= half) == (without < with_)

    @few
    @given(seeds)
    def test_the_core_steps_to_the_minimum_with_the_intercept_free(self, seed):
        x, y, weight, scores = random_exponential(seed)
        coef, shift, gain, worth = core_step(x, y, weight, scores)

        def loss(theta):
            return weight @ np.exp(-y * (scores + theta[0] * x + theta[1]))

        found = minimize(loss, [0.0, 0.0], tol=1e-12)
        without = minimize_scalar(lambda b: loss([0.0, b]), bracket=(-1, 1), tol=1e-12)
        assert (coef, shift) == pytest.approx(tuple(found.x), abs=1e-4)
        assert loss([0.0, 0.0]) - gain == pytest.approx(found.fun, rel=1e-9)
        assert worth == pytest.approx(without.fun - found.fun, abs=1e-7 * without.fun)

    @few
    @given(seeds)
    def test_the_core_takes_the_theorem_s_step_where_both_groups_are_mirrored(self, seed):
        """A group that is the other with its labels turned shifts the other way: the intercept stays for -1 and 1."""
        x, y, weight, scores = random_exponential(seed)
        x, y = np.concatenate([x, 1 - x]), np.concatenate([y, -y])
        weight, scores = np.tile(weight, 2), np.concatenate([scores, -scores])
        H, d, w = closed_form(x, y, weight, scores)
        coef, shift, gain, _ = core_step(x, y, weight, scores)
        assert (coef, shift) == pytest.approx((2 * w, -w), abs=1e-9)
        assert H - gain == pytest.approx(2 * H * np.sqrt(d * (1 - d)), rel=1e-10)

    def test_a_pure_group_does_not_run_off(self):
        coef, shift, gain, _ = _core.closed_step(-5.0, 5.0, 0.0, 10.0)
        assert coef == pytest.approx(0.5 * np.log(1e9), rel=1e-3)
        assert (shift, gain) == pytest.approx((0.0, 5.0))
