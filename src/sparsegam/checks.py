"""What is said when something is wrong: options refused with the value and the remedy, packages missing, warnings."""

import math
import sys
import warnings
from importlib import import_module
from numbers import Integral, Real
from typing import Any

import numpy as np

SHOWN = 200  # characters of a wrong value that an error quotes


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


def expect(found: Any, name: str, wanted: str, *, holds: bool) -> None:
    """Raise unless something that was read from a file holds; what was found is quoted, but not at any length."""
    if not holds:
        shown = repr(found)
        shown = shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}..."
        msg = f"{name} must be {wanted}, got {shown}"
        raise ValueError(msg)


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
