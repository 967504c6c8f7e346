"""The paper's own search, by name: thresholding, swaps in the order of the gradient, cuts, a queue of terms.

Liu, Zhong, Seltzer, Rudin (AISTATS 2022), algorithms 1 to 5 and theorem 5.1. The exchange search of this package is
faster and reaches lower objectives; this one is for comparison, and to rerun the paper's experiments.
"""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._data.target import read_target
from sparsegam._search.inputs import Inputs
from sparsegam._search.matrices import Matrices
from sparsegam._search.options import Options
from sparsegam._search.price import check_lambda0, is_settled, settled_price, warn_of_weights
from sparsegam._search.problem import Problem, replace_options, with_time_left
from sparsegam._search.ridge import AUTO
from sparsegam._search.solver import Fit
from sparsegam._search.tables import Tables
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_choice, check_integer, check_number
from sparsegam.choices import Cuts, Order
from sparsegam.losses import LOSSES
from sparsegam.parameters import documented, pick

CUTS = get_args(Cuts)
ORDERS = get_args(Order)


@dataclass(frozen=True)
class Swaps:
    """How the swap search goes about it; wrong values are refused when it is made.

    Attributes
    ----------
    cuts : {"auto", "none", "linear", "quadratic", "selfconcordant"}
        Which lower bound rules out a column before its line search. Quadratic cuts need lambda2 > 0 and are linear
        without it; "auto" is the self-concordant one. None of them changes the result. The exponential loss has a
        closed form in their place.
    order : {"dynamic", "sequential"}
        Which term to try next: the one that failed least often, or the first by column.
    candidates : int
        Number of columns tried in the place of a term, those with the steepest slopes; 0 for all.
    line_steps : int
        Number of thresholding steps of a line search.
    """

    cuts: Cuts = "auto"
    order: Order = "dynamic"
    candidates: int = 50
    line_steps: int = 10

    def __post_init__(self) -> None:
        check_choice("cuts", self.cuts, CUTS)
        check_choice("order", self.order, ORDERS)
        check_integer("candidates", self.candidates, at_least=0)
        check_integer("line_steps", self.line_steps, at_least=1)


@dataclass(frozen=True)
class SwapPath:
    """The models of a swap search, one for each pair of lambda2 and lambda0 that was asked for.

    Attributes
    ----------
    models : tuple of Model or LinearModel
        The models, by lambda2, then in the order of lambda0 as it was given.
    lambda0, lambda2 : ndarray
        The prices of each model.
    n_terms, loss, objective : ndarray
        Its size, its loss, and its loss with ridge and the price of all terms.
    finished : bool
        False where `time_limit` ended the search.
    search_stats : dict
        Terms and columns tried, swaps and drops made, columns ruled out by each cut, line searches and their points.
    """

    models: tuple[Any, ...]
    lambda0: FloatArray
    lambda2: FloatArray
    n_terms: NDArray[np.int64]
    loss: FloatArray
    objective: FloatArray
    finished: bool
    search_stats: dict[str, int]

    def __len__(self) -> int:
        return len(self.models)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.models)


