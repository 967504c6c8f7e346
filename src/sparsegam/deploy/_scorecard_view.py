"""A scorecard to look at: as text, as a page, as CSV and as a workbook."""

import csv
import io
from collections.abc import Iterator
from typing import Any

from sparsegam._io.writing import save_workbook
from sparsegam._models import notebook
from sparsegam._models.layout import aligned
from sparsegam.checks import check_xml_text, optional
from sparsegam.deploy._scorecard import Scorecard

COUNTED = ("rows", "share", "events", "event_rate", "woe", "iv")


def to_text(card: Scorecard) -> str:
    """Return the card, its formula, what rounding cost and the risk table as lines of text."""
    blocks = [line for block in _blocks(card) for line in ("", aligned(*block, n_text=1))]
    parts = [aligned(*_points_table(card)), *blocks, "", *_notes(card)]
    if card.risks:
        parts += ["", aligned(*_risk_table(card))]
    return "\n".join(parts)


def to_html(card: Scorecard) -> str:
    """Return the card as a page without scripts; all text of the data is escaped."""
    return notebook.page("Scorecard", *_parts(card))


def to_notebook(card: Scorecard) -> str:
    """Return the card as a piece of a notebook, whose style holds for itself alone."""
    return notebook.fragment(*_parts(card))


def _parts(card: Scorecard) -> list[str]:
    blocks = [notebook.table(*block, n_text=1) for block in _blocks(card)]
    parts = [notebook.table(*_points_table(card)), *blocks, *map(notebook.note, _notes(card))]
    return [*parts, notebook.table(*_risk_table(card))] if card.risks else parts


def to_csv(card: Scorecard) -> str:
    """Return base and steps as CSV with the columns feature, step, points and, where rows were counted, the others."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([_header(card), ["", "base", card.base, *[""] * (len(_header(card)) - 3)], *_lines(card)])
    return out.getvalue()


def to_excel(card: Scorecard, path: Any) -> None:
    """Write a workbook with the card and, where rows were counted, the risk table."""
    openpyxl = optional("openpyxl", "workbooks", extra="excel")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Scorecard"
    lines: list[list[Any]] = [_header(card), ["base points", "", card.base], *_lines(card)]
    for row in lines:
        for text in row[:2]:
            check_xml_text(str(text), "Excel")
        sheet.append(row)
    if card.risks:
        risks = book.create_sheet("Risk")
        risks.append(["from", "to", "rows", "events", "observed", "risk"])
        for risk in card.risks:
            risks.append([risk.low, risk.high, risk.rows, risk.events, risk.rate, risk.risk])
    about = book.create_sheet("About")
    for note in _notes(card):
        about.append([note])
    save_workbook(book, path)


def _header(card: Scorecard) -> list[str]:
    return ["feature", "step", "points", *(COUNTED if card.counts else ())]


def _lines(card: Scorecard) -> list[list[Any]]:
    """Return the lines of a card for a spreadsheet; what is not known is an empty cell."""
    names = _header(card)
    return [
        [safe_cell(line[name]) if isinstance(line[name], str) else line[name] for name in names]
        for line in card.table()
    ]


def safe_cell(text: str) -> str:
    """Return text that a spreadsheet will not take for a formula: `=`, `+`, `-` and `@` get a quote before them.

    A number such as -9 stays as it is.
    """
    if text[:1] in ("=", "+", "-", "@", "\t", "\r") and not _is_number(text):
        return f"'{text}"
    return text


def _points_table(card: Scorecard) -> tuple[list[str], list[list[str]]]:
    counted = ["rows", "share", "events", "event rate", "WoE", "IV"] if card.counts else []
    header = ["feature", "step", "points", *counted]
    rows = [["base points", "", str(card.base), *[""] * len(counted)]] if card.base else []
    before = None
    for line in card.table()[: sum(len(table.steps) for table in card.steps.tables)]:
        name = "" if line["feature"] == before else line["feature"]
        rows.append([name, line["step"], str(line["points"]), *(_figures(line) if card.counts else ())])
        before = line["feature"]
    return header, rows


def _blocks(card: Scorecard) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Return, for each pair, a table of points: the steps of the first feature down, those of the second across.

    Where rows were counted, those of each cell stand behind its points.
    """
    for j, pair in enumerate(card.steps.pairs, start=len(card.steps.tables)):
        first, second = pair.key
        down, across = pair.cell_labels()
        cells = [f"{points:.0f}" for points in pair.adds.ravel().tolist()]
        if card.counts:
            cells = [f"{cell} ({rows:.0f})" for cell, rows in zip(cells, card.counts[j].tolist(), strict=True)]
        rows = [[label, *cells[i * len(across) : (i + 1) * len(across)]] for i, label in enumerate(down)]
        words = f"{first} (down), {second} (across)" + (": points (rows)" if card.counts else ": points")
        yield [words, *across], rows


def _figures(line: dict[str, Any]) -> list[str]:
    rate = "" if line["event_rate"] is None else f"{line['event_rate']:.1%}"
    woe = "" if line["woe"] is None else f"{line['woe']:+.3f}"
    return [f"{line['rows']:.0f}", f"{line['share']:.1%}", f"{line['events']:.0f}", rate, woe, f"{line['iv']:.4f}"]


def _risk_table(card: Scorecard) -> tuple[list[str], list[list[str]]]:
    rows = [[totals, "", *figures] for totals, *figures in (line.cells() for line in card.risks)]
    return ["points", "", "rows", "events", "observed", "risk"], rows


def _notes(card: Scorecard) -> list[str]:
    rises = "rise" if card.scaling.sign > 0 else "fall"
    label = "" if card.steps.classes is None else card.steps.classes[1]
    low, high = card.steps.range()
    base = "the base points and " if card.base else ""
    meet = ", and those of each pair where its line and its column meet" if card.steps.pairs else ""
    how = f"Add {base}the points of the first line that holds for each feature{meet}: "
    how += f"totals run from {low:.0f} to {high:.0f} and {rises} with the risk of {label!r}."
    notes = [how, card.formula()]
    if card.rounding is not None:
        notes.append(f"Rounding, {card.rounding}.")
    if card.counts:
        best = sorted(card.information_values.items(), key=lambda pair: -pair[1])
        notes.append("Information values: " + ", ".join(f"{name} {value:.3f}" for name, value in best) + ".")
    return notes


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
