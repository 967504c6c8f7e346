"""Type inference for text: numbers, booleans, ISO dates and times, missing values, or categories."""

import re
from collections.abc import Container, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import BOOLEAN, DATE, DATETIME, Column, Scale, from_array, from_objects
from sparsegam._data.table import Table
from sparsegam._io.contents import FileError
from sparsegam.arrays import FloatArray
from sparsegam.checks import warn
from sparsegam.choices import DecimalSign

MISSING_WORDS = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "."})
BOOLEANS = {"true": 1.0, "false": 0.0}
MIN_NUMERIC_SHARE = 0.9
"""Minimum share of numbers for a warning that a text column was probably meant to be numeric."""
MIN_NUMBERS = 10
"""Minimum number of levels for this warning. Columns with fewer are probably codes, such as 0, 1, 2, 3+."""
FIRST_ROWS = 500
"""Number of leading rows that are checked before the whole column is read for the warning."""

Commas = Literal["none", "clear", "ambiguous", "impossible"]
"""How far texts may be numbers with a decimal comma: whole numbers have none, and 1,234 is ambiguous."""
# A point can only separate thousands before a decimal comma, as in 1.234,5.
COMMA_NUMBER = re.compile(r"[+-]?(?:[0-9]*|[0-9]{1,3}(?:\.[0-9]{3})+(?=,))(?:,[0-9]+)?(?:(?<=[0-9])[eE][+-]?[0-9]+)?")
THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")


def infer_column(name: str, values: Sequence[str]) -> Column:
    """Convert a text column to the type that all of its values have."""
    return infer_from_distinct(name, *distinct_texts(values))


def distinct_texts(values: Sequence[str]) -> tuple[list[str], NDArray[np.integer]]:
    """Return the distinct texts and the position of the text of each row."""
    positions: dict[str, int] = {}
    codes = np.fromiter((positions.setdefault(value, len(positions)) for value in values), np.intp, len(values))
    return list(positions), codes


def infer_from_distinct(
    name: str, texts: Sequence[str], codes: NDArray[np.integer], decimal: DecimalSign = "."
) -> Column:
    """Convert a text column, given its distinct texts and the position of the text of each row."""
    numbers = _parse_numbers(texts)
    if numbers is not None:
        return from_array(numbers[codes], name)
    if decimal != "." and has_decimal_commas(name, {commas_in(texts)}, decimal):
        return comma_column(name, texts, codes)
    parsed = _parse_booleans(texts) or _parse_times(texts)
    if parsed is not None:
        scale, values = parsed
        return Column(name, scale, values[codes])
    return category_column(name, texts, codes)


def category_column(name: str, texts: Sequence[str], codes: NDArray[np.integer]) -> Column:
    """Return a text column as a category without inferring its type, see `infer_from_distinct`."""
    levels = from_objects([None if is_missing_text(text) else text.strip() for text in texts], name)
    return Column(name, levels.scale, levels.values[codes])


def copied_column(name: str, texts: Sequence[str], codes: NDArray[np.integer]) -> Column:
    """Return the unchanged text of a column. Only empty fields are missing values.

    Spaces after a delimiter are removed, because one of the parsers always does so.
    """
    levels = from_objects([text.lstrip(" ") or None for text in texts], name)
    return Column(name, levels.scale, levels.values[codes])


def comma_column(name: str, texts: Sequence[str], codes: NDArray[np.integer]) -> Column:
    """Return a column of numbers with decimal commas, see `has_decimal_commas`."""
    numbers = [np.nan if is_missing_text(text) else float(text.replace(".", "").replace(",", ".")) for text in texts]
    return from_array(np.array(numbers, dtype=np.float64)[codes], name)


def commas_in(texts: Sequence[str]) -> Commas:
    """Return whether texts may be numbers with a decimal comma."""
    found: Commas = "none"
    for text in texts:
        stripped = text.strip()
        if is_missing_text(text):
            continue
        if not any(map(str.isdigit, stripped)) or not COMMA_NUMBER.fullmatch(stripped):
            return "impossible"
        if "," in stripped and found != "clear":
            found = "ambiguous" if THOUSANDS.fullmatch(stripped) else "clear"
    return found


