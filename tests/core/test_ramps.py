"""Ramps: sums from histograms, nested pairs, and searches over steps and ramps."""

import numpy as np
import pytest
from _helpers.ramped import Ramped, allowing
from _helpers.reference import best_subsets

from sparsegam import _core

LOSSES = ("logistic", "exponential", "squared")


@pytest.fixture
def ramped():
    return Ramped(0)


def test_column_info_of_ramps(ramped):
    columns = ramped.rows("logistic").columns
    mean = ramped.weight @ ramped.X / ramped.weight.sum()
    np.testing.assert_allclose(columns.mean, mean, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(columns.centred_sq_norm, ramped.weight @ (ramped.X - mean) ** 2, rtol=1e-10, atol=1e-10)
    assert columns.ramps.tolist() == [j for j, kind in enumerate(ramped.kinds) if kind == "ramp"]


@pytest.mark.parametrize("loss", LOSSES)
def test_sums_equal_those_of_a_matrix_of_the_same_columns(ramped, loss):
    point = _core.Point(0.1, np.array([3, 14, 20, 40, 55]), np.array([0.5, -2.0, 0.3, 0.2, 1.5]))
    ours, plain = ramped.rows(loss), ramped.matrix_rows(loss)
    np.testing.assert_allclose(ours.evaluate([point]), plain.evaluate([point]), rtol=1e-12)
    for mine, theirs in zip(ours.newton(point, point.columns), plain.newton(point, point.columns), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-10)
    for mine, theirs in zip(ours.slopes(point), plain.slopes(point), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-10)
    every = np.zeros(0, dtype=np.int64)
    *scanned, moment = ours.scan(point, every)[1:]
    for mine, theirs in zip(scanned, plain.scan(point, every)[1:], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=2e-4, atol=2e-4)
    np.testing.assert_allclose(moment, ramped.moments(loss, point), rtol=2e-4, atol=2e-4)


def test_norms_of_ramps_do_not_suffer_from_cancellation():
    """Nearly all values are in the lowest hundredth of the range."""
    centre = np.append(np.linspace(-1, -0.99, 40), [-0.5, 0.0])
    codes = np.random.default_rng(1).integers(0, 40, 2000).astype(np.uint8)
    codes[:3] = 41
    knots = np.arange(2, 42, 3)
    design = _core.ThresholdDesign([codes], np.array([42]), np.array([42]), [(centre, centre, knots)])
    rows = _core.ThresholdRows(design, np.ones(2000), np.ones(2000), loss="squared", n_threads=1)
    columns = np.column_stack([np.minimum(centre[codes] - centre[b], 0.0) for b in knots])
    np.testing.assert_allclose(rows.columns.centred_sq_norm[42:], 2000 * columns.var(axis=0), rtol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(6))
def test_frontier_is_close_to_the_best_subsets(loss, seed):
    problem = Ramped(seed, kinds=((5, 4, 1), (6, 6, 2)), n=80)
    allowed = np.ones(problem.X.shape[1], dtype=bool)
    # The last ordered bins are excluded: they are constant or the complement of later bins.
    allowed[[3, 12]] = False
    allowed &= problem.X.std(axis=0) > 0
    found = _core.frontier(problem.rows(loss), allowing(allowed), max_terms=3).points
    y = problem.target if loss == "squared" else problem.sign
    best = best_subsets(problem.X[:, allowed], y, problem.weight, loss, 0.01, 3)
    for point, (objective, _, _) in zip(found, best, strict=False):
        assert point.loss + point.ridge <= objective * (1 + 0.01) + 1e-9


class Forwarding(_core.Rows):
    """Python implementation of Rows that forwards every call to compiled rows."""

    def __init__(self, rows):
        super().__init__()
        self.loss, self.columns = rows.loss, rows.columns
        for method in ("evaluate", "newton", "scan", "rescan", "groups"):
            setattr(self, method, getattr(rows, method))


@pytest.mark.parametrize("through", [lambda rows: rows, Forwarding], ids=["compiled", "in Python"])
@pytest.mark.parametrize(("loss", "lambda0"), [("logistic", 24.0), ("exponential", 24.0), ("squared", 12.0)])
def test_fit_at_finds_two_ramps_that_improve_the_model_only_together(loss, lambda0, through):
    valley = Ramped.valley()
    point = _core.fit_at(through(valley.rows(loss)), allowing(valley.is_ramp), lambda0=lambda0, max_terms=4).points[-1]
    assert len(point.columns) == 2
    # Both ramps belong to the first feature.
    assert point.columns.max() < 25 + 8


def test_scan_must_return_moments_if_there_are_knots():
    valley = Ramped.valley()
    rows = Forwarding(valley.rows("logistic"))
    rows.scan = lambda *given: valley.rows("logistic").scan(*given)[:6]
    with pytest.raises(ValueError, match=r"must return scan: .* cross, moment"):
        _core.fit_at(rows, allowing(valley.is_ramp), lambda0=1.0, max_terms=2)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"nested_ramps": [(1, 2)]}, "one entry for each entry of nested"),
        ({"nested_ramps": [(2, 3), (3, 9)]}, "must be ranges within 0"),
        ({"nested_ramps": [(2, 3), (3, 3)]}, "one entry per column if there are nested ramps"),
        ({"knot": np.zeros(3)}, "must be empty otherwise"),
    ],
)
def test_column_info_rejects_inconsistent_knots_and_ranges(wrong, message):
    given = {"mean": np.zeros(3), "centred_sq_norm": np.ones(3), "total_weight": 1.0, "nested": [(0, 2), (2, 2)]}
    with pytest.raises(ValueError, match=message):
        _core.ColumnInfo(kind=["step", "step", "ramp"], **given, **wrong)


@pytest.mark.parametrize(
    ("ramps", "message"),
    [
        (([0.0], [0.0], [0]), "a centre and an end for every ordered bin"),
        (([-1.0, 0.0], [-1.5, 0.0], [1]), "must be in ascending order"),
        (([-1.0, -2.0], [-1.0, 0.0], [1]), "must be in ascending order"),
        (([-1.0, 0.0], [-1.0, 0.0], [2]), "knots must be indices of ordered bins"),
        (([-1.0, 0.0], [-1.0, 0.0], [1, 1]), "knots must be indices of ordered bins"),
    ],
)
def test_threshold_design_rejects_invalid_ramps(ramps, message):
    centre, end, knots = ramps
    given = (np.array(centre), np.array(end), np.array(knots, dtype=np.int64))
    with pytest.raises(ValueError, match=message):
        _core.ThresholdDesign([np.zeros(3, dtype=np.uint8)], np.array([2]), np.array([2]), [given])
