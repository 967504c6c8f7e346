"""One column of a table, read as numbers on a scale: NaN where missing, positions where levels."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from functools import cached_property
from numbers import Number
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sparsegam.arrays import FloatArray
from sparsegam.checks import quoted

ScaleKind = Literal["number", "boolean", "date", "datetime", "ordered", "category"]
SCALE_KINDS: tuple[ScaleKind, ...] = get_args(ScaleKind)
Level = str | int | float
"""A value of a categorical feature (booleans are integers)."""
Value = Level | date | datetime
"""A value of any feature, as its user knows it."""

UNSEEN = -1.0  # what stands for a level that is none of the scale's
EPOCH = datetime(1970, 1, 1)  # times are kept in UTC, without saying so
MICROSECONDS_PER_DAY = 86_400_000_000
KIND_NAMES: dict[ScaleKind, str] = {
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
            msg = f"{value!r} is none of its levels ({quoted(self.levels)})."
            raise ValueError(msg)
        return float(self._positions[value])


NUMBER = Scale()
BOOLEAN = Scale("boolean")
DATE = Scale("date")
DATETIME = Scale("datetime")


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


RowIndex = NDArray[np.bool_] | NDArray[np.intp]
"""A mask or the positions of rows."""


@dataclass(frozen=True, eq=False)
class Column:
    """A column: its name, its scale, and one number per row (NaN where missing)."""

    name: str
    scale: Scale
    values: FloatArray

    def take(self, rows: RowIndex | slice | None) -> "Column":
        """Return some of the rows; a category keeps only the levels found there."""
        if rows is None:
            return self
        taken = replace(self, values=np.ascontiguousarray(self.values[rows]))
        return taken.drop_unused_levels() if self.scale.kind == "category" else taken

    def load(self, rows: RowIndex | None) -> "Column":
        """Return some of the rows, in memory."""
        return self.take(rows)

    def as_category(self) -> "Column":
        """Return numbers, booleans or ordered levels as a category without order."""
        if self.scale.is_time:
            kind = KIND_NAMES[self.scale.kind]
            msg = f"column {self.name!r} holds {kind}, which are ordered: leave it out of categorical."
            raise ValueError(msg)
        if self.scale.has_levels:
            return replace(self, scale=Scale("category", self.scale.levels)).drop_unused_levels()
        present = ~np.isnan(self.values)
        found, position = np.unique(self.values[present], return_inverse=True)
        values = self.values.copy()
        values[present] = position
        return Column(self.name, Scale("category", tuple(_natural(self.scale, v) for v in found)), values)

    def on_scale(self, scale: Scale) -> FloatArray:
        """Return the values as numbers on another scale, that of the column a model was fitted to.

        Levels that the scale lacks are UNSEEN. Values of another kind are refused.
        """
        if scale == self.scale or _both(scale, self.scale, ("number", "boolean")):
            return self.values
        if np.isnan(self.values).all():
            return self.values
        if scale.is_time and self.scale.is_time:
            factor = MICROSECONDS_PER_DAY
            return self.values / factor if scale.kind == "date" else self.values * factor
        if scale.has_levels and not self.scale.is_time:
            own = self if self.scale.has_levels else self.as_category()
            if own.scale.is_text == scale.is_text or not scale.levels:
                return own._positions(scale)
        self._refuse(scale)
        return self.values

    def _positions(self, scale: Scale) -> FloatArray:
        """Return the positions of this column's levels among those of another scale."""
        known = {level: float(i) for i, level in enumerate(scale.levels)}
        table = np.array([known.get(level, UNSEEN) for level in self.scale.levels] + [np.nan])
        out: FloatArray = table[np.where(np.isnan(self.values), -1, self.values).astype(np.intp)]
        return out

    def raw_values(self) -> NDArray[Any]:
        """Return the values as their user knows them: whole numbers, booleans or numbers, else objects."""
        if self.scale.kind == "number":
            whole = self.values.size and np.abs(self.values).max() < 2**53 and (self.values % 1 == 0).all()
            return self.values.astype(np.int64) if whole else self.values
        if self.scale.kind == "boolean" and not np.isnan(self.values).any():
            return self.values.astype(bool)
        values = [None if number != number else self.scale.value(number) for number in self.values.tolist()]  # noqa: PLR0124
        return np.array(values, dtype=object)

    def drop_unused_levels(self) -> "Column":
        """Return a category with the levels of its rows only."""
        present = ~np.isnan(self.values)
        positions = self.values[present].astype(np.intp)
        seen = np.flatnonzero(np.bincount(positions, minlength=len(self.scale.levels)))
        rank = np.full(len(self.scale.levels) + 1, np.nan)
        rank[seen] = np.arange(seen.size)
        values = np.full(self.values.size, np.nan)
        values[present] = rank[positions]
        return Column(self.name, Scale("category", tuple(self.scale.levels[i] for i in seen)), values)

    def _refuse(self, scale: Scale) -> None:
        first = self.scale.value(float(self.values[~np.isnan(self.values)][0]))
        example = f" (such as {quoted(scale.levels, 3)})" if scale.has_levels else ""
        msg = (
            f"column {self.name!r} held {KIND_NAMES[scale.kind]}{example} when the model was fitted, but now holds "
            f"{KIND_NAMES[self.scale.kind]} (first value {first!r}): convert it to what it was."
        )
        raise ValueError(msg)


