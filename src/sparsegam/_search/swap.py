"""The published swap search: thresholding, swaps in the order of the gradient, cuts, and a queue of terms.

Liu, Zhong, Seltzer, Rudin (AISTATS 2022), algorithms 1 to 5 and theorem 5.1. The exchange search of this package is
faster and reaches lower objectives; this one is for comparison, and to reproduce the experiments of the paper.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from sparsegam import _core
from sparsegam._search.penalty import check_lambda0, depends_on_model, fixed_point
from sparsegam._search.problem import Problem
from sparsegam._search.ridge import AUTO
from sparsegam._search.solver import Fit
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_choice, check_integer, shown
from sparsegam.choices import Cuts, Order
from sparsegam.losses import LOSSES

CUTS = get_args(Cuts)
ORDERS = get_args(Order)


@dataclass(frozen=True)
class SwapSearch:
    """Options of the swap search, validated when constructed.

    Attributes
    ----------
    cuts : {"auto", "none", "linear", "quadratic", "selfconcordant"}, default="auto"
        Lower bound that rules out a column before its line search. "auto" is the self-concordant one; quadratic cuts
        need lambda2 > 0 and are linear otherwise. No choice changes the result. The exponential loss uses a closed form
        instead.
    order : {"dynamic", "sequential"}, default="dynamic"
        Term to try next: the one that failed least often, or the first by column.
    candidates : int, default=50
        Number of columns tried in place of a term, those with the steepest gradients; 0 for all.
    line_steps : int, default=10
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
    """The models of a swap search, one for each pair of lambda2 and lambda0.

    Attributes
    ----------
    models : tuple of Model or LinearModel
        The models, by lambda2, then in the order of lambda0 as given.
    lambda0, lambda2 : ndarray
        Penalty per term and ridge penalty of each model.
    n_terms, loss, objective : ndarray
        Number of terms, loss, and loss plus ridge and the penalty of all terms, of each model.
    finished : bool
        False if `time_limit` ended the search.
    search_stats : dict
        Numbers of terms and columns tried, swaps and drops made, columns ruled out by each cut, and line searches.
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


def fit_swap(problem: Problem[Any], lambda0: float | str, options: SwapSearch) -> Fit:
    """Fit a model at one penalty per term with the swap search, as `solver.fit` does with the exchange search."""
    if problem.options.certify:
        msg = (
            "the swap search does not certify its model, got certify=True with search='swap': use search='exchange' "
            "for a certificate, or certify=False."
        )
        raise ValueError(msg)
    if np.any(getattr(problem.design, "n_ramps", 0)):
        msg = "search='swap' supports steps only: use shapes='steps'."
        raise ValueError(msg)
    if lambda0 == AUTO and LOSSES[problem.options.loss].is_classifier:

        def best_at(penalty: float) -> tuple[float, int]:
            point = search_swap(problem, np.array([penalty]), options)[0][-1]
            return point.loss + point.ridge, len(point.columns)

        penalty = fixed_point(problem.unit_penalty(AUTO), problem.total_weight, None, best_at)
    else:
        penalty = fixed_penalty(lambda0, problem)
    points, finished, counts = search_swap(problem, np.array([penalty]), options)
    return Fit(points[-1], penalty, finished, counts, None, problem.total_cost(points[-1]))


def search_swap(
    problem: Problem[Any], lambda0: FloatArray, options: SwapSearch
) -> tuple[list[_core.Point], bool, dict[str, int]]:
    """Run the swap search at each penalty in turn, starting from the previous model."""
    if LOSSES[problem.options.loss].closed_form and problem.ridge.lambda2 > 0:
        msg = (
            f"the swap search supports the {problem.options.loss} loss without ridge only, got "
            f"lambda2={problem.ridge.lambda2:g}: set lambda2=0."
        )
        raise ValueError(msg)
    points, finished, counts = _core.swap_path(
        problem.rows,
        problem.penalty,
        lambda0=np.array([problem.units.core_penalty(penalty) for penalty in lambda0.tolist()]),
        max_terms=problem.max_terms,
        cuts="selfconcordant" if options.cuts == "auto" else options.cuts,
        dynamic=options.order == "dynamic",
        candidates=int(options.candidates),
        line_steps=int(options.line_steps),
        time_limit=problem.deadline.seconds_left,
    )
    return [problem.units.from_core(point) for point in points], finished, counts


def fixed_penalty(lambda0: float | str, problem: Problem[Any]) -> float:
    """Return a penalty per term that does not depend on the model; raise ValueError if it does."""
    check_lambda0(lambda0)
    if depends_on_model(lambda0, problem.options.loss):
        msg = (
            f"the swap search cannot use lambda0={shown(lambda0)}, which depends on the model: pass a number, or use "
            "the exchange search."
        )
        raise ValueError(msg)
    return problem.unit_penalty(lambda0)(0)
