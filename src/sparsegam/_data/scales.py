"""Scales of measurement: how the values of a feature become numbers that can be compared, and how they read again."""

import math
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

ScaleKind = Literal["number", "boolean", "date", "datetime", "ordered", "category"]
SCALE_KINDS: tuple[ScaleKind, ...] = get_args(ScaleKind)
Level = str | int | float
"""A value of a categorical feature (booleans are integers)."""
Value = Level | date | datetime
"""A value of any feature, as its user knows it."""

UNSEEN = -1.0  # what stands for a level that is none of the scale's
EPOCH = datetime(1970, 1, 1)  # times are kept in UTC, without saying so
MICROSECONDS_PER_DAY = 86_400_000_000
WORDS: dict[ScaleKind, str] = {
    "number": "numbers",
    "boolean": "booleans",
    "date": "dates",
    "datetime": "times",
    "ordered": "ordered levels",
    "category": "categories",
}


@dataclass(frozen=True)
class Scale:
    """What the values of a feature are, and the number that stands for each.

    Numbers stand for themselves, False and True for 0 and 1, dates for days and times for microseconds since 1970
    (in UTC), levels for their position.

    Attributes
    ----------
    kind : {"number", "boolean", "date", "datetime", "ordered", "category"}
        All but categories have an order.
    levels : tuple
        The levels of an ordered or unordered category.
    """

    kind: ScaleKind = "number"
    levels: tuple[Level, ...] = ()

    @property
    def has_levels(self) -> bool:
        """Whether values are levels."""
        return self.kind in ("ordered", "category")

    @property
    def is_time(self) -> bool:
        """Whether values are dates or times."""
        return self.kind in ("date", "datetime")

    @property
    def is_text(self) -> bool:
        """Whether any level is text."""
        return any(isinstance(level, str) for level in self.levels)

    def value(self, number: float) -> Value:
        """Return the value that a number stands for."""
        if self.kind == "number":
            return float(number)
        if self.kind == "boolean" and number in (0.0, 1.0):
            return bool(number)
        if self.kind == "date" and number == math.floor(number):
            return (EPOCH + timedelta(days=int(number))).date()
        if self.is_time:
            days = number if self.kind == "date" else 0.0
            return EPOCH + timedelta(days=days, microseconds=0 if self.kind == "date" else int(number))
        return self.levels[int(number)] if self.has_levels else float(number)

    def number(self, value: Any) -> float:
        """Return the number that stands for a value; raise a ValueError where the scale has no such value."""
        if self.has_levels:
            return self._position(value)
        if self.is_time:
            return _since_epoch(value) / (MICROSECONDS_PER_DAY if self.kind == "date" else 1)
        number = _real(value)
        if number is None:
            msg = f"{value!r} is not a finite number."
            raise ValueError(msg)
        return number

    def holds(self, value: Any) -> bool:
        """Tell whether a value is on this scale."""
        try:
            self.number(value)
        except (ValueError, TypeError, OverflowError):  # the last of times beyond the calendar
            return False
        return True

    @cached_property
    def _positions(self) -> dict[Level, int]:
        return {level: i for i, level in enumerate(self.levels)}

    def _position(self, value: Any) -> float:
        if value not in self._positions:
            msg = f"{value!r} is none of its levels ({shortened(self.levels)})."
            raise ValueError(msg)
        return float(self._positions[value])


NUMBER = Scale()
BOOLEAN = Scale("boolean")
DATE = Scale("date")
DATETIME = Scale("datetime")


def shortened(values: Any, most: int = 5) -> str:
    """Write the first few of many values."""
    shown = [repr(value) for value in list(values)[:most]]
    return ", ".join([*shown, "..."] if len(values) > most else shown)


def text(value: Value) -> str:
    """Write a value in as few characters as give it back (63.0 is 63; a time at midnight is a date)."""
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ").removesuffix(" 00:00:00")
    if isinstance(value, date):
        return value.isoformat()
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def _real(value: Any) -> float | None:
    """Return a finite number, or None for anything else."""
    if isinstance(value, str | bytes | date | np.datetime64):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _since_epoch(value: Any) -> float:
    """Return the microseconds since 1970 of a date, a time or ISO text."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(timezone.utc).replace(tzinfo=None)
    if not isinstance(value, date | np.datetime64):
        msg = f"{value!r} is not a date."
        raise ValueError(msg)
    if isinstance(value, date):
        value = np.datetime64(value)
    return float(value.astype("datetime64[us]").astype(np.int64))
