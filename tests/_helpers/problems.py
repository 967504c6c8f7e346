"""Small threshold problems for tests of the core: random bin codes and labels, their 0/1 columns, and penalties."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from _helpers.reference import column_scale, expand
from sparsegam import _core

LOSSES = ("logistic", "exponential", "squared", "squared_hinge")
KINDS = ((4, 4), (3, 0), (6, 5), (2, 2), (5, 3), (1, 1))
"""(n_bins, n_ordered) of features: thresholds, levels, thresholds and a missing bin, ..., a constant."""


@dataclass(frozen=True)
class Problem:
    """Bin codes, labels, weights and a loss, with everything the core and the reference implementation need."""

    codes: tuple
    n_bins: np.ndarray
    n_ordered: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    loss: str

    @cached_property
    def X(self):  # noqa: N802
        """All 0/1 columns."""
        return expand(self.codes, self.n_bins, self.n_ordered)

    def expanded(self, columns):
        """Return some of the 0/1 columns."""
        found = np.empty((len(self.y), len(columns)))
        for i, column in enumerate(columns):
            feature = int(np.searchsorted(self.offset, column, side="right")) - 1
            code, bin_ = self.codes[feature], column - self.offset[feature]
            found[:, i] = code <= bin_ if bin_ < self.n_ordered[feature] else code == bin_
        return found

    @cached_property
    def design(self):
        return _core.ThresholdDesign(self.codes, self.n_bins, self.n_ordered)

    @property
    def offset(self):
        return np.cumsum(self.n_bins) - self.n_bins

    @property
    def n_columns(self):
        return int(self.n_bins.sum())

    @property
    def candidates(self):
        """Return all columns except the last ordered bin of each feature, which is redundant."""
        last = (self.offset + self.n_ordered - 1)[self.n_ordered > 0]
        return np.setdiff1d(np.arange(self.n_columns), last)

    def ridge(self, lambda2):
        """lambda2 sigma_j^2 of every column."""
        return lambda2 * column_scale(self.X, self.weight)

    def rows(self, n_threads=1):
        return _core.ThresholdRows(self.design, self.y, self.weight, loss=self.loss, n_threads=n_threads)

    def penalty(self, lambda2=0.0, **changes):
        """Return the penalty of the columns: by default equal, without sign constraints, all candidates allowed."""
        p = self.n_columns
        columns = {
            "cost": np.ones(p),
            "low": np.full(p, -np.inf),
            "high": np.full(p, np.inf),
            "allowed": np.isin(np.arange(p), self.candidates),
            "group": np.repeat(np.arange(len(self.codes)), self.n_bins),
            "always": np.empty(0, dtype=np.int64),
        }
        return _core.Penalty(lambda2=lambda2, **{**columns, **changes})

    def frontier(self, max_terms=50, penalty=None, n_threads=1, **options):
        return _core.frontier(self.rows(n_threads), penalty or self.penalty(), max_terms=max_terms, **options)

    def fit_at(self, lambda0, max_terms=50, penalty=None, n_threads=1, **options):
        rows, penalty, options = self.rows(n_threads), penalty or self.penalty(), {"certify": True, **options}
        return _core.fit_at(rows, penalty, lambda0=lambda0, max_terms=max_terms, **options)

    def repeated(self, times):
        """Return the problem with rows repeated `times` times and unit weights."""
        return replace(
            self,
            codes=tuple(np.repeat(code, times) for code in self.codes),
            y=np.repeat(self.y, times),
            weight=np.ones(int(times.sum())),
        )


def narrow(codes, n_bins):
    """Return codes in the integer type that the core expects for this number of bins."""
    return np.ascontiguousarray(codes, dtype=np.uint8 if n_bins <= 256 else np.uint16)


def labels(rng, score, loss):
    """Return random labels given a score."""
    if loss == "squared":
        return score + rng.normal(size=score.size)
    return np.where(rng.random(score.size) < 1 / (1 + np.exp(-score)), 1.0, -1.0)


def problem_of(codes, y, loss="logistic", weight=None, n_bins=None, n_ordered=None):
    """Return a problem with given codes; by default all bins are ordered."""
    n_bins = np.array([np.max(code) + 1 for code in codes] if n_bins is None else n_bins, dtype=np.int64)
    return Problem(
        codes=tuple(narrow(code, bins) for code, bins in zip(codes, n_bins, strict=True)),
        n_bins=n_bins,
        n_ordered=n_bins if n_ordered is None else np.array(n_ordered, dtype=np.int64),
        y=np.asarray(y, dtype=np.float64),
        weight=np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64),
        loss=loss,
    )


def random_problem(seed, loss, *, n=60, kinds=KINDS, strength=1.0, weighted=True):
    """Return a problem with correlated features, and labels that depend on a few of their columns."""
    rng = np.random.default_rng(seed)
    n_bins, n_ordered = np.array(kinds).T
    shared = rng.normal(size=n)
    codes = [
        np.floor(bins * np.argsort(np.argsort(shared + rng.normal(size=n))) / n) if rng.random() < 0.5
        else rng.integers(0, bins, n)
        for bins in n_bins
    ]  # fmt: skip
    X = expand(codes, n_bins, n_ordered)
    coef = strength * rng.normal(size=X.shape[1]) * (rng.random(X.shape[1]) < 0.4)
    weight = rng.uniform(0.5, 2.0, n) if weighted else None
    return problem_of(codes, labels(rng, X @ coef - np.mean(X @ coef), loss), loss, weight, n_bins, n_ordered)
