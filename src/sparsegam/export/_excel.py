"""Export to Excel: a workbook that scores rows with formulas; the model is in a sheet where it can be changed."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from sparsegam._data.columns import Value
from sparsegam._data.table import Table, read_table
from sparsegam._io.writing import save_workbook
from sparsegam._models.functions import Bins, FittedFunction, ScoreFunction, score_function
from sparsegam.arrays import FloatArray
from sparsegam.checks import check_integer, check_xml_text, optional

MAX_ROWS = 1_048_576
BINS, PAIRS = "Bins", "Pairs"


@dataclass(frozen=True)
class BinRows:
    """Rows of a sheet with the bins of one feature: missing, single values, thresholds, all other values."""

    sheet: str
    missing: int
    equal: tuple[int, int] | None
    upto: tuple[int, int] | None
    rest: int
    has_slopes: bool


@dataclass(frozen=True)
class PairRows:
    """Rows of the sheet Pairs with the bin numbers of both features, and the range of the contributions."""

    first: BinRows
    second: BinRows
    contributions: str


def to_excel(model: Any, path: Any, X: Any = None, *, n_rows: int = 100) -> None:
    """Export to an Excel workbook with formulas; requires openpyxl.

    The sheet Score has the rows with their contributions, score and probability. Its formulas refer to the sheets
    Bins and Pairs, which hold the model.

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
    score = score_function(model)
    book = optional("openpyxl", "workbooks", extra="excel").Workbook()
    sheet = book.active
    sheet.title = "Score"
    bin_rows = _write_features(book.create_sheet(BINS), score)
    pair_rows = _write_pairs(book.create_sheet(PAIRS), score.of_pairs) if score.of_pairs else []
    header = [*score.features, *(f"{function.name} contribution" for function in score.functions), "score"]
    header += [] if score.classes is None else [f"P({score.classes[1]})"]
    _write_row(sheet, 1, header)
    rows = None if X is None else _values(score, read_table(X))
    for i, row in enumerate([()] * n_rows if rows is None else rows, start=2):
        _write_row(sheet, i, row)
        formulas = _formulas(score, bin_rows, pair_rows, i, may_be_empty=rows is None)
        for j, formula in enumerate(formulas, start=len(score.inputs) + 1):
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


def _write_features(sheet: Any, score: ScoreFunction) -> list[BinRows]:
    titles = ["feature", "bin", "value", "contribution"]
    has_slopes = any(function.has_slopes for function in score.of_features)
    sheet.append([*titles, "slope from the value"] if has_slopes else titles)
    sheet.append(["base", "", None, score.base])
    sheet.append(["shift of log-odds", "", None, score.shift])
    sheet.append(["slope of log-odds", "", None, score.slope])
    bin_rows, row = [], 5
    for function in score.of_features:
        slopes = function.slopes if function.has_slopes else None
        rows, row = _write_bins(sheet, function.bins, function.contributions, row, slopes)
        bin_rows.append(rows)
    return bin_rows


def _write_pairs(sheet: Any, pairs: Sequence[FittedFunction]) -> list[PairRows]:
    """Write the number of each bin of both features, and a grid of the contributions."""
    pair_rows, row = [], 1
    for pair in pairs:
        _write_row(sheet, row, [pair.name, "bin", "value", "number"])
        # Excel counts from 1.
        first, second = pair.axes
        first_rows, row = _write_bins(sheet, first, np.arange(1.0, len(first) + 1), row + 1)
        second_rows, row = _write_bins(sheet, second, np.arange(1.0, len(second) + 1), row)
        rows, columns = ([bin_.label for bin_ in axis.bins] for axis in pair.axes)
        _write_row(sheet, row, [" / ".join(pair.key), *columns])
        for i, (label, values) in enumerate(zip(rows, pair.contributions.tolist(), strict=True), start=row + 1):
            _write_row(sheet, i, [label, *values])
        last = row + len(rows)
        grid = f"{PAIRS}!$B${row + 1}:${column_letters(len(columns) + 1)}${last}"
        pair_rows.append(PairRows(first_rows, second_rows, grid))
        row = last + 2
    return pair_rows