def has_decimal_commas(name: str, found: Container[Commas], decimal: DecimalSign) -> bool:
    """Return whether a column is read as numbers with decimal commas, with a warning unless `decimal` declares them.

    `found` contains the results of `commas_in` for all parts of the column. Raise FileError if every comma could also
    separate thousands.
    """
    if "impossible" in found or ("clear" not in found and "ambiguous" not in found):
        return False
    options = 'pass decimal="," (command line: --decimal ,)'
    if decimal == "auto" and "clear" not in found:
        msg = (
            f"column {name!r} contains numbers with three digits after every comma, as in 1,234, which may be a "
            "decimal comma or separate thousands: "
            f'{options} if it is a decimal comma, or decimal="." to read the column as text.'
        )
        raise FileError(msg)
    if decimal == "auto":
        msg = f'column {name!r} is read as numbers with decimal commas: {options} to confirm, or decimal="." for text.'
        warn(msg, UserWarning)
    return True


def is_missing_text(text: str) -> bool:
    """Return whether a text represents a missing value, such as "NA"."""
    return text.strip().lower() in MISSING_WORDS


def warn_of_numbers_in_text(table: Table, *, kept_as_text: Container[int] = ()) -> None:
    """Warn about text columns of mostly numbers, because each number becomes a level of a category."""
    if table.array is not None and table.array.dtype.kind in "iufb":
        return
    columns = (j for j in range(table.n_columns) if j not in kept_as_text and _may_be_numbers(table.scales.get(j)))
    for j, start in table.first_rows(FIRST_ROWS, columns):
        if _share_of_numbers(start)[0] >= MIN_NUMERIC_SHARE:
            share, n_numbers, n, other = _share_of_numbers(table.column(j))
            if MIN_NUMERIC_SHARE <= share < 1:
                name = table.label(j)
                msg = (
                    f"{name}: {n_numbers} of {n} values are numbers. Because of the others, such as {other!r}, the "
                    "column is treated as text and each number as an unordered level. Replace the others by missing "
                    f'values (pandas: pd.to_numeric(X[{name!r}], errors="coerce")), or name the column in categorical '
                    "to keep it as text."
                )
                warn(msg, UserWarning)


def _may_be_numbers(scale: Scale | None) -> bool:
    return scale is None or (scale.kind == "category" and len(scale.levels) >= MIN_NUMBERS)


def _share_of_numbers(column: Column) -> tuple[float, int, int, str]:
    """Return the share and count of numbers in a text column, its number of texts, and its most frequent non-number."""
    levels = column.scale.levels
    if column.scale.kind != "category" or not column.scale.is_text:
        return 0.0, 0, 0, ""
    is_number = np.array([_is_number(str(level)) for level in levels], dtype=bool)
    if np.count_nonzero(is_number) < MIN_NUMBERS:
        return 0.0, 0, 0, ""
    counts = np.bincount(column.values[~np.isnan(column.values)].astype(np.intp), minlength=len(levels))
    n_numbers, n = int(counts[is_number].sum()), int(counts.sum())
    others = np.flatnonzero(~is_number)
    other = str(levels[others[counts[others].argmax()]]) if others.size else ""
    return n_numbers / n, n_numbers, n, other


def _is_number(text: str) -> bool:
    numbers = None if is_missing_text(text) else _parse_numbers([text])
    return numbers is not None and bool(np.isfinite(numbers[0]))


def _parse_numbers(texts: Sequence[str]) -> FloatArray | None:
    # float("1_000") is 1000 in Python, but not elsewhere.
    if any("_" in text for text in texts):
        return None
    try:
        return np.array([np.nan if is_missing_text(text) else float(text) for text in texts], dtype=np.float64)
    except ValueError:
        return None


def _parse_booleans(texts: Sequence[str]) -> tuple[Scale, FloatArray] | None:
    values = [np.nan if is_missing_text(text) else BOOLEANS.get(text.strip().lower()) for text in texts]
    return None if None in values else (BOOLEAN, np.array(values, dtype=np.float64))


def _parse_times(texts: Sequence[str]) -> tuple[Scale, FloatArray] | None:
    present = [None if is_missing_text(text) else text.strip() for text in texts]
    scale = DATE if all(text is None or len(text) == 10 for text in present) else DATETIME
    try:
        times = [None if text is None else _from_iso(text) for text in present]
        numbers = [np.nan if time is None else scale.number(time) for time in times]
    except (ValueError, OverflowError):
        return None
    zones = {time.tzinfo is not None for time in times if isinstance(time, datetime)}
    if len(zones) > 1:
        return None
    scale = replace(scale, has_zone=True in zones)
    return scale, np.array(numbers, dtype=np.float64)


def _from_iso(text: str) -> date | datetime:
    return date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text)