def fill_masked(array: Any) -> Any:
    """Return a masked array with its masked values as missing ones, which NumPy itself would bring back to light."""
    if not isinstance(array, np.ma.MaskedArray):
        return array
    missing: Any = None
    if array.dtype.kind in "fiu":
        values, missing = array.data.astype(np.result_type(array.dtype, np.float16)), np.nan
    elif array.dtype.kind == "M":
        values, missing = array.data.copy(), np.datetime64("NaT")
    else:
        values = array.data.astype(object)
    values[np.ma.getmaskarray(array)] = missing
    return values


def from_array(raw: NDArray[Any], name: str) -> Column:
    """Read a NumPy column of numbers, booleans, times, text or Python objects."""
    if raw.dtype.kind in "iuf":
        return Column(name, NUMBER, _checked(np.ascontiguousarray(raw, dtype=np.float64), raw.dtype.kind, name))
    if raw.dtype.kind == "b":
        return Column(name, BOOLEAN, np.ascontiguousarray(raw, dtype=np.float64))
    if raw.dtype.kind == "M":
        return _times(raw, name)
    if raw.dtype.kind in "mcSV":
        _refuse_type(name, f"dtype {raw.dtype}")
    return from_objects(raw.tolist(), name)


def from_objects(values: list[Any], name: str, levels: Sequence[Any] | None = None) -> Column:
    """Read a column of Python objects of one type (None, NaN and the like being missing); refuse mixed types.

    With `levels`, the values are levels in this order.
    """
    if set(map(type, values)) != {str}:  # text itself, which most columns are, misses nothing
        values = [None if is_missing(value) else value for value in values]
    if levels is not None:
        return _ordered(values, name, tuple(_plain(level) for level in levels))
    types = set(map(type, values)) - {type(None)}
    if all(issubclass(t, bool | np.bool_) for t in types) and types:
        return Column(name, BOOLEAN, _floats(values, name))
    if all(issubclass(t, Number | Decimal | np.number | np.bool_) for t in types):
        return Column(name, NUMBER, _checked(_floats(values, name), "f", name))
    if all(issubclass(t, str) for t in types):
        return _category(values, name)
    if all(issubclass(t, date | np.datetime64) for t in types):
        return _python_dates(values, name, only_days=not any(issubclass(t, datetime | np.datetime64) for t in types))
    _refuse_objects(values, types, name)
    return Column(name, NUMBER, np.empty(0))  # not reached


def from_levels(values: list[Any], name: str) -> Column:
    """Read a categorical column, whose levels may be of any one type."""
    return _category([None if is_missing(value) else _plain(value) for value in values], name)


def check_finite(values: FloatArray, name: str) -> None:
    """Raise a ValueError that names the column, the rows and the remedy where a value is infinite."""
    bad = np.flatnonzero(np.isinf(values))
    if bad.size:
        msg = f"column {name!r} contains infinity (row {bad[0]}; {bad.size} such rows): replace it or drop these rows."
        raise ValueError(msg)


def _checked(values: FloatArray, kind: str, name: str) -> FloatArray:
    """Check numbers that may be infinite: the smallest or largest of them is infinite (or NaN) if any is."""
    if kind == "f" and values.size and not (np.isfinite(values.min()) and np.isfinite(values.max())):
        check_finite(values, name)
    return values


def _both(one: Scale, other: Scale, kinds: tuple[str, ...]) -> bool:
    return one.kind in kinds and other.kind in kinds


