"""The compiled core: bin codes in, sparse additive models out. No policy lives here."""

from collections.abc import Callable, Sequence
from typing import Any, Final, overload

import numpy as np
from numpy.typing import NDArray

from sparsegam.arrays import Vector

Ints = NDArray[np.int64]
Codes = NDArray[np.uint8] | NDArray[np.uint16]
Mask = NDArray[np.bool_]
Ramps = tuple[Vector, Vector, Ints]

def unique_edges(values: Vector, max_bins: int, min_rows: int = 1) -> Vector:
    """Sorted thresholds, every unique value but the largest or quantiles beyond max_bins, with min_rows in each bin."""

def with_rows_between(rows: Vector, at_least: float) -> Ints:
    """Which thresholds stay, from the lowest up, so that there are rows enough between any two, given those by bin."""

def distinct(values: Vector) -> tuple[Vector, Ints]:
    """Distinct values in ascending order, and how often each is there; no NaN."""

def bin_codes(values: Vector, edges: Vector) -> Codes:
    """Bin of each value: the number of edges below it (x <= edges[0] is bin 0). uint8 up to 256 bins, else uint16."""

def bin_counts(codes: Codes, n_bins: int, weight: Vector | None = None) -> Vector:
    """Rows of each bin or, with weights, what they weigh; without the GIL, and without a copy of the codes."""

class ThresholdDesign:
    """Features as bin codes; one column per bin, and one per ramp.

    Feature j has n_bins[j] bins. The first n_ordered[j] are ordered, and bin b of them is the column `code <= b`; each
    later bin is the column `code == b` (a level, a special code, or missing). ramps[j] is None or, in any one unit, the
    places of the rows of the ordered bins, where these bins end, and the bins at whose ends ramps have their knots:
    ramp r is the column `min(place - end[knots[r]], 0)`, zero from its knot on. Column ids run over features, then
    bins, then ramps: column = offset[j] + b.
    """

    def __init__(
        self, codes: Sequence[Codes], n_bins: Ints, n_ordered: Ints, ramps: Sequence[Ramps | None] | None = None
    ) -> None: ...
    def column_counts(self, features: Ints, weight: Vector | None = None, among: Mask | None = None) -> Vector:
        """Rows, or those among some, for which each column is 1, or below the knot of a ramp; or what they weigh."""

    def row_scores(self, point: Point) -> Vector:
        """Score of each row, summed in the order of the columns, a feature at a time."""

    n_rows: Final[int]
    n_columns: Final[int]
    offset: Final[Ints]

class Matrix:
    """Raw numeric columns: a contiguous float32 or float64 array, or the arrays of a CSC matrix; not copied."""

    @overload
    def __init__(self, dense: Vector | NDArray[np.float32]) -> None: ...
    @overload
    def __init__(self, data: Vector, rows: NDArray[np.int32], start: Ints, n_rows: int) -> None: ...
    n_rows: Final[int]
    n_columns: Final[int]

LOSSES: tuple[str, ...]  # that the core has

def loss_derivatives(loss: str, f: float, y: float) -> tuple[float, float, float]:
    """Loss of one row with score f, its gradient and its curvature in f."""

class Point:
    """One model: intercept, columns and their coefficients; once evaluated its loss (a sum over rows) and its ridge."""

    def __init__(
        self, intercept: float, columns: Ints, coef: Vector, *, loss: float = ..., ridge: float = 0.0
    ) -> None: ...
    intercept: Final[float]
    columns: Final[Ints]
    coef: Final[Vector]
    loss: Final[float]
    ridge: Final[float]

