"""Export to Excel: a workbook that scores rows with formulas; the model is in a sheet where it can be changed."""

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
class StepRows:
    """Rows of a sheet with the steps of one feature: missing, single values, thresholds, all other values."""

    sheet: str
    missing: int
    equal: tuple[int, int] | None
    upto: tuple[int, int] | None
    rest: int


@dataclass(frozen=True)
class PairRows:
    """Rows of the sheet Pairs with the cell numbers of both features, and the range of the contributions."""

    first: StepRows
    second: StepRows
    contributions: str


def to_excel(model: Any, path: Any, X: Any = None, *, n_rows: int = 100) -> None:
    """Export to an Excel workbook with formulas; requires openpyxl.

    The sheet Score has the rows with their contributions, score and probability. Its formulas refer to the sheets
    Steps and Pairs, which hold the model.

    Parameters
    ----------
    model : Model, Scorecard or fitted estimator
        The model to export.
    path : str, path-like or binary file
        File to write.
    X : array-like or data frame of shape (n_samples, n_features), optional
        Rows to write. By default, the sheet has empty rows to fill in.
    n_rows : int, default=100
        Number of empty rows if X is not given.

    Notes
    -----
    An empty cell is a missing value. Excel keeps 15 digits of a number that is typed in, all 17 digits of a number in
    the exported file, and times to the millisecond.
    """
    check_integer("n_rows", n_rows, at_least=1, at_most=MAX_ROWS - 1)
    steps = step_model(model)
    book = optional("openpyxl", "workbooks", extra="excel").Workbook()
    sheet = book.active
    sheet.title = "Score"
    step_rows = _write_steps(book.create_sheet(STEPS), steps)
    pair_rows = _write_pairs(book.create_sheet(PAIRS), steps.pairs) if steps.pairs else []
    header = [*steps.features, *(f"{part.name} contribution" for part in steps.parts), "score"]
    header += [] if steps.classes is None else [f"P({steps.classes[1]})"]
    _write_row(sheet, 1, header)
    rows = None if X is None else _values(steps, as_table(X))
    for i, row in enumerate([()] * n_rows if rows is None else rows, start=2):
        _write_row(sheet, i, row)
        formulas = _formulas(steps, step_rows, pair_rows, i, may_be_empty=rows is None)
        for j, formula in enumerate(formulas, start=len(steps.inputs) + 1):
            sheet.cell(i, j).value = formula
    sheet.freeze_panes = "A2"
    save_workbook(book, path)


def column_letters(column: int) -> str:
    """Return the letters of a column: A, ..., Z, AA, ..."""
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def _write_steps(sheet: Any, steps: StepModel) -> list[StepRows]:
    titles = ["feature", "step", "value", "contribution"]
    has_slopes = any(table.slopes.any() for table in steps.tables)
    sheet.append([*titles, "slope from the value"] if has_slopes else titles)
    sheet.append(["base", "", None, steps.base])
    sheet.append(["shift of log-odds", "", None, steps.shift])
    sheet.append(["slope of log-odds", "", None, steps.slope])
    step_rows, row = [], 5
    for table in steps.tables:
        rows, row = _write_table(sheet, table, row)
        step_rows.append(rows)
    return step_rows


def _write_pairs(sheet: Any, pairs: Sequence[PairTable]) -> list[PairRows]:
    """Write the cell number of each step of both features, and a grid of the contributions of the cells."""
    pair_rows, row = [], 1
    for pair in pairs:
        _write_row(sheet, row, [pair.name, "step", "value", "cell"])
        # Excel counts cells from 1.
        first, second = (half.changed(lambda cell: cell + 1) for half in pair.halves)
        first_rows, row = _write_table(sheet, first, row + 1)
        second_rows, row = _write_table(sheet, second, row)
        rows, columns = pair.cell_labels()
        _write_row(sheet, row, [" / ".join(pair.key), *columns])
        for i, (label, values) in enumerate(zip(rows, pair.adds.tolist(), strict=True), start=row + 1):
            _write_row(sheet, i, [label, *values])
        last = row + len(rows)
        grid = f"{PAIRS}!$B${row + 1}:${column_letters(len(columns) + 1)}${last}"
        pair_rows.append(PairRows(first_rows, second_rows, grid))
        row = last + 2
    return pair_rows


