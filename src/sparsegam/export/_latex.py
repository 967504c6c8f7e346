"""Export to LaTeX: tables of contributions and the equation of the probability."""

from typing import Any

from sparsegam._models.step_tables import PairTable, StepTable
from sparsegam._models.steps import StepModel, step_model

# Brackets and asterisks are escaped because a row that begins with one would be read as an argument of the preceding
# line break.
ESCAPES = {
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
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
}


def to_latex(model: Any, *, digits: int = 3) -> str:
    """Export to LaTeX for reading; numbers are rounded.

    Parameters
    ----------
    model : Model, Scorecard or fitted estimator
        The model to export.
    digits : int, default=3
        Number of decimal places; whole numbers have none.

    Returns
    -------
    str
        A `tabular` with the contribution of each value of each feature, one for each interaction, and a displayed
        equation of the probability. No packages are needed.
    """
    steps = step_model(model)
    lines = [
        r"\begin{tabular}{llr}",
        r"\hline",
        r"Feature & Value & Contribution \\",
        r"\hline",
        rf"Base & & ${_number(steps.base, digits)}$ \\",
        *(row for table in steps.tables for row in _feature_rows(table, digits)),
        r"\hline",
        r"\end{tabular}",
    ]
    for pair in steps.pairs:
        lines += _pair_table(pair, digits)
    return "\n".join([*lines, *_probability(steps, digits), ""])


def _escape(text: str) -> str:
    return "".join(ESCAPES.get(c, c) for c in " ".join(text.split()) if c.isprintable())


def _feature_rows(table: StepTable, digits: int) -> list[str]:
    rows = []
    for i, (label, step) in enumerate(zip(table.labels(), table.steps, strict=True)):
        name = _escape(table.feature) if i == 0 else ""
        line = ""
        if step.slope:
            # Slopes may be small and are therefore rounded to significant digits.
            sign = "-" if step.slope < 0 else "+"
            end = _number(table.number(step.values[0]), digits)
            line = f" {sign} {abs(step.slope):.{digits}g} (x - {end})"
        rows.append(rf"{name} & {_label(label)} & ${_number(step.adds, digits)}{line}$ \\")
    return rows


def _pair_table(pair: PairTable, digits: int) -> list[str]:
    """Write the first feature as rows and the second as columns."""
    rows, columns = pair.cell_labels()
    first, second = (_escape(name) for name in pair.key)
    cells = [" & ".join(f"${_number(value, digits)}$" for value in row) for row in pair.adds.tolist()]
    return [
        "",
        rf"\begin{{tabular}}{{l{'r' * len(columns)}}}",
        r"\hline",
        rf" & \multicolumn{{{len(columns)}}}{{c}}{{{second}}} \\",
        rf"{first} & {' & '.join(map(_label, columns))} \\",
        r"\hline",
        *(rf"{_label(label)} & {row} \\" for label, row in zip(rows, cells, strict=True)),
        r"\hline",
        r"\end{tabular}",
    ]


def _label(label: str) -> str:
    return _escape(label).replace(r"\textless{}=", r"$\leq$").replace(r"\textgreater{}", "$>$")


def _probability(steps: StepModel, digits: int) -> list[str]:
    if steps.classes is None:
        return []
    label = _escape(str(steps.classes[1]))
    shift = "" if steps.shift == 0 else f"{steps.shift:.{digits + 2}g} + "
    slope = "" if steps.slope == 1 else rf"{steps.slope:.{digits + 2}g} \cdot "
    exponent = rf"-({shift}{slope}\mathrm{{score}})"
    return [rf"\[ P(\mbox{{{label}}}) = \frac{{1}}{{1 + \exp({exponent})}} \]"]


def _number(value: float, digits: int) -> str:
    return str(int(value)) if value == int(value) else f"{value:.{digits}f}"
