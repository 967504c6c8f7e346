"""Columns that look as if they held special codes (-9, 999): named in a warning that shows how to declare them.

A code stands out of the order of the other values, and a model that takes it for a number draws wrong steps. Codes are
either all the negative values of a column that is not negative otherwise, apart from the rest (-7, -8, -9) or its most
frequent value (-1); or a highest value of nines (99, 999, ..., with the two below it) at twice the next or more.
"""

from collections.abc import Container, Iterable

import numpy as np

from sparsegam._data.columns import NUMBER
from sparsegam._data.table import Table
from sparsegam.arrays import FloatArray
from sparsegam.checks import first_few, warn

LOOKED_AT = 10_000  # rows at the start of a column: whoever has codes has them there, and a look costs next to nothing
FEWEST_ROWS = 3  # of a code: fewer are as likely outliers
FEWEST_VALUES = 10  # besides the codes, among the first SOME: where there are fewer, all may be codes
SOME = 500
MOST_CODES = 4
NAMES_SHOWN = 3
NEGATIVE = frozenset({*range(-9, 0), -77, -88, -98, -99, *(-(10**k) + 1 for k in range(3, 10))})
NINES = frozenset(float(10**k - 1) for k in range(2, 10))

Codes = dict[float, int]


def warn_of_special_codes(table: Table, *, told_of: Container[int] = ()) -> None:
    """Warn of columns that look as if they held special codes, all of them in one warning; say how to declare them."""
    found = {}
    for j, start in table.first_rows(LOOKED_AT, (j for j in _worth_a_look(table) if j not in told_of)):
        if start.scale.kind == "number" and (codes := find_special_codes(start.values)):
            found[table.label(j)] = codes
    if not found:
        return
    values = sorted({int(code) for codes in found.values() for code in codes})
    where = f" of the first {LOOKED_AT} rows" if table.n_rows > LOOKED_AT else " rows"
    shown = first_few([f"{name} ({_counted(codes)}{where})" for name, codes in found.items()], NAMES_SHOWN, "columns")
    those = "columns look as if they" if len(found) > 1 else "column looks as if it"
    everywhere = len(found) > 1 and values[-1] < 0
    how = str(values) if everywhere else str({name: [int(code) for code in codes] for name, codes in found.items()})
    msg = (
        f"{len(found)} {those} held special codes, which count as numbers in the order of the others: "
        f"{shown}. Give them steps of their own with special_values={how}, or say that they are "
        "numbers with special_values=[]. On the command line: --special, followed by the codes or by nothing."
    )
    warn(msg, UserWarning)


def _worth_a_look(table: Table) -> Iterable[int]:
    """Return all columns or, where one look at all of them tells, those that can hold codes."""
    if table.numeric_array is None:
        only_truth = table.array is not None and table.array.dtype.kind == "b"
        return [] if only_truth else [j for j in range(table.n_columns) if table.scales.get(j, NUMBER) == NUMBER]
    start = table.numeric_array[:LOOKED_AT]
    ends = zip(np.fmin.reduce(start).tolist(), np.fmax.reduce(start).tolist(), strict=True)
    return [j for j, (low, high) in enumerate(ends) if low in NEGATIVE or high in NINES]


def find_special_codes(values: FloatArray) -> Codes:
    """Return the values that look like special codes, each with its number of rows; none for most columns."""
    low, high = np.fmin.reduce(values, initial=np.nan), np.fmax.reduce(values, initial=np.nan)
    if low not in NEGATIVE and high not in NINES:
        return {}
    below, above = values[values < 0], values[values >= 0]
    if np.unique(above[:SOME]).size < FEWEST_VALUES:
        return {}
    return _negative(below, above) if below.size else _nines(above)


def _negative(below: FloatArray, above: FloatArray) -> Codes:
    """Return negative values where all are well-known codes and stand apart, or are the most frequent value."""
    codes, counts = np.unique(below, return_counts=True)
    if not 0 < codes.size <= MOST_CODES or counts.min() < FEWEST_ROWS or not set(codes.tolist()) <= NEGATIVE:
        return {}
    apart = above.min() - codes[-1] > 1
    if not apart and (codes.size > 1 or counts[0] <= np.unique(above, return_counts=True)[1].max()):
        return {}
    return dict(zip(codes.tolist(), counts.tolist(), strict=True))


def _nines(above: FloatArray) -> Codes:
    """Return the highest values where they are nines, or up to two below, and all others at most half as high."""
    highest = above.max()
    if highest not in NINES:
        return {}
    top = above >= highest - 2
    codes, counts = np.unique(above[top], return_counts=True)
    rest = above[~top]
    if counts.min() < FEWEST_ROWS or rest.size == 0 or rest.max() > highest / 2 or (codes % 1 != 0).any():
        return {}
    return dict(zip(codes.tolist(), counts.tolist(), strict=True))


def _counted(codes: Codes) -> str:
    return ", ".join(f"{code:g} in {count}" for code, count in codes.items())
