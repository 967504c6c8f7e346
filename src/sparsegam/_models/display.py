"""Display of results as plain text and as HTML in notebooks.

The styles apply only to the HTML of this package. Text has the colour of the page and lines are half-transparent grey,
so that tables are readable on light and dark backgrounds.
"""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparsegam._models.terms import part_name

if TYPE_CHECKING:
    from sparsegam._models.additive import Model

STYLE = """
.sparsegam { font-size: 13px; line-height: 1.4; max-width: 70em; overflow-x: auto; color: inherit }
.sparsegam table { border-collapse: collapse; margin: .5em 0; font-size: inherit; color: inherit; background: none }
.sparsegam th, .sparsegam td { padding: .2em .7em; border: 0; border-bottom: 1px solid rgba(128, 128, 128, .35);
  text-align: left; vertical-align: top; background: none; color: inherit }
.sparsegam .n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.sparsegam .first td { border-top: 1px solid rgba(128, 128, 128, .9) }
.sparsegam p { margin: .4em 0; opacity: .85 }
.sparsegam pre { margin: .4em 0; white-space: pre; overflow-x: auto; background: none; color: inherit }
.sparsegam summary { cursor: pointer }
"""
MOST_ROWS = 60
"""Number of rows of a table that notebooks show."""


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]], *, n_text: int = 2) -> str:
    """Return a table as text: the first columns are left-aligned, the others right-aligned."""
    widths = [max(len(row[j]) for row in [header, *rows]) for j in range(len(header))]
    lines = [header, ["-" * width for width in widths], *rows]
    pads = [str.ljust if j < n_text else str.rjust for j in range(len(widths))]
    return "\n".join(
        "  ".join(pad(cell, width) for pad, cell, width in zip(pads, line, widths, strict=True)).rstrip()
        for line in lines
    )


def fragment(*parts: str) -> str:
    """Return HTML parts as one fragment with its style."""
    return f"<div class='sparsegam'><style>{STYLE}</style>{''.join(parts)}</div>"


def page(title: str, *parts: str) -> str:
    """Return HTML parts as a page without scripts, for reading and printing."""
    frame = "body { margin: 2em auto; max-width: 60em; padding: 0 1em; font-family: system-ui, sans-serif }"
    frame += " @media print { body { margin: 0 } thead { display: table-header-group } tr { break-inside: avoid } }"
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><meta name='color-scheme' content='light dark'>"
        f"<meta name='viewport' content='width=device-width'><title>{html.escape(title)}</title><style>{frame}</style>"
        f"</head><body><h1>{html.escape(title)}</h1>{fragment(*parts)}</body></html>"
    )


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, n_text: int = 2, most: int | None = None) -> str:
    """Return a table as HTML with escaped text: the first columns are left-aligned, the others right-aligned.

    A row whose first cell is not empty begins a block. With `most`, a note replaces the rows beyond that number.
    """
    kinds = ["" if j < n_text else " class='n'" for j in range(len(header))]
    head = "".join(f"<th{kind} scope='col'>{html.escape(cell)}</th>" for kind, cell in zip(kinds, header, strict=True))
    body = "".join(
        f"<tr{' class=first' if row[0] else ''}>"
        + "".join(f"<td{kind}>{html.escape(cell)}</td>" for kind, cell in zip(kinds, row, strict=True))
        + "</tr>"
        for row in rows[:most]
    )
    out = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return out if most is None or len(rows) <= most else f"{out}{note(f'and {len(rows) - most} more rows')}"


@dataclass(frozen=True)
class TextTable:
    """Table of formatted cells: the first `n_text` columns are left-aligned, the others right-aligned.

    Text output has all rows; `max_html_rows` limits the rows shown in a notebook.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    n_text: int = 2
    max_html_rows: int | None = None


class DisplayedResult:
    """Base class of results that consist of sentences and tables, for printing and for notebooks."""

    def _display(self) -> Sequence[str | TextTable]:
        """Return the sentences and tables in the order of their display."""
        raise NotImplementedError

    def __str__(self) -> str:
        """Return one line per sentence, with an empty line before and after each table."""
        parts = self._display()
        lines = []
        for i, part in enumerate(parts):
            if i and not (isinstance(part, str) and isinstance(parts[i - 1], str)):
                lines.append("")
            lines.append(part if isinstance(part, str) else aligned(part.header, part.rows, n_text=part.n_text))
        return "\n".join(lines)

    def _html_parts(self) -> list[str]:
        return [
            note(part)
            if isinstance(part, str)
            else table(part.header, part.rows, n_text=part.n_text, most=part.max_html_rows)
            for part in self._display()
        ]

    def _repr_html_(self) -> str:
        return fragment(*self._html_parts())


def note(text: str) -> str:
    """Return a paragraph of escaped text."""
    return f"<p>{html.escape(text)}</p>"


def folded(title: str, *parts: str, is_open: bool = False) -> str:
    """Return HTML parts that are shown when the title is clicked."""
    return f"<details{' open' * is_open}><summary>{html.escape(title)}</summary>{''.join(parts)}</details>"


def verbatim(text: str) -> str:
    """Return preformatted text."""
    return f"<pre>{html.escape(text)}</pre>"


def summary_table(model: "Model") -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the terms of a model, with standard errors, rows and events if they are known."""
    known = model.statistics
    start = ["(intercept)", "", f"{model.intercept:+.4f}"]
    if known is not None:
        start += [_cell(known.intercept_error, ".4f"), "", _cell(known.n_rows), _cell(known.n_events)]
    rows, last = [start], ""
    for term in model.terms:
        adds, error = (".4g", ".2g") if term.condition.is_ramp else (".4f", ".4f")
        interval = "" if term.interval is None else " to ".join(f"{end:+{adds}}" for end in term.interval)
        cells = [_cell(term.standard_error, error), interval, _cell(term.n_rows), _cell(term.n_events)]
        words = f"{term.coef:+{adds}}{' per unit' * term.condition.is_ramp}"
        name = part_name(term.part)
        rows.append(["" if name == last else name, term.short(), words, *cells])
        last = name
    header = ["feature x", "condition", "coefficient", "std. error", "95 % interval", "rows", "events"]
    kept = 3 if known is None else len(header) if model.classes is not None else 6
    return header[:kept], [row[:kept] for row in rows]


def _cell(value: float | None, form: str = "d") -> str:
    return "" if value is None else f"{value:{form}}"
