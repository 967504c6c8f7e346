"""Ramps in the core: their sums from the histograms of the steps, their pairs, and the search over both kinds."""

import numpy as np
import pytest
from reference import best_subsets

from sparsegam import _core

LOSSES = ("logistic", "exponential", "squared")


class Ramped:
    """Two or more features with steps and ramps: codes, the same as plain columns, labels and weights."""

    def __init__(self, seed, kinds=((12, 11, 2), (30, 30, 3), (3, 0, 0)), n=300):
        rng = np.random.default_rng(seed)
        self.codes = [rng.integers(0, n_bins, n).astype(np.uint8) for n_bins, _, _ in kinds]
        self.n_bins, self.n_ordered = (np.array([kind[i] for kind in kinds]) for i in (0, 1))
        self.ramps, columns, self.kinds = [], [], []
        for code, (n_bins, n_ordered, every) in zip(self.codes, kinds, strict=True):
            place = np.sort(rng.random(n_ordered)) - 1
            end = np.append((place[1:] + place[:-1]) / 2, 0.0) if n_ordered else place
            knots = np.arange(1, n_ordered, every) if every else np.zeros(0, dtype=np.int64)
            self.ramps.append((place, end, knots) if every else None)
            columns += [code <= b if b < n_ordered else code == b for b in range(n_bins)]
            rows = np.append(place, np.zeros(n_bins - n_ordered))[code]
            columns += [np.where(code <= b, rows - end[b], 0.0) for b in knots]
            self.kinds += ["step"] * n_bins + ["ramp"] * len(knots)
        self.X = np.column_stack(columns).astype(np.float64)
        self.weight = rng.uniform(0.5, 2, n)
        score = 2 * self.X[:, self.kinds.index("ramp")] + rng.normal(size=n)
        self.sign, self.target = np.where(score > np.median(score), 1.0, -1.0), score

    def rows(self, loss):
        y = self.target if loss == "squared" else self.sign
        design = _core.ThresholdDesign(self.codes, self.n_bins, self.n_ordered, self.ramps)
        return _core.ThresholdRows(design, y, self.weight, loss=loss, n_threads=1)

    def matrix_rows(self, loss):
        y = self.target if loss == "squared" else self.sign
        return _core.MatrixRows(_core.Matrix(np.asfortranarray(self.X)), y, self.weight, loss=loss, n_threads=1)


@pytest.fixture
def ramped():
    return Ramped(0)


def test_mean_and_spread(ramped):
    columns = ramped.rows("logistic").columns
    mean = ramped.weight @ ramped.X / ramped.weight.sum()
    np.testing.assert_allclose(columns.mean, mean, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(columns.spread, ramped.weight @ (ramped.X - mean) ** 2, rtol=1e-10, atol=1e-10)
    assert columns.ramps.tolist() == [j for j, kind in enumerate(ramped.kinds) if kind == "ramp"]


@pytest.mark.parametrize("loss", LOSSES)
def test_questions_are_answered_as_those_of_plain_columns(ramped, loss):
    point = _core.Point(0.1, np.array([3, 14, 20, 40, 55]), np.array([0.5, -2.0, 0.3, 0.2, 1.5]))
    ours, plain = ramped.rows(loss), ramped.matrix_rows(loss)
    np.testing.assert_allclose(ours.evaluate([point]), plain.evaluate([point]), rtol=1e-12)
    for mine, theirs in zip(ours.newton(point, point.columns), plain.newton(point, point.columns), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-10)
    for mine, theirs in zip(ours.slopes(point), plain.slopes(point), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-10)
    every = np.zeros(0, dtype=np.int64)
    for mine, theirs in zip(ours.scan(point, every)[1:], plain.scan(point, every)[1:], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=2e-4, atol=2e-4)  # in floats


def test_nothing_cancels_far_from_the_knot():
    """A column with nearly all rows in the lowest hundredth of its range keeps the digits of its ramps."""
    place = np.append(np.linspace(-1, -0.99, 40), [-0.5, 0.0])
    codes = np.random.default_rng(1).integers(0, 40, 2000).astype(np.uint8)
    codes[:3] = 41
    knots = np.arange(2, 42, 3)
    design = _core.ThresholdDesign([codes], np.array([42]), np.array([42]), [(place, place, knots)])
    rows = _core.ThresholdRows(design, np.ones(2000), np.ones(2000), loss="squared", n_threads=1)
    columns = np.column_stack([np.minimum(place[codes] - place[b], 0.0) for b in knots])
    np.testing.assert_allclose(rows.columns.spread[42:], 2000 * columns.var(axis=0), rtol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(6))
def test_frontier_is_near_the_best_subsets(loss, seed):
    problem = Ramped(seed, kinds=((5, 4, 1), (6, 6, 2)), n=80)
    allowed = np.ones(problem.X.shape[1], dtype=bool)
    allowed[[3, 12]] = False  # the last ordered bin of a feature says nothing
    allowed &= problem.X.std(axis=0) > 0
    found = _core.frontier(problem.rows(loss), _allowing(allowed), max_terms=3).points
    y = problem.target if loss == "squared" else problem.sign
    best = best_subsets(problem.X[:, allowed], y, problem.weight, loss, 0.01, 3)
    for point, (objective, _, _) in zip(found, best, strict=False):
        assert point.loss + point.ridge <= objective * (1 + 0.01) + 1e-9


def _allowing(allowed):
    p = allowed.size
    return _core.Penalty(
        lambda2=0.01,
        cost=np.ones(p),
        low=np.full(p, -np.inf),
        high=np.full(p, np.inf),
        allowed=allowed,
        group=np.arange(p),
        always=np.zeros(0, dtype=np.int64),
        unit=None,
    )


@pytest.mark.parametrize(
    ("ramps", "message"),
    [
        (([0.0], [0.0], [0]), "a place and an end of every ordered bin"),
        (([-1.0, 0.0], [-1.5, 0.0], [1]), "must not fall"),
        (([-1.0, -2.0], [-1.0, 0.0], [1]), "must not fall"),
        (([-1.0, 0.0], [-1.0, 0.0], [2]), "knots must be ordered bins"),
        (([-1.0, 0.0], [-1.0, 0.0], [1, 1]), "knots must be ordered bins"),
    ],
)
def test_ramps_that_are_none_are_refused(ramps, message):
    place, end, knots = ramps
    given = (np.array(place), np.array(end), np.array(knots, dtype=np.int64))
    with pytest.raises(ValueError, match=message):
        _core.ThresholdDesign([np.zeros(3, dtype=np.uint8)], np.array([2]), np.array([2]), [given])
