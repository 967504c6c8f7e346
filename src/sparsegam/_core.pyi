"""The compiled core: searches for sparse models over binned or raw columns. Options are checked by the callers."""

from collections.abc import Callable, Sequence
from typing import Any, Final, overload

import numpy as np
from numpy.typing import NDArray

from sparsegam.arrays import FloatArray

IntArray = NDArray[np.int64]
Codes = NDArray[np.uint8] | NDArray[np.uint16]
Mask = NDArray[np.bool_]
Ramps = tuple[FloatArray, FloatArray, IntArray]
"""Ramps of a feature: (bin_centres, bin_ends, knots), see `ThresholdDesign`."""

def bin_edges(values: FloatArray, max_bins: int, min_rows: int = 1) -> FloatArray:
    """Return the sorted thresholds of a feature.

    These are all distinct values except the largest, or quantiles if there are more than `max_bins` distinct values.
    Thresholds are dropped until every bin has at least `min_rows` rows.
    """

def select_thresholds(counts: FloatArray, min_count: float) -> IntArray:
    """Select thresholds, from the lowest up, such that every remaining bin has at least `min_count` rows.

    Parameters
    ----------
    counts : array of shape (n_thresholds + 1,)
        Number of rows per bin before the selection.
    min_count : float
        Minimum number of rows below the first, between any two, and above the last selected threshold.
    """

