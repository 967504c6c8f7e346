"""What the terms of a model stand on: rows of the fit, events among them, and how well the coefficients are known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsegam._models.terms import Part, Standing, Term, part_name
from sparsegam.arrays import FloatArray
from sparsegam.checks import expect, is_number

PAIRS = "pair_covariance"  # a part that only models with products need
PARTS = ("n_rows", "n_events", "rows", "events", "intercept_error", "covariance")
ROUNDING = 1e-9  # share of its diagonal by which a covariance may be asymmetric


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the terms of a model stand on.

    Attributes
    ----------
    n_rows, n_events : int, int or None
        Rows of the fit, and those of the second class; None for a regression.
    rows, events : tuple of int, tuple of int or None
        By term: the rows for which it holds, or that are below the knot of a ramp, and those of the second class among
        them.
    intercept_error : float or None
        Standard error of the intercept.
    covariance : dict of str or pair of str to ndarray, or None
        By feature, or pair of features: the covariance of the coefficients of its terms. None where the rows do not
        determine them all.

    Notes
    -----
    Covariances are Wald's: the inverse of the Hessian of loss and ridge at the fitted coefficients, the intercept among
    them; for the squared loss times the variance of the residuals. They are those of a model whose steps were given
    beforehand. The steps were chosen, among many, because they looked large, so the errors are too small;
    `stability` searches again and again, and is the honest answer.
    """

    n_rows: int
    n_events: int | None
    rows: tuple[int, ...]
    events: tuple[int, ...] | None
    intercept_error: float | None = None
    covariance: Mapping[Part, FloatArray] | None = None

    def standings(self, terms: Sequence[Term]) -> list[Standing]:
        """Return what each of the terms stands on."""
        events = [None] * len(terms) if self.events is None else self.events
        counts = zip(self.rows, events, self._errors(terms), strict=True)
        return [Standing(n, self.n_rows - n, upper, error) for n, upper, error in counts]

    def shares(self, terms: Sequence[Term], part: Part) -> FloatArray:
        """Return for which share of the rows each term of a feature, or of a pair, holds."""
        mine = [n for n, term in zip(self.rows, terms, strict=True) if term.part == part]
        return np.array(mine) / self.n_rows

    def errors_of(self, part: Part, values: FloatArray, means: FloatArray) -> FloatArray | None:
        """Return the standard errors of what a feature, or a pair, adds at some values, less what it adds on average.

        A row of `values` has those of its terms there, 1 for a condition that holds; `means` are those over the rows of
        the fit. None where the covariance is not known.
        """
        if self.covariance is None:
            return None
        away = values - means
        out: FloatArray = np.sqrt(np.maximum(((away @ self.covariance[part]) * away).sum(axis=1), 0.0))
        return out

    def content(self) -> dict[str, Any]:
        """Return the evidence as JSON knows it."""
        known = self.covariance
        pairs = [[*part, block.tolist()] for part, block in (known or {}).items() if not isinstance(part, str)]
        return {
            "n_rows": self.n_rows,
            "n_events": self.n_events,
            "rows": list(self.rows),
            "events": None if self.events is None else list(self.events),
            "intercept_error": self.intercept_error,
            "covariance": None
            if known is None
            else {part: block.tolist() for part, block in known.items() if isinstance(part, str)},
            **({PAIRS: pairs} if pairs else {}),
        }

    def _errors(self, terms: Sequence[Term]) -> list[float | None]:
        if self.covariance is None:
            return [None] * len(terms)
        each = {part: iter(np.sqrt(block.diagonal()).tolist()) for part, block in self.covariance.items()}
        return [next(each[term.part]) for term in terms]


def evidence_from(content: Any, terms: Sequence[Term]) -> Evidence:
    """Read the evidence of terms, every part checked; raise a ValueError that says what is wrong."""
    known = isinstance(content, dict) and {*content} - {PAIRS} == {*PARTS}
    expect(content, "evidence", f"an object with {PARTS}", holds=known)
    n_rows, n_events, error = content["n_rows"], content["n_events"], content["intercept_error"]
    expect(n_rows, "n_rows", "a count above zero", holds=type(n_rows) is int and n_rows > 0)
    expect(n_events, "n_events", f"null or a count up to {n_rows}", holds=n_events is None or _count(n_events, n_rows))
    expect(error, "intercept_error", "null or a number >= 0", holds=error is None or (is_number(error) and error >= 0))
    both = (content["events"] is None) == (n_events is None)
    expect(content["events"], "events", "null where n_events is, and only there", holds=both)
    rows = _counts(content["rows"], "rows", [n_rows] * len(terms))
    return Evidence(
        n_rows,
        n_events,
        rows,
        None if n_events is None else _counts(content["events"], "events", rows),
        None if error is None else float(error),
        _covariance(content["covariance"], content.get(PAIRS, []), terms),
    )


def _count(value: Any, most: int) -> bool:
    return type(value) is int and 0 <= value <= most


def _counts(values: Any, name: str, most: Sequence[int]) -> tuple[int, ...]:
    good = isinstance(values, list) and len(values) == len(most) and all(map(_count, values, most))
    expect(values, name, f"{len(most)} counts, one for each term, none above its rows", holds=good)
    return tuple(values)


def _covariance(content: Any, pairs: Any, terms: Sequence[Term]) -> dict[Part, FloatArray] | None:
    if content is None:
        return None
    sizes: dict[Part, int] = {}
    for term in terms:
        sizes[term.part] = sizes.get(term.part, 0) + 1
    named = isinstance(content, dict) and isinstance(pairs, list)
    named = named and all(isinstance(pair, list) and len(pair) == 3 and _texts(pair[:2]) for pair in pairs)
    expect(content, "covariance", "matrices by feature, and those of pairs behind both names", holds=named)
    found: dict[Part, Any] = {**content, **{(first, second): rows for first, second, rows in pairs}}
    expect(list(found), "covariance", f"matrices of {list(sizes)}", holds={*found} == {*sizes})
    return {part: _matrix(found[part], part_name(part), size) for part, size in sizes.items()}


def _texts(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _matrix(rows: Any, name: str, size: int) -> FloatArray:
    square = isinstance(rows, list) and len(rows) == size
    square = square and all(isinstance(row, list) and len(row) == size and all(map(is_number, row)) for row in rows)
    expect(rows, f"covariance of {name!r}", f"{size} rows of {size} finite numbers", holds=square)
    matrix = np.array(rows, dtype=np.float64)
    variance = np.diagonal(matrix)
    good = bool((variance >= 0).all()) and np.allclose(matrix, matrix.T, rtol=ROUNDING, atol=ROUNDING * variance.max())
    expect(rows, f"covariance of {name!r}", "symmetric, no variance below zero", holds=good)
    return matrix
