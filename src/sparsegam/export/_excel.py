"""Excel: a workbook that scores by itself; its formulas read the steps from a sheet, where they can be changed."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sparsegam._data.columns import Value
from sparsegam._data.table import Table
from sparsegam._io.writing import save_workbook
from sparsegam._models.step_tables import PairTable, StepTable
from sparsegam._models.steps import StepModel, as_table, step_model
from sparsegam.checks import check_integer, check_xml_text, optional

MAX_ROWS = 1_048_576
STEPS, PAIRS = "Steps", "Pairs"


@dataclass(frozen=True)
class Place:
    """Rows of a sheet that belong to the steps of one feature: missing, single values, thresholds, the rest."""

    sheet: str
    missing: int
    equal: tuple[int, int] | None
    upto: tuple[int, int] | None
    rest: int


@dataclass(frozen=True)
class Block:
    """Where the sheet Pairs has the cells of a pair: those of either feature by number, and what is added there."""

    first: Place
    second: Place
    adds: str


def to_excel(model: Any, path: Any, X: Any = None, *, n_rows: int = 100) -> None:
    """Write a workbook with live formulas; needs openpyxl.

    Parameters
    ----------
    model : Model, Scorecard or fitted estimator
        What scores.
    path : path or binary file
        Where to write.
    X : table, optional
        Rows to put in; without it there are empty lines to be filled.
    n_rows : int
        Number of empty lines.

    Notes
    -----
    An empty cell is missing. Excel keeps 15 digits of what is typed, all 17 of what this writes, and times to the
    millisecond.
    """
    check_integer("n_rows", n_rows, at_least=1, at_most=MAX_ROWS - 1)
    steps = step_model(model)
    book = optional("openpyxl", "workbooks", extra="excel").Workbook()
    sheet = book.active
    sheet.title = "Score"
    places = _write_steps(book.create_sheet(STEPS), steps)
    blocks = _write_pairs(book.create_sheet(PAIRS), steps.pairs) if steps.pairs else []
    added = [f"{part.name} adds" for part in steps.parts]
    header = [*steps.features, *added, "score"] + ([] if steps.classes is None else [f"P({steps.classes[1]})"])
    for j, title in enumerate(header, start=1):
        _put(sheet, 1, j, title)
    rows = None if X is None else _inputs(steps, as_table(X))
    for i, row in enumerate([()] * n_rows if rows is None else rows, start=2):
        for j, value in enumerate(row, start=1):
            _put(sheet, i, j, value)
        formulas = _formulas(steps, places, blocks, i, empty=rows is None)
        for j, formula in enumerate(formulas, start=len(steps.inputs) + 1):
            sheet.cell(i, j).value = formula
    sheet.freeze_panes = "A2"
    save_workbook(book, path)


def letters_of(column: int) -> str:
    """Return the letters of a column: A, ..., Z, AA, ..."""
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def _write_steps(sheet: Any, steps: StepModel) -> list[Place]:
    """Write what every step adds: one line per single value or threshold."""
    titles = ["feature", "step", "value", "adds", "and per unit from the value"]
    for row in (titles if _has_slopes(steps) else titles[:4], ["base", "", None, steps.base]):
        sheet.append(row)
    sheet.append(["shift of log odds", "", None, steps.shift])
    sheet.append(["slope of log odds", "", None, steps.slope])
    places, line = [], 5
    for table in steps.tables:
        place, line = _write_table(sheet, table, line)
        places.append(place)
    return places


def _write_pairs(sheet: Any, pairs: Sequence[PairTable]) -> list[Block]:
    """Write, for each pair, the number of the cell of each step of both, and what is added where two cells meet."""
    blocks, line = [], 1
    for pair in pairs:
        for j, title in enumerate([pair.name, "step", "value", "cell"], start=1):
            _put(sheet, line, j, title)
        halves = [half.changed(lambda cell: cell + 1) for half in pair.halves]  # Excel counts from one
        first, line = _write_table(sheet, halves[0], line + 1)
        second, line = _write_table(sheet, halves[1], line)
        rows, columns = pair.cell_labels()
        for j, title in enumerate([" / ".join(pair.key), *columns], start=1):
            _put(sheet, line, j, title)
        for i, (label, values) in enumerate(zip(rows, pair.adds.tolist(), strict=True), start=line + 1):
            for j, value in enumerate([label, *values], start=1):
                _put(sheet, i, j, value)
        last = line + len(rows)
        blocks.append(Block(first, second, f"{PAIRS}!$B${line + 1}:${letters_of(len(columns) + 1)}${last}"))
        line = last + 2
    return blocks


def _write_table(sheet: Any, table: StepTable, line: int) -> tuple[Place, int]:
    """Write the steps of a feature from a line on; return where they are, and the line behind them."""
    start: dict[str, list[int]] = {"equal": [], "upto": []}
    for kind, text, value, adds, slope in _lines(table):
        for j, cell in enumerate([table.feature, text, value, adds, slope], start=1):
            _put(sheet, line, j, cell)
        start.setdefault(kind, []).append(line)
        line += 1
    spans = _span(start["equal"]), _span(start["upto"])
    return Place(sheet.title, start["missing"][0], *spans, start["rest"][0]), line


def _has_slopes(steps: StepModel) -> bool:
    return any(table.slopes.any() for table in steps.tables)


def _lines(table: StepTable) -> Iterator[tuple[str, str, Any, float, float | None]]:
    sloped = bool(table.slopes.any())
    for text, step in zip(table.labels(), table.steps, strict=True):
        for value in step.values or (None,):
            yield (
                step.kind,
                text,
                None if value is None else _cell(value, table),
                step.adds,
                step.slope if sloped else None,
            )


def _cell(value: Value, table: StepTable) -> Any:
    return table.scale.number(value) if table.scale.kind == "boolean" else value


def _span(lines: list[int]) -> tuple[int, int] | None:
    return (lines[0], lines[-1]) if lines else None


def _formulas(
    steps: StepModel, places: Sequence[Place], blocks: Sequence[Block], row: int, *, empty: bool
) -> list[str]:
    """Write what each part adds, their sum and the probability; an empty line shows nothing."""
    k, n = len(steps.inputs), len(steps.parts)
    inputs = f"$A{row}:${letters_of(k)}{row}" if k else ""
    blank = f'IF(COUNTA({inputs})=0,"",{{}})' if empty and k else "{}"
    cells = {name: f"{letters_of(j)}{row}" for j, name in enumerate(steps.features, start=1)}
    parts = [_part(table, place, cells[table.feature]) for table, place in zip(steps.tables, places, strict=True)]
    for pair, block in zip(steps.pairs, blocks, strict=True):
        halves = zip(pair.halves, (block.first, block.second), strict=True)
        at = [_part(half, place, cells[half.feature]) for half, place in halves]
        parts.append(f"INDEX({block.adds},{at[0]},{at[1]})")
    adds = f"+SUM({letters_of(k + 1)}{row}:{letters_of(k + n)}{row})" if n else ""
    risk = f"1/(1+EXP(-(Steps!$D$3+Steps!$D$4*{letters_of(k + n + 1)}{row})))"
    shown = [*parts, f"Steps!$D$2{adds}"] + ([] if steps.classes is None else [risk])
    return [f"={blank.format(formula)}" for formula in shown]


def _part(table: StepTable, place: Place, x: str) -> str:
    """Write one feature: what the first step that holds adds."""
    value, sheet = f"({x}*1)" if table.scale.kind == "boolean" else x, place.sheet
    found = f"{sheet}!$D${place.rest}"
    if place.upto is not None:
        first, last = place.upto
        position = f"1+SUMPRODUCT(({sheet}!$C${first}:$C${last}<{value})*1)"
        found = f"INDEX({sheet}!$D${first}:$D${place.rest},{position})"
        if table.slopes.any():  # no line lies beyond the last threshold, where the value to start from is empty
            slope, start = (f"INDEX({sheet}!${c}${first}:${c}${place.rest},{position})" for c in "EC")
            found = f"({found}+{slope}*({value}-{start}))"
    if place.equal is not None:
        first, last = place.equal
        values = f"{sheet}!$C${first}:$C${last}"
        same = f"EXACT({values},{value})" if table.scale.is_text else f"({values}={value})"
        found = f"IF(SUMPRODUCT({same}*1)>0,SUMPRODUCT({same}*{sheet}!$D${first}:$D${last}),{found})"
    return f'IF({x}="",{sheet}!$D${place.missing},{found})'


def _inputs(steps: StepModel, table: Table) -> Iterator[list[Any]]:
    """Return the values of the features in use as the table has them, None where missing."""
    names = list(steps.feature_names if table.names is None else table.names)
    columns = [table.column(names.index(name)) for name in steps.features]
    for i in range(table.n_rows):
        numbers = [float(column.values[i]) for column in columns]
        yield [None if math.isnan(x) else column.scale.value(x) for column, x in zip(columns, numbers, strict=True)]


def _put(sheet: Any, row: int, column: int, value: Any) -> None:
    """Write a value; text stays text, also where it looks like a formula."""
    cell = sheet.cell(row, column)
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.replace(tzinfo=None)
    if isinstance(value, str):
        check_xml_text(value, "Excel")
    cell.value = value
    if isinstance(value, str):
        cell.data_type = "s"
        cell.quotePrefix = True