def _write_table(sheet: Any, table: StepTable, row: int) -> tuple[StepRows, int]:
    """Write the steps of a feature, one row for each value or threshold; return their rows and the next free row."""
    has_slopes = bool(table.slopes.any())
    rows: dict[str, list[int]] = {"missing": [], "equal": [], "upto": [], "rest": []}
    for label, step in zip(table.labels(), table.steps, strict=True):
        for value in step.values or (None,):
            cell = None if value is None else _cell_value(value, table)
            _write_row(sheet, row, [table.feature, label, cell, step.adds, step.slope if has_slopes else None])
            rows[step.kind].append(row)
            row += 1
    equal, upto = ((found[0], found[-1]) if found else None for found in (rows["equal"], rows["upto"]))
    return StepRows(sheet.title, rows["missing"][0], equal, upto, rows["rest"][0]), row


def _cell_value(value: Value, table: StepTable) -> Any:
    return table.scale.number(value) if table.scale.kind == "boolean" else value


def _formulas(
    steps: StepModel, step_rows: Sequence[StepRows], pair_rows: Sequence[PairRows], row: int, *, may_be_empty: bool
) -> list[str]:
    """Return the formulas of the contributions, the score and the probability; an empty row shows nothing."""
    k, n = len(steps.inputs), len(steps.parts)
    inputs = f"$A{row}:${column_letters(k)}{row}" if k else ""
    template = f'=IF(COUNTA({inputs})=0,"",{{}})' if may_be_empty and k else "={}"
    cells = {name: f"{column_letters(j)}{row}" for j, name in enumerate(steps.features, start=1)}
    formulas = []
    for table, rows in zip(steps.tables, step_rows, strict=True):
        formulas.append(_contribution(table, rows, cells[table.feature]))
    for pair, grid in zip(steps.pairs, pair_rows, strict=True):
        first, second = (
            _contribution(half, half_rows, cells[half.feature])
            for half, half_rows in zip(pair.halves, (grid.first, grid.second), strict=True)
        )
        formulas.append(f"INDEX({grid.contributions},{first},{second})")
    total = f"+SUM({column_letters(k + 1)}{row}:{column_letters(k + n)}{row})" if n else ""
    formulas.append(f"{STEPS}!$D$2{total}")
    if steps.classes is not None:
        formulas.append(f"1/(1+EXP(-({STEPS}!$D$3+{STEPS}!$D$4*{column_letters(k + n + 1)}{row})))")
    return [template.format(formula) for formula in formulas]


def _contribution(table: StepTable, rows: StepRows, x: str) -> str:
    """Return the formula of the contribution of one feature, that of the first step that holds."""
    value, sheet = f"({x}*1)" if table.scale.kind == "boolean" else x, rows.sheet
    formula = f"{sheet}!$D${rows.rest}"
    if rows.upto is not None:
        first, last = rows.upto
        position = f"1+SUMPRODUCT(({sheet}!$C${first}:$C${last}<{value})*1)"
        formula = f"INDEX({sheet}!$D${first}:$D${rows.rest},{position})"
        # The row after the last threshold has slope 0 and no value, so that its product is 0.
        if table.slopes.any():
            slope, start = (f"INDEX({sheet}!${c}${first}:${c}${rows.rest},{position})" for c in "EC")
            formula = f"({formula}+{slope}*({value}-{start}))"
    if rows.equal is not None:
        first, last = rows.equal
        values = f"{sheet}!$C${first}:$C${last}"
        same = f"EXACT({values},{value})" if table.scale.is_text else f"({values}={value})"
        formula = f"IF(SUMPRODUCT({same}*1)>0,SUMPRODUCT({same}*{sheet}!$D${first}:$D${last}),{formula})"
    return f'IF({x}="",{sheet}!$D${rows.missing},{formula})'


def _values(steps: StepModel, table: Table) -> Iterator[list[Any]]:
    """Yield the values of the features of each row as the table has them; None if missing."""
    names = list(steps.feature_names if table.names is None else table.names)
    columns = [table.column(names.index(name)) for name in steps.features]
    for i in range(table.n_rows):
        numbers = [float(column.values[i]) for column in columns]
        yield [None if math.isnan(x) else column.scale.value(x) for column, x in zip(columns, numbers, strict=True)]


def _write_row(sheet: Any, row: int, values: Sequence[Any]) -> None:
    """Write values from the first column on; text is never interpreted as a formula."""
    for column, value in enumerate(values, start=1):
        cell = sheet.cell(row, column)
        if isinstance(value, datetime) and value.tzinfo is not None:
            value = value.replace(tzinfo=None)
        if isinstance(value, str):
            check_xml_text(value, "Excel")
        cell.value = value
        if isinstance(value, str):
            cell.data_type = "s"
            cell.quotePrefix = True
