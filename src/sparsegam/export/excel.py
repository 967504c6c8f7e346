"""Excel: a workbook that scores by itself; its formulas read the steps from a sheet, where they can be changed."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sparsegam.checks import check_integer, check_xml_text, optional
from sparsegam.data.frames import Table
from sparsegam.data.scales import Value
from sparsegam.data.writing import save_workbook
from sparsegam.models.steps import StepModel, StepTable, as_table, step_model

MAX_ROWS = 1_048_576


@dataclass(frozen=True)
class Place:
    """Rows of the sheet Steps that belong to one feature: missing, single values, thresholds, the rest."""

    missing: int
    equal: tuple[int, int] | None
    upto: tuple[int, int] | None
    rest: int


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
    places = _write_steps(book.create_sheet("Steps"), steps)
    added = [f"{name} adds" for name in steps.features]
    header = [*steps.features, *added, "score"] + ([] if steps.classes is None else [f"P({steps.classes[1]})"])
    for j, title in enumerate(header, start=1):
        _put(sheet, 1, j, title)
    rows = None if X is None else _inputs(steps, as_table(X))
    for i, row in enumerate([()] * n_rows if rows is None else rows, start=2):
        for j, value in enumerate(row, start=1):
            _put(sheet, i, j, value)
        for j, formula in enumerate(_formulas(steps, places, i, empty=rows is None), start=len(steps.tables) + 1):
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
        start = {"equal": [], "upto": []}  # type: dict[str, list[int]]
        for kind, text, value, adds, slope in _lines(table):
            for j, cell in enumerate([table.feature, text, value, adds, slope], start=1):
                _put(sheet, line, j, cell)
            start.setdefault(kind, []).append(line)
            line += 1
        places.append(Place(start["missing"][0], _span(start["equal"]), _span(start["upto"]), start["rest"][0]))
    return places


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


def _formulas(steps: StepModel, places: list[Place], row: int, *, empty: bool) -> list[str]:
    """Write what each feature adds, their sum and the probability; an empty line shows nothing."""
    k = len(places)
    inputs = f"$A{row}:${letters_of(k)}{row}" if k else ""
    blank = f'IF(COUNTA({inputs})=0,"",{{}})' if empty and k else "{}"
    cells = [f"{letters_of(j)}{row}" for j in range(1, k + 1)]
    parts = [blank.format(_part(t, place, x)) for t, place, x in zip(steps.tables, places, cells, strict=True)]
    adds = f"+SUM({letters_of(k + 1)}{row}:{letters_of(2 * k)}{row})" if k else ""
    risk = f"1/(1+EXP(-(Steps!$D$3+Steps!$D$4*{letters_of(2 * k + 1)}{row})))"
    risks = [] if steps.classes is None else [blank.format(risk)]
    return [f"={formula}" for formula in [*parts, blank.format(f"Steps!$D$2{adds}"), *risks]]


def _part(table: StepTable, place: Place, x: str) -> str:
    """Write one feature: what the first step that holds adds."""
    value = f"({x}*1)" if table.scale.kind == "boolean" else x
    found = f"Steps!$D${place.rest}"
    if place.upto is not None:
        first, last = place.upto
        position = f"1+SUMPRODUCT((Steps!$C${first}:$C${last}<{value})*1)"
        found = f"INDEX(Steps!$D${first}:$D${place.rest},{position})"
        if table.slopes.any():  # no line lies beyond the last threshold, where the value to start from is empty
            slope, start = (f"INDEX(Steps!${c}${first}:${c}${place.rest},{position})" for c in "EC")
            found = f"({found}+{slope}*({value}-{start}))"
    if place.equal is not None:
        first, last = place.equal
        values = f"Steps!$C${first}:$C${last}"
        same = f"EXACT({values},{value})" if table.scale.is_text else f"({values}={value})"
        found = f"IF(SUMPRODUCT({same}*1)>0,SUMPRODUCT({same}*Steps!$D${first}:$D${last}),{found})"
    return f'IF({x}="",Steps!$D${place.missing},{found})'


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
