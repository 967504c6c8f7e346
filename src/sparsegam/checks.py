"""What is said when something is wrong: options refused with the value and the remedy, packages missing, warnings."""

import re
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from numbers import Integral, Real
from typing import Any

import numpy as np

NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
LARGEST_INTEGER = 2**53  # far above any count
SHOWN = 200  # characters of a wrong value that an error quotes


def first_few(names: Sequence[str], most: int, what: str = "") -> str:
    """Write the first of some names, and how many there are beyond, as in `a, b and 3 more columns`."""
    more = f" and {len(names) - most} more {what}".rstrip() if len(names) > most else ""
    return ", ".join(names[:most]) + more


def check_xml_text(text: str, format_: str) -> None:
    """Raise where a text holds a character that XML cannot write, not even escaped."""
    found = NOT_IN_XML.search(text)
    if found:
        msg = f"{text!r} holds the character {found.group()!r}, which {format_} cannot write: rename it."
        raise ValueError(msg)


def check_choice(name: str, value: Any, choices: tuple[str, ...], other: str = "") -> None:
    """Raise unless value is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        msg = f"{name} must be one of {', '.join(map(repr, choices))} {other}".rstrip() + f", got {value!r}."
        raise ValueError(msg)


def check_number(name: str, value: Any, *, at_least: float) -> None:
    """Raise unless value is a finite number that is large enough."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    held = float(value) if isinstance(value, np.floating) else value  # in float16 and float32, the largest is infinity
    if not number or not at_least <= held <= sys.float_info.max:
        msg = f"{name} must be a finite number >= {at_least:g}, got {shown(value)}."
        raise ValueError(msg)


def check_integer(name: str, value: Any, *, at_least: int | None = None, at_most: int | None = None) -> None:
    """Raise unless value is an integer within its bounds, and one that the core can hold."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if whole and abs(int(value)) >= LARGEST_INTEGER:
        msg = f"{name} must be an integer of ordinary size, got {shown(value)}."
        raise ValueError(msg)
    if not whole or (at_least is not None and value < at_least) or (at_most is not None and value > at_most):
        bounds = f"{'' if at_least is None else f' >= {at_least}'}{'' if at_most is None else f' and <= {at_most}'}"
        msg = f"{name} must be an integer{bounds}, got {value!r}."
        raise ValueError(msg)


def check_boolean(name: str, value: Any) -> None:
    """Raise unless value is True or False."""
    if not isinstance(value, bool | np.bool_):
        msg = f"{name} must be True or False, got {value!r}."
        raise ValueError(msg)


def expect(found: Any, name: str, wanted: str, *, holds: bool) -> None:
    """Raise unless something that was read from a file holds; what was found is quoted, but not at any length."""
    if not holds:
        msg = f"{name} must be {wanted}, got {shown(found)}"
        raise ValueError(msg)


def is_number(value: Any) -> bool:
    """Tell whether a value of JSON is a number that a float can hold: 10**400 is an integer there, but no float."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def shown(found: Any) -> str:
    """Return a wrong value as an error quotes it: no more than its start."""
    text = repr(found)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def warn(message: str, category: type[Warning]) -> None:
    """Warn the caller of this package, however many of its own functions lie between."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("sparsegam."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def optional(module: str, what: str, *, extra: str) -> Any:
    """Load a module of a package that not everyone has, or say how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        msg = (
            f"{what} need{'' if what.endswith('s') else 's'} {module.split('.')[0]}: pip install 'sparsegam[{extra}]'."
        )
        raise ImportError(msg) from error


def quoted(values: Any, most: int = 5) -> str:
    """Write the first few of many values."""
    shown = [repr(value) for value in list(values)[:most]]
    return ", ".join([*shown, "..."] if len(values) > most else shown)
