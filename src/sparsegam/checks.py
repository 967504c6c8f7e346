"""Checks of options: each raises a ValueError that quotes the value received and what is wanted."""

import math
import re
from numbers import Integral, Real
from typing import Any

import numpy as np

NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


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
    if isinstance(value, bool) or not isinstance(value, Real) or not at_least <= float(value) < math.inf:
        msg = f"{name} must be a finite number >= {at_least:g}, got {value!r}."
        raise ValueError(msg)


def check_integer(name: str, value: Any, *, at_least: int | None = None, at_most: int | None = None) -> None:
    """Raise unless value is an integer within its bounds."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or (at_least is not None and value < at_least) or (at_most is not None and value > at_most):
        bounds = f"{'' if at_least is None else f' >= {at_least}'}{'' if at_most is None else f' and <= {at_most}'}"
        msg = f"{name} must be an integer{bounds}, got {value!r}."
        raise ValueError(msg)


def check_boolean(name: str, value: Any) -> None:
    """Raise unless value is True or False."""
    if not isinstance(value, bool | np.bool_):
        msg = f"{name} must be True or False, got {value!r}."
        raise ValueError(msg)
