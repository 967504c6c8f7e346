"""Equations in plain text: each feature has a letter and a block of lines."""

from collections.abc import Iterator, Sequence
from itertools import count, product
from string import ascii_uppercase

from sparsegam._data.columns import text
from sparsegam._models.terms import Term


def letters() -> Iterator[str]:
    """Return A, ..., Z, AA, AB, ..."""
    return ("".join(letter) for length in count(1) for letter in product(ascii_uppercase, repeat=length))


def lows(terms: Sequence[Term]) -> list[float]:
    """Return the lower ends of ramps: one number, except for terms that were written by hand."""
    return sorted({term.condition.low for term in terms if term.condition.low is not None})


def blocks(terms: Sequence[Term], features: Sequence[str], *, digits: int, width: int) -> list[str]:
    """Return the lines of all features, then those of interactions; the last line of each explains its letters."""
    mine = {name: [term for term in terms if term.part == name] for name in features}
    explained = [name for name in features if mine[name]]
    used = (name for term in terms for name in term.features)
    letter = dict(zip(dict.fromkeys([*explained, *used]), letters(), strict=False))
    notes = [f"# {letter[name]}: {name}{_low_note(mine[name])}" for name in explained]
    texts = [_texts(mine[name], letter[name], digits) for name in explained]
    for term in (term for term in terms if term.is_interaction):
        new = [name for name in term.features if name not in explained]
        explained += new
        notes.append(f"# {', '.join(f'{letter[name]}: {name}' for name in new)}" if new else "")
        texts.append([f"{term.coef:+.{digits}g} x {term.describe(letter)}"])
    room = width - 2 - max(map(len, notes), default=0)
    wrapped = [wrap(text, room) for text in texts]
    longest = max((len(lines[-1]) for lines, note in zip(wrapped, notes, strict=True) if note), default=0)
    return [
        line
        for lines, note in zip(wrapped, notes, strict=True)
        for line in (*lines[:-1], f"{lines[-1]:<{longest}}  {note}" if note else lines[-1])
    ]


def wrap(texts: Sequence[str], room: int) -> list[str]:
    """Wrap texts to lines of `room` characters, with at least one text on each."""
    lines: list[str] = []
    for one in texts:
        if lines and len(lines[-1]) + 1 + len(one) <= room:
            lines[-1] += f" {one}"
        else:
            lines.append(f"    {one}")
    return lines


def _low_note(terms: Sequence[Term]) -> str:
    """Return the note on the lower end of the ramps of a feature; steps may have lower thresholds."""
    found = lows(terms)
    if len(found) != 1:
        return ""
    below = any(t.condition.kind == "<=" and t.condition.edges[0] < found[0] for t in terms)  # type: ignore[operator]
    return f", at least {text(found[0])}{' in ramps' * below}"


def _texts(terms: Sequence[Term], letter: str, digits: int) -> list[str]:
    """Return the texts of terms; ramps with different lower ends (only in models written by hand) show them."""
    several = len(lows(terms)) > 1
    names = [
        f"max({letter}, {text(low)})" if several and (low := t.condition.low) is not None else letter for t in terms
    ]
    return [f"{t.coef:+.{digits}g} x {t.condition.describe(name)}" for t, name in zip(terms, names, strict=True)]
