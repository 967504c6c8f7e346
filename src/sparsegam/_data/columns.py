"""Columns of a table as float64 arrays on a scale.

A scale maps the values of a column to numbers and back: dates to days since 1970, levels of a category to their
positions. Missing values are NaN on every scale.
"""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from functools import cached_property
from numbers import Integral, Number
from typing import Any, Literal, NoReturn, get_args

import numpy as np
from numpy.typing import NDArray

from sparsegam.arrays import FloatArray
from sparsegam.checks import quoted, shown

ScaleKind = Literal["number", "boolean", "date", "datetime", "ordered", "category"]
SCALE_KINDS: tuple[ScaleKind, ...] = get_args(ScaleKind)
KIND_NAMES: dict[ScaleKind, str] = {
    "number": "numbers",
    "boolean": "booleans",
    "date": "dates",
    "datetime": "times",
    "ordered": "ordered levels",
    "category": "categories",
}
Level = str | int | float
"""A level of a categorical column. Booleans are integers in Python."""
Value = Level | date | datetime
"""A value of a column as it appears in the user's data."""
RowIndex = NDArray[np.bool_] | NDArray[np.intp]
"""A mask of rows or the positions of rows."""

UNSEEN = -1.0
"""The code of a level that is not on the scale."""
LARGEST_EXACT_INTEGER = 2.0**53
"""Above this, float64 cannot represent all integers."""
EPOCH = datetime(1970, 1, 1)
MICROSECONDS_PER_DAY = 86_400_000_000


@dataclass(frozen=True)
class Scale:
    """The kind of the values of a column and the numbers that represent them.

    Numbers represent themselves, booleans are 0 and 1, dates are days and times are microseconds since 1970 in UTC,
    and levels are their positions in `levels`.

    Attributes
    ----------
    kind : {"number", "boolean", "date", "datetime", "ordered", "category"}
        Kind of the values. All kinds except "category" are ordered.
    levels : tuple
        Levels of an ordered or unordered category.
    has_zone : bool
        Whether times were given with a time zone. Times with and without one are never compared.
    """

    kind: ScaleKind = "number"
    levels: tuple[Level, ...] = ()
    has_zone: bool = False

    @property
    def has_levels(self) -> bool:
        """Whether the values are levels of a category."""
        return self.kind in ("ordered", "category")

    @property
    def is_time(self) -> bool:
        """Whether the values are dates or times."""
        return self.kind in ("date", "datetime")

    @property
    def is_text(self) -> bool:
        """Whether any level is text."""
        return any(isinstance(level, str) for level in self.levels)

    def value(self, number: float) -> Value:
        """Return the value represented by a number."""
        if self.kind == "boolean" and number in (0.0, 1.0):
            return bool(number)
        if self.kind == "date":
            time = EPOCH + timedelta(days=number)
            return time.date() if number == math.floor(number) else time
        if self.kind == "datetime":
            return EPOCH + timedelta(microseconds=int(number))
        return self.levels[int(number)] if self.has_levels else float(number)

    def number(self, value: Any) -> float:
        """Return the number that represents a value. Raise ValueError if the scale has no such value."""
        if self.has_levels:
            if value not in self._positions:
                msg = f"{shown(value)} is not one of the levels ({quoted(self.levels)})."
                raise ValueError(msg)
            return float(self._positions[value])
        if self.is_time:
            return _microseconds(value) / (MICROSECONDS_PER_DAY if self.kind == "date" else 1)
        return _finite_number(value)

    def holds(self, value: Any) -> bool:
        """Return whether a value can be represented on this scale."""
        try:
            self.number(value)
        except (ValueError, TypeError, OverflowError):
            return False
        return True

    @cached_property
    def _positions(self) -> dict[Level, int]:
        return {level: i for i, level in enumerate(self.levels)}


NUMBER = Scale()
BOOLEAN = Scale("boolean")
DATE = Scale("date")
DATETIME = Scale("datetime")
DATETIME_WITH_ZONE = Scale("datetime", has_zone=True)


def text(value: Value) -> str:
    """Format a value in the shortest form that identifies it: 63.0 as "63", a time at midnight as a date."""
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ").removesuffix(" 00:00:00")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, int):
        return str(value)
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def _finite_number(value: Any) -> float:
    number = math.nan
    if not isinstance(value, str | bytes | date | np.datetime64):
        with suppress(TypeError, ValueError, OverflowError):
            number = float(value)
    if not math.isfinite(number):
        msg = f"{shown(value)} is not a finite number."
        raise ValueError(msg)
    return number


