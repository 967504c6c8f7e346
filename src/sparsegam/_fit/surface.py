"""Scores of every ridge and every size on every fold, and the rules that pick one of them."""

from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from sparsegam._search.path import Path
from sparsegam._search.ridge import Ridge
from sparsegam.arrays import FloatArray
from sparsegam.checks import warn
from sparsegam.choices import Rule

RULES = get_args(Rule)
# "steady", set by benchmarks/choosing.py: the best of hundreds of scores is in part the luckiest, and luck seldom
# strikes neighbours alike. More of them are no better where folds are repeated, and worse where the truth is simple.
BESIDE = 0.5  # what a size one term smaller or larger counts for
FAR_WORSE = 2.0  # times what the best fold gains that a fold must lose for its rows to count as different


@dataclass(frozen=True, eq=False)
class Surface:
    """Scores by ridge, size and fold.

    Attributes
    ----------
    ridges : tuple of Ridge
        The ridges, the weakest first; all of them again for each further design.
    lambda2 : ndarray
        What they are for all rows.
    n_terms : ndarray of int
        The sizes.
    scores : ndarray of shape (n_ridges, n_sizes, n_folds)
        The scores; larger is better.
    apart : float, optional
        How many folds that share no row stand behind the standard errors; None is all of them. Folds drawn anew test
        the same rows again: they steady a mean, but do not tell more rows apart.
    """

    ridges: tuple[Ridge, ...]
    lambda2: FloatArray
    n_terms: NDArray[np.int64]
    scores: FloatArray
    apart: float | None = None

    def __post_init__(self) -> None:
        mean = self.scores.mean(axis=(0, 2))
        if not np.isfinite(mean).all():
            msg = (
                f"scoring gave values that are not finite (mean scores by size: {mean}): choose another scoring or cv."
            )
            raise ValueError(msg)

    @property
    def mean(self) -> FloatArray:
        """Mean over the folds."""
        mean: FloatArray = self.scores.mean(axis=2)
        return mean

    @property
    def steady(self) -> FloatArray:
        """Mean over the folds, and over each size with those one term smaller and larger, which count half."""
        distance = np.abs(self.n_terms[:, np.newaxis] - self.n_terms)
        weight = np.where(distance == 0, 1.0, np.where(distance == 1, BESIDE, 0.0))
        steady: FloatArray = self.mean @ (weight / weight.sum(axis=0))
        return steady

    def error(self, scores: FloatArray) -> FloatArray:
        """Return the standard error of the mean over the folds, which are the last axis."""
        return standard_error(scores, self.apart)

    def choose(self, rule: str, n_plain: int | None = None) -> tuple[int, int]:
        """Pick a ridge and a size, by their positions.

        "best" takes the best mean score, "steady" the best of those that are averaged with their neighbours'. "one_se"
        takes the smallest size that is behind the best by no more than one standard error, that of the differences
        between the two on the same folds, and the best ridge of that size. Where only the first `n_plain` ridges are of
        designs without products, one of the others must be better than these by more than a standard error.
        """
        if n_plain is None or n_plain == len(self.ridges):
            return self._choose(rule)
        plain, size = self._part(slice(None, n_plain))._choose(rule)
        other, larger = self._part(slice(n_plain, None))._choose(rule)
        ahead = self.scores[n_plain + other, larger] - self.scores[plain, size]
        return (n_plain + other, larger) if ahead.mean() > self.error(ahead) else (plain, size)

    def _part(self, ridges: slice) -> "Surface":
        return Surface(self.ridges[ridges], self.lambda2[ridges], self.n_terms, self.scores[ridges], self.apart)

    def _choose(self, rule: str) -> tuple[int, int]:
        mean = self.steady if rule == "steady" else self.mean
        ridge, size = map(int, np.unravel_index(int(np.argmax(mean)), mean.shape))
        if rule != "one_se":
            return ridge, size
        behind = self.scores[ridge, size] - self.scores
        enough = behind.mean(axis=2) <= self.error(behind)
        size = int(np.flatnonzero(enough.any(axis=0))[0])
        return int(np.argmax(np.where(enough[:, size], mean[:, size], -np.inf))), size

    def results(self, path: Path[Any], ridge: int) -> dict[str, Any]:
        """Return all scores as scikit-learn names them, by ridge, then by size.

        lambda0, the price at which a size is the best, is known for the ridge that was chosen.
        """
        n_ridges, n_sizes, n_folds = self.scores.shape
        flat = self.scores.reshape(-1, n_folds)
        prices = np.full((n_ridges, n_sizes), np.nan)
        prices[ridge, np.isin(self.n_terms, path.n_terms)] = path.lambda0[np.isin(path.n_terms, self.n_terms)]
        mean = flat.mean(axis=1)
        with np.errstate(over="ignore"):
            std = flat.std(axis=1)
        return {
            "n_terms": np.tile(self.n_terms, n_ridges),
            "lambda2": np.repeat(self.lambda2, n_sizes),
            "lambda0": prices.ravel(),
            "mean_test_score": mean,
            "std_test_score": std,
            "se_test_score": self.error(flat),
            "steady_test_score": self.steady.ravel(),
            "rank_test_score": np.argsort(np.argsort(-mean, kind="stable"), kind="stable") + 1,
        } | {f"split{i}_test_score": column for i, column in enumerate(flat.T)}

    def warn_of_choice(self, size: int, max_terms: int) -> None:
        """Say what a user should know about a choice, and what to do about it."""
        n_terms = int(self.n_terms[size])
        self._warn_of_other_rows()
        if n_terms == 0 and len(self.n_terms) > 1:
            msg = (
                "cross-validation chose the model without terms: none was better on rows it was not fitted to. If that "
                "is hard to believe, look at cv_results_, and try rule='best', n_repeats=5 or another scoring."
            )
            warn(msg, UserWarning)
        elif n_terms == max_terms and size == len(self.n_terms) - 1 > 0:
            msg = (
                f"cross-validation chose {n_terms} terms, the most it was allowed to look at: raise max_terms to see "
                "whether more are better still."
            )
            warn(msg, UserWarning)

    def _warn_of_other_rows(self) -> None:
        """Warn where the best model with terms is far worse than none on some fold, though it helps on others."""
        if len(self.n_terms) < 2:
            return
        mean = self.mean
        ridge, size = np.unravel_index(int(np.argmax(mean[:, 1:])), mean[:, 1:].shape)
        gains = self.scores[ridge, size + 1] - self.scores[ridge, 0]
        worst = int(np.argmin(gains))
        if gains[worst] < -FAR_WORSE * max(float(gains.max()), 0.0) < 0:
            msg = (
                f"on fold {worst} the model scores {-gains[worst]:.3g} below one without terms, while it gains up to "
                f"{gains.max():.3g} on others: its rows are unlike the others, as in a table ordered by time or by "
                "place. Shuffle the rows (a number as cv does) if they are all of one kind; if new rows will differ "
                "like that, trust the worst fold."
            )
            warn(msg, UserWarning)


def standard_error(scores: FloatArray, apart: float | None = None) -> FloatArray:
    """Standard error of the mean over folds, which are the last axis, and of which so many share no row."""
    n_folds = scores.shape[-1]
    if n_folds == 1:
        return np.zeros(scores.shape[:-1])
    with np.errstate(over="ignore"):  # squares of scores near the end of floats
        error: FloatArray = scores.std(axis=-1, ddof=1) / np.sqrt(n_folds if apart is None else apart)
    return error


def middle_price(path: Path[Any], index: int) -> float:
    """Return a price per term at which a size is the best of the path; NaN where there is none."""
    upper = path.lambda0[index]
    below = path.lambda0[index + 1 :]
    lower = np.nanmax(below) if np.isfinite(below).any() else 0.0
    if np.isinf(upper):
        return float(2 * lower if lower > 0 else 1.0)
    return float((upper + lower) / 2)
