"""Statistics of a fit: rows and events of each term, and the covariance of the coefficients."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sparsegam._models.terms import Part, Term, TermStatistics
from sparsegam.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class FitStatistics:
    """Rows and events of each term, and the covariance of the coefficients.

    Attributes
    ----------
    n_rows, n_events : int, int or None
        Training rows, and those of the positive class; None for a regression.
    rows, events : tuple of int, tuple of int or None
        For each term, the number of rows for which it holds (for a ramp: rows below its knot), and the number of these
        in the positive class.
    intercept_error : float or None
        Standard error of the intercept.
    covariance : dict of str or pair of str to ndarray, or None
        For each feature or pair of features, the covariance of the coefficients of its terms. None if the Hessian is
        singular.
    unshrunken : tuple of float or None
        For each term, its coefficient after one Newton step without the ridge, the centre of its confidence interval.
        None if the Hessian is singular.

    Notes
    -----
    Covariances are Wald covariances: the inverse of the Hessian of the loss at the unshrunken coefficients, including
    the intercept, multiplied by the residual variance for the squared loss. They ignore that the terms were selected,
    so that standard errors are too small; `stability` repeats the selection on samples of the data.
    """

    n_rows: int
    n_events: int | None
    rows: tuple[int, ...]
    events: tuple[int, ...] | None
    intercept_error: float | None = None
    covariance: Mapping[Part, FloatArray] | None = None
    unshrunken: tuple[float, ...] | None = None

    def attached_to(self, terms: Sequence[Term]) -> tuple[Term, ...]:
        """Return the terms with their statistics."""
        events: Sequence[int | None] = [None] * len(terms) if self.events is None else self.events
        centres: Sequence[float | None] = [None] * len(terms) if self.unshrunken is None else self.unshrunken
        counts = zip(terms, self.rows, events, self._errors(terms), centres, strict=True)
        return tuple(
            replace(term, statistics=TermStatistics(n, self.n_rows - n, n_events, error, centre))
            for term, n, n_events, error, centre in counts
        )

    def shares(self, terms: Sequence[Term], part: Part) -> FloatArray:
        """Return the share of the training rows for which each term of a feature or a pair holds."""
        counts = [n for n, term in zip(self.rows, terms, strict=True) if term.part == part]
        return np.array(counts) / self.n_rows

    def errors_of(self, part: Part, values: FloatArray, means: FloatArray) -> FloatArray | None:
        """Return the standard errors of contributions minus their mean; None if the covariance is unknown.

        `values` has a row for each contribution with the values of the terms, and `means` their means over the training
        rows. The variance of a contribution is (values - means)' covariance (values - means).
        """
        if self.covariance is None:
            return None
        away = values - means
        variance = ((away @ self.covariance[part]) * away).sum(axis=1)
        out: FloatArray = np.sqrt(np.maximum(variance, 0.0))
        return out

    def corrections_of(
        self, terms: Sequence[Term], part: Part, values: FloatArray, means: FloatArray
    ) -> FloatArray | None:
        """Return how far the centre of each interval of `errors_of` is from the contribution minus its mean.

        This undoes the shrinkage of the ridge; None if the unshrunken coefficients are unknown.
        """
        if self.unshrunken is None:
            return None
        changes = [centre - term.coef for term, centre in zip(terms, self.unshrunken, strict=True) if term.part == part]
        out: FloatArray = (values - means) @ np.array(changes)
        return out

    def _errors(self, terms: Sequence[Term]) -> list[float | None]:
        if self.covariance is None:
            return [None] * len(terms)
        each = {part: iter(np.sqrt(block.diagonal()).tolist()) for part, block in self.covariance.items()}
        return [next(each[term.part]) for term in terms]
