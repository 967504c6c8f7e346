"""What a column of text holds: numbers, booleans, ISO dates and times, else text; some words are missing values."""

from collections.abc import Container, Sequence
from datetime import date, datetime

import numpy as np
from numpy.typing import NDArray

from sparsegam._data.columns import BOOLEAN, DATE, DATETIME, Column, Scale, from_array, from_objects
from sparsegam._data.table import Table
from sparsegam.arrays import FloatArray
from sparsegam.checks import warn

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "."})
NEARLY_ALL = 0.9  # share of numbers from which text was hardly meant as such
FEWEST_NUMBERS = 10  # different ones: fewer are as likely codes, as in 0, 1, 2, 3+
LOOKED_AT = 500  # rows at the start of a column that tell whether all of it is worth reading
TRUTH = {"true": 1.0, "false": 0.0}


def infer_column(name: str, values: Sequence[str]) -> Column:
    """Read a column of text as what all of it looks like."""
    seen: dict[str, int] = {}
    codes = np.fromiter((seen.setdefault(value, len(seen)) for value in values), np.intp, len(values))
    return infer_from_distinct(name, list(seen), codes)


def infer_from_distinct(name: str, texts: Sequence[str], codes: NDArray[np.integer]) -> Column:
    """Read a column that is given as its distinct texts, and which of them stands in each row."""
    numbers = _as_numbers(texts)
    if numbers is not None:
        return from_array(numbers[codes], name)
    found = _as_truth(texts) or _as_times(texts)
    if found is not None:
        return Column(name, found[0], found[1][codes])
    return category_column(name, texts, codes)


def category_column(name: str, texts: Sequence[str], codes: NDArray[np.integer]) -> Column:
    """Read the same as text, whatever it looks like."""
    levels = from_objects([None if is_missing(text) else text.strip() for text in texts], name)
    return Column(name, levels.scale, levels.values[codes])


def is_missing(text: str) -> bool:
    """Tell whether a text stands for a missing value."""
    return text.strip().lower() in MISSING


def warn_of_numbers_in_text(table: Table, *, kept_as_text: Container[int] = ()) -> None:
    """Warn of columns of text that are nearly all numbers: a few other words make each number a level of its own."""
    if table.array is not None and table.array.dtype.kind in "iufb":
        return
    columns = (j for j in range(table.n_columns) if j not in kept_as_text and _may_be_numbers(table.scales.get(j)))
    for j, start in table.first_rows(LOOKED_AT, columns):
        if _share_of_numbers(start)[0] >= NEARLY_ALL:
            share, n_numbers, n, other = _share_of_numbers(table.column(j))
            if NEARLY_ALL <= share < 1:
                name = table.label(j)
                msg = (
                    f"{name}: {n_numbers} of {n} values are numbers; the others, such as {other!r}, make it text, and "
                    f"every number a level without order. Make these missing (pandas: pd.to_numeric(X[{name!r}], "
                    f'errors="coerce")), or name the column in categorical to keep it as it is.'
                )
                warn(msg, UserWarning)


def _may_be_numbers(scale: Scale | None) -> bool:
    """Tell whether text of a scale, known or not, may be numbers."""
    return scale is None or (scale.kind == "category" and len(scale.levels) >= FEWEST_NUMBERS)


def _share_of_numbers(column: Column) -> tuple[float, int, int, str]:
    """Return the share of values of text that are numbers, how many they are, of how many, and one that is none."""
    levels = column.scale.levels
    if column.scale.kind != "category" or not column.scale.is_text:
        return 0.0, 0, 0, ""
    numbers = np.array([_is_number(str(level)) for level in levels], dtype=bool)
    if np.count_nonzero(numbers) < FEWEST_NUMBERS:
        return 0.0, 0, 0, ""
    counts = np.bincount(column.values[~np.isnan(column.values)].astype(np.intp), minlength=len(levels))
    n_numbers, n = int(counts[numbers].sum()), int(counts.sum())
    others = np.flatnonzero(~numbers)
    other = str(levels[others[counts[others].argmax()]]) if others.size else ""
    return n_numbers / n, n_numbers, n, other


def _is_number(text: str) -> bool:
    found = None if is_missing(text) else _as_numbers([text])
    return found is not None and bool(np.isfinite(found[0]))


def _as_numbers(texts: Sequence[str]) -> FloatArray | None:
    if any("_" in text for text in texts):  # float() takes 1_000 for a number, as Python does and nobody else
        return None
    try:
        return np.array([float("nan") if is_missing(text) else float(text) for text in texts], dtype=np.float64)
    except ValueError:
        return None


def _as_truth(texts: Sequence[str]) -> tuple[Scale, FloatArray] | None:
    found = [np.nan if is_missing(text) else TRUTH.get(text.strip().lower()) for text in texts]
    return None if None in found else (BOOLEAN, np.array(found, dtype=np.float64))


def _as_times(texts: Sequence[str]) -> tuple[Scale, FloatArray] | None:
    present = [None if is_missing(text) else text.strip() for text in texts]
    scale = DATE if all(text is None or len(text) == 10 for text in present) else DATETIME
    try:
        numbers = [np.nan if text is None else scale.number(_moment(text)) for text in present]
    except (ValueError, OverflowError):
        return None
    return scale, np.array(numbers, dtype=np.float64)


def _moment(text: str) -> date | datetime:
    return date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text)
