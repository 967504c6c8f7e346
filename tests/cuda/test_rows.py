"""The row oracles on a device return the sums of the reference, with the same bits in every run."""

from itertools import combinations

import numpy as np
import pytest
from _helpers.device_rows import device, padded_codes, rows_of_codes, rows_of_matrix  # noqa: F401
from _helpers.problems import LOSSES, narrow, problem_of, random_problem
from _helpers.ramped import Ramped, allowing
from _helpers.reference import ReferenceRows

from sparsegam import _core

NO_COLUMNS = np.zeros(0, dtype=np.int64)
SUPPORTS = ((), (5, 0, 4), tuple(range(16)))
# Gradient and curvature of each row are float32; errors are relative to the largest sum.
FLOAT32_ERROR = 1e-6


@pytest.fixture(params=LOSSES)
def problem(request):
    return random_problem(0, request.param, n=200)


@pytest.fixture
def rows(device, problem):  # noqa: F811
    return rows_of_codes(device, problem)


@pytest.fixture(params=SUPPORTS, ids=len)
def point(request):
    columns = np.array(request.param, dtype=np.int64)
    theta = np.random.default_rng(1).normal(size=columns.size + 1) / 2
    return _core.Point(float(theta[0]), columns, theta[1:].copy())


def moved(point, by=0.3):
    return _core.Point(point.intercept + by, point.columns, point.coef * 1.5)


def oracle(problem):
    return ReferenceRows(problem.X, problem.y, problem.weight, problem.loss)


def assert_close(mine, expected, digits=FLOAT32_ERROR):
    for one, other in zip(mine, expected, strict=True):
        one, other = np.ravel(one), np.ravel(other)
        np.testing.assert_allclose(one, other, rtol=0, atol=digits * max(np.abs(other).max(initial=0.0), 1e-300))


def test_evaluate_matches_the_reference(rows, problem, point):
    points = [point, moved(point), moved(point, -1.0), _core.Point(0.2, NO_COLUMNS, np.zeros(0))]
    expected = oracle(problem).evaluate(points)
    np.testing.assert_allclose(rows.evaluate(points), expected, rtol=1e-13)
    np.testing.assert_allclose([rows.evaluate([each])[0] for each in points], expected, rtol=1e-13)
    assert rows.evaluate([]).size == 0


def test_evaluate_matches_the_reference_for_more_points_than_one_pass_takes(rows, problem, point):
    points = [moved(point, t) for t in np.linspace(-1, 1, 11)]
    np.testing.assert_allclose(rows.evaluate(points), oracle(problem).evaluate(points), rtol=1e-13)


def test_column_info_matches_the_compiled_rows(rows, problem):
    facts, expected = rows.columns, problem.rows().columns
    assert (facts.kind, facts.nested, facts.shortlist) == (expected.kind, expected.nested, expected.shortlist)
    np.testing.assert_allclose(facts.mean, expected.mean, atol=1e-14)
    np.testing.assert_allclose(facts.centred_sq_norm, expected.centred_sq_norm, atol=1e-11)
    assert facts.total_weight == pytest.approx(expected.total_weight, rel=1e-14)


def test_newton_matches_the_reference(rows, problem, point):
    for support in (point.columns, point.columns[1:], NO_COLUMNS):
        loss, *sums = rows.newton(point, support)
        expected_loss, *expected = oracle(problem).newton(point, support)
        assert loss == pytest.approx(expected_loss, rel=1e-13)
        assert_close(sums, expected)


def test_scan_matches_the_reference_for_all_columns_and_for_some(rows, problem, point):
    for among in (NO_COLUMNS, np.array([1, 3, 4, 7, 19])):
        assert_close(rows.scan(point, among)[1:], oracle(problem).scan(point, among)[1:])


def test_rescan_uses_the_curvature_of_its_scan(rows, problem, point):
    entered, here, answers = np.array([0, 4]), moved(point), []
    for each in (oracle(problem), rows):
        token = each.scan(point, NO_COLUMNS)[0]
        each.scan(_core.Point(0.5, np.array([2]), np.ones(1)), NO_COLUMNS)
        each.evaluate([moved(point, 1.0)])
        answers.append([each.rescan(token, here, entered, among) for among in (NO_COLUMNS, np.array([2, 5, 6]))])
    for expected, mine in zip(*answers, strict=True):
        assert_close(mine, expected)


