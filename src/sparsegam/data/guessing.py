"""What a column of text holds: numbers, booleans, ISO dates and times, else text; some words are missing values."""

from collections.abc import Sequence
from datetime import date, datetime

import numpy as np
from numpy.typing import NDArray

from sparsegam.arrays import Vector
from sparsegam.data.columns import Column, from_array, from_objects
from sparsegam.data.scales import BOOLEAN, DATE, DATETIME, Scale

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "."})
TRUTH = {"true": 1.0, "false": 0.0}


def guess(name: str, values: Sequence[str]) -> Column:
    """Read a column of text as what all of it looks like."""
    seen: dict[str, int] = {}
    codes = np.fromiter((seen.setdefault(value, len(seen)) for value in values), np.intp, len(values))
    return guess_distinct(name, list(seen), codes)


def guess_distinct(name: str, texts: Sequence[str], codes: NDArray[np.integer]) -> Column:
    """Read a column that is given as its distinct texts, and which of them stands in each row."""
    numbers = _as_numbers(texts)
    if numbers is not None:
        return from_array(numbers[codes], name)
    found = _as_truth(texts) or _as_times(texts)
    if found is not None:
        return Column(name, found[0], found[1][codes])
    levels = from_objects([None if is_missing(text) else text.strip() for text in texts], name)
    return Column(name, levels.scale, levels.values[codes])


def is_missing(text: str) -> bool:
    """Tell whether a text stands for a missing value."""
    return text.strip().lower() in MISSING


def _as_numbers(texts: Sequence[str]) -> Vector | None:
    if any("_" in text for text in texts):  # float() takes 1_000 for a number, as Python does and nobody else
        return None
    try:
        return np.array([float("nan") if is_missing(text) else float(text) for text in texts], dtype=np.float64)
    except ValueError:
        return None


def _as_truth(texts: Sequence[str]) -> tuple[Scale, Vector] | None:
    found = [np.nan if is_missing(text) else TRUTH.get(text.strip().lower()) for text in texts]
    return None if None in found else (BOOLEAN, np.array(found, dtype=np.float64))


def _as_times(texts: Sequence[str]) -> tuple[Scale, Vector] | None:
    present = [None if is_missing(text) else text.strip() for text in texts]
    scale = DATE if all(text is None or len(text) == 10 for text in present) else DATETIME
    try:
        numbers = [np.nan if text is None else scale.number(_moment(text)) for text in present]
    except (ValueError, OverflowError):
        return None
    return scale, np.array(numbers, dtype=np.float64)


def _moment(text: str) -> date | datetime:
    return date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text)
