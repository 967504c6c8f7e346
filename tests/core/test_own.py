"""Rows by their own values, block by block: what they answer is what a dense matrix of the same columns does."""

import numpy as np
import pytest

from sparsegam import _core
from sparsegam.losses import LOSSES

LOW, HIGH = -1.5, 2.0
N_ORDERED, SPECIAL, MISSING = 8, 8, 9
STEPS, LEVELS, RAMPS = [2, 5], [SPECIAL, MISSING], [10, 12]
COLUMNS = np.array([*STEPS, *RAMPS, *LEVELS])
KNOTS = np.array([3, 5, 7])


class Own:
    """One feature of continuous values in few bins, with special and missing ones, and its columns written out."""

    def __init__(self, n, seed=0):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=n).round(2)
        edges = np.linspace(LOW, HIGH, N_ORDERED)[:-1]
        codes = np.searchsorted(edges, x).astype(np.uint8)
        codes[rng.random(n) < 0.1], codes[rng.random(n) < 0.1] = SPECIAL, MISSING
        x[codes == SPECIAL], x[codes == MISSING] = -99.0, np.nan
        held = (np.clip(x, LOW, HIGH) - HIGH) / (HIGH - LOW)
        self.end = (np.append(edges, HIGH) - HIGH) / (HIGH - LOW)
        place = np.array([held[codes == b].mean() if (codes == b).any() else self.end[b] for b in range(N_ORDERED)])
        place = np.clip(place, np.append(-1.0, self.end[:-1]), self.end)
        self.core = _core.ThresholdDesign([codes], np.array([10]), np.array([8]), [(place, self.end, KNOTS)])
        steps = [(codes <= b) & (codes < N_ORDERED) for b in STEPS]
        ramps = [np.where(codes < N_ORDERED, np.minimum(held - self.knot(c), 0.0), 0.0) for c in RAMPS]
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
SIZES = [1, 300, 512, 513, 20_000]  # within a block, at its end, beyond, and several pieces


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
def test_questions_are_answered_as_by_a_dense_matrix(loss, n):
    own = Own(n)
    ours, dense = own.rows(loss), own.dense(loss)
    empty = _core.Point(0.3, POINT.columns[:0], POINT.coef[:0])
    points = [POINT, _core.Point(-0.2, np.array([3, 0]), np.array([1.0, 0.4])), empty]
    np.testing.assert_allclose(ours.evaluate(points), dense.evaluate(points), rtol=1e-12)
    for support in (POINT.columns, np.array([4, 2]), POINT.columns[:0]):
        for mine, theirs in zip(ours.newton(POINT, support), dense.newton(POINT, support), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-11, atol=1e-11 * n)


@pytest.mark.parametrize("n", SIZES[1:])
def test_columns_are_measured_by_their_own_values(n):
    own = Own(n)
    columns = own.rows("logistic").columns
    mean = own.weight @ own.X / own.weight.sum()
    np.testing.assert_allclose(columns.mean, mean, rtol=1e-12)
    np.testing.assert_allclose(columns.centred_sq_norm, own.weight @ (own.X - mean) ** 2, rtol=1e-11)
    assert columns.kind == ["step", "step", "ramp", "ramp", "level", "level"]


@pytest.mark.parametrize("loss", LOSSES)
def test_a_refit_ends_where_that_on_a_dense_matrix_does(loss):
    own = Own(20_000)
    start = _core.Point(0.0, np.arange(6), np.zeros(6))
    ours, dense = (_core.refit(rows, penalty(), start) for rows in (own.rows(loss), own.dense(loss)))
    assert ours.loss + ours.ridge == pytest.approx(dense.loss + dense.ridge, rel=1e-12)
    np.testing.assert_allclose(ours.coef, dense.coef, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
def test_any_number_of_threads_gives_the_same_bits(loss):
    own = Own(30_000)
    one, three = (own.rows(loss, n_threads) for n_threads in (1, 3))
    assert one.columns.centred_sq_norm.tolist() == three.columns.centred_sq_norm.tolist()
    assert one.evaluate([POINT, POINT]).tolist() == three.evaluate([POINT, POINT]).tolist()
    for a, b in zip(one.newton(POINT, POINT.columns), three.newton(POINT, POINT.columns), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kind", ["strided", "backwards", np.uint8, np.uint16])
def test_numbers_are_read_wherever_they_are(kind):
    own = Own(2000)
    numbers, codes = own.x, None
    if kind == "strided":
        numbers = np.column_stack([own.weight, own.x])[:, 1]
    elif kind == "backwards":
        numbers = own.x[::-1].copy()[::-1]
    else:
        own.x[own.x != np.round(own.x, 1)] = 0.3  # no more values than a byte can tell apart
        numbers, found = np.unique(own.x, return_inverse=True)
        codes = found.astype(kind)
    expected = own.columns(own.x.copy()).scores(0.5, POINT.coef)
    np.testing.assert_array_equal(own.columns(numbers, codes).scores(0.5, POINT.coef), expected)


def test_scores_are_those_of_the_columns():
    own = Own(2000)
    np.testing.assert_allclose(own.columns().scores(0.5, POINT.coef), 0.5 + own.X @ POINT.coef, rtol=1e-13, atol=1e-14)


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
def test_values_that_are_none_are_refused(ramp, message):
    with pytest.raises(ValueError, match=message):
        _core.RawColumns(Own(300).core, np.array([10]), [ramp])


def test_columns_that_are_none_are_refused():
    own = Own(300)
    with pytest.raises(ValueError, match="does not have column 13"):
        _core.RawColumns(own.core, np.array([13]), [None])
    with pytest.raises(ValueError, match="one entry per column"):
        _core.RawColumns(own.core, COLUMNS, [None])
    with pytest.raises(ValueError, match="one coefficient per column"):
        own.columns().scores(0.0, np.zeros(2))
    few = own.dense("squared").columns
    with pytest.raises(ValueError, match="the same design"):
        _core.RawRows(own.columns(), few, own.target, own.weight, loss="squared", n_threads=1)
    with pytest.raises(RuntimeError, match="only supports refits"):
        _core.frontier(own.rows("squared"), penalty(), max_terms=2)
