"""RawRows and RawColumns, compared with a dense matrix of the same columns."""

import numpy as np
import pytest

from sparsegam import _core
from sparsegam.losses import LOSSES

LOW, HIGH = -1.5, 2.0
N_ORDERED, SPECIAL, MISSING = 8, 8, 9
STEPS, LEVELS, RAMPS = [2, 5], [SPECIAL, MISSING], [10, 12]
COLUMNS = np.array([*STEPS, *RAMPS, *LEVELS])
KNOTS = np.array([3, 5, 7])


class RawFeature:
    """One continuous feature in few bins, with special and missing values, and its columns as a dense matrix."""

    def __init__(self, n, seed=0):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=n).round(2)
        edges = np.linspace(LOW, HIGH, N_ORDERED)[:-1]
        codes = np.searchsorted(edges, x).astype(np.uint8)
        codes[rng.random(n) < 0.1], codes[rng.random(n) < 0.1] = SPECIAL, MISSING
        x[codes == SPECIAL], x[codes == MISSING] = -99.0, np.nan
        scaled = (np.clip(x, LOW, HIGH) - HIGH) / (HIGH - LOW)
        self.end = (np.append(edges, HIGH) - HIGH) / (HIGH - LOW)
        centre = np.array([scaled[codes == b].mean() if (codes == b).any() else self.end[b] for b in range(N_ORDERED)])
        centre = np.clip(centre, np.append(-1.0, self.end[:-1]), self.end)
        self.core = _core.ThresholdDesign([codes], np.array([10]), np.array([8]), [(centre, self.end, KNOTS)])
        steps = [(codes <= b) & (codes < N_ORDERED) for b in STEPS]
        ramps = [np.where(codes < N_ORDERED, np.minimum(scaled - self.knot(c), 0.0), 0.0) for c in RAMPS]
        self.X = np.column_stack([*steps, *ramps, *(codes == b for b in LEVELS)]).astype(np.float64)
        self.x, self.weight = x, rng.uniform(0.5, 2, n)
        score = 2 * self.X[:, 2] + self.X[:, 0] + rng.normal(size=n)
        self.sign, self.target = np.where(score > np.median(score), 1.0, -1.0), score

    def knot(self, column):
        return float(self.end[KNOTS[column - 10]])

    def y(self, loss):
        return self.target if loss == "squared" else self.sign

    def columns(self, numbers=None, codes=None):
        numbers = self.x if numbers is None else numbers
        ramps = [(numbers, codes, LOW, HIGH, self.knot(c)) if c in RAMPS else None for c in COLUMNS.tolist()]
        return _core.RawColumns(self.core, COLUMNS, ramps)

    def rows(self, loss, n_threads=1, columns=None):
        y = self.y(loss)
        bins = _core.ThresholdRows(self.core, y, self.weight, loss=loss, n_threads=1)
        columns = self.columns() if columns is None else columns
        return _core.RawRows(columns, bins.columns, y, self.weight, loss=loss, n_threads=n_threads)

    def dense(self, loss):
        matrix = _core.Matrix(np.asfortranarray(self.X))
        return _core.MatrixRows(matrix, self.y(loss), self.weight, loss=loss, n_threads=1)


POINT = _core.Point(0.1, np.arange(6), np.array([0.5, -0.3, 1.5, -2.0, 0.2, -0.1]))
# Number of rows: less than a block, a full block, more than a block, and several pieces.
SIZES = [1, 300, 512, 513, 20_000]


def penalty():
    return _core.Penalty(
        lambda2=0.01,
        cost=np.ones(6),
        low=np.full(6, -np.inf),
        high=np.full(6, np.inf),
        allowed=np.ones(6, dtype=bool),
        group=np.arange(6),
        always=np.zeros(0, dtype=np.int64),
        penalty_scale=None,
    )


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("loss", LOSSES)
def test_evaluate_and_newton_equal_those_of_a_dense_matrix(loss, n):
    feature = RawFeature(n)
    ours, dense = feature.rows(loss), feature.dense(loss)
    empty = _core.Point(0.3, POINT.columns[:0], POINT.coef[:0])
    points = [POINT, _core.Point(-0.2, np.array([3, 0]), np.array([1.0, 0.4])), empty]
    np.testing.assert_allclose(ours.evaluate(points), dense.evaluate(points), rtol=1e-12)
    for support in (POINT.columns, np.array([4, 2]), POINT.columns[:0]):
        for mine, theirs in zip(ours.newton(POINT, support), dense.newton(POINT, support), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-11, atol=1e-11 * n)