class Columns:
    """What the columns of a design are like.

    kind is "step" (x <= t), "level" (any other 0/1 column), "ramp" (min(x - t, 0)) or "raw"; mean and spread (squared
    norm of the centred column) are weighted; nested are ranges (first, last) of columns that are thresholds of one
    feature, in ascending order, and nested_ramps, where there are any, the ramps of the same features. knot is the t of
    each step and ramp of these, in the unit of the ramps, and empty where there are none. shortlist is the number of
    columns up to which a scan of some costs less than one of all, 0 where none does.
    """

    def __init__(
        self,
        *,
        kind: Sequence[str],
        mean: Vector,
        spread: Vector,
        total_weight: float,
        nested: Sequence[tuple[int, int]],
        shortlist: int = 0,
        nested_ramps: Sequence[tuple[int, int]] = (),
        knot: Vector | None = None,
    ) -> None: ...
    mean: Final[Vector]
    spread: Final[Vector]
    ramps: Final[Ints]
    """Which of them are ramps."""

    total_weight: Final[float]
    kind: Final[list[str]]
    nested: Final[list[tuple[int, int]]]
    nested_ramps: Final[list[tuple[int, int]]]
    knot: Final[Vector]
    shortlist: Final[int]
    def __len__(self) -> int: ...

Cells = tuple[NDArray[np.uint8], int, int]
"""Coarse cells of a feature: (cell of each bin, n_ordered, n_cells).

There are at most 256; the first n_ordered are ordered, as the bins in them are, and the others stand alone. A part is a
condition on a feature. With m = max(n_ordered - 1, 0), parts p < m are `cell <= p`, those from m to 2 m - 1 are
`cell > p - m` among the ordered cells, and later ones are `cell == n_ordered + p - 2 m`.
"""

class ScanToken:
    """What a scan holds for rescans: the curvature of its rows."""

class Rows:
    """All that a search asks of the rows. Derive from it to answer in Python; matrices may be flat or not.

    A derived class has two attributes, `loss` (a name) and `columns` (a Columns), and five methods: `evaluate`,
    `newton`, `scan`, `rescan` and `groups`, with the arguments and answers of LocalRows; a sixth, `pairs`, is asked of
    it where products are looked for. Its scan may return any object as the token. Every question names its point;
    nothing is remembered between them unless the class wants to.
    """

    def __init__(self) -> None: ...

class LocalRows(Rows):
    """Rows in the memory of this machine, summed by compiled kernels."""

    loss: Final[str]
    columns: Final[Columns]
    def evaluate(self, points: Sequence[Point]) -> Vector:
        """Loss at each point, in one pass."""

    def newton(self, point: Point, support: Ints, rough: bool = False) -> tuple[float, Vector, Vector]:
        """Loss, curvature (flat) and gradient on some columns of the point, intercept first; rough: in floats."""

    def scan(self, point: Point, among: Ints) -> tuple[Any, ...]:
        """Token, curvature and gradient of the support, then what columns have beside it.

        That is, of the columns `among` (none: of all), their gradient, their curvature, and their products with the
        support (columns x (terms + 1), flat); where columns have knots, their moments at last: of a ramp the sum of its
        values under the curvature, of a step that of the places of its rows.
        """

    def rescan(
        self, token: ScanToken, point: Point, entered: Ints, among: Ints
    ) -> tuple[float, Vector, Vector, Vector]:
        """Sum of gradients; per column gradient, curvature (if 0/1), products with `entered` under the token's."""

    def groups(self, point: Point, columns: Ints) -> tuple[Vector, Vector, Vector, Vector]:
        """Sums of gradient, curvature and loss over the rows where each 0/1 column is 1; the three over all rows."""

    def pairs(self, point: Point, cells: Sequence[Cells | None], pairs: Ints) -> tuple[Vector, Vector]:
        """Sums of gradient and of curvature over the cells of two features at once.

        cells has an entry per feature, None where it is in none of the pairs (n_pairs x 2). The tables of the pairs
        follow each other, each flat, with a line for each cell of the pair's first feature.
        """

    def slopes(self, point: Point, centred: bool = True) -> tuple[Vector, Vector]:
        """Slope and curvature of the loss along each column, centred or as it is."""

    def line(self, point: Point, column: int, step: float) -> tuple[float, float, float]:
        """Loss, slope and curvature after a step along one centred column."""

    def shift(self, start: Point, to: Point, column: int) -> float:
        """Loss at `to`, which is `start` but for the intercept and the coefficient of one 0/1 column."""

