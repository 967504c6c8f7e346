"""Export to LaTeX: tables of contributions and the equation of the probability."""

from typing import Any

from sparsegam._models.functions import FittedFunction, ScoreFunction, score_function

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
    score = score_function(model)
    lines = [
        r"\begin{tabular}{llr}",
        r"\hline",
        r"Feature & Value & Contribution \\",
        r"\hline",
        rf"Base & & ${_number(score.base, digits)}$ \\",
        *(row for function in score.of_features for row in _feature_rows(function, digits)),
        r"\hline",
        r"\end{tabular}",
    ]
    for pair in score.of_pairs:
        lines += _pair_table(pair, digits)
    return "\n".join([*lines, *_probability(score, digits), ""])


def _escape(text: str) -> str:
    return "".join(ESCAPES.get(c, c) for c in " ".join(text.split()) if c.isprintable())


def _feature_rows(function: FittedFunction, digits: int) -> list[str]:
    rows = []
    for i, (bin_, contribution, slope) in enumerate(function.lines()):
        name = _escape(function.name) if i == 0 else ""
        line = ""
        if slope:
            # Slopes may be small and are therefore rounded to significant digits.
            sign = "-" if slope < 0 else "+"
            end = _number(bin_.high, digits)
            line = f" {sign} {abs(slope):.{digits}g} (x - {end})"
        rows.append(rf"{name} & {_label(bin_.label)} & ${_number(contribution, digits)}{line}$ \\")
    return rows


def _pair_table(pair: FittedFunction, digits: int) -> list[str]:
    """Write the first feature as rows and the second as columns."""
    rows, columns = ([bin_.label for bin_ in axis.bins] for axis in pair.axes)
    first, second = (_escape(axis.feature) for axis in pair.axes)
    cells = [" & ".join(f"${_number(value, digits)}$" for value in row) for row in pair.contributions.tolist()]
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


def _probability(score: ScoreFunction, digits: int) -> list[str]:
    if score.classes is None:
        return []
    label = _escape(str(score.classes[1]))
    shift = "" if score.shift == 0 else f"{score.shift:.{digits + 2}g} + "
    slope = "" if score.slope == 1 else rf"{score.slope:.{digits + 2}g} \cdot "
    exponent = rf"-({shift}{slope}\mathrm{{score}})"
    return [rf"\[ P(\mbox{{{label}}}) = \frac{{1}}{{1 + \exp({exponent})}} \]"]


def _number(value: float, digits: int) -> str:
    return str(int(value)) if value == int(value) else f"{value:.{digits}f}"