def _natural(scale: Scale, number: float) -> Level:
    value = scale.value(number)
    if isinstance(value, float):
        return int(value) if value == int(value) else value
    return bool(value)


def _times(raw: NDArray[Any], name: str) -> Column:
    days = np.datetime_data(raw.dtype)[0] in ("D", "W", "M", "Y")
    whole = raw.astype("datetime64[D]" if days else "datetime64[us]")
    finer = np.datetime_data(raw.dtype)[0] in ("ns", "ps", "fs", "as")
    beyond = np.zeros(0, dtype=np.intp) if finer else np.flatnonzero(~np.isnat(raw) & (whole.astype(raw.dtype) != raw))
    if beyond.size:
        unit = "days" if days else "microseconds"
        msg = (
            f"column {name!r} holds {raw[beyond[0]]}, which is beyond the calendar in {unit}: mend it or leave it out."
        )
        raise ValueError(msg)
    values = whole.astype(np.int64).astype(np.float64)
    values[np.isnat(whole)] = np.nan
    return Column(name, DATE if days else DATETIME, values)


def _python_dates(values: list[Any], name: str, *, only_days: bool) -> Column:
    scale = DATE if only_days else DATETIME
    zoned = {value.tzinfo is not None: value for value in values if isinstance(value, datetime)}
    if len(zoned) > 1:
        msg = (
            f"column {name!r} mixes times with and without a time zone ({zoned[True]} and {zoned[False]}): give all of "
            "them one, with tz_localize or replace(tzinfo=...)."
        )
        raise ValueError(msg)
    numbers = [np.nan if value is None else scale.number(value) for value in values]
    return Column(name, scale, np.array(numbers, dtype=np.float64))


def _floats(values: list[Any], name: str) -> FloatArray:
    try:
        return np.array([np.nan if value is None else float(value) for value in values], dtype=np.float64)
    except (TypeError, OverflowError) as error:
        msg = f"column {name!r} holds a number that is no float64 ({error}): convert it or leave it out."
        raise ValueError(msg) from error


def _category(values: list[Any], name: str) -> Column:
    """Number the levels in their own order, whatever the order of the rows."""
    seen = dict.fromkeys(values)
    seen.pop(None, None)
    try:
        levels = sorted(seen)
    except TypeError:
        _refuse_objects(values, set(map(type, seen)), name)
    position = {level: float(i) for i, level in enumerate(levels)} | {None: np.nan}
    numbers = np.fromiter(map(position.__getitem__, values), np.float64, len(values))
    return Column(name, Scale("category", tuple(levels)), numbers)


def _ordered(values: list[Any], name: str, levels: tuple[Level, ...]) -> Column:
    position = {level: float(i) for i, level in enumerate(levels)} | {None: np.nan}
    numbers = [np.nan if value is None else position[_plain(value)] for value in values]
    return Column(name, Scale("ordered", levels), np.array(numbers, dtype=np.float64))


def _plain(level: Any) -> Level:
    """Return a level as text, a number or a boolean: others (intervals, dates) go by their text."""
    plain = level.item() if isinstance(level, np.generic) else level
    return plain if isinstance(plain, str | int | float) else str(plain)


def is_missing(value: Any) -> bool:
    """Tell whether an object stands for a missing value: None, NaN, NaT or pandas.NA."""
    if value is None:
        return True
    if isinstance(value, str):
        return False
    try:
        return bool(value != value)  # noqa: PLR0124  (NaN and NaT differ from themselves)
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"  # pandas.NA compares to nothing


def _refuse_objects(values: list[Any], types: set[type], name: str) -> None:
    good = (bool, np.bool_, Number, Decimal, str, date, np.datetime64)
    for row, value in enumerate(values):
        if value is not None and not isinstance(value, good):
            _refuse_type(name, f"{type(value).__name__} (row {row}: {value!r})")
    kinds = ", ".join(sorted(kind.__name__ for kind in types))
    examples = {type(value): repr(value) for value in values if value is not None}
    msg = (
        f"column {name!r} mixes types ({kinds}; such as {' and '.join(list(examples.values())[:3])}): "
        "make it numbers, or text with astype(str)."
    )
    raise ValueError(msg)


def _refuse_type(name: str, what: str) -> None:
    msg = (
        f"column {name!r} holds {what}, but the argument must be a date, a boolean, a string or a number: "
        "convert the column or leave it out."
    )
    raise TypeError(msg)
