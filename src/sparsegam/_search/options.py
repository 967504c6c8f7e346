"""What the user may choose about a problem and its search; wrong values are refused here."""

import os
from dataclasses import dataclass
from typing import Any

from joblib import effective_n_jobs  # type: ignore[import-untyped]

from sparsegam._search.ridge import Ridge, ridge_of
from sparsegam.checks import check_boolean, check_choice, check_integer, check_number
from sparsegam.losses import LOSSES

DEFAULT_MAX_TERMS = 500  # far above what a person can read; a search without a price per term must end somewhere


@dataclass(frozen=True)
class Options:
    """What the user may choose about a problem and its search; wrong values are refused when it is made.

    Attributes
    ----------
    loss : {"logistic", "exponential", "squared", "squared_hinge"}
        Loss that is summed over rows.
    lambda2 : float or "auto"
        The ridge: on the standardised coefficients, or as search/ridge.py has it by name.
    max_terms : int or None
        Largest number of terms; None leaves it to the price per term.
    n_jobs : int or None
        Number of threads, as joblib counts them.
    time_limit : float or None
        Seconds after which the search returns the best it has.
    certify : bool
        Whether to prove the model swap 1-OPT, going on from any better one that the proof finds.
    standardize : bool or None
        Whether the ridge is on standardised coefficients or on bare ones; None leaves it to lambda2.
    """

    loss: str
    lambda2: Any
    max_terms: int | None
    n_jobs: int | None = None
    time_limit: float | None = None
    certify: bool = False
    standardize: bool | None = None

    def __post_init__(self) -> None:
        check_choice("loss", self.loss, tuple(LOSSES))
        ridge_of(self.lambda2, self.loss, standardize=self.standardize)
        if self.max_terms is not None:
            check_integer("max_terms", self.max_terms, at_least=0)
        n_threads(self.n_jobs)
        if self.time_limit is not None:
            check_number("time_limit", self.time_limit, at_least=0.0)
        check_boolean("certify", self.certify)

    def ridge(self, total_weight: float) -> Ridge:
        """Return the ridge for rows of this total weight."""
        return ridge_of(self.lambda2, self.loss, standardize=self.standardize).at(total_weight)

    @property
    def n_threads(self) -> int:
        """Number of threads that n_jobs stands for."""
        return n_threads(self.n_jobs)


def n_threads(n_jobs: int | None) -> int:
    """Number of threads that n_jobs stands for, as joblib counts them; no more than the machine has cores."""
    if n_jobs is not None:
        check_integer("n_jobs", n_jobs)
    asked = int(effective_n_jobs(n_jobs))
    return 1 if asked <= 1 else min(asked, os.cpu_count() or 1)