class ThresholdRows(LocalRows):
    """Rows over bin codes; without weights, all rows weigh one."""

    def __init__(
        self, design: ThresholdDesign, y: Vector, weight: Vector | None, *, loss: str, n_threads: int
    ) -> None: ...

class MatrixRows(LocalRows):
    """Rows over raw columns; at most about max_bytes are kept beside the matrix."""

    def __init__(
        self, matrix: Matrix, y: Vector, weight: Vector, *, loss: str, n_threads: int, max_bytes: int = 2**28
    ) -> None: ...

class OwnColumns:
    """Some columns of a design by the rows' own values.

    `ramps` has, for each column, None where bins say all there is to say, or (numbers, codes, low, high, knot): a
    number for each row and None, or for each code and the codes of the rows; where x is held; the knot in the unit of
    the core.
    """

    def __init__(self, design: ThresholdDesign, columns: Ints, ramps: Sequence[tuple[Any, ...] | None]) -> None: ...
    def scores(self, intercept: float, coef: Vector) -> Vector: ...

class OwnRows(Rows):
    """Rows by their own values, for coefficients; `by_bins` are all columns of the design as a search has them."""

    def __init__(
        self, columns: OwnColumns, by_bins: Columns, y: Vector, weight: Vector, *, loss: str, n_threads: int
    ) -> None: ...
    loss: Final[str]
    columns: Final[Columns]
    def evaluate(self, points: Sequence[Point]) -> Vector: ...
    def newton(self, point: Point, support: Ints, rough: bool = False) -> tuple[float, Vector, Vector]: ...

class Penalty:
    """What columns cost: lambda2 and, per column, its share of lambda0, bounds, whether it may enter, its feature.

    Bounds are low <= 0 <= high; group is the source feature that a column belongs to. Columns in `always` are in every
    model and free of lambda0. max_groups and max_per_group limit source features and the terms of one (0: no limit).
    lambda2 is on unit * w^2 and lambda1 on sqrt(unit) * |w|; without units, these are the spreads of the columns.
    parents (n_columns x 2) are the source features of products, -1 for columns that are none. Products have groups by
    pair, which no other column is in: max_per_pair limits the terms of one (0: no limit), max_groups counts the source
    features of products, too. With the hierarchy "weak" a product stands only beside a plain term of one of its source
    features, with "strong" of both.
    """

    def __init__(
        self,
        *,
        lambda2: float,
        cost: Vector,
        low: Vector,
        high: Vector,
        allowed: Mask,
        group: Ints,
        always: Ints,
        max_groups: int = 0,
        max_per_group: int = 0,
        lambda1: float = 0.0,
        unit: Vector | None = None,
        free_intercept: bool = True,
        parents: Ints | None = None,
        max_per_pair: int = 0,
        hierarchy: str = "none",
    ) -> None: ...
    def with_lambda2(self, lambda2: float) -> Penalty: ...  # the same with another lambda2
    def with_lambda1(self, lambda1: float) -> Penalty: ...

class Certificate:
    """What the certified sweep proved: is the model swap 1-OPT, of how many pairs, and how many were line-searched."""

    swap_optimal: Final[bool]
    pairs: Final[int]
    line_searches: Final[int]

class Stop:
    """Ends the searches that it was given to, from another thread: they raise a RuntimeError."""

    def __init__(self) -> None: ...
    def set(self) -> None: ...

class Search:
    """The outcome of a search: its points by size, how it ended and what it cost."""

    points: Final[list[Point]]
    finished: Final[bool]
    counts: Final[dict[str, int]]
    certificate: Final[Certificate | None]

Progress = Callable[[int, float], None]
"""Called once per path point with (n_terms, objective without lambda0)."""

def refit(
    rows: Rows,
    penalty: Penalty,
    point: Point,
    *,
    held: Ints | None = None,
    tolerance: float = 1e-9,
    last_digit: bool = True,
) -> Point:
    """The best coefficients on the columns of a point; those of the columns `held` stay.

    It ends with a step that promised less than the tolerance, a share of the objective; or goes on to the last digit.
    """