def test_groups_matches_the_reference(rows, problem, point):
    columns = np.array([3, 0, 7, 5])
    assert_close(rows.groups(point, columns), oracle(problem).groups(point, columns))
    assert_close(rows.groups(point, columns)[3:], oracle(problem).groups(point, columns)[3:], digits=1e-13)


def cells_of(problem, most, seed=0):
    """Return random coarse bins of each feature but the last: ordered bins have ordered cells."""
    rng, out = np.random.default_rng(seed), []
    for bins, ordered in zip(problem.n_bins.tolist(), problem.n_ordered.tolist(), strict=True):
        alone = min(bins - ordered, most)
        n_ordered = min(ordered, most)
        of_bin = np.append(
            np.sort(rng.integers(0, n_ordered, ordered)), n_ordered + np.arange(bins - ordered) % max(alone, 1)
        )
        out.append((of_bin.astype(np.uint8), n_ordered, n_ordered + alone))
    return [*out[:-1], None]


def test_pair_sums_match_the_reference(rows, problem, point):
    for most in (2, 6):
        cells = cells_of(problem, most)
        pairs = np.array(list(combinations(range(len(cells) - 1), 2))[::-1])
        expected = ReferenceRows(problem.X, problem.y, problem.weight, problem.loss, codes=problem.codes)
        assert_close(rows.pair_sums(point, cells, pairs), expected.pair_sums(point, cells, pairs))
    assert [tables.size for tables in rows.pair_sums(point, cells, pairs[:0])] == [0, 0]


def test_pair_sums_match_for_tables_larger_than_shared_memory(device):  # noqa: F811
    """256 x 256 cells take 1 MB. Codes are 16-bit, and most rows are in one cell."""
    rng, n = np.random.default_rng(5), 9000
    n_bins = np.array([300, 5000, 256, 3])
    codes = [rng.integers(0, bins, n) for bins in n_bins]
    codes[0][rng.random(n) < 0.5] = 7
    problem = problem_of(codes, rng.choice([-1.0, 1.0], n), "logistic", rng.uniform(0.5, 2, n), n_bins)
    cells = [(rng.integers(0, 256, bins).astype(np.uint8), 256, 256) for bins in n_bins[:3]]
    cells.append((np.array([0, 1, 0], dtype=np.uint8), 2, 2))
    pairs, point = (
        np.array([[0, 1], [3, 2], [1, 2], [2, 0]]),
        _core.Point(0.1, np.array([7, 400]), np.array([0.4, -0.3])),
    )
    assert_close(
        rows_of_codes(device, problem).pair_sums(point, cells, pairs), problem.rows().pair_sums(point, cells, pairs)
    )