def _microseconds(value: Any) -> float:
    """Return the microseconds since 1970 of a date, a time or ISO text."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(timezone.utc).replace(tzinfo=None)
    if not isinstance(value, date | np.datetime64):
        msg = f"{shown(value)} is not a date."
        raise ValueError(msg)
    if isinstance(value, date):
        value = np.datetime64(value)
    return float(value.astype("datetime64[us]").astype(np.int64))


def _kind_in_words(scale: Scale) -> str:
    """Return the kind of the values; for levels, also whether they are text or numbers."""
    kind = KIND_NAMES[scale.kind]
    return f"{kind} that are {'text' if scale.is_text else 'numbers'}" if scale.levels else kind


@dataclass(frozen=True, eq=False)
class Column:
    """A column of a table: its name, its scale and one number per row, NaN for missing values.

    `integers` has the integers as given if some are beyond 2^53, where float64 merges neighbours; otherwise it is None.
    """

    name: str
    scale: Scale
    values: FloatArray
    integers: NDArray[Any] | None = field(default=None, kw_only=True)

    def take(self, rows: RowIndex | slice | None) -> "Column":
        """Return the given rows. A category keeps only the levels that occur in them."""
        if rows is None:
            return self
        integers = None if self.integers is None else self.integers[rows]
        taken = replace(self, values=np.ascontiguousarray(self.values[rows]), integers=integers)
        return taken.drop_unused_levels() if self.scale.kind == "category" else taken

    def subset(self, rows: RowIndex | None) -> "Column":
        """Return the given rows in the same representation, see `CodedColumn.subset`."""
        return self.take(rows)

    def as_category(self) -> "Column":
        """Convert numbers, booleans or ordered levels to an unordered category."""
        if self.scale.is_time:
            kind = KIND_NAMES[self.scale.kind]
            msg = f"column {self.name!r} contains {kind}, which are ordered: leave it out of categorical."
            raise ValueError(msg)
        if self.scale.has_levels:
            return replace(self, scale=Scale("category", self.scale.levels)).drop_unused_levels()
        present = ~np.isnan(self.values)
        raw = self.values if self.integers is None else self.integers
        found, position = np.unique(raw[present], return_inverse=True)
        values = self.values.copy()
        values[present] = position
        if self.scale.kind == "boolean":
            levels: list[Level] = [bool(number) for number in found]
        else:
            levels = [int(number) if number == int(number) else number for number in found.tolist()]
        return Column(self.name, Scale("category", tuple(levels)), values)

    def on_scale(self, scale: Scale) -> FloatArray:
        """Return the values as numbers on another scale, such as the one a model was fitted on.

        Levels that are not on the scale become UNSEEN. Raise ValueError for values of another kind.
        """
        if scale == self.scale or {scale.kind, self.scale.kind} <= {"number", "boolean"}:
            return self.values
        if np.isnan(self.values).all():
            return self.values
        if scale.is_time and self.scale.is_time:
            self._check_zone(scale)
            factor = MICROSECONDS_PER_DAY
            return self.values / factor if scale.kind == "date" else self.values * factor
        if scale.has_levels and not self.scale.is_time:
            category = self if self.scale.has_levels else self.as_category()
            if self.scale.kind == "number" and self.integers is None:
                self._check_exact(scale)
            if category.scale.is_text == scale.is_text or not scale.levels:
                return category._level_positions(scale)
        first = self.scale.value(float(self.values[~np.isnan(self.values)][0]))
        example = f" (such as {quoted(scale.levels, 3)})" if scale.has_levels else ""
        remedy = "the original type"
        if scale.has_levels and not self.scale.is_time:
            remedy = "text" if scale.is_text else "numbers"
        msg = (
            f"column {self.name!r} contained {_kind_in_words(scale)}{example} when the model was fitted, but now "
            f"contains {_kind_in_words(self.scale)} (first value {first!r}): convert it to {remedy}."
        )
        raise ValueError(msg)

    def _check_exact(self, scale: Scale) -> None:
        """Raise ValueError if numbers beyond 2^53 are compared with levels that float64 cannot represent."""
        if np.nanmax(np.abs(self.values)) < LARGEST_EXACT_INTEGER:
            return
        if any(isinstance(level, int) and int(float(level)) != level for level in scale.levels):
            msg = (
                f"column {self.name!r} contains integers beyond 2^53 as float64, which merges neighbours, but integers "
                "were given when the model was fitted: convert it to the original type, or to text in both tables."
            )
            raise ValueError(msg)

    def _check_zone(self, scale: Scale) -> None:
        if scale.has_zone != self.scale.has_zone:
            kinds = {True: "times with a time zone", False: "dates or times without a time zone"}
            msg = (
                f"column {self.name!r} contained {kinds[scale.has_zone]} when the model was fitted, but now contains "
                f"{kinds[self.scale.has_zone]}: convert it to the original type, in pandas with dt.tz_localize."
            )
            raise ValueError(msg)

    def _level_positions(self, scale: Scale) -> FloatArray:
        known = {level: float(i) for i, level in enumerate(scale.levels)}
        table = np.array([known.get(level, UNSEEN) for level in self.scale.levels] + [np.nan])
        out: FloatArray = table[np.where(np.isnan(self.values), -1, self.values).astype(np.intp)]
        return out

    def raw_values(self) -> NDArray[Any]:
        """Return the values as in the user's data: integers, booleans or floats if possible, otherwise objects."""
        if self.integers is not None:
            return self.integers
        if self.scale.kind == "number":
            whole = self.values.size and np.abs(self.values).max() < 2**53 and (self.values % 1 == 0).all()
            return self.values.astype(np.int64) if whole else self.values
        if self.scale.kind == "boolean" and not np.isnan(self.values).any():
            return self.values.astype(bool)
        values = [None if math.isnan(number) else self.scale.value(number) for number in self.values.tolist()]
        return np.array(values, dtype=object)

    def drop_unused_levels(self) -> "Column":
        """Return a category without the levels that do not occur in its rows."""
        present = ~np.isnan(self.values)
        positions = self.values[present].astype(np.intp)
        used = np.flatnonzero(np.bincount(positions, minlength=len(self.scale.levels)))
        rank = np.full(len(self.scale.levels) + 1, np.nan)
        rank[used] = np.arange(used.size)
        values = np.full(self.values.size, np.nan)
        values[present] = rank[positions]
        return Column(self.name, Scale("category", tuple(self.scale.levels[i] for i in used)), values)


