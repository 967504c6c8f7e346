"""LaTeX: the model as a table of steps and an equation, for papers and reports."""

from collections.abc import Iterator
from typing import Any

from sparsegam._models.step_tables import PairTable, StepTable
from sparsegam._models.steps import StepModel, step_model

SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "[": "{[}",  # a row that begins with [ or * would change the \\ before it
    "]": "{]}",
    "*": "{*}",
}


def to_latex(model: Any, *, digits: int = 3) -> str:
    """Write the model as LaTeX.

    Parameters
    ----------
    model : Model, Scorecard or fitted estimator
        What scores.
    digits : int
        Digits after the point; whole numbers have none. It is for reading: numbers are rounded.

    Returns
    -------
    str
        A `tabular` of features, steps and what they add, one for each pair with the steps of both, then a displayed
        equation; no packages are needed.
    """
    steps = step_model(model)
    rows = [row for table in steps.tables for row in _rows(table, digits)]
    table = [
        r"\begin{tabular}{llr}",
        r"\hline",
        r"Feature & Value & Adds \\",
        r"\hline",
        rf"Base & & ${_number(steps.base, digits)}$ \\",
        *rows,
        r"\hline",
        r"\end{tabular}",
    ]
    pairs = [line for pair in steps.pairs for line in _block(pair, digits)]
    return "\n".join([*table, *pairs, *_equation(steps, digits), ""])


def escaped(text: str) -> str:
    """Return text of the data so that LaTeX prints it as it is."""
    return "".join(SPECIAL.get(c, c) for c in " ".join(text.split()) if c.isprintable())


def _rows(table: StepTable, digits: int) -> Iterator[str]:
    for i, (text, step) in enumerate(zip(table.labels(), table.steps, strict=True)):
        name = escaped(table.feature) if i == 0 else ""
        shown = _shown(text)
        line = (
            f"{_signed(step.slope, digits)} (x - {_number(table.number(step.values[0]), digits)})" if step.slope else ""
        )
        yield rf"{name} & {shown} & ${_number(step.adds, digits)}{line}$ \\"


def _block(pair: PairTable, digits: int) -> list[str]:
    """Write what a pair adds: the steps of its first feature go down, those of the second across."""
    rows, columns = pair.cell_labels()
    first, second = (escaped(name) for name in pair.key)
    cells = [" & ".join(f"${_number(value, digits)}$" for value in row) for row in pair.adds.tolist()]
    return [
        "",
        rf"\begin{{tabular}}{{l{'r' * len(columns)}}}",
        r"\hline",
        rf" & \multicolumn{{{len(columns)}}}{{c}}{{{second}}} \\",
        rf"{first} & {' & '.join(map(_shown, columns))} \\",
        r"\hline",
        *(rf"{_shown(label)} & {row} \\" for label, row in zip(rows, cells, strict=True)),
        r"\hline",
        r"\end{tabular}",
    ]


def _shown(label: str) -> str:
    """Return the words of a step, its comparisons as signs."""
    return escaped(label).replace(r"\textless{}=", r"$\leq$").replace(r"\textgreater{}", "$>$")


def _equation(steps: StepModel, digits: int) -> list[str]:
    if steps.classes is None:
        return []
    label = escaped(str(steps.classes[1]))
    shift = "" if steps.shift == 0 else f"{steps.shift:.{digits + 2}g} + "
    slope = "" if steps.slope == 1 else rf"{steps.slope:.{digits + 2}g} \cdot "
    exponent = rf"-({shift}{slope}\mathrm{{score}})"
    return [rf"\[ P(\mbox{{{label}}}) = \frac{{1}}{{1 + \exp({exponent})}} \]"]


def _signed(value: float, digits: int) -> str:
    """Write a slope, which may be small: by its significant digits."""
    return f" {'-' if value < 0 else '+'} {abs(value):.{digits}g}"


def _number(value: float, digits: int) -> str:
    return str(int(value)) if value == int(value) else f"{value:.{digits}f}"