@pytest.mark.parametrize("n", SIZES[1:])
def test_column_info_is_that_of_the_raw_values(n):
    feature = RawFeature(n)
    columns = feature.rows("logistic").columns
    mean = feature.weight @ feature.X / feature.weight.sum()
    np.testing.assert_allclose(columns.mean, mean, rtol=1e-12)
    np.testing.assert_allclose(columns.centred_sq_norm, feature.weight @ (feature.X - mean) ** 2, rtol=1e-11)
    assert columns.kind == ["step", "step", "ramp", "ramp", "level", "level"]


@pytest.mark.parametrize("loss", LOSSES)
def test_refit_equals_that_on_a_dense_matrix(loss):
    feature = RawFeature(20_000)
    start = _core.Point(0.0, np.arange(6), np.zeros(6))
    ours, dense = (_core.refit(rows, penalty(), start) for rows in (feature.rows(loss), feature.dense(loss)))
    assert ours.loss + ours.ridge == pytest.approx(dense.loss + dense.ridge, rel=1e-12)
    np.testing.assert_allclose(ours.coef, dense.coef, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
def test_results_are_identical_for_any_number_of_threads(loss):
    feature = RawFeature(30_000)
    one, three = (feature.rows(loss, n_threads) for n_threads in (1, 3))
    assert one.columns.centred_sq_norm.tolist() == three.columns.centred_sq_norm.tolist()
    assert one.evaluate([POINT, POINT]).tolist() == three.evaluate([POINT, POINT]).tolist()
    for a, b in zip(one.newton(POINT, POINT.columns), three.newton(POINT, POINT.columns), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kind", ["strided", "backwards", np.uint8, np.uint16])
def test_raw_columns_read_strided_reversed_and_coded_values(kind):
    feature = RawFeature(2000)
    numbers, codes = feature.x, None
    if kind == "strided":
        numbers = np.column_stack([feature.weight, feature.x])[:, 1]
    elif kind == "backwards":
        numbers = feature.x[::-1].copy()[::-1]
    else:
        feature.x[feature.x != np.round(feature.x, 1)] = 0.3
        numbers, found = np.unique(feature.x, return_inverse=True)
        codes = found.astype(kind)
    expected = feature.columns(feature.x.copy()).scores(0.5, POINT.coef)
    np.testing.assert_array_equal(feature.columns(numbers, codes).scores(0.5, POINT.coef), expected)


def test_scores_equal_those_of_the_dense_columns():
    feature = RawFeature(2000)
    np.testing.assert_allclose(
        feature.columns().scores(0.5, POINT.coef), 0.5 + feature.X @ POINT.coef, rtol=1e-13, atol=1e-14
    )


@pytest.mark.parametrize(
    ("ramp", "message"),
    [
        ((np.zeros(299), None, 0.0, 1.0, 0.0), "one entry per row if codes is None"),
        ((np.zeros(300, dtype=np.float32), None, 0.0, 1.0, 0.0), "must be a float64 array"),
        ((np.zeros(300), None, 1.0, 1.0, 0.0), "must have low < high"),
        ((np.zeros(2), np.zeros(299, dtype=np.uint8), 0.0, 1.0, 0.0), "codes must have one entry per row"),
        ((np.zeros(2), np.full(300, 2, dtype=np.uint16), 0.0, 1.0, 0.0), "codes must be below the number of values"),
        ((np.zeros(2), np.zeros(300, dtype=np.int64), 0.0, 1.0, 0.0), "must be uint8 or uint16"),
        ((np.zeros(4)[::2], np.zeros(300, dtype=np.uint8), 0.0, 1.0, 0.0), "must be contiguous"),
    ],
)
def test_raw_columns_reject_invalid_ramps(ramp, message):
    with pytest.raises(ValueError, match=message):
        _core.RawColumns(RawFeature(300).core, np.array([10]), [ramp])


def test_raw_columns_and_rows_reject_invalid_arguments():
    feature = RawFeature(300)
    with pytest.raises(ValueError, match="does not have column 13"):
        _core.RawColumns(feature.core, np.array([13]), [None])
    with pytest.raises(ValueError, match="one entry per column"):
        _core.RawColumns(feature.core, COLUMNS, [None])
    with pytest.raises(ValueError, match="one coefficient per column"):
        feature.columns().scores(0.0, np.zeros(2))
    few = feature.dense("squared").columns
    with pytest.raises(ValueError, match="the same design"):
        _core.RawRows(feature.columns(), few, feature.target, feature.weight, loss="squared", n_threads=1)
    with pytest.raises(RuntimeError, match="only supports refits"):
        _core.frontier(feature.rows("squared"), penalty(), max_terms=2)