def swap_costs(rows: Rows, penalty: Penalty, point: Point) -> tuple[Vector, Vector]:
    """Predicted rises of the objective without each term, and with each column in its place (columns x terms, flat).

    Second order, the other coefficients re-optimised; infinite where the column would have nothing of its own to say.
    """

def frontier(
    rows: Rows,
    penalty: Penalty,
    *,
    max_terms: int,
    start: Sequence[Point] = (),
    price: float = 0.0,
    polish: bool = True,
    time_limit: float | None = None,
    callback: Progress | None = None,
    stop: Stop | None = None,
) -> Search:
    """The best model found of each size 0..max_terms (points[k] has k terms; fewer where no more columns help).

    Given models of a neighbouring ridge it starts from those, which takes less time. Where columns differ in cost,
    price is the lambda0 at which models of one size are compared: the best is the one with the least loss + ridge +
    price * cost, and its loss may be larger than that of a smaller model. Without polish, coefficients are good to six
    digits or so.
    """

def fit_at(
    rows: Rows,
    penalty: Penalty,
    *,
    lambda0: float,
    max_terms: int,
    certify: bool = False,
    start: Point | None = None,
    time_limit: float | None = None,
    callback: Progress | None = None,
    stop: Stop | None = None,
) -> Search:
    """The best model found for one lambda0 (points[-1]), with its certificate where asked for."""

def swap_path(
    rows: LocalRows,
    penalty: Penalty,
    *,
    lambda0: Vector,
    max_terms: int,
    cuts: str,
    dynamic: bool,
    candidates: int = 50,
    line_steps: int = 10,
    most_swaps: int = -1,
    start: Point | None = None,
    time_limit: float | None = None,
    stop: Stop | None = None,
) -> tuple[list[Point], bool, dict[str, int]]:
    """Points, finished, counts of the paper's swap search at each lambda0 in turn; most_swaps=-1: all that help."""

class BestProducts:
    """Products of two conditions that are worth a try, pair by pair, the best first.

    `pair` is the number of the pair, `part_a` and `part_b` the conditions on its first and second feature (see Cells).
    The gains are falls of the objective: `plain` beside the intercept alone, `contrast` beside both conditions too.
    """

    pair: Final[Ints]
    part_a: Final[Ints]
    part_b: Final[Ints]
    plain: Final[Vector]
    contrast: Final[Vector]
    best_contrast: Final[Vector]
    """Of each pair the largest contrast that any of its products has."""

    def __len__(self) -> int: ...

def best_products(
    rows: Rows,
    point: Point,
    cells: Sequence[Cells | None],
    pairs: Ints,
    *,
    per_pair: int,
    ridge: float = 0.0,
    min_curvature: float = 0.0,
    stop: Stop | None = None,
) -> BestProducts:
    """Products that gain most at a point: of each pair the best `per_pair` by either gain, or all where it has no more.

    Of products whose conditions are of the same kinds with cuts at most one cell apart on both features, only the best
    is given, unless all are. With per_pair=0, only `best_contrast` is worked out. ridge is added to the curvature of a
    product (2 lambda2 times its unit), and min_curvature is the least that the rows where it holds must have together,
    and the others too.
    """

class LinePoint:
    """A point on a convex function of one coefficient: where, its value and its slope."""

    def __init__(self, at: float, value: float, slope: float) -> None: ...

def closed_step(on_grad: float, on_curv: float, off_grad: float, off_curv: float) -> tuple[float, float, float, float]:
    """Exponential loss: best coefficient of a 0/1 column, shift of the intercept, fall of the loss, worth as a term."""

def linear_cut(a: LinePoint, b: LinePoint) -> float:
    """Where the tangents of two points on both sides of the minimum meet: a lower bound on it."""

def quadratic_cut_one(a: LinePoint, m: float) -> float:
    """The least of the parabola that touches in a point, where f - m x^2 is convex: a lower bound on the minimum."""

def quadratic_cut_two(a: LinePoint, b: LinePoint, m: float) -> float:
    """The same from two points on both sides of the minimum."""

def concordant_cut(a: LinePoint, curv: float, r: float) -> float:
    """A lower bound on the minimum from one point and its curvature, where |f'''| <= r f''; may be minus infinity."""
