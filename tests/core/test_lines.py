"""Losses along one column: `LocalRows.line` and `LocalRows.slopes`, and the thresholding step of the paper."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
from _helpers.problems import random_problem
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from sparsegam import _core

MAX_CURVATURE = {"logistic": 0.25, "squared": 1.0}
ROUNDING = 1e-10  # relative rounding error of the loss along a line


@dataclass(frozen=True)
class Line:
    """The loss of a random problem along one centred column from a random point, plus a ridge m w^2."""

    seed: int
    loss: str
    lambda2: float = 0.0

    @cached_property
    def problem(self):
        return random_problem(self.seed, self.loss, n=80)

    @cached_property
    def column(self):
        return int(np.random.default_rng(self.seed + 1).choice(self._varying_columns))

    @cached_property
    def _varying_columns(self):
        X = self.problem.X
        return [c for c in self.problem.candidates if 0 < X[:, c].sum() < len(X)]

    @cached_property
    def rows_and_start(self):
        rng = np.random.default_rng(self.seed + 2)
        columns = rng.choice([c for c in self._varying_columns if c != self.column], 3, replace=False)
        return self.problem.rows(), _core.Point(rng.normal() / 2, np.sort(columns), rng.normal(size=3))

    @property
    def sq_norm(self):
        return self.rows_and_start[0].columns.centred_sq_norm[self.column]

    @property
    def m(self):
        return self.lambda2 * self.sq_norm

    @property
    def lipschitz(self):
        return MAX_CURVATURE[self.loss] * self.sq_norm + 2 * self.m

    def at(self, w):
        """Value, slope and curvature at a coefficient."""
        rows, start = self.rows_and_start
        value, slope, curv = rows.line(start, self.column, float(w))
        return value + self.m * w * w, slope + 2 * self.m * w, curv + 2 * self.m

    @cached_property
    def best(self):
        """The best coefficient within [-40, 40]; it diverges if all rows of a group are of one class."""
        return minimize_scalar(lambda w: self.at(w)[0], bounds=(-40, 40), method="bounded", options={"xatol": 1e-10}).x

    @property
    def tolerance(self):
        return ROUNDING * self.at(0)[0]


few = settings(max_examples=60, deadline=None)


def lines(losses=("logistic", "squared"), lambda2=(0.0, 1e-3, 0.1, 10.0)):
    return st.builds(Line, st.integers(0, 10**6), st.sampled_from(losses), st.sampled_from(lambda2))


@few
@given(lines(("logistic", "exponential", "squared"), (0.0,)), st.floats(-2, 2))
def test_line_returns_the_derivatives_of_the_loss(line, w):
    h = 1e-4
    value = [line.at(w + d)[0] for d in (-h, 0, h)]
    assert line.at(w)[1] == pytest.approx((value[2] - value[0]) / (2 * h), rel=1e-4, abs=1e-4)
    assert line.at(w)[2] == pytest.approx((value[2] - 2 * value[1] + value[0]) / h**2, rel=1e-2, abs=1e-3)


@few
@given(lines(("logistic", "exponential", "squared"), (0.0,)))
def test_slopes_equals_line_at_step_zero_for_every_column(line):
    rows, start = line.rows_and_start
    slope, curv = rows.slopes(start)
    expected = np.array([rows.line(start, c, 0.0) for c in range(line.problem.n_columns)])
    np.testing.assert_allclose(slope, expected[:, 1], atol=1e-9)
    np.testing.assert_allclose(curv, expected[:, 2], atol=1e-9)


@few
@given(lines(), st.floats(-3, 3))
def test_thresholding_step_neither_crosses_the_minimum_nor_raises_the_loss(line, w):
    """Theorem 4.1."""
    value, slope, _ = line.at(w)
    after = w - slope / line.lipschitz
    new_value, new_slope, _ = line.at(after)
    assert slope * new_slope >= -line.tolerance
    assert (w - line.best) * (after - line.best) >= -1e-6 * max(1.0, abs(w - line.best))
    assert new_value <= value + line.tolerance
