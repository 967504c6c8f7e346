"""Detection of numeric columns that probably contain special codes (-9, 999), and the warning about them.

A code is not part of the order of the other values, so that a model that treats it as a number learns wrong steps.
Codes are either all negative values of an otherwise nonnegative column, if they are separated from the other values
(-7, -8, -9) or the most frequent value (-1); or the largest values, if they consist of nines (99, 999, ..., and the two
integers below) and are at least twice the next value.
"""

from collections.abc import Container, Iterable

import numpy as np

from sparsegam._data.columns import NUMBER
from sparsegam._data.table import Table
from sparsegam.arrays import FloatArray
from sparsegam.checks import first_few, warn

FIRST_ROWS = 10_000
"""Number of rows that are searched for codes."""
MIN_CODE_ROWS = 3
"""Minimum number of rows with a code. Rarer values may be outliers."""
MIN_VALUES = 10
"""Minimum number of distinct values, besides the codes, in the first VALUE_ROWS rows. With fewer, all may be codes."""
VALUE_ROWS = 500
MAX_CODES = 4
MAX_NAMES = 3
NEGATIVE_CODES = frozenset({*range(-9, 0), -77, -88, -98, -99, *(-(10**k) + 1 for k in range(3, 10))})
NINES = frozenset(float(10**k - 1) for k in range(2, 10))

CodeCounts = dict[float, int]
"""Number of rows of each special code."""


def warn_of_special_codes(table: Table, *, declared: Container[int] = ()) -> None:
    """Emit one warning that names the columns that probably contain special codes, except the `declared` columns."""
    found = {}
    for j, start in table.first_rows(FIRST_ROWS, (j for j in _candidate_columns(table) if j not in declared)):
        if start.scale.kind == "number" and (codes := find_special_codes(start.values)):
            found[table.label(j)] = codes
    if not found:
        return
    values = sorted({int(code) for codes in found.values() for code in codes})
    where = f" of the first {FIRST_ROWS} rows" if table.n_rows > FIRST_ROWS else " rows"
    columns = [
        f"{name} ({', '.join(f'{code:g} in {count}' for code, count in codes.items())}{where})"
        for name, codes in found.items()
    ]
    subject = "columns probably contain" if len(found) > 1 else "column probably contains"
    if len(found) > 1 and values[-1] < 0:
        remedy = str(values)
    else:
        remedy = str({name: [int(code) for code in codes] for name, codes in found.items()})
    msg = (
        f"{len(found)} {subject} special codes, which are currently treated as ordinary numbers: "
        f"{first_few(columns, MAX_NAMES, 'columns')}. Use special_values={remedy} to give them steps of their own, or "
        "special_values=[] to declare that they are numbers. On the command line, use --special with the codes, or "
        "without any value."
    )
    warn(msg, UserWarning)


def _candidate_columns(table: Table) -> Iterable[int]:
    """Return the columns that may contain codes. Arrays of numbers are scanned at once."""
    if table.numeric_array is None:
        if table.array is not None and table.array.dtype.kind == "b":
            return []
        return [j for j in range(table.n_columns) if table.scales.get(j, NUMBER) == NUMBER]
    start = table.numeric_array[:FIRST_ROWS]
    extremes = zip(np.fmin.reduce(start).tolist(), np.fmax.reduce(start).tolist(), strict=True)
    return [j for j, (low, high) in enumerate(extremes) if low in NEGATIVE_CODES or high in NINES]


def find_special_codes(values: FloatArray) -> CodeCounts:
    """Return the values that are probably special codes, with the number of rows of each."""
    low, high = np.fmin.reduce(values, initial=np.nan), np.fmax.reduce(values, initial=np.nan)
    if low not in NEGATIVE_CODES and high not in NINES:
        return {}
    negative, others = values[values < 0], values[values >= 0]
    if np.unique(others[:VALUE_ROWS]).size < MIN_VALUES:
        return {}
    return _negative_codes(negative, others) if negative.size else _codes_of_nines(others)


def _negative_codes(negative: FloatArray, others: FloatArray) -> CodeCounts:
    codes, counts = np.unique(negative, return_counts=True)
    if codes.size > MAX_CODES or counts.min() < MIN_CODE_ROWS or not set(codes.tolist()) <= NEGATIVE_CODES:
        return {}
    is_separated = others.min() - codes[-1] > 1
    if not is_separated and (codes.size > 1 or counts[0] <= np.unique(others, return_counts=True)[1].max()):
        return {}
    return dict(zip(codes.tolist(), counts.tolist(), strict=True))


def _codes_of_nines(values: FloatArray) -> CodeCounts:
    highest = values.max()
    if highest not in NINES:
        return {}
    is_code = values >= highest - 2
    codes, counts = np.unique(values[is_code], return_counts=True)
    rest = values[~is_code]
    if counts.min() < MIN_CODE_ROWS or rest.size == 0 or rest.max() > highest / 2 or (codes % 1 != 0).any():
        return {}
    return dict(zip(codes.tolist(), counts.tolist(), strict=True))