@documented
def swap_path(  # noqa: D417, PLR0913
    X: Any,
    y: Any,
    *,
    loss: str = "logistic",
    lambda0: Any = (5.0,),
    lambda2: Any = 1e-3,
    cuts: Cuts = "auto",
    order: Order = "dynamic",
    candidates: int = 50,
    line_steps: int = 10,
    max_terms: int | None = None,
    max_features: int | None = None,
    max_terms_per_feature: int | None = None,
    features_always: Any = None,
    features_never: Any = None,
    feature_cost: Any = None,
    monotone: Any = None,
    max_bins: int = 1000,
    thresholds: Any = None,
    min_samples_bin: int = 1,
    categorical: Any = "auto",
    min_category_count: int = 5,
    special_values: Any = None,
    missing: str = "mean",
    sample_weight: Any = None,
    n_jobs: int | None = None,
    time_limit: float | None = None,
) -> SwapPath:
    """Find additive models by the paper's swap search, at each lambda0 warm from the one above it.

    It looks for models f with k terms that no swap of one term for another column improves, of

        sum_i s_i loss(y_i, f(x_i)) + lambda0 k + lambda2 sum_j (sigma_j w_j)^2.

    Parameters
    ----------
    X : array-like or data frame of shape (n_rows, n_features)
        Numbers, booleans, dates, text and categories; values may be missing.
    y : array-like of shape (n_rows,)
        Labels of two classes, or numbers for the squared loss.
    loss : {"logistic", "exponential", "squared", "squared_hinge"}
        The loss, summed over rows. The exponential one needs lambda2=0.
    lambda0 : float, {"aic", "bic"}, or a sequence of them
        Prices of a term. They are searched from the largest down, and answered in the order given.
    lambda2 : float or sequence of float
        Ridge penalties on the standardised coefficients; each starts anew.
    cuts, order, candidates, line_steps
        How to search: see `Swaps`.
    max_terms : int, optional
        Largest number of terms.
    {table}
    {weights}
    {run}

    Returns
    -------
    SwapPath
        A model for each lambda2 and lambda0, and counts of what the search did.

    Examples
    --------
    >>> from sparsegam._search.swap import swap_path
    >>> ages = [[a] for a in range(20, 60)]
    >>> answers = ["no" if a <= 40 else "yes" for (a,) in ages]
    >>> path = swap_path(ages, answers, lambda0=[3.0, 2.0], lambda2=0.01, cuts="quadratic")
    >>> path.n_terms
    array([1, 1])
    """
    given = locals()
    return _grid(Tables.of(given), X, y, given)


@documented
def linear_swap_path(  # noqa: D417, PLR0913
    X: Any,
    y: Any,
    *,
    loss: str = "logistic",
    lambda0: Any = (5.0,),
    lambda2: Any = 1e-3,
    cuts: Cuts = "auto",
    order: Order = "dynamic",
    candidates: int = 50,
    line_steps: int = 10,
    max_terms: int | None = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    time_limit: float | None = None,
) -> SwapPath:
    """Find linear models by the paper's swap search, at each lambda0 warm from the one above it.

    As `swap_path`, but the candidates are the columns of X themselves.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_columns)
        Numbers.
    loss : {"logistic", "squared", "squared_hinge"}
        The loss, summed over rows.
    y, lambda0, lambda2, cuts, order, candidates, line_steps, max_terms, sample_weight
        As for `swap_path`; a column in use is a term.
    {run}

    Returns
    -------
    SwapPath
        The models, as those of `swap_path`.
    """
    given = locals()
    return _grid(Matrices.of(given), X, y, given)


def fit_swap(problem: Problem[Any], lambda0: float | str, swaps: Swaps) -> Fit:
    """Search one price per term with the paper's search: what `solver.fit` is for the exchange search."""
    if problem.options.certify:
        msg = (
            "the swap search proves nothing about its model, got certify=True with search='swap': set "
            "search='exchange' for a certificate, or certify=False."
        )
        raise ValueError(msg)
    unit = _settled(problem, swaps) if lambda0 == AUTO else _price(lambda0, problem)
    points, finished, counts = search_swap(problem, np.array([unit]), swaps)
    return Fit(points[-1], unit, finished, counts, None, problem.factor(points[-1]))


def search_swap(
    problem: Problem[Any], lambda0: FloatArray, swaps: Swaps
) -> tuple[list[_core.Point], bool, dict[str, int]]:
    """Run the search at each price in turn, warm from the one before."""
    if LOSSES[problem.options.loss].closed_form and problem.ridge.lambda2 > 0:
        msg = (
            f"the swap search has a closed form for the {problem.options.loss} loss without ridge only, got "
            f"lambda2={problem.ridge.lambda2:g}: set lambda2=0."
        )
        raise ValueError(msg)
    points, finished, counts = _core.swap_path(
        problem.rows,
        problem.penalty,
        lambda0=np.array([problem.units.price(unit) for unit in lambda0.tolist()]),
        max_terms=problem.max_terms,
        cuts="selfconcordant" if swaps.cuts == "auto" else swaps.cuts,
        dynamic=swaps.order == "dynamic",
        candidates=int(swaps.candidates),
        line_steps=int(swaps.line_steps),
        time_limit=problem.options.time_limit,
    )
    return [problem.units.from_core(point) for point in points], finished, counts


