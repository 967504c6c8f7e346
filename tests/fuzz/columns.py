"""Generate columns of random tables, both ordinary and difficult."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

LEVELS = ("a", "b", "O'Fallon", 'q"x"', "", "Zürich", "back\\slash", "None")
NAMES = ("x", "age", 'net "income"', "city's", "größe", "a b", "x <= 1", "score", "select", "y")


@dataclass(frozen=True, eq=False)
class RawColumn:
    """A column before it is stored in an array or data frame."""

    name: str
    kind: str
    values: np.ndarray

    def take(self, rows: np.ndarray | None) -> RawColumn:
        return self if rows is None else replace(self, values=self.values[rows])


def normal(rng, n):
    return rng.normal(size=n)


def whole(rng, n):
    return rng.integers(-3, 4, n).astype(np.float64)


def binary(rng, n):
    return (rng.random(n) < rng.choice([0.1, 0.5])).astype(np.float64)


def constant(rng, n):
    return np.full(n, rng.choice([0.0, 1.0, -2.5, 1e50, 0.1]))


def nearly_constant(rng, n):
    values = constant(rng, n)
    values[rng.integers(n)] += rng.choice([1.0, 1e-9, 1e40])
    return values


def scaled(rng, n):
    return rng.normal(size=n) * 10.0 ** rng.integers(-50, 51)


def far_from_zero(rng, n):
    return rng.normal(size=n) + 10.0 ** rng.integers(3, 16)


def heavy_tailed(rng, n):
    return rng.standard_cauchy(n) ** 3


def with_zeros_of_both_signs(rng, n):
    return rng.choice([0.0, -0.0, 1.0, -1.0, 5e-324], n)


def alternating(rng, n):
    return np.arange(n) % 2 * 1.0


NUMBERS = {
    function.__name__: function
    for function in (normal, whole, binary, constant, nearly_constant, scaled, far_from_zero, heavy_tailed)
}
NUMBERS |= {"normal again": normal, "whole again": whole}
STEPS_ONLY = {function.__name__: function for function in (with_zeros_of_both_signs, alternating)}


def numbers(rng, n, *, most=1e50, among=None):
    """Return a numeric column of a random kind with absolute values up to `most`."""
    kinds = NUMBERS if among is None else among
    kind = str(rng.choice(list(kinds)))
    return kind, np.clip(kinds[kind](rng, n), -most, most)


def with_missing(rng, values):
    """Return the column with some, and occasionally all, values missing."""
    values = values.copy()
    values[rng.random(values.size) < rng.choice([0.05, 0.5, 1.0], p=[0.6, 0.35, 0.05])] = np.nan
    return values


def text(rng, n):
    levels = np.array([*LEVELS, None], dtype=object)
    few = levels[rng.permutation(levels.size)[: rng.integers(1, levels.size)]]
    return few[rng.integers(0, few.size, n)]


def booleans(rng, n):
    return rng.random(n) < 0.4


def dates(rng, n):
    days = np.datetime64("2000-01-01") + rng.integers(-40000, 40000, n).astype("timedelta64[D]")
    days[rng.random(n) < 0.05] = np.datetime64("NaT")
    return days


def times(rng, n):
    return np.datetime64("2020-01-01T00:00:00.000000") + rng.integers(-(10**15), 10**15, n).astype("timedelta64[us]")


OTHERS = {"text": text, "category": text, "ordered": text, "booleans": booleans, "dates": dates, "times": times}


def draw_columns(rng, n, p, *, kinds, missing, most=1e50, binary_only=False):
    """Return columns of the kinds that a container supports; some are duplicates."""
    names = _names(rng, p)
    drawn: list[RawColumn] = []
    for name in names:
        if drawn and rng.random() < 0.1:
            drawn.append(replace(drawn[rng.integers(len(drawn))], name=name))
            continue
        drawn.append(_draw(rng, n, name, kinds=kinds, missing=missing, most=most, binary_only=binary_only))
    return drawn


def _draw(rng, n, name, *, kinds, missing, most, binary_only):
    if kinds and rng.random() < 0.35:
        kind = str(rng.choice(kinds))
        return RawColumn(name, kind, OTHERS[kind](rng, n))
    if binary_only:
        return RawColumn(name, "binary", binary(rng, n))
    among = NUMBERS | STEPS_ONLY if missing else NUMBERS
    kind, values = numbers(rng, n, most=most, among=among)
    if missing and rng.random() < 0.2:
        return RawColumn(name, f"{kind}, some missing", with_missing(rng, values))
    return RawColumn(name, kind, values)


def _names(rng, p):
    plain = [f"x{j}" for j in range(p)]
    if rng.random() < 0.7:
        return plain
    return [NAMES[j] if j < len(NAMES) and rng.random() < 0.6 else plain[j] for j in range(p)]