def _write_bins(
    sheet: Any, bins: Bins, results: FloatArray, row: int, slopes: FloatArray | None = None
) -> tuple[BinRows, int]:
    """Write the bins of a feature, one row for each value or threshold; return their rows and the next free row."""
    rows: dict[str, list[int]] = {"missing": [], "equal": [], "upto": [], "rest": []}
    for i, (bin_, result) in enumerate(zip(bins.bins, results.tolist(), strict=True)):
        values: tuple[Value | None, ...] = (None,)
        if i == len(bins) - 1:
            kind = "rest"
        elif bin_.kind == "missing":
            kind = "missing"
        else:
            kind, values = ("equal", bin_.values) if bin_.values else ("upto", (bins.upper_value(bin_),))
        for value in values:
            cell = bins.scale.number(value) if bins.scale.kind == "boolean" and value is not None else value
            slope = None if slopes is None else float(slopes[i])
            _write_row(sheet, row, [bins.feature, bin_.label, cell, result, slope])
            rows[kind].append(row)
            row += 1
    equal, upto = ((found[0], found[-1]) if found else None for found in (rows["equal"], rows["upto"]))
    return BinRows(sheet.title, rows["missing"][0], equal, upto, rows["rest"][0], slopes is not None), row


def _formulas(
    score: ScoreFunction, bin_rows: Sequence[BinRows], pair_rows: Sequence[PairRows], row: int, *, may_be_empty: bool
) -> list[str]:
    """Return the formulas of the contributions, the score and the probability; empty rows stay blank."""
    k, n = len(score.inputs), len(score.functions)
    inputs = f"$A{row}:${column_letters(k)}{row}" if k else ""
    template = f'=IF(COUNTA({inputs})=0,"",{{}})' if may_be_empty and k else "={}"
    cells = {name: f"{column_letters(j)}{row}" for j, name in enumerate(score.features, start=1)}
    formulas = []
    for function, rows in zip(score.of_features, bin_rows, strict=True):
        formulas.append(_result(function.bins, rows, cells[function.name]))
    for pair, grid in zip(score.of_pairs, pair_rows, strict=True):
        first, second = (
            _result(bins, rows, cells[bins.feature])
            for bins, rows in zip(pair.axes, (grid.first, grid.second), strict=True)
        )
        formulas.append(f"INDEX({grid.contributions},{first},{second})")
    total = f"+SUM({column_letters(k + 1)}{row}:{column_letters(k + n)}{row})" if n else ""
    formulas.append(f"{BINS}!$D$2{total}")
    if score.classes is not None:
        formulas.append(f"1/(1+EXP(-({BINS}!$D$3+{BINS}!$D$4*{column_letters(k + n + 1)}{row})))")
    return [template.format(formula) for formula in formulas]


def _result(bins: Bins, rows: BinRows, x: str) -> str:
    """Return the formula of the contribution, or of the number, of the bin of a value."""
    value, sheet = f"({x}*1)" if bins.scale.kind == "boolean" else x, rows.sheet
    formula = f"{sheet}!$D${rows.rest}"
    if rows.upto is not None:
        first, last = rows.upto
        position = f"1+SUMPRODUCT(({sheet}!$C${first}:$C${last}<{value})*1)"
        formula = f"INDEX({sheet}!$D${first}:$D${rows.rest},{position})"
        # The row after the last threshold has slope 0 and no value, so that its product is 0.
        if rows.has_slopes:
            slope, start = (f"INDEX({sheet}!${c}${first}:${c}${rows.rest},{position})" for c in "EC")
            formula = f"({formula}+{slope}*({value}-{start}))"
    if rows.equal is not None:
        first, last = rows.equal
        values = f"{sheet}!$C${first}:$C${last}"
        same = f"EXACT({values},{value})" if bins.scale.is_text else f"({values}={value})"
        formula = f"IF(SUMPRODUCT({same}*1)>0,SUMPRODUCT({same}*{sheet}!$D${first}:$D${last}),{formula})"
    return f'IF({x}="",{sheet}!$D${rows.missing},{formula})'


def _values(score: ScoreFunction, table: Table) -> Iterator[list[Any]]:
    """Yield the values of the features of each row as the table has them; None if missing."""
    names = list(score.feature_names if table.names is None else table.names)
    columns = [table.column(names.index(name)) for name in score.features]
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
