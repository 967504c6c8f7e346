"""A scorecard to look at: as text, as a page, as CSV and as a workbook."""

import csv
import html
import io
from collections.abc import Sequence
from typing import Any

from sparsegam.checks import check_xml_text, optional
from sparsegam.data.writing import save_workbook
from sparsegam.deploy.scorecard import Scorecard
from sparsegam.models.layout import aligned

STYLE = """
body { font: 14px/1.4 system-ui, sans-serif; max-width: 46em; margin: 2em auto; color: #222 }
table { border-collapse: collapse; margin: 1em 0; width: 100% }
th, td { padding: .25em .6em; border-bottom: 1px solid #ddd; text-align: left }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums }
tr.first td { border-top: 2px solid #888 }
@media print { body { margin: 0 } }
"""


def to_text(card: Scorecard) -> str:
    """Return the card, its formula, what rounding cost and the risk table as lines of text."""
    header, body = _points_table(card)
    parts = [aligned(header, body), "", *_notes(card)]
    if card.risks:
        parts += ["", aligned(*_risk_table(card))]
    return "\n".join(parts)


def to_html(card: Scorecard) -> str:
    """Return the card as a page without scripts; all text of the data is escaped."""
    notes = "".join(f"<p>{html.escape(note)}</p>" for note in _notes(card))
    risks = f"<h2>Points and risk</h2>{_html_table(*_risk_table(card))}" if card.risks else ""
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Scorecard</title><style>{STYLE}</style>"
        f"</head><body><h1>Scorecard</h1>{_html_table(*_points_table(card))}{notes}{risks}</body></html>"
    )


def to_csv(card: Scorecard) -> str:
    """Return base and steps as CSV with the columns feature, step, points."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["feature", "step", "points"])
    writer.writerow(["", "base", card.base])
    writer.writerows([safe_cell(row["feature"]), safe_cell(row["step"]), row["points"]] for row in card.table())
    return out.getvalue()


def to_excel(card: Scorecard, path: Any) -> None:
    """Write a workbook with the card and, where rows were counted, the risk table."""
    openpyxl = optional("openpyxl", "workbooks", extra="excel")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Scorecard"
    for row in [["feature", "step", "points"], ["base points", "", card.base]]:
        sheet.append(row)
    for line in card.table():
        for text in (line["feature"], line["step"]):
            check_xml_text(text, "Excel")
        sheet.append([safe_cell(line["feature"]), safe_cell(line["step"]), line["points"]])
    if card.risks:
        risks = book.create_sheet("Risk")
        risks.append(["from", "to", "rows", "events", "observed", "risk"])
        for risk in card.risks:
            risks.append([risk.low, risk.high, risk.rows, risk.events, risk.rate, risk.risk])
    about = book.create_sheet("About")
    for note in _notes(card):
        about.append([note])
    save_workbook(book, path)


def safe_cell(text: str) -> str:
    """Return text that a spreadsheet will not take for a formula: `=`, `+`, `-` and `@` get a quote before them.

    A number such as -9 stays as it is.
    """
    if text[:1] in ("=", "+", "-", "@", "\t", "\r") and not _is_number(text):
        return f"'{text}"
    return text


def _points_table(card: Scorecard) -> tuple[list[str], list[list[str]]]:
    header = ["feature", "step", "points"] + (["rows", "share"] if card.counts else [])
    blank = [""] * (len(header) - 3)
    rows = [["base points", "", str(card.base), *blank]] if card.base else []
    before = None
    for line in card.table():
        counted = [f"{line['rows']:.0f}", f"{line['share']:.1%}"] if card.counts else []
        name = "" if line["feature"] == before else line["feature"]
        rows.append([name, line["step"], str(line["points"]), *counted])
        before = line["feature"]
    return header, rows


def _risk_table(card: Scorecard) -> tuple[list[str], list[list[str]]]:
    rows = [
        [
            str(line.low) if line.low == line.high else f"{line.low} to {line.high}",
            "",
            f"{line.rows:.0f}",
            f"{line.events:.0f}",
            f"{line.rate:.1%}",
            f"{line.risk:.1%}",
        ]
        for line in card.risks
    ]
    return ["points", "", "rows", "events", "observed", "risk"], rows


def _notes(card: Scorecard) -> list[str]:
    rises = "rise" if card.scaling.sign > 0 else "fall"
    label = "" if card.steps.classes is None else card.steps.classes[1]
    low, high = card.steps.range()
    base = "the base points and " if card.base else ""
    how = f"Add {base}the points of the first line that holds for each feature: "
    how += f"totals run from {low:.0f} to {high:.0f} and {rises} with the risk of {label!r}."
    notes = [how, card.formula()]
    return notes if card.rounding is None else [*notes, f"Rounding, {card.rounding}."]


def _html_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    kinds = ["" if j < 2 else " class='n'" for j in range(len(header))]
    head = "".join(f"<th{kind}>{html.escape(cell)}</th>" for kind, cell in zip(kinds, header, strict=True))
    body = "".join(
        f"<tr{' class=first' if row[0] else ''}>"
        + "".join(f"<td{kind}>{html.escape(cell)}</td>" for kind, cell in zip(kinds, row, strict=True))
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