def _grid(inputs: Inputs[Any, Any], X: Any, y: Any, given: dict[str, Any]) -> SwapPath:
    """Search all pairs of prices and put the models into the words of the data."""
    began, swaps = time.monotonic(), pick(Swaps, given)
    ridges = [_number("lambda2", value) for value in _listed(given["lambda2"])]
    options = pick(Options, {**given, "lambda2": ridges[0]})
    data = inputs.read(X)
    target = read_target(y, options.loss, data.n_rows, sample_weight=given["sample_weight"])
    problem = inputs.pose(data, target.values, target.weight, options)
    asked = _listed(given["lambda0"])
    units = np.array([_price(value, problem) for value in asked])
    for value in asked:
        warn_of_weights(value, problem.mean_weight)
    order = np.argsort(-units, kind="stable")
    points: list[_core.Point] = []
    models: list[Any] = []
    counts: Counter[str] = Counter()
    finished = True
    for n, ridge in enumerate(ridges):
        part = problem if n == 0 else inputs.pose(data, target.values, target.weight, replace(options, lambda2=ridge))
        part = _with_share(with_time_left(part, began), len(ridges) - n)
        found, done, searched = search_swap(part, units[order], swaps)
        mine = [found[i] for i in np.argsort(order)]
        points += mine
        models += [part.model(point, target.classes) for point in mine]  # by its own ridge, which errors depend on
        counts.update(searched)
        finished &= done
    loss = np.array([point.loss for point in points])
    n_terms = np.array([len(point.columns) for point in points], dtype=np.int64)
    prices = np.tile(units, len(ridges))
    return SwapPath(
        models=tuple(models),
        lambda0=prices,
        lambda2=np.repeat(ridges, units.size),
        n_terms=n_terms,
        loss=loss,
        objective=loss + np.array([point.ridge for point in points]) + prices * list(map(problem.factor, points)),
        finished=finished,
        search_stats=dict(counts),
    )


def _settled(problem: Problem[Any], swaps: Swaps) -> float:
    """Settle the price that depends on the size of the model."""
    if not LOSSES[problem.options.loss].is_classifier:
        return _price(AUTO, problem)

    def solve(lambda0: float) -> tuple[float, int]:
        point = search_swap(problem, np.array([lambda0]), swaps)[0][-1]
        return point.loss + point.ridge, len(point.columns)

    return settled_price(problem.price(AUTO), problem.total_weight, None, solve)


def _with_share(problem: Problem[Any], n_left: int) -> Problem[Any]:
    """Return the problem with its share of the time that is left for so many."""
    limit = problem.options.time_limit
    return problem if limit is None else replace_options(problem, time_limit=limit / n_left)


def _price(lambda0: float | str, problem: Problem[Any]) -> float:
    check_lambda0(lambda0)
    if is_settled(lambda0, problem.options.loss):
        msg = f"the swap search cannot settle a price that depends on the model, as {lambda0!r}: give it as a number."
        raise ValueError(msg)
    return problem.price(lambda0)(0)


def _listed(values: Any) -> Sequence[Any]:
    one = isinstance(values, str) or np.ndim(values) == 0
    listed = [values] if one else list(values)
    if not listed:
        msg = "lambda0 and lambda2 must hold at least one price, got none."
        raise ValueError(msg)
    return listed


def _number(name: str, value: Any) -> float:
    check_number(name, value, at_least=0.0)
    return float(value)
