"""Validation of options, text for error messages, warnings and optional imports."""

import re
import sys
import warnings
from collections.abc import Collection, Sequence
from importlib import import_module
from itertools import islice
from numbers import Integral, Real
from typing import Any

import numpy as np

NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
MAX_INTEGER = 2**53
MAX_SHOWN = 200
"""Most characters of a value in an error message."""


def shown(value: Any) -> str:
    """Return the representation of a value for a message: a plain Python value, truncated if it is long."""
    text = repr(plain(value))
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."


def plain(value: Any) -> Any:
    """Return a value with NumPy scalars as Python values, also inside lists, tuples, sets, dicts and arrays."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if type(value) in (list, tuple, set, frozenset):
        return type(value)(plain(one) for one in value)
    if type(value) is dict:
        return {plain(key): plain(one) for key, one in value.items()}
    return value


def quoted(values: Collection[Any], most: int = 5) -> str:
    """Return the representations of the first values, followed by "..." if there are more."""
    first = [shown(value) for value in islice(values, most)]
    return ", ".join([*first, "..."] if len(values) > most else first)


def first_few(names: Sequence[str], most: int, what: str = "") -> str:
    """Return the first names and the number of the others, such as "a, b and 3 more columns"."""
    more = f" and {len(names) - most} more {what}".rstrip() if len(names) > most else ""
    return ", ".join(names[:most]) + more


def check_xml_text(text: str, format_: str) -> None:
    """Raise ValueError if a text contains a character that is not allowed in XML, even escaped."""
    found = NOT_IN_XML.search(text)
    if found:
        msg = f"{text!r} contains the character {found.group()!r}, which is not allowed in {format_}: rename it."
        raise ValueError(msg)


def check_choice(name: str, value: Any, choices: tuple[str, ...], other: str = "") -> None:
    """Raise ValueError unless value is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        msg = f"{name} must be one of {', '.join(map(repr, choices))} {other}".rstrip() + f", got {shown(value)}."
        raise ValueError(msg)


def check_number(name: str, value: Any, *, at_least: float) -> None:
    """Raise ValueError unless value is a finite number that is not below a bound."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    # In float16 and float32 the largest float64 would be infinity, so that infinity would pass.
    number = float(value) if isinstance(value, np.floating) else value
    if not is_number or not at_least <= number <= sys.float_info.max:
        msg = f"{name} must be a finite number >= {at_least:g}, got {shown(value)}."
        raise ValueError(msg)


def check_integer(name: str, value: Any, *, at_least: int | None = None, at_most: int | None = None) -> None:
    """Raise ValueError unless value is an integer within the bounds that the core can represent."""
    is_integer = isinstance(value, Integral) and not isinstance(value, bool)
    if is_integer and abs(int(value)) >= MAX_INTEGER:
        msg = f"{name} must be an integer below 2^53 in absolute value, got {shown(value)}."
        raise ValueError(msg)
    if not is_integer or (at_least is not None and value < at_least) or (at_most is not None and value > at_most):
        bounds = f"{'' if at_least is None else f' >= {at_least}'}{'' if at_most is None else f' and <= {at_most}'}"
        msg = f"{name} must be an integer{bounds}, got {shown(value)}."
        raise ValueError(msg)


def check_boolean(name: str, value: Any) -> None:
    """Raise ValueError unless value is True or False."""
    if not isinstance(value, bool | np.bool_):
        msg = f"{name} must be True or False, got {shown(value)}."
        raise ValueError(msg)


def expect(value: Any, name: str, expected: str, *, holds: bool) -> None:
    """Raise ValueError if a condition on a value read from a file does not hold."""
    if not holds:
        msg = f"{name} must be {expected}, got {shown(value)}"
        raise ValueError(msg)


def is_number(value: Any) -> bool:
    """Return whether a JSON value is a number within the range of float64, which 10**400 is not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def warn(message: str, category: type[Warning]) -> None:
    """Emit a warning that is attributed to the first caller outside this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("sparsegam."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def optional(module: str, what: str, *, extra: str) -> Any:
    """Import a module of an optional dependency. If it is missing, raise ImportError with the command to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        verb = "need" if what.endswith("s") else "needs"
        msg = f"{what} {verb} {module.split('.')[0]}: pip install 'sparsegam[{extra}]'."
        raise ImportError(msg) from error
