"""Options picked out of all that was given; and what docstrings share, written down once and put into each."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from textwrap import indent
from typing import Any, TypeVar

from sparsegam.sections import SECTIONS

T = TypeVar("T")
MARK = re.compile(r"\{\w+\}")


def documented(thing: T) -> T:
    """Fill the shared parameters into a docstring, at the depth of the mark that stands for them."""
    lines = []
    for line in (thing.__doc__ or "").splitlines():
        section = SECTIONS.get(line.strip()[1:-1]) if MARK.fullmatch(line.strip()) else None
        depth = line[: len(line) - len(line.lstrip())]
        lines.append(line if section is None else indent(section, depth).rstrip())
    thing.__doc__ = "\n".join(lines)
    if isinstance(thing, type):
        _order_parameters(thing)
    return thing


def _order_parameters(kind: type) -> None:
    """Put the parameters of a class, which come from many bases, into the order of its docstring."""
    section = (inspect.getdoc(kind) or "").partition("\nParameters\n")[2].partition("\n\n")[0]
    told = re.findall(r"^([\w, ]+) : ", section, flags=re.MULTILINE)
    order = ["self", *(name for names in told for name in names.split(", "))]
    init: Any = vars(kind)["__init__"]
    signature = inspect.signature(init)
    parameters = sorted(signature.parameters.values(), key=lambda parameter: order.index(parameter.name))
    init.__signature__ = signature.replace(parameters=parameters)


def pick(kind: Callable[..., T], options: Mapping[str, Any]) -> T:
    """Make a dataclass out of those options that it knows."""
    return kind(**{name: options[name] for name in _fields_of(kind) if name in options})


@cache
def _fields_of(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
