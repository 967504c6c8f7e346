"""Writes a model as an equation in plain text: one block of lines per feature, a letter for each."""

from collections.abc import Iterator, Sequence
from itertools import count, islice, product
from string import ascii_uppercase

from sparsegam.models.terms import Term


def letters() -> Iterator[str]:
    """Count A, ..., Z, AA, AB, ..."""
    return ("".join(letter) for length in count(1) for letter in product(ascii_uppercase, repeat=length))


def blocks(terms: Sequence[Term], features: Sequence[str], *, digits: int, width: int) -> list[str]:
    """Return the lines of all features; the last line of each feature says what its letter stands for."""
    notes = [f"# {letter}: {name}" for letter, name in zip(islice(letters(), len(features)), features, strict=True)]
    room = width - 2 - max(map(len, notes), default=0)
    wrapped = [
        wrap(_texts([term for term in terms if term.feature == name], letter, digits), room)
        for letter, name in zip(islice(letters(), len(features)), features, strict=True)
    ]
    longest = max((len(lines[-1]) for lines in wrapped), default=0)
    return [
        line
        for lines, note in zip(wrapped, notes, strict=True)
        for line in (*lines[:-1], f"{lines[-1]:<{longest}}  {note}")
    ]


def wrap(texts: Sequence[str], room: int) -> list[str]:
    """Put as many texts on each line as there is room for, at least one."""
    lines: list[str] = []
    for text in texts:
        if lines and len(lines[-1]) + 1 + len(text) <= room:
            lines[-1] += f" {text}"
        else:
            lines.append(f"    {text}")
    return lines


def _texts(terms: Sequence[Term], letter: str, digits: int) -> list[str]:
    return [f"{term.coef:+.{digits}g} x {term.condition.describe(letter)}" for term in terms]
