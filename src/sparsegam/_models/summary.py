"""The terms of an additive model as a table of text: what each adds and what it stands on."""

from typing import Protocol

from sparsegam._models.evidence import Evidence
from sparsegam._models.terms import Term, part_name


class Summarised(Protocol):
    """What a summary asks of a model."""

    @property
    def intercept(self) -> float:
        """Score where no term holds."""

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms."""

    @property
    def classes(self) -> tuple[object, object] | None:
        """The labels; None for a regression."""

    @property
    def evidence(self) -> Evidence | None:
        """What the terms stand on."""


def summary_table(model: Summarised) -> tuple[list[str], list[list[str]]]:
    """Return header and rows: the start and each term, with error, rows and events as far as they are known."""
    known = model.evidence
    start = ["(start)", "", f"{model.intercept:+.4f}"]
    if known is not None:
        start += [_cell(known.intercept_error, ".4f"), _cell(known.n_rows), _cell(known.n_events)]
    rows, last = [start], ""
    for term in model.terms:
        adds, error = (".4g", ".2g") if term.condition.is_ramp else (".4f", ".4f")  # slopes have units of their own
        cells = [_cell(term.standard_error, error), _cell(term.n_rows), _cell(term.n_events)]
        words = f"{term.coef:+{adds}}{' per unit' * term.condition.is_ramp}"
        name = part_name(term.part)
        rows.append(["" if name == last else name, term.short(), words, *cells])
        last = name
    header = ["feature x", "where", "adds", "std. error", "rows", "events"]
    kept = 3 if known is None else len(header) if model.classes is not None else 5
    return header[:kept], [row[:kept] for row in rows]


def _cell(value: float | None, form: str = "d") -> str:
    return "" if value is None else f"{value:{form}}"