def fill_masked(array: Any) -> Any:
    """Replace masked values by missing values; np.asarray would expose the data below the mask."""
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
    """Read a column from a NumPy array of numbers, booleans, times, text or Python objects."""
    if raw.dtype.kind in "iuf":
        values = np.ascontiguousarray(raw, dtype=np.float64)
        if raw.dtype.kind == "f":
            check_finite(values, name)
        is_large = raw.dtype.kind in "iu" and raw.dtype.itemsize == 8 and has_large_integers(values)
        return Column(name, NUMBER, values, integers=np.ascontiguousarray(raw) if is_large else None)
    if raw.dtype.kind == "b":
        return Column(name, BOOLEAN, np.ascontiguousarray(raw, dtype=np.float64))
    if raw.dtype.kind == "M":
        return _from_datetime64(raw, name)
    if raw.dtype.kind in "mcSV":
        _raise_type_error(name, f"dtype {raw.dtype}")
    return from_objects(raw.tolist(), name)


def has_large_integers(values: FloatArray) -> bool:
    """Return whether any value is beyond 2^53, where neighbouring integers have the same float64."""
    low, high = np.fmin.reduce(values, initial=0.0), np.fmax.reduce(values, initial=0.0)
    return bool(max(high, -low) >= LARGEST_EXACT_INTEGER)


def from_objects(values: list[Any], name: str, levels: Sequence[Any] | None = None) -> Column:
    """Read a column from Python objects of one type, where None, NaN, NaT and pandas.NA are missing values.

    If `levels` is given, the values are levels of an ordered category with this order.
    """
    # Most columns of objects are text without missing values, which is quick to detect.
    if set(map(type, values)) != {str}:
        values = [None if is_missing(value) else value for value in values]
    if levels is not None:
        return _from_ordered_levels(values, name, tuple(_as_level(level) for level in levels))
    types = set(map(type, values)) - {type(None)}
    if types and all(issubclass(t, bool | np.bool_) for t in types):
        return Column(name, BOOLEAN, _floats(values, name))
    if all(issubclass(t, Number | Decimal | np.number | np.bool_) for t in types):
        read = from_array(_floats(values, name), name)
        if all(issubclass(t, Integral) for t in types) and has_large_integers(read.values):
            return replace(read, integers=np.array(values, dtype=object))
        return read
    if all(issubclass(t, str) for t in types):
        return _from_categories(values, name)
    if not all(issubclass(t, date | np.datetime64) for t in types):
        _raise_mixed_types(values, types, name)
    return _from_dates(values, name, only_days=not any(issubclass(t, datetime | np.datetime64) for t in types))


def from_levels(values: list[Any], name: str) -> Column:
    """Read a categorical column. Its levels may have any type, but must all have the same one."""
    return _from_categories([None if is_missing(value) else _as_level(value) for value in values], name)