def distinct(values: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the distinct values in ascending order and their counts; `values` must not contain NaN."""

def bin_codes(values: FloatArray, edges: FloatArray) -> Codes:
    """Return the bin of each value: the number of edges below it, so that values <= edges[0] are in bin 0.

    The codes are uint8 for up to 256 bins and uint16 otherwise.
    """

def bin_counts(codes: Codes, n_bins: int, weight: FloatArray | None = None) -> FloatArray:
    """Return the number of rows per bin, or the sum of their weights. Releases the GIL and does not copy the codes."""

class ThresholdDesign:
    """Binned features. Each bin and each ramp of a feature is a column of the design.

    Feature j has n_bins[j] bins, of which the first n_ordered[j] are ordered. An ordered bin b is the column
    `code <= b`; any other bin is the column `code == b` (a level, a special code or missing).

    ramps[j] is None or a tuple (bin_centres, bin_ends, knots): the mean value and the upper end of each ordered bin, in
    any unit, and the bins whose upper ends are the knots of ramps. Ramp r is the column
    `min(centre - end[knots[r]], 0)`, which is zero above its knot.

    Columns are numbered by feature, then bins, then ramps: the column of bin b of feature j is offset[j] + b.
    """

    def __init__(
        self, codes: Sequence[Codes], n_bins: IntArray, n_ordered: IntArray, ramps: Sequence[Ramps | None] | None = None
    ) -> None: ...
    def column_counts(
        self, features: IntArray, weight: FloatArray | None = None, mask: Mask | None = None
    ) -> FloatArray:
        """Return, for each column of some features, the number of rows for which it is 1.

        For a ramp, the rows below its knot are counted. With `weight`, the weights of these rows are summed. With
        `mask`, only rows where the mask is True are counted.
        """

    def row_scores(self, point: Point) -> FloatArray:
        """Return the score of each row. The terms are summed in column order, so that results are reproducible."""

    n_rows: Final[int]
    n_columns: Final[int]
    offset: Final[IntArray]

class Matrix:
    """Raw numeric columns: a contiguous float32 or float64 array, or the arrays of a CSC matrix; not copied."""

    @overload
    def __init__(self, dense: FloatArray | NDArray[np.float32]) -> None: ...
    @overload
    def __init__(self, data: FloatArray, rows: NDArray[np.int32], start: IntArray, n_rows: int) -> None: ...
    n_rows: Final[int]
    n_columns: Final[int]

LOSSES: tuple[str, ...]
"""Names of the implemented losses."""

class Point:
    """A model: intercept, columns and coefficients; once evaluated, also its loss (a sum over rows) and its ridge."""

    def __init__(
        self, intercept: float, columns: IntArray, coef: FloatArray, *, loss: float = ..., ridge: float = 0.0
    ) -> None: ...
    intercept: Final[float]
    columns: Final[IntArray]
    coef: Final[FloatArray]
    loss: Final[float]
    ridge: Final[float]

class ColumnInfo:
    """Kind, mean and norm of each column of a design.

    Parameters
    ----------
    kind : sequence of {"step", "level", "ramp", "raw"}
        "step" is `x <= t`, "level" any other 0/1 column, "ramp" `min(x - t, 0)` and "raw" a numeric column.
    mean, centred_sq_norm : arrays of shape (n_columns,)
        Weighted mean, and weighted squared norm of the column minus its mean.
    total_weight : float
        Sum of the sample weights.
    nested : sequence of (first, last)
        For each ordered feature, the range of columns that are its steps, in ascending order of the threshold.
    shortlist : int, default=0
        Number of columns up to which a scan of selected columns is faster than a scan of all columns; 0 if it never is.
    nested_ramps : sequence of (first, last), default=()
        For each entry of `nested`, the range of columns that are the ramps of the same feature.
    knot : array of shape (n_columns,), default=None
        Threshold t of each step and ramp in `nested` and `nested_ramps`, in the unit of the ramps. Required if there
        are ramps, and not allowed otherwise.
    """

    def __init__(
        self,
        *,
        kind: Sequence[str],
        mean: FloatArray,
        centred_sq_norm: FloatArray,
        total_weight: float,
        nested: Sequence[tuple[int, int]],
        shortlist: int = 0,
        nested_ramps: Sequence[tuple[int, int]] = (),
        knot: FloatArray | None = None,
    ) -> None: ...
    mean: Final[FloatArray]
    centred_sq_norm: Final[FloatArray]
    ramps: Final[IntArray]
    """Indices of the columns that are ramps."""

    total_weight: Final[float]
    kind: Final[list[str]]
    nested: Final[list[tuple[int, int]]]
    nested_ramps: Final[list[tuple[int, int]]]
    knot: Final[FloatArray]
    shortlist: Final[int]
    def __len__(self) -> int: ...

CoarseBins = tuple[NDArray[np.uint8], int, int]
"""Coarse bins of a feature, for interactions: (coarse bin of each bin, n_ordered, n_coarse).

There are at most 256 coarse bins. The first n_ordered are ordered, and any other is a single level. They define the
conditions of which interactions are made. With m = max(n_ordered - 1, 0), condition p is `coarse <= p` for p < m,
`coarse > p - m` among the ordered bins for m <= p < 2 m, and `coarse == n_ordered + p - 2 m` for larger p.
"""

class ScanToken:
    """The curvature of each row at the time of a scan, for `rescan`. Valid only for the rows that returned it."""

class Rows:
    """Access to the training data for a search. Derive from this class to implement it in Python.

    A derived class has the attributes `loss` (a name) and `columns` (a ColumnInfo), and the methods `evaluate`,
    `newton`, `scan`, `rescan` and `groups` with the arguments and return values of LocalRows; `pair_sums` is needed
    only for interactions. Its `scan` may return any object as the token. Matrices may be flat or two-dimensional. Every
    call passes the point, so that an implementation needs no state.
    """

    def __init__(self) -> None: ...

class LocalRows(Rows):
    """Rows in the memory of this process, summed by compiled kernels."""

    loss: Final[str]
    columns: Final[ColumnInfo]
    def evaluate(self, points: Sequence[Point]) -> FloatArray:
        """Return the loss at each point, in one pass over the rows."""

    def newton(
        self, point: Point, support: IntArray, low_precision: bool = False
    ) -> tuple[float, FloatArray, FloatArray]:
        """Return the loss, the Hessian (flat) and the gradient for the intercept and some columns of the point.

        With `low_precision`, sums may be computed in float32.
        """

    def scan(self, point: Point, columns: IntArray) -> tuple[Any, ...]:
        """Compute the sums from which every addition, removal and swap is scored.

        Returns a token, the Hessian and the gradient of the support, and, for the given columns (an empty array selects
        all columns), their gradients, their curvatures and their products with the support (columns x (terms + 1),
        flat). If there are ramps, a last array contains, for a ramp, the sum of its values weighted by the curvature of
        the rows, and for a step, the sum of the bin centres of its rows weighted likewise.
        """

    def rescan(
        self, token: ScanToken, point: Point, entered: IntArray, columns: IntArray
    ) -> tuple[float, FloatArray, FloatArray, FloatArray]:
        """Compute gradients at a new point and products with new columns, with the curvature of an earlier scan.

        Returns the sum of the gradient over all rows and, for the given columns (an empty array selects all columns),
        the gradients and the curvatures (0/1 columns only) at the new point, and the products with the columns
        `entered` under the curvature stored in the token. A token of other rows raises a ValueError.
        """

    def groups(self, point: Point, columns: IntArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return sums of gradient, curvature and loss over the rows where each 0/1 column is 1, and over all rows."""

    def pair_sums(
        self, point: Point, coarse_bins: Sequence[CoarseBins | None], pairs: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the gradient and the curvature summed over the two-dimensional bins of pairs of features.

        `coarse_bins` has one entry per feature, None for features that are in none of the pairs; `pairs` has shape
        (n_pairs, 2). The tables of all pairs are flattened and concatenated; each has a row for each coarse bin of the
        first feature of the pair.
        """

    def slopes(self, point: Point, centred: bool = True) -> tuple[FloatArray, FloatArray]:
        """Return the slope and the curvature of the loss along each column, centred by its mean or raw."""

    def line(self, point: Point, column: int, step: float) -> tuple[float, float, float]:
        """Return the loss, its slope and its curvature after a step along one centred column."""

    def shift(self, start: Point, to: Point, column: int) -> float:
        """Return the loss at `to`, which differs from `start` in the intercept and the coefficient of a 0/1 column."""

class ThresholdRows(LocalRows):
    """Rows of a threshold design. Without weights, every row has weight one."""

    def __init__(
        self, design: ThresholdDesign, y: FloatArray, weight: FloatArray | None, *, loss: str, n_threads: int
    ) -> None: ...

class MatrixRows(LocalRows):
    """Rows of a matrix of raw columns. Caches use about `max_bytes` in addition to the matrix."""

    def __init__(
        self, matrix: Matrix, y: FloatArray, weight: FloatArray, *, loss: str, n_threads: int, max_bytes: int = 2**28
    ) -> None: ...

class RawColumns:
    """Selected columns of a threshold design, computed from the raw values of the rows instead of their bins.

    `ramps` has one entry per column: None if the column is determined by the bins, or a tuple (values, codes, low,
    high, knot). If codes is None, `values` has one value per row, else one per code, and `codes` has the code of each
    row. Values are clipped to [low, high] and scaled such that low is -1 and high is 0; `knot` is in this unit.
    """

    def __init__(self, design: ThresholdDesign, columns: IntArray, ramps: Sequence[tuple[Any, ...] | None]) -> None: ...
    def scores(self, intercept: float, coef: FloatArray) -> FloatArray:
        """Return the score of each row."""

class RawRows(Rows):
    """Rows for refits on raw values. `binned_info` describes all columns of the design, as binned in the search."""

    def __init__(
        self,
        columns: RawColumns,
        binned_info: ColumnInfo,
        y: FloatArray,
        weight: FloatArray,
        *,
        loss: str,
        n_threads: int,
    ) -> None: ...
    loss: Final[str]
    columns: Final[ColumnInfo]
    def evaluate(self, points: Sequence[Point]) -> FloatArray: ...
    def newton(
        self, point: Point, support: IntArray, low_precision: bool = False
    ) -> tuple[float, FloatArray, FloatArray]: ...

class Penalty:
    """Penalties on the columns and limits on which of them may be in a model together.

    Parameters
    ----------
    lambda2, lambda1 : float
        The penalty on the coefficients is the sum over columns of lambda2 * penalty_scale * w^2 +
        lambda1 * sqrt(penalty_scale) * |w|.
    cost : array of shape (n_columns,)
        Factor by which lambda0 is multiplied for each column.
    low, high : arrays of shape (n_columns,)
        Bounds of the coefficients, with low <= 0 <= high.
    allowed : boolean array of shape (n_columns,)
        Whether a column may enter the model.
    group : integer array of shape (n_columns,)
        Source feature of each column; for interactions, a number for each pair of features that no other column has.
    always : integer array
        Columns that are in every model and whose cost is zero.
    max_groups, max_per_group : int, default=0
        Maximum number of source features, those of interactions included, and of terms per source feature; 0 for no
        limit.
    penalty_scale : array of shape (n_columns,), default=None
        See lambda2. By default `ColumnInfo.centred_sq_norm`.
    free_intercept : bool, default=True
        Whether the intercept is fitted; otherwise it is fixed at zero.
    parents : integer array of shape (n_columns, 2), default=None
        The two source features of each interaction; -1 for other columns.
    max_per_pair : int, default=0
        Maximum number of interactions per pair of features; 0 for no limit.
    hierarchy : {"none", "weak", "strong"}, default="none"
        Whether an interaction requires a main effect of one ("weak") or both ("strong") of its features.
    """

    def __init__(
        self,
        *,
        lambda2: float,
        cost: FloatArray,
        low: FloatArray,
        high: FloatArray,
        allowed: Mask,
        group: IntArray,
        always: IntArray,
        max_groups: int = 0,
        max_per_group: int = 0,
        lambda1: float = 0.0,
        penalty_scale: FloatArray | None = None,
        free_intercept: bool = True,
        parents: IntArray | None = None,
        max_per_pair: int = 0,
        hierarchy: str = "none",
    ) -> None: ...
    def with_lambda2(self, lambda2: float) -> Penalty:
        """Return a copy with another lambda2."""

    def with_lambda1(self, lambda1: float) -> Penalty:
        """Return a copy with another lambda1."""

class Certificate:
    """Result of checking all swaps of one term for one column.

    `swap_optimal` is True if no swap improves the model, `pairs` is the number of swaps checked and `line_searches` the
    number of those that the bounds could not exclude.
    """

    swap_optimal: Final[bool]
    pairs: Final[int]
    line_searches: Final[int]

class Stop:
    """Cancellation flag: after `set`, searches that received it raise a RuntimeError. Can be set from any thread."""

    def __init__(self) -> None: ...
    def set(self) -> None: ...

class SearchResult:
    """Models found by a search, in ascending order of size, whether it finished within its time limit, and counters."""

    points: Final[list[Point]]
    finished: Final[bool]
    counts: Final[dict[str, int]]
    certificate: Final[Certificate | None]

Progress = Callable[[int, float], None]
"""Callback for each improved model: (n_terms, objective without lambda0)."""

def refit(
    rows: Rows,
    penalty: Penalty,
    point: Point,
    *,
    fixed: IntArray | None = None,
    tolerance: float = 1e-9,
    full_precision: bool = True,
) -> Point:
    """Optimise the coefficients of a model with Newton's method.

    Coefficients of the columns `fixed` do not change. Iterations end after a step whose predicted relative decrease of
    the objective is below `tolerance`. With `full_precision`, they continue until convergence to machine precision.
    """

def swap_costs(rows: Rows, penalty: Penalty, point: Point) -> tuple[FloatArray, FloatArray]:
    """Predict the increase of the objective when terms are removed or replaced.

    Returns one value for removing each term, and one for replacing each term by each column (columns x terms, flat).
    Predictions are of second order, with the other coefficients re-optimised. They are infinite for columns that are
    collinear with the remaining terms.
    """

def frontier(
    rows: Rows,
    penalty: Penalty,
    *,
    max_terms: int,
    start: Sequence[Point] = (),
    comparison_lambda0: float = 0.0,
    polish: bool = True,
    time_limit: float | None = None,
    callback: Progress | None = None,
    stop: Stop | None = None,
) -> SearchResult:
    """Search for the best model of each size from 0 to max_terms.

    Parameters
    ----------
    rows : Rows
        Training data.
    penalty : Penalty
        Costs, bounds and limits of the columns.
    max_terms : int
        Largest number of terms. There are fewer models if no further column lowers the objective.
    start : sequence of Point, default=()
        Models to start from, for example those found with a similar lambda2. This takes less time than a new search.
    comparison_lambda0 : float, default=0.0
        Matters only if columns have different costs. Models of one size are compared by
        loss + ridge + comparison_lambda0 * cost, so that the loss need not decrease with size.
    polish : bool, default=True
        Whether coefficients are refitted to machine precision; otherwise they have about six correct digits.
    time_limit : float, default=None
        Seconds after which the search ends with the models found so far.
    callback : callable, default=None
        See Progress.
    stop : Stop, default=None
        Flag with which another thread can cancel the search.

    Returns
    -------
    SearchResult
        points[k] has k terms.
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
) -> SearchResult:
    """Search for the best model at one lambda0. It is points[-1]; with `certify`, all its swaps are checked."""

def swap_path(
    rows: LocalRows,
    penalty: Penalty,
    *,
    lambda0: FloatArray,
    max_terms: int,
    cuts: str,
    dynamic: bool,
    candidates: int = 50,
    line_steps: int = 10,
    max_swaps: int = -1,
    start: Point | None = None,
    time_limit: float | None = None,
    stop: Stop | None = None,
) -> tuple[list[Point], bool, dict[str, int]]:
    """Run the swap search of Liu et al. (2022) for each lambda0 in turn, starting from the previous solution.

    Returns the models, whether the search finished within its time limit, and counters. max_swaps=-1 means no limit.
    """

class BestInteractions:
    """Candidate interactions, grouped by pair and sorted by gain.

    `pair` is the index of the pair, `condition_a` and `condition_b` the conditions on its features (see CoarseBins).
    Gains are predicted decreases of the objective: `marginal_gain` relative to a model with an intercept only, and
    `interaction_gain` relative to a model that also has both conditions as terms.
    """

    pair: Final[IntArray]
    condition_a: Final[IntArray]
    condition_b: Final[IntArray]
    marginal_gain: Final[FloatArray]
    interaction_gain: Final[FloatArray]
    best_interaction_gain: Final[FloatArray]
    """Largest interaction_gain of any interaction of each pair."""

    def __len__(self) -> int: ...

def best_interactions(
    rows: Rows,
    point: Point,
    coarse_bins: Sequence[CoarseBins | None],
    pairs: IntArray,
    *,
    per_pair: int,
    ridge: float = 0.0,
    min_curvature: float = 0.0,
    stop: Stop | None = None,
) -> BestInteractions:
    """Return the interactions with the largest predicted gains at a point.

    Parameters
    ----------
    rows : Rows
        Training data.
    point : Point
        Model at which gradient and curvature are computed.
    coarse_bins, pairs
        See `LocalRows.pair_sums`.
    per_pair : int
        Maximum number of interactions per pair and kind of gain. Of interactions whose conditions are of the same kind
        and whose thresholds differ by at most one coarse bin, only the best is returned, unless all are. With 0, only
        `best_interaction_gain` is computed.
    ridge : float, default=0.0
        Added to the curvature of an interaction: 2 * lambda2 * penalty_scale.
    min_curvature : float, default=0.0
        Minimum of the summed curvature of the rows where an interaction holds, and of all other rows.
    stop : Stop, default=None
        Flag with which another thread can cancel the computation.
    """