def test_best_products_matches_the_compiled_rows(rows, problem):
    cells, point = cells_of(problem, 6), _core.Point(0.2, np.array([1, 9]), np.array([0.5, -0.4]))
    pairs = np.array(list(combinations(range(len(cells) - 1), 2)))
    mine, expected = (
        _core.best_interactions(each, point, cells, pairs, per_pair=3, ridge=0.1) for each in (rows, problem.rows())
    )
    for name in ("pair", "condition_a", "condition_b"):
        np.testing.assert_array_equal(getattr(mine, name), getattr(expected, name))
    np.testing.assert_allclose(mine.marginal_gain, expected.marginal_gain, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("numbers", [None, "weights"])
def test_weighted_pair_sums_match_the_compiled_rows(device, numbers):  # noqa: F811
    problem = random_problem(3, "logistic", n=200)
    with device:
        given = None if numbers is None else device.upload(problem.weight)
    cells, pairs = cells_of(problem, 4), np.array([[0, 4], [2, 1]])
    sums = rows_of_codes(device, problem).weighted_pair_sums(given, cells, pairs)
    # The curvature of the squared loss is the weight of a row.
    weight = np.ones(200) if numbers is None else problem.weight
    squared = _core.ThresholdRows(problem.design, np.ones(200), weight, loss="squared", n_threads=1)
    curv = squared.pair_sums(_core.Point(0.0, NO_COLUMNS, np.zeros(0)), cells, pairs)[1]
    np.testing.assert_allclose(sums, curv, rtol=1e-13)


def test_with_binary_features_appends_0_1_columns(device, problem):  # noqa: F811
    extra = [np.random.default_rng(8).integers(0, 2, problem.y.size) for _ in range(3)]
    joined = problem_of(
        [*problem.codes, *extra],
        problem.y,
        problem.loss,
        problem.weight,
        np.append(problem.n_bins, [2, 2, 2]),
        np.append(problem.n_ordered, [0, 0, 0]),
    )
    with device:
        codes = [padded_codes(device, code.astype(np.uint8)) for code in extra]
    rows = rows_of_codes(device, problem).with_binary_features(codes)
    columns = np.array([joined.n_columns - 1, 0, joined.n_columns - 3])
    point = _core.Point(0.2, columns, np.array([0.5, -0.4, 0.3]))
    assert rows.columns.kind == joined.rows().columns.kind
    assert_close(rows.newton(point, columns), oracle(joined).newton(point, columns))
    assert_close(rows.scan(point, NO_COLUMNS)[1:], oracle(joined).scan(point, NO_COLUMNS)[1:])


def test_results_have_the_same_bits_whatever_was_computed_before(device, problem, point):  # noqa: F811
    cells, pairs, results = cells_of(problem, 3), np.array([[0, 2], [4, 1]]), []

    def compute(rows):
        return [
            *rows.newton(point, point.columns),
            *rows.scan(point, NO_COLUMNS)[1:],
            *rows.pair_sums(point, cells, pairs),
        ]

    for rows in (rows_of_codes(device, problem), rows_of_codes(device, problem)):
        results.append(compute(rows))
        rows.evaluate([moved(point)])
        rows.groups(point, np.array([1]))
        results.append(compute(rows))
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_sums_match_for_all_code_widths_and_more_terms_than_bits_in_a_word(device, loss):  # noqa: F811
    """Codes of 8 and 16 bits, more bins than fit into shared memory, 0/1 columns, and most rows in one bin."""
    rng, n = np.random.default_rng(3), 6000
    n_bins = np.array([2, 300, 5000, 40, 256, 1000])
    codes = [rng.integers(0, bins, n) for bins in n_bins]
    codes[3][rng.random(n) < 0.95] = 7
    y = rng.normal(size=n) if loss == "squared" else rng.choice([-1.0, 1.0], n)
    narrowed = [narrow(code, bins) for code, bins in zip(codes, n_bins, strict=True)]
    problem = problem_of(narrowed, y, loss, rng.integers(1, 4, n), n_bins, np.array([0, 300, 4990, 40, 200, 1000]))
    columns = np.sort(rng.choice(problem.n_columns, 70, replace=False))
    point = _core.Point(0.1, columns, rng.normal(size=70) / 5)
    rows, expected = rows_of_codes(device, problem), problem.rows()
    np.testing.assert_allclose(
        rows.evaluate([point, moved(point)]), expected.evaluate([point, moved(point)]), rtol=1e-13
    )
    assert_close(rows.newton(point, columns), expected.newton(point, columns, False))
    mine, theirs = rows.scan(point, NO_COLUMNS), expected.scan(point, NO_COLUMNS)
    assert_close(mine[1:], theirs[1:], digits=1e-5)
    again = moved(point)
    entered = columns[:40]
    assert_close(
        rows.rescan(mine[0], again, entered, NO_COLUMNS), expected.rescan(theirs[0], again, entered, NO_COLUMNS), 1e-5
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_sums_of_ramps_match_the_compiled_rows(device, loss):  # noqa: F811
    problem = random_problem(7, loss, n=200)
    n = int(problem.n_ordered[0])
    end = np.linspace(-0.75, 0.0, n)
    ramps = [(end - 0.05, end, np.array([1, n - 1])), *[None] * (len(problem.codes) - 1)]
    design = _core.ThresholdDesign(problem.codes, problem.n_bins, problem.n_ordered, ramps)
    expected = _core.ThresholdRows(design, problem.y, problem.weight, loss=loss, n_threads=1)
    rows = rows_of_codes(device, problem, ramps)
    assert rows.columns.kind == expected.columns.kind
    np.testing.assert_allclose(rows.columns.centred_sq_norm, expected.columns.centred_sq_norm, atol=1e-6)
    first_ramp = int(problem.n_bins[0])
    columns = np.array([first_ramp + 1, 0, first_ramp, 9])
    point = _core.Point(0.2, columns, np.array([0.5, -0.4, 0.3, 0.2]))
    np.testing.assert_allclose(
        rows.evaluate([point, moved(point)]), expected.evaluate([point, moved(point)]), rtol=1e-13
    )
    assert_close(rows.newton(point, columns), expected.newton(point, columns, False))
    assert_close(rows.scan(point, NO_COLUMNS)[1:], expected.scan(point, NO_COLUMNS)[1:], digits=1e-5)
    token, held = rows.scan(point, NO_COLUMNS)[0], expected.scan(point, NO_COLUMNS)[0]
    entered, among = np.array([first_ramp, 3]), np.array([2, first_ramp, 8])
    assert_close(
        rows.rescan(token, moved(point), entered, among), expected.rescan(held, moved(point), entered, among), 1e-5
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_fit_at_reaches_the_objectives_of_the_compiled_rows(device, loss):  # noqa: F811
    problem = random_problem(11, loss, n=150)
    rows, penalty = rows_of_codes(device, problem), problem.penalty(lambda2=1e-3)
    mine = _core.fit_at(rows, penalty, lambda0=0.8, max_terms=6).points
    theirs = problem.fit_at(0.8, max_terms=6, penalty=penalty, certify=False).points
    for one, other in zip(mine, theirs, strict=True):
        assert one.loss + one.ridge == pytest.approx(other.loss + other.ridge, rel=1e-7)


@pytest.mark.parametrize(("loss", "lambda0"), [("logistic", 24.0), ("squared", 12.0)])
def test_fit_at_finds_two_ramps_that_lower_the_loss_only_together(device, loss, lambda0):  # noqa: F811
    valley = Ramped.valley()
    problem = problem_of(valley.codes, valley.y(loss), loss, valley.weight, valley.n_bins, valley.n_ordered)
    rows = rows_of_codes(device, problem, valley.ramps)
    assert rows.columns.nested_ramps == valley.rows(loss).columns.nested_ramps
    np.testing.assert_array_equal(rows.columns.knot, valley.rows(loss).columns.knot)
    mine, theirs = (
        _core.fit_at(each, allowing(valley.is_ramp), lambda0=lambda0, max_terms=4).points[-1]
        for each in (rows, valley.rows(loss))
    )
    assert sorted(mine.columns.tolist()) == sorted(theirs.columns.tolist())
    assert len(mine.columns) == 2
    assert mine.loss + mine.ridge == pytest.approx(theirs.loss + theirs.ridge, rel=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
def test_matrix_rows_match_the_reference(device, loss):  # noqa: F811
    problem = random_problem(2, loss, n=150)
    rows, reference = rows_of_matrix(device, problem), oracle(problem)
    support, entered, among = np.array([4, 0, 9]), np.array([2]), np.array([1, 5])
    point = _core.Point(0.2, support, np.array([0.5, -0.4, 0.3]))
    np.testing.assert_allclose(rows.columns.centred_sq_norm, reference.columns.centred_sq_norm, atol=1e-10)
    np.testing.assert_allclose(rows.evaluate([point, point]), reference.evaluate([point, point]), rtol=1e-13)
    calls = (
        lambda r: r.newton(point, support),
        lambda r: r.scan(point, NO_COLUMNS)[1:],
        lambda r: r.scan(point, among)[1:],
        lambda r: [r.rescan(r.scan(point, NO_COLUMNS)[0], point, entered, among)[i] for i in (0, 1, 3)],
    )
    for call in calls:
        for mine, expected in zip(call(rows), call(reference), strict=True):
            np.testing.assert_allclose(np.ravel(mine), np.ravel(expected), atol=1e-10)
    with pytest.raises(RuntimeError, match="requires 0/1 columns"):
        rows.groups(point, among)