def check_finite(values: FloatArray, name: str) -> None:
    """Raise ValueError if a column contains infinite values. NaN is allowed."""
    # The extremes are infinite or NaN if any value is, and are found without an array of flags.
    if not values.size or (np.isfinite(values.min()) and np.isfinite(values.max())):
        return
    infinite = np.flatnonzero(np.isinf(values))
    if infinite.size:
        msg = (
            f"column {name!r} contains infinity (first in row {infinite[0]}, {infinite.size} in all): replace it or "
            "drop these rows."
        )
        raise ValueError(msg)


def is_missing(value: Any) -> bool:
    """Return whether an object is a missing value: None, NaN, NaT or pandas.NA."""
    if value is None:
        return True
    if isinstance(value, str):
        return False
    try:
        return bool(value != value)  # noqa: PLR0124
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"


def _from_datetime64(raw: NDArray[Any], name: str) -> Column:
    unit = np.datetime_data(raw.dtype)[0]
    days = unit in ("D", "W", "M", "Y")
    whole = raw.astype("datetime64[D]" if days else "datetime64[us]")
    # Conversion to a finer unit can overflow silently. Conversion to a coarser one only truncates.
    overflows = np.flatnonzero(~np.isnat(raw) & (whole.astype(raw.dtype) != raw))
    if unit not in ("ns", "ps", "fs", "as") and overflows.size:
        limit = "days" if days else "microseconds"
        msg = f"column {name!r} contains {raw[overflows[0]]}, which overflows int64 in {limit}: correct or remove it."
        raise ValueError(msg)
    values = whole.astype(np.int64).astype(np.float64)
    values[np.isnat(whole)] = np.nan
    return Column(name, DATE if days else DATETIME, values)


def _from_dates(values: list[Any], name: str, *, only_days: bool) -> Column:
    scale = DATE if only_days else DATETIME
    by_zone = {value.tzinfo is not None: value for value in values if isinstance(value, datetime)}
    if len(by_zone) > 1:
        msg = (
            f"column {name!r} mixes times with and without a time zone ({by_zone[True]} and {by_zone[False]}): use "
            "tz_localize or replace(tzinfo=...) to give all of them a time zone."
        )
        raise ValueError(msg)
    if True in by_zone:
        scale = DATETIME_WITH_ZONE
    numbers = [np.nan if value is None else scale.number(value) for value in values]
    return Column(name, scale, np.array(numbers, dtype=np.float64))


def _floats(values: list[Any], name: str) -> FloatArray:
    try:
        return np.array([np.nan if value is None else float(value) for value in values], dtype=np.float64)
    except (TypeError, OverflowError) as error:
        msg = f"column {name!r} contains a number that float64 cannot represent ({error}): convert or remove it."
        raise ValueError(msg) from error


def _from_categories(values: list[Any], name: str) -> Column:
    """Return the levels as numbers in sorted order, so that the order of the rows does not matter."""
    distinct = dict.fromkeys(values)
    distinct.pop(None, None)
    try:
        levels = sorted(distinct)
    except TypeError:
        _raise_mixed_types(values, set(map(type, distinct)), name)
    position = {level: float(i) for i, level in enumerate(levels)} | {None: np.nan}
    numbers = np.fromiter(map(position.__getitem__, values), np.float64, len(values))
    return Column(name, Scale("category", tuple(levels)), numbers)


def _from_ordered_levels(values: list[Any], name: str, levels: tuple[Level, ...]) -> Column:
    position = {level: float(i) for i, level in enumerate(levels)}
    numbers = [np.nan if value is None else position[_as_level(value)] for value in values]
    return Column(name, Scale("ordered", levels), np.array(numbers, dtype=np.float64))


def _as_level(level: Any) -> Level:
    """Convert a level to text, a number or a boolean; intervals and dates become text."""
    plain = level.item() if isinstance(level, np.generic) else level
    return plain if isinstance(plain, str | int | float) else str(plain)


def _raise_mixed_types(values: list[Any], types: set[type], name: str) -> NoReturn:
    supported = (bool, np.bool_, Number, Decimal, str, date, np.datetime64)
    for row, value in enumerate(values):
        if value is not None and not isinstance(value, supported):
            _raise_type_error(name, f"{type(value).__name__} (row {row}: {shown(value)})")
    kinds = ", ".join(sorted(kind.__name__ for kind in types))
    examples = {type(value): repr(value) for value in values if value is not None}
    msg = (
        f"column {name!r} mixes types ({kinds}; such as {' and '.join(list(examples.values())[:3])}): convert it to "
        "numbers, or to text with astype(str)."
    )
    raise ValueError(msg)


def _raise_type_error(name: str, found: str) -> NoReturn:
    # The checks of scikit-learn for estimators expect the words "argument must be ... string ... number".
    msg = (
        f"column {name!r} contains {found}, but each argument must be a date, a boolean, a string or a number: "
        "convert the column or remove it."
    )
    raise TypeError(msg)
