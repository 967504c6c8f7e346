"""Options and the deadline of a search."""

import os
import time
from dataclasses import dataclass
from typing import Any

from joblib import effective_n_jobs  # type: ignore[import-untyped]

from sparsegam._search.ridge import Ridge, ridge_of
from sparsegam.checks import check_boolean, check_choice, check_integer, check_number
from sparsegam.losses import LOSSES

# The default limit is far above what a person can read; a search with lambda0=0 must end somewhere.
DEFAULT_MAX_TERMS = 500


@dataclass(frozen=True)
class SearchOptions:
    """Options of a search, validated when constructed.

    Attributes
    ----------
    loss : {"logistic", "exponential", "squared", "squared_hinge"}
        The loss, summed over rows.
    lambda2 : float or "auto"
        The ridge penalty; see `sparsegam._search.ridge`.
    max_terms : int or None
        Largest number of terms; None: no limit, so that lambda0 alone determines the size.
    n_jobs : int or None
        Number of threads, as joblib counts them.
    time_limit : float or None
        Seconds that a fit may take.
    certify : bool
        Whether to prove that the model is swap 1-OPT.
    standardize : bool or None
        Whether the ridge applies to standardized coefficients; None: only if lambda2 is a number.
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
        """Number of threads."""
        return n_threads(self.n_jobs)


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads for `n_jobs`, as joblib counts them, but at most the number of cores."""
    if n_jobs is not None:
        check_integer("n_jobs", n_jobs)
    requested = int(effective_n_jobs(n_jobs))
    return 1 if requested <= 1 else min(requested, os.cpu_count() or 1)


@dataclass(frozen=True)
class Deadline:
    """The time at which a fit must end, by time.monotonic(); None if there is no time limit."""

    at: float | None = None

    @classmethod
    def after(cls, seconds: float | None) -> "Deadline":
        """Return the deadline this many seconds from now."""
        return cls() if seconds is None else cls(time.monotonic() + float(seconds))

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the deadline, at least 0; None if there is no time limit."""
        return None if self.at is None else max(self.at - time.monotonic(), 0.0)

    def share(self, fraction: float) -> "Deadline":
        """Return the deadline after this fraction of the time left."""
        left = self.seconds_left
        return self if left is None else Deadline.after(left * fraction)

    def within(self, seconds: float | None) -> "Deadline":
        """Return this deadline, or the one after some seconds if that is earlier."""
        if seconds is None or self.at is None:
            return self if seconds is None else Deadline.after(seconds)
        return Deadline(min(self.at, time.monotonic() + seconds))


NO_LIMIT = Deadline()
